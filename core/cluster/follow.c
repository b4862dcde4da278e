/* SPDX-License-Identifier: MIT */
/* Rounds of some partitions side by side until nothing moves, and followers that nobody has to move. */
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* No exchange needs more rounds to come to rest; a rule that keeps moving is a bug, not a loop. */
enum { FOLLOW_ROUNDS_MAX = 1000000 };

void hw_gathered_release(struct hw_gathered *gathered)
{
    hw_free(gathered->allocator, gathered->partitions,
            gathered->capacity * sizeof *gathered->partitions);
}

static enum hw_status gathered_add(struct hw_gathered *gathered, struct hw_partition *partition,
                                   struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(gathered->allocator, (void **)&gathered->partitions, &gathered->capacity,
                         gathered->count + 1, sizeof *gathered->partitions, error);

    if (status == HW_OK) {
        gathered->partitions[gathered->count++] = partition;
    }
    return status;
}

bool hw_cluster_is_prepared(const struct hw_partition *partition)
{
    return partition->writer != NULL && partition->writer->is_prepared;
}

enum hw_status hw_gathered_select(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                  bool with_prepared, struct hw_gathered *gathered,
                                  struct hw_error *error)
{
    struct hw_selection selection;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, partition, &selection, error);

    *gathered = (struct hw_gathered){.allocator = cluster->allocator};
    while (status == HW_OK && (p = hw_selection_next(&selection)) != NULL) {
        if (with_prepared || !hw_cluster_is_prepared(p)) {
            status = gathered_add(gathered, p, error);
        }
    }
    if (status != HW_OK) {
        hw_gathered_release(gathered);
    }
    return status;
}

static uint64_t gathered_changes(const struct hw_gathered *gathered)
{
    uint64_t changes = 0;

    for (size_t i = 0; i < gathered->count; i++) {
        changes += hw_partition_changes(gathered->partitions[i]);
    }
    return changes;
}

/* Whose replica has moved since its changes were noted in `before`; the leader by the record where
 * none has. */
static hw_broker_id_t follow_who_moved(const struct hw_partition *partition,
                                       const uint64_t before[HW_REPLICAS_MAX])
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->replicas[i]->changes != before[i]) {
            return partition->brokers[i];
        }
    }
    return partition->record.leader;
}

/* So many rounds, and it does not come to rest: say which partition it is, and who moves. */
static enum hw_status follow_give_up(struct hw_cluster *cluster, const struct hw_gathered *gathered,
                                     struct hw_error *error)
{
    for (size_t i = 0; i < gathered->count; i++) {
        struct hw_partition *partition = gathered->partitions[i];
        uint64_t all = hw_partition_changes(partition);
        uint64_t before[HW_REPLICAS_MAX];
        hw_broker_id_t broker;
        int64_t records;
        enum hw_status status;

        for (int32_t r = 0; r < partition->replica_count; r++) {
            before[r] = partition->replicas[r]->changes;
        }
        status =
            cluster->variant->fetch_round(&partition, 1, hw_cluster_step(cluster), &records, error);
        if (status != HW_OK) {
            return status;
        }
        if (hw_partition_changes(partition) != all) {
            broker = follow_who_moved(partition, before);
            return hw_error_refuse(error, HW_KAFKA_UNKNOWN_SERVER_ERROR,
                                   "%s does not come to rest in %d rounds, broker %" PRId32
                                   " moves on and on: hw_journal shows what it does, crash(%" PRId32
                                   ") stops it",
                                   partition->name, (int)FOLLOW_ROUNDS_MAX, broker, broker);
        }
    }
    return HW_OK;
}

enum hw_status hw_gathered_run(struct hw_cluster *cluster, const struct hw_gathered *gathered,
                               int64_t *rounds, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (*rounds = 0; status == HW_OK && *rounds < FOLLOW_ROUNDS_MAX; (*rounds)++) {
        uint64_t before = gathered_changes(gathered);
        int64_t records;

        status = cluster->variant->fetch_round(gathered->partitions, gathered->count,
                                               hw_cluster_step(cluster), &records, error);
        if (status == HW_OK && gathered_changes(gathered) == before) {
            return HW_OK;
        }
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    return status == HW_OK ? follow_give_up(cluster, gathered, error) : status;
}

void hw_cluster_follow(struct hw_cluster *cluster)
{
    struct hw_gathered gathered = {.allocator = cluster->allocator};
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_error unused;
    int64_t rounds;

    if (!cluster->settings.replicates_at_once || cluster->news_count == 0) {
        return;
    }
    while (gathered.count < cluster->news_count && (partition = hw_selection_next(&all)) != NULL) {
        if (partition->has_news && !hw_cluster_is_prepared(partition)) {
            (void)gathered_add(&gathered, partition, &unused);
        }
    }
    (void)hw_gathered_run(cluster, &gathered, &rounds, &unused);
    for (size_t i = 0; i < gathered.count; i++) {
        (void)hw_cluster_finish_partition(cluster, gathered.partitions[i], HW_OK, &unused);
        hw_cluster_had_news(cluster, gathered.partitions[i]);
    }
    hw_gathered_release(&gathered);
}
