/* SPDX-License-Identifier: MIT */
/*
 * Rows of a partition: which are shown to whom, in both directions and by time. What happens when
 * the cluster moves meanwhile is in test_cluster_reader_moves.c.
 */
#include "tests/support_reader.h"

#include <inttypes.h>

#include "tests/support_test.h"

/* Case: E-01  Case: E-02 */
TEST(rows_are_the_records_whatever_the_batches_look_like, struct test_reader *f)
{
    uint64_t seed = test_topics_number("HW_SEED", 1);
    hw_offset_t end;

    print_message("seed %" PRIu64 "\n", seed);
    hw_random_init(&f->random, seed);
    append_random(f, 160);
    end = hw_log_end(f->log);
    set_high_watermark(f, end - test_reader_dice(f, 100));
    for (int i = 0; i < 600; i++) {
        struct hw_reader_options options = options_of((enum hw_read_mode)test_reader_dice(f, 3));

        if (i % 200 == 199) {
            struct hw_error error;
            bool changed;

            assert_ok(hw_log_maybe_increment_log_start(f->log, test_reader_dice(f, (int)end / 2),
                                                       &changed, &error));
        }
        if (test_reader_dice(f, 5) > 0) {
            options.first = test_reader_dice(f, (int)end + 20) - 10;
        }
        if (test_reader_dice(f, 5) > 0) {
            options.end =
                options.first + test_reader_dice(f, test_reader_dice(f, 2) == 0 ? 5 : (int)end);
        }
        options.descending = test_reader_dice(f, 2) == 0;
        options.count_only = test_reader_dice(f, 3) == 0;
        options.rows_wanted = test_reader_dice(f, 2) == 0 ? 0 : test_reader_dice(f, 30);
        expect_rows(f, &options);
    }
}

TEST(bounds_may_be_any_numbers, struct test_reader *f)
{
    static const hw_offset_t numbers[] = {INT64_MIN, -1, 0, 5, 29, 30, 31, INT64_MAX};

    append_plain(f, 6, 5);
    set_high_watermark(f, 30);
    for (size_t first = 0; first < sizeof numbers / sizeof *numbers; first++) {
        for (size_t end = 0; end < sizeof numbers / sizeof *numbers; end++) {
            for (int kind = 0; kind < 8; kind++) {
                struct hw_reader_options options =
                    options_of((kind & 1) != 0 ? HW_READ_LOG : HW_READ_UNCOMMITTED);
                hw_offset_t low;
                hw_offset_t high;
                struct hw_error error;

                options.first = numbers[first];
                options.end = numbers[end];
                options.descending = (kind & 2) != 0;
                options.count_only = (kind & 4) != 0;
                expect_rows(f, &options);
                assert_ok(hw_reader_bounds(f->topics.cluster, &options, &low, &high, &error));
                assert_true(low <= high && low >= 0);
                assert_true(low == high || (low < 30 && high <= 30 && low >= options.first &&
                                            high <= options.end));
            }
        }
    }
}

/* Row: C033: the consumer. Semantics: R10.1 */
TEST(only_what_is_below_the_high_watermark_is_a_row, struct test_reader *f)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    hw_offset_t first;
    hw_offset_t end;
    struct hw_error error;

    append_plain(f, 2, 10);
    set_high_watermark(f, 7); /* Inside of a batch. */
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(first, 0);
    assert_int_equal(end, 7);
    expect_rows(f, &options);
    options.descending = true;
    expect_rows(f, &options);
    options.mode = HW_READ_LOG;
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 20);
}

/* Semantics: design 5: written before a high watermark is shown to a reader */
TEST(the_high_watermark_is_noted_before_a_row_is_shown, struct test_reader *f)
{
    size_t slot = hw_cluster_topic(f->topics.cluster, "orders")->partitions[0].slots[0];
    struct hw_reader_options options = options_of(HW_READ_LOG);
    struct hw_reader *reader;
    struct hw_error error;

    append_plain(f, 1, 10);
    set_high_watermark(f, 10);
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    hw_reader_close(reader);
    assert_true(hw_shown_file_get(&f->topics.cluster->shown, slot) < 10);

    options.mode = HW_READ_UNCOMMITTED;
    f->topics.faults = (struct hw_faults){.fail_at = 0};
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_IO);
    f->topics.faults.fail_at = -1;
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    hw_reader_close(reader);
    assert_int_equal(hw_shown_file_get(&f->topics.cluster->shown, slot), 10);
}

TEST(a_small_hint_reads_little, struct test_reader *f)
{
    struct hw_reader_options options = options_of(HW_READ_LOG);
    struct hw_reader *reader;
    struct hw_row row;
    size_t before;
    struct hw_error error;
    bool found;

    append_plain(f, 300, 20); /* Some 150 KB in 8 segments. */
    for (int i = 0; i < 4; i++) {
        options.rows_wanted = i < 2 ? 1 : 0;
        options.descending = i % 2 == 1;
        before = f->topics.heap.bytes_in_use;
        assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
        assert_ok(hw_reader_next(reader, &row, &found, &error));
        assert_int_equal(row.record.offset, options.descending ? 5999 : 0);
        if (i < 2) {
            assert_in_range(f->topics.heap.bytes_in_use - before, 1, 8000);
        }
        hw_reader_close(reader);
    }
}

/* What was deleted, but lies in the batch that holds the log start, is still in the log. */
TEST(a_look_at_the_log_shows_all_of_the_batch_that_holds_its_start, struct test_reader *f)
{
    struct hw_error error;
    bool changed;

    append_plain(f, 3, 10);
    set_high_watermark(f, 25);
    assert_ok(hw_log_maybe_increment_log_start(f->log, 15, &changed, &error));
    for (int first = 0; first < 31; first++) {
        for (int end = first; end < 31; end++) {
            for (int kind = 0; kind < 4; kind++) {
                struct hw_reader_options options = options_of(HW_READ_LOG);

                options.first = first;
                options.end = end;
                options.descending = (kind & 1) != 0;
                options.count_only = (kind & 2) != 0;
                expect_rows(f, &options);
            }
        }
    }
}

/* Semantics: performance, lesson 1: few large reads */
TEST(a_long_scan_makes_few_calls_of_the_store, struct test_reader *f)
{
    struct test_shape shape = test_shape_plain(40);
    struct hw_error error;

    assert_ok(hw_cluster_configure(f->topics.cluster, "segment.bytes", "100000000", "orders", NULL,
                                   &error));
    shape.value_size = 1000;
    for (int i = 0; i < 140; i++) { /* 5.6 MB */
        append_shape(f, &shape, 0);
    }
    for (int descending = 0; descending < 2; descending++) {
        struct hw_reader_options options = options_of(HW_READ_LOG);

        options.descending = descending == 1;
        f->topics.faults = (struct hw_faults){.fail_at = -1};
        expect_rows(f, &options);
        assert_in_range(f->topics.faults.calls, 6, 40);
    }
}

/* ----------------------------------------------------------------------------------------- time */

/* The result must split the records of the bounds: none before it is late enough. */
static void expect_time(struct test_reader *f, const struct hw_reader_options *options,
                        hw_time_ms_t timestamp)
{
    hw_offset_t offset;
    struct hw_error error;
    bool is_item = false;

    assert_ok(
        hw_reader_offset_for_timestamp(f->topics.cluster, options, timestamp, &offset, &error));
    for (size_t i = 0; i < f->count; i++) {
        const struct test_item *item = &f->items[i];

        if (offset == item->offset) {
            assert_true(item->timestamp >= timestamp);
            assert_true(item->offset >= options->first && item->offset < options->end);
            is_item = true;
        } else if (test_reader_is_expected(f, options, item) &&
                   (offset == HW_OFFSET_NONE || item->offset < offset)) {
            assert_true(item->timestamp < timestamp);
        }
    }
    assert_true(is_item || offset == HW_OFFSET_NONE);
}

/* Semantics: R10.10 */
TEST(the_first_offset_of_a_time_is_found_within_bounds, struct test_reader *f)
{
    uint64_t seed = test_topics_number("HW_SEED", 7);
    int end;

    print_message("seed %" PRIu64 "\n", seed);
    hw_random_init(&f->random, seed);
    append_random(f, 120);
    end = (int)hw_log_end(f->log);
    set_high_watermark(f, end - test_reader_dice(f, 50));
    for (int i = 0; i < 300; i++) {
        struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);

        if (test_reader_dice(f, 3) > 0) {
            options.first = test_reader_dice(f, end);
            options.end = options.first + test_reader_dice(f, end);
        }
        expect_time(f, &options, 900 + test_reader_dice(f, (int)f->count * 10 + 500));
    }
}

/* --------------------------------------------------------------------------------------- faults */

static enum hw_status read_all(struct test_reader *f, bool descending, int *count)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    enum hw_status status;

    options.descending = descending;
    status = hw_reader_open(f->topics.cluster, &options, &reader, &error);
    if (status == HW_OK) {
        status = test_reader_finish(reader, count, &last, &error);
    }
    hw_reader_close(reader);
    return status;
}

TEST(every_allocation_and_every_call_of_the_store_can_fail, struct test_reader *f)
{
    append_random(f, 30);
    set_high_watermark(f, hw_log_end(f->log));
    for (int kind = 0; kind < 4; kind++) {
        bool descending = kind % 2 == 1;
        enum hw_status status = HW_MISUSE;
        int all;
        int count;

        assert_int_equal(read_all(f, descending, &all), HW_OK);
        for (int fail_at = 0; status != HW_OK; fail_at++) {
            size_t before = f->topics.heap.bytes_in_use;

            if (kind < 2) {
                f->topics.heap.fail_at = f->topics.heap.allocations + fail_at;
            } else {
                f->topics.faults = (struct hw_faults){.fail_at = fail_at};
            }
            status = read_all(f, descending, &count);
            f->topics.heap.fail_at = -1;
            f->topics.faults.fail_at = -1;
            assert_true(status == HW_OK || status == (kind < 2 ? HW_NO_MEMORY : HW_IO));
            assert_int_equal(f->topics.heap.bytes_in_use, before);
            assert_true(status != HW_OK || (count == all && fail_at > 3));
        }
    }
}

int main(void)
{
    return test_run(test_reader_setup, test_reader_teardown);
}
