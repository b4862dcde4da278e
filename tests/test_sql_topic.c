/* SPDX-License-Identifier: MIT */
/*
 * Does a topic's table answer as an ordinary table with the same rows would, whatever is pushed
 * down to the log?
 */
#include "tests/support_sql.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* Topic t with offsets 0 to 9, values v0 to v9; m with three partitions of four records each; and
 * ordinary copies of both, pt and pm. */
static int open_topics(void **state)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=1);"
               "CREATE VIRTUAL TABLE m USING highwater(partitions=3);"
               "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 9)"
               " INSERT INTO t(key, value, \"timestamp\")"
               " SELECT 'k' || i, 'v' || i, (i * 7) % 10 * 100 FROM c;"
               "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 11)"
               " INSERT INTO m(\"partition\", key, value, \"timestamp\")"
               " SELECT i % 3, i, 'v' || i, i FROM c;"
               "CREATE TABLE pt(\"partition\" INTEGER, \"offset\" INTEGER, \"timestamp\" INTEGER,"
               " key, value, headers, id INTEGER PRIMARY KEY);"
               "CREATE TABLE pm(\"partition\" INTEGER, \"offset\" INTEGER, \"timestamp\" INTEGER,"
               " key, value, headers, id INTEGER PRIMARY KEY);"
               "INSERT INTO pt SELECT *, rowid FROM t; INSERT INTO pm SELECT *, rowid FROM m",
               "");
    *state = db;
    return 0;
}

static int close_topics(void **state)
{
    test_sql_close(*state);
    return 0;
}

/* `condition` selects the same rows of t and of pt, and of m and of pm, in any order and in both
 * orders of offsets. */
#define expect_same_rows(db, condition) expect_same_rows_at((db), (condition), __FILE__, __LINE__)
static void expect_same_rows_at(sqlite3 *db, const char *condition, const char *file, int line)
{
    static const char *const forms[] = {
        "SELECT rowid, * FROM (SELECT rowid, key, value, headers FROM %s WHERE %s) ORDER BY rowid",
        "SELECT \"offset\", value FROM %s WHERE %s ORDER BY \"partition\", \"offset\" DESC",
        "SELECT \"partition\", \"offset\", \"timestamp\" FROM %s WHERE %s ORDER BY rowid DESC",
        "SELECT count(*) FROM %s WHERE %s",
        "SELECT max(\"offset\") FROM %s WHERE %s",
        "SELECT min(\"offset\"), max(\"partition\") FROM %s WHERE %s",
        "SELECT value FROM %s WHERE %s ORDER BY \"partition\" DESC, \"offset\" LIMIT 3 OFFSET 1",
        "SELECT \"offset\" FROM %s WHERE %s ORDER BY \"offset\" DESC, \"partition\" LIMIT 2"};
    char sql[600];
    char other[600];

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        for (int two = 0; two < 2; two++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(sql, sizeof sql, forms[i], two ? "m" : "t", condition);
            (void)snprintf(other, sizeof other, forms[i], two ? "pm" : "pt", condition);
#pragma GCC diagnostic pop
            expect_same_sql_at(db, sql, other, file, line);
        }
    }
}

/* Case: D-04 */
TEST(comparisons_with_numbers_of_any_kind_are_exact, sqlite3 *db)
{
    static const char *const values[] = {"5",
                                         "5.0",
                                         "5.5",
                                         "-0.5",
                                         "-1",
                                         "0",
                                         "'5'",
                                         "'5.5'",
                                         "' 5 '",
                                         "'x'",
                                         "''",
                                         "x'35'",
                                         "NULL",
                                         "1e3",
                                         "9e18",
                                         "1e19",
                                         "-1e19",
                                         "9e999",
                                         "-9e999",
                                         "9223372036854775807",
                                         "9223372036854775808",
                                         "-9223372036854775808",
                                         "-9223372036854775809",
                                         "'9223372036854775808'",
                                         "4503599627370496.5",
                                         "3.0000000001"};
    static const char *const columns[] = {"\"offset\"", "rowid", "\"partition\"", "\"timestamp\""};
    static const char *const operators[] = {"=", "<", "<=", ">", ">=", "<>", "IS", "IS NOT"};
    char condition[200];

    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
        for (size_t o = 0; o < sizeof operators / sizeof operators[0]; o++) {
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                (void)snprintf(condition, sizeof condition, "%s %s %s", columns[c], operators[o],
                               values[v]);
                expect_same_rows(db, condition);
            }
        }
    }
    /* The values of the case itself, so that the copy is not the only witness. */
    expect_sql(db, "SELECT group_concat(\"offset\") FROM t WHERE \"offset\" < 5.5", "0,1,2,3,4,5");
    expect_sql(db, "SELECT count(*) FROM t WHERE \"offset\" > -0.5", "10");
    expect_sql(db, "SELECT count(*) FROM t WHERE \"offset\" = 5.5", "0");
    expect_sql(db, "SELECT group_concat(\"offset\") FROM t WHERE \"offset\" BETWEEN 2.5 AND '4'",
               "3,4");
    expect_sql(db, "SELECT count(*) FROM t WHERE \"offset\" < 9223372036854775808", "10");
}

/* Case: D-04 */
TEST(rowids_of_every_partition_are_found, sqlite3 *db)
{
    expect_same_rows(db, "rowid = 281474976710656 + 2");
    expect_same_rows(db, "rowid >= 281474976710656 + 2 AND rowid < 2 * 281474976710656 + 1");
    expect_same_rows(db, "rowid > 281474976710656 - 1 AND \"partition\" = 1");
    expect_same_rows(db, "rowid < 281474976710656 * 2 AND \"offset\" > 1");
    expect_same_rows(db, "rowid BETWEEN 1 AND 281474976710656.5");
}

/* Case: D-03 */
TEST(lists_and_alternatives_return_each_row_once, void *fixture)
{
    static const char *const conditions[] = {
        "\"offset\" IN (1, '2', 3.0, 4.5, NULL)",
        "\"offset\" IN (3, 3, 3)",
        "\"offset\" IN (1, 5, 9) AND \"offset\" > 2",
        "\"offset\" NOT IN (1, 2, 3)",
        "\"offset\" = 2 OR value = 'v7'",
        "\"offset\" < 3 OR \"offset\" < 5",
        "\"offset\" IN (SELECT \"offset\" FROM pt WHERE \"offset\" > 6)",
        "\"partition\" IN (0, 2) AND \"offset\" IN (0, 3)",
        "\"partition\" IN (2, 0, 1) AND \"offset\" >= 1",
        "rowid IN (0, 3, 281474976710656, 99)",
        "\"offset\" IN (0, 1) OR \"partition\" = 2"};

    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        expect_same_rows(fixture, conditions[i]);
    }
    expect_sql(fixture, "SELECT count(*) FROM t WHERE \"offset\" IN (3, 3, 3)", "1");
}

/* Case: D-02 */
TEST(what_cannot_be_pushed_down_is_left_to_sqlite, void *fixture)
{
    static const char *const conditions[] = {
        "\"offset\" <> 5",        "value LIKE 'v%'",
        "\"offset\" IS NOT NULL", "value GLOB 'v[0-4]'",
        "\"offset\" % 2 = 1",     "key IS NULL",
        "\"offset\" NOTNULL",     "\"offset\" + 0 > 3",
        "value > 'v3'",           "\"timestamp\" <> 300",
        "abs(\"offset\") = 4",    "headers = '{}'",
        "\"offset\" > value",     "\"offset\" > \"partition\"",
        "NOT \"offset\" > 4",     "\"offset\" >= '5' AND key > '5' AND '5' < value"};

    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        expect_same_rows(fixture, conditions[i]);
    }
}

/* Case: D-02 */
TEST(limits_and_offsets_count_matching_rows_only, sqlite3 *db)
{
    static const char *const queries[] = {
        "SELECT \"offset\" FROM %s LIMIT 1 OFFSET 1",
        "SELECT \"offset\" FROM %s LIMIT -1 OFFSET 7",
        "SELECT \"offset\" FROM %s LIMIT 0",
        "SELECT \"offset\" FROM %s LIMIT 3 OFFSET -2",
        "SELECT \"offset\" FROM %s WHERE value LIKE 'v%%' LIMIT 2",
        "SELECT \"offset\" FROM %s WHERE value >= 'v3' LIMIT 2 OFFSET 1",
        "SELECT \"offset\" FROM %s WHERE \"offset\" IN (9, 1, 5) ORDER BY \"offset\" LIMIT 2",
        "SELECT \"offset\" FROM %s WHERE \"offset\" IN (9, 1, 5) ORDER BY 1 LIMIT 1 OFFSET 1",
        "SELECT \"offset\" FROM %s WHERE \"offset\" > 2 AND \"timestamp\" > 100 LIMIT 3 OFFSET 1",
        "SELECT \"offset\" FROM %s ORDER BY value DESC LIMIT 2",
        "SELECT \"offset\" FROM %s WHERE \"offset\" = 2 OR value = 'v7' LIMIT 1 OFFSET 1",
        "SELECT value FROM %s ORDER BY \"offset\" DESC LIMIT 2 OFFSET 9",
        "SELECT value FROM %s ORDER BY \"offset\" DESC LIMIT 2 OFFSET 10",
        "SELECT DISTINCT \"partition\" FROM %s LIMIT 1",
        "SELECT count(*) FROM %s LIMIT 1 OFFSET 1",
        "SELECT \"partition\", count(*) FROM %s GROUP BY 1 LIMIT 1",
        "SELECT * FROM (SELECT \"offset\" FROM %s LIMIT 3) LIMIT 2 OFFSET 1",
        "SELECT \"offset\" FROM %s UNION ALL SELECT 77 LIMIT 1 OFFSET 10",
        "SELECT a.\"offset\" FROM %s a, pt b ORDER BY 1 LIMIT 2 OFFSET 12",
        "SELECT \"offset\" FROM %s LIMIT (SELECT 2) OFFSET (SELECT 3)"};
    char sql[300];
    char other[300];

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(sql, sizeof sql, queries[i], "t");
        (void)snprintf(other, sizeof other, queries[i], "pt");
#pragma GCC diagnostic pop
        expect_same_sql(db, sql, other);
    }
    expect_sql(db, "SELECT \"offset\" FROM hw_log('t', 0, 1) LIMIT 1 OFFSET 1", "1");
    expect_sql(db, "SELECT \"offset\" FROM hw_log('t', 0, 1) LIMIT -1 OFFSET 7", "7\n8\n9");
}

TEST(the_plan_says_in_words_what_is_pushed_down, sqlite3 *db)
{
#define PLAN "EXPLAIN QUERY PLAN SELECT "
    test_sql(db, "");
    assert_non_null(strstr(test_sql(db, PLAN "* FROM t WHERE \"offset\" >= 3 AND \"offset\" < 7"
                                             " ORDER BY \"offset\" DESC LIMIT 2 OFFSET 1"),
                           "offset>=? offset<? limit=? skip=? descending"));
    assert_non_null(strstr(test_sql(db, PLAN "max(\"offset\") FROM t"), "descending no values"));
    assert_non_null(strstr(test_sql(db, PLAN "count(*) FROM t"), "no values"));
    assert_non_null(strstr(test_sql(db, PLAN "* FROM m ORDER BY \"partition\" DESC, \"offset\""),
                           "partitions descending"));
    /* Orders that the log cannot give are sorted by SQLite. */
    assert_non_null(strstr(test_sql(db, PLAN "* FROM m ORDER BY \"offset\""), "TEMP B-TREE"));
    assert_non_null(strstr(test_sql(db, PLAN "* FROM t ORDER BY key"), "TEMP B-TREE"));
    assert_null(strstr(test_sql(db, PLAN "* FROM t ORDER BY \"offset\", key"), "TEMP B-TREE"));
    assert_null(strstr(test_sql(db, PLAN "* FROM m WHERE \"partition\" = 1 ORDER BY \"offset\""),
                       "TEMP B-TREE"));
    /* A limit counts rows after every condition, so it is not pushed where one is not. */
    assert_null(strstr(test_sql(db, PLAN "* FROM t WHERE value = 'v1' LIMIT 1"), "limit"));
    assert_null(strstr(test_sql(db, PLAN "* FROM t WHERE \"timestamp\" > 1 LIMIT 1"), "limit"));
    assert_null(strstr(test_sql(db, PLAN "* FROM t ORDER BY key LIMIT 1"), "limit"));
#undef PLAN
}

/* Timestamps need not grow with offsets: the time index says where to begin, no more. */
TEST(timestamps_are_compared_row_by_row, void *fixture)
{
    expect_same_rows(fixture, "\"timestamp\" >= 400");
    expect_same_rows(fixture, "\"timestamp\" > 399.5");
    expect_same_rows(fixture, "\"timestamp\" = 300");
    expect_same_rows(fixture, "\"timestamp\" BETWEEN 100 AND 500 AND \"offset\" > 2");
    expect_same_rows(fixture, "\"timestamp\" > 900");
    expect_same_rows(fixture, "\"timestamp\" >= 900");
    expect_same_rows(fixture, "\"timestamp\" < 200");
}

/* A prepared plan may rely on there being one partition; the topic may get others meanwhile. */
TEST(a_plan_for_one_partition_is_made_anew_when_there_are_more, sqlite3 *db)
{
    sqlite3_stmt *statement = NULL;
    int last = 100;
    int rows = 0;

    expect_sql(db,
               "SELECT create_topic('x', 1) IS NOT NULL;"
               "CREATE VIRTUAL TABLE x USING highwater(topic=x);"
               "INSERT INTO x(value) VALUES (1), (2)",
               "1");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT \"offset\" FROM x ORDER BY \"offset\" DESC", -1,
                                        &statement, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(statement, 0), 1);
    assert_int_equal(sqlite3_reset(statement), SQLITE_OK);

    expect_sql(db,
               "SELECT delete_topic('x'), create_topic('x', 2) IS NOT NULL;"
               "INSERT INTO x(\"partition\", value) VALUES (0, 1), (1, 2), (1, 3), (0, 4), (1, 5)",
               "1|1");
    while (sqlite3_step(statement) == SQLITE_ROW) {
        int offset = sqlite3_column_int(statement, 0);

        assert_true(offset <= last);
        last = offset;
        rows++;
    }
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    assert_int_equal(rows, 5);
}

/* SQLite keeps a result that is said to be static by its address, and the reader's bytes change. */
TEST(the_largest_value_is_right_in_the_middle_of_a_long_scan, sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE long USING highwater();"
               "WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 19999)"
               " INSERT INTO long(key, value)"
               " SELECT printf('%05d', i), printf('%05d', (i * 7919) % 20000) || hex(zeroblob(40))"
               " FROM c;"
               "SELECT substr(max(value), 1, 5), substr(min(value), 1, 5), max(key) FROM long;"
               "SELECT key, substr(value, 1, 5) FROM long WHERE value = (SELECT max(value) FROM"
               " long)",
               "19999|00000|19999\n02321|19999");
}

/* NULL, '' and zero bytes are different things, and bytes are not cut or changed. Case: E-08, E-09
 */
TEST(keys_and_values_come_back_as_they_were, sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE b USING highwater();"
               "INSERT INTO b(key, value) VALUES (NULL, 'x'), ('', x''), ('a', NULL), (NULL, NULL),"
               " (x'0001FFC328', 'a' || char(0) || 'b'), (1, 2.5), ('\xc3\xbc', x'C3BC'),"
               " (x'EDA080', x'C080'), (zeroblob(3), x'F48FBFBF'),"
               " ('0123456789' || char(0) || 'abcdefgh', '0123456789abcdef\xc3\xbcxyz');"
               "SELECT typeof(key), key, typeof(value), value FROM b;"
               "SELECT count(*) FROM b WHERE value IS NULL;"
               "SELECT count(*) FROM b WHERE length(key) = 0;"
               "SELECT \"offset\" FROM b WHERE key = x'0001FFC328'",
               "null|NULL|text|x\n"
               "text||text|\n"
               "text|a|null|NULL\n"
               "null|NULL|null|NULL\n"
               "blob|x'0001FFC328'|blob|x'610062'\n"
               "text|1|text|2.5\n"
               "text|\xc3\xbc|text|\xc3\xbc\n"
               "blob|x'EDA080'|blob|x'C080'\n"
               "blob|x'000000'|text|\xf4\x8f\xbf\xbf\n"
               "blob|x'30313233343536373839006162636465666768'|text|"
               "0123456789abcdef\xc3\xbcxyz\n"
               "2\n1\n4");
}

/* Texts of all small sizes, with another part of the record or a NUL behind them, and with a byte
 * that no text has at every place. Case: E-08 */
TEST(texts_of_every_size_are_texts_as_far_as_they_are, sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE u USING highwater(partitions=1);"
               "CREATE TEMP TABLE sizes(n INTEGER PRIMARY KEY, v TEXT);"
               "WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 140)"
               " INSERT INTO sizes SELECT n, replace(hex(zeroblob(n)), '00', 'v') FROM c;"
               "INSERT INTO u(key, value, headers) SELECT v, substr(v, 1, n % 3), '{}' FROM sizes;"
               "INSERT INTO u(key, value, headers)"
               " SELECT '', v, iif(n % 2, '{}', '{\"h\":\"x\"}') FROM sizes;"
               "INSERT INTO u(value) SELECT v || '\xc3\xbc' FROM sizes;"
               "SELECT count(*), sum(typeof(key) = 'text' AND typeof(value) = 'text'),"
               " sum(\"offset\" = length(key)), sum(length(value)) FROM u WHERE \"offset\" < 141;"
               "SELECT count(*), sum(\"offset\" - 141 = length(value)), sum(value = v)"
               " FROM u JOIN sizes ON n = \"offset\" - 141 WHERE \"offset\" BETWEEN 141 AND 281;"
               "SELECT count(*), sum(\"offset\" - 282 + 1 = length(value)),"
               " sum(typeof(value) = 'text' AND value = v || '\xc3\xbc')"
               " FROM u JOIN sizes ON n = \"offset\" - 282 WHERE \"offset\" >= 282;"
               "INSERT INTO u(value) SELECT CAST(a.v || x'80' || b.v AS BLOB)"
               " FROM sizes a, sizes b WHERE a.n + b.n < 136;"
               "INSERT INTO u(value) SELECT CAST(a.v || char(0) || b.v AS BLOB)"
               " FROM sizes a, sizes b WHERE a.n + b.n < 136;"
               "SELECT count(*), sum(typeof(value) = 'blob') FROM u WHERE \"offset\" >= 423",
               "141|141|141|141\n141|141|141\n141|141|141\n18632|18632");
}

/* Case: E-09 */
TEST(headers_keep_order_duplicates_and_bytes, sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE h USING highwater();"
               "INSERT INTO h(value, headers) VALUES (1, NULL), (2, '{}'),"
               " (3, '{\"h\":{\"hex\":\"C328\"},\"h\":\"second\",\"n\":null,\"\":\"x\"}'),"
               " (4, ' {\"q\\\"\\\\\\u00fc\\n\":\"a\\\"b\\\\\\t\",\"i\":5,\"f\":1.5,\"t\":true}'),"
               " (5, '{ \"e\" : { \"hex\" : \"\" }, \"s\":\"\"}'),"
               " (6, '{\"z\":{\"hex\":\"00fF\"}}');"
               "SELECT headers FROM h;"
               "SELECT j.key, j.value FROM h, json_each(h.headers) j WHERE \"offset\" = 2",
               "{}\n{}\n"
               "{\"h\":{\"hex\":\"C328\"},\"h\":\"second\",\"n\":null,\"\":\"x\"}\n"
               "{\"q\\\"\\\\\xc3\xbc\\u000a\":\"a\\\"b\\\\\\u0009\",\"i\":\"5\",\"f\":\"1.5\","
               "\"t\":\"true\"}\n"
               "{\"e\":\"\",\"s\":\"\"}\n"
               "{\"z\":{\"hex\":\"00FF\"}}\n"
               "h|{\"hex\":\"C328\"}\nh|second\nn|NULL\n|x");
}

/* Case: D-10 */
TEST(no_insert_overwrites_a_record, sqlite3 *db)
{
#define GIVEN "INVALID_REQUEST: the leader gives a record its offset"
    expect_error(db, "INSERT INTO t(\"offset\", value) VALUES (1, 'x')", SQLITE_CONSTRAINT, GIVEN);
    expect_error(db, "INSERT INTO t(rowid, value) VALUES (1, 'x')", SQLITE_CONSTRAINT, GIVEN);
    expect_error(db, "INSERT OR ABORT INTO t(rowid, value) VALUES (1, 'x')", SQLITE_CONSTRAINT,
                 GIVEN);
    expect_error(db, "INSERT OR REPLACE INTO t(\"offset\", value) VALUES (1, 'x')",
                 SQLITE_CONSTRAINT, GIVEN);
    expect_error(db, "INSERT INTO t(\"offset\", value) VALUES (99, 'x')", SQLITE_CONSTRAINT, GIVEN);
    expect_error(db, "INSERT INTO t SELECT * FROM t", SQLITE_CONSTRAINT, GIVEN);
    expect_sql(db, "INSERT OR IGNORE INTO t(\"offset\", value) VALUES (1, 'x')", "");
    expect_error(db, "INSERT INTO t(value) VALUES ('x') ON CONFLICT DO NOTHING", SQLITE_ERROR,
                 "UPSERT not implemented for virtual table");
    expect_error(db, "UPDATE t SET value = 'x'", SQLITE_ERROR,
                 "INVALID_REQUEST: a log only grows: instead of UPDATE");
    expect_error(db, "UPDATE t SET rowid = 9 WHERE rowid = 1", SQLITE_ERROR,
                 "INVALID_REQUEST: a log only grows");
    expect_error(db, "DELETE FROM t WHERE \"offset\" = 1", SQLITE_ERROR,
                 "INVALID_REQUEST: a log only grows: instead of DELETE");
    expect_sql(db, "SELECT group_concat(value) FROM t", "v0,v1,v2,v3,v4,v5,v6,v7,v8,v9");
#undef GIVEN
}

/* Case: D-10 */
TEST(an_insert_tells_the_new_offset, sqlite3 *db)
{
    expect_sql(db, "INSERT INTO t(value) VALUES ('x'); SELECT last_insert_rowid(), changes()",
               "10|1");
    expect_sql(db,
               "INSERT INTO t(value) VALUES ('y'), ('z'); SELECT last_insert_rowid(), changes()",
               "12|2");
    expect_sql(db,
               "INSERT INTO m(\"partition\", value) VALUES (2, 'x');"
               "SELECT last_insert_rowid() >> 48, last_insert_rowid() & 0xffffffffffff",
               "2|4");
}

TEST(a_view_of_one_partition_reads_and_writes_only_that, sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE one USING highwater(topic=m, partition=1);"
               "SELECT \"partition\", \"offset\", value FROM one ORDER BY \"offset\" DESC LIMIT 2;"
               "SELECT count(*) FROM one WHERE \"partition\" = 2;"
               "SELECT count(*) FROM one WHERE \"partition\" = 1;"
               "INSERT INTO one(value) VALUES ('new');"
               "SELECT count(*) FROM m WHERE \"partition\" = 1",
               "1|3|v10\n1|2|v7\n0\n4\n5");
    expect_error(db, "INSERT INTO one(\"partition\", value) VALUES (0, 'x')", SQLITE_ERROR,
                 "INVALID_REQUEST: this table is partition 1 of m alone");
    expect_sql(db, "DROP TABLE one; SELECT count(*) FROM m", "13");
}

TEST(hidden_columns_choose_replica_and_isolation, sqlite3 *db)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE r USING highwater(replication.factor=3);"
               "INSERT INTO r(value) VALUES ('a'), ('b');"
               "SELECT fetch_round('r');"
               "SELECT count(*) FROM r;"
               "SELECT count(*) FROM r WHERE replica = 2;"
               "SELECT fetch_round('r');"
               "SELECT value, replica, isolation FROM r WHERE replica = 2;"
               "SELECT value, replica, isolation FROM r WHERE \"offset\" = 1;"
               "SELECT count(*) FROM r WHERE isolation = 'read_committed' AND replica IN (1, 2, 3);"
               "SELECT b.broker, count(r.value) FROM hw_brokers b LEFT JOIN r ON r.replica ="
               " b.broker GROUP BY 1;"
               "SELECT count(*) FROM r WHERE replica = NULL",
               "4\n2\n0\n0\na|2|read_uncommitted\nb|2|read_uncommitted\nb|NULL|read_uncommitted\n"
               "6\n1|2\n2|2\n3|2\n0");
}

/* Case: D-01. However many rows the other table has, it comes first: a plan that reads the leader's
 * copy instead of the one that is asked for would find nothing, and say nothing. */
TEST(an_argument_that_is_not_there_yet_is_no_plan, sqlite3 *db)
{
    expect_sql(db,
               "CREATE TABLE b(broker, isolation);"
               "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 2000)"
               " INSERT INTO b SELECT 1, 'read_committed' FROM c; ANALYZE;"
               "SELECT count(*) FROM t, b WHERE t.replica = b.broker;"
               "SELECT count(*) FROM t JOIN b ON t.isolation = b.isolation;"
               "SELECT count(*) FROM hw_log l, b WHERE l.of_topic = 't' AND l.\"partition\" = 0"
               " AND l.of_broker = b.broker",
               "20000\n20000\n20000");
    /* Not given, the replica is NULL: "the leader". */
    expect_sql(db,
               "SELECT count(*) FROM t WHERE replica IS NULL;"
               "SELECT count(*) FROM t WHERE replica IS (SELECT NULL)",
               "10\n10");
}

TEST(a_topic_without_a_leader_says_what_to_call, void *fixture)
{
    expect_error(fixture, "SELECT crash(1); SELECT count(*) FROM t", SQLITE_ERROR,
                 "LEADER_NOT_AVAILABLE: ");
    expect_error(fixture, "INSERT INTO t(value) VALUES (1)", SQLITE_ERROR,
                 "LEADER_NOT_AVAILABLE: ");
    expect_sql(fixture, "SELECT restart(1); SELECT count(*) FROM t", "running\n10");
}

int main(void)
{
    return test_run(open_topics, close_topics);
}
