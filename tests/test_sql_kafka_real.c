/* SPDX-License-Identifier: MIT */
/*
 * Do the kafka_* tables say of files that a real Kafka broker wrote what its own consumer and tool
 * said of them? tests/data/kafka/README.md tells how the files were made.
 */
#include "tests/support_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

#define DATA "tests/data/kafka/"

/* The whole file with a NUL behind it; the caller frees it. */
static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size;
    char *bytes;

    if (file == NULL) {
        fail_msg("cannot open %s; tests run in the root of the repository", path);
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size = ftell(file);
    assert_true(size >= 0);
    rewind(file);
    bytes = malloc((size_t)size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), (size_t)size);
    bytes[size] = '\0';
    (void)fclose(file);
    return bytes;
}

/* Insert every line of a file into the table, as one column. */
static void load_lines(sqlite3 *db, const char *insert, const char *path)
{
    char *bytes = read_file(path);
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_prepare_v2(db, insert, -1, &statement, NULL), SQLITE_OK);
    for (char *line = bytes; *line != '\0';) {
        size_t length = strcspn(line, "\n");

        assert_int_equal(sqlite3_bind_text(statement, 1, line, (int)length, SQLITE_STATIC),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
        assert_int_equal(sqlite3_reset(statement), SQLITE_OK);
        line += length + (line[length] == '\n');
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    free(bytes);
}

/* A database that knows where the broker's log directory is and what its consumer said of ends. */
static sqlite3 *open_broker(const char *name)
{
    sqlite3 *db = test_sql_open(":memory:");
    char text[256];

    (void)snprintf(text, sizeof text,
                   "CREATE TEMP TABLE source AS SELECT '" DATA "%s/logs' AS path", name);
    expect_sql(db, text, "");
    expect_sql(db,
               "CREATE TEMP TABLE bounds_line(line);"
               "CREATE TEMP VIEW bounds AS SELECT j ->> 0 AS topic, j ->> 1 AS \"partition\","
               " j ->> 2 AS kind, j ->> 3 + 0 AS first, j ->> 4 AS last FROM (SELECT"
               " '[\"' || replace(line, '|', '\",\"') || '\"]' AS j FROM bounds_line)",
               "");
    (void)snprintf(text, sizeof text, DATA "%s/offsets", name);
    load_lines(db, "INSERT INTO bounds_line VALUES (?1)", text);
    return db;
}

/* What the SELECT in tests/data/kafka/QUERY.sql gives is, as a set, what the file says. */
static void expect_lines(sqlite3 *db, const char *name, const char *query, int at_least)
{
    char path[256];
    char *select;
    char *sql;

    (void)snprintf(path, sizeof path, DATA "%s.sql", query);
    select = read_file(path);
    sql = sqlite3_mprintf("CREATE TEMP TABLE given AS %s", select);
    free(select);
    assert_non_null(sql);
    expect_sql(db, sql, "");
    sqlite3_free(sql);

    expect_sql(db, "CREATE TEMP TABLE said(line)", "");
    (void)snprintf(path, sizeof path, DATA "%s/%s", name, query);
    load_lines(db, "INSERT INTO said VALUES (?1)", path);

    (void)snprintf(path, sizeof path, "SELECT count(*) >= %d FROM said", at_least);
    expect_sql(db, path, "1");
    expect_sql(db, "SELECT 'missing', line FROM said EXCEPT SELECT 'missing', line FROM given", "");
    expect_sql(db, "SELECT 'unknown', line FROM given EXCEPT SELECT 'unknown', line FROM said", "");
    expect_same_sql(db, "SELECT count(*) FROM given", "SELECT count(*) FROM said");
    expect_sql(db, "DROP TABLE given; DROP TABLE said", "");
}

/* Both were made by the same story; a killed broker leaves index files with a tail of zeros. */
static const char *const brokers[] = {"stopped", "killed"};

static void expect_lines_of_both(const char *query, int at_least)
{
    for (size_t i = 0; i < sizeof brokers / sizeof brokers[0]; i++) {
        sqlite3 *db = open_broker(brokers[i]);

        expect_lines(db, brokers[i], query, at_least);
        test_sql_close(db);
    }
}

TEST_ALONE(every_record_that_a_consumer_got_is_read)
{
    expect_lines_of_both("records", 800);
}

TEST_ALONE(what_read_committed_leaves_out_follows_from_the_log)
{
    expect_lines_of_both("uncommitted", 100);
}

TEST_ALONE(records_and_markers_have_what_the_dump_tool_says)
{
    expect_lines_of_both("log", 900);
}

TEST_ALONE(batches_have_what_the_dump_tool_says)
{
    expect_lines_of_both("batches", 200);
}

TEST_ALONE(index_entries_aborts_and_producers_are_those_of_the_dump_tool)
{
    expect_lines_of_both("indexes", 200);
}

TEST_ALONE(partitions_begin_and_end_where_the_broker_told_its_consumer)
{
    expect_lines_of_both("ends", 10);
}

/* The keys of 60 records, by the partitioner of a Kafka client. */
TEST_ALONE(keys_go_to_the_partitions_that_a_kafka_client_chose)
{
    sqlite3 *db = open_broker("stopped");

    expect_sql(db,
               "CREATE VIRTUAL TABLE keyed USING highwater(partitions=4, replication.factor=1);"
               "INSERT INTO keyed(key, value) SELECT l.key, l.value"
               "  FROM source AS s, kafka_log(s.path) AS l WHERE l.topic = 'keyed';"
               "SELECT count(*), count(DISTINCT key), count(DISTINCT \"partition\") FROM keyed",
               "60|60|4");
    expect_sql(db,
               "SELECT k.key FROM source AS s, kafka_log(s.path) AS l JOIN keyed AS k USING (key)"
               " WHERE l.topic = 'keyed' AND k.\"partition\" <> l.\"partition\"",
               "");
    test_sql_close(db);
}

int main(void)
{
    return test_run(NULL, NULL);
}
