/* SPDX-License-Identifier: MIT */
/*
 * A random walk over everything a log can do, beside a naive model: an array of batches. After each
 * step both must say the same. HW_SEED and HW_STEPS in the environment choose another walk.
 */
#define _XOPEN_SOURCE 700

#include "core/base/random.h"
#include "core/io/posix_store.h"
#include "core/record/batch.h"
#include "tests/support_directory.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES_MAX = 20000 };

struct model_batch {
    hw_offset_t base_offset;
    hw_offset_t next_offset;
    hw_epoch_t epoch;
    hw_time_ms_t timestamp; /* Of all its records. */
    size_t size_bytes;
};

struct walk {
    struct test_log *t;
    struct hw_random random;
    uint64_t seed;
    struct model_batch batches[BATCHES_MAX];
    size_t count;
    hw_offset_t start;
    hw_offset_t high_watermark;
    hw_offset_t end;
    hw_offset_t durable; /* What a flush promised. */
    hw_epoch_t epoch;
    int64_t recent_seen;
};

static uint64_t roll_dice(struct walk *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

static void model_clip(struct walk *w)
{
    w->high_watermark = w->high_watermark > w->end ? w->end : w->high_watermark;
    w->durable = w->durable > w->end ? w->end : w->durable;
}

static void model_add(struct walk *w, hw_offset_t base_offset, int count, hw_time_ms_t timestamp)
{
    struct hw_buffer buffer;
    size_t size_bytes;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, base_offset, count, w->epoch, timestamp);
    size_bytes = buffer.size;
    hw_buffer_release(&buffer);
    assert_true(w->count < BATCHES_MAX);
    w->batches[w->count++] = (struct model_batch){.base_offset = base_offset,
                                                  .next_offset = base_offset + count,
                                                  .epoch = w->epoch,
                                                  .timestamp = timestamp,
                                                  .size_bytes = size_bytes};
    w->end = base_offset + count;
}

static hw_time_ms_t some_time(struct walk *w)
{
    return roll_dice(w, 10) == 0 ? HW_TIMESTAMP_NONE
                                 : (hw_time_ms_t)(w->end * 3 + (int64_t)roll_dice(w, 40));
}

static void step_produce(struct walk *w)
{
    int count = 1 + (int)roll_dice(w, 5);
    hw_time_ms_t timestamp = some_time(w);

    w->epoch += roll_dice(w, 30) == 0;
    produce(w->t, w->epoch, count, timestamp);
    model_add(w, w->end, count, timestamp);
}

/* Several batches in one append, with gaps. */
static void step_follow(struct walk *w)
{
    struct hw_log_append_info info;
    struct hw_buffer buffer;
    hw_offset_t first = HW_OFFSET_NONE;
    int batches = 1 + (int)roll_dice(w, 8);

    hw_buffer_init(&buffer, &hw_allocator_libc);
    for (int i = 0; i < batches; i++) {
        hw_offset_t base_offset = w->end + (roll_dice(w, 6) == 0 ? (int64_t)roll_dice(w, 9) : 0);
        int count = 1 + (int)roll_dice(w, 5);
        hw_time_ms_t timestamp = some_time(w);

        w->epoch += roll_dice(w, 30) == 0;
        first = i == 0 ? base_offset : first;
        build_batch(&buffer, base_offset, count, w->epoch, timestamp);
        model_add(w, base_offset, count, timestamp);
    }
    expect_ok(w->t, hw_log_append_as_follower(w->t->log, buffer.bytes, buffer.size, w->t->now_ms,
                                              &info, &w->t->error));
    assert_int_equal(info.first_offset, first);
    assert_int_equal(info.last_offset, w->end - 1);
    hw_buffer_release(&buffer);
}

static void step_truncate(struct walk *w)
{
    hw_offset_t offset = w->end - (hw_offset_t)roll_dice(w, 30);

    offset = offset < 0 ? 0 : offset;
    expect_ok(w->t, hw_log_truncate_to(w->t->log, offset, &w->t->error));
    while (w->count > 0 && w->batches[w->count - 1].next_offset > offset) {
        w->count--;
    }
    w->end = offset < w->end ? offset : w->end;
    w->start = w->start < w->end ? w->start : w->end;
    model_clip(w);
}

static void step_restart_at(struct walk *w)
{
    hw_offset_t offset = w->end + (hw_offset_t)roll_dice(w, 40) - 20;

    offset = offset < 0 ? 0 : offset;
    expect_ok(w->t,
              hw_log_truncate_fully_and_start_at(w->t->log, offset, HW_OFFSET_NONE, &w->t->error));
    w->count = 0;
    w->start = w->high_watermark = w->end = w->durable = offset;
}

static void step_high_watermark(struct walk *w)
{
    hw_offset_t wanted = w->end - (hw_offset_t)roll_dice(w, 20);

    (void)hw_log_update_high_watermark(w->t->log, wanted);
    w->high_watermark = wanted < w->start ? w->start : wanted;
}

static void step_log_start(struct walk *w)
{
    hw_offset_t wanted = w->start + (hw_offset_t)roll_dice(w, 10);
    bool changed;

    if (wanted > w->high_watermark) {
        expect_refused(w->t,
                       hw_log_maybe_increment_log_start(w->t->log, wanted, &changed, &w->t->error),
                       OFFSET_OUT_OF_RANGE);
        return;
    }
    expect_ok(w->t, hw_log_maybe_increment_log_start(w->t->log, wanted, &changed, &w->t->error));
    assert_true(changed == (wanted > w->start));
    w->start = wanted > w->start ? wanted : w->start;
}

static void step_flush(struct walk *w)
{
    expect_ok(w->t, hw_log_flush(w->t->log, &w->t->error));
    assert_int_equal(hw_log_recovery_point(w->t->log), w->end);
    w->durable = w->end;
}

static void step_roll(struct walk *w)
{
    bool rolled;

    expect_ok(w->t, hw_log_roll(w->t->log, w->t->now_ms, &rolled, &w->t->error));
    w->durable = rolled ? w->end : w->durable;
}

/* The log's end as it is found on disk: that of the last batch, or where the last file begins. */
static void model_reopen(struct walk *w)
{
    size_t last = hw_log_segment_count(w->t->log) - 1;
    hw_offset_t end = hw_log_segment_view(w->t->log, last).base_offset;

    if (w->count > 0 && w->batches[w->count - 1].next_offset > end) {
        end = w->batches[w->count - 1].next_offset;
    }
    w->end = end < w->start ? w->start : end;
    model_clip(w);
}

static void step_reopen(struct walk *w)
{
    hw_offset_t end;

    if (roll_dice(w, 2) == 0) {
        reopen_cleanly(w->t);
        assert_false(w->t->recovery.recovered);
        end = w->end;
        model_reopen(w);
        w->durable = w->end;
    } else {
        crash_and_reopen(w->t);
        end = w->end;
        model_reopen(w);
    }
    assert_int_equal(w->t->recovery.bytes_cut, 0);
    assert_true(w->end <= end);
}

static void step_lose_power(struct walk *w)
{
    hw_offset_t end;

    expect_ok(w->t, hw_log_lose_unsynced(w->t->log, &w->t->error));
    crash_and_reopen(w->t);
    end = hw_log_end(w->t->log);
    if (end < w->durable && end < w->start) {
        fail_msg("seed %llu: what was flushed is gone", (unsigned long long)w->seed);
    }
    while (w->count > 0 && w->batches[w->count - 1].next_offset > end) {
        assert_true(w->batches[w->count - 1].next_offset > w->durable);
        w->count--;
    }
    model_reopen(w);
}

static void step_retention(struct walk *w)
{
    int32_t deleted;
    hw_offset_t start;

    w->t->config.retention_ms = -1;
    w->t->config.retention_bytes = roll_dice(w, 3) == 0 ? 3000 : -1;
    hw_log_set_config(w->t->log, &w->t->config);
    expect_ok(w->t, hw_log_delete_old_segments(w->t->log, w->t->now_ms, &deleted, &w->t->error));
    start = hw_log_start(w->t->log);
    assert_true(start <= w->high_watermark);
    assert_true(start == w->start || start == hw_log_first_segment_base(w->t->log));
    w->start = start;
    if (deleted > 0 && hw_log_recovery_point(w->t->log) == w->end) {
        w->durable = w->end;
    }
}

/* Whether a segment begins above `before` and at or below `offset`. */
static bool begins_a_segment(const struct walk *w, hw_offset_t offset, hw_offset_t before)
{
    for (size_t i = 0; i < hw_log_segment_count(w->t->log); i++) {
        hw_offset_t base_offset = hw_log_segment_view(w->t->log, i).base_offset;

        if (base_offset > before && base_offset <= offset) {
            return true;
        }
    }
    return false;
}

/* What is in memory of the log's end is what is in its file, from `offset` on. */
static void check_tail(struct walk *w, hw_offset_t offset, size_t max_bytes,
                       const struct hw_buffer *read)
{
    size_t size;
    const uint8_t *tail = hw_log_recent_append(w->t->log, offset, max_bytes, &size);

    if (tail != NULL) {
        assert_int_equal(size, read->size);
        assert_memory_equal(tail, read->bytes, size);
        w->recent_seen++;
    }
}

/* What the model has to say about reading at `offset` with this limit. */
static void check_read(struct walk *w, hw_offset_t offset, hw_offset_t bound, size_t max_bytes)
{
    struct test_log *t = w->t;
    struct hw_buffer buffer;
    size_t i = 0;
    enum hw_status status;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    status = hw_log_read(t->log, offset, bound, max_bytes, true, &buffer, &t->error);
    if (offset < w->start || offset > w->end) {
        assert_true(status == HW_REFUSED);
        hw_buffer_release(&buffer);
        return;
    }
    expect_ok(t, status);
    if (bound >= w->end) {
        check_tail(w, offset, max_bytes, &buffer);
    }
    while (i < w->count && w->batches[i].next_offset <= offset) {
        i++;
    }
    if (i == w->count || offset >= bound || w->batches[i].base_offset >= bound) {
        assert_int_equal(buffer.size, 0);
    } else {
        assert_true(buffer.size > 0);
    }
    for (size_t at = 0; at < buffer.size; i++) {
        struct hw_batch batch;

        assert_int_equal(hw_batch_parse(buffer.bytes + at, buffer.size - at, &batch), HW_BATCH_OK);
        assert_true(hw_batch_crc_ok(buffer.bytes + at, &batch));
        assert_true(i < w->count);
        assert_int_equal(batch.base_offset, w->batches[i].base_offset);
        assert_int_equal(hw_batch_next_offset(&batch), w->batches[i].next_offset);
        assert_int_equal(batch.leader_epoch, w->batches[i].epoch);
        assert_true(batch.base_offset < bound);
        at += hw_batch_size_bytes(&batch);
        assert_true(at <= max_bytes || at == hw_batch_size_bytes(&batch));
    }
    /* Nothing more would have fit. */
    if (buffer.size > 0 && i < w->count && w->batches[i].base_offset < bound &&
        buffer.size + w->batches[i].size_bytes <= max_bytes) {
        assert_true(begins_a_segment(w, w->batches[i].base_offset, w->batches[i - 1].base_offset));
    }
    hw_buffer_release(&buffer);
}

static void check_read_before(struct walk *w, hw_offset_t end, size_t max_bytes)
{
    struct hw_buffer buffer;
    size_t i = w->count;
    hw_offset_t next = HW_OFFSET_NONE;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    expect_ok(w->t, hw_log_read_before(w->t->log, hw_log_start(w->t->log), end, max_bytes, &buffer,
                                       &w->t->error));
    while (i > 0 && w->batches[i - 1].base_offset >= end) {
        i--;
    }
    if (i == 0 || w->batches[i - 1].next_offset <= w->start || end <= w->start) {
        assert_int_equal(buffer.size, 0);
    } else {
        assert_true(buffer.size > 0);
    }
    for (size_t at = 0; at < buffer.size;) {
        struct hw_batch batch;

        assert_int_equal(hw_batch_parse(buffer.bytes + at, buffer.size - at, &batch), HW_BATCH_OK);
        assert_true(hw_batch_next_offset(&batch) > w->start);
        at += hw_batch_size_bytes(&batch);
        assert_true(at <= max_bytes || at == hw_batch_size_bytes(&batch) || at == buffer.size);
        next = hw_batch_next_offset(&batch);
    }
    if (buffer.size > 0) {
        assert_int_equal(next, w->batches[i - 1].next_offset);
    }
    hw_buffer_release(&buffer);
}

static void check_time(struct walk *w, hw_time_ms_t timestamp)
{
    hw_offset_t expected = HW_OFFSET_NONE;
    hw_offset_t offset;
    hw_time_ms_t found;

    for (size_t i = 0; i < w->count && expected == HW_OFFSET_NONE; i++) {
        if (w->batches[i].timestamp >= timestamp && w->batches[i].next_offset > w->start) {
            expected = w->batches[i].base_offset < w->start ? w->start : w->batches[i].base_offset;
        }
    }
    expect_ok(w->t, hw_log_offset_for_timestamp(w->t->log, timestamp, INT64_MAX, true, &offset,
                                                &found, &w->t->error));
    assert_int_equal(offset, expected);
}

static void check_epochs(struct walk *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->batches[i].base_offset >= w->start) {
            assert_int_equal(hw_epoch_cache_epoch_for_offset(hw_log_epochs(w->t->log),
                                                             w->batches[i].base_offset),
                             w->batches[i].epoch);
        }
    }
}

static void check_everything(struct walk *w)
{
    hw_offset_t any = w->start + (hw_offset_t)roll_dice(w, (uint64_t)(w->end - w->start) + 3) - 1;

    hw_log_check(w->t->log);
    expect_log(w->t, w->start, w->high_watermark, w->end);
    assert_true(hw_log_recovery_point(w->t->log) <= w->end);
    check_read(w, any, INT64_MAX, (size_t)roll_dice(w, 2000));
    check_read(w, w->start, any, SIZE_MAX);
    if (w->count > 0 && w->batches[w->count - 1].base_offset >= w->start) {
        check_read(w, w->batches[w->count - 1].base_offset, INT64_MAX, SIZE_MAX);
    }
    check_read_before(w, any, (size_t)roll_dice(w, 2000));
    check_read_before(w, w->end, (size_t)roll_dice(w, 200));
    check_time(w, any * 3 + (hw_time_ms_t)roll_dice(w, 20));
    check_epochs(w);
}

static void walk_step(struct walk *w)
{
    uint64_t dice = roll_dice(w, 100);

    w->t->now_ms += (hw_time_ms_t)roll_dice(w, 50);
    if (dice < 45) {
        step_produce(w);
    } else if (dice < 70) {
        step_follow(w);
    } else if (dice < 78) {
        step_truncate(w);
    } else if (dice < 82) {
        step_high_watermark(w);
    } else if (dice < 85) {
        step_log_start(w);
    } else if (dice < 88) {
        step_flush(w);
    } else if (dice < 90) {
        step_roll(w);
    } else if (dice < 95) {
        step_reopen(w);
    } else if (dice < 97) {
        step_lose_power(w);
    } else if (dice < 99) {
        step_retention(w);
    } else if (roll_dice(w, 4) == 0) {
        step_restart_at(w);
    }
}

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static void run_walk(struct test_log *t, uint64_t seed, uint64_t steps)
{
    struct walk *w = calloc(1, sizeof *w);
    struct hw_recent_appends recent;

    assert_non_null(w);
    assert_int_equal(hw_recent_init(&recent, &hw_allocator_libc, &t->error), HW_OK);
    t->recent = &recent;
    w->t = t;
    w->seed = seed;
    hw_random_init(&w->random, seed);
    t->config.segment_bytes = 400 + (int32_t)roll_dice(w, 3000);
    t->config.index_interval_bytes = (int32_t)roll_dice(w, 300);
    t->config.segment_ms = 100 + (int64_t)roll_dice(w, 1000);
    t->config.segment_index_bytes = 40 + (int32_t)roll_dice(w, 1000);
    print_message("seed %llu\n", (unsigned long long)seed);
    open_log(t);
    for (uint64_t i = 0; i < steps && w->count < BATCHES_MAX - 10; i++) {
        walk_step(w);
        check_everything(w);
    }
    assert_true(w->recent_seen > (int64_t)steps / 10);
    hw_log_keep_recent(t->log, NULL);
    t->recent = NULL;
    hw_recent_release(&recent);
    free(w);
}

TEST_AGAIN(a_log_in_memory_does_what_an_array_of_batches_does, void **state)
{
    uint64_t seed = from_environment("HW_SEED", 1);
    uint64_t steps = from_environment("HW_STEPS", 1500);

    for (uint64_t i = 0; i < 5; i++) {
        struct test_log *t;

        if (i > 0) {
            assert_int_equal(test_log_teardown(state), 0);
            assert_int_equal(test_log_setup(state), 0);
        }
        t = *state;
        run_walk(t, seed + i, steps);
    }
}

TEST(a_log_on_files_does_what_an_array_of_batches_does, struct test_log *t)
{
    char directory[HW_PATH_MAX];

    test_directory_make(directory);
    assert_int_equal(test_directory_enter(directory), 0);
    hw_store_destroy(t->store);
    expect_ok(t, hw_posix_store_create(&t->heap.allocator, 2, &t->store, &t->error));
    run_walk(t, from_environment("HW_SEED", 1) + 100, from_environment("HW_STEPS", 300));
    test_directory_remove(directory);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
