/* SPDX-License-Identifier: MIT */
/*
 * Where does a cluster live, who shares it, and what stands in its way? Files, connections,
 * processes, and SQLite's own housekeeping.
 */
#define _XOPEN_SOURCE 700

#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

enum { SQL_SIZE = 4 * HW_PATH_MAX };

static const char *this_program;

struct fixture {
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 16]; /* The database file. */
};

static int set_up(void **state)
{
    static struct fixture fixture;

    test_directory_make(fixture.directory);
    (void)snprintf(fixture.path, sizeof fixture.path, "%s/exp.db", fixture.directory);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    test_directory_remove(((struct fixture *)*state)->directory);
    return 0;
}

static bool exists(const struct fixture *f, const char *name)
{
    char path[SQL_SIZE];

    (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
    return access(path, F_OK) == 0;
}

TEST(a_reopened_database_finds_everything_as_it_was, const struct fixture *f)
{
    static const char seen[] =
        "SELECT * FROM hw_topics; SELECT * FROM hw_partitions; SELECT * FROM hw_epochs;"
        "SELECT * FROM hw_config WHERE value IS NOT default_value;"
        "SELECT broker, state FROM hw_brokers; SELECT * FROM t; SELECT * FROM hw_log('t', 0, 2)";
    sqlite3 *db = test_sql_open(f->path);
    char *before;

    expect_sql(db, "SELECT count(*) FROM hw_brokers", "3");
    assert_false(exists(f, "exp.db-highwater"));
    expect_sql(
        db,
        "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);"
        "INSERT INTO t(key, value, headers) VALUES ('a', 'b', '{\"h\":1}'), (NULL, x'FF', NULL);"
        "SELECT replicate() > 0, configure('replica.lag.time.max.ms', 5000),"
        " promote('t', 0, 2), produce('t', 0, 'c', 'd', 1), tick(1000), fetch_round()",
        "1|5000|1|2|1000|2");
    assert_true(exists(f, "exp.db-highwater/broker-1/t-0/00000000000000000000.log"));
    before = sqlite3_mprintf("%s", test_sql(db, seen));
    test_sql_close(db);

    db = test_sql_open(f->path);
    expect_sql(db, seen, before);
    expect_sql(db, "SELECT tick(0)", "1000");
    sqlite3_free(before);
    test_sql_close(db);
}

TEST(a_database_in_memory_leaves_no_file, const struct fixture *f)
{
    char here[HW_PATH_MAX];
    sqlite3 *db = test_sql_open(":memory:");
    sqlite3 *other = test_sql_open("");

    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(test_directory_enter(f->directory), 0);
    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(key) VALUES (1)", "");
    expect_sql(other, "CREATE VIRTUAL TABLE t USING highwater(); SELECT count(*) FROM t", "0");
    test_sql_close(db);
    test_sql_close(other);
    assert_int_equal(test_directory_enter(here), 0);
    assert_int_equal(rmdir(f->directory), 0); /* It is empty. */
    assert_int_equal(mkdir(f->directory, 0700), 0);
}

TEST(connections_to_one_file_share_one_cluster, const struct fixture *f)
{
    char detour[SQL_SIZE];
    sqlite3 *one = test_sql_open(f->path);
    sqlite3 *two;

    (void)snprintf(detour, sizeof detour, "%s/../%s/./exp.db", f->directory,
                   strrchr(f->directory, '/') + 1);
    expect_sql(one,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);"
               "INSERT INTO t(value) VALUES ('a')",
               "");
    two = test_sql_open(detour);
    expect_sql(two, "SELECT fetch_round('t'); SELECT value FROM t; SELECT tick(5)", "2\na\n5");
    expect_sql(one, "SELECT tick(0); SELECT value FROM t", "5\na");
    test_sql_close(one);
    expect_sql(two, "SELECT produce('t', 0, NULL, 'b'), fetch_round() > 0; SELECT count(*) FROM t",
               "1|1\n2");
    test_sql_close(two);
}

TEST(a_directory_can_be_opened_from_any_connection, const struct fixture *f)
{
    sqlite3 *file = test_sql_open(f->path);
    sqlite3 *memory = test_sql_open(":memory:");
    char sql[SQL_SIZE];

    expect_sql(file, "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES ('a')",
               "");
    (void)snprintf(sql, sizeof sql,
                   "SELECT open_cluster('%s-highwater') = '%s-highwater';"
                   "CREATE VIRTUAL TABLE v USING highwater(topic=t); SELECT value FROM v",
                   f->path, f->path);
    expect_sql(memory, sql, "1\na");
    expect_sql(memory, "INSERT INTO v(value) VALUES ('b')", "");
    expect_sql(file, "SELECT group_concat(value) FROM t", "a,b");
    (void)snprintf(sql, sizeof sql,
                   "SELECT open_cluster('%s/new', '{\"brokers\":2,\"protocol\":\"minikafka\","
                   "\"seed\":7}') = '%s/new';"
                   "SELECT count(*) FROM hw_brokers;"
                   "SELECT value FROM hw_config WHERE name = 'protocol';"
                   "SELECT create_topic('x') IS NOT NULL",
                   f->directory, f->directory);
    expect_sql(memory, sql, "1\n2\nminikafka\n1");
    assert_true(exists(f, "new/broker-1"));
    test_sql_close(memory);
    test_sql_close(file);
}

TEST(two_names_of_a_directory_are_one_cluster, const struct fixture *f)
{
    sqlite3 *file = test_sql_open(f->path);
    sqlite3 *memory = test_sql_open(":memory:");
    char elsewhere[SQL_SIZE];
    char beside[SQL_SIZE];
    char sql[2 * SQL_SIZE];

    (void)snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere", f->directory);
    (void)snprintf(beside, sizeof beside, "%s-highwater", f->path);
    assert_int_equal(mkdir(elsewhere, 0700), 0);
    assert_int_equal(symlink(elsewhere, beside), 0);
    expect_sql(file, "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES ('a')",
               "");
    (void)snprintf(sql, sizeof sql,
                   "SELECT open_cluster('%s/') IS NOT NULL; SELECT topic, leo FROM hw_partitions",
                   elsewhere);
    expect_sql(memory, sql, "1\nt|1");
    test_sql_close(file);
    test_sql_close(memory);
}

/* Options make a cluster; one that is there has to agree. */
TEST(options_that_contradict_a_cluster_are_refused, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(":memory:");
    char sql[SQL_SIZE];

    (void)snprintf(sql, sizeof sql,
                   "SELECT open_cluster('%s/c', '{\"brokers\":2}') IS NOT NULL,"
                   " create_topic('t') IS NOT NULL, open_cluster(':memory:')",
                   f->directory);
    expect_sql(db, sql, "1|1|:memory:");
    (void)snprintf(sql, sizeof sql, "SELECT open_cluster('%s/c', '{\"brokers\":3}')", f->directory);
    expect_error(db, sql, SQLITE_ERROR, "INVALID_CONFIG: the cluster there has 2 brokers");
    (void)snprintf(sql, sizeof sql, "SELECT open_cluster('%s/c', '{\"protocol\":\"minikafka\"}')",
                   f->directory);
    expect_error(db, sql, SQLITE_ERROR, "INVALID_CONFIG: the cluster there has protocol kafka");
    expect_sql(db, "SELECT count(*) FROM hw_topics", "0");
    test_sql_close(db);
}

TEST_ALONE(loading_again_changes_nothing)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES (1)", "");
    assert_int_equal(sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_init", NULL),
                     SQLITE_OK);
    expect_sql(db, "SELECT value FROM t; SELECT produce('t', 0, NULL, 2); SELECT count(*) FROM t",
               "1\n1\n2");
    test_sql_close(db);
}

TEST(a_scan_goes_on_when_another_cluster_is_opened, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    sqlite3_stmt *reading = NULL;
    int rows = 0;

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(partitions=2);"
               "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000)"
               " INSERT INTO t(\"partition\", value) SELECT i % 2, zeroblob(200) FROM c",
               "");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM t", -1, &reading, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    expect_sql(db, "SELECT open_cluster(':memory:')", ":memory:");
    do {
        rows++;
    } while (sqlite3_step(reading) == SQLITE_ROW);
    assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
    assert_int_equal(rows, 5000);
    test_sql_close(db);
}

TEST(a_statement_sees_one_state_of_the_topic, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    sqlite3_stmt *reading = NULL;
    int rows = 0;

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(partitions=2);"
               "INSERT INTO t(\"partition\", value) VALUES (0, 1), (0, 2), (1, 3)",
               "");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM t", -1, &reading, NULL), SQLITE_OK);
    while (sqlite3_step(reading) == SQLITE_ROW) {
        expect_sql(db,
                   rows == 0 ? "SELECT produce('t', 0, NULL, 'x'), produce('t', 1, NULL, 'y')"
                             : "SELECT 1, 1",
                   rows == 0 ? "2|1" : "1|1");
        rows++;
    }
    assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
    assert_int_equal(rows, 3);
    expect_sql(db, "SELECT count(*) FROM t", "5");
    test_sql_close(db);
}

/* What the statements print begins with `beginning`, in another process. That is this program anew,
 * since a fork alone would inherit the clusters that are open here. */
static int process_prints(const char *path, const char *sql, const char *beginning)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0) {
        (void)execl(this_program, this_program, path, sql, beginning, (char *)NULL);
        _exit(99);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static int print_and_compare(const char *path, const char *sql, const char *beginning)
{
    sqlite3 *db = test_sql_open(path);
    const char *got = test_sql(db, sql);
    bool ok = strncmp(got, beginning, strlen(beginning)) == 0;

    if (!ok) {
        (void)fprintf(stderr, "%s\n--- expected\n%s\n--- got\n%s\n", sql, beginning, got);
    }
    return sqlite3_close(db) == SQLITE_OK && ok ? 0 : 1;
}

TEST(another_process_is_told_who_has_the_directory, const struct fixture *f)
{
    sqlite3 *db = NULL;
    char expected[SQL_SIZE];

    assert_int_equal(process_prints(f->path,
                                    "CREATE VIRTUAL TABLE t USING highwater();"
                                    "INSERT INTO t(value) VALUES ('a')",
                                    ""),
                     0);
    db = test_sql_open(f->path);
    expect_sql(db, "SELECT value FROM t", "a");
    (void)snprintf(expected, sizeof expected, "error: KAFKA_STORAGE_ERROR: '%s", f->directory);
    assert_int_equal(process_prints(f->path, "SELECT value FROM t", expected), 0);
    assert_int_equal(process_prints(f->path, "SELECT count(*) FROM hw_brokers", expected), 0);
    assert_int_equal(process_prints(f->path, "DROP TABLE t", "error: unable to open database file"),
                     0);
    expect_sql(db, "SELECT count(*) FROM t", "1");
    test_sql_close(db);
    assert_int_equal(process_prints(f->path, "SELECT value FROM t", "a"), 0);
}

/* Case: F-29. What a process inherits by fork() it neither uses nor ends, also where it opens the
 * database by a connection of its own. */
TEST(a_forked_process_does_not_share_the_cluster, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    char locked[SQL_SIZE];
    int status = -1;
    pid_t child;

    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES ('a')",
               "");
    (void)snprintf(locked, sizeof locked, "error: KAFKA_STORAGE_ERROR: '%s", f->directory);
    child = fork();
    if (child == 0) {
        status = strstr(test_sql(db, "INSERT INTO t(value) VALUES ('forked')"),
                        "this database connection was made in another process") == NULL;
        status |= print_and_compare(f->path, "INSERT INTO t(value) VALUES ('forked')", locked);
        (void)sqlite3_close(db);
        _exit(status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    assert_int_equal(process_prints(f->path, "SELECT value FROM t", locked), 0);
    expect_sql(db,
               "INSERT INTO t(value) VALUES ('b'); SELECT group_concat(value) FROM t;"
               "SELECT group_concat(\"offset\") FROM hw_log('t', 0, 1)",
               "a,b\n0,1");
    test_sql_close(db);
}

/* kill -9: every row that was acknowledged or shown is there. */
TEST(a_killed_process_loses_nothing_that_it_showed, const struct fixture *f)
{
    int status = 0;
    pid_t child = fork();
    sqlite3 *db;

    if (child == 0) {
        db = test_sql_open(f->path);
        expect_sql(db,
                   "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);"
                   "INSERT INTO t(value) VALUES ('a'), ('b');"
                   "SELECT fetch_round(); SELECT count(*) FROM t;"
                   "SELECT produce('t', 0, NULL, 'c', 'all');"
                   "BEGIN; INSERT INTO t(value) VALUES ('never committed')",
                   "4\n2\n2");
        (void)raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    db = test_sql_open(f->path);
    expect_sql(db,
               "SELECT value FROM t; SELECT leo FROM hw_partitions; SELECT replicate() > 0;"
               "SELECT group_concat(value) FROM t",
               "a\nb\n3\n1\na,b,c");
    test_sql_close(db);
}

/* SQLite calls it when the topics have their rows and the database does not yet. */
static int die_inside_commit(void *unused)
{
    (void)unused;
    return raise(SIGKILL);
}

/* The order that an outbox needs: an event may be there without its change, never a change without
 * its event. */
TEST(a_kill_inside_commit_leaves_no_change_without_its_event, const struct fixture *f)
{
    int status = 0;
    pid_t child = fork();
    sqlite3 *db;

    if (child == 0) {
        db = test_sql_open(f->path);
        expect_sql(db,
                   "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
                   "CREATE TABLE stock(n); BEGIN;"
                   "INSERT INTO t(value) VALUES ('sold 3'); INSERT INTO stock VALUES (3)",
                   "");
        (void)sqlite3_commit_hook(db, die_inside_commit, NULL);
        (void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    db = test_sql_open(f->path);
    expect_sql(db, "SELECT value FROM t; SELECT count(*) FROM stock", "sold 3\n0");
    test_sql_close(db);
}

TEST(an_unwritable_directory_is_an_error_that_names_it, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    char path[SQL_SIZE];
    char expected[SQL_SIZE];
    FILE *file;

    expect_sql(db, "CREATE TABLE plain(x)", "");
    /* A file where the directory has to be: that stops root too. */
    (void)snprintf(path, sizeof path, "%s-highwater", f->path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(expected, sizeof expected,
                   "KAFKA_STORAGE_ERROR: cannot make the directory '%s-highwater'", f->path);
    expect_error(db, "CREATE VIRTUAL TABLE t USING highwater()", SQLITE_ERROR, expected);
    expect_sql(db, "SELECT name FROM sqlite_schema", "plain");
    assert_int_equal(remove(path), 0);
    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES (1);"
               "SELECT count(*) FROM t",
               "1");
    test_sql_close(db);
}

/* Case: D-05 */
TEST(altering_a_topics_table_is_refused_and_changes_nothing, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    sqlite3 *other = test_sql_open(f->path);

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater();"
               "INSERT INTO t(value) VALUES ('a'), ('b'), ('c')",
               "");
    expect_error(db, "ALTER TABLE t RENAME TO t9", SQLITE_ERROR,
                 "INVALID_REQUEST: a topic cannot be renamed: CREATE VIRTUAL TABLE \"t9\" USING "
                 "highwater(topic=\"t\") opens it under another name");
    expect_error(db, "ALTER TABLE t ADD COLUMN x", SQLITE_ERROR,
                 "virtual tables may not be altered");
    expect_error(db, "ALTER TABLE t RENAME COLUMN value TO x", SQLITE_ERROR,
                 "cannot rename columns of virtual table");
    expect_error(db, "ALTER TABLE t DROP COLUMN value", SQLITE_ERROR,
                 "cannot drop column from virtual table");
    expect_error(db, "CREATE INDEX i ON t(value)", SQLITE_ERROR,
                 "virtual tables may not be indexed");
    expect_error(db, "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END", SQLITE_ERROR,
                 "cannot create triggers on virtual tables");
    expect_sql(other, "SELECT count(*) FROM t; SELECT name FROM sqlite_schema", "3\nt");
    expect_sql(db, "INSERT INTO t(value) VALUES ('d'); SELECT count(*) FROM t", "4");
    test_sql_close(db);
    test_sql_close(other);
}

/* Case: D-06 */
TEST(no_statement_stays_open_behind_a_call, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    sqlite3 *other = test_sql_open(f->path);
    char sql[SQL_SIZE];

    expect_sql(db,
               "PRAGMA journal_mode = WAL; CREATE VIRTUAL TABLE t USING highwater();"
               "CREATE TABLE plain(x);"
               "INSERT INTO t(value, headers) VALUES ('a', '{\"h\":\"v\"}');"
               "SELECT value FROM t; SELECT fetch_round()",
               "wal\na\n0");
    assert_null(sqlite3_next_stmt(db, NULL));
    (void)snprintf(sql, sizeof sql, "VACUUM; VACUUM INTO '%s/copy.db'", f->directory);
    expect_sql(db, sql, "");
    expect_sql(db, "PRAGMA wal_checkpoint(TRUNCATE)", "0|0|0");
    expect_sql(other, "INSERT INTO plain VALUES (1); SELECT count(*) FROM t", "1");
    test_sql_close(db);
    test_sql_close(other);

    /* Records are not in the database file: a copy has the table, and an empty cluster. */
    (void)snprintf(sql, sizeof sql, "%s/copy.db", f->directory);
    db = test_sql_open(sql);
    expect_error(db, "SELECT * FROM t", SQLITE_ERROR, "UNKNOWN_TOPIC_OR_PARTITION: ");
    expect_sql(db, "DROP TABLE t; SELECT count(*) FROM sqlite_schema WHERE name = 't'", "0");
    test_sql_close(db);
}

/* Case: D-07 */
TEST(a_table_with_broken_data_can_be_dropped, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    char path[SQL_SIZE];
    FILE *file;

    expect_sql(
        db,
        "CREATE VIRTUAL TABLE t USING highwater(); CREATE VIRTUAL TABLE u USING highwater();"
        "INSERT INTO t(value) VALUES (1), (2), (3), (4), (5); INSERT INTO u(value) VALUES (9)",
        "");
    test_sql_close(db);
    (void)snprintf(path, sizeof path, "%s-highwater/broker-1/t-0/00000000000000000000.log",
                   f->path);
    assert_int_equal(remove(path), 0);

    db = test_sql_open(f->path);
    expect_sql(db,
               "SELECT value FROM u; DROP TABLE t; SELECT value FROM u;"
               "SELECT topic FROM hw_topics;"
               "SELECT count(*) FROM sqlite_schema WHERE name LIKE 't%'",
               "9\n9\nu\n0");
    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES ('new');"
               "SELECT \"offset\", value FROM t",
               "0|new");
    test_sql_close(db);

    /* Not even the list of topics can be read. */
    (void)snprintf(path, sizeof path, "%s-highwater/cluster.state", f->path);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("this is not what it should be", file) >= 0);
    assert_int_equal(fclose(file), 0);
    db = test_sql_open(f->path);
    expect_error(db, "SELECT * FROM t", SQLITE_ERROR, "KAFKA_STORAGE_ERROR: ");
    expect_sql(db, "DROP TABLE t; SELECT name FROM sqlite_schema", "u");
    test_sql_close(db);
}

/* Case: D-11 */
TEST(tables_of_attached_databases_are_refused_not_mixed_up, const struct fixture *f)
{
    char sql[SQL_SIZE];
    sqlite3 *aux;
    sqlite3 *db;

    (void)snprintf(sql, sizeof sql, "%s/aux.db", f->directory);
    aux = test_sql_open(sql);
    expect_sql(aux,
               "CREATE VIRTUAL TABLE t USING highwater();"
               "INSERT INTO t(value) VALUES (1), (2), (3), (4), (5), (6), (7)",
               "");
    test_sql_close(aux);

    db = test_sql_open(f->path);
    (void)snprintf(sql, sizeof sql,
                   "CREATE VIRTUAL TABLE t USING highwater();"
                   "INSERT INTO t(value) VALUES ('a'), ('b'), ('c'); ATTACH '%s/aux.db' AS aux",
                   f->directory);
    expect_sql(db, sql, "");
    expect_sql(db, "SELECT count(*) FROM main.t; SELECT count(*) FROM t", "3\n3");
#define ELSEWHERE "INVALID_REQUEST: a topic's table works in main and temp only"
    expect_error(db, "SELECT count(*) FROM aux.t", SQLITE_ERROR, ELSEWHERE);
    expect_error(db, "INSERT INTO aux.t(value) VALUES (1)", SQLITE_ERROR, ELSEWHERE);
    expect_error(db, "DROP TABLE aux.t", SQLITE_READONLY, "attempt to write a readonly database");
    expect_error(db, "CREATE VIRTUAL TABLE aux.u USING highwater()", SQLITE_ERROR,
                 "INVALID_REQUEST: a topic's table can be in main or temp, not in aux");
    expect_sql(db,
               "DETACH aux; SELECT count(*) FROM t;"
               "CREATE VIRTUAL TABLE temp.v USING highwater(); INSERT INTO v(value) VALUES (1);"
               "SELECT count(*) FROM v; SELECT group_concat(topic) FROM hw_topics",
               "3\n1\nt,v");
    test_sql_close(db);

    (void)snprintf(sql, sizeof sql, "%s/aux.db", f->directory);
    aux = test_sql_open(sql);
    expect_sql(aux, "SELECT count(*) FROM t", "7");
    test_sql_close(aux);
}

/* A topic that was deleted by name leaves a table that says so and can be dropped. */
TEST_AGAIN(a_table_outlives_its_topic, void **state)
{
    sqlite3 *db = test_sql_open(((struct fixture *)*state)->path);

    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(); SELECT delete_topic('t')", "1");
    expect_error(
        db, "SELECT * FROM t", SQLITE_ERROR,
        "UNKNOWN_TOPIC_OR_PARTITION: there is no topic \"t\" any more: it was deleted, or the "
        "database file was copied without its -highwater directory");
    expect_error(
        db, "INSERT INTO t(value) VALUES (1)", SQLITE_ERROR,
        "UNKNOWN_TOPIC_OR_PARTITION: there is no topic \"t\" any more: it was deleted, or ");
    expect_error(db, "SELECT * FROM hw_log('t', 0, 1)", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: there is no topic \"t\": hw_topics lists them");
    expect_sql(db, "DROP TABLE t; CREATE VIRTUAL TABLE t USING highwater(); SELECT count(*) FROM t",
               "0");
    expect_error(
        db,
        "DROP TABLE t; SELECT create_topic('t') IS NOT NULL;"
        "CREATE VIRTUAL TABLE t USING highwater()",
        SQLITE_ERROR,
        "TOPIC_ALREADY_EXISTS: there is a topic \"t\" already; highwater(topic=\"t\") opens");
    test_sql_close(db);
}

/* Other encodings of text are SQLite's business: records are UTF-8. */
TEST_AGAIN(a_database_in_utf16_gives_utf8_records, void **state)
{
    sqlite3 *db = test_sql_open(((struct fixture *)*state)->path);

    expect_sql(
        db,
        "PRAGMA encoding = 'UTF-16le'; CREATE VIRTUAL TABLE t USING highwater();"
        "INSERT INTO t(key, value, headers) VALUES ('\xc3\xbc', 'text', '{\"h\":\"\xc3\xbc\"}');"
        "SELECT produce('t', 0, 'k', 'v', 'all', '{\"timestamp\":7}');"
        "SELECT key, value, headers, hex(CAST(key AS BLOB)) FROM t WHERE \"offset\" = '0';"
        "SELECT topic, leo FROM hw_partitions WHERE topic = 't'",
        "1\n\xc3\xbc|text|{\"h\":\"\xc3\xbc\"}|FC00\nt|2");
    test_sql_close(db);
}

int main(int argc, char **argv)
{
    this_program = argv[0];
    if (argc == 4) {
        return print_and_compare(argv[1], argv[2], argv[3]);
    }
    return test_run(set_up, tear_down);
}
