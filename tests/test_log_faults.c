/* SPDX-License-Identifier: MIT */
/*
 * A log whose memory runs out or whose disk fails, at every single place where that can happen, and
 * one that loses its power: an append is there or it is not, what was appended stays, and what was
 * flushed survives everything.
 */
#include "core/log/log.h"
#include "core/record/batch.h"
#include "tests/support_faulty_store.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

/* What the log has to hold: the first offsets of its batches, and where the last one ends. */
struct expected {
    hw_offset_t base_offsets[200];
    size_t count;
    hw_offset_t end;
    hw_offset_t flushed;
};

struct story {
    struct test_log *t;
    struct hw_faults faults;
    struct hw_store *memory;
    struct hw_store *faulty;
    struct expected expected;
    bool may_lose; /* A truncation failed: less may be there than expected. */
    bool may_gain; /* An append that failed may have been written after all. */
    int failures;
};

static void story_begin(struct story *story, struct test_log *t)
{
    *story = (struct story){.t = t, .memory = t->store, .faults = {.fail_at = -1}};
    t->config.segment_bytes = 600;
    t->config.index_interval_bytes = 100;
    expect_ok(t, hw_faulty_store_create(&t->heap.allocator, story->memory, &story->faults,
                                        &story->faulty, &t->error));
    t->store = story->faulty;
    t->load = (struct hw_log_load){.topic_id = t->load.topic_id};
}

static void story_end(struct story *story)
{
    struct test_log *t = story->t;

    hw_log_close(t->log);
    t->log = NULL;
    hw_store_destroy(story->faulty);
    t->store = story->memory;
    expect_ok(t, hw_store_remove_tree(t->store, &t->heap.allocator, LOG_DIRECTORY, &t->error));
}

/* A call of the log that may fail, and if it does has left a log behind that is in order. */
static bool went_well(struct story *story, enum hw_status status)
{
    if (status != HW_OK && status != HW_NO_MEMORY && status != HW_IO) {
        fail_msg("%s: %s", hw_status_name(status), story->t->error.message);
    }
    story->failures += status != HW_OK;
    if (story->t->log != NULL) {
        hw_log_check(story->t->log);
    }
    return status == HW_OK;
}

static void open_or_fail(struct story *story)
{
    struct test_log *t = story->t;

    /* A second try: the failure of one call does not come again. */
    for (int attempt = 0; attempt < 2 && t->log == NULL; attempt++) {
        (void)went_well(story, hw_log_open(&t->heap.allocator, t->store, LOG_DIRECTORY, &t->config,
                                           &t->load, t->now_ms, &t->log, &t->recovery, &t->error));
    }
}

static void append(struct story *story, int count, hw_epoch_t epoch, bool as_leader)
{
    struct expected *expected = &story->expected;
    struct test_log *t = story->t;
    struct hw_log_append_info info;
    struct hw_buffer buffer;
    hw_offset_t end = hw_log_end(t->log);
    hw_offset_t base_offset = as_leader ? 0 : end + 2;
    enum hw_status status;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, base_offset, count, epoch, 5 * end);
    status = as_leader ? hw_log_append_as_leader(t->log, buffer.bytes, buffer.size, epoch,
                                                 t->now_ms, &info, &t->error)
                       : hw_log_append_as_follower(t->log, buffer.bytes, buffer.size, t->now_ms,
                                                   &info, &t->error);
    hw_buffer_release(&buffer);
    if (went_well(story, status)) {
        expected->base_offsets[expected->count++] = info.first_offset;
        expected->end = info.last_offset + 1;
    } else {
        assert_int_equal(hw_log_end(t->log), end);
    }
}

static void flush(struct story *story)
{
    hw_offset_t before = hw_log_recovery_point(story->t->log);

    if (went_well(story, hw_log_flush(story->t->log, &story->t->error))) {
        story->expected.flushed = story->expected.end;
        assert_int_equal(hw_log_recovery_point(story->t->log), story->expected.end);
    } else {
        assert_int_equal(hw_log_recovery_point(story->t->log), before);
    }
}

static void truncate_last(struct story *story)
{
    struct expected *expected = &story->expected;
    hw_offset_t offset = expected->base_offsets[expected->count - 9];
    enum hw_status status = hw_log_truncate_to(story->t->log, offset, &story->t->error);

    if (!went_well(story, status)) {
        /* It may be cut part of the way, but never below. */
        assert_true(hw_log_end(story->t->log) >= offset);
        status = hw_log_truncate_to(story->t->log, offset, &story->t->error);
        if (!went_well(story, status)) {
            story->may_lose = true;
            while (expected->base_offsets[expected->count - 1] >= hw_log_end(story->t->log)) {
                expected->count--;
            }
            expected->end = hw_log_end(story->t->log);
            return;
        }
    }
    expected->count -= 9;
    expected->end = offset;
    expected->flushed = expected->flushed < offset ? expected->flushed : offset;
}

/* Read all, and compare. */
static void expect_everything(struct story *story)
{
    const struct expected *expected = &story->expected;
    struct test_log *t = story->t;
    struct hw_buffer buffer;
    size_t found = 0;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    for (hw_offset_t offset = hw_log_start(t->log); offset < hw_log_end(t->log);) {
        struct hw_batch batch;

        buffer.size = 0;
        expect_ok(t, hw_log_read(t->log, offset, INT64_MAX, 1, true, &buffer, &t->error));
        if (buffer.size == 0) {
            break;
        }
        assert_int_equal(hw_batch_parse(buffer.bytes, buffer.size, &batch), HW_BATCH_OK);
        assert_true(hw_batch_crc_ok(buffer.bytes, &batch));
        if (found == expected->count && story->may_gain) {
            break;
        }
        assert_true(found < expected->count);
        assert_int_equal(batch.base_offset, expected->base_offsets[found++]);
        offset = hw_batch_next_offset(&batch);
        if (batch.base_offset >= hw_log_start(t->log)) {
            assert_int_equal(
                hw_epoch_cache_epoch_for_offset(hw_log_epochs(t->log), batch.base_offset),
                batch.leader_epoch);
        }
    }
    hw_buffer_release(&buffer);
    if (!story->may_lose) {
        assert_int_equal(found, expected->count);
    }
}

/* Everything that a log does to its files. */
static void tell(struct story *story)
{
    struct test_log *t = story->t;
    bool changed;
    int32_t deleted;

    open_or_fail(story);
    if (t->log == NULL) {
        return;
    }
    for (int i = 0; i < 12; i++) {
        append(story, 1 + i % 3, i / 5, true);
    }
    flush(story);
    for (int i = 0; i < 12; i++) {
        append(story, 1 + i % 3, 3 + i / 5, i % 4 != 0);
    }
    if (story->expected.count > 12) {
        truncate_last(story);
    }
    append(story, 2, 6, true);
    (void)went_well(story, hw_log_assign_epoch(t->log, 7, &t->error));
    hw_log_update_high_watermark(t->log, hw_log_end(t->log));
    (void)went_well(story, hw_log_clean_stop(t->log, &t->error));
    append(story, 1, 7, true);
    flush(story);
    append(story, 1, 8, true);
    if (hw_log_high_watermark(t->log) > 0) {
        (void)went_well(story, hw_log_maybe_increment_log_start(t->log, 1, &changed, &t->error));
    }
    (void)went_well(story, hw_log_delete_old_segments(t->log, 0, &deleted, &t->error));
}

/* The batches that are still above the log start. */
static void forget_below(struct expected *expected, hw_offset_t start)
{
    while (expected->count > 1 && expected->base_offsets[1] <= start) {
        expected->count--;
        memmove(expected->base_offsets, expected->base_offsets + 1,
                expected->count * sizeof expected->base_offsets[0]);
    }
}

/* Tell the story, crash, open again without faults: all is there. */
static void check_story(struct story *story)
{
    struct test_log *t = story->t;

    tell(story);
    t->heap.fail_at = -1;
    story->faults.fail_at = -1;
    story->faults.fail_on = false;
    if (t->log != NULL) {
        forget_below(&story->expected, hw_log_start(t->log));
        expect_everything(story);
        close_log(t);
    }
    open_log(t);
    expect_everything(story);
    produce(t, 9, 1, 0);
    reopen_cleanly(t);
    assert_int_equal(t->recovery.bytes_cut, 0);
    expect_all_readable(t);
}

TEST(every_allocation_may_fail, struct test_log *t)
{
    bool failed = true;

    for (int fail_at = 0; failed; fail_at++) {
        struct story story;

        story_begin(&story, t);
        t->heap.fail_at = t->heap.allocations + fail_at;
        check_story(&story);
        failed = story.failures > 0;
        story_end(&story);
    }
}

TEST(every_call_of_the_store_may_fail_once, struct test_log *t)
{
    bool failed = true;

    for (int64_t fail_at = 0; failed; fail_at++) {
        struct story story;

        story_begin(&story, t);
        story.faults.fail_at = fail_at;
        story.faults.torn_bytes = (size_t)(fail_at % 90);
        check_story(&story);
        failed = story.faults.calls > fail_at && story.failures > 0;
        if (!failed && story.faults.calls > fail_at) {
            failed = true; /* A failure that nobody needs to know of: removing an index. */
        }
        story_end(&story);
    }
}

TEST(the_disk_may_fail_for_good_at_every_call, struct test_log *t)
{
    bool failed = true;

    for (int64_t fail_at = 0; failed; fail_at++) {
        struct story story;

        story_begin(&story, t);
        story.faults.fail_at = fail_at;
        story.faults.fail_on = true;
        story.faults.torn_bytes = (size_t)(fail_at % 90);
        tell(&story);
        failed = story.failures > 0;
        story.faults.fail_at = -1;
        story.faults.fail_on = false;
        t->heap.fail_at = -1;
        if (t->log != NULL) {
            close_log(t);
        }
        /* A torn write is cut here, since it could not be cut then. */
        open_log(t);
        story.may_gain = true;
        if (hw_log_start(t->log) == 0) {
            expect_everything(&story);
        }
        story_end(&story);
    }
}

/* The disk keeps, of what was not synced, whatever it likes. */
TEST(what_was_flushed_survives_a_power_loss, struct test_log *t)
{
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct story story;
        hw_offset_t flushed;

        story_begin(&story, t);
        open_or_fail(&story);
        for (int i = 0; i < 3 + (int)(seed % 40); i++) {
            append(&story, 1 + i % 3, i / 7, i % 5 != 0);
            if (i % 11 == (int)(seed % 11)) {
                flush(&story);
            }
            if (i % 16 == 15) {
                /* Without a flush the disk might give back what was cut off. */
                truncate_last(&story);
                flush(&story);
            }
        }
        flushed = hw_log_recovery_point(t->log);
        assert_true(flushed >= story.expected.flushed);
        close_log(t);
        expect_ok(t, hw_faulty_store_lose_unsynced(story.faulty, seed, &t->error));
        open_log(t);
        if (hw_log_end(t->log) < story.expected.flushed) {
            fail_msg("seed %d: flushed up to %d, back up to %d", (int)seed,
                     (int)story.expected.flushed, (int)hw_log_end(t->log));
        }
        story.may_lose = true;
        expect_everything(&story);
        story_end(&story);
    }
}

/* Opening makes the small files of a new log again, so they wait for the first flush. */
TEST(the_small_files_are_durable_with_the_first_flush, struct test_log *t)
{
    for (int flushes = 0; flushes < 2; flushes++) {
        struct story story;

        story_begin(&story, t);
        open_or_fail(&story);
        append(&story, 1, 0, true);
        if (flushes > 0) {
            flush(&story);
        }
        close_log(t);
        expect_ok(t, hw_faulty_store_lose_unsynced(story.faulty, 0, &t->error));
        assert_int_equal(file_size(t, "partition.metadata"), flushes > 0 ? 43 : 0);
        assert_int_equal(file_size(t, "leader-epoch-checkpoint"), flushes > 0 ? 8 : 0);
        open_log(t);
        expect_log(t, 0, 0, flushes);
        assert_int_equal(file_size(t, "partition.metadata"), 43);
        story_end(&story);
    }
}

/* What the disk keeps of a file that was not synced never says anything wrong. */
TEST(small_files_that_were_not_synced_do_no_harm, struct test_log *t)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct story story;
        char epochs[32];

        story_begin(&story, t);
        open_or_fail(&story);
        append(&story, 3, 10, true);
        append(&story, 1, 10, true);
        close_log(t);
        expect_ok(t, hw_faulty_store_lose_unsynced(story.faulty, seed, &t->error));
        open_log(t);
        (void)snprintf(epochs, sizeof epochs, "%s", hw_log_end(t->log) == 0 ? "" : "10:0");
        expect_epochs(t, epochs);
        story_end(&story);
    }
}

/* The second time the file says something that batches alone do not: where an old epoch ended. */
TEST(a_change_of_the_epochs_is_durable_at_once, struct test_log *t)
{
    struct story story;

    story_begin(&story, t);
    open_or_fail(&story);
    append(&story, 2, 0, true);
    append(&story, 1, 3, true);
    close_log(t);
    expect_ok(t, hw_faulty_store_lose_unsynced(story.faulty, 0, &t->error));
    assert_int_equal(file_size(t, "leader-epoch-checkpoint"), 12);
    story_end(&story);
}

/* Semantics: flush.messages = 1 */
TEST(every_append_is_flushed_if_the_topic_says_so, struct test_log *t)
{
    struct story story;

    t->config.flush_messages = 1;
    story_begin(&story, t);
    open_or_fail(&story);
    for (int i = 0; i < 30; i++) {
        append(&story, 1, 0, true);
        assert_int_equal(hw_log_recovery_point(t->log), story.expected.end);
    }
    close_log(t);
    expect_ok(t, hw_faulty_store_lose_unsynced(story.faulty, 0, &t->error));
    open_log(t);
    expect_everything(&story);
    assert_int_equal(t->recovery.bytes_cut, 0);
    story_end(&story);
    t->config.flush_messages = INT64_MAX;
}

TEST(a_simulated_power_loss_takes_what_was_not_flushed, struct test_log *t)
{
    t->config.segment_bytes = 500;
    open_log(t);
    for (int i = 0; i < 7; i++) {
        produce_sized(t, i, 100);
    }
    expect_ok(t, hw_log_flush(t->log, &t->error));
    produce_sized(t, 7, 100);
    produce_sized(t, 8, 100);
    expect_ok(t, hw_log_lose_unsynced(t->log, &t->error));
    crash_and_reopen(t);
    expect_log(t, 0, 0, 7);

    /* Opening does not make durable what it finds. */
    produce_sized(t, 7, 100);
    crash_and_reopen(t);
    expect_log(t, 0, 0, 8);
    expect_ok(t, hw_log_lose_unsynced(t->log, &t->error));
    crash_and_reopen(t);
    expect_log(t, 0, 0, 7);
    assert_int_equal(expect_all_readable(t), 7);
}

/* The recovery point stays where it was, and the next flush is a real one. */
TEST(a_sync_that_fails_promises_nothing, struct test_log *t)
{
    struct story story;
    int64_t calls;

    story_begin(&story, t);
    open_or_fail(&story);
    append(&story, 3, 0, true);
    flush(&story);
    append(&story, 3, 0, true);
    story.faults.fail_at = story.faults.calls;
    assert_int_equal(hw_log_flush(t->log, &t->error), HW_IO);
    assert_int_equal(hw_log_recovery_point(t->log), 3);
    append(&story, 3, 0, true);
    calls = story.faults.calls;
    expect_ok(t, hw_log_flush(t->log, &t->error));
    assert_int_equal(hw_log_recovery_point(t->log), 9);
    assert_int_equal(story.faults.calls - calls, 3); /* Read, write again, sync. */
    append(&story, 3, 0, true);
    calls = story.faults.calls;
    expect_ok(t, hw_log_flush(t->log, &t->error));
    assert_int_equal(story.faults.calls - calls, 1); /* After one that went well, sync alone. */
    close_log(t);
    expect_ok(t, hw_faulty_store_lose_unsynced(story.faulty, 0, &t->error));
    open_log(t);
    expect_everything(&story);
    story_end(&story);
}

/* A write that failed and could not be cut back is cut before the next one. */
TEST(bytes_of_a_failed_append_never_stay_between_batches, struct test_log *t)
{
    struct story story;

    story_begin(&story, t);
    open_or_fail(&story);
    append(&story, 1, 0, true);
    story.faults.fail_at = story.faults.calls;
    story.faults.fail_on = true;
    story.faults.torn_bytes = 120;
    append(&story, 9, 0, true);
    assert_int_equal(story.failures, 1);
    story.faults.fail_at = -1;
    story.faults.fail_on = false;
    append(&story, 1, 0, true);
    assert_int_equal(file_size(t, "00000000000000000000.log"), 70 + 70);
    expect_everything(&story);
    reopen_cleanly(t);
    assert_false(t->recovery.recovered);
    expect_everything(&story);
    story_end(&story);
}

/* Kafka's name of a segment behind a gap is above the log end; without its data it must not stay.
 */
TEST(a_failed_append_behind_a_gap_leaves_no_segment, struct test_log *t)
{
    enum hw_status status = HW_IO;

    for (int64_t n = 0; status != HW_OK; n++) {
        struct story story;
        struct hw_buffer batch;

        story_begin(&story, t);
        open_or_fail(&story);
        append(&story, 1, 0, true);
        append(&story, 1, 0, true);
        hw_buffer_init(&batch, &hw_allocator_libc);
        build_sized_batch(&batch, 10, 0, 590);
        story.faults.fail_at = story.faults.calls + n;
        status = follow_bytes(t, &batch);
        if (status == HW_OK) {
            assert_true(n > 5);
            expect_segments(t, "0 10");
        } else {
            expect_log(t, 0, 0, 2);
            expect_segments(t, "0");
            append(&story, 1, 0, true);
            expect_log(t, 0, 0, 3);
        }
        hw_buffer_release(&batch);
        story_end(&story);
    }
}

/* What recovery has cut must not come back either. */
TEST(the_cut_of_a_recovery_is_made_durable_by_a_flush, struct test_log *t)
{
    struct story story;
    uint8_t junk[300] = {1, 2, 3};

    story_begin(&story, t);
    open_or_fail(&story);
    append(&story, 1, 0, true);
    flush(&story);
    close_log(t);
    t->store = story.memory;
    file_append(t, "00000000000000000000.log", junk, sizeof junk);
    t->store = story.faulty;
    open_log(t);
    assert_int_equal(t->recovery.bytes_cut, sizeof junk);
    flush(&story);
    close_log(t);
    expect_ok(t, hw_faulty_store_lose_unsynced(story.faulty, 0, &t->error));
    open_log(t);
    assert_int_equal(t->recovery.bytes_cut, 0);
    expect_everything(&story);
    story_end(&story);
}

/* A store that counts what it makes durable of names. */
struct spy {
    struct hw_store base;
    struct hw_store_methods methods;
    struct hw_store *inner;
    int directory; /* Syncs of the log's directory, */
    int others;    /* and of others. */
};

static enum hw_status spy_open(struct hw_store *store, const char *path, enum hw_open_mode mode,
                               struct hw_file **file, struct hw_error *error)
{
    return hw_store_open(((struct spy *)(void *)store)->inner, path, mode, file, error);
}

static enum hw_status spy_rename(struct hw_store *store, const char *from, const char *to,
                                 struct hw_error *error)
{
    return hw_store_rename(((struct spy *)(void *)store)->inner, from, to, error);
}

static enum hw_status spy_remove(struct hw_store *store, const char *path, struct hw_error *error)
{
    return hw_store_remove(((struct spy *)(void *)store)->inner, path, error);
}

static enum hw_status spy_list(struct hw_store *store, const char *path, struct hw_name_list *names,
                               struct hw_error *error)
{
    return hw_store_list(((struct spy *)(void *)store)->inner, path, names, error);
}

static enum hw_status spy_make_directory(struct hw_store *store, const char *path,
                                         struct hw_error *error)
{
    return hw_store_make_directory(((struct spy *)(void *)store)->inner, path, error);
}

static enum hw_status spy_look(struct hw_store *store, const char *path, struct hw_path_look *look,
                               struct hw_error *error)
{
    return hw_store_look(((struct spy *)(void *)store)->inner, path, look, error);
}

static enum hw_status spy_sync_directory(struct hw_store *store, const char *path,
                                         struct hw_error *error)
{
    struct spy *spy = (struct spy *)(void *)store;

    spy->directory += strcmp(path, "b/t-0") == 0;
    spy->others += strcmp(path, "b") == 0;
    return hw_store_sync_directory(spy->inner, path, error);
}

/* How often the names became durable since the last time. */
static void expect_syncs(struct spy *spy, int directory, int others)
{
    assert_int_equal(spy->directory, directory);
    assert_int_equal(spy->others, others);
    spy->directory = spy->others = 0;
}

/* New and removed files are nothing without the directory; a flush without them is cheaper. */
TEST(a_flush_makes_names_durable_if_they_changed, struct test_log *t)
{
    struct spy spy = {.methods = {.open = spy_open,
                                  .rename = spy_rename,
                                  .remove = spy_remove,
                                  .list = spy_list,
                                  .make_directory = spy_make_directory,
                                  .sync_directory = spy_sync_directory,
                                  .look = spy_look},
                      .inner = t->store};
    bool rolled;

    spy.base.methods = &spy.methods;
    expect_ok(t, hw_store_make_directory(t->store, "b", &t->error));
    t->load = (struct hw_log_load){.clean = true};
    expect_ok(t, hw_log_open(&t->heap.allocator, &spy.base, "b/t-0", &t->config, &t->load, 0,
                             &t->log, &t->recovery, &t->error));
    expect_syncs(&spy, 0, 0);
    expect_ok(t, hw_log_flush(t->log, &t->error));
    expect_syncs(&spy, 1, 1);
    expect_ok(t, hw_log_assign_epoch(t->log, 4, &t->error));
    expect_syncs(&spy, 0, 0);
    expect_ok(t, hw_log_flush(t->log, &t->error));
    expect_syncs(&spy, 1, 0);
    expect_ok(t, follow(t, 0, 2, -1, 0));
    expect_ok(t, hw_log_flush(t->log, &t->error));
    expect_syncs(&spy, 0, 0);
    expect_ok(t, hw_log_roll(t->log, 0, &rolled, &t->error));
    expect_ok(t, hw_log_flush(t->log, &t->error));
    expect_syncs(&spy, 1, 0);
    expect_ok(t, hw_log_truncate_to(t->log, 1, &t->error));
    expect_ok(t, hw_log_flush(t->log, &t->error));
    expect_syncs(&spy, 1, 0);
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 7, -1, &t->error));
    expect_ok(t, hw_log_flush(t->log, &t->error));
    expect_syncs(&spy, 2, 0); /* And with the file of the epochs, at once. */
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    expect_syncs(&spy, 1, 0);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    expect_syncs(&spy, 0, 0);
    hw_log_close(t->log);
    t->log = NULL;
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
