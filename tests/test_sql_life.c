/* SPDX-License-Identifier: MIT */
/*
 * Do topics live through what is done to databases: copies, dumps, read-only and defensive
 * connections, closing in the middle, a program that has no extension?
 */
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* A database file with topic t, three records and an ordinary table. */
struct fixture {
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 16];
    char other[HW_PATH_MAX + 16]; /* A file that is not there yet. */
};

#define ROWS "0|a|1\n1|NULL|NULL\n2|c|x'00FF'"
#define READ "SELECT \"offset\", key, value FROM t"

static int set_up(void **state)
{
    static struct fixture f;
    sqlite3 *db;

    test_directory_make(f.directory);
    (void)snprintf(f.path, sizeof f.path, "%s/exp.db", f.directory);
    (void)snprintf(f.other, sizeof f.other, "%s/other.db", f.directory);
    *state = &f;
    db = test_sql_open(f.path);
    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "INSERT INTO t(key, value) VALUES ('a', 1), (NULL, NULL), ('c', x'00FF');"
               "CREATE TABLE plain(x); INSERT INTO plain VALUES (7); " READ,
               ROWS);
    test_sql_close(db);
    return 0;
}

static int tear_down(void **state)
{
    test_directory_remove(((struct fixture *)*state)->directory);
    return 0;
}

/* What SQLite wrote to the program's error log. */
static int log_lines;

static void count_log_line(void *argument, int code, const char *line)
{
    (void)argument, (void)code, (void)line;
    log_lines++;
}

static sqlite3 *open_bare(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

TEST(a_program_without_the_extension_is_told_and_harms_nothing, const struct fixture *f)
{
    sqlite3 *db = open_bare(f->path);

    expect_error(db, "SELECT * FROM t", SQLITE_ERROR, "no such module: highwater");
    expect_error(db, "INSERT INTO t(value) VALUES (1)", SQLITE_ERROR, "no such module: highwater");
    expect_error(db, "DROP TABLE t", SQLITE_ERROR, "no such module: highwater");
    expect_sql(db,
               "INSERT INTO plain VALUES (8); VACUUM; PRAGMA integrity_check;"
               "SELECT count(*) FROM sqlite_schema WHERE name = 't'",
               "ok\n1");
    test_sql_close(db);
    db = test_sql_open(f->path);
    expect_sql(db, READ "; SELECT x FROM plain", ROWS "\n7\n8");
    test_sql_close(db);
}

/* The records are in the directory, so the copy has a table whose topic there is not. */
TEST(a_backup_has_the_tables, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    sqlite3 *copy = test_sql_open(f->other);
    sqlite3_backup *backup = sqlite3_backup_init(copy, "main", db, "main");

    assert_non_null(backup);
    assert_int_equal(sqlite3_backup_step(backup, -1), SQLITE_DONE);
    assert_int_equal(sqlite3_backup_finish(backup), SQLITE_OK);
    expect_error(copy, READ, SQLITE_ERROR, "UNKNOWN_TOPIC_OR_PARTITION: ");
    expect_sql(copy,
               "SELECT x FROM plain; DROP TABLE t; CREATE VIRTUAL TABLE t USING highwater();"
               "INSERT INTO t(value) VALUES ('own'); SELECT value FROM t",
               "7\nown");
    expect_sql(db, READ, ROWS);
    test_sql_close(copy);
    test_sql_close(db);
}

TEST(vacuum_leaves_topics_alone, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);

    expect_sql(db, "VACUUM; " READ "; INSERT INTO t(value) VALUES ('d'); SELECT count(*) FROM t",
               ROWS "\n4");
    expect_error(db, "BEGIN; INSERT INTO t(value) VALUES ('e'); VACUUM", SQLITE_ERROR,
                 "cannot VACUUM from within a transaction");
    expect_sql(db, "COMMIT; VACUUM; SELECT count(*) FROM t", "5");
    test_sql_close(db);
}

/* The shell's .dump writes a virtual table as its row of sqlite_schema. */
TEST(a_dump_is_read_again_beside_its_directory, const struct fixture *f)
{
    sqlite3 *db;

    assert_int_equal(remove(f->path), 0);
    db = open_bare(f->path);
    expect_sql(db,
               "PRAGMA writable_schema = ON; BEGIN;"
               "INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql) VALUES ('table',"
               " 't', 't', 0, 'CREATE VIRTUAL TABLE t USING highwater(replication.factor=1)');"
               "CREATE TABLE plain(x); INSERT INTO plain VALUES (7);"
               "PRAGMA writable_schema = OFF; COMMIT",
               "");
    test_sql_close(db);
    db = test_sql_open(f->path);
    expect_sql(db, READ "; INSERT INTO t(value) VALUES ('d'); SELECT max(\"offset\") FROM t",
               ROWS "\n3");
    test_sql_close(db);
}

static sqlite3 *open_read_only(const char *path)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_load_extension(db, HW_TEST_EXTENSION, "sqlite3_highwater_init", NULL),
                     SQLITE_OK);
    return db;
}

TEST(a_read_only_database_is_read_and_not_written, const struct fixture *f)
{
    sqlite3 *db = open_read_only(f->path);

    expect_sql(db, READ, ROWS);
    expect_error(db, "INSERT INTO t(value) VALUES (1)", SQLITE_READONLY,
                 "attempt to write a readonly database");
    expect_error(db, "DROP TABLE t", SQLITE_READONLY, "attempt to write a readonly database");
    expect_error(db, "CREATE VIRTUAL TABLE n USING highwater()", SQLITE_READONLY,
                 "attempt to write a readonly database");
    expect_sql(db, READ "; SELECT topic, leo FROM hw_partitions", ROWS "\nt|3");
    test_sql_close(db);
}

/* Its cluster lies beside it, and is written to by ways that SQLite does not see. */
TEST(what_is_read_only_is_not_written_through_a_back_door, const struct fixture *f)
{
    sqlite3 *db = open_read_only(f->path);

    expect_error(db, "SELECT produce('t', 0, NULL, 1)", SQLITE_ERROR,
                 "INVALID_REQUEST: the database is open for reading only");
    expect_error(db, "SELECT configure('acks', 1)", SQLITE_ERROR, "INVALID_REQUEST: ");
    expect_error(db, "SELECT delete_topic('t')", SQLITE_ERROR, "INVALID_REQUEST: ");
    expect_error(db, "SELECT tick(1)", SQLITE_ERROR, "INVALID_REQUEST: ");
    expect_sql(db, "CREATE VIRTUAL TABLE temp.u USING highwater(topic=t); SELECT count(*) FROM u",
               "3");
    expect_error(db, "INSERT INTO u(value) VALUES (1)", SQLITE_ERROR,
                 "INVALID_REQUEST: the database is open for reading only");
    expect_error(db, "CREATE VIRTUAL TABLE temp.own USING highwater()", SQLITE_ERROR,
                 "INVALID_REQUEST: the database is open for reading only");
    expect_sql(db,
               "SELECT count(*) FROM u; SELECT list_offsets('t', 0, 'latest'),"
               " epoch_end_offset('t', 0, 1, 0); SELECT topic FROM hw_topics;"
               "SELECT name FROM hw_config WHERE value <> default_value",
               "3\n3|[0,3]\nt");
    /* Another cluster is another thing. */
    expect_sql(db,
               "SELECT open_cluster(':memory:'), length(create_topic('m', 1, 1)),"
               " produce('m', 0, NULL, 1); CREATE VIRTUAL TABLE temp.m USING highwater(topic=m);"
               "INSERT INTO m(value) VALUES (2); SELECT leo FROM hw_partitions",
               ":memory:|22|0\n2");
    test_sql_close(db);
}

/* A "zombie" connection ends with its last statement; the cluster is free for the next one. */
TEST(a_connection_can_be_closed_in_the_middle_of_a_scan, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    sqlite3_stmt *reading = NULL;
    sqlite3_stmt *logs = NULL;

    assert_int_equal(sqlite3_prepare_v2(db, READ, -1, &reading, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT * FROM hw_log('t', 0, 1)", -1, &logs, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    assert_int_equal(sqlite3_step(logs), SQLITE_ROW);
    assert_int_equal(sqlite3_close(db), SQLITE_BUSY);
    assert_int_equal(sqlite3_close_v2(db), SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(reading, 0), 1);
    assert_int_equal(sqlite3_step(logs), SQLITE_ROW);
    assert_int_equal(sqlite3_finalize(logs), SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    assert_int_equal(sqlite3_step(reading), SQLITE_DONE);
    assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
    db = test_sql_open(f->path);
    expect_sql(db, "INSERT INTO t(value) VALUES ('d'); SELECT count(*) FROM t", "4");
    test_sql_close(db);
}

TEST(a_defensive_connection_without_trust_works_as_any, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->path);
    int on = 0;

    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, &on), SQLITE_OK);
    assert_int_equal(on, 1);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, &on), SQLITE_OK);
    expect_sql(db,
               READ "; CREATE VIRTUAL TABLE n USING highwater(); INSERT INTO n(value) VALUES (1);"
                    "SELECT produce('n', 0, NULL, 2); SELECT value FROM n; DROP TABLE n;"
                    "SELECT count(*) FROM hw_topics",
               ROWS "\n1\n1\n2\n1");
    /* A schema that is not trusted can look, and do nothing. */
    expect_error(db, "CREATE VIEW v AS SELECT produce('t', 0, NULL, 'x'); SELECT * FROM v",
                 SQLITE_ERROR, "unsafe use of produce()");
    expect_sql(db, "SELECT count(*) FROM t", "3");
    test_sql_close(db);
}

TEST(connections_with_a_shared_cache_share_the_cluster, const struct fixture *f)
{
    sqlite3 *db;
    sqlite3 *other;

    assert_int_equal(sqlite3_enable_shared_cache(1), SQLITE_OK);
    db = test_sql_open(f->path);
    other = test_sql_open(f->path);
    assert_int_equal(sqlite3_enable_shared_cache(0), SQLITE_OK);
    expect_sql(db, "BEGIN; INSERT INTO t(value) VALUES ('d'); SELECT count(*) FROM t", "3");
    expect_error(other, "INSERT INTO t(value) VALUES ('e')", SQLITE_LOCKED,
                 "database table is locked");
    expect_sql(db, "COMMIT", "");
    expect_sql(other, "INSERT INTO t(value) VALUES ('e'); SELECT count(*) FROM t", "5");
    expect_sql(db, "SELECT count(*) FROM t; DROP TABLE t", "5");
    expect_error(other, "SELECT count(*) FROM t", SQLITE_ERROR, "no such table: t");
    test_sql_close(other);
    test_sql_close(db);
}

TEST(loading_writes_nothing_to_the_error_log, const struct fixture *f)
{
    sqlite3 *db;

    log_lines = 0;
    db = test_sql_open(f->path);
    assert_int_equal(sqlite3_load_extension(db, HW_TEST_EXTENSION, NULL, NULL), SQLITE_OK);
    assert_int_equal(log_lines, 0);
    expect_sql(db, READ, ROWS);
    /* The log does count. */
    expect_error(db, "SELECT nope()", SQLITE_ERROR, "no such function: nope");
    assert_true(log_lines > 0);
    test_sql_close(db);
}

/* SQLite reads main's schema again when a statement about main runs, and frees the tables of temp. */
TEST(a_table_in_temp_is_not_made_beside_a_schema_that_has_changed, const struct fixture *f)
{
    static const char *const create = "CREATE VIRTUAL TABLE temp.v USING highwater(partitions=2)";
    static const char *const refused =
        "INVALID_REQUEST: the schema of main has changed: let SQLite";
    sqlite3 *db = test_sql_open(f->other);
    sqlite3 *second = test_sql_open(f->other);

    expect_sql(db, "SELECT count(*) FROM main.sqlite_schema", "0");
    expect_sql(second, "CREATE TABLE a(x)", "");
    expect_error(db, create, SQLITE_ERROR, refused);
    expect_sql(db, "SELECT count(*) FROM main.sqlite_schema; BEGIN", "1");
    expect_error(db, "CREATE VIRTUAL TABLE v USING highwater(bogus=1)", SQLITE_ERROR,
                 "INVALID_CONFIG: there is no config \"bogus\"");
    expect_error(db, create, SQLITE_ERROR, refused);
    expect_sql(db, "SELECT count(*) FROM main.sqlite_schema", "1");
    expect_sql(db, create, "");
    expect_sql(db, "COMMIT; SELECT topic FROM hw_topics", "v");
    test_sql_close(second);
    test_sql_close(db);
}

static int without_pragmas(void *refusal, int action, const char *one, const char *two,
                           const char *database, const char *trigger)
{
    (void)one, (void)two, (void)database, (void)trigger;
    return action == SQLITE_PRAGMA ? *(int *)refusal : SQLITE_OK;
}

TEST(a_table_in_temp_is_made_where_no_pragma_is_allowed, const struct fixture *f)
{
    int refusals[] = {SQLITE_DENY, SQLITE_IGNORE};
    sqlite3 *db = test_sql_open(f->path);

    for (size_t i = 0; i < 2; i++) {
        sqlite3_set_authorizer(db, without_pragmas, &refusals[i]);
        expect_sql(db,
                   "CREATE VIRTUAL TABLE temp.v USING highwater(topic=t);"
                   "SELECT count(*) FROM v; DROP TABLE v",
                   "3");
    }
    test_sql_close(db);
}

/* A version below 0 is one like another, and what another connection holds back is said so. */
TEST(a_table_in_temp_asks_the_file_for_its_schema, const struct fixture *f)
{
    static const char *const create = "CREATE VIRTUAL TABLE temp.v USING highwater(topic=t)";
    sqlite3 *db = test_sql_open(f->path);
    sqlite3 *second = test_sql_open(f->path);

    expect_sql(db, "PRAGMA schema_version = -7; SELECT count(*) FROM plain", "1");
    expect_sql(second, "CREATE TABLE a(x)", "");
    expect_error(db, create, SQLITE_ERROR, "INVALID_REQUEST: the schema of main has changed");
    expect_sql(db, "SELECT count(*) FROM plain", "1");
    expect_sql(second, "BEGIN EXCLUSIVE", "");
    expect_error(db, create, SQLITE_BUSY, "database is locked");
    expect_sql(second, "COMMIT", "");
    expect_sql(db, create, "");
    test_sql_close(second);
    test_sql_close(db);
}

TEST(a_setting_outlives_a_database_without_topics, const struct fixture *f)
{
    sqlite3 *db = test_sql_open(f->other);

    expect_error(db, "SELECT configure('acks', 'none')", SQLITE_ERROR, "INVALID_CONFIG: ");
    expect_sql(db, "SELECT configure('replication', 'auto'), configure('protocol', 'kip-101')",
               "auto|kip-101");
    test_sql_close(db);
    db = test_sql_open(f->other);
    expect_sql(db,
               "SELECT name, value FROM hw_config WHERE name IN ('replication', 'protocol')"
               " ORDER BY name; CREATE VIRTUAL TABLE u USING highwater(replication.factor=3);"
               "INSERT INTO u(value) VALUES (1); SELECT count(*) FROM u",
               "protocol|kip-101\nreplication|auto\n1");
    test_sql_close(db);
}

int main(void)
{
    if (sqlite3_config(SQLITE_CONFIG_LOG, count_log_line, NULL) != SQLITE_OK) {
        return 1;
    }
    return test_run(set_up, tear_down);
}
