/* SPDX-License-Identifier: MIT */
/*
 * Threads with a connection each share the cluster of one database file: do whole calls interleave,
 * and nothing else?
 */
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

enum { THREADS = 4, TRANSACTIONS = 25, ROWS = 20 };

struct worker {
    const char *path;
    int number;
    bool failed;
    char message[200];
};

/* test_sql() is for one thread. */
static bool run(struct worker *worker, sqlite3 *db, const char *sql)
{
    char *message = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) {
        worker->failed = true;
        (void)snprintf(worker->message, sizeof worker->message, "%s: %s", sql, message);
        sqlite3_free(message);
    }
    return !worker->failed;
}

/* Each writes to a partition of its own in transactions, and lets everybody's followers fetch. A
 * temporary table takes no lock on the database file. */
static void *write_rows(void *argument)
{
    struct worker *worker = argument;
    sqlite3 *db = test_sql_open(worker->path);
    char sql[200];

    (void)snprintf(sql, sizeof sql,
                   "CREATE VIRTUAL TABLE temp.mine USING highwater(topic=t, partition=%d)",
                   worker->number);
    (void)run(worker, db, sql);
    for (int i = 0; i < TRANSACTIONS && !worker->failed; i++) {
        (void)snprintf(sql, sizeof sql,
                       "BEGIN; WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c"
                       " WHERE i < %d) INSERT INTO mine(key, value) SELECT i, 'row' FROM c; %s;"
                       " SELECT fetch_round()",
                       ROWS, i % 5 == 4 ? "ROLLBACK" : "COMMIT");
        (void)run(worker, db, sql);
    }
    if (sqlite3_close(db) != SQLITE_OK) {
        worker->failed = true;
    }
    return NULL;
}

static void *read_rows(void *argument)
{
    struct worker *worker = argument;

    for (int i = 0; i < TRANSACTIONS && !worker->failed; i++) {
        /* Opening and closing too: the list of clusters is shared. */
        sqlite3 *db = test_sql_open(worker->path);
        (void)run(worker, db,
                  "CREATE VIRTUAL TABLE temp.all_of_it USING highwater(topic=t);"
                  "SELECT count(*), max(value) FROM all_of_it; SELECT * FROM hw_replicas;"
                  "SELECT count(*) FROM hw_log('t', 1, 2); SELECT tick(1)");
        if (sqlite3_close(db) != SQLITE_OK) {
            worker->failed = true;
        }
    }
    return NULL;
}

TEST_ALONE(threads_share_a_cluster)
{
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 16];
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    char sql[200];
    char expected[100];
    sqlite3 *db;

    test_directory_make(directory);
    (void)snprintf(path, sizeof path, "%s/exp.db", directory);
    db = test_sql_open(path);
    (void)snprintf(sql, sizeof sql,
                   "SELECT create_topic('t', %d, 2) IS NOT NULL;"
                   "CREATE VIRTUAL TABLE t USING highwater(topic=t)",
                   THREADS - 1);
    expect_sql(db, sql, "1");
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.path = path, .number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, i < THREADS - 1 ? write_rows : read_rows,
                                        &workers[i]),
                         0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        if (workers[i].failed) {
            fail_msg("%s", workers[i].message);
        }
    }
    (void)snprintf(expected, sizeof expected, "1\n%d", (THREADS - 1) * TRANSACTIONS * ROWS * 4 / 5);
    expect_sql(db, "SELECT replicate() >= 0; SELECT count(*) FROM t", expected);
    test_sql_close(db);
    test_directory_remove(directory);
}

int main(void)
{
    return test_run(NULL, NULL);
}
