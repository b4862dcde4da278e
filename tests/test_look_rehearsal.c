/* SPDX-License-Identifier: MIT */
/*
 * What would a start of Kafka do to a directory? What its own broker does is compared in
 * tests/interop/recovery.sh. Source: LogLoader, LogSegment, LogManager (kafka formats, section 7).
 */
#include "core/base/bytes.h"
#include "core/io/memory_store.h"
#include "core/io/store_copy.h"
#include "core/look/rehearsal.h"
#include "tests/support_faulty_store.h"
#include "tests/support_log.h"
#include "tests/support_segment.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_SIZE = 4096, BATCH = 100 };

static const char first_log[] = "00000000000000000000.log";
static const char second_log[] = "00000000000000000010.log";
static const char last_log[] = "00000000000000000020.log";

/* A file of the log directory. */
static void put_beside(struct test_log *t, const char *name, const char *text)
{
    expect_ok(t, hw_store_write_atomically(t->store, name, text, strlen(text), &t->error));
}

/* Three segments, ten batches of one record and 100 bytes in each but the last, which has five;
 * stopped cleanly. */
static void fill(struct test_log *t)
{
    t->load.topic_id.bytes[0] = 1;
    t->config.segment_bytes = 10 * BATCH;
    t->config.index_interval_bytes = 150;
    open_log(t);
    for (int i = 0; i < 25; i++) {
        produce_sized(t, 10 * i, BATCH);
    }
    expect_segments(t, "0 10 20");
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
    put_beside(t, ".kafka_cleanshutdown", "");
    put_beside(t, "recovery-point-offset-checkpoint", "0\n1\nt 0 25\n");
}

static void crash_first(struct test_log *t)
{
    expect_ok(t, hw_store_remove(t->store, ".kafka_cleanshutdown", &t->error));
}

static void recover_all(struct test_log *t)
{
    crash_first(t);
    expect_ok(t, hw_store_remove(t->store, "recovery-point-offset-checkpoint", &t->error));
}

/* A copy of all there is, for one start. */
static struct hw_store *copy(struct test_log *t)
{
    static const char *const beside[] = {".kafka_cleanshutdown", "recovery-point-offset-checkpoint",
                                         "log-start-offset-checkpoint"};
    struct hw_store *files;

    expect_ok(t, hw_memory_store_create(&hw_allocator_libc, &files, &t->error));
    expect_ok(t, hw_store_copy_directory(t->store, LOG_DIRECTORY, files, LOG_DIRECTORY, NULL,
                                         INT64_MAX, &hw_allocator_libc, &t->error));
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        struct hw_buffer content;
        enum hw_status status;

        hw_buffer_init(&content, &hw_allocator_libc);
        status = hw_store_read_whole(t->store, beside[i], SIZE_MAX, &content, &t->error);
        if (status == HW_OK) {
            expect_ok(t,
                      hw_store_replace(files, beside[i], content.bytes, content.size, &t->error));
        }
        hw_buffer_release(&content);
    }
    return files;
}

static char path[] = LOG_DIRECTORY;
static char topic[] = "t";
static char metadata_topic[] = "__cluster_metadata";
static const struct hw_kafka_partition partition = {.path = path, .topic = topic};

/* The log of the metadata is recovered at each start, and is known without its topic id. */
static const struct hw_kafka_partition metadata = {.path = path, .topic = metadata_topic};

static void run(struct test_log *t, struct hw_rehearsal *rehearsal)
{
    expect_ok(t, hw_rehearsal_run(rehearsal, &t->heap.allocator, copy(t), &partition, &t->error));
}

/* The log end, and each deed as "file: problem: action, bytes from offset, records". */
#define expect_start(t, leo, expected) expect_start_at((t), (leo), (expected), test_here)
static void expect_start_at(struct test_log *t, hw_offset_t leo, const char *expected,
                            const char *file, int line)
{
    struct hw_rehearsal rehearsal;
    char text[TEXT_SIZE] = "";

    run(t, &rehearsal);
    for (size_t i = 0; i < rehearsal.count; i++) {
        const struct hw_rehearsal_deed *deed = &rehearsal.deeds[i];
        size_t size = strlen(text);

        (void)snprintf(text + size, sizeof text - size, "%s%s: %s: %s", i == 0 ? "" : "\n",
                       deed->mend.file, deed->mend.problem, deed->mend.action);
        size = strlen(text);
        if (deed->mend.bytes_cut > 0) {
            (void)snprintf(text + size, sizeof text - size,
                           ", %" PRId64 " from %" PRId64 ", %" PRId64, deed->mend.bytes_cut,
                           deed->mend.first_lost, deed->records_lost);
        }
    }
    if (strcmp(text, expected) != 0 || rehearsal.log_end != leo) {
        print_message("--- expected %" PRId64 "\n%s\n--- got %" PRId64 "\n%s\n%s\n", leo, expected,
                      rehearsal.log_end, text, rehearsal.refusal);
        _fail(file, line);
    }
    hw_rehearsal_release(&rehearsal);
}

static void flip(struct test_log *t, const char *name, size_t at)
{
    struct hw_buffer content;

    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, name, &content);
    content.bytes[at] ^= 0xff;
    file_write(t, name, content.bytes, content.size);
    hw_buffer_release(&content);
}

static void cut_file(struct test_log *t, const char *name, size_t by)
{
    struct hw_buffer content;

    hw_buffer_init(&content, &hw_allocator_libc);
    file_read(t, name, &content);
    file_write(t, name, content.bytes, content.size - by);
    hw_buffer_release(&content);
}

static void rename_file(struct test_log *t, const char *from, const char *to)
{
    char paths[2][HW_PATH_MAX];

    expect_ok(t, hw_path_join(paths[0], LOG_DIRECTORY, from, &t->error));
    expect_ok(t, hw_path_join(paths[1], LOG_DIRECTORY, to, &t->error));
    expect_ok(t, hw_store_rename(t->store, paths[0], paths[1], &t->error));
}

TEST(what_is_in_order_is_left, struct test_log *t)
{
    fill(t);
    expect_start(t, 25, "");
    crash_first(t);
    expect_start(t, 25, "");
}

/* What stands behind the damage is counted. Case: C-01 */
TEST(a_crash_is_followed_by_a_cut, struct test_log *t)
{
    fill(t);
    recover_all(t);
    flip(t, last_log, 2 * BATCH + 80);
    expect_start(
        t, 22,
        "00000000000000000020.log: wrong checksum at byte 200: cut off behind the last good "
        "batch, 300 from 22, 2\n"
        "00000000000000000025.snapshot: lies above the log end: deleted");
    flip(t, first_log, 80);
    expect_start(t, 0,
                 "00000000000000000000.log: wrong checksum at byte 0: cut off behind the last good "
                 "batch, 1000 from 0, 9\n"
                 "00000000000000000010.log: lies behind a cut: deleted, 1000 from 10, 10\n"
                 "00000000000000000020.log: lies behind a cut: deleted, 500 from 20, 4\n"
                 "00000000000000000025.snapshot: lies above the log end: deleted\n"
                 "00000000000000000020.snapshot: lies above the log end: deleted\n"
                 "00000000000000000010.snapshot: lies above the log end: deleted");
}

/* Below the recovery point nothing is looked at. */
TEST(damage_below_the_recovery_point_is_not_seen, struct test_log *t)
{
    fill(t);
    flip(t, first_log, 80);
    expect_start(t, 25, "");
    crash_first(t);
    expect_start(t, 25, "");
    /* Unless the segment has no offset index; it is cut by itself then, and nothing follows from that,
     * wherever the recovery point is. */
    file_remove(t, "00000000000000000000.index");
    for (int all = 0; all < 2; all++) {
        expect_start(
            t, 25,
            "00000000000000000000.index: it or its .timeindex is missing or does not fit the "
            ".log: rebuilt from the .log\n"
            "00000000000000000000.log: wrong checksum at byte 0: cut off behind the last good "
            "batch, 1000 from 0, 9");
        if (all == 0) {
            expect_ok(t, hw_store_remove(t->store, "recovery-point-offset-checkpoint", &t->error));
        }
    }
}

/* Bytes that no crash explains stay, or cost the segment, or the start. Case: C-02 */
TEST(a_tail_behind_a_clean_stop_is_no_tail_to_cut, struct test_log *t)
{
    uint8_t zeros[64] = {0};

    fill(t);
    file_append(t, last_log, zeros, 10);
    expect_start(t, 25,
                 "00000000000000000020.log: 10 bytes behind the last whole batch, after a clean "
                 "stop: left, and what is appended comes behind them");
    file_append(t, last_log, zeros, sizeof zeros);
    expect_start(t, HW_OFFSET_NONE,
                 "00000000000000000020.log: no batch begins at byte 500: refused: the broker does "
                 "not start");
    /* The index has an entry for the batch that is torn. */
    cut_file(t, last_log, 10 + sizeof zeros + 10);
    expect_start(t, 20,
                 "00000000000000000020.log: the last entry of its .index leads to no whole batch: "
                 "left, but the log ends at its first offset: all of it is lost, 490 from 20, 4\n"
                 "00000000000000000025.snapshot: lies above the log end: deleted");
}

/* Case: F-15 */
TEST(what_a_cleaner_left_takes_its_place, struct test_log *t)
{
    fill(t);
    rename_file(t, second_log, "00000000000000000010.log.swap");
    expect_start(t, 25,
                 "00000000000000000010.index: what was cleaned takes its place: deleted\n"
                 "00000000000000000010.snapshot: what was cleaned takes its place: deleted\n"
                 "00000000000000000010.timeindex: what was cleaned takes its place: deleted\n"
                 "00000000000000000010.log.swap: a cleaning that was not finished: renamed\n"
                 "00000000000000000010.index: it or its .timeindex is missing or does not fit the "
                 ".log: rebuilt from the .log");
    /* It is not whole: its segments are gone. */
    rename_file(t, first_log, "00000000000000000000.log.cleaned");
    expect_start(t, 25,
                 "00000000000000000010.log.swap: a cleaning that was not finished: deleted\n"
                 "00000000000000000000.log.cleaned: a cleaning that was not finished: deleted\n"
                 "00000000000000000000.index: has no .log: deleted\n"
                 "00000000000000000000.timeindex: has no .log: deleted\n"
                 "00000000000000000010.index: has no .log: deleted\n"
                 "00000000000000000010.timeindex: has no .log: deleted\n"
                 "00000000000000000010.snapshot: lies below the log start: deleted\n"
                 "00000000000000000020.snapshot: lies below the log start: deleted");
    file_write(t, "00000000000000000000.log.deleted", "x", 1);
    file_remove(t, "00000000000000000010.log.swap");
    file_remove(t, "00000000000000000000.log.cleaned");
    file_remove(t, "00000000000000000000.index");
    file_remove(t, "00000000000000000000.timeindex");
    file_remove(t, "00000000000000000010.index");
    file_remove(t, "00000000000000000010.timeindex");
    file_remove(t, "00000000000000000010.snapshot");
    file_remove(t, "00000000000000000020.snapshot");
    expect_start(t, 25,
                 "00000000000000000000.log.deleted: a deletion that was not finished: deleted");
}

TEST(a_time_index_that_is_missing_is_made, struct test_log *t)
{
    fill(t);
    file_remove(t, "00000000000000000020.timeindex");
    expect_start(t, 25,
                 "00000000000000000020.timeindex: missing: made empty\n"
                 "00000000000000000020.index: it or its .timeindex is missing or does not fit the "
                 ".log: left, and believed");
}

/* Case: F-39 */
TEST(indexes_are_believed_after_a_clean_stop, struct test_log *t)
{
    static const uint8_t entry[8] = {0, 0, 0, 3, 0x7f, 0, 0, 0};

    fill(t);
    file_write(t, "00000000000000000010.index", entry, sizeof entry);
    expect_start(t, 25,
                 "00000000000000000010.index: it or its .timeindex is missing or does not fit the "
                 ".log: left, and believed");
    recover_all(t);
    expect_start(t, 25,
                 "00000000000000000010.index: it or its .timeindex is missing or does not fit the "
                 ".log: rebuilt from the .log");
}

TEST(epochs_are_not_mended, struct test_log *t)
{
    fill(t);
    file_write(t, "leader-epoch-checkpoint", "0\n2\n0 0\n7 99\n", 13);
    expect_start(t, 25,
                 "leader-epoch-checkpoint: has epochs that begin above the log end: these are "
                 "taken out");
    file_remove(t, "leader-epoch-checkpoint");
    expect_start(t, 25, "leader-epoch-checkpoint: missing: made again, empty");
    crash_first(t);
    expect_start(t, 25, "leader-epoch-checkpoint: missing: made again from the batches recovered");
    file_write(t, "leader-epoch-checkpoint", "what?\n", 6);
    expect_start(t, HW_OFFSET_NONE,
                 "leader-epoch-checkpoint: t-0/leader-epoch-checkpoint: line 1: the version is no "
                 "number: refused: the log directory fails");
}

TEST(producers_are_forgotten_without_snapshots, struct test_log *t)
{
    fill(t);
    flip(t, "00000000000000000025.snapshot", 4);
    expect_start(t, 25, "00000000000000000025.snapshot: damaged: deleted");
    file_remove(t, "00000000000000000010.snapshot");
    file_remove(t, "00000000000000000020.snapshot");
    file_remove(t, "00000000000000000025.snapshot");
    expect_start(t, 25,
                 "*.snapshot: there is none: made empty: what producers did last, and open "
                 "transactions, are forgotten");
    crash_first(t);
    expect_start(t, 25, "*.snapshot: there is none: made again from the batches");
}

TEST(a_directory_without_its_topic_id_is_set_aside, struct test_log *t)
{
    fill(t);
    file_remove(t, "partition.metadata");
    expect_start(
        t, 0,
        "partition.metadata: missing: the directory is renamed to -stray, and an empty log "
        "begins\n"
        "00000000000000000000.log: is in a directory without partition.metadata: set aside, "
        "1000 from 0, 10\n"
        "00000000000000000010.log: is in a directory without partition.metadata: set aside, "
        "1000 from 10, 10\n"
        "00000000000000000020.log: is in a directory without partition.metadata: set aside, "
        "500 from 20, 5");
}

TEST(the_log_of_the_metadata_is_always_recovered, struct test_log *t)
{
    struct hw_rehearsal rehearsal;

    fill(t);
    file_remove(t, "partition.metadata");
    cut_file(t, last_log, 10);
    expect_ok(t, hw_rehearsal_run(&rehearsal, &t->heap.allocator, copy(t), &metadata, &t->error));
    assert_int_equal(rehearsal.log_end, 24);
    assert_true(rehearsal.count > 0 && rehearsal.deeds[0].mend.bytes_cut == 90);
    hw_rehearsal_release(&rehearsal);
}

/* Files of a few bytes that no start gets over. */
TEST(what_cannot_be_read_is_refused, struct test_log *t)
{
    fill(t);
    put_beside(t, "recovery-point-offset-checkpoint", "x\n");
    expect_start(t, HW_OFFSET_NONE,
                 "recovery-point-offset-checkpoint: recovery-point-offset-checkpoint: line 1: the "
                 "version is no number: refused: the log directory fails");
    file_write(t, "partition.metadata", "x\n", 2);
    expect_start(t, HW_OFFSET_NONE,
                 "partition.metadata: t-0/partition.metadata: line 1: expected \"version: 0\": "
                 "refused: the log directory fails");
}

TEST(a_log_that_ends_below_its_start_begins_anew, struct test_log *t)
{
    fill(t);
    put_beside(t, "log-start-offset-checkpoint", "0\n1\nt 0 26\n");
    expect_start(t, 26,
                 "00000000000000000000.log: ends below the log start of the checkpoint: deleted, "
                 "1000 from 0, 10\n"
                 "00000000000000000010.log: ends below the log start of the checkpoint: deleted, "
                 "1000 from 10, 10\n"
                 "00000000000000000020.log: ends below the log start of the checkpoint: deleted, "
                 "500 from 20, 5\n"
                 "00000000000000000025.snapshot: lies above the log end: deleted\n"
                 "00000000000000000020.snapshot: lies above the log end: deleted\n"
                 "00000000000000000010.snapshot: lies above the log end: deleted");
}

/* Old formats are data, whatever a replica of ours can hold. */
TEST(messages_of_old_formats_are_kept, struct test_log *t)
{
    struct hw_buffer log;

    fill(t);
    recover_all(t);
    hw_buffer_init(&log, &hw_allocator_libc);
    test_put_legacy(&log, 1, 25, 250, "v");
    file_append(t, last_log, log.bytes, log.size);
    hw_buffer_release(&log);
    expect_start(t, 26, "");
}

/* Whatever is changed or missing, the start comes to an end, and what it would leave is no more than
 * there was. */
TEST(every_damage_has_an_answer, struct test_log *t)
{
    static const char *const names[] = {"00000000000000000020.log",
                                        "00000000000000000010.log",
                                        "00000000000000000020.index",
                                        "00000000000000000020.timeindex",
                                        "00000000000000000025.snapshot",
                                        "leader-epoch-checkpoint",
                                        "partition.metadata"};

    fill(t);
    for (int clean = 1; clean >= 0; clean--) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            struct hw_buffer content;

            hw_buffer_init(&content, &hw_allocator_libc);
            file_read(t, names[i], &content);
            for (size_t at = 0; at < content.size; at++) {
                struct hw_rehearsal rehearsal;

                for (int way = 0; way < 2; way++) {
                    content.bytes[at] ^= 0xff;
                    file_write(t, names[i], content.bytes, way == 0 ? content.size : at);
                    run(t, &rehearsal);
                    assert_true(rehearsal.log_end <= 25 || rehearsal.count > 0 || i < 2);
                    assert_true(rehearsal.log_end >= 0 || rehearsal.refusal[0] != '\0');
                    hw_rehearsal_release(&rehearsal);
                }
            }
            file_write(t, names[i], content.bytes, content.size);
            hw_buffer_release(&content);
        }
        if (clean) {
            recover_all(t);
        }
    }
}

/* Of segments of 4 MiB one is cut, one renamed, and two deleted. */
TEST(memory_does_not_grow_with_the_log, struct test_log *t)
{
    struct hw_rehearsal rehearsal;
    struct test_heap heap;
    hw_offset_t base;
    char names[2][40];

    t->load.topic_id.bytes[0] = 1;
    t->config.segment_bytes = 4 << 20;
    open_log(t);
    for (int i = 0; hw_log_segment_count(t->log) < 4; i++) {
        produce(t, 0, 2000, i);
    }
    base = hw_log_segment_view(t->log, 1).base_offset;
    close_log(t);
    cut_file(t, first_log, 100);
    (void)snprintf(names[0], sizeof names[0], "%020" PRId64 ".log", base);
    (void)snprintf(names[1], sizeof names[1], "%020" PRId64 ".log.swap", base);
    rename_file(t, names[0], names[1]);
    test_heap_init(&heap, -1);
    assert_int_equal(hw_rehearsal_run(&rehearsal, &heap.allocator, copy(t), &partition, &t->error),
                     HW_OK);
    assert_int_equal(rehearsal.log_end, base - 2000);
    assert_true(rehearsal.count > 3);
    hw_rehearsal_release(&rehearsal);
    assert_int_equal(heap.bytes_in_use, 0);
    assert_true(heap.bytes_most < 3 << 20);
}

static bool always(void *context)
{
    int *asked = context;

    return ++*asked > 1;
}

TEST(it_can_be_interrupted, struct test_log *t)
{
    struct hw_rehearsal rehearsal;
    struct hw_store *files;
    int asked = 0;

    t->load.topic_id.bytes[0] = 1;
    open_log(t);
    for (int i = 0; i < 300; i++) {
        produce_sized(t, i, 100);
    }
    close_log(t);
    files = copy(t);
    files->interrupt = (struct hw_interrupt){.is_asked = always, .context = &asked};
    assert_int_equal(hw_rehearsal_run(&rehearsal, &t->heap.allocator, files, &partition, &t->error),
                     HW_INTERRUPTED);
    hw_rehearsal_release(&rehearsal);
    assert_int_equal(asked, 2);
}

/* What follows a segment's batches is looked through for others: that may be gigabytes. */
TEST(a_look_for_batches_can_be_interrupted, struct test_log *t)
{
    static const uint8_t zeros[8 << 20];
    struct hw_rehearsal rehearsal;
    struct hw_store *files;
    struct hw_file *file;
    int64_t size = 0;
    int asked = 0;

    fill(t);
    recover_all(t);
    files = copy(t);
    expect_ok(t, hw_store_open(files, LOG_DIRECTORY "/00000000000000000020.log", HW_OPEN_EXISTING,
                               &file, &t->error));
    expect_ok(t, hw_file_size(file, &size, &t->error));
    expect_ok(t, hw_file_write_at(file, size, zeros, sizeof zeros, &t->error));
    hw_file_close(file);
    files->interrupt = (struct hw_interrupt){.is_asked = always, .context = &asked};
    assert_int_equal(hw_rehearsal_run(&rehearsal, &t->heap.allocator, files, &partition, &t->error),
                     HW_INTERRUPTED);
    hw_rehearsal_release(&rehearsal);
}

/* Each allocation and each read fails once. */
TEST(every_failure_ends_well, struct test_log *t)
{
    struct hw_rehearsal rehearsal;
    bool is_done = false;
    int fail_at;

    fill(t);
    recover_all(t);
    flip(t, second_log, 80);
    rename_file(t, first_log, "00000000000000000000.log.swap");
    for (fail_at = 0; !is_done; fail_at++) {
        struct test_heap heap;
        enum hw_status status;

        test_heap_init(&heap, fail_at);
        status = hw_rehearsal_run(&rehearsal, &heap.allocator, copy(t), &partition, &t->error);
        is_done = !test_heap_has_failed(&heap);
        /* An index that stays beside a segment that goes is no failure. */
        assert_true(status == HW_OK || (status == HW_NO_MEMORY && !is_done));
        hw_rehearsal_release(&rehearsal);
        assert_int_equal(heap.bytes_in_use, 0);
    }
    assert_true(fail_at > 100);
    is_done = false;
    for (fail_at = 0; !is_done; fail_at++) {
        struct hw_faults faults = {.fail_at = fail_at};
        struct hw_store *inner = copy(t);
        struct hw_store *files;

        expect_ok(t, hw_faulty_store_create(&hw_allocator_libc, inner, &faults, &files, &t->error));
        expect_ok(t,
                  hw_rehearsal_run(&rehearsal, &t->heap.allocator, files, &partition, &t->error));
        is_done = faults.calls <= fail_at;
        hw_rehearsal_release(&rehearsal);
        hw_store_destroy(inner);
    }
    assert_true(fail_at > 20);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
