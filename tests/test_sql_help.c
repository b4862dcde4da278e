/* SPDX-License-Identifier: MIT */
/*
 * Does hw_help have a line about everything that loading the extension adds, and does each of its
 * examples run?
 */
#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* Where the examples look for a broker's files. */
#define LOG_DIRECTORY  "/data/kafka-logs"
#define COPY_DIRECTORY "/copy/kafka-logs"

/* A topic with three replicas: a record that is committed, and one that only the leader has. */
static const char orders[] = "CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3);"
                             "INSERT INTO orders(key, value) VALUES ('k0', 'v0');"
                             "SELECT replicate() > 0;"
                             "INSERT INTO orders(key, value) VALUES ('k1', 'v1')";

TEST_ALONE(there_is_a_line_for_everything_and_nothing_else)
{
    sqlite3 *plain;
    char *sql;
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, orders, "1");
    /* What SQLite says is there, against what hw_help says. */
    expect_sql(db,
               "CREATE TEMP TABLE added AS"
               " SELECT 'table' kind, name FROM pragma_module_list"
               "  WHERE name LIKE 'hw\\_%' ESCAPE '\\' OR name LIKE 'kafka\\_%' ESCAPE '\\'"
               " UNION SELECT 'module', name FROM pragma_module_list WHERE name = 'highwater'"
               " UNION SELECT 'config', name FROM hw_config"
               " UNION SELECT 'column', m.name || '.' || c.name"
               "  FROM pragma_module_list m, pragma_table_xinfo(m.name) c"
               "  WHERE m.name LIKE 'hw\\_%' ESCAPE '\\' OR m.name LIKE 'kafka\\_%' ESCAPE '\\'"
               " UNION SELECT 'column', 'highwater.' || name FROM pragma_table_xinfo('orders');"
               "SELECT count(*) > 300 FROM added;"
               "SELECT * FROM added EXCEPT SELECT kind, name FROM hw_help;"
               "SELECT kind, name FROM hw_help WHERE kind NOT IN ('function', 'promise') EXCEPT "
               "SELECT * FROM added;"
               "SELECT count(*) - count(DISTINCT name) FROM hw_help",
               "1\n0");
    /* Functions: those that a connection without the extension does not have. */
    assert_int_equal(sqlite3_open(":memory:", &plain), SQLITE_OK);
    sql = sqlite3_mprintf("CREATE TEMP TABLE functions AS SELECT name FROM pragma_function_list"
                          " WHERE name NOT IN (%s)",
                          test_sql(plain, "SELECT group_concat(DISTINCT quote(name))"
                                          " FROM pragma_function_list"));
    assert_int_equal(sqlite3_close(plain), SQLITE_OK);
    expect_sql(db, sql, "");
    sqlite3_free(sql);
    expect_sql(db,
               "SELECT count(*) > 20 FROM functions;"
               "SELECT name FROM functions EXCEPT SELECT name FROM hw_help WHERE kind = 'function';"
               "SELECT name FROM hw_help WHERE kind = 'function' EXCEPT SELECT name FROM functions",
               "1");
    test_sql_close(db);
}

TEST_ALONE(each_line_says_something)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(
        db,
        "SELECT name FROM hw_help WHERE signature NOT LIKE '%' || name || '%'"
        " OR example NOT LIKE '%' || iif(kind = 'column', substr(name, instr(name, '.') + 1),"
        " name) || '%' OR coalesce(length(summary), 0) < 9 OR length(summary) > 200"
        " OR instr(summary || signature || example, char(10)) > 0;"
        "SELECT signature, summary FROM hw_help WHERE name IN ('highwater.replica',"
        " 'hw_replicas.leo', 'hw_log.key')",
        "hw_replicas.leo INTEGER|its log end offset; NULL while it is down\n"
        "highwater.replica INTEGER HIDDEN|an argument: replica = 2 reads broker 2's copy\n"
        "hw_log.key|TEXT where the bytes are UTF-8 without NUL, else BLOB; NULL: no key");
    expect_sql(db,
               "SELECT signature, example FROM hw_help WHERE name IN ('acks',"
               " 'min.insync.replicas') ORDER BY name",
               "configure('acks', value)|SELECT value, topic FROM hw_config WHERE name = 'acks';\n"
               "configure('min.insync.replicas', value [, topic])"
               "|SELECT value, topic FROM hw_config WHERE name = 'min.insync.replicas';");
    test_sql_close(db);
}

/* Run an example in a fresh database that has the topic, unless the example makes it. */
static void run_alone(const char *example)
{
    sqlite3 *db = test_sql_open(":memory:");
    char *message = NULL;

    if (strstr(example, "CREATE") == NULL && strstr(example, "create_topic") == NULL) {
        expect_sql(db, orders, "1");
    }
    if (strstr(example, "restart(1)") != NULL || strstr(example, "rejoin(") != NULL) {
        expect_sql(db, "SELECT crash(1), promote('orders', 0, 2)", "crashed|1");
    }
    if (strstr(example, "rejoin(") != NULL) {
        expect_sql(db, "SELECT restart(1)", "running");
    }
    if (sqlite3_exec(db, example, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s: %s", example, message);
    }
    test_sql_close(db);
}

/* Each statement of a question, as text that stays valid. */
static void for_each(sqlite3 *db, const char *question, void (*run)(sqlite3 *, const char *),
                     int at_least)
{
    sqlite3_stmt *examples = NULL;
    int count = 0;

    assert_int_equal(sqlite3_prepare_v2(db, question, -1, &examples, NULL), SQLITE_OK);
    while (sqlite3_step(examples) == SQLITE_ROW) {
        run(db, (const char *)sqlite3_column_text(examples, 0));
        count++;
    }
    assert_int_equal(sqlite3_finalize(examples), SQLITE_OK);
    assert_true(count >= at_least);
}

static void run_fresh(sqlite3 *db, const char *example)
{
    (void)db;
    run_alone(example);
}

static void run_here(sqlite3 *db, const char *example)
{
    char *message = NULL;

    if (sqlite3_exec(db, example, NULL, NULL, &message) != SQLITE_OK) {
        fail_msg("%s: %s", example, message);
    }
}

TEST_ALONE(every_example_runs)
{
    char directory[HW_PATH_MAX];
    char *question;
    char *path;
    sqlite3 *db;

    test_directory_make(directory);
    path = sqlite3_mprintf("%s/x.db", directory);
    db = test_sql_open(path);
    sqlite3_free(path);
    expect_sql(db, orders, "1");
    for_each(db, "SELECT example FROM hw_help WHERE kind IN ('function', 'module')", run_fresh, 30);
    question = sqlite3_mprintf("SELECT replace(replace(example, '" LOG_DIRECTORY
                               "', '%q/x.db-highwater/broker-1'),"
                               " '" COPY_DIRECTORY "', '%q/x.db-highwater/broker-2')"
                               " FROM hw_help WHERE kind NOT IN ('function', 'module')",
                               directory, directory);
    for_each(db, question, run_here, 300);
    sqlite3_free(question);
    test_sql_close(db);
    test_directory_remove(directory);
}

int main(void)
{
    return test_run(NULL, NULL);
}
