/* SPDX-License-Identifier: MIT */
/*
 * Where is a log cut so that it agrees with the leader's? Follows
 * AbstractFetcherThread.getOffsetTruncationState and UnifiedLog.truncateTo.
 */
#include "tests/support_replica.h"

#include <stdio.h>

#include "tests/support_test.h"

/* Cut the log of broker 2 as the leader's answer (epoch, end) says. Returns whether that was all.
 */
static bool cut(struct test_replicas *t, hw_epoch_t epoch, hw_offset_t end, hw_offset_t fallback)
{
    bool is_complete;
    hw_offset_t offset =
        hw_truncation_offset(hw_log_epochs(log_of(t, 2)), hw_log_end(log_of(t, 2)),
                             (struct hw_epoch_end){epoch, end}, fallback, &is_complete);

    assert_int_equal(hw_replica_truncate_follower(replica_of(t, 2), offset, is_complete, &t->error),
                     HW_OK);
    return is_complete;
}

static void fill_to(struct test_replicas *t, hw_offset_t end, hw_epoch_t epoch)
{
    for (hw_offset_t at = hw_log_end(log_of(t, 2)); at < end; at++) {
        char batch[32];

        (void)snprintf(batch, sizeof batch, "%d@%d", (int)at, (int)epoch);
        log_has(t, 2, batch);
    }
}

/* Row: C082. Semantics: R5.14 case 3c */
TEST(a_common_epoch_is_cut_where_the_leaders_ends, struct test_replicas *t)
{
    fill_to(t, 200, 5);
    follow(t, 2, 1, 6);
    assert_true(cut(t, 5, 172, 200));
    expect_log(t, 2, 0, 0, 172);
    assert_true(cut(t, 5, 156, 200));
    expect_log(t, 2, 0, 0, 156);
    expect_fetch(t, 2, "fetching at 156 after epoch 5");
}

/* Row: C083. Semantics: R5.14 case 3a */
TEST(a_leader_with_a_larger_epoch_is_believed, struct test_replicas *t)
{
    fill_to(t, 200, 3);
    follow(t, 2, 1, 6);
    assert_true(cut(t, 4, 202, 200));
    expect_log(t, 2, 0, 0, 200);
    assert_true(cut(t, 4, 156, 200));
    expect_log(t, 2, 0, 0, 156);
}

/* Semantics: R5.14 case 2 */
TEST(an_answer_without_an_epoch_is_an_offset, struct test_replicas *t)
{
    fill_to(t, 10, 3);
    assert_true(cut(t, HW_EPOCH_NONE, 12, 0));
    expect_log(t, 2, 0, 0, 10);
    assert_true(cut(t, HW_EPOCH_NONE, 7, 0));
    expect_log(t, 2, 0, 0, 7);
}

/* Row: C185. Semantics: R5.14 case 1 */
TEST(a_leader_that_does_not_know_leaves_the_start_of_the_fetch, struct test_replicas *t)
{
    fill_to(t, 200, 5);
    assert_true(cut(t, HW_EPOCH_NONE, HW_OFFSET_NONE, 100));
    expect_log(t, 2, 0, 0, 100);
}

static void follower_of_epochs_2_4_5(struct test_replicas *t)
{
    fill_to(t, 129, 2);
    fill_to(t, 149, 4);
    fill_to(t, 200, 5);
    knows_high_watermark(t, 2, 115);
    follow(t, 2, 1, 6);
    expect_fetch(t, 2, "fetching at 200 after epoch 5");
}

/* Row: C084. Semantics: R5.10, R5.14 */
TEST(the_first_answer_cuts_to_the_common_epoch, struct test_replicas *t)
{
    static const hw_offset_t ends[] = {141, 140};

    follower_of_epochs_2_4_5(t);
    for (size_t i = 0; i < 2; i++) {
        answered(t, 2, .high_watermark = 190, .diverging = true, .epoch = 4, .end = ends[i]);
        expect_done(t);
        expect_log(t, 2, 0, 115, ends[i]);
        expect_fetch(t, 2,
                     i == 0 ? "fetching at 141 after epoch 4" : "fetching at 140 after epoch 4");
    }
}

/* Semantics: R5.14 case 3c */
TEST(a_common_epoch_is_cut_where_it_ends_here_if_that_is_lower, struct test_replicas *t)
{
    follower_of_epochs_2_4_5(t);
    answered(t, 2, .diverging = true, .epoch = 4, .end = 170);
    expect_log(t, 2, 0, 115, 149);
    expect_fetch(t, 2, "fetching at 149 after epoch 4");
}

/* Row: C085. Semantics: R5.14 case 3b */
TEST(an_epoch_that_was_never_here_cuts_to_the_one_before, struct test_replicas *t)
{
    follower_of_epochs_2_4_5(t);
    answered(t, 2, .diverging = true, .epoch = 4, .end = 140);
    answered(t, 2, .diverging = true, .epoch = 3, .end = 130);
    expect_log(t, 2, 0, 115, 129);
    expect_fetch(t, 2, "fetching at 129 after epoch 2");
}

/* Row: C091. Case: A-03. Semantics: R5.14, R5.15 */
TEST(logs_without_a_common_epoch_take_a_cut_for_each, struct test_replicas *t)
{
    log_has(t, 1, "0@1 1@3 2@5");
    knows_high_watermark(t, 1, 2);
    lead(t, 1, 5, "[1,2]", "[1,2]");
    log_has(t, 2, "0@0 1@2 2@4");
    follow(t, 2, 1, 5);
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 2 after epoch 2");
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 1 after epoch 0");
    poll(t, 2);
    expect_log(t, 2, 0, 0, 0);
    poll(t, 2);
    expect_batches(t, 2, "0@1 1@3 2@5");
    expect_epochs(t, 2, "1:0 3:1 5:2");
    expect_log(t, 2, 0, 2, 3);
}

/* Row: C094. Semantics: R5.10 */
TEST(the_last_fetched_epoch_goes_down_and_up_again, struct test_replicas *t)
{
    log_has(t, 1, "0@0 1@2 2@5");
    lead(t, 1, 5, "[1,2]", "[1,2]");
    log_has(t, 2, "0@0 1@2 2@4");
    follow(t, 2, 1, 5);
    expect_fetch(t, 2, "fetching at 3 after epoch 4");
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 2 after epoch 2");
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 3 after epoch 5");
    expect_batches(t, 2, "0@0 1@2 2@5");
}

/* Semantics: R5.14, scenario S3 of fast leader changes (KIP-279) */
TEST(fast_leader_changes_take_two_cuts, struct test_replicas *t)
{
    log_has(t, 1, "0@0 1-3@2 4-5@4");
    lead(t, 1, 4, "[1,2]", "[1]");
    log_has(t, 2, "0@0 1@1 2@3");
    expect_epochs(t, 2, "0:0 1:1 3:2");
    follow(t, 2, 1, 4);
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 2 after epoch 1");
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 1 after epoch 0");
    poll(t, 2);
    expect_batches(t, 2, "0@0 1-3@2 4-5@4");
    expect_epochs(t, 2, "0:0 2:1 4:4");
}

/* Row: C092. Semantics: R5.12, R5.19 */
TEST(without_epochs_a_follower_cuts_to_its_high_watermark, struct test_replicas *t)
{
    t->partition.variant = &hw_variant_hw_truncation;
    lead(t, 1, 0, "[1,2]", "[1]");
    append(t, 1);
    append(t, 1);
    log_has(t, 2, "0@0 1@0 2@0");
    knows_high_watermark(t, 2, 2);
    follow(t, 2, 1, 1);
    expect_fetch(t, 2, "truncating at 2 after epoch 0");
    poll(t, 2);
    expect_log(t, 2, 0, 2, 2);
    expect_fetch(t, 2, "fetching at 2 after epoch 0");
}

/* Semantics: R2.20, R2.21, R5.12 */
TEST(a_log_without_any_epoch_cuts_to_its_high_watermark, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1]");
    follow(t, 2, 1, 0);
    expect_fetch(t, 2, "truncating at 0");
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 0");
}

/* Row: C186, where the follower asks in its fetch. Semantics: R2.27, R5.11 */
TEST(a_follower_that_is_ahead_of_its_leader_waits_for_it, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1]");
    append(t, 1);
    follow(t, 2, 1, 1);
    test_replicas_cut(t, HW_CONTROLLER, 1);
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 0 delayed to 1000");
    expect_log(t, 2, 0, 0, 0);
    t->links.count = 0;
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 1 after epoch 0");
    expect_log(t, 2, 0, 1, 1);
}

/* Row: C187. Semantics: R5.16 */
TEST(who_does_not_follow_any_more_is_not_cut, struct test_replicas *t)
{
    struct hw_fetch_request request;
    struct hw_fetch_response response = {.diverging_epoch = {4, 2}};

    log_has(t, 2, "0@0 1@0 2@4 3@4 4@4 5@4");
    follow(t, 2, 1, 5);
    answered(t, 2, .diverging = true, .epoch = 4, .end = 3);
    expect_fetch(t, 2, "fetching at 3 after epoch 4");
    assert_true(hw_replica_build_fetch(replica_of(t, 2), 2, true, &request));
    lead(t, 2, 6, "[1,2]", "[2]");
    assert_int_equal(
        hw_replica_apply_fetch(replica_of(t, 2), 0, &request, &response, &t->records, &t->error),
        HW_OK);
    expect_log(t, 2, 0, 3, 3);
}

/* Case: A-04. Semantics: R4.12, R5.3 */
TEST(a_leader_that_never_wrote_knows_where_the_last_epoch_ended, struct test_replicas *t)
{
    struct hw_epoch_end end;

    log_has(t, 1, "0@0 1@0");
    log_has(t, 2, "0@0 1@0 2@5 3@5");
    lead(t, 1, 6, "[1,2]", "[1]");
    expect_epochs(t, 1, "0:0 6:2");
    for (hw_epoch_t epoch = 0; epoch <= 5; epoch += 5) {
        end = hw_log_end_offset_for_epoch(log_of(t, 1), epoch);
        assert_int_equal(end.epoch, 0);
        assert_int_equal(end.end_offset, 2);
    }
    end = hw_log_end_offset_for_epoch(log_of(t, 1), 6);
    assert_int_equal(end.epoch, 6);
    assert_int_equal(end.end_offset, 2);

    follow(t, 2, 1, 6);
    poll(t, 2);
    expect_log(t, 2, 0, 0, 2);
    expect_epochs(t, 2, "0:0");
    append(t, 1);
    poll(t, 2);
    expect_batches(t, 1, "0@0 1@0 2@6");
    expect_batches(t, 2, "0@0 1@0 2@6");
    expect_epochs(t, 2, "0:0 6:2");
}

/* Case: A-05. Semantics: R5.7 */
TEST(an_epoch_without_records_goes_with_any_cut, struct test_replicas *t)
{
    struct hw_log *log = log_of(t, 2);

    assert_int_equal(hw_log_truncate_fully_and_start_at(log, 27, HW_OFFSET_NONE, &t->error), HW_OK);
    log_has(t, 2, "27@19 28@19");
    lead(t, 2, 20, "[1,2]", "[2]");
    expect_epochs(t, 2, "19:27 20:29");
    assert_int_equal(hw_log_truncate_to(log, 29, &t->error), HW_OK);
    expect_epochs(t, 2, "19:27");
    lead(t, 2, 24, "[1,2]", "[2]");
    expect_epochs(t, 2, "19:27 24:29");
    assert_int_equal(hw_log_truncate_to(log, 30, &t->error), HW_OK);
    expect_epochs(t, 2, "19:27");
    assert_int_equal(hw_log_end(log), 29);
    expect_batches(t, 2, "27@19 28@19");
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
