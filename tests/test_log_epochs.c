/* SPDX-License-Identifier: MIT */
/*
 * Do the epochs that a log has after opening fit its batches, whatever the checkpoint file says?
 * Source: LogLoader.load, LogSegment.recover (R5.2; kafka formats 5.2, 7.2).
 */
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

#define FIRST_LOG "00000000000000000000.log"

/* Case: A-06. Row: C021. Semantics: R5.2 */
TEST_AGAIN(lost_epochs_are_made_again_from_the_batches, void **state)
{
    static const hw_epoch_t epochs[] = {0, 1, 1, 2};
    struct test_log *t = *state;

    for (int clean = 0; clean < 2; clean++) {
        for (int damage_kind = 0; damage_kind < 3; damage_kind++) {
            if (t->log != NULL) {
                assert_int_equal(test_log_teardown(state), 0);
                assert_int_equal(test_log_setup(state), 0);
            }
            open_log(t);
            expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 104, -1, &t->error));
            for (int i = 0; i < 4; i++) {
                expect_ok(t, follow(t, 104 + 2 * i, 2, epochs[i], 0));
            }
            expect_epochs(t, "0:104 1:106 2:110");
            expect_ok(t, hw_log_clean_stop(t->log, &t->error));
            close_log(t);
            t->load.clean = clean == 1;
            if (damage_kind == 0) {
                file_remove(t, "leader-epoch-checkpoint");
            } else {
                file_write(t, "leader-epoch-checkpoint", "0\n1\n", damage_kind == 1 ? 0 : 4);
            }
            open_log(t);
            expect_epochs(t, "0:104 1:106 2:110");
            if (damage_kind == 2) {
                assert_non_null(strstr(t->recovery.detail, "leader-epoch-checkpoint"));
            }
            reopen_cleanly(t);
            expect_epochs(t, "0:104 1:106 2:110");
        }
    }
}

/* Case: A-06: a log of epoch 0 only. */
TEST(epoch_zero_is_an_epoch, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 3, 0);
    close_log(t);
    file_remove(t, "leader-epoch-checkpoint");
    open_log(t);
    expect_epochs(t, "0:0");
}

/* Kafka formats 7.2, step 7. */
TEST(epochs_at_or_above_the_log_end_are_dropped, struct test_log *t)
{
    open_log(t);
    produce(t, 1, 2, 0);
    expect_ok(t, hw_log_assign_epoch(t->log, 4, &t->error));
    expect_epochs(t, "1:0 4:2");
    crash_and_reopen(t);
    expect_epochs(t, "1:0");
}

/* A file that a failed append left ahead of the log. */
TEST(an_epoch_of_a_lost_batch_is_dropped, struct test_log *t)
{
    open_log(t);
    produce(t, 1, 2, 0);
    produce(t, 2, 1, 0);
    close_log(t);
    file_write(t, FIRST_LOG, "", 0);
    open_log(t);
    expect_log(t, 0, 0, 0);
    expect_epochs(t, "");
    close_log(t);
    open_log(t);
    expect_epochs(t, "");
}

/* The log start is checkpointed elsewhere: the epochs of an old file are brought up to it. */
TEST(epochs_below_the_log_start_are_collapsed, struct test_log *t)
{
    open_log(t);
    produce(t, 1, 3, 0);
    produce(t, 2, 3, 0);
    produce(t, 3, 3, 0);
    for (int clean = 0; clean < 2; clean++) {
        expect_ok(t, hw_log_clean_stop(t->log, &t->error));
        close_log(t);
        t->load.clean = clean == 1;
        t->load.log_start = 4;
        file_write(t, "leader-epoch-checkpoint", "0\n3\n1 0\n2 3\n3 6\n", 16);
        open_log(t);
        expect_epochs(t, "2:4 3:6");
    }
}

/* And those of a file that is ahead of the log start are made again: the start did not reach its
 * checkpoint (R7.17). */
TEST(epochs_above_the_log_start_are_completed, struct test_log *t)
{
    bool changed;

    open_log(t);
    produce(t, 1, 3, 0);
    produce(t, 2, 3, 0);
    hw_log_update_high_watermark(t->log, 6);
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 4, &changed, &t->error));
    expect_epochs(t, "2:4");
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    t->load.clean = true;
    t->load.log_start = 0;
    open_log(t);
    expect_epochs(t, "1:0 2:3");
}

/* Three segments of batches of 100 bytes: epoch 0 from offset 0 on, epoch 2 from 5 on. */
static void fill(struct test_log *t)
{
    t->config.segment_bytes = 400;
    t->config.index_interval_bytes = 150;
    t->config.epochs_grow = true;
    open_log(t);
    for (int i = 0; i < 10; i++) {
        struct hw_buffer batch;

        hw_buffer_init(&batch, &hw_allocator_libc);
        build_sized_batch(&batch, i, 0, 100);
        hw_batch_set_leader_epoch(batch.bytes, i < 5 ? 0 : 2);
        expect_ok(t, follow_bytes(t, &batch));
        hw_buffer_release(&batch);
    }
    expect_segments(t, "0 4 8");
}

/* The epoch of the batch at an offset is another one. */
static void damage_epoch(struct test_log *t, int offset, int32_t epoch)
{
    struct hw_buffer content;
    char name[40];

    (void)snprintf(name, sizeof name, "%020d.log", offset / 4 * 4);
    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, name, &content);
    hw_batch_set_leader_epoch(content.bytes + offset % 4 * 100, epoch);
    file_write(t, name, content.bytes, content.size);
    hw_buffer_release(&content);
}

static void expect_batch_epochs(struct test_log *t, const char *expected)
{
    struct hw_buffer content;
    char text[20] = "";

    hw_buffer_init(&content, &hw_allocator_libc);
    for (hw_offset_t offset = 0; offset < hw_log_end(t->log); offset++) {
        struct hw_batch batch;

        content.size = 0;
        expect_ok(t, hw_log_read(t->log, offset, INT64_MAX, 100, true, &content, &t->error));
        assert_int_equal(hw_batch_parse(content.bytes, content.size, &batch), HW_BATCH_OK);
        (void)snprintf(text + offset, 3, "%d", batch.leader_epoch);
    }
    assert_string_equal(text, expected);
    hw_buffer_release(&content);
}

/* Their batches' checksums do not cover them; the checkpoint knows them. Case: F-26 */
TEST_AGAIN(epochs_that_go_back_are_those_of_the_checkpoint_again, void **state)
{
    static const struct {
        int offset;
        int32_t epoch;
        bool clean; /* Then only the last batch is looked at. */
    } cases[] = {{6, 0, false}, {6, 1, false}, {6, -7, false}, {2, 9, false},
                 {9, 0, false}, {9, 0, true},  {5, 1, false}};
    struct test_log *t = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (t->log != NULL) {
            assert_int_equal(test_log_teardown(state), 0);
            assert_int_equal(test_log_setup(state), 0);
            t = *state;
        }
        fill(t);
        expect_ok(t, hw_log_clean_stop(t->log, &t->error));
        close_log(t);
        damage_epoch(t, cases[i].offset, cases[i].epoch);
        damage_epoch(t, 7, i == 6 ? 0 : 2);
        t->load.clean = cases[i].clean;
        t->load.recovery_point = 0;
        open_log(t);
        expect_batch_epochs(t, "0000022222");
        expect_epochs(t, "0:0 2:5");
        assert_int_equal(t->recovery.mend_count, 1);
        assert_non_null(strstr(t->recovery.mends[0].problem, "leader epochs go back at offset "));
        assert_int_equal(expect_all_readable(t), 10);
        crash_and_reopen(t);
        assert_int_equal(t->recovery.mend_count, 0);
    }
}

/* Without it a batch gets that of the one before. Case: F-26 */
TEST(epochs_that_go_back_do_not_without_a_checkpoint, struct test_log *t)
{
    fill(t);
    close_log(t);
    damage_epoch(t, 7, 1);
    file_remove(t, "leader-epoch-checkpoint");
    t->load.recovery_point = 0;
    open_log(t);
    expect_batch_epochs(t, "0000022222");
    expect_epochs(t, "0:0 2:5");
}

/* Where no protocol compares them; and where the checkpoint, too, has seen them go back: so they
 * were written under a protocol that did not. Case: F-26 */
TEST(epochs_that_may_go_back_are_left, struct test_log *t)
{
    open_log(t);
    expect_ok(t, follow(t, 0, 1, 0, 0));
    expect_ok(t, follow(t, 1, 1, 1, 0));
    expect_ok(t, follow(t, 2, 1, 0, 0));
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    for (int grow = 1; grow >= 0; grow--) {
        close_log(t);
        t->load.recovery_point = 0;
        t->config.epochs_grow = grow == 1;
        open_log(t);
        expect_batch_epochs(t, "010");
        assert_int_equal(t->recovery.mend_count, grow);
    }
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
