/* SPDX-License-Identifier: MIT */
/* Reading all rows of a topic, whose log is in files, against the same rows in an ordinary table.
 */
#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"
#include "tests/support_directory.h"

#include <stdio.h>

struct table {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t rows; /* That the statement returns. */
};

static void run(void *context)
{
    const struct table *table = context;

    bench_require(bench_sql_run(table->statement) == table->rows, sqlite3_sql(table->statement),
                  "another number of rows");
}

static void compare(const char *name, double goal, struct table *ours, struct table *peer,
                    const char *sql, int64_t units, int64_t rows)
{
    ours->statement = bench_sql_prepare(ours->db, sql);
    peer->statement = bench_sql_prepare(peer->db, sql);
    ours->rows = peer->rows = rows;
    bench_compare(name, goal, units, "row", (struct bench_side){.run = run, .context = ours},
                  (struct bench_side){.run = run, .context = peer});
    (void)sqlite3_finalize(ours->statement);
    (void)sqlite3_finalize(peer->statement);
}

static struct table open_file(const char *directory, const char *name, int64_t rows, int value_size)
{
    char path[HW_PATH_MAX + 32];
    struct table table;

    (void)snprintf(path, sizeof path, "%s/%s.db", directory, name);
    table.db = bench_sql_open(path);
    bench_sql(table.db, "PRAGMA synchronous=OFF");
    bench_sql_fill(table.db, false, rows, value_size);
    return table;
}

static struct table open_ours(const char *directory, const char *name, int64_t rows, int value_size)
{
    char path[HW_PATH_MAX + 32];
    struct table table;

    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    table.db = bench_sql_open(NULL);
    bench_sql_load(table.db, path);
    bench_sql_fill(table.db, true, rows, value_size);
    return table;
}

static void bench_100(const char *directory)
{
    int64_t rows = bench_scaled(500000);
    struct table ours = open_ours(directory, "cluster-100", rows, 100);
    struct table file = open_file(directory, "file-100", rows, 100);
    struct table memory = {.db = bench_sql_open(NULL)};
    static const char length[] = "SELECT sum(length(value)) FROM t";
    static const char columns[] = "SELECT \"offset\", \"timestamp\", value FROM t";

    bench_sql_fill(memory.db, false, rows, 100);
    compare("G3 sum(length), 100 B, file table", 1.6, &ours, &file, length, rows, 1);
    compare("G3 3 columns, 100 B, file table", 1.2, &ours, &file, columns, rows, rows);
    compare("G3b sum(length), 100 B, :memory: table", 0.75, &ours, &memory, length, rows, 1);
    compare("G3b 3 columns, 100 B, :memory: table", 0.75, &ours, &memory, columns, rows, rows);
    compare("G3c count(*), file table", 2, &ours, &file, "SELECT count(*) FROM t", rows, 1);
    compare("G3c count(*), :memory: table", 0.2, &ours, &memory, "SELECT count(*) FROM t", rows, 1);
    (void)sqlite3_close(ours.db);
    (void)sqlite3_close(file.db);
    (void)sqlite3_close(memory.db);
}

static void bench_1024(const char *directory)
{
    int64_t rows = bench_scaled(60000);
    struct table ours = open_ours(directory, "cluster-1024", rows, 1024);
    struct table file = open_file(directory, "file-1024", rows, 1024);

    compare("G3 sum(length), 1 KB, file table", 2.5, &ours, &file,
            "SELECT sum(length(value)) FROM t", rows, 1);
    compare("G3 3 columns, 1 KB, file table", 2.5, &ours, &file,
            "SELECT \"offset\", \"timestamp\", value FROM t", rows, rows);
    (void)sqlite3_close(ours.db);
    (void)sqlite3_close(file.db);
}

int main(void)
{
    char directory[HW_PATH_MAX];

    test_directory_make(directory);
    bench_100(directory);
    bench_1024(directory);
    test_directory_remove(directory);
    return 0;
}
