/* SPDX-License-Identifier: MIT */
/*
 * A process that is killed at any of its system calls: does the database, with the topics beside
 * it, open again, and is each transaction there whole or not at all?
 *
 * The workload is killed at its n-th stop (support_sql_kill.h), for every 43rd n.
 * With HW_TEST_QUICK in the environment at fewer of them; HW_SEED chooses which.
 */
#include "tests/support_directory.h"
#include "tests/support_sql.h"
#include "tests/support_sql_kill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { PATH_SIZE = 4200, STRIDE = 43, QUICK_STRIDE = 97 };

struct fixture {
    char directory[4096];
    char path[PATH_SIZE];
};

/* A fresh directory, and what was there before the workload. */
static void begin(struct fixture *f, const char *sql)
{
    test_directory_make(f->directory);
    (void)snprintf(f->path, sizeof f->path, "%s/exp.db", f->directory);
    if (sql != NULL) {
        sqlite3 *db = test_sql_open(f->path);

        (void)test_sql(db, sql);
        test_sql_close(db);
    }
}

static long stride(void)
{
    return getenv("HW_TEST_QUICK") == NULL ? STRIDE : QUICK_STRIDE;
}

/* Each run is killed a little later, until one is not. `check` looks at what was left. */
static void kill_everywhere(const char *before, const char *sql, void (*check)(sqlite3 *db))
{
    const char *seed = getenv("HW_SEED");
    long stop = seed == NULL ? 0 : strtol(seed, NULL, 10) % stride();
    bool was_killed = true;

    for (; was_killed; stop += stride()) {
        struct fixture f;
        sqlite3 *db;

        begin(&f, before);
        was_killed = test_sql_kill_at(f.path, sql, stop);
        db = test_sql_open(f.path);
        check(db);
        test_sql_close(db);
        test_directory_remove(f.directory);
    }
    assert_true(stop > 100);
}

static void check_created(sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE IF NOT EXISTS t USING highwater(replication.factor=1);"
               "SELECT group_concat(topic) FROM hw_topics;"
               "INSERT INTO t(value) VALUES ('a'); SELECT count(*) FROM t;"
               "DROP TABLE t; SELECT count(*) FROM hw_topics",
               "t\n1\n0");
}

/* Case: F-28 */
TEST_ALONE(a_table_that_was_being_created_can_be_created)
{
    kill_everywhere(NULL, "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1)",
                    check_created);
}

static const char two_tables[] = "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
                                 "CREATE VIRTUAL TABLE u USING highwater(replication.factor=1);"
                                 "INSERT INTO t(value) VALUES ('a'); INSERT INTO u VALUES "
                                 "(NULL, NULL, NULL, 'k', 'b', NULL)";

/* Either the table is there with its rows, or there is neither table nor topic. */
static void check_dropped(sqlite3 *db)
{
    bool is_there =
        strcmp(test_sql(db, "SELECT count(*) FROM sqlite_schema WHERE name = 't'"), "1") == 0;

    expect_sql(db, "SELECT group_concat(topic) FROM hw_topics", is_there ? "t,u" : "u");
    if (is_there) {
        expect_sql(db, "SELECT value FROM t", "a");
    }
    expect_sql(db,
               "SELECT value FROM u; DROP TABLE IF EXISTS t;"
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "SELECT count(*) FROM t",
               "b\n0");
}

/* Case: F-28 */
TEST_ALONE(a_table_that_was_being_dropped_is_there_or_gone)
{
    kill_everywhere(two_tables, "DROP TABLE t", check_dropped);
}

static void check_rows(sqlite3 *db)
{
    const char *rows = test_sql(db, "SELECT count(*) FROM t");

    assert_true(strcmp(rows, "1") == 0 || strcmp(rows, "121") == 0);
    rows = test_sql(db, "SELECT count(*) FROM u");
    assert_true(strcmp(rows, "1") == 0 || strcmp(rows, "61") == 0);
    expect_sql(db,
               "INSERT INTO t(value) VALUES ('last');"
               "SELECT value FROM t ORDER BY \"offset\" DESC LIMIT 1",
               "last");
}

/* Case: F-61 */
TEST_ALONE(a_transaction_is_there_whole_or_not_at_all)
{
    kill_everywhere(two_tables,
                    "BEGIN;"
                    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 120)"
                    " INSERT INTO t(value) SELECT zeroblob(4000) FROM n;"
                    "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
                    " INSERT INTO u(value) SELECT zeroblob(4000) FROM n;"
                    "COMMIT",
                    check_rows);
}

int main(void)
{
    return test_run(NULL, NULL);
}
