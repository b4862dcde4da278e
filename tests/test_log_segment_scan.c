/* SPDX-License-Identifier: MIT */
/*
 * Does a scan of one segment find what is asked for by reading little, and find the same when its
 * indexes are damaged in any way? Source: LogSegment.translateOffset, findOffsetByTimestamp.
 */
#include "core/base/bytes.h"
#include "core/base/random.h"
#include "core/inspect/segment_scan.h"
#include "core/io/memory_store.h"
#include "tests/support_segment.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

enum {
    BASE = 1000,
    BATCHES = 600,         /* Of two records each... */
    VALUE_SIZE = 700,      /* ...so large. */
    INDEX_INTERVAL = 4096, /* Kafka's. */
    TEXT_SIZE = 1 << 16
};

struct fixture {
    int64_t bytes_read; /* By the scan that was opened last. */
    struct test_heap heap;
    struct hw_store *store;
    struct hw_buffer log;
    struct hw_buffer index;
    struct hw_buffer times;
    struct hw_error error;
    char text[TEXT_SIZE];
    char again[TEXT_SIZE];
};

/* Timestamp of a batch's first record. Every seventh batch is late. */
static hw_time_ms_t batch_time(int batch)
{
    return 10 * (batch % 7 == 3 ? batch - 20 : batch) + 1000;
}

static void put_i32(struct hw_buffer *buffer, int32_t value)
{
    uint8_t bytes[4];
    struct hw_error error;

    hw_put_i32(bytes, value);
    assert_int_equal(hw_buffer_append(buffer, bytes, sizeof bytes, &error), HW_OK);
}

/* A segment and its indexes as a leader writes them, with one batch an append. */
static void put_segment(struct fixture *t)
{
    hw_time_ms_t largest = -1;
    int32_t largest_offset = 0;
    hw_time_ms_t indexed = -1;
    size_t since = 0;

    for (int i = 0; i < BATCHES; i++) {
        size_t start = t->log.size;

        test_put_batch(&t->log, &(struct test_batch){.base_offset = BASE + 2 * i,
                                                     .count = 2,
                                                     .timestamp = batch_time(i),
                                                     .value_size = VALUE_SIZE});
        if (batch_time(i) + 1 > largest) {
            largest = batch_time(i) + 1;
            largest_offset = 2 * i + 1;
        }
        if (since > INDEX_INTERVAL) {
            put_i32(&t->index, 2 * i + 1);
            put_i32(&t->index, (int32_t)start);
            if (largest > indexed) {
                put_i32(&t->times, 0);
                put_i32(&t->times, (int32_t)largest);
                put_i32(&t->times, largest_offset);
                indexed = largest;
            }
            since = 0;
        }
        since += t->log.size - start;
    }
}

static int setup(void **state)
{
    static struct fixture fixture;

    test_heap_init(&fixture.heap, -1);
    hw_buffer_init(&fixture.log, &hw_allocator_libc);
    hw_buffer_init(&fixture.index, &hw_allocator_libc);
    hw_buffer_init(&fixture.times, &hw_allocator_libc);
    put_segment(&fixture);
    *state = &fixture;
    if (hw_memory_store_create(&hw_allocator_libc, &fixture.store, &fixture.error) != HW_OK) {
        return -1;
    }
    test_put_file(fixture.store, "a.log", &fixture.log);
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_store_destroy(t->store);
    hw_buffer_release(&t->log);
    hw_buffer_release(&t->index);
    hw_buffer_release(&t->times);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

static struct hw_segment_scan *open_scan(struct fixture *t, struct hw_segment_range *range)
{
    struct hw_segment_paths paths = {.log = "a.log",
                                     .index = "a.index",
                                     .time = "a.timeindex",
                                     .is_named = true,
                                     .base_offset = BASE};
    struct hw_segment_scan *scan;

    t->bytes_read = 0;
    range->bytes_read = &t->bytes_read;
    test_put_file(t->store, "a.index", &t->index);
    test_put_file(t->store, "a.timeindex", &t->times);
    assert_int_equal(hw_segment_scan_open(&t->heap.allocator, t->store, &paths, HW_OFFSET_NONE,
                                          range, &scan, &t->error),
                     HW_OK);
    return scan;
}

/* Whether the scan returns the batch that holds `offset`; what it read goes to *bytes_read. */
static bool finds_offset(struct fixture *t, hw_offset_t offset, bool is_backwards,
                         int64_t *bytes_read)
{
    struct hw_segment_range range = {.first_offset = offset,
                                     .last_offset = offset,
                                     .timestamp_min = INT64_MIN,
                                     .is_backwards = is_backwards};
    struct hw_segment_scan *scan = open_scan(t, &range);
    struct hw_segment_entry entry;
    bool has = false;
    bool found = true;

    while (found) {
        assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
        has = has || (found && entry.first_offset <= offset && entry.last_offset >= offset);
    }
    *bytes_read = t->bytes_read;
    hw_segment_scan_close(scan);
    return has;
}

TEST(one_offset_costs_a_few_kib, struct fixture *t)
{
    int64_t bytes_read;

    for (int i = 0; i < 2 * BATCHES; i++) {
        assert_true(finds_offset(t, BASE + i, false, &bytes_read));
        assert_in_range(bytes_read, 1, 20000);
        assert_true(finds_offset(t, BASE + i, true, &bytes_read));
        assert_in_range(bytes_read, 1, 40000);
    }
    assert_false(finds_offset(t, BASE - 1, false, &bytes_read));
    assert_false(finds_offset(t, BASE + 2 * BATCHES, false, &bytes_read));
    assert_in_range(bytes_read, 1, 20000);
}

TEST(the_last_batches_cost_a_few_kib, struct fixture *t)
{
    struct hw_segment_range range = {
        .last_offset = INT64_MAX, .timestamp_min = INT64_MIN, .is_backwards = true};
    struct hw_segment_scan *scan;
    struct hw_segment_entry entry;
    bool found;

    /* A broker that runs has a tail of zeros. */
    test_put_bytes(&t->index, 0, 80000);
    scan = open_scan(t, &range);
    for (int i = BATCHES; i > BATCHES - 5; i--) {
        assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
        assert_true(found);
        assert_int_equal(entry.last_offset, BASE + 2 * i - 1);
    }
    assert_in_range(t->bytes_read, 1, 30000);
    hw_segment_scan_close(scan);
}

TEST(backwards_is_forwards_from_the_end, struct fixture *t)
{
    struct hw_segment_range range = {
        .last_offset = INT64_MAX, .timestamp_min = INT64_MIN, .is_backwards = true};
    struct hw_segment_scan *scan = open_scan(t, &range);
    struct hw_segment_entry entry;
    bool found = true;
    int count = 0;

    for (;;) {
        assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
        if (!found) {
            break;
        }
        count++;
        assert_int_equal(entry.first_offset, BASE + 2 * (BATCHES - count));
    }
    assert_int_equal(count, BATCHES);
    /* Chunks overlap in a header here and there, no more. */
    assert_in_range(t->bytes_read, t->log.size, 2 * t->log.size);
    hw_segment_scan_close(scan);
}

/* The batches with a record at or behind `timestamp`, as the headers say. */
static void expect_times(struct fixture *t, hw_time_ms_t timestamp, bool is_backwards)
{
    struct hw_segment_range range = {
        .last_offset = INT64_MAX, .timestamp_min = timestamp, .is_backwards = is_backwards};
    struct hw_segment_scan *scan = open_scan(t, &range);
    struct hw_segment_entry entry;
    bool found = true;
    int expected = 0;
    int count = 0;

    for (int i = 0; i < BATCHES; i++) {
        expected += batch_time(i) + 1 >= timestamp;
    }
    while (found) {
        assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
        count += found && entry.batch.max_timestamp >= timestamp;
    }
    assert_int_equal(count, expected);
    hw_segment_scan_close(scan);
}

TEST(records_are_found_by_their_time, struct fixture *t)
{
    struct hw_segment_range range = {.last_offset = INT64_MAX};
    struct hw_segment_scan *scan;
    struct hw_segment_entry entry;
    bool found;

    for (hw_time_ms_t time = 900; time < 10 * BATCHES + 1100; time += 173) {
        expect_times(t, time, false);
        expect_times(t, time, true);
    }
    range.timestamp_min = batch_time(BATCHES - 50);
    scan = open_scan(t, &range);
    assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
    assert_true(found);
    assert_int_equal(entry.first_offset, BASE + 2 * (BATCHES - 50));
    assert_in_range(t->bytes_read, 1, 30000);
    hw_segment_scan_close(scan);
}

/* Everything that the damaged index could change: single offsets, times, and the whole segment. */
static void expect_unharmed(struct fixture *t, hw_offset_t near)
{
    int64_t bytes_read;

    for (int i = -3; i <= 3; i++) {
        hw_offset_t offset = near + i;

        if (offset >= BASE && offset < BASE + 2 * BATCHES) {
            assert_true(finds_offset(t, offset, false, &bytes_read));
            assert_true(finds_offset(t, offset, true, &bytes_read));
        }
    }
    expect_times(t, batch_time((int)(near - BASE) / 2), false);
}

/* Case: C-03. Every entry of both indexes in turn, with several kinds of damage. */
TEST(a_damaged_index_changes_nothing_that_is_found, struct fixture *t)
{
    struct hw_random random;
    int64_t entries = (int64_t)t->index.size / 8;

    hw_random_init(&random, 42);
    for (int64_t i = 0; i < entries; i += 3) {
        uint8_t *entry = t->index.bytes + 8 * i;
        uint8_t *time = t->times.bytes + 12 * (i < (int64_t)t->times.size / 12 ? i : 0);
        uint8_t entry_was[8];
        uint8_t time_was[12];
        hw_offset_t near = BASE + hw_get_i32(entry);

        memcpy(entry_was, entry, sizeof entry_was);
        memcpy(time_was, time, sizeof time_was);
        for (int kind = 0; kind < 5; kind++) {
            switch (kind) {
            case 0: /* A position inside a batch. */
                hw_put_i32(entry + 4, hw_get_i32(entry + 4) + 100);
                break;
            case 1: /* Another offset. */
                hw_put_i32(entry, (int32_t)hw_random_below(&random, 3 * BATCHES));
                hw_put_i32(time + 8, (int32_t)hw_random_below(&random, 3 * BATCHES));
                break;
            case 2:
                memset(entry, 0xff, 8);
                memset(time, 0xff, 12);
                break;
            case 3: /* A time that is too late, or too early. */
                hw_put_i32(time + 4, (int32_t)hw_random_below(&random, 20 * BATCHES));
                break;
            default: /* A hole. */
                memset(entry, 0, 8);
                memset(time, 0, 12);
                break;
            }
            expect_unharmed(t, near);
            memcpy(entry, entry_was, sizeof entry_was);
            memcpy(time, time_was, sizeof time_was);
        }
    }
}

/* The index is still worth most of what it was. */
TEST(one_wrong_entry_costs_one_interval, struct fixture *t)
{
    uint8_t *entry = t->index.bytes + 8 * 80;
    hw_offset_t offset = BASE + hw_get_i32(entry);
    int64_t bytes_read;

    hw_put_i32(entry + 4, hw_get_i32(entry + 4) + 100);
    assert_true(finds_offset(t, offset, false, &bytes_read));
    assert_in_range(bytes_read, 1, 40000);
}

/* A batch with a base offset that goes back stands where an index entry points: each in turn, since
 * not all of them are places to begin. */
TEST(an_entry_whose_batch_goes_back_is_not_believed, struct fixture *t)
{
    struct hw_segment_range range = {
        .last_offset = INT64_MAX, .timestamp_min = INT64_MIN, .is_backwards = true};

    for (size_t at = t->index.size - 10 * 8; at < t->index.size; at += 8) {
        int32_t position = hw_get_i32(t->index.bytes + at + 4);
        int64_t offset = hw_get_i64(t->log.bytes + position);
        struct hw_segment_scan *scan;
        struct hw_segment_entry entry;
        bool found = true;

        hw_put_i64(t->log.bytes + position, BASE + 1);
        test_put_file(t->store, "a.log", &t->log);
        scan = open_scan(t, &range);
        do {
            assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &t->error), HW_OK);
            assert_true(found);
        } while (entry.position != position);
        assert_int_equal(entry.fault, HW_FAULT_OFFSETS);
        hw_segment_scan_close(scan);
        hw_put_i64(t->log.bytes + position, offset);
    }
}

/* Case: C-03. Whole files of junk, and files that were cut. */
TEST(junk_for_an_index_is_as_good_as_none, struct fixture *t)
{
    struct hw_random random;

    hw_random_init(&random, 7);
    for (int round = 0; round < 30; round++) {
        t->index.size = hw_random_below(&random, 200);
        t->times.size = hw_random_below(&random, 200);
        for (size_t i = 0; i < t->index.size; i++) {
            t->index.bytes[i] = (uint8_t)hw_random_next(&random);
        }
        for (size_t i = 0; i < t->times.size; i++) {
            t->times.bytes[i] = (uint8_t)hw_random_next(&random);
        }
        expect_unharmed(t, BASE + (hw_offset_t)hw_random_below(&random, 2 * BATCHES));
    }
    t->index.size = t->times.size = 2;
    expect_unharmed(t, BASE + BATCHES);
}

int main(void)
{
    return test_run(setup, teardown);
}
