/* SPDX-License-Identifier: MIT */
/*
 * Every allocation that SQLite makes for the extension fails once: loading it, its functions, its
 * tables, transactions. Nothing crashes, nothing leaks, and the statement that failed says that
 * memory ran out.
 */
#include "tests/support_sql_memory.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* Each statement stands for itself: after one that failed the others go on. */
static const char *const topics[] = {
    "CREATE VIRTUAL TABLE t USING highwater(partitions=2, replication.factor=3, "
    "'min.insync.replicas'=\"1\")",
    "SELECT create_topic('made', 1, 1, '{\"cleanup.policy\":\"compact\"}')",
    "CREATE VIRTUAL TABLE v USING highwater(topic=t, partition=1)",
    "CREATE VIRTUAL TABLE temp.w USING highwater(topic=t)",
    "SELECT configure('replica.lag.time.max.ms', 500), add_broker(4, 'r1')",
    "ALTER TABLE t RENAME TO x",
    "CREATE VIRTUAL TABLE bad USING highwater(partitons=2)",
    "BEGIN",
    "INSERT INTO t(\"partition\", key, value, headers) VALUES (0, 'k1', 'v1', '{\"a\":\"b\",\"c\":"
    "{\"hex\":\"00FF\"}}')",
    "SAVEPOINT s",
    "CREATE VIRTUAL TABLE other USING highwater()",
    "INSERT INTO other(key, value) VALUES (1, 2), (x'00', NULL)",
    "ROLLBACK TO s",
    "INSERT INTO v(value) VALUES (zeroblob(20000))",
    "COMMIT",
    "SELECT produce('t', 0, 'k2', 'v2', 'all', '{\"timestamp\":5,\"headers\":{\"h\":1}}')",
    "SELECT fetch_round('t'), fetch('t', 0, 2), replicate(), tick(100), refresh_isr()",
    "INSERT INTO t(\"offset\", value) VALUES (1, 2)",
    "UPDATE t SET value = 1",
    "SELECT nothing()",
};

static const char *const readers[] = {
    "SELECT * FROM t WHERE \"offset\" >= 0 AND \"timestamp\" > 1 ORDER BY rowid DESC",
    "SELECT \"partition\", \"offset\", headers FROM t ORDER BY \"partition\" DESC LIMIT 2 OFFSET 1",
    "SELECT max(\"offset\"), count(*) FROM v WHERE replica = 2 AND isolation = 'read_committed'",
    "SELECT * FROM hw_log('t', 0, 2) WHERE \"offset\" IN (0, 1)",
    "SELECT * FROM hw_brokers, hw_topics WHERE topic = 't'",
    "SELECT * FROM hw_replicas WHERE topic = 't' AND \"partition\" = 1 AND broker = 2",
    "SELECT count(*) FROM hw_partitions, hw_acks, hw_epochs, hw_segments, hw_config",
    "SELECT count(*) FROM hw_help WHERE name LIKE 'hw%'",
    "SELECT remove_from_isr('t', 0, 3), promote('t', 0, 2), rejoin('t', 0, 3), flush()",
    "SELECT crash(1, 'power'), restart(1)",
    "BEGIN",
    "DROP TABLE t",
    "ROLLBACK",
    "DROP TABLE v",
    "DROP TABLE t",
    "SELECT delete_topic('made')",
    "SELECT open_cluster(':memory:', '{\"brokers\":2,\"protocol\":\"minikafka\",\"seed\":1}')",
    "SELECT count(*) FROM hw_brokers",
};

/* Producers whose records are delivered, over a leader that dies. */
static const char *const producers[] = {
    "SELECT create_topic('t', 1, 2)",
    "SELECT configure('retries', 3), configure('check.invariants', 'true')",
    "SELECT init_producer('pay'), init_producer()",
    "SELECT begin_txn(0)",
    "SELECT produce('t', 0, NULL, 'a', 'all', '{\"producer\":0}')",
    "SELECT produce('t', 0, NULL, 'b', 'all', '{\"producer\":1}')",
    "SELECT fetch('t', 0, 2), crash(1), promote('t', 0, 2)",
    "SELECT produce('t', 0, NULL, 'c', 'all', '{\"producer\":1}')",
    "SELECT tick(1), restart(1), replicate()",
    "SELECT why('t', 0, 0), why('t', 0, 1), diagram('t', 0)",
    "SELECT abort_txn(0), replicate()",
    "SELECT why('t', 0, 0), count(*) FROM hw_producers, hw_transactions",
    "SELECT init_producer('pay')",
    "SELECT delete_topic('t'), tick(200000)",
};

static const char *const transactional[] = {
    "CREATE TABLE plain(x)",
    "CREATE VIRTUAL TABLE t USING highwater(transactional=1, replication.factor=2)",
    "CREATE VIRTUAL TABLE u USING highwater(topic=t, transactional=1)",
    "BEGIN",
    "INSERT INTO plain VALUES (1)",
    "INSERT INTO t(value) VALUES ('a'), (zeroblob(20000))",
    "SAVEPOINT s",
    "INSERT INTO u(value) VALUES ('b')",
    "ROLLBACK TO s",
    "COMMIT",
    "INSERT INTO u(value) VALUES ('c')",
    "SELECT replicate('t')",
    "SELECT value FROM t",
    "DROP TABLE u",
    "DROP TABLE t",
};

/* Copies of real brokers' directories. */
static const char *const copies[] = {
    ("SELECT open_cluster(':memory:', '{\"brokers\":{\"1\":\"tests/data/kafka/diverged/a\","
     "\"2\":\"tests/data/kafka/diverged/b\"},\"leaders\":{\"x-1\":1}}')"),
    "SELECT count(*) FROM hw_brokers",
    "SELECT replicate()",
    "SELECT open_cluster(':memory:', '{\"brokers\":{\"1\":\"tests/data/internal/broker\"}}')",
};

/* Whether any statement ran out of memory. */
static bool run_all(const char *const *statements, size_t count)
{
    sqlite3 *db = NULL;
    bool out_of_memory = false;
    int code = sqlite3_open(":memory:", &db);

    if (code == SQLITE_OK) {
        code = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_init", NULL);
    }
    out_of_memory = code != SQLITE_OK;
    for (size_t i = 0; code == SQLITE_OK && i < count; i++) {
        out_of_memory |= (test_sql_run(db, statements[i]) & 0xff) == SQLITE_NOMEM;
    }
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return out_of_memory;
}

/*
 * A failure in the middle of a longer story is met by what comes before it in the same way each
 * time, so each part is swept on its own behind the setting up of the first. HW_TEST_QUICK: only
 * every 29th allocation.
 */
static void sweep(const char *const *statements, size_t count)
{
    int step = getenv("HW_TEST_QUICK") == NULL ? 1 : 29;
    int round = 0;
    bool failed;

    do {
        test_sql_allocations = 0;
        test_sql_fail_at = round;
        round += step;
        failed = run_all(statements, count);
        if (sqlite3_memory_used() != 0) {
            fail_msg("%lld bytes leak where allocation %d fails", (long long)sqlite3_memory_used(),
                     test_sql_fail_at);
        }
    } while (test_sql_allocations >
             test_sql_fail_at); /* A round without a failure left is the last one. */
    assert_false(failed);
    assert_true(round > 500); /* 0 would mean that nothing was swept. */
}

TEST_ALONE(topics_and_transactions_survive_every_failed_allocation)
{
    sweep(topics, sizeof topics / sizeof topics[0]);
}

TEST_ALONE(transactional_tables_survive_every_failed_allocation)
{
    sweep(transactional, sizeof transactional / sizeof transactional[0]);
}

TEST_ALONE(producers_survive_every_failed_allocation)
{
    sweep(producers, sizeof producers / sizeof producers[0]);
}

TEST_ALONE(copies_of_brokers_survive_every_failed_allocation)
{
    sweep(copies, sizeof copies / sizeof copies[0]);
}

TEST_ALONE(readers_and_faults_survive_every_failed_allocation)
{
    enum { READER_COUNT = sizeof readers / sizeof readers[0] };
    const char *statements[4 + READER_COUNT];

    statements[0] = topics[0];
    statements[1] = "CREATE VIRTUAL TABLE v USING highwater(topic=t, partition=1)";
    statements[2] = "INSERT INTO t(\"partition\", value) VALUES (0, 'a'), (0, 'b'), (1, 'c')";
    statements[3] = "SELECT replicate()";
    memcpy(statements + 4, readers, sizeof readers);
    sweep(statements, 4 + READER_COUNT);
}

int main(void)
{
    /* Held for the whole run: valgrind takes its time and memory for each library that comes. */
    if (dlopen(HW_TEST_EXTENSION, RTLD_NOW) == NULL) {
        return 2;
    }
    test_sql_memory_install();
    return test_run(NULL, NULL);
}
