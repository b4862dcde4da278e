/* SPDX-License-Identifier: MIT */
#include "core/replication/fetch_round.h"

#include "core/base/assert.h"
#include "core/replication/exchange.h"

/* One follower's request to one leader, over all partitions at hand. */
struct request {
    hw_broker_id_t leader;
    int64_t available;    /* Bytes that there are to send, as far as they count for min bytes. */
    bool is_due;          /* Its wait has ended. */
    hw_time_ms_t over_ms; /* When its time is over. */
    size_t first; /* The partition that is answered first; then those behind it, and round. */
    struct hw_answer_room room;
};

/* One follower of one partition. */
struct turn {
    struct hw_partition *partition;
    struct hw_replica *replica;
    struct turn *next; /* Of the same broker, in order of the partitions. */
    size_t place;      /* Of the partition. */
};

/* What each broker asks for in a round, and what its leaders see of one broker's requests. */
struct round {
    const struct hw_step *step;
    const struct hw_allocator *allocator;
    struct turn *turns;
    size_t count;
    size_t capacity;
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

/* All replicas of the partition take part, and are told what they have missed. */
static enum hw_status round_plan_partition(struct round *round, struct hw_partition *partition,
                                           size_t place, struct hw_error *error)
{
    const struct hw_metadata *brokers = &round->step->controller->metadata;
    enum hw_status status = hw_exchange_tell_late(partition, round->step, error);
    int32_t broker = 0;

    /* Replicas and registrations are in order of the brokers' ids. */
    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_broker_id_t id = partition->brokers[i];
        struct turn *turn = &round->turns[round->count];

        while (broker < brokers->count && brokers->registrations[broker].id < id) {
            broker++;
        }
        if (broker < brokers->count && brokers->registrations[broker].id == id) {
            *turn = (struct turn){
                .partition = partition, .replica = partition->replicas[i], .place = place};
            round->count++;
            round_add_turn(round, broker, turn);
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

/* Every partition that is not waiting for an answer asks. */
static enum hw_status round_send(const struct round *round, int32_t broker, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (struct turn *turn = round->brokers[broker].first; status == HW_OK && turn != NULL;
         turn = turn->next) {
        if (turn->replica->fetch.is_request_waiting) {
            continue;
        }
        status = hw_exchange_send(turn->partition, round->step, turn->replica, error);
    }
    return status;
}

/* Add one partition of a request to what its leader sees of it: how many bytes there are to send,
 * or something else that is due. The limits are those of the first partition. Where the leader is
 * not reached the answer is that it is not. */
static void round_gather_one(struct round *round, const struct turn *turn)
{
    struct hw_fetch_state *fetch = &turn->replica->fetch;
    struct request *request = round_request(round, turn->replica->leader);
    struct hw_replica *leader =
        hw_exchange_reach_leader(turn->partition, round->step, turn->replica);
    int64_t bytes = 0;
    bool is_due;

    /* Limits that were configured since the request was sent count at once. */
    hw_fetch_request_limit(&fetch->request, turn->partition->settings);
    is_due = leader == NULL ||
             hw_replica_is_fetch_ready(leader, round->step->now_ms, &fetch->request, &bytes);
    if (request == NULL) {
        HW_ASSERT(round->request_count < HW_BROKERS_MAX);
        request = &round->requests[round->request_count++];
        *request = (struct request){.leader = turn->replica->leader,
                                    .room = {.bytes_left = fetch->request.max_bytes},
                                    .over_ms = fetch->wait_until_ms};
    }
    request->available += bytes;
    if (fetch->wait_until_ms < request->over_ms) {
        request->over_ms = fetch->wait_until_ms;
    }
    request->is_due = request->is_due || is_due || request->available >= fetch->request.min_bytes ||
                      request->over_ms <= round->step->now_ms;
    request->first = fetch->is_first ? turn->place : request->first;
}

static void round_gather(struct round *round, int32_t broker)
{
    round->request_count = 0;
    for (struct turn *turn = round->brokers[broker].first; turn != NULL; turn = turn->next) {
        if (turn->replica->fetch.is_request_waiting) {
            round_gather_one(round, turn);
        }
    }
}

struct hw_fetch_request hw_answer_room_limit(const struct hw_answer_room *room,
                                             const struct hw_fetch_request *request)
{
    struct hw_fetch_request limited = *request;

    limited.max_bytes = room->bytes_left;
    limited.has_data = room->has_data;
    return limited;
}

void hw_answer_room_take(struct hw_answer_room *room, const struct hw_fetch_request *request,
                         int64_t size_bytes, struct hw_replica *leader, hw_time_ms_t now_ms,
                         struct hw_replica *follower)
{
    int64_t bytes = 0;
    bool is_left_out = size_bytes == 0 && room->has_data && !room->has_next_first &&
                       leader != NULL &&
                       (hw_replica_is_fetch_ready(leader, now_ms, request, &bytes) || bytes > 0);

    if (follower != NULL) {
        follower->fetch.is_first = is_left_out;
        room->has_next_first = room->has_next_first || is_left_out;
    }
    room->has_data = room->has_data || size_bytes > 0;
    room->bytes_left = size_bytes < room->bytes_left ? room->bytes_left - (int32_t)size_bytes : 0;
}

/* Answer one partition of a request, within what the partitions before it have left. */
static enum hw_status round_answer_one(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_replica *follower, struct hw_answer_room *room,
                                       int64_t *records, struct hw_error *error)
{
    struct hw_fetch_request one = hw_answer_room_limit(room, &follower->fetch.request);
    int64_t size_bytes = 0;
    enum hw_status status =
        hw_exchange_answer(partition, step, follower, &one, &size_bytes, records, error);
    struct hw_replica *leader = size_bytes == 0 && room->has_data
                                    ? hw_exchange_reach_leader(partition, step, follower)
                                    : NULL;

    hw_answer_room_take(room, &follower->fetch.request, size_bytes, leader, step->now_ms, follower);
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
        status = round_answer_one(turn->partition, round->step, turn->replica, &request->room,
                                  records, error);
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

enum hw_status hw_fetch_round(struct hw_partition *const *partitions, size_t count,
                              const struct hw_step *step, int64_t *records, struct hw_error *error)
{
    struct round round = {.step = step};
    enum hw_status status = round_plan(&round, partitions, count, error);

    *records = 0;
    if (status == HW_OK) {
        status = round_run(&round, records, error);
    }
    if (round.turns != NULL) {
        hw_free(round.allocator, round.turns, round.capacity * sizeof *round.turns);
    }
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
    leader->counters.fetch_expired++;
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
