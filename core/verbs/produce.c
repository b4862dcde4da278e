/* SPDX-License-Identifier: MIT */
/* One record or batch, at once or as its producer's client delivers it: from the caller's arguments to
 * the leader's log and the row in hw_acks. */
#include "core/cluster/cluster_internal.h"
#include "core/cluster/partitioner.h"

#include <inttypes.h>

static enum hw_status produce_resolve_acks(const struct hw_cluster *cluster, int64_t acks,
                                           int32_t *resolved, struct hw_error *error)
{
    enum hw_status status;

    if (acks == HW_ACKS_DEFAULT) {
        acks = cluster->settings.acks;
    }
    status = hw_replica_check_acks(acks, error);
    *resolved = status == HW_OK ? (int32_t)acks : HW_ACKS_DEFAULT;
    return status;
}

/* Whether the variant looks at the producer before it looks at acks. */
static bool produce_is_judged_first(const struct hw_cluster *cluster,
                                    const struct hw_produce *produce)
{
    return cluster->variant->check_producer != NULL &&
           (produce->producer != NULL || produce->batch != NULL);
}

enum hw_status hw_cluster_resolve_produce(struct hw_cluster *cluster,
                                          const struct hw_produce *produce,
                                          struct hw_produce_target *target, struct hw_error *error)
{
    struct hw_topic *topic = hw_cluster_topic(cluster, produce->topic);
    int64_t partition = produce->partition;
    enum hw_status status = HW_OK;

    *target = (struct hw_produce_target){.topic = topic, .acks = HW_ACKS_DEFAULT};
    if (topic != NULL && partition == -1) {
        partition = produce->record.key_size < 0
                        ? topic->sticky_partition
                        : hw_partition_for_key(produce->record.key, produce->record.key_size,
                                               topic->partition_count);
    }
    if (topic == NULL || partition < 0 || partition >= topic->partition_count) {
        return hw_cluster_find_partition(cluster, produce->topic, partition, &target->partition,
                                         error);
    }
    target->partition = &topic->partitions[partition];
    if (produce->leader_epoch < -1 || produce->leader_epoch > INT32_MAX) {
        return hw_error_set(error, HW_MISUSE,
                            "leader epoch %" PRId64 ", allowed are 0 to 2147483647",
                            produce->leader_epoch);
    }
    status = produce_resolve_acks(cluster, produce->acks, &target->acks, error);
    if (status == HW_OK) {
        status = hw_cluster_find_named(cluster, target->partition, produce->has_broker,
                                       produce->broker, &target->leader, error);
    }
    if (status == HW_OK) {
        status = cluster->variant->may_append(
            target->partition, target->leader,
            produce_is_judged_first(cluster, produce) ? 0 : target->acks,
            (hw_epoch_t)produce->leader_epoch, error);
    }
    return status;
}

/* A row of hw_acks for a produce that nobody has taken yet. */
static struct hw_ack produce_ack(const struct hw_cluster *cluster,
                                 const struct hw_produce_target *target)
{
    return (struct hw_ack){.time_ms = cluster->now_ms,
                           .partition = target->partition->number,
                           .base_offset = HW_OFFSET_NONE,
                           .last_offset = HW_OFFSET_NONE,
                           .leader_epoch = target->leader == NULL ? HW_EPOCH_NONE
                                                                  : target->leader->leader_epoch,
                           .acks = target->acks};
}

/* Reserve what the append needs afterwards, so that nothing can fail once the record is in the log.
 */
static enum hw_status produce_reserve(struct hw_cluster *cluster,
                                      const struct hw_produce_target *target, int64_t *ack_id,
                                      struct hw_error *error)
{
    struct hw_ack ack = produce_ack(cluster, target);
    enum hw_status status = hw_waiting_reserve(target->leader, 1, error);

    return status == HW_OK ? hw_acks_add(&cluster->acks, &ack, target->topic->name, ack_id, error)
                           : status;
}

/* The record as a batch, in cluster->scratch. Errors: HW_NO_MEMORY. */
static enum hw_status produce_build(struct hw_cluster *cluster, const struct hw_record *record,
                                    const struct hw_batch_options *options, struct hw_error *error)
{
    struct hw_batch_builder builder;
    struct hw_record first = *record;
    enum hw_status status;

    first.offset = 0;
    first.timestamp = hw_cluster_timestamp(cluster, record);
    status = hw_batch_builder_begin(&builder, &cluster->scratch, 0, error);
    if (status == HW_OK) {
        status = hw_batch_builder_add(&builder, &first, error);
    }
    if (status == HW_OK) {
        hw_batch_builder_finish(&builder, options);
    }
    return status;
}

/* The batch that was given, in cluster->scratch, with base offset and leader epoch as a producer
 * sends them: the checksum does not cover these two. */
static enum hw_status produce_copy(struct hw_cluster *cluster, const struct hw_produce *produce,
                                   struct hw_error *error)
{
    enum hw_status status =
        hw_buffer_append(&cluster->scratch, produce->batch, produce->batch_size, error);

    if (status == HW_OK && produce->batch_size >= HW_BATCH_HEADER_SIZE) {
        hw_batch_set_base_offset(cluster->scratch.bytes, 0);
        hw_batch_set_leader_epoch(cluster->scratch.bytes, HW_EPOCH_NONE);
    }
    return status;
}

static enum hw_status produce_append(struct hw_cluster *cluster, const struct hw_produce *produce,
                                     const struct hw_produce_target *target,
                                     const struct hw_batch_options *options, int64_t ack_id,
                                     struct hw_log_append_info *info, struct hw_error *error)
{
    struct hw_append_request request = {.acks = target->acks, .ack_id = ack_id};
    enum hw_status status;

    cluster->scratch.size = 0;
    status = produce->batch != NULL ? produce_copy(cluster, produce, error)
                                    : produce_build(cluster, &produce->record, options, error);
    if (status != HW_OK) {
        return status;
    }
    request.bytes = cluster->scratch.bytes;
    request.size_bytes = cluster->scratch.size;
    return hw_replica_append(target->leader, cluster->now_ms, &request, info, error);
}

/* M16: errors that Kafka does not take for the client's, or for passing. */
static bool produce_is_failure(enum hw_kafka_error error)
{
    return error != HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION &&
           error != HW_KAFKA_NOT_LEADER_OR_FOLLOWER && error != HW_KAFKA_MESSAGE_TOO_LARGE &&
           error != HW_KAFKA_RECORD_LIST_TOO_LARGE && error != HW_KAFKA_CORRUPT_MESSAGE &&
           error != HW_KAFKA_KAFKA_STORAGE_ERROR;
}

void hw_cluster_note_refused(struct hw_cluster *cluster, const struct hw_produce_target *target,
                             const struct hw_error *error, int64_t *ack_id)
{
    struct hw_ack ack;
    struct hw_event event;
    struct hw_error unused;

    *ack_id = 0;
    if (target->acks == HW_ACKS_DEFAULT) {
        return; /* Nobody was asked. */
    }
    ack = produce_ack(cluster, target);
    ack.is_refused = true;
    if (target->leader != NULL) {
        target->leader->counters.produce_requests++;
        target->leader->counters.produce_failures += produce_is_failure(error->kafka_error) ? 1 : 0;
        if (target->acks != 0) {
            hw_replica_count_answer(target->leader, HW_ANSWERED_PRODUCE, error->kafka_error);
        }
        event = hw_replica_event(target->leader, HW_EVENT_ACK);
    } else {
        event = hw_partition_event(target->partition, HW_EVENT_ACK);
    }
    if (hw_acks_add(&cluster->acks, &ack, target->topic->name, ack_id, &unused) == HW_OK) {
        hw_acks_resolve(&cluster->acks, *ack_id, error->kafka_error, cluster->now_ms);
        event.ack = *ack_id;
        hw_journal_add(&cluster->journal, event, "%" PRId64 ": %s, refused", *ack_id,
                       hw_kafka_error_name(error->kafka_error));
    }
}

void hw_topic_next_sticky(struct hw_topic *topic)
{
    topic->sticky_partition = (topic->sticky_partition + 1) % topic->partition_count;
}

/* Of a variant that judges producers itself: whether this one's batch may follow, and then acks. */
static enum hw_status
produce_judge(const struct hw_cluster *cluster, const struct hw_produce *produce,
              const struct hw_produce_target *target, struct hw_batch_options options,
              const struct hw_producer_batch **repeated, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    int32_t records = 1;
    struct hw_batch batch;

    *repeated = NULL;
    if (!produce_is_judged_first(cluster, produce)) {
        return HW_OK;
    }
    if (produce->batch != NULL &&
        hw_batch_parse(produce->batch, produce->batch_size, &batch) == HW_BATCH_OK &&
        batch.last_offset_delta < INT32_MAX) {
        options.producer_id = batch.producer_id;
        options.producer_epoch = batch.producer_epoch;
        options.base_sequence = batch.base_sequence;
        records = batch.last_offset_delta + 1;
    }
    if (options.producer_id >= 0) {
        status =
            cluster->variant->check_producer(target->leader, &options, records, repeated, error);
    }
    return status == HW_OK && *repeated == NULL
               ? cluster->variant->may_append(target->partition, target->leader, target->acks,
                                              (hw_epoch_t)produce->leader_epoch, error)
               : status;
}

/* Where a batch is that was appended before. */
static struct hw_log_append_info produce_info_of(const struct hw_producer_batch *batch)
{
    return (struct hw_log_append_info){.first_offset = batch->last_offset - batch->offset_delta,
                                       .last_offset = batch->last_offset,
                                       .is_duplicate = true};
}

/* The leader that was found takes the record. */
static enum hw_status produce_take(struct hw_cluster *cluster, const struct hw_produce *produce,
                                   const struct hw_produce_target *found,
                                   struct hw_produced *produced, struct hw_error *error)
{
    struct hw_produce_target target = *found;
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_log_append_info info;
    const struct hw_producer_batch *repeated = NULL;
    enum hw_status status = HW_OK;

    if (target.partition->writer != NULL) {
        return hw_cluster_refuse_written(cluster, target.partition, error);
    }
    if (produce->producer != NULL) {
        status = hw_cluster_identify(cluster, &target, produce->producer, true, &options, error);
    } else if (produce->batch != NULL) {
        status =
            hw_cluster_admit_batch(cluster, &target, produce->batch, produce->batch_size, error);
    }
    if (status == HW_OK) {
        status = produce_judge(cluster, produce, &target, options, &repeated, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_write_state(cluster, error);
    }
    if (status == HW_OK) {
        status = produce_reserve(cluster, &target, &produced->ack_id, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (repeated != NULL) {
        target.acks = target.acks == HW_ACKS_ALL ? 1 : target.acks; /* It is answered at once. */
        info = produce_info_of(repeated);
    } else {
        status =
            produce_append(cluster, produce, &target, &options, produced->ack_id, &info, error);
    }
    if (status != HW_OK) {
        hw_acks_remove(&cluster->acks, produced->ack_id);
        produced->ack_id = 0;
        return status;
    }
    if (produce->producer != NULL) {
        hw_cluster_note_sent(cluster, &target, produce->producer, options.base_sequence);
    }
    hw_acks_set_appended(&cluster->acks, produced->ack_id, info.first_offset, info.last_offset,
                         target.leader->leader_epoch);
    if (target.acks == HW_ACKS_ALL) {
        hw_waiting_add(target.leader, produced->ack_id, info.last_offset + 1,
                       hw_cluster_answer_deadline(cluster));
    } else {
        (void)hw_cluster_answer(cluster, target.partition, produced->ack_id, HW_KAFKA_NONE);
    }
    if (repeated == NULL) {
        cluster->variant->appended(target.partition, hw_cluster_step(cluster), target.leader);
    }
    produced->partition = target.partition->number;
    produced->offset = info.first_offset;
    produced->answered = target.acks != 0;
    if (produce->partition == -1 && produce->record.key_size < 0) {
        hw_topic_next_sticky(target.topic);
    }
    status = hw_cluster_finish_partition(cluster, target.partition, HW_OK, error);
    return hw_cluster_finish_step(cluster, status, error);
}

/* --------------------------------------------------------------------------- until it is there */

/* Whether this produce is delivered: its producer says by itself who it is, it is to be answered, and
 * `retries` is set. */
static bool produce_is_delivered(const struct hw_cluster *cluster, const struct hw_produce *produce)
{
    return produce->producer != NULL && produce->producer->epoch < 0 &&
           produce->producer->sequence < 0 && produce->producer->transactional < 0 &&
           !produce->has_broker && produce->leader_epoch < 0 && produce->acks != 0 &&
           (produce->acks != HW_ACKS_DEFAULT || cluster->settings.acks != 0) &&
           cluster->variant->has_transactions &&
           hw_config_int64(&cluster->configs, NULL, "retries") > 0;
}

/* The record as a batch of its producer, with a row in hw_acks, in the list. */
static enum hw_status produce_make_delivery(struct hw_cluster *cluster,
                                            const struct hw_produce *produce,
                                            const struct hw_produce_target *target,
                                            struct hw_delivery **made, int32_t *sequence,
                                            struct hw_error *error)
{
    struct hw_ack ack = produce_ack(cluster, target);
    struct hw_batch_options options = hw_batch_options_plain();
    enum hw_status status =
        hw_cluster_identify(cluster, target, produce->producer, false, &options, error);

    ack.leader_epoch = HW_EPOCH_NONE; /* Who takes it may be another one. */
    cluster->scratch.size = 0;
    if (status == HW_OK) {
        status = produce_build(cluster, &produce->record, &options, error);
    }
    if (status == HW_OK) {
        status = hw_deliveries_add(cluster, target, &options, made, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = hw_acks_add(&cluster->acks, &ack, target->topic->name, &(*made)->ack_id, error);
    if (status != HW_OK) {
        hw_deliveries_remove(cluster, *made);
        return status;
    }
    *sequence = options.base_sequence;
    hw_cluster_note_sent(cluster, target, produce->producer, options.base_sequence);
    return HW_OK;
}

/* It was refused for good at once, or failed, and nothing was written: as if it had never been. */
static void produce_take_back_delivery(struct hw_cluster *cluster,
                                       const struct hw_produce_target *target,
                                       const struct hw_delivery *delivery, int32_t sequence)
{
    struct hw_client *client = hw_clients_find(&cluster->clients, delivery->producer_id);

    if (client != NULL) {
        hw_client_set_next_sequence(client, &target->topic->id, target->partition->number,
                                    sequence);
    }
    hw_acks_remove(&cluster->acks, delivery->ack_id);
    hw_deliveries_remove(cluster, delivery);
}

/* hw_cluster_resolve_produce() has returned `resolved`. */
static enum hw_status produce_by_delivery(struct hw_cluster *cluster,
                                          const struct hw_produce *produce,
                                          struct hw_produce_target *target, enum hw_status resolved,
                                          struct hw_produced *produced, struct hw_error *error)
{
    struct hw_delivery *delivery = NULL;
    int32_t sequence = 0;
    enum hw_status status = resolved;

    if (status == HW_REFUSED && target->acks != HW_ACKS_DEFAULT &&
        hw_delivery_may_pass(error->kafka_error)) {
        target->leader = NULL;
        status = HW_OK;
    }
    if (status == HW_OK) {
        status = produce_make_delivery(cluster, produce, target, &delivery, &sequence, error);
    }
    if (status != HW_OK) {
        return status;
    }
    produced->ack_id = delivery->ack_id;
    produced->partition = target->partition->number;
    produced->answered = false;
    delivery->is_waiting = true;
    if (hw_deliveries_allow(&cluster->deliveries, delivery)) {
        status = hw_cluster_send(cluster, delivery, &produced->offset, error);
        produced->answered = status == HW_OK;
        if (status == HW_REFUSED && hw_delivery_may_pass(error->kafka_error)) {
            status = HW_OK;
        }
    }
    if (status != HW_OK && hw_deliveries_find(cluster, produced->ack_id) != NULL &&
        delivery->is_waiting) {
        produce_take_back_delivery(cluster, target, delivery, sequence);
        produced->ack_id = 0;
    } else if (produce->partition == -1 && produce->record.key_size < 0) {
        hw_topic_next_sticky(target->topic);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

/* ---------------------------------------------------------------------------------- both ways */

enum hw_status hw_cluster_produce(struct hw_cluster *cluster, const struct hw_produce *produce,
                                  struct hw_produced *produced, struct hw_error *error)
{
    struct hw_produce_target target;
    enum hw_status status = hw_cluster_resolve_produce(cluster, produce, &target, error);

    produced->ack_id = 0;
    if (produce_is_delivered(cluster, produce)) {
        status = produce_by_delivery(cluster, produce, &target, status, produced, error);
    } else if (status == HW_OK) {
        status = produce_take(cluster, produce, &target, produced, error);
    }
    if (status == HW_REFUSED && produced->ack_id == 0) {
        hw_cluster_note_refused(cluster, &target, error, &produced->ack_id);
    }
    return status;
}
