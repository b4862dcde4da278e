/* SPDX-License-Identifier: MIT */
#include "core/replication/fetch_round.h"

#include "core/base/assert.h"
#include "core/replication/exchange.h"
#include "core/replication/idle_fetch.h"

/* One follower's request to one leader, over all partitions at hand. */
struct request {
    hw_broker_id_t leader;
    int64_t available;    /* Bytes that there are to send, as far as they count for min bytes. */
    bool is_due;          /* Its wait has ended. */
    bool has_data;        /* A partition has been answered with records. */
    int32_t bytes_left;   /* Of replica.fetch.response.max.bytes. */
    hw_time_ms_t over_ms; /* When its time is over. */
    size_t first; /* The partition that is answered first; then those behind it, and round. */
    bool has_next_first; /* One has been found that comes first the next time. */
};

/* One replica in a round: one that may fetch, or a leader. */
struct turn {
    struct hw_partition *partition;
    struct hw_replica *replica;
    struct turn *next; /* Of the same broker, in order of the partitions; of the leaders. */
    size_t place;      /* Of the partition. */
    bool is_idle;      /* A follower of an idle partition, */
    bool is_answered;  /* which has been answered. */
};

/* What one follower does in a round, and what there is to do in all of it. */
struct round {
    const struct hw_step *step;
    const struct hw_allocator *allocator;
    struct turn *turns; /* No leader of an idle partition is among them. */
    size_t count;
    size_t steady_count; /* Of them, those who will be answered that there is nothing, and ask
                            again. */
    size_t capacity;
    struct turn *leaders; /* That keep what they read. */
    struct {
        struct turn *first;
        struct turn *last;
    } brokers[HW_BROKERS_MAX]; /* In the order of the registrations. */
    int32_t request_count;
    struct request requests[HW_BROKERS_MAX];
};

/* ------------------------------------------------------------------------------- who takes part */

static void round_add_turn(struct round *round, int32_t broker, struct turn *turn)
{
    turn->next = NULL;
    if (round->brokers[broker].first == NULL) {
        round->brokers[broker].first = turn;
    } else {
        round->brokers[broker].last->next = turn;
    }
    round->brokers[broker].last = turn;
}

/* The leader, if it surely leads to the end of the round: only the last step of a reassignment
 * makes it a follower in between. */
static const struct hw_replica *round_leader(const struct hw_partition *partition)
{
    const struct hw_partition_record *record = &partition->record;

    return record->adding.count == 0 && record->removing.count == 0 ? hw_partition_leader(partition)
                                                                    : NULL;
}

/* The partition takes part: as an idle one, or with all its replicas, who are told what they have
 * missed. */
static enum hw_status round_plan_partition(struct round *round, struct hw_partition *partition,
                                           size_t place, struct hw_error *error)
{
    const struct hw_metadata *brokers = &round->step->controller->metadata;
    bool is_idle = round->step->links->count == 0 && hw_idle_find(partition, round->step->now_ms);
    const struct hw_replica *leader = NULL;
    enum hw_status status = HW_OK;
    int32_t broker = 0;

    if (!is_idle) {
        partition->is_settled = false; /* It will be, which touches it. */
        status = hw_exchange_tell_late(partition, round->step, error);
        leader = round_leader(partition);
    }
    /* Replicas and registrations are in order of the brokers' ids. */
    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_broker_id_t id = partition->brokers[i];
        struct turn *turn = &round->turns[round->count];

        if (is_idle && id == partition->idle.event.peer) {
            continue;
        }
        *turn = (struct turn){.partition = partition,
                              .replica = partition->replicas[i],
                              .place = place,
                              .is_idle = is_idle};
        round->count++;
        if (turn->replica == leader) {
            hw_replica_keep_reads(turn->replica, true);
            turn->next = round->leaders;
            round->leaders = turn;
            continue;
        }
        while (broker < brokers->count && brokers->registrations[broker].id < id) {
            broker++;
        }
        if (broker < brokers->count && brokers->registrations[broker].id == id) {
            round_add_turn(round, broker, turn);
            round->steady_count += is_idle && turn->replica->fetch.is_request_waiting ? 1 : 0;
        }
    }
    return status;
}

static enum hw_status round_plan(struct round *round, struct hw_partition *const *partitions,
                                 size_t count, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; i < count; i++) {
        round->capacity += (size_t)partitions[i]->replica_count;
        if (round->allocator == NULL && partitions[i]->replica_count > 0) {
            round->allocator = partitions[i]->replicas[0]->allocator;
        }
    }
    if (round->capacity == 0) {
        return HW_OK;
    }
    round->turns = hw_alloc(round->allocator, round->capacity * sizeof *round->turns);
    if (round->turns == NULL) {
        return hw_error_no_memory(error, "a replication round");
    }
    for (size_t i = 0; status == HW_OK && i < count; i++) {
        status = round_plan_partition(round, partitions[i], i, error);
    }
    return status;
}

static void round_end(struct round *round)
{
    for (const struct turn *turn = round->leaders; turn != NULL; turn = turn->next) {
        hw_replica_keep_reads(turn->replica, false);
    }
    if (round->turns != NULL) {
        hw_free(round->allocator, round->turns, round->capacity * sizeof *round->turns);
    }
}

/* ------------------------------------------------------------------------ requests and answers */

static struct request *round_request(struct round *round, hw_broker_id_t leader)
{
    for (int32_t i = 0; i < round->request_count; i++) {
        if (round->requests[i].leader == leader) {
            return &round->requests[i];
        }
    }
    return NULL;
}

/* Add one partition of the request to what the leader sees of it: there are `bytes` to send, or
 * something else that `is_due`. The limits are those of the first partition. */
static void round_note_request(struct round *round, hw_broker_id_t leader, int32_t max_bytes,
                               int32_t min_bytes, hw_time_ms_t wait_until_ms, int64_t bytes,
                               bool is_due)
{
    struct request *request = round_request(round, leader);

    if (request == NULL) {
        HW_ASSERT(round->request_count < HW_BROKERS_MAX);
        request = &round->requests[round->request_count++];
        *request =
            (struct request){.leader = leader, .bytes_left = max_bytes, .over_ms = wait_until_ms};
    }
    request->available += bytes;
    if (wait_until_ms < request->over_ms) {
        request->over_ms = wait_until_ms;
    }
    request->is_due = request->is_due || is_due || request->available >= min_bytes ||
                      request->over_ms <= round->step->now_ms;
}

/* Every partition that is not waiting for an answer asks. */
static enum hw_status round_send(const struct round *round, int32_t broker, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (struct turn *turn = round->brokers[broker].first; status == HW_OK && turn != NULL;
         turn = turn->next) {
        if (turn->replica->fetch.is_request_waiting) {
            continue;
        }
        if (turn->is_idle) {
            hw_idle_fetch_send(turn->partition, turn->replica, turn->is_answered,
                               round->step->now_ms);
        } else {
            status = hw_exchange_send(turn->partition, round->step, turn->replica, error);
        }
    }
    return status;
}

/* What does the leader see of a request that may be answered? Of one that will be it need not look
 * at more partitions, unless looking begins a sample of its quota (R8.2). */
static void round_gather_one(struct round *round, struct turn *turn)
{
    struct hw_fetch_state *fetch = &turn->replica->fetch;
    const struct request *request = round_request(round, turn->replica->leader);
    struct hw_replica *leader;
    int64_t bytes = 0;
    bool is_due;

    /* Limits that were configured since the request was sent count at once. */
    hw_fetch_request_limit(&fetch->request, turn->partition->settings);
    leader = hw_exchange_reach_leader(turn->partition, round->step, turn->replica);
    /* Where the leader is not reached the answer is that it is not. */
    is_due = leader == NULL ||
             (request != NULL && request->is_due && !leader->throttles_as_leader) ||
             hw_replica_is_fetch_ready(leader, round->step->now_ms, &fetch->request, &bytes);
    round_note_request(round, turn->replica->leader, fetch->request.max_bytes,
                       fetch->request.min_bytes, fetch->wait_until_ms, bytes, is_due);
    if (fetch->is_first) {
        round_request(round, turn->replica->leader)->first = turn->place;
    }
}

static void round_gather(struct round *round, int32_t broker)
{
    round->request_count = 0;
    for (struct turn *turn = round->brokers[broker].first; turn != NULL; turn = turn->next) {
        if (turn->is_idle) {
            const struct hw_idle *idle = &turn->partition->idle;

            round_note_request(round, turn->replica->leader, idle->max_bytes, idle->min_bytes,
                               turn->replica->fetch.wait_until_ms, 0, false);
        } else if (turn->replica->fetch.is_request_waiting) {
            round_gather_one(round, turn);
        }
    }
}

/* Had the leader records for this request, which it did not send? */
static bool round_has_more(const struct hw_partition *partition, const struct hw_step *step,
                           const struct hw_replica *follower,
                           const struct hw_fetch_request *request)
{
    struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    int64_t bytes = 0;

    return leader != NULL &&
           (hw_replica_is_fetch_ready(leader, step->now_ms, request, &bytes) || bytes > 0);
}

/* Answer one partition of a request, within what the partitions before it have left. */
static enum hw_status round_answer_one(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_replica *follower, struct request *request,
                                       int64_t *records, struct hw_error *error)
{
    struct hw_fetch_request one = follower->fetch.request;
    int64_t size_bytes = 0;
    enum hw_status status;

    one.max_bytes = request->bytes_left;
    one.has_data = request->has_data;
    status = hw_exchange_answer(partition, step, follower, &one, &size_bytes, records, error);
    request->bytes_left =
        size_bytes < request->bytes_left ? request->bytes_left - (int32_t)size_bytes : 0;
    follower->fetch.is_first = size_bytes == 0 && request->has_data && !request->has_next_first &&
                               round_has_more(partition, step, follower, &follower->fetch.request);
    request->has_next_first = request->has_next_first || follower->fetch.is_first;
    request->has_data = request->has_data || size_bytes > 0;
    return status;
}

/* Answer the partitions of each request from its first one on (part 0), or those before it. */
static enum hw_status round_answer_turn(struct round *round, int32_t broker, int part,
                                        int64_t *records, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (struct turn *turn = round->brokers[broker].first; status == HW_OK && turn != NULL;
         turn = turn->next) {
        struct request *request;

        if (!turn->replica->fetch.is_request_waiting) {
            continue;
        }
        request = round_request(round, turn->replica->leader);
        HW_ASSERT(request != NULL);
        if ((turn->place < request->first) != (part == 1) ||
            !(request->is_due || request->available == 0)) {
            continue;
        }
        if (turn->is_idle) {
            hw_idle_fetch_answer(turn->partition, turn->replica, round->step->now_ms);
            turn->is_answered = true;
        } else {
            status = round_answer_one(turn->partition, round->step, turn->replica, request, records,
                                      error);
        }
    }
    return status;
}

static bool round_has_first(const struct round *round)
{
    for (int32_t i = 0; i < round->request_count; i++) {
        if (round->requests[i].first > 0) {
            return true;
        }
    }
    return false;
}

static enum hw_status round_answer(struct round *round, int32_t broker, int64_t *records,
                                   struct hw_error *error)
{
    enum hw_status status;

    round_gather(round, broker);
    status = round_answer_turn(round, broker, 0, records, error);
    if (status == HW_OK && round_has_first(round)) {
        status = round_answer_turn(round, broker, 1, records, error);
    }
    return status;
}

/* The three steps. */
static enum hw_status round_run(struct round *round, int64_t *records, struct hw_error *error)
{
    int32_t brokers = round->step->controller->metadata.count;
    enum hw_status status = HW_OK;

    for (int32_t i = 0; status == HW_OK && i < brokers; i++) {
        status = round_send(round, i, error);
    }
    for (int32_t i = 0; status == HW_OK && i < brokers; i++) {
        status = round_answer(round, i, records, error);
    }
    for (int32_t i = 0; status == HW_OK && i < brokers; i++) {
        status = round_send(round, i, error);
    }
    return status;
}

/* Where nothing has happened but that each request was answered and sent again, the same can be
 * done again without looking at anybody. */
static void round_remember(const struct round *round, struct hw_partition *const *partitions,
                           size_t count, int64_t first_seq)
{
    const struct hw_journal *journal = partitions[0]->journal;
    struct hw_idle_round idle = {.mark = hw_journal_mark(journal),
                                 .events = journal->next_seq - first_seq,
                                 .now_ms = round->step->now_ms,
                                 .count = count};

    hw_idle_round_end(partitions, count, &idle);
}

enum hw_status hw_fetch_round(struct hw_partition *const *partitions, size_t count,
                              const struct hw_step *step, int64_t *records, struct hw_error *error)
{
    const struct hw_journal *journal = count == 0 ? NULL : partitions[0]->journal;
    struct round round = {.step = step};
    int64_t first_seq = journal == NULL ? 0 : journal->next_seq;
    enum hw_status status;

    *records = 0;
    if (step->links->count == 0 && hw_idle_round_repeat(partitions, count, step->now_ms)) {
        return HW_OK;
    }
    status = round_plan(&round, partitions, count, error);
    if (status == HW_OK) {
        status = round_run(&round, records, error);
    }
    if (status == HW_OK && journal != NULL && round.count > 0 &&
        round.steady_count == round.count) {
        round_remember(&round, partitions, count, first_seq);
    }
    round_end(&round);
    return status;
}

/* -------------------------------------------------------------------------------------- by time */

/* The wait of one request is over. With records to send, or a reason to cut the log, the answer is
 * left to the next round. */
static enum hw_status round_expire_one(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_replica *follower, struct hw_error *error)
{
    struct hw_fetch_request request = follower->fetch.request;
    struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    int64_t bytes = 0;
    int64_t records = 0;
    int64_t size_bytes;

    follower->fetch.wait_until_ms = HW_TIME_NEVER;
    if (leader == NULL || hw_replica_is_fetch_ready(leader, step->now_ms, &request, &bytes) ||
        bytes > 0) {
        return HW_OK;
    }
    return hw_exchange_answer(partition, step, follower, &request, &size_bytes, &records, error);
}

enum hw_status hw_fetch_round_expire(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (int32_t i = 0; status == HW_OK && i < partition->replica_count; i++) {
        struct hw_replica *follower = partition->replicas[i];

        if (follower->fetch.is_request_waiting && follower->fetch.wait_until_ms != HW_TIME_NEVER &&
            follower->fetch.wait_until_ms <= step->now_ms) {
            status = round_expire_one(partition, step, follower, error);
        }
    }
    return status;
}

hw_time_ms_t hw_fetch_round_next_expiry(const struct hw_partition *partition)
{
    hw_time_ms_t earliest = INT64_MAX;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        const struct hw_fetch_state *fetch = &partition->replicas[i]->fetch;

        if (fetch->is_request_waiting && fetch->wait_until_ms != HW_TIME_NEVER &&
            fetch->wait_until_ms < earliest) {
            earliest = fetch->wait_until_ms;
        }
    }
    return earliest;
}
