/* SPDX-License-Identifier: MIT */
/* INSERT waits for COMMIT: what a ROLLBACK drops, what a COMMIT that fails leaves, what is sent twice
 * (nothing), and where the rows wait. */
#include "tests/support_live.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/support_test.h"

static struct mock mock;
static sqlite3 *db;
static char path[40];

#define TABLES                                                                                     \
    "CREATE VIRTUAL TABLE one USING highwater_live(connection=mock);"                              \
    "CREATE VIRTUAL TABLE three USING highwater_live(connection=mock);"                            \
    "CREATE TABLE plain(x)"

static int open_all(void **state)
{
    int file;

    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/live-XXXXXX");
    file = mkstemp(path);
    assert_true(file >= 0);
    (void)close(file);
    mock_start(&mock, 1);
    mock_topic(&mock, "one", 1);
    mock_topic(&mock, "three", 3);
    db = live_open_alone(path);
    live_connect_mock(db, &mock, ", \"live.timeout.ms\":5000");
    expect_sql(db, TABLES, "");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    test_sql_close(db);
    mock_stop(&mock);
    (void)unlink(path);
    return 0;
}

TEST_ALONE(rows_are_sent_at_commit_in_their_order)
{
    expect_sql(db,
               "BEGIN; INSERT INTO one(value) VALUES ('a'), ('b'); SELECT count(*) FROM one;"
               "INSERT INTO three(\"partition\", value) VALUES (2, 'c');"
               "SELECT last_insert_rowid(); COMMIT;"
               "SELECT \"offset\", value FROM one; SELECT value FROM three;"
               "SELECT topic, \"partition\", records FROM live_last_commit ORDER BY topic",
               "0\n0\n0|a\n1|b\nc\none|0|2\nthree|2|1");
}

/* Case: L-42. A broker that has just started has no producer ids yet. A librdkafka left to itself asks twice
 * a second, 20 times before the time-out; this broker has an id at the 23rd request. */
TEST_ALONE(the_first_commit_of_a_connection_asks_for_its_id_without_pauses)
{
    sqlite3 *other = live_open_alone(":memory:");

    live_connect_mock(other, &mock, ", \"live.timeout.ms\":10000");
    expect_sql(other, "CREATE VIRTUAL TABLE one USING highwater_live(connection=mock)", "");
    for (int i = 0; i < 22; i++) {
        rd_kafka_mock_push_request_errors(mock.cluster, 22 /* InitProducerId */, 1,
                                          RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS);
    }
    expect_sql(other, "INSERT INTO one(value) VALUES (1)", "");
    test_sql_close(other);
}

TEST_ALONE(a_rollback_and_a_failed_statement_leave_nothing)
{
    expect_sql(db, "BEGIN; INSERT INTO one(value) VALUES ('a'); ROLLBACK; SELECT * FROM one", "");
    expect_error(db, "INSERT INTO one(\"timestamp\", value) VALUES (1, 'a'), (0, 'b')",
                 SQLITE_ERROR, "INVALID_TIMESTAMP");
    expect_sql(db,
               "SELECT * FROM one; INSERT INTO one(value) VALUES ('kept'); SELECT value FROM one",
               "kept");
}

/* A table that joins later does not move the mark of a savepoint that others know. */
TEST_ALONE(a_savepoint_goes_back_over_all_tables)
{
    expect_sql(db,
               "BEGIN; INSERT INTO one(value) VALUES ('a'); SAVEPOINT s;"
               "INSERT INTO one(value) VALUES ('dropped');"
               "INSERT INTO three(\"partition\", value) VALUES (0, 'dropped');"
               "ROLLBACK TO s; INSERT INTO one(value) VALUES ('b'); SAVEPOINT u;"
               "INSERT INTO one(value) VALUES ('c'); RELEASE u; RELEASE s; COMMIT;"
               "SELECT value FROM one; SELECT * FROM three",
               "a\nb\nc");
    expect_sql(db,
               "SAVEPOINT s; INSERT INTO one(value) VALUES ('dropped'); ROLLBACK TO s; RELEASE s;"
               "SELECT count(*) FROM one",
               "3");
}

/* Case: L-21 */
TEST_ALONE(a_commit_that_is_busy_does_not_send_twice)
{
    sqlite3 *reader = NULL;

    expect_sql(db, "INSERT INTO plain VALUES (0)", "");
    assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
    expect_sql(reader, "BEGIN; SELECT x FROM plain", "0");
    expect_sql(db, "BEGIN; INSERT INTO plain VALUES (1); INSERT INTO one(value) VALUES ('once')",
               "");
    expect_error(db, "COMMIT", SQLITE_BUSY, "database is locked");
    expect_error(db, "COMMIT", SQLITE_BUSY, "database is locked");
    expect_sql(db, "SELECT value FROM one; SELECT outcome FROM live_last_commit",
               "once\ncommitted");
    expect_sql(db, "INSERT INTO one(value) VALUES ('more')", "");
    expect_sql(reader, "COMMIT", "");
    expect_sql(db, "COMMIT; SELECT value FROM one; SELECT x FROM plain", "once\nmore\n0\n1");
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
}

/* Case: L-22 */
TEST_ALONE(a_rollback_after_a_busy_commit_says_what_stays)
{
    sqlite3 *reader = NULL;

    expect_sql(db, "INSERT INTO plain VALUES (0)", "");
    assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
    expect_sql(reader, "BEGIN; SELECT x FROM plain", "0");
    expect_sql(db, "BEGIN; INSERT INTO plain VALUES (1); INSERT INTO one(value) VALUES ('stays')",
               "");
    expect_error(db, "COMMIT", SQLITE_BUSY, "database is locked");
    expect_sql(db,
               "ROLLBACK; SELECT topic, first_offset, records, outcome FROM live_last_commit;"
               "SELECT value FROM one; SELECT x FROM plain",
               "one|0|1|rolled back\nstays\n0");
    expect_sql(reader, "COMMIT", "");
    assert_int_equal(sqlite3_close(reader), SQLITE_OK);
}

TEST_ALONE(a_transaction_writes_to_one_cluster)
{
    struct mock other;
    char sql[300];

    mock_start(&other, 1);
    mock_topic(&other, "one", 1);
    (void)snprintf(sql, sizeof sql,
                   "SELECT live_connect('other', '{\"bootstrap.servers\":\"%s\"}');"
                   "CREATE VIRTUAL TABLE far USING highwater_live(topic=one, connection=other);"
                   "BEGIN; INSERT INTO one(value) VALUES (1)",
                   rd_kafka_mock_cluster_bootstraps(other.cluster));
    expect_sql(db, sql, "other");
    expect_error(db, "INSERT INTO far(value) VALUES (2)", SQLITE_ERROR,
                 "INVALID_REQUEST: a transaction writes to one cluster: this one to \"mock\"");
    expect_error(db, "SELECT live_disconnect('mock')", SQLITE_ERROR,
                 "INVALID_REQUEST: connection \"mock\" is in use");
    expect_sql(db, "COMMIT; SELECT value FROM one; SELECT live_disconnect('other')", "1\nother");
    mock_stop(&other);
}

/* Case: L-49 */
TEST_ALONE(a_large_transaction_waits_in_a_file)
{
    const char *quick = getenv("HW_TEST_QUICK");
    sqlite3_int64 highest = 0;
    sqlite3_int64 current = 0;

    /* 36 MiB of rows (12 where time is short), of which SQLite's memory has but those that are yet to
     * go to the file. What the mock keeps is not SQLite's. */
    expect_sql(db, "SELECT 1", "1");
    (void)sqlite3_status64(SQLITE_STATUS_MEMORY_USED, &current, &highest, 1);
    expect_sql(
        db,
        quick != NULL
            ? "BEGIN; WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i"
              " < 19999) INSERT INTO one(value) SELECT printf('%0600d', i) FROM c"
            : "BEGIN; WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i"
              " < 59999) INSERT INTO one(value) SELECT printf('%0600d', i) FROM c",
        "");
    expect_sql(
        db,
        "SAVEPOINT s; INSERT INTO one(value) SELECT zeroblob(900000) FROM (SELECT 1 UNION ALL"
        " SELECT 2 UNION ALL SELECT 3); ROLLBACK TO s;"
        "INSERT INTO one(value) VALUES ('last'); COMMIT",
        "");
    (void)sqlite3_status64(SQLITE_STATUS_MEMORY_USED, &current, &highest, 0);
    assert_true(highest < 24 << 20);
    expect_sql(db, "SELECT records FROM live_last_commit", quick != NULL ? "20001" : "60001");
    /* The mock keeps the last 5 MiB of a partition. */
    expect_sql(db, "SELECT sum(value + 0 <> \"offset\"), max(value), count(*) > 5000 FROM one",
               "1|last|1");
}

TEST_ALONE(a_temporary_file_that_cannot_grow_is_an_error_of_the_row)
{
    struct rlimit limit;
    struct rlimit small;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 1 << 20;
    (void)signal(SIGXFSZ, SIG_IGN);
    expect_sql(db, "BEGIN", "");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    expect_error(db,
                 "WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i < 99)"
                 " INSERT INTO one(value) SELECT zeroblob(200000) FROM c",
                 SQLITE_ERROR, "KAFKA_STORAGE_ERROR: writing the temporary file of a transaction");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_sql(db, "INSERT INTO one(value) VALUES ('small'); COMMIT; SELECT value FROM one",
               "small");
}

int main(void)
{
    return test_run(open_all, close_all);
}
