/* SPDX-License-Identifier: MIT */
/*
 * A process that is killed while SQL transactions are Kafka's too (transactional=1): is there never
 * an event without its change, never a change without its event, for readers of read_committed?
 *
 * Before each system call that may change a file the files are copied: that is what a kill leaves
 * there. Journal modes and PRAGMA synchronous take turns, so that each moment is met with one of
 * them; with HW_TEST_FULL in the environment with all, and a thousand processes are killed at a
 * random time instead of a few. With HW_TEST_QUICK it is every 41st moment. journal_mode=MEMORY and
 * OFF are left out: a kill damages the database itself.
 */
#include "core/base/random.h"
#include "tests/support_directory.h"
#include "tests/support_sql.h"
#include "tests/support_sql_kill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { PATH_SIZE = 4200, SQL_SIZE = 4000, QUICK_STRIDE = 41, RANDOM_KILLS = 20, FULL_KILLS = 1000 };

struct fixture {
    char directory[4096];
    char path[PATH_SIZE];
};

/* How the database makes a commit durable, and how many copies each log has. */
static const struct setting {
    const char *journal_mode;
    const char *synchronous;
    int replicas;
} settings[] = {{"delete", "full", 1}, {"wal", "normal", 3},     {"truncate", "off", 1},
                {"wal", "full", 1},    {"persist", "normal", 1}, {"delete", "extra", 3},
                {"wal", "off", 1}};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static bool is_full(void)
{
    return getenv("HW_TEST_FULL") != NULL;
}

static uint64_t seed(void)
{
    const char *text = getenv("HW_SEED");

    return text == NULL ? 1 : strtoull(text, NULL, 10);
}

static const char schema[] =
    "CREATE TABLE plain(x INTEGER PRIMARY KEY, y);"
    "SELECT configure('replication', 'auto');"
    "CREATE VIRTUAL TABLE t USING highwater(transactional=1);"
    "CREATE VIRTUAL TABLE u USING highwater(transactional=1, partitions=2);"
    "CREATE TRIGGER outbox AFTER INSERT ON plain BEGIN"
    " INSERT INTO t(value) VALUES (new.x);"
    " INSERT INTO u(key, value, headers) VALUES (new.x, new.x, json_object('y', hex(new.y))); END;"
    "INSERT INTO plain VALUES (0, NULL)";

/* By itself; two in one; one that goes back to a savepoint; one that is dropped; a row that is
 * left out; more than a batch; and one more. */
static const char workload[] =
    "INSERT INTO plain VALUES (1, NULL);"
    "BEGIN; INSERT INTO plain VALUES (2, NULL); INSERT INTO plain VALUES (3, NULL); COMMIT;"
    "BEGIN; INSERT INTO plain VALUES (4, NULL); SAVEPOINT s;"
    " INSERT INTO plain VALUES (5, NULL); ROLLBACK TO s; COMMIT;"
    "BEGIN; INSERT INTO plain VALUES (6, NULL); ROLLBACK;"
    "INSERT OR IGNORE INTO plain VALUES (7, NULL), (1, NULL);"
    "INSERT INTO plain SELECT value, randomblob(9000) FROM json_each('[10,11,12,13,14,15,16]');"
    "INSERT INTO plain VALUES (8, NULL);";

/* The values of the changes are those of the events, in each topic, and none is there twice. */
static void check_same(sqlite3 *db, const char *changes)
{
    char sql[SQL_SIZE];

    (void)snprintf(
        sql, sizeof sql,
        "WITH changed AS (SELECT group_concat(x) AS all_of FROM (%s)),"
        " in_t AS (SELECT group_concat(x) AS all_of"
        "       FROM (SELECT CAST(value AS INTEGER) AS x FROM t ORDER BY x)),"
        " in_u AS (SELECT group_concat(x) AS all_of"
        "       FROM (SELECT CAST(value AS INTEGER) AS x FROM u ORDER BY x))"
        " SELECT iif(changed.all_of IS in_t.all_of AND changed.all_of IS in_u.all_of, 'same',"
        " changed.all_of || ' changed, ' || in_t.all_of || ' and ' || in_u.all_of || ' told')"
        " FROM changed, in_t, in_u",
        changes);
    expect_sql(db, sql, "same");
}

/* Both or neither of all, and nothing is left undecided; in a database that is left open. */
static sqlite3 *check_after_kill(const char *path, const char *changes)
{
    sqlite3 *db = test_sql_open(path);

    check_same(db, changes);
    expect_sql(db,
               "SELECT count(*) FROM hw_transactions WHERE state NOT LIKE 'Complete%'"
               " AND state <> 'Empty';"
               "SELECT count(*) FROM hw_producers WHERE txn_start_offset IS NOT NULL;"
               "PRAGMA integrity_check",
               "0\n0\nok");
    return db;
}

/* The same through a connection that may only read, which is refused where the database has to be
 * rolled back first. */
static void check_read_only(const char *path, const char *changes)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_load_extension(db, HW_TEST_EXTENSION, NULL, NULL), SQLITE_OK);
    if (strncmp(test_sql(db, "SELECT count(*) FROM plain"), "error", 5) != 0) {
        check_same(db, changes);
    }
    test_sql_close(db);
}

/* And then the tables go on, and what was there stays. */
static void check_goes_on(const char *path, const char *changes)
{
    sqlite3 *db = check_after_kill(path, changes);

    expect_sql(db,
               "PRAGMA synchronous = OFF; INSERT INTO plain VALUES (99, NULL);"
               "SELECT value FROM t WHERE value = '99'",
               "99");
    check_same(db, changes);
    test_sql_close(db);
    if (is_full()) {
        test_sql_close(check_after_kill(path, changes));
    }
}

/* Of a workload that was not killed all is there. */
static void check_all(const char *path)
{
    sqlite3 *db = test_sql_open(path);

    expect_sql(db, "SELECT group_concat(x) FROM plain", "0,1,2,3,4,7,8,10,11,12,13,14,15,16");
    test_sql_close(db);
}

static void begin(struct fixture *f, const struct setting *setting)
{
    char sql[SQL_SIZE];
    sqlite3 *db;

    test_directory_make(f->directory);
    (void)snprintf(f->path, sizeof f->path, "%s/exp.db", f->directory);
    (void)snprintf(sql, sizeof sql,
                   "PRAGMA journal_mode = %s;"
                   "SELECT configure('default.replication.factor', %d); %s",
                   setting->journal_mode, setting->replicas, schema);
    db = test_sql_open(f->path);
    (void)test_sql(db, sql);
    test_sql_close(db);
}

/* One run of the workload, and which of its moments are looked at. */
struct run {
    struct fixture f;
    const char *changes; /* Query of the values that were changed. */
    long stride;
    long first;
    long visits;
    long apart; /* Moments at which an attached database had not what the main one had. */
};

/* The process could end here. Whether this moment is looked at; then a copy of its files is made,
 * in which the database has the path *copy. */
static bool make_copy(struct run *run, long number, char copy[PATH_SIZE])
{
    char command[3 * PATH_SIZE];

    run->visits = number + 1;
    if (number % run->stride != run->first) {
        return false;
    }
    (void)snprintf(command, sizeof command, "cp -R '%s' '%s.copy'", run->f.directory,
                   run->f.directory);
    assert_int_equal(system(command), 0);
    (void)snprintf(copy, PATH_SIZE, "%.4000s.copy/exp.db", run->f.directory);
    return true;
}

static void remove_copy(const struct run *run)
{
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "%.4000s.copy", run->f.directory);
    test_directory_remove(path);
}

static void look_at_copy(void *context, long number)
{
    struct run *run = context;
    char copy[PATH_SIZE];

    if (make_copy(run, number, copy)) {
        if (number / run->stride % 3 == 0) {
            check_read_only(copy, run->changes);
        }
        check_goes_on(copy, run->changes);
        remove_copy(run);
    }
}

TEST_ALONE(at_every_system_call_both_or_neither)
{
    long stride = is_full() ? 1 : getenv("HW_TEST_QUICK") != NULL ? QUICK_STRIDE : SETTINGS;

    for (int i = 0; i < SETTINGS; i++) {
        struct run run = {.changes = "SELECT x FROM plain ORDER BY x",
                          .stride = stride,
                          .first = (long)((seed() + (uint64_t)i) % (uint64_t)stride)};
        char sql[SQL_SIZE];

        begin(&run.f, &settings[i]);
        (void)snprintf(sql, sizeof sql, "PRAGMA synchronous = %s; %s", settings[i].synchronous,
                       workload);
        test_sql_trace(run.f.path, sql,
                       &(struct test_sql_trace){.visit = look_at_copy, .context = &run});
        check_all(run.f.path);
        test_directory_remove(run.f.directory);
        assert_true(run.visits > 100);
    }
}

/* The same transactions change a database that is attached. The topics are as the main one. */
static void look_at_attached(void *context, long number)
{
    struct run *run = context;
    char copy[PATH_SIZE];
    char sql[SQL_SIZE];
    sqlite3 *db;

    if (make_copy(run, number, copy)) {
        db = check_after_kill(copy, run->changes);
        (void)snprintf(sql, sizeof sql, "ATTACH '%.3900s-other' AS other", copy);
        expect_sql(db, sql, "");
        run->apart += strcmp(test_sql(db, "SELECT (SELECT group_concat(x) FROM plain) IS"
                                          " (SELECT group_concat(x) FROM other.also)"),
                             "1") != 0;
        test_sql_close(db);
        remove_copy(run);
    }
}

/* What holds for the attached database is SQLite's own: in WAL mode it commits one file after the
 * other (https://sqlite.org/lang_attach.html). */
TEST_ALONE(topics_agree_with_main_when_another_database_is_attached)
{
    static const struct setting attached[] = {
        {"delete", "full", 1}, {"truncate", "normal", 1}, {"wal", "full", 1}};
    long stride = is_full() ? 1 : getenv("HW_TEST_QUICK") != NULL ? QUICK_STRIDE : 3;

    for (size_t i = 0; i < sizeof attached / sizeof attached[0]; i++) {
        struct run run = {.changes = "SELECT x FROM plain ORDER BY x", .stride = stride};
        char sql[SQL_SIZE];
        int size;
        sqlite3 *db;

        begin(&run.f, &attached[i]);
        (void)snprintf(sql, sizeof sql,
                       "ATTACH '%.2000s-other' AS other; PRAGMA other.journal_mode = %s;"
                       "CREATE TABLE other.also(x INTEGER PRIMARY KEY);"
                       "INSERT INTO other.also SELECT x FROM plain",
                       run.f.path, attached[i].journal_mode);
        db = test_sql_open(run.f.path);
        (void)test_sql(db, sql);
        test_sql_close(db);
        size = snprintf(sql, sizeof sql,
                        "ATTACH '%.2000s-other' AS other; PRAGMA synchronous = %s;"
                        "PRAGMA other.synchronous = %s;",
                        run.f.path, attached[i].synchronous, attached[i].synchronous);
        for (int x = 1; x <= 4; x++) {
            size += snprintf(sql + size, sizeof sql - (size_t)size,
                             "BEGIN; INSERT INTO other.also VALUES (%d);"
                             " INSERT INTO plain VALUES (%d, NULL); COMMIT;",
                             x, x);
        }
        test_sql_trace(run.f.path, sql,
                       &(struct test_sql_trace){.visit = look_at_attached, .context = &run});
        assert_true(run.visits > 100);
        if (strcmp(attached[i].journal_mode, "wal") != 0) {
            assert_int_equal(run.apart, 0);
        } else if (stride == 1) {
            assert_true(run.apart > 0);
        }
        test_directory_remove(run.f.directory);
    }
}

/* Transactions of one to three changes, as many as the process gets to. */
static const char endless[] = "BEGIN; INSERT INTO plain(y) VALUES (NULL); COMMIT;"
                              "INSERT INTO plain(y) VALUES (1), (randomblob(20000));"
                              "BEGIN; INSERT INTO plain(y) VALUES (2); SAVEPOINT s;"
                              " INSERT INTO plain(y) VALUES (3); ROLLBACK TO s;"
                              " INSERT INTO plain(y) VALUES (randomblob(3000)); COMMIT;"
                              "BEGIN; INSERT INTO plain(y) VALUES (4); ROLLBACK;";

/* The same database again and again, each time with another setting. */
TEST_ALONE(at_any_time_both_or_neither)
{
    enum { REPEATS = 100, MICROSECONDS_MAX = 60000 };
    int kills = is_full() ? FULL_KILLS : RANDOM_KILLS;
    char *sql = malloc(REPEATS * sizeof endless + SQL_SIZE);
    struct hw_random random;
    struct fixture f;

    assert_non_null(sql);
    hw_random_init(&random, seed());
    begin(&f, &settings[0]);
    for (int i = 0; i < kills; i++) {
        const struct setting *setting = &settings[hw_random_below(&random, SETTINGS)];
        char *end = sql + sprintf(sql, "PRAGMA journal_mode = %s; PRAGMA synchronous = %s;",
                                  setting->journal_mode, setting->synchronous);

        for (int r = 0; r < REPEATS; r++) {
            memcpy(end, endless, sizeof endless);
            end += sizeof endless - 1;
        }
        (void)test_sql_kill_after(f.path, sql, (long)hw_random_below(&random, MICROSECONDS_MAX));
        test_sql_close(check_after_kill(f.path, "SELECT x FROM plain ORDER BY x"));
    }
    test_directory_remove(f.directory);
    free(sql);
}

int main(void)
{
    return test_run(NULL, NULL);
}
