/* SPDX-License-Identifier: MIT */
/*
 * When does a log begin a new segment, and are the index files the bytes that Kafka writes?
 * Source: LogSegment.shouldRoll, LogSegment.append, OffsetIndex, TimeIndex (kafka formats 4.2 to
 * 4.7).
 */
#include "core/base/bytes.h"
#include "tests/support_faulty_store.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

static bool roll(struct test_log *t)
{
    bool rolled;

    expect_ok(t, hw_log_roll(t->log, t->now_ms, &rolled, &t->error));
    return rolled;
}

TEST(a_segment_never_passes_segment_bytes, struct test_log *t)
{
    t->config.segment_bytes = 250;
    open_log(t);
    produce_sized(t, 0, 100);
    produce_sized(t, 0, 150);
    expect_segments(t, "0");
    produce_sized(t, 0, 100);
    produce_sized(t, 0, 151);
    expect_segments(t, "0 2 3");
}

/* Case: C-04 */
TEST(an_empty_segment_is_never_rolled, struct test_log *t)
{
    t->config.segment_ms = 1000;
    t->config.segment_index_bytes = 0;
    open_log(t);
    assert_false(roll(t));
    expect_segments(t, "0");
    t->now_ms = 1000000;
    produce(t, 0, 2, HW_TIMESTAMP_NONE);
    expect_log(t, 0, 0, 2);
    expect_segments(t, "0");
    assert_true(roll(t));
    assert_false(roll(t));
    expect_segments(t, "0 2");
    hw_log_truncate_to(t->log, 2, &t->error);
    t->now_ms = 2000000;
    reopen_cleanly(t);
    t->now_ms = 3000000;
    produce(t, 0, 1, HW_TIMESTAMP_NONE);
    expect_segments(t, "0 2");
    expect_batches(t, "0-1 2");
}

/* Case: C-04 */
TEST(an_offset_too_far_from_the_base_begins_a_segment_even_behind_an_empty_one, struct test_log *t)
{
    const hw_offset_t far = (hw_offset_t)INT32_MAX + 1;

    open_log(t);
    expect_ok(t, follow(t, 0, 1, 0, 0));
    expect_ok(t, follow(t, far - 1, 1, 0, 0));
    expect_segments(t, "0");
    expect_ok(t, follow(t, far, 1, 0, 0));
    expect_segments(t, "0 2147483648");
    expect_ok(t, follow(t, 3 * far, 2, 0, 0));
    expect_segments(t, "0 2147483648 6442450944");
    expect_batches(t, "0 2147483647 2147483648 6442450944-6442450945");
    crash_and_reopen(t);
    expect_batches(t, "0 2147483647 2147483648 6442450944-6442450945");
    hw_log_truncate_fully_and_start_at(t->log, 5, -1, &t->error);
    expect_ok(t, follow(t, 2 * far, 1, 0, 0));
    expect_segments(t, "5 4294967296");
    expect_read(t, 5, 1, "4294967296");
}

/* Case: C-07 */
TEST(without_timestamps_the_age_of_the_segment_counts, struct test_log *t)
{
    t->config.segment_ms = 1000;
    open_log(t);
    t->now_ms = 1001;
    produce(t, 0, 1, HW_TIMESTAMP_NONE);
    expect_segments(t, "0");
    produce(t, 0, 1, HW_TIMESTAMP_NONE);
    expect_segments(t, "0 1");
    t->now_ms = 2001;
    produce(t, 0, 1, HW_TIMESTAMP_NONE);
    expect_segments(t, "0 1");
}

/* Case: C-07 */
TEST(with_timestamps_they_alone_count, struct test_log *t)
{
    t->config.segment_ms = 1000;
    open_log(t);
    produce(t, 0, 1, 5000);
    t->now_ms = 99999;
    produce(t, 0, 1, 5500);
    produce(t, 0, 1, 6000);
    produce(t, 0, 1, 4000);
    expect_segments(t, "0");
    reopen_cleanly(t);
    produce(t, 0, 1, 6000);
    expect_segments(t, "0");
    produce(t, 0, 1, 6001);
    expect_segments(t, "0 5");
    crash_and_reopen(t);
    produce(t, 0, 1, 7001);
    expect_segments(t, "0 5");
    produce(t, 0, 1, 7002);
    expect_segments(t, "0 5 7");
}

/* Case: C-07: zero is a timestamp like any other. */
TEST(a_first_timestamp_of_zero_counts_too, struct test_log *t)
{
    t->config.segment_ms = 1000;
    open_log(t);
    produce(t, 0, 1, 0);
    t->now_ms = 99999;
    produce(t, 0, 1, 1000);
    expect_segments(t, "0");
    produce(t, 0, 1, 1001);
    expect_segments(t, "0 2");
}

/* LogSegment.truncateTo: an emptied segment is as if it were new; else its first batch counts. */
TEST(after_a_cut_the_age_of_what_is_left_counts, struct test_log *t)
{
    t->config.segment_ms = 1000;
    open_log(t);
    produce(t, 0, 1, 100);
    produce(t, 0, 1, 200);
    assert_true(roll(t));
    produce(t, 0, 1, 300);
    t->now_ms = 5000;
    reopen_cleanly(t);
    expect_ok(t, hw_log_truncate_to(t->log, 1, &t->error));
    expect_segments(t, "0");
    produce(t, 0, 1, 1101);
    expect_segments(t, "0 1");

    expect_ok(t, hw_log_truncate_to(t->log, 0, &t->error));
    t->now_ms = 10000;
    produce(t, 0, 1, HW_TIMESTAMP_NONE);
    t->now_ms = 11000;
    produce(t, 0, 1, HW_TIMESTAMP_NONE);
    expect_segments(t, "0");
    t->now_ms = 11001;
    produce(t, 0, 1, HW_TIMESTAMP_NONE);
    expect_segments(t, "0 2");
}

/* Timestamps from a leader are not checked; no difference of them may overflow. */
TEST(extreme_timestamps_do_no_harm, struct test_log *t)
{
    static const hw_time_ms_t times[] = {0, INT64_MAX, 1, INT64_MIN, -2, INT64_MAX - 1};

    open_log(t);
    for (int i = 0; i < 6; i++) {
        struct hw_buffer buffer;
        struct hw_batch batch;

        hw_buffer_init(&buffer, &hw_allocator_libc);
        build_batch(&buffer, i, 1, 0, 0);
        (void)hw_batch_parse(buffer.bytes, buffer.size, &batch);
        batch.max_timestamp = times[i];
        hw_batch_encode(buffer.bytes, &batch);
        expect_ok(t, follow_bytes(t, &buffer));
        hw_buffer_release(&buffer);
    }
    crash_and_reopen(t);
    reopen_cleanly(t);
    expect_batches(t, "0 1 2 3 4 5");
}

TEST(a_full_index_begins_a_segment, struct test_log *t)
{
    t->config.index_interval_bytes = 0;
    t->config.segment_index_bytes =
        36; /* 4 offset entries; 3 time entries, one of them reserved. */
    open_log(t);
    for (int i = 0; i < 10; i++) {
        produce_sized(t, i, 100);
    }
    /* The first batch has no entry; the second and third have; then the time index is full. */
    expect_segments(t, "0 3 6 9");
    assert_int_equal(file_size(t, "00000000000000000000.index"), 16);
    assert_int_equal(file_size(t, "00000000000000000000.timeindex"), 24);
}

/* The files of a segment of 2000-byte batches, as bytes. */
static void expect_file(struct test_log *t, const char *name, const int64_t (*pairs)[2],
                        size_t count, bool is_time)
{
    size_t entry_size = is_time ? 12 : 8;
    struct hw_buffer content;

    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, name, &content);
    assert_int_equal(content.size, count * entry_size);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *entry = content.bytes + i * entry_size;

        assert_int_equal(is_time ? hw_get_i64(entry) : hw_get_i32(entry), pairs[i][0]);
        assert_int_equal(hw_get_i32(entry + entry_size - 4), pairs[i][1]);
    }
    hw_buffer_release(&content);
}

/* Kafka formats 4.5, the example: entries at 6000, 12000, 18000. */
TEST(an_index_entry_is_made_when_more_than_the_interval_was_written_before, struct test_log *t)
{
    static const int64_t offsets[][2] = {{3, 6000}, {6, 12000}, {9, 18000}};
    static const int64_t offsets_after[][2] = {{3, 6000}, {6, 12000}, {12, 24000}};
    static const int64_t times[][2] = {{1003, 3}, {1006, 6}, {1009, 9}};
    static const int64_t times_at_the_end[][2] = {{1003, 3}, {1006, 6}, {1009, 9}, {1010, 10}};

    open_log(t);
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 100, HW_OFFSET_NONE, &t->error));
    for (int i = 0; i < 11; i++) {
        produce_sized(t, 1000 + i, 2000);
    }
    assert_int_equal(hw_log_segment_view(t->log, 0).index_entries, 3);
    reopen_cleanly(t);
    expect_file(t, "00000000000000000100.index", offsets, 3, false);
    expect_file(t, "00000000000000000100.timeindex", times_at_the_end, 4, true);

    /* Recovery makes the same ones. */
    file_remove(t, "00000000000000000100.index");
    crash_and_reopen(t);
    expect_file(t, "00000000000000000100.index", offsets, 3, false);
    expect_file(t, "00000000000000000100.timeindex", times_at_the_end, 4, true);

    /* A cut takes the entries at and above it away. */
    produce_sized(t, 1011, 2000);
    produce_sized(t, 1012, 2000);
    expect_ok(t, hw_log_truncate_to(t->log, 109, &t->error));
    expect_file(t, "00000000000000000100.index", offsets, 2, false);
    expect_file(t, "00000000000000000100.timeindex", times, 2, true);

    /* And the bytes count from there: 2000 and 4000 are not more than the interval, 6000 are. */
    for (int i = 0; i < 4; i++) {
        produce_sized(t, 2000 + i, 2000);
    }
    reopen_cleanly(t);
    expect_file(t, "00000000000000000100.index", offsets_after, 3, false);
}

TEST(the_interval_itself_is_not_more_than_the_interval, struct test_log *t)
{
    static const int64_t offsets[][2] = {{3, 300}, {6, 600}};

    t->config.index_interval_bytes = 200;
    open_log(t);
    for (int i = 0; i < 8; i++) {
        produce_sized(t, 0, 100);
    }
    reopen_cleanly(t);
    expect_file(t, "00000000000000000000.index", offsets, 2, false);
    file_remove(t, "00000000000000000000.index");
    crash_and_reopen(t);
    expect_file(t, "00000000000000000000.index", offsets, 2, false);
}

/* Kafka formats 4.3: only a larger timestamp makes an entry, with the earliest batch that has it.
 */
TEST(the_time_index_has_growing_timestamps_only, struct test_log *t)
{
    static const hw_time_ms_t times[] = {50, 40, 70, 60, 70, -1, 80};
    static const int64_t entries[][2] = {{50, 0}, {70, 2}, {80, 6}};

    t->config.index_interval_bytes = 0;
    open_log(t);
    for (int i = 0; i < 7; i++) {
        produce(t, 0, 1, times[i]);
    }
    reopen_cleanly(t);
    expect_file(t, "00000000000000000000.timeindex", entries, 3, true);
}

/* Kafka formats 4.5 and 10: what a follower fetched is decided upon batch by batch (KAFKA-806). */
TEST(a_follower_indexes_batch_by_batch, struct test_log *t)
{
    static const int64_t offsets[][2] = {{11, 390}};
    static const int64_t times[][2] = {{5, 1}, {7, 12}};
    static const char *const batch_of[] = {"0",  "1",  "2",  "11", "11", "11", "11",
                                           "11", "11", "11", "11", "11", "12", "13"};
    struct hw_buffer buffer;

    t->config.index_interval_bytes = 350;
    open_log(t);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_sized_batch(&buffer, 0, 3, 130);
    build_sized_batch(&buffer, 1, 5, 130);
    build_sized_batch(&buffer, 2, 5, 130);
    expect_ok(t, follow_bytes(t, &buffer));
    buffer.size = 0;
    build_sized_batch(&buffer, 11, 4, 130);
    build_sized_batch(&buffer, 12, 7, 130);
    build_sized_batch(&buffer, 13, 7, 130);
    expect_ok(t, follow_bytes(t, &buffer));
    hw_buffer_release(&buffer);
    assert_true(roll(t));
    expect_file(t, "00000000000000000000.index", offsets, 1, false);
    expect_file(t, "00000000000000000000.timeindex", times, 2, true);
    for (hw_offset_t offset = 0; offset < 14; offset++) {
        expect_read(t, offset, 1, batch_of[offset]);
    }
}

/* Every file that is there at any moment is a trimmed index without an entry past the .log. */
TEST(index_files_are_valid_at_any_moment, struct test_log *t)
{
    t->config.index_interval_bytes = 100;
    t->config.segment_bytes = 1500;
    open_log(t);
    for (int i = 0; i < 60; i++) {
        produce_sized(t, i, 90);
        if (i % 20 == 19) {
            expect_ok(t, hw_log_truncate_to(t->log, i - 12, &t->error));
        }
        for (size_t k = 0; k < hw_log_segment_count(t->log); k++) {
            struct hw_segment_view view = hw_log_segment_view(t->log, k);
            struct hw_buffer content;
            char name[40];
            int32_t last = 0;

            (void)snprintf(name, sizeof name, "%020lld.index", (long long)view.base_offset);
            if (!file_exists(t, name)) {
                continue;
            }
            hw_buffer_init(&content, &hw_allocator_libc);
            file_read(t, name, &content);
            assert_int_equal(content.size % 8, 0);
            for (size_t at = 4; at < content.size; at += 8) {
                int32_t position = hw_get_i32(content.bytes + at);

                assert_true(position > last && position < view.size_bytes);
                last = position;
            }
            hw_buffer_release(&content);
        }
    }
}

/* Opening after a clean stop reads the end of the log only, however long it is. */
TEST(a_clean_opening_costs_the_same_for_a_short_and_a_long_log, struct test_log *t)
{
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *memory = t->store;
    int64_t calls[2];

    expect_ok(t, hw_faulty_store_create(&t->heap.allocator, memory, &faults, &t->store, &t->error));
    open_log(t);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 100 + 5000 * i; k++) {
            produce_sized(t, 0, 100);
        }
        expect_ok(t, hw_log_clean_stop(t->log, &t->error));
        close_log(t);
        t->load.clean = true;
        faults.calls = 0;
        open_log(t);
        calls[i] = faults.calls;
    }
    assert_int_equal(calls[0], calls[1]);
    assert_true(calls[0] <= 22);
    hw_log_close(t->log);
    t->log = NULL;
    hw_store_destroy(t->store);
    t->store = memory;
}

enum { DAMAGE_BEHIND, DAMAGE_CUT, DAMAGE_FIRST, DAMAGE_ORDER, DAMAGE_COUNT };

/* Put bytes behind an index that are no entry of it, or cut a byte off; or have its first entry point
 * beyond the log; or have the second one's timestamp, or its position, come before the first one's. */
static void damage(struct test_log *t, const char *name, int kind)
{
    bool is_time = strstr(name, "time") != NULL;
    struct hw_buffer content;

    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, name, &content);
    assert_true(content.size > 0);
    if (kind == DAMAGE_CUT) {
        content.size--;
    } else if (kind == DAMAGE_FIRST) {
        content.bytes[is_time ? 8 : 4] = 0x7F;
    } else if (kind == DAMAGE_ORDER) {
        assert_true(content.size >= 24);
        memset(content.bytes + 12, 0, is_time ? 8 : 4);
    } else {
        expect_ok(t, hw_buffer_append(&content, "123456789012345678901234", 24, &t->error));
    }
    file_write(t, name, content.bytes, content.size);
    hw_buffer_release(&content);
}

/* What an index that has changed since says is checked before it is used, and made again. */
TEST(a_changed_index_is_made_again, struct test_log *t)
{
    static const char *const names[] = {"00000000000000000000.index",
                                        "00000000000000000000.timeindex",
                                        "00000000000000000010.index"};

    t->config.index_interval_bytes = 150;
    t->config.segment_bytes = 1000;
    open_log(t);
    for (int i = 0; i < 20; i++) {
        produce_sized(t, 1000 + i, 100);
    }
    expect_segments(t, "0 10");
    for (int kind = 0; kind < DAMAGE_COUNT; kind++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            struct hw_buffer good;
            struct hw_buffer made;

            hw_buffer_init(&good, &hw_allocator_libc);
            hw_buffer_init(&made, &hw_allocator_libc);
            reopen_cleanly(t);
            file_read(t, names[i], &good);
            damage(t, names[i], kind);
            close_log(t);
            open_log(t);
            assert_int_equal(expect_all_readable(t), 20);
            expect_ok(t, hw_log_clean_stop(t->log, &t->error));
            file_read(t, names[i], &made);
            assert_int_equal(made.size, good.size);
            assert_memory_equal(made.bytes, good.bytes, good.size);
            hw_buffer_release(&good);
            hw_buffer_release(&made);
        }
    }
}

/* segment.ms counts from the first batch after any opening, not from the first append. */
TEST(the_next_roll_is_the_same_after_an_opening, struct test_log *t)
{
    struct hw_buffer batches;

    t->config.segment_ms = 100;
    open_log(t);
    hw_buffer_init(&batches, &hw_allocator_libc);
    build_batch(&batches, 0, 1, 0, 1000);
    build_batch(&batches, 1, 1, 0, 1090);
    expect_ok(t, follow_bytes(t, &batches));
    hw_buffer_release(&batches);
    reopen_cleanly(t);
    produce(t, 0, 1, 1100);
    expect_segments(t, "0");
    produce(t, 0, 1, 1101);
    expect_segments(t, "0 3");
}

/* One write an append, and nothing else. */
TEST(an_append_is_one_call, struct test_log *t)
{
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *memory = t->store;

    expect_ok(t, hw_faulty_store_create(&t->heap.allocator, memory, &faults, &t->store, &t->error));
    open_log(t);
    produce_sized(t, 0, 100);
    faults.calls = 0;
    for (int i = 0; i < 1000; i++) {
        produce_sized(t, i, 100);
    }
    assert_int_equal(faults.calls, 1000);
    hw_log_close(t->log);
    t->log = NULL;
    hw_store_destroy(t->store);
    t->store = memory;
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
