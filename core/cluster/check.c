/* SPDX-License-Identifier: MIT */
/* Invariants of everything. Only reads; for tests, and for users who set check.invariants. */
#include "core/base/assert.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

/* Whether the partition has lost records that were visible, or had been deleted, so maybe a marker
 * too. */
static bool check_has_lost(const struct hw_cluster *cluster, const struct hw_partition *partition)
{
    const struct hw_loss *loss;

    for (size_t i = 0; (loss = hw_losses_at(&cluster->losses, i)) != NULL; i++) {
        if (hw_uuid_equal(&loss->topic_id, &partition->topic_id) &&
            loss->partition == partition->number) {
            return true;
        }
    }
    return partition->topic->seen[partition->number].has_undeleted || cluster->losses.forgotten > 0;
}

/* Whether the marker that ended a producer's last transaction here has the epoch behind that of the
 * transaction's batches, where its generation of the protocol has one for each. */
static bool check_marker_fits(const struct hw_transaction_entry *entry,
                              const struct hw_producer *producer)
{
    int last = producer->transaction_epoch;

    if (entry->status == HW_TRANSACTION_EMPTY || entry->status == HW_TRANSACTION_ONGOING) {
        return true; /* The next transaction may have another generation. */
    }
    if (producer->transaction_start != HW_OFFSET_NONE || last < 0 || last == INT16_MAX ||
        producer->epoch != entry->marker_epoch ||
        !hw_transaction_rules(entry->client_version)->raises_epoch_at_end) {
        return true;
    }
    /* A database's producer may have skipped some, after a power loss. */
    return entry->is_database ? last < producer->epoch : last + 1 == producer->epoch;
}

/*
 * What the leader's log and the coordinator know of a producer fits: what is open here is in the
 * set of a transaction that goes on, no epoch is above the coordinator's, a transaction has one
 * epoch and its marker the one behind it, neither these nor coordinator epochs fall, and so nothing
 * was decided twice (kafka-transactions, section 16, 2, 3 and 6 to 8). A script, a tool and a loss
 * can make it otherwise, and a reader of hw_producers then sees it; these are left out.
 */
static bool check_producer_fits(const struct hw_cluster *cluster,
                                const struct hw_partition *partition,
                                const struct hw_producer *producer)
{
    const struct hw_transaction_entry *entry =
        hw_coordinator_find_producer(&cluster->coordinator, producer->producer_id);

    if (entry == NULL || entry->is_scripted || entry->producer_id != producer->producer_id) {
        return true;
    }
    return (producer->epoch <= entry->epoch && !producer->contradicts &&
            check_marker_fits(entry, producer) &&
            (producer->transaction_start == HW_OFFSET_NONE ||
             hw_transaction_entry_has(entry, &partition->topic_id, partition->number))) ||
           check_has_lost(cluster, partition);
}

static void check_producers(const struct hw_cluster *cluster, const struct hw_partition *partition)
{
    const struct hw_replica *leader = hw_partition_leader(partition);
    const struct hw_producer_state *state = leader == NULL ? NULL : hw_log_producers(leader->log);

    for (size_t i = 0; state != NULL && i < state->count && cluster->coordinator.count > 0; i++) {
        HW_ASSERT(check_producer_fits(cluster, partition, &state->producers[i]));
    }
}

void hw_cluster_check(const struct hw_cluster *cluster)
{
    struct hw_selection all = hw_cluster_all(cluster);
    const struct hw_partition *partition;

    for (size_t i = 0; i < cluster->broker_count; i++) {
        HW_ASSERT(HW_IMPLIES(i > 0, cluster->brokers[i - 1]->id < cluster->brokers[i]->id));
    }
    hw_coordinator_check(&cluster->coordinator);
    while ((partition = hw_selection_next(&all)) != NULL) {
        hw_partition_check(partition);
        HW_ASSERT(partition->variant == cluster->variant);
        HW_ASSERT(!partition->is_record_dirty);
        check_producers(cluster, partition);
    }
}
