/* SPDX-License-Identifier: MIT */
/*
 * Rows by their offset, at random: from the whole log, and from a part that fits in caches; inside
 * a transaction and each for itself.
 */
#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"
#include "tests/support_directory.h"

#include <stdio.h>

struct table {
    sqlite3 *db;
    sqlite3_stmt *lookup;
    int64_t range; /* Offsets below it are looked up. */
    int64_t count;
    bool in_transaction;
    uint64_t random;
};

static void run(void *context)
{
    struct table *table = context;

    if (table->in_transaction) {
        bench_sql(table->db, "BEGIN");
    }
    for (int64_t i = 0; i < table->count; i++) {
        table->random = table->random * 6364136223846793005U + 1442695040888963407U;
        (void)sqlite3_bind_int64(table->lookup, 1,
                                 (int64_t)((table->random >> 33) % (uint64_t)table->range));
        bench_require(bench_sql_run(table->lookup) == 1, sqlite3_sql(table->lookup),
                      "another number of rows");
    }
    if (table->in_transaction) {
        bench_sql(table->db, "COMMIT");
    }
}

static void compare(const char *name, double goal, struct table *ours, struct table *peer,
                    int64_t range, bool in_transaction)
{
    static const char lookup[] = "SELECT value FROM t WHERE \"offset\" = ?1";
    int64_t count = bench_scaled(in_transaction ? 100000 : 50000);

    for (int i = 0; i < 2; i++) {
        struct table *table = i == 0 ? ours : peer;

        table->lookup = bench_sql_prepare(table->db, lookup);
        table->range = range;
        table->count = count;
        table->in_transaction = in_transaction;
        table->random = 1;
    }
    bench_compare(name, goal, count, "lookup", (struct bench_side){.run = run, .context = ours},
                  (struct bench_side){.run = run, .context = peer});
    (void)sqlite3_finalize(ours->lookup);
    (void)sqlite3_finalize(peer->lookup);
}

int main(void)
{
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 32];
    int64_t rows = bench_scaled(500000);
    struct table ours, in_file, file, memory;

    test_directory_make(directory);
    memory.db = bench_sql_open(NULL);
    bench_sql_fill(memory.db, false, rows, 100);
    (void)snprintf(path, sizeof path, "%s/table.db", directory);
    file.db = bench_sql_open(path);
    bench_sql(file.db, "PRAGMA synchronous=OFF");
    bench_sql_fill(file.db, false, rows, 100);
    (void)snprintf(path, sizeof path, "%s/cluster", directory);
    ours.db = bench_sql_open(NULL);
    bench_sql_load(ours.db, path);
    bench_sql_fill(ours.db, true, rows, 100);
    (void)snprintf(path, sizeof path, "%s/topics.db", directory);
    in_file.db = bench_sql_open(path);
    bench_sql_load(in_file.db, NULL);
    bench_sql_fill(in_file.db, true, rows, 100);

    compare("G4 cached part, in a transaction, :memory:", 0.8, &ours, &memory, rows / 25, true);
    compare("G4 whole log, in a transaction, file table", 0.6, &in_file, &file, rows, true);
    compare("G4 cached part, in a transaction, file table", 0.95, &in_file, &file, rows / 25, true);
    compare("G4 whole log, each for itself, file table", 0.75, &in_file, &file, rows, false);

    (void)sqlite3_close(ours.db);
    (void)sqlite3_close(in_file.db);
    (void)sqlite3_close(file.db);
    (void)sqlite3_close(memory.db);
    test_directory_remove(directory);
    return 0;
}
