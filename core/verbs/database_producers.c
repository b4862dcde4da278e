/* SPDX-License-Identifier: MIT */
/*
 * The producers of a database, whose commit decides their transactions (core/stage/README.md).
 *
 *     __sql-0   producer 4000   CompleteCommit    may be taken
 *     __sql-1   producer 4001   PrepareCommit     rests: its marker is not committed everywhere
 *     __sql-2   producer 4002   CompleteAbort     is never taken again
 *
 * They speak version 2 of the protocol, so that each transaction has an epoch of its own. One that
 * was aborted retires: then all that a producer ever did up to the epoch of its token is committed,
 * also where a power loss took markers back.
 */
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <stdio.h>

/* Behind it an epoch would be the last of its id. */
enum { DATABASE_EPOCH_MAX = INT16_MAX - 2 };

static bool database_may_take(const struct hw_transaction_entry *entry)
{
    return entry->is_database && !entry->is_undecided && entry->epoch >= 0 &&
           entry->epoch <= DATABASE_EPOCH_MAX &&
           (entry->status == HW_TRANSACTION_EMPTY ||
            entry->status == HW_TRANSACTION_COMPLETE_COMMIT);
}

static enum hw_status database_add_producer(struct hw_cluster *cluster, size_t number,
                                            struct hw_error *error)
{
    char id[sizeof HW_DATABASE_ID_PREFIX + 20];
    struct hw_transaction_entry *entry;
    enum hw_status status;

    (void)snprintf(id, sizeof id, HW_DATABASE_ID_PREFIX "%zu", number);
    status = hw_coordinator_insert(&cluster->coordinator, id, cluster->coordinator.next_producer_id,
                                   &entry, error);
    if (status == HW_OK) {
        (void)hw_coordinator_new_producer_id(&cluster->coordinator);
        /* Producers of an earlier version have tokens without one, and stay so. */
        if (number == 0 && cluster->coordinator.database_id == 0) {
            cluster->coordinator.database_id = cluster->database_id;
        }
        entry->epoch = 0;
        entry->client_version = HW_TRANSACTION_VERSION_MAX;
        entry->timeout_ms = hw_config_int64(&cluster->configs, NULL, "transaction.timeout.ms");
        entry->last_update_ms = cluster->now_ms;
        cluster->is_state_dirty = true; /* An id is known before it is used. */
    }
    return status;
}

enum hw_status hw_cluster_take_database_producer(struct hw_cluster *cluster,
                                                 struct hw_transaction_entry **entry,
                                                 struct hw_error *error)
{
    struct hw_coordinator *coordinator = &cluster->coordinator;
    enum hw_status status = HW_OK;

    for (;;) {
        size_t count = 0;

        for (size_t i = 0; i < coordinator->count; i++) {
            if (database_may_take(coordinator->entries[i])) {
                *entry = coordinator->entries[i];
                return HW_OK;
            }
        }
        /* Twice as many, so that they are seldom too few: each time costs a sync. */
        for (size_t i = 0; i < coordinator->count; i++) {
            count += coordinator->entries[i]->is_database;
        }
        for (size_t i = 0; status == HW_OK && i < (count == 0 ? 1 : count); i++) {
            status = database_add_producer(cluster, count + i, error);
        }
        if (status != HW_OK) {
            return status;
        }
    }
}

enum hw_status hw_cluster_refuse_database_producer(const struct hw_transaction_entry *entry,
                                                   struct hw_error *error)
{
    if (entry == NULL || !entry->is_database) {
        return HW_OK;
    }
    return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                           "producer %" PRId64 " is the database's own (%s): COMMIT of a "
                           "transaction that wrote a table with transactional=1 uses it",
                           entry->producer_id, entry->transactional_id);
}

/* ------------------------------------------------------------------------------------- deciding */

bool hw_cluster_is_undecided(const struct hw_cluster *cluster)
{
    return cluster->is_undecided;
}

/* Whether the tokens are of this cluster, as it is now. */
static enum hw_status database_check_tokens(const struct hw_cluster *cluster,
                                            const struct hw_database_token *tokens, size_t count,
                                            struct hw_error *error)
{
    const struct hw_coordinator *coordinator = &cluster->coordinator;
    const char *what = NULL;
    int64_t newest = -1;
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        if (tokens[i].database_id != coordinator->database_id) {
            what = "is the one of another cluster than that in";
            at = i;
        } else if (tokens[i].coordinator_epoch > newest) {
            newest = tokens[i].coordinator_epoch;
            at = what == NULL ? i : at;
        }
    }
    if (count == 0) {
        return HW_OK;
    }
    if (what == NULL && newest > coordinator->epoch) {
        what = "is newer than the cluster in";
    } else if (what == NULL && newest + 1 < coordinator->database_epoch) {
        what = "is older than the cluster in";
    }
    return what == NULL
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_INCONSISTENT_CLUSTER_ID,
                                 "the database %s '%.300s': put the right one back, or go on with"
                                 " these two as they are: DELETE FROM \"%.100s\"",
                                 what, cluster->directory, tokens[at].table);
}

/* The last epoch of the producer that the database has committed; -1: none that it knows of. */
static int64_t database_last_epoch(const struct hw_database_token *tokens, size_t count,
                                   int64_t producer_id)
{
    int64_t last = -1;

    for (size_t i = 0; i < count; i++) {
        if (tokens[i].producer_id == producer_id && tokens[i].epoch > last &&
            tokens[i].epoch < INT16_MAX) {
            last = tokens[i].epoch;
        }
    }
    return last;
}

/* What is found out about one producer. */
struct database_search {
    struct hw_cluster *cluster;
    struct hw_transaction_entry *entry;
    int64_t committed; /* The last epoch that was. */
    int64_t seen;      /* The last one in any log, or 0. */
};

static void database_note(const struct database_search *search, const struct hw_replica *replica,
                          const struct hw_producer *producer, bool is_committed)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_RECOVERY);

    event.offset = producer->transaction_start;
    event.end_offset = hw_log_end(replica->log);
    hw_journal_add(&search->cluster->journal, event,
                   "the database has %s the transaction of producer %" PRId64 " epoch %d",
                   is_committed ? "committed" : "not committed", producer->producer_id,
                   producer->epoch);
}

/* Have the partition among those that get a marker, if the replica has something open. */
static enum hw_status database_look_at(struct database_search *search,
                                       const struct hw_partition *partition,
                                       const struct hw_replica *replica, struct hw_error *error)
{
    struct hw_transaction_entry *entry = search->entry;
    const struct hw_producer *producer =
        hw_producer_state_find(hw_log_producers(replica->log), entry->producer_id);
    struct hw_transaction_partition *place;
    enum hw_status status;

    if (producer == NULL) {
        return HW_OK;
    }
    search->seen = HW_MAX(producer->epoch, search->seen);
    if (producer->transaction_start == HW_OFFSET_NONE) {
        return HW_OK;
    }
    for (size_t i = 0; i < entry->count; i++) {
        place = &entry->partitions[i];
        if (place->partition == partition->number &&
            hw_uuid_equal(&place->topic_id, &partition->topic_id)) {
            place->is_committed = producer->epoch <= search->committed;
            return HW_OK;
        }
    }
    status = hw_coordinator_add_place(&search->cluster->coordinator, entry, &partition->topic_id,
                                      partition->number, &place, error);
    if (status == HW_OK) {
        place->is_committed = producer->epoch <= search->committed;
        database_note(search, replica, producer, producer->epoch <= search->committed);
    }
    return status;
}

static enum hw_status database_look_everywhere(struct database_search *search,
                                               struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(search->cluster);
    const struct hw_partition *partition;
    enum hw_status status = HW_OK;

    while (status == HW_OK && (partition = hw_selection_next(&all)) != NULL) {
        for (int32_t r = 0; status == HW_OK && r < partition->replica_count; r++) {
            status = database_look_at(search, partition, partition->replicas[r], error);
        }
    }
    return status;
}

static bool database_was_aborted(const struct hw_transaction_entry *entry)
{
    return entry->status == HW_TRANSACTION_PREPARE_ABORT ||
           entry->status == HW_TRANSACTION_COMPLETE_ABORT;
}

/* Whether all of the entry's transactions that are still open were committed. */
static bool database_commits_all(const struct hw_transaction_entry *entry)
{
    for (size_t i = 0; i < entry->count; i++) {
        if (!entry->partitions[i].is_committed) {
            return false;
        }
    }
    return true;
}

static enum hw_status database_decide(struct database_search *search, struct hw_error *error)
{
    struct hw_cluster *cluster = search->cluster;
    struct hw_transaction_entry *entry = search->entry;
    bool was_open = entry->status == HW_TRANSACTION_ONGOING;
    bool was_ending = hw_transaction_entry_is_ending(entry);
    bool commits;
    int64_t epoch;
    enum hw_status status;

    if (was_open) {
        entry->count = 0; /* What it was to write to; the logs tell where it did. */
    }
    for (size_t i = 0; i < entry->count; i++) {
        entry->partitions[i].is_committed |= entry->status == HW_TRANSACTION_PREPARE_COMMIT;
    }
    status = database_look_everywhere(search, error);
    if (status != HW_OK) {
        return status;
    }
    epoch = HW_MAX(search->seen, HW_MAX(search->committed + 1, entry->epoch));
    commits = !database_was_aborted(entry) && database_commits_all(entry) &&
              (!was_open || search->committed >= entry->epoch);
    if (entry->count == 0 && !was_open && !was_ending) {
        entry->is_undecided = false;
        entry->epoch = (int16_t)epoch;
        return HW_OK;
    }
    /* The markers' epoch is above that of all that they end. */
    epoch += !was_ending || search->seen >= entry->epoch;
    hw_coordinator_decide(&cluster->coordinator, entry, commits, (int16_t)HW_MIN(epoch, INT16_MAX),
                          cluster->now_ms);
    cluster->is_state_dirty = true;
    return HW_OK;
}

enum hw_status hw_cluster_decide_transactions(struct hw_cluster *cluster,
                                              const struct hw_database_token *tokens, size_t count,
                                              struct hw_error *error)
{
    enum hw_status status = database_check_tokens(cluster, tokens, count, error);
    bool is_undecided = false;

    for (size_t i = 0; status == HW_OK && i < cluster->coordinator.count; i++) {
        struct hw_transaction_entry *entry = cluster->coordinator.entries[i];
        struct database_search search = {.cluster = cluster, .entry = entry};

        if (!entry->is_database) {
            continue;
        }
        if (entry->status == HW_TRANSACTION_ONGOING && !entry->is_undecided) {
            is_undecided = true; /* A COMMIT of this process is under way. */
            continue;
        }
        /* As far as the cluster itself remembers, or the database does. */
        search.committed = HW_MAX(entry->epoch - 1 - database_was_aborted(entry),
                                  database_last_epoch(tokens, count, entry->producer_id));
        status = database_decide(&search, error);
    }
    if (status != HW_OK) {
        return status;
    }
    cluster->is_undecided = is_undecided;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}

enum hw_status hw_cluster_keep_decisions(struct hw_cluster *cluster, struct hw_error *error)
{
    cluster->is_state_dirty = true;
    return hw_cluster_write_state(cluster, error);
}
