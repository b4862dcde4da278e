/* SPDX-License-Identifier: MIT */
/*
 * How fast a live table is beside librdkafka without SQL, on the same topic of the same broker in one
 * run: what counts is the ratio. Goals: reading 0.6, writing 0.7; five times kcat with the shell.
 *
 * usage: live_bench [BOOTSTRAP [ROWS]]     rows of 100 bytes; prints the medians of three runs. Without an
 * address it starts a node, as tests/live.sh says how
 */
#include "tests/live/nodes.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 3, VALUE_SIZE = 100 };

static const char *bootstrap;
static long rows = 1000000;
static sqlite3 *db;

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "live_bench: %s: %s\n", what, db == NULL ? "" : sqlite3_errmsg(db));
        exit(1);
    }
}

static void sql(const char *text)
{
    check(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, text);
}

static rd_kafka_t *consumer(void)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[200];

    check(rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, text, sizeof text) ==
              RD_KAFKA_CONF_OK,
          text);
    (void)rd_kafka_conf_set(conf, "enable.partition.eof", "true", text, sizeof text);
    return rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
}

/* From the begin to the end, once. */
static double bare_consumer(void)
{
    rd_kafka_t *rk = consumer();
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, "bench", NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    double start = now();
    int64_t bytes = 0;
    bool is_over = false;

    check(rd_kafka_consume_start_queue(topic, 0, RD_KAFKA_OFFSET_BEGINNING, queue) == 0, "start");
    while (!is_over) {
        rd_kafka_message_t *message = rd_kafka_consume_queue(queue, 1000);

        if (message != NULL) {
            is_over = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
            bytes += message->err == RD_KAFKA_RESP_ERR_NO_ERROR ? (int64_t)message->len : 0;
            rd_kafka_message_destroy(message);
        }
    }
    start = now() - start;
    check(bytes == (int64_t)rows * VALUE_SIZE, "the consumer read all");
    (void)rd_kafka_consume_stop(topic, 0);
    rd_kafka_queue_destroy(queue);
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(rk);
    return start;
}

/* The way around: kcat writes lines, the shell reads them. */
static double kcat_import(void)
{
    char command[300];
    double start = now();

    (void)snprintf(
        command, sizeof command,
        "kcat -b %s -t bench -C -e -q -o beginning | sqlite3 :memory: 'CREATE TABLE t(value)' "
        "'.import /dev/stdin t'",
        bootstrap);
    check(system(command) == 0, "kcat");
    return now() - start;
}

static double table_scan(void)
{
    double start = now();

    sql("CREATE TEMP TABLE IF NOT EXISTS sums(n); INSERT INTO sums SELECT sum(length(value)) FROM "
        "bench");
    return now() - start;
}

static double table_copy(void)
{
    double start = now();

    sql("DROP TABLE IF EXISTS copy; CREATE TABLE copy AS SELECT * FROM bench");
    return now() - start;
}

static long delivered;

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    (void)rk, (void)opaque;
    delivered += message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* The rows of the table, to another topic. */
static double bare_producer(void)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char text[200];
    char value[VALUE_SIZE + 1];
    rd_kafka_t *rk;
    rd_kafka_topic_t *topic;
    double start;

    (void)rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, text, sizeof text);
    (void)rd_kafka_conf_set(conf, "enable.idempotence", "true", text, sizeof text);
    (void)rd_kafka_conf_set(conf, "linger.ms", "2", text, sizeof text);
    rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    topic = rd_kafka_topic_new(rk, "bench_out", NULL);
    /* A first record, so that the producer has its id, as the table's has. */
    delivered = 0;
    (void)rd_kafka_producev(rk, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_END);
    while (delivered < 1) {
        (void)rd_kafka_poll(rk, 10);
    }
    start = now();
    for (long i = 0; i < rows; i++) {
        (void)snprintf(value, sizeof value, "%0*ld", VALUE_SIZE, i);
        while (rd_kafka_producev(rk, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(0),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                 RD_KAFKA_V_VALUE(value, VALUE_SIZE),
                                 RD_KAFKA_V_END) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            (void)rd_kafka_poll(rk, 10);
        }
        if (i % 512 == 0) {
            (void)rd_kafka_poll(rk, 0);
        }
    }
    while (delivered < rows + 1) {
        (void)rd_kafka_poll(rk, 10);
    }
    start = now() - start;
    rd_kafka_topic_destroy(topic);
    rd_kafka_destroy(rk);
    return start;
}

static double table_insert(void)
{
    double start = now();

    sql("INSERT INTO bench_out(\"partition\", value) SELECT 0, value FROM source");
    return now() - start;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Both in turn, so that what else the machine does strikes both. */
static void compare(const char *name, double (*bare)(void), double (*table)(void), double goal)
{
    double bares[RUNS];
    double tables[RUNS];

    for (int i = 0; i < RUNS; i++) {
        bares[i] = bare();
        tables[i] = table();
    }
    qsort(bares, RUNS, sizeof bares[0], by_size);
    qsort(tables, RUNS, sizeof tables[0], by_size);
    printf("%-24s %8.0f rows/s   without SQL %8.0f   ratio %.2f (goal %.2f)\n", name,
           (double)rows / tables[RUNS / 2], (double)rows / bares[RUNS / 2],
           bares[RUNS / 2] / tables[RUNS / 2], goal);
}

int main(int argc, char **argv)
{
    char text[600];

    if (argc < 2) {
        nodes_start(1);
    }
    bootstrap = argc < 2 ? nodes_bootstrap() : argv[1];
    rows = argc > 2 ? atol(argv[2]) : rows;
    check(sqlite3_open(":memory:", &db) == SQLITE_OK, "open");
    (void)sqlite3_enable_load_extension(db, 1);
    check(sqlite3_load_extension(db, HW_TEST_LIVE, NULL, NULL) == SQLITE_OK, "load");
    (void)snprintf(
        text, sizeof text,
        "SELECT live_connect('k', '{\"bootstrap.servers\":\"%s\"}');"
        "SELECT live_create_topic('k', 'bench', 1, 1), live_create_topic('k', 'bench_out', 1, 1);"
        "CREATE VIRTUAL TABLE bench USING highwater_live(connection=k);"
        "CREATE VIRTUAL TABLE bench_out USING highwater_live(connection=k);"
        "CREATE TABLE source(value);"
        "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c WHERE i < %ld)"
        " INSERT INTO source SELECT printf('%%0100d', i) FROM c;"
        "INSERT INTO bench(value) SELECT value FROM source;"
        "INSERT INTO bench_out(value) VALUES (NULL)",
        bootstrap, rows);
    sql(text);
    compare("sum(length(value))", bare_consumer, table_scan, 0.6);
    compare("CREATE TABLE AS SELECT *", bare_consumer, table_copy, 0.5);
    compare("INSERT ... SELECT", bare_producer, table_insert, 0.7);
    if (system("command -v kcat >/dev/null") == 0) {
        compare("a scan, and kcat|.import", kcat_import, table_scan, 5);
    } else {
        printf("a scan, and kcat|.import left out: there is no kcat\n");
    }
    sql("SELECT live_delete_topic('k', 'bench'), live_delete_topic('k', 'bench_out')");
    (void)sqlite3_close(db);
    if (argc < 2) {
        nodes_stop();
    }
    return 0;
}
