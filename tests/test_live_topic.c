/* SPDX-License-Identifier: MIT */
/* A topic of another cluster as a table: what is read, what is refused, what is never dialled. */
#include "tests/support_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support_test.h"

static struct mock mock;
static sqlite3 *db;

static int open_all(void **state)
{
    (void)state;
    mock_start(&mock, 1);
    mock_topic(&mock, "one", 1);
    mock_topic(&mock, "three", 3);
    db = live_open(":memory:");
    live_connect_mock(db, &mock, ", \"live.timeout.ms\":5000");
    expect_sql(db,
               "CREATE VIEW series(i) AS WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL"
               " SELECT i + 1 FROM c WHERE i < 9999) SELECT i FROM c;"
               "CREATE VIRTUAL TABLE one USING highwater_live(connection=mock);"
               "CREATE VIRTUAL TABLE three USING highwater_live(topic=three, connection=mock)",
               "");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    test_sql_close(db);
    mock_stop(&mock);
    return 0;
}

/* Case: L-05, L-06, L-08 */
TEST_ALONE(what_was_inserted_is_read_from_the_log_start_on_each_time)
{
    expect_sql(db, "SELECT count(*) FROM one", "0");
    expect_sql(db, "INSERT INTO one(key, value) VALUES ('a', 'x'), ('b', 'y'), ('c', 5)", "");
    expect_sql(db, "SELECT rowid, \"partition\", \"offset\", key, value, headers FROM one",
               "0|0|0|a|x|{}\n1|0|1|b|y|{}\n2|0|2|c|5|{}");
    expect_sql(db, "SELECT count(*) FROM one", "3");
    expect_sql(db, "INSERT INTO three(\"partition\", value) VALUES (1, 'only here')", "");
    expect_sql(db, "SELECT \"partition\", \"offset\", value, rowid >> 48 FROM three",
               "1|0|only here|1");
}

/* Case: L-14, L-15 */
TEST_ALONE(null_and_empty_are_told_apart_and_headers_keep_their_order)
{
    expect_sql(db,
               "INSERT INTO one(key, value, headers) VALUES (NULL, NULL, NULL), ('', '', NULL),"
               " (x'00FF', x'FF', '{\"h\":\"1\",\"n\":null,\"e\":\"\",\"h\":{\"hex\":\"FF\"}}')",
               "");
    expect_sql(db, "SELECT key, value, headers FROM one",
               "NULL|NULL|{}\n||{}\n"
               "x'00FF'|x'FF'|{\"h\":\"1\",\"n\":null,\"e\":\"\",\"h\":{\"hex\":\"FF\"}}");
}

TEST_ALONE(types_of_key_and_value_can_be_fixed)
{
    expect_sql(db,
               "INSERT INTO one(key, value) VALUES ('k', 'v'), ('k', x'FF');"
               "CREATE VIRTUAL TABLE bytes USING highwater_live(topic=one, connection=mock,"
               " key.type=text, value.type=blob);"
               "CREATE VIRTUAL TABLE texts USING highwater_live(topic=one, connection=mock,"
               " value.type=text)",
               "");
    expect_sql(db, "SELECT key, value FROM bytes", "k|x'76'\nk|x'FF'");
    expect_sql(db, "SELECT typeof(value), value FROM texts", "text|v\ntext|\xef\xbf\xbd");
}

/* Case: L-09, L-10 */
TEST_ALONE(conditions_order_and_limit_choose_what_is_read)
{
    expect_sql(db,
               "INSERT INTO one(value) SELECT i FROM series WHERE i < 1000;"
               "SELECT \"offset\" FROM one WHERE \"partition\" = 0 AND \"offset\" > 10 LIMIT 2;"
               "SELECT value FROM one ORDER BY \"offset\" DESC LIMIT 2;"
               "SELECT max(\"offset\"), min(\"offset\") FROM one;"
               "SELECT count(*) FROM one WHERE \"offset\" BETWEEN 100 AND 199;"
               "SELECT value FROM one WHERE rowid IN (5, 7, 5000)",
               "11\n12\n999\n998\n999|0\n100\n5\n7");

    /* All of it from behind, in windows. */
    expect_sql(db,
               "SELECT count(*), sum(d <> 1) FROM (SELECT lag(\"offset\") OVER () - \"offset\" AS d"
               " FROM (SELECT \"offset\" FROM one ORDER BY \"offset\" DESC))",
               "1000|0");
}

/* Case: L-31, L-32 */
TEST_ALONE(a_topic_that_is_not_there_is_an_error_and_is_not_created)
{
    /* The mock makes any topic that it is asked for, unless it is told otherwise. */
    rd_kafka_mock_topic_set_error(mock.cluster, "nowhere", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    expect_sql(db, "CREATE VIRTUAL TABLE nowhere USING highwater_live(connection=mock)", "");
    expect_error(db, "SELECT * FROM nowhere", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: the cluster has no topic \"nowhere\"");
    expect_error(db, "INSERT INTO nowhere(value) VALUES (1)", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: the cluster has no topic \"nowhere\"");
    expect_sql(db, "SELECT * FROM live_topics('mock') WHERE topic = 'nowhere'", "");
    expect_sql(db, "DROP TABLE nowhere", "");
}

/* Case: L-43 */
TEST_ALONE(a_row_that_no_client_can_send_is_refused_at_once)
{
    expect_error(db, "INSERT INTO one(\"timestamp\", value) VALUES (0, 1)", SQLITE_ERROR,
                 "INVALID_TIMESTAMP: librdkafka takes \"timestamp\" 0 for now");
    expect_error(db, "INSERT INTO three(\"partition\", value) VALUES (3, 1)", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: three has partitions 0 to 2");
    expect_error(db, "INSERT INTO one(value) VALUES (zeroblob(1000000))", SQLITE_ERROR,
                 "MESSAGE_TOO_LARGE: the record takes 1000128 bytes");
    expect_error(db, "INSERT INTO one(\"offset\", value) VALUES (5, 1)", SQLITE_CONSTRAINT,
                 "INVALID_REQUEST: the leader gives a record its offset");

    expect_sql(db,
               "INSERT INTO one(\"timestamp\", value) VALUES (1234567890123, 1), (1, 2);"
               "SELECT \"timestamp\" FROM one",
               "1234567890123\n1");
    expect_error(db, "UPDATE one SET value = 1", SQLITE_ERROR, "INVALID_REQUEST: a log only grows");
    expect_error(
        db, "DELETE FROM one", SQLITE_ERROR,
        "INVALID_REQUEST: a log only grows: instead of DELETE, INSERT the key with a NULL value "
        "(a tombstone), or call delete_records(), of a live table live_delete_records()");
    expect_error(db, "SELECT * FROM one WHERE replica = 1", SQLITE_ERROR,
                 "INVALID_REQUEST: a client reads from the leader");
}

/* Case: L-23, L-25 */
TEST_ALONE(a_schema_names_no_secret_and_no_other_property)
{
    expect_error(
        db,
        "CREATE VIRTUAL TABLE t USING highwater_live(connection=mock,"
        " sasl.password='hunter2')",
        SQLITE_ERROR,
        "INVALID_REQUEST: sasl.password does not belong into a schema, where everybody can "
        "read it: give it to live_connect(name, properties), and the table "
        "connection=name");
    expect_error(db,
                 "CREATE VIRTUAL TABLE t USING highwater_live(connection=mock,"
                 " plugin.library.paths=evil)",
                 SQLITE_ERROR, "INVALID_REQUEST: there is no argument \"plugin.library.paths\"");
    expect_error(db, "CREATE VIRTUAL TABLE t USING highwater_live(topic=one)", SQLITE_ERROR,
                 "INVALID_REQUEST: a live table needs connection=name");
    expect_error(db, "CREATE VIRTUAL TABLE t USING highwater_live(connection=mock, isolation=x)",
                 SQLITE_ERROR, "INVALID_REQUEST: isolation must be read_uncommitted or");
    expect_sql(db, "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%hunter2%'", "0");
    expect_error(db, "SELECT live_connect('x', '{\"security.protocol\":\"hunter2\"}')",
                 SQLITE_ERROR,
                 "INVALID_CONFIG: \"security.protocol\" does not take the value that is given (not "
                 "shown: it may be a secret)");
    expect_error(db, "SELECT live_connect('x', '{\"no.such\":1}')", SQLITE_ERROR,
                 "INVALID_CONFIG: librdkafka ");
    expect_error(db, "SELECT live_connect('x', '{}')", SQLITE_ERROR,
                 "INVALID_CONFIG: a connection needs \"bootstrap.servers\"");
    expect_error(db, "SELECT live_connect('x', '{\"enable.partition.eof\":false}')", SQLITE_ERROR,
                 "INVALID_CONFIG: \"enable.partition.eof\" cannot be given");
}

TEST_ALONE(a_name_is_given_once_and_is_known_in_its_connection_only)
{
    expect_error(db, "SELECT live_connect('mock', '{\"bootstrap.servers\":\"x:1\"}')", SQLITE_ERROR,
                 "INVALID_REQUEST: there is a connection \"mock\" already: SELECT "
                 "live_disconnect('mock') first");
    expect_error(
        db, "SELECT * FROM live_topics('other')", SQLITE_ERROR,
        "INVALID_REQUEST: there is no connection \"other\" here: SELECT live_connect('other'");
    expect_error(db, "SELECT * FROM live_topics", SQLITE_ERROR,
                 "INVALID_REQUEST: live_topics() takes the name of a connection");
    expect_sql(db, "SELECT live_disconnect('mock')", "mock");
    expect_error(db, "SELECT * FROM one", SQLITE_ERROR,
                 "INVALID_REQUEST: there is no connection \"mock\" here");
}

TEST_ALONE(the_looking_tables_show_what_there_is)
{
    expect_sql(db,
               "INSERT INTO three(\"partition\", value) VALUES (0, 'a'), (2, 'b'), (2, 'c');"
               "SELECT broker FROM live_brokers('mock');"
               "SELECT topic, partitions, replication_factor, error FROM live_topics('mock')"
               " WHERE topic = 'three';"
               "SELECT topic, \"partition\", leader, replicas, isr, low, high, lso, error"
               " FROM live_partitions('mock') WHERE topic = 'three'",
               "1\nthree|3|1|NULL\nthree|0|1|[1]|[1]|0|1|1|NULL\nthree|1|1|[1]|[1]|0|0|0|NULL\n"
               "three|2|1|[1]|[1]|0|2|2|NULL");
    expect_sql(db,
               "SELECT name, topic, \"partition\", first_offset, last_offset, records, outcome"
               " FROM live_last_commit ORDER BY \"partition\"",
               "mock|three|0|0|0|1|committed\nmock|three|2|0|1|2|committed");
}

/* Case: L-46 */
TEST_ALONE(a_strangers_database_dials_nobody)
{
    char path[] = "/tmp/live-XXXXXX";
    int file = mkstemp(path);
    char sql[600];
    sqlite3 *other;
    int sockets;

    assert_true(file >= 0);
    (void)close(file);
    other = live_open_alone(path);
    (void)snprintf(sql, sizeof sql,
                   "CREATE VIRTUAL TABLE t USING highwater_live(topic=one, bootstrap.servers='%s');"
                   "CREATE TABLE plain(x);"
                   "CREATE TRIGGER r AFTER INSERT ON plain BEGIN"
                   " INSERT INTO t(value) VALUES (new.x); END;"
                   "CREATE VIEW v AS SELECT * FROM t",
                   rd_kafka_mock_cluster_bootstraps(mock.cluster));
    expect_sql(other, sql, "");
    test_sql_close(other);
    sockets = live_count_sockets();
    other = live_open_alone(path);
    expect_sql(other,
               "SELECT count(*) FROM sqlite_schema; SELECT count(*) FROM pragma_table_info('t')",
               "4\n6");
    expect_error(other, "SELECT * FROM t", SQLITE_ERROR,
                 "INVALID_REQUEST: the table wants to connect to 127.0.0.1:");
    expect_error(other, "SELECT * FROM v", SQLITE_ERROR, "unsafe use of virtual table \"t\"");
    expect_error(other, "INSERT INTO plain VALUES (1)", SQLITE_ERROR,
                 "unsafe use of virtual table \"t\"");
    assert_int_equal(live_count_sockets(), sockets);
    (void)snprintf(sql, sizeof sql, "SELECT live_allow('%s') <> ''; SELECT count(*) FROM t",
                   rd_kafka_mock_cluster_bootstraps(mock.cluster));
    expect_sql(other, sql, "1\n0");
    test_sql_close(other);
    (void)unlink(path);
}

TEST_ALONE(both_libraries_load_in_any_order_and_share_nothing)
{
    sqlite3 *other = live_open_alone(":memory:");
    char *message = NULL;

    assert_int_equal(sqlite3_load_extension(other, HW_TEST_EXTENSION, NULL, &message), SQLITE_OK);
    assert_int_equal(sqlite3_load_extension(other, HW_TEST_LIVE, NULL, &message), SQLITE_OK);
    live_connect_mock(other, &mock, "");
    expect_sql(other,
               "CREATE VIRTUAL TABLE model USING highwater(replication.factor=1);"
               "CREATE VIRTUAL TABLE live USING highwater_live(topic=one, connection=mock);"
               "INSERT INTO model(key, value) VALUES ('k', 'v'), ('l', 'w');"
               "SELECT replicate('model') >= 0;"
               "INSERT INTO live(key, value) SELECT key, value FROM model;"
               "SELECT m.value, l.value FROM model m JOIN live l USING (\"offset\")",
               "1\nv|v\nw|w");
    test_sql_close(other);
}

/* Case: L-50 */
TEST_ALONE(keys_go_to_the_partitions_that_the_model_chooses)
{
    expect_sql(db,
               "CREATE VIRTUAL TABLE model USING highwater(partitions=3, replication.factor=1);"
               "INSERT INTO model(key, value) SELECT 'key ' || i, i FROM series WHERE i < 200;"
               "SELECT replicate('model') >= 0;"
               "INSERT INTO three(key, value) SELECT key, value FROM model ORDER BY value + 0;"
               "SELECT count(*), sum(m.\"partition\" = l.\"partition\") FROM model m JOIN three l"
               " USING (key)",
               "1\n200|200");
}

/* Case: L-27 */
TEST_ALONE(no_thread_and_no_socket_stays_behind)
{
    int threads = live_count_threads();
    int sockets = live_count_sockets();
    sqlite3 *other = live_open_alone(":memory:");

    live_connect_mock(other, &mock, "");
    expect_sql(
        other,
        "CREATE VIRTUAL TABLE one USING highwater_live(connection=mock);"
        "INSERT INTO one(value) VALUES (1);"
        "SELECT count(*) FROM one; SELECT count(*) FROM one WHERE isolation = 'read_committed'",
        "1\n1");
    assert_true(live_count_threads() > threads);
    test_sql_close(other);
    assert_int_equal(live_count_threads(), threads);
    /* The mock takes a moment to see that its clients have gone. */
    for (int i = 0; i < 100 && live_count_sockets() > sockets; i++) {
        sqlite3_sleep(10);
    }
    assert_int_equal(live_count_sockets(), sockets);
}

int main(void)
{
    return test_run(open_all, close_all);
}
