/* SPDX-License-Identifier: MIT */
/* A cluster that refuses, hangs, fails or goes away; an interrupt; a fork. */
#include "tests/support_live.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tests/support_test.h"

static struct mock mock;
static sqlite3 *db;

static int open_all(void **state)
{
    (void)state;
    mock_start(&mock, 1);
    mock_topic(&mock, "one", 1);
    db = live_open_alone(":memory:");
    live_connect_mock(db, &mock, ", \"live.timeout.ms\":1500");
    expect_sql(db, "CREATE VIRTUAL TABLE one USING highwater_live(connection=mock)", "");
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    test_sql_close(db);
    mock_stop(&mock);
    return 0;
}

/* Case: L-17, L-28 */
TEST_ALONE(who_does_not_listen_is_an_error_within_the_time_out)
{
    long long start = live_now_ms();

    expect_sql(db,
               "SELECT live_connect('nobody', '{\"bootstrap.servers\":\"127.0.0.1:1\","
               "\"live.timeout.ms\":500}');"
               "CREATE VIRTUAL TABLE far USING highwater_live(topic=one, connection=nobody)",
               "nobody");
    expect_error(db, "SELECT * FROM far", SQLITE_ERROR,
                 "NETWORK_EXCEPTION: asking for metadata: no answer within 500 ms: ");
    expect_error(db, "INSERT INTO far(value) VALUES (1)", SQLITE_ERROR, "NETWORK_EXCEPTION: ");
    expect_error(db, "SELECT * FROM live_brokers('nobody')", SQLITE_ERROR, "NETWORK_EXCEPTION: ");
    expect_error(db, "SELECT live_create_topic('nobody', 'x')", SQLITE_ERROR,
                 "NETWORK_EXCEPTION: ");
    expect_error(db, "PRAGMA query_only = 1; SELECT live_create_topic('nobody', 'x')", SQLITE_ERROR,
                 "INVALID_REQUEST: PRAGMA query_only is on: nothing may have an effect");
    expect_error(db, "SELECT live_init_producer('nobody')", SQLITE_ERROR,
                 "INVALID_REQUEST: PRAGMA query_only is on: nothing may have an effect");
    expect_sql(db,
               "PRAGMA query_only = 0; SELECT count(*) FROM one; SELECT live_disconnect('nobody')",
               "0\nnobody");
    /* Four time-outs and no more; generous to slow machines. */
    assert_true(live_now_ms() - start < 20000);
}

/* Case: L-16 */
TEST_ALONE(a_commit_that_fails_counts_what_is_in_the_log)
{
    expect_sql(db, "INSERT INTO one(value) VALUES ('before')", "");
    rd_kafka_mock_push_request_errors(mock.cluster, 0 /* Produce */, 1,
                                      RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    expect_error(db, "INSERT INTO one(value) VALUES ('a'), ('b')", SQLITE_ERROR,
                 "MESSAGE_TOO_LARGE: 0 of 2 rows are in the log; first failure: row 1, one: ");
    expect_sql(db, "SELECT count(*) FROM live_last_commit; SELECT value FROM one", "0\nbefore");
    expect_sql(db, "INSERT INTO one(value) VALUES ('after'); SELECT value FROM one",
               "before\nafter");
}

TEST_ALONE(a_refusal_that_passes_is_tried_again)
{
    rd_kafka_mock_push_request_errors(mock.cluster, 0, 2,
                                      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                      RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
    expect_sql(db, "INSERT INTO one(value) VALUES ('a'), ('b'); SELECT \"offset\", value FROM one",
               "0|a\n1|b");
    rd_kafka_mock_push_request_errors(mock.cluster, 2 /* ListOffsets */, 1,
                                      RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
    rd_kafka_mock_push_request_errors(mock.cluster, 1 /* Fetch */, 1,
                                      RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    expect_sql(db, "SELECT value FROM one", "a\nb");
}

/* Case: L-45, L-48 */
TEST_ALONE(what_the_cluster_forbids_is_no_empty_answer)
{
    rd_kafka_mock_topic_set_error(mock.cluster, "one",
                                  RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    expect_error(db, "SELECT * FROM one", SQLITE_ERROR,
                 "TOPIC_AUTHORIZATION_FAILED: topic \"one\": ");
    rd_kafka_mock_topic_set_error(mock.cluster, "one", RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_mock_topic_create(mock.cluster, "headless", 1, 1);
    rd_kafka_mock_partition_set_leader(mock.cluster, "headless", 0, -1);
    expect_sql(db, "CREATE VIRTUAL TABLE headless USING highwater_live(connection=mock)", "");
    expect_error(db, "SELECT * FROM headless", SQLITE_ERROR, "LEADER_NOT_AVAILABLE: headless-0: ");
}

/* Case: L-33 */
TEST_ALONE(a_scan_goes_on_at_another_leader)
{
    struct mock two;
    sqlite3 *other = live_open_alone(":memory:");
    sqlite3_stmt *scan = NULL;
    int rows = 0;

    mock_start(&two, 2);
    mock_topic(&two, "t", 1);
    rd_kafka_mock_partition_set_leader(two.cluster, "t", 0, 1);
    live_connect_mock(other, &two,
                      ", \"live.timeout.ms\":15000, \"queued.max.messages.kbytes\":1,"
                      " \"fetch.message.max.bytes\":1000, \"queued.min.messages\":1,"
                      " \"batch.num.messages\":10");
    expect_sql(other,
               "CREATE VIRTUAL TABLE t USING highwater_live(connection=mock);"
               "WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i < 499)"
               " INSERT INTO t(value) SELECT printf('%0100d', i) FROM c",
               "");
    assert_int_equal(sqlite3_prepare_v2(other, "SELECT \"offset\" FROM t", -1, &scan, NULL), 0);
    while (sqlite3_step(scan) == SQLITE_ROW) {
        assert_int_equal(sqlite3_column_int(scan, 0), rows);
        rows++;
        if (rows == 50) {
            rd_kafka_mock_partition_set_leader(two.cluster, "t", 0, 2);
            rd_kafka_mock_broker_set_down(two.cluster, 1);
        }
    }
    assert_int_equal(sqlite3_finalize(scan), SQLITE_OK);
    assert_int_equal(rows, 500);
    test_sql_close(other);
    mock_stop(&two);
}

static void *interrupt_soon(void *argument)
{
    (void)usleep(200000);
    sqlite3_interrupt(argument);
    return NULL;
}

static int stop_at_once(void *calls)
{
    return ++*(int *)calls > 3;
}

/* Case: L-26 */
TEST_ALONE(an_interrupt_ends_the_waiting)
{
    long long start = live_now_ms();
    pthread_t thread;
    int calls = 0;

    expect_sql(db,
               "SELECT live_connect('slow', '{\"bootstrap.servers\":\"127.0.0.1:1\","
               "\"live.timeout.ms\":60000}');"
               "CREATE VIRTUAL TABLE far USING highwater_live(topic=one, connection=slow)",
               "slow");
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, db), 0);
    expect_error(db, "SELECT * FROM far", SQLITE_INTERRUPT, "interrupted");
    (void)pthread_join(thread, NULL);
    sqlite3_progress_handler(db, 1000, stop_at_once, &calls);
    expect_error(db, "SELECT * FROM far", SQLITE_INTERRUPT, "interrupted");
    sqlite3_progress_handler(db, 0, NULL, NULL);
    assert_true(live_now_ms() - start < 30000);
    expect_sql(db, "SELECT count(*) FROM one", "0");
}

/* Later than a COMMIT takes to send its rows, sooner than the answer comes. */
static void *interrupt_later(void *argument)
{
    (void)usleep(1000000);
    sqlite3_interrupt(argument);
    return NULL;
}

TEST_ALONE(an_interrupt_in_commit_says_what_is_known)
{
    pthread_t thread;

    expect_sql(db, "SELECT live_disconnect('mock')", "mock");
    live_connect_mock(db, &mock, ", \"live.timeout.ms\":60000");
    expect_sql(db, "INSERT INTO one(value) VALUES ('before')", "");
    expect_sql(db, "BEGIN; INSERT INTO one(value) VALUES ('a')", "");
    /* The broker writes the row, and its answer takes its time. */
    assert_int_equal(rd_kafka_mock_broker_push_request_error_rtts(mock.cluster, 1, 0 /* Produce */,
                                                                  (size_t)1,
                                                                  RD_KAFKA_RESP_ERR_NO_ERROR, 5000),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_later, db), 0);
    expect_error(db, "COMMIT", SQLITE_INTERRUPT,
                 "interrupted: 0 of 1 rows are in the log, 1 more may be");
    (void)pthread_join(thread, NULL);
    /* SQLite has ended the transaction; the row is there. */
    expect_error(db, "ROLLBACK", SQLITE_ERROR, "cannot rollback - no transaction is active");
    expect_sql(db, "SELECT count(*) FROM live_last_commit; SELECT value FROM one", "0\nbefore\na");
}

/* What a child may do with its parent's connection. Not through cmocka, whose state is the parent's.
 * Returns a reason to fail, or 0. */
static int use_in_a_child(sqlite3_stmt *scan)
{
    if (sqlite3_exec(db, "SELECT * FROM one", NULL, NULL, NULL) != SQLITE_ERROR ||
        strstr(sqlite3_errmsg(db), "was made in another process") == NULL ||
        sqlite3_exec(db, "INSERT INTO one(value) VALUES (1)", NULL, NULL, NULL) != SQLITE_ERROR) {
        return 1;
    }
    if (sqlite3_step(scan) != SQLITE_ERROR ||
        strstr(sqlite3_errmsg(db), "was made in another process") == NULL) {
        return 2;
    }
    return sqlite3_finalize(scan) == SQLITE_ERROR && sqlite3_close(db) == SQLITE_OK ? 0 : 3;
}

/* Case: L-38 */
TEST_ALONE(a_forked_child_is_told_and_does_no_harm)
{
    sqlite3_stmt *scan = NULL;
    int status = 0;
    pid_t child;

    expect_sql(db, "INSERT INTO one(value) VALUES ('a'), ('b'); SELECT count(*) FROM one", "2");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM one", -1, &scan, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(scan), SQLITE_ROW);
    child = fork();
    if (child == 0) {
        int reason;

        (void)alarm(20);
        reason = use_in_a_child(scan);
        if (reason != 0) {
            _exit(reason);
        }
        /* Not by exit: what a child leaves alone counts as a leak there. */
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(sqlite3_step(scan), SQLITE_ROW);
    assert_int_equal(sqlite3_step(scan), SQLITE_DONE);
    assert_int_equal(sqlite3_finalize(scan), SQLITE_OK);
    expect_sql(db, "INSERT INTO one(value) VALUES ('c'); SELECT value FROM one", "a\nb\nc");
}

/* Case: L-27 */
TEST_ALONE(a_cluster_that_is_gone_does_not_hold_up_the_end)
{
    sqlite3 *other = live_open_alone(":memory:");
    long long start;

    live_connect_mock(other, &mock, "");
    expect_sql(other,
               "CREATE VIRTUAL TABLE one USING highwater_live(connection=mock);"
               "INSERT INTO one(value) VALUES (1); SELECT count(*) FROM one",
               "1");
    rd_kafka_mock_broker_set_down(mock.cluster, 1);
    start = live_now_ms();
    expect_sql(other, "DROP TABLE one", "");
    test_sql_close(other);
    assert_true(live_now_ms() - start < 5000);
    rd_kafka_mock_broker_set_up(mock.cluster, 1);
}

/* A librdkafka before 2.6.1 then waited for itself: what came late of a partition that is read no more
 * held the partition, and that its broker's thread. */
TEST_ALONE(a_topic_that_goes_does_not_hold_up_the_end)
{
    sqlite3 *other = live_open_alone(":memory:");

    mock_topic(&mock, "going", 8);
    live_connect_mock(other, &mock, "");
    expect_sql(other,
               "CREATE VIRTUAL TABLE going USING highwater_live(connection=mock);"
               "WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i < 7)"
               " INSERT INTO going(\"partition\", value) SELECT i, i FROM c;"
               "SELECT count(*) FROM going",
               "8");
    rd_kafka_mock_topic_set_error(mock.cluster, "going", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    expect_error(other, "SELECT * FROM going", SQLITE_ERROR, "UNKNOWN_TOPIC_OR_PARTITION: ");
    (void)alarm(20);
    test_sql_close(other);
    (void)alarm(0);
}

TEST_ALONE(others_can_be_asked_while_a_scan_stands_still)
{
    sqlite3_stmt *scan = NULL;

    mock_topic(&mock, "many", 90);
    expect_sql(db,
               "CREATE VIRTUAL TABLE many USING highwater_live(connection=mock);"
               "WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i < 899)"
               " INSERT INTO many(\"partition\", value) SELECT i % 90, i FROM c",
               "");
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT value FROM many", -1, &scan, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(scan), SQLITE_ROW);
    expect_sql(db,
               "SELECT count(*), count(DISTINCT \"partition\") FROM many;"
               "SELECT count(*) FROM many a JOIN many b USING (value) WHERE a.\"partition\" = 7",
               "900|90\n10");
    assert_int_equal(sqlite3_finalize(scan), SQLITE_OK);
}

/* Bytes of memory that this process has, without what was freed. */
static long long resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long long pages = 0;

#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %lld", &pages), 1);
    (void)fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Case: L-36 */
TEST_ALONE(a_scan_that_stands_still_takes_bounded_memory)
{
    sqlite3 *other = live_open_alone(":memory:");
    sqlite3_stmt *scan = NULL;
    long long size;

    /* 20 MB; the mock keeps the last 5 MiB of a partition. Small batches: of each partition one comes
     * at once. */
    mock_topic(&mock, "wide", 5);
    live_connect_mock(other, &mock,
                      ", \"queued.max.messages.kbytes\":64, \"fetch.message.max.bytes\":65536,"
                      " \"batch.num.messages\":10");
    expect_sql(other,
               "CREATE VIRTUAL TABLE wide USING highwater_live(connection=mock);"
               "WITH RECURSIVE c(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM c WHERE i < 3999)"
               " INSERT INTO wide(\"partition\", value) SELECT i % 5, zeroblob(5000) FROM c;"
               "SELECT count(*) FROM wide WHERE \"partition\" = 0 AND \"offset\" < 10",
               "10");
    size = resident();
    assert_int_equal(sqlite3_prepare_v2(other, "SELECT value FROM wide", -1, &scan, NULL), 0);
    assert_int_equal(sqlite3_step(scan), SQLITE_ROW);
    (void)usleep(500000);
    size = resident() - size;
    print_message("a scan that stands still takes %lld bytes\n", size);
    assert_true(size < 6 << 20);
    assert_int_equal(sqlite3_finalize(scan), SQLITE_OK);
    test_sql_close(other);
}

int main(void)
{
    return test_run(open_all, close_all);
}
