/* SPDX-License-Identifier: MIT */
#include "core/cluster/held.h"

#include "core/cluster/cluster_internal.h"
#include "core/cluster/link_times.h"

#include <string.h>

void hw_held_init(struct hw_held *held, const struct hw_allocator *allocator)
{
    *held = (struct hw_held){.notices = {.allocator = allocator}};
}

void hw_held_fetches_take(struct hw_held_fetches *fetches, size_t index)
{
    hw_buffer_release(&fetches->fetches[index].response.records);
    fetches->count--;
    memmove(&fetches->fetches[index], &fetches->fetches[index + 1],
            (fetches->count - index) * sizeof *fetches->fetches);
}

/* Those about a topic (NULL: any) and to a broker (HW_BROKER_ID_NONE: any). */
static void held_fetches_forget(struct hw_held_fetches *fetches, const struct hw_topic *topic,
                                hw_broker_id_t follower)
{
    for (size_t i = fetches->count; i-- > 0;) {
        const struct hw_held_fetch *fetch = &fetches->fetches[i];

        if ((topic == NULL || hw_uuid_equal(&fetch->partition->topic_id, &topic->id)) &&
            (follower == HW_BROKER_ID_NONE || follower == fetch->request.replica_id)) {
            hw_held_fetches_take(fetches, i);
        }
    }
}

void hw_held_release(struct hw_held *held)
{
    hw_notices_release(&held->notices);
    held_fetches_forget(&held->fetches, NULL, HW_BROKER_ID_NONE);
    hw_free(held->notices.allocator, held->fetches.fetches,
            held->fetches.capacity * sizeof *held->fetches.fetches);
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
    hw_notices_forget(&held->notices, HW_BROKER_ID_NONE, &topic->id);
    held_fetches_forget(&held->fetches, topic, HW_BROKER_ID_NONE);
}

void hw_held_lose(struct hw_held *held, hw_broker_id_t broker)
{
    for (size_t i = held->count; i-- > 0;) {
        if (held->proposals[i].is_answered && held->proposals[i].request.sender == broker) {
            hw_held_take_proposal(held, i);
        }
    }
    hw_notices_forget(&held->notices, broker, NULL);
    held_fetches_forget(&held->fetches, NULL, broker);
}

size_t hw_held_fetches_find(const struct hw_held_fetches *fetches,
                            const struct hw_partition *partition, int64_t leader, int64_t follower)
{
    size_t i = 0;

    while (i < fetches->count &&
           (fetches->fetches[i].partition != partition || fetches->fetches[i].leader != leader ||
            fetches->fetches[i].request.replica_id != follower)) {
        i++;
    }
    return i;
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
    view->topic = partition->topic->name;
    return true;
}
