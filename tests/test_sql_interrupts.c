/* SPDX-License-Identifier: MIT */
/* Does a call that takes long stop soon when it is asked to, with what it has done so far done? */
#include "tests/support_sql_file.h"

#include <stdlib.h>

#include "tests/support_test.h"

/* A progress handler that stops everything once it has been called so often. */
static int stop_after(void *context)
{
    int *left = context;

    return (*left)-- <= 0;
}

/* Run one statement until a handler stops it. */
static void expect_interrupted(sqlite3 *db, const char *sql, int calls)
{
    int left = calls;

    sqlite3_progress_handler(db, 50, stop_after, &left);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_INTERRUPT);
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

/* Case: F-24 */
TEST_ALONE(replicate_stops_between_two_rounds_and_can_go_on)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);"
               "SELECT configure('replica.fetch.max.bytes', 1);"
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
               " SELECT count(produce('t', 0, NULL, i, 1)) FROM n",
               "1\n2000");
    expect_interrupted(db, "SELECT replicate('t')", 5);
    assert_string_equal(sqlite3_errmsg(db), "interrupted: what was done so far is done");
    expect_sql(db, "SELECT leo > 0 AND leo < 2000 FROM hw_replicas WHERE broker = 2", "1");
    expect_sql(db, "SELECT replicate('t') > 0", "1");
    expect_sql(db, "SELECT leo FROM hw_replicas WHERE broker = 2; SELECT count(*) FROM t",
               "2000\n2000");
    test_sql_close(db);
}

/* Case: F-68 */
TEST_ALONE(a_topic_is_made_whole_or_not_at_all)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_interrupted(db, "SELECT create_topic('many', 20000, 1)", 20);
    assert_string_equal(sqlite3_errmsg(db), "interrupted: topic many was not created");
    expect_interrupted(
        db, "CREATE VIRTUAL TABLE many USING highwater(partitions=20000, replication.factor=1)",
        20);
    assert_string_equal(sqlite3_errmsg(db), "interrupted: topic many was not created");
    expect_sql(db,
               "SELECT count(*) FROM hw_topics; SELECT count(*) FROM sqlite_schema;"
               "SELECT count(*) FROM hw_replicas",
               "0\n0\n0");
    expect_sql(db, "SELECT create_topic('many', 20, 1) IS NOT NULL", "1");
    test_sql_close(db);
}

/* Case: F-68 */
TEST_ALONE(a_tick_stands_where_it_was_stopped)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);"
               "SELECT configure('replication', 'timed')",
               "timed");
    expect_interrupted(db, "SELECT tick(100000000000)", 200);
    expect_sql(db, "SELECT max(time_ms) BETWEEN 1 AND 99999999999 FROM hw_journal", "1");
    expect_sql(db, "INSERT INTO t(value) VALUES ('a'); SELECT tick(1000) > 1000", "1");
    expect_sql(db, "SELECT value FROM t", "a");
    test_sql_close(db);
}

/* Its bound of time is far away: without an interrupt each of them takes minutes. */
TEST_ALONE(an_exploration_stops)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_interrupted(db, "SELECT * FROM hw_explore('{\"new\":3,\"seconds\":600}')", 20);
    expect_interrupted(db,
                       "SELECT * FROM hw_explore('{\"new\":3,\"seconds\":600,\"mode\":\"walk\","
                       "\"promises\":[\"log_matching\"]}')",
                       20);
    test_sql_close(db);
}

/* Hundreds of partitions of a record each, all on broker 1. */
static int set_up_many(void **state)
{
    return test_sql_file_set_up(
        state, false,
        "SELECT create_topic('many', '[[1]' || replace(hex(zeroblob(399)), '00', ',[1]') || ']')"
        " IS NOT NULL;"
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399)"
        " SELECT count(produce('many', i, NULL, 'v')) FROM n",
        "1\n400");
}

/* Case: F-24 */
TEST(calls_about_many_logs_stop_and_can_be_made_again, struct fixture *f)
{
    sqlite3 *db = f->db;

    expect_interrupted(db, "SELECT flush()", 0);
    expect_interrupted(db, "SELECT roll('many')", 0);
    expect_sql(db, "SELECT count(*) BETWEEN 401 AND 799 FROM hw_segments", "1");
    expect_interrupted(db, "SELECT retention()", 0);
    expect_interrupted(db, "SELECT shutdown_broker(1)", 0);
    expect_sql(db, "SELECT state FROM hw_brokers WHERE broker = 1", "running");
    expect_sql(db, "SELECT elect(), crash(1)", "400|crashed"); /* It had handed over. */
    expect_interrupted(db, "SELECT restart(1)", 0);
    assert_string_equal(sqlite3_errmsg(db), "interrupted: broker 1 did not start");
    expect_sql(db, "SELECT state FROM hw_brokers WHERE broker = 1", "crashed");
    expect_sql(db, "SELECT restart(1)", "running");
    expect_sql(db, "SELECT count(*), sum(leo) FROM hw_replicas WHERE role = 'leader'", "400|400");
}

/* The record goes first: what is left are files that nobody knows. Case: F-24 */
TEST(a_topic_that_is_being_deleted_is_gone, struct fixture *f)
{
    expect_interrupted(f->db, "SELECT delete_topic('many')", 0);
    assert_string_equal(sqlite3_errmsg(f->db),
                        "interrupted: topic many is deleted, directories of it are left, which"
                        " create_topic() of that name clears away");
    expect_sql(f->db, "SELECT count(*) FROM hw_topics", "0");
    expect_sql(f->db, "SELECT create_topic('many', 400, 1) IS NOT NULL", "1");
    expect_sql(f->db, "SELECT count(*), sum(leo), sum(log_start) FROM hw_replicas", "400|0|0");
    expect_sql(f->db, "SELECT delete_topic('many')", "1");
}

/* Case: F-24. A function is called within a statement, a table's cluster is opened before one runs. */
TEST(a_cluster_that_is_being_opened_stops, struct fixture *f)
{
    char *copy = sqlite3_mprintf(
        "SELECT open_cluster(':memory:', '{\"copy_of\":\"%s-highwater\"}')", f->path);

    expect_sql(f->db, "CREATE VIRTUAL TABLE t USING highwater(partitions=1)", "");
    test_sql_close(f->db);
    f->db = test_sql_open(f->path);
    expect_interrupted(f->db, "SELECT elect()", 0);
    expect_interrupted(f->db, "SELECT count(*) FROM t", 0);
    assert_string_equal(sqlite3_errmsg(f->db), "interrupted: broker 1 did not start");
    expect_sql(f->db, "SELECT count(*) > 400, sum(leo) FROM hw_replicas", "1|400");
    expect_interrupted(f->db, copy, 0);
    expect_sql(f->db, "SELECT sum(leo) FROM hw_replicas", "400");
    sqlite3_free(copy);
}

/* Case: F-68 */
TEST_ALONE(rows_of_many_replicas_stop)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, "SELECT create_topic('many', 10000, 3) IS NOT NULL", "1");
    expect_interrupted(db, "SELECT * FROM hw_replicas LIMIT 1", 2);
    assert_string_equal(sqlite3_errmsg(db), "interrupted");
    expect_interrupted(db, "SELECT * FROM hw_metrics LIMIT 1", 5);
    expect_sql(db, "SELECT count(*) FROM hw_replicas", "30000");
    test_sql_close(db);
}

int main(void)
{
    return test_run(set_up_many, test_sql_file_tear_down);
}
