/* SPDX-License-Identifier: MIT */
/*
 * Who is in sync? The leader proposes, the controller commits (R4.1):
 *
 *     committed --maybe_expand--> pending expand --success--> committed
 *     committed --maybe_shrink--> pending shrink --success--> committed
 *
 * While a change is in flight no other is started.
 */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/replication/replica.h"

#include <inttypes.h>

static void isr_propose(struct hw_replica *replica, enum hw_isr_change change,
                        const struct hw_broker_list *isr)
{
    HW_ASSERT(replica->isr_change == HW_ISR_COMMITTED);
    replica->isr_change = change;
    replica->proposed_isr = *isr;
    replica->is_proposal_unsent = true; /* Nothing has moved yet. */
}

/* The high watermark of a new leader may be lower than what was committed before it: only the start
 * of its epoch is a safe bound (R4.3). */
static bool isr_may_take(const struct hw_replica *replica, const struct hw_remote_replica *remote)
{
    return !hw_broker_list_contains(&replica->isr, remote->broker) &&
           hw_replica_is_isr_eligible(replica, remote) &&
           remote->log_end >= hw_log_high_watermark(replica->log) &&
           remote->log_end >= replica->epoch_start;
}

bool hw_replica_maybe_expand_isr(struct hw_replica *replica, const struct hw_remote_replica *remote)
{
    struct hw_broker_list isr = replica->isr;

    if (replica->isr_change != HW_ISR_COMMITTED || !isr_may_take(replica, remote)) {
        return false;
    }
    hw_broker_list_add(&isr, remote->broker);
    isr_propose(replica, HW_ISR_PENDING_EXPAND, &isr);
    return true;
}

/* When that member falls out of the ISR by itself: with a change in flight, or where ISRs are
 * proposed by hand, none does. */
static hw_time_ms_t isr_lags_from(struct hw_replica *replica, hw_broker_id_t member)
{
    const struct hw_remote_replica *remote = hw_replica_find_remote(replica, member);

    if (replica->role != HW_ROLE_LEADER || replica->isr_change != HW_ISR_COMMITTED ||
        replica->settings->is_isr_proposed_by_hand || member == replica->broker) {
        return INT64_MAX;
    }
    return remote == NULL ? INT64_MIN
                          : hw_remote_replica_lags_from(remote, hw_log_end(replica->log),
                                                        replica->settings->replica_lag_time_max_ms);
}

hw_time_ms_t hw_replica_next_shrink(struct hw_replica *replica)
{
    hw_time_ms_t earliest = INT64_MAX;

    for (int32_t i = 0; i < replica->isr.count; i++) {
        hw_time_ms_t due = isr_lags_from(replica, replica->isr.ids[i]);

        earliest = HW_MIN(due, earliest);
    }
    return earliest;
}

bool hw_replica_maybe_shrink_isr(struct hw_replica *replica, hw_time_ms_t now_ms)
{
    struct hw_broker_list isr = replica->isr;

    for (int32_t i = 0; i < replica->isr.count; i++) {
        if (now_ms >= isr_lags_from(replica, replica->isr.ids[i])) {
            (void)hw_broker_list_remove(&isr, replica->isr.ids[i]);
        }
    }
    if (isr.count == replica->isr.count) {
        return false;
    }
    isr_propose(replica, HW_ISR_PENDING_SHRINK, &isr);
    return true;
}

/* Whoever goes is behind, and has been for as long as it takes: its lag is over (R4.5). */
static bool isr_let_go(struct hw_replica *replica, const struct hw_broker_list *leaving, bool tries)
{
    for (int32_t i = 0; i < leaving->count; i++) {
        struct hw_remote_replica *remote = hw_replica_find_remote(replica, leaving->ids[i]);

        if (remote == NULL || remote->log_end == hw_log_end(replica->log)) {
            return false;
        }
        if (!tries) {
            remote->last_caught_up_ms = HW_TIME_NEVER;
        }
    }
    return true;
}

bool hw_replica_propose_isr(struct hw_replica *replica, const struct hw_broker_list *isr)
{
    struct hw_broker_list joining = hw_broker_list_minus(isr, &replica->isr);
    struct hw_broker_list leaving = hw_broker_list_minus(&replica->isr, isr);
    const struct hw_remote_replica *remote =
        joining.count == 1 ? hw_replica_find_remote(replica, joining.ids[0]) : NULL;

    if (replica->role != HW_ROLE_LEADER || replica->isr_change != HW_ISR_COMMITTED) {
        return false;
    }
    if (isr->count != replica->isr.count + joining.count - leaving.count) {
        return false; /* It names one twice. */
    }
    if (leaving.count == 0 && remote != NULL && isr_may_take(replica, remote)) {
        isr_propose(replica, HW_ISR_PENDING_EXPAND, isr);
        return true;
    }
    if (joining.count > 0 || leaving.count == 0 || !isr_let_go(replica, &leaving, true)) {
        return false;
    }
    (void)isr_let_go(replica, &leaving, false);
    isr_propose(replica, HW_ISR_PENDING_SHRINK, isr);
    return true;
}

bool hw_replica_take_proposal(struct hw_replica *replica, int64_t message,
                              struct hw_alter_partition_request *request)
{
    const struct hw_registration *own;
    struct hw_event event = hw_replica_event(replica, HW_EVENT_ISR_PROPOSAL);
    char text[HW_BROKER_LIST_TEXT_SIZE];

    if (replica->role != HW_ROLE_LEADER || !replica->is_proposal_unsent) {
        return false;
    }
    own = hw_metadata_find(replica->metadata, replica->broker);
    *request = (struct hw_alter_partition_request){
        .sender = replica->broker,
        .sender_epoch = own == NULL ? HW_BROKER_EPOCH_NONE : own->epoch,
        .leader_epoch = replica->leader_epoch,
        .partition_epoch = replica->partition_epoch,
        .recovering = false, /* R6.22 */
        .isr = replica->proposed_isr,
        .message = message};
    for (int32_t i = 0; i < request->isr.count; i++) {
        const struct hw_remote_replica *remote =
            hw_replica_find_remote(replica, request->isr.ids[i]);

        request->broker_epochs[i] =
            remote == NULL
                ? request->sender_epoch
                : (remote->has_fetched_epoch ? remote->broker_epoch : HW_BROKER_EPOCH_NONE);
    }
    replica->is_proposal_unsent = false;
    event.request = message;
    hw_journal_add(replica->journal, event, "%s, from partition epoch %" PRId32,
                   hw_broker_list_format(&request->isr, text, sizeof text),
                   request->partition_epoch);
    return true;
}

static void isr_end_proposal(struct hw_replica *replica)
{
    replica->isr_change = HW_ISR_COMMITTED;
    replica->is_proposal_unsent = false;
}

static void isr_commit(struct hw_replica *replica, const struct hw_broker_list *isr)
{
    replica->isr = *isr;
    replica->changes++;
    isr_end_proposal(replica);
}

static bool isr_is_in_flight(const struct hw_replica *replica,
                             const struct hw_alter_partition_request *request)
{
    return replica->role == HW_ROLE_LEADER && replica->isr_change != HW_ISR_COMMITTED &&
           request->leader_epoch == replica->leader_epoch &&
           request->partition_epoch == replica->partition_epoch &&
           hw_broker_list_equal(&request->isr, &replica->proposed_isr);
}

/* `is_late`: the leader has meanwhile been told something else, and drops the answer. */
static void isr_note_answer(const struct hw_replica *replica, int64_t message,
                            const struct hw_alter_partition_response *response, bool is_late)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_ISR_ANSWER);
    const char *end = is_late ? ", too late" : "";
    char text[HW_BROKER_LIST_TEXT_SIZE];

    event.request = message;
    if (response->error != HW_KAFKA_NONE) {
        hw_journal_add(replica->journal, event, "%s%s", hw_kafka_error_name(response->error), end);
    } else {
        hw_journal_add(replica->journal, event, "%s, partition epoch %" PRId32 "%s",
                       hw_broker_list_format(&response->isr, text, sizeof text),
                       response->partition_epoch, end);
    }
}

bool hw_replica_apply_proposal_answer(struct hw_replica *replica, hw_time_ms_t now_ms,
                                      const struct hw_alter_partition_request *request,
                                      const struct hw_alter_partition_response *response)
{
    bool is_in_flight = isr_is_in_flight(replica, request);

    isr_note_answer(replica, request->message, response, !is_in_flight);
    if (!is_in_flight) {
        return false;
    }
    if (response->error == HW_KAFKA_NONE) {
        if (response->leader_epoch != replica->leader_epoch ||
            response->partition_epoch < replica->partition_epoch) {
            replica->counters.isr_failures++;
            return false;
        }
        replica->counters.isr_expands += replica->isr_change == HW_ISR_PENDING_EXPAND ? 1 : 0;
        replica->counters.isr_shrinks += replica->isr_change == HW_ISR_PENDING_SHRINK ? 1 : 0;
        isr_commit(replica, &response->isr);
        replica->partition_epoch = response->partition_epoch;
        (void)hw_replica_maybe_increment_high_watermark(replica, now_ms);
        return true;
    }
    replica->counters.isr_failures++;
    if (response->error == HW_KAFKA_OPERATION_NOT_ATTEMPTED ||
        response->error == HW_KAFKA_INELIGIBLE_REPLICA) {
        isr_end_proposal(replica); /* It makes the same one again, once it has reason to. */
        return false;
    }
    if (response->error != HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION &&
        response->error != HW_KAFKA_UNKNOWN_TOPIC_ID &&
        response->error != HW_KAFKA_FENCED_LEADER_EPOCH &&
        response->error != HW_KAFKA_INVALID_UPDATE_VERSION &&
        response->error != HW_KAFKA_INVALID_REQUEST &&
        response->error != HW_KAFKA_NEW_LEADER_ELECTED) {
        replica->is_proposal_unsent = true; /* Network and the like: the same proposal again. */
    }
    return false;
}
