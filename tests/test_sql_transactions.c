/* SPDX-License-Identifier: MIT */
/*
 * Is a SQL transaction a producer's batch: all of it at COMMIT or nothing, with savepoints, for
 * records and for topics?
 */
#include "tests/support_sql_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* Two connections to one database file, with topics t and u of one replica each. */
static int set_up(void **state)
{
    return test_sql_file_set_up(state, true,
                                "CREATE VIRTUAL TABLE t USING highwater(max.message.bytes=2000);"
                                "CREATE VIRTUAL TABLE u USING highwater();"
                                "CREATE TABLE plain(x)",
                                "");
}

#define TOO_LARGE "zeroblob(5000)"
#define LOG_END   "SELECT leo FROM hw_partitions WHERE topic = 't'"

/* Case: D-09 */
TEST(a_failed_statement_takes_its_own_rows_back, struct fixture *f)
{
    expect_error(f->db, "INSERT INTO t(value) VALUES ('a'), ('b'), (" TOO_LARGE "), ('d')",
                 SQLITE_ERROR, "MESSAGE_TOO_LARGE: ");
    expect_sql(f->db, "SELECT count(*) FROM t; " LOG_END, "0\n0");

    expect_sql(f->db, "BEGIN; INSERT INTO t(value) VALUES ('a')", "");
    expect_error(f->db, "INSERT INTO t(value) VALUES ('b'), ('c'), (" TOO_LARGE "), ('d')",
                 SQLITE_ERROR, "MESSAGE_TOO_LARGE: ");
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('e'); SELECT last_insert_rowid(); COMMIT", "1");
    expect_sql(f->db, "SELECT \"offset\", value FROM t; " LOG_END, "0|a\n1|e\n2");
}

/* Case: D-09 */
TEST(savepoints_drop_what_came_after_them, struct fixture *f)
{
    expect_sql(f->db,
               "BEGIN; INSERT INTO t(value) VALUES ('a');"
               "SAVEPOINT s; INSERT INTO t(value) VALUES ('b');"
               "ROLLBACK TO s; INSERT INTO t(value) VALUES ('c');"
               "SAVEPOINT s2; INSERT INTO t(value) VALUES ('d'); RELEASE s2;"
               "SAVEPOINT s3; INSERT INTO u(value) VALUES ('x'); INSERT INTO t(value) VALUES ('y');"
               "ROLLBACK TO s3; RELEASE s3; COMMIT;"
               "SELECT \"offset\", value FROM t; SELECT count(*) FROM u",
               "0|a\n1|c\n2|d\n0");
}

/* SQLite tells a table of savepoints from its first write on; those before it count too. */
TEST(savepoints_opened_before_the_first_insert_count, struct fixture *f)
{
    expect_sql(f->db,
               "BEGIN; SAVEPOINT a; SAVEPOINT b; INSERT INTO t(value) VALUES ('1');"
               "SAVEPOINT c; INSERT INTO u(value) VALUES ('2'); INSERT INTO t(value) VALUES ('3');"
               "ROLLBACK TO c; INSERT INTO u(value) VALUES ('4');"
               "ROLLBACK TO b; INSERT INTO u(value) VALUES ('5');"
               "ROLLBACK TO a; INSERT INTO t(value) VALUES ('6'); COMMIT;"
               "SELECT \"offset\", value FROM t; SELECT count(*) FROM u",
               "0|6\n0");
    expect_sql(f->db,
               "BEGIN; SAVEPOINT a; SAVEPOINT b; INSERT INTO u(value) VALUES ('1');"
               "SAVEPOINT c; INSERT INTO u(value) VALUES ('2'); ROLLBACK TO b; COMMIT;"
               "SELECT count(*) FROM u",
               "0");
    expect_sql(f->db,
               "SAVEPOINT a; INSERT INTO t(value) VALUES ('7'); ROLLBACK TO a;"
               "INSERT INTO t(value) VALUES ('8'); RELEASE a; SELECT value FROM t",
               "6\n8");
}

/* The savepoint was there before t was written to: SQLite tells t of it then. Case: D-09 */
TEST(a_topic_that_joins_late_leaves_savepoints_where_they_are, struct fixture *f)
{
    expect_sql(f->db,
               "BEGIN; SAVEPOINT s; INSERT INTO u(value) VALUES ('1'); INSERT INTO t(value) VALUES"
               " ('2'); ROLLBACK TO s; COMMIT; SELECT value FROM u; SELECT value FROM t",
               "");
    expect_sql(f->db, "BEGIN; SAVEPOINT s; INSERT INTO u(value) VALUES ('3')", "");
    expect_error(f->db, "INSERT INTO t(value) VALUES (" TOO_LARGE ")", SQLITE_ERROR,
                 "MESSAGE_TOO_LARGE: ");
    expect_sql(f->db, "ROLLBACK TO s; COMMIT; SELECT value FROM u", "");
}

/* Case: D-09 */
TEST(a_rollback_leaves_nothing, struct fixture *f)
{
    expect_sql(f->db,
               "BEGIN; INSERT INTO t(value) VALUES ('a'), ('b'); INSERT INTO u(value) VALUES (1);"
               "ROLLBACK;"
               "INSERT INTO t(value) VALUES ('c'); SELECT \"offset\", value FROM t;" LOG_END,
               "0|c\n1");
}

/* Case: D-09 */
TEST(a_failed_create_leaves_the_transaction_as_it_was, struct fixture *f)
{
    expect_sql(f->db, "BEGIN; INSERT INTO t(value) VALUES ('a'); INSERT INTO plain VALUES (1)", "");
    expect_error(f->db, "CREATE VIRTUAL TABLE bad USING highwater(partitions=0)", SQLITE_ERROR,
                 "INVALID_PARTITIONS: partitions must be a number from 1 on");
    expect_error(f->db, "CREATE VIRTUAL TABLE bad USING highwater(replication.factor=9)",
                 SQLITE_ERROR, "INVALID_REPLICATION_FACTOR: ");
    expect_sql(f->db,
               "INSERT INTO t(value) VALUES ('b'); COMMIT;"
               "SELECT value FROM t; SELECT * FROM plain;"
               "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'bad%';"
               "SELECT count(*) FROM hw_topics WHERE topic = 'bad'",
               "a\nb\n1\n0\n0");
}

TEST(nobody_sees_rows_before_the_commit, struct fixture *f)
{
    expect_sql(f->db, "BEGIN; INSERT INTO t(value) VALUES ('a'); SELECT count(*) FROM t", "0");
    expect_sql(f->other, "SELECT count(*) FROM t; SELECT fetch_round('t'); " LOG_END, "0\n0\n0");
    expect_sql(f->db, "COMMIT; SELECT count(*) FROM t", "1");
    expect_sql(f->other, "SELECT count(*) FROM t", "1");
}

TEST(a_partition_is_locked_for_other_writers, struct fixture *f)
{
    expect_sql(f->db, "BEGIN; INSERT INTO t(value) VALUES ('a')", "");
    expect_error(f->other, "SELECT produce('t', 0, NULL, 'x')", SQLITE_BUSY,
                 "t-0 is being written");
    expect_error(f->db, "SELECT produce('t', 0, NULL, 'x')", SQLITE_BUSY, "t-0 is being written");
    expect_sql(f->other, "SELECT produce('u', 0, NULL, 'x')", "0");
    expect_sql(f->db, "ROLLBACK", "");
    expect_sql(f->other, "SELECT produce('t', 0, NULL, 'x')", "0");
}

/* Temporary tables do not take the database's own write lock, so both can write. */
TEST(two_writers_meet_at_the_partition, struct fixture *f)
{
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE temp.a USING highwater(topic=t);"
               "BEGIN; INSERT INTO a(value) VALUES ('a')",
               "");
    expect_sql(f->other,
               "CREATE VIRTUAL TABLE temp.b USING highwater(topic=t);"
               "CREATE VIRTUAL TABLE temp.c USING highwater(topic=u); BEGIN;"
               "INSERT INTO c(value) VALUES ('c')",
               "");
    expect_error(f->other, "INSERT INTO b(value) VALUES ('b')", SQLITE_BUSY,
                 "t-0 is being written");
    expect_sql(f->db, "COMMIT", "");
    expect_sql(f->other,
               "INSERT INTO b(value) VALUES ('b'); COMMIT; SELECT value FROM t;"
               "SELECT value FROM u",
               "a\nb\nc");
}

TEST(topics_follow_the_transaction_in_which_they_are_made, struct fixture *f)
{
#define TOPICS "SELECT group_concat(topic) FROM hw_topics"
    expect_sql(f->db,
               "BEGIN; CREATE VIRTUAL TABLE n USING highwater(); INSERT INTO n(value) VALUES (1);"
               "ROLLBACK;" TOPICS,
               "t,u");
    expect_sql(f->db,
               "BEGIN; SAVEPOINT s; CREATE VIRTUAL TABLE n USING highwater();"
               "INSERT INTO n(value) VALUES (1); ROLLBACK TO s;" TOPICS ";"
               "CREATE VIRTUAL TABLE n USING highwater(partitions=2);"
               "INSERT INTO n(\"partition\", value) VALUES (1, 'kept'); COMMIT;" TOPICS ";"
               "SELECT \"partition\", value FROM n",
               "t,u\nn,t,u\n1|kept");
    /* A table that exists before the savepoint, and one that is made after it. */
    expect_sql(f->db,
               "BEGIN; CREATE VIRTUAL TABLE o USING highwater(); SAVEPOINT s;"
               "INSERT INTO o(value) VALUES (1); CREATE VIRTUAL TABLE p USING highwater();"
               "ROLLBACK TO s; INSERT INTO o(value) VALUES (2); COMMIT;" TOPICS ";"
               "SELECT value FROM o",
               "n,o,t,u\n2");
}

/* Case: D-07 */
TEST(a_drop_can_be_rolled_back, struct fixture *f)
{
    expect_sql(f->db, "INSERT INTO t(value) VALUES (1), (2), (3), (4), (5)", "");
    expect_sql(f->db, "BEGIN; DROP TABLE t; ROLLBACK; SELECT count(*) FROM t", "5");
    expect_sql(f->db,
               "BEGIN; SAVEPOINT s; DROP TABLE t; ROLLBACK TO s; SELECT count(*) FROM t;"
               "INSERT INTO t(value) VALUES (6); COMMIT; SELECT count(*) FROM t",
               "5\n6");
    expect_sql(f->db,
               "BEGIN; INSERT INTO t(value) VALUES (7); DROP TABLE t; ROLLBACK;"
               "SELECT count(*) FROM t",
               "6");
    expect_sql(f->db, "BEGIN; DROP TABLE t; COMMIT;" TOPICS, "u");
    expect_error(f->db, "SELECT count(*) FROM t", SQLITE_ERROR, "no such table: t");
    expect_sql(f->db,
               "CREATE VIRTUAL TABLE t USING highwater(); INSERT INTO t(value) VALUES ('new');"
               "SELECT \"offset\", value, leader_epoch FROM t;"
               "SELECT count(*) FROM hw_epochs WHERE topic = 't'",
               "0|new|0\n1");
    expect_error(f->db, "BEGIN; DROP TABLE t; CREATE VIRTUAL TABLE t USING highwater()",
                 SQLITE_ERROR, "TOPIC_ALREADY_EXISTS: topic t exists until the transaction that");
    expect_sql(f->db, "ROLLBACK; SELECT count(*) FROM t", "1");
}

/* Case: D-07 */
TEST(a_table_that_is_read_cannot_be_dropped, struct fixture *f)
{
    sqlite3_stmt *reading = NULL;

    expect_sql(f->db, "INSERT INTO t(value) VALUES (1), (2)", "");
    assert_int_equal(sqlite3_prepare_v2(f->db, "SELECT value FROM t", -1, &reading, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    expect_error(f->db, "DROP TABLE t", SQLITE_LOCKED, "database table is locked");
    expect_error(f->other, "DROP TABLE t", SQLITE_BUSY, "database is locked");
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
    expect_sql(f->other, "DROP TABLE t;" TOPICS, "u");
    expect_error(f->db, "SELECT value FROM t", SQLITE_ERROR, "no such table: t");
}

/* A reader of an ordinary table holds up the COMMIT after the rows are in the logs. */
TEST(a_busy_commit_can_be_tried_again_or_rolled_back, struct fixture *f)
{
    for (int again = 0; again < 2; again++) {
        sqlite3_stmt *reading = NULL;

        expect_sql(f->other, "INSERT INTO plain VALUES (1), (2)", "");
        assert_int_equal(sqlite3_prepare_v2(f->other, "SELECT x FROM plain", -1, &reading, NULL),
                         SQLITE_OK);
        assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
        expect_sql(f->db,
                   "BEGIN; SAVEPOINT s; INSERT INTO t(value) VALUES ('a'); INSERT INTO plain"
                   " VALUES (3)",
                   "");
        expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
        /* The transaction is not over for other tables, and nobody sees the rows. */
        expect_sql(f->db, "INSERT INTO plain VALUES (4), (5); SELECT count(*) FROM t", "0");
        expect_sql(f->db, "SELECT fetch_round('t')", "0");
        assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
        expect_sql(f->db, again ? "COMMIT; SELECT count(*) FROM t" : "ROLLBACK;" LOG_END,
                   again ? "1" : "0");
    }
}

/* SQLite has gone back in its own tables before it tells the topic's. */
TEST(after_a_busy_commit_the_transaction_goes_on, struct fixture *f)
{
    sqlite3_stmt *reading = NULL;

    expect_sql(f->other, "INSERT INTO plain VALUES (1), (2)", "");
    assert_int_equal(sqlite3_prepare_v2(f->other, "SELECT x FROM plain", -1, &reading, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    expect_sql(f->db,
               "BEGIN; INSERT INTO t(value) VALUES ('a'); INSERT INTO plain VALUES (3);"
               "SAVEPOINT s; INSERT INTO t(value) VALUES ('b'); INSERT INTO plain VALUES (4)",
               "");
    expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
    expect_sql(f->db, "ROLLBACK TO s; INSERT INTO t(value) VALUES ('c')", "");
    expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
    expect_sql(f->db,
               "SAVEPOINT later; INSERT INTO t(value) VALUES ('d'); INSERT INTO plain VALUES (5);"
               "ROLLBACK TO later",
               "");
    expect_error(f->db, "COMMIT", SQLITE_BUSY, "database is locked");
    expect_sql(f->db, "RELEASE later; INSERT INTO t(value) VALUES ('e')", "");
    expect_error(f->db, "INSERT INTO t(value) VALUES ('f'), (" TOO_LARGE ")", SQLITE_ERROR,
                 "MESSAGE_TOO_LARGE: ");
    assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
    expect_sql(f->db, "COMMIT; SELECT \"offset\", value FROM t; SELECT x FROM plain",
               "0|a\n1|c\n2|e\n1\n2\n3");
}

TEST(triggers_write_to_topics_in_the_same_transaction, struct fixture *f)
{
    expect_sql(f->db,
               "CREATE TRIGGER outbox AFTER INSERT ON plain BEGIN"
               " INSERT INTO t(key, value) VALUES (new.x, 'made ' || new.x); END;"
               "INSERT INTO plain VALUES (1), (2);"
               "BEGIN; INSERT INTO plain VALUES (3); ROLLBACK;"
               "SELECT key, value FROM t; SELECT count(*) FROM plain",
               "1|made 1\n2|made 2\n2");
    expect_error(f->db, "INSERT INTO plain VALUES (4), (" TOO_LARGE ")", SQLITE_ERROR,
                 "MESSAGE_TOO_LARGE: ");
    expect_sql(f->db, "SELECT count(*) FROM plain; SELECT count(*) FROM t", "2\n2");
}

TEST(a_large_transaction_does_not_stay_in_memory, struct fixture *f)
{
    sqlite3_int64 before;

    expect_sql(f->db,
               "SELECT configure('buffer.memory', 4194304); BEGIN;"
               "INSERT INTO u(value) VALUES (zeroblob(1000))",
               "4194304");
    before = sqlite3_memory_used();
    expect_sql(f->db,
               "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 40000)"
               " INSERT INTO u(value) SELECT zeroblob(1000) FROM c",
               "");
    assert_true(sqlite3_memory_used() - before < 16 * 1000 * 1000);
    expect_sql(f->db, "COMMIT; SELECT count(*), max(\"offset\") FROM u", "40001|40000");
}

TEST(staging_takes_little_memory_however_much_is_staged, struct fixture *f)
{
    int megabytes = getenv("HW_TEST_QUICK") != NULL ? 96 : 256;
    char sql[300];

    (void)sqlite3_memory_highwater(1);
    (void)snprintf(sql, sizeof sql,
                   "BEGIN; WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i <"
                   " %d) INSERT INTO u(value) SELECT zeroblob(131072) FROM c",
                   megabytes * 8);
    expect_sql(f->db, sql, "");
    assert_true(sqlite3_memory_highwater(0) < 64 * 1024 * 1024);
    expect_sql(f->db, "ROLLBACK; SELECT count(*) FROM u", "0");
}

TEST(another_cluster_is_not_opened_inside_a_transaction, struct fixture *f)
{
    expect_sql(f->db, "BEGIN; INSERT INTO t(value) VALUES ('a')", "");
    expect_error(f->db, "SELECT open_cluster(':memory:')", SQLITE_ERROR,
                 "INVALID_REQUEST: the transaction has written to topics");
    expect_sql(f->db, "COMMIT; SELECT count(*) FROM t; SELECT open_cluster(':memory:')",
               "1\n:memory:");
    expect_error(f->db, "SELECT count(*) FROM t", SQLITE_ERROR, "UNKNOWN_TOPIC_OR_PARTITION: ");
}

/* Closing a connection rolls its transaction back, and unlocks the partition. */
TEST(closing_rolls_back, struct fixture *f)
{
    char path[HW_PATH_MAX + 16];

    expect_sql(f->other,
               "CREATE VIRTUAL TABLE temp.b USING highwater(topic=t);"
               "BEGIN; INSERT INTO b(value) VALUES ('lost')",
               "");
    test_sql_close(f->other);
    expect_sql(f->db, "INSERT INTO t(value) VALUES ('kept'); SELECT \"offset\", value FROM t",
               "0|kept");
    (void)snprintf(path, sizeof path, "%s/exp.db", f->directory);
    f->other = test_sql_open(path);
}

/* A schema may have a table of that name: it is left alone, and CREATE and DROP do what they do. */
TEST_ALONE(a_table_called_hw_transaction_is_in_nobodys_way)
{
    static const char *const schemas[] = {"temp", "main"};
    sqlite3 *db = test_sql_open(":memory:");

    for (int i = 0; i < 2; i++) {
        char *sql = sqlite3_mprintf("CREATE TABLE %s.hw_transaction(x);"
                                    "INSERT INTO %s.hw_transaction VALUES (1), (2)",
                                    schemas[i], schemas[i]);
        char *read = sqlite3_mprintf("SELECT count(*) FROM %s.hw_transaction;"
                                     "DROP TABLE %s.hw_transaction",
                                     schemas[i], schemas[i]);

        expect_sql(db, sql, "");
        expect_sql(db,
                   "CREATE VIRTUAL TABLE a USING highwater(); DROP TABLE a;"
                   "CREATE VIRTUAL TABLE a USING highwater(); SELECT topic FROM hw_topics;"
                   "BEGIN; DROP TABLE a; ROLLBACK; SELECT topic FROM hw_topics;"
                   "BEGIN; CREATE VIRTUAL TABLE b USING highwater(); ROLLBACK;"
                   "SELECT topic FROM hw_topics; DROP TABLE a; SELECT count(*) FROM hw_topics",
                   "a\na\na\n0");
        expect_sql(db, read, "2");
        sqlite3_free(sql);
        sqlite3_free(read);
    }
    expect_sql(db,
               "CREATE TABLE temp.hw_transaction(x); CREATE TABLE main.hw_transaction(x);"
               "INSERT INTO main.hw_transaction VALUES (1)",
               "");
    expect_error(db, "CREATE VIRTUAL TABLE a USING highwater()", SQLITE_ERROR,
                 "INVALID_REQUEST: the tables main.hw_transaction and temp.hw_transaction hide");
    expect_sql(db, "SELECT count(*) FROM main.hw_transaction; SELECT count(*) FROM hw_topics",
               "1\n0");
    test_sql_close(db);
}

int main(void)
{
    return test_run(set_up, test_sql_file_tear_down);
}
