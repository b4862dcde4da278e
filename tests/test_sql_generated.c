/* SPDX-License-Identifier: MIT */
/*
 * Does a topic's table answer tens of thousands of queries that nobody thought of as an ordinary
 * table with the same rows does?
 *
 * HW_SEED=n asks others. A difference prints both queries.
 */
#include "tests/support_sql.h"
#include "tests/support_sql_twins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { QUERIES = 30000, QUICK_QUERIES = 1500 };

static int query_count(void)
{
    return getenv("HW_TEST_QUICK") != NULL ? QUICK_QUERIES : QUERIES;
}

/* What the log knows about comes first. */
static const char *const columns[] = {"rowid",         "\"offset\"",   "\"partition\"",
                                      "\"timestamp\"", "key",          "value",
                                      "headers",       "leader_epoch", "producer_id"};
/* A topic, a topic of one partition, one partition of the first as a table, an empty topic. */
static const char *const tables[] = {"many", "one", "slice", "empty"};

#define COPY_COLUMNS                                                                               \
    "id INTEGER PRIMARY KEY, \"partition\" INTEGER, \"offset\" INTEGER, \"timestamp\" INTEGER,"    \
    " key, value, headers, leader_epoch INTEGER, producer_id INTEGER"
#define COPY_SELECT "SELECT rowid, *, leader_epoch, producer_id FROM "

/* Segments of a few batches, batches of a few records, two epochs, raised log starts, a partition
 * without records, timestamps up and down. */
static void make_topics(sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE many USING highwater(partitions=4, replication.factor=2,"
               " segment.bytes=1000, index.interval.bytes=200);"
               "CREATE VIRTUAL TABLE one USING highwater(replication.factor=2, segment.bytes=700,"
               " index.interval.bytes=100);"
               "CREATE VIRTUAL TABLE slice USING highwater(topic=many, partition=1);"
               "CREATE VIRTUAL TABLE empty USING highwater(partitions=2);"
               "CREATE TABLE source(i INTEGER PRIMARY KEY, p, time, key, value, headers);"
               "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 59)"
               " INSERT INTO source SELECT i, i % 3 + (i % 3 = 2), (i * 7) % 11 * 100,"
               " CASE i % 8 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN i / 4 WHEN 3 THEN x'FF00'"
               " WHEN 4 THEN 'K3' ELSE 'k' || i % 12 END,"
               " CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN x'35' WHEN 2 THEN '5x' WHEN 3 THEN 5.5"
               " ELSE 'v' || i END, iif(i % 5, '{}', '{\"a\":\"' || i || '\"}') FROM c",
               "");
}

/* Records first, first + 1, ... of the source, a few in each batch. */
static void fill_topics(sqlite3 *db, int first, int last)
{
    char sql[700];

    for (int i = first; i <= last; i += 4) {
        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO many(\"partition\", \"timestamp\", key, value, headers)"
                       " SELECT p, time, key, value, headers FROM source WHERE i BETWEEN %d AND %d;"
                       "INSERT INTO one(\"timestamp\", key, value, headers)"
                       " SELECT time, key, value, headers FROM source WHERE i BETWEEN %d AND %d"
                       " AND i %% 3 = 0",
                       i, i + 3, i, i + 3);
        expect_sql(db, sql, "");
    }
}

static int open_twins(void **state)
{
    static struct twins twins;
    const char *seed = getenv("HW_SEED");

    twins = (struct twins){.db = test_sql_open(":memory:"),
                           .columns = columns,
                           .column_count = sizeof columns / sizeof columns[0]};
    *state = &twins;
    hw_random_init(&twins.random, seed == NULL ? 5 : strtoull(seed, NULL, 10));
    print_message("HW_SEED=%s\n", seed == NULL ? "5" : seed);
    make_topics(twins.db);
    fill_topics(twins.db, 0, 31);
    test_sql(twins.db, "SELECT replicate(topic) FROM hw_topics;"
                       "SELECT promote(topic, \"partition\", leader % 2 + 1) FROM hw_partitions"
                       " WHERE topic <> 'empty'");
    fill_topics(twins.db, 32, 59);
    test_sql(twins.db, "SELECT replicate(topic) FROM hw_topics;"
                       "SELECT delete_records('many', 1, 3), delete_records('one', 0, 2)");
    expect_sql(
        twins.db,
        "SELECT (SELECT count(*) FROM many), (SELECT count(*) FROM one),"
        " (SELECT count(DISTINCT leader_epoch) FROM many), (SELECT min(\"offset\") FROM one);"
        "SELECT count(*) > 10 FROM hw_segments",
        "57|18|2|2\n1");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char select[100];

        (void)snprintf(select, sizeof select, COPY_SELECT "%s", tables[i]);
        twins_copy(&twins, tables[i], COPY_COLUMNS, select);
    }
    return 0;
}

static int close_twins(void **state)
{
    struct twins *twins = *state;

    test_sql_close(twins->db);
    return 0;
}

/* Many queries must have an answer with rows, or there is little to compare. */
static void expect_substance(struct twins *twins)
{
    print_message("%d queries, %d refused both times, %d without a row\n", twins->asked,
                  twins->refused, twins->empty);
    assert_true(twins->refused < twins->asked / 20);
    assert_true(twins->empty < twins->asked * 2 / 3);
    twins->asked = twins->refused = twins->empty = 0;
}

/* --------------------------------------------------------------------------------- whole queries
 */

/* Rows, with any order and limit. A limit leaves open which of equal rows come, so then only what
 * is ordered by is selected. */
static void ask_for_rows(struct twins *twins)
{
    static const char *const others[] = {", key, value, headers, leader_epoch", ", \"offset\"",
                                         ", value, rowid", ", headers", ""};
    const char *chosen[3];
    int ordered = twins_choose_order(twins, chosen);
    bool limited = twins_one_in(twins, 2);

    twins_add(twins, "SELECT %s", limited && ordered == 0 ? "count(*) FROM (SELECT " : "");
    twins_add(twins, "%s", twins_one_in(twins, 8) ? "DISTINCT " : "");
    for (int i = 0; i < ordered; i++) {
        twins_add(twins, "%s%s", i == 0 ? "" : ", ", chosen[i]);
    }
    twins_add(twins, "%s%s", ordered == 0 ? "\"partition\"" : "",
              limited ? "" : twins_one_of(twins, others));
    twins_add(twins, " FROM @%s", twins_one_of(twins, tables));
    if (!twins_one_in(twins, 5)) {
        twins_add(twins, " WHERE ");
        twins_add_conditions(twins, "");
    }
    twins_add_order(twins, "", chosen, ordered);
    if (limited) {
        twins_add_limit(twins);
    }
    twins_add(twins, "%s", limited && ordered == 0 ? ")" : "");
    twins_compare(twins, ordered);
}

static void ask_for_sums(struct twins *twins)
{
    static const char *const sums[] = {"count(*)",
                                       "max(\"offset\")",
                                       "min(\"offset\")",
                                       "max(rowid)",
                                       "min(rowid)",
                                       "max(\"partition\")",
                                       "min(\"timestamp\")",
                                       "max(\"timestamp\")",
                                       "count(key)",
                                       "max(value)",
                                       "min(key)",
                                       "sum(\"offset\")",
                                       "count(DISTINCT key)",
                                       "total(\"offset\")",
                                       "max(\"offset\"), key",
                                       "avg(\"partition\")"};
    static const char *const groups[] = {
        "\"partition\"",     "\"partition\"", "key",
        "\"timestamp\"",     "\"offset\"",    "\"partition\", \"offset\"",
        "\"partition\", key"};
    const char *group = twins_one_in(twins, 2) ? twins_one_of(twins, groups) : NULL;
    const char *sum = twins_one_of(twins, sums);

    /* Which key goes with a largest offset is open where several partitions have it. */
    if (sum == sums[14]) {
        group = "\"partition\"";
    }
    twins_add(twins, "SELECT %s%s%s FROM @%s", group == NULL ? "" : group,
              group == NULL ? "" : ", ", sum, twins_one_of(twins, tables));
    if (!twins_one_in(twins, 4)) {
        twins_add(twins, " WHERE ");
        twins_add_conditions(twins, "");
    }
    if (group != NULL) {
        twins_add(twins, " GROUP BY %s", group);
        twins_add(twins, "%s", twins_one_in(twins, 4) ? " HAVING count(*) > 1" : "");
        if (twins_one_in(twins, 2)) {
            twins_add(twins, " ORDER BY %s%s", group, twins_one_in(twins, 2) ? " DESC" : "");
        }
    }
    twins_compare(twins, 0);
}

/* Two or three tables, an equality between them as a rule, so that the one looks up offsets of the
 * other. */
static void ask_for_a_join(struct twins *twins)
{
    static const char *const kinds[] = {"JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN"};
    static const char *const pairs[] = {
        "a.\"offset\" = b.\"offset\"",
        "b.\"offset\" = a.\"offset\" + 1",
        "a.rowid = b.rowid",
        "a.\"partition\" = b.\"partition\" AND a.\"offset\" = b.\"offset\"",
        "a.\"offset\" = b.key",
        "a.key = b.\"offset\"",
        "a.\"timestamp\" = b.\"timestamp\"",
        "a.\"offset\" < b.\"offset\" AND b.\"offset\" < 5",
        "a.\"timestamp\" > b.\"timestamp\" AND a.rowid = b.\"offset\"",
        "a.\"offset\" BETWEEN b.\"offset\" - 1 AND b.\"offset\" AND b.\"partition\" = 1",
        "a.\"offset\" IS b.\"offset\"",
        "(a.\"partition\", a.\"offset\") = (b.\"offset\", b.\"partition\")",
        "a.\"offset\" IN (b.\"offset\", b.key, 7)"};
    static const char *const sides[] = {"a.", "b."};
    const char *side = twins_one_of(twins, sides);
    const char *chosen[3];
    int ordered = twins_choose_order(twins, chosen);

    twins_add(twins, "SELECT ");
    for (int i = 0; i < ordered; i++) {
        twins_add(twins, "%s%s, ", side, chosen[i]);
    }
    twins_add(twins, "a.rowid, b.rowid, b.value FROM @%s a %s @%s b ON %s",
              twins_one_of(twins, tables), twins_one_of(twins, kinds), twins_one_of(twins, tables),
              twins_one_of(twins, pairs));
    if (twins_one_in(twins, 3)) {
        twins_add(twins, " WHERE ");
        twins_add_conditions(twins, side);
    }
    twins_add_order(twins, side, chosen, ordered);
    twins_compare(twins, ordered);
}

/* Queries in queries, and queries put together. */
static void ask_for_a_nested_query(struct twins *twins)
{
    static const char *const forms[] = {
        "SELECT rowid, (SELECT max(b.\"offset\") FROM @%s b WHERE b.\"partition\" = a.\"partition\""
        " AND b.\"offset\" < a.\"offset\") FROM @%s a WHERE ",
        "SELECT a.rowid FROM @%s b, @%s a WHERE b.rowid = a.rowid + 1 AND ",
        "SELECT \"offset\" FROM @%s EXCEPT SELECT \"offset\" FROM @%s a WHERE ",
        "SELECT rowid, key FROM @%s UNION SELECT rowid, value FROM @%s a WHERE ",
        "SELECT count(*) FROM @%s WHERE \"offset\" IN (SELECT \"offset\" FROM @%s a WHERE (",
        "SELECT rowid FROM @%s c WHERE EXISTS (SELECT 1 FROM @%s a WHERE a.\"offset\" = "
        "c.\"offset\""
        " AND (",
        "SELECT sum(n) FROM (SELECT count(*) AS n FROM @%s) JOIN (SELECT a.* FROM @%s a WHERE ("};
    static const char *const ends[] = {"", "", "", "", "))", "))", "))"};
    uint32_t form = twins_pick(twins, sizeof forms / sizeof forms[0]);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    twins_add(twins, forms[form], twins_one_of(twins, tables), twins_one_of(twins, tables));
#pragma GCC diagnostic pop
    twins_add_conditions(twins, "a.");
    twins_add(twins, "%s", ends[form]);
    twins_compare(twins, 0);
}

/* ---------------------------------------------------------------------------------------- tests */

static void repeat(struct twins *twins, int count, void (*ask)(struct twins *))
{
    for (int i = 0; i < count; i++) {
        twins_begin(twins);
        ask(twins);
    }
    expect_substance(twins);
}

/* Case: D-02, D-03, D-04 */
static void rows_orders_and_limits_are_those_of_a_copy(void **state)
{
    repeat(*state, query_count(), ask_for_rows);
}

static void sums_and_groups_are_those_of_a_copy(void **state)
{
    repeat(*state, query_count() / 3, ask_for_sums);
}

static void joins_are_those_of_copies(void **state)
{
    repeat(*state, query_count() / 3, ask_for_a_join);
}

static void nested_queries_are_those_of_copies(void **state)
{
    repeat(*state, query_count() / 3, ask_for_a_nested_query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_orders_and_limits_are_those_of_a_copy),
        cmocka_unit_test(sums_and_groups_are_those_of_a_copy),
        cmocka_unit_test(joins_are_those_of_copies),
        cmocka_unit_test(nested_queries_are_those_of_copies),
    };

    return cmocka_run_group_tests_name("sql_generated", tests, open_twins, close_twins);
}
