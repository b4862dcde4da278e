/* SPDX-License-Identifier: MIT */
/* What the clients of producers send and, where it fails, send again: core/cluster/clients.h. */
#include "core/cluster/cluster_internal.h"

/* Who takes it now. */
static enum hw_status retries_resolve(struct hw_cluster *cluster,
                                      const struct hw_delivery *delivery,
                                      struct hw_produce_target *target, struct hw_error *error)
{
    enum hw_status status;

    *target = (struct hw_produce_target){.topic = hw_delivery_topic(cluster, delivery),
                                         .acks = delivery->acks};
    if (target->topic == NULL) {
        return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                               "the topic was deleted before the record was delivered");
    }
    target->partition = &target->topic->partitions[delivery->partition];
    if (target->partition->writer != NULL) {
        return hw_cluster_refuse_written(cluster, target->partition, error);
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

static enum hw_status retries_append(struct hw_cluster *cluster, const struct hw_delivery *delivery,
                                     const struct hw_produce_target *target,
                                     struct hw_log_append_info *info, struct hw_error *error)
{
    struct hw_append_request request = {.acks = delivery->acks, .ack_id = delivery->ack_id};
    enum hw_status status = hw_cluster_write_state(cluster, error);

    cluster->scratch.size = 0;
    if (status == HW_OK) {
        status = hw_waiting_reserve(target->leader, 1, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_append(&cluster->scratch, delivery->bytes, delivery->size_bytes, error);
    }
    if (status != HW_OK) {
        return status;
    }
    request.bytes = cluster->scratch.bytes;
    request.size_bytes = cluster->scratch.size;
    return hw_replica_append(target->leader, cluster->now_ms, &request, info, error);
}

enum hw_status hw_cluster_send(struct hw_cluster *cluster, struct hw_delivery *delivery,
                               hw_offset_t *offset, struct hw_error *error)
{
    struct hw_produce_target target;
    struct hw_log_append_info info;
    int64_t ack_id = delivery->ack_id;
    enum hw_status status = retries_resolve(cluster, delivery, &target, error);

    if (status == HW_OK) {
        status = retries_append(cluster, delivery, &target, &info, error);
    }
    if (status != HW_OK) {
        return status;
    }
    *offset = info.first_offset;
    delivery->is_waiting = false;
    hw_acks_set_appended(&cluster->acks, ack_id, info.first_offset, info.last_offset,
                         target.leader->leader_epoch);
    if (delivery->acks == HW_ACKS_ALL) {
        hw_waiting_add(target.leader, ack_id, info.last_offset + 1,
                       hw_cluster_answer_deadline(cluster));
    } else {
        (void)hw_cluster_answer(cluster, target.partition, ack_id, HW_KAFKA_NONE);
    }
    cluster->variant->appended(target.partition, hw_cluster_step(cluster), target.leader);
    return hw_cluster_finish_partition(cluster, target.partition, HW_OK, error);
}

/* One that waits is sent, or fails, or waits on. Errors: HW_NO_MEMORY, HW_IO. */
static enum hw_status retries_try_again(struct hw_cluster *cluster, struct hw_delivery *delivery,
                                        struct hw_error *error)
{
    hw_offset_t unused;
    enum hw_status status;

    if (cluster->now_ms >= delivery->deadline_ms) {
        hw_delivery_fail(cluster, delivery, HW_KAFKA_REQUEST_TIMED_OUT);
        return HW_OK;
    }
    if (!delivery->is_waiting || !hw_deliveries_allow(&cluster->deliveries, delivery)) {
        return HW_OK;
    }
    delivery->attempts_left--;
    status = hw_cluster_send(cluster, delivery, &unused, error);
    if (status == HW_BUSY) {
        delivery->attempts_left++;
        return HW_OK;
    }
    if (status == HW_REFUSED && !hw_delivery_waits_on(cluster, delivery, error->kafka_error)) {
        hw_delivery_fail(cluster, delivery, error->kafka_error);
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
        status = retries_try_again(cluster, list->items[i], error);
        i = 0; /* Some may be gone. */
    }
    return status;
}
