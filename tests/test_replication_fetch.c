/* SPDX-License-Identifier: MIT */
/*
 * What does a leader answer a fetch, and what does it learn from it? Follows
 * Partition.fetchRecords, Partition.readRecords and Replica.updateFetchStateOrThrow.
 */
#include "tests/support_replica.h"

#include <stdio.h>

#include "tests/support_test.h"

/* The log of C027 to C030. */
static const char long_history[] = "0-1@0 2-7@3 8-12@4 13@7 14-16@9";

static void lead_with_long_history(struct test_replicas *t)
{
    log_has(t, 1, long_history);
    lead(t, 1, 10, "[1,2]", "[1,2]");
}

/* Row: C027. Semantics: R2.5, R5.3 */
TEST(a_log_that_went_another_way_is_told_where_they_part, struct test_replicas *t)
{
    lead_with_long_history(t);
    fetch_after_epoch(t, 2, 2, 5);
    expect_answer(t, "hw 0 start 0 diverging (0,2)");
    fetch_after_epoch(t, 2, 0, 4);
    expect_answer(t, "hw 0 start 0 diverging (0,2)");
    fetch_after_epoch(t, 2, 6, 6);
    expect_answer(t, "hw 0 start 0 diverging (4,13)");
    expect_known(t, 2, "end -1 start -1 caught up 0");
}

/* Row: C028. Semantics: R2.5 */
TEST(a_log_that_is_a_prefix_does_not_diverge, struct test_replicas *t)
{
    lead_with_long_history(t);
    fetch_after_epoch(t, 2, 0, 2);
    expect_answer(t, "hw 0 start 0 records 2-7 8-12 13 14-16");
    fetch_after_epoch(t, 2, 7, 14);
    expect_answer(t, "hw 2 start 0 records 14-16");
    fetch_after_epoch(t, 2, 10, 17);
    expect_answer(t, "hw 14 start 0 records none");
}

/* Row: C173. Semantics: R2.5 */
TEST(the_whole_log_without_the_empty_epoch_does_not_diverge, struct test_replicas *t)
{
    lead_with_long_history(t);
    fetch_after_epoch(t, 2, 9, 17);
    expect_answer(t, "hw 0 start 0 records none");
}

/* Row: C029. Semantics: R2.5 */
TEST(an_epoch_that_the_leader_cannot_know_is_out_of_range, struct test_replicas *t)
{
    lead_with_long_history(t);
    fetch_after_epoch(t, 2, 11, 5);
    expect_answer(t, "OFFSET_OUT_OF_RANGE");
}

/* Row: C030. Case: A-07. Semantics: R2.5 */
TEST(below_the_log_start_is_out_of_range_even_where_epochs_diverge, struct test_replicas *t)
{
    bool changed;

    lead_with_long_history(t);
    fetch_by(t, 2, 17);
    assert_int_equal(hw_log_maybe_increment_log_start(log_of(t, 1), 10, &changed, &t->error),
                     HW_OK);
    fetch_after_epoch(t, 2, 5, 6);
    expect_answer(t, "OFFSET_OUT_OF_RANGE");
    fetch_after_epoch(t, 2, 3, 6);
    expect_answer(t, "OFFSET_OUT_OF_RANGE");
}

/* Row: C031. Semantics: R2.2, R2.7 */
TEST(only_a_fetch_that_was_answered_with_records_counts, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead(t, 1, 5, "[1,2]", "[1,2]");
    append(t, 5);
    expect_known(t, 2, "end -1 start -1 caught up 0");
    fetch_by(t, 2, 0);
    expect_answer(t, "hw 0 start 0 records 0-4");
    expect_known(t, 2, "end 0 start 0 caught up 0");

    request = fetch_request(t, 2, 3);
    request.current_leader_epoch = 4;
    send(t, &request);
    expect_answer(t, "FENCED_LEADER_EPOCH");
    expect_known(t, 2, "end 0 start 0 caught up 0");

    fetch_after_epoch(t, 2, 4, 3);
    expect_answer(t, "hw 0 start 0 diverging (4,0)");
    expect_known(t, 2, "end 0 start 0 caught up 0");
}

/* Row: C032. Semantics: R2.4, R2.9, R2.10 */
TEST(the_answer_shows_the_high_watermark_from_before_the_request, struct test_replicas *t)
{
    void *other;
    struct test_replicas *u;

    assert_int_equal(test_replicas_setup(&other), 0);
    u = other;
    lead(t, 1, 0, "[1,2]", "[1,2]");
    lead(u, 1, 0, "[1,3]", "[1,3]");
    append(t, 1);
    append(t, 1);
    append(u, 1);
    append(u, 1);

    fetch_by(t, 2, 1);
    expect_answer(t, "hw 0 start 0 records 1");
    assert_int_equal(t->response.last_stable, 0);
    expect_log(t, 1, 0, 1, 2);
    fetch_by(u, 2, 1);
    expect_answer(u, "UNKNOWN_LEADER_EPOCH");
    expect_log(u, 1, 0, 0, 2);
    (void)test_replicas_teardown(&other);
}

/* Row: C033: the follower. Semantics: R2.16 */
TEST(followers_read_beyond_the_high_watermark, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2,3]", "[1,2,3]");
    append(t, 1);
    append(t, 1);
    fetch_by(t, 2, 1);
    expect_answer(t, "hw 0 start 0 records 1");
}

/* Row: C034. Semantics: R2.10, R2.13 */
TEST(a_fetch_that_waited_is_answered_with_the_high_watermark_of_then, struct test_replicas *t)
{
    struct hw_fetch_request request;
    int64_t id;
    enum hw_kafka_error answer;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 2, -1);
    fetch_by(t, 2, 2);
    expect_answer(t, "hw 0 start 0 records none");
    hw_waiting_check(replica_of(t, 1), t->now_ms);
    assert_true(hw_waiting_take_resolved(replica_of(t, 1), &id, &answer));
    assert_int_equal(answer, HW_KAFKA_NONE);

    request = fetch_request(t, 2, 2);
    test_replicas_send(t, &request, HW_FETCH_RECEIVE);
    t->now_ms += 1001;
    test_replicas_send(t, &request, HW_FETCH_ANSWER);
    expect_answer(t, "hw 2 start 0 records none");
    expect_known(t, 2, "end 2 start 0 caught up 0");
}

/* Semantics: R2.7, R2.12: the request counts when it arrives, the records are those of later. */
TEST(a_fetch_that_waited_takes_what_came_meanwhile, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 1);
    request = fetch_request(t, 2, 1);
    test_replicas_send(t, &request, HW_FETCH_RECEIVE);
    expect_log(t, 1, 0, 1, 1);
    append(t, 2);
    test_replicas_send(t, &request, HW_FETCH_ANSWER);
    expect_answer(t, "hw 1 start 0 records 1-2");
    expect_log(t, 1, 0, 1, 3);
}

/* Row: C035. Semantics: R2.12 */
TEST(a_waiting_fetch_learns_that_the_logs_part, struct test_replicas *t)
{
    struct hw_fetch_request request;

    log_has(t, 1, "0-498@9 499@9");
    lead(t, 1, 9, "[1,2]", "[1,2]");
    request = fetch_request(t, 2, 500);
    request.last_fetched_epoch = 9;
    request.current_leader_epoch = HW_EPOCH_NONE;
    test_replicas_send(t, &request, HW_FETCH_RECEIVE);
    expect_answer(t, "hw 0 start 0 records none");

    assert_int_equal(hw_log_truncate_to(log_of(t, 1), 499, &t->error), HW_OK);
    log_has(t, 1, "499@10");
    test_replicas_send(t, &request, HW_FETCH_ANSWER);
    expect_answer(t, "hw 499 start 0 diverging (9,499)");
}

/* Row: C036. Semantics: R2.12 */
TEST(a_waiting_fetch_learns_that_the_leader_is_gone, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    request = fetch_request(t, 2, 0);
    request.current_leader_epoch = HW_EPOCH_NONE;
    test_replicas_send(t, &request, HW_FETCH_RECEIVE);
    follow(t, 1, 3, 1);
    test_replicas_send(t, &request, HW_FETCH_ANSWER);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");
}

/* Row: C037. Semantics: R2.6, R2.16 */
TEST(a_fetch_at_the_log_end_is_empty_and_outside_is_out_of_range, struct test_replicas *t)
{
    assert_int_equal(
        hw_log_truncate_fully_and_start_at(log_of(t, 1), 1024, HW_OFFSET_NONE, &t->error), HW_OK);
    log_has(t, 1, "1024@0");
    lead(t, 1, 0, "[1,2]", "[1,2]");
    fetch_by(t, 2, 1025);
    expect_answer(t, "hw 1024 start 1024 records none");
    fetch_by(t, 2, 0);
    expect_answer(t, "OFFSET_OUT_OF_RANGE");
    fetch_by(t, 2, 1026);
    expect_answer(t, "OFFSET_OUT_OF_RANGE");
}

/* Row: C038. Semantics: R2.14 */
TEST(nothing_is_read_where_the_first_batch_does_not_fit, struct test_replicas *t)
{
    struct hw_buffer records;

    log_has(t, 1, "0@0 1@0");
    hw_buffer_init(&records, &t->heap.allocator);
    assert_int_equal(hw_log_read(log_of(t, 1), 0, 2, 0, false, &records, &t->error), HW_OK);
    assert_int_equal(records.size, 0);
    assert_int_equal(hw_log_read(log_of(t, 1), 0, 2, 1, false, &records, &t->error), HW_OK);
    assert_int_equal(records.size, 0);
    hw_buffer_release(&records);
}

/* Row: C039. Semantics: R2.14 */
TEST(the_first_batch_may_pass_both_limits, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 40);
    append(t, 1);
    request = fetch_request(t, 2, 0);
    request.partition_max_bytes = 190;
    request.max_bytes = 800;
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0-39");
    assert_in_range(t->response.records.size, 191, 800);

    request.max_bytes = 100;
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0-39");
}

/* Semantics: R2.14, R2.15 */
TEST(an_answer_has_whole_batches_within_the_smaller_limit, struct test_replicas *t)
{
    struct hw_fetch_request request;
    size_t one;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 1);
    append(t, 1);
    append(t, 1);
    request = fetch_request(t, 2, 0);
    send(t, &request);
    one = t->response.records.size / 3;

    request.partition_max_bytes = (int32_t)(2 * one + 1);
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0 1");
    request.max_bytes = (int32_t)(2 * one - 1);
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0");
}

/* Semantics: R2.14, R2.15 */
TEST(the_part_of_a_batch_that_a_limit_cuts_off_counts, struct test_replicas *t)
{
    struct hw_fetch_request request;
    int64_t one;
    bool rolled;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 1);
    append(t, 1);
    assert_int_equal(hw_log_roll(log_of(t, 1), 0, &rolled, &t->error), HW_OK);
    append(t, 1);
    request = fetch_request(t, 2, 0);
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0 1");
    one = (int64_t)t->response.records.size / 2;
    assert_int_equal(t->response.size_bytes, 2 * one);

    request.partition_max_bytes = (int32_t)(2 * one - 1);
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0");
    assert_int_equal(t->response.size_bytes, 2 * one - 1);
    request.partition_max_bytes = 1;
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0");
    assert_int_equal(t->response.size_bytes, one);
    /* A read ends with its segment, so nothing of the next one is cut off. */
    request.partition_max_bytes = (int32_t)(2 * one + 1);
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records 0 1");
    assert_int_equal(t->response.size_bytes, 2 * one);
    request = fetch_request(t, 2, 3);
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records none");
    assert_int_equal(t->response.size_bytes, 0);
}

/* Row: C041. Semantics: R2.16 */
TEST(a_fetch_in_a_gap_begins_behind_it, struct test_replicas *t)
{
    log_has(t, 1, "50-51@0 60-61@0");
    lead(t, 1, 0, "[1,2]", "[1,2]");
    fetch_by(t, 2, 55);
    expect_answer(t, "hw 0 start 0 records 60-61");
}

/* Row: C175. Semantics: R2.14, R2.16 */
TEST(at_least_one_batch_comes_whatever_the_limit, struct test_replicas *t)
{
    static const int32_t limits[] = {1, 100, 100000};

    log_has(t, 1, "0-49@0 50@0 57@0 64@0 71@0");
    lead(t, 1, 0, "[1,2]", "[1,2]");
    for (hw_offset_t offset = 50; offset <= 71; offset++) {
        hw_offset_t expected = 50 + (offset - 50 + 6) / 7 * 7;

        for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
            struct hw_fetch_request request = fetch_request(t, 2, offset);
            struct hw_batch batch;

            request.partition_max_bytes = limits[i];
            send(t, &request);
            assert_int_equal(t->response.error, HW_KAFKA_NONE);
            assert_int_equal(
                hw_batch_parse(t->response.records.bytes, t->response.records.size, &batch),
                HW_BATCH_OK);
            assert_int_equal(batch.base_offset, expected);
        }
    }
}

/* Row: C165. Semantics: R10.10 */
TEST(a_time_is_found_at_the_first_record_that_is_not_older, struct test_replicas *t)
{
    hw_time_ms_t timestamp;
    hw_offset_t offset;

    for (int i = 40; i < 50; i++) {
        char batch[16];

        t->now_ms = 10 * i;
        (void)snprintf(batch, sizeof batch, "%d@0", i);
        log_has(t, 1, batch);
    }
    for (hw_time_ms_t asked = 411; asked <= 420; asked++) {
        assert_int_equal(hw_log_offset_for_timestamp(log_of(t, 1), asked, 50, true, &offset,
                                                     &timestamp, &t->error),
                         HW_OK);
        assert_int_equal(offset, 42);
        assert_int_equal(timestamp, 420);
    }
    assert_int_equal(
        hw_log_offset_for_timestamp(log_of(t, 1), 421, 50, true, &offset, &timestamp, &t->error),
        HW_OK);
    assert_int_equal(offset, 43);
    assert_int_equal(
        hw_log_offset_for_timestamp(log_of(t, 1), 491, 50, true, &offset, &timestamp, &t->error),
        HW_OK);
    assert_int_equal(offset, HW_OFFSET_NONE);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
