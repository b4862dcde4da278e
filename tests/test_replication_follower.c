/* SPDX-License-Identifier: MIT */
/*
 * What does a follower do with an answer? Follows AbstractFetcherThread.processFetchRequest and
 * ReplicaFetcherThread.processPartitionData.
 */
#include "tests/support_replica.h"

#include "tests/support_test.h"

/* The controller cannot reach `broker` any more: it is told nothing. */
static void cut_off(struct test_replicas *t, hw_broker_id_t broker)
{
    test_replicas_cut(t, HW_CONTROLLER, broker);
}

static void delete_before(struct test_replicas *t, hw_broker_id_t broker, hw_offset_t offset)
{
    bool changed;

    assert_int_equal(
        hw_log_maybe_increment_log_start(log_of(t, broker), offset, &changed, &t->error), HW_OK);
    assert_true(changed);
}

/* Row: C089. Semantics: R2.22, R2.25, R2.26 */
TEST(one_poll_takes_records_and_high_watermark, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1]");
    append(t, 1);
    append(t, 1);
    follow(t, 2, 1, 0);
    poll(t, 2);
    expect_done(t);
    assert_int_equal(t->records, 2);
    expect_log(t, 2, 0, 2, 2);
    expect_fetch(t, 2, "fetching at 2 after epoch 0");
    assert_int_equal(replica_of(t, 2)->fetch.lag, 0);
}

/* Row: C087. Semantics: R2.26 */
TEST(an_empty_answer_tells_a_lag_that_was_not_known, struct test_replicas *t)
{
    follow(t, 2, 1, 0);
    assert_int_equal(replica_of(t, 2)->fetch.lag, -1);
    answered(t, 2, .high_watermark = 0);
    assert_int_equal(replica_of(t, 2)->fetch.lag, 0);
}

/* Semantics: R2.26 */
TEST(the_lag_changes_with_records_only, struct test_replicas *t)
{
    follow(t, 2, 1, 0);
    answered(t, 2, .high_watermark = 5, .batches = "0@0 1@0");
    assert_int_equal(replica_of(t, 2)->fetch.lag, 3);
    answered(t, 2, .high_watermark = 9);
    assert_int_equal(replica_of(t, 2)->fetch.lag, 3);
    answered(t, 2, .high_watermark = 2, .batches = "2@0");
    assert_int_equal(replica_of(t, 2)->fetch.lag, 0);
}

/* Row: C086. Case: A-08. Semantics: R2.24 */
TEST(a_diverging_answer_cuts_and_nothing_else, struct test_replicas *t)
{
    log_has(t, 2, "0-129@4 130-139@4 140-148@4 149@5");
    knows_high_watermark(t, 2, 130);
    follow(t, 2, 1, 6);
    replica_of(t, 2)->fetch.lag = 7;
    answered(t, 2, .high_watermark = 160, .log_start = 120, .diverging = true, .epoch = 4,
             .end = 140, .batches = "150@6");
    expect_done(t);
    expect_log(t, 2, 0, 130, 140);
    expect_fetch(t, 2, "fetching at 140 after epoch 4");
    assert_int_equal(replica_of(t, 2)->fetch.lag, 7); /* R5.15 says nothing of it. */
}

/* Case: A-08. Semantics: R2.24 */
TEST(the_high_watermark_comes_only_after_the_cut, struct test_replicas *t)
{
    log_has(t, 1, "0@0 1@0 2@2 3@5 4@5");
    knows_high_watermark(t, 1, 4);
    lead(t, 1, 5, "[1,2]", "[1,2]");
    log_has(t, 2, "0@0 1@0 2@2 3@4 4@4 5@4");
    knows_high_watermark(t, 2, 1);
    follow(t, 2, 1, 5);

    poll(t, 2);
    assert_int_equal(t->records, 0);
    expect_log(t, 2, 0, 1, 3);
    poll(t, 2);
    expect_log(t, 2, 0, 4, 5);
    expect_batches(t, 2, "0@0 1@0 2@2 3@5 4@5");
    expect_epochs(t, 2, "0:0 2:2 5:3");
}

/* Row: C088. Semantics: R2.27 */
TEST(an_error_cuts_nothing_however_often_it_comes, struct test_replicas *t)
{
    static const enum hw_kafka_error errors[] = {
        HW_KAFKA_NOT_LEADER_OR_FOLLOWER, HW_KAFKA_UNKNOWN_LEADER_EPOCH,
        HW_KAFKA_UNKNOWN_SERVER_ERROR, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION};

    log_has(t, 2, "0-155@5 156-199@5");
    follow(t, 2, 1, 6);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        answered(t, 2, .error = errors[i]);
        expect_log(t, 2, 0, 0, 200);
        expect_fetch(t, 2, "fetching at 200 after epoch 5 delayed to 1000");
    }
    answered(t, 2, .diverging = true, .epoch = 5, .end = 156);
    expect_log(t, 2, 0, 0, 156);
    expect_fetch(t, 2, "fetching at 156 after epoch 5");
}

/* Semantics: R2.29 */
TEST(a_second_error_does_not_delay_longer, struct test_replicas *t)
{
    log_has(t, 2, "0@0");
    follow(t, 2, 1, 0);
    answered(t, 2, .error = HW_KAFKA_UNKNOWN_LEADER_EPOCH);
    expect_fetch(t, 2, "fetching at 1 after epoch 0 delayed to 1000");
    t->now_ms = 600;
    answered(t, 2, .error = HW_KAFKA_UNKNOWN_LEADER_EPOCH);
    expect_fetch(t, 2, "fetching at 1 after epoch 0 delayed to 1000");
    t->now_ms = 1000;
    hw_replica_fetch_failed(replica_of(t, 2), t->now_ms);
    expect_fetch(t, 2, "fetching at 1 after epoch 0 delayed to 2000");
}

/* Row: C090. Semantics: R2.27, R2.28 */
TEST(a_fenced_follower_waits_for_the_controller, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1]");
    append(t, 1);
    follow(t, 2, 1, 0);
    poll(t, 2);
    cut_off(t, 2);
    lead(t, 1, 1, "[1,2]", "[1]");
    poll(t, 2);
    expect_fetch(t, 2, "failed at 1 after epoch 0");
    append(t, 1);
    poll(t, 2);
    expect_log(t, 2, 0, 1, 1);

    t->links.count = 0;
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 2 after epoch 1");
    expect_log(t, 2, 0, 2, 2);
}

/* Semantics: R2.23, R2.27: the epoch of the request is not the one of now (KAFKA-18991) */
TEST(who_was_told_of_a_new_epoch_meanwhile_drops_the_answer, struct test_replicas *t)
{
    struct hw_fetch_request request;
    struct hw_fetch_response response = {.error = HW_KAFKA_FENCED_LEADER_EPOCH};

    log_has(t, 2, "0@0");
    follow(t, 2, 1, 0);
    assert_true(hw_replica_build_fetch(replica_of(t, 2), 2, true, &request));
    follow(t, 2, 1, 1);
    assert_int_equal(
        hw_replica_apply_fetch(replica_of(t, 2), 0, &request, &response, &t->records, &t->error),
        HW_OK);
    expect_fetch(t, 2, "fetching at 1 after epoch 0");

    /* Nor does it cut, where that was right in the epoch in which it asked. */
    response =
        (struct hw_fetch_response){.diverging_epoch = {.epoch = HW_EPOCH_NONE, .end_offset = 0}};
    assert_int_equal(
        hw_replica_apply_fetch(replica_of(t, 2), 0, &request, &response, &t->records, &t->error),
        HW_OK);
    expect_log(t, 2, 0, 0, 1);
}

/* Semantics: R2.1, R2.3, R2.17 */
TEST(a_request_says_where_the_follower_is_and_how_much_it_takes, struct test_replicas *t)
{
    struct hw_fetch_request request;

    log_has(t, 2, "0@0 1@0 2@1");
    (void)hw_log_update_high_watermark(log_of(t, 2), 2);
    delete_before(t, 2, 1);
    follow(t, 2, 1, 4);
    t->settings.replica_fetch_max_bytes = 11;
    t->settings.replica_fetch_response_max_bytes = 12;
    t->settings.replica_fetch_min_bytes = 10;
    t->settings.replica_fetch_wait_max_ms = 14;
    assert_true(hw_replica_build_fetch(replica_of(t, 2), 7, true, &request));
    assert_int_equal(request.replica_id, 2);
    assert_int_equal(request.replica_epoch, 7);
    assert_memory_equal(&request.topic_id, &replica_of(t, 2)->topic_id, sizeof request.topic_id);
    assert_int_equal(request.current_leader_epoch, 4);
    assert_int_equal(request.fetch_offset, 3);
    assert_int_equal(request.last_fetched_epoch, 1);
    assert_int_equal(request.log_start, 1);
    assert_int_equal(request.partition_max_bytes, 11);
    assert_int_equal(request.max_bytes, 12);
    assert_int_equal(request.min_bytes, 10);
    assert_int_equal(request.max_wait_ms, 14);
    assert_false(request.has_data);

    t->settings.replica_fetch_min_bytes = 13;
    assert_true(hw_replica_build_fetch(replica_of(t, 2), 7, true, &request));
    assert_int_equal(request.min_bytes, 12);
    t->settings.replica_fetch_min_bytes = INT32_MAX;
    t->settings.replica_fetch_response_max_bytes = INT32_MAX;
    assert_true(hw_replica_build_fetch(replica_of(t, 2), 7, true, &request));
    assert_int_equal(request.max_bytes, 57671680);
    assert_int_equal(request.min_bytes, 57671680);
}

/* Row: C095. Semantics: R2.27 */
TEST(damaged_records_are_asked_for_again, struct test_replicas *t)
{
    follow(t, 2, 1, 0);
    answered(t, 2, .high_watermark = 2, .batches = "0@0 1@0", .broken_byte = 63);
    expect_done(t);
    expect_fetch(t, 2, "fetching at 0 delayed to 1000");
    expect_log(t, 2, 0, 0, 0);
    answered(t, 2, .high_watermark = 2, .batches = "0@0 1@0");
    expect_fetch(t, 2, "fetching at 2 after epoch 0");
    expect_log(t, 2, 0, 2, 2);
}

/* Row: C096. Semantics: R2.27 */
TEST(a_topic_that_is_not_the_same_is_asked_for_later, struct test_replicas *t)
{
    follow(t, 2, 1, 0);
    follow(t, 3, 1, 0);
    follow(t, 4, 1, 0);
    answered(t, 2, .error = HW_KAFKA_UNKNOWN_TOPIC_ID);
    answered(t, 3, .error = HW_KAFKA_INCONSISTENT_TOPIC_ID);
    answered(t, 4, .error = HW_KAFKA_NONE);
    expect_fetch(t, 2, "fetching at 0 delayed to 1000");
    expect_fetch(t, 3, "fetching at 0 delayed to 1000");
    expect_fetch(t, 4, "fetching at 0");
}

/* Row: C093. Semantics: R2.30 case A */
TEST(who_is_beyond_the_leaders_end_goes_back_to_it, struct test_replicas *t)
{
    t->partition.variant = &hw_variant_hw_truncation; /* Without epochs nothing else is noticed. */
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 3);
    follow(t, 2, 1, 0);
    poll(t, 2);
    poll(t, 2);
    poll(t, 2);
    expect_log(t, 2, 0, 3, 3);
    assert_int_equal(hw_log_truncate_to(log_of(t, 1), 0, &t->error), HW_OK);
    poll(t, 2);
    expect_log(t, 2, 0, 0, 0);
    expect_fetch(t, 2, "fetching at 0");
    assert_int_equal(replica_of(t, 2)->fetch.lag, 0);
}

/* Row: C097. Semantics: R2.30 */
TEST(a_follower_that_is_fenced_while_it_is_out_of_range_gives_up, struct test_replicas *t)
{
    follow(t, 2, 1, 0);
    answered(t, 2, .error = HW_KAFKA_OFFSET_OUT_OF_RANGE);
    assert_true(replica_of(t, 2)->fetch.is_out_of_range);
    assert_int_equal(hw_replica_apply_out_of_range(replica_of(t, 2), 0,
                                                   HW_KAFKA_FENCED_LEADER_EPOCH, 0, HW_OFFSET_NONE,
                                                   HW_OFFSET_NONE, &t->error),
                     HW_OK);
    expect_fetch(t, 2, "failed at 0");
    expect_log(t, 2, 0, 0, 0);

    follow(t, 3, 1, 0);
    assert_int_equal(hw_replica_apply_out_of_range(replica_of(t, 3), 0,
                                                   HW_KAFKA_NOT_LEADER_OR_FOLLOWER, 0,
                                                   HW_OFFSET_NONE, HW_OFFSET_NONE, &t->error),
                     HW_OK);
    expect_fetch(t, 3, "truncating at 0 delayed to 1000");
}

/* Semantics: R2.34, R2.30 case B; R10.13: a follower is told the log end, not the high watermark */
TEST(a_new_replica_begins_at_the_leaders_log_start, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1]");
    append(t, 3);
    append(t, 2);
    delete_before(t, 1, 3);
    follow(t, 2, 1, 0);
    poll(t, 2);
    expect_log(t, 2, 3, 3, 3);
    expect_fetch(t, 2, "fetching at 3");
    assert_int_equal(replica_of(t, 2)->fetch.lag, 2);
    poll(t, 2);
    expect_log(t, 2, 3, 5, 5);
}

/* Semantics: R2.30 case B: the log is kept where it reaches the leader's */
TEST(a_log_that_reaches_the_leaders_is_kept, struct test_replicas *t)
{
    log_has(t, 2, "0@0 1@0 2@0");
    follow(t, 2, 1, 0);
    assert_int_equal(
        hw_replica_apply_out_of_range(replica_of(t, 2), 0, HW_KAFKA_NONE, 0, 9, 3, &t->error),
        HW_OK);
    expect_log(t, 2, 0, 0, 3);
    expect_fetch(t, 2, "fetching at 3 after epoch 0");
    assert_int_equal(replica_of(t, 2)->fetch.lag, 6);
}

/* Case: A-13. Semantics: R2.32, R7.16 */
TEST(a_new_replica_begins_in_the_middle_of_a_batch, struct test_replicas *t)
{
    log_has(t, 1, "0-3@3 4-6@3 7@3");
    lead(t, 1, 3, "[1,2]", "[1]");
    delete_before(t, 1, 5);
    follow(t, 2, 1, 3);
    for (int i = 0; i < 4; i++) {
        poll(t, 2);
        expect_done(t);
    }
    expect_log(t, 2, 5, 8, 8);
    expect_epochs(t, 2, "3:5");
    expect_batches(t, 2, "4-6@3 7@3");
    lead(t, 2, 4, "[1,2]", "[2]");
    follow(t, 1, 2, 4);
    assert_int_equal(hw_log_read(log_of(t, 2), 4, 8, 1000, true, &t->response.records, &t->error),
                     HW_REFUSED);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_OFFSET_OUT_OF_RANGE);
}

/* Case: A-07. Semantics: R2.5, R2.30 */
TEST(a_replica_that_was_away_too_long_starts_over, struct test_replicas *t)
{
    log_has(t, 1, "0-9@1 10-19@4 20-24@6");
    lead(t, 1, 6, "[1,2]", "[1]");
    delete_before(t, 1, 12);
    expect_epochs(t, 1, "4:12 6:20");
    log_has(t, 2, "0-3@1 4-5@5");
    follow(t, 2, 1, 6);
    for (int i = 0; i < 4; i++) {
        poll(t, 2);
        expect_done(t);
        assert_int_not_equal(replica_of(t, 2)->fetch.phase, HW_PHASE_FAILED);
    }
    expect_log(t, 2, 12, 25, 25);
    expect_epochs(t, 2, "4:12 6:20");
}

/* Semantics: R7.16 */
TEST(a_log_start_above_the_high_watermark_stops_the_follower, struct test_replicas *t)
{
    log_has(t, 2, "0@0 1@0 2@0");
    follow(t, 2, 1, 0);
    answered(t, 2, .high_watermark = 1, .log_start = 2);
    expect_done(t);
    expect_fetch(t, 2, "failed at 3 after epoch 0");
    expect_log(t, 2, 0, 1, 3);
}

/* Semantics: R2.23 */
TEST(an_answer_to_an_old_question_is_dropped, struct test_replicas *t)
{
    struct hw_fetch_request request;
    struct hw_fetch_response response = {
        .high_watermark = 1,
        .diverging_epoch = {.epoch = HW_EPOCH_NONE, .end_offset = HW_OFFSET_NONE}};

    log_has(t, 2, "0@0");
    follow(t, 2, 1, 0);
    assert_true(hw_replica_build_fetch(replica_of(t, 2), 2, true, &request));
    answered(t, 2, .batches = "1@0");
    assert_int_equal(
        hw_replica_apply_fetch(replica_of(t, 2), 0, &request, &response, &t->records, &t->error),
        HW_OK);
    expect_log(t, 2, 0, 0, 2);

    assert_true(hw_replica_build_fetch(replica_of(t, 2), 2, true, &request));
    lead(t, 2, 1, "[1,2]", "[2,1]");
    response.error = HW_KAFKA_FENCED_LEADER_EPOCH;
    assert_int_equal(
        hw_replica_apply_fetch(replica_of(t, 2), 0, &request, &response, &t->records, &t->error),
        HW_OK);
    expect_log(t, 2, 0, 0, 2);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
