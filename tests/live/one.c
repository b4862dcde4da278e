/* SPDX-License-Identifier: MIT */
/* What librdkafka's mock cannot show, on one real node: transactions, times, retention, compaction,
 * passwords, administration, a broker that hangs. */
#include "tests/live/nodes.h"
#include "tests/support_sql_queries.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

static sqlite3 *db;

static int open_all(void **state)
{
    (void)state;
    db = nodes_open(":memory:", ", \"live.timeout.ms\":10000");
    expect_sql(db,
               "CREATE VIEW series(i) AS WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL"
               " SELECT i + 1 FROM c WHERE i < 99999) SELECT i FROM c",
               "");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    test_sql_close(db);
    return 0;
}

/* A topic and a table of it. */
static void make(const char *name, int partitions, const char *configs)
{
    char sql[500];

    (void)snprintf(sql, sizeof sql,
                   "SELECT live_create_topic('k', '%s', %d, 1, '{%s}') = '%s';"
                   "CREATE VIRTUAL TABLE %s USING highwater_live(connection=k)",
                   name, partitions, configs, name, name);
    expect_sql(db, sql, "1");
}

static sqlite3 *open_transactional(const char *id, const char *tables)
{
    char more[200];
    sqlite3 *other;

    (void)snprintf(more, sizeof more, ", \"live.timeout.ms\":10000, \"transactional.id\":\"%s\"",
                   id);
    other = nodes_open(":memory:", more);
    expect_sql(other, tables, "");
    return other;
}

/* Case: L-01, L-35 */
TEST_ALONE(a_marker_at_the_end_does_not_hold_up_a_scan)
{
    sqlite3 *other;

    make("marked", 1, "");
    other =
        open_transactional("m", "CREATE VIRTUAL TABLE marked USING highwater_live(connection=k)");
    expect_sql(other,
               "BEGIN; INSERT INTO marked(value) VALUES ('a'), ('b'); COMMIT;"
               "BEGIN; INSERT INTO marked(value) VALUES ('c'); COMMIT;"
               "SELECT \"offset\", value FROM marked WHERE isolation = 'read_committed'",
               "0|a\n1|b\n3|c");
    expect_sql(db,
               "SELECT count(*), max(\"offset\") FROM marked;"
               "SELECT value FROM marked ORDER BY \"offset\" DESC LIMIT 2;"
               "SELECT high, lso FROM live_partitions('k') WHERE topic = 'marked'",
               "3|3\nc\nb\n5|5");
    test_sql_close(other);
}

/* Case: L-03, L-18 */
TEST_ALONE(a_transaction_that_fails_leaves_nothing_for_readers_of_committed_records)
{
    sqlite3 *other;

    make("wide", 2, "");
    make("narrow", 1, "\"max.message.bytes\":1000");
    other =
        open_transactional("n", "CREATE VIRTUAL TABLE wide USING highwater_live(connection=k);"
                                "CREATE VIRTUAL TABLE narrow USING highwater_live(connection=k)");
    expect_sql(other,
               "BEGIN; INSERT INTO wide(\"partition\", value) VALUES (0, 'a'), (1, 'b');"
               "INSERT INTO narrow(value) VALUES (hex(randomblob(5000)))",
               "");
    expect_error(other, "COMMIT", SQLITE_ERROR,
                 "MESSAGE_TOO_LARGE: the transaction is aborted, readers of committed records see "
                 "none of its rows; first failure: row 3, narrow: ");
    expect_sql(other,
               "SELECT count(*) FROM wide WHERE isolation = 'read_committed';"
               "SELECT count(*) FROM live_last_commit",
               "0\n0");
    /* The next one is another one. */
    expect_sql(other,
               "INSERT INTO wide(\"partition\", value) VALUES (0, 'c');"
               "SELECT value FROM wide WHERE isolation = 'read_committed'",
               "c");
    expect_sql(db, "SELECT count(*) >= 1 FROM wide", "1");
    test_sql_close(other);
}

/* Case: L-19 */
TEST_ALONE(who_takes_a_transactional_id_fences_the_other)
{
    sqlite3 *first;
    sqlite3 *second;

    make("fenced", 1, "");
    first =
        open_transactional("f", "CREATE VIRTUAL TABLE fenced USING highwater_live(connection=k)");
    second =
        open_transactional("f", "CREATE VIRTUAL TABLE fenced USING highwater_live(connection=k)");
    expect_sql(first, "INSERT INTO fenced(value) VALUES ('first')", "");
    expect_sql(second, "INSERT INTO fenced(value) VALUES ('second')", "");
    expect_error(first, "INSERT INTO fenced(value) VALUES ('zombie')", SQLITE_ERROR,
                 "PRODUCER_FENCED: ");
    expect_sql(first, "INSERT INTO fenced(value) VALUES ('first again')", "");
    expect_sql(db, "SELECT value FROM fenced WHERE isolation = 'read_committed'",
               "first\nsecond\nfirst again");
    test_sql_close(first);
    test_sql_close(second);
}

static void *wake_soon(void *argument)
{
    (void)argument;
    (void)usleep(2500000);
    node_signal(1, SIGCONT);
    return NULL;
}

/* Case: L-20 */
TEST_ALONE(a_commit_goes_on_after_a_broker_that_hung)
{
    sqlite3 *other;
    pthread_t thread;

    make("hung", 1, "");
    other = open_transactional("h", "CREATE VIRTUAL TABLE hung USING highwater_live(connection=k)");
    expect_sql(other, "INSERT INTO hung(value) VALUES ('before')", "");
    expect_sql(other, "BEGIN; INSERT INTO hung(value) VALUES ('once')", "");
    node_signal(1, SIGSTOP);
    assert_int_equal(pthread_create(&thread, NULL, wake_soon, NULL), 0);
    expect_sql(other, "COMMIT", "");
    (void)pthread_join(thread, NULL);
    expect_sql(db, "SELECT value FROM hung WHERE isolation = 'read_committed'", "before\nonce");
    test_sql_close(other);
}

static void *interrupt_soon(void *argument)
{
    (void)usleep(300000);
    sqlite3_interrupt(argument);
    return NULL;
}

/* Case: L-26, L-28 */
TEST_ALONE(a_broker_that_hangs_is_an_error_or_an_interrupt)
{
    pthread_t thread;

    make("hangs", 1, "");
    expect_sql(db,
               "CREATE VIRTUAL TABLE impatient USING highwater_live(topic=hangs, connection=k,"
               " live.timeout.ms=1000); INSERT INTO hangs(value) VALUES (1);"
               "SELECT count(*) FROM impatient",
               "1");
    node_signal(1, SIGSTOP);
    expect_error(db, "SELECT * FROM impatient", SQLITE_ERROR,
                 "REQUEST_TIMED_OUT: asking for metadata: no answer within 1000 ms");
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, db), 0);
    expect_error(db, "SELECT * FROM hangs", SQLITE_INTERRUPT, "interrupted");
    (void)pthread_join(thread, NULL);
    node_signal(1, SIGCONT);
    expect_sql(db, "SELECT value FROM hangs", "1");
}

/* Case: L-24 */
TEST_ALONE(a_wrong_password_is_told_soon_and_not_shown)
{
    long long start = live_now_ms();
    char sql[600];

    make("guarded", 1, "");
    expect_sql(db, "INSERT INTO guarded(value) VALUES ('seen')", "");
    for (int right = 0; right < 2; right++) {
        (void)snprintf(
            sql, sizeof sql,
            "SELECT live_connect('g%d', '{\"bootstrap.servers\":\"%s\","
            "\"security.protocol\":\"SASL_PLAINTEXT\",\"sasl.mechanism\":\"PLAIN\","
            "\"sasl.username\":\"reader\",\"sasl.password\":\"%s\"}') <> '';"
            "CREATE VIRTUAL TABLE g%d USING highwater_live(topic=guarded, connection=g%d)",
            right, nodes_guarded(), right ? "right-password" : "wrong-password", right, right);
        expect_sql(db, sql, "1");
    }
    expect_error(db, "SELECT * FROM g0", SQLITE_ERROR, "SASL_AUTHENTICATION_FAILED: ");
    assert_null(strstr(sqlite3_errmsg(db), "wrong-password"));
    assert_true(live_now_ms() - start < 20000);
    expect_sql(db, "SELECT value FROM g1", "seen");
}

/* Case: L-31, L-32 */
TEST_ALONE(a_topic_that_is_not_there_stays_so)
{
    expect_sql(db, "CREATE VIRTUAL TABLE nowhere USING highwater_live(connection=k)", "");
    expect_error(db, "SELECT * FROM nowhere", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: the cluster has no topic \"nowhere\"");
    expect_error(db, "INSERT INTO nowhere(value) VALUES (1)", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: the cluster has no topic \"nowhere\"");
    expect_sql(db, "SELECT count(*) FROM live_topics('k') WHERE topic = 'nowhere'", "0");
}

/* Case: L-11, L-12, L-13 */
TEST_ALONE(times_choose_where_to_begin_and_nothing_is_missed)
{
    make("timed", 1, "");
    expect_sql(
        db,
        "INSERT INTO timed(\"timestamp\", value) VALUES (1000, 'a'), (3000, 'b'), (2000, 'c'),"
        " (-5, 'd'), (4000, 'e');"
        "SELECT group_concat(value) FROM timed WHERE \"timestamp\" >= 2000;"
        "SELECT group_concat(value) FROM timed WHERE \"timestamp\" < 2500;"
        "SELECT count(*) FROM timed WHERE \"timestamp\" < -10;"
        "SELECT count(*) FROM timed WHERE \"timestamp\" > 9000000000000;"
        "SELECT value FROM timed WHERE \"timestamp\" = 4000;"
        "SELECT value FROM timed WHERE \"timestamp\" = -5",
        "b,c,e\na,c,d\n0\n0\ne\nd");
}

/* Case: L-44 */
TEST_ALONE(the_brokers_time_is_shown_where_it_counts)
{
    make("stamped", 1, "\"message.timestamp.type\":\"LogAppendTime\"");
    expect_sql(db,
               "INSERT INTO stamped(\"timestamp\", value) VALUES (1000, 'a');"
               "SELECT \"timestamp\" > 1600000000000 FROM stamped",
               "1");
}

/* In the librdkafka that is there, whichever one this was built with. */
TEST_ALONE(the_epoch_of_a_record_is_told_by_whoever_knows_it)
{
    make("epochal", 1, "");
    expect_sql(db, "INSERT INTO epochal(value) VALUES ('a'); SELECT leader_epoch FROM epochal",
               rd_kafka_version() < 0x020100ff ? "NULL" : "0");
}

/* Case: L-04, L-37 */
TEST_ALONE(a_scan_ends_where_the_log_ended_when_it_began)
{
    sqlite3_stmt *scan = NULL;
    int rows = 1;

    make("growing", 1, "");
    expect_sql(db, "INSERT INTO growing(value) SELECT i FROM series WHERE i < 1000", "");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM growing", -1, &scan, NULL), 0);
    assert_int_equal(sqlite3_step(scan), SQLITE_ROW);
    expect_sql(db, "INSERT INTO growing(value) SELECT i FROM series WHERE i < 500", "");
    while (sqlite3_step(scan) == SQLITE_ROW) {
        rows++;
    }
    assert_int_equal(sqlite3_finalize(scan), SQLITE_OK);
    assert_int_equal(rows, 1000);
    expect_sql(db, "SELECT count(*) FROM growing", "1500");
}

/* Case: L-39 */
TEST_ALONE(a_log_start_that_moves_is_not_a_silent_gap)
{
    make("trimmed", 1, "");
    expect_sql(db,
               "INSERT INTO trimmed(value) SELECT i FROM series WHERE i < 100;"
               "SELECT live_delete_records('k', 'trimmed', 0, 40);"
               "SELECT min(\"offset\"), count(*) FROM trimmed;"
               "SELECT count(*) FROM trimmed WHERE \"offset\" < 40;"
               "SELECT live_delete_records('k', 'trimmed', 0, -1); SELECT count(*) FROM trimmed",
               "40\n40|60\n0\n100\n0");
    expect_error(db, "SELECT live_delete_records('k', 'trimmed', 0, 500)", SQLITE_ERROR,
                 "OFFSET_OUT_OF_RANGE: trimmed-0: ");
    expect_error(db, "SELECT live_delete_records('k', 'trimmed', 1, -1)", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: trimmed has partitions 0 to 0");
}

/* Case: L-29, L-30 */
TEST_ALONE(a_topic_that_is_made_anew_has_its_new_rows_only)
{
    sqlite3_stmt *scan = NULL;
    int code;

    make("anew", 1, "");
    expect_sql(db,
               "CREATE VIRTUAL TABLE anew_soon USING highwater_live(topic=anew, connection=k,"
               " live.timeout.ms=3000);"
               "INSERT INTO anew(value) SELECT printf('%01000d', i) FROM series WHERE i < 60000",
               "");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM anew_soon", -1, &scan, NULL), 0);
    assert_int_equal(sqlite3_step(scan), SQLITE_ROW);
    expect_sql(db,
               "SELECT live_delete_topic('k', 'anew'); SELECT live_create_topic('k', 'anew', 1, 1);"
               "INSERT INTO anew(value) VALUES ('new'); SELECT value FROM anew",
               "1\nanew\nnew");
    do {
        code = sqlite3_step(scan);
    } while (code == SQLITE_ROW);
    assert_int_equal(code, SQLITE_ERROR);
    print_message("%s\n", sqlite3_errmsg(db));
    assert_true(strncmp(sqlite3_errmsg(db), "OFFSET_OUT_OF_RANGE: ", 21) == 0 ||
                strncmp(sqlite3_errmsg(db), "UNKNOWN_TOPIC_OR_PARTITION: ", 28) == 0 ||
                strncmp(sqlite3_errmsg(db), "REQUEST_TIMED_OUT: ", 19) == 0);
    (void)sqlite3_finalize(scan);
}

/* Case: L-02 */
TEST_ALONE(gaps_of_compaction_are_no_loss_and_no_wait)
{
    const char *same = "";

    make(
        "compacted", 1,
        "\"cleanup.policy\":\"compact\",\"segment.bytes\":1048576,\"min.cleanable.dirty.ratio\":"
        "0.01,\"delete.retention.ms\":0,\"min.compaction.lag.ms\":0,\"max.compaction.lag.ms\":100");
    expect_sql(db,
               "INSERT INTO compacted(key, value) SELECT 'k' || (i % 50), printf('%0500d', i) FROM"
               " series WHERE i < 6000",
               "");
    for (int i = 0; i < 300; i++) {
        if (strcmp(test_sql(db, "SELECT count(*) < 6000 FROM compacted"), "1") == 0) {
            break;
        }
        sqlite3_sleep(100);
    }
    expect_sql(db, "SELECT count(*) < 6000, max(\"offset\"), count(DISTINCT key) FROM compacted",
               "1|5999|50");
    /* The cleaner may take more away between the two scans. */
    for (int i = 0; i < 50 && strcmp(same, "1") != 0; i++) {
        same = test_sql(db, "SELECT count(*) = (SELECT count(*) FROM compacted)"
                            " FROM (SELECT 1 FROM compacted ORDER BY \"offset\" DESC)");
    }
    assert_string_equal(same, "1");
    expect_error(db, "INSERT INTO compacted(value) VALUES ('no key')", SQLITE_ERROR,
                 "INVALID_RECORD: 0 of 1 rows are in the log; first failure: row 1, compacted: ");
}

/* Case: L-47 */
TEST_ALONE(a_record_that_is_larger_than_a_fetch_comes)
{
    make("large", 1, "\"max.message.bytes\":4000000");
    nodes_connect(db, "l", ", \"message.max.bytes\":4000000, \"fetch.message.max.bytes\":10000");
    expect_sql(db,
               "CREATE VIRTUAL TABLE l USING highwater_live(topic=large, connection=l);"
               "INSERT INTO l(value) VALUES (zeroblob(3000000)), ('small');"
               "SELECT length(value) FROM l",
               "3000000\n5");
}

/* Case: L-07, L-34, L-06 */
TEST_ALONE(groups_are_those_of_others_and_their_lag_is_told)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    char text[200];
    rd_kafka_t *rk;

    make("grouped", 2, "");
    expect_sql(db,
               "INSERT INTO grouped(\"partition\", value) SELECT i % 2, i FROM series WHERE i < 10;"
               "SELECT count(*) FROM grouped",
               "10");
    (void)rd_kafka_conf_set(conf, "bootstrap.servers", nodes_bootstrap(), text, sizeof text);
    (void)rd_kafka_conf_set(conf, "group.id", "readers", text, sizeof text);
    rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    assert_non_null(rk);
    rd_kafka_topic_partition_list_add(list, "grouped", 0)->offset = 3;
    assert_int_equal(rd_kafka_commit(rk, list, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(rk);
    expect_sql(db,
               "SELECT \"group\", state, members, error FROM live_groups('k');"
               "SELECT count(*) FROM live_groups('k') WHERE \"group\" = 'nobody';"
               "SELECT \"group\", topic, \"partition\", committed, high, lag, lag_lso, error"
               " FROM live_group_offsets('k') WHERE \"group\" = 'readers';"
               "SELECT count(*) FROM live_group_offsets('k') WHERE \"group\" = 'nobody'",
               "readers|Empty|0|NULL\n0\nreaders|grouped|0|3|5|2|2|NULL\n0");
}

TEST_ALONE(topics_are_made_changed_and_dropped)
{
    make("made", 1, "\"retention.ms\":\"1000000\"");
    expect_error(db, "SELECT live_create_topic('k', 'made')", SQLITE_ERROR,
                 "TOPIC_ALREADY_EXISTS: made: Topic 'made' already exists.");
    expect_error(db, "SELECT live_create_topic('k', 'wider', 1, 5)", SQLITE_ERROR,
                 "INVALID_REPLICATION_FACTOR: wider: ");
    expect_sql(db,
               "SELECT live_create_partitions('k', 'made', 3);"
               "SELECT partitions FROM live_topics('k') WHERE topic = 'made';"
               "SELECT value, is_default FROM live_configs('k') WHERE topic = 'made' AND name ="
               " 'retention.ms';"
               "SELECT live_alter_configs('k', 'made', '{\"retention.ms\":2000000}', 1);"
               "SELECT value FROM live_configs('k') WHERE topic = 'made' AND name = 'retention.ms';"
               "SELECT count(*) > 100, sum(is_sensitive AND value IS NOT NULL)"
               " FROM live_configs('k') WHERE broker = 1;"
               "SELECT is_controller, cluster_id FROM live_brokers('k')",
               "3\n3\n1000000|0\nmade\n2000000\n1|0\n1|aGlnaHdhdGVyLWxpdmUtYQ");
    if (rd_kafka_version() < 0x020200ff) {
        expect_error(db, "SELECT live_alter_configs('k', 'made', '{\"retention.ms\":1}')",
                     SQLITE_ERROR, "UNSUPPORTED_VERSION: librdkafka ");
    } else {
        expect_sql(
            db,
            "SELECT live_alter_configs('k', 'made', '{\"segment.ms\":3000000}');"
            "SELECT group_concat(value) FROM live_configs('k') WHERE topic = 'made' AND name IN"
            " ('retention.ms', 'segment.ms') ORDER BY name",
            "made\n2000000,3000000");
    }
    if (rd_kafka_version() < 0x020600ff) {
        expect_error(db, "SELECT live_elect('k', 'made', 0)", SQLITE_ERROR,
                     "UNSUPPORTED_VERSION: librdkafka ");
    } else {
        expect_error(db, "SELECT live_elect('k', 'made', 0)", SQLITE_ERROR,
                     "ELECTION_NOT_NEEDED: ");
    }
    expect_sql(db, "SELECT live_delete_topic('k', 'made')", "1");
    expect_error(db, "SELECT live_delete_topic('k', 'made')", SQLITE_ERROR,
                 "UNKNOWN_TOPIC_OR_PARTITION: made: ");
}

/* ------------------------------------------------------------------------------ generated queries
 */

static const char *const columns[] = {"rowid", "\"offset\"", "\"partition\"", "\"timestamp\"",
                                      "key",   "value",      "headers"};
static const char *const tables[] = {"many", "one", "empty"};

TEST_ALONE(queries_answer_as_those_of_a_copy)
{
    struct twins *twins = calloc(1, sizeof *twins);
    int count = getenv("HW_TEST_QUICK") != NULL ? 60 : 400;

    assert_non_null(twins);
    make("many", 4, "");
    make("one", 1, "");
    make("empty", 2, "");
    twins->db = db;
    twins->columns = columns;
    twins->column_count = sizeof columns / sizeof columns[0];
    twins->tables = tables;
    twins->table_count = sizeof tables / sizeof tables[0];
    hw_random_init(&twins->random, 5);
    expect_sql(
        db,
        "INSERT INTO many(\"partition\", \"timestamp\", key, value)"
        " SELECT i % 3 + (i % 3 = 2), (i * 7) % 11 * 100 + 1, iif(i % 5, 'k' || i % 12, NULL),"
        " iif(i % 7, 'v' || i, i) FROM series WHERE i < 60;"
        "INSERT INTO one(\"timestamp\", key, value)"
        " SELECT \"timestamp\", key, value FROM many WHERE \"offset\" % 3 = 0",
        "");
    for (size_t i = 0; i < 3; i++) {
        char select[100];

        (void)snprintf(select, sizeof select, "SELECT rowid, *, leader_epoch, producer_id FROM %s",
                       tables[i]);
        twins_copy(
            twins, tables[i],
            "id INTEGER PRIMARY KEY, \"partition\" INTEGER, \"offset\" INTEGER, \"timestamp\""
            " INTEGER, key, value, headers, leader_epoch INTEGER, producer_id INTEGER",
            select);
    }
    for (int i = 0; i < count; i++) {
        twins_begin(twins);
        twins_ask_for_rows(twins);
        twins_begin(twins);
        twins_ask_for_sums(twins);
    }
    for (int i = 0; i < count / 10; i++) {
        twins_begin(twins);
        twins_ask_for_a_join(twins);
    }
    print_message("%d queries, %d refused both times, %d without a row\n", twins->asked,
                  twins->refused, twins->empty);
    assert_true(twins->refused < twins->asked / 10);
    assert_true(twins->empty < twins->asked * 3 / 4);
    free(twins);
}

/* ---------------------------------------------------------------------------------------- recipes
 */

/* A block of ext/live/README.md: the lines between ```sql NAME and ```. */
static const char *recipe(const char *name)
{
    static char text[4000];
    char begin[60];
    char line[400];
    FILE *file = fopen("ext/live/README.md", "r");
    bool is_inside = false;

    assert_non_null(file);
    (void)snprintf(begin, sizeof begin, "```sql %s\n", name);
    text[0] = '\0';
    while (fgets(line, sizeof line, file) != NULL) {
        if (is_inside && strncmp(line, "```", 3) == 0) {
            break;
        }
        if (is_inside) {
            (void)strncat(text, line, sizeof text - strlen(text) - 1);
        }
        is_inside |= strcmp(line, begin) == 0;
    }
    (void)fclose(file);
    assert_true(text[0] != '\0');
    return text;
}

static int die(void *nothing)
{
    (void)nothing;
    _exit(9);
}

/* In a process of its own, PATH BOOTSTRAP RECIPE [die]: SQLite calls a commit hook when the tables were
 * synced, which is when Kafka has the rows, and before the file is committed. */
static int relay(char **arguments, bool dies)
{
    char sql[600];
    sqlite3 *own = live_open(arguments[0]);

    (void)snprintf(sql, sizeof sql,
                   "SELECT live_connect('k', '{\"bootstrap.servers\":\"%s\","
                   "\"transactional.id\":\"relay\"}')",
                   arguments[1]);
    (void)test_sql(own, sql);
    if (dies) {
        (void)sqlite3_commit_hook(own, die, NULL);
    }
    (void)snprintf(sql, sizeof sql, "%s", test_sql(own, recipe(arguments[2])));
    if (strncmp(sql, "error", 5) == 0 || strstr(sql, "\nerror") != NULL) {
        fprintf(stderr, "%s\n", sql);
        return 1;
    }
    test_sql_close(own);
    return 0;
}

static void run_relay(const char *path, const char *name, bool dies)
{
    char command[600];
    int status;

    (void)snprintf(command, sizeof command, "\"$HW_LIVE_SELF\" relay '%s' '%s' %s%s", path,
                   nodes_bootstrap(), name, dies ? " die" : "");
    status = system(command);
    assert_int_equal(WEXITSTATUS(status), dies ? 9 : 0);
}

/* A database file with an outbox, which goes to `topic`; at most 200 characters of more SQL. */
static void make_outbox(char *path, const char *topic, const char *more)
{
    char sql[600];
    sqlite3 *own;

    (void)snprintf(path, 300, "%s/%s.db", getenv("HW_LIVE_DIR"), topic);
    own = live_open(path);
    (void)snprintf(sql, sizeof sql,
                   "SELECT configure('replication', 'auto');"
                   "CREATE VIRTUAL TABLE log USING highwater(replication.factor=1);"
                   "CREATE VIRTUAL TABLE dest USING highwater_live(topic=%s, connection=k); %s",
                   topic, more);
    expect_sql(own, sql, "auto");
    test_sql_close(own);
}

static void write_to_outbox(const char *path, const char *sql)
{
    sqlite3 *own = live_open(path);

    expect_sql(own, sql, "");
    test_sql_close(own);
}

/* Kafka answers a COMMIT a moment before its readers of committed records see it. */
static void expect_soon(const char *sql, const char *expected)
{
    for (int i = 0; i < 100 && strcmp(test_sql(db, sql), expected) != 0; i++) {
        sqlite3_sleep(50);
    }
    expect_sql(db, sql, expected);
}

/* Case: L-41 */
TEST_ALONE(an_outbox_is_sent_once_over_kills)
{
    static const char count[] = "SELECT count(*), count(DISTINCT value) FROM outbox"
                                " WHERE isolation = 'read_committed'";
    char path[300];

    make("outbox", 1, "");
    make_outbox(path, "outbox", "");
    write_to_outbox(path, "INSERT INTO log(value) VALUES ('a'), ('b'), ('c')");
    run_relay(path, "outbox", true);
    expect_soon(count, "3|3");
    run_relay(path, "outbox", false);
    expect_soon(count, "3|3");
    write_to_outbox(path, "INSERT INTO log(value) VALUES ('d'), ('e')");
    run_relay(path, "outbox", true);
    run_relay(path, "outbox", false);
    run_relay(path, "outbox", false);
    expect_soon(count, "5|5");
}

TEST_ALONE(with_the_position_in_sqlite_it_is_sent_at_least_once)
{
    char path[300];

    make("noted", 1, "");
    make_outbox(path, "noted", "CREATE TABLE sent(next); INSERT INTO sent VALUES (0)");
    write_to_outbox(path, "INSERT INTO log(value) VALUES ('a'), ('b')");
    run_relay(path, "at_least_once", true);
    run_relay(path, "at_least_once", false);
    run_relay(path, "at_least_once", false);
    expect_soon(
        "SELECT value, count(*) FROM noted WHERE isolation = 'read_committed' GROUP BY value",
        "a|2\nb|2");
}

/* Case: L-40 */
TEST_ALONE(what_is_imported_is_there_once_over_kills)
{
    char path[300];

    make("imported", 1, "");
    make_outbox(path, "imported",
                "CREATE TABLE copy(\"partition\", \"offset\", key, value);"
                "CREATE TABLE position(next); INSERT INTO position VALUES (0);"
                "CREATE VIRTUAL TABLE source USING highwater_live(topic=imported, connection=k)");
    expect_sql(db, "INSERT INTO imported(value) VALUES ('a'), ('b'), ('c')", "");
    run_relay(path, "import", true);
    run_relay(path, "import", false);
    expect_sql(db, "INSERT INTO imported(value) VALUES ('d')", "");
    run_relay(path, "import", true);
    run_relay(path, "import", false);
    run_relay(path, "import", false);
    {
        sqlite3 *own = live_open(path);

        expect_sql(own, "SELECT group_concat(value) FROM copy; SELECT next FROM position",
                   "a,b,c,d\n4");
        test_sql_close(own);
    }
}

TEST_ALONE(no_thread_and_no_socket_stays_behind)
{
    int threads;
    int sockets;
    sqlite3 *other;

    test_sql_close(db);
    threads = live_count_threads();
    sockets = live_count_sockets();
    other =
        open_transactional("t", "CREATE VIRTUAL TABLE marked USING highwater_live(connection=k)");
    expect_sql(other, "INSERT INTO marked(value) VALUES (1); SELECT count(*) > 0 FROM marked", "1");
    test_sql_close(other);
    assert_int_equal(live_count_threads(), threads);
    assert_int_equal(live_count_sockets(), sockets);
    db = nodes_open(":memory:", "");
}

static int start(void **state)
{
    (void)state;
    nodes_start(1);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    nodes_stop();
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 4 && strcmp(argv[1], "relay") == 0) {
        return relay(argv + 2, argc > 5);
    }
    assert_int_equal(setenv("HW_LIVE_SELF", argv[0], 1), 0);
    cmocka_set_test_filter(getenv("HW_LIVE_TEST"));
    test_each(open_all, close_all);
    return test_run_together(start, stop);
}
