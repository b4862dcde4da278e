/* SPDX-License-Identifier: MIT */
/* Does a program learn from the code of an error what it is? */
#include "tests/support_sql.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

static int extended_code_of(sqlite3 *db, const char *sql)
{
    (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
    return sqlite3_extended_errcode(db);
}

/* The number in hw_errors of the name that the last message begins with. */
static int number_in_table(sqlite3 *db)
{
    char *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
    char *sql = sqlite3_mprintf("SELECT number FROM hw_errors WHERE name = '%.*s'",
                                (int)strcspn(message, ":"), message);
    int number = atoi(test_sql(db, sql));

    sqlite3_free(sql);
    sqlite3_free(message);
    return number;
}

TEST_ALONE(the_extended_code_has_the_number_of_the_error)
{
    static const char *const statements[] = {
        "SELECT fetch('nope', 0, 1)",
        "SELECT fetch('t', 0)",
        "SELECT produce('t', 0, NULL, zeroblob(2000000))",
        "SELECT produce('t', 0, NULL, 'a', 1, '{\"leader_epoch\":7}')",
        "SELECT promote('t', 0, 3)",
        "SELECT configure('nope', 1)",
        "SELECT * FROM t WHERE isolation = 'none'",
        "SELECT * FROM hw_log('nope', 0, 1)",
        "SELECT * FROM hw_diagram('nope', 0)",
        "SELECT * FROM kafka_log('/nowhere/at/all')",
        "INSERT INTO t(\"timestamp\") VALUES ('noon')",
        "DELETE FROM t",
        "CREATE VIRTUAL TABLE u USING highwater(partitions=0)"};
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);"
               "INSERT INTO t(value) VALUES ('a');"
               "SELECT replicate('t'), remove_from_isr('t', 0, 3)",
               "2|[1,2]");
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        int code = extended_code_of(db, statements[i]);
        int number = number_in_table(db);

        if (number == 0 ||
            code != (number > 0 ? SQLITE_ERROR | (128 + number) << 8 : SQLITE_ERROR)) {
            fail_msg("%s: code %d, number %d", statements[i], code, number);
        }
    }
    /* Those that are SQLite's own stay so. */
    assert_int_equal(extended_code_of(db, "INSERT INTO t(\"offset\") VALUES (1)"),
                     SQLITE_CONSTRAINT);
    assert_int_equal(extended_code_of(db, "SELECT fetch_round('t')"), SQLITE_OK);
    test_sql_close(db);
}

/* Case: F-69. A host that lowers SQLite's limits is told which one a table does not fit. */
TEST_ALONE(a_limit_that_is_too_low_is_named)
{
    static const struct {
        int limit;
        int value;
        const char *statement;
        const char *beginning;
    } limits[] = {{SQLITE_LIMIT_COLUMN, 4, "SELECT * FROM hw_help",
                   "hw_help needs a SQLITE_LIMIT_COLUMN of 5,"},
                  {SQLITE_LIMIT_COLUMN, 4, "SELECT count(*) FROM hw_log('t', 0, 1)",
                   "hw_log needs a SQLITE_LIMIT_COLUMN of "},
                  {SQLITE_LIMIT_COLUMN, 4, "SELECT count(*) FROM kafka_dirs('.')",
                   "kafka_dirs needs a SQLITE_LIMIT_COLUMN of "},
                  {SQLITE_LIMIT_COLUMN, 8, "CREATE VIRTUAL TABLE u USING highwater(topic=t)",
                   "highwater needs a SQLITE_LIMIT_COLUMN of "},
                  {SQLITE_LIMIT_SQL_LENGTH, 60, "SELECT * FROM hw_help",
                   "hw_help needs a SQLITE_LIMIT_SQL_LENGTH of "}};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        sqlite3 *db = test_sql_open(":memory:");
        int before = sqlite3_limit(db, limits[i].limit, -1);

        expect_sql(db, "SELECT create_topic('t', 1, 1) IS NOT NULL", "1");
        (void)sqlite3_limit(db, limits[i].limit, limits[i].value);
        (void)sqlite3_exec(db, limits[i].statement, NULL, NULL, NULL);
        if (strncmp(sqlite3_errmsg(db), limits[i].beginning, strlen(limits[i].beginning)) != 0) {
            fail_msg("%s: %s", limits[i].statement, sqlite3_errmsg(db));
        }
        (void)sqlite3_limit(db, limits[i].limit, before);
        expect_sql(db, "SELECT count(*) > 9 FROM hw_help", "1");
        test_sql_close(db);
    }
}

int main(void)
{
    return test_run(NULL, NULL);
}
