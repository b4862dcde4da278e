/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* symlink() */
/*
 * Do the tables over real files tell the truth about what is rare, and does what cannot be read
 * hide nothing else? The files are put together byte by byte, as no broker of today writes them.
 */
#include "tests/support_segment.h"
#include "tests/support_sql_kafka.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support_test.h"

/* A wrapper whose messages cannot be read still has the offset of the last one. */
TEST(an_old_batch_that_cannot_be_read_keeps_its_place, struct kafka_fixture *f)
{
    static const int inner[] = {0, 1};

    test_put_legacy(&f->log, 0, 0, 0, "a");
    test_put_wrapper(&f->log, 1, 2, 5, 0, inner, 2);
    test_put_wrapper(&f->log, 1, 5, 5, 0, inner, 0);
    test_put_wrapper(&f->log, 1, 7, 5, 0, inner, 2);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT \"offset\", value, error FROM kafka_log('$D') ORDER BY \"offset\"",
           "0|a|NULL\n1|w|NULL\n2|w|NULL\n"
           "5|NULL|the old message at offset 5: it is compressed and holds no entries or damaged"
           " ones\n6|w|NULL\n7|w|NULL");
    expect(f,
           "SELECT group_concat(\"offset\") FROM (SELECT \"offset\" FROM kafka_log('$D')"
           " ORDER BY \"offset\" DESC)",
           "7,6,5,2,1,0");
    expect(f, "SELECT count(*), count(value) FROM kafka_log('$D') WHERE \"offset\" = 5", "1|0");
    expect(f, "SELECT count(*) FROM kafka_log('$D')", "6");
    expect(f, "SELECT base_offset, last_offset, records FROM kafka_batches('$D') LIMIT 1 OFFSET 2",
           "NULL|5|NULL");
}

/* What is wrong behind the first record of a wrapper has the same place in both directions. */
TEST(a_fault_inside_an_old_batch_comes_behind_its_good_records, struct kafka_fixture *f)
{
    static const int inner[] = {0, 0, 1, 2};

    test_put_wrapper(&f->log, 1, 12, 5, 0, inner, 4);
    test_put_legacy(&f->log, 1, 13, 5, "b");
    save(f, "t-0/00000000000000000010.log");
    put_index_entry(&f->log, 3, 1);
    save(f, "t-0/00000000000000000010.index");
    expect(f, "SELECT \"offset\", error IS NULL FROM kafka_log('$D') ORDER BY \"offset\"",
           "10|1\n10|1\n11|1\n12|1\n13|0\n13|1");
    expect(f, "SELECT \"offset\", error IS NULL FROM kafka_log('$D') ORDER BY \"offset\" DESC",
           "13|1\n13|0\n12|1\n11|1\n10|1\n10|1");
}

/* A .log that is a directory stands for any that cannot be opened: it is a row, and the others are
 * there. */
TEST(a_log_that_cannot_be_opened_hides_no_other, struct kafka_fixture *f)
{
    put(f, 0, 2);
    save(f, "a-0/" SEGMENT_0 ".log");
    put(f, 7, 1);
    save(f, "a-0/00000000000000000005.log/file");
    put(f, 9, 3);
    save(f, "a-0/00000000000000000009.log");
    put(f, 0, 1);
    save(f, "b-0/" SEGMENT_0 ".log");
    expect(f, "SELECT group_concat(\"offset\"), count(value), count(error) FROM kafka_log('$D')",
           "0,1,5,9,10,11,0|6|1");
    expect(f,
           "SELECT \"offset\", crc_ok, substr(error, 1, 11), substr(error, -14) FROM"
           " kafka_log('$D') WHERE error IS NOT NULL",
           "5|0|cannot open|Is a directory");
    expect(f, "SELECT count(*) FROM kafka_log('$D')", "7");
    expect(f,
           "SELECT group_concat(\"offset\") FROM (SELECT \"offset\" FROM kafka_log('$D/a-0')"
           " ORDER BY \"offset\" DESC)",
           "11,10,9,5,1,0");
    expect(f,
           "SELECT base_offset, last_offset, records, size_bytes, crc_ok FROM"
           " kafka_batches('$D/a-0') WHERE error IS NOT NULL",
           "5|NULL|NULL|0|0");
    expect(f,
           "SELECT base_offset, next_offset, size_bytes IS NULL, error IS NULL FROM"
           " kafka_segments('$D/a-0')",
           "0|2|0|0\n5|NULL|1|0\n9|12|0|1");
    expect(f, "SELECT segments, leo, error FROM kafka_dirs('$D/a-0')", "3|12|NULL");
}

/* The end of such a log is not known, and that is said where it is asked for. */
TEST(the_end_of_a_log_that_cannot_be_opened_is_not_known, struct kafka_fixture *f)
{
    put(f, 0, 2);
    save(f, "a-0/" SEGMENT_0 ".log/file");
    put_text(f, "0\n1\n3 0\n");
    save(f, "a-0/leader-epoch-checkpoint");
    put(f, 0, 1);
    save(f, "b-0/" SEGMENT_0 ".log");
    expect(f, "SELECT topic, segments, leo, error IS NULL FROM kafka_dirs('$D')",
           "a|1|NULL|0\nb|1|1|1");
    expect(f, "SELECT epoch, start_offset, end_offset, error FROM kafka_epochs('$D')",
           "3|0|NULL|NULL");
}

/* Directories stand for files that cannot be opened, whatever they should hold: each is a row, and
 * what the others say is there. */
TEST(a_file_that_cannot_be_opened_hides_no_other, struct kafka_fixture *f)
{
    put(f, 0, 2);
    save(f, "a-0/" SEGMENT_0 ".log");
    save(f, "a-0/" SEGMENT_0 ".index/file");
    save(f, "a-0/" SEGMENT_0 ".timeindex/file");
    save(f, "a-0/" SEGMENT_0 ".txnindex/file");
    save(f, "a-0/00000000000000000001.snapshot/file");
    save(f, "a-0/leader-epoch-checkpoint/file");
    save(f, "a-0/partition.metadata/file");
    save(f, "replication-offset-checkpoint/file");
    save(f, "log-start-offset-checkpoint/file");
    save(f, "meta.properties/file");
    put(f, 0, 1);
    save(f, "b-0/" SEGMENT_0 ".log");
    put_index_entry(&f->log, 1, 2);
    save(f, "b-0/" SEGMENT_0 ".index");
    put_text(f, "0\n1\n3 0\n");
    save(f, "b-0/leader-epoch-checkpoint");
    put_text(f, "0\n1\nb 0 1\n");
    save(f, "recovery-point-offset-checkpoint");
    save(f, "file-7");
    expect(f, "SELECT topic, \"offset\", visibility, error FROM kafka_log('$D')",
           "a|0|visible|NULL\na|1|visible|NULL\nb|0|visible|NULL");
    expect(f, "SELECT topic, next_offset, index_entries, error FROM kafka_segments('$D')",
           "a|2|NULL|NULL\nb|1|1|NULL");
    expect(f, "SELECT topic, entry, ok, substr(error, -14) FROM kafka_index('$D')",
           "a|NULL|NULL|Is a directory\nb|0|0|t byte 2 of 70");
    expect(f, "SELECT topic, entry, substr(error, -14) FROM kafka_timeindex('$D')",
           "a|NULL|Is a directory");
    expect(f, "SELECT topic, entry, substr(error, -14) FROM kafka_aborted('$D')",
           "a|NULL|Is a directory");
    expect(f, "SELECT topic, epoch, substr(error, -14) FROM kafka_epochs('$D')",
           "a|NULL|Is a directory\nb|3|NULL");
    expect(f,
           "SELECT topic, snapshot_offset, crc_ok, substr(error, -14) FROM kafka_producers('$D')",
           "a|1|0|Is a directory");
    expect(f, "SELECT checkpoint, topic, substr(error, -14) FROM kafka_checkpoint('$D')",
           "replication-offset-checkpoint|NULL|Is a directory\n"
           "recovery-point-offset-checkpoint|b|NULL\n"
           "log-start-offset-checkpoint|NULL|Is a directory");
    expect(f, "SELECT topic, leo, hw, node_id, substr(error, -25) FROM kafka_dirs('$D')",
           "a|2|NULL|NULL|metadata': Is a directory\n"
           "b|1|NULL|NULL|operties': Is a directory");
}

/* What has the name of a partition and leads nowhere. */
TEST(a_partition_that_cannot_be_listed_hides_no_other, struct kafka_fixture *f)
{
    assert_int_equal(symlink("a-0", with_directory(f, "$D/a-0")), 0);
    put(f, 0, 1);
    save(f, "b-0/" SEGMENT_0 ".log");
    expect(f, "SELECT topic, \"offset\", substr(error, -14) FROM kafka_log('$D')",
           "a|0|circle of them\nb|0|NULL");
    expect(f, "SELECT topic, base_offset, substr(error, -14) FROM kafka_batches('$D')",
           "a|0|circle of them\nb|0|NULL");
    expect(f, "SELECT topic, base_offset, substr(error, -14) FROM kafka_segments('$D')",
           "a|NULL|circle of them\nb|0|NULL");
    expect(f, "SELECT topic, segments, substr(error, -14) FROM kafka_dirs('$D')",
           "a|NULL|circle of them\nb|1|NULL");
}

/* One record of producer 7 in a transaction, and its end. */
static void put_transaction(struct kafka_fixture *f, bool commits)
{
    test_put_batch(&f->log, &(struct test_batch){.base_offset = 0,
                                                 .producer_id = 7,
                                                 .attributes = HW_BATCH_TRANSACTIONAL});
    test_put_marker(&f->log, 1, 7, commits);
}

/* At offset 2, where nothing is open. */
static void save_snapshot_of_nobody(struct kafka_fixture *f)
{
    static const uint8_t bytes[] = {0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0};

    assert_int_equal(hw_buffer_append(&f->log, bytes, sizeof bytes, &f->error), HW_OK);
    save(f, "a-0/00000000000000000002.snapshot");
}

/* An index of aborted transactions that cannot be opened leaves a snapshot without its other half:
 * the batches tell then. */
TEST(without_their_index_transactions_are_followed_through_batches, struct kafka_fixture *f)
{
    put_transaction(f, false);
    put(f, 2, 1);
    save(f, "a-0/" SEGMENT_0 ".log");
    save(f, "a-0/" SEGMENT_0 ".txnindex/file");
    save_snapshot_of_nobody(f);
    expect(f, "SELECT \"offset\", visibility FROM kafka_log('$D')",
           "0|aborted\n1|control\n2|visible");
}

/* A snapshot is taken at the log end. In what it knows, a transaction is over whose marker is not
 * committed yet. */
TEST(a_snapshot_above_the_high_watermark_is_no_help, struct kafka_fixture *f)
{
    put_transaction(f, true);
    save(f, "a-0/" SEGMENT_0 ".log");
    save_snapshot_of_nobody(f);
    put_text(f, "0\n1\na 0 1\n");
    save(f, "replication-offset-checkpoint");
    expect(f, "SELECT \"offset\", visibility FROM kafka_log('$D')", "0|above_lso\n1|above_hw");
    put_text(f, "0\n1\na 0 2\n");
    save(f, "replication-offset-checkpoint");
    expect(f, "SELECT \"offset\", visibility FROM kafka_log('$D')", "0|visible\n1|control");
}

/* Kafka takes no line for granted, not even an empty one. */
TEST(an_empty_line_of_a_checkpoint_is_called_so, struct kafka_fixture *f)
{
    put_text(f, "0\n1\n3 0\n\n");
    save(f, "a-0/leader-epoch-checkpoint");
    expect(f, "SELECT epoch, error FROM kafka_epochs('$D') ORDER BY epoch",
           "NULL|line 4: it is empty\nNULL|2 entries, but line 2 says 1\n3|NULL");
    put_text(f, "0\n1\n  \na-b 1 7 9\n");
    save(f, "recovery-point-offset-checkpoint");
    expect(f, "SELECT error FROM kafka_checkpoint('$D') ORDER BY line",
           "line 3: it is empty\nline 4: wrong number of fields\n2 entries, but line 2 says 1");
}

/* An append under way begins as a batch does; what does not is somebody else's file. */
TEST(a_file_of_something_else_is_no_unfinished_batch, struct kafka_fixture *f)
{
    put_text(f, "This is a file that somebody has put here.");
    save(f, "notes.txt");
    /* Case: F-47 */
    expect_error(f->db, with_directory(f, "SELECT * FROM kafka_log('$D/notes.txt')"), SQLITE_ERROR,
                 "INVALID_REQUEST: /");
    put(f, 0, 2);
    put_text(f, "This is what somebody has put behind it.");
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*), count(value), count(error) FROM kafka_log('$D')", "3|2|1");
    put(f, 0, 2);
    put_text(f, "This is too short.");
    f->log.size -= 1;
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*), count(error) FROM kafka_log('$D')", "2|0");
}

/* Case: F-15 A cleaner was killed between two renames. */
TEST(a_segment_that_waits_to_be_swapped_in_is_read, struct kafka_fixture *f)
{
    put(f, 0, 4);
    save(f, "t-0/" SEGMENT_0 ".log");
    put(f, 4, 2);
    save(f, "t-0/00000000000000000004.log");
    put(f, 6, 1);
    save(f, "t-0/00000000000000000006.log");
    put(f, 1, 1);
    put(f, 5, 1);
    save(f, "t-0/" SEGMENT_0 ".log.swap");
    expect(f, "SELECT group_concat(\"offset\") FROM kafka_log('$D')", "1,5,6");
    expect(f, "SELECT base_offset, next_offset FROM kafka_segments('$D')", "0|6\n6|7");
    /* The cleaner's output is not whole: what it was made from counts. */
    put(f, 4, 1);
    save(f, "t-0/" SEGMENT_0 ".log.cleaned");
    expect(f, "SELECT group_concat(\"offset\") FROM kafka_log('$D')", "0,1,2,3,4,5,6");
}

/* Case: F-17 A file is seen with the segments around it; by itself it cannot tell. */
TEST(a_transaction_that_ends_in_the_next_segment_is_over, struct kafka_fixture *f)
{
    struct test_batch open = {.attributes = HW_BATCH_TRANSACTIONAL, .producer_id = 7};

    test_put_batch(&f->log, &open);
    save(f, "t-0/" SEGMENT_0 ".log");
    test_put_batch(&f->log, &open);
    save(f, SEGMENT_0 ".log");
    test_put_marker(&f->log, 1, 7, true);
    save(f, "t-0/00000000000000000001.log");
    expect(f, "SELECT visibility FROM kafka_log('$D/t-0') WHERE \"offset\" = 0", "visible");
    expect(f, "SELECT visibility FROM kafka_log('$D/t-0/" SEGMENT_0 ".log')", "visible");
    expect(f, "SELECT visibility FROM kafka_log('$D/" SEGMENT_0 ".log')", "NULL");
}

/* Case: F-49 */
TEST(an_epoch_behind_the_log_end_is_an_error, struct kafka_fixture *f)
{
    put(f, 0, 3);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "0\n3\n0 0\n1 2\n2 5\n");
    save(f, "t-0/leader-epoch-checkpoint");
    expect(f, "SELECT epoch, start_offset, end_offset, error FROM kafka_epochs('$D')",
           "0|0|2|NULL\n1|2|5|NULL\n2|5|NULL|the log ends at offset 3, before the epoch begins");
}

/* Case: F-50 A batch whose timestamp base is the delete horizon says so, and has no such base. */
TEST(a_delete_horizon_is_no_timestamp, struct kafka_fixture *f)
{
    struct hw_batch batch;

    test_put_batch(&f->log, &(struct test_batch){.base_offset = 0, .timestamp = 5000});
    assert_int_equal(hw_batch_parse(f->log.bytes, f->log.size, &batch), HW_BATCH_OK);
    batch.attributes = HW_BATCH_DELETE_HORIZON;
    hw_batch_encode(f->log.bytes, &batch);
    test_put_marker(&f->log, 1, 7, false);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f,
           "SELECT attributes, base_timestamp, delete_horizon, control_type FROM"
           " kafka_batches('$D') LIMIT 1",
           "64|NULL|5000|NULL");
    expect(f, "SELECT control, control_type FROM kafka_log('$D')", "NULL|NULL\nABORT|0");
    expect(f, "SELECT control_type FROM kafka_batches('$D')", "NULL\n0");
}

/* Case: F-62 What is no UTF-8 is a blob, or an error where a name is wanted. */
TEST(bytes_that_are_no_text_are_blobs, struct kafka_fixture *f)
{
    put(f, 0, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "node.id=1\ncluster.id=a\xff"
                "b\n");
    save(f, "meta.properties");
    put_text(f, "0\n2\n\xff 0 1\nt 0 1\n");
    save(f, "replication-offset-checkpoint");
    expect(f, "SELECT cluster_id FROM kafka_dirs('$D')", "x'61FF62'");
    expect(f, "SELECT topic, error FROM kafka_checkpoint('$D')",
           "NULL|line 3: the topic is no topic's name\nt|NULL");
}

/* Case: F-66 A file larger than any real one is a row, and the others are read. */
TEST(a_huge_checkpoint_hides_no_other, struct kafka_fixture *f)
{
    char path[2 * HW_PATH_MAX];
    struct hw_file *file;

    put(f, 0, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "0\n1\nt 0 1\n");
    save(f, "recovery-point-offset-checkpoint");
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", f->directory,
                       i == 0 ? "replication-offset-checkpoint" : "t-0/leader-epoch-checkpoint");
        assert_int_equal(hw_store_open(f->store, path, HW_OPEN_TRUNCATE, &file, &f->error), HW_OK);
        assert_int_equal(hw_file_truncate(file, INT64_C(1500) << 20, &f->error), HW_OK);
        hw_file_close(file);
    }
    expect(f, "SELECT checkpoint, topic, error IS NULL FROM kafka_checkpoint('$D')",
           "replication-offset-checkpoint|NULL|0\nrecovery-point-offset-checkpoint|t|1");
    expect(f, "SELECT topic, epoch, error IS NULL FROM kafka_epochs('$D')", "t|NULL|0");
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
