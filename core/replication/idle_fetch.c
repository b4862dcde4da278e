/* SPDX-License-Identifier: MIT */
#include "core/replication/idle_fetch.h"

#include "core/base/broker_list.h"
#include "core/replication/exchange.h"

static bool nobody_waits(const struct hw_replica *replica)
{
    return replica->waiting_head == replica->waiting_count;
}

struct hw_replica *hw_idle_fetch_leader(const struct hw_partition *partition,
                                        const struct hw_step *step)
{
    struct hw_replica *leader = NULL;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        struct hw_replica *replica = partition->replicas[i];

        if (replica->partition_epoch < partition->record.partition_epoch ||
            (replica->role == HW_ROLE_LEADER && leader != NULL)) {
            return NULL;
        }
        leader = replica->role == HW_ROLE_LEADER ? replica : leader;
    }
    return leader != NULL && step->links->count == 0 && leader->isr_change == HW_ISR_COMMITTED &&
                   nobody_waits(leader) && !leader->throttles_as_leader
               ? leader
               : NULL;
}

/* It has all that the leader has, and has been told all that the leader would tell it now. */
static bool is_up_to_date(const struct hw_replica *leader, const struct hw_replica *follower)
{
    const struct hw_fetch_state *fetch = &follower->fetch;

    return follower->role == HW_ROLE_FOLLOWER && follower->leader == leader->broker &&
           follower->leader_epoch == leader->leader_epoch && nobody_waits(follower) &&
           !follower->throttles_as_follower && fetch->phase == HW_PHASE_FETCHING &&
           fetch->lag >= 0 && fetch->delay_until_ms == HW_TIME_NEVER && !fetch->is_first &&
           fetch->fetch_offset == hw_log_end(leader->log) &&
           fetch->fetch_offset == hw_log_end(follower->log) &&
           hw_log_high_watermark(follower->log) == hw_log_high_watermark(leader->log) &&
           hw_log_start(follower->log) >= hw_log_start(leader->log);
}

/* The leader would learn nothing from the request but its time, and refuse nothing. */
static bool is_known(struct hw_replica *leader, const struct hw_remote_replica *remote,
                     const struct hw_fetch_request *request, hw_time_ms_t now_ms)
{
    const struct hw_registration *registration =
        hw_metadata_find(leader->metadata, request->replica_id);
    int64_t bytes;

    return remote->log_end == request->fetch_offset && remote->log_start == request->log_start &&
           remote->last_fetch_leader_log_end >= request->fetch_offset &&
           remote->has_fetched_epoch && remote->broker_epoch == request->replica_epoch &&
           registration != NULL && registration->epoch <= request->replica_epoch &&
           hw_broker_list_contains(&leader->isr, request->replica_id) &&
           !hw_replica_is_fetch_ready(leader, now_ms, request, &bytes);
}

/* What can differ between two requests of one follower at the same offset. */
static bool is_same(const struct hw_fetch_request *a, const struct hw_fetch_request *b)
{
    return a->fetch_offset == b->fetch_offset && a->replica_epoch == b->replica_epoch &&
           a->current_leader_epoch == b->current_leader_epoch &&
           a->last_fetched_epoch == b->last_fetched_epoch && a->log_start == b->log_start &&
           a->partition_max_bytes == b->partition_max_bytes && a->max_bytes == b->max_bytes &&
           a->min_bytes == b->min_bytes && a->max_wait_ms == b->max_wait_ms;
}

bool hw_idle_fetch_find(const struct hw_partition *partition, const struct hw_step *step,
                        struct hw_replica *leader, struct hw_replica *follower,
                        struct hw_idle_fetch *fetch)
{
    const struct hw_fetch_state *state = &follower->fetch;
    const struct hw_registration *own = hw_metadata_find(follower->metadata, follower->broker);
    struct hw_remote_replica *remote = hw_replica_find_remote(leader, follower->broker);
    struct hw_fetch_request request;

    if (own == NULL || remote == NULL || !is_up_to_date(leader, follower) ||
        !hw_replica_build_fetch(follower, own->epoch, partition->settings,
                                partition->variant->sends_epochs, &request) ||
        !is_known(leader, remote, &request, step->now_ms) ||
        (state->is_request_waiting && !is_same(&state->request, &request))) {
        return false;
    }
    fetch->follower = follower;
    fetch->remote = remote;
    fetch->journal = follower->journal;
    fetch->event = hw_replica_event(follower, HW_EVENT_FETCH_REQUEST);
    fetch->event.peer = leader->broker;
    fetch->event.offset = request.fetch_offset;
    fetch->last_fetched_epoch = request.last_fetched_epoch;
    fetch->max_bytes = request.max_bytes;
    fetch->min_bytes = request.min_bytes;
    fetch->wait_until_ms = state->wait_until_ms;
    fetch->is_waiting = state->is_request_waiting;
    fetch->is_current =
        fetch->is_waiting && state->wait_until_ms == step->now_ms + request.max_wait_ms &&
        remote->last_fetch_ms == step->now_ms && remote->last_caught_up_ms >= step->now_ms;
    return true;
}

void hw_idle_fetch_send(struct hw_idle_fetch *fetch, const struct hw_partition *partition,
                        const struct hw_step *step)
{
    struct hw_fetch_state *state = &fetch->follower->fetch;

    hw_exchange_note_request(fetch->journal, fetch->event, fetch->last_fetched_epoch);
    fetch->is_waiting = true;
    if (fetch->is_current) {
        return;
    }
    if (!state->is_request_waiting) {
        const struct hw_registration *own =
            hw_metadata_find(fetch->follower->metadata, fetch->follower->broker);

        (void)hw_replica_build_fetch(fetch->follower, own->epoch, partition->settings,
                                     partition->variant->sends_epochs, &state->request);
        state->is_request_waiting = true;
    }
    state->wait_until_ms = step->now_ms + state->request.max_wait_ms;
    hw_remote_replica_note_fetch(fetch->remote, step->now_ms, step->now_ms);
    fetch->wait_until_ms = state->wait_until_ms;
    fetch->is_current = true;
}

void hw_idle_fetch_answer(struct hw_idle_fetch *fetch)
{
    struct hw_event event = fetch->event;

    event.kind = HW_EVENT_FETCH_RESPONSE;
    hw_exchange_note_bytes(fetch->journal, event, 0);
    fetch->is_waiting = false;
}

void hw_idle_fetch_end(struct hw_idle_fetch *fetch)
{
    fetch->follower->fetch.is_request_waiting = fetch->is_waiting;
}
