/* SPDX-License-Identifier: MIT */
/*
 * Producers with an id, and their transactions: the verbs of their clients, and what falls due by
 * the clock. identity.c says who sends a batch; markers.c ends what was decided here.
 */
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

static int64_t transactions_setting(const struct hw_cluster *cluster, const char *name)
{
    return hw_config_int64(&cluster->configs, NULL, name);
}

int hw_cluster_transaction_version(const struct hw_cluster *cluster, int64_t given)
{
    return (int)(given >= 0 ? given : transactions_setting(cluster, "transaction.version"));
}

enum hw_status hw_cluster_check_transactions(const struct hw_cluster *cluster, int64_t version,
                                             int64_t epoch, struct hw_error *error)
{
    if (!cluster->variant->has_transactions) {
        return hw_error_refuse(error, HW_KAFKA_UNSUPPORTED_VERSION,
                               "protocol %s has no transactions: configure('protocol', 'kafka')",
                               cluster->variant->name);
    }
    if (version > HW_TRANSACTION_VERSION_MAX) {
        return hw_error_refuse(error, HW_KAFKA_UNSUPPORTED_VERSION,
                               "version %" PRId64 ", there are 0 to %d", version,
                               (int)HW_TRANSACTION_VERSION_MAX);
    }
    if (epoch > INT16_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                               "epoch %" PRId64 ", allowed are 0 to 32767", epoch);
    }
    return HW_OK;
}

enum hw_status hw_cluster_check_has_transactions(const struct hw_cluster *cluster,
                                                 struct hw_error *error)
{
    return hw_cluster_check_transactions(cluster, -1, -1, error);
}

/* The entry of a producer that has a transactional id. */
static enum hw_status transactions_find(const struct hw_cluster *cluster, int64_t producer_id,
                                        struct hw_transaction_entry **entry, struct hw_error *error)
{
    *entry = hw_coordinator_find_producer(&cluster->coordinator, producer_id);
    return *entry != NULL ? HW_OK
                          : hw_error_refuse(error, HW_KAFKA_INVALID_PRODUCER_ID_MAPPING,
                                            "producer %" PRId64 " has no transactional id: see"
                                            " hw_transactions, or call init_producer() with one",
                                            producer_id);
}

/* The entry that a producer's call is about. */
static enum hw_status transactions_find_called(const struct hw_cluster *cluster,
                                               const struct hw_transaction_call *call,
                                               struct hw_transaction_entry **entry,
                                               struct hw_error *error)
{
    enum hw_status status =
        hw_cluster_check_transactions(cluster, call->version, call->producer_epoch, error);

    if (status == HW_OK) {
        status = transactions_find(cluster, call->producer_id, entry, error);
    }
    return status == HW_OK ? hw_cluster_refuse_database_producer(*entry, error) : status;
}

/* --------------------------------------------------------------------------------------- verbs */

/* Ask, and once more where an open transaction had to be aborted first and was. */
static enum hw_status transactions_init(struct hw_cluster *cluster,
                                        const struct hw_init_request *request,
                                        struct hw_producer_identity *answer, struct hw_error *error)
{
    bool begins_abort;
    enum hw_status status = hw_coordinator_init_producer(
        &cluster->coordinator, request, cluster->now_ms, answer, &begins_abort, error);

    if (begins_abort) {
        cluster->is_state_dirty = true;
        status = hw_cluster_finish_step(cluster, HW_OK, error);
        if (status == HW_OK) {
            status = hw_coordinator_init_producer(&cluster->coordinator, request, cluster->now_ms,
                                                  answer, &begins_abort, error);
        }
    }
    return status;
}

enum hw_status hw_cluster_init_producer(struct hw_cluster *cluster,
                                        const struct hw_init_producer *init,
                                        struct hw_producer_identity *answer, struct hw_error *error)
{
    struct hw_init_request request = {
        .transactional_id = init->transactional_id,
        .timeout_ms = init->has_timeout ? init->timeout_ms
                                        : transactions_setting(cluster, "transaction.timeout.ms"),
        .producer_id = init->producer_id,
        .producer_epoch = (int16_t)init->producer_epoch,
        .timeout_max_ms = transactions_setting(cluster, "transaction.max.timeout.ms"),
        .version = hw_cluster_transaction_version(cluster, init->version)};
    struct hw_client *client;
    enum hw_status status = HW_OK;

    if (init->transactional_id != NULL &&
        hw_transactional_id_is_of_database(init->transactional_id)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                               "transactional ids that begin with " HW_DATABASE_ID_PREFIX
                               " are the database's own: take another one");
    }
    if (init->transactional_id != NULL) {
        status = hw_cluster_check_transactions(cluster, init->version, init->producer_epoch, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_make_durable(cluster, error);
    }
    if (status == HW_OK && init->transactional_id == NULL) {
        *answer =
            (struct hw_producer_identity){hw_coordinator_new_producer_id(&cluster->coordinator), 0};
    } else if (status == HW_OK) {
        status = transactions_init(cluster, &request, answer, error);
    }
    if (status == HW_OK) {
        cluster->is_state_dirty = true;
        status = hw_clients_enter(&cluster->clients, answer->producer_id, answer->epoch,
                                  request.version, &client, error);
    }
    if (status == HW_OK) {
        hw_client_become(client, answer->producer_id, answer->epoch);
        client->version = request.version;
        client->is_in_transaction = false;
        client->has_to_abort = false;
    }
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_begin_transaction(struct hw_cluster *cluster,
                                            const struct hw_transaction_call *call,
                                            struct hw_error *error)
{
    struct hw_transaction_entry *entry;
    struct hw_client *client;
    int version = hw_cluster_transaction_version(cluster, call->version);
    enum hw_status status = transactions_find_called(cluster, call, &entry, error);

    if (status == HW_OK) {
        status = hw_clients_enter(&cluster->clients, call->producer_id, entry->epoch, version,
                                  &client, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (client->is_in_transaction) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TXN_STATE,
                               "producer %" PRId64 " has begun a transaction already: commit_txn()"
                               " or abort_txn() it",
                               call->producer_id);
    }
    client->is_in_transaction = true;
    client->has_sent = false;
    client->has_to_abort = false;
    client->version = version;
    if (call->producer_epoch >= 0) {
        client->epoch = (int16_t)call->producer_epoch;
    }
    return HW_OK;
}

/* Whether the client of this producer would ask for an end at all, by itself. */
static enum hw_status transactions_check_client(const struct hw_client *client,
                                                const struct hw_transaction_call *call,
                                                struct hw_error *error)
{
    if (client == NULL || client->is_in_transaction || call->producer_epoch >= 0) {
        return HW_OK;
    }
    return hw_error_refuse(error, HW_KAFKA_INVALID_TXN_STATE,
                           "producer %" PRId64 " is in no transaction: begin_txn(%" PRId64 ")",
                           call->producer_id, call->producer_id);
}

/* Whether what it has sent was acknowledged, which a commit waits for and an abort gives up (X11.3):
 * what is in one log only a failover would take out of the transaction. */
static enum hw_status transactions_settle_client(struct hw_cluster *cluster,
                                                 const struct hw_client *client, bool commits,
                                                 struct hw_error *error)
{
    size_t left = hw_cluster_undelivered(cluster, client->producer_id);

    if (!commits) {
        hw_cluster_cancel_deliveries(cluster, client->producer_id);
        return HW_OK;
    }
    if (client->has_to_abort) {
        return hw_error_refuse(error, HW_KAFKA_TRANSACTION_ABORTABLE,
                               "a record of the transaction of producer %" PRId64
                               " was not delivered: abort_txn(%" PRId64 ")",
                               client->producer_id, client->producer_id);
    }
    return left == 0 ? HW_OK
                     : hw_error_refuse(error, HW_KAFKA_INVALID_TXN_STATE,
                                       "producer %" PRId64
                                       " has %zu record%s that %s not acknowledged yet:"
                                       " fetch_round() or tick(), then again",
                                       client->producer_id, left, left == 1 ? "" : "s",
                                       left == 1 ? "is" : "are");
}

/* Ask the coordinator, and take over what it answers (X11.4). */
static enum hw_status transactions_end(struct hw_cluster *cluster,
                                       struct hw_transaction_entry *entry, struct hw_client *client,
                                       struct hw_producer_identity producer, bool commits,
                                       int version, bool holds_markers,
                                       struct hw_producer_identity *answer, struct hw_error *error)
{
    bool has_decided;
    enum hw_status status =
        hw_coordinator_end(&cluster->coordinator, entry->transactional_id, producer, commits,
                           version, cluster->now_ms, answer, &has_decided, error);

    if (status == HW_OK && client != NULL) {
        client->is_in_transaction = false;
        client->has_to_abort = false;
        if (hw_transaction_rules(version)->sequences_restart) {
            hw_client_become(client, answer->producer_id, answer->epoch);
        }
    }
    for (size_t i = 0; has_decided && i < entry->count; i++) {
        entry->partitions[i].is_held = holds_markers;
    }
    cluster->is_state_dirty = cluster->is_state_dirty || has_decided;
    return hw_cluster_finish_step(cluster, status, error);
}

/* Markers that are still to be written, or to be committed. */
static int64_t transactions_left(const struct hw_transaction_entry *entry)
{
    return hw_transaction_entry_is_ending(entry) ? (int64_t)entry->count : 0;
}

enum hw_status hw_cluster_end_transaction(struct hw_cluster *cluster,
                                          const struct hw_transaction_call *call, bool commits,
                                          bool holds_markers, struct hw_producer_identity *answer,
                                          int64_t *left, struct hw_error *error)
{
    struct hw_client *client = hw_clients_find(&cluster->clients, call->producer_id);
    struct hw_producer_identity producer = {call->producer_id, (int16_t)call->producer_epoch};
    bool is_own = call->producer_epoch < 0;
    int version = call->version < 0 && client != NULL
                      ? client->version
                      : hw_cluster_transaction_version(cluster, call->version);
    struct hw_transaction_entry *entry;
    enum hw_status status = transactions_find_called(cluster, call, &entry, error);

    *left = 0;
    if (status == HW_OK) {
        status = transactions_check_client(client, call, error);
    }
    if (status == HW_OK && is_own && client != NULL) {
        status = transactions_settle_client(cluster, client, commits, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (is_own) {
        producer.epoch = client != NULL ? client->epoch : entry->epoch;
    }
    if (is_own && client != NULL && !client->has_sent) {
        client->is_in_transaction = false; /* Nothing was sent: nobody is asked (X11.3). */
        *answer = producer;
        return HW_OK;
    }
    status = transactions_end(cluster, entry, is_own ? client : NULL, producer, commits, version,
                              holds_markers, answer, error);
    *left = transactions_left(entry);
    return status;
}

enum hw_status hw_cluster_write_markers(struct hw_cluster *cluster, int64_t producer_id,
                                        const char *topic, int64_t partition, int64_t *left,
                                        struct hw_error *error)
{
    struct hw_transaction_entry *entry;
    struct hw_partition *only = NULL;
    enum hw_status status = transactions_find(cluster, producer_id, &entry, error);

    *left = 0;
    if (status == HW_OK && topic != NULL) {
        status = hw_cluster_find_partition(cluster, topic, HW_MAX(partition, 0), &only, error);
    }
    if (status != HW_OK) {
        return status;
    }
    for (size_t i = 0; i < entry->count; i++) {
        struct hw_transaction_partition *place = &entry->partitions[i];

        if (only == NULL || (hw_uuid_equal(&place->topic_id, &only->topic_id) &&
                             (partition < 0 || place->partition == partition))) {
            place->is_held = false;
        }
    }
    entry->is_stuck = false;
    status = hw_cluster_finish_step(cluster, HW_OK, error);
    *left = transactions_left(entry);
    return status;
}

enum hw_status hw_cluster_abort_hanging(struct hw_cluster *cluster, const char *topic_name,
                                        int64_t partition_number, hw_offset_t start_offset,
                                        hw_offset_t *offset, struct hw_error *error)
{
    struct hw_partition *partition;
    struct hw_replica *leader;
    const struct hw_producer *producer;
    struct hw_log_append_info info;
    struct hw_marker marker;
    enum hw_status status =
        hw_cluster_find_partition(cluster, topic_name, partition_number, &partition, error);

    if (status == HW_OK) {
        status = hw_cluster_find_leader(cluster, partition, &leader, error);
    }
    if (status == HW_OK && partition->writer != NULL) {
        status = hw_cluster_refuse_written(cluster, partition, error);
    }
    if (status != HW_OK) {
        return status;
    }
    producer = hw_producer_state_find_open(hw_log_producers(leader->log), start_offset);
    if (producer == NULL) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TXN_STATE,
                               "no transaction is open in %s from offset %" PRId64
                               " on: see txn_start_offset in hw_producers",
                               partition->name, start_offset);
    }
    marker = (struct hw_marker){.producer_id = producer->producer_id,
                                .producer_epoch = producer->epoch,
                                .coordinator_epoch = HW_MAX(producer->coordinator_epoch, 0),
                                .type = HW_CONTROL_ABORT,
                                .timestamp = cluster->now_ms};
    status = hw_replica_append_marker(leader, cluster->now_ms, &marker, 0, &info, error);
    if (status == HW_OK) {
        struct hw_transaction_entry *entry =
            hw_coordinator_find_producer(&cluster->coordinator, marker.producer_id);

        *offset = info.first_offset;
        if (entry != NULL) {
            entry->is_scripted = true; /* The coordinator is not told. */
        }
        cluster->variant->appended(partition, hw_cluster_step(cluster), leader);
    }
    return hw_cluster_finish(cluster, partition, status, error);
}

/* --------------------------------------------------------------------------------------- clock */

/* Kafka's own intervals, which nobody sets. */
enum {
    ABORT_PERIOD_MS = 10000,
    EXPIRE_IDS_PERIOD_MS = 3600000,
    EXPIRE_PRODUCERS_PERIOD_MS = 600000
};

/* The first time behind `time` at which the clock looks; not before now, which may be far behind it
 * after a jump of the clock, or since a config has changed. */
static hw_time_ms_t transactions_boundary(const struct hw_cluster *cluster, hw_time_ms_t time,
                                          int64_t period)
{
    time = time >= cluster->now_ms ? time : cluster->now_ms - 1;
    return time >= HW_CLOCK_MS_MAX - period ? INT64_MAX : (time / period + 1) * period;
}

static hw_time_ms_t transactions_next_of_entries(const struct hw_cluster *cluster)
{
    int64_t expiration_ms = transactions_setting(cluster, "transactional.id.expiration.ms");
    hw_time_ms_t next = INT64_MAX;

    for (size_t i = 0; i < cluster->coordinator.count; i++) {
        const struct hw_transaction_entry *entry = cluster->coordinator.entries[i];

        if (entry->is_database) {
            continue; /* It ends when the database says so, and is kept. */
        }
        if (entry->status == HW_TRANSACTION_ONGOING) {
            next =
                hw_earlier(next, transactions_boundary(cluster, entry->start_ms + entry->timeout_ms,
                                                       ABORT_PERIOD_MS));
        } else if (!hw_transaction_entry_is_ending(entry)) {
            next = hw_earlier(next, transactions_boundary(cluster,
                                                          entry->last_update_ms + expiration_ms - 1,
                                                          EXPIRE_IDS_PERIOD_MS));
        }
    }
    return next;
}

static hw_time_ms_t transactions_next_of_log(const struct hw_cluster *cluster,
                                             const struct hw_log *log, int64_t expiration_ms)
{
    const struct hw_producer_state *state = hw_log_producers(log);
    hw_time_ms_t next = INT64_MAX;

    for (size_t i = 0; i < state->count; i++) {
        hw_time_ms_t last = state->producers[i].last_timestamp;

        if (state->producers[i].transaction_start == HW_OFFSET_NONE && last < HW_CLOCK_MS_MAX) {
            next =
                hw_earlier(next, transactions_boundary(cluster, HW_MAX(last, 0) + expiration_ms - 1,
                                                       EXPIRE_PRODUCERS_PERIOD_MS));
        }
    }
    return next;
}

hw_time_ms_t hw_cluster_next_transaction_event(const struct hw_cluster *cluster)
{
    int64_t expiration_ms = transactions_setting(cluster, "producer.id.expiration.ms");
    struct hw_selection all = hw_cluster_all(cluster);
    const struct hw_partition *partition;
    hw_time_ms_t next = transactions_next_of_entries(cluster);

    while (cluster->variant->has_timeouts && (partition = hw_selection_next(&all)) != NULL) {
        for (int32_t r = 0; r < partition->replica_count; r++) {
            next = hw_earlier(next, transactions_next_of_log(cluster, partition->replicas[r]->log,
                                                             expiration_ms));
        }
    }
    return next;
}

static void transactions_expire_all(const struct hw_cluster *cluster)
{
    struct hw_selection all = hw_cluster_all(cluster);
    const struct hw_partition *partition;

    while ((partition = hw_selection_next(&all)) != NULL) {
        for (int32_t r = 0; r < partition->replica_count; r++) {
            hw_cluster_expire_producers(cluster, partition->replicas[r]->log);
        }
    }
}

enum hw_status hw_cluster_run_transaction_clock(struct hw_cluster *cluster, struct hw_error *error)
{
    struct hw_coordinator *coordinator = &cluster->coordinator;
    bool changed = false;

    for (size_t i = 0; i < coordinator->count && cluster->now_ms % ABORT_PERIOD_MS == 0; i++) {
        if (hw_transaction_entry_is_late(coordinator->entries[i], cluster->now_ms)) {
            hw_coordinator_fence(coordinator, coordinator->entries[i],
                                 hw_cluster_transaction_version(cluster, -1), cluster->now_ms);
            changed = true;
        }
    }
    if (cluster->now_ms % EXPIRE_IDS_PERIOD_MS == 0) {
        int64_t expiration_ms = transactions_setting(cluster, "transactional.id.expiration.ms");

        changed |= hw_coordinator_expire(coordinator, cluster->now_ms, expiration_ms) > 0;
    }
    if (cluster->now_ms % EXPIRE_PRODUCERS_PERIOD_MS == 0) {
        transactions_expire_all(cluster);
    }
    cluster->is_state_dirty = cluster->is_state_dirty || changed;
    return changed ? hw_cluster_send_markers(cluster, error) : HW_OK;
}
