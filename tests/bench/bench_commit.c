/* SPDX-License-Identifier: MIT */
/*
 * Commits of one record: how many syncs a durable one takes, with one replica and with three that
 * are replicated at once; and how long one takes that is not synced, against SQLite's WAL.
 */
#define _DEFAULT_SOURCE

#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"
#include "tests/support_directory.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { COMMITS = 200, VALUE_SIZE = 100 };

/* The program's own fdatasync() stands in front of the system's, for the extension too. */
static int64_t sync_count;

__attribute__((visibility("default"))) int fdatasync(int descriptor)
{
    sync_count++;
    return (int)syscall(SYS_fdatasync, descriptor);
}

struct table {
    sqlite3 *db;
    sqlite3_stmt *insert;
    int64_t commits;
};

static void commit_each(void *context)
{
    const struct table *table = context;

    for (int64_t i = 0; i < table->commits; i++) {
        (void)bench_sql_run(table->insert);
    }
}

static struct table open_table(const char *directory, const char *name, const char *sql)
{
    static char value[VALUE_SIZE];
    char path[HW_PATH_MAX + 32];
    struct table table = {.commits = COMMITS};

    (void)snprintf(path, sizeof path, "%s/%s.db", directory, name);
    table.db = bench_sql_open(path);
    bench_sql_load(table.db, NULL);
    bench_sql(table.db, sql);
    table.insert = bench_sql_prepare(table.db, "INSERT INTO t(value) VALUES (?1)");
    memset(value, 'v', sizeof value);
    (void)sqlite3_bind_text(table.insert, 1, value, sizeof value, SQLITE_STATIC);
    return table;
}

static void close_table(struct table *table)
{
    (void)sqlite3_finalize(table->insert);
    (void)sqlite3_close(table->db);
}

static void count_syncs(const char *name, double goal, struct table *table)
{
    commit_each(table); /* Files that are new are synced with their directory. */
    sync_count = 0;
    commit_each(table);
    bench_count(name, (double)sync_count / (double)table->commits, goal);
}

static void compare(const char *name, double goal, int64_t commits, struct table *ours,
                    struct table *peer)
{
    ours->commits = peer->commits = commits;
    bench_compare(name, goal, commits, "commit",
                  (struct bench_side){.run = commit_each, .context = ours},
                  (struct bench_side){.run = commit_each, .context = peer});
}

int main(void)
{
    static const char topic[] = "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1)";
    char directory[HW_PATH_MAX];
    struct table one, three, full, normal, main_schema, temp;

    test_directory_make(directory);
    one = open_table(directory, "one",
                     "CREATE VIRTUAL TABLE temp.t USING highwater(replication.factor=1,"
                     " flush.messages=1)");
    three = open_table(directory, "three",
                       "SELECT configure('replication', 'auto');"
                       "CREATE VIRTUAL TABLE temp.t USING highwater(replication.factor=3,"
                       " flush.messages=1)");
    full = open_table(directory, "full",
                      "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t(value)");
    normal =
        open_table(directory, "normal",
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; CREATE TABLE t(value)");
    main_schema = open_table(directory, "main", topic);
    temp = open_table(directory, "temp",
                      "CREATE VIRTUAL TABLE temp.t USING highwater(replication.factor=1)");

    count_syncs("G8 syncs a commit, one replica", 1, &one);
    count_syncs("G8 syncs a commit, three replicas", 3, &three);
    count_syncs("G8 syncs a commit, SQLite WAL/FULL", 1, &full);
    compare("G8 durable commit, WAL/FULL", 0.9, COMMITS, &one, &full);
    compare("G8 commit in temp, WAL/NORMAL", 5, bench_scaled(20000), &temp, &normal);
    compare("G8 commit in main, WAL/NORMAL", 2.5, bench_scaled(20000), &main_schema, &normal);

    close_table(&one);
    close_table(&three);
    close_table(&full);
    close_table(&normal);
    close_table(&main_schema);
    close_table(&temp);
    test_directory_remove(directory);
    return 0;
}
