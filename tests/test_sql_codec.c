/* SPDX-License-Identifier: MIT */
/* Does compression.type reach the files, and do all readers see the same rows with it? */
#include "tests/support_sql_file.h"

#include <stdio.h>

#include "tests/support_test.h"

enum { SQL_SIZE = 4 * HW_PATH_MAX };

static const char *const types[] = {"gzip", "snappy", "lz4", "zstd", "uncompressed"};

static int set_up(void **state)
{
    return test_sql_file_set_up(state, false, NULL, NULL);
}

/* A topic of that type, with 50 rows by INSERT and one by produce(), on three brokers. */
static void make_topic(const struct fixture *f, const char *type)
{
    char sql[SQL_SIZE];

    (void)snprintf(
        sql, sizeof sql,
        "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3,"
        " compression.type='%s');"
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 50)"
        " INSERT INTO t(key, value, \"timestamp\")"
        " SELECT 'key ' || i, 'the same value, many times, ' || (i %% 3), 1000 + i FROM c;"
        "SELECT produce('t', 0, 'last', 'one')",
        type);
    expect_sql(f->db, sql, "50");
    expect_sql(f->db, "SELECT replicate() > 0", "1");
}

/* What the files of each broker say of the batches, in one line; different lines
 * only.
 */
static void expect_batches(const struct fixture *f, const char *columns, const char *expected)
{
    char sql[SQL_SIZE];

    (void)snprintf(sql, sizeof sql,
                   "SELECT DISTINCT line FROM (SELECT dir, group_concat(%s, ' ') AS line"
                   " FROM (SELECT h.dir, b.* FROM hw_brokers h, kafka_batches(h.dir) b"
                   " ORDER BY h.dir, base_offset) GROUP BY dir)",
                   columns);
    expect_sql(f->db, sql, expected);
}

/* Kafka formats: 1.5. The leader compresses, and all brokers hold its bytes. */
TEST(every_codec_is_stored_replicated_and_read_back, struct fixture *f)
{
    static const char rows[] =
        "SELECT count(*), count(DISTINCT key), min(\"timestamp\"), max(\"offset\"),"
        " sum(value LIKE 'the same value, many times, _') FROM t;"
        "SELECT value FROM t WHERE \"offset\" = 17; SELECT count(*) FROM hw_log('t', 0, 3)";
    static const char seen[] = "51|51|0|50|50\nthe same value, many times, 0\n51";

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char expected[128];
        const char *codec = i + 1 == sizeof types / sizeof types[0] ? "none" : types[i];

        make_topic(f, types[i]);
        (void)snprintf(expected, sizeof expected, "%s %s", codec, codec);
        expect_batches(f, "codec", expected);
        expect_batches(f, "crc_ok || ':' || records", "1:50 1:1");
        expect_sql(f->db,
                   "SELECT count(*) FROM (SELECT DISTINCT crc, position, size_bytes"
                   " FROM hw_brokers h, kafka_batches(h.dir))",
                   "2");
        expect_sql(f->db, rows, seen);
        test_sql_close(f->db);
        f->db = test_sql_open(f->path);
        expect_sql(f->db, rows, seen);
        expect_sql(f->db, "DROP TABLE t", "");
    }
}

/* The row itself is checked when it is inserted; that its batch grew is seen at the commit. */
TEST(a_row_that_grows_over_the_limit_fails_the_statement, struct fixture *f)
{
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE t USING highwater(max.message.bytes=70,"
               " compression.type='gzip');"
               "CREATE VIRTUAL TABLE u USING highwater(max.message.bytes=70)",
               "");
    expect_sql(f->db, "INSERT INTO u(key) VALUES ('a')", "");
    expect_error(f->db, "SELECT produce('t', 0, 'a', NULL)", SQLITE_ERROR, "MESSAGE_TOO_LARGE");
    expect_error(f->db, "INSERT INTO t(key) VALUES ('a')", SQLITE_ERROR, "MESSAGE_TOO_LARGE");
    expect_sql(f->db, "SELECT count(*) FROM t", "0");
}

/* A setting holds for what is appended from then on. */
TEST(the_codec_may_change_at_any_time, struct fixture *f)
{
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);"
               "SELECT produce('t', 0, 'a', 'b');"
               "SELECT configure('compression.type', 'lz4', 't');"
               "SELECT produce('t', 0, 'a', 'b');"
               "SELECT configure('compression.type', 'zstd');" /* The topic's own wins. */
               "SELECT produce('t', 0, 'a', 'b');"
               "SELECT configure('compression.type', NULL, 't');"
               "SELECT produce('t', 0, 'a', 'b')",
               "0\nlz4\n1\nzstd\n2\nzstd\n3");
    expect_sql(f->db, "SELECT replicate() > 0", "1");
    expect_batches(f, "codec", "none lz4 lz4 zstd");
    expect_sql(f->db, "SELECT count(*) FROM t WHERE value = 'b'", "4");
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
