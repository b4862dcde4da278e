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

/* A topic in memory whose records are in transactions of ten, each a batch of its own; one
 * transaction in `abort_every` is aborted; 0: none is. */
static struct table open_transactions(int64_t rows, int64_t abort_every)
{
    enum { ROWS_OF_ONE = 10 };
    struct table ours = {.db = bench_sql_open(NULL)};
    sqlite3_stmt *begin;
    sqlite3_stmt *produce;
    sqlite3_stmt *ends[2];

    bench_sql_load(ours.db, NULL);
    bench_sql(ours.db, "CREATE VIRTUAL TABLE t USING highwater(partitions=1, replication.factor=1);"
                       "SELECT init_producer('bench')");
    begin = bench_sql_prepare(ours.db, "SELECT begin_txn(0)");
    produce = bench_sql_prepare(ours.db, "SELECT produce('t', 0, NULL, printf('%.*c', 100, 'v'), 1,"
                                         " '{\"producer\":0}')");
    ends[0] = bench_sql_prepare(ours.db, "SELECT commit_txn(0)");
    ends[1] = bench_sql_prepare(ours.db, "SELECT abort_txn(0)");
    for (int64_t i = 0; i < rows / ROWS_OF_ONE; i++) {
        (void)bench_sql_run(begin);
        for (int k = 0; k < ROWS_OF_ONE; k++) {
            (void)bench_sql_run(produce);
        }
        (void)bench_sql_run(ends[abort_every > 0 && i % abort_every == 0]);
    }
    (void)sqlite3_finalize(begin);
    (void)sqlite3_finalize(produce);
    (void)sqlite3_finalize(ends[0]);
    (void)sqlite3_finalize(ends[1]);
    return ours;
}

/* read_committed against read_uncommitted of the same topic. */
static void compare_isolations(const char *name, struct table *table, int64_t rows)
{
    struct table peer = *table;

    table->statement = bench_sql_prepare(
        table->db, "SELECT sum(length(value)) FROM t WHERE isolation = 'read_committed'");
    peer.statement = bench_sql_prepare(table->db, "SELECT sum(length(value)) FROM t");
    table->rows = peer.rows = 1;
    bench_compare(name, 0.91, rows, "row", (struct bench_side){.run = run, .context = table},
                  (struct bench_side){.run = run, .context = &peer});
    (void)sqlite3_finalize(table->statement);
    (void)sqlite3_finalize(peer.statement);
    (void)sqlite3_close(table->db);
}

static void bench_committed(const char *directory)
{
    int64_t plain_rows = bench_scaled(500000);
    int64_t rows = bench_scaled(100000);
    struct table plain = open_ours(directory, "cluster-plain", plain_rows, 100);
    struct table committed = open_transactions(rows, 0);
    struct table aborted = open_transactions(rows, 10);

    compare_isolations("read_committed, no transactions, read_uncommitted", &plain, plain_rows);
    compare_isolations("read_committed, transactions, read_uncommitted", &committed, rows);
    compare_isolations("read_committed, 1 of 10 aborted, read_uncommitted", &aborted, rows);
}

int main(void)
{
    char directory[HW_PATH_MAX];

    test_directory_make(directory);
    bench_100(directory);
    bench_1024(directory);
    bench_committed(directory);
    test_directory_remove(directory);
    return 0;
}
