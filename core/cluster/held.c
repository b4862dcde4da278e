/* SPDX-License-Identifier: MIT */
#include "core/cluster/held.h"

#include "core/cluster/checkpoints.h"
#include "core/cluster/link_times.h"
#include "core/replication/exchange.h"

#include <inttypes.h>
#include <string.h>

void hw_held_init(struct hw_held *held, const struct hw_allocator *allocator)
{
    *held = (struct hw_held){.notices = {.allocator = allocator}};
}

void hw_held_release(struct hw_held *held)
{
    hw_notices_release(&held->notices);
    hw_held_fetches_release(&held->fetches, held->notices.allocator);
    hw_free(held->notices.allocator, held->proposals, held->capacity * sizeof *held->proposals);
    hw_held_init(held, held->notices.allocator);
}

void hw_held_take_proposal(struct hw_held *held, size_t index)
{
    held->count--;
    memmove(&held->proposals[index], &held->proposals[index + 1],
            (held->count - index) * sizeof *held->proposals);
}

void hw_held_take_notice(struct hw_held *held, size_t index)
{
    struct hw_notice unused;

    (void)hw_notices_take(&held->notices, held->notices.notices[index].id, &unused);
}

void hw_held_forget_topic(struct hw_held *held, const struct hw_topic *topic)
{
    for (size_t i = held->count; i-- > 0;) {
        if (hw_uuid_equal(&held->proposals[i].partition->topic_id, &topic->id)) {
            hw_held_take_proposal(held, i);
        }
    }
    hw_notices_forget_topic(&held->notices, &topic->id);
    hw_held_fetches_forget(&held->fetches, topic, HW_BROKER_ID_NONE);
}

void hw_held_lose(struct hw_held *held, hw_broker_id_t broker)
{
    for (size_t i = held->count; i-- > 0;) {
        if (held->proposals[i].is_answered && held->proposals[i].request.sender == broker) {
            hw_held_take_proposal(held, i);
        }
    }
    hw_notices_forget(&held->notices, broker);
    hw_held_fetches_forget(&held->fetches, NULL, broker);
}

enum hw_status hw_held_look(struct hw_held *held, struct hw_partition *partition,
                            struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = held->notices.count; i-- > 0;) {
        const struct hw_notice *notice = &held->notices.notices[i];
        const struct hw_replica *replica =
            notice->partition == partition ? hw_partition_find(partition, notice->broker) : NULL;

        if (replica != NULL && replica->partition_epoch >= notice->record.partition_epoch) {
            hw_held_take_notice(held, i);
        }
    }
    for (int32_t i = 0; i < partition->replica_count && status == HW_OK; i++) {
        struct hw_alter_partition_request request;

        status = hw_array_reserve(held->notices.allocator, (void **)&held->proposals,
                                  &held->capacity, held->count + 1, sizeof *held->proposals, error);
        if (status == HW_OK && hw_replica_take_proposal(partition->replicas[i], 0, &request)) {
            held->proposals[held->count++] =
                (struct hw_held_proposal){.partition = partition, .request = request};
        }
    }
    return status;
}

enum hw_status hw_held_check_mode(const struct hw_cluster *cluster, const char *verb,
                                  struct hw_error *error)
{
    return cluster->settings.is_held
               ? HW_OK
               : hw_error_set(error, HW_MISUSE,
                              "%s: messages wait for it with configure('replication', 'held') only",
                              verb);
}

bool hw_held_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_request_view *view)
{
    const struct hw_held *held = &cluster->held;
    size_t index = position->item++;
    const struct hw_partition *partition;

    *view = (struct hw_request_view){.id = (int64_t)index + 1,
                                     .state = "held",
                                     .offset = HW_OFFSET_NONE,
                                     .sent_ms = cluster->now_ms,
                                     .due_ms = HW_TIME_NEVER,
                                     .wait_until_ms = HW_TIME_NEVER,
                                     .waits_for = "deliver()"};
    if (index < held->notices.count) {
        partition = held->notices.notices[index].partition;
        view->kind = "notice";
        view->sender = HW_CLUSTER_CONTROLLER;
        view->receiver = held->notices.notices[index].broker;
    } else if (index - held->notices.count < held->count) {
        const struct hw_held_proposal *proposal = &held->proposals[index - held->notices.count];

        partition = proposal->partition;
        view->kind = "alter_partition";
        view->sender = proposal->is_answered ? HW_CLUSTER_CONTROLLER : proposal->request.sender;
        view->receiver = proposal->is_answered ? proposal->request.sender : HW_CLUSTER_CONTROLLER;
    } else if (index - held->notices.count - held->count < held->fetches.count) {
        const struct hw_held_fetch *fetch =
            &held->fetches.fetches[index - held->notices.count - held->count];

        partition = fetch->partition;
        view->kind = "fetch";
        view->sender = fetch->leader;
        view->receiver = fetch->request.replica_id;
        view->offset = fetch->request.fetch_offset;
    } else {
        return false;
    }
    view->partition = partition->number;
    view->topic = hw_cluster_topic_of(cluster, partition);
    return true;
}
