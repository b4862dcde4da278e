/* SPDX-License-Identifier: MIT */
#include "core/replication/replica.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"

#include <stdio.h>
#include <string.h>

enum hw_status hw_replica_create(const struct hw_allocator *allocator, const char *name,
                                 hw_broker_id_t broker, const struct hw_metadata *metadata,
                                 const struct hw_uuid *topic_id, struct hw_log *log,
                                 struct hw_replica **replica, struct hw_error *error)
{
    struct hw_replica *made = hw_alloc_zeroed(allocator, sizeof *made);

    *replica = NULL;
    if (made == NULL) {
        return hw_error_no_memory(error, "replica");
    }
    made->allocator = allocator;
    made->name = name;
    made->broker = broker;
    made->metadata = metadata;
    made->topic_id = *topic_id;
    made->log = log;
    made->role = HW_ROLE_NONE;
    made->leader = HW_BROKER_ID_NONE;
    made->leader_epoch = HW_EPOCH_NONE;
    made->partition_epoch = -1;
    made->fetch.delay_until_ms = HW_TIME_NEVER;
    made->fetch.current_leader_epoch = HW_EPOCH_NONE;
    made->fetch.last_fetched_epoch = HW_EPOCH_NONE;
    made->fetch.cut_offset = HW_OFFSET_NONE;
    made->fetch.lag = -1;
    *replica = made;
    return HW_OK;
}

void hw_replica_count_answer(const struct hw_replica *replica, enum hw_answered kind,
                             enum hw_kafka_error error)
{
    int64_t *count =
        replica->answers == NULL ? NULL : hw_answer_count(replica->answers, kind, error);

    if (count != NULL && error != HW_KAFKA_NETWORK_EXCEPTION) {
        (*count)++;
    }
}

struct hw_event hw_replica_event(const struct hw_replica *replica, enum hw_event_kind kind)
{
    struct hw_event event = hw_event_of(replica->journal, kind);

    event.topic = replica->journal_topic;
    event.partition = replica->journal_partition;
    event.broker = replica->broker;
    event.leader_epoch = replica->leader_epoch;
    event.high_watermark = hw_log_high_watermark(replica->log);
    event.last_stable = hw_log_last_stable(replica->log);
    return event;
}

void hw_replica_note_log_start(const struct hw_replica *replica)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_LOG_START);

    event.offset = hw_log_start(replica->log);
    event.end_offset = hw_log_end(replica->log);
    hw_journal_add_bare(replica->journal, &event);
}

void hw_replica_note_throttled(const struct hw_replica *replica, hw_broker_id_t peer,
                               const char *who)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_THROTTLED);

    event.peer = peer;
    event.offset = hw_log_end(replica->log);
    hw_journal_add_numbers(replica->journal, &event, who, NULL);
}

void hw_replica_destroy(struct hw_replica *replica)
{
    if (replica == NULL) {
        return;
    }
    hw_log_close(replica->log);
    hw_free(replica->allocator, replica->waiting,
            replica->waiting_capacity * sizeof *replica->waiting);
    hw_free(replica->allocator, replica->remotes,
            replica->remote_capacity * sizeof *replica->remotes);
    hw_free(replica->allocator, replica, sizeof *replica);
}

struct hw_remote_replica *hw_replica_find_remote(struct hw_replica *replica, hw_broker_id_t broker)
{
    for (int32_t i = 0; i < replica->remote_count; i++) {
        if (replica->remotes[i].broker == broker) {
            return &replica->remotes[i];
        }
    }
    return NULL;
}

hw_time_ms_t hw_remote_replica_lags_from(const struct hw_remote_replica *remote,
                                         hw_offset_t leader_log_end, int64_t lag_time_max_ms)
{
    /* An equal log end wins whatever the time: a silent follower that has everything is in sync. */
    if (remote->log_end == leader_log_end) {
        return INT64_MAX;
    }
    if (remote->last_caught_up_ms == HW_TIME_NEVER) {
        return INT64_MIN;
    }
    return remote->last_caught_up_ms > INT64_MAX - 1 - lag_time_max_ms
               ? INT64_MAX
               : remote->last_caught_up_ms + lag_time_max_ms + 1;
}

const struct hw_broker_list *hw_replica_maximal_isr(const struct hw_replica *replica)
{
    return replica->isr_change == HW_ISR_PENDING_EXPAND ? &replica->proposed_isr : &replica->isr;
}

bool hw_replica_is_isr_eligible(const struct hw_replica *replica,
                                const struct hw_remote_replica *remote)
{
    const struct hw_registration *registration =
        hw_metadata_find(replica->metadata, remote->broker);

    if (registration == NULL || registration->fenced || registration->in_controlled_shutdown) {
        return false;
    }
    /* KIP-903: fetches from before a restart say nothing about what the broker has now. */
    return remote->has_fetched_epoch && (remote->broker_epoch == HW_BROKER_EPOCH_NONE ||
                                         remote->broker_epoch == registration->epoch);
}

void hw_replica_fail(struct hw_replica *replica, enum hw_status status,
                     const struct hw_error *error)
{
    char failure[HW_REPLICA_FAILURE_SIZE];
    enum hw_kafka_error kafka;

    (void)snprintf(failure, sizeof failure, "%.40s: %.320s",
                   hw_error_kafka(error, &kafka) ? hw_kafka_error_name(kafka)
                                                 : hw_status_name(status),
                   error->message);
    /* One that tries again and again is no news. */
    if (replica->fetch.phase == HW_PHASE_FAILED && strcmp(failure, replica->failure) == 0) {
        return;
    }
    memcpy(replica->failure, failure, sizeof failure);
    replica->fetch.phase = HW_PHASE_FAILED;
    replica->fetch.is_request_waiting = false;
    hw_journal_add(replica->journal, hw_replica_event(replica, HW_EVENT_APPEND), "%s", failure);
    replica->changes++;
}

void hw_replica_check(const struct hw_replica *replica)
{
    hw_log_check(replica->log);
    HW_ASSERT(HW_IMPLIES(replica->role == HW_ROLE_LEADER,
                         hw_broker_list_is_subset(&replica->isr, &replica->assignment)));
    HW_ASSERT(HW_IMPLIES(replica->role == HW_ROLE_LEADER, replica->leader == replica->broker));
    HW_ASSERT(HW_IMPLIES(replica->role == HW_ROLE_LEADER, !replica->fetch.is_request_waiting));
    HW_ASSERT(HW_IMPLIES(replica->is_proposal_unsent, replica->isr_change != HW_ISR_COMMITTED));
    HW_ASSERT(HW_IMPLIES(replica->role != HW_ROLE_LEADER, replica->remote_count == 0));
}
