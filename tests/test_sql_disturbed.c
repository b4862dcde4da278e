/* SPDX-License-Identifier: MIT */
/*
 * Rows of one transaction with something else between them: each row goes by what is so when it is
 * written, whether this connection or another one has changed it since the row before.
 */
#include "tests/support_sql_file.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

#define SERIES(count)                                                                              \
    "(WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT " count ") "            \
    "SELECT i FROM c)"

/* Two connections to one cluster; temporary tables take no lock on the database file. */
static int set_up(void **state)
{
    return test_sql_file_set_up(
        state, true,
        "SELECT create_topic('t', 1, 1) IS NOT NULL, create_topic('u', 2, 1) IS NOT NULL;"
        "CREATE VIRTUAL TABLE temp.t USING highwater(topic=t);"
        "CREATE VIRTUAL TABLE temp.u USING highwater(topic=u);"
        /* Memory for what follows. */
        "BEGIN; INSERT INTO t(value) SELECT 'v' FROM " SERIES("1000") "; ROLLBACK",
        "1|1");
}

TEST(the_clock_is_that_of_each_row, struct fixture *f)
{
    expect_sql(f->db,
               "BEGIN; INSERT INTO t(value) VALUES ('a'); INSERT INTO t(value) VALUES ('b');"
               "SELECT tick(5); INSERT INTO t(value) VALUES ('c'); INSERT INTO t(value) VALUES "
               "('d')",
               "5");
    expect_sql(f->other, "SELECT tick(7)", "12");
    expect_sql(f->db,
               "INSERT INTO t(value) VALUES ('e'); INSERT INTO t(value) VALUES ('f');"
               "COMMIT; SELECT value, timestamp FROM t",
               "a|0\nb|0\nc|5\nd|5\ne|12\nf|12");
}

TEST(settings_are_those_of_each_row, struct fixture *f)
{
    expect_sql(f->db, "BEGIN; INSERT INTO t(value) VALUES ('a'); INSERT INTO t(value) VALUES ('b')",
               "");
    expect_sql(f->other, "SELECT configure('max.message.bytes', 100, 't') IS NOT NULL", "1");
    expect_error(f->db, "INSERT INTO t(value) VALUES (printf('%100d', 1))", SQLITE_ERROR,
                 "MESSAGE_TOO_LARGE");
    expect_sql(f->other, "SELECT configure('max.message.bytes', 1000000, 't') IS NOT NULL", "1");
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('c')", "");
    expect_sql(f->other, "SELECT configure('cleanup.policy', 'compact', 't') IS NOT NULL", "1");
    expect_error(f->db, "INSERT INTO t(value) VALUES ('d')", SQLITE_ERROR, "INVALID_RECORD");
    expect_sql(f->other, "SELECT configure('cleanup.policy', 'delete', 't') IS NOT NULL", "1");
    expect_sql(f->db, "COMMIT; SELECT \"offset\", value FROM t", "0|a\n1|b\n2|c");
}

TEST(rows_after_going_back_to_a_savepoint_come_where_it_was, struct fixture *f)
{
    expect_sql(
        f->db,
        "BEGIN; INSERT INTO t(value) VALUES ('a'); INSERT INTO t(value) VALUES ('b');"
        "SAVEPOINT s; INSERT INTO t(value) VALUES ('c'); INSERT INTO t(value) VALUES ('d');"
        "INSERT INTO u(\"partition\", value) VALUES (1, 'x'), (1, 'y');"
        "ROLLBACK TO s; INSERT INTO t(value) VALUES ('e'); INSERT INTO t(value) VALUES ('f')",
        "");
    /* Free again. */
    expect_sql(f->other, "SELECT produce('u', 1, NULL, 'z')", "0");
    expect_sql(f->db,
               "INSERT INTO u(\"partition\", value) VALUES (1, 'w'), (1, 'v'); COMMIT;"
               "SELECT \"offset\", value FROM t; SELECT \"offset\", value FROM u",
               "0|a\n1|b\n2|e\n3|f\n0|z\n1|w\n2|v");
}

TEST(a_topic_that_the_transaction_drops_takes_no_more_rows, struct fixture *f)
{
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE temp.o USING highwater(replication.factor=1);"
               "CREATE VIRTUAL TABLE temp.again USING highwater(topic=o);"
               "BEGIN; INSERT INTO again(value) VALUES ('a'); INSERT INTO again(value) VALUES "
               "('b'); DROP TABLE o",
               "");
    expect_error(f->db, "INSERT INTO again(value) VALUES ('c')", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: there is no topic \"o\" any more");
    expect_sql(f->db, "ROLLBACK; SELECT count(*) FROM again", "0");
}

/* A statement that reads what it does not write: it takes the mutex between the rows. */
TEST(rows_of_a_topic_go_into_another, struct fixture *f)
{
    expect_sql(f->db,
               "INSERT INTO t(key, value) SELECT i, i FROM " SERIES(
                   "3000") ";"
                           "INSERT INTO u(key, value) SELECT key, value FROM t;"
                           "SELECT count(*), sum(value), count(DISTINCT \"partition\") FROM u",
               "3000|4501500|2");
}

TEST(another_cluster_is_another, struct fixture *f)
{
    expect_sql(
        f->db,
        "BEGIN; INSERT INTO t(value) VALUES ('a'); INSERT INTO t(value) VALUES ('b'); COMMIT;"
        "SELECT open_cluster(':memory:') IS NOT NULL;"
        "SELECT create_topic('t', 1, 1) IS NOT NULL;"
        "BEGIN; INSERT INTO t(value) VALUES ('c'); INSERT INTO t(value) VALUES ('d'); COMMIT;"
        "SELECT \"offset\", value FROM t",
        "1\n1\n0|c\n1|d");
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
