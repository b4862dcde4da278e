/* SPDX-License-Identifier: MIT */
/*
 * Does a live table answer queries that nobody thought of as an ordinary table with the same rows does?
 * Without times: the mock cluster does not know the offset of one. tests/live/one.c asks a real broker.
 *
 * HW_SEED=n asks others. A difference prints both queries.
 */
#include "tests/support_live.h"
#include "tests/support_sql_queries.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support_test.h"

enum { QUERIES = 1500, QUICK_QUERIES = 100 };

static struct mock mock;

static const char *const columns[] = {"rowid", "\"offset\"", "\"partition\"",
                                      "key",   "value",      "headers"};
static const char *const tables[] = {"many", "one", "empty"};

#define COPY_COLUMNS                                                                               \
    "id INTEGER PRIMARY KEY, \"partition\" INTEGER, \"offset\" INTEGER, \"timestamp\" INTEGER,"    \
    " key, value, headers, leader_epoch INTEGER, producer_id INTEGER"

static int open_twins(void **state)
{
    static struct twins twins;
    const char *seed = getenv("HW_SEED");

    mock_start(&mock, 1);
    mock_topic(&mock, "many", 4);
    mock_topic(&mock, "one", 1);
    mock_topic(&mock, "empty", 2);
    twins = (struct twins){.db = live_open_alone(":memory:"),
                           .columns = columns,
                           .column_count = sizeof columns / sizeof columns[0],
                           .tables = tables,
                           .table_count = sizeof tables / sizeof tables[0]};
    *state = &twins;
    hw_random_init(&twins.random, seed == NULL ? 5 : strtoull(seed, NULL, 10));
    print_message("HW_SEED=%s\n", seed == NULL ? "5" : seed);
    live_connect_mock(twins.db, &mock, ", \"fetch.wait.max.ms\":2");
    expect_sql(twins.db,
               "CREATE VIRTUAL TABLE many USING highwater_live(connection=mock);"
               "CREATE VIRTUAL TABLE one USING highwater_live(connection=mock);"
               "CREATE VIRTUAL TABLE empty USING highwater_live(connection=mock);"
               "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 59)"
               " INSERT INTO many(\"partition\", \"timestamp\", key, value, headers)"
               " SELECT i % 3 + (i % 3 = 2), (i * 7) % 11 * 100 + 1,"
               " CASE i % 8 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN i / 4 WHEN 3 THEN x'FF00'"
               " WHEN 4 THEN 'K3' ELSE 'k' || i % 12 END,"
               " CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN x'35' WHEN 2 THEN '5x' WHEN 3 THEN 5.5"
               " ELSE 'v' || i END, iif(i % 5, '{}', '{\"a\":\"' || i || '\"}') FROM c;"
               "INSERT INTO one(\"timestamp\", key, value, headers)"
               " SELECT \"timestamp\", key, value, headers FROM many WHERE \"offset\" % 3 = 0;"
               "SELECT (SELECT count(*) FROM many), (SELECT count(*) FROM one)",
               "60|21");
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char select[100];

        (void)snprintf(select, sizeof select, "SELECT rowid, *, leader_epoch, producer_id FROM %s",
                       tables[i]);
        twins_copy(&twins, tables[i], COPY_COLUMNS, select);
    }
    return 0;
}

static int close_twins(void **state)
{
    test_sql_close(((struct twins *)*state)->db);
    mock_stop(&mock);
    return 0;
}

static void repeat(struct twins *twins, int share, void (*ask)(struct twins *))
{
    int count = (getenv("HW_TEST_QUICK") != NULL ? QUICK_QUERIES : QUERIES) / share;

    for (int i = 0; i < count; i++) {
        twins_begin(twins);
        ask(twins);
    }
    print_message("%d queries, %d refused both times, %d without a row\n", twins->asked,
                  twins->refused, twins->empty);
    assert_true(twins->refused < twins->asked / 10);
    assert_true(twins->empty < twins->asked * 3 / 4);
    twins->asked = twins->refused = twins->empty = 0;
}

TEST(rows_orders_and_limits_are_those_of_a_copy, void *fixture)
{
    repeat(fixture, 1, twins_ask_for_rows);
}

TEST(sums_and_groups_are_those_of_a_copy, void *fixture)
{
    repeat(fixture, 3, twins_ask_for_sums);
}

TEST(nested_queries_are_those_of_copies, void *fixture)
{
    repeat(fixture, 10, twins_ask_for_a_nested_query);
}

int main(void)
{
    return test_run_together(open_twins, close_twins);
}
