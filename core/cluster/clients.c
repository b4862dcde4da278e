/* SPDX-License-Identifier: MIT */
#include "core/cluster/clients.h"

#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>
#include <string.h>

void hw_clients_init(struct hw_clients *clients, const struct hw_allocator *allocator)
{
    *clients = (struct hw_clients){.allocator = allocator};
}

void hw_clients_release(struct hw_clients *clients)
{
    for (size_t i = 0; i < clients->count; i++) {
        struct hw_client *client = clients->clients[i];

        hw_free(clients->allocator, client->sequences,
                client->capacity * sizeof *client->sequences);
        hw_free(clients->allocator, client, sizeof *client);
    }
    hw_free(clients->allocator, clients->clients, clients->capacity * sizeof *clients->clients);
    hw_clients_init(clients, clients->allocator);
}

struct hw_client *hw_clients_find(const struct hw_clients *clients, int64_t producer_id)
{
    for (size_t i = 0; i < clients->count; i++) {
        if (clients->clients[i]->producer_id == producer_id) {
            return clients->clients[i];
        }
    }
    return NULL;
}

enum hw_status hw_clients_enter(struct hw_clients *clients, int64_t producer_id, int16_t epoch,
                                int version, struct hw_client **client, struct hw_error *error)
{
    enum hw_status status;

    *client = hw_clients_find(clients, producer_id);
    if (*client != NULL) {
        return HW_OK;
    }
    status = hw_array_reserve(clients->allocator, (void **)&clients->clients, &clients->capacity,
                              clients->count + 1, sizeof *clients->clients, error);
    if (status != HW_OK) {
        return status;
    }
    *client = hw_alloc(clients->allocator, sizeof **client);
    if (*client == NULL) {
        return hw_error_no_memory(error, "a producer");
    }
    **client = (struct hw_client){.producer_id = producer_id, .epoch = epoch, .version = version};
    clients->clients[clients->count++] = *client;
    return HW_OK;
}

static struct hw_client_sequence *client_find_sequence(const struct hw_client *client,
                                                       const struct hw_uuid *topic_id,
                                                       int32_t partition)
{
    for (size_t i = 0; i < client->count; i++) {
        if (client->sequences[i].partition == partition &&
            hw_uuid_equal(&client->sequences[i].topic_id, topic_id)) {
            return &client->sequences[i];
        }
    }
    return NULL;
}

int32_t hw_client_next_sequence(const struct hw_client *client, const struct hw_uuid *topic_id,
                                int32_t partition)
{
    const struct hw_client_sequence *found = client_find_sequence(client, topic_id, partition);

    return found == NULL ? -1 : found->next;
}

enum hw_status hw_clients_reserve_sequence(const struct hw_clients *clients,
                                           struct hw_client *client, const struct hw_uuid *topic_id,
                                           int32_t partition, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (client_find_sequence(client, topic_id, partition) == NULL) {
        status =
            hw_array_reserve(clients->allocator, (void **)&client->sequences, &client->capacity,
                             client->count + 1, sizeof *client->sequences, error);
        if (status == HW_OK) {
            client->sequences[client->count++] = (struct hw_client_sequence){
                .topic_id = *topic_id, .partition = partition, .next = -1};
        }
    }
    return status;
}

void hw_client_set_next_sequence(struct hw_client *client, const struct hw_uuid *topic_id,
                                 int32_t partition, int32_t next)
{
    struct hw_client_sequence *found = client_find_sequence(client, topic_id, partition);

    if (found != NULL) {
        found->next = next;
    }
}

void hw_client_become(struct hw_client *client, int64_t producer_id, int16_t epoch)
{
    client->producer_id = producer_id;
    client->epoch = epoch;
    for (size_t i = 0; i < client->count; i++) {
        client->sequences[i].next = 0;
    }
}

/* -------------------------------------------------------------------------------- deliveries */

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

void hw_deliveries_remove(struct hw_cluster *cluster, const struct hw_delivery *delivery)
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

enum hw_status hw_deliveries_add(struct hw_cluster *cluster, const struct hw_produce_target *target,
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

struct hw_delivery *hw_deliveries_find(const struct hw_cluster *cluster, int64_t ack_id)
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

bool hw_deliveries_allow(const struct hw_deliveries *list, const struct hw_delivery *delivery)
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

bool hw_delivery_may_pass(enum hw_kafka_error refused)
{
    return refused == HW_KAFKA_LEADER_NOT_AVAILABLE || refused == HW_KAFKA_NOT_LEADER_OR_FOLLOWER ||
           refused == HW_KAFKA_REQUEST_TIMED_OUT || refused == HW_KAFKA_NETWORK_EXCEPTION ||
           refused == HW_KAFKA_NOT_ENOUGH_REPLICAS ||
           refused == HW_KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND ||
           refused == HW_KAFKA_CONCURRENT_TRANSACTIONS || refused == HW_KAFKA_KAFKA_STORAGE_ERROR ||
           refused == HW_KAFKA_FENCED_LEADER_EPOCH || refused == HW_KAFKA_UNKNOWN_LEADER_EPOCH;
}

/* ------------------------------------------------------------------------------------- failing */

struct hw_topic *hw_delivery_topic(const struct hw_cluster *cluster,
                                   const struct hw_delivery *delivery)
{
    struct hw_topic *topic = hw_cluster_topic_by_id(cluster, &delivery->topic_id);

    return topic == NULL || topic->is_hidden ? NULL : topic;
}

/* Its row is finished. */
static void delivery_finish(struct hw_cluster *cluster, const struct hw_delivery *delivery,
                            enum hw_kafka_error failure, const char *what)
{
    const struct hw_topic *topic = hw_delivery_topic(cluster, delivery);
    struct hw_event event =
        topic == NULL ? hw_event_of(&cluster->journal, HW_EVENT_ACK)
                      : hw_partition_event(&topic->partitions[delivery->partition], HW_EVENT_ACK);

    event.ack = delivery->ack_id;
    hw_acks_resolve(&cluster->acks, delivery->ack_id, failure, cluster->now_ms);
    hw_journal_add(&cluster->journal, event, "%" PRId64 ": %s, %s", delivery->ack_id,
                   hw_kafka_error_name(failure), what);
}

/* The same, and it is gone from the list. */
static void delivery_end(struct hw_cluster *cluster, const struct hw_delivery *delivery,
                         enum hw_kafka_error failure, const char *what)
{
    delivery_finish(cluster, delivery, failure, what);
    hw_deliveries_remove(cluster, delivery);
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

/* It has failed for good and is gone from the list, and with it what waits behind it. */
static void delivery_drop(struct hw_cluster *cluster, const struct hw_delivery *failed,
                          enum hw_kafka_error failure)
{
    struct hw_deliveries *list = &cluster->deliveries;
    struct hw_delivery like = *failed;

    delivery_give_up(cluster, failed, failure);
    hw_deliveries_remove(cluster, failed);
    for (size_t i = 0; i < list->count;) {
        struct hw_delivery *delivery = list->items[i];

        if (delivery->ack_id > like.ack_id && delivery->is_waiting &&
            delivery_is_beside(delivery, &like)) {
            delivery_end(cluster, delivery, failure, "not delivered");
        } else {
            i++;
        }
    }
}

void hw_delivery_fail(struct hw_cluster *cluster, const struct hw_delivery *delivery,
                      enum hw_kafka_error failure)
{
    delivery_finish(cluster, delivery, failure, "not delivered");
    delivery_drop(cluster, delivery, failure);
}

bool hw_delivery_waits_on(const struct hw_cluster *cluster, struct hw_delivery *delivery,
                          enum hw_kafka_error answer)
{
    delivery->is_waiting = hw_delivery_may_pass(answer) && delivery->attempts_left > 0 &&
                           cluster->now_ms < delivery->deadline_ms;
    return delivery->is_waiting;
}

/* A produce was answered: whether that is not the end of it, since it will be sent again. If it is,
 * its row in hw_acks is the caller's to finish. */
static bool delivery_goes_on(struct hw_cluster *cluster, int64_t ack_id, enum hw_kafka_error answer)
{
    struct hw_delivery *delivery = hw_deliveries_find(cluster, ack_id);

    if (delivery == NULL) {
        return false;
    }
    if (hw_delivery_waits_on(cluster, delivery, answer)) {
        return true;
    }
    if (answer == HW_KAFKA_NONE) {
        hw_deliveries_remove(cluster, delivery);
    } else {
        delivery_drop(cluster, delivery, answer);
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
            hw_deliveries_remove(cluster, delivery); /* Its answer is the end of it. */
        }
    }
}

size_t hw_cluster_undelivered(const struct hw_cluster *cluster, int64_t producer_id)
{
    size_t count = 0;

    for (size_t i = 0; i < cluster->deliveries.count; i++) {
        count += cluster->deliveries.items[i]->producer_id == producer_id;
    }
    return count;
}

/* ----------------------------------------------------------------------------------- answers */

hw_time_ms_t hw_cluster_answer_deadline(const struct hw_cluster *cluster)
{
    int64_t timeout_ms = cluster->settings.request_timeout_ms;

    return timeout_ms > INT64_MAX - cluster->now_ms ? INT64_MAX : cluster->now_ms + timeout_ms;
}

bool hw_cluster_answer(struct hw_cluster *cluster, const struct hw_partition *partition,
                       int64_t ack_id, enum hw_kafka_error answer)
{
    const struct hw_ack *ack = hw_acks_find(&cluster->acks, ack_id);

    if (ack == NULL) {
        return true;
    }
    if (delivery_goes_on(cluster, ack_id, answer)) {
        return false;
    }
    hw_acks_resolve(&cluster->acks, ack_id, answer, cluster->now_ms);
    hw_losses_acknowledged(cluster, partition, ack);
    return true;
}

bool hw_cluster_collect_acks(struct hw_cluster *cluster, struct hw_partition *partition)
{
    int64_t id;
    enum hw_kafka_error answer;
    bool is_any_acknowledged = false;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        while (hw_waiting_take_resolved(partition->replicas[i], &id, &answer)) {
            struct hw_event event = hw_replica_event(partition->replicas[i], HW_EVENT_ACK);
            bool is_decided = hw_cluster_answer(cluster, partition, id, answer);
            const struct hw_ack *ack = hw_acks_find(&cluster->acks, id);

            hw_replica_count_answer(partition->replicas[i], HW_ANSWERED_PRODUCE, answer);
            event.ack = id;
            if (ack != NULL) {
                event.offset = ack->base_offset;
                event.end_offset = ack->last_offset + 1;
                partition->replicas[i]->counters.produce_wait_ms += cluster->now_ms - ack->time_ms;
            }
            is_any_acknowledged |= answer == HW_KAFKA_NONE;
            if (answer == HW_KAFKA_NONE) {
                hw_journal_add_numbers(&cluster->journal, &event, "#: NONE", &id);
            } else {
                hw_journal_add(&cluster->journal, event, "%" PRId64 ": %s%s", id,
                               hw_kafka_error_name(answer), is_decided ? "" : ", to be sent again");
            }
        }
    }
    return is_any_acknowledged;
}
