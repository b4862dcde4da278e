/* SPDX-License-Identifier: MIT */
/*
 * Do the tables that show the state, logs of replicas and topics with their arguments answer
 * generated queries and joins as ordinary tables with the same rows do?
 */
#include "tests/support_sql.h"
#include "tests/support_sql_twins.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { QUERIES = 5000, QUICK_QUERIES = 500 };

/* Each table with its columns, the ones that are shared with other tables first. */
struct shown_table {
    const char *name;
    const char *columns[12];
    uint32_t count;
};

static const struct shown_table shown[] = {
    {"hw_brokers", {"broker", "state", "rack", "dir", "broker_epoch"}, 5},
    {"hw_topics", {"topic", "partitions", "replication_factor", "configs"}, 4},
    {"hw_partitions",
     {"topic", "\"partition\"", "leader", "leader_epoch", "partition_epoch", "isr", "elr", "leo",
      "hw", "log_start", "under_min_isr"},
     11},
    {"hw_replicas",
     {"topic", "\"partition\"", "broker", "leader_epoch", "role", "leo", "hw", "lag", "in_isr",
      "known_leo", "last_fetch_ms", "log_start"},
     12},
    {"hw_epochs", {"topic", "\"partition\"", "broker", "epoch", "start_offset", "end_offset"}, 6},
    {"hw_segments",
     {"topic", "\"partition\"", "broker", "base_offset", "next_offset", "size_bytes",
      "index_entries", "max_timestamp"},
     8},
    {"hw_journal",
     {"topic", "\"partition\"", "broker", "leader_epoch", "seq", "event", "peer", "\"offset\"",
      "hw", "end_offset"},
     10},
    {"hw_acks",
     {"topic", "\"partition\"", "leader_epoch", "base_offset", "id", "last_offset", "acks",
      "status", "error", "resolved_ms"},
     10},
};
enum { SHOWN_COUNT = sizeof shown / sizeof shown[0] };

static const char *const own_values[] = {
    "'many'",     "'one'",    "'MANY'",        "0",         "1",       "2",         "3",
    "'1'",        "2.0",      "'leader'",      "'running'", "'[1,2]'", "'crashed'", "x'6D616E79'",
    "'follower'", "'append'", "'acknowledged'"};

static const char *const log_columns[] = {"\"offset\"",    "visibility",    "leader_epoch",
                                          "\"timestamp\"", "key",           "value",
                                          "headers",       "control",       "producer_id",
                                          "sequence",      "\"partition\"", "batch_base_offset"};
static const char *const topic_columns[] = {"\"offset\"",    "\"partition\"", "rowid",
                                            "\"timestamp\"", "key",           "value",
                                            "headers",       "leader_epoch"};

/* Two topics on three brokers, of which one lags behind and a fourth one is down. */
static void make_cluster(sqlite3 *db)
{
    expect_sql(
        db,
        "CREATE VIRTUAL TABLE many USING highwater(partitions=3, replication.factor=3,"
        " segment.bytes=500, index.interval.bytes=100, min.insync.replicas=2);"
        "CREATE VIRTUAL TABLE one USING highwater(replication.factor=3);"
        "CREATE VIRTUAL TABLE many_by_replica USING highwater(topic=many);"
        "INSERT INTO many(\"partition\", key, value, \"timestamp\") WITH RECURSIVE c(i) AS"
        " (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 20)"
        " SELECT i % 3, i, 'v' || i, i * 5 % 7 FROM c;"
        "INSERT INTO one(key, value) VALUES ('5', NULL), (NULL, '5x'), (1, 2), (3, x'FF');"
        "SELECT add_broker(4, 'd'), replicate('many'), fetch_round('one'), crash(4), cut(2, 3);"
        "SELECT promote(topic, \"partition\", json_extract(isr, '$[1]'))"
        " FROM hw_partitions WHERE topic = 'many';"
        "INSERT INTO many(\"partition\", key, \"timestamp\") SELECT \"offset\" % 3, value,"
        " \"offset\" FROM many; INSERT INTO one(value) VALUES ('late');"
        "SELECT fetch_round('many'), produce('one', 0, 'k', 'v', -1), delete_records('many',"
        " 0, 2)",
        "4|2|8|crashed|1\n1\n1\n1\n27|5|-1");
    expect_sql(db,
               "SELECT count(*) > 6 FROM many; SELECT count(*) FROM one;"
               "SELECT count(*) > 8, count(DISTINCT hw) > 2 FROM hw_replicas;"
               "SELECT count(*) > 0 FROM hw_acks WHERE status = 'pending';"
               "SELECT count(*) FROM hw_brokers WHERE state = 'crashed'",
               "1\n4\n1|1\n1\n1");
}

static void choose_columns(struct twins *twins, const char *const *columns, uint32_t count)
{
    twins->columns = columns;
    twins->column_count = count;
}

static int open_twins(void **state)
{
    static struct twins twins;
    const char *seed = getenv("HW_SEED");
    char sql[200];

    twins = (struct twins){.db = test_sql_open(":memory:"),
                           .values = own_values,
                           .value_count = sizeof own_values / sizeof own_values[0]};
    *state = &twins;
    hw_random_init(&twins.random, seed == NULL ? 5 : strtoull(seed, NULL, 10));
    print_message("HW_SEED=%s\n", seed == NULL ? "5" : seed);
    make_cluster(twins.db);
    for (size_t i = 0; i < SHOWN_COUNT; i++) {
        (void)snprintf(sql, sizeof sql, "CREATE TABLE copy_%s AS SELECT * FROM %s", shown[i].name,
                       shown[i].name);
        expect_sql(twins.db, sql, "");
    }
    expect_sql(twins.db,
               "CREATE TABLE copy_one AS SELECT rowid, * FROM one;"
               "CREATE TABLE copy_many AS SELECT rowid, * FROM many;"
               "CREATE TABLE copy_many_by_replica(rowid INTEGER, \"partition\" INTEGER, \"offset\""
               " INTEGER, \"timestamp\" INTEGER, key, value, headers, leader_epoch INTEGER,"
               " replica INTEGER, isolation TEXT);"
               "CREATE TABLE copy_hw_log AS SELECT l.*, l.of_topic, l.of_partition, l.of_broker"
               " FROM hw_replicas r, hw_log(r.topic, r.\"partition\", r.broker) l;"
               "SELECT group_concat(DISTINCT visibility) FROM copy_hw_log",
               "visible,above_hw,below_log_start");
    for (int i = 0; i < 6; i++) {
        (void)snprintf(sql, sizeof sql,
                       "INSERT INTO copy_many_by_replica SELECT rowid, *, leader_epoch, replica,"
                       " isolation FROM many WHERE replica = %d AND isolation = 'read_%s'",
                       i % 3 + 1, i < 3 ? "committed" : "uncommitted");
        expect_sql(twins.db, sql, "");
    }
    return 0;
}

static int close_twins(void **state)
{
    test_sql_close(((struct twins *)*state)->db);
    return 0;
}

/* One table with any condition, order and limit. */
static void ask_for_a_table(struct twins *twins)
{
    const struct shown_table *table = &shown[twins_pick(twins, SHOWN_COUNT)];
    const char *chosen[3];
    bool limited = twins_one_in(twins, 3);
    int ordered;

    choose_columns(twins, table->columns, table->count);
    ordered = twins_choose_order(twins, chosen);
    twins_add(twins, "SELECT ");
    for (int i = 0; i < ordered; i++) {
        twins_add(twins, "%s, ", chosen[i]);
    }
    twins_add(twins, "%s FROM @%s WHERE ", limited ? "1" : "*", table->name);
    twins_add_conditions(twins, "");
    twins_add_order(twins, "", chosen, ordered);
    if (limited) {
        twins_add_limit(twins);
    }
    twins_compare(twins, ordered);
}

/* Two or three tables, joined on shared columns, in any order of writing. */
static void ask_for_a_join(struct twins *twins)
{
    static const char *const kinds[] = {"JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN"};
    static const char *const sides[] = {"a.", "b.", "c."};
    static const char *const sames[] = {"=", "=", "=", "IS", "<", ">="};
    const struct shown_table *tables[3];
    uint32_t count = twins_one_in(twins, 4) ? 3 : 2;
    uint32_t side = twins_pick(twins, count);

    for (uint32_t i = 0; i < count; i++) {
        /* All of the middle four have topic and partition. */
        tables[i] = &shown[count == 3 ? 2 + twins_pick(twins, 4) : twins_pick(twins, SHOWN_COUNT)];
    }
    twins_add(twins, "SELECT count(*), min(%s%s), max(a.%s) FROM @%s a", sides[side],
              tables[side]->columns[1], tables[0]->columns[0], tables[0]->name);
    for (uint32_t i = 1; i < count; i++) {
        twins_add(twins, " %s @%s %c ON %s%s %s %s%s", twins_one_of(twins, kinds), tables[i]->name,
                  "abc"[i], sides[i], tables[i] -> columns[0], count == 3 ? "=" : "IS",
                  sides[i - 1], tables[i - 1]->columns[0]);
        twins_add(twins, " AND %s%s %s %s%s", sides[i],
                  tables[i]->columns[1 + twins_pick(twins, 3)], twins_one_of(twins, sames),
                  sides[i - 1], tables[i - 1]->columns[1 + twins_pick(twins, 3)]);
    }
    if (!twins_one_in(twins, 3)) {
        choose_columns(twins, tables[side]->columns, tables[side]->count);
        twins_add(twins, " WHERE ");
        twins_add_conditions(twins, sides[side]);
    }
    twins_compare(twins, 0);
}

/* Logs of replicas, whose arguments are written down or come from another table. */
static void ask_for_logs(struct twins *twins)
{
    static const char *const sources[] = {
        "@hw_replicas r JOIN @hw_log l ON l.of_topic = r.topic AND l.of_partition = r.\"partition\""
        " AND l.of_broker = r.broker",
        "@hw_log l, @hw_replicas r WHERE r.topic = l.of_topic AND r.broker = l.of_broker AND"
        " r.\"partition\" = l.of_partition",
        "@hw_replicas r LEFT JOIN @hw_log l ON l.of_broker = r.broker AND l.of_topic = r.topic AND"
        " l.of_partition = r.\"partition\" AND l.\"offset\" >= r.hw",
        "@hw_log l WHERE l.of_topic = 'many' AND l.of_partition = 1 AND l.of_broker = 2",
        "@hw_log l WHERE l.of_topic = 'one' AND l.of_partition = '0' AND l.of_broker IN (1, 3, "
        "NULL)",
        "@hw_log l WHERE l.of_topic IN ('many', 'one') AND l.of_partition = 0.0 AND"
        " (l.of_broker = 1 OR l.of_broker = 2)",
        "@hw_brokers b JOIN @hw_log l ON l.of_topic = 'many' AND l.of_partition = b.broker - 1 AND"
        " l.of_broker = b.broker AND b.state = 'running'",
        "@hw_segments s JOIN @hw_log l ON l.of_topic = s.topic AND l.of_partition = s.\"partition\""
        " AND l.of_broker = s.broker AND l.\"offset\" >= s.base_offset AND l.\"offset\" <"
        " s.next_offset"};
    const char *source = twins_one_of(twins, sources);
    const char *chosen[3];
    int ordered;

    choose_columns(twins, log_columns, sizeof log_columns / sizeof log_columns[0]);
    ordered = twins_choose_order(twins, chosen);
    twins_add(twins, "SELECT ");
    for (int i = 0; i < ordered; i++) {
        twins_add(twins, "l.%s, ", chosen[i]);
    }
    twins_add(twins, "%s FROM %s",
              twins_one_in(twins, 2) ? "l.of_topic, l.of_broker" : "l.value, l.key", source);
    if (twins_one_in(twins, 2)) {
        twins_add(twins, " %s (", strstr(source, "WHERE") == NULL ? "WHERE" : "AND");
        twins_add_conditions(twins, "l.");
        twins_add(twins, ")");
    }
    twins_add_order(twins, "l.", chosen, ordered);
    twins_compare(twins, ordered);
}

/* Copies of a topic, chosen by its hidden columns. Case: F-01 */
static void ask_for_replicas(struct twins *twins)
{
    static const char *const replicas[] = {
        "= 1",
        "= 2",
        "= '3'",
        "= 1.0",
        "IN (1, 2, 3)",
        "IN (3, 3, NULL)",
        "= NULL",
        "IN (SELECT broker FROM @hw_replicas WHERE topic = 'many' AND hw > 3)",
        "IN (1, '2')",
        "= 1 OR replica = 2",
        "= 3 OR (replica = 1 AND \"offset\" < 4)"};
    static const char *const isolations[] = {"= 'read_committed'", "= 'read_uncommitted'",
                                             "IN ('read_committed', 'read_uncommitted')",
                                             ("= 'read_committed' OR isolation ="
                                              " 'read_uncommitted'")};
    const char *chosen[3];
    int ordered;

    choose_columns(twins, topic_columns, sizeof topic_columns / sizeof topic_columns[0]);
    ordered = twins_choose_order(twins, chosen);
    twins_add(twins, "SELECT ");
    for (int i = 0; i < ordered; i++) {
        twins_add(twins, "%s, ", chosen[i]);
    }
    twins_add(twins,
              "replica, isolation%s FROM @many_by_replica WHERE (replica %s) AND (isolation %s)",
              twins_one_in(twins, 2) ? ", key" : "", twins_one_of(twins, replicas),
              twins_one_of(twins, isolations));
    if (twins_one_in(twins, 2)) {
        twins_add(twins, " AND (");
        twins_add_conditions(twins, "");
        twins_add(twins, ")");
    }
    twins_add_order(twins, "", chosen, ordered);
    twins_compare(twins, ordered);
}

/* ---------------------------------------------------------------------------------------- tests */

static void repeat(void **state, void (*ask)(struct twins *))
{
    struct twins *twins = *state;
    int count = getenv("HW_TEST_QUICK") != NULL ? QUICK_QUERIES : QUERIES;

    twins->asked = twins->refused = twins->empty = 0;
    for (int i = 0; i < count; i++) {
        twins_begin(twins);
        ask(twins);
    }
    print_message("%d queries, %d refused both times, %d without a row\n", twins->asked,
                  twins->refused, twins->empty);
    assert_true(twins->refused < twins->asked / 20);
    assert_true(twins->empty < twins->asked * 2 / 3);
}

/* Case: D-02, D-03, D-04 */
TEST_AGAIN(tables_answer_as_their_copies, void **state)
{
    repeat(state, ask_for_a_table);
}

TEST_AGAIN(joins_of_tables_answer_as_joins_of_copies, void **state)
{
    repeat(state, ask_for_a_join);
}

/* Case: D-01 */
TEST_AGAIN(logs_answer_as_a_table_of_all_of_them, void **state)
{
    repeat(state, ask_for_logs);
}

/* Case: D-03 */
TEST_AGAIN(replicas_answer_as_a_table_of_all_of_them, void **state)
{
    repeat(state, ask_for_replicas);
}

/* Both had no plan in SQLite: an argument as a list beside a comparison of two columns, and a term
 * of an OR that looked as if it needed no argument. Case: D-01 */
TEST(every_argument_that_is_given_leads_to_a_plan, void *fixture)
{
    static const char *const queries[] = {
        "SELECT rowid FROM @many_by_replica WHERE replica = 2 AND isolation IN"
        " ('read_committed', 'read_uncommitted') AND \"offset\" >= \"partition\"",
        "SELECT l.value FROM @hw_replicas r JOIN @hw_log l ON l.of_topic = r.topic AND"
        " l.of_partition = r.\"partition\" AND l.of_broker = r.broker"
        " WHERE l.\"offset\" = 1 OR l.\"offset\" IN (2)"};

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        twins_begin(fixture);
        twins_add(fixture, "%s", queries[i]);
        twins_compare(fixture, 0);
    }
}

int main(void)
{
    return test_run_together(open_twins, close_twins);
}
