/* SPDX-License-Identifier: MIT */
/*
 * What does bad input get? One line that says what was wrong, and nothing changed. And can somebody
 * else's schema call what has effects?
 *
 * Semantics: R1.1, R1.4
 */
#include "tests/support_sql.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static int set_up(void **state)
{
    sqlite3 *db = test_sql_open(":memory:");

    expect_sql(db,
               "CREATE VIRTUAL TABLE t USING highwater(replication.factor=3);"
               "CREATE TABLE log(x);"
               "INSERT INTO t(key, value) VALUES ('k', 'v')",
               "");
    *state = db;
    return 0;
}

static int tear_down(void **state)
{
    test_sql_close(*state);
    return 0;
}

struct bad_input {
    const char *sql;
    const char *beginning; /* Of the error. */
};

/* Everything that a user can see of the cluster. */
static const char everything[] =
    "SELECT * FROM hw_brokers; SELECT * FROM hw_topics; SELECT * FROM hw_partitions;"
    "SELECT * FROM hw_replicas; SELECT * FROM hw_epochs;"
    "SELECT * FROM hw_acks WHERE status <> 'refused';"
    "SELECT * FROM hw_segments; SELECT * FROM hw_config; SELECT * FROM t;"
    "SELECT * FROM sqlite_schema; SELECT * FROM hw_log('t', 0, 1)";

static void refuse_all(sqlite3 *db, const struct bad_input *inputs, size_t count)
{
    char *before = sqlite3_mprintf("%s", test_sql(db, everything));

    for (size_t i = 0; i < count; i++) {
        expect_error(db, inputs[i].sql, SQLITE_ERROR, inputs[i].beginning);
        if (strcmp(test_sql(db, everything), before) != 0) {
            print_error("%s\nchanged something\n", inputs[i].sql);
            fail();
        }
    }
    sqlite3_free(before);
}
#define REFUSE_ALL(db, inputs) refuse_all((db), (inputs), sizeof(inputs) / sizeof((inputs)[0]))

TEST(a_wrong_number_of_arguments_is_told_the_signature, void *fixture)
{
    static const struct bad_input inputs[] = {
        {"SELECT produce()",
         "INVALID_REQUEST: produce() takes 4 to 6 arguments, not 0: produce(topic, "
         "partition, key, value [, acks [, options_json]])"},
        {"SELECT produce('t', 0, 1, 2, 3, 4, 5)", "INVALID_REQUEST: produce() takes 4 to 6"},
        {"SELECT highwater_version(1)",
         "INVALID_REQUEST: highwater_version() takes 0 arguments, not 1"},
        {"SELECT tick()", "INVALID_REQUEST: tick() takes 1 argument, not 0: tick(ms)"},
        {"SELECT fetch('t', 0)", "INVALID_REQUEST: fetch() takes 3 arguments, not 2"},
        {"SELECT fetch_round('t', 0, 1)", "INVALID_REQUEST: fetch_round() takes 0 to 2 arguments"},
        {"SELECT promote('t', 0)", "INVALID_REQUEST: promote() takes 3 to 4"},
        {"SELECT crash()", "INVALID_REQUEST: crash() takes 1 to 2"},
        {"SELECT create_topic()", "INVALID_REQUEST: create_topic() takes 1 to 4"},
        {"SELECT configure('acks')", "INVALID_REQUEST: configure() takes 2 to 3"},
        {"SELECT * FROM hw_log", "INVALID_REQUEST: hw_log() takes 3 arguments"},
        {"SELECT * FROM hw_log('t', 0)", "INVALID_REQUEST: hw_log() takes 3 arguments"},
        {"SELECT * FROM hw_log('t', 0, 1, 2)", "too many arguments on hw_log()"},
    };

    REFUSE_ALL(fixture, inputs);
}

TEST(names_of_nothing_are_refused, void *fixture)
{
    static const struct bad_input inputs[] = {
        {"SELECT produce('nope', 0, 1, 2)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT produce('t', 1, 1, 2)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT produce('t', -1, 1, 2)", "INVALID_REQUEST: produce(): partition must be 0"},
        {"SELECT produce('', 0, 1, 2)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT fetch('t', 0, 9)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT fetch('t', 9, 2)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT fetch('t', -1, 2)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT fetch_round('nope')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT fetch_round('t', 4)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT replicate('nope')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT refresh_isr('nope')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT remove_from_isr('t', 0, 99)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT remove_from_isr('nope', 0, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT promote('t', 0, 77)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT promote('nope', 0, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT rejoin('t', 0, 77)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT crash(77)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT shutdown_broker(77)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT cut(77, 1)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT heal(1, 77)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT elect('nope')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT reassign('nope', 0, '[1]')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT reassign('t', 0, '[77]')", ""},
        {"SELECT delete_records('nope', 0, 0)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT roll('nope')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT list_offsets('nope', 0, 'latest')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT epoch_end_offset('t', 0, 77, 0)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT restart(-1)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT flush('nope')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT delete_topic('nope')", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT configure('acks', 1, 'nope')", ""},
        {"SELECT configure('no.such.config', 1)", "INVALID_CONFIG: "},
        {"SELECT * FROM hw_log('nope', 0, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT * FROM hw_log('t' || char(0), 0, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT configure('acks', 'all' || char(0))",
         "INVALID_REQUEST: configure(): value must not"},
        {"SELECT * FROM hw_log('t', 3, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT * FROM hw_log('t', -3, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT * FROM hw_log('t', 0, 9)", ""},
        {"SELECT * FROM hw_log('t', 0, -9)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT * FROM t WHERE replica = 9", ""},
        {"SELECT * FROM t WHERE isolation = 'serializable'",
         "INVALID_REQUEST: isolation must be 'read_uncommitted' or 'read_committed'"},
        {"CREATE VIRTUAL TABLE x USING highwater(topic=nope)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"CREATE VIRTUAL TABLE x USING highwater(topic=t, partition=1)",
         "UNKNOWN_TOPIC_OR_PARTITION: t has partitions 0 to 0"},
    };

    REFUSE_ALL(fixture, inputs);
}

TEST(values_of_the_wrong_kind_are_refused, void *fixture)
{
    static const struct bad_input inputs[] = {
        {"SELECT fetch(NULL, 0, 1)",
         "INVALID_REQUEST: fetch(): topic must be text, not NULL: fetch("},
        {"SELECT fetch(5, 0, 1)", "INVALID_REQUEST: fetch(): topic must be text, not 5"},
        {"SELECT fetch(x'74', 0, 1)",
         "INVALID_REQUEST: fetch(): topic must be text, not a blob of 1"},
        {"SELECT fetch('t' || char(0) || 'x', 0, 1)", "INVALID_REQUEST: fetch(): topic must not "},
        {"SELECT fetch('t', NULL, 1)",
         "INVALID_REQUEST: fetch(): partition must be an integer, not "},
        {"SELECT fetch('t', 0.5, 1)",
         "INVALID_REQUEST: fetch(): partition must be an integer, not 0.5"},
        {"SELECT fetch('t', 'x\ny', 1)",
         "INVALID_REQUEST: fetch(): partition must be an integer, not "
         "'x?y'"},
        {"SELECT fetch('t', x'00', 1)",
         "INVALID_REQUEST: fetch(): partition must be an integer, not a"},
        {"SELECT fetch('t', 1e300, 1)", "INVALID_REQUEST: fetch(): partition must be an integer"},
        {"SELECT fetch('t', 9223372036854775807, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT fetch('t', 4294967296, 2)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT fetch('t', 0, 4294967298)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT crash(-9223372036854775808)", "BROKER_NOT_AVAILABLE: "},
        {"SELECT crash(NULL)", "INVALID_REQUEST: crash(): broker must be an integer, not NULL"},
        {"SELECT crash(1, 'water')",
         "INVALID_REQUEST: crash(): the second argument must be 'power'"},
        {"SELECT promote('t', 0, 2, 'dirty')",
         "INVALID_REQUEST: promote(): the fourth argument must"},
        {"SELECT cut(1, 1)", "INVALID_REQUEST: "},
        {"SELECT cut('somewhere', 1)", "INVALID_REQUEST: cut(): a must be"},
        {"SELECT cut(NULL, 1)", "INVALID_REQUEST: cut(): a must be"},
        {"SELECT heal(1)", "INVALID_REQUEST: heal() takes both ends of a link, or none"},
        {"SELECT heal(1, NULL)", "INVALID_REQUEST: heal(): b must be"},
        {"SELECT elect('t', 0, 'best')", "INVALID_REQUEST: elect(): the third argument must be"},
        {"SELECT elect(NULL, 0)", "INVALID_REQUEST: elect(): a partition needs a topic"},
        {"SELECT reassign('t', 0, '[]')", "INVALID_REPLICA_ASSIGNMENT: "},
        {"SELECT reassign('t', 0, '[1,1]')", "INVALID_REPLICA_ASSIGNMENT: "},
        {"SELECT reassign('t', 0, '[1,\"x\"]')", "INVALID_REQUEST: replicas: element 1 must be"},
        {"SELECT reassign('t', 0, '{\"a\":1}')", "INVALID_REQUEST: replicas must be a JSON array"},
        {"SELECT reassign('t', 0, 1)", "INVALID_REQUEST: replicas must be a JSON array, not 1"},
        {"SELECT reassign('t', 0, NULL)", "NO_REASSIGNMENT_IN_PROGRESS: "},
        {"SELECT delete_records('t', 0, 99)", "OFFSET_OUT_OF_RANGE: "},
        {"SELECT delete_records('t', 0, -2)", "OFFSET_OUT_OF_RANGE: "},
        {"SELECT delete_records('t', 0, NULL)", "INVALID_REQUEST: delete_records(): before_offset"},
        {"SELECT list_offsets('t', 0, 'newest')", "INVALID_REQUEST: list_offsets(): the third"},
        {"SELECT list_offsets('t', 0, -5)", "INVALID_REQUEST: list_offsets(): the third"},
        {"SELECT roll(NULL)", "INVALID_REQUEST: roll(): topic must be text"},
        {"SELECT tick(-1)", "INVALID_REQUEST: tick(): ms must be 0 or more"},
        {"SELECT tick('soon')", "INVALID_REQUEST: tick(): ms must be an integer"},
        {"SELECT tick(9223372036854775807), tick(9223372036854775807)", ""},
        {"SELECT fetch_round(NULL, 0)",
         "INVALID_REQUEST: fetch_round(): a partition needs a topic"},
        {"SELECT fetch_round('t', -1)",
         "INVALID_REQUEST: fetch_round(): partition must be 0 or more"},
        {"SELECT produce('t', 'x', 1, 2)",
         "INVALID_REQUEST: produce(): partition must be an integer"},
        {"SELECT produce('t', 0, 1, 2, 3)",
         "INVALID_REQUIRED_ACKS: acks must be 0, 1, -1 or 'all'"},
        {"SELECT produce('t', 0, 1, 2, -100)",
         "INVALID_REQUIRED_ACKS: acks must be 0, 1, -1 or 'all'"},
        {"SELECT produce('t', 0, 1, 2, 'none')", "INVALID_REQUIRED_ACKS: "},
        /* The topic comes first: R1.4, R1.6. */
        {"SELECT produce('nowhere', 0, 1, 2, 3)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT produce('t', 99, 1, 2, 3)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"SELECT produce('t', 0, 1, 2, 1, 5)",
         "INVALID_REQUEST: options must be a JSON object, not 5"},
        {"SELECT produce('t', 0, 1, 2, 1, '[1]')",
         "INVALID_REQUEST: options must be a JSON object"},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"a\":')", "INVALID_REQUEST: options: malformed JSON"},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"when\":5}')",
         "INVALID_REQUEST: produce(): no option named when; there are timestamp, headers, "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"timestamp\":\"x\"}')", "INVALID_TIMESTAMP: "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"timestamp\":-2}')", "INVALID_TIMESTAMP: "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"timestamp\":-9223372036854775808}')",
         "INVALID_TIMESTAMP: "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"leader_epoch\":-1}')",
         "INVALID_REQUEST: leader_epoch"},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"leader_epoch\":7}')", "UNKNOWN_LEADER_EPOCH: "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"leader_epoch\":99999999999}')", ""},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"producer\":-1}')", "INVALID_REQUEST: "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"sequence\":1}')", "INVALID_REQUEST: "},
        {"SELECT begin_txn(1)", "INVALID_PRODUCER_ID_MAPPING: "},
        {"SELECT commit_txn(1, '{\"epoch\":40000}')", "INVALID_REQUEST: "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"headers\":5}')",
         "INVALID_REQUEST: headers must be a "},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"headers\":{\"h\":[1]}}')",
         "INVALID_REQUEST: header \"h\""},
        {"SELECT produce('t', 0, 1, 2, 1, '{\"headers\":{\"h\":{\"hex\":\"0\"}}}')",
         "INVALID_REQUEST: header \"h\""},
        {"INSERT INTO t(value, headers) VALUES (1, '{\"a\":\"x\\u0000y\"}')",
         "INVALID_REQUEST: headers: \\u0000 cannot be kept"},
        {"INSERT INTO t(value, headers) VALUES (1, x'7B7D')",
         "INVALID_REQUEST: headers must be a JSON"},
        {"INSERT INTO t(value, \"timestamp\") VALUES (1, 'noon')", "INVALID_TIMESTAMP: "},
        {"INSERT INTO t(value, \"timestamp\") VALUES (1, 5.5)", "INVALID_TIMESTAMP: "},
        {"INSERT INTO t(value, \"timestamp\") VALUES (1, -2)", "INVALID_TIMESTAMP: "},
        {"INSERT INTO t(value, \"partition\") VALUES (1, 1)", "UNKNOWN_TOPIC_OR_PARTITION: "},
        {"INSERT INTO t(value, \"partition\") VALUES (1, -1)",
         "INVALID_REQUEST: \"partition\" must"},
        {"INSERT INTO t(value, \"partition\") VALUES (1, 0.5)",
         "INVALID_REQUEST: \"partition\" must"},
        {"INSERT INTO t(value, replica) VALUES (1, 1)", "INVALID_REQUEST: replica cannot be given"},
        {"INSERT INTO t(value, leader_epoch) VALUES (1, 1)",
         "INVALID_REQUEST: leader_epoch cannot"},
        {"INSERT INTO t(value) VALUES (zeroblob(2000000))", "MESSAGE_TOO_LARGE: "},
        {"SELECT produce('t', 0, NULL, zeroblob(2000000))", "MESSAGE_TOO_LARGE: "},
        {"SELECT configure('min.insync.replicas', x'31')",
         "INVALID_REQUEST: configure(): value must be text"},
        {"SELECT configure('min.insync.replicas', 0)", "INVALID_CONFIG: "},
        {"SELECT configure('min.insync.replicas', 'many')", "INVALID_CONFIG: "},
        {"SELECT configure(NULL, 1)", "INVALID_REQUEST: configure(): name must be text"},
        {"SELECT add_broker(1)", "DUPLICATE_BROKER_REGISTRATION: "},
        {"SELECT add_broker(-1)", "INVALID_REQUEST: "},
        {"SELECT add_broker(99999999999)", "INVALID_REQUEST: "},
        {"SELECT add_broker('x')", "INVALID_REQUEST: add_broker(): id must be an integer"},
        {"SELECT add_broker(4, NULL, '')",
         "INVALID_REQUEST: add_broker(): dir must be a directory"},
        {"SELECT open_cluster('')", "INVALID_REQUEST: open_cluster(): path must be"},
        {"SELECT open_cluster(NULL)", "INVALID_REQUEST: open_cluster(): path must be text"},
        {"SELECT open_cluster(':memory:', '{\"brokers\":0}')",
         "INVALID_REQUEST: open_cluster(): brokers"},
        {"SELECT open_cluster(':memory:', '{\"brokers\":65}')",
         "INVALID_REQUEST: open_cluster(): brokers"},
        {"SELECT open_cluster(':memory:', '{\"protocol\":\"raft\"}')", "INVALID_CONFIG: "},
        {"SELECT open_cluster(':memory:', '{\"color\":\"red\"}')",
         "INVALID_REQUEST: open_cluster(): no "},
    };

    REFUSE_ALL(fixture, inputs);
}

TEST(bad_topics_are_refused, void *fixture)
{
    static const struct bad_input inputs[] = {
        {"SELECT create_topic('../x')", "INVALID_TOPIC: "},
        {"SELECT create_topic('')", "INVALID_TOPIC: "},
        {"SELECT create_topic('.')", "INVALID_TOPIC: "},
        {"SELECT create_topic('..')", "INVALID_TOPIC: "},
        {"SELECT create_topic('a/b')", "INVALID_TOPIC: "},
        {"SELECT create_topic('a b')", "INVALID_TOPIC: "},
        {"SELECT create_topic('\xc3\xbc')", "INVALID_TOPIC: "},
        {"SELECT create_topic(printf('%.250c', 'x'))", "INVALID_TOPIC: "},
        {"SELECT create_topic('t')", "TOPIC_ALREADY_EXISTS: "},
        {"SELECT create_topic('x', 0)",
         "INVALID_PARTITIONS: create_topic(): partitions must be 1 or more, not 0"},
        {"SELECT create_topic('x', -5)",
         "INVALID_PARTITIONS: create_topic(): partitions must be 1"},
        {"SELECT create_topic('x', 'a')",
         "INVALID_REQUEST: create_topic(): partitions must be an integer, or lists of"},
        {"SELECT create_topic('x', 1000000)", "INVALID_PARTITIONS: "},
        {"SELECT create_topic('x', 9223372036854775807)", "INVALID_PARTITIONS: "},
        {"SELECT create_topic('x', 1, 0)",
         "INVALID_REPLICATION_FACTOR: create_topic(): replication_factor must be 1 or more, not 0"},
        {"SELECT create_topic('x', 1, 4)", "INVALID_REPLICATION_FACTOR: "},
        {"SELECT create_topic('x', 1, 9223372036854775807)", "INVALID_REPLICATION_FACTOR: "},
        {"SELECT create_topic('x', 1, 1, '{\"cleanup.policy\":\"burn\"}')", "INVALID_CONFIG: "},
        {"SELECT create_topic('x', 1, 1, '{\"cleanup.policy\":null}')", "INVALID_CONFIG: "},
        {"SELECT create_topic('x', 1, 1, '{\"acks\":1}')", "INVALID_CONFIG: "},
        {"SELECT create_topic('x', 1, 1, "
         "'{\"cleanup.policy\":\"delete\",\"cleanup.policy\":\"compact\"}')",
         "INVALID_CONFIG: cleanup.policy is given twice"},
        {"SELECT create_topic('x', 1, 1, '{')", "INVALID_REQUEST: configs: malformed JSON"},
        {"CREATE VIRTUAL TABLE \"../x\" USING highwater()", "INVALID_TOPIC: "},
        {"CREATE VIRTUAL TABLE \"\" USING highwater()", "INVALID_TOPIC: "},
        {"CREATE VIRTUAL TABLE x USING highwater(partitions=0)",
         "INVALID_PARTITIONS: partitions must be"},
        {"CREATE VIRTUAL TABLE x USING highwater(partitions=-1)",
         "INVALID_PARTITIONS: partitions must be"},
        {"CREATE VIRTUAL TABLE x USING highwater(partitions=1.5)",
         "INVALID_PARTITIONS: partitions must be"},
        {"CREATE VIRTUAL TABLE x USING highwater(partitions=99999999999999999999)",
         "INVALID_PARTITIONS: partitions must be"},
        {"CREATE VIRTUAL TABLE x USING highwater(partitions=40000)", "INVALID_PARTITIONS: "},
        {"CREATE VIRTUAL TABLE x USING highwater(replication.factor=0)",
         "INVALID_REPLICATION_FACTOR: replication.factor must be"},
        {"CREATE VIRTUAL TABLE x USING highwater(topic=t, partition=-1)",
         "INVALID_REQUEST: partition must be a number from 0 on"},
        {"CREATE VIRTUAL TABLE x USING highwater(partitions=1, partitions=2)",
         "INVALID_REQUEST: partitions is given twice"},
        {"CREATE VIRTUAL TABLE x USING highwater(partitons=1)",
         "INVALID_CONFIG: there is no argument \"partitons\", did you mean \"partitions\"?"},
        {"CREATE VIRTUAL TABLE x USING highwater(replication_factor=1)",
         "INVALID_CONFIG: there is no argument \"replication_factor\", did you mean "
         "\"replication.factor\"?"},
        {"CREATE VIRTUAL TABLE x USING highwater(retention.msec=1)", "INVALID_CONFIG: "},
        {"CREATE VIRTUAL TABLE x USING highwater(cleanup.policy=compact,delete)",
         "INVALID_REQUEST: \"delete\" is not name=value (a value with commas needs quotes)"},
        {"CREATE VIRTUAL TABLE x USING highwater(partition=0)",
         "INVALID_REQUEST: partition=n needs topic"},
        {"CREATE VIRTUAL TABLE x USING highwater(topic=t, partitions=2)",
         "INVALID_REQUEST: topic=name opens an existing topic"},
        {"CREATE VIRTUAL TABLE x USING highwater(topic=t, min.insync.replicas=2)",
         "INVALID_REQUEST: topic=name opens an existing topic"},
        {"CREATE VIRTUAL TABLE x USING highwater(topic=t, topic=t)",
         "INVALID_REQUEST: topic is given"},
    };

    REFUSE_ALL(fixture, inputs);
}

TEST(arguments_may_be_quoted_and_spaced, void *fixture)
{
    expect_sql(
        fixture,
        "CREATE VIRTUAL TABLE a USING highwater( \"partitions\" = '2' ,\n"
        " `replication.factor`=[2], 'cleanup.policy' = \"compact,delete\",);"
        "CREATE VIRTUAL TABLE b USING highwater;"
        "CREATE VIRTUAL TABLE c USING highwater(topic = 'a', partition= \"1\" );"
        "SELECT topic, partitions, replication_factor, configs FROM hw_topics;"
        "INSERT INTO c(key) VALUES ('x'); SELECT fetch_round(); SELECT \"partition\", key FROM a",
        "a|2|2|{\"cleanup.policy\":\"compact,delete\"}\nb|1|1|{}\nt|1|3|{}\n3\n1|x");
}

TEST(a_replica_outside_the_isr_is_not_promoted_by_accident, sqlite3 *db)
{
    expect_sql(db, "SELECT remove_from_isr('t', 0, 3)", "[1,2]");
    expect_error(db, "SELECT promote('t', 0, 3)", SQLITE_ERROR, "NOT_IN_SYNC_REPLICA: ");
    expect_sql(db, "SELECT leader, leader_epoch FROM hw_partitions", "1|0");
    expect_sql(db, "SELECT promote('t', 0, 3, 'unclean'); SELECT leader, isr FROM hw_partitions",
               "1\n3|[3]");
}

TEST(optional_arguments_may_be_null, void *fixture)
{
    expect_sql(
        fixture,
        "SELECT produce('t', NULL, NULL, NULL, NULL, NULL);"
        "SELECT produce('t', '0', 'k', 'v', '1', '{}'), produce('t', 0.0, 'k', 'v', 0);"
        "SELECT fetch_round(NULL, NULL) > 0, replicate('t', NULL) > 0, refresh_isr(NULL, NULL);"
        "SELECT create_topic('n', NULL, NULL, NULL) IS NOT NULL, flush(NULL);"
        "SELECT configure('min.insync.replicas', 2, NULL),"
        " configure('min.insync.replicas', NULL, NULL);"
        "SELECT crash(3, NULL), restart(3), promote('t', 0, 2, NULL)",
        "1\n2|NULL\n1|1|0\n1|2\n2|1\ncrashed|running|1");
}

/* Case: D-08 */
TEST(effects_are_not_called_from_a_schema, sqlite3 *db)
{
    static const char *const calls[] = {
        "produce('t', 0, 1, 2)",    "tick(1)",           "crash(1)",
        "promote('t', 0, 2)",       "fetch_round()",     "configure('acks', 1)",
        "open_cluster(':memory:')", "create_topic('x')", "delete_topic('t')"};
    char sql[400];

    for (int trusted = 0; trusted < 2; trusted++) {
        (void)snprintf(sql, sizeof sql, "PRAGMA trusted_schema = %d", trusted);
        expect_sql(db, sql, "");
        for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
            char *name =
                sqlite3_mprintf("unsafe use of %.*s()", (int)strcspn(calls[i], "("), calls[i]);
            (void)snprintf(sql, sizeof sql, "CREATE VIEW v AS SELECT %s; SELECT * FROM v",
                           calls[i]);
            expect_error(db, sql, SQLITE_ERROR, name);
            (void)snprintf(sql, sizeof sql,
                           "DROP VIEW v; CREATE TRIGGER g AFTER INSERT ON log BEGIN SELECT %s; END;"
                           " INSERT INTO log VALUES (1)",
                           calls[i]);
            expect_error(db, sql, SQLITE_ERROR, name);
            expect_sql(db, "DROP TRIGGER g", "");
            sqlite3_free(name);
        }
        expect_sql(db,
                   "CREATE TABLE d(x DEFAULT (highwater_version()));"
                   "CREATE VIEW w AS SELECT highwater_version(); SELECT count(*) FROM w;"
                   "INSERT INTO d DEFAULT VALUES; DROP VIEW w; DROP TABLE d",
                   "1");
        expect_error(db, "CREATE TABLE d(x DEFAULT (tick(1))); INSERT INTO d DEFAULT VALUES",
                     SQLITE_ERROR, "unsafe use of tick()");
        expect_sql(db, "DROP TABLE d; CREATE VIEW w AS SELECT count(*) FROM t", "");
        if (trusted) {
            expect_sql(db, "SELECT * FROM w", "0");
        } else {
            expect_error(db, "SELECT * FROM w", SQLITE_ERROR, "unsafe use of virtual table");
        }
        expect_sql(db, "DROP VIEW w", "");
        /* Tables that read any file: the schema may be somebody else's, temp is not. */
        expect_error(db, "CREATE VIEW k AS SELECT count(*) FROM kafka_dirs('sql'); SELECT * FROM k",
                     SQLITE_ERROR, "unsafe use of virtual table \"kafka_dirs\"");
        expect_error(db,
                     "DROP VIEW k; CREATE VIEW k AS SELECT * FROM kafka_log('sql');"
                     " SELECT * FROM k",
                     SQLITE_ERROR, "unsafe use of virtual table \"kafka_log\"");
        expect_sql(
            db,
            "DROP VIEW k; CREATE TEMP VIEW k AS SELECT count(*) FROM kafka_log('sql');"
            " SELECT * FROM k",
            "error: KAFKA_STORAGE_ERROR: there is no partition in sql, and no log directory of"
            " Kafka near below it");
        expect_sql(db, "DROP VIEW k", "");
    }
    expect_sql(db, "SELECT leader, leader_epoch, leo FROM hw_partitions", "1|0|1");
}

/* Whatever the program's locale is; a machine that has none of these shows it of its own. The sign of
 * the last two has two bytes. */
TEST(numbers_in_json_do_not_depend_on_the_locale, void *fixture)
{
    static const char *const with_commas[] = {"C",           "de_DE.UTF-8", "tr_TR.UTF-8",
                                              "fr_FR.UTF-8", "fa_IR.UTF-8", "ps_AF.UTF-8"};

    for (size_t i = 0; i < sizeof with_commas / sizeof with_commas[0]; i++) {
        (void)setlocale(LC_ALL, with_commas[i]);
        expect_sql(fixture,
                   "SELECT link(1, 2, '{\"latency_ms\":1.5,\"jitter_ms\":2,\"loss\":2.5e-1}');"
                   "SELECT kafka_record('__cluster_metadata', NULL,"
                   " x'010e000205757365720275000461626340934a00000000000000') LIKE '%:1234.5,%'",
                   "{\"latency_ms\":1.5,\"jitter_ms\":2.0,\"loss\":0.25,\"bytes_per_s\":0}\n1");
    }
    expect_sql(fixture,
               "INSERT INTO t(value, headers) VALUES ('v', '{\"a b\":1.5,\"c\":{\"hex\":\"00\"}}');"
               "SELECT replicate('t') > 0; SELECT headers FROM t WHERE key IS NULL",
               "1\n{\"a b\":\"1.5\",\"c\":{\"hex\":\"00\"}}");
    (void)setlocale(LC_ALL, "C");
}

static void say_null(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count, (void)values;
    sqlite3_result_null(context);
}

TEST(a_function_that_the_program_has_replaced_is_no_lack_of_memory, sqlite3 *db)
{
    assert_int_equal(sqlite3_create_function(db, "iif", 3, SQLITE_UTF8, NULL, say_null, NULL, NULL),
                     SQLITE_OK);
    expect_error(db, "SELECT create_topic('u', 1, 1, '{\"retention.ms\":5}')", SQLITE_ERROR,
                 "INVALID_REQUEST: configs: json_each(), iif() or -> of this connection is not");
}

int main(void)
{
    return test_run(set_up, tear_down);
}
