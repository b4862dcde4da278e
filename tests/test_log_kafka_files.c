/* SPDX-License-Identifier: MIT */
/*
 * Are the directories of real brokers found, merged and summed up as they are, and does every
 * failing allocation and read on the way end well? Source: LocalLog.parseTopicPartitionName,
 * ProducerStateManager, TransactionIndex.
 */
#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/format/checkpoint_scan.h"
#include "core/format/identity_files.h"
#include "core/format/snapshot_file.h"
#include "core/format/transaction_index_file.h"
#include "core/inspect/index_file.h"
#include "core/inspect/kafka_scan.h"
#include "core/inspect/partition_summary.h"
#include "core/inspect/visibility.h"
#include "tests/support_segment.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TRANSACTIONAL = HW_BATCH_TRANSACTIONAL };

static void save_text(struct test_disk *t, const char *path, const char *text)
{
    assert_int_equal(hw_buffer_append(&t->log, text, strlen(text), &t->error), HW_OK);
    test_disk_save(t, path);
}

static void put(struct test_disk *t, hw_offset_t base_offset, int count)
{
    test_put_batch(&t->log, &(struct test_batch){.base_offset = base_offset, .count = count});
}

/* A list of one path, until the next call. */
static const struct hw_name_list *path_list(const char *path)
{
    static char text[HW_PATH_MAX];
    static char *name = text;
    static const struct hw_name_list list = {.names = &name, .count = 1};

    (void)snprintf(text, sizeof text, "%s", path);
    return &list;
}

static enum hw_status open_directory(struct hw_kafka_directory *directory,
                                     const struct hw_allocator *allocator, struct hw_store *store,
                                     const char *path, bool only_live, struct hw_error *error)
{
    struct hw_kafka_directory_options options = {.only_live = only_live};

    return hw_kafka_directory_open(directory, allocator, store, path_list(path), &options, error);
}

/* ---------------------------------------------------------------------------------- directories */

TEST_AGAIN(names_of_partition_directories_are_taken_apart, void **state)
{
    static const struct {
        const char *name;
        const char *topic; /* NULL: it is none. */
        int partition;
        enum hw_kafka_partition_state state;
    } cases[] = {
        {"orders-0", "orders", 0, HW_KAFKA_LIVE},
        {"my.topic-x-12", "my.topic-x", 12, HW_KAFKA_LIVE},
        {"a--1", "a-", 1, HW_KAFKA_LIVE},
        {"__consumer_offsets-49", "__consumer_offsets", 49, HW_KAFKA_LIVE},
        {"t-2147483647", "t", 2147483647, HW_KAFKA_LIVE},
        {"t-2147483648", NULL, 0, HW_KAFKA_LIVE},
        {"t-01", NULL, 0, HW_KAFKA_LIVE},
        {"t-", NULL, 0, HW_KAFKA_LIVE},
        {"-1", NULL, 0, HW_KAFKA_LIVE},
        {"t", NULL, 0, HW_KAFKA_LIVE},
        {"lost+found-1", NULL, 0, HW_KAFKA_LIVE},
        {"", NULL, 0, HW_KAFKA_LIVE},
        {"t-1.0123456789abcdef0123456789abcdef-delete", "t", 1, HW_KAFKA_DELETE},
        {"a.b-1.x-stray", "a.b", 1, HW_KAFKA_STRAY},
        {"t-1.x-future", "t", 1, HW_KAFKA_FUTURE},
        {"t-1-delete", NULL, 0, HW_KAFKA_LIVE},
        {"to-delete-1", "to-delete", 1, HW_KAFKA_LIVE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum hw_kafka_partition_state found;
        int32_t partition = -1;
        size_t size = 0;
        bool is_one = hw_kafka_partition_name_parse(cases[i].name, &size, &partition, &found);

        if (is_one != (cases[i].topic != NULL)) {
            fail_msg("%s is %s", cases[i].name, is_one ? "one" : "none");
        }
        if (is_one) {
            assert_int_equal(size, strlen(cases[i].topic));
            assert_memory_equal(cases[i].name, cases[i].topic, size);
            assert_int_equal(partition, cases[i].partition);
            assert_int_equal(found, cases[i].state);
        }
    }
}

TEST(a_path_is_what_is_in_it, struct test_disk *t)
{
    static const struct {
        const char *path;
        enum hw_kafka_path_kind kind;
        size_t count;
        const char *topic;
    } cases[] = {
        {"logs", HW_KAFKA_LOG_DIRECTORY, 3, "a"},
        {"logs/", HW_KAFKA_LOG_DIRECTORY, 3, "a"},
        {"logs/b-0", HW_KAFKA_PARTITION, 1, "b"},
        {"logs/b-0/", HW_KAFKA_PARTITION, 1, "b"},
        {"logs/b-0/00000000000000000000.log", HW_KAFKA_FILE, 1, "b"},
        {"odd", HW_KAFKA_PARTITION, 1, NULL},
        {"empty", HW_KAFKA_LOG_DIRECTORY, 0, NULL}, /* A broker without partitions. */
        {"file", HW_KAFKA_FILE, 1, NULL},
    };
    struct hw_kafka_directory directory;

    test_disk_save(t, "logs/b-0/00000000000000000000.log");
    test_disk_save(t, "logs/a-10/x");
    test_disk_save(t, "logs/a-9/x");
    test_disk_save(t, "logs/a-9.u-delete/x");
    test_disk_save(t, "odd/00000000000000000007.log");
    test_disk_save(t, "empty/meta.properties");
    test_disk_save(t, "file");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(open_directory(&directory, &t->heap.allocator, t->store, cases[i].path,
                                        true, &t->error),
                         HW_OK);
        assert_int_equal(directory.roots[0].kind, cases[i].kind);
        assert_int_equal(directory.count, cases[i].count);
        if (cases[i].topic != NULL) {
            assert_string_equal(directory.partitions[0].topic, cases[i].topic);
        } else if (directory.count > 0) {
            assert_null(directory.partitions[0].topic);
        }
        hw_kafka_directory_release(&directory);
    }
    assert_int_equal(
        open_directory(&directory, &t->heap.allocator, t->store, "logs", false, &t->error), HW_OK);
    assert_int_equal(directory.count, 4);
    assert_int_equal(directory.partitions[0].partition, 9); /* By number, not by name. */
    assert_int_equal(directory.partitions[2].partition, 10);
    hw_kafka_directory_release(&directory);
    assert_int_equal(
        open_directory(&directory, &t->heap.allocator, t->store, "none", true, &t->error),
        HW_NOT_FOUND);
    hw_kafka_directory_release(&directory);
}

/* --------------------------------------------------------------------------------------- scans */

/* The rows as "a0:5 b1:7", with "!" for damage. */
static const char *scan_text(struct test_disk *t, const struct hw_kafka_scan_options *options)
{
    const struct hw_partition_row *row;
    struct hw_kafka_scan *scan;
    size_t at = 0;

    t->text[0] = '\0';
    assert_int_equal(hw_kafka_scan_open(&t->heap.allocator, t->store, options, &scan, &t->error),
                     HW_OK);
    for (;;) {
        assert_int_equal(hw_kafka_scan_next(scan, &row, &t->error), HW_OK);
        if (row == NULL) {
            break;
        }
        at += (size_t)snprintf(t->text + at, sizeof t->text - at, "%s%s%s%d:%" PRId64,
                               at == 0 ? "" : " ", row->crc_ok ? "" : "!", row->partition->topic,
                               row->partition->partition, row->offset);
        assert_true(at < sizeof t->text);
    }
    assert_true(hw_kafka_scan_bytes_read(scan) > 0 || at == 0);
    hw_kafka_scan_close(scan);
    return t->text;
}

static struct hw_kafka_scan_options options_of(bool is_merged, bool is_backwards)
{
    return (struct hw_kafka_scan_options){.paths = path_list("logs"),
                                          .scan = {.range = {.last_offset = INT64_MAX,
                                                             .timestamp_min = INT64_MIN,
                                                             .is_backwards = is_backwards},
                                                   .wants_records = true},
                                          .is_merged = is_merged};
}

static void put_partitions(struct test_disk *t)
{
    put(t, 0, 2);
    test_disk_save(t, "logs/a-0/00000000000000000000.log");
    put(t, 4, 1);
    test_disk_save(t, "logs/a-0/00000000000000000004.log");
    put(t, 1, 1);
    test_put_bytes(&t->log, 0x5a, 40);
    put(t, 3, 2);
    test_disk_save(t, "logs/a-1/00000000000000000000.log");
    test_disk_save(t, "logs/b-0/00000000000000000000.log");
    put(t, 2, 2);
    test_disk_save(t, "logs/b-2/00000000000000000000.log");
}

TEST(partitions_come_in_turn_or_merged, struct test_disk *t)
{
    struct hw_kafka_scan_options options;

    put_partitions(t);
    options = options_of(false, false);
    assert_string_equal(scan_text(t, &options), "a0:0 a0:1 a0:4 a1:1 !a1:2 a1:3 a1:4 b2:2 b2:3");
    options = options_of(false, true);
    assert_string_equal(scan_text(t, &options), "b2:3 b2:2 a1:4 a1:3 !a1:2 a1:1 a0:4 a0:1 a0:0");
    options = options_of(true, false);
    assert_string_equal(scan_text(t, &options), "a0:0 a0:1 a1:1 !a1:2 b2:2 a1:3 b2:3 a0:4 a1:4");
    options = options_of(true, true);
    assert_string_equal(scan_text(t, &options), "a1:4 a0:4 b2:3 a1:3 b2:2 !a1:2 a1:1 a0:1 a0:0");
    options.topic = "a";
    options.has_partition = true;
    options.partition = 1;
    assert_string_equal(scan_text(t, &options), "a1:4 a1:3 !a1:2 a1:1");
    options.partition = 2;
    assert_string_equal(scan_text(t, &options), "");
}

TEST(a_segment_that_is_deleted_meanwhile_is_left_out, struct test_disk *t)
{
    struct hw_kafka_scan_options options = options_of(false, false);
    const struct hw_partition_row *row;
    struct hw_kafka_scan *scan;

    put_partitions(t);
    options.paths = path_list("logs/a-0");
    assert_int_equal(hw_kafka_scan_open(&t->heap.allocator, t->store, &options, &scan, &t->error),
                     HW_OK);
    assert_int_equal(hw_kafka_scan_next(scan, &row, &t->error), HW_OK);
    assert_int_equal(hw_store_rename(t->store, "logs/a-0/00000000000000000004.log",
                                     "logs/a-0/00000000000000000004.log.deleted", &t->error),
                     HW_OK);
    assert_int_equal(hw_kafka_scan_next(scan, &row, &t->error), HW_OK);
    assert_int_equal(row->offset, 1);
    assert_int_equal(hw_kafka_scan_next(scan, &row, &t->error), HW_OK);
    assert_null(row);
    hw_kafka_scan_close(scan);
    options.paths = path_list("logs/a-0/00000000000000000004.log.deleted");
    assert_string_equal(scan_text(t, &options), "a0:4");
}

/* -------------------------------------------------------------------------------- transactions */

/* Offsets and visibilities of the partition's records: "0visible 1aborted". */
static const char *visibilities(struct test_disk *t, const char *path)
{
    struct hw_kafka_scan_options options = options_of(false, false);
    const struct hw_partition_row *row;
    struct hw_kafka_scan *scan;
    size_t at = 0;

    options.paths = path_list(path);
    t->text[0] = '\0';
    assert_int_equal(hw_kafka_scan_open(&t->heap.allocator, t->store, &options, &scan, &t->error),
                     HW_OK);
    for (;;) {
        const char *visibility;

        assert_int_equal(hw_kafka_scan_next(scan, &row, &t->error), HW_OK);
        if (row == NULL) {
            break;
        }
        assert_int_equal(hw_kafka_scan_visibility(scan, &visibility, &t->error), HW_OK);
        at += (size_t)snprintf(t->text + at, sizeof t->text - at, "%s%" PRId64 "%s",
                               at == 0 ? "" : " ", row->offset, visibility);
    }
    hw_kafka_scan_close(scan);
    return t->text;
}

static void put_transactional(struct test_disk *t, hw_offset_t offset, int64_t producer_id)
{
    test_put_batch(&t->log, &(struct test_batch){.base_offset = offset,
                                                 .attributes = TRANSACTIONAL,
                                                 .producer_id = producer_id});
}

/* One entry of a .txnindex. */
static void put_aborted(struct test_disk *t, int64_t producer_id, hw_offset_t first,
                        hw_offset_t last)
{
    uint8_t bytes[HW_ABORTED_TRANSACTION_SIZE] = {0};

    hw_put_i64(bytes + 2, producer_id);
    hw_put_i64(bytes + 10, first);
    hw_put_i64(bytes + 18, last);
    hw_put_i64(bytes + 26, last + 1);
    assert_int_equal(hw_buffer_append(&t->log, bytes, sizeof bytes, &t->error), HW_OK);
}

/* A snapshot of one producer. */
static void put_snapshot(struct test_disk *t, int64_t producer_id, hw_offset_t transaction_first)
{
    uint8_t bytes[56] = {0, 1};

    hw_put_i32(bytes + 6, 1);
    hw_put_i64(bytes + 10, producer_id);
    hw_put_i64(bytes + 48, transaction_first);
    hw_put_u32(bytes + 2, hw_crc32c(bytes + 6, sizeof bytes - 6));
    assert_int_equal(hw_buffer_append(&t->log, bytes, sizeof bytes, &t->error), HW_OK);
}

/*
 * Two segments. Producer 1 aborts 0 and 2 with the marker 3 and commits 6; producer 2 begins at 1
 * and aborts with the marker 8; producer 3 begins at 9 and is still at it.
 */
static void put_transactions(struct test_disk *t)
{
    put_transactional(t, 0, 1);
    put_transactional(t, 1, 2);
    put_transactional(t, 2, 1);
    test_put_marker(&t->log, 3, 1, false);
    put(t, 4, 1);
    test_disk_save(t, "logs/t-0/00000000000000000000.log");
    put_transactional(t, 5, 2);
    put_transactional(t, 6, 1);
    test_put_marker(&t->log, 7, 1, true);
    test_put_marker(&t->log, 8, 2, false);
    put_transactional(t, 9, 3);
    put(t, 10, 1);
    test_disk_save(t, "logs/t-0/00000000000000000005.log");
}

TEST(transactions_are_the_same_by_batches_and_by_files, struct test_disk *t)
{
    static const char expected[] =
        "0aborted 1aborted 2aborted 3control 4visible 5aborted 6visible 7control 8control "
        "9above_lso 10above_lso";

    put_transactions(t);
    assert_string_equal(visibilities(t, "logs/t-0"), expected);

    /* With a snapshot, what is before it comes from the indexes: here it would not be known. */
    put_snapshot(t, 2, 1);
    test_disk_save(t, "logs/t-0/00000000000000000005.snapshot");
    assert_string_equal(visibilities(t, "logs/t-0"),
                        "0visible 1aborted 2visible 3control 4visible 5aborted 6visible 7control "
                        "8control 9above_lso 10above_lso");
    put_aborted(t, 1, 0, 3);
    test_disk_save(t, "logs/t-0/00000000000000000000.txnindex");
    assert_string_equal(visibilities(t, "logs/t-0"), expected);
    put_aborted(t, 2, 1, 8);
    test_disk_save(t, "logs/t-0/00000000000000000005.txnindex");
    assert_string_equal(visibilities(t, "logs/t-0"), expected);

    /* A damaged snapshot is none. */
    put_snapshot(t, 2, 1);
    t->log.bytes[17] ^= 1; /* Another producer. */
    test_disk_save(t, "logs/t-0/00000000000000000005.snapshot");
    assert_string_equal(visibilities(t, "logs/t-0"), expected);
}

/* The last stable offset goes by markers below the high watermark. */
TEST(markers_above_the_high_watermark_end_nothing, struct test_disk *t)
{
    put_transactions(t);
    save_text(t, "logs/replication-offset-checkpoint", "0\n1\nt 0 8\n");
    save_text(t, "logs/log-start-offset-checkpoint", "0\n1\nt 0 1\n");
    assert_string_equal(visibilities(t, "logs/t-0"),
                        "0below_log_start 1above_lso 2above_lso 3above_lso 4above_lso 5above_lso "
                        "6above_lso 7above_lso 8above_hw 9above_hw 10above_hw");
}

/* ---------------------------------------------------------------------------------- summaries */

TEST(a_partition_is_summed_up, struct test_disk *t)
{
    struct hw_partition_summary summary;
    struct hw_kafka_directory directory;
    struct hw_meta_properties properties;
    int64_t size;

    put(t, 5, 2);
    size = (int64_t)t->log.size;
    test_disk_save(t, "logs/t-0/00000000000000000005.log");
    put(t, 7, 3);
    size += (int64_t)t->log.size;
    test_disk_save(t, "logs/t-0/00000000000000000007.log");
    save_text(t, "logs/t-0/partition.metadata", "version: 0\ntopic_id: AQIDBAUGBwgJCgsMDQ4PEA");
    save_text(t, "logs/meta.properties",
              "#\n#Sat Nov 14\ncluster.id=abc\nversion = 1\nnode.id: 7\nx\n!y=1\n");
    assert_int_equal(
        open_directory(&directory, &t->heap.allocator, t->store, "logs", true, &t->error), HW_OK);
    assert_int_equal(hw_partition_summary_read(&summary, &directory.partitions[0], true, &t->error),
                     HW_OK);
    assert_int_equal(summary.segments, 2);
    assert_int_equal(summary.size_bytes, size);
    assert_int_equal(summary.log_start, 5);
    assert_int_equal(summary.log_end, 10);
    assert_true(summary.has_topic_id);
    assert_int_equal(summary.topic_id.bytes[15], 16);
    save_text(t, "logs/t-0/partition.metadata", "version: 0\n");
    assert_int_equal(
        hw_partition_summary_read(&summary, &directory.partitions[0], false, &t->error), HW_OK);
    assert_int_equal(summary.log_end, HW_OFFSET_NONE);
    assert_non_null(strstr(summary.error, "partition.metadata: line"));
    hw_kafka_directory_release(&directory);

    assert_int_equal(
        hw_meta_properties_read(&properties, &t->heap.allocator, t->store, "logs", &t->error),
        HW_OK);
    assert_true(properties.is_there);
    assert_string_equal(properties.cluster_id, "abc");
    assert_string_equal(properties.version, "1");
    assert_string_equal(properties.node_id, "7");
    assert_string_equal(properties.directory_id, "");
}

/* Case: E-07. Any byte of an index may be wrong: then that entry is, or the one behind it. */
TEST(a_wrong_byte_in_an_index_is_found, struct test_disk *t)
{
    struct hw_segment_paths paths;
    struct hw_buffer index;

    hw_buffer_init(&index, &hw_allocator_libc);
    assert_int_equal(
        hw_segment_paths_format(&paths, "logs/t-0", (struct hw_segment_item){0}, &t->error), HW_OK);
    for (int i = 0; i < 12; i++) {
        uint8_t entry[8];

        hw_put_i32(entry, 3 * i + 2);
        hw_put_i32(entry + 4, (int32_t)t->log.size);
        if (i > 0) {
            assert_int_equal(hw_buffer_append(&index, entry, sizeof entry, &t->error), HW_OK);
        }
        put(t, 3 * i, 3);
    }
    test_disk_save(t, "logs/t-0/00000000000000000000.log");
    for (size_t at = 0; at <= index.size; at++) {
        struct hw_index_check check;
        struct hw_index_row row;
        bool found = true;
        int faults = 0;
        int64_t first_fault = -1;

        if (at < index.size) {
            index.bytes[at] ^= 0x11;
        }
        test_put_file(t->store, paths.index, &index);
        assert_int_equal(hw_index_check_open(&check, &t->heap.allocator, t->store, &paths,
                                             HW_INDEX_OFFSET, &t->error),
                         HW_OK);
        while (found) {
            assert_int_equal(hw_index_check_next(&check, &row, &found, &t->error), HW_OK);
            if (found && row.fault[0] != '\0' && faults++ == 0) {
                first_fault = row.number;
            }
        }
        hw_index_check_close(&check);
        if (at < index.size) {
            index.bytes[at] ^= 0x11;
            if (faults != 1 || first_fault != (int64_t)at / 8) {
                fail_msg("byte %zu: %d faults, the first one in entry %" PRId64, at, faults,
                         first_fault);
            }
        } else {
            assert_int_equal(faults, 0);
        }
    }
    hw_buffer_release(&index);
}

/* Case: F-19 The index was read before the broker had written the batch of its entry; the log is
 * looked at again before the entry is called wrong. */
TEST(an_entry_is_judged_by_the_files_as_they_are_then, struct test_disk *t)
{
    struct hw_segment_paths paths;
    struct hw_index_check check;
    struct hw_index_row row;
    uint8_t entry[8];
    size_t second;
    bool changed;
    bool found;

    assert_int_equal(
        hw_segment_paths_format(&paths, "logs/t-0", (struct hw_segment_item){0}, &t->error), HW_OK);
    put(t, 0, 5);
    second = t->log.size;
    test_disk_save(t, "logs/t-0/00000000000000000000.log");
    hw_put_i32(entry, 9);
    hw_put_i32(entry + 4, (int32_t)second);
    assert_int_equal(hw_buffer_append(&t->log, entry, sizeof entry, &t->error), HW_OK);
    test_disk_save(t, "logs/t-0/00000000000000000000.index");
    assert_int_equal(hw_index_check_open(&check, &t->heap.allocator, t->store, &paths,
                                         HW_INDEX_OFFSET, &t->error),
                     HW_OK);
    assert_int_equal(hw_index_check_next(&check, &row, &found, &t->error), HW_OK);
    assert_true(found && row.fault[0] != '\0');
    assert_int_equal(hw_index_check_again(&check, &row, &changed, &found, &t->error), HW_OK);
    assert_true(!changed && found && row.fault[0] != '\0');
    put(t, 0, 5);
    put(t, 5, 5);
    test_disk_save(t, "logs/t-0/00000000000000000000.log");
    assert_int_equal(hw_index_check_again(&check, &row, &changed, &found, &t->error), HW_OK);
    assert_true(changed && found);
    assert_string_equal(row.fault, "");
    hw_index_check_close(&check);
}

/* -------------------------------------------------------------------------------------- faults */

#define STEP(call)                                                                                 \
    do {                                                                                           \
        if (status == HW_OK) {                                                                     \
            status = (call);                                                                       \
        }                                                                                          \
    } while (0)

static enum hw_status scan_story(struct hw_store *store, const struct hw_allocator *allocator,
                                 bool is_merged, struct hw_error *error)
{
    struct hw_kafka_scan_options options = options_of(is_merged, is_merged);
    const struct hw_partition_row *row = NULL;
    struct hw_kafka_scan *scan = NULL;
    const char *visibility;
    enum hw_status status = hw_kafka_scan_open(allocator, store, &options, &scan, error);

    if (status != HW_OK) {
        return status;
    }
    do {
        status = hw_kafka_scan_next(scan, &row, error);
        if (status == HW_OK && row != NULL && row->has_record) {
            status = hw_kafka_scan_visibility(scan, &visibility, error);
        }
    } while (status == HW_OK && row != NULL);
    hw_kafka_scan_close(scan);
    return status;
}

static enum hw_status index_story(struct hw_store *store, const struct hw_allocator *allocator,
                                  const struct hw_segment_paths *paths, struct hw_error *error)
{
    struct hw_index_check check;
    struct hw_index_row row;
    bool found = true;
    enum hw_status status =
        hw_index_check_open(&check, allocator, store, paths, HW_INDEX_TIME, error);

    while (status == HW_OK && found) {
        status = hw_index_check_next(&check, &row, &found, error);
    }
    hw_index_check_close(&check);
    return status;
}

/* Everything that these files offer. */
static enum hw_status run_story(struct test_disk *t, struct hw_store *store,
                                const struct hw_allocator *allocator)
{
    struct hw_error *error = &t->error;
    struct hw_checkpoint_scan checkpoint;
    struct hw_partition_summary partition;
    struct hw_kafka_directory directory = {.allocator = allocator};
    struct hw_segment_summary segment;
    struct hw_meta_properties properties;
    struct hw_snapshot_file snapshot;
    struct hw_segment_paths paths;
    enum hw_status status = hw_segment_paths_format(
        &paths, "logs/t-0", (struct hw_segment_item){.base_offset = 5}, error);

    STEP(scan_story(store, allocator, false, error));
    STEP(scan_story(store, allocator, true, error));
    STEP(index_story(store, allocator, &paths, error));
    STEP(hw_segment_summary_read(&segment, allocator, store, &paths, HW_OFFSET_NONE, true, error));
    hw_checkpoint_scan_init(&checkpoint, allocator);
    STEP(hw_checkpoint_scan_open(&checkpoint, store, "logs/replication-offset-checkpoint",
                                 HW_CHECKPOINT_OFFSETS, error));
    hw_checkpoint_scan_release(&checkpoint);
    STEP(open_directory(&directory, allocator, store, "logs", false, error));
    for (size_t i = 0; i < directory.count; i++) {
        STEP(hw_partition_summary_read(&partition, &directory.partitions[i], true, error));
    }
    hw_kafka_directory_release(&directory);
    STEP(hw_meta_properties_read(&properties, allocator, store, "logs", error));
    hw_snapshot_file_init(&snapshot, allocator);
    STEP(hw_snapshot_file_read(&snapshot, store, "logs/t-0/00000000000000000005.snapshot", error));
    hw_snapshot_file_release(&snapshot);
    return status;
}

static void put_story(struct test_disk *t)
{
    put_transactions(t);
    put_partitions(t);
    put_snapshot(t, 2, 1);
    test_disk_save(t, "logs/t-0/00000000000000000005.snapshot");
    put_aborted(t, 1, 0, 3);
    test_disk_save(t, "logs/t-0/00000000000000000000.txnindex");
    test_put_bytes(&t->log, 0, 24);
    test_disk_save(t, "logs/t-0/00000000000000000005.timeindex");
    save_text(t, "logs/replication-offset-checkpoint", "0\n1\nt 0 10\n");
    save_text(t, "logs/meta.properties", "node.id=1\n");
    save_text(t, "logs/t-0/partition.metadata", "version: 0\ntopic_id: AQIDBAUGBwgJCgsMDQ4PEA");
}

TEST(every_allocation_can_fail, void *fixture)
{
    put_story(fixture);
    test_disk_fail_allocations(fixture, run_story, 100);
}

TEST(every_call_of_the_store_can_fail, void *fixture)
{
    put_story(fixture);
    /* An index that cannot be opened is done without; a directory is first tried as a file. */
    test_disk_fail_calls(fixture, run_story, 100);
}

int main(void)
{
    return test_run(test_disk_setup, test_disk_teardown);
}
