/* SPDX-License-Identifier: MIT */
/*
 * Is a log that is opened by what its clean stop knew the same as one that is opened by its files,
 * and is whatever happened to the files in between seen? (log_state.c)
 */
#include "tests/support_faulty_store.h"
#include "tests/support_log.h"
#include "tests/support_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SEGMENT_0  "00000000000000000000.log"
#define INDEX_0    "00000000000000000000.index"
#define TIMES_0    "00000000000000000000.timeindex"
#define SEGMENT_10 "00000000000000000010.log"
#define INDEX_10   "00000000000000000010.index"

enum { DESCRIPTION = 4096, LOOKS = 3 + 2 /* Directory and small files; segments. */ };

/* Two segments, [0-9] and [10-19], batches of 100 bytes with one record, an index entry for every
 * second one; epochs 0 and 3. */
static void fill(struct test_log *t)
{
    t->config.index_interval_bytes = 150;
    t->config.segment_bytes = 1000;
    open_log(t);
    for (int i = 0; i < 20; i++) {
        struct hw_buffer batch;

        hw_buffer_init(&batch, &hw_allocator_libc);
        build_sized_batch(&batch, 0, 1000 + i, 100);
        if (i == 12) {
            expect_ok(t, hw_log_assign_epoch(t->log, 3, &t->error));
        }
        expect_ok(t, hw_log_append_as_leader(t->log, batch.bytes, batch.size, i < 12 ? 0 : 3, 0,
                                             &(struct hw_log_append_info){0}, &t->error));
        hw_buffer_release(&batch);
    }
    expect_segments(t, "0 10");
}

/* Stop and close; what the stop knew is for the next opening, and lives until release(). */
static void stop(struct test_log *t, struct hw_buffer *state)
{
    hw_buffer_init(state, &hw_allocator_libc);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    expect_ok(t, hw_log_save_state(t->log, &t->load.topic_id, INT64_MAX, state, &t->error));
    assert_true(state->size > 0);
    close_log(t);
    t->load.clean = true;
    t->load.state = state->bytes;
    t->load.state_size = state->size;
}

/* How many calls of the store opening the log takes. */
static int64_t open_counting(struct test_log *t)
{
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *store;

    assert_int_equal(
        hw_faulty_store_create(&t->heap.allocator, t->store, &faults, &store, &t->error), HW_OK);
    expect_ok(t, hw_log_open(&t->heap.allocator, store, LOG_DIRECTORY, &t->config, &t->load, 0,
                             &t->log, &t->recovery, &t->error));
    hw_log_close(t->log);
    t->log = NULL;
    hw_store_destroy(store);
    return faults.calls;
}

/* Is nothing read, listed or opened where nothing has changed? */
static void an_untouched_log_is_opened_by_stamps_alone(void **state)
{
    struct test_log *t = *state;
    struct hw_buffer known;

    fill(t);
    stop(t, &known);
    assert_int_equal(open_counting(t), LOOKS);
    open_log(t);
    expect_log(t, 0, 0, 20);
    expect_epochs(t, "0:0 3:12");
    assert_int_equal(expect_all_readable(t), 20);
    produce(t, 3, 1, 2000);
    crash_and_reopen(t);
    assert_int_equal(expect_all_readable(t), 21);
    hw_buffer_release(&known);
}

static void another_topic_id_is_seen(void **state)
{
    struct test_log *t = *state;
    struct hw_buffer known;

    fill(t);
    stop(t, &known);
    t->load.topic_id.bytes[0] ^= 1;
    assert_int_equal(hw_log_open(&t->heap.allocator, t->store, LOG_DIRECTORY, &t->config, &t->load,
                                 0, &t->log, &t->recovery, &t->error),
                     HW_CORRUPT);
    t->log = NULL;
    hw_buffer_release(&known);
}

/* Change a file in one of the ways that leave the names as they are. */
static void damage(struct test_log *t, const char *name, int way)
{
    struct hw_buffer content;

    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, name, &content);
    assert_true(content.size > 0);
    switch (way) {
    case 0:
        content.bytes[content.size - 1] ^= 1;
        break;
    case 1:
        content.size--;
        break;
    case 2:
        content.size -= content.size > 12 ? 12 : content.size;
        break;
    default:
        assert_int_equal(hw_buffer_append(&content, "123456789012345678901234", 24, &t->error),
                         HW_OK);
        break;
    }
    file_write(t, name, content.bytes, content.size);
    hw_buffer_release(&content);
}

/* A changed .log is opened by its files, with the outcome that this has. */
static void a_changed_log_file_is_seen(void **state)
{
    static const char *const names[] = {SEGMENT_0, SEGMENT_10};
    struct test_log *t = *state;

    for (int way = 0; way < 4; way++) {
        for (int i = 0; i < 2; i++) {
            char by_state[DESCRIPTION];
            char by_files[DESCRIPTION];
            struct hw_buffer known;

            fill(t);
            stop(t, &known);
            damage(t, names[i], way);
            assert_true(open_counting(t) > LOOKS);
            open_log(t);
            describe_log(t->log, by_state, sizeof by_state);
            close_log(t);
            t->load.clean = true;
            t->load.state = NULL;
            open_log(t);
            describe_log(t->log, by_files, sizeof by_files);
            assert_string_equal(by_state, by_files);
            close_log(t);
            hw_buffer_release(&known);
            expect_ok(t,
                      hw_store_remove_tree(t->store, &t->heap.allocator, LOG_DIRECTORY, &t->error));
            t->load = (struct hw_log_load){.topic_id = t->load.topic_id};
        }
    }
}

/* So are files that came or went. */
static void a_changed_directory_is_seen(void **state)
{
    struct test_log *t = *state;

    for (int way = 0; way < 5; way++) {
        struct hw_buffer known;

        fill(t);
        stop(t, &known);
        switch (way) {
        case 0:
            file_remove(t, SEGMENT_10);
            break;
        case 1:
            file_remove(t, INDEX_0);
            break;
        case 2:
            file_remove(t, "leader-epoch-checkpoint");
            break;
        case 3:
            file_write(t, "00000000000000000020.log", "", 0);
            break;
        default:
            file_write(t, "00000000000000000000.log.deleted", "x", 1);
            break;
        }
        assert_true(open_counting(t) > LOOKS);
        t->load.state = known.bytes;
        open_log(t);
        assert_int_equal(expect_all_readable(t), way == 0 ? 10 : 20);
        assert_false(file_exists(t, "00000000000000000000.log.deleted"));
        expect_epochs(t, way == 0 ? "0:0" : "0:0 3:12");
        close_log(t);
        hw_buffer_release(&known);
        expect_ok(t, hw_store_remove_tree(t->store, &t->heap.allocator, LOG_DIRECTORY, &t->error));
        t->load = (struct hw_log_load){.topic_id = t->load.topic_id};
    }
}

/* Also where they are written in place, which the directory does not show. */
static void a_changed_small_file_is_seen(void **state)
{
    static const char *const names[] = {"leader-epoch-checkpoint", "partition.metadata"};
    struct test_log *t = *state;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct hw_buffer known;
        struct hw_buffer good;
        struct hw_buffer made;
        struct hw_file *file;

        hw_buffer_init(&good, &hw_allocator_libc);
        hw_buffer_init(&made, &hw_allocator_libc);
        fill(t);
        stop(t, &known);
        file_read(t, names[i], &good);
        expect_ok(t, hw_store_open(t->store,
                                   i == 0 ? LOG_DIRECTORY "/leader-epoch-checkpoint"
                                          : LOG_DIRECTORY "/partition.metadata",
                                   HW_OPEN_EXISTING, &file, &t->error));
        expect_ok(t, hw_file_write_at(file, 0, "garbage", 7, &t->error));
        hw_file_close(file);
        open_log(t);
        assert_true(t->recovery.detail[0] != '\0');
        expect_epochs(t, "0:0 3:12");
        file_read(t, names[i], &made);
        assert_int_equal(made.size, good.size);
        assert_memory_equal(made.bytes, good.bytes, good.size);
        close_log(t);
        hw_buffer_release(&known);
        hw_buffer_release(&good);
        hw_buffer_release(&made);
        expect_ok(t, hw_store_remove_tree(t->store, &t->heap.allocator, LOG_DIRECTORY, &t->error));
        t->load = (struct hw_log_load){.topic_id = t->load.topic_id};
    }
}

/* Indexes are not looked at when the log is opened, but before they are used, and made again. */
static void a_changed_index_is_made_again_when_it_is_used(void **state)
{
    static const char *const names[] = {INDEX_0, TIMES_0, INDEX_10};
    struct test_log *t = *state;

    for (int way = 0; way < 4; way++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            struct hw_buffer known;
            struct hw_buffer good;
            struct hw_buffer made;

            hw_buffer_init(&good, &hw_allocator_libc);
            hw_buffer_init(&made, &hw_allocator_libc);
            fill(t);
            stop(t, &known);
            file_read(t, names[i], &good);
            damage(t, names[i], way);
            assert_int_equal(open_counting(t), LOOKS);
            open_log(t);
            assert_int_equal(expect_all_readable(t), 20);
            expect_ok(t, hw_log_clean_stop(t->log, &t->error));
            file_read(t, names[i], &made);
            assert_int_equal(made.size, good.size);
            assert_memory_equal(made.bytes, good.bytes, good.size);
            close_log(t);
            hw_buffer_release(&known);
            hw_buffer_release(&good);
            hw_buffer_release(&made);
            expect_ok(t,
                      hw_store_remove_tree(t->store, &t->heap.allocator, LOG_DIRECTORY, &t->error));
            t->load = (struct hw_log_load){.topic_id = t->load.topic_id};
        }
    }
}

/* An index that had no entries is checked as well: what was added to it is no entry. */
static void an_empty_index_that_grew_is_made_again(void **state)
{
    struct test_log *t = *state;
    struct hw_buffer known;

    t->config.index_interval_bytes = 150;
    open_log(t);
    produce_sized(t, 1, 100);
    stop(t, &known);
    assert_int_equal(file_size(t, INDEX_0), 0);
    file_write(t, INDEX_0, "12345678", 8);
    open_log(t);
    for (int i = 0; i < 4; i++) {
        produce_sized(t, 2 + i, 100);
    }
    reopen_cleanly(t);
    assert_int_equal(t->recovery.indexes_rebuilt, 0);
    assert_int_equal(file_size(t, INDEX_0), 16);
    assert_int_equal(expect_all_readable(t), 5);
    hw_buffer_release(&known);
}

/* segment.ms counts from the first batch after any opening, not from the first append. */
static void the_next_roll_is_the_same(void **state)
{
    struct test_log *t = *state;
    struct hw_buffer batches;
    struct hw_buffer known;

    t->config.segment_ms = 100;
    open_log(t);
    hw_buffer_init(&batches, &hw_allocator_libc);
    build_batch(&batches, 0, 1, 0, 1000);
    build_batch(&batches, 1, 1, 0, 1090);
    expect_ok(t, follow_bytes(t, &batches));
    hw_buffer_release(&batches);
    stop(t, &known);
    open_log(t);
    hw_buffer_release(&known);
    produce(t, 0, 1, 1100);
    expect_segments(t, "0");
    produce(t, 0, 1, 1101);
    expect_segments(t, "0 3");
}

/* Anything that is cut short is not taken; nothing that is changed brings the process down. */
static void a_damaged_state_is_survived(void **state)
{
    struct test_log *t = *state;
    struct hw_buffer known;

    fill(t);
    stop(t, &known);
    for (size_t size = 0; size < known.size; size++) {
        t->load.state_size = size;
        assert_true(open_counting(t) > LOOKS);
    }
    t->load.state_size = known.size;
    for (size_t at = 0; at < known.size; at++) {
        static const uint8_t masks[] = {0x01, 0x80, 0xff};

        for (int mask = 0; mask < 3; mask++) {
            known.bytes[at] ^= masks[mask];
            assert_true(open_counting(t) >= LOOKS);
            known.bytes[at] ^= masks[mask];
        }
    }
    t->load.state = known.bytes;
    open_log(t);
    assert_int_equal(expect_all_readable(t), 20);
    hw_buffer_release(&known);
}

/* A stop that did not get to its end says nothing, and one that says nothing is not taken. */
static void what_is_not_on_disk_is_not_said(void **state)
{
    struct test_log *t = *state;
    struct hw_buffer known;

    hw_buffer_init(&known, &hw_allocator_libc);
    fill(t);
    expect_ok(t, hw_log_save_state(t->log, &t->load.topic_id, INT64_MAX, &known, &t->error));
    assert_int_equal(known.size, 0);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    produce(t, 3, 1, 3000);
    expect_ok(t, hw_log_save_state(t->log, &t->load.topic_id, INT64_MAX, &known, &t->error));
    assert_int_equal(known.size, 0);
    hw_buffer_release(&known);
}

/* A stamp says nothing while one more change would not change it. */
static void what_has_just_changed_is_not_said(void **state)
{
    struct test_log *t = *state;
    struct hw_path_look look;
    struct hw_buffer known;

    hw_buffer_init(&known, &hw_allocator_libc);
    fill(t);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    expect_ok(t, hw_store_look(t->store, LOG_DIRECTORY, &look, &t->error));
    expect_ok(t, hw_log_save_state(t->log, &t->load.topic_id, look.changed_ns, &known, &t->error));
    assert_int_equal(known.size, 0);
    expect_ok(t, hw_store_look(t->store, LOG_DIRECTORY "/" SEGMENT_10, &look, &t->error));
    expect_ok(t, hw_log_save_state(t->log, &t->load.topic_id, look.changed_ns, &known, &t->error));
    assert_int_equal(known.size, 0);
    hw_buffer_release(&known);
}

/* A call of the store, or an allocation, that fails while saving or opening: an error, and the next
 * try has it all. */
static void every_call_may_fail(void **state)
{
    struct test_log *t = *state;
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *store;
    struct hw_buffer known;
    enum hw_status status = HW_IO;

    fill(t);
    stop(t, &known);
    assert_int_equal(
        hw_faulty_store_create(&t->heap.allocator, t->store, &faults, &store, &t->error), HW_OK);
    for (int fail_at = 0; status != HW_OK; fail_at++) {
        faults.calls = 0;
        faults.fail_at = fail_at;
        status = hw_log_open(&t->heap.allocator, store, LOG_DIRECTORY, &t->config, &t->load, 0,
                             &t->log, &t->recovery, &t->error);
        assert_true(status == HW_OK || status == HW_IO);
        assert_true((status == HW_OK) == (fail_at == LOOKS));
    }
    hw_log_close(t->log);
    t->log = NULL;
    faults.fail_at = -1;
    status = HW_NO_MEMORY;
    for (int fail_at = 0; status != HW_OK; fail_at++) {
        t->heap.fail_at = t->heap.allocations + fail_at;
        status = hw_log_open(&t->heap.allocator, store, LOG_DIRECTORY, &t->config, &t->load, 0,
                             &t->log, &t->recovery, &t->error);
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
    }
    t->heap.fail_at = -1;
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    known.size = 0;
    status = HW_IO;
    for (int fail_at = 0; status != HW_OK; fail_at++) {
        faults.calls = 0;
        faults.fail_at = fail_at;
        status = hw_log_save_state(t->log, &t->load.topic_id, INT64_MAX, &known, &t->error);
        assert_true(status == HW_OK || known.size == 0);
    }
    assert_true(known.size > 0);
    hw_log_close(t->log);
    t->log = NULL;
    hw_store_destroy(store);
    hw_buffer_release(&known);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, test_log_setup, test_log_teardown)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CASE(an_untouched_log_is_opened_by_stamps_alone),
        CASE(another_topic_id_is_seen),
        CASE(a_changed_log_file_is_seen),
        CASE(a_changed_directory_is_seen),
        CASE(a_changed_small_file_is_seen),
        CASE(a_changed_index_is_made_again_when_it_is_used),
        CASE(an_empty_index_that_grew_is_made_again),
        CASE(the_next_roll_is_the_same),
        CASE(a_damaged_state_is_survived),
        CASE(what_is_not_on_disk_is_not_said),
        CASE(what_has_just_changed_is_not_said),
        CASE(every_call_may_fail),
    };

    return cmocka_run_group_tests_name("log_state", tests, NULL, NULL);
}
