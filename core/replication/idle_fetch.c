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

/* Whether this follower's next answer and request change nothing. Fills *request with what it asks.
 * What waits at the leader is such a request: the leader knows what it said, and its byte limits
 * are set anew before they count. */
static bool is_idle(const struct hw_partition *partition, struct hw_replica *leader,
                    const struct hw_replica *follower, hw_time_ms_t now_ms,
                    struct hw_fetch_request *request)
{
    const struct hw_fetch_state *state = &follower->fetch;
    const struct hw_registration *own = hw_metadata_find(follower->metadata, follower->broker);
    const struct hw_remote_replica *remote = hw_replica_find_remote(leader, follower->broker);

    return own != NULL && remote != NULL && is_up_to_date(leader, follower) &&
           hw_replica_build_fetch(follower, own->epoch, partition->settings,
                                  partition->variant->sends_epochs, request) &&
           is_known(leader, remote, request, now_ms) &&
           (!state->is_request_waiting || state->request.max_wait_ms == request->max_wait_ms);
}

static bool find(const struct hw_partition *partition, hw_time_ms_t now_ms, struct hw_idle *idle)
{
    struct hw_replica *leader = quiet_leader(partition);
    struct hw_fetch_request request = {0};

    if (leader == NULL) {
        return false;
    }
    for (int32_t i = 0; i < partition->replica_count; i++) {
        const struct hw_replica *follower = partition->replicas[i];

        if (follower != leader && !is_idle(partition, leader, follower, now_ms, &request)) {
            return false;
        }
    }
    idle->max_bytes = request.max_bytes;
    idle->min_bytes = request.min_bytes;
    idle->event = hw_replica_event(leader, HW_EVENT_FETCH_REQUEST);
    idle->event.peer = leader->broker;
    idle->event.offset = hw_log_end(leader->log);
    return true;
}

bool hw_idle_find(struct hw_partition *partition, hw_time_ms_t now_ms)
{
    if (!partition->idle.is_known) {
        partition->idle.round = (struct hw_idle_round){.count = 0};
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
    HW_ASSERT(found.max_bytes == known->max_bytes && found.min_bytes == known->min_bytes);
    HW_ASSERT(found.event.offset == known->event.offset &&
              found.event.high_watermark == known->event.high_watermark &&
              found.event.leader_epoch == known->event.leader_epoch &&
              found.event.peer == known->event.peer);
}

void hw_idle_fetch_send(struct hw_partition *partition, struct hw_replica *follower, bool is_same,
                        hw_time_ms_t now_ms)
{
    struct hw_fetch_state *state = &follower->fetch;
    struct hw_event event = partition->idle.event;

    event.time_ms = now_ms;
    event.broker = follower->broker;
    hw_exchange_note_request(partition->journal, &event,
                             partition->variant->sends_epochs ? state->last_fetched_epoch
                                                              : HW_EPOCH_NONE);
    if (!is_same) {
        const struct hw_registration *own = hw_metadata_find(follower->metadata, follower->broker);

        (void)hw_replica_build_fetch(follower, own->epoch, partition->settings,
                                     partition->variant->sends_epochs, &state->request);
    }
    state->is_request_waiting = true;
    /* Where that is so, this request has been here at this time before. */
    if (!is_same || state->wait_until_ms != now_ms + state->request.max_wait_ms) {
        struct hw_replica *leader = hw_partition_find(partition, follower->leader);

        state->wait_until_ms = now_ms + state->request.max_wait_ms;
        hw_remote_replica_note_fetch(hw_replica_find_remote(leader, follower->broker), now_ms,
                                     now_ms);
    }
}

void hw_idle_fetch_answer(const struct hw_partition *partition, struct hw_replica *follower,
                          hw_time_ms_t now_ms)
{
    struct hw_event event = partition->idle.event;

    event.kind = HW_EVENT_FETCH_RESPONSE;
    event.time_ms = now_ms;
    event.broker = follower->broker;
    hw_exchange_note_bytes(partition->journal, &event, 0);
    follower->fetch.is_request_waiting = false;
}

void hw_idle_round_end(struct hw_partition *const *partitions, size_t count,
                       const struct hw_idle_round *round)
{
    for (size_t i = 0; i < count; i++) {
        partitions[i]->idle.round = *round;
    }
}

bool hw_idle_round_repeat(struct hw_partition *const *partitions, size_t count, hw_time_ms_t now_ms)
{
    struct hw_journal *journal = count == 0 ? NULL : partitions[0]->journal;
    const struct hw_idle_round *round;
    int64_t mark;

    if (journal == NULL) {
        return false;
    }
    mark = hw_journal_mark(journal);
    round = &partitions[0]->idle.round;
    if (round->count != count || round->now_ms != now_ms) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct hw_idle *idle = &partitions[i]->idle;

        if (!idle->is_known || idle->round.mark != mark) {
            return false;
        }
    }
    return hw_journal_repeat(journal, round->events);
}
