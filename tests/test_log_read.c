/* SPDX-License-Identifier: MIT */
/*
 * Which batches does a read give, and what does it cost? Source: LocalLog.read, LogSegment.read,
 * LogSegment.findOffsetByTimestamp.
 */
#include "core/record/batch.h"
#include "core/record/codec.h"
#include "tests/support_faulty_store.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <string.h>

/* Row: C041. Semantics: R2.16 */
TEST(a_read_in_a_gap_starts_with_the_next_batch, struct test_log *t)
{
    open_log(t);
    expect_ok(t, follow(t, 50, 2, 0, 0));
    expect_ok(t, follow(t, 60, 2, 0, 0));
    expect_read(t, 55, SIZE_MAX, "60-61");
    expect_read(t, 0, SIZE_MAX, "50-51 60-61");
}

/* Semantics: R2.16 */
TEST(a_gap_may_reach_over_segments, struct test_log *t)
{
    bool rolled;

    open_log(t);
    expect_ok(t, follow(t, 0, 2, 0, 0));
    expect_ok(t, hw_log_roll(t->log, 0, &rolled, &t->error));
    expect_ok(t, follow(t, 60, 2, 0, 0));
    expect_segments(t, "0 2");
    expect_read(t, 2, SIZE_MAX, "60-61");
    expect_read(t, 30, SIZE_MAX, "60-61");
    expect_read(t, 1, SIZE_MAX, "0-1");
}

/* Row: C175. Semantics: R2.14 */
TEST(any_limit_gives_the_first_batch_at_or_above_the_offset, struct test_log *t)
{
    static const size_t limits[] = {1, 100, 100000};
    hw_offset_t offsets[50];
    hw_offset_t end;

    t->config.segment_bytes = 1000;
    t->config.index_interval_bytes = 100;
    open_log(t);
    for (int i = 0; i < 50; i++) {
        expect_ok(t, follow(t, i, 1, 0, 0));
    }
    for (int i = 0; i < 50; i++) {
        offsets[i] = 50 + 7 * i;
        expect_ok(t, follow(t, offsets[i], 1, 0, 0));
    }
    end = hw_log_end(t->log);
    for (hw_offset_t i = 50; i < end; i++) {
        for (size_t k = 0; k < 3; k++) {
            struct hw_buffer buffer;
            struct hw_batch batch;

            hw_buffer_init(&buffer, &hw_allocator_libc);
            expect_ok(t, hw_log_read(t->log, i, INT64_MAX, limits[k], true, &buffer, &t->error));
            assert_int_equal(hw_batch_parse(buffer.bytes, buffer.size, &batch), HW_BATCH_OK);
            assert_int_equal(batch.base_offset, offsets[(i - 50 + 6) / 7]);
            hw_buffer_release(&buffer);
        }
    }
}

/* Case: C-06. Semantics: R2.14 */
TEST(a_batch_above_the_limit_is_read_alone_or_not_at_all, struct test_log *t)
{
    struct hw_buffer buffer;

    open_log(t);
    produce_sized(t, 0, 100);
    produce_sized(t, 0, 5000);
    produce_sized(t, 0, 100);
    expect_read(t, 0, 1000, "0");
    expect_read(t, 1, 1000, "1");
    expect_read(t, 2, 1000, "2");
    expect_read(t, 0, 1, "0");
    expect_read(t, 1, 1, "1");
    expect_read(t, 0, 5100, "0 1");
    expect_read(t, 0, 5200, "0 1 2");
    expect_read(t, 0, 0, "0");

    hw_buffer_init(&buffer, &hw_allocator_libc);
    expect_ok(t, hw_log_read(t->log, 0, INT64_MAX, 0, false, &buffer, &t->error));
    assert_int_equal(buffer.size, 0);
    expect_ok(t, hw_log_read(t->log, 1, INT64_MAX, 4999, false, &buffer, &t->error));
    assert_int_equal(buffer.size, 0);
    expect_ok(t, hw_log_read(t->log, 1, INT64_MAX, 5000, false, &buffer, &t->error));
    assert_int_equal(buffer.size, 5000);
    /* Behind what is there already. */
    expect_ok(t, hw_log_read(t->log, 2, INT64_MAX, 5000, false, &buffer, &t->error));
    assert_int_equal(buffer.size, 5100);
    hw_buffer_release(&buffer);
}

/* Semantics: R2.15, R2.16 */
TEST(a_read_gives_no_batch_that_starts_at_or_above_the_bound, struct test_log *t)
{
    struct hw_buffer buffer;

    t->config.index_interval_bytes = 0;
    open_log(t);
    produce(t, 0, 3, 0);
    produce(t, 0, 3, 0);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    for (hw_offset_t bound = -1; bound < 10; bound++) {
        for (hw_offset_t offset = 0; offset <= 6; offset++) {
            hw_offset_t first = offset / 3 * 3;
            hw_offset_t limit = bound > 6 ? 6 : bound;
            int batches = offset >= limit ? 0 : (int)((limit - first + 2) / 3);
            int found = 0;

            buffer.size = 0;
            expect_ok(t, hw_log_read(t->log, offset, bound, SIZE_MAX, true, &buffer, &t->error));
            for (size_t at = 0; at < buffer.size; found++) {
                struct hw_batch batch;

                assert_int_equal(hw_batch_parse(buffer.bytes + at, buffer.size - at, &batch),
                                 HW_BATCH_OK);
                assert_int_equal(batch.base_offset, first + 3 * found);
                at += hw_batch_size_bytes(&batch);
            }
            assert_int_equal(found, batches);
        }
    }
    hw_buffer_release(&buffer);
}

/* Semantics: R2.16 */
TEST(an_offset_outside_of_the_log_is_out_of_range, struct test_log *t)
{
    struct hw_buffer buffer;
    bool changed;

    open_log(t);
    produce(t, 0, 5, 0);
    hw_log_update_high_watermark(t->log, 5);
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 2, &changed, &t->error));
    hw_buffer_init(&buffer, &hw_allocator_libc);
    expect_refused(t, hw_log_read(t->log, 6, 5, 1, true, &buffer, &t->error), OFFSET_OUT_OF_RANGE);
    expect_refused(t, hw_log_read(t->log, 1, 5, 1, true, &buffer, &t->error), OFFSET_OUT_OF_RANGE);
    expect_refused(t, hw_log_read(t->log, -1, 5, 1, true, &buffer, &t->error), OFFSET_OUT_OF_RANGE);
    expect_ok(t, hw_log_read(t->log, 5, 5, 1, true, &buffer, &t->error));
    expect_ok(t, hw_log_read(t->log, 5, 3, 1, true, &buffer, &t->error));
    assert_int_equal(buffer.size, 0);
    expect_read(t, 2, 1, "0-4");
    hw_buffer_release(&buffer);
}

static void expect_before(struct test_log *t, hw_offset_t end, size_t max_bytes,
                          const char *expected)
{
    struct hw_buffer buffer;
    char text[200] = "";

    hw_buffer_init(&buffer, &hw_allocator_libc);
    expect_ok(t,
              hw_log_read_before(t->log, hw_log_start(t->log), end, max_bytes, &buffer, &t->error));
    describe_batches(&buffer, text, sizeof text);
    hw_buffer_release(&buffer);
    assert_string_equal(text, expected);
}

TEST(a_read_backwards_ends_just_below_the_given_offset, struct test_log *t)
{
    bool changed;
    bool rolled;

    t->config.index_interval_bytes = 150;
    open_log(t);
    for (int i = 0; i < 6; i++) {
        produce_sized(t, 0, 100);
    }
    expect_ok(t, hw_log_roll(t->log, 0, &rolled, &t->error));
    expect_ok(t, follow(t, 10, 3, 0, 0));
    hw_log_update_high_watermark(t->log, 13);

    expect_before(t, 99, 1, "10-12");
    expect_before(t, 12, 1, "10-12");
    expect_before(t, 11, 1, "10-12");
    expect_before(t, 10, 1, "5");
    expect_before(t, 7, 200, "4 5");
    expect_before(t, 6, 299, "4 5");
    expect_before(t, 6, 300, "3 4 5");
    expect_before(t, 4, 1000, "0 1 2 3");
    expect_before(t, 1, 0, "0");
    expect_before(t, 0, 100, "");
    expect_before(t, -5, 100, "");

    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 3, &changed, &t->error));
    expect_before(t, 6, 1000, "3 4 5");
    expect_before(t, 4, 1000, "3");
    expect_before(t, 3, 1000, "");
    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 11, &changed, &t->error));
    expect_before(t, 13, 1000, "10-12");
    expect_before(t, 11, 1000, "");
}

TEST(bytes_between_offsets_are_those_of_whole_batches, struct test_log *t)
{
    bool rolled;

    t->config.index_interval_bytes = 150;
    open_log(t);
    for (int i = 0; i < 10; i++) {
        if (i == 4) {
            expect_ok(t, hw_log_roll(t->log, 0, &rolled, &t->error));
        }
        produce_sized(t, 0, 100);
    }
    for (hw_offset_t from = 0; from <= 10; from++) {
        for (hw_offset_t to = from; to <= 12; to++) {
            hw_offset_t limit = to > 10 ? 10 : to;

            assert_int_equal(hw_log_bytes_between(t->log, from, to), 100 * (limit - from));
        }
    }
    assert_int_equal(hw_log_bytes_between(t->log, 5, 3), 0);
    assert_int_equal(hw_log_bytes_between(t->log, 99, 200), 0);
}

static void expect_time(struct test_log *t, hw_time_ms_t timestamp, hw_offset_t bound,
                        hw_offset_t expected, hw_time_ms_t expected_timestamp)
{
    hw_offset_t offset;
    hw_time_ms_t found;

    expect_ok(
        t, hw_log_offset_for_timestamp(t->log, timestamp, bound, true, &offset, &found, &t->error));
    assert_int_equal(offset, expected);
    assert_int_equal(found, expected_timestamp);
}

/* Semantics: R10.10 */
TEST(a_time_is_found_at_the_first_record_that_is_not_older, struct test_log *t)
{
    static const hw_time_ms_t times[] = {100, 300, 200, -1, 300, 500, 400, 600};
    hw_offset_t offset;
    hw_time_ms_t found;
    bool changed;
    bool rolled;

    t->config.index_interval_bytes = 0;
    open_log(t);
    for (size_t i = 0; i < 8; i++) {
        if (i == 4) {
            expect_ok(t, hw_log_roll(t->log, 0, &rolled, &t->error));
        }
        produce(t, 0, 1, times[i]);
    }
    hw_log_update_high_watermark(t->log, 8);
    expect_time(t, -1, 8, 0, 100);
    expect_time(t, 100, 8, 0, 100);
    expect_time(t, 101, 8, 1, 300);
    expect_time(t, 300, 8, 1, 300);
    expect_time(t, 301, 8, 5, 500);
    expect_time(t, 501, 8, 7, 600);
    expect_time(t, 601, 8, HW_OFFSET_NONE, HW_TIMESTAMP_NONE);
    expect_time(t, INT64_MAX, 8, HW_OFFSET_NONE, HW_TIMESTAMP_NONE);
    expect_time(t, 501, 7, HW_OFFSET_NONE, HW_TIMESTAMP_NONE);
    expect_time(t, 301, 5, HW_OFFSET_NONE, HW_TIMESTAMP_NONE);

    expect_ok(t, hw_log_maybe_increment_log_start(t->log, 2, &changed, &t->error));
    expect_time(t, 150, 8, 2, 200);
    expect_time(t, 301, 8, 5, 500);
    /* The first segment had it, in a record that is deleted: Kafka looks no further. */
    expect_time(t, 300, 8, HW_OFFSET_NONE, HW_TIMESTAMP_NONE);
    expect_ok(t, hw_log_offset_for_timestamp(t->log, 300, 8, false, &offset, &found, &t->error));
    assert_int_equal(offset, 4);
    assert_int_equal(found, 300);
    expect_ok(t, hw_log_offset_for_timestamp(t->log, 300, 4, false, &offset, &found, &t->error));
    assert_int_equal(offset, HW_OFFSET_NONE);
}

/* Semantics: R10.10 */
TEST(a_time_is_found_inside_of_a_compressed_batch, struct test_log *t)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_buffer plain;
    struct hw_buffer packed;
    struct hw_batch batch;

    open_log(t);
    hw_buffer_init(&plain, &hw_allocator_libc);
    hw_buffer_init(&packed, &hw_allocator_libc);
    expect_ok(t, hw_batch_builder_begin(&builder, &plain, 0, &t->error));
    for (int i = 0; i < 5; i++) {
        struct hw_record record = {
            .offset = i, .timestamp = 10 * i, .key_size = -1, .value_size = -1};

        expect_ok(t, hw_batch_builder_add(&builder, &record, &t->error));
    }
    hw_batch_builder_finish(&builder, &options);
    (void)hw_batch_parse(plain.bytes, plain.size, &batch);
    expect_ok(t,
              hw_batch_recompress(plain.bytes, &batch, HW_CODEC_ZSTD, 1 << 20, &packed, &t->error));
    expect_ok(t, lead_bytes(t, &packed));
    expect_time(t, 25, 5, 3, 30);
    expect_time(t, 0, 5, 0, 0);
    hw_buffer_release(&plain);
    hw_buffer_release(&packed);
}

/* Reading on where the last read ended needs no search: one call of the file. */
TEST(a_read_that_goes_on_costs_one_call, struct test_log *t)
{
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *memory = t->store;
    struct hw_buffer buffer;

    expect_ok(t, hw_faulty_store_create(&t->heap.allocator, memory, &faults, &t->store, &t->error));
    open_log(t);
    for (int i = 0; i < 1000; i++) {
        produce_sized(t, i, 100);
    }
    hw_buffer_init(&buffer, &hw_allocator_libc);
    for (hw_offset_t offset = 0; offset < 1000; offset += 10) {
        faults.calls = 0;
        buffer.size = 0;
        expect_ok(t, hw_log_read(t->log, offset, INT64_MAX, 1000, true, &buffer, &t->error));
        assert_int_equal(buffer.size, 1000);
        assert_int_equal(faults.calls, offset == 0 ? 2 : 1);
    }
    /* At the log end there is nothing to read, and to find that out is free. */
    faults.calls = 0;
    expect_ok(t, hw_log_read(t->log, 1000, INT64_MAX, 1000, true, &buffer, &t->error));
    assert_int_equal(hw_log_bytes_between(t->log, 1000, 1000), 0);
    assert_int_equal(hw_log_bytes_between(t->log, 990, 1000), 1000);
    assert_int_equal(faults.calls, 0);
    /* Anywhere else the search reads from the index entry below on. */
    for (hw_offset_t offset = 1; offset < 1000; offset += 13) {
        faults.calls = 0;
        expect_ok(t, hw_log_read(t->log, offset, INT64_MAX, 1000, true, &buffer, &t->error));
        assert_true(faults.calls <= 3);
    }
    hw_buffer_release(&buffer);
    hw_log_close(t->log);
    t->log = NULL;
    hw_store_destroy(t->store);
    t->store = memory;
}

TEST(appending_allocates_nothing_in_the_long_run, struct test_log *t)
{
    struct hw_buffer buffer;
    int before;

    open_log(t);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, 0, 1, HW_EPOCH_NONE, 0);
    expect_ok(t, lead_bytes(t, &buffer));
    before = t->heap.allocations;
    for (int i = 0; i < 10000; i++) {
        hw_batch_set_base_offset(buffer.bytes, 0);
        expect_ok(t, lead_bytes(t, &buffer));
    }
    /* What grows by doubling or so: the file in memory, and the indexes. */
    assert_true(t->heap.allocations - before < 60);
    hw_buffer_release(&buffer);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
