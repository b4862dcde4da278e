/* SPDX-License-Identifier: MIT */
/*
 * Do the tables over real files give the same rows whatever the statement looks like, read little
 * for little, and leave the files alone?
 */
#define _XOPEN_SOURCE 700

#include "core/record/codec.h"
#include "tests/support_batch.h"
#include "tests/support_segment.h"
#include "tests/support_sql_kafka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support_test.h"

/* Case: D-01 */
TEST(the_path_may_come_from_another_table_in_any_order, struct kafka_fixture *f)
{
    static const char *const settings[] = {"PRAGMA reverse_unordered_selects = 0",
                                           "PRAGMA reverse_unordered_selects = 1", "ANALYZE"};

    put(f, 0, 2);
    save(f, "a/t-0/" SEGMENT_0 ".log");
    put(f, 0, 1);
    save(f, "b/t-0/" SEGMENT_0 ".log");
    save(f, "empty/meta.properties");
    expect(f,
           "CREATE TABLE dirs(name, path); INSERT INTO dirs VALUES ('a', '$D/a'), ('b', '$D/b'),"
           " ('n', NULL), ('e', '$D/empty')",
           "");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        expect(f, settings[i], "");
        expect(f, "SELECT count(*) FROM dirs d, kafka_log(d.path)", "3");
        expect(f, "SELECT count(*) FROM kafka_log(d.path) r JOIN dirs d ON 1", "3");
        expect(f, "SELECT count(*) FROM dirs d LEFT JOIN kafka_log(d.path)", "5");
        expect(f,
               "SELECT name, \"offset\" FROM dirs d, kafka_log(d.path) WHERE value <> 'x'"
               " ORDER BY d.name DESC, \"offset\"",
               "b|0\na|0\na|1");
        expect(f, "SELECT count(*) FROM kafka_segments(d.path) s JOIN dirs d ON 1", "2");
        expect(f, "SELECT count(*) FROM dirs d LEFT JOIN kafka_epochs(d.path)", "4");
        expect_error(f->db, "SELECT count(*) FROM kafka_log", SQLITE_ERROR,
                     "INVALID_REQUEST: kafka_log() takes a path");
        expect_error(f->db, "SELECT count(*) FROM kafka_segments", SQLITE_ERROR,
                     "INVALID_REQUEST: kafka_segments() takes a path");
    }
    expect_error(f->db, "SELECT * FROM kafka_log('nowhere')", SQLITE_ERROR,
                 "KAFKA_STORAGE_ERROR: cannot open 'nowhere': No such file");
    expect_error(f->db, "SELECT * FROM kafka_dirs('')", SQLITE_ERROR,
                 "KAFKA_STORAGE_ERROR: the path is empty");
}

/* Case: D-02 */
TEST(constraints_that_cannot_be_used_are_left_to_sqlite, struct kafka_fixture *f)
{
    put(f, 0, 4);
    put(f, 4, 6);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D') LIMIT 1 OFFSET 1", "1");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D') LIMIT -1 OFFSET 7", "7\n8\n9");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D') LIMIT 0", "");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE \"offset\" <> 5", "9");
    expect(f, "SELECT value FROM kafka_log('$D') WHERE value LIKE 'v%' LIMIT 2", "v0\nv1");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE \"offset\" IS NOT NULL", "10");
    expect(f, "SELECT count(*) FROM kafka_log WHERE of_path LIKE '%' AND of_path = '$D'", "10");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE \"offset\" IS 5", "1");
}

/* A statement that needs nothing of the records takes their number from headers; it is the number
 * of the rows, and each of them is the same row as in any other scan. */
TEST(records_that_are_only_counted_are_the_same_rows, struct kafka_fixture *f)
{
    static const char *const conditions[] = {"",
                                             " WHERE topic = 't'",
                                             " WHERE position > 0",
                                             " WHERE codec = 'none' AND crc_ok",
                                             " WHERE batch_base_offset <> 3",
                                             " LIMIT 4"};
    char sql[1024];

    put(f, 0, 3);
    put(f, 3, 1);
    test_put_batch(&f->log,
                   &(struct test_batch){.base_offset = 4, .is_empty = true, .last_delta = 6});
    put(f, 20, 5);
    put(f, 25, 2);
    f->log.bytes[f->log.size - 1] ^= 1;
    put(f, 27, 2);
    put_text(f, "no batch");
    save(f, "t-0/" SEGMENT_0 ".log");
    put(f, 0, 2);
    save(f, "u-1/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*), count(\"offset\") FROM kafka_log('$D')", "14|14");
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        (void)snprintf(sql, sizeof sql,
                       "WITH counted(id) AS (SELECT file || position || '#' || row_number FROM "
                       "kafka_log('$D')%s),"
                       " read(id, v) AS (SELECT file || position || '#' || row_number, value FROM "
                       "kafka_log('$D')%s)"
                       " SELECT (SELECT count(*) FROM (SELECT 1 FROM kafka_log('$D')%s))"
                       " = (SELECT count(*) FROM read),"
                       " (SELECT group_concat(id) FROM counted) ="
                       " (SELECT group_concat(id) FROM read WHERE v IS NOT 'x')",
                       conditions[i], conditions[i], conditions[i]);
        expect(f, sql, "1|1");
    }
    expect(f, "SELECT codec, count(*) FROM kafka_log('$D/t-0') GROUP BY codec ORDER BY 1",
           "none|12");
}

/* A header that cannot be true is not believed. */
TEST(a_header_that_counts_too_many_is_not_believed, struct kafka_fixture *f)
{
    struct test_batch lying = {
        .base_offset = 0, .count = 2, .last_delta = INT32_MAX - 1, .record_count = INT32_MAX};
    struct hw_batch batch;

    test_put_batch(&f->log, &lying);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*), count(\"offset\") FROM kafka_log('$D')", "3|3");
    expect(f, "SELECT count(*) FROM kafka_log('$D') WHERE error IS NOT NULL", "1");
    /* Compressed: more than would be decompressed. */
    test_put_batch(&f->log, &lying);
    batch = test_parse(f->log.bytes, f->log.size);
    batch.attributes = HW_CODEC_GZIP;
    hw_batch_encode(f->log.bytes, &batch);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*), count(error) FROM kafka_log('$D')", "1|1");
    expect(f, "SELECT count(*) FROM kafka_log('$D')", "1");
}

/* Case: D-03 */
TEST(lists_and_alternatives_return_each_row_once, struct kafka_fixture *f)
{
    put(f, 0, 10);
    save(f, "a/t-0/" SEGMENT_0 ".log");
    put(f, 0, 2);
    save(f, "b/t-0/" SEGMENT_0 ".log");
    expect(f, "SELECT count(*) FROM kafka_log WHERE of_path IN ('$D/a', '$D/b')", "12");
    expect(f, "SELECT count(*) FROM kafka_log WHERE of_path IN ('$D/a', '$D/a')", "10");
    expect(f, "SELECT count(*) FROM kafka_log WHERE of_path = '$D/a' OR of_path = '$D/b'", "12");
    expect(f,
           "SELECT count(*) FROM kafka_log WHERE (of_path = '$D/a' AND \"offset\" < 2)"
           " OR (of_path = '$D/b' AND \"offset\" < 2)",
           "4");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a')"
           " WHERE \"offset\" IN (1, '2', 3.0, 4.5, NULL)",
           "1,2,3");
    expect(f, "SELECT count(*) FROM kafka_log('$D/a') WHERE \"offset\" IN (3, 3, 3)", "1");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a') WHERE \"offset\" IN (1, 5, 9)"
           " AND \"offset\" > 2",
           "5,9");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a')"
           " WHERE \"offset\" NOT IN (1, 2, 3)",
           "0,4,5,6,7,8,9");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a') WHERE \"offset\" = 2"
           " OR value = 'v7'",
           "2,7");
    expect(f,
           "SELECT group_concat(\"offset\") FROM kafka_log('$D/a') WHERE \"offset\" < 3"
           " OR \"offset\" < 5",
           "0,1,2,3,4");
    /* Case: F-01 The same record is another row of another path, also where SQLite joins the two
     * scans of an OR by what tells rows apart. */
    expect(f, "SELECT count(*) FROM kafka_log WHERE of_path = '$D/a' OR of_path = '$D/a/t-0'",
           "20");
    expect(f, "SELECT count(*) FROM kafka_batches WHERE of_path = '$D/a' OR of_path = '$D/a/t-0'",
           "2");
    expect(f, "SELECT count(*) FROM kafka_segments WHERE of_path = '$D/a' OR of_path = '$D/a/t-0'",
           "2");
    expect(f,
           "SELECT count(*) FROM kafka_log('$D/a') WHERE topic = 't' AND (\"offset\" = 2"
           " OR \"offset\" = 3 OR timestamp = 1003)",
           "2");
}

/* Case: F-46, F-48 */
TEST(the_argument_is_one_and_has_a_name_of_its_own, struct kafka_fixture *f)
{
    put(f, 0, 3);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f, "CREATE TABLE dirs(path, file, bytes); INSERT INTO dirs VALUES ('$D', 'a', 1)", "");
    expect(f, "SELECT path = of_path, count(*) FROM dirs, kafka_log(path)", "1|3");
    expect(f, "SELECT count(*) FROM dirs, kafka_dirs(path)", "1");
    expect(f, "SELECT (SELECT count(*) FROM kafka_batches(path)) FROM dirs", "1");
    expect_error(f->db, "SELECT * FROM kafka_log('a', 'b')", SQLITE_ERROR,
                 "INVALID_REQUEST: too many arguments: it is kafka_log(path)");
    expect_error(f->db, "SELECT * FROM kafka_batches('a', 'b')", SQLITE_ERROR,
                 "INVALID_REQUEST: too many arguments");
    expect_error(f->db, "SELECT * FROM kafka_dirs('a', 'b')", SQLITE_ERROR,
                 "INVALID_REQUEST: too many arguments");
}

/* Case: F-45, F-47 */
TEST(a_path_without_a_partition_is_told_of, struct kafka_fixture *f)
{
    static const char *const tables[] = {"kafka_log",        "kafka_batches", "kafka_segments",
                                         "kafka_index",      "kafka_epochs",  "kafka_dirs",
                                         "kafka_checkpoint", "kafka_files"};
    char sql[256];

    put(f, 0, 1);
    save(f, "disks/1/logs/t-0/" SEGMENT_0 ".log");
    put_text(f, "node.id=1\n");
    save(f, "disks/2/logs/meta.properties");
    save(f, "etc/hosts");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT * FROM %s('$D/etc')", tables[i]);
        expect(f, sql,
               with_directory(f, "error: KAFKA_STORAGE_ERROR: there is no partition in $D/etc, and "
                                 "no log directory of Kafka near below it"));
        (void)snprintf(sql, sizeof sql, "SELECT * FROM %s('$D/disks')", tables[i]);
        expect(f, sql,
               with_directory(f, "error: KAFKA_STORAGE_ERROR: there is no partition in $D/disks; "
                                 "log directories below it: $D/disks/1/logs, $D/disks/2/logs"));
    }
    expect(f, "SELECT count(*) FROM kafka_log('$D/disks/2/logs')", "0");
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT * FROM %s('$D/disks/2/logs/meta.properties')",
                       tables[i]);
        expect(f, sql,
               with_directory(f, "error: INVALID_REQUEST: $D/disks/2/logs/meta.properties is no "
                                 "segment: there is no batch in it"));
    }
    put_index_entry(&f->log, 0, 0);
    save(f, "disks/1/logs/t-0/" SEGMENT_0 ".index");
    expect(f, "SELECT * FROM kafka_log('$D/disks/1/logs/t-0/" SEGMENT_0 ".index')",
           with_directory(f, "error: INVALID_REQUEST: $D/disks/1/logs/t-0/" SEGMENT_0
                             ".index is an offset index: kafka_index() reads it"));
}

TEST(lists_and_patterns_of_paths_are_read_one_after_the_other, struct kafka_fixture *f)
{
    put(f, 0, 1);
    save(f, "1/logs/a-0/" SEGMENT_0 ".log");
    put(f, 0, 2);
    save(f, "2/logs/b-0/" SEGMENT_0 ".log");
    put(f, 0, 4);
    save(f, "2/logs/odd*name-0/" SEGMENT_0 ".log");
    put_text(f, "x");
    save(f, "notes");
    expect(f, "SELECT topic, count(*) FROM kafka_log('$D/?/logs/*') GROUP BY 1",
           "NULL|4\na|1\nb|2");
    expect(f, "SELECT count(*) FROM kafka_log('$D/*/logs/b*')", "2");
    expect(f, "SELECT count(*) FROM kafka_log('$D/2/logs/odd*name-0')", "4");
    expect(f, "SELECT count(*) FROM kafka_log('[\"$D/1/logs\",\"$D/?/logs/b-0\"]')", "3");
    /* What is there twice is read once. */
    expect(f, "SELECT count(*) FROM kafka_log('[\"$D/1/logs\",\"$D/1/logs/a-0\",\"$D/1/logs\"]')",
           "1");
    expect(f, "SELECT \"offset\" FROM kafka_log('$D/?/logs/?-0') ORDER BY \"offset\" DESC",
           "1\n0\n0");
    expect(f,
           "SELECT file LIKE '%none', crc_ok, error LIKE 'cannot open %' FROM"
           " kafka_log('[\"$D/none\",\"$D/1/logs\"]')",
           "1|0|1\n0|1|NULL");
    expect(f,
           "SELECT count(*), count(error) FROM kafka_segments('[\"$D/none\",\"$D/1/logs\"]')"
           " UNION ALL SELECT count(*), count(error) FROM"
           " kafka_dirs('[\"$D/none\",\"$D/1/logs\"]')",
           "2|1\n2|1");
    expect(f, "SELECT * FROM kafka_log('$D/?/none')",
           with_directory(f, "error: KAFKA_STORAGE_ERROR: no path fits $D/?/none"));
    expect_error(f->db, "SELECT * FROM kafka_log('[1]')", SQLITE_ERROR,
                 "INVALID_REQUEST: a list of paths has texts");
    expect_error(f->db, "SELECT * FROM kafka_log('[')", SQLITE_ERROR, "INVALID_REQUEST: ");
    assert_int_equal(setenv("HOME", f->directory, 1), 0);
    expect(f, "SELECT count(*) FROM kafka_log('~/1/logs')", "1");
}

/* Several segments in several partitions, indexed as a leader does it. */
static void save_cluster(struct kafka_fixture *f)
{
    struct hw_buffer index;
    char name[64];

    hw_buffer_init(&index, &hw_allocator_libc);
    for (int partition = 0; partition < 3; partition++) {
        for (int segment = 0; segment < 4; segment++) {
            for (int i = 0; i < 50; i++) {
                int offset = 2 * i + 100 * segment;

                if (i > 0) {
                    put_index_entry(&index, 2 * i + 1, (int32_t)f->log.size);
                }
                test_put_batch(&f->log, &(struct test_batch){.base_offset = offset,
                                                             .count = 2,
                                                             .timestamp = 10 * offset + partition,
                                                             .value_size = 500});
            }
            if (segment == 2 && partition == 1) {
                f->log.bytes[3000] ^= 1;
            }
            (void)snprintf(name, sizeof name, "%s-%d/%020d.log", partition == 2 ? "u" : "t",
                           partition % 2, 100 * segment);
            save(f, name);
            assert_int_equal(hw_buffer_append(&f->log, index.bytes, index.size, &f->error), HW_OK);
            index.size = 0;
            (void)snprintf(name, sizeof name, "%s-%d/%020d.index", partition == 2 ? "u" : "t",
                           partition % 2, 100 * segment);
            save(f, name);
        }
    }
    hw_buffer_release(&index);
}

/* The same as over an ordinary table, whatever is pushed down. */
TEST(every_condition_and_order_gives_what_a_table_would_give, struct kafka_fixture *f)
{
    static const char *const rests[] = {
        "WHERE \"offset\" = 250",
        "WHERE \"offset\" BETWEEN 98 AND 103",
        "WHERE \"offset\" > 390.5 AND \"partition\" = 1",
        "WHERE \"offset\" < '4'",
        "WHERE \"offset\" >= 399 OR \"offset\" < 1 ORDER BY topic, \"partition\", \"offset\"",
        "WHERE topic = 'u' AND \"offset\" IN (0, 100, 399, 400)",
        "WHERE topic = 'T'",
        "WHERE \"partition\" = '1' AND \"offset\" < 3",
        "WHERE \"timestamp\" >= 3950",
        "WHERE \"timestamp\" BETWEEN 1000 AND 1040",
        "WHERE \"timestamp\" = 2000 AND \"offset\" > 10",
        "WHERE \"timestamp\" > 9223372036854775806",
        "WHERE \"offset\" >= 9223372036854775807",
        "WHERE \"offset\" <= -9223372036854775808",
        "WHERE \"offset\" > NULL",
        "WHERE crc_ok = 0",
        "ORDER BY topic, \"partition\", \"offset\"",
        "ORDER BY topic DESC, \"partition\" DESC, \"offset\" DESC",
        "WHERE topic = 't' AND \"partition\" = 1 ORDER BY \"offset\" DESC LIMIT 7",
        "WHERE topic = 't' ORDER BY \"partition\", \"offset\" LIMIT 20 OFFSET 395",
        "WHERE topic = 'u' AND \"offset\" BETWEEN 95 AND 205 ORDER BY \"offset\" DESC",
        "WHERE topic = 'u' ORDER BY \"offset\" LIMIT 5",
    };

    save_cluster(f);
    expect(f,
           "CREATE TABLE plain AS SELECT * FROM kafka_log('$D');"
           "CREATE TABLE batches AS SELECT * FROM kafka_batches('$D');"
           "SELECT count(*), count(error) FROM plain; SELECT count(*) FROM batches",
           "1199|1\n600");
    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        char from_files[SQL_SIZE];
        char from_table[512];

        (void)snprintf(
            from_files, sizeof from_files,
            "SELECT \"partition\", \"offset\", length(value), topic, position, error FROM"
            " kafka_log('%s') %s",
            f->directory, rests[i]);
        (void)snprintf(
            from_table, sizeof from_table,
            "SELECT \"partition\", \"offset\", length(value), topic, position, error FROM"
            " plain %s",
            rests[i]);
        expect_same_sql(f->db, from_files, from_table);
    }
    expect(f,
           "SELECT (SELECT group_concat(\"offset\" || topic) FROM (SELECT \"offset\", topic FROM"
           " kafka_log('$D') ORDER BY \"offset\" DESC LIMIT 30)) IS NULL",
           "0");
    expect(f,
           "SELECT count(*) FROM (SELECT \"offset\", lag(\"offset\") OVER () AS before FROM"
           " (SELECT \"offset\" FROM kafka_log('$D') ORDER BY \"offset\" LIMIT 1199))"
           " WHERE before > \"offset\"",
           "0");
    expect(f, "SELECT max(\"offset\"), min(\"offset\") FROM kafka_log('$D')", "399|0");
    expect(f, "SELECT max(\"offset\") FROM kafka_log('$D') WHERE topic = 'u'", "399");
    expect(f,
           "SELECT topic, \"partition\", base_offset FROM kafka_batches('$D')"
           " WHERE base_offset <= 251 AND last_offset >= 251",
           "t|0|250\nt|1|250\nu|0|250");
    expect(f, "SELECT count(*) FROM kafka_batches('$D') WHERE max_timestamp >= 3900", "15");
}

/* What the scan has read, for statements that want a few rows of a large segment. */
TEST(little_is_read_of_a_large_segment, struct kafka_fixture *f)
{
    static const char *const cheap[] = {
        "WHERE \"offset\" = 123456",
        "WHERE \"offset\" BETWEEN 77777 AND 77780",
        "ORDER BY \"offset\" DESC LIMIT 10",
        "LIMIT 10",
        "WHERE \"offset\" <= 150000 ORDER BY \"offset\" DESC LIMIT 3",
        "WHERE \"timestamp\" >= 1990000 LIMIT 5",
    };
    enum { OFFSETS = 200000, BATCH_RECORDS = 10, INTERVAL = 4096 };
    struct hw_buffer index;
    struct hw_buffer times;
    size_t since = 0;
    char sql[2 * HW_PATH_MAX];

    hw_buffer_init(&index, &hw_allocator_libc);
    hw_buffer_init(&times, &hw_allocator_libc);
    for (int i = 0; i < OFFSETS; i += BATCH_RECORDS) {
        size_t start = f->log.size;

        test_put_batch(&f->log, &(struct test_batch){.base_offset = i,
                                                     .count = BATCH_RECORDS,
                                                     .timestamp = 10 * i,
                                                     .value_size = 60});
        if (since > INTERVAL) {
            put_index_entry(&index, i + BATCH_RECORDS - 1, (int32_t)start);
            put_index_entry(&times, 0, 10 * i + BATCH_RECORDS - 1);
            put_index_entry(&times, i + BATCH_RECORDS - 1, 0);
            times.size -= 4;
            since = 0;
        }
        since += f->log.size - start;
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    /* As a broker that runs has them. */
    assert_int_equal(hw_buffer_append(&f->log, index.bytes, index.size, &f->error), HW_OK);
    test_put_bytes(&f->log, 0, 10 << 20);
    save(f, "t-0/" SEGMENT_0 ".index");
    assert_int_equal(hw_buffer_append(&f->log, times.bytes, times.size, &f->error), HW_OK);
    test_put_bytes(&f->log, 0, 10 << 20);
    save(f, "t-0/" SEGMENT_0 ".timeindex");
    for (size_t i = 0; i < sizeof cheap / sizeof cheap[0]; i++) {
        (void)snprintf(
            sql, sizeof sql,
            "SELECT max(b) BETWEEN 1 AND 32768, count(*) > 0 FROM (SELECT bytes_read AS b"
            " FROM kafka_log('%s') %s)",
            f->directory, cheap[i]);
        expect_sql(f->db, sql, "1|1");
    }
    expect(f,
           "SELECT max(bytes_read) < 32768, count(*) FROM kafka_batches('$D')"
           " WHERE base_offset <= 5005 AND last_offset >= 5005",
           "1|1");
    expect(f, "SELECT max(\"offset\") FROM kafka_log('$D')", "199999");
    hw_buffer_release(&index);
    hw_buffer_release(&times);
}

TEST(a_broker_may_append_while_a_statement_reads, struct kafka_fixture *f)
{
    sqlite3_stmt *statement;
    char path[2 * HW_PATH_MAX];
    FILE *file;
    int count = 0;

    for (int i = 0; i < 100; i++) {
        put(f, i, 1);
    }
    save(f, "t-0/" SEGMENT_0 ".log");
    assert_int_equal(sqlite3_prepare_v2(f->db,
                                        with_directory(f, "SELECT error FROM kafka_log('$D')"), -1,
                                        &statement, NULL),
                     SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        assert_int_equal(sqlite3_column_type(statement, 0), SQLITE_NULL);
        if (count++ == 50) { /* Half of a batch, and a new segment. */
            put(f, 100, 5);
            (void)snprintf(path, sizeof path, "%s/t-0/" SEGMENT_0 ".log", f->directory);
            file = fopen(path, "ab");
            assert_non_null(file);
            assert_int_equal(fwrite(f->log.bytes, 1, f->log.size / 2, file), f->log.size / 2);
            assert_int_equal(fclose(file), 0);
            f->log.size = 0;
            put(f, 105, 5);
            save(f, "t-0/00000000000000000105.log");
        }
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(count, 100);
}

TEST(a_directory_that_cannot_be_written_is_read, struct kafka_fixture *f)
{
    char path[2 * HW_PATH_MAX];
    struct stat before;
    struct stat after;

    put(f, 0, 3);
    save(f, "t-0/" SEGMENT_0 ".log");
    (void)snprintf(path, sizeof path, "%s/t-0", f->directory);
    assert_int_equal(chmod(path, 0555), 0);
    assert_int_equal(stat(path, &before), 0);
    expect(f, "SELECT count(*) FROM kafka_log('$D')", "3");
    expect(f,
           "SELECT count(*) FROM kafka_segments('$D'); SELECT count(*) FROM kafka_index('$D');"
           "SELECT count(*) FROM kafka_dirs('$D'); SELECT count(*) FROM kafka_checkpoint('$D')",
           "1\n0\n1\n0");
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_mtime, after.st_mtime);
    assert_int_equal(chmod(path, 0755), 0);
    expect(f, "SELECT segments, size_bytes FROM kafka_dirs('$D')", "1|88");
}

TEST(a_view_of_a_foreign_schema_cannot_read_files, struct kafka_fixture *f)
{
    put(f, 0, 1);
    save(f, "t-0/" SEGMENT_0 ".log");
    expect(f,
           "CREATE VIEW v AS SELECT * FROM kafka_log('$D');"
           "CREATE VIEW w AS SELECT * FROM kafka_dirs('$D')",
           "");
    expect(f, "PRAGMA trusted_schema = OFF", "");
    expect_error(f->db, "SELECT * FROM v", SQLITE_ERROR, "unsafe use of virtual table");
    expect_error(f->db, "SELECT * FROM w", SQLITE_ERROR, "unsafe use of virtual table");
}

TEST(paths_are_files_partitions_or_log_directories, struct kafka_fixture *f)
{
    put(f, 0, 1);
    save(f, "logs-1/my.topic-x-12/" SEGMENT_0 ".log");
    put(f, 0, 2);
    save(f, "logs-1/b-0/" SEGMENT_0 ".log");
    put(f, 0, 4);
    save(f, "logs-1/b-1.0123456789abcdef0123456789abcdef-delete/" SEGMENT_0 ".log");
    save(f, "logs-1/lost+found/x");
    save(f, "logs-1/notes-7"); /* A file. */
    expect(f, "SELECT topic, \"partition\", count(*) FROM kafka_log('$D/logs-1/') GROUP BY 1, 2",
           "b|0|2\nmy.topic-x|12|1");
    expect(f, "SELECT topic, \"partition\" FROM kafka_log('$D/logs-1/my.topic-x-12')",
           "my.topic-x|12");
    expect(f,
           "SELECT topic, \"partition\" FROM"
           " kafka_log('$D/logs-1/my.topic-x-12/" SEGMENT_0 ".log')",
           "my.topic-x|12");
    expect(f,
           "SELECT count(*), min(topic) FROM"
           " kafka_log('$D/logs-1/b-1.0123456789abcdef0123456789abcdef-delete')",
           "4|b");
    expect(f, "SELECT topic, \"partition\", state, segments, leo FROM kafka_dirs('$D/logs-1')",
           "b|0|live|1|2\nb|1|delete|1|4\nmy.topic-x|12|live|1|1");
}

int main(void)
{
    return test_run(test_kafka_setup, test_kafka_teardown);
}
