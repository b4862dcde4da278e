/* SPDX-License-Identifier: MIT */
#include "core/replication/fetch_round.h"

#include "core/base/assert.h"
#include "core/replication/exchange.h"

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

/* What one follower does in a round. */
struct round {
    struct hw_partition *const *partitions;
    size_t count;
    const struct hw_step *step;
    hw_broker_id_t follower;
    int32_t request_count;
    struct request requests[HW_BROKERS_MAX];
};

static struct request *round_request(struct round *round, hw_broker_id_t leader)
{
    for (int32_t i = 0; i < round->request_count; i++) {
        if (round->requests[i].leader == leader) {
            return &round->requests[i];
        }
    }
    return NULL;
}

static struct request *round_add_request(struct round *round, const struct hw_replica *follower)
{
    struct request *request = round_request(round, follower->leader);

    if (request == NULL) {
        HW_ASSERT(round->request_count < HW_BROKERS_MAX);
        request = &round->requests[round->request_count++];
        *request = (struct request){.leader = follower->leader,
                                    .bytes_left = follower->fetch.request.max_bytes,
                                    .over_ms = follower->fetch.wait_until_ms};
    }
    return request;
}

static struct hw_replica *round_follower(const struct round *round, size_t partition)
{
    return hw_partition_find(round->partitions[partition], round->follower);
}

/* Every partition that is not waiting for an answer asks. */
static enum hw_status round_send(const struct round *round, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < round->count; i++) {
        struct hw_replica *follower = round_follower(round, i);

        if (follower != NULL && !follower->fetch.is_request_waiting) {
            status = hw_exchange_send(round->partitions[i], round->step, follower, error);
        }
    }
    return status;
}

/* Limits that were configured since the request was sent count at once. More than an answer may
 * have is not waited for (R2.17). */
static void round_renew_limits(const struct hw_partition *partition,
                               struct hw_fetch_request *request)
{
    request->partition_max_bytes = partition->settings->replica_fetch_max_bytes;
    request->max_bytes = partition->settings->replica_fetch_response_max_bytes;
    request->min_bytes = partition->settings->replica_fetch_min_bytes;
    if (request->min_bytes > request->max_bytes) {
        request->min_bytes = request->max_bytes;
    }
}

/* What does each leader see of the follower's request? */
static void round_gather(struct round *round)
{
    round->request_count = 0;
    for (size_t i = 0; i < round->count; i++) {
        struct hw_replica *follower = round_follower(round, i);
        struct hw_replica *leader;
        struct request *request;
        int64_t bytes = 0;

        if (follower == NULL || !follower->fetch.is_request_waiting) {
            continue;
        }
        round_renew_limits(round->partitions[i], &follower->fetch.request);
        leader = hw_exchange_reach_leader(round->partitions[i], round->step, follower);
        request = round_add_request(round, follower);
        /* Where the leader is not reached the answer is that it is not. */
        if (leader == NULL || hw_replica_is_fetch_ready(leader, round->step->now_ms,
                                                        &follower->fetch.request, &bytes)) {
            request->is_due = true;
        }
        request->available += bytes;
        if (follower->fetch.wait_until_ms < request->over_ms) {
            request->over_ms = follower->fetch.wait_until_ms;
        }
        if (request->available >= follower->fetch.request.min_bytes ||
            request->over_ms <= round->step->now_ms) {
            request->is_due = true;
        }
        if (follower->fetch.is_first) {
            request->first = i;
        }
    }
}

/* Answer one partition of a request, within what the partitions before it have left. */
static enum hw_status round_answer_one(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_replica *follower, struct request *request,
                                       int64_t *records, struct hw_error *error)
{
    struct hw_fetch_request one = follower->fetch.request;
    struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    int64_t bytes = 0;
    bool has_more = leader != NULL &&
                    (hw_replica_is_fetch_ready(leader, step->now_ms, &one, &bytes) || bytes > 0);
    size_t size = 0;
    enum hw_status status;

    one.max_bytes = request->bytes_left;
    one.has_data = request->has_data;
    status = hw_exchange_answer(partition, step, follower, &one, &size, records, error);
    request->bytes_left =
        size < (size_t)request->bytes_left ? request->bytes_left - (int32_t)size : 0;
    follower->fetch.is_first =
        size == 0 && has_more && request->has_data && !request->has_next_first;
    request->has_next_first = request->has_next_first || follower->fetch.is_first;
    request->has_data = request->has_data || size > 0;
    return status;
}

static enum hw_status round_answer(struct round *round, int64_t *records, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    round_gather(round);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; status == HW_OK && i < round->count; i++) {
            struct hw_replica *follower = round_follower(round, i);
            struct request *request;

            if (follower == NULL || !follower->fetch.is_request_waiting) {
                continue;
            }
            request = round_request(round, follower->leader);
            HW_ASSERT(request != NULL);
            if ((i < request->first) == (turn == 1) &&
                (request->is_due || request->available == 0)) {
                status = round_answer_one(round->partitions[i], round->step, follower, request,
                                          records, error);
            }
        }
    }
    return status;
}

enum hw_status hw_fetch_round(struct hw_partition *const *partitions, size_t count,
                              const struct hw_step *step, int64_t *records, struct hw_error *error)
{
    const struct hw_metadata *brokers = &step->controller->metadata;
    struct round round = {.partitions = partitions, .count = count, .step = step};
    enum hw_status status = HW_OK;

    *records = 0;
    for (size_t i = 0; status == HW_OK && i < count; i++) {
        status = hw_exchange_tell_late(partitions[i], step, error);
    }
    for (int32_t i = 0; status == HW_OK && i < brokers->count; i++) {
        round.follower = brokers->registrations[i].id;
        status = round_send(&round, error);
    }
    for (int32_t i = 0; status == HW_OK && i < brokers->count; i++) {
        round.follower = brokers->registrations[i].id;
        status = round_answer(&round, records, error);
    }
    for (int32_t i = 0; status == HW_OK && i < brokers->count; i++) {
        round.follower = brokers->registrations[i].id;
        status = round_send(&round, error);
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
    size_t size;

    follower->fetch.wait_until_ms = HW_TIME_NEVER;
    if (leader == NULL || hw_replica_is_fetch_ready(leader, step->now_ms, &request, &bytes) ||
        bytes > 0) {
        return HW_OK;
    }
    return hw_exchange_answer(partition, step, follower, &request, &size, &records, error);
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
