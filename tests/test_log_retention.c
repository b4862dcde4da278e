/* SPDX-License-Identifier: MIT */
/*
 * Which segments does retention take? Source: UnifiedLog.deletableSegments, deleteOldSegments
 * (R7.18).
 */
#include "tests/support_log.h"
#include "tests/support_test.h"

static int32_t retention(struct test_log *t)
{
    int32_t deleted;

    expect_ok(t, hw_log_delete_old_segments(t->log, t->now_ms, &deleted, &t->error));
    return deleted;
}

/* `count` batches of 100 bytes, `each` of them a segment, timestamps 0, 1, ... */
static void fill(struct test_log *t, int count, int each)
{
    t->config.segment_bytes = 100 * each;
    open_log(t);
    for (int i = 0; i < count; i++) {
        produce_sized(t, i, 100);
    }
}

/* Row: C137. Semantics: R7.18 */
TEST(segments_below_the_log_start_go, struct test_log *t)
{
    static const struct {
        hw_offset_t log_start;
        size_t segments;
    } steps[] = {{1, 3}, {6, 2}, {15, 1}};

    fill(t, 15, 5);
    hw_log_update_high_watermark(t->log, 15);
    for (size_t i = 0; i < 3; i++) {
        bool changed;

        expect_ok(
            t, hw_log_maybe_increment_log_start(t->log, steps[i].log_start, &changed, &t->error));
        retention(t);
        assert_int_equal(hw_log_segment_count(t->log), steps[i].segments);
        assert_int_equal(hw_log_start(t->log), steps[i].log_start);
    }
}

/* Row: C138. Case: A-12. Semantics: R7.18, R3.15 */
TEST(nothing_at_or_above_the_high_watermark_goes, struct test_log *t)
{
    hw_offset_t high_watermark;

    t->config.retention_ms = 1000;
    fill(t, 100, 10);
    t->now_ms = 100000;
    for (high_watermark = 0; high_watermark <= 100; high_watermark++) {
        hw_log_update_high_watermark(t->log, high_watermark);
        retention(t);
        assert_int_equal(hw_log_start(t->log), high_watermark / 10 * 10);
        assert_int_equal(hw_log_first_segment_base(t->log), high_watermark / 10 * 10);
    }
    expect_segments(t, "100");
    expect_log(t, 100, 100, 100);
    assert_int_equal(hw_log_size_bytes(t->log), 0);
    assert_int_equal(retention(t), 0);
    produce_sized(t, 0, 100);
    expect_batches(t, "100");
}

/* Row: C180. Semantics: R3.9, R7.18 */
TEST(expired_segments_go_up_to_the_high_watermark, struct test_log *t)
{
    t->config.retention_ms = 1000;
    fill(t, 100, 10);
    t->now_ms = 100000;
    assert_true(hw_log_update_high_watermark(t->log, 25));
    assert_int_equal(retention(t), 2);
    expect_log(t, 20, 25, 100);
}

/* Semantics: R7.18: "older than", not "as old as". */
TEST(a_segment_expires_by_its_largest_timestamp, struct test_log *t)
{
    t->config.retention_ms = 100;
    fill(t, 6, 2); /* Largest timestamps 1, 3, 5. */
    hw_log_update_high_watermark(t->log, 6);
    t->now_ms = 101;
    assert_int_equal(retention(t), 0);
    t->now_ms = 102;
    assert_int_equal(retention(t), 1);
    t->now_ms = 103;
    assert_int_equal(retention(t), 0);
    t->now_ms = 104;
    assert_int_equal(retention(t), 1);
    expect_segments(t, "4");
    t->now_ms = 1000;
    assert_int_equal(retention(t), 1);
    expect_segments(t, "6");
}

/* Semantics: R7.18: time takes a run from the oldest on; a young one in the middle ends it. */
TEST(a_young_segment_shields_the_ones_behind_it, struct test_log *t)
{
    t->config.retention_ms = 100;
    t->config.segment_bytes = 100;
    open_log(t);
    produce_sized(t, 0, 100);
    produce_sized(t, 500, 100);
    produce_sized(t, 0, 100);
    hw_log_update_high_watermark(t->log, 3);
    t->now_ms = 550;
    assert_int_equal(retention(t), 1);
    expect_segments(t, "1 2");
}

/* A segment without timestamps is as old as its file. */
TEST(a_segment_without_timestamps_has_the_age_of_its_creation, struct test_log *t)
{
    t->config.retention_ms = 100;
    t->now_ms = 1000;
    open_log(t);
    produce_sized(t, HW_TIMESTAMP_NONE, 100);
    hw_log_update_high_watermark(t->log, 1);
    t->now_ms = 1100;
    assert_int_equal(retention(t), 0);
    t->now_ms = 1101;
    assert_int_equal(retention(t), 1);
    expect_segments(t, "1");
}

/* Semantics: R7.18 */
TEST(size_takes_as_many_as_leave_enough, struct test_log *t)
{
    t->config.retention_ms = -1;
    t->config.retention_bytes = 450;
    fill(t, 10, 2);
    hw_log_update_high_watermark(t->log, 10);
    assert_int_equal(retention(t), 2); /* 1000 - 2 * 200 = 600; one more would leave 400. */
    expect_segments(t, "4 6 8");
    t->config.retention_bytes = 0;
    hw_log_set_config(t->log, &t->config);
    hw_log_update_high_watermark(t->log, 9);
    assert_int_equal(retention(t), 2);
    expect_segments(t, "8");
    hw_log_update_high_watermark(t->log, 10);
    assert_int_equal(retention(t), 1);
    expect_segments(t, "10");
}

TEST(without_limits_everything_stays, struct test_log *t)
{
    t->config.retention_ms = -1;
    t->config.retention_bytes = -1;
    fill(t, 10, 2);
    hw_log_update_high_watermark(t->log, 10);
    t->now_ms = INT64_MAX;
    assert_int_equal(retention(t), 0);
}

/* Row: C020. Semantics: R5.4, R7.19 */
TEST(the_epochs_of_deleted_segments_go, struct test_log *t)
{
    t->config.retention_ms = -1;
    t->config.retention_bytes = 0;
    t->config.segment_bytes = 5 * 70;
    open_log(t);
    for (int i = 0; i < 15; i++) {
        static const hw_epoch_t epochs[] = {0, 1, 2};

        produce(t, epochs[i / 5], 1, 0);
    }
    expect_segments(t, "0 5 10");
    expect_epochs(t, "0:0 1:5 2:10");
    hw_log_update_high_watermark(t->log, 5);
    assert_int_equal(retention(t), 1);
    expect_epochs(t, "1:5 2:10");
    crash_and_reopen(t);
    expect_epochs(t, "1:5 2:10");
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
