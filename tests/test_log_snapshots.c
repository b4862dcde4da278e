/* SPDX-License-Identifier: MIT */
/*
 * Which producer snapshots stand in the directory of a log, and what do they say?
 * Source: ProducerStateManager (kafka formats, sections 6, 7.1 and 7.2 step 9).
 */
#include "core/format/segment_name.h"
#include "core/format/snapshot_file.h"
#include "tests/support_batch.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The offsets in the names of the snapshots, as "5 10". */
#define expect_snapshots(t, expected) expect_snapshots_at((t), (expected), test_here)
static void expect_snapshots_at(struct test_log *t, const char *expected, const char *file,
                                int line)
{
    struct hw_name_list names = {.allocator = &hw_allocator_libc};
    char text[256] = "";

    test_expect_ok(t, hw_store_list(t->store, LOG_DIRECTORY, &names, &t->error), file, line);
    for (size_t i = 0; i < names.count; i++) {
        size_t size = strlen(text);
        hw_offset_t offset;

        if (hw_segment_name_parse(names.names[i], ".snapshot", &offset)) {
            (void)snprintf(text + size, sizeof text - size, "%s%" PRId64, size == 0 ? "" : " ",
                           offset);
        }
    }
    hw_name_list_release(&names);
    if (strcmp(text, expected) != 0) {
        print_error("snapshots are \"%s\", expected \"%s\"\n", text, expected);
        _fail(file, line);
    }
}

static const char *name_of(hw_offset_t offset)
{
    static char name[40];

    (void)snprintf(name, sizeof name, "%020" PRId64 ".snapshot", offset);
    return name;
}

/* The file has exactly the bytes of that vector. */
static void expect_content(struct test_log *t, hw_offset_t offset, const char *vector)
{
    struct hw_buffer expected;
    struct hw_buffer content;

    hw_buffer_init(&expected, &hw_allocator_libc);
    hw_buffer_init(&content, &hw_allocator_libc);
    test_read_vector(&expected, vector);
    file_read(t, name_of(offset), &content);
    assert_int_equal(content.size, expected.size);
    assert_memory_equal(content.bytes, expected.bytes, expected.size);
    hw_buffer_release(&content);
    hw_buffer_release(&expected);
}

static void put(struct test_log *t, hw_offset_t offset, const char *vector)
{
    struct hw_buffer content;

    hw_buffer_init(&content, &hw_allocator_libc);
    test_read_vector(&content, vector);
    file_write(t, name_of(offset), content.bytes, content.size);
    hw_buffer_release(&content);
}

static void roll(struct test_log *t)
{
    bool rolled;

    expect_ok(t, hw_log_roll(t->log, t->now_ms, &rolled, &t->error));
    assert_true(rolled);
}

/* Append a record of a producer with an id. */
static void produce_numbered(struct test_log *t)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_record record = test_record(0, 0, NULL, "v");
    struct hw_batch_builder builder;
    struct hw_buffer bytes;

    hw_buffer_init(&bytes, &hw_allocator_libc);
    options.producer_id = 4000;
    options.producer_epoch = 0;
    options.base_sequence = 0;
    expect_ok(t, hw_batch_builder_begin(&builder, &bytes, 0, &t->error));
    expect_ok(t, hw_batch_builder_add(&builder, &record, &t->error));
    hw_batch_builder_finish(&builder, &options);
    expect_ok(t, lead_bytes(t, &bytes));
    hw_buffer_release(&bytes);
}

static const char empty[] = "F0-empty.snapshot";
static const char producers[] = "00000000000000000103.snapshot";

TEST(a_roll_and_a_clean_stop_leave_an_empty_snapshot, struct test_log *t)
{
    open_log(t);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    expect_snapshots(t, ""); /* None at offset 0. */
    produce(t, 0, 5, 0);
    roll(t);
    expect_snapshots(t, "5");
    expect_content(t, 5, empty);
    produce(t, 0, 2, 0);
    expect_snapshots(t, "5");
    reopen_cleanly(t);
    expect_snapshots(t, "5 7");
    expect_content(t, 7, empty);
    reopen_cleanly(t); /* Nothing new. */
    expect_snapshots(t, "5 7");
}

/* That of the last stop goes once there is a newer one; those at the base of a segment stay. */
TEST(snapshots_of_no_segment_go_but_the_newest, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 5, 0);
    roll(t);
    produce(t, 0, 2, 0);
    reopen_cleanly(t);
    produce(t, 0, 2, 0);
    expect_snapshots(t, "5 7");
    reopen_cleanly(t);
    expect_snapshots(t, "5 9");
    close_log(t);
    put(t, 3, empty);
    put(t, 6, empty);
    open_log(t);
    expect_snapshots(t, "5 9");
}

TEST(a_truncation_takes_the_snapshots_above_it, struct test_log *t)
{
    open_log(t);
    for (int i = 0; i < 3; i++) {
        produce(t, 0, 5, 0);
        roll(t);
    }
    expect_snapshots(t, "5 10 15");
    expect_ok(t, hw_log_truncate_to(t->log, 10, &t->error));
    expect_snapshots(t, "5 10");
    expect_ok(t, hw_log_truncate_to(t->log, 5, &t->error));
    expect_snapshots(t, "5");
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 5, HW_OFFSET_NONE, &t->error));
    expect_snapshots(t, "");
    produce(t, 1, 2, 0);
    reopen_cleanly(t);
    expect_snapshots(t, "7");
}

TEST(retention_takes_the_snapshots_of_what_it_deletes, struct test_log *t)
{
    int32_t deleted;

    open_log(t);
    for (int i = 0; i < 3; i++) {
        produce(t, 0, 5, 0);
        roll(t);
    }
    t->config.retention_ms = 0;
    hw_log_set_config(t->log, &t->config);
    (void)hw_log_update_high_watermark(t->log, 10);
    expect_ok(t, hw_log_delete_old_segments(t->log, t->now_ms + 1, &deleted, &t->error));
    assert_int_equal(deleted, 2);
    expect_snapshots(t, "10 15");
    close_log(t);
    t->load.log_start = 10;
    open_log(t); /* What is at or below the log start says nothing any more. */
    expect_snapshots(t, "15");
}

TEST(an_unclean_stop_takes_the_snapshots_above_the_end, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 5, 0);
    roll(t);
    produce(t, 0, 2, 0);
    reopen_cleanly(t);
    close_log(t);
    file_append(t, "00000000000000000005.log", "junk", 4);
    put(t, 9, empty);
    open_log(t);
    expect_log(t, 0, 0, 7);
    expect_snapshots(t, "5 7");
}

/* A directory that a broker wrote: what it knew of producers stays true while none of them writes,
 * so it is carried on. */
TEST(a_snapshot_with_producers_is_carried_on, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 5, 0);
    close_log(t);
    put(t, 5, producers);
    open_log(t);
    expect_snapshots(t, "5");
    produce(t, 0, 2, 0);
    roll(t);
    expect_content(t, 7, producers);
    produce(t, 0, 2, 0);
    reopen_cleanly(t);
    expect_snapshots(t, "7 9");
    expect_content(t, 9, producers);
}

/* "4000:0" for each producer that the snapshot tells, with its last sequence. */
static void expect_known(struct test_log *t, hw_offset_t offset, const char *expected)
{
    struct hw_snapshot_file snapshot;
    char path[HW_PATH_MAX];
    char text[256] = "";

    hw_snapshot_file_init(&snapshot, &hw_allocator_libc);
    expect_ok(t, hw_path_join(path, LOG_DIRECTORY, name_of(offset), &t->error));
    expect_ok(t, hw_snapshot_file_read(&snapshot, t->store, path, &t->error));
    assert_false(snapshot.has_fault);
    for (int32_t i = 0; i < snapshot.whole; i++) {
        struct hw_snapshot_producer producer = hw_snapshot_file_get(&snapshot, i);
        size_t size = strlen(text);

        (void)snprintf(text + size, sizeof text - size, "%s%" PRId64 ":%" PRId32,
                       size == 0 ? "" : " ", producer.producer_id, producer.last_sequence);
    }
    hw_snapshot_file_release(&snapshot);
    assert_string_equal(text, expected);
}

TEST(a_roll_and_a_clean_stop_write_what_is_known, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 5, 0);
    roll(t);
    produce_numbered(t);
    roll(t);
    produce(t, 0, 1, 0);
    expect_snapshots(t, "5 6");
    expect_known(t, 6, "4000:0");
    for (int i = 0; i < 2; i++) {
        reopen_cleanly(t);
        expect_snapshots(t, "5 6 7");
        expect_known(t, 7, "4000:0");
    }
    crash_and_reopen(t);
    produce(t, 0, 1, 0);
    roll(t);
    expect_known(t, 8, "4000:0");
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 20, HW_OFFSET_NONE, &t->error));
    produce(t, 0, 1, 0);
    roll(t);
    expect_snapshots(t, "21");
    expect_known(t, 21, "");
}

/* Row: C188. Semantics: R9.12 */
TEST(without_snapshots_the_batches_tell, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 5, 0);
    produce_numbered(t);
    produce(t, 0, 1, 0);
    reopen_cleanly(t);
    close_log(t);
    file_remove(t, name_of(7));
    t->load.clean = true;
    open_log(t);
    assert_int_equal(hw_log_producers(t->log)->count, 1);
    expect_ok(t, hw_log_truncate_to(t->log, 6, &t->error));
    assert_int_equal(hw_log_producers(t->log)->count, 1);
    assert_int_equal(hw_producer_last_sequence(&hw_log_producers(t->log)->producers[0]), 0);
    expect_ok(t, hw_log_truncate_to(t->log, 5, &t->error));
    assert_int_equal(hw_log_producers(t->log)->count, 0);
}

/* They are noticed as they are recovered. */
TEST(a_recovered_batch_of_a_producer_counts_too, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 5, 0);
    roll(t);
    produce_numbered(t);
    crash_and_reopen(t);
    roll(t);
    expect_snapshots(t, "5 6");
    expect_known(t, 6, "4000:0");
}

TEST(a_damaged_snapshot_is_no_model_for_the_next, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 5, 0);
    roll(t);
    produce(t, 0, 2, 0);
    close_log(t);
    file_write(t, name_of(7), "junk", 4);
    open_log(t);
    produce(t, 0, 1, 0);
    roll(t);
    expect_snapshots(t, "5 8");
    expect_content(t, 8, empty);
    close_log(t);
    file_write(t, name_of(8), "", 0);
    open_log(t);
    produce(t, 0, 1, 0);
    reopen_cleanly(t);
    expect_snapshots(t, "5 9");
    expect_content(t, 9, empty);
}

TEST(every_allocation_of_a_roll_may_fail, struct test_log *t)
{
    enum hw_status status = HW_NO_MEMORY;
    bool rolled;

    open_log(t);
    produce(t, 0, 5, 0);
    for (int fail_at = 0; status == HW_NO_MEMORY; fail_at++) {
        t->heap.fail_at = t->heap.allocations + fail_at;
        status = hw_log_roll(t->log, t->now_ms, &rolled, &t->error);
        t->heap.fail_at = -1;
        hw_log_check(t->log);
        assert_true(fail_at < 100);
    }
    expect_ok(t, status);
    expect_segments(t, "0 5");
    expect_snapshots(t, "5");
    expect_content(t, 5, empty);
}

/* A follower rolls above its log end where the offsets have a gap. */
TEST(an_append_that_fails_leaves_no_snapshot_above_the_end, struct test_log *t)
{
    enum hw_status status = HW_NO_MEMORY;

    open_log(t);
    produce(t, 0, 5, 0);
    t->config.segment_bytes = 1;
    hw_log_set_config(t->log, &t->config);
    for (int fail_at = 0; status == HW_NO_MEMORY; fail_at++) {
        expect_log(t, 0, 0, 5);
        expect_snapshots(t, "");
        t->heap.fail_at = t->heap.allocations + fail_at;
        status = follow(t, 10, 1, 0, 0);
        t->heap.fail_at = -1;
        assert_true(fail_at < 100);
    }
    expect_ok(t, status);
    expect_snapshots(t, "10");
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
