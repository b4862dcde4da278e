/* SPDX-License-Identifier: MIT */
/*
 * A fetcher's request at its leader: it arrives, waits for data, and is answered. Source: kafka-time
 * W4; what a session leaves out: W2.5.
 */
#include "core/base/search.h"
#include "core/replication/exchange.h"
#include "core/replication/fetch_round.h"
#include "core/timed/timed_internal.h"

/* Bytes of an answer that names no partition, of one that names some, and for each of them: W2.3. */
enum { ANSWER_EMPTY_BYTES = 21, ANSWER_BYTES = 39, ANSWER_PART_BYTES = 37 };

static struct hw_replica *fetch_wait_leader(const struct hw_timed *timed,
                                            const struct hw_timed_fetcher *fetcher,
                                            const struct hw_timed_part *part)
{
    return hw_partition_find(timed->partitions[part->place], fetcher->leader);
}

/* Whether the broker that leads runs, as far as the partitions of the request tell. */
static bool fetch_wait_leader_runs(const struct hw_timed *timed,
                                   const struct hw_timed_fetcher *fetcher)
{
    for (size_t i = 0; i < fetcher->part_count; i++) {
        if (fetch_wait_leader(timed, fetcher, &fetcher->parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* The connection breaks: the follower notices when that has travelled back (W7.1). */
static enum hw_status fetch_wait_break(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                       struct hw_error *error)
{
    return hw_timed_fetcher_send(timed, fetcher, HW_TIMED_REQUEST_FAILS, 0, error);
}

/* ------------------------------------------------------------------------------------ the answer
 */

/* Keep what the leader lent: an answer travels for longer than a leader's memory stays as it is. */
static enum hw_status fetch_wait_own(struct hw_fetch_response *response,
                                     const struct hw_allocator *allocator, struct hw_error *error)
{
    struct hw_buffer own;
    enum hw_status status;

    if (!response->records_are_borrowed) {
        return HW_OK;
    }
    hw_buffer_init(&own, allocator);
    status = hw_buffer_append(&own, response->records.bytes, response->records.size, error);
    response->records = own;
    response->records_are_borrowed = false;
    return status;
}

/* Does an answer say something that the follower has not been told yet? */
static bool fetch_wait_is_news(const struct hw_remote_replica *told,
                               const struct hw_fetch_response *response)
{
    return response->size_bytes > 0 || response->error != HW_KAFKA_NONE ||
           response->diverging_epoch.end_offset != HW_OFFSET_NONE ||
           response->high_watermark != told->told_high_watermark ||
           response->log_start != told->told_log_start;
}

static enum hw_status fetch_wait_answer_part(struct hw_timed *timed,
                                             struct hw_timed_fetcher *fetcher,
                                             const struct hw_step *step, struct hw_timed_part *part,
                                             struct hw_answer_room *room, struct hw_error *error)
{
    struct hw_partition *partition = timed->partitions[part->place];
    struct hw_replica *leader = hw_partition_find(partition, fetcher->leader);
    struct hw_replica *follower = hw_partition_find(partition, fetcher->follower);
    struct hw_fetch_request request = hw_answer_room_limit(room, &part->request);
    const struct hw_remote_replica *remote;
    struct hw_remote_replica told = {.told_high_watermark = HW_OFFSET_NONE};
    bool is_news;
    enum hw_status status;

    if (leader == NULL) {
        part->response = (struct hw_fetch_response){.error = HW_KAFKA_NOT_LEADER_OR_FOLLOWER};
        hw_buffer_init(&part->response.records, timed->allocator);
        part->has_response = true;
        fetcher->size_bytes += ANSWER_PART_BYTES;
        return HW_OK;
    }
    remote = hw_replica_find_remote(leader, fetcher->follower);
    if (remote != NULL) {
        told = *remote;
    }
    if (part->has_response) { /* Of an answer that lacked memory. */
        hw_fetch_response_release(&part->response);
    }
    status = hw_replica_answer_fetch(leader, step->now_ms, &request, HW_FETCH_ANSWER,
                                     &part->response, error);
    part->has_response = true; /* It holds memory. */
    if (status == HW_OK) {
        status = fetch_wait_own(&part->response, timed->allocator, error);
    }
    if (status != HW_OK) {
        return status;
    }
    hw_answer_room_take(room, &part->request, part->response.size_bytes, leader, step->now_ms,
                        follower);
    is_news = fetcher->is_new_session || fetch_wait_is_news(&told, &part->response);
    fetcher->size_bytes += is_news ? ANSWER_PART_BYTES + part->response.size_bytes : 0;
    fetcher->record_bytes += (int64_t)part->response.records.size;
    part->is_noted = part->is_noted || is_news;
    part->has_response = is_news;
    if (is_news) {
        hw_replica_count_answer(leader, HW_ANSWERED_FETCH, part->response.error);
    }
    if (follower != NULL && part->is_noted) {
        hw_exchange_note_response(follower, &part->request, &part->response);
    }
    if (!is_news) {
        hw_fetch_response_release(&part->response);
    }
    return HW_OK;
}

/* Which part is answered first: the one that had no room in the last answer. */
static size_t fetch_wait_first_part(const struct hw_timed *timed,
                                    const struct hw_timed_fetcher *fetcher)
{
    for (size_t i = 0; i < fetcher->part_count && fetcher->has_first; i++) {
        const struct hw_replica *follower =
            hw_partition_find(timed->partitions[fetcher->parts[i].place], fetcher->follower);

        if (follower != NULL && follower->fetch.is_first) {
            return i;
        }
    }
    return 0;
}

/* The request is answered: it counts once, with its first partition that the leader has. */
static void fetch_wait_count(const struct hw_timed *timed, const struct hw_timed_fetcher *fetcher)
{
    struct hw_replica *leader = NULL;

    for (size_t i = 0; i < fetcher->part_count && leader == NULL; i++) {
        leader = fetch_wait_leader(timed, fetcher, &fetcher->parts[i]);
    }
    if (leader != NULL) {
        leader->counters.fetch_answers++;
        hw_replica_count_answer(leader, HW_ANSWERED_FETCH, HW_KAFKA_NONE);
        leader->counters.fetch_wait_ms += timed->now_us / 1000 - fetcher->arrived_us / 1000;
    }
}

static enum hw_status fetch_wait_answer(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                        const struct hw_step *step, struct hw_error *error)
{
    struct hw_answer_room room = {.bytes_left = fetcher->parts[0].request.max_bytes};
    size_t first = fetch_wait_first_part(timed, fetcher);
    enum hw_status status = HW_OK;

    fetcher->size_bytes = 0;
    fetcher->record_bytes = 0;
    for (size_t i = 0; i < fetcher->part_count && status == HW_OK; i++) {
        size_t at = first + i < fetcher->part_count ? first + i : first + i - fetcher->part_count;
        struct hw_timed_part *part = &fetcher->parts[at];

        if (part->is_noted || !part->is_quiet) {
            status = fetch_wait_answer_part(timed, fetcher, step, part, &room, error);
        }
    }
    fetch_wait_count(timed, fetcher);
    fetcher->has_first = room.has_next_first;
    fetcher->is_new_session = false;
    fetcher->size_bytes += fetcher->size_bytes == 0 ? ANSWER_EMPTY_BYTES : ANSWER_BYTES;
    return status == HW_OK ? hw_timed_fetcher_send(timed, fetcher, HW_TIMED_ANSWER_ARRIVES,
                                                   fetcher->size_bytes, error)
                           : status;
}

/* -------------------------------------------------------------------------------------- waiting
 */

/* Is this part alone enough to answer? *bytes: what it adds to the others; *has_some: what there is
 * for it may become enough, together with others or with time. */
static bool fetch_wait_is_part_due(const struct hw_timed *timed,
                                   const struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, const struct hw_timed_part *part,
                                   int64_t *bytes, bool *has_some)
{
    struct hw_replica *leader = fetch_wait_leader(timed, fetcher, part);

    *bytes = 0;
    *has_some = leader != NULL && part->request.fetch_offset < hw_log_end(leader->log);
    return leader == NULL || hw_replica_is_fetch_ready(leader, step->now_ms, &part->request, bytes);
}

/* Is there enough to answer now (R2.12)? */
static bool fetch_wait_is_due(const struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                              const struct hw_step *step)
{
    int64_t available = 0;

    fetcher->has_some = false;
    for (size_t i = 0; i < fetcher->part_count; i++) {
        const struct hw_timed_part *part = &fetcher->parts[i];
        int64_t bytes;
        bool has_some;

        if (part->is_quiet) {
            continue;
        }
        if (fetch_wait_is_part_due(timed, fetcher, step, part, &bytes, &has_some)) {
            return true;
        }
        fetcher->has_some = fetcher->has_some || has_some;
        available += bytes;
    }
    return available >= fetcher->parts[0].request.min_bytes;
}

/* The request is at the leader, for each of its parts. */
static void fetch_wait_note_arrival(const struct hw_timed *timed,
                                    const struct hw_timed_fetcher *fetcher, bool waits)
{
    for (size_t i = 0; i < fetcher->part_count; i++) {
        const struct hw_timed_part *part = &fetcher->parts[i];
        const struct hw_replica *leader =
            part->is_noted ? fetch_wait_leader(timed, fetcher, part) : NULL;

        if (leader != NULL) {
            hw_timed_fetcher_note(fetcher, HW_EVENT_DELIVER, leader, fetcher->follower, part,
                                  waits ? "request, waits for # bytes or # ms" : "request");
        }
    }
}

/* The leader learns what the request says of one partition. */
static enum hw_status fetch_wait_hear(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                      const struct hw_step *step, struct hw_timed_part *part,
                                      struct hw_error *error)
{
    struct hw_partition *partition = timed->partitions[part->place];
    struct hw_replica *leader = hw_partition_find(partition, fetcher->leader);
    struct hw_fetch_response response;
    uint64_t changes;
    enum hw_status status;

    part->is_quiet = false;
    if (leader == NULL) {
        return HW_OK;
    }
    changes = leader->changes;
    if (part->is_same && hw_replica_hear_again(leader, step->now_ms, fetcher->follower)) {
        part->is_quiet = true;
        return HW_OK;
    }
    status = hw_replica_answer_fetch(leader, step->now_ms, &part->request, HW_FETCH_RECEIVE,
                                     &response, error);
    hw_fetch_response_release(&response);
    if (leader->role == HW_ROLE_LEADER) {
        hw_waiting_check(leader, step->now_ms);
    }
    /* Of a hundred partitions that a request names it moves one or two. */
    if (status == HW_OK && (leader->changes != changes || leader->is_proposal_unsent)) {
        status = hw_timed_touch(timed, part->place, error);
    }
    return status;
}

enum hw_status hw_timed_fetch_arrive(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    bool is_due;

    if (!hw_links_connected(step->links, fetcher->follower, fetcher->leader)) {
        fetcher->state = HW_FETCHER_HELD_REQUEST;
        return hw_timed_fetcher_schedule(timed, fetcher, HW_TIMED_WAIT_OVER, HW_TIMED_REQUEST_FAILS,
                                         fetcher->sent_us + (timed->request_timeout_ms + 1) * 1000,
                                         error);
    }
    if (!fetch_wait_leader_runs(timed, fetcher)) {
        return fetch_wait_break(timed, fetcher, error);
    }
    if (fetcher->call.kind != HW_CALL_NONE) {
        return hw_timed_call_answer(timed, fetcher, error);
    }
    for (size_t i = 0; i < fetcher->part_count && status == HW_OK; i++) {
        status = fetch_wait_hear(timed, fetcher, step, &fetcher->parts[i], error);
    }
    if (status != HW_OK) {
        return status;
    }
    fetcher->arrived_us = timed->now_us;
    is_due = fetch_wait_is_due(timed, fetcher, step);
    fetch_wait_note_arrival(timed, fetcher, !is_due);
    if (is_due) {
        return fetch_wait_answer(timed, fetcher, step, error);
    }
    fetcher->state = HW_FETCHER_WAITS;
    fetcher->wait_until_us = timed->now_us + fetcher->parts[0].request.max_wait_ms * 1000;
    return hw_timed_fetcher_schedule(timed, fetcher, HW_TIMED_WAIT_OVER, HW_TIMED_REQUEST_WAITED,
                                     fetcher->wait_until_us, error);
}

/* A request is counted once, with its first partition. */
enum hw_status hw_timed_fetch_expire(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, struct hw_error *error)
{
    struct hw_replica *leader = fetch_wait_leader(timed, fetcher, &fetcher->parts[0]);

    if (!fetch_wait_leader_runs(timed, fetcher)) {
        return fetch_wait_break(timed, fetcher, error);
    }
    if (leader != NULL) {
        leader->counters.fetch_expired++;
    }
    return fetch_wait_answer(timed, fetcher, step, error);
}

/* The part of the request that is about the partition of this place, or NULL: places rise. */
static struct hw_timed_part *fetch_wait_part_of(const struct hw_timed_fetcher *fetcher,
                                                size_t place)
{
    size_t at;

    HW_SEARCH(at, 0, fetcher->part_count, fetcher->parts[at].place < place);
    return at < fetcher->part_count && fetcher->parts[at].place == place ? &fetcher->parts[at]
                                                                         : NULL;
}

enum hw_status hw_timed_fetch_look(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, size_t place, struct hw_error *error)
{
    struct hw_timed_part *part =
        fetcher->state == HW_FETCHER_WAITS ? fetch_wait_part_of(fetcher, place) : NULL;
    int64_t bytes;
    bool has_some;
    bool is_due;

    if (part == NULL || hw_timed_wakes_us(timed, fetcher->leader) > timed->now_us) {
        return HW_OK;
    }
    part->is_quiet = false;
    if (!fetch_wait_leader_runs(timed, fetcher)) {
        return fetch_wait_break(timed, fetcher, error);
    }
    is_due = fetch_wait_is_part_due(timed, fetcher, step, part, &bytes, &has_some);
    if (!is_due && (has_some || fetcher->has_some)) {
        is_due = fetch_wait_is_due(timed, fetcher, step);
    }
    return is_due ? fetch_wait_answer(timed, fetcher, step, error) : HW_OK;
}

enum hw_status hw_timed_fetch_resume(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     struct hw_error *error)
{
    bool is_there = fetcher->state == HW_FETCHER_WAITS || /* Or it has met a leader that paused. */
                    (fetcher->state == HW_FETCHER_ASKS && fetcher->arrived_us >= fetcher->sent_us);

    return is_there && !fetch_wait_leader_runs(timed, fetcher)
               ? fetch_wait_break(timed, fetcher, error)
               : HW_OK;
}
