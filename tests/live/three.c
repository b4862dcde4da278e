/* SPDX-License-Identifier: MIT */
/* Three real nodes, of which leaders are killed: in the middle of a scan, in the middle of a COMMIT, and
 * beside a model of them. */
#include "tests/live/nodes.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

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
static void a_scan_outlives_its_leader(void **state)
{
    sqlite3_stmt *scan = NULL;
    long long rows = 0;
    int code;

    (void)state;
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

static void a_commit_outlives_its_leader(void **state)
{
    (void)state;
    commit_while_the_leader_dies("committed", ", \"live.timeout.ms\":40000", "read_uncommitted");
}

static void a_commit_in_a_transaction_outlives_its_leader(void **state)
{
    (void)state;
    commit_while_the_leader_dies("transacted",
                                 ", \"live.timeout.ms\":40000, \"transactional.id\":\"three\"",
                                 "read_committed");
}

/* Case: L-16 */
static void too_few_replicas_are_an_error_that_counts(void **state)
{
    (void)state;
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

/* One script for a model and for the real thing: what is acknowledged, what survives, who leads. */
static void a_model_and_the_real_cluster_agree(void **state)
{
    char sql[900];

    (void)state;
    make("side");
    expect_sql(
        db,
        "CREATE VIRTUAL TABLE model USING highwater(replication.factor=3,"
        " min.insync.replicas=2);"
        "SELECT configure('replication', 'auto');"
        "INSERT INTO model(key, value) SELECT 'k' || i, i FROM series WHERE i < 100;"
        "INSERT INTO side(key, value) SELECT key, value FROM model;"
        "SELECT m.hw = l.high, m.leo = l.high FROM hw_replicas m, live_partitions('k') l"
        " WHERE m.topic = 'model' AND m.role = 'leader' AND l.topic = 'side';"
        "SELECT count(*), sum(m.value = l.value) FROM model m JOIN side l USING (\"offset\")",
        "auto\n1|1\n100|100");
    kill_leader("side");
    expect_sql(
        db,
        "SELECT crash(1); SELECT promote('model', 0, 2) > 0;"
        "INSERT INTO model(key, value) SELECT 'k' || i, i FROM series WHERE i BETWEEN 100 AND"
        " 149;"
        "INSERT INTO side(key, value) SELECT key, value FROM model WHERE \"offset\" >= 100;"
        "SELECT json_array_length(m.isr), json_array_length(l.isr), m.hw = l.high"
        " FROM hw_partitions m, live_partitions('k') l"
        " WHERE m.topic = 'model' AND l.topic = 'side';"
        "SELECT count(*), sum(m.key = l.key AND m.value = l.value)"
        " FROM model m JOIN side l USING (\"offset\"); SELECT count(*) FROM side",
        "crashed\n1\n2|2|1\n150|150\n150");
    /* A broker's directory beside what its clients see: the epochs are in its log. */
    (void)snprintf(sql, sizeof sql,
                   "SELECT count(*), sum(f.value = l.value), count(DISTINCT f.leader_epoch)"
                   " FROM kafka_log('%s/side-0') f JOIN side l USING (\"offset\");"
                   "SELECT count(DISTINCT leader_epoch) FROM model",
                   node_logs(leader_of("side")));
    expect_sql(db, sql, "150|150|2\n2");
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
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
        TEST(a_scan_outlives_its_leader),
        TEST(a_commit_outlives_its_leader),
        TEST(a_commit_in_a_transaction_outlives_its_leader),
        TEST(too_few_replicas_are_an_error_that_counts),
        TEST(a_model_and_the_real_cluster_agree),
#undef TEST
    };

    cmocka_set_test_filter(getenv("HW_LIVE_TEST"));
    return cmocka_run_group_tests_name("live_three", tests, start, stop);
}
