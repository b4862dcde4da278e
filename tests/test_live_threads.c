/* SPDX-License-Identifier: MIT */
/* Threads, each with a database connection of its own, load the library, read and write at the same time.
 * Not under ThreadSanitizer, which does not know the threads that librdkafka makes. */
#include "tests/support_live.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

enum { THREADS = 4, ROUNDS = 5 };

static struct mock mock;

/* Not through cmocka, which knows one thread only. Returns NULL, or what went wrong. */
static void *work(void *argument)
{
    static const char *const failed = "a statement failed";
    sqlite3 *db = NULL;
    char sql[600];
    int number = *(const int *)argument;
    int code = sqlite3_open(":memory:", &db);

    (void)sqlite3_enable_load_extension(db, 1);
    code = code == SQLITE_OK ? sqlite3_load_extension(db, HW_TEST_LIVE, NULL, NULL) : code;
    (void)snprintf(sql, sizeof sql,
                   "SELECT live_connect('k', '{\"bootstrap.servers\":\"%s\"}');"
                   "CREATE VIRTUAL TABLE t USING highwater_live(topic=shared, connection=k)",
                   rd_kafka_mock_cluster_bootstraps(mock.cluster));
    code = code == SQLITE_OK ? sqlite3_exec(db, sql, NULL, NULL, NULL) : code;
    for (int i = 0; code == SQLITE_OK && i < ROUNDS; i++) {
        (void)snprintf(
            sql, sizeof sql,
            "INSERT INTO t(\"partition\", value) VALUES (%d, 'a'), (%d, 'b');"
            "SELECT count(*) FROM t; SELECT * FROM live_partitions('k');"
            "SELECT value FROM t WHERE \"partition\" = %d ORDER BY \"offset\" DESC LIMIT 1",
            number, number, number);
        code = sqlite3_exec(db, sql, NULL, NULL, NULL);
    }
    if (code != SQLITE_OK) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    }
    code = sqlite3_close(db) == SQLITE_OK ? code : SQLITE_ERROR;
    return code == SQLITE_OK ? NULL : (void *)(uintptr_t)failed;
}

TEST_ALONE(connections_of_threads_do_not_meet)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    sqlite3 *db;

    mock_start(&mock, 1);
    mock_topic(&mock, "shared", THREADS);
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;

        (void)pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    db = live_open_alone(":memory:");
    live_connect_mock(db, &mock, "");
    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater_live(topic=shared, connection=mock);"
               "SELECT count(*), count(DISTINCT \"partition\") FROM t",
               "40|4");
    test_sql_close(db);
    mock_stop(&mock);
}

int main(void)
{
    return test_run(NULL, NULL);
}
