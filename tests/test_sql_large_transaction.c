/* SPDX-License-Identifier: MIT */
/*
 * Does a transaction that is many times larger than memory may be stay below its limit, and is all
 * of it there after the COMMIT?
 *
 * Two tables, several partitions, three replicas, savepoints that are rolled back. `make test`
 * commits 64 MiB with a buffer.memory of 2 MiB. `make soak` commits 1 GiB (HW_STAGED_MIB) with the
 * default of 32 MiB, and may not take more than 64 MiB, as the operating system counts them.
 */
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/support_test.h"

enum { MIB = 1024 * 1024, ROWS_PER_MIB = 1024, PARTITIONS = 5 };

/* How much is committed, in how much memory. */
struct load {
    int staged_mib;
    int limit_mib;
    bool is_soak; /* The process is counted, not only what SQLite and the extension allocate. */
};

static struct load load_of_environment(void)
{
    const char *staged = getenv("HW_STAGED_MIB");

    if (staged != NULL) {
        return (struct load){atoi(staged), 64, true};
    }
    return (struct load){getenv("HW_TEST_QUICK") != NULL ? 24 : 64, 12, false};
}

static void run(sqlite3 *db, const char *format, ...)
{
    va_list args;
    char *sql;

    va_start(args, format);
    sql = sqlite3_vmprintf(format, args);
    va_end(args);
    expect_sql(db, sql, "");
    sqlite3_free(sql);
}

/* `mib` MiB of rows of 1 KiB, numbered from `first`, in statements of one MiB each: SQLite keeps
 * what a statement needs to take it back. */
static void insert_rows(sqlite3 *db, const char *table, int first, int mib)
{
    for (int i = 0; i < mib; i++) {
        run(db,
            "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n LIMIT %d)"
            " INSERT INTO %s(\"partition\", key, value)"
            " SELECT i %% %d, i, randomblob(%d) FROM n",
            first + i * ROWS_PER_MIB, (int)ROWS_PER_MIB, table,
            strcmp(table, "one") == 0 ? 1 : (int)PARTITIONS, 1024 - 16);
    }
}

static int64_t peak_mib(bool is_soak)
{
    struct rusage usage;

    if (!is_soak) {
        return (sqlite3_memory_highwater(0) + MIB - 1) / MIB;
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (usage.ru_maxrss + 1023) / 1024; /* Kilobytes. */
}

static void expect_below_limit(const struct load *load, const char *when)
{
    int64_t peak = peak_mib(load->is_soak);

    if (peak > load->limit_mib) {
        fail_msg("%s: %d MiB of memory to stage %d MiB, allowed are %d", when, (int)peak,
                 load->staged_mib, load->limit_mib);
    }
}

/* Stage twice two quarters; two more are taken back on the way. */
static void stage(sqlite3 *db, int quarter)
{
    const int rows = quarter * ROWS_PER_MIB;

    insert_rows(db, "one", 0, quarter);
    run(db, "SAVEPOINT s");
    insert_rows(db, "many", 0, quarter);
    run(db, "ROLLBACK TO s");
    insert_rows(db, "many", 0, quarter);
    run(db, "SAVEPOINT t");
    insert_rows(db, "one", rows, quarter);
    run(db, "ROLLBACK TO t");
    insert_rows(db, "one", rows, quarter);
    insert_rows(db, "many", rows, quarter);
}

TEST_ALONE(a_transaction_larger_than_memory_stays_below_its_limit)
{
    const struct load load = load_of_environment();
    const int quarter = load.staged_mib / 4;
    char directory[HW_PATH_MAX];
    char *path;
    char *expected;
    sqlite3 *db;

    test_directory_make(directory);
    path = sqlite3_mprintf("%s/large.db", directory);
    db = test_sql_open(path);
    sqlite3_free(path);
    test_sql(db, "CREATE VIRTUAL TABLE one USING highwater(replication.factor=1);"
                 "CREATE VIRTUAL TABLE many USING highwater(partitions=5, replication.factor=3)");
    if (!load.is_soak) {
        expect_sql(db, "SELECT configure('buffer.memory', 2097152)", "2097152");
    }
    (void)sqlite3_memory_highwater(1);

    run(db, "BEGIN");
    stage(db, quarter);
    expect_below_limit(&load, "staging");
    run(db, "COMMIT");
    expect_below_limit(&load, "COMMIT");

    test_sql(db, "SELECT replicate()");
    expected =
        sqlite3_mprintf("%d|1|1\n%d|5|1", 2 * quarter * ROWS_PER_MIB, 2 * quarter * ROWS_PER_MIB);
    /* Each row once, in the order in which it was written. */
    expect_sql(db,
               "SELECT count(*), count(DISTINCT \"partition\"), min(key = \"offset\") FROM one;"
               "SELECT count(*), count(DISTINCT \"partition\"),"
               " min(CAST(key AS INTEGER) = \"offset\" * 5 + \"partition\") FROM many",
               expected);
    sqlite3_free(expected);
    expect_below_limit(&load, "reading");
    test_sql_close(db);
    test_directory_remove(directory);
}

int main(void)
{
    return test_run(NULL, NULL);
}
