/* SPDX-License-Identifier: MIT */
/*
 * Do the tables of a cluster have the columns that were promised, show one state to a statement,
 * and join like any other table?
 */
#include "tests/support_sql.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* Topic a with three replicas and one committed record of two, topic b with two partitions of one
 * replica, and an ordinary table of replicas to look at. */
static int set_up(void **state)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "CREATE VIRTUAL TABLE a USING highwater(replication.factor=3);"
               "CREATE VIRTUAL TABLE b USING highwater(partitions=2, min.insync.replicas=1);"
               "INSERT INTO a(key, value) VALUES ('k0', 'v0');"
               "SELECT replicate() > 0, produce('a', 0, 'k1', 'v1');"
               "INSERT INTO b(\"partition\", value) VALUES (0, 'x'), (1, 'y'), (1, 'z')",
               "1|1");
    *state = db;
    return 0;
}

static int tear_down(void **state)
{
    test_sql_close(*state);
    return 0;
}

TEST(columns_have_the_promised_names_and_order, void *fixture)
{
    static const struct {
        const char *table;
        const char *columns;
    } promised[] = {
        {"hw_brokers", "broker,rack,state,broker_epoch,dir"},
        {"hw_topics", "topic,topic_id,partitions,replication_factor,min_insync_replicas,configs"},
        {"hw_partitions",
         "topic,partition,leader,leader_epoch,partition_epoch,replicas,isr,elr,leo,"
         "hw,lso,log_start,under_replicated,under_min_isr,adding,removing,pending_isr,recovering,"
         "last_known_elr"},
        {"hw_replicas",
         "topic,partition,broker,role,state,leader_epoch,leo,hw,lso,log_start,lag,"
         "in_isr,known_leo,last_fetch_ms,last_caught_up_ms,recovery_point,size_bytes,"
         "dir,error,known_log_start"},
        {"hw_acks", "id,time_ms,topic,partition,base_offset,last_offset,leader_epoch,acks,status,"
                    "error,resolved_ms"},
        {"hw_epochs", "topic,partition,broker,epoch,start_offset,end_offset"},
        {"hw_segments", "topic,partition,broker,base_offset,next_offset,size_bytes,index_entries,"
                        "max_timestamp,file"},
        {"hw_log", "partition,offset,leader_epoch,timestamp,key,value,headers,visibility,control,"
                   "producer_id,producer_epoch,sequence,batch_base_offset"},
        {"hw_journal", "seq,time_ms,event,topic,partition,broker,peer,leader_epoch,offset,"
                       "end_offset,hw,detail,request,ack,producer_id,lso,unclean"},
        {"hw_config", "name,value,default_value,scope,topic,description"},
        {"hw_help", "name,kind,signature,summary,example"},
        {"a", "partition,offset,timestamp,key,value,headers"}};
    char sql[200];

    for (size_t i = 0; i < sizeof promised / sizeof promised[0]; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT group_concat(name) FROM pragma_table_info('%s')",
                       promised[i].table);
        expect_sql(fixture, sql, promised[i].columns);
    }
    expect_sql(fixture,
               "SELECT group_concat(name) FROM pragma_table_xinfo('a') WHERE hidden <> 0;"
               "SELECT group_concat(name) FROM pragma_table_xinfo('hw_log') WHERE hidden <> 0",
               "leader_epoch,producer_id,replica,isolation,current_leader_epoch\nof_topic,of_"
               "partition,of_broker");
}

TEST(a_cluster_is_seen_from_every_side, sqlite3 *db)
{
    expect_sql(db, "SELECT broker, rack, state, broker_epoch FROM hw_brokers",
               "1|NULL|running|1\n2|NULL|running|2\n3|NULL|running|3");
    expect_sql(
        db,
        "SELECT topic, length(topic_id), partitions, replication_factor, min_insync_replicas,"
        " configs FROM hw_topics",
        "a|22|1|3|1|{}\nb|22|2|1|1|{\"min.insync.replicas\":\"1\"}");
    expect_sql(
        db, "SELECT topic, \"partition\", leader, replicas, isr, elr, leo, hw FROM hw_partitions",
        "a|0|1|[1,2,3]|[1,2,3]|[]|2|1\nb|0|1|[1]|[1]|[]|1|1\nb|1|2|[2]|[2]|[]|2|2");
    expect_sql(db,
               "SELECT broker, role, leo, hw, lag, in_isr, known_leo FROM hw_replicas"
               " WHERE topic = 'a'",
               "1|leader|2|1|0|1|2\n2|follower|1|1|1|1|1\n3|follower|1|1|1|1|1");
    expect_sql(db, "SELECT \"offset\", value, visibility, headers, control FROM hw_log('a', 0, 1)",
               "0|v0|visible|{}|NULL\n1|v1|above_hw|{}|NULL");
    expect_sql(db, "SELECT topic, base_offset, last_offset, status FROM hw_acks WHERE topic = 'b'",
               "b|0|0|acknowledged\nb|0|1|acknowledged");
    expect_sql(db,
               "SELECT topic, \"partition\", broker, epoch, start_offset FROM hw_epochs"
               " WHERE broker = 2",
               "a|0|2|0|0\nb|1|2|0|0");
    expect_sql(db,
               "SELECT topic, broker, base_offset, next_offset, file FROM hw_segments"
               " WHERE topic = 'b' AND \"partition\" = 1",
               "b|2|0|2|:memory:/broker-2/b-1/00000000000000000000.log");
    expect_sql(db,
               "SELECT value, scope, topic FROM hw_config WHERE name = 'min.insync.replicas'"
               " ORDER BY topic",
               "1|topic|NULL\n1|topic|b");
}

/* What equality a table takes over may not change which rows there are. */
TEST(conditions_and_joins_answer_as_over_a_copy, sqlite3 *db)
{
    static const char *const conditions[] = {"topic = 'a'",
                                             "topic = 'A'",
                                             "topic = 'A' COLLATE NOCASE",
                                             "topic = 'a' AND \"partition\" = 0 AND broker = 2",
                                             "\"partition\" = '1'",
                                             "\"partition\" = 1.0",
                                             "\"partition\" = 0.5",
                                             "broker = '2'",
                                             "broker IN (1, 3, NULL)",
                                             "topic IN ('a', 'nope')",
                                             "topic IS 'b'",
                                             "topic = NULL",
                                             "topic = x'61'",
                                             "broker > 1 AND \"partition\" < 1",
                                             "topic = 'b' OR broker = 3"};
    char sql[300];
    char other[300];

    expect_sql(db, "CREATE TABLE copy AS SELECT * FROM hw_replicas", "");
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        (void)snprintf(sql, sizeof sql, "SELECT * FROM hw_replicas WHERE %s ORDER BY 1, 2, 3",
                       conditions[i]);
        (void)snprintf(other, sizeof other, "SELECT * FROM copy WHERE %s ORDER BY 1, 2, 3",
                       conditions[i]);
        expect_same_sql(db, sql, other);
    }
    expect_sql(db,
               "SELECT p.topic, p.\"partition\", group_concat(r.broker) FROM hw_partitions p"
               " JOIN hw_replicas r USING (topic, \"partition\") GROUP BY 1, 2;"
               "SELECT b.broker, count(r.topic) FROM hw_brokers b LEFT JOIN hw_replicas r"
               " ON r.broker = b.broker AND r.topic = 'b' GROUP BY 1;"
               "SELECT p.topic, j.value FROM hw_partitions p, json_each(p.replicas) j"
               " WHERE p.topic = 'a'",
               "a|0|1,2,3\nb|0|1\nb|1|2\n1|1\n2|1\n3|0\na|1\na|2\na|3");
}

/* The last column of EXPLAIN QUERY PLAN. */
TEST(plans_are_told_in_words, void *fixture)
{
    static const char *const plans[][2] = {
        {"SELECT * FROM hw_replicas", "SCAN hw_replicas VIRTUAL TABLE INDEX 0:"},
        {"SELECT * FROM hw_replicas WHERE broker = 2 AND topic = 'a'",
         "SCAN hw_replicas VIRTUAL TABLE INDEX 5:topic=? broker=?"},
        {"SELECT * FROM hw_partitions WHERE topic = 'a' AND \"partition\" = 0",
         "SCAN hw_partitions VIRTUAL TABLE INDEX 3:topic=? partition=?"}};

    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        char sql[200];
        const char *printed;

        (void)snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", plans[i][0]);
        printed = strrchr(test_sql(fixture, sql), '|');
        assert_non_null(printed);
        assert_string_equal(printed + 1, plans[i][1]);
    }
}

/* Case: D-01 */
TEST(arguments_of_a_log_may_come_from_any_side_of_a_join, sqlite3 *db)
{
    static const char *const setting[] = {"PRAGMA reverse_unordered_selects = 0",
                                          "PRAGMA reverse_unordered_selects = 1", "ANALYZE"};

    expect_sql(
        db,
        "CREATE TABLE logs(name, topic, p, broker);"
        "INSERT INTO logs VALUES ('two', 'a', 0, 1), ('one', 'a', 0, 2), ('none', NULL, 0, 1);"
        "CREATE VIRTUAL TABLE e USING highwater(); INSERT INTO logs VALUES ('empty', 'e', 0, 1)",
        "");
    for (size_t i = 0; i < sizeof setting / sizeof setting[0]; i++) {
        expect_sql(db, setting[i], "");
        expect_sql(db,
                   "SELECT count(*) FROM logs d, hw_log(d.topic, d.p, d.broker);"
                   "SELECT count(*) FROM hw_log(d.topic, d.p, d.broker) r JOIN logs d ON 1;"
                   "SELECT count(*) FROM logs d LEFT JOIN hw_log(d.topic, d.p, d.broker);"
                   "SELECT d.name, l.value FROM logs d, hw_log(d.topic, d.p, d.broker) l"
                   " WHERE l.value <> 'v1' ORDER BY d.name",
                   "3\n3\n5\none|v0\ntwo|v0");
    }
    expect_error(db, "SELECT count(*) FROM hw_log", SQLITE_ERROR,
                 "INVALID_REQUEST: hw_log() takes 3 arguments: hw_log(topic, partition, broker)");
}

/* Case: D-03 */
TEST(lists_of_arguments_read_each_log_once, sqlite3 *db)
{
    expect_sql(
        db,
        "SELECT count(*) FROM hw_log WHERE of_topic = 'a' AND \"partition\" = 0 AND of_broker IN "
        "(1, 2);"
        "SELECT count(*) FROM hw_log('a', 0) WHERE of_broker IN (1, 1);"
        "SELECT count(*) FROM hw_log('a', 0) WHERE of_broker IN (SELECT broker FROM hw_brokers);"
        "SELECT count(*) FROM hw_log('a', 0) WHERE of_broker = 1 OR of_broker = 2;"
        "SELECT \"offset\" FROM hw_log('a', 0, 1) WHERE \"offset\" IN (1, '0', 0.5, NULL);"
        "SELECT \"offset\" FROM hw_log('a', 0, 1) ORDER BY \"offset\" DESC LIMIT 1;"
        "SELECT max(\"offset\"), of_topic, of_partition, of_broker FROM hw_log('a', 0, 1)",
        "3\n2\n4\n3\n0\n1\n1\n1|a|0|1");
}

TEST(a_statement_sees_one_state_of_a_table, sqlite3 *db)
{
    sqlite3_stmt *reading = NULL;
    int rows = 0;

    assert_int_equal(
        sqlite3_prepare_v2(db, "SELECT leo FROM hw_replicas WHERE topic = 'a'", -1, &reading, NULL),
        SQLITE_OK);
    while (sqlite3_step(reading) == SQLITE_ROW) {
        assert_int_equal(sqlite3_column_int(reading, 0), rows == 0 ? 2 : 1);
        test_sql(db, "SELECT replicate(), delete_topic('b')");
        rows++;
    }
    assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
    assert_int_equal(rows, 3);
    expect_sql(db, "SELECT group_concat(leo) FROM hw_replicas", "2,2,2");
}

TEST(a_replica_that_is_down_has_no_numbers, void *fixture)
{
    expect_sql(fixture,
               "SELECT crash(3);"
               "SELECT role, state, leader_epoch, leo, hw, lag, in_isr, known_leo, last_fetch_ms,"
               " size_bytes FROM hw_replicas WHERE topic = 'a' AND broker = 3;"
               "SELECT crash(1);"
               "SELECT leader, leo, hw, lso, log_start FROM hw_partitions WHERE topic = 'a'",
               "crashed\noffline|OfflineReplica|NULL|NULL|NULL|NULL|1|NULL|NULL|NULL\ncrashed\n"
               "1|NULL|NULL|NULL|NULL");
}

TEST(the_tables_are_read_only, void *fixture)
{
    expect_error(fixture, "INSERT INTO hw_brokers(broker) VALUES (9)", SQLITE_ERROR,
                 "table hw_brokers may not be modified");
    expect_error(fixture, "DELETE FROM hw_log WHERE of_topic = 'a'", SQLITE_ERROR,
                 "table hw_log may not be modified");
    expect_error(fixture, "CREATE VIRTUAL TABLE x USING hw_brokers", SQLITE_ERROR,
                 "no such module: hw_brokers");
    expect_error(fixture, "INSERT INTO hw_transaction(state) VALUES (1)", SQLITE_ERROR,
                 "INVALID_REQUEST: hw_transaction stays empty");
    expect_sql(fixture, "DELETE FROM hw_transaction; SELECT count(*) FROM hw_transaction", "0");
}

int main(void)
{
    return test_run(set_up, tear_down);
}
