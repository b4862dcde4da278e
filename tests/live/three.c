/* SPDX-License-Identifier: MIT */
/* Three real nodes, of which leaders are killed: in the middle of a scan, in the middle of a COMMIT, and
 * beside a model of them. */
#include "tests/live/nodes.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support_test.h"

static sqlite3 *db;
static int victim; /* The node that was killed; 0: none. */

static int open_all(void **state)
{
    (void)state;
    db = nodes_open(":memory:", ", \"live.timeout.ms\":40000");
    expect_sql(db,
               "CREATE VIEW series(i) AS WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL"
               " SELECT i + 1 FROM c WHERE i < 999999) SELECT i FROM c",
               "");
    return 0;
}

/* The node that was killed comes back, and is in sync again. */
static int close_all(void **state)
{
    (void)state;
    test_sql_close(db);
    if (victim != 0) {
        node_start(victim);
        victim = 0;
    }
    nodes_await(3);
    db = nodes_open(":memory:", "");
    for (int i = 0; i < 600; i++) {
        if (strcmp(test_sql(db, "SELECT count(*) FROM live_partitions('k')"
                                " WHERE json_array_length(isr) < json_array_length(replicas)"),
                   "0") == 0) {
            break;
        }
        sqlite3_sleep(100);
    }
    test_sql_close(db);
    return 0;
}

static void make(const char *name)
{
    char sql[500];

    (void)snprintf(
        sql, sizeof sql,
        "SELECT live_create_topic('k', '%s', 1, 3, '{\"min.insync.replicas\":2}') = '%s';"
        "CREATE VIRTUAL TABLE %s USING highwater_live(connection=k)",
        name, name, name);
    expect_sql(db, sql, "1");
}

static int leader_of(const char *topic)
{
    char sql[200];

    (void)snprintf(sql, sizeof sql, "SELECT leader FROM live_partitions('k') WHERE topic = '%s'",
                   topic);
    return atoi(test_sql(db, sql));
}

static void kill_leader(const char *topic)
{
    victim = leader_of(topic);
    assert_in_range(victim, 1, 3);
    node_signal(victim, SIGKILL);
}

/* Case: L-33 */
TEST_ALONE(a_scan_outlives_its_leader)
{
    sqlite3_stmt *scan = NULL;
    long long rows = 0;
    int code;

    make("scanned");
    expect_sql(db,
               "INSERT INTO scanned(value) SELECT printf('%0500d', i) FROM series WHERE i < 60000",
               "");
    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT \"offset\", value + 0 FROM scanned", -1, &scan, NULL),
        SQLITE_OK);
    while ((code = sqlite3_step(scan)) == SQLITE_ROW) {
        assert_true(sqlite3_column_int64(scan, 0) == rows && sqlite3_column_int64(scan, 1) == rows);
        rows++;
        if (rows == 1000) {
            kill_leader("scanned");
        }
    }
    print_message("%s\n", sqlite3_errmsg(db));
    assert_int_equal(code, SQLITE_DONE);
    assert_int_equal(sqlite3_finalize(scan), SQLITE_OK);
    assert_true(rows == 60000);
    assert_int_not_equal(leader_of("scanned"), victim);
}

static void *kill_soon(void *argument)
{
    (void)usleep(150000);
    node_signal(*(int *)argument, SIGKILL);
    return NULL;
}

static void commit_while_the_leader_dies(const char *topic, const char *more, const char *isolation)
{
    sqlite3 *other = nodes_open(":memory:", more);
    pthread_t thread;
    char sql[500];

    make(topic);
    (void)snprintf(
        sql, sizeof sql,
        "CREATE VIRTUAL TABLE %s USING highwater_live(connection=k);"
        "INSERT INTO %s(value) VALUES ('first'); BEGIN;"
        "WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i < 199999)"
        " INSERT INTO %s(value) SELECT printf('%%0100d', i) FROM c",
        topic, topic, topic);
    expect_sql(other, sql, "");
    victim = leader_of(topic);
    assert_int_equal(pthread_create(&thread, NULL, kill_soon, &victim), 0);
    expect_sql(other, "COMMIT; SELECT sum(records), max(outcome) FROM live_last_commit",
               "200000|committed");
    (void)pthread_join(thread, NULL);
    /* Each once, and in their order. */
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*), count(DISTINCT value), sum(value + 0 <> n) FROM (SELECT value,"
                   " row_number() OVER () - 2 AS n FROM %s WHERE isolation = '%s') WHERE n >= 0",
                   topic, isolation);
    expect_sql(other, sql, "200000|200000|0");
    test_sql_close(other);
}

TEST_ALONE(a_commit_outlives_its_leader)
{
    commit_while_the_leader_dies("committed", ", \"live.timeout.ms\":40000", "read_uncommitted");
}

TEST_ALONE(a_commit_in_a_transaction_outlives_its_leader)
{
    commit_while_the_leader_dies("transacted",
                                 ", \"live.timeout.ms\":40000, \"transactional.id\":\"three\"",
                                 "read_committed");
}

/* Case: L-16 */
TEST_ALONE(too_few_replicas_are_an_error_that_counts)
{
    expect_sql(db,
               "SELECT live_create_topic('k', 'strict', 1, 3, '{\"min.insync.replicas\":3}');"
               "CREATE VIRTUAL TABLE strict USING highwater_live(connection=hasty);",
               "strict");
    nodes_connect(db, "hasty", ", \"live.timeout.ms\":6000");
    expect_sql(db, "INSERT INTO strict(value) VALUES ('kept')", "");
    /* A follower, so that the leader is there and refuses. */
    victim = leader_of("strict") % 3 + 1;
    node_signal(victim, SIGKILL);
    for (int i = 0; i < 300; i++) {
        if (strcmp(test_sql(db, "SELECT json_array_length(isr) FROM live_partitions('k')"
                                " WHERE topic = 'strict'"),
                   "2") == 0) {
            break;
        }
        sqlite3_sleep(100);
    }
    expect_error(db, "INSERT INTO strict(value) VALUES ('a'), ('b')", SQLITE_ERROR, "");
    print_message("%s\n", sqlite3_errmsg(db));
    assert_non_null(strstr(sqlite3_errmsg(db), "0 of 2 rows are in the log"));
    expect_sql(db, "SELECT value FROM strict", "kept");
}

/* What the head of sql/live/side_by_side.sql asks for. */
static void write_parameters(const char *directory)
{
    char path[600];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/parameters.sql", directory);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file,
                  ".param set :servers \"'%s'\"\n"
                  ".param set :kill \"'set %d %d %d; kill -9 $%%d'\"\n"
                  ".param set :logs \"'%s/logs-%%d'\"\n",
                  nodes_bootstrap(), node_process(1), node_process(2), node_process(3), directory);
    assert_int_equal(fclose(file), 0);
}

/* A script as a user plays it: a model and the real thing, both of which lose their leader, say the
 * same. */
TEST_ALONE(a_model_and_the_real_cluster_agree)
{
    const char *directory = getenv("HW_LIVE_DIR");
    char command[2000];
    int different;

    write_parameters(directory);
    (void)snprintf(command, sizeof command,
                   "here=$PWD; cd '%s' && ln -sf \"$here/%s\" highwater.so &&"
                   " ln -sf \"$here/%s\" highwater_live.so &&"
                   " cat parameters.sql \"$here/sql/live/side_by_side.sql\" |"
                   " sqlite3 -batch -init /dev/null :memory: 2>&1 |"
                   " diff -u \"$here/sql/live/side_by_side.out\" -",
                   directory, HW_TEST_EXTENSION, HW_TEST_LIVE);
    different = system(command);
    victim = node_reap();
    assert_int_equal(different, 0);
    assert_in_range(victim, 1, 3);
}

static int start(void **state)
{
    (void)state;
    nodes_start(3);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    nodes_stop();
    return 0;
}

int main(void)
{
    cmocka_set_test_filter(getenv("HW_LIVE_TEST"));
    test_each(open_all, close_all);
    return test_run_together(start, stop);
}
