/* SPDX-License-Identifier: MIT */
/*
 * Threads with connections of their own write to one topic: does none of them fail, lose a row or
 * write it twice, as with an ordinary table? And who waits for whom, how long, and until when?
 */
#include "tests/support_sql_file.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/support_test.h"

enum { THREADS = 4, CONNECTIONS = 2, ROWS = 24, LONG_MS = 60000 };

static int set_up(void **state)
{
    return test_sql_file_set_up(state, false, NULL, NULL);
}

/* A statement with a row's key between its two parts. */
struct way {
    const char *before;
    const char *after;
};

/* What one thread is to do, and how it went. */
struct worker {
    pthread_t thread;
    sqlite3 *db;
    const char *path;
    const struct way *way;
    const char *sql;
    int number;
    int code;
    char message[200];
    atomic_bool has_ended;
};

/* test_sql() is for one thread. */
static int run(struct worker *worker, sqlite3 *db, const char *sql)
{
    char *message = NULL;
    int code = sqlite3_exec(db, sql, NULL, NULL, &message);

    if (code != SQLITE_OK && worker->code == SQLITE_OK) {
        worker->code = code;
        (void)snprintf(worker->message, sizeof worker->message, "%.90s: %s", sql, message);
    }
    sqlite3_free(message);
    return code;
}

static void start(struct worker *worker, void *(*body)(void *))
{
    atomic_init(&worker->has_ended, false);
    assert_int_equal(pthread_create(&worker->thread, NULL, body, worker), 0);
}

static void join(struct worker *worker)
{
    assert_int_equal(pthread_join(worker->thread, NULL), 0);
}

/* ------------------------------------------------------------------------------------ many rows */

static void *write_rows(void *argument)
{
    struct worker *worker = argument;
    sqlite3 *connections[CONNECTIONS];
    char sql[300];

    for (int c = 0; c < CONNECTIONS; c++) {
        connections[c] = test_sql_open(worker->path);
        (void)sqlite3_busy_timeout(connections[c], LONG_MS);
        (void)run(worker, connections[c],
                  "PRAGMA synchronous=off; CREATE VIRTUAL TABLE temp.own USING highwater(topic=t)");
    }
    for (int i = 0; i < ROWS && worker->code == SQLITE_OK; i++) {
        (void)snprintf(sql, sizeof sql, "%s%d-%d%s", worker->way->before, worker->number, i,
                       worker->way->after);
        (void)run(worker, connections[i % CONNECTIONS], sql);
    }
    for (int c = 0; c < CONNECTIONS; c++) {
        (void)sqlite3_close(connections[c]);
    }
    return NULL;
}

/* Every way to write a row to the topic, and the same to an ordinary table as the measure. */
static const struct way ways[] = {
    {"INSERT INTO t(key) VALUES ('", "')"},
    {"INSERT INTO temp.own(key) VALUES ('", "')"},
    {"BEGIN IMMEDIATE; INSERT INTO t(key) VALUES ('", "'); COMMIT"},
    {"BEGIN; INSERT INTO temp.own(key) VALUES ('", "'); COMMIT"},
    {"INSERT INTO source VALUES ('", "')"}, /* Its trigger writes to t. */
    {"SELECT produce('t', 0, '", "', NULL)"},
};
enum { WAYS = sizeof ways / sizeof ways[0] };

static const struct way ordinary_way = {"INSERT INTO ordinary(key) VALUES ('", "')"};

/* All threads write, each in this way, or each in another one of the list; none may fail. */
static void write_at_once(const struct fixture *f, const struct way *way)
{
    struct worker workers[THREADS];

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){
            .path = f->path, .number = i, .way = way != NULL ? way : &ways[(size_t)i % WAYS]};
        start(&workers[i], write_rows);
    }
    for (int i = 0; i < THREADS; i++) {
        join(&workers[i]);
        if (workers[i].code != SQLITE_OK) {
            fail_msg("%s", workers[i].message);
        }
    }
}

/* Case: F-04 */
TEST(no_insert_fails_or_is_lost, struct fixture *f)
{
    static const char *const modes[] = {"wal", "delete", "truncate", "persist", "memory"};
    char expected[100];
    char sql[200];

    (void)snprintf(expected, sizeof expected, "%d|%d", THREADS * ROWS, THREADS * ROWS);
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++) {
        (void)snprintf(sql, sizeof sql, "PRAGMA journal_mode=%s", modes[m]);
        expect_sql(f->db, sql, modes[m]);
        /* Last all ways at once. */
        for (size_t way = 0; way <= WAYS; way++) {
            expect_sql(f->db,
                       "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
                       "CREATE TABLE source(key); CREATE TRIGGER copy AFTER INSERT ON source BEGIN"
                       " INSERT INTO t(key) VALUES (new.key); END; CREATE TABLE ordinary(key)",
                       "");
            write_at_once(f, way < WAYS ? &ways[way] : NULL);
            expect_sql(f->db, "SELECT count(*), count(DISTINCT key) FROM t", expected);
            if (way == 0) {
                write_at_once(f, &ordinary_way);
                expect_sql(f->db, "SELECT count(*), count(DISTINCT key) FROM ordinary", expected);
            }
            expect_sql(f->db, "DROP TABLE t; DROP TABLE source; DROP TABLE ordinary", "");
        }
    }
}

/* ------------------------------------------------------------------------------- who waits how */

static void *run_statement(void *argument)
{
    struct worker *worker = argument;

    (void)run(worker, worker->db, worker->sql);
    atomic_store(&worker->has_ended, true);
    return NULL;
}

/* A connection to whose temporary tables p0 and p1 the two partitions of topic t belong. */
static sqlite3 *open_with_partitions(const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);

    (void)sqlite3_busy_timeout(db, LONG_MS);
    expect_sql(db,
               "CREATE VIRTUAL TABLE temp.p0 USING highwater(topic=t, partition=0);"
               "CREATE VIRTUAL TABLE temp.p1 USING highwater(topic=t, partition=1)",
               "");
    return db;
}

static void make_topic(const struct fixture *f)
{
    expect_sql(f->db, "SELECT create_topic('t', 2, 1) IS NOT NULL", "1");
}

/* Case: F-04 */
TEST(of_two_that_wait_for_each_other_one_is_told_at_once, struct fixture *f)
{
    struct worker workers[2] = {{.sql = "INSERT INTO p1(value) VALUES ('a')"},
                                {.sql = "INSERT INTO p0(value) VALUES ('b')"}};
    time_t begun = time(NULL);
    int loser;

    make_topic(f);
    for (int i = 0; i < 2; i++) {
        workers[i].db = open_with_partitions(f);
    }
    expect_sql(workers[0].db, "BEGIN; INSERT INTO p0(value) VALUES ('a')", "");
    expect_sql(workers[1].db, "BEGIN; INSERT INTO p1(value) VALUES ('b')", "");
    for (int i = 0; i < 2; i++) {
        start(&workers[i], run_statement);
    }
    do {
        loser = atomic_load(&workers[0].has_ended) ? 0 : 1;
    } while (!atomic_load(&workers[loser].has_ended));
    join(&workers[loser]);
    assert_int_equal(workers[loser].code, SQLITE_BUSY);
    assert_false(atomic_load(&workers[1 - loser].has_ended));
    /* So it is for any verb, too. */
    expect_error(workers[loser].db,
                 loser == 0 ? "SELECT produce('t', 1, 'x', 'x')"
                            : "SELECT produce('t', 0, 'x', 'x')",
                 SQLITE_BUSY, loser == 0 ? "t-1 is being written" : "t-0 is being written");
    assert_true(time(NULL) - begun < LONG_MS / 2000);
    expect_sql(workers[loser].db, "ROLLBACK", "");
    join(&workers[1 - loser]);
    assert_int_equal(workers[1 - loser].code, SQLITE_OK);
    expect_sql(workers[1 - loser].db, "COMMIT; SELECT count(*), count(DISTINCT value) FROM p0",
               "1|1");
    test_sql_close(workers[0].db);
    test_sql_close(workers[1].db);
}

/* Case: F-04 */
TEST(the_busy_timeout_is_how_long_an_open_transaction_is_waited_for, struct fixture *f)
{
    sqlite3 *first;
    sqlite3 *second;

    make_topic(f);
    first = open_with_partitions(f);
    second = open_with_partitions(f);
    expect_sql(first, "BEGIN; INSERT INTO p0(value) VALUES ('a')", "");
    for (int ms = 0; ms <= 40; ms += 40) {
        (void)sqlite3_busy_timeout(second, ms);
        expect_error(second, "INSERT INTO p0(value) VALUES ('b')", SQLITE_BUSY,
                     "t-0 is being written by an open transaction");
        expect_error(second, "SELECT produce('t', 0, NULL, 'b')", SQLITE_BUSY,
                     "t-0 is being written by an open transaction");
    }
    /* A transaction's own connection would wait for itself. */
    expect_error(first, "SELECT promote('t', 0, 1)", SQLITE_BUSY, "t-0 is being written");
    expect_sql(first, "COMMIT", "");
    expect_sql(second, "INSERT INTO p0(value) VALUES ('b'); SELECT value FROM p0", "a\nb");
    test_sql_close(first);
    test_sql_close(second);
}

/* Case: F-04 */
TEST(an_interrupt_ends_the_wait, struct fixture *f)
{
    sqlite3 *first;

    make_topic(f);
    first = open_with_partitions(f);
    expect_sql(first, "BEGIN; INSERT INTO p0(value) VALUES ('a')", "");
    for (int i = 0; i < 2; i++) {
        struct worker worker = {.db = open_with_partitions(f),
                                .sql = i == 0 ? "INSERT INTO p0(value) VALUES ('b')"
                                              : "SELECT produce('t', 0, NULL, 'b')"};

        start(&worker, run_statement);
        while (!atomic_load(&worker.has_ended)) {
            sqlite3_interrupt(worker.db);
            (void)sqlite3_sleep(1);
        }
        join(&worker);
        assert_int_equal(worker.code, SQLITE_INTERRUPT);
        test_sql_close(worker.db);
    }
    expect_sql(first, "COMMIT; SELECT value FROM p0", "a");
    test_sql_close(first);
}

/* Case: F-04 */
TEST(whoever_waits_goes_on_when_the_other_connection_is_closed, struct fixture *f)
{
    static const char *const statements[] = {
        "INSERT INTO p0(value) VALUES ('b')", "SELECT produce('t', 0, NULL, 'b')",
        "SELECT crash(1), restart(1), produce('t', 0, NULL, 'b')", "SELECT delete_topic('t')"};

    make_topic(f);
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        struct worker worker = {.db = open_with_partitions(f), .sql = statements[i]};
        sqlite3 *first = open_with_partitions(f);

        expect_sql(first, "BEGIN; INSERT INTO p0(value) VALUES ('a')", "");
        start(&worker, run_statement);
        (void)sqlite3_sleep(20);
        assert_false(atomic_load(&worker.has_ended));
        test_sql_close(first);
        join(&worker);
        assert_string_equal(worker.message, "");
        test_sql_close(worker.db);
    }
    expect_sql(f->db, "SELECT count(*) FROM hw_topics", "0");
}

enum { UNDER_WAY = 100, LOOKS_MAX = 600 };

/* Start another connection's statement when the exploration is under way, and end both once that
 * one is done, or has waited for seconds. */
static int look_up(void *argument)
{
    struct worker *worker = argument;

    if (++worker->number < UNDER_WAY) {
        return 0;
    }
    if (worker->number == UNDER_WAY) {
        start(worker, run_statement);
    }
    (void)sqlite3_sleep(10);
    return atomic_load(&worker->has_ended) || worker->number > LOOKS_MAX;
}

TEST(an_exploration_of_a_new_cluster_lets_others_go_on, struct fixture *f)
{
    struct worker worker = {.sql = "INSERT INTO p0(value) VALUES ('a')"};

    make_topic(f);
    worker.db = open_with_partitions(f);
    sqlite3_progress_handler(f->db, 1, look_up, &worker);
    expect_error(f->db, "SELECT * FROM hw_explore('{\"new\":3,\"seconds\":600}')", SQLITE_INTERRUPT,
                 "interrupted");
    sqlite3_progress_handler(f->db, 0, NULL, NULL);
    join(&worker);
    assert_in_range(worker.number, UNDER_WAY, LOOKS_MAX);
    assert_string_equal(worker.message, "");
    test_sql_close(worker.db);
}

static void *write_shared(void *argument)
{
    struct worker *worker = argument;
    char sql[100];

    for (int i = 0; i < ROWS && worker->code == SQLITE_OK; i++) {
        (void)snprintf(sql, sizeof sql, "INSERT INTO p0(key) VALUES ('%d-%d')", worker->number, i);
        (void)run(worker, worker->db, sql);
    }
    return NULL;
}

/* Case: F-04 */
TEST(threads_may_share_a_connection, struct fixture *f)
{
    struct worker workers[THREADS];
    sqlite3 *connections[THREADS / 2];
    char expected[100];

    make_topic(f);
    for (int i = 0; i < THREADS; i++) {
        if (i % 2 == 0) {
            connections[i / 2] = open_with_partitions(f);
        }
        workers[i] = (struct worker){.db = connections[i / 2], .number = i};
    }
    for (int i = 0; i < THREADS; i++) {
        start(&workers[i], write_shared);
    }
    for (int i = 0; i < THREADS; i++) {
        join(&workers[i]);
        assert_string_equal(workers[i].message, "");
    }
    (void)snprintf(expected, sizeof expected, "%d|%d", THREADS * ROWS, THREADS * ROWS);
    expect_sql(connections[0], "SELECT count(*), count(DISTINCT key) FROM p0", expected);
    for (int i = 0; i < THREADS / 2; i++) {
        test_sql_close(connections[i]);
    }
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
