/* SPDX-License-Identifier: MIT */
/* Bytes that are no UTF-8 never come back as text: hosts such as Python fail on them. */
#include "core/base/utf8.h"
#include "tests/support_sql.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* "a" and a byte that no character begins with, as text. */
#define BAD "CAST(x'61FF' AS TEXT)"

static int set_up(void **state)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);"
               "INSERT INTO t(key, value) VALUES ('k', 'v'); SELECT replicate('t')",
               "2");
    *state = db;
    return 0;
}

static int tear_down(void **state)
{
    test_sql_close(*state);
    return 0;
}

static void expect_text(const char *sql, const char *text)
{
    if (text != NULL && !hw_utf8_is_text((const uint8_t *)text, strlen(text))) {
        fail_msg("%s: %s is no UTF-8", sql, text);
    }
}

/* Run it, whatever comes of it: all texts, and the words of its error, are UTF-8. Returns whether it
 * was refused. */
static bool run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        for (int i = 0; code == SQLITE_ROW && i < sqlite3_column_count(statement); i++) {
            if (sqlite3_column_type(statement, i) == SQLITE_TEXT) {
                expect_text(sql, (const char *)sqlite3_column_text(statement, i));
            }
        }
    }
    expect_text(sql, sqlite3_errmsg(db));
    (void)sqlite3_finalize(statement);
    return code != SQLITE_DONE;
}

/* Every function refuses it at every place where it takes a text. Case: F-62 */
TEST(no_function_takes_bytes_that_are_no_text, sqlite3 *db)
{
    sqlite3_stmt *functions = NULL;
    int refused = 0;

    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT f.name, f.narg FROM pragma_function_list f JOIN"
                                        " hw_help h ON h.name = f.name AND h.kind = 'function'",
                                        -1, &functions, NULL),
                     SQLITE_OK);
    while (sqlite3_step(functions) == SQLITE_ROW) {
        for (int count = 1; count <= 6; count++) {
            char sql[256];
            int size = snprintf(sql, sizeof sql, "SELECT %s(", sqlite3_column_text(functions, 0));

            for (int i = 0; i < count; i++) {
                size +=
                    snprintf(sql + size, sizeof sql - (size_t)size, "%s" BAD, i > 0 ? ", " : "");
            }
            (void)snprintf(sql + size, sizeof sql - (size_t)size, ")");
            refused += run(db, sql) ? 1 : 0;
        }
    }
    assert_int_equal(sqlite3_finalize(functions), SQLITE_OK);
    assert_true(refused > 200);
    expect_error(db, "SELECT add_broker(9, " BAD ")", SQLITE_ERROR,
                 "INVALID_REQUEST: add_broker(): rack is no UTF-8");
    expect_error(db, "SELECT add_broker(9, NULL, " BAD ")", SQLITE_ERROR,
                 "INVALID_REQUEST: add_broker(): dir is no UTF-8");
    expect_error(db, "SELECT init_producer(" BAD ")", SQLITE_ERROR,
                 "INVALID_REQUEST: init_producer(): transactional_id is no UTF-8");
    expect_error(db, "SELECT open_cluster(" BAD ")", SQLITE_ERROR,
                 "INVALID_REQUEST: open_cluster(): path is no UTF-8");
    expect_error(db, "SELECT produce('t', 0, 1, 2, 1, CAST(x'7B2261FF223A317D' AS TEXT))",
                 SQLITE_ERROR, "INVALID_REQUEST: options: a text that is no UTF-8");
    expect_error(db, "INSERT INTO t(headers) VALUES (CAST(x'7B2261FF223A2231227D' AS TEXT))",
                 SQLITE_ERROR, "INVALID_REQUEST: headers: a text that is no UTF-8");
    expect_error(db, "SELECT * FROM kafka_log(" BAD ")", SQLITE_ERROR,
                 "INVALID_REQUEST: the path is a text that is no UTF-8");
    expect_sql(db, "SELECT count(*) FROM hw_brokers", "3");
}

/* The words of errors quote what is wrong, cut to fit. Case: F-62 */
TEST(words_of_errors_are_text, sqlite3 *db)
{
    static const char *const statements[] = {
        "SELECT * FROM hw_log(" BAD ", 0, 1)",
        "SELECT * FROM hw_batches(" BAD ", 0, 1)",
        "SELECT * FROM t WHERE isolation = " BAD,
        "SELECT * FROM hw_replicas WHERE topic = " BAD,
        "SELECT * FROM kafka_log(CAST(" BAD " AS BLOB))",
        "CREATE VIRTUAL TABLE \"a\xff\" USING highwater(replication.factor=1)",
        "CREATE VIRTUAL TABLE u USING highwater(topic=a\xff)",
        "CREATE VIRTUAL TABLE u USING highwater(a\xff=1)",
        "CREATE VIRTUAL TABLE u USING highwater(partitions=a\xff)",
        "CREATE VIRTUAL TABLE u USING highwater(retention.ms=a\xff)",
        "SELECT configure('retention.ms', replace(hex(zeroblob(40)), '00', char(228)))",
        "SELECT create_topic(replace(hex(zeroblob(40)), '00', char(8364)))",
        "SELECT create_topic('a' || replace(hex(zeroblob(40)), '00', char(8364)))",
        "SELECT fetch('t' || replace(hex(zeroblob(300)), '00', char(8364)), 0, 1)",
        "SELECT open_cluster(':memory:', json_object(replace(hex(zeroblob(40)), '00', char(8364)),"
        " 1))"};

    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        (void)run(db, statements[i]);
    }
}

/* A record is bytes: what is no text is a blob. Case: F-62 */
TEST(a_record_of_such_bytes_is_a_blob, void *fixture)
{
    expect_sql(fixture,
               "INSERT INTO t(key, value) VALUES (" BAD ", " BAD ");"
               "SELECT produce('t', 0, " BAD ", " BAD "), replicate('t') > 0;"
               "SELECT key, value FROM t WHERE \"offset\" > 0",
               "2|1\nx'61FF'|x'61FF'\nx'61FF'|x'61FF'");
}

int main(void)
{
    return test_run(set_up, tear_down);
}
