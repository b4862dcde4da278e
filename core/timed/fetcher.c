/* SPDX-License-Identifier: MIT */
/* One broker's fetch loop to one leader's broker: kafka-time W3, W7. What becomes of a request at
 * the leader is in fetch_wait.c. */
#include "core/base/assert.h"
#include "core/base/uuid.h"
#include "core/replication/exchange.h"
#include "core/timed/timed_internal.h"

#include <string.h>

/* Bytes of a request that names no partition, of one that names some, and for each of them, with
 * frame and header: W2.3. */
enum { FETCHER_EMPTY_BYTES = 73, FETCHER_REQUEST_BYTES = 91, FETCHER_PART_BYTES = 33 };

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

/* Which of its follower's fetchers to a leader a partition has: Java's hash of the topic's name, and
 * the partition (W3.3). */
static int32_t fetcher_id_of(const struct hw_timed *timed, const struct hw_partition *partition)
{
    const char *end = strrchr(partition->name, '-'); /* Of "<topic>-<number>". */
    uint32_t hash = 0;
    int32_t sum;

    if (timed->fetchers_per_leader == 1) {
        return 0;
    }
    for (const char *at = partition->name; at < end; at++) {
        hash = 31 * hash + (uint8_t)*at;
    }
    sum = (int32_t)(31 * hash + (uint32_t)partition->number);
    return sum == INT32_MIN ? 0 : (sum < 0 ? -sum : sum) % timed->fetchers_per_leader;
}

static enum hw_status fetcher_have(struct hw_timed *timed, hw_broker_id_t follower,
                                   hw_broker_id_t leader, int32_t id, struct hw_error *error)
{
    struct hw_timed_fetcher *fetcher;
    enum hw_status status;

    for (size_t i = 0; i < timed->fetcher_count; i++) {
        fetcher = timed->fetchers[i];
        if (fetcher->follower == follower && fetcher->leader == leader && fetcher->id == id) {
            return HW_OK;
        }
    }
    status = hw_array_reserve(timed->allocator, (void **)&timed->fetchers, &timed->fetcher_capacity,
                              timed->fetcher_count + 1, sizeof(void *), error);
    if (status != HW_OK) {
        return status;
    }
    fetcher = hw_alloc_zeroed(timed->allocator, sizeof *fetcher);
    if (fetcher == NULL) {
        return hw_error_no_memory(error, "a fetcher");
    }
    fetcher->place = timed->fetcher_count;
    fetcher->follower = follower;
    fetcher->leader = leader;
    fetcher->id = id;
    fetcher->due_us = INT64_MAX;
    fetcher->is_new_session = true;
    fetcher->has_first = true;
    timed->fetchers[timed->fetcher_count++] = fetcher;
    return HW_OK;
}

/* Its next turn is at `due_us`. */
static enum hw_status fetcher_rest(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   int64_t due_us, struct hw_error *error)
{
    fetcher->state = HW_FETCHER_RESTS;
    return hw_timed_fetcher_schedule(timed, fetcher, HW_TIMED_TURN, HW_TIMED_FETCHER_TURN, due_us,
                                     error);
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

static enum hw_status fetcher_gather(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                     struct hw_error *error)
{
    size_t *before = fetcher->members;
    size_t before_count = fetcher->member_count;
    size_t before_capacity = fetcher->member_capacity;
    size_t at = 0;
    enum hw_status status = HW_OK;

    fetcher->may_call = true;
    fetcher->members = NULL;
    fetcher->member_count = 0;
    fetcher->member_capacity = 0;
    for (size_t place = 0; place < timed->partition_count && status == HW_OK; place++) {
        const struct hw_replica *replica =
            hw_partition_find(timed->partitions[place], fetcher->follower);

        if (hw_timed_fetches(fetcher, replica) &&
            fetcher_id_of(timed, timed->partitions[place]) == fetcher->id) {
            while (at < before_count && before[at] < place) { /* Both rise. */
                at++;
            }
            status = fetcher_add_member(timed, fetcher, place,
                                        at == before_count || before[at] != place, error);
        }
    }
    hw_free(timed->allocator, before, before_capacity * sizeof *before);
    if (fetcher->member_count == 0) {
        fetcher->requests = (struct hw_meter){0}; /* Its thread ends (W3.9). */
    }
    return status;
}

enum hw_status hw_timed_assign(struct hw_timed *timed, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t place = 0; place < timed->partition_count && status == HW_OK; place++) {
        const struct hw_partition *partition = timed->partitions[place];

        for (int32_t i = 0; i < partition->replica_count && status == HW_OK; i++) {
            const struct hw_replica *replica = partition->replicas[i];

            if (replica->role == HW_ROLE_FOLLOWER && replica->leader != HW_BROKER_ID_NONE) {
                status = fetcher_have(timed, replica->broker, replica->leader,
                                      fetcher_id_of(timed, partition), error);
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
        fetcher->is_new_session = true;
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

/* Nothing has happened to the follower since it built its last request. */
static bool fetcher_asks_the_same(const struct hw_timed_fetcher *fetcher,
                                  const struct hw_replica *replica)
{
    return !fetcher->is_new_session && replica->fetch.asked_changes == replica->changes &&
           replica->fetch.phase == HW_PHASE_FETCHING && !replica->throttles_as_follower;
}

/* Whether a session leaves a partition out that asks for `a` after it has asked for `b` (W2.5). */
static bool fetcher_requests_equal(const struct hw_fetch_request *a,
                                   const struct hw_fetch_request *b)
{
    return a->replica_id == b->replica_id && a->replica_epoch == b->replica_epoch &&
           hw_uuid_equal(&a->topic_id, &b->topic_id) &&
           a->current_leader_epoch == b->current_leader_epoch &&
           a->fetch_offset == b->fetch_offset && a->last_fetched_epoch == b->last_fetched_epoch &&
           a->log_start == b->log_start && a->partition_max_bytes == b->partition_max_bytes &&
           a->max_bytes == b->max_bytes && a->min_bytes == b->min_bytes &&
           a->max_wait_ms == b->max_wait_ms;
}

/* What the follower asks of its partition now; *ready: it does ask. */
static enum hw_status fetcher_build(struct hw_timed *timed, const struct hw_timed_fetcher *fetcher,
                                    const struct hw_step *step, struct hw_replica *replica,
                                    struct hw_timed_part *part, bool *ready, struct hw_error *error)
{
    bool was_truncating = replica->fetch.phase == HW_PHASE_TRUNCATING;
    enum hw_status status;

    part->is_same = fetcher_asks_the_same(fetcher, replica);
    *ready = part->is_same;
    if (part->is_same) {
        part->request = replica->fetch.request;
        return HW_OK;
    }
    status = hw_exchange_prepare(timed->partitions[part->place], step, replica, &part->request,
                                 ready, error);
    if (was_truncating && status != HW_NO_MEMORY) {
        status = hw_timed_touch(timed, part->place, error);
    }
    if (status == HW_OK && *ready) {
        part->is_same = !fetcher->is_new_session &&
                        fetcher_requests_equal(&part->request, &replica->fetch.request);
        replica->fetch.request = part->request;
        replica->fetch.asked_changes = replica->changes;
    }
    return status;
}

/* Add one partition to the request, unless it does not fetch now. */
static enum hw_status fetcher_add_part(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                       const struct hw_step *step, size_t place,
                                       struct hw_error *error)
{
    struct hw_replica *replica = hw_partition_find(timed->partitions[place], fetcher->follower);
    struct hw_timed_part *part;
    bool ready = false;
    enum hw_status status;

    if (!hw_timed_fetches(fetcher, replica) || replica->fetch.delay_until_ms > step->now_ms) {
        return HW_OK;
    }
    status = hw_array_reserve(timed->allocator, (void **)&fetcher->parts, &fetcher->part_capacity,
                              fetcher->part_count + 1, sizeof *fetcher->parts, error);
    if (status != HW_OK) {
        return status;
    }
    part = &fetcher->parts[fetcher->part_count];
    part->place = place;
    part->has_response = false;
    status = fetcher_build(timed, fetcher, step, replica, part, &ready, error);
    if (status != HW_OK || !ready) {
        return status;
    }
    part->request.message = fetcher->request_id;
    /* A session names the partitions with news only: W2.5. */
    fetcher->size_bytes += part->is_same ? 0 : FETCHER_PART_BYTES;
    part->is_noted = fetcher->part_count == 0 || !part->is_same;
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

/* It has had too many turns in no time, or, where its requests do not wait, one that brought nothing:
 * the next one is a millisecond later (W10.3). */
static bool fetcher_spins(const struct hw_timed_fetcher *fetcher)
{
    const struct hw_fetch_request *request = &fetcher->parts[0].request;

    return fetcher->turns_at_once > FETCHER_TURNS_AT_ONCE_MAX ||
           (fetcher->turns_at_once > 0 && fetcher->record_bytes == 0 &&
            (request->max_wait_ms == 0 || request->min_bytes == 0));
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
    fetcher->size_bytes = 0;
    status = hw_timed_call_build(timed, fetcher, step, error);
    for (size_t i = 0;
         i < fetcher->member_count && fetcher->call.kind == HW_CALL_NONE && status == HW_OK; i++) {
        status = fetcher_add_part(timed, fetcher, step, fetcher->members[i], error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (fetcher->part_count == 0 || fetcher_spins(fetcher)) {
        int64_t pause_us = fetcher->part_count == 0 ? fetcher_backoff_us(timed, fetcher) : 0;

        return fetcher_rest(timed, fetcher, timed->now_us + HW_MAX(pause_us, 1000), error);
    }
    fetcher->sent_us = timed->now_us;
    if (fetcher->call.kind == HW_CALL_NONE) {
        fetcher->size_bytes +=
            fetcher->size_bytes == 0 ? FETCHER_EMPTY_BYTES : FETCHER_REQUEST_BYTES;
    }
    return hw_timed_fetcher_send(timed, fetcher, HW_TIMED_REQUEST_ARRIVES, fetcher->size_bytes,
                                 error);
}

/* The request is over, answered or not: it counts once, with its first partition. */
static void fetcher_count(const struct hw_timed *timed, struct hw_timed_fetcher *fetcher)
{
    struct hw_replica *follower = NULL;

    hw_meter_mark(&fetcher->requests, timed->now_us);

    for (size_t i = 0; i < fetcher->part_count && follower == NULL; i++) {
        follower = hw_partition_find(timed->partitions[fetcher->parts[i].place], fetcher->follower);
    }
    if (follower != NULL) {
        follower->counters.fetcher_requests++;
    }
}

/* The request has failed as a whole: all its partitions are delayed (W3.5). */
static enum hw_status fetcher_fail(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, struct hw_error *error)
{
    int64_t backoff_us = 0;

    fetcher->is_new_session = true;
    fetcher_count(timed, fetcher);
    for (size_t i = 0; i < fetcher->part_count; i++) {
        struct hw_partition *partition = timed->partitions[fetcher->parts[i].place];
        struct hw_replica *replica = hw_partition_find(partition, fetcher->follower);

        backoff_us = partition->settings->replica_fetch_backoff_ms * 1000;
        if (hw_timed_fetches(fetcher, replica)) {
            hw_timed_fetcher_note(fetcher, HW_EVENT_DROP, replica, fetcher->leader,
                                  &fetcher->parts[i],
                                  fetcher->state == HW_FETCHER_ANSWERED ? "the connection broke"
                                                                        : "no answer in time");
            hw_replica_fetch_failed(replica, step->now_ms);
        }
    }
    fetcher_release_parts(fetcher);
    return fetcher_rest(timed, fetcher, timed->now_us + HW_MAX(backoff_us, 1000), error);
}

/* ------------------------------------------------------------------------- back at the follower */

static enum hw_status fetcher_apply(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                    const struct hw_step *step, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    fetcher_count(timed, fetcher);
    for (size_t i = 0; i < fetcher->part_count && status == HW_OK; i++) {
        struct hw_timed_part *part = &fetcher->parts[i];
        struct hw_partition *partition = timed->partitions[part->place];
        struct hw_replica *follower = hw_partition_find(partition, fetcher->follower);
        uint64_t changes;
        int64_t records;

        if (!hw_timed_fetches(fetcher, follower)) {
            continue;
        }
        if (part->is_noted) {
            hw_timed_fetcher_note(fetcher, HW_EVENT_DELIVER, follower, fetcher->leader, part,
                                  "answer");
        }
        if (!part->has_response) {
            continue;
        }
        changes = follower->changes;
        status = hw_replica_apply_fetch(follower, step->now_ms, &part->request, &part->response,
                                        &records, error);
        fetcher->may_call = fetcher->may_call || follower->fetch.is_out_of_range;
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
    int64_t bytes = fetcher->record_bytes;
    int64_t due_us;

    if (!hw_links_connected(step->links, fetcher->follower, fetcher->leader)) {
        fetcher->state = HW_FETCHER_HELD_ANSWER;
        due_us = fetcher->sent_us + (timed->request_timeout_ms + 1) * 1000;
        return hw_timed_fetcher_schedule(timed, fetcher, HW_TIMED_WAIT_OVER, HW_TIMED_REQUEST_FAILS,
                                         HW_MAX(due_us, timed->now_us), error);
    }
    if (fetcher->call.kind != HW_CALL_NONE) {
        enum hw_status status = hw_timed_call_apply(timed, fetcher, step, error);

        fetcher_release_parts(fetcher);
        return status == HW_OK ? fetcher_rest(timed, fetcher, timed->now_us, error) : status;
    }
    fetcher->state = HW_FETCHER_WRITES;
    due_us = bytes == 0 ? timed->now_us : hw_timed_disk_us(timed, fetcher->follower, bytes);
    return due_us > timed->now_us
               ? hw_timed_fetcher_schedule(timed, fetcher, HW_TIMED_DISK, HW_TIMED_ANSWER_ON_DISK,
                                           due_us, error)
               : fetcher_apply(timed, fetcher, step, error);
}

/* --------------------------------------------------------------------------------------- events */

typedef enum hw_status fetcher_step(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                    const struct hw_step *step, struct hw_error *error);

static fetcher_step *const fetcher_steps[] = {
    [HW_TIMED_FETCHER_TURN] = fetcher_turn,
    [HW_TIMED_REQUEST_ARRIVES] = hw_timed_fetch_arrive,
    [HW_TIMED_REQUEST_WAITED] = hw_timed_fetch_expire,
    [HW_TIMED_ANSWER_ARRIVES] = fetcher_receive,
    [HW_TIMED_ANSWER_ON_DISK] = fetcher_apply,
    [HW_TIMED_REQUEST_FAILS] = fetcher_fail,
};

enum hw_status hw_timed_fetcher_event(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                      const struct hw_step *step, enum hw_timed_kind kind,
                                      struct hw_error *error)
{
    HW_ASSERT(kind <= HW_TIMED_REQUEST_FAILS);
    return fetcher_steps[kind](timed, fetcher, step, error);
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

    if (!fetcher_runs(timed, fetcher)) {
        fetcher_release_parts(fetcher);
        return fetcher_rest(timed, fetcher, timed->now_us, error);
    }
    if ((!is_answer && fetcher->state != HW_FETCHER_HELD_REQUEST) ||
        !hw_links_connected(step->links, fetcher->follower, fetcher->leader)) {
        return hw_timed_fetch_resume(timed, fetcher, error);
    }
    return hw_timed_fetcher_send(
        timed, fetcher, is_answer ? HW_TIMED_ANSWER_ARRIVES : HW_TIMED_REQUEST_ARRIVES, 0, error);
}
