/* SPDX-License-Identifier: MIT */
#include "core/cluster/deliveries.h"

#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- the list
 */

static void delivery_free(const struct hw_cluster *cluster, struct hw_delivery *delivery)
{
    hw_free(cluster->allocator, delivery->bytes, delivery->size_bytes);
    hw_free(cluster->allocator, delivery, sizeof *delivery);
}

void hw_deliveries_release(struct hw_cluster *cluster)
{
    struct hw_deliveries *list = &cluster->deliveries;

    for (size_t i = 0; i < list->count; i++) {
        delivery_free(cluster, list->items[i]);
    }
    hw_free(cluster->allocator, list->items, list->capacity * sizeof *list->items);
    *list = (struct hw_deliveries){0};
}

static void deliveries_remove(struct hw_cluster *cluster, const struct hw_delivery *delivery)
{
    struct hw_deliveries *list = &cluster->deliveries;

    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == delivery) {
            delivery_free(cluster, list->items[i]);
            list->count--;
            memmove(list->items + i, list->items + i + 1, (list->count - i) * sizeof *list->items);
            return;
        }
    }
}

static struct hw_delivery *deliveries_find(const struct hw_cluster *cluster, int64_t ack_id)
{
    for (size_t i = 0; i < cluster->deliveries.count; i++) {
        if (cluster->deliveries.items[i]->ack_id == ack_id) {
            return cluster->deliveries.items[i];
        }
    }
    return NULL;
}

/* Whether both are of one producer and partition. */
static bool delivery_is_beside(const struct hw_delivery *a, const struct hw_delivery *b)
{
    return a->producer_id == b->producer_id && a->partition == b->partition &&
           hw_uuid_equal(&a->topic_id, &b->topic_id);
}

/* Whether it may be sent now: nothing before it waits, and few are under way, of its own epoch. */
static bool deliveries_allow(const struct hw_deliveries *list, const struct hw_delivery *delivery)
{
    int under_way = 0;

    for (size_t i = 0; i < list->count && list->items[i] != delivery; i++) {
        if (delivery_is_beside(list->items[i], delivery)) {
            if (list->items[i]->is_waiting ||
                list->items[i]->producer_epoch != delivery->producer_epoch) {
                return false;
            }
            under_way++;
        }
    }
    return under_way < HW_PRODUCER_BATCHES;
}

static bool delivery_may_pass(enum hw_kafka_error refused)
{
    return refused == HW_KAFKA_LEADER_NOT_AVAILABLE || refused == HW_KAFKA_NOT_LEADER_OR_FOLLOWER ||
           refused == HW_KAFKA_REQUEST_TIMED_OUT || refused == HW_KAFKA_NETWORK_EXCEPTION ||
           refused == HW_KAFKA_NOT_ENOUGH_REPLICAS ||
           refused == HW_KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND ||
           refused == HW_KAFKA_CONCURRENT_TRANSACTIONS || refused == HW_KAFKA_KAFKA_STORAGE_ERROR ||
           refused == HW_KAFKA_FENCED_LEADER_EPOCH || refused == HW_KAFKA_UNKNOWN_LEADER_EPOCH;
}

/* ------------------------------------------------------------------------------------- failing */

static struct hw_topic *delivery_topic(const struct hw_cluster *cluster,
                                       const struct hw_delivery *delivery)
{
    struct hw_topic *topic = hw_cluster_topic_by_id(cluster, &delivery->topic_id);

    return topic == NULL || topic->is_hidden ? NULL : topic;
}

/* Its row is finished; it is gone from the list. */
static void delivery_end(struct hw_cluster *cluster, const struct hw_delivery *delivery,
                         enum hw_kafka_error failure, const char *what)
{
    const struct hw_topic *topic = delivery_topic(cluster, delivery);
    struct hw_event event =
        topic == NULL ? hw_event_of(&cluster->journal, HW_EVENT_ACK)
                      : hw_partition_event(&topic->partitions[delivery->partition], HW_EVENT_ACK);

    event.ack = delivery->ack_id;
    hw_acks_resolve(&cluster->acks, delivery->ack_id, failure, cluster->now_ms);
    hw_journal_add(&cluster->journal, event, "%" PRId64 ": %s, %s", delivery->ack_id,
                   hw_kafka_error_name(failure), what);
    deliveries_remove(cluster, delivery);
}

/* The client gives up on what may or may not be in the log. */
static void delivery_give_up(struct hw_cluster *cluster, const struct hw_delivery *delivery,
                             enum hw_kafka_error failure)
{
    struct hw_client *client = hw_clients_find(&cluster->clients, delivery->producer_id);

    if (client == NULL || failure == HW_KAFKA_INVALID_PRODUCER_EPOCH) {
        return;
    }
    if (delivery->is_transactional) {
        client->has_to_abort = client->is_in_transaction;
    } else if (client->epoch < INT16_MAX) {
        hw_client_become(client, client->producer_id, (int16_t)(client->epoch + 1));
    }
}

/* It fails for good, and with it what is behind it. */
static void delivery_fail(struct hw_cluster *cluster, const struct hw_delivery *failed,
                          enum hw_kafka_error failure)
{
    struct hw_deliveries *list = &cluster->deliveries;
    struct hw_delivery like = *failed;

    delivery_give_up(cluster, failed, failure);
    for (size_t i = 0; i < list->count;) {
        struct hw_delivery *delivery = list->items[i];

        if (delivery->ack_id == like.ack_id ||
            (delivery->ack_id > like.ack_id && delivery->is_waiting &&
             delivery_is_beside(delivery, &like))) {
            delivery_end(cluster, delivery, failure, "not delivered");
        } else {
            i++;
        }
    }
}

bool hw_cluster_delivery_goes_on(struct hw_cluster *cluster, int64_t ack_id,
                                 enum hw_kafka_error answer)
{
    struct hw_delivery *delivery = deliveries_find(cluster, ack_id);

    if (delivery == NULL) {
        return false;
    }
    if (delivery_may_pass(answer) && delivery->attempts_left > 0 &&
        cluster->now_ms < delivery->deadline_ms) {
        delivery->is_waiting = true;
        return true;
    }
    if (answer == HW_KAFKA_NONE) {
        deliveries_remove(cluster, delivery);
    } else {
        delivery_fail(cluster, delivery, answer);
    }
    return false;
}

void hw_cluster_cancel_deliveries(struct hw_cluster *cluster, int64_t producer_id)
{
    struct hw_deliveries *list = &cluster->deliveries;

    for (size_t i = 0; i < list->count;) {
        struct hw_delivery *delivery = list->items[i];

        if (delivery->producer_id != producer_id) {
            i++;
            continue;
        }
        if (delivery->is_waiting) {
            delivery_end(cluster, delivery, HW_KAFKA_TRANSACTION_ABORTABLE, "aborted");
        } else {
            deliveries_remove(cluster, delivery); /* It is answered, and that is the end of it. */
        }
    }
}

size_t hw_cluster_undelivered(const struct hw_cluster *cluster, int64_t producer_id)
{
    size_t count = 0;

    for (size_t i = 0; i < cluster->deliveries.count; i++) {
        count += cluster->deliveries.items[i]->producer_id == producer_id &&
                 cluster->deliveries.items[i]->is_waiting;
    }
    return count;
}

/* ------------------------------------------------------------------------------------- sending */

/* Who takes it now. */
static enum hw_status delivery_resolve(struct hw_cluster *cluster,
                                       const struct hw_delivery *delivery,
                                       struct hw_produce_target *target, struct hw_error *error)
{
    enum hw_status status;

    *target = (struct hw_produce_target){.topic = delivery_topic(cluster, delivery),
                                         .acks = delivery->acks};
    if (target->topic == NULL) {
        return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                               "the topic was deleted before the record was delivered");
    }
    target->partition = &target->topic->partitions[delivery->partition];
    if (target->topic->writers[delivery->partition] != NULL) {
        return hw_cluster_refuse_written(cluster, target->topic, target->partition, error);
    }
    status = hw_cluster_find_leader(cluster, target->partition, &target->leader, error);
    if (status == HW_OK) {
        status = cluster->variant->may_append(target->partition, target->leader, target->acks,
                                              HW_EPOCH_NONE, error);
    }
    if (status == HW_OK && delivery->is_transactional) {
        status =
            hw_cluster_admit_own(cluster, target, delivery->bytes, delivery->size_bytes, error);
    }
    return status;
}

static enum hw_status delivery_append(struct hw_cluster *cluster,
                                      const struct hw_delivery *delivery,
                                      const struct hw_produce_target *target,
                                      struct hw_log_append_info *info, struct hw_error *error)
{
    struct hw_append_request request = {.acks = delivery->acks, .ack_id = delivery->ack_id};
    enum hw_status status = hw_cluster_write_state(cluster, error);

    cluster->scratch.size = 0;
    if (status == HW_OK) {
        status = hw_waiting_reserve(target->leader, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_append(&cluster->scratch, delivery->bytes, delivery->size_bytes, error);
    }
    if (status != HW_OK) {
        return status;
    }
    request.bytes = cluster->scratch.bytes;
    request.size_bytes = cluster->scratch.size;
    return hw_replica_append(target->leader, cluster->now_ms, target->partition->settings, &request,
                             info, error);
}

/* Send it, once; *offset where it is then. It may be done, and gone, when this returns HW_OK. */
static enum hw_status delivery_send(struct hw_cluster *cluster, struct hw_delivery *delivery,
                                    hw_offset_t *offset, struct hw_error *error)
{
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_produce_target target;
    struct hw_log_append_info info;
    int64_t ack_id = delivery->ack_id;
    enum hw_status status = delivery_resolve(cluster, delivery, &target, error);

    if (status == HW_OK) {
        status = delivery_append(cluster, delivery, &target, &info, error);
    }
    if (status != HW_OK) {
        return status;
    }
    *offset = info.first_offset;
    delivery->is_waiting = false;
    hw_acks_set_offsets(&cluster->acks, ack_id, info.first_offset, info.last_offset);
    hw_acks_set_leader_epoch(&cluster->acks, ack_id, target.leader->leader_epoch);
    if (delivery->acks == HW_ACKS_ALL) {
        hw_waiting_add(target.leader, ack_id, info.last_offset + 1,
                       hw_cluster_answer_deadline(cluster));
    } else {
        (void)hw_cluster_answer(cluster, target.topic, target.partition, ack_id, HW_KAFKA_NONE);
    }
    cluster->variant->appended(target.partition, &step, target.leader);
    return hw_cluster_settle(cluster, target.topic, target.partition, HW_OK, error);
}

/* One that waits is sent, or fails, or waits on. Errors: HW_NO_MEMORY, HW_IO. */
static enum hw_status delivery_try_again(struct hw_cluster *cluster, struct hw_delivery *delivery,
                                         struct hw_error *error)
{
    hw_offset_t unused;
    enum hw_status status;

    if (cluster->now_ms >= delivery->deadline_ms) {
        delivery_fail(cluster, delivery, HW_KAFKA_REQUEST_TIMED_OUT);
        return HW_OK;
    }
    if (!delivery->is_waiting || !deliveries_allow(&cluster->deliveries, delivery)) {
        return HW_OK;
    }
    delivery->attempts_left--;
    status = delivery_send(cluster, delivery, &unused, error);
    if (status == HW_BUSY) {
        delivery->attempts_left++;
        return HW_OK;
    }
    if (status == HW_REFUSED &&
        !hw_cluster_delivery_goes_on(cluster, delivery->ack_id, error->kafka_error)) {
        return HW_OK;
    }
    return status == HW_REFUSED ? HW_OK : status;
}

enum hw_status hw_cluster_send_again(struct hw_cluster *cluster, struct hw_error *error)
{
    const struct hw_deliveries *list = &cluster->deliveries;
    enum hw_status status = HW_OK;
    int64_t last_id = 0;

    for (size_t i = 0; status == HW_OK && i < list->count;) {
        if (list->items[i]->ack_id <= last_id) {
            i++;
            continue;
        }
        last_id = list->items[i]->ack_id;
        status = delivery_try_again(cluster, list->items[i], error);
        i = 0; /* Some may be gone. */
    }
    return status;
}

/* ------------------------------------------------------------------------------ the first time */

bool hw_cluster_delivers(const struct hw_cluster *cluster, const struct hw_produce *produce)
{
    return produce->producer != NULL && produce->producer->epoch < 0 &&
           produce->producer->sequence < 0 && produce->producer->transactional < 0 &&
           !produce->has_broker && produce->leader_epoch < 0 && produce->acks != 0 &&
           (produce->acks != HW_ACKS_DEFAULT || cluster->settings.acks != 0) &&
           cluster->variant->has_transactions &&
           hw_config_int64(&cluster->configs, NULL, "retries") > 0;
}

/* A place for the batch in cluster->scratch. */
static enum hw_status delivery_enter(struct hw_cluster *cluster,
                                     const struct hw_produce_target *target,
                                     const struct hw_batch_options *options,
                                     struct hw_delivery **entered, struct hw_error *error)
{
    struct hw_deliveries *list = &cluster->deliveries;
    int64_t timeout_ms = hw_config_int64(&cluster->configs, NULL, "delivery.timeout.ms");
    struct hw_delivery *made;
    enum hw_status status =
        hw_array_reserve(cluster->allocator, (void **)&list->items, &list->capacity,
                         list->count + 1, sizeof *list->items, error);

    if (status != HW_OK) {
        return status;
    }
    made = hw_alloc_zeroed(cluster->allocator, sizeof *made);
    if (made == NULL) {
        return hw_error_no_memory(error, "a delivery");
    }
    made->topic_id = target->topic->id;
    made->partition = target->partition->number;
    made->acks = target->acks;
    made->producer_id = options->producer_id;
    made->producer_epoch = options->producer_epoch;
    made->is_transactional = (options->attributes & HW_BATCH_TRANSACTIONAL) != 0;
    made->attempts_left = hw_config_int64(&cluster->configs, NULL, "retries");
    made->deadline_ms = cluster->now_ms + timeout_ms;
    made->size_bytes = cluster->scratch.size;
    made->bytes = hw_alloc(cluster->allocator, made->size_bytes);
    if (made->bytes == NULL) {
        made->size_bytes = 0;
        delivery_free(cluster, made);
        return hw_error_no_memory(error, "a delivery");
    }
    memcpy(made->bytes, cluster->scratch.bytes, made->size_bytes);
    list->items[list->count++] = made;
    *entered = made;
    return HW_OK;
}

/* The record as a batch of its producer, with a row in hw_acks, in the list. */
static enum hw_status delivery_make(struct hw_cluster *cluster, const struct hw_produce *produce,
                                    const struct hw_produce_target *target,
                                    struct hw_delivery **made, int32_t *sequence,
                                    struct hw_error *error)
{
    struct hw_ack ack = {.time_ms = cluster->now_ms,
                         .partition = target->partition->number,
                         .base_offset = HW_OFFSET_NONE,
                         .last_offset = HW_OFFSET_NONE,
                         .leader_epoch = HW_EPOCH_NONE,
                         .acks = target->acks};
    struct hw_batch_options options = hw_batch_options_plain();
    enum hw_status status =
        hw_cluster_identify_own(cluster, target, produce->producer, &options, error);

    cluster->scratch.size = 0;
    if (status == HW_OK) {
        status = hw_cluster_build(cluster, &produce->record, &options, error);
    }
    if (status == HW_OK) {
        status = delivery_enter(cluster, target, &options, made, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = hw_acks_add(&cluster->acks, &ack, target->topic->name, &(*made)->ack_id, error);
    if (status != HW_OK) {
        deliveries_remove(cluster, *made);
        return status;
    }
    *sequence = options.base_sequence;
    hw_cluster_note_sent(cluster, target, produce->producer, options.base_sequence);
    return HW_OK;
}

/* It was refused for good at once, or failed, and nothing was written: as if it had never been. */
static void delivery_take_back(struct hw_cluster *cluster, const struct hw_produce_target *target,
                               const struct hw_delivery *delivery, int32_t sequence)
{
    struct hw_client *client = hw_clients_find(&cluster->clients, delivery->producer_id);

    if (client != NULL) {
        hw_client_set_next_sequence(client, &target->topic->id, target->partition->number,
                                    sequence);
    }
    hw_acks_remove(&cluster->acks, delivery->ack_id);
    deliveries_remove(cluster, delivery);
}

enum hw_status hw_cluster_send_delivery(struct hw_cluster *cluster,
                                        const struct hw_produce *produce,
                                        struct hw_produce_target *target, enum hw_status resolved,
                                        struct hw_produced *produced, struct hw_error *error)
{
    struct hw_delivery *delivery = NULL;
    int32_t sequence = 0;
    enum hw_status status = resolved;

    if (status == HW_REFUSED && target->acks != HW_ACKS_DEFAULT &&
        delivery_may_pass(error->kafka_error)) {
        target->leader = NULL;
        status = HW_OK;
    }
    if (status == HW_OK) {
        status = delivery_make(cluster, produce, target, &delivery, &sequence, error);
    }
    if (status != HW_OK) {
        return status;
    }
    produced->ack_id = delivery->ack_id;
    produced->partition = target->partition->number;
    produced->answered = false;
    delivery->is_waiting = true;
    if (deliveries_allow(&cluster->deliveries, delivery)) {
        status = delivery_send(cluster, delivery, &produced->offset, error);
        produced->answered = status == HW_OK;
        if (status == HW_REFUSED && delivery_may_pass(error->kafka_error)) {
            status = HW_OK;
        }
    }
    if (status != HW_OK && deliveries_find(cluster, produced->ack_id) != NULL &&
        delivery->is_waiting) {
        delivery_take_back(cluster, target, delivery, sequence);
        produced->ack_id = 0;
    } else if (produce->partition == -1 && produce->record.key_size < 0) {
        hw_topic_next_sticky(target->topic);
    }
    return hw_cluster_finish_step(cluster, status, error);
}
