/* SPDX-License-Identifier: MIT */
/*
 * Instructions per row, extension and SQLite together, of a topic against an ordinary table in
 * memory: exact counts, which no other program on the machine changes. They are counted by
 * callgrind, under which the program starts itself, once with few rows and once with more; the
 * difference is what the rows take.
 *
 *     bench_instructions                          all operations, compared
 *     bench_instructions insert topic 2000        does so many, to be run under callgrind by hand
 *
 * A topic with transactional=1 is compared with one without, both beside a database file: in one
 * transaction, and in one for each row.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"
#include "tests/support_directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_SIZE = 100, FILLED_ROWS = 5000, LINE_SIZE = 512 };

struct operation {
    const char *name;
    const char *sql; /* NULL: inserts. */
    int64_t rows;    /* Of one run of the statement. */
    const char *title;
    double goal;
};

static const struct operation operations[] = {
    {"insert", NULL, 1, "G10 instructions, insert loop", 0.68},
    {"count", "SELECT count(*) FROM t WHERE ?1 >= 0", FILLED_ROWS, "G10 instructions, count(*)", 0},
    {"sum", "SELECT sum(length(value)) FROM t WHERE ?1 >= 0", FILLED_ROWS,
     "G10 instructions, sum(length)", 1.15},
    {"columns", "SELECT \"offset\", \"timestamp\", value FROM t WHERE ?1 >= 0", FILLED_ROWS,
     "G10 instructions, 3 columns", 1.2},
    {"lookup", "SELECT value FROM t WHERE \"offset\" = ?1", 1, "G10 instructions, look-up", 1.35}};

enum { OPERATION_COUNT = sizeof operations / sizeof operations[0] };

/* ------------------------------------------------------------------------- what is counted */

static void run_statement(sqlite3 *db, const struct operation *operation, int64_t times)
{
    sqlite3_stmt *statement = bench_sql_prepare(db, operation->sql);
    uint64_t random = 1;

    bench_sql(db, "BEGIN");
    for (int64_t i = 0; i < times; i++) {
        random = random * 6364136223846793005U + 1442695040888963407U;
        (void)sqlite3_bind_int64(statement, 1, (int64_t)((random >> 33) % FILLED_ROWS));
        (void)bench_sql_run(statement);
    }
    bench_sql(db, "COMMIT");
    (void)sqlite3_finalize(statement);
}

/* Inserts into a topic beside a database file; `table` is the arguments of its table. */
static void run_inserts(const char *arguments, bool is_each_alone, int64_t times)
{
    char directory[HW_PATH_MAX];
    char text[HW_PATH_MAX + 200];
    sqlite3_stmt *insert;
    sqlite3 *db;

    test_directory_make(directory);
    (void)snprintf(text, sizeof text, "%s/exp.db", directory);
    db = bench_sql_open(text);
    bench_sql_load(db, NULL);
    (void)snprintf(text, sizeof text,
                   "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE other(x);"
                   "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1%s);"
                   "CREATE TRIGGER outbox AFTER INSERT ON other BEGIN"
                   " INSERT INTO t(value) VALUES (new.x); END",
                   arguments);
    bench_sql(db, text);
    insert = bench_sql_prepare(db, is_each_alone ? "INSERT INTO other VALUES (?1)"
                                                 : "INSERT INTO t(value) VALUES (?1)");
    (void)sqlite3_bind_zeroblob(insert, 1, VALUE_SIZE);
    bench_sql(db, is_each_alone ? "SELECT 1" : "BEGIN");
    for (int64_t i = 0; i < times; i++) {
        (void)bench_sql_run(insert);
    }
    bench_sql(db, is_each_alone ? "SELECT 1" : "COMMIT");
    (void)sqlite3_finalize(insert);
    (void)sqlite3_close(db);
    test_directory_remove(directory);
}

static void run_operation(const struct operation *operation, bool is_topic, int64_t times)
{
    char directory[HW_PATH_MAX];
    char cluster[HW_PATH_MAX + 32];
    sqlite3 *db = bench_sql_open(NULL);

    test_directory_make(directory);
    (void)snprintf(cluster, sizeof cluster, "%s/cluster", directory);
    if (is_topic) {
        bench_sql_load(db, cluster);
    }
    bench_sql_fill(db, is_topic, operation->sql == NULL ? times : FILLED_ROWS, VALUE_SIZE);
    if (operation->sql != NULL) {
        run_statement(db, operation, times);
    }
    (void)sqlite3_close(db);
    test_directory_remove(directory);
}

/* ---------------------------------------------------------------------------------- counting */

/* All instructions of a run of `program`; -1 if there is no valgrind. */
static int64_t count_run(const char *program, const char *operation, const char *side,
                         int64_t times)
{
    char line[LINE_SIZE];
    char *collected;
    int64_t count = -1;
    FILE *output;

    (void)snprintf(line, sizeof line,
                   "valgrind --tool=callgrind --callgrind-out-file=/dev/null %s %s %s %lld 2>&1",
                   program, operation, side, (long long)times);
    output = popen(line, "r");
    bench_require(output != NULL, line, "cannot be started");
    while (fgets(line, sizeof line, output) != NULL) {
        collected = strstr(line, "Collected : ");
        if (collected != NULL) {
            count = strtoll(collected + strlen("Collected : "), NULL, 10);
        }
    }
    return pclose(output) == 0 ? count : -1;
}

/* Instructions for one row; below 0 if there is no valgrind. */
static double count_row(const char *program, const struct operation *operation, const char *side)
{
    int64_t few = operation->rows == 1 ? 2000 : 1;
    int64_t many = operation->rows == 1 ? 6000 : 3;
    int64_t count_few = count_run(program, operation->name, side, few);
    int64_t count_many = count_run(program, operation->name, side, many);

    return count_few < 0 || count_many < 0
               ? -1
               : (double)(count_many - count_few) / (double)((many - few) * operation->rows);
}

static void compare(const char *program, const struct operation *operation, const char *our_side,
                    const char *peer_side)
{
    double ours;
    double peer;

    if (!bench_is_wanted(operation->title)) {
        return;
    }
    ours = count_row(program, operation, our_side);
    peer = count_row(program, operation, peer_side);
    if (ours < 0 || peer < 0) {
        (void)printf("%s: valgrind is needed for that\n", operation->title);
        return;
    }
    (void)printf("%-38s ours %.0f a row, peer %.0f\n", operation->title, ours, peer);
    bench_count(operation->title, ours / peer, operation->goal);
}

static const struct operation transactional[] = {
    {"one", NULL, 1, "G11 instructions, insert loop, transactional=1", 1.25},
    {"each", NULL, 1, "G11 instructions, a commit with an ordinary table, transactional=1", 0}};

int main(int argc, char **argv)
{
    for (int i = 0; i < 2; i++) {
        if (argc == 4 && strcmp(argv[1], transactional[i].name) == 0) {
            run_inserts(strcmp(argv[2], "transactional") == 0 ? ", transactional=1" : "", i == 1,
                        strtoll(argv[3], NULL, 10));
        } else if (argc == 1) {
            compare(argv[0], &transactional[i], "transactional", "topic");
        }
    }
    for (int i = 0; i < OPERATION_COUNT; i++) {
        if (argc == 4 && strcmp(argv[1], operations[i].name) == 0) {
            run_operation(&operations[i], strcmp(argv[2], "topic") == 0,
                          strtoll(argv[3], NULL, 10));
        } else if (argc == 1) {
            compare(argv[0], &operations[i], "topic", "ordinary");
        }
    }
    return 0;
}
