/* SPDX-License-Identifier: MIT */
/*
 * Who sends a batch: what the client of a producer writes into it, unless the script says something
 * else, and the question that the leader asks the coordinator before it takes a transactional one.
 */
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* The epoch of a producer whose client is not known here. */
static int16_t identity_last_epoch(const struct hw_transaction_entry *entry,
                                   const struct hw_producer *known)
{
    if (entry != NULL) {
        return entry->epoch;
    }
    return known != NULL && known->epoch >= 0 ? known->epoch : 0;
}

static int32_t identity_next_sequence(const struct hw_produce_target *target,
                                      const struct hw_client *client, int16_t epoch,
                                      const struct hw_producer *known)
{
    int32_t next = client == NULL ? -1
                                  : hw_client_next_sequence(client, &target->topic->id,
                                                            target->partition->number);

    if (next < 0 && known != NULL && known->epoch == epoch) {
        int32_t last = hw_producer_last_sequence(known);

        next = last < 0 ? 0 : hw_sequence_add(last, 1);
    }
    return HW_MAX(next, 0);
}

static bool identity_is_scripted(const struct hw_produce_producer *producer)
{
    return producer->epoch >= 0 || producer->sequence >= 0 || producer->transactional >= 0;
}

static void identity_note_scripted(struct hw_transaction_entry *entry, bool is_scripted)
{
    if (entry != NULL) {
        entry->is_scripted = entry->is_scripted || is_scripted;
    }
}

/* Whether the batch is transactional; the client of a transactional producer sends no others. */
static enum hw_status identity_kind(const struct hw_produce_producer *producer,
                                    const struct hw_transaction_entry *entry,
                                    const struct hw_client *client, bool *is_transactional,
                                    struct hw_error *error)
{
    *is_transactional = producer->transactional < 0 ? entry != NULL : producer->transactional != 0;
    if (*is_transactional && !identity_is_scripted(producer) &&
        (client == NULL || !client->is_in_transaction)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TXN_STATE,
                               "producer %" PRId64 " has the transactional id %s and is in no"
                               " transaction: begin_txn(%" PRId64 ")",
                               producer->producer_id, entry->transactional_id,
                               producer->producer_id);
    }
    if (*is_transactional && !identity_is_scripted(producer) && client->has_to_abort) {
        return hw_error_refuse(error, HW_KAFKA_TRANSACTION_ABORTABLE,
                               "a record of the transaction of producer %" PRId64
                               " was not delivered: abort_txn(%" PRId64 ")",
                               producer->producer_id, producer->producer_id);
    }
    return HW_OK;
}

/* Whether the leader appends the batch, or refuses it as stale, without asking (X4.4). */
static bool identity_leader_knows(const struct hw_produce_target *target,
                                  const struct hw_batch_options *options, int32_t records)
{
    const struct hw_producer *known =
        hw_producer_state_find(hw_log_producers(target->leader->log), options->producer_id);

    return known != NULL &&
           (known->epoch > options->producer_epoch ||
            (known->epoch == options->producer_epoch &&
             known->transaction_start != HW_OFFSET_NONE) ||
            hw_producer_has_batch(known, options->producer_epoch, options->base_sequence, records));
}

/* What the producer sees of the coordinator's answer to the leader (X4.6). */
static enum hw_status identity_answer(enum hw_status status,
                                      const struct hw_transaction_rules *rules,
                                      struct hw_error *error)
{
    if (status == HW_REFUSED && error->kafka_error == HW_KAFKA_PRODUCER_FENCED) {
        error->kafka_error = HW_KAFKA_INVALID_PRODUCER_EPOCH;
    } else if (status == HW_REFUSED && !rules->leader_adds_partitions &&
               error->kafka_error == HW_KAFKA_CONCURRENT_TRANSACTIONS) {
        error->kafka_error = HW_KAFKA_NOT_ENOUGH_REPLICAS;
    }
    return status;
}

/* Have the partition in the transaction: the client adds it, or the leader does, or verifies that
 * it was added. */
static enum hw_status identity_admit(struct hw_cluster *cluster,
                                     const struct hw_produce_target *target,
                                     const struct hw_batch_options *options,
                                     const struct hw_transaction_entry *entry, int version,
                                     int32_t records, bool client_adds, struct hw_error *error)
{
    const struct hw_transaction_rules *rules = hw_transaction_rules(version);
    struct hw_producer_identity producer = {options->producer_id, options->producer_epoch};
    const char *id = entry == NULL ? "(none)" : entry->transactional_id;
    bool adds = rules->leader_adds_partitions ? !identity_leader_knows(target, options, records)
                                              : client_adds;
    enum hw_status status = HW_OK;

    if (adds) {
        status = hw_coordinator_add_partition(&cluster->coordinator, id, producer, version,
                                              &target->topic->id, target->partition->number,
                                              cluster->now_ms, error);
        cluster->is_state_dirty = cluster->is_state_dirty || status == HW_OK;
        return rules->leader_adds_partitions ? identity_answer(status, rules, error) : status;
    }
    if (!rules->leader_adds_partitions && !identity_leader_knows(target, options, records) &&
        hw_config_bool(&cluster->configs, NULL, "transaction.partition.verification.enable")) {
        status =
            hw_coordinator_verify_partition(&cluster->coordinator, id, producer, &target->topic->id,
                                            target->partition->number, error);
    }
    return identity_answer(status, rules, error);
}

static enum hw_status identity_check(const struct hw_produce_producer *producer,
                                     struct hw_error *error)
{
    if (producer->producer_id < 0 || producer->epoch > INT16_MAX ||
        producer->sequence > INT32_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                               "a producer's id is 0 or more, its epoch 0 to 32767, a sequence 0 to"
                               " 2147483647");
    }
    return HW_OK;
}

/* What the batch says. */
static void identity_fill(const struct hw_produce_target *target,
                          const struct hw_produce_producer *producer,
                          const struct hw_transaction_entry *entry, const struct hw_client *client,
                          bool is_transactional, struct hw_batch_options *options)
{
    const struct hw_producer *known =
        target->leader == NULL
            ? NULL
            : hw_producer_state_find(hw_log_producers(target->leader->log), producer->producer_id);

    options->producer_id = producer->producer_id;
    options->producer_epoch = client != NULL ? client->epoch : identity_last_epoch(entry, known);
    if (producer->epoch >= 0) {
        options->producer_epoch = (int16_t)producer->epoch;
    }
    options->base_sequence =
        producer->sequence >= 0
            ? (int32_t)producer->sequence
            : identity_next_sequence(target, client, options->producer_epoch, known);
    options->attributes = is_transactional ? HW_BATCH_TRANSACTIONAL : 0;
}

/* A producer, as the client of it and the coordinator know it. */
struct identity {
    struct hw_transaction_entry *entry; /* NULL: it has no transactional id. */
    struct hw_client *client;           /* NULL: not known here. */
    int version;
    bool is_transactional;
};

/* Look it up, and fill in *options. */
static enum hw_status identity_find(struct hw_cluster *cluster,
                                    const struct hw_produce_target *target,
                                    const struct hw_produce_producer *producer,
                                    struct identity *identity, struct hw_batch_options *options,
                                    struct hw_error *error)
{
    enum hw_status status = identity_check(producer, error);

    identity->client = hw_clients_find(&cluster->clients, producer->producer_id);
    identity->entry = hw_coordinator_find_producer(&cluster->coordinator, producer->producer_id);
    identity->version = identity->client == NULL ? hw_cluster_transaction_version(cluster, -1)
                                                 : identity->client->version;
    if (status == HW_OK) {
        status = hw_cluster_refuse_database_producer(identity->entry, error);
    }
    if (status == HW_OK) {
        status = identity_kind(producer, identity->entry, identity->client,
                               &identity->is_transactional, error);
    }
    if (status == HW_OK && identity->is_transactional) {
        status = hw_cluster_check_transactions(cluster, -1, -1, error);
    }
    if (status == HW_OK) {
        identity_fill(target, producer, identity->entry, identity->client,
                      identity->is_transactional, options);
        identity_note_scripted(identity->entry, identity_is_scripted(producer));
        hw_coordinator_saw_producer_id(&cluster->coordinator, producer->producer_id);
    }
    return status;
}

/* Its client sends something. */
static enum hw_status identity_enter_client(struct hw_cluster *cluster,
                                            const struct hw_produce_target *target,
                                            const struct identity *identity,
                                            const struct hw_batch_options *options,
                                            struct hw_error *error)
{
    struct hw_client *client;
    enum hw_status status =
        hw_clients_enter(&cluster->clients, options->producer_id, options->producer_epoch,
                         identity->version, &client, error);

    if (status == HW_OK) {
        status = hw_clients_reserve_sequence(&cluster->clients, client, &target->topic->id,
                                             target->partition->number, error);
        client->has_sent = true;
    }
    return status;
}

enum hw_status hw_cluster_identify(struct hw_cluster *cluster,
                                   const struct hw_produce_target *target,
                                   const struct hw_produce_producer *producer, bool admits,
                                   struct hw_batch_options *options, struct hw_error *error)
{
    bool is_own = producer->epoch < 0 && producer->sequence < 0;
    struct identity identity;
    enum hw_status status = identity_find(cluster, target, producer, &identity, options, error);

    if (status == HW_OK && is_own) {
        status = identity_enter_client(cluster, target, &identity, options, error);
    }
    if (status == HW_OK && admits && identity.is_transactional) {
        status = identity_admit(cluster, target, options, identity.entry, identity.version, 1,
                                is_own, error);
    }
    return status;
}

/* Who a batch says that it is from; false where it is no batch of a producer. */
static bool identity_parse(const uint8_t *bytes, size_t size_bytes, struct hw_batch *batch,
                           struct hw_batch_options *options)
{
    if (hw_batch_parse(bytes, size_bytes, batch) != HW_BATCH_OK || batch->producer_id < 0 ||
        batch->last_offset_delta == INT32_MAX) {
        return false;
    }
    *options = (struct hw_batch_options){.producer_id = batch->producer_id,
                                         .producer_epoch = batch->producer_epoch,
                                         .base_sequence = batch->base_sequence};
    return true;
}

enum hw_status hw_cluster_admit_own(struct hw_cluster *cluster,
                                    const struct hw_produce_target *target, const uint8_t *bytes,
                                    size_t size_bytes, struct hw_error *error)
{
    struct hw_batch_options options;
    struct hw_batch batch;
    const struct hw_client *client;

    if (!identity_parse(bytes, size_bytes, &batch, &options)) {
        return HW_OK;
    }
    client = hw_clients_find(&cluster->clients, options.producer_id);
    return identity_admit(cluster, target, &options,
                          hw_coordinator_find_producer(&cluster->coordinator, options.producer_id),
                          client == NULL ? hw_cluster_transaction_version(cluster, -1)
                                         : client->version,
                          batch.last_offset_delta + 1, true, error);
}

enum hw_status hw_cluster_admit_batch(struct hw_cluster *cluster,
                                      const struct hw_produce_target *target, const uint8_t *bytes,
                                      size_t size_bytes, struct hw_error *error)
{
    struct hw_batch_options options;
    struct hw_transaction_entry *entry;
    struct hw_batch batch;
    enum hw_status status;

    if (!identity_parse(bytes, size_bytes, &batch, &options)) {
        return HW_OK; /* What is no batch, the log refuses. */
    }
    entry = hw_coordinator_find_producer(&cluster->coordinator, batch.producer_id);
    status = hw_cluster_refuse_database_producer(entry, error);
    if (status != HW_OK) {
        return status;
    }
    identity_note_scripted(entry, true);
    if ((batch.attributes & HW_BATCH_TRANSACTIONAL) == 0) {
        return HW_OK;
    }
    status = hw_cluster_check_transactions(cluster, -1, -1, error);
    return status == HW_OK ? identity_admit(cluster, target, &options, entry,
                                            hw_cluster_transaction_version(cluster, -1),
                                            batch.last_offset_delta + 1, false, error)
                           : status;
}

void hw_cluster_note_sent(const struct hw_cluster *cluster, const struct hw_produce_target *target,
                          const struct hw_produce_producer *producer, int32_t sequence)
{
    struct hw_client *client = hw_clients_find(&cluster->clients, producer->producer_id);

    if (client != NULL && producer->epoch < 0 && producer->sequence < 0) {
        hw_client_set_next_sequence(client, &target->topic->id, target->partition->number,
                                    hw_sequence_add(sequence, 1));
    }
}
