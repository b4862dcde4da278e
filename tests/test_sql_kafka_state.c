/* SPDX-License-Identifier: MIT */
/*
 * Do the tables over real files show indexes, checkpoints, snapshots and epochs as they are,
 * against the log where it knows better, and what our own brokers write?
 */
#include "tests/support_batch.h"
#include "tests/support_segment.h"
#include "tests/support_sql_kafka.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* Write a log of three batches, 10, 20 and 20 records, and an index of two entries. */
static void save_indexed(struct kafka_fixture *f, hw_offset_t base, int32_t offset, int32_t shift)
{
    size_t second;
    size_t third;
    char name[64];

    put(f, base, 10);
    second = f->log.size;
    put(f, base + 10, 20);
    third = f->log.size;
    put(f, base + 30, 20);
    (void)snprintf(name, sizeof name, "t-0/%020d.log", (int)base);
    save(f, name);
    put_index_entry(&f->log, offset, (int32_t)second + shift);
    put_index_entry(&f->log, 49, (int32_t)third);
    test_put_bytes(&f->log, 0, 8000);
    (void)snprintf(name, sizeof name, "t-0/%020d.index", (int)base);
    save(f, name);
}

/* Case: E-07 */
TEST(an_index_is_compared_with_the_last_offsets_of_batches, struct kafka_fixture *f)
{
    save_indexed(f, 0, 29, 0);
    expect(f, "SELECT entry, \"offset\", batch_last_offset, ok, error FROM kafka_index('$D')",
           "0|29|29|1|NULL\n1|49|49|1|NULL");
    expect(f, "SELECT index_entries FROM kafka_segments('$D')", "2");
    /* Case: F-18 Old brokers noted the first offset. */
    save_indexed(f, 0, 10, 0);
    expect(f, "SELECT entry, \"offset\", batch_last_offset, ok FROM kafka_index('$D')",
           "0|10|29|1\n1|49|49|1");
    save_indexed(f, 0, 9, 0);
    expect(f, "SELECT entry, \"offset\", batch_last_offset, ok FROM kafka_index('$D')",
           "0|9|29|0\n1|49|49|1");
    expect(f,
           "SELECT error LIKE 'the entry says offset 9, % begins with 10' FROM kafka_index('$D')"
           " WHERE NOT ok",
           "1");
    save_indexed(f, 0, 29, 1);
    expect(f,
           "SELECT entry, batch_last_offset, ok, error LIKE 'no batch begins at byte %' FROM "
           "kafka_index('$D/t-0/" SEGMENT_0 ".index')",
           "0|NULL|0|1\n1|49|1|NULL");
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT count(*) FROM kafka_index('$D')", "0");
    expect(f, "SELECT index_entries FROM kafka_segments('$D')", "0");
    save_indexed(f, 500, 29, 0);
    expect(f, "SELECT \"offset\", ok FROM kafka_index('$D/t-0/00000000000000000500.log')",
           "529|1\n549|1");
    /* A follower has one entry for a fetch of several batches, and a part of an entry is left. */
    put_index_entry(&f->log, 49, 151);
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f,
           "SELECT \"offset\", batch_last_offset, ok, error FROM"
           " kafka_index('$D/t-0/" SEGMENT_0 ".log') WHERE entry = 0",
           "49|29|1|NULL");
    put_index_entry(&f->log, 49, 0);
    f->log.size = 5;
    save(f, "t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT entry, \"offset\", ok, error FROM kafka_index('$D/t-0/" SEGMENT_0 ".log')",
           "0|NULL|0|5 bytes at the end are no whole entry");
}

TEST(a_time_index_is_compared_with_the_largest_timestamps, struct kafka_fixture *f)
{
    static const int times[][2] = {{1009, 9}, {2019, 29}, {3019, 49}};

    for (int i = 0; i < 3; i++) {
        test_put_batch(&f->log, &(struct test_batch){.base_offset = i == 0 ? 0 : 20 * i - 10,
                                                     .count = i == 0 ? 10 : 20,
                                                     .timestamp = 1000 * (i + 1)});
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    for (int bad = 0; bad < 2; bad++) {
        for (int i = 0; i < 3; i++) {
            put_index_entry(&f->log, 0, times[i][0] + (bad == 1 && i == 1 ? 500 : 0));
            put_index_entry(&f->log, times[i][1], 0);
            f->log.size -= 4;
        }
        test_put_bytes(&f->log, 0, 1200);
        save(f, "t-0/" SEGMENT_0 ".timeindex");
        expect(f,
               "SELECT entry, \"timestamp\", \"offset\", batch_max_timestamp, ok FROM"
               " kafka_timeindex('$D')",
               bad ? "0|1009|9|1009|1\n1|2519|29|2019|0\n2|3019|49|3019|1"
                   : "0|1009|9|1009|1\n1|2019|29|2019|1\n2|3019|49|3019|1");
    }

    /* A larger timestamp before the one that the entry says is the largest. */
    test_put_batch(&f->log, &(struct test_batch){.timestamp = 9000});
    test_put_batch(&f->log, &(struct test_batch){.base_offset = 1, .timestamp = 8000});
    save(f, "t-0/" SEGMENT_0 ".log");
    put_index_entry(&f->log, 0, 8000);
    put_index_entry(&f->log, 1, 0);
    f->log.size -= 4;
    save(f, "t-0/" SEGMENT_0 ".timeindex");
    expect(f, "SELECT ok, error FROM kafka_timeindex('$D')",
           "0|a batch before that with offset 1 has the larger timestamp 9000");
}

TEST(checkpoints_are_shown_line_by_line, struct kafka_fixture *f)
{
    put_text(f, "0\n5\nt 0 2\nt 1 x\nt 2\nlast 3 9\nt 3 -5");
    save(f, "replication-offset-checkpoint");
    put(f, 0, 4);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "0\n1\nt 0 1\n");
    save(f, "log-start-offset-checkpoint");
    expect(f,
           "SELECT checkpoint, topic, \"partition\", \"offset\", line, error"
           " FROM kafka_checkpoint('$D')",
           "replication-offset-checkpoint|t|0|2|3|NULL\n"
           "replication-offset-checkpoint|NULL|NULL|NULL|4|line 4: the offset is no number, 0 or "
           "more\n"
           "replication-offset-checkpoint|NULL|NULL|NULL|5|line 5: wrong number of fields\n"
           "replication-offset-checkpoint|last|3|9|6|NULL\n"
           "replication-offset-checkpoint|NULL|NULL|NULL|7|line 7: the offset is no number, 0 or "
           "more\n"
           "log-start-offset-checkpoint|t|0|1|3|NULL");
    expect(f, "SELECT \"offset\", visibility FROM kafka_log('$D')",
           "0|below_log_start\n1|visible\n2|above_hw\n3|above_hw");
    expect(f, "SELECT log_start, leo, hw, recovery_point FROM kafka_dirs('$D')", "1|4|2|NULL");
    put_text(f, "0\n5\na 0 1\n");
    save(f, "other");
    expect(f, "SELECT topic, error FROM kafka_checkpoint('$D/other')",
           "a|NULL\nNULL|1 entries, but line 2 says 5");
    put_text(f, "7\nmany\n");
    save(f, "other");
    expect(f, "SELECT error FROM kafka_checkpoint('$D/other')",
           "line 1: the version is not 0\nline 2: the number of entries is no number");
}

TEST(epochs_end_where_the_next_one_begins, struct kafka_fixture *f)
{
    put(f, 0, 10);
    save(f, "t-0/" SEGMENT_0 ".log");
    put_text(f, "0\n3\n0 0\n2 4\n5 7\n");
    save(f, "t-0/leader-epoch-checkpoint");
    expect(f,
           "SELECT topic, \"partition\", epoch, start_offset, end_offset, error"
           " FROM kafka_epochs('$D')",
           "t|0|0|0|4|NULL\nt|0|2|4|7|NULL\nt|0|5|7|10|NULL");
    put_text(f, "0\n3\n2 4\n1 7\nx\n");
    save(f, "t-0/leader-epoch-checkpoint");
    expect(f,
           "SELECT epoch, start_offset, end_offset, error FROM"
           " kafka_epochs('$D/t-0/leader-epoch-checkpoint') ORDER BY epoch",
           "NULL|NULL|NULL|line 5: wrong number of fields\n"
           "1|7|NULL|epoch and start offset are not above those before\n2|4|NULL|NULL");
}

TEST(snapshots_show_producers_and_their_open_transactions, struct kafka_fixture *f)
{
    expect(f,
           "SELECT snapshot_offset, producer_id, producer_epoch, last_sequence, last_offset,"
           " offset_delta, \"timestamp\", coordinator_epoch, txn_first_offset, crc_ok, error FROM"
           " kafka_producers('tests/data/format-vectors/00000000000000000103.snapshot')",
           "103|4000|2|1|101|1|1700000000000|7|NULL|1|NULL");
    test_read_vector(&f->log, "00000000000000000103.snapshot");
    f->log.bytes[55] = 50;
    memset(f->log.bytes + 48, 0, 7);
    save(f, "t-0/00000000000000000103.snapshot");
    expect(f,
           "SELECT producer_id, txn_first_offset, crc_ok, error LIKE '%checksum 0x4d38093b%'"
           " FROM kafka_producers('$D')",
           "4000|50|0|1");
    put_text(f, "abc");
    save(f, "t-0/00000000000000000103.snapshot");
    expect(f, "SELECT snapshot_offset, producer_id, crc_ok, error FROM kafka_producers('$D')",
           "103|NULL|0|3 bytes are too few for a snapshot");
}

TEST(aborted_transactions_are_read_from_their_index, struct kafka_fixture *f)
{
    test_read_vector(&f->log, "G.txnindex");
    save(f, "t-0/00000000000000000100.txnindex");
    put(f, 100, 1);
    save(f, "t-0/00000000000000000100.log");
    expect(f,
           "SELECT topic, entry, producer_id, first_offset, last_offset, last_stable_offset,"
           " error FROM kafka_aborted('$D')",
           "t|0|4000|100|102|103|NULL");
    test_read_vector(&f->log, "G.txnindex");
    test_read_vector(&f->log, "G.txnindex");
    test_put_bytes(&f->log, 0xaa, 7);
    save(f, "t-0/00000000000000000100.txnindex");
    expect(f, "SELECT entry, error FROM kafka_aborted('$D')",
           "0|NULL\n1|the last offset is not above the one before");
}

/* What our own brokers write reads back the same, through both doors. */
TEST(a_cluster_reads_the_same_through_its_files, struct kafka_fixture *f)
{
    char path[2 * HW_PATH_MAX];
    sqlite3 *db;

    (void)snprintf(path, sizeof path, "%s/exp.db", f->directory);
    db = test_sql_open(path);
    expect_sql(db,
               "SELECT configure('segment.bytes', 2000);"
               "CREATE VIRTUAL TABLE t USING highwater(partitions=2, replication.factor=3,"
               " \"compression.type\"=gzip);"
               "INSERT INTO t(key, value, headers) SELECT 'k' || value, hex(zeroblob(value)),"
               " json_object('h', value) FROM (WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL "
               "SELECT value + 1 FROM s WHERE value < 200) SELECT value FROM s);"
               "SELECT replicate() > 0, promote('t', 0, 2) > 0, produce('t', 0, NULL, NULL) > 0,"
               " replicate() > 0, flush() > 0",
               "2000\n1|1|1|1|1");
    (void)snprintf(path, sizeof path,
                   "SELECT count(*) FROM (SELECT \"partition\", \"offset\", leader_epoch,"
                   " \"timestamp\", key, value, headers FROM kafka_log('%s') EXCEPT"
                   " SELECT l.\"partition\", l.\"offset\", l.leader_epoch, l.\"timestamp\","
                   " l.key, l.value, l.headers FROM hw_replicas r, hw_log('t', r.\"partition\", 3)"
                   " l WHERE r.broker = 3)",
                   "$D/exp.db-highwater/broker-3");
    expect_sql(db, with_directory(f, path), "0");
    expect_sql(db,
               with_directory(f, "SELECT count(*), count(error), sum(crc_ok) FROM"
                                 " kafka_log('$D/exp.db-highwater/broker-3')"),
               "201|0|201");
    expect_sql(db,
               with_directory(f, "SELECT count(*) - sum(ok) FROM"
                                 " kafka_timeindex('$D/exp.db-highwater/broker-3')"),
               "0");
    test_sql_close(db);
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
