/* SPDX-License-Identifier: MIT */
/*
 * What does a log keep when it is cut, and what happens to its high watermark, log start and
 * epochs? Source: UnifiedLog.truncateTo, truncateFullyAndStartAt, maybeIncrementLogStartOffset,
 * updateHighWatermark.
 */
#include "tests/support_log.h"
#include "tests/support_test.h"

#define truncate_to(t, offset) expect_ok(t, hw_log_truncate_to((t)->log, (offset), &(t)->error))
#define restart_at(t, offset, log_start)                                                           \
    expect_ok(t, hw_log_truncate_fully_and_start_at((t)->log, (offset), (log_start), &(t)->error))

static void produce_many(struct test_log *t, int count)
{
    for (int i = 0; i < count; i++) {
        produce(t, 0, 1, i);
    }
}

/* Row: C100. Semantics: R5.7, R5.9 */
TEST(a_log_is_cut_at_an_offset_and_goes_on_there, struct test_log *t)
{
    open_log(t);
    produce_many(t, 10);
    truncate_to(t, 10);
    expect_log(t, 0, 0, 10);
    truncate_to(t, 11);
    expect_log(t, 0, 0, 10);
    truncate_to(t, 5);
    expect_log(t, 0, 0, 5);
    expect_batches(t, "0 1 2 3 4");
    truncate_to(t, 0);
    expect_log(t, 0, 0, 0);
    produce_many(t, 10);
    expect_log(t, 0, 0, 10);
    restart_at(t, 1, HW_OFFSET_NONE);
    expect_log(t, 1, 1, 1);
    produce_many(t, 10);
    expect_log(t, 1, 1, 11);
    truncate_to(t, 0);
    expect_log(t, 0, 0, 0);
    expect_batches(t, "");
    expect_segments(t, "0");
    produce_many(t, 1);
    assert_int_equal(expect_all_readable(t), 1);
}

/* The offsets of row C101. Semantics: R5.9 */
TEST(a_restarted_log_may_start_below_its_end, struct test_log *t)
{
    open_log(t);
    produce_many(t, 5);
    reopen_cleanly(t);
    restart_at(t, 2, 1);
    expect_log(t, 1, 2, 2);
    expect_read(t, 1, 1, "");
    produce_many(t, 1);
    expect_read(t, 1, 1, "2");
}

/* Row: C103. Semantics: R5.7 */
TEST(a_cut_in_a_gap_keeps_what_is_below, struct test_log *t)
{
    open_log(t);
    expect_ok(t, follow(t, 40, 1, 0, 0));
    expect_ok(t, follow(t, 43, 1, 0, 0));
    truncate_to(t, 41);
    expect_batches(t, "40");
    expect_log(t, 0, 0, 41);
}

/* Semantics: R5.7: the log ends at the offset even where a whole batch had to go. */
TEST(a_batch_that_straddles_the_cut_goes_whole, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 3, 0);
    produce(t, 1, 4, 0);
    truncate_to(t, 5);
    expect_log(t, 0, 0, 5);
    expect_batches(t, "0-2");
    expect_epochs(t, "0:0 1:3");
    produce(t, 2, 1, 0);
    expect_batches(t, "0-2 5");
    expect_epochs(t, "0:0 1:3 2:5");
    crash_and_reopen(t);
    expect_log(t, 0, 0, 6);
    expect_batches(t, "0-2 5");
}

TEST(a_cut_removes_whole_segments, struct test_log *t)
{
    t->config.segment_bytes = 300;
    open_log(t);
    for (int i = 0; i < 12; i++) {
        produce_sized(t, i, 100);
    }
    expect_segments(t, "0 3 6 9");
    truncate_to(t, 6);
    expect_segments(t, "0 3 6");
    expect_log(t, 0, 0, 6);
    assert_false(file_exists(t, "00000000000000000009.log"));
    produce_sized(t, 0, 100);
    truncate_to(t, 4);
    expect_segments(t, "0 3");
    produce_sized(t, 0, 100);
    produce_sized(t, 0, 100);
    produce_sized(t, 0, 100);
    expect_segments(t, "0 3 6");
    expect_batches(t, "0 1 2 3 4 5 6");
    reopen_cleanly(t);
    expect_batches(t, "0 1 2 3 4 5 6");
}

TEST(a_negative_offset_is_misuse, struct test_log *t)
{
    open_log(t);
    produce_many(t, 2);
    assert_int_equal(hw_log_truncate_to(t->log, -1, &t->error), HW_MISUSE);
    assert_int_equal(hw_log_truncate_fully_and_start_at(t->log, -1, -1, &t->error), HW_MISUSE);
    assert_int_equal(hw_log_truncate_fully_and_start_at(t->log, 3, 4, &t->error), HW_MISUSE);
    assert_int_equal(hw_log_truncate_fully_and_start_at(t->log, 3, -2, &t->error), HW_MISUSE);
    expect_log(t, 0, 0, 2);
}

/* Row: C019. Case: A-05. Semantics: R5.7 */
TEST(a_cut_at_or_above_the_end_drops_an_unused_epoch, struct test_log *t)
{
    open_log(t);
    restart_at(t, 27, HW_OFFSET_NONE);
    expect_ok(t, follow(t, 27, 2, 19, 0));
    expect_ok(t, hw_log_assign_epoch(t->log, 20, &t->error));
    expect_epochs(t, "19:27 20:29");
    truncate_to(t, 29);
    expect_epochs(t, "19:27");
    expect_ok(t, hw_log_assign_epoch(t->log, 24, &t->error));
    expect_epochs(t, "19:27 24:29");
    truncate_to(t, 30);
    expect_epochs(t, "19:27");
    expect_log(t, 27, 27, 29);
    crash_and_reopen(t);
    expect_epochs(t, "19:27");
}

/* Case: A-04. Semantics: R4.12, R5.3 */
TEST(a_leader_that_writes_nothing_knows_where_its_epoch_starts, struct test_log *t)
{
    static const hw_epoch_t asked[] = {5, 6, 0};
    static const struct hw_epoch_end expected[] = {{0, 2}, {6, 2}, {0, 2}};

    open_log(t);
    produce(t, 0, 2, 0);
    expect_ok(t, hw_log_assign_epoch(t->log, 6, &t->error));
    expect_epochs(t, "0:0 6:2");
    for (int i = 0; i < 3; i++) {
        struct hw_epoch_end end = hw_log_end_offset_for_epoch(t->log, asked[i]);

        assert_int_equal(end.epoch, expected[i].epoch);
        assert_int_equal(end.end_offset, expected[i].end_offset);
    }
    produce(t, 6, 1, 0);
    expect_epochs(t, "0:0 6:2");
}

/* Row: C056. Semantics: R3.8, R3.9, R3.10 */
TEST(the_high_watermark_stays_within_the_log, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 3, 0);
    expect_log(t, 0, 0, 3);
    assert_true(hw_log_maybe_increment_high_watermark(t->log, 1));
    assert_false(hw_log_maybe_increment_high_watermark(t->log, 1));
    assert_false(hw_log_maybe_increment_high_watermark(t->log, 0));
    expect_log(t, 0, 1, 3);
    assert_true(hw_log_update_high_watermark(t->log, 5));
    expect_log(t, 0, 3, 3);
    expect_ok(t, follow(t, 3, 3, 0, 0));
    assert_true(hw_log_update_high_watermark(t->log, 6));
    expect_log(t, 0, 6, 6);
    truncate_to(t, 3);
    expect_log(t, 0, 3, 3);
    produce(t, 0, 3, 0);
    expect_log(t, 0, 3, 6);
    restart_at(t, 4, HW_OFFSET_NONE);
    expect_log(t, 4, 4, 4);
    assert_false(hw_log_update_high_watermark(t->log, 1));
    expect_log(t, 4, 4, 4);
}

/* Row: C179. Semantics: R3.9 */
TEST(a_follower_takes_over_the_leaders_high_watermark, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 100, 0);
    assert_true(hw_log_update_high_watermark(t->log, 99));
    assert_false(hw_log_update_high_watermark(t->log, 99));
    assert_true(hw_log_update_high_watermark(t->log, 100));
    assert_false(hw_log_update_high_watermark(t->log, 100));
    assert_false(hw_log_update_high_watermark(t->log, 101));
    assert_true(hw_log_update_high_watermark(t->log, 40));
    expect_log(t, 0, 40, 100);
}

/* Row: C057. Semantics: R3.1 */
TEST(the_checkpointed_high_watermark_is_used, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 6, 0);
    close_log(t);
    t->load.high_watermark = 4;
    open_log(t);
    expect_log(t, 0, 4, 6);
    close_log(t);
    t->load.high_watermark = 99;
    open_log(t);
    expect_log(t, 0, 6, 6);
    close_log(t);
    t->load.high_watermark = 0;
    t->load.log_start = 2;
    open_log(t);
    expect_log(t, 2, 2, 6);
}

/* Semantics: R7.12, R7.19 */
TEST(the_log_start_rises_up_to_the_high_watermark, struct test_log *t)
{
    bool changed;

    open_log(t);
    produce(t, 1, 3, 0);
    produce(t, 4, 3, 0);
    hw_log_update_high_watermark(t->log, 4);
    expect_refused(t, hw_log_maybe_increment_log_start(t->log, 5, &changed, &t->error),
                   OFFSET_OUT_OF_RANGE);
    assert_false(changed);
    expect_epochs(t, "1:0 4:3");
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 1, &changed, &t->error));
    assert_true(changed);
    expect_epochs(t, "1:1 4:3");
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 1, &changed, &t->error));
    assert_false(changed);
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 4, &changed, &t->error));
    assert_true(changed);
    expect_epochs(t, "4:4");
    expect_log(t, 4, 4, 6);
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, -7, &changed, &t->error));
    assert_false(changed);

    crash_and_reopen(t);
    expect_log(t, 4, 4, 6);
    expect_epochs(t, "4:4");
}

/* A log whose checkpointed start lies above what is left goes on at the start. */
TEST(a_log_that_ends_below_its_start_restarts_there, struct test_log *t)
{
    open_log(t);
    produce(t, 1, 3, 0);
    close_log(t);
    t->load.log_start = 10;
    open_log(t);
    expect_log(t, 10, 10, 10);
    expect_segments(t, "10");
    expect_epochs(t, "");
    close_log(t);
    open_log(t);
    expect_log(t, 10, 10, 10);
}

/* What is cut away must not come back by an old epoch in the file. */
TEST(the_epochs_on_disk_follow_a_cut, struct test_log *t)
{
    open_log(t);
    produce(t, 1, 2, 0);
    produce(t, 2, 2, 0);
    truncate_to(t, 2);
    produce(t, 1, 4, 0);
    expect_epochs(t, "1:0");
    crash_and_reopen(t);
    expect_epochs(t, "1:0");
    truncate_to(t, 0);
    expect_epochs(t, "");
    reopen_cleanly(t);
    expect_epochs(t, "");
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
