/* SPDX-License-Identifier: MIT */
#include "core/replication/idle_fetch.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/replication/exchange.h"

static bool nobody_waits(const struct hw_replica *replica)
{
    return replica->waiting_head == replica->waiting_count;
}

/* The leader, where all replicas are told of it; NULL: something may happen. */
static struct hw_replica *quiet_leader(const struct hw_partition *partition)
{
    struct hw_replica *leader = hw_partition_leader(partition);

    for (int32_t i = 0; i < partition->replica_count; i++) {
        if (partition->replicas[i]->partition_epoch < partition->record.partition_epoch) {
            return NULL;
        }
    }
    return leader != NULL && leader->isr_change == HW_ISR_COMMITTED && nobody_waits(leader) &&
                   !leader->throttles_as_leader
               ? leader
               : NULL;
}

/* It has all that the leader has, and has been told all that the leader would tell it now. That it
 * follows this leader, in this epoch, is in the record that it was told. */
static bool is_up_to_date(const struct hw_replica *leader, const struct hw_replica *follower)
{
    const struct hw_fetch_state *fetch = &follower->fetch;

    return fetch->fetch_offset == hw_log_end(leader->log) &&
           hw_log_high_watermark(follower->log) == hw_log_high_watermark(leader->log) &&
           hw_log_start(follower->log) >= hw_log_start(leader->log) && fetch->lag >= 0 &&
           fetch->delay_until_ms == HW_TIME_NEVER && !fetch->is_first &&
           !follower->throttles_as_follower;
}

/* The leader would learn nothing from the request but its time, and refuse nothing. */
static bool is_known(struct hw_replica *leader, const struct hw_remote_replica *remote,
                     const struct hw_fetch_request *request, hw_time_ms_t now_ms)
{
    const struct hw_registration *registration =
        hw_metadata_find(leader->metadata, request->replica_id);
    int64_t bytes;

    return remote->log_end == request->fetch_offset && remote->log_start == request->log_start &&
           remote->broker_epoch == request->replica_epoch && registration != NULL &&
           registration->epoch <= request->replica_epoch &&
           hw_broker_list_contains(&leader->isr, request->replica_id) &&
           !hw_replica_is_fetch_ready(leader, now_ms, request, &bytes);
}

/* Whether this follower's next answer and request change nothing. Fills *fetch, and *request with
 * what it asks. What waits at the leader is such a request: the leader knows what it said, and its
 * byte limits are set anew before they count. */
static bool is_idle(const struct hw_partition *partition, struct hw_replica *leader,
                    struct hw_replica *follower, hw_time_ms_t now_ms, struct hw_idle_fetch *fetch,
                    struct hw_fetch_request *request)
{
    const struct hw_fetch_state *state = &follower->fetch;
    const struct hw_registration *own = hw_metadata_find(follower->metadata, follower->broker);
    struct hw_remote_replica *remote = hw_replica_find_remote(leader, follower->broker);
    bool is_current;

    if (own == NULL || remote == NULL || !is_up_to_date(leader, follower) ||
        !hw_replica_build_fetch(follower, own->epoch, partition->settings,
                                partition->variant->sends_epochs, request) ||
        !is_known(leader, remote, request, now_ms) ||
        (state->is_request_waiting && state->request.max_wait_ms != request->max_wait_ms)) {
        return false;
    }
    is_current = state->is_request_waiting && state->wait_until_ms == now_ms + request->max_wait_ms;
    *fetch = (struct hw_idle_fetch){.follower = follower,
                                    .remote = remote,
                                    .broker = follower->broker,
                                    .last_fetched_epoch = request->last_fetched_epoch,
                                    .wait_until_ms = state->wait_until_ms,
                                    .current_ms = is_current ? now_ms : HW_TIME_NEVER,
                                    .is_waiting = state->is_request_waiting};
    return true;
}

static bool find(const struct hw_partition *partition, hw_time_ms_t now_ms, struct hw_idle *idle)
{
    struct hw_replica *leader = quiet_leader(partition);
    struct hw_fetch_request request = {0};

    idle->count = 0;
    for (int32_t i = 0; leader != NULL && i < partition->replica_count; i++) {
        struct hw_replica *follower = partition->replicas[i];

        if (follower == leader) {
            continue;
        }
        if (!is_idle(partition, leader, follower, now_ms, &idle->fetches[idle->count], &request)) {
            return false;
        }
        idle->count++;
    }
    if (leader == NULL) {
        return false;
    }
    idle->max_bytes = request.max_bytes;
    idle->min_bytes = request.min_bytes;
    idle->journal = leader->journal;
    idle->event = hw_replica_event(leader, HW_EVENT_FETCH_REQUEST);
    idle->event.peer = leader->broker;
    idle->event.offset = hw_log_end(leader->log);
    return true;
}

bool hw_idle_find(struct hw_partition *partition, hw_time_ms_t now_ms)
{
    if (!partition->idle.is_known) {
        partition->idle.is_known = find(partition, now_ms, &partition->idle);
    }
    return partition->idle.is_known;
}

void hw_idle_check(const struct hw_partition *partition, hw_time_ms_t now_ms)
{
    const struct hw_idle *known = &partition->idle;
    struct hw_idle found;

    if (!known->is_known) {
        return;
    }
    HW_ASSERT(find(partition, now_ms, &found));
    HW_ASSERT(found.count == known->count && found.journal == known->journal);
    HW_ASSERT(found.count == 0 ||
              (found.max_bytes == known->max_bytes && found.min_bytes == known->min_bytes));
    HW_ASSERT(found.event.offset == known->event.offset &&
              found.event.high_watermark == known->event.high_watermark &&
              found.event.leader_epoch == known->event.leader_epoch &&
              found.event.peer == known->event.peer);
    for (int32_t i = 0; i < found.count; i++) {
        const struct hw_idle_fetch *a = &found.fetches[i];
        const struct hw_idle_fetch *b = &known->fetches[i];

        HW_ASSERT(a->follower == b->follower && a->remote == b->remote && a->broker == b->broker);
        HW_ASSERT(a->last_fetched_epoch == b->last_fetched_epoch &&
                  a->wait_until_ms == b->wait_until_ms && a->is_waiting == b->is_waiting);
        HW_ASSERT(a->current_ms == now_ms || b->current_ms != now_ms);
    }
}

void hw_idle_fetch_send(struct hw_partition *partition, struct hw_idle_fetch *fetch,
                        hw_time_ms_t now_ms)
{
    struct hw_fetch_state *state = &fetch->follower->fetch;
    struct hw_event event = partition->idle.event;

    event.time_ms = now_ms;
    event.broker = fetch->broker;
    hw_exchange_note_request(partition->idle.journal, event, fetch->last_fetched_epoch);
    fetch->is_waiting = true;
    if (fetch->current_ms == now_ms) {
        return;
    }
    if (!state->is_request_waiting) {
        const struct hw_registration *own =
            hw_metadata_find(fetch->follower->metadata, fetch->broker);

        (void)hw_replica_build_fetch(fetch->follower, own->epoch, partition->settings,
                                     partition->variant->sends_epochs, &state->request);
        state->is_request_waiting = true;
    }
    state->wait_until_ms = now_ms + state->request.max_wait_ms;
    hw_remote_replica_note_fetch(fetch->remote, now_ms, now_ms);
    fetch->wait_until_ms = state->wait_until_ms;
    fetch->current_ms = now_ms;
}

void hw_idle_fetch_answer(struct hw_partition *partition, struct hw_idle_fetch *fetch,
                          hw_time_ms_t now_ms)
{
    struct hw_event event = partition->idle.event;

    event.kind = HW_EVENT_FETCH_RESPONSE;
    event.time_ms = now_ms;
    event.broker = fetch->broker;
    hw_exchange_note_bytes(partition->idle.journal, event, 0);
    fetch->is_waiting = false;
}

void hw_idle_end(struct hw_partition *partition)
{
    for (int32_t i = 0; i < partition->idle.count; i++) {
        struct hw_idle_fetch *fetch = &partition->idle.fetches[i];

        fetch->follower->fetch.is_request_waiting = fetch->is_waiting;
    }
    hw_partition_touch(partition);
}
