/* SPDX-License-Identifier: MIT */
/*
 * Of the allocations that SQLite makes for the second library's statements one in 23 fails once,
 * and of those that loading it takes each: nothing crashes, nothing leaks, what failed says so, and
 * the next one works.
 */
#include "tests/support_live.h"
#include "tests/support_sql_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

static struct mock mock;

static const char *const statements[] = {
    "SELECT live_connect('other', '{\"bootstrap.servers\":\"127.0.0.1:1\",\"acks\":\"all\"}')",
    "SELECT live_allow('127.0.0.1:2')",
    "SELECT live_disconnect('other')",
    "CREATE VIRTUAL TABLE t USING highwater_live(topic=one, connection=mock, "
    "isolation=read_committed,"
    " 'key.type'=\"blob\")",
    "BEGIN",
    "INSERT INTO t(\"partition\", key, value, headers) VALUES (0, 'k', 'v', '{\"a\":\"b\"}'), (1, "
    "NULL,"
    " zeroblob(3000), NULL)",
    "SAVEPOINT s",
    "INSERT INTO t(value) VALUES ('dropped')",
    "ROLLBACK TO s",
    "COMMIT",
    ("SELECT *, leader_epoch, isolation FROM t WHERE \"offset\" >= 0 AND \"partition\" IN (0, 1)"
     " ORDER BY \"partition\" DESC, \"offset\" DESC LIMIT 3"),
    "SELECT * FROM t WHERE \"timestamp\" >= 0 LIMIT 2",
    "SELECT * FROM live_brokers('mock'), live_topics('mock') WHERE topic = 'one'",
    "SELECT * FROM live_partitions('mock') WHERE topic = 'one'",
    "SELECT * FROM live_last_commit",
    "SELECT * FROM live_topics('nobody')",
    "DROP TABLE t",
};

static void clean_up(sqlite3 *db)
{
    if (sqlite3_get_autocommit(db) == 0) {
        (void)test_sql_run(db, "ROLLBACK");
    }
    (void)test_sql_run(db, "DROP TABLE IF EXISTS t");
    (void)test_sql_run(db, "SELECT live_disconnect('other')");
    (void)test_sql_run(db, "SELECT live_disconnect('127.0.0.1:2')");
}

static int open_and_load(void)
{
    sqlite3 *db = NULL;
    int code = sqlite3_open(":memory:", &db);

    if (code == SQLITE_OK) {
        code = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_load_extension(db, HW_TEST_LIVE, NULL, NULL);
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return code;
}

TEST_ALONE(loading_survives_every_failed_allocation)
{
    /* It holds the library: valgrind takes its time and memory for each one that comes. */
    sqlite3 *holder = live_open_alone(":memory:");
    int step = getenv("HW_TEST_QUICK") != NULL ? 29 : 1;
    sqlite3_int64 used;
    int rounds = 0;
    int failures = 0;
    int code;

    assert_int_equal(open_and_load(), SQLITE_OK);
    used = sqlite3_memory_used();
    test_sql_fail_at = 0;
    do {
        test_sql_allocations = 0;
        code = open_and_load();
        rounds++;
        failures += code != SQLITE_OK;
        if (sqlite3_memory_used() != used) {
            fail_msg("%lld bytes leak where allocation %d fails",
                     (long long)(sqlite3_memory_used() - used), test_sql_fail_at);
        }
        test_sql_fail_at += step;
    } while (test_sql_allocations > test_sql_fail_at - step);
    test_sql_fail_at = -1;
    print_message("%d allocations, %d of %d that failed made loading fail\n", test_sql_allocations,
                  failures, rounds - 1);
    assert_int_equal(code, SQLITE_OK); /* Of the last round, in which nothing failed. */
    assert_true(test_sql_allocations > 100);
    assert_true(failures > rounds / 2);
    test_sql_close(holder);
}

TEST_ALONE(every_allocation_may_fail)
{
    sqlite3 *db = live_open_alone(":memory:");
    int stride = getenv("HW_TEST_QUICK") != NULL ? 101 : 23;
    int failures = 0;

    live_connect_mock(db, &mock, ", \"linger.ms\":0, \"fetch.wait.max.ms\":2");
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        int code = test_sql_run(db, statements[i]);

        /* The one that is refused at any time. */
        if (code != (strstr(statements[i], "nobody") == NULL ? SQLITE_DONE : SQLITE_ERROR)) {
            fail_msg("%s: %s", statements[i], sqlite3_errmsg(db));
        }
    }
    for (int next = 0, was_met = 1; was_met; next += stride) {
        bool out_of_memory = false;

        clean_up(db);
        test_sql_allocations = 0;
        test_sql_fail_at = next;
        for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
            out_of_memory |= (test_sql_run(db, statements[i]) & 0xff) == SQLITE_NOMEM;
        }
        was_met = test_sql_allocations > next;
        test_sql_fail_at = -1;
        failures += out_of_memory;
    }
    clean_up(db);
    print_message("%d statements ran out of memory\n", failures);
    assert_true(failures > 10);
    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater_live(topic=one, connection=mock);"
               "INSERT INTO t(\"partition\", value) VALUES (1, 'last');"
               "SELECT value FROM t WHERE \"partition\" = 1 ORDER BY \"offset\" DESC LIMIT 1",
               "last");
    test_sql_close(db);
}

static int start(void **state)
{
    (void)state;
    test_sql_memory_install();
    mock_start(&mock, 1);
    mock_topic(&mock, "one", 2);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    mock_stop(&mock);
    return 0;
}

int main(void)
{
    return test_run_together(start, stop);
}
