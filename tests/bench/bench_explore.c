/* SPDX-License-Identifier: MIT */
/*
 * Explorations: steps of the core and new states a second, with every promise checked on each, beside
 * copying the bytes of such a cluster once for each step, which is what going back takes at least.
 */
#define _XOPEN_SOURCE 700

#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec now;

    bench_require(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) == 0, "clock_gettime", "");
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int64_t number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = bench_sql_prepare(db, sql);
    int64_t found;

    bench_require(sqlite3_step(statement) == SQLITE_ROW, sql, sqlite3_errmsg(db));
    found = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return found;
}

/* Seconds that copying so many bytes back, so many times, takes. */
static double copy_seconds(int64_t bytes, int64_t times)
{
    unsigned char *from = calloc(2, (size_t)bytes);
    unsigned char *to;
    double begun = cpu_seconds();

    bench_require(from != NULL, "memory", "");
    to = from + bytes;
    for (int64_t i = 0; i < times; i++) {
        from[i % bytes]++;
        memcpy(to, from, (size_t)bytes);
        bench_require(to[i % bytes] == from[i % bytes], "memcpy", "");
    }
    free(from);
    return cpu_seconds() - begun;
}

static void explore(const char *name, const char *options)
{
    sqlite3 *db;
    sqlite3_stmt *rows;
    char title[200];
    int64_t bytes;
    int64_t steps;
    double begun;
    double taken;

    if (!bench_is_wanted(name)) {
        return;
    }
    db = bench_sql_open(NULL);
    bench_sql_load(db, NULL);
    bench_sql(db,
              "SELECT open_cluster(':memory:', '{\"brokers\":3}'); SELECT create_topic('t', 1, 3);"
              "SELECT snapshot('as it is')");
    bytes = number(db, "SELECT size_bytes FROM hw_snapshots");
    rows = bench_sql_prepare(db, "SELECT * FROM hw_explore(?1)");
    (void)sqlite3_bind_text(rows, 1, options, -1, SQLITE_STATIC);
    begun = cpu_seconds();
    (void)bench_sql_run(rows);
    taken = cpu_seconds() - begun;
    (void)sqlite3_finalize(rows);
    steps = number(db, "SELECT transitions FROM hw_explorations");
    (void)snprintf(title, sizeof title, "%s, thousand steps a second", name);
    bench_count(title, (double)steps / taken / 1000, 0);
    (void)snprintf(title, sizeof title, "%s, thousand new states a second", name);
    bench_count(title, (double)number(db, "SELECT states FROM hw_explorations") / taken / 1000, 0);
    (void)snprintf(title, sizeof title, "%s, against a memcpy of a cluster's bytes for each step",
                   name);
    bench_count(title, taken / copy_seconds(bytes, steps), 0);
    (void)sqlite3_close(db);
}

int main(void)
{
    explore("explore, 3 brokers, a fence",
            "{\"new\":3,\"records\":1,\"crashes\":0,\"fences\":1,\"shrinks\":1,\"checkpoints\":0}");
    explore("explore, 2 brokers, a crash",
            "{\"new\":2,\"records\":2,\"crashes\":1,\"fences\":0,\"shrinks\":1,\"checkpoints\":0}");
    return 0;
}
