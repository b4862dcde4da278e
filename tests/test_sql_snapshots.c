/* SPDX-License-Identifier: MIT */
/* Does a cluster go back to exactly what it was, and go on from there as it did the first time? */
#include "core/base/memory.h"
#include "core/base/random.h"
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* Everything that can be seen of a cluster. */
static const char everything[] =
    "SELECT * FROM hw_brokers; SELECT * FROM hw_topics; SELECT * FROM hw_partitions;"
    "SELECT * FROM hw_replicas; SELECT * FROM hw_acks; SELECT * FROM hw_lost;"
    "SELECT * FROM hw_epochs; SELECT * FROM hw_producers; SELECT * FROM hw_transactions;"
    "SELECT * FROM hw_segments; SELECT * FROM hw_journal; SELECT * FROM hw_links;"
    "SELECT * FROM hw_requests; SELECT * FROM hw_loads; SELECT * FROM hw_config;"
    "SELECT l.* FROM hw_replicas r, hw_log(r.topic, r.\"partition\", r.broker) l"
    " WHERE r.leo IS NOT NULL";

/* One step of a walk, with two random numbers; what is refused is part of what happens. */
static const char *const steps[] = {
    "SELECT produce('t', ?1 % 2, ?2, hex(zeroblob(10)), 'all')",
    "SELECT produce('t', 0, 'k' || ?1, 'v' || ?2, 1)",
    "SELECT count(produce('t', 1, NULL, ?1 + value)) FROM json_each(json_array(1, 2, ?2))",
    "SELECT fetch_round('t') + 0 * (?1 + ?2)",
    "SELECT fetch('t', ?1 % 2, 1 + ?2 % 3)",
    "SELECT replicate() + 0 * (?1 + ?2)",
    "SELECT tick((?1 + ?2) % 700)",
    "SELECT tick(40000 + ?1 + ?2)",
    "SELECT crash(1 + ?1 % 3, CASE ?2 % 2 WHEN 0 THEN 'power' END)",
    "SELECT restart(1 + (?1 + ?2) % 3)",
    "SELECT promote('t', ?1 % 2, 1 + ?2 % 3)",
    "SELECT promote('t', ?1 % 2, 1 + ?2 % 3, 'unclean')",
    "SELECT elect('t', (?1 + ?2) % 2)",
    "SELECT cut(1 + ?1 % 3, CASE ?2 % 2 WHEN 0 THEN 'controller' ELSE 3 END)",
    "SELECT heal() + 0 * (?1 + ?2)",
    "SELECT init_producer('p' || ?1) + 0 * ?2",
    "SELECT begin_txn(producer_id) FROM hw_transactions WHERE ?1 + ?2",
    ("SELECT produce('t', ?1 % 2, 'tx', ?2, 'all', json_object('producer', producer_id))"
     " FROM hw_transactions LIMIT 1"),
    "SELECT commit_txn(producer_id) FROM hw_transactions WHERE ?1 % 2 AND ?2",
    "SELECT roll('t', ?1 % 2) + 0 * ?2",
    "SELECT delete_records('t', ?1 % 2, ?2 % 4)",
    "INSERT INTO t(key, value) VALUES (?1, ?2)",
    "SELECT create_topic('u' || ?1, 1 + ?2 % 2)",
    "SELECT delete_topic('u' || ?1) + 0 * ?2",
    "SELECT load('t', json_object('records_per_s', 20 + ?1, 'until_ms', ?2 * 100))",
};

enum { STEPS = sizeof steps / sizeof steps[0] };

/* The same seed does the same. */
static void walk(sqlite3 *db, uint64_t seed, int count)
{
    struct hw_random random;

    hw_random_init(&random, seed);
    for (int i = 0; i < count; i++) {
        sqlite3_stmt *step;

        assert_int_equal(
            sqlite3_prepare_v2(db, steps[hw_random_below(&random, STEPS)], -1, &step, NULL),
            SQLITE_OK);
        (void)sqlite3_bind_int(step, 1, (int)hw_random_below(&random, 8));
        (void)sqlite3_bind_int(step, 2, (int)hw_random_below(&random, 8));
        while (sqlite3_step(step) == SQLITE_ROW) {}
        (void)sqlite3_finalize(step);
    }
}

static char *all_of(sqlite3 *db)
{
    return hw_text_copy(&hw_allocator_libc, test_sql(db, everything));
}

static void expect_all(sqlite3 *db, const char *expected)
{
    const char *now = test_sql(db, everything);

    assert_int_equal(strncmp(now, "error", 5) == 0, 0);
    assert_string_equal(now, expected);
}

static void goes_back_and_on(const char *protocol, const char *replication, uint64_t seed)
{
    sqlite3 *db = test_sql_open(":memory:");
    char sql[400];
    char *before;
    char *after;

    (void)snprintf(sql, sizeof sql,
                   "SELECT open_cluster(':memory:', '{\"protocol\":\"%s\",\"seed\":5}');"
                   "CREATE VIRTUAL TABLE t USING highwater(partitions=2, replication.factor=3);"
                   "SELECT configure('replication', '%s')",
                   protocol, replication);
    assert_null(strstr(test_sql(db, sql), "error"));
    walk(db, seed, 60);
    expect_sql(db, "SELECT snapshot('a') IS NOT NULL", "1");
    before = all_of(db);
    walk(db, seed + 1, 60);
    after = all_of(db);
    for (int round = 0; round < 2; round++) {
        expect_sql(db, "SELECT rewind('a') IS NOT NULL", "1");
        expect_all(db, before);
        walk(db, seed + 1, 60);
        expect_all(db, after);
    }
    free(before);
    free(after);
    test_sql_close(db);
}

TEST_ALONE(every_protocol_goes_back_exactly)
{
    static const char *const protocols[] = {"kafka", "kip-279", "kip-101", "hw-truncation",
                                            "minikafka"};

    uint64_t seeds = getenv("HW_TEST_QUICK") == NULL ? 4 : 1;

    for (uint64_t seed = 1; seed <= seeds; seed++) {
        for (size_t i = 0; i < 5; i++) {
            goes_back_and_on(protocols[i], "manual", seed);
        }
        goes_back_and_on("kafka", "timed", seed);
        goes_back_and_on("kip-101", "timed", seed);
        goes_back_and_on("kafka", "auto", seed);
    }
}

TEST_ALONE(who_is_in_the_middle_of_something_is_told_so)
{
    sqlite3 *db = test_sql_open(":memory:");
    sqlite3_stmt *open;

    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater; SELECT snapshot('a');", "0");
    expect_sql(db, "INSERT INTO t(value) VALUES ('x'), ('y'); SELECT count(*) FROM t", "2");
    expect_error(db, "BEGIN; SELECT rewind('a')", SQLITE_ERROR,
                 "INVALID_REQUEST: rewind(): not inside a transaction");
    expect_sql(db, "ROLLBACK", "");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM t", -1, &open, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(open), SQLITE_ROW);
    expect_error(db, "SELECT rewind('a')", SQLITE_BUSY, "rewind(): a statement is open");
    assert_int_equal(sqlite3_step(open), SQLITE_ROW);
    (void)sqlite3_finalize(open);
    expect_error(db, "SELECT rewind('a') FROM t", SQLITE_BUSY, "rewind(): a statement is open");
    expect_sql(db, "SELECT count(*) FROM t; SELECT rewind('a'); SELECT count(*) FROM t", "2\n0\n0");
    test_sql_close(db);
}

TEST_ALONE(a_topic_that_came_later_is_unknown_then)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "SELECT snapshot('empty'); CREATE VIRTUAL TABLE t USING highwater;"
               "INSERT INTO t(value) VALUES ('x'); SELECT snapshot('full');"
               "SELECT rewind('empty')",
               "0\n0\n0");
    expect_error(db, "SELECT * FROM t", SQLITE_ERROR, "UNKNOWN_TOPIC_OR_PARTITION");
    expect_sql(db, "SELECT rewind('full'); SELECT value FROM t", "0\nx");
    expect_sql(db, "SELECT name, time_ms, taken_at_event > 0, size_bytes > 0 FROM hw_snapshots",
               "empty|0|1|1\nfull|0|1|1");
    expect_sql(db, "SELECT forget('empty'), forget('full'); SELECT * FROM hw_snapshots", "1|0");
    expect_error(db, "SELECT rewind('full')", SQLITE_ERROR,
                 "INVALID_REQUEST: there is no snapshot 'full'");
    expect_sql(db, "SELECT value FROM t; DROP TABLE t", "x");
    test_sql_close(db);
}

TEST_ALONE(a_cluster_on_disk_is_copied_into_memory)
{
    char directory[HW_PATH_MAX];
    char *database;
    char *open;
    sqlite3 *db;
    sqlite3 *other;
    sqlite3 *copy;

    test_directory_make(directory);
    database = sqlite3_mprintf("%s/a.db", directory);
    open = sqlite3_mprintf("SELECT open_cluster(':memory:', '{\"copy_of\":\"%s-highwater\"}')",
                           database);
    db = test_sql_open(database);
    copy = test_sql_open(":memory:");
    other = test_sql_open(database);
    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);"
               "INSERT INTO t(value) VALUES ('a'), ('b'); SELECT replicate() > 0",
               "1");
    expect_sql(other, "SELECT count(*) FROM t", "2");
    expect_error(other, "SELECT snapshot('s')", SQLITE_ERROR,
                 "INVALID_REQUEST: this cluster is in a directory, and only one in memory");
    expect_error(other, "SELECT * FROM hw_explore()", SQLITE_ERROR,
                 "INVALID_REQUEST: this cluster is in a directory, and only one in memory");
    test_sql_close(other);
    /* While this process has it open, it is copied as it stands on disk: what is staged is not there. */
    expect_sql(db, "BEGIN; INSERT INTO t(value) VALUES ('staged')", "");
    expect_sql(copy, open, ":memory:");
    expect_sql(copy,
               "CREATE VIRTUAL TABLE t USING highwater(topic='t'); SELECT value FROM t;"
               "SELECT DISTINCT problem FROM hw_recoveries; DROP TABLE t",
               "a\nb\nit or its .timeindex is missing or does not fit the .log");
    expect_sql(db, "COMMIT; SELECT leo FROM hw_partitions", "3");
    expect_sql(db, open, ":memory:");
    expect_sql(db, "SELECT leo FROM hw_partitions; SELECT produce('t', 0, NULL, 'x')", "3\n3");
    test_sql_close(db);
    db = test_sql_open(database);
    expect_sql(db, "SELECT leo FROM hw_partitions; SELECT replicate() > 0", "3\n1");
    test_sql_close(db);
    test_sql_close(copy);
    copy = test_sql_open(":memory:");
    expect_sql(copy, open, ":memory:");
    expect_sql(copy,
               "CREATE VIRTUAL TABLE t USING highwater(topic='t'); SELECT value FROM t;"
               "SELECT snapshot('s');"
               "SELECT produce('t', 0, NULL, 'c', 1), replicate() > 0; SELECT count(*) FROM t;"
               "SELECT rewind('s'); SELECT count(*) FROM t",
               "a\nb\nstaged\n0\n3|1\n4\n0\n3");
    expect_error(copy, "SELECT open_cluster(':memory:', '{\"copy_of\":\"/nowhere\"}')",
                 SQLITE_ERROR, "");
    expect_error(copy, "SELECT open_cluster(':memory:', '{\"copy_of\":\"/usr/include\"}')",
                 SQLITE_ERROR, "KAFKA_STORAGE_ERROR: '/usr/include' is no cluster's directory");
    test_sql_close(copy);
    db = test_sql_open(database);
    expect_sql(db, "SELECT count(*) FROM t; SELECT add_broker(4, NULL, 'far')", "3\n4");
    test_sql_close(db);
    copy = test_sql_open(":memory:");
    expect_error(copy, open, SQLITE_ERROR, "INVALID_REQUEST: broker 4 has its logs in '");
    expect_sql(copy, "SELECT count(*) FROM hw_brokers", "3");
    test_sql_close(copy);
    sqlite3_free(database);
    sqlite3_free(open);
    test_directory_remove(directory);
}

int main(void)
{
    return test_run(NULL, NULL);
}
