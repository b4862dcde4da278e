/* SPDX-License-Identifier: MIT */
/* One broker's fetch loop to one leader's broker: kafka-time W3, W4, W7. */
#include "core/base/assert.h"
#include "core/replication/exchange.h"
#include "core/replication/fetch_round.h"
#include "core/replication/variant.h"
#include "core/timed/timed_internal.h"

#include <string.h>

/* Bytes of a request and of an answer, with their frame and headers: W2.3. */
enum {
    FETCHER_REQUEST_BYTES = 91,
    FETCHER_REQUEST_PART_BYTES = 33,
    FETCHER_ANSWER_BYTES = 39,
    FETCHER_ANSWER_PART_BYTES = 37
};

/* A loop that takes no time makes at most so many turns in one microsecond. */
enum { FETCHER_TURNS_AT_ONCE_MAX = 100000 };

static void fetcher_release_parts(struct hw_timed_fetcher *fetcher)
{
    for (size_t i = 0; i < fetcher->part_count; i++) {
        if (fetcher->parts[i].has_response) {
            hw_fetch_response_release(&fetcher->parts[i].response);
        }
    }
    fetcher->part_count = 0;
}

void hw_timed_fetcher_destroy(const struct hw_timed *timed, struct hw_timed_fetcher *fetcher)
{
    fetcher_release_parts(fetcher);
    hw_free(timed->allocator, fetcher->parts, fetcher->part_capacity * sizeof *fetcher->parts);
    hw_free(timed->allocator, fetcher->members,
            fetcher->member_capacity * sizeof *fetcher->members);
    hw_free(timed->allocator, fetcher, sizeof *fetcher);
}

/* ---------------------------------------------------------------------------- who fetches what */

static enum hw_status fetcher_have(struct hw_timed *timed, hw_broker_id_t follower,
                                   hw_broker_id_t leader, struct hw_timed_fetcher **fetcher,
                                   struct hw_error *error)
{
    enum hw_status status;

    for (size_t i = 0; i < timed->fetcher_count; i++) {
        *fetcher = timed->fetchers[i];
        if ((*fetcher)->follower == follower && (*fetcher)->leader == leader) {
            return HW_OK;
        }
    }
    status = hw_array_reserve(timed->allocator, (void **)&timed->fetchers, &timed->fetcher_capacity,
                              timed->fetcher_count + 1, sizeof(void *), error);
    if (status != HW_OK) {
        return status;
    }
    *fetcher = hw_alloc_zeroed(timed->allocator, sizeof **fetcher);
    if (*fetcher == NULL) {
        return hw_error_no_memory(error, "a fetcher");
    }
    (*fetcher)->place = timed->fetcher_count;
    (*fetcher)->follower = follower;
    (*fetcher)->leader = leader;
    (*fetcher)->due_us = INT64_MAX;
    timed->fetchers[timed->fetcher_count++] = *fetcher;
    return HW_OK;
}

/* What comes next to the fetcher comes at `due_us`; whatever was to come does not any more. */
static enum hw_status fetcher_schedule(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                       enum hw_timed_class class, enum hw_timed_kind kind,
                                       int64_t due_us, struct hw_error *error)
{
    fetcher->due_us = due_us;
    return hw_timed_schedule(timed, class, kind, due_us, (int64_t)fetcher->place,
                             ++fetcher->generation, error);
}

/* Its next turn is at `due_us`. */
static enum hw_status fetcher_rest(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   int64_t due_us, struct hw_error *error)
{
    fetcher->state = HW_FETCHER_RESTS;
    return fetcher_schedule(timed, fetcher, HW_TIMED_TURN, HW_TIMED_FETCHER_TURN, due_us, error);
}

/* A fetcher that rests is woken by a partition that it did not have; one whose request is under way
 * takes it along in its next turn (W3.6, W3.8). */
static enum hw_status fetcher_add_member(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                         size_t place, bool is_new, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(timed->allocator, (void **)&fetcher->members, &fetcher->member_capacity,
                         fetcher->member_count + 1, sizeof *fetcher->members, error);

    if (status != HW_OK) {
        return status;
    }
    fetcher->members[fetcher->member_count++] = place;
    return is_new && fetcher->state == HW_FETCHER_RESTS && fetcher->due_us > timed->now_us
               ? fetcher_rest(timed, fetcher, timed->now_us, error)
               : HW_OK;
}

/* Members of a fetcher before they are gathered anew: those that stand in both are not new. */
static bool fetcher_had(const size_t *members, size_t count, size_t place)
{
    size_t low = 0;

    while (low < count && members[low] < place) {
        low++;
    }
    return low < count && members[low] == place;
}

static enum hw_status fetcher_gather(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     struct hw_error *error)
{
    size_t *before = fetcher->members;
    size_t before_count = fetcher->member_count;
    size_t before_capacity = fetcher->member_capacity;
    enum hw_status status = HW_OK;

    fetcher->members = NULL;
    fetcher->member_count = 0;
    fetcher->member_capacity = 0;
    for (size_t place = 0; place < timed->partition_count && status == HW_OK; place++) {
        const struct hw_replica *replica =
            hw_partition_find(timed->partitions[place], fetcher->follower);

        if (replica != NULL && replica->role == HW_ROLE_FOLLOWER &&
            replica->leader == fetcher->leader) {
            status = fetcher_add_member(timed, fetcher, place,
                                        !fetcher_had(before, before_count, place), error);
        }
    }
    hw_free(timed->allocator, before, before_capacity * sizeof *before);
    return status;
}

enum hw_status hw_timed_assign(struct hw_timed *timed, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t place = 0; place < timed->partition_count && status == HW_OK; place++) {
        const struct hw_partition *partition = timed->partitions[place];

        for (int32_t i = 0; i < partition->replica_count && status == HW_OK; i++) {
            const struct hw_replica *replica = partition->replicas[i];
            struct hw_timed_fetcher *unused;

            if (replica->role == HW_ROLE_FOLLOWER && replica->leader != HW_BROKER_ID_NONE) {
                status = fetcher_have(timed, replica->broker, replica->leader, &unused, error);
            }
        }
    }
    for (size_t i = 0; i < timed->fetcher_count && status == HW_OK; i++) {
        status = fetcher_gather(timed, timed->fetchers[i], error);
    }
    return status;
}

/* Places mean other partitions from now on: nothing is under way any more. */
void hw_timed_forget_partitions(struct hw_timed *timed)
{
    for (size_t i = 0; i < timed->fetcher_count; i++) {
        struct hw_timed_fetcher *fetcher = timed->fetchers[i];

        fetcher_release_parts(fetcher);
        fetcher->state = HW_FETCHER_RESTS;
        fetcher->due_us = INT64_MAX;
        fetcher->generation++;
        fetcher->member_count = 0;
    }
    for (size_t i = 0; i < timed->sender_count; i++) {
        timed->senders[i]->is_under_way = false;
        timed->senders[i]->is_held = false;
        timed->senders[i]->generation++;
        timed->senders[i]->queued_count = 0;
        timed->senders[i]->proposal_count = 0;
    }
}

/* ----------------------------------------------------------------------------------------- a turn
 */

/* Add one partition to the request, unless it does not fetch now. */
static enum hw_status fetcher_add_part(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                       const struct hw_step *step, size_t place,
                                       struct hw_error *error)
{
    struct hw_partition *partition = timed->partitions[place];
    struct hw_replica *replica = hw_partition_find(partition, fetcher->follower);
    struct hw_timed_part *part;
    bool was_truncating;
    bool ready = false;
    enum hw_status status;

    if (replica == NULL || replica->role != HW_ROLE_FOLLOWER ||
        replica->leader != fetcher->leader || replica->fetch.delay_until_ms > step->now_ms) {
        return HW_OK;
    }
    status = hw_array_reserve(timed->allocator, (void **)&fetcher->parts, &fetcher->part_capacity,
                              fetcher->part_count + 1, sizeof *fetcher->parts, error);
    if (status != HW_OK) {
        return status;
    }
    part = &fetcher->parts[fetcher->part_count];
    was_truncating = replica->fetch.phase == HW_PHASE_TRUNCATING;
    status = hw_exchange_prepare(partition, step, replica, &part->request, &ready, error);
    if (was_truncating && status != HW_NO_MEMORY) {
        status = hw_timed_touch(timed, place, error);
    }
    if (status != HW_OK || !ready) {
        return status;
    }
    part->place = place;
    part->has_response = false;
    part->request.message = fetcher->request_id;
    /* A session names the partitions with news only: W2.5. */
    part->is_noted = fetcher->part_count == 0 ||
                     replica->fetch.request.fetch_offset != part->request.fetch_offset;
    replica->fetch.request = part->request;
    fetcher->part_count++;
    if (part->is_noted) {
        hw_exchange_note_request(replica, &part->request);
    }
    return HW_OK;
}

static int64_t fetcher_backoff_us(const struct hw_timed *timed,
                                  const struct hw_timed_fetcher *fetcher)
{
    const struct hw_partition *partition = timed->partitions[fetcher->members[0]];

    return partition->settings->replica_fetch_backoff_ms * 1000;
}

static enum hw_status fetcher_turn(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    fetcher_release_parts(fetcher);
    if (fetcher->member_count == 0) {
        fetcher->due_us = INT64_MAX;
        return HW_OK;
    }
    fetcher->turns_at_once = fetcher->turn_us == timed->now_us ? fetcher->turns_at_once + 1 : 0;
    fetcher->turn_us = timed->now_us;
    fetcher->request_id = ++timed->notices.next_id;
    for (size_t i = 0; i < fetcher->member_count && status == HW_OK; i++) {
        status = fetcher_add_part(timed, fetcher, step, fetcher->members[i], error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (fetcher->part_count == 0 || fetcher->turns_at_once > FETCHER_TURNS_AT_ONCE_MAX) {
        int64_t backoff_us = fetcher_backoff_us(timed, fetcher);

        return fetcher_rest(timed, fetcher, timed->now_us + (backoff_us < 1000 ? 1000 : backoff_us),
                            error);
    }
    fetcher->sent_us = timed->now_us;
    fetcher->size_bytes =
        FETCHER_REQUEST_BYTES + FETCHER_REQUEST_PART_BYTES * (int64_t)fetcher->part_count;
    status = hw_wires_send(&timed->wires, timed->random, fetcher->follower, fetcher->leader,
                           fetcher->size_bytes, timed->now_us, &fetcher->last_request_us, error);
    fetcher->state = HW_FETCHER_ASKS;
    return status == HW_OK
               ? fetcher_schedule(timed, fetcher, HW_TIMED_DELIVERY, HW_TIMED_REQUEST_ARRIVES,
                                  fetcher->last_request_us, error)
               : status;
}

/* Note what became of a part of the message: at `replica`, which `peer` sent it to. */
static void fetcher_note(const struct hw_timed_fetcher *fetcher, enum hw_event_kind kind,
                         const struct hw_replica *replica, hw_broker_id_t peer,
                         const struct hw_timed_part *part, const char *what)
{
    struct hw_event event = hw_replica_event(replica, kind);

    event.peer = peer;
    event.offset = part->request.fetch_offset;
    event.request = fetcher->request_id;
    hw_journal_add_numbers(replica->journal, &event, what,
                           (const int64_t[]){part->request.min_bytes, part->request.max_wait_ms});
}

/* The request has failed as a whole: all its partitions are delayed (W3.5). */
static enum hw_status fetcher_fail(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, struct hw_error *error)
{
    int64_t backoff_us = 0;

    for (size_t i = 0; i < fetcher->part_count; i++) {
        struct hw_partition *partition = timed->partitions[fetcher->parts[i].place];
        struct hw_replica *replica = hw_partition_find(partition, fetcher->follower);

        backoff_us = partition->settings->replica_fetch_backoff_ms * 1000;
        if (replica != NULL && replica->role == HW_ROLE_FOLLOWER &&
            replica->leader == fetcher->leader) {
            fetcher_note(fetcher, HW_EVENT_DROP, replica, fetcher->leader, &fetcher->parts[i],
                         fetcher->state == HW_FETCHER_ANSWERED ? "the connection broke"
                                                               : "no answer in time");
            hw_replica_fetch_failed(replica, step->now_ms, partition->settings);
        }
    }
    fetcher_release_parts(fetcher);
    return fetcher_rest(timed, fetcher, timed->now_us + (backoff_us < 1000 ? 1000 : backoff_us),
                        error);
}

/* ------------------------------------------------------------------------------ at the leader */

/* Whether the broker that leads runs, as far as the partitions of the request tell. */
static bool fetcher_leader_runs(const struct hw_timed *timed,
                                const struct hw_timed_fetcher *fetcher)
{
    for (size_t i = 0; i < fetcher->part_count; i++) {
        if (hw_partition_find(timed->partitions[fetcher->parts[i].place], fetcher->leader) !=
            NULL) {
            return true;
        }
    }
    return false;
}

/* The connection breaks: the follower notices when that has travelled back (W7.1). */
static enum hw_status fetcher_break(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                    struct hw_error *error)
{
    enum hw_status status =
        hw_wires_send(&timed->wires, timed->random, fetcher->leader, fetcher->follower, 0,
                      timed->now_us, &fetcher->last_answer_us, error);

    fetcher->state = HW_FETCHER_ANSWERED;
    return status == HW_OK
               ? fetcher_schedule(timed, fetcher, HW_TIMED_DELIVERY, HW_TIMED_REQUEST_FAILS,
                                  fetcher->last_answer_us, error)
               : status;
}

/* Keep what the leader lent: an answer travels for longer than a leader's memory stays as it is. */
static enum hw_status fetcher_own(struct hw_fetch_response *response,
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

static enum hw_status fetcher_answer_part(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                          const struct hw_step *step, struct hw_timed_part *part,
                                          struct hw_answer_room *room, struct hw_error *error)
{
    struct hw_partition *partition = timed->partitions[part->place];
    struct hw_replica *leader = hw_partition_find(partition, fetcher->leader);
    struct hw_replica *follower = hw_partition_find(partition, fetcher->follower);
    struct hw_fetch_request request = hw_answer_room_limit(room, &part->request);
    enum hw_status status;

    if (leader == NULL) {
        part->response = (struct hw_fetch_response){.error = HW_KAFKA_NOT_LEADER_OR_FOLLOWER};
        hw_buffer_init(&part->response.records, timed->allocator);
        part->has_response = true;
        return HW_OK;
    }
    status = hw_replica_answer_fetch(leader, step->now_ms, partition->settings, &request,
                                     HW_FETCH_ANSWER, &part->response, error);
    part->has_response = true;
    if (status == HW_OK) {
        status = fetcher_own(&part->response, timed->allocator, error);
    }
    if (status == HW_OK) {
        hw_answer_room_take(room, &part->request, part->response.size_bytes, leader, step->now_ms,
                            follower);
    }
    if (status == HW_OK && follower != NULL) {
        part->is_noted = part->is_noted || part->response.size_bytes > 0 ||
                         part->response.error != HW_KAFKA_NONE ||
                         part->response.diverging_epoch.end_offset != HW_OFFSET_NONE ||
                         part->response.high_watermark != hw_log_high_watermark(follower->log);
        if (part->is_noted) {
            hw_exchange_note_response(follower, &part->request, &part->response);
        }
    }
    return status;
}

/* Which part is answered first: the one that had no room in the last answer. */
static size_t fetcher_first_part(const struct hw_timed *timed,
                                 const struct hw_timed_fetcher *fetcher)
{
    for (size_t i = 0; i < fetcher->part_count; i++) {
        const struct hw_replica *follower =
            hw_partition_find(timed->partitions[fetcher->parts[i].place], fetcher->follower);

        if (follower != NULL && follower->fetch.is_first) {
            return i;
        }
    }
    return 0;
}

static enum hw_status fetcher_answer(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, struct hw_error *error)
{
    struct hw_answer_room room = {.bytes_left = fetcher->parts[0].request.max_bytes};
    size_t first = fetcher_first_part(timed, fetcher);
    enum hw_status status = HW_OK;

    fetcher->size_bytes =
        FETCHER_ANSWER_BYTES + FETCHER_ANSWER_PART_BYTES * (int64_t)fetcher->part_count;
    for (size_t i = 0; i < fetcher->part_count && status == HW_OK; i++) {
        struct hw_timed_part *part = &fetcher->parts[(first + i) % fetcher->part_count];

        status = fetcher_answer_part(timed, fetcher, step, part, &room, error);
        fetcher->size_bytes += status == HW_OK ? part->response.size_bytes : 0;
    }
    if (status == HW_OK) {
        status = hw_wires_send(&timed->wires, timed->random, fetcher->leader, fetcher->follower,
                               fetcher->size_bytes, timed->now_us, &fetcher->last_answer_us, error);
    }
    fetcher->state = HW_FETCHER_ANSWERED;
    return status == HW_OK
               ? fetcher_schedule(timed, fetcher, HW_TIMED_DELIVERY, HW_TIMED_ANSWER_ARRIVES,
                                  fetcher->last_answer_us, error)
               : status;
}

/* Is this part alone enough to answer? *bytes: what it adds to the others; *has_some: what there is
 * for it may become enough, together with others or with time. */
static bool fetcher_part_is_due(const struct hw_timed *timed,
                                const struct hw_timed_fetcher *fetcher, const struct hw_step *step,
                                const struct hw_timed_part *part, int64_t *bytes, bool *has_some)
{
    struct hw_replica *leader = hw_partition_find(timed->partitions[part->place], fetcher->leader);

    *bytes = 0;
    *has_some = leader != NULL && part->request.fetch_offset < hw_log_end(leader->log);
    return leader == NULL || hw_replica_is_fetch_ready(leader, step->now_ms, &part->request, bytes);
}

/* Is there enough to answer now (R2.12)? */
static bool fetcher_is_due(const struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                           const struct hw_step *step)
{
    int64_t available = 0;

    fetcher->has_some = false;
    for (size_t i = 0; i < fetcher->part_count; i++) {
        int64_t bytes;
        bool has_some;

        if (fetcher_part_is_due(timed, fetcher, step, &fetcher->parts[i], &bytes, &has_some)) {
            return true;
        }
        fetcher->has_some = fetcher->has_some || has_some;
        available += bytes;
    }
    return available >= fetcher->parts[0].request.min_bytes;
}

/* The request is at the leader, for each of its parts. */
static void fetcher_note_arrival(const struct hw_timed *timed,
                                 const struct hw_timed_fetcher *fetcher, bool waits)
{
    for (size_t i = 0; i < fetcher->part_count; i++) {
        const struct hw_timed_part *part = &fetcher->parts[i];
        const struct hw_replica *leader =
            hw_partition_find(timed->partitions[part->place], fetcher->leader);

        if (leader != NULL && part->is_noted) {
            fetcher_note(fetcher, HW_EVENT_DELIVER, leader, fetcher->follower, part,
                         waits ? "request, waits for # bytes or # ms" : "request");
        }
    }
}

/* It has waited long enough. A request is counted once, with its first partition. */
static enum hw_status fetcher_expire(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, struct hw_error *error)
{
    struct hw_replica *leader =
        hw_partition_find(timed->partitions[fetcher->parts[0].place], fetcher->leader);

    if (!fetcher_leader_runs(timed, fetcher)) {
        return fetcher_break(timed, fetcher, error);
    }
    if (leader != NULL) {
        leader->counters.fetch_expired++;
    }
    return fetcher_answer(timed, fetcher, step, error);
}

static enum hw_status fetcher_arrive(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (!hw_links_connected(step->links, fetcher->follower, fetcher->leader)) {
        fetcher->state = HW_FETCHER_HELD_REQUEST;
        return fetcher_schedule(timed, fetcher, HW_TIMED_WAIT_OVER, HW_TIMED_REQUEST_FAILS,
                                fetcher->sent_us + (timed->request_timeout_ms + 1) * 1000, error);
    }
    if (!fetcher_leader_runs(timed, fetcher)) {
        return fetcher_break(timed, fetcher, error);
    }
    for (size_t i = 0; i < fetcher->part_count && status == HW_OK; i++) {
        const struct hw_timed_part *part = &fetcher->parts[i];
        struct hw_partition *partition = timed->partitions[part->place];
        struct hw_replica *leader = hw_partition_find(partition, fetcher->leader);
        struct hw_fetch_response response;
        uint64_t changes;

        if (leader == NULL) {
            continue;
        }
        changes = leader->changes;
        status = hw_replica_answer_fetch(leader, step->now_ms, partition->settings, &part->request,
                                         HW_FETCH_RECEIVE, &response, error);
        hw_fetch_response_release(&response);
        if (leader->role == HW_ROLE_LEADER) {
            hw_waiting_check(leader, step->now_ms, partition->settings);
        }
        /* Of a hundred partitions that a request names it moves one or two. */
        if (status == HW_OK && (leader->changes != changes || leader->is_proposal_unsent)) {
            status = hw_timed_touch(timed, part->place, error);
        }
    }
    if (status != HW_OK) {
        return status;
    }
    if (fetcher_is_due(timed, fetcher, step)) {
        fetcher_note_arrival(timed, fetcher, false);
        return fetcher_answer(timed, fetcher, step, error);
    }
    fetcher_note_arrival(timed, fetcher, true);
    fetcher->state = HW_FETCHER_WAITS;
    fetcher->wait_until_us = timed->now_us + fetcher->parts[0].request.max_wait_ms * 1000;
    return fetcher_schedule(timed, fetcher, HW_TIMED_WAIT_OVER, HW_TIMED_REQUEST_WAITED,
                            fetcher->wait_until_us, error);
}

/* The part of the request that is about the partition of this place, or NULL: places rise. */
static const struct hw_timed_part *fetcher_part_of(const struct hw_timed_fetcher *fetcher,
                                                   size_t place)
{
    size_t low = 0;
    size_t high = fetcher->part_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (fetcher->parts[middle].place < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < fetcher->part_count && fetcher->parts[low].place == place ? &fetcher->parts[low]
                                                                           : NULL;
}

enum hw_status hw_timed_fetcher_look(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     const struct hw_step *step, size_t place,
                                     struct hw_error *error)
{
    const struct hw_timed_part *part =
        fetcher->state == HW_FETCHER_WAITS ? fetcher_part_of(fetcher, place) : NULL;
    int64_t bytes;
    bool has_some;
    bool is_due;

    if (part == NULL) {
        return HW_OK;
    }
    if (!fetcher_leader_runs(timed, fetcher)) {
        return fetcher_break(timed, fetcher, error);
    }
    is_due = fetcher_part_is_due(timed, fetcher, step, part, &bytes, &has_some);
    if (!is_due && (has_some || fetcher->has_some)) {
        is_due = fetcher_is_due(timed, fetcher, step);
    }
    return is_due ? fetcher_answer(timed, fetcher, step, error) : HW_OK;
}

/* ------------------------------------------------------------------------- back at the follower */

static enum hw_status fetcher_apply(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                    const struct hw_step *step, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < fetcher->part_count && status == HW_OK; i++) {
        struct hw_timed_part *part = &fetcher->parts[i];
        struct hw_partition *partition = timed->partitions[part->place];
        struct hw_replica *follower = hw_partition_find(partition, fetcher->follower);
        uint64_t changes;
        int64_t records;

        if (follower == NULL || follower->leader != fetcher->leader) {
            continue;
        }
        if (part->is_noted) {
            fetcher_note(fetcher, HW_EVENT_DELIVER, follower, fetcher->leader, part, "answer");
        }
        changes = follower->changes;
        status = hw_exchange_apply(partition, step, follower, &part->request, &part->response,
                                   &records, error);
        if (status == HW_IO || status == HW_CORRUPT || follower->fetch.phase == HW_PHASE_FAILED ||
            (status == HW_OK && follower->changes != changes)) {
            /* What failed stands in the journal, and stops this partition only. */
            status = hw_timed_touch(timed, part->place, error);
        }
    }
    fetcher_release_parts(fetcher);
    return status == HW_OK ? fetcher_rest(timed, fetcher, timed->now_us, error) : status;
}

static enum hw_status fetcher_receive(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                      const struct hw_step *step, struct hw_error *error)
{
    int64_t bytes = 0;

    if (!hw_links_connected(step->links, fetcher->follower, fetcher->leader)) {
        fetcher->state = HW_FETCHER_HELD_ANSWER;
        fetcher->due_us = fetcher->sent_us + (timed->request_timeout_ms + 1) * 1000;
        fetcher->due_us = fetcher->due_us > timed->now_us ? fetcher->due_us : timed->now_us;
        return fetcher_schedule(timed, fetcher, HW_TIMED_WAIT_OVER, HW_TIMED_REQUEST_FAILS,
                                fetcher->due_us, error);
    }
    for (size_t i = 0; i < fetcher->part_count; i++) {
        bytes += (int64_t)fetcher->parts[i].response.records.size;
    }
    fetcher->state = HW_FETCHER_WRITES;
    fetcher->due_us =
        bytes == 0 ? timed->now_us : hw_timed_disk_us(timed, fetcher->follower, bytes);
    if (fetcher->due_us > timed->now_us) {
        return fetcher_schedule(timed, fetcher, HW_TIMED_DISK, HW_TIMED_ANSWER_ON_DISK,
                                fetcher->due_us, error);
    }
    return fetcher_apply(timed, fetcher, step, error);
}

/* --------------------------------------------------------------------------------------- events */

enum hw_status hw_timed_fetcher_event(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                      const struct hw_step *step, enum hw_timed_kind kind,
                                      struct hw_error *error)
{
    switch (kind) {
    case HW_TIMED_FETCHER_TURN:
        return fetcher_turn(timed, fetcher, step, error);
    case HW_TIMED_REQUEST_ARRIVES:
        return fetcher_arrive(timed, fetcher, step, error);
    case HW_TIMED_REQUEST_WAITED:
        return fetcher_expire(timed, fetcher, step, error);
    case HW_TIMED_ANSWER_ARRIVES:
        return fetcher_receive(timed, fetcher, step, error);
    case HW_TIMED_ANSWER_ON_DISK:
        return fetcher_apply(timed, fetcher, step, error);
    case HW_TIMED_REQUEST_FAILS:
        return fetcher_fail(timed, fetcher, step, error);
    case HW_TIMED_PROPOSAL_ARRIVES:
    case HW_TIMED_PROPOSAL_ANSWERED:
    case HW_TIMED_NOTICE_ARRIVES:
    case HW_TIMED_HEARTBEAT_LEAVES:
    case HW_TIMED_HEARTBEAT_ARRIVES:
    case HW_TIMED_HEARTBEAT_ANSWERED:
    case HW_TIMED_HEARTBEAT_LOST:
        break;
    }
    HW_ASSERT(false);
    return HW_OK;
}

/* Whether the follower's broker runs: it has a replica of one of the partitions. */
static bool fetcher_runs(const struct hw_timed *timed, const struct hw_timed_fetcher *fetcher)
{
    for (size_t i = 0; i < fetcher->part_count; i++) {
        if (hw_partition_find(timed->partitions[fetcher->parts[i].place], fetcher->follower) !=
            NULL) {
            return true;
        }
    }
    return fetcher->part_count == 0;
}

enum hw_status hw_timed_fetcher_resume(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                       const struct hw_step *step, struct hw_error *error)
{
    bool is_answer = fetcher->state == HW_FETCHER_HELD_ANSWER;
    int64_t *last_us = is_answer ? &fetcher->last_answer_us : &fetcher->last_request_us;
    enum hw_status status;

    if (!fetcher_runs(timed, fetcher)) {
        fetcher_release_parts(fetcher);
        return fetcher_rest(timed, fetcher, timed->now_us, error);
    }
    if (fetcher->state == HW_FETCHER_WAITS && !fetcher_leader_runs(timed, fetcher)) {
        return fetcher_break(timed, fetcher, error);
    }
    if ((!is_answer && fetcher->state != HW_FETCHER_HELD_REQUEST) ||
        !hw_links_connected(step->links, fetcher->follower, fetcher->leader)) {
        return HW_OK;
    }
    status = hw_wires_send(
        &timed->wires, timed->random, is_answer ? fetcher->leader : fetcher->follower,
        is_answer ? fetcher->follower : fetcher->leader, 0, timed->now_us, last_us, error);
    fetcher->state = is_answer ? HW_FETCHER_ANSWERED : HW_FETCHER_ASKS;
    return status == HW_OK
               ? fetcher_schedule(timed, fetcher, HW_TIMED_DELIVERY,
                                  is_answer ? HW_TIMED_ANSWER_ARRIVES : HW_TIMED_REQUEST_ARRIVES,
                                  *last_us, error)
               : status;
}
