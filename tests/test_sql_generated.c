/* SPDX-License-Identifier: MIT */
/*
 * Does a topic's table answer tens of thousands of queries that nobody thought of as an ordinary
 * table with the same rows does?
 *
 * HW_SEED=n asks others. A difference prints both queries.
 */
#include "tests/support_sql.h"
#include "tests/support_sql_queries.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support_test.h"

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
                           .column_count = sizeof columns / sizeof columns[0],
                           .tables = tables,
                           .table_count = sizeof tables / sizeof tables[0]};
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
TEST(rows_orders_and_limits_are_those_of_a_copy, void *fixture)
{
    repeat(fixture, query_count(), twins_ask_for_rows);
}

TEST(sums_and_groups_are_those_of_a_copy, void *fixture)
{
    repeat(fixture, query_count() / 3, twins_ask_for_sums);
}

TEST(joins_are_those_of_copies, void *fixture)
{
    repeat(fixture, query_count() / 3, twins_ask_for_a_join);
}

TEST(nested_queries_are_those_of_copies, void *fixture)
{
    repeat(fixture, query_count() / 3, twins_ask_for_a_nested_query);
}

int main(void)
{
    return test_run_together(open_twins, close_twins);
}
