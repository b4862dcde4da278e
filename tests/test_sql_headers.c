/* SPDX-License-Identifier: MIT */
/*
 * Headers that are given as plain strings, which no json_each() reads: the same as if it did, and
 * everything else is left to it. What headers can be at all is in test_sql_topic.c.
 */
#include "tests/support_sql.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

#define INVALID "INVALID_REQUEST: "
#define OBJECT  INVALID "headers must be a JSON object"

static int set_up(void **state)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db, "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1)", "");
    *state = db;
    return 0;
}

static int tear_down(void **state)
{
    test_sql_close(*state);
    return 0;
}

/* Insert a row with these headers. Returns the code; its words are in sqlite3_errmsg(). */
static int insert(sqlite3 *db, const char *headers)
{
    sqlite3_stmt *statement = NULL;
    int code;

    assert_int_equal(sqlite3_prepare_v2(db, "INSERT INTO t(value, headers) VALUES ('v', ?1)", -1,
                                        &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_bind_text(statement, 1, headers, -1, SQLITE_STATIC), SQLITE_OK);
    code = sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

struct given {
    const char *headers;
    const char *stored; /* NULL: refused. */
};

static const struct given plain[] = {
    {"{}", "{}"},
    {" { } ", "{}"},
    {"{\"a\":\"b\"}", "{\"a\":\"b\"}"},
    {"\t{ \"a\" :\r\n\"b\" , \"c\":\"d\" }\n", "{\"a\":\"b\",\"c\":\"d\"}"},
    {"{\"a\":\"1\",\"a\":\"2\",\"\":\"\"}", "{\"a\":\"1\",\"a\":\"2\",\"\":\"\"}"},
    {"{\"\xc3\xa4\":\"{,:}[]'/\x7f\xe2\x82\xac\"}", "{\"\xc3\xa4\":\"{,:}[]'/\x7f\xe2\x82\xac\"}"},
    /* Plain strings first, and then something else. */
    {"{\"a\":\"b\",\"c\":1}", "{\"a\":\"b\",\"c\":\"1\"}"},
    {"{\"a\":\"b\",\"c\":null,\"d\":true}", "{\"a\":\"b\",\"c\":null,\"d\":\"true\"}"},
    {"{\"a\":\"b\",\"c\":{\"hex\":\"00ff\"}}", "{\"a\":\"b\",\"c\":{\"hex\":\"00FF\"}}"},
    {"{\"a\":\"b\",\"c\":\"\\u0064\\\"\"}", "{\"a\":\"b\",\"c\":\"d\\\"\"}"},
    {"{\"a\":\"b\",\"\\\\\":\"c\"}", "{\"a\":\"b\",\"\\\\\":\"c\"}"},
};

TEST(headers_are_stored_as_they_are_given, sqlite3 *db)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        char sql[100];

        if (insert(db, plain[i].headers) != SQLITE_OK) {
            fail_msg("%s: %s", plain[i].headers, sqlite3_errmsg(db));
        }
        (void)snprintf(sql, sizeof sql, "SELECT headers FROM t WHERE \"offset\" = %zu", i);
        expect_sql(db, sql, plain[i].stored);
    }
}

TEST(what_is_no_object_is_refused, sqlite3 *db)
{
    static const struct {
        const char *headers;
        const char *words;
    } bad[] = {
        {"", OBJECT},
        {" ", OBJECT},
        {"\"a\":\"b\"", OBJECT},
        {"[\"a\"]", OBJECT},
        {"}", OBJECT},
        {"{", NULL},
        {"{\"a\"}", NULL},
        {"{\"a\":}", NULL},
        {"{\"a\":\"b\"", NULL},
        {"{\"a\":\"b", NULL},
        {"{\"a\":\"b\"}}", NULL},
        {"{\"a\":\"b\"}x", NULL},
        {"{\"a\":\"b\"{\"c\":\"d\"}", NULL},
        {"{,\"a\":\"b\"}", NULL},
        {"{\"a\":\"b\",,\"c\":\"d\"}", NULL},
        {"{\"a\":\"b\" \"c\":\"d\"}", NULL},
        {"{\"a\" \"b\"}", NULL},
        {"{\"a\",\"b\"}", NULL},
        {"{\"a\":\"b\\", NULL},
        {"{\"a\":\"b\",\"c\":[1]}", INVALID "header \"c\" must be text"},
        {"{\"a\":\"b\",\"c\":\"\\u0000\"}", INVALID "headers: \\u0000 cannot be kept"},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *words = bad[i].words == NULL ? "" : bad[i].words;

        if (insert(db, bad[i].headers) == SQLITE_OK ||
            strncmp(sqlite3_errmsg(db), words, strlen(words)) != 0) {
            fail_msg("'%s': %s", bad[i].headers, sqlite3_errmsg(db));
        }
    }
    expect_sql(db, "SELECT count(*) FROM t", "0");
}

/* Whether a string may hold them, SQLite's versions do not agree. */
TEST(control_characters_are_what_json_each_says, sqlite3 *db)
{
    for (int c = 1; c < ' '; c++) {
        char headers[] = "{\"a\":\"?\"}";
        char sql[100];
        bool is_taken;

        *strchr(headers, '?') = (char)c;
        (void)snprintf(sql, sizeof sql, "SELECT value FROM json_each('%s')", headers);
        is_taken = insert(db, headers) == SQLITE_OK;
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, is_taken);
    }
}

/* Nothing of a row that was refused is left for the next one. */
TEST(rows_do_not_share_headers, sqlite3 *db)
{
    expect_sql(db, "BEGIN", "");
    assert_int_equal(insert(db, "{\"a\":\"b\"}"), SQLITE_OK);
    assert_int_equal(insert(db, "{\"c\":\"d\",\"e\":[1]}"), SQLITE_ERROR);
    assert_int_equal(insert(db, "{\"f\":\"g\",\"h\":2}"), SQLITE_OK);
    assert_int_equal(insert(db, "{\"i\":\"j\"}"), SQLITE_OK);
    expect_sql(db, "COMMIT; SELECT headers FROM t",
               "{\"a\":\"b\"}\n{\"f\":\"g\",\"h\":\"2\"}\n{\"i\":\"j\"}");
}

int main(void)
{
    return test_run(set_up, tear_down);
}
