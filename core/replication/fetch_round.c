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

/* What leaders see of the requests of one broker at a time. */
struct round {
    const struct hw_step *step;
    struct hw_partition *const *partitions;
    size_t count;
    /* The replicas of each registered broker, linked in the order of the partitions. */
    struct hw_replica *replicas[HW_BROKERS_MAX];
    int32_t request_count;
    struct request requests[HW_BROKERS_MAX];
};

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

/* Link the replicas of each broker, so that its walks look at no other partitions than its own. */
static void round_link(struct round *round)
{
    const struct hw_metadata *brokers = &round->step->controller->metadata;

    for (size_t place = round->count; place-- > 0;) {
        const struct hw_partition *partition = round->partitions[place];
        int32_t broker = 0;

        for (int32_t i = 0; i < partition->replica_count; i++) { /* Both are in order of id. */
            while (brokers->registrations[broker].id != partition->brokers[i]) {
                broker++;
                HW_ASSERT(broker < brokers->count);
            }
            partition->replicas[i]->round_place = place;
            partition->replicas[i]->round_next = round->replicas[broker];
            round->replicas[broker] = partition->replicas[i];
        }
    }
}

/* Every partition of one broker that is not waiting for an answer asks. */
static enum hw_status round_send(const struct round *round, struct hw_replica *follower,
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;
    int64_t none = 0; /* A request appends nothing. */

    for (; status == HW_OK && follower != NULL; follower = follower->round_next) {
        if (!follower->fetch.is_request_waiting) {
            status = hw_exchange_poll(round->partitions[follower->round_place], round->step,
                                      follower, HW_FETCH_RECEIVE, &none, error);
        }
    }
    return status;
}

/* Add one partition of a request to what its leader sees of it: how many bytes there are to send,
 * or something else that is due. The limits are those of the first partition. Where the leader is
 * not reached the answer is that it is not. */
static void round_gather_one(struct round *round, struct hw_replica *follower)
{
    const struct hw_partition *partition = round->partitions[follower->round_place];
    struct hw_fetch_state *fetch = &follower->fetch;
    struct request *request = round_request(round, follower->leader);
    struct hw_replica *leader = hw_exchange_reach_leader(partition, round->step, follower);
    int64_t bytes = 0;
    bool is_due;

    /* Limits that were configured since the request was sent count at once. */
    hw_fetch_request_limit(&fetch->request, partition->settings);
    is_due = leader == NULL ||
             hw_replica_is_fetch_ready(leader, round->step->now_ms, &fetch->request, &bytes);
    if (request == NULL) {
        HW_ASSERT(round->request_count < HW_BROKERS_MAX);
        request = &round->requests[round->request_count++];
        *request = (struct request){.leader = follower->leader,
                                    .room = {.bytes_left = fetch->request.max_bytes},
                                    .over_ms = fetch->wait_until_ms};
    }
    request->available += bytes;
    if (fetch->wait_until_ms < request->over_ms) {
        request->over_ms = fetch->wait_until_ms;
    }
    request->is_due = request->is_due || is_due || request->available >= fetch->request.min_bytes ||
                      request->over_ms <= round->step->now_ms;
    request->first = fetch->is_first ? follower->round_place : request->first;
}

static void round_gather(struct round *round, struct hw_replica *follower)
{
    round->request_count = 0;
    for (; follower != NULL; follower = follower->round_next) {
        if (follower->fetch.is_request_waiting) {
            round_gather_one(round, follower);
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
    enum hw_status status = hw_exchange_ask(partition, step, follower, &one, HW_FETCH_ANSWER,
                                            &size_bytes, records, error);
    struct hw_replica *leader = size_bytes == 0 && room->has_data
                                    ? hw_exchange_reach_leader(partition, step, follower)
                                    : NULL;

    hw_answer_room_take(room, &follower->fetch.request, size_bytes, leader, step->now_ms, follower);
    return status;
}

/* Answer the partitions of each request from its first one on (part 0), or those before it. */
static enum hw_status round_answer_part(struct round *round, struct hw_replica *follower, int part,
                                        int64_t *records, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (; status == HW_OK && follower != NULL; follower = follower->round_next) {
        struct request *request;

        if (!follower->fetch.is_request_waiting) {
            continue;
        }
        request = round_request(round, follower->leader);
        HW_ASSERT(request != NULL);
        if ((follower->round_place < request->first) == (part == 1) &&
            (request->is_due || request->available == 0)) {
            status = round_answer_one(round->partitions[follower->round_place], round->step,
                                      follower, &request->room, records, error);
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

static enum hw_status round_answer(struct round *round, struct hw_replica *first, int64_t *records,
                                   struct hw_error *error)
{
    enum hw_status status;

    round_gather(round, first);
    status = round_answer_part(round, first, 0, records, error);
    if (status == HW_OK && round_has_first(round)) {
        status = round_answer_part(round, first, 1, records, error);
    }
    return status;
}

enum hw_status hw_fetch_round(struct hw_partition *const *partitions, size_t count,
                              const struct hw_step *step, int64_t *records, struct hw_error *error)
{
    int32_t brokers = step->controller->metadata.count;
    struct round round = {.step = step, .partitions = partitions, .count = count};
    enum hw_status status = HW_OK;

    *records = 0;
    for (size_t i = 0; status == HW_OK && i < count; i++) {
        status = hw_exchange_tell_all(partitions[i], step, error);
    }
    round_link(&round);
    for (int phase = 1; phase <= 3; phase++) { /* The three steps. */
        for (int32_t i = 0; status == HW_OK && i < brokers; i++) {
            status = phase == 2 ? round_answer(&round, round.replicas[i], records, error)
                                : round_send(&round, round.replicas[i], error);
        }
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
    return hw_exchange_ask(partition, step, follower, &request, HW_FETCH_ANSWER, &size_bytes,
                           &records, error);
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
