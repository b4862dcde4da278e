/* SPDX-License-Identifier: MIT */
/*
 * When does a follower's request wait at its leader, and what ends the wait? Follows DelayedFetch,
 * DelayedFetchTest, ReplicaManager.fetchMessages.
 */
#include "core/replication/fetch_round.h"
#include "tests/support_replica.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* Broker 1 sees this request of broker 2 waiting: "ready", or the bytes that count for min bytes.
 */
static void expect_wait_at(struct test_replicas *t, const struct hw_fetch_request *request,
                           const char *expected, int line)
{
    char found[40] = "ready";
    int64_t bytes = -1;

    if (!hw_replica_is_fetch_ready(replica_of(t, 1), t->now_ms, request, &bytes)) {
        (void)snprintf(found, sizeof found, "%" PRId64 " bytes", bytes);
    }
    if (strcmp(found, expected) != 0) {
        print_error("the request is %s, expected %s\n", found, expected);
        _fail(__FILE__, line);
    }
}
#define expect_wait(t, request, expected) expect_wait_at((t), (request), (expected), __LINE__)

static struct hw_step step_now(struct test_replicas *t)
{
    return (struct hw_step){.now_ms = t->now_ms, .controller = &t->controller, .links = &t->links};
}

static void fetch_round(struct test_replicas *t)
{
    struct hw_partition *partition = &t->partition;
    struct hw_step step = step_now(t);

    t->status = hw_fetch_round(&partition, 1, &step, &t->records, &t->error);
    expect_done(t);
}

/* `ms` pass. */
static void wait_ms(struct test_replicas *t, int64_t ms)
{
    struct hw_step step;

    t->now_ms += ms;
    step = step_now(t);
    t->status = hw_fetch_round_expire(&t->partition, &step, &t->error);
    expect_done(t);
}

/* Broker 1 leads this log in epoch 9, broker 2 follows. */
static void lead_log(struct test_replicas *t, const char *batches)
{
    log_has(t, 1, batches);
    lead(t, 1, 9, "[1,2]", "[1,2]");
}

/* -------------------------------------------------------------------------------- the predicate */

/* Row: C034. Semantics: R2.11, R2.13. A high watermark that rises ends no wait. */
TEST(a_request_at_the_log_end_waits, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 2, -1);
    request = fetch_request(t, 2, 2);
    expect_wait(t, &request, "0 bytes");
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records none");
    expect_log(t, 1, 0, 2, 2);
    expect_wait(t, &request, "0 bytes");
}

/* The leader learns from a request when it comes, and not once more when it is answered: who sends
 * nothing new falls out of the ISR. Semantics: R2.8, R2.9 */
TEST(an_answer_tells_the_leader_nothing_of_the_follower, struct test_replicas *t)
{
    const struct hw_remote_replica *remote;
    struct hw_fetch_request request;
    struct hw_fetch_response response;

    lead_log(t, "0-4@9");
    remote = hw_replica_find_remote(replica_of(t, 1), 2);
    request = fetch_request(t, 2, 5);
    for (int attempt = HW_FETCH_RECEIVE; attempt <= HW_FETCH_ANSWER; attempt++) {
        assert_int_equal(hw_replica_answer_fetch(replica_of(t, 1), t->now_ms, &request,
                                                 (enum hw_fetch_attempt)attempt, &response,
                                                 &t->error),
                         HW_OK);
        hw_fetch_response_release(&response);
        t->now_ms += 100;
    }
    assert_int_equal(remote->last_fetch_ms, t->now_ms - 200);
    assert_int_equal(remote->last_caught_up_ms, t->now_ms - 200);
}

/* Semantics: R2.12 */
TEST(what_there_is_to_send_counts_up_to_the_limit_of_the_partition, struct test_replicas *t)
{
    struct hw_fetch_request request;
    char all[40];

    lead_log(t, "0-4@9 5-9@9");
    (void)snprintf(all, sizeof all, "%" PRId64 " bytes", hw_log_size_bytes(log_of(t, 1)));
    request = fetch_request(t, 2, 0);
    request.min_bytes = INT32_MAX;
    expect_wait(t, &request, all);
    request.fetch_offset = 5;
    (void)snprintf(all, sizeof all, "%" PRId64 " bytes", hw_log_size_bytes(log_of(t, 1)) / 2);
    expect_wait(t, &request, all);
    request.partition_max_bytes = 10;
    expect_wait(t, &request, "10 bytes");
    request.min_bytes = 11;
    expect_wait(t, &request, "10 bytes");
    request.min_bytes = 10;
    expect_wait(t, &request, "ready");
}

/* Row: C035. Semantics: R2.12 */
TEST(a_log_that_parts_from_the_followers_ends_the_wait, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead_log(t, "0-498@9 499@9");
    request = fetch_request(t, 2, 500);
    request.current_leader_epoch = HW_EPOCH_NONE;
    request.last_fetched_epoch = 9;
    expect_wait(t, &request, "0 bytes");

    follow(t, 1, 2, 10);
    assert_int_equal(hw_log_truncate_to(log_of(t, 1), 499, &t->error), HW_OK);
    log_has(t, 1, "499@10");
    lead(t, 1, 11, "[1,2]", "[1]");
    expect_wait(t, &request, "ready");
    request.last_fetched_epoch = 12; /* Nobody knows where that ends. */
    expect_wait(t, &request, "ready");
}

/* Row: C036. Semantics: R2.12, R1.39 */
TEST(a_leader_that_leads_no_longer_ends_the_wait, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead_log(t, "0-9@9");
    request = fetch_request(t, 2, 10);
    request.current_leader_epoch = HW_EPOCH_NONE;
    expect_wait(t, &request, "0 bytes");
    follow(t, 1, 2, 10);
    expect_wait(t, &request, "ready");
    send(t, &request);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");
}

/* Semantics: R2.12 */
TEST(a_new_leader_epoch_ends_the_wait, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead_log(t, "0-9@9");
    request = fetch_request(t, 2, 10);
    lead(t, 1, 10, "[1,2]", "[1,2]");
    expect_wait(t, &request, "ready");
}

/* Semantics: R2.12 */
TEST(a_leader_that_was_cut_below_the_offset_ends_the_wait, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead_log(t, "0-9@9");
    request = fetch_request(t, 2, 11);
    request.min_bytes = INT32_MAX;
    expect_wait(t, &request, "ready");
}

/* Semantics: R2.12 */
TEST(an_older_segment_is_sent_however_little_is_in_it, struct test_replicas *t)
{
    struct hw_fetch_request request;
    bool rolled;

    lead_log(t, "0-9@9");
    request = fetch_request(t, 2, 9);
    request.min_bytes = INT32_MAX;
    assert_int_equal(hw_log_roll(log_of(t, 1), 0, &rolled, &t->error), HW_OK);
    expect_wait(t, &request, "ready");
    request.fetch_offset = 10; /* The end of that segment is where the next one begins. */
    expect_wait(t, &request, "0 bytes");
}

/* Semantics: R8.4, R2.12 */
TEST(a_throttled_follower_waits_whatever_there_is, struct test_replicas *t)
{
    struct hw_broker_quotas quotas;
    struct hw_fetch_request request;
    bool rolled;

    hw_quota_init(&quotas.leader);
    hw_quota_init(&quotas.follower);
    hw_quota_configure(&quotas.leader, 10, 11, 1000);
    hw_quota_record(&quotas.leader, 11, 0);
    lead_log(t, "0-9@9");
    lead(t, 1, 9, "[1,2]", "[1]");
    replica_of(t, 1)->quotas = &quotas;
    request = fetch_request(t, 2, 5);
    assert_int_equal(hw_log_roll(log_of(t, 1), 0, &rolled, &t->error), HW_OK);
    expect_wait(t, &request, "ready");
    replica_of(t, 1)->throttles_as_leader = true;
    expect_wait(t, &request, "0 bytes");
    lead(t, 1, 9, "[1,2]", "[1,2]");
    expect_wait(t, &request, "ready");
}

/* ------------------------------------------------------------------------------------ the clock */

/* Brokers 1 and 2, both empty, with a request of broker 2 waiting. */
static void begin_waiting(struct test_replicas *t, int32_t min_bytes)
{
    t->settings.replica_fetch_min_bytes = min_bytes;
    lead(t, 1, 0, "[1,2]", "[1,2]");
    (void)replica_of(t, 2);
    follow_at(t, 2, 1, 0, t->partition.record.partition_epoch);
    fetch_round(t);
    assert_true(replica_of(t, 2)->fetch.is_request_waiting);
}

/* Semantics: R2.13 */
TEST(the_high_watermark_is_learnt_when_the_wait_is_over, struct test_replicas *t)
{
    begin_waiting(t, 1);
    append_acks(t, 2, -1);
    fetch_round(t);
    assert_int_equal(t->records, 2);
    expect_log(t, 1, 0, 2, 2);
    expect_log(t, 2, 0, 0, 2);
    wait_ms(t, 499);
    expect_log(t, 2, 0, 0, 2);
    wait_ms(t, 1);
    expect_log(t, 2, 0, 2, 2);
    assert_false(replica_of(t, 2)->fetch.is_request_waiting);
    assert_int_equal(hw_fetch_round_next_expiry(&t->partition), INT64_MAX);
}

/* Nothing moves by itself. */
TEST(records_do_not_move_when_the_wait_is_over, struct test_replicas *t)
{
    begin_waiting(t, 1);
    append_acks(t, 2, -1);
    assert_int_equal(hw_fetch_round_next_expiry(&t->partition), 500);
    wait_ms(t, 60000);
    expect_log(t, 2, 0, 0, 0);
    assert_int_equal(hw_fetch_round_next_expiry(&t->partition), INT64_MAX);
    wait_ms(t, 60000);
    expect_log(t, 2, 0, 0, 0);
    fetch_round(t);
    expect_log(t, 2, 0, 0, 2);
}

/* Semantics: R2.11, R2.12 */
TEST(fewer_records_than_min_bytes_wait_until_the_time_is_over, struct test_replicas *t)
{
    begin_waiting(t, 200);
    append_acks(t, 1, -1);
    fetch_round(t);
    wait_ms(t, 499);
    fetch_round(t);
    expect_log(t, 2, 0, 0, 0);
    wait_ms(t, 1);
    expect_log(t, 2, 0, 0, 0);
    fetch_round(t);
    expect_log(t, 2, 0, 0, 1);
}

/* Semantics: R2.12 */
TEST(enough_records_for_min_bytes_end_the_wait, struct test_replicas *t)
{
    begin_waiting(t, 200);
    for (int i = 0; hw_log_size_bytes(log_of(t, 1)) < 200; i++) {
        fetch_round(t);
        expect_log(t, 2, 0, 0, 0);
        append_acks(t, 1, -1);
        assert_true(i < 10);
    }
    fetch_round(t);
    assert_int_equal(hw_log_end(log_of(t, 2)), hw_log_end(log_of(t, 1)));
}

/* The message about the high watermark does not wait for min bytes: a round stands for the time. */
TEST(a_round_with_nothing_to_send_carries_the_high_watermark, struct test_replicas *t)
{
    begin_waiting(t, 200);
    append_acks(t, 50, -1);
    fetch_round(t);
    expect_log(t, 2, 0, 0, 50);
    fetch_round(t);
    expect_log(t, 2, 0, 50, 50);
}

/* Semantics: R2.11 */
TEST(without_a_maximal_wait_everything_is_answered, struct test_replicas *t)
{
    t->settings.replica_fetch_wait_max_ms = 0;
    begin_waiting(t, 200);
    append_acks(t, 1, -1);
    fetch_round(t);
    expect_log(t, 2, 0, 0, 1);
}

/* A cut is the follower's own movement: it is left to a round. */
TEST(a_log_is_not_cut_when_the_wait_is_over, struct test_replicas *t)
{
    begin_waiting(t, 1);
    append_acks(t, 1, -1);
    append_acks(t, 1, -1);
    fetch_round(t);
    assert_int_equal(hw_log_truncate_to(log_of(t, 1), 1, &t->error), HW_OK);
    wait_ms(t, 500);
    expect_log(t, 2, 0, 0, 2);
    fetch_round(t);
    expect_log(t, 2, 0, 0, 1);
}

TEST(what_cannot_be_delivered_stays, struct test_replicas *t)
{
    begin_waiting(t, 1);
    append_acks(t, 1, -1);
    fetch_round(t);
    test_replicas_cut(t, 1, 2);
    wait_ms(t, 500);
    expect_log(t, 2, 0, 0, 1);
    fetch_round(t);
    expect_fetch(t, 2, "fetching at 1 after epoch 0 delayed to 1500");
    assert_false(replica_of(t, 2)->fetch.is_request_waiting);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
