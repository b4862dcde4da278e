/* SPDX-License-Identifier: MIT */
/*
 * A SQL transaction that is Kafka's too (transactional=1): beside other connections and databases,
 * when the database cannot commit, and when database and cluster do not belong together.
 */
#define _DEFAULT_SOURCE

#include "tests/support_sql_file.h"
#include "tests/support_sql_kill.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

enum { PATH_SIZE = 4200 };

#define SCHEMA                                                                                     \
    "CREATE TABLE plain(x);"                                                                       \
    "CREATE VIRTUAL TABLE t USING highwater(transactional=1, replication.factor=1);"               \
    "CREATE VIRTUAL TABLE u USING highwater(transactional=1, replication.factor=1)"

static int set_up(void **state)
{
    return test_sql_file_set_up(state, false, SCHEMA, "");
}

static void reopen(struct fixture *f)
{
    test_sql_close(f->db);
    f->db = test_sql_open(f->path);
}

TEST(a_commit_that_is_busy_can_be_repeated_or_given_up, struct fixture *f)
{
    sqlite3 *reader = test_sql_open(f->path);

    expect_sql(f->db, "INSERT INTO t(value) VALUES ('a')", "");
    for (int gives_up = 0; gives_up < 2; gives_up++) {
        /* A reader's lock keeps the file from being written, but not the token in memory. */
        expect_sql(reader, "BEGIN; SELECT count(*) FROM plain", gives_up ? "1" : "0");
        expect_sql(f->db, "BEGIN; INSERT INTO plain VALUES (1); INSERT INTO t(value) VALUES ('b')",
                   "");
        expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
        expect_sql(f->db, "SELECT value FROM t WHERE value = 'b'", gives_up ? "b" : "");
        expect_sql(f->db, "INSERT INTO u(value) VALUES ('c')", "");
        expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
        expect_sql(reader, "ROLLBACK", "");
        expect_sql(f->db, gives_up ? "ROLLBACK" : "COMMIT", "");
    }
    expect_sql(f->db,
               "SELECT group_concat(value) FROM t; SELECT group_concat(value) FROM u;"
               "SELECT count(*) FROM plain;"
               "SELECT transactional_id, state FROM hw_transactions;"
               "INSERT INTO t(value) VALUES ('d'); SELECT group_concat(value) FROM t",
               "a,b\nc\n1\n__sql-0|CompleteAbort\na,b,d");
    reopen(f);
    expect_sql(f->db, "SELECT group_concat(value) FROM t; SELECT group_concat(value) FROM u",
               "a,b,d\nc");
    test_sql_close(reader);
}

TEST(rows_that_go_back_to_a_savepoint_after_a_failed_commit_are_nobodys, struct fixture *f)
{
    sqlite3 *reader = test_sql_open(f->path);

    expect_sql(f->db, "CREATE VIRTUAL TABLE p USING highwater(topic=t)", "");
    expect_sql(reader, "BEGIN; SELECT count(*) FROM plain", "0");
    expect_sql(f->db,
               "BEGIN; INSERT INTO p(value) VALUES ('plain'), (zeroblob(20000)), ('last');"
               "SAVEPOINT s; INSERT INTO t(value) VALUES ('a')",
               "");
    expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
    expect_sql(f->db, "ROLLBACK TO s", "");
    expect_sql(reader, "ROLLBACK", "");
    expect_sql(f->db, "COMMIT; SELECT length(value), producer_id FROM t",
               "5|NULL\n20000|NULL\n4|NULL");
    expect_sql(f->db,
               "SELECT count(*) FROM t_token; SELECT state FROM hw_transactions;"
               "SELECT count(*) FROM hw_batches('t', 0, 1) WHERE is_transactional OR NOT crc_ok",
               "0\nCompleteAbort\n0");
    test_sql_close(reader);
}

TEST(two_connections_take_turns, struct fixture *f)
{
    sqlite3 *other = test_sql_open(f->path);

    expect_sql(f->db, "BEGIN; INSERT INTO t(value) VALUES ('a')", "");
    expect_error(other, "INSERT INTO u(value) VALUES ('b')", SQLITE_BUSY, "database is locked");
    expect_sql(other, "SELECT count(*) FROM t", "0");
    expect_sql(f->db, "COMMIT", "");
    expect_sql(other, "INSERT INTO u(value) VALUES ('b'); INSERT INTO t(value) VALUES ('c')", "");
    expect_sql(f->db,
               "SELECT group_concat(value) FROM t;"
               "SELECT count(*), max(producer_epoch) FROM hw_transactions;"
               "SELECT max(epoch) FROM (SELECT epoch FROM t_token UNION SELECT epoch FROM u_token)",
               "a,c\n1|3\n2");
    test_sql_close(other);
}

TEST(an_attached_database_takes_part, struct fixture *f)
{
    char attach[PATH_SIZE + 200];

    (void)snprintf(attach, sizeof attach, "ATTACH '%s/more.db' AS more; CREATE TABLE more.m(x)",
                   f->directory);
    expect_sql(f->db, attach, "");
    expect_sql(f->db,
               "BEGIN; INSERT INTO m VALUES (1); INSERT INTO t(value) VALUES ('a'); COMMIT;"
               "BEGIN; INSERT INTO m VALUES (2); INSERT INTO t(value) VALUES ('b'); ROLLBACK;"
               "SELECT group_concat(x) FROM m; SELECT group_concat(value) FROM t",
               "1\na");
    expect_error(f->db, "CREATE VIRTUAL TABLE more.v USING highwater(topic=t, transactional=1)",
                 SQLITE_ERROR,
                 "INVALID_REQUEST: a topic's table can be in main or temp, not in more");
}

TEST(a_shadow_table_is_protected_in_defensive_mode_and_still_written, struct fixture *f)
{
    assert_int_equal(sqlite3_db_config(f->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL), SQLITE_OK);
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('a'); SELECT count(*) FROM t_token", "1");
    expect_error(f->db, "DELETE FROM t_token", SQLITE_ERROR, "table t_token may not be modified");
    expect_sql(f->db, "DROP TABLE t; DROP TABLE u; SELECT group_concat(name) FROM sqlite_schema",
               "plain");
}

TEST(tokens_move_when_their_table_is_dropped, struct fixture *f)
{
    expect_sql(f->db,
               "INSERT INTO t(value) VALUES ('a'); SELECT count(*) FROM u_token; DROP TABLE t;"
               "SELECT producer_id, epoch FROM u_token",
               "0\n0|0");
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE t USING highwater(transactional=1);"
               "BEGIN; DROP TABLE t; ROLLBACK; INSERT INTO t(value) VALUES ('b');"
               "SELECT epoch FROM t_token",
               "1");
}

/* Who has a trigger there could write a topic inside COMMIT, or keep the connection from closing. */
TEST(a_shadow_table_with_a_trigger_fails_the_commit, struct fixture *f)
{
    static const char refused[] = "INVALID_REQUEST: t_token holds what COMMIT decides and cannot"
                                  " have a trigger: DROP TRIGGER \"no\"";

    expect_sql(f->db,
               "CREATE TRIGGER \"no\" AFTER INSERT ON t_token BEGIN"
               " INSERT INTO u(value) VALUES (1); END",
               "");
    expect_error(f->db, "INSERT INTO t(value) VALUES ('a')", SQLITE_ERROR, refused);
    expect_sql(f->db,
               "DROP TRIGGER \"no\"; INSERT INTO t(value) VALUES ('b');"
               "CREATE TEMP TRIGGER \"no\" BEFORE INSERT ON t_token BEGIN"
               " SELECT RAISE(IGNORE) FROM u; SELECT RAISE(IGNORE); END",
               "");
    expect_error(f->db, "INSERT INTO t(value) VALUES ('c')", SQLITE_ERROR, refused);
    expect_error(f->db, "INSERT INTO t(value) VALUES ('d')", SQLITE_ERROR, refused);
    reopen(f);
    expect_sql(f->db, "SELECT group_concat(value) FROM t; SELECT count(*) FROM u", "b\n0");
}

TEST(a_missing_shadow_table_is_replaced_by_another_if_there_is_one, struct fixture *f)
{
    expect_sql(f->db,
               "DROP TABLE t_token; INSERT INTO t(value) VALUES ('a');"
               "SELECT value, (SELECT count(*) FROM u_token) FROM t; DROP TABLE u_token",
               "a|1");
    expect_error(
        f->db, "INSERT INTO t(value) VALUES ('b')", SQLITE_ERROR,
        "INVALID_REQUEST: the table of tokens, which COMMIT writes to, is gone: CREATE"
        " VIRTUAL TABLE name USING highwater(topic=..., transactional=1) makes another one");
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE again USING highwater(topic=t, transactional=1);"
               "INSERT INTO t(value) VALUES ('c'); SELECT group_concat(value) FROM t;"
               "SELECT count(*) FROM again_token",
               "a,c\n1");
}

/* ROLLBACK TO takes a new table away, or brings a dropped one back, and SQLite tells only objects that
 * were there all the time of the COMMIT. */
TEST(a_savepoint_that_takes_tables_along_leaves_the_token, struct fixture *f)
{
    expect_sql(f->db,
               "BEGIN; SAVEPOINT s; CREATE VIRTUAL TABLE a USING highwater(transactional=1);"
               "INSERT INTO a(value) VALUES ('gone'); ROLLBACK TO s;"
               "INSERT INTO t(value) VALUES ('a'); COMMIT;"
               "SELECT producer_id, epoch FROM t_token",
               "0|0");
    expect_sql(f->db,
               "DROP TABLE u; BEGIN; INSERT INTO t(value) VALUES ('b'); SAVEPOINT s; DROP TABLE t;"
               "ROLLBACK TO s; COMMIT; SELECT producer_id, epoch FROM t_token;"
               "SELECT group_concat(value) FROM t",
               "0|1\na,b");
    expect_sql(f->db,
               "BEGIN; INSERT INTO t(value) VALUES ('c'); SAVEPOINT s; DROP TABLE t; ROLLBACK TO s;"
               "COMMIT",
               "");
    reopen(f); /* Nothing holds the connection open. */
    expect_sql(f->db, "SELECT group_concat(value) FROM t; SELECT epoch FROM t_token", "a,b,c\n2");
}

/* Run a command in the fixture's directory. */
static void shell(const struct fixture *f, const char *command)
{
    char line[PATH_SIZE + 400];

    (void)snprintf(line, sizeof line, "cd '%s' && %s", f->directory, command);
    assert_int_equal(system(line), 0);
}

/* Each time after a clean close. */
TEST(database_and_cluster_that_do_not_belong_together_are_an_error, struct fixture *f)
{
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('a')", "");
    reopen(f);
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('b')", "");
    test_sql_close(f->db);
    shell(f, "mkdir old && cp -R exp.db exp.db-highwater old");
    f->db = test_sql_open(f->path);
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('c')", "");
    test_sql_close(f->db);

    shell(f, "mkdir new && cp -R exp.db exp.db-highwater new && cp old/exp.db .");
    f->db = test_sql_open(f->path);
    expect_error(f->db, "SELECT count(*) FROM t", SQLITE_ERROR,
                 "INCONSISTENT_CLUSTER_ID: the database is older than the cluster in");
    expect_error(f->db, "INSERT INTO t(value) VALUES ('d')", SQLITE_ERROR,
                 "INCONSISTENT_CLUSTER_ID: the database is older than the cluster in");
    expect_sql(f->db,
               "DELETE FROM t_token; INSERT INTO t(value) VALUES ('d');"
               "SELECT group_concat(value) FROM t",
               "a,b,c,d");
    test_sql_close(f->db);

    shell(f, "rm -r exp.db exp.db-highwater && cp -R new/exp.db new/exp.db-highwater .");
    f->db = test_sql_open(f->path);
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('d')", "");
    test_sql_close(f->db);
    shell(f, "rm -r exp.db-highwater && cp -R old/exp.db-highwater .");
    f->db = test_sql_open(f->path);
    expect_error(f->db, "SELECT count(*) FROM t", SQLITE_ERROR,
                 "INCONSISTENT_CLUSTER_ID: the database is newer than the cluster in");
    expect_sql(f->db,
               "DELETE FROM t_token; INSERT INTO t(value) VALUES ('e');"
               "SELECT group_concat(value) FROM t",
               "a,b,e");
}

TEST(a_database_beside_the_cluster_of_another_one_is_an_error, struct fixture *f)
{
    char open_other[PATH_SIZE + 200];

    expect_sql(f->db, "INSERT INTO t(value) VALUES ('a')", "");
    test_sql_close(f->db);
    (void)snprintf(
        open_other, sizeof open_other,
        "SELECT open_cluster('%s/other', '{\"seed\":77}') IS NULL, create_topic('t', 1, 1)"
        " IS NULL, create_topic('u', 1, 1) IS NULL",
        f->directory);
    f->db = test_sql_open(":memory:");
    expect_sql(f->db, open_other, "0|0|0");
    test_sql_close(f->db);
    shell(f, "rm -r exp.db-highwater && mv other exp.db-highwater");
    f->db = test_sql_open(f->path);
    expect_error(
        f->db, "INSERT INTO t(value) VALUES ('b')", SQLITE_ERROR,
        "INCONSISTENT_CLUSTER_ID: the database is the one of another cluster than that in");
    expect_sql(f->db, "DROP TABLE u; SELECT count(*) FROM t_token", "1");
}

/* One script has made both, so that all is the same but whose they are. */
TEST(twins_of_one_script_are_not_taken_for_each_other, struct fixture *f)
{
    test_sql_close(f->db);
    shell(f, "mkdir twin && cp -R exp.db exp.db-highwater twin");
    for (const char *name = "exp.db"; name != NULL; name = name[0] == 'e' ? "twin/exp.db" : NULL) {
        char path[PATH_SIZE];

        (void)snprintf(path, sizeof path, "%s/%s", f->directory, name);
        f->db = test_sql_open(path);
        expect_sql(f->db, "INSERT INTO t(value) VALUES ('a')", "");
        test_sql_close(f->db);
    }
    shell(f, "rm -r exp.db-highwater && mv twin/exp.db-highwater exp.db-highwater");
    f->db = test_sql_open(f->path);
    expect_error(
        f->db, "SELECT count(*) FROM t", SQLITE_ERROR,
        "INCONSISTENT_CLUSTER_ID: the database is the one of another cluster than that in");
}

/* A leader's disk is not there when the database is opened: its log is looked at once it is. */
TEST(a_transaction_whose_leader_comes_back_later_is_decided_then, struct fixture *f)
{
    sqlite3 *reader = test_sql_open(f->path);
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof path, "SELECT add_broker(9, NULL, '%s/nine')", f->directory);
    expect_sql(f->db, path, "9");
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE v USING highwater(transactional=1, replication.factor=1,"
               " partitions=4); INSERT INTO v(\"partition\", value) VALUES (3, 'a');"
               "SELECT leader FROM hw_partitions WHERE topic = 'v' AND \"partition\" = 3",
               "9");
    expect_sql(reader, "BEGIN; SELECT count(*) FROM plain", "0");
    expect_sql(f->db,
               "BEGIN; INSERT INTO plain VALUES (1); INSERT INTO u(value) VALUES ('c');"
               "INSERT INTO v(\"partition\", value) VALUES (3, 'b')",
               "");
    expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
    /* What a kill would leave, with the disk in another place. */
    shell(f, "cp -R . ../left.$$ && mv ../left.$$ left && rm left/exp.db-journal");
    expect_sql(reader, "ROLLBACK", "");
    expect_sql(f->db, "COMMIT; SELECT value FROM v ORDER BY \"offset\" DESC LIMIT 1", "b");
    test_sql_close(reader);
    test_sql_close(f->db);
    shell(f, "mv nine gone");

    (void)snprintf(path, sizeof path, "%s/left/exp.db", f->directory);
    f->db = test_sql_open(path);
    expect_sql(f->db,
               "SELECT state FROM hw_brokers WHERE broker = 9; SELECT count(*) FROM u;"
               "SELECT transactional_id, state FROM hw_transactions",
               "crashed\n0\n__sql-0|CompleteAbort");
    shell(f, "mv left/nine .");
    expect_sql(f->db,
               "SELECT restart(9); INSERT INTO v(\"partition\", value) VALUES (3, 'd');"
               "SELECT group_concat(value) FROM v;"
               "SELECT count(*) FROM hw_producers WHERE txn_start_offset IS NOT NULL",
               "running\na,d\n0");
}

/* Another process commits, cannot write its marker, and is killed. */
static void commit_without_marker(const struct fixture *f)
{
    int status = 0;
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        sqlite3 *db = test_sql_open(f->path);

        (void)test_sql(db, "SELECT cut('controller', 1); BEGIN; INSERT INTO plain VALUES (1);"
                           "INSERT INTO t(value) VALUES ('a'); COMMIT");
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Its snapshot does not have the token, and must not decide. */
TEST(a_reader_of_an_older_commit_decides_by_the_newest, struct fixture *f)
{
    expect_sql(f->db, "PRAGMA journal_mode = WAL", "wal");
    reopen(f);
    expect_sql(f->db, "BEGIN; SELECT count(*) FROM plain", "0");
    commit_without_marker(f);
    expect_sql(f->db, "SELECT state FROM hw_transactions; SELECT count(*) FROM plain",
               "PrepareCommit\n0");
    expect_sql(f->db,
               "COMMIT; SELECT heal(); SELECT count(*) FROM plain; SELECT value FROM t;"
               "SELECT detail FROM hw_journal WHERE detail LIKE 'the database%'",
               "0\n1\na\nthe database has committed the transaction of producer 0 epoch 0");
}

static void say_no(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    sqlite3_result_int(context, 0);
}

/* A program has put its own functions in the place of SQLite's. */
TEST(functions_that_were_replaced_decide_nothing, struct fixture *f)
{
    static const struct {
        const char *name;
        int arguments;
    } replaced[] = {{"like", 2}, {"glob", 2}, {"iif", 3}};

    reopen(f); /* Whose cluster is another process's until it is used. */
    commit_without_marker(f);
    for (size_t i = 0; i < sizeof replaced / sizeof *replaced; i++) {
        assert_int_equal(sqlite3_create_function(f->db, replaced[i].name, replaced[i].arguments,
                                                 SQLITE_UTF8, NULL, say_no, NULL, NULL),
                         SQLITE_OK);
    }
    expect_sql(f->db, "SELECT heal(); SELECT value FROM t; SELECT state FROM hw_transactions",
               "0\na\nCompleteCommit");
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('b'); SELECT count(*) FROM t", "2");
}

/* What a traced process syncs, of the database and of the logs. */
struct syncs {
    long database;
    long logs;
};

static void count_sync(void *context, const char *path)
{
    struct syncs *syncs = context;

    *(strstr(path, "-highwater/") == NULL ? &syncs->database : &syncs->logs) += 1;
}

static void visit_nothing(void *context, long number)
{
    (void)context, (void)number;
}

/* Syncs of commits that write an ordinary table and a topic, and pages that they write. */
static struct syncs count_commits(struct fixture *f, const char *arguments, long *pages)
{
    enum { COMMITS = 10, PAGE = 4096 + 24 };
    char sql[4000];
    char wal[PATH_SIZE + 8];
    int size;
    struct syncs syncs = {.database = 0};
    struct test_sql_trace trace = {.visit = visit_nothing, .sync = count_sync, .context = &syncs};
    FILE *file;

    (void)snprintf(sql, sizeof sql,
                   "PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS other(x);"
                   "DROP TABLE IF EXISTS v;"
                   "CREATE VIRTUAL TABLE v USING highwater(replication.factor=1, %s);"
                   "INSERT INTO v(value) VALUES ('first'); PRAGMA wal_checkpoint(TRUNCATE)",
                   arguments);
    (void)test_sql(f->db, sql);
    test_sql_close(f->db);
    size = snprintf(sql, sizeof sql, "PRAGMA synchronous = FULL;");
    for (int i = 0; i < COMMITS; i++) {
        size += snprintf(sql + size, sizeof sql - (size_t)size,
                         "BEGIN; INSERT INTO other VALUES (1); INSERT INTO v(value) VALUES ('x');"
                         "COMMIT;");
    }
    /* The last connection would take the file away. */
    f->db = test_sql_open(f->path);
    (void)sqlite3_exec(f->db, "SELECT count(*) FROM other", NULL, NULL, NULL);
    test_sql_trace(f->path, sql, &trace);
    (void)snprintf(wal, sizeof wal, "%s-wal", f->path);
    file = fopen(wal, "r");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *pages = (ftell(file) - 32) / PAGE;
    (void)fclose(file);
    return syncs;
}

TEST(a_commit_adds_one_page_and_no_sync, struct fixture *f)
{
    long plain_pages;
    long pages;
    struct syncs plain = count_commits(f, "transactional=0", &plain_pages);
    struct syncs ours = count_commits(f, "transactional=1", &pages);

    assert_true(plain.database >= 10);
    assert_int_equal(pages, plain_pages + 10);
    assert_int_equal(ours.database, plain.database);
    assert_int_equal(ours.logs, plain.logs);
}

/* What pragmas that were set since do to a statement, the one that writes the token does not mind. */
TEST(pragmas_do_not_fail_the_commit, struct fixture *f)
{
    expect_sql(f->db,
               "BEGIN; INSERT INTO t(value) VALUES ('a'); INSERT INTO plain VALUES (1);"
               "PRAGMA query_only = 1; COMMIT; PRAGMA query_only;"
               "PRAGMA query_only = 0; PRAGMA count_changes = 1; BEGIN;"
               "INSERT INTO t(value) VALUES ('b'); INSERT INTO plain VALUES (2); COMMIT",
               "1\n1\n1");
    reopen(f);
    expect_sql(f->db, "SELECT value FROM t WHERE isolation = 'read_committed'; SELECT x FROM plain",
               "a\nb\n1\n2");
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
