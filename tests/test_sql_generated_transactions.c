/* SPDX-License-Identifier: MIT */
/*
 * Do random sequences of BEGIN, SAVEPOINT, INSERT, failing INSERT, ROLLBACK TO, RELEASE, COMMIT and
 * ROLLBACK leave the rows in topics that they leave in ordinary tables?
 *
 * Each INSERT is done to a topic and to a table. Nobody sees the rows of an open transaction in a
 * topic, so both are compared when none is open. HW_SEED=n walks another way.
 */
#include "tests/support_sql.h"

#include "core/base/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { STEPS = 12000, QUICK_STEPS = 1500, SAVEPOINTS_MAX = 4, ROWS_MAX = 400 };

struct walk {
    sqlite3 *db;
    struct hw_random random;
    bool is_open;   /* A transaction, by BEGIN or by the outermost SAVEPOINT. */
    bool has_begun; /* By BEGIN. */
    int savepoints; /* s0, s1, ... from the outside in. */
    int next_value;
    int committed[2]; /* Largest id of a copy when the last transaction ended. */
    int failed;
    int compared;
};

static const char *const topics[] = {"t", "u"};

static uint32_t pick(struct walk *walk, uint32_t count)
{
    return (uint32_t)hw_random_below(&walk->random, count);
}

static void make_tables(struct walk *walk)
{
    expect_sql(
        walk->db,
        "DROP TABLE IF EXISTS t; DROP TABLE IF EXISTS u; DROP TABLE IF EXISTS copy_t;"
        "DROP TABLE IF EXISTS copy_u;"
        "CREATE VIRTUAL TABLE t USING highwater(partitions=2, replication.factor=1,"
        " max.message.bytes=2000);"
        "CREATE VIRTUAL TABLE u USING highwater(partitions=2, replication.factor=1,"
        " max.message.bytes=2000);"
        "CREATE TABLE copy_t(id INTEGER PRIMARY KEY, \"partition\" CHECK (\"partition\" < 2),"
        " value CHECK (length(value) < 2000));"
        "CREATE TABLE copy_u(id INTEGER PRIMARY KEY, \"partition\" CHECK (\"partition\" < 2),"
        " value CHECK (length(value) < 2000))",
        "");
    walk->committed[0] = walk->committed[1] = 0;
}

static int open_walk(void **state)
{
    static struct walk walk;
    const char *seed = getenv("HW_SEED");

    walk = (struct walk){.db = test_sql_open(":memory:")};
    *state = &walk;
    hw_random_init(&walk.random, seed == NULL ? 5 : strtoull(seed, NULL, 10));
    print_message("HW_SEED=%s\n", seed == NULL ? "5" : seed);
    make_tables(&walk);
    return 0;
}

static int close_walk(void **state)
{
    test_sql_close(((struct walk *)*state)->db);
    return 0;
}

/* ----------------------------------------------------------------------------------------- steps
 */

/* One to forty rows, of which one may be too large or for a partition that there is not. */
static void write_rows(struct walk *walk, char *rows, size_t size, bool fails)
{
    int count = pick(walk, 3) == 0 ? 1 + (int)pick(walk, 40) : 1;
    int bad = fails ? (int)pick(walk, (uint32_t)count) : -1;
    size_t length = 0;

    for (int i = 0; i < count; i++) {
        bool is_large = i == bad && pick(walk, 2) == 0;

        length += (size_t)snprintf(rows + length, size - length, "%s(%d, %s'v%d')",
                                   i == 0 ? "VALUES " : ", ",
                                   i == bad && !is_large ? 7 : (int)pick(walk, 2),
                                   is_large ? "hex(zeroblob(2500)) || " : "", walk->next_value++);
        assert_true(length < size);
    }
}

static bool insert(struct walk *walk, const char *how, const char *table, const char *rows)
{
    char sql[3000];

    (void)snprintf(sql, sizeof sql, "INSERT %s INTO %s(\"partition\", value) %s", how, table, rows);
    return strncmp(test_sql(walk->db, sql), "error", 5) != 0;
}

/* Literal rows into the topic and the table. */
static void insert_rows(struct walk *walk, bool fails)
{
    static const char *const hows[] = {"", "", "OR REPLACE", "OR IGNORE", "OR ABORT"};
    uint32_t at = pick(walk, 2);
    const char *how = hows[pick(walk, fails ? 3 : 5)];
    char copy[10];
    char rows[2000];

    write_rows(walk, rows, sizeof rows, fails);
    (void)snprintf(copy, sizeof copy, "copy_%s", topics[at]);
    assert_int_equal(insert(walk, how, topics[at], rows), !fails);
    assert_int_equal(insert(walk, how, copy, rows), !fails);
    walk->failed += fails;
}

/* Some of the rows that are there already: in a topic, those of earlier transactions. */
static void insert_select(struct walk *walk)
{
    uint32_t from = pick(walk, 2);
    uint32_t to = pick(walk, 2);
    uint32_t limit = 1 + pick(walk, 6);
    char copy[10];
    char rows[300];

    (void)snprintf(
        rows, sizeof rows,
        "SELECT \"partition\", 'c' || value FROM %s ORDER BY \"partition\", \"offset\" DESC"
        " LIMIT %u",
        topics[from], limit);
    assert_true(insert(walk, "", topics[to], rows));
    (void)snprintf(rows, sizeof rows,
                   "SELECT \"partition\", 'c' || value FROM copy_%s WHERE id <= %d ORDER BY"
                   " \"partition\", id DESC LIMIT %u",
                   topics[from], walk->committed[from], limit);
    (void)snprintf(copy, sizeof copy, "copy_%s", topics[to]);
    assert_true(insert(walk, "", copy, rows));
}

static void begin_or_save(struct walk *walk)
{
    char sql[30];

    if (!walk->is_open && pick(walk, 2) == 0) {
        expect_sql(walk->db, "BEGIN", "");
        walk->has_begun = true;
    } else if (walk->savepoints < SAVEPOINTS_MAX) {
        (void)snprintf(sql, sizeof sql, "SAVEPOINT s%d", walk->savepoints++);
        expect_sql(walk->db, sql, "");
    }
    walk->is_open = walk->has_begun || walk->savepoints > 0;
}

/* Any savepoint that is open, not only the last one. */
static void roll_back_to_or_release(struct walk *walk)
{
    bool releases = pick(walk, 2) == 0;
    char sql[30];
    int at;

    if (walk->savepoints == 0) {
        return;
    }
    at = (int)pick(walk, (uint32_t)walk->savepoints);
    (void)snprintf(sql, sizeof sql, "%s s%d", releases ? "RELEASE" : "ROLLBACK TO", at);
    expect_sql(walk->db, sql, "");
    walk->savepoints = releases ? at : at + 1;
    walk->is_open = walk->has_begun || walk->savepoints > 0;
}

static void commit_or_roll_back(struct walk *walk)
{
    if (walk->is_open) {
        expect_sql(walk->db, pick(walk, 3) == 0 ? "ROLLBACK" : "COMMIT", "");
        walk->is_open = walk->has_begun = false;
        walk->savepoints = 0;
    }
}

static void step(struct walk *walk)
{
    switch (pick(walk, 10)) {
    case 0:
    case 1:
        begin_or_save(walk);
        break;
    case 2:
        roll_back_to_or_release(walk);
        break;
    case 3:
        commit_or_roll_back(walk);
        break;
    case 4:
        insert_rows(walk, true);
        break;
    case 5:
        insert_select(walk);
        break;
    default:
        insert_rows(walk, false);
    }
}

/* --------------------------------------------------------------------------------------- compare
 */

static void compare(struct walk *walk)
{
    char ours[200];
    char plain[200];

    for (int i = 0; i < 2; i++) {
        (void)snprintf(ours, sizeof ours,
                       "SELECT \"partition\", value FROM %s ORDER BY \"partition\", \"offset\"",
                       topics[i]);
        (void)snprintf(plain, sizeof plain,
                       "SELECT \"partition\", value FROM copy_%s ORDER BY \"partition\", id",
                       topics[i]);
        expect_same_sql(walk->db, ours, plain);
        /* No offset is used up by what was rolled back. */
        (void)snprintf(ours, sizeof ours,
                       "SELECT count(*) FROM (SELECT 1 FROM %s GROUP BY \"partition\" HAVING"
                       " count(*) <> max(\"offset\") + 1)",
                       topics[i]);
        expect_sql(walk->db, ours, "0");
        (void)snprintf(plain, sizeof plain, "SELECT ifnull(max(id), 0) FROM copy_%s", topics[i]);
        walk->committed[i] = atoi(test_sql(walk->db, plain));
    }
    walk->compared++;
}

/* Case: D-09 */
TEST(random_transactions_leave_what_they_leave_in_tables, struct walk *walk)
{
    int steps = getenv("HW_TEST_QUICK") != NULL ? QUICK_STEPS : STEPS;
    int begun_anew = 0;

    for (int i = 0; i < steps; i++) {
        step(walk);
        if (!walk->is_open) {
            compare(walk);
            if (walk->committed[0] > ROWS_MAX) {
                make_tables(walk);
                begun_anew++;
            }
        }
    }
    print_message("%d comparisons, %d failed INSERTs, %d times from the beginning\n",
                  walk->compared, walk->failed, begun_anew);
    assert_true(walk->compared > steps / 10 && walk->failed > steps / 20 && begun_anew > 0);
    if (walk->is_open) {
        expect_sql(walk->db, "ROLLBACK", "");
    }
}

int main(void)
{
    return test_run_together(open_walk, close_walk);
}
