/* SPDX-License-Identifier: MIT */
/*
 * What does opening a log make of index files that are missing or wrong, and of the files that an
 * interrupted deletion or cleaning has left? Source: LogLoader.load (kafka formats 4.8, 7.2).
 */
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

#define FIRST_LOG   "00000000000000000000.log"
#define FIRST_INDEX "00000000000000000000.index"

/* Case: C-01: the same for the indexes. */
TEST(junk_in_an_index_is_replaced, struct test_log *t)
{
    char name[40];

    test_log_fill(t, 77);
    (void)snprintf(name, sizeof name, "%020d.index", 70);
    close_log(t);
    t->load.recovery_point = 50;
    file_append(t, name, "some junk", 9);
    file_append(t, "00000000000000000060.index", "some junk", 9);
    open_log(t);
    assert_int_equal(expect_all_readable(t), 77);
    assert_int_equal(t->recovery.bytes_cut, 0);
    assert_true(t->recovery.mend_count >= 1);
    assert_string_equal(t->recovery.mends[0].action, "rebuilt from the .log");
}

/* What is done to each index file of a log of 200 records, by its first and its second name. */
typedef void damage(struct test_log *t, const char *name, const char *time_name);

static void blank(struct test_log *t, const char *name, const char *time_name)
{
    file_write(t, name, "  ", 2);
    file_write(t, time_name, "  ", 2);
}

static void junk_at_the_start(struct test_log *t, const char *name, const char *time_name)
{
    struct hw_buffer content;

    for (int i = 0; i < 2; i++) {
        hw_buffer_init(&content, &hw_allocator_libc);
        expect_ok(t, hw_buffer_append(&content, "junk!", 5, &t->error));
        file_read(t, i == 0 ? name : time_name, &content);
        file_write(t, i == 0 ? name : time_name, content.bytes, content.size);
        hw_buffer_release(&content);
    }
}

static void part_of_an_entry(struct test_log *t, const char *name, const char *time_name)
{
    file_append(t, name, "abc", 3);
    file_append(t, time_name, "abc", 3);
}

static void missing(struct test_log *t, const char *name, const char *time_name)
{
    file_remove(t, name);
    file_remove(t, time_name);
}

static void only_the_time_index_missing(struct test_log *t, const char *name, const char *time_name)
{
    (void)name;
    file_remove(t, time_name);
}

static void last_offset_below_the_base(struct test_log *t, const char *name, const char *time_name)
{
    static const uint8_t below[] = {0xff, 0xff, 0xff, 0xfe, 0, 0, 1, 44};

    (void)time_name;
    file_append(t, name, below, sizeof below);
}

static void last_position_past_the_end(struct test_log *t, const char *name, const char *time_name)
{
    static const uint8_t past[] = {0, 0, 0, 9, 0, 1, 0, 0};

    (void)time_name;
    file_append(t, name, past, sizeof past);
}

static void zeros_at_the_end(struct test_log *t, const char *name, const char *time_name)
{
    static const uint8_t zeros[240];

    file_append(t, name, zeros, sizeof zeros);
    file_append(t, time_name, zeros, sizeof zeros);
}

static void entries_out_of_order(struct test_log *t, const char *name, const char *time_name)
{
    static const uint8_t entries[] = {0, 0, 0, 5,  0, 0, 1, 244, 0, 0, 0, 3,
                                      0, 0, 1, 44, 0, 0, 0, 9,   0, 0, 3, 132};

    (void)time_name;
    file_write(t, name, entries, sizeof entries);
}

/* In order, in the file, but at the middle of batches. */
static void well_formed_lies(struct test_log *t, const char *name, const char *time_name)
{
    static const uint8_t entries[] = {0, 0, 0, 1,   0, 0, 0, 150, 0, 0, 0, 4,
                                      0, 0, 1, 200, 0, 0, 0, 7,   0, 0, 2, 120};

    (void)time_name;
    file_write(t, name, entries, sizeof entries);
}

/* At the right places, but with offsets that are too small: the batch there begins above. */
static void offsets_that_are_too_small(struct test_log *t, const char *name, const char *time_name)
{
    static const uint8_t entries[] = {0, 0, 0, 1, 0, 0, 1, 244, 0, 0, 0, 2, 0, 0, 2, 188};

    (void)time_name;
    file_write(t, name, entries, sizeof entries);
}

static void no_entries_at_all(struct test_log *t, const char *name, const char *time_name)
{
    file_write(t, name, "", 0);
    file_write(t, time_name, "", 0);
}

/* Case: C-03 */
TEST_AGAIN(damaged_indexes_are_never_trusted_and_never_fatal, void **state)
{
    static damage *const damages[] = {blank,
                                      junk_at_the_start,
                                      part_of_an_entry,
                                      missing,
                                      only_the_time_index_missing,
                                      last_offset_below_the_base,
                                      last_position_past_the_end,
                                      zeros_at_the_end,
                                      entries_out_of_order,
                                      well_formed_lies,
                                      offsets_that_are_too_small,
                                      no_entries_at_all};
    enum { DAMAGES = sizeof damages / sizeof damages[0] };
    struct test_log *t = *state;

    /* Recovered, trusted because of the recovery point, and trusted after a clean stop. */
    for (int mode = 0; mode < 3; mode++) {
        for (size_t i = 0; i < DAMAGES; i++) {
            if (t->log != NULL) {
                assert_int_equal(test_log_teardown(state), 0);
                assert_int_equal(test_log_setup(state), 0);
            }
            test_log_fill(t, 200);
            expect_ok(t, hw_log_clean_stop(t->log, &t->error));
            close_log(t);
            t->load.recovery_point = mode == 0 ? 0 : 195;
            t->load.clean = mode == 2;
            for (int base = 0; base < 200; base += 10) {
                char name[40];
                char time_name[40];

                (void)snprintf(name, sizeof name, "%020d.index", base);
                (void)snprintf(time_name, sizeof time_name, "%020d.timeindex", base);
                damages[i](t, name, time_name);
            }
            open_log(t);
            expect_log(t, 0, 0, 200);
            assert_int_equal(expect_all_readable(t), 200);
            produce_sized(t, 5000, 100);
            reopen_cleanly(t);
            assert_int_equal(expect_all_readable(t), 201);
        }
    }
}

/* An index that lies so that it is not seen when it is opened: the cut goes by what is in the .log.
 */
TEST(a_lying_index_does_not_outlive_a_cut, struct test_log *t)
{
    static const uint8_t lies[] = {0, 0, 0, 1, 0, 0, 0, 100, 0, 0, 0, 2, 0, 0, 1, 44};
    struct hw_buffer buffer;

    t->config.index_interval_bytes = 50;
    open_log(t);
    for (int i = 0; i < 5; i++) {
        produce_sized(t, 10 * i, 100);
    }
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    t->load.clean = true;
    file_write(t, "00000000000000000000.index", lies, 8);
    open_log(t);
    close_log(t);
    t->load.clean = true;
    file_write(t, "00000000000000000000.index", lies, sizeof lies);
    file_write(t, "00000000000000000005.log", "",
               0); /* So that the other's end is not looked for. */
    file_write(t, "00000000000000000005.index", "", 0);
    file_write(t, "00000000000000000005.timeindex", "", 0);
    open_log(t);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    expect_ok(t, hw_log_read(t->log, 0, INT64_MAX, 300, true, &buffer, &t->error));
    assert_int_equal(buffer.size, 300);
    hw_buffer_release(&buffer);
    expect_ok(t, hw_log_truncate_to(t->log, 3, &t->error));
    produce_sized(t, 70, 100);
    produce_sized(t, 80, 100);
    expect_batches(t, "0 1 2 3 4");
    reopen_cleanly(t);
    assert_int_equal(expect_all_readable(t), 5);
}

/* Case: C-08 a */
TEST(index_files_without_a_log_are_removed, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 3, 0);
    close_log(t);
    file_write(t, "00000000000000000005.index", "12345678", 8);
    file_write(t, "00000000000000000005.timeindex", "123456789012", 12);
    file_write(t, "00000000000000000007.txnindex", "", 0);
    file_write(t, "00000000000000000005.snapshot", "", 0);
    file_write(t, "other.index", "", 0);
    open_log(t);
    expect_log(t, 0, 0, 3);
    assert_false(file_exists(t, "00000000000000000005.index"));
    assert_false(file_exists(t, "00000000000000000005.timeindex"));
    assert_false(file_exists(t, "00000000000000000007.txnindex"));
    assert_false(file_exists(t, "00000000000000000005.snapshot")); /* It is above the log end. */
    assert_true(file_exists(t, "other.index"));
    assert_true(file_exists(t, FIRST_INDEX));
    produce(t, 0, 2, 0);
    t->config.segment_bytes = 1;
    hw_log_set_config(t->log, &t->config);
    expect_ok(t, follow(t, 5, 1, 0, 0));
    expect_segments(t, "0 5");
}

/* Case: C-08 b */
TEST(an_empty_segment_without_indexes_is_no_damage, struct test_log *t)
{
    bool rolled;

    t->config.index_interval_bytes = 0;
    open_log(t);
    for (int i = 0; i < 100; i++) {
        produce(t, 0, 1, i);
    }
    expect_ok(t, hw_log_roll(t->log, 0, &rolled, &t->error));
    assert_false(file_exists(t, "00000000000000000100.index"));
    close_log(t);
    assert_int_equal(t->load.recovery_point, 100);
    open_log(t);
    expect_log(t, 0, 0, 100);
    assert_int_equal(t->recovery.bytes_cut, 0);
    assert_int_equal(hw_log_segment_count(t->log), 2);
    assert_string_equal(t->recovery.detail, "");
    assert_int_equal(file_size(t, "00000000000000000100.index"), 0);
    assert_int_equal(file_size(t, "00000000000000000100.timeindex"), 0);
    for (int i = 0; i < 10; i++) {
        produce(t, 0, 1, i);
    }
    expect_log(t, 0, 0, 110);
    assert_int_equal(expect_all_readable(t), 110);
}

/* An empty segment in the middle is the trace of a failed append; it must not cut what is good. */
TEST(an_empty_segment_in_the_middle_is_removed, struct test_log *t)
{
    test_log_fill(t, 50);
    close_log(t);
    t->load.recovery_point = 0;
    file_write(t, "00000000000000000013.log", "", 0);
    file_write(t, "00000000000000000017.log", "", 0);
    open_log(t);
    expect_segments(t, "0 10 20 30 40");
    assert_false(file_exists(t, "00000000000000000013.log"));
    assert_int_equal(expect_all_readable(t), 50);
}

TEST(files_of_other_names_are_left_alone, struct test_log *t)
{
    static const char *const names[] = {"5.log",
                                        "0000000000000000000a.log",
                                        "99999999999999999999.log",
                                        "09223372036854775807.log",
                                        "00000000000000000005.log.bak",
                                        "x.swap",
                                        "00000000000000000005-0000000001.checkpoint.deleted"};

    open_log(t);
    produce(t, 0, 3, 0);
    close_log(t);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        file_write(t, names[i], "abc", 3);
    }
    open_log(t);
    expect_log(t, 0, 0, 3);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(file_exists(t, names[i]));
    }
}

static void copy_file(struct test_log *t, const char *from, const char *to)
{
    struct hw_buffer content;

    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, from, &content);
    file_write(t, to, content.bytes, content.size);
    hw_buffer_release(&content);
}

/* Kafka formats 4.8, 7.2 */
TEST(deleted_files_are_removed_and_an_unfinished_cleaning_is_undone, struct test_log *t)
{
    test_log_fill(t, 50);
    close_log(t);
    copy_file(t, FIRST_LOG, "00000000000000000000.log.deleted");
    copy_file(t, FIRST_LOG, "00000000000000000000.timeindex.deleted");
    /* Cleaning 0 and 10 into 0, 20 and 30 into 20: only the latter got as far as to be renamed. */
    file_write(t, "00000000000000000000.log.cleaned", "", 0);
    file_write(t, "00000000000000000020.log.swap", "", 0);
    file_write(t, "00000000000000000020.index.swap", "", 0);
    open_log(t);
    expect_segments(t, "0 10 20 30 40");
    assert_int_equal(expect_all_readable(t), 50);
    assert_false(file_exists(t, "00000000000000000000.log.deleted"));
    assert_false(file_exists(t, "00000000000000000000.timeindex.deleted"));
    assert_false(file_exists(t, "00000000000000000000.log.cleaned"));
    assert_false(file_exists(t, "00000000000000000020.log.swap"));
    assert_false(file_exists(t, "00000000000000000020.index.swap"));
}

TEST(a_finished_cleaning_is_swapped_in, struct test_log *t)
{
    struct hw_buffer cleaned;

    test_log_fill(t, 50);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    t->load.clean = true;
    /* Of the segments 10 and 20 the batches 12 and 29 are left. */
    hw_buffer_init(&cleaned, &hw_allocator_libc);
    build_batch(&cleaned, 12, 1, 0, 120);
    build_batch(&cleaned, 29, 1, 0, 290);
    file_write(t, "00000000000000000010.log.swap", cleaned.bytes, cleaned.size);
    file_write(t, "00000000000000000010.index.swap", "", 0);
    file_write(t, "00000000000000000010.timeindex.swap", "\0\0\0\0\0\0\1\42\0\0\0\23", 12);
    hw_buffer_release(&cleaned);
    open_log(t);
    expect_segments(t, "0 10 30 40");
    assert_false(file_exists(t, "00000000000000000010.log.swap"));
    expect_read(t, 10, 1, "12");
    expect_read(t, 13, 1, "29");
    expect_log(t, 0, 0, 50);
    assert_int_equal(expect_all_readable(t), 32);
    crash_and_reopen(t);
    assert_int_equal(expect_all_readable(t), 32);
}

/* The crash came between two renames. */
TEST(a_swap_that_was_half_done_is_finished, struct test_log *t)
{
    test_log_fill(t, 30);
    close_log(t);
    copy_file(t, "00000000000000000010.index", "00000000000000000010.index.swap");
    file_remove(t, "00000000000000000010.index");
    open_log(t);
    assert_true(file_exists(t, "00000000000000000010.index"));
    assert_false(file_exists(t, "00000000000000000010.index.swap"));
    assert_int_equal(expect_all_readable(t), 30);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
