/* SPDX-License-Identifier: MIT */
/*
 * Do copies of real brokers' directories go on in memory as these brokers do, and are the originals
 * left alone? What tests/data/kafka and tests/data/internal hold was written by Kafka 4.4.
 */
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

#define DIVERGED                                                                                   \
    "\"brokers\":{\"1\":\"tests/data/kafka/diverged/a\",\"2\":\"tests/data/kafka/diverged/b\"}"
#define OPEN(options) "SELECT open_cluster(':memory:', '{" options "}')"

/* Every file of the originals with its times and a sum of its bytes, in a file of that name. */
static void list_originals(const char *directory, const char *name)
{
    char command[HW_PATH_MAX + 256];

    (void)snprintf(command, sizeof command,
                   "cd tests/data && { find kafka internal -printf '%%p %%s %%T@ %%C@\n' | sort;"
                   " find kafka internal -type f -exec cksum {} +; } >'%s/%s'",
                   directory, name);
    assert_int_equal(system(command), 0);
}

/* Semantics: R9.18. Case: F-20 */
TEST_ALONE(records_are_those_of_the_files)
{
    static const char *const brokers[] = {"stopped", "killed"};
    char directory[HW_PATH_MAX];
    char command[2 * HW_PATH_MAX + 64];

    test_directory_make(directory);
    list_originals(directory, "before");
    for (size_t i = 0; i < 2; i++) {
        sqlite3 *db = test_sql_open(":memory:");
        char sql[1024];

        (void)snprintf(
            sql, sizeof sql,
            "SELECT open_cluster(':memory:', '{\"brokers\":{\"1\":\"tests/data/kafka/%s/logs\"}}');"
            "CREATE TEMP VIEW theirs AS SELECT * FROM kafka_log('tests/data/kafka/%s/logs');"
            "CREATE TEMP VIEW ours AS SELECT r.topic, l.* FROM hw_replicas AS r,"
            " hw_log(r.topic, r.\"partition\", r.broker) AS l",
            brokers[i], brokers[i]);
        expect_sql(db, sql, ":memory:");
        expect_same_sql(db,
                        "SELECT topic, \"partition\", \"offset\", visibility, control, producer_id,"
                        " sequence, quote(key), quote(value) FROM ours ORDER BY 1, 2, 3",
                        "SELECT topic, \"partition\", \"offset\", visibility, control, producer_id,"
                        " sequence, quote(key), quote(value) FROM theirs ORDER BY 1, 2, 3");
        expect_sql(db,
                   "SELECT count(*) > 900 FROM ours;"
                   "SELECT DISTINCT leader, isr, hw = leo FROM hw_partitions",
                   "1\n1|[1]|1");
        /* It is a cluster like any. */
        expect_sql(
            db,
            "SELECT snapshot('s');"
            "SELECT produce('keyed', 3, 'k', 'v', 'all'), add_broker(2);"
            "SELECT reassign('keyed', 3, '[1,2]'), replicate() > 0;"
            "SELECT broker, leo, hw FROM hw_replicas WHERE topic = 'keyed' AND \"partition\" = 3;"
            "SELECT promote('keyed', 3, 2) > 1; SELECT rewind('s');"
            "SELECT leader, leo FROM hw_partitions WHERE topic = 'keyed' AND \"partition\" = 3",
            "0\n15|2\n[1,2]|1\n1|16|16\n2|16|16\n1\n0\n1|15");
        expect_sql(db,
                   "SELECT result FROM hw_explore('{\"topic\":\"keyed\",\"partition\":3,"
                   "\"depth\":2,\"records\":1}') WHERE result LIKE 'stopped%'",
                   "stopped: depth");
        test_sql_close(db);
    }
    list_originals(directory, "after");
    (void)snprintf(command, sizeof command, "cd '%s' && test -s before && cmp before after",
                   directory);
    assert_int_equal(system(command), 0);
    test_directory_remove(directory);
}

/*
 * Under each protocol broker 2 is cut where kafka_diff() says that it will be. With Kafka's own it
 * was seen to be: to 82, then to 72, and then both are the same (tests/data/kafka/README.md). Under
 * the two older ones it is cut too little, and cannot go on.
 */
TEST_ALONE(who_diverged_is_cut_where_it_was_told)
{
    static const struct {
        const char *protocol;
        const char *ends; /* Of x-1: its end on broker 2; records that are the same, and others. */
    } cases[] = {{"kafka", "102|102|0"},
                 {"kip-279", "102|102|0"},
                 {"kip-101", "92|72|20"},
                 {"hw-truncation", "82|72|10"}};
    static const char told[] =
        "SELECT cut_b ->> ('$.\"' || (SELECT value FROM hw_config WHERE name = 'protocol') || '\"')"
        " FROM kafka_diff('tests/data/kafka/diverged/a', 'tests/data/kafka/diverged/b')"
        " WHERE \"partition\" = 1";

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sqlite3 *db = test_sql_open(":memory:");
        char sql[512];

        (void)snprintf(
            sql, sizeof sql,
            OPEN(DIVERGED
                 ",\"leaders\":{\"x-0\":1,\"x-1\":1},\"protocol\":\"%s\"") ";"
                                                                           "SELECT replicate() > 0",
            cases[i].protocol);
        expect_sql(db, sql, ":memory:\n1");
        expect_same_sql(db,
                        "SELECT min(\"offset\") FROM hw_journal WHERE event = 'truncate'"
                        " AND topic = 'x' AND \"partition\" = 1 AND broker = 2",
                        told);
        expect_sql(db,
                   "SELECT (SELECT leo FROM hw_replicas WHERE \"partition\" = 1 AND broker = 2),"
                   " sum(a.value = b.value), sum(a.value <> b.value)"
                   " FROM hw_log('x', 1, 1) a JOIN hw_log('x', 1, 2) b USING (\"offset\")",
                   cases[i].ends);
        test_sql_close(db);
    }
}

/* The latest epoch leads, and of those the longest log; or who is named. */
TEST_ALONE(leaders_are_chosen_or_named)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, OPEN(DIVERGED) "; SELECT leader, isr, leader_epoch FROM hw_partitions",
               ":memory:\n1|[1]|10\n2|[2]|8");
    expect_sql(db,
               OPEN(DIVERGED ",\"leaders\":{\"x-0\":2}") "; SELECT leader FROM hw_partitions;"
                                                         "SELECT replicate() > 0; SELECT DISTINCT "
                                                         "\"partition\", leo FROM hw_replicas",
               ":memory:\n2\n2\n1\n0|48\n1|92");
    test_sql_close(db);
}

/* Internal topics and what is to be deleted stay behind. */
TEST_ALONE(the_metadata_log_says_who_leads)
{
    static const char metadata[] =
        "SELECT topic, \"partition\", leader, leader_epoch, partition_epoch, isr, replicas"
        " FROM kafka_partitions_at('tests/data/internal/broker/__cluster_metadata-0')"
        " WHERE topic NOT LIKE '\\_\\_%' ESCAPE '\\' AND topic <> 'big' ORDER BY 1, 2";
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, OPEN("\"brokers\":{\"1\":\"tests/data/internal/broker\"}"), ":memory:");
    expect_same_sql(db,
                    "SELECT topic, \"partition\", leader, leader_epoch, partition_epoch, isr,"
                    " replicas FROM hw_partitions ORDER BY 1, 2",
                    metadata);
    expect_sql(db,
               "SELECT configs FROM hw_topics WHERE topic = 'tx';"
               "SELECT count(*) FROM hw_topics WHERE topic LIKE 'gone%' OR topic LIKE '\\_\\_%' "
               "ESCAPE '\\'",
               "{\"index.interval.bytes\":\"300\",\"retention.ms\":\"-1\",\"segment.index.bytes\":"
               "\"1200\"}\n0");
    test_sql_close(db);
}

TEST_ALONE(what_does_not_fit_is_refused_in_one_line)
{
#define KILLED "\"brokers\":{\"1\":\"tests/data/kafka/killed/logs\"}"
    static const char *const cases[][2] = {
        {OPEN("\"brokers\":{\"1\":\"tests/data/kafka/diverged/a\",\"2\":\"tests/data/kafka/killed/"
              "logs\"}"),
         "is the log directory of broker 1, not of broker 2"},
        {OPEN("\"brokers\":{\"2\":\"tests/data/kafka/diverged/b\",\"1\":\"tests/data/kafka/killed/"
              "logs\"}"),
         "the directory before it of aGlnaHdhdGVyLWxpdmUtYQ: give those of one cluster"},
        {OPEN("\"brokers\":{\"1\":\"tests/data/kafka/diverged/a\",\"1\":\"tests/data/kafka/"
              "diverged/b\"}"),
         "is there twice in brokers"},
        {OPEN("\"brokers\":{\"1\":\"tests/data/kafka/diverged/a\",\"2\":\"tests/data/kafka/"
              "diverged/a/\"}"),
         "is there twice in brokers"},
        {OPEN("\"brokers\":{\"1\":\"/nowhere\"}"), "'/nowhere'"},
        {OPEN("\"brokers\":{\"1\":\"tests/data/kafka/README.md\"}"), "README.md'"},
        {OPEN("\"brokers\":{\"1\":\"tests/data/kafka\"}"), "has no meta.properties"},
        {OPEN("\"brokers\":{\"01\":\"x\"}"), "by the ids of brokers"},
        {OPEN("\"brokers\":{\"2147483648\":\"x\"}"), "by the ids of brokers"},
        {OPEN("\"brokers\":{\"1\":5}"), "by the ids of brokers"},
        {OPEN("\"brokers\":{}"), "one directory or more"},
        {OPEN("\"brokers\":\"x\""), "brokers must be 1 to 64"},
        {OPEN(KILLED ",\"brokers\":3"), "one directory or more"},
        {OPEN(KILLED ",\"copy_of\":\"x\""), "not together with copy_of"},
        {OPEN(KILLED ",\"memory\":50000"), "50000: the option memory says more"},
        {OPEN(KILLED ",\"leaders\":{\"x-0\":1}"), "the directory of broker 1 has no x-0"},
        {OPEN(KILLED ",\"leaders\":{\"tx-0\":2}"), "the directory of broker 2 has no tx-0"},
        {OPEN(KILLED ",\"leaders\":{\"tx-0\":\"1\"}"), "leaders must be brokers' ids"},
        {OPEN(KILLED ",\"leaders\":{\"tx-0\":1,\"tx-0\":1}"), "has tx-0 twice"},
        {OPEN(KILLED ",\"leaders\":3"), "leaders must be an object"},
        {OPEN(KILLED ",\"leader\":3"), "no option named leader;"},
        {OPEN(KILLED ",\"protocol\":\"minikafka\""), "not under minikafka"},
        {OPEN("\"leaders\":{\"tx-0\":1}"), "leaders go with directories"},
        {OPEN("\"memory\":50000"), "memory bounds what is copied: it goes with copy_of, or"},
        {OPEN("\"memory\":-1,\"copy_of\":\"x\""), "memory must be a number of bytes"},
        {"SELECT open_cluster('/nowhere/c', '{" KILLED "}')", "make one in ':memory:'"}};
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, OPEN("\"brokers\":5"), ":memory:");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *said;

        expect_error(db, cases[i][0], SQLITE_ERROR, "");
        said = sqlite3_errmsg(db);
        if (strstr(said, cases[i][1]) == NULL || strchr(said, '\n') != NULL) {
            fail_msg("%s says '%s', not '%s'", cases[i][0], said, cases[i][1]);
        }
    }
    expect_sql(db, "SELECT count(*) FROM hw_brokers", "5");
    test_sql_close(db);
}

/* A damaged log is offline as it is with a broker that starts, and says why; the others are there. */
TEST_ALONE(one_damaged_partition_leaves_the_others)
{
    char directory[HW_PATH_MAX];
    char sql[4 * HW_PATH_MAX + 256];
    sqlite3 *db = test_sql_open(":memory:");

    test_directory_make(directory);
    (void)snprintf(sql, sizeof sql,
                   "cp -r tests/data/kafka/diverged/a %s/a && chmod -R u+w %s/a &&"
                   " echo nonsense >%s/a/x-1/partition.metadata && : >%s/a/.lock",
                   directory, directory, directory, directory);
    assert_int_equal(system(sql), 0);
    (void)snprintf(sql, sizeof sql, OPEN("\"brokers\":{\"1\":\"%s/a\"}"), directory);
    expect_error(db, sql, SQLITE_ERROR, "");
    assert_non_null(strstr(sqlite3_errmsg(db), "x-1/partition.metadata"));
    (void)snprintf(sql, sizeof sql, "rm -r %s/a/x-0 %s/a/x-1/partition.metadata", directory,
                   directory);
    assert_int_equal(system(sql), 0);
    (void)snprintf(sql, sizeof sql,
                   OPEN("\"brokers\":{\"1\":\"%s/a\"}") ";"
                                                        "SELECT \"partition\", leader, isr, leo "
                                                        "FROM hw_partitions",
                   directory);
    expect_sql(db, sql, ":memory:\n0|NULL|[]|NULL\n1|1|[1]|102");
    test_sql_close(db);
    test_directory_remove(directory);
}

int main(void)
{
    return test_run(NULL, NULL);
}
