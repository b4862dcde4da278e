/* SPDX-License-Identifier: MIT */
/*
 * Do look-ups of few rows, which go by the cache of batches, return what the log holds now; do they
 * stay within their memory; and does a reader that is used again do as a new one?
 */
#include "core/cluster/batch_cache.h"
#include "tests/support_reader.h"

#include <string.h>

#include "tests/support_test.h"

static struct hw_reader_options options_between(hw_offset_t first, hw_offset_t end)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);

    options.first = first;
    options.end = end;
    return options;
}

/* Ranges of all sizes up to what counts as a look-up, in all modes, anywhere. */
static void expect_random_ranges(struct test_reader *f, int ranges)
{
    hw_offset_t end = hw_log_end(f->log);

    for (int i = 0; i < ranges; i++) {
        hw_offset_t first = test_reader_dice(f, (int)end + 2);
        struct hw_reader_options options =
            options_between(first, first + test_reader_dice(f, i % 2 == 0 ? 2 : 66));

        options.mode = test_reader_dice(f, 4) == 0 ? HW_READ_LOG : HW_READ_UNCOMMITTED;
        expect_rows(f, &options);
    }
}

TEST(a_lookup_returns_the_rows_of_the_log_however_often, struct test_reader *f)
{
    append_random(f, 60);
    append_plain(f, 10, 40);
    set_high_watermark(f, hw_log_end(f->log));
    expect_random_ranges(f, 1500);
    assert_true(f->topics.cluster->batches.count > 20);
}

/* The same offsets are in other batches afterwards. */
TEST(what_was_cut_off_is_not_found_again, struct test_reader *f)
{
    append_plain(f, 5, 40);
    set_high_watermark(f, hw_log_end(f->log));
    expect_random_ranges(f, 50);
    for (int i = 0; i < 20; i++) {
        hw_offset_t cut = 40 * (1 + test_reader_dice(f, 4));
        struct hw_error error;

        assert_ok(hw_log_truncate_to(f->log, cut, &error));
        while (f->count > 0 && f->items[f->count - 1].batch_next > cut) {
            f->count--;
        }
        while (hw_log_end(f->log) < 200) {
            append_plain(f, 1, 1 + test_reader_dice(f, 40));
        }
        set_high_watermark(f, hw_log_end(f->log));
        expect_random_ranges(f, 50);
    }
}

TEST(the_cache_has_a_limit, struct test_reader *f)
{
    struct hw_batch_cache *cache = &f->topics.cluster->batches;
    struct test_shape shape = test_shape_plain(30);
    size_t largest = 0;

    shape.value_size = 3000;
    for (int i = 0; i < 190; i++) {
        append_shape(f, &shape, 0);
    }
    set_high_watermark(f, hw_log_end(f->log));
    for (int i = 0; i < 3; i++) {
        for (hw_offset_t offset = 0; offset < hw_log_end(f->log); offset += 15) {
            struct hw_reader_options options = options_between(offset, offset + 1);

            expect_rows(f, &options);
            assert_in_range(cache->memory_bytes, 1, HW_BATCH_CACHE_BYTES_MAX);
            largest = cache->count > largest ? cache->count : largest;
        }
    }
    assert_in_range(largest, 160, 186);
}

/* The memory that a batch was read into, however large, is given back. */
TEST(the_cache_keeps_no_more_than_a_batch_needs, struct test_reader *f)
{
    struct hw_batch_cache *cache = &f->topics.cluster->batches;
    struct hw_cached_batch *entry;
    struct hw_buffer bytes;
    struct hw_batch batch;
    struct hw_error error;

    append_plain(f, 1, 100);
    hw_buffer_init(&bytes, f->topics.cluster->allocator);
    for (int i = 0; i < 2; i++) {
        assert_ok(hw_buffer_reserve(&bytes, i == 0 ? 1 : 100000, &error));
        assert_ok(hw_log_read(f->log, 0, 100, 1, true, &bytes, &error));
        assert_int_equal(hw_batch_parse(bytes.bytes, bytes.size, &batch), HW_BATCH_OK);
        assert_ok(hw_batch_cache_add(cache, hw_batch_cache_new_content_id(cache), &bytes, &batch,
                                     SIZE_MAX, &entry, &error));
        assert_int_equal(bytes.capacity, 0);
        assert_true(entry->bytes.capacity < hw_batch_size_bytes(&batch) * 5 / 4);
    }
}

TEST(without_memory_a_lookup_fails_and_the_next_does_not, struct test_reader *f)
{
    struct hw_reader_options options = options_between(30, 33);
    bool has_failed = true;

    append_plain(f, 4, 20);
    set_high_watermark(f, hw_log_end(f->log));
    for (int n = 0; has_failed; n++) {
        struct hw_reader *reader;
        hw_offset_t last = 0;
        int count = 0;
        struct hw_error error;
        enum hw_status status;

        hw_batch_cache_release(&f->topics.cluster->batches);
        f->topics.heap.fail_at = f->topics.heap.allocations + n;
        status = hw_reader_open(f->topics.cluster, &options, &reader, &error);
        if (status == HW_OK) {
            status = test_reader_finish(reader, &count, &last, &error);
        }
        hw_reader_close(reader);
        has_failed = test_heap_has_failed(&f->topics.heap);
        f->topics.heap.fail_at = -1;
        assert_int_equal(status, has_failed ? HW_NO_MEMORY : HW_OK);
        assert_true(has_failed || (count == 3 && last == 32));
        expect_rows(f, &options);
    }
}

/* Read all rows in both ways: as far as there are some in memory, then by a look at the cluster. */
static int64_t sum_of_offsets(struct hw_reader *reader, int64_t *buffered)
{
    struct hw_row row;
    struct hw_error error;
    bool found = true;
    bool is_at_end = false;
    int64_t sum = 0;

    for (*buffered = 0; found; sum += found ? row.record.offset : 0) {
        assert_ok(hw_reader_next_buffered(reader, &row, &found, &is_at_end, &error));
        *buffered += found;
        if (!found) {
            assert_ok(hw_reader_next(reader, &row, &found, &error));
            assert_false(is_at_end && found);
        }
    }
    return sum;
}

TEST(a_reader_that_is_used_again_does_as_a_new_one, struct test_reader *f)
{
    struct hw_reader_options options = options_between(0, INT64_MAX);
    struct hw_reader *reader;
    int64_t buffered;
    struct hw_error error;

    append_plain(f, 13, 40);
    set_high_watermark(f, hw_log_end(f->log));
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    for (int i = 0; i < 6; i++) {
        options = options_between(i * 40, i % 2 == 0 ? 499 : i * 40 + 20);
        options.descending = i % 3 == 0;
        assert_ok(hw_reader_reopen(reader, f->topics.cluster, &options, &error));
        assert_int_equal(sum_of_offsets(reader, &buffered),
                         (options.end - options.first) * (options.first + options.end - 1) / 2);
        assert_true(buffered >= (options.end - options.first) * 9 / 10);
        hw_reader_release(reader);
    }
    options.topic = "nothing";
    assert_status(hw_reader_reopen(reader, f->topics.cluster, &options, &error), HW_REFUSED);
    assert_int_equal(sum_of_offsets(reader, &buffered), 0);
    hw_reader_close(reader);
}

/* How many rows there are by their runs of offsets, which must be those of the log. */
static int64_t expect_runs(struct test_reader *f, const struct hw_reader_options *options)
{
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t first = 0;
    hw_offset_t end = 0;
    bool found = true;
    int64_t rows = 0;
    int64_t expected = 0;

    assert_ok(hw_reader_open(f->topics.cluster, options, &reader, &error));
    while (found) {
        assert_ok(hw_reader_next_run(reader, &first, &end, &found, &error));
        assert_true(!found || first < end);
        rows += found ? end - first : 0;
    }
    hw_reader_close(reader);
    for (size_t item = 0; item < f->count; item++) {
        expected += test_reader_is_expected(f, options, &f->items[item]);
    }
    assert_int_equal(rows, expected);
    return rows;
}

static void expect_random_runs(struct test_reader *f, int ranges)
{
    for (int i = 0; i < ranges; i++) {
        hw_offset_t first = test_reader_dice(f, 300);
        struct hw_reader_options options =
            options_between(first, i % 3 == 0 ? first + test_reader_dice(f, 300) : 800);

        options.count_only = true;
        options.descending = i % 2 == 0;
        options.mode = test_reader_dice(f, 4) == 0 ? HW_READ_LOG : HW_READ_UNCOMMITTED;
        (void)expect_runs(f, &options);
    }
}

TEST(runs_of_offsets_are_those_that_have_rows, struct test_reader *f)
{
    append_random(f, 60);
    append_plain(f, 6, 40);
    set_high_watermark(f, hw_log_end(f->log));
    expect_random_runs(f, 200);
}

/* What was counted is known, until it is cut off. */
TEST(what_was_counted_is_not_read_again, struct test_reader *f)
{
    struct hw_reader_options options = options_between(0, INT64_MAX);
    int64_t calls;

    options.count_only = true;
    append_plain(f, 10, 40);
    set_high_watermark(f, hw_log_end(f->log));
    assert_int_equal(expect_runs(f, &options), 400);
    calls = f->topics.faults.calls;
    for (int i = 0; i < 20; i++) {
        options = options_between(test_reader_dice(f, 400), INT64_MAX);
        options.count_only = true;
        options.descending = i % 2 == 0;
        assert_in_range(expect_runs(f, &options), 1, 400);
    }
    assert_int_equal(f->topics.faults.calls, calls);

    for (int i = 0; i < 20; i++) {
        hw_offset_t cut = 40 * (1 + test_reader_dice(f, 4));
        struct hw_error error;

        assert_ok(hw_log_truncate_to(f->log, cut, &error));
        while (f->count > 0 && f->items[f->count - 1].batch_next > cut) {
            f->count--;
        }
        append_random(f, 3);
        while (hw_log_end(f->log) < 200) {
            append_plain(f, 1, 40);
        }
        set_high_watermark(f, hw_log_end(f->log) - test_reader_dice(f, 30));
        expect_random_runs(f, 20);
        hw_log_check(f->log);
    }
}

int main(void)
{
    return test_run(test_reader_setup, test_reader_teardown);
}
