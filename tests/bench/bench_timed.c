/* SPDX-License-Identifier: MIT */
/*
 * A cluster that runs by itself: messages between brokers and clients, against rows that SQLite
 * inserts in one transaction. Three brokers, 100 partitions with three replicas, 1000 records of
 * 1 KB a second, in memory, with segments of 1 MiB and 16 MiB kept. The goal is two rows a message.
 * And an hour without load, against as many rows as SQLite inserts in a tenth of a second or so.
 */
#include "tests/bench/support_pairs.h"
#include "tests/bench/support_sqlite.h"

#include <stdio.h>

enum { MESSAGES = 60000, ROWS_OF_A_MESSAGE = 2, ROWS_OF_AN_IDLE_HOUR = 100000, SQL_SIZE = 256 };

static const char begin[] =
    "SELECT open_cluster(':memory:'), configure('replication', 'timed'),"
    " configure('segment.bytes', 1048576), configure('retention.bytes', 16777216);"
    "SELECT create_topic('t', 100, 3)";

struct timed_run {
    sqlite3 *db;
    int64_t units;
    sqlite3_stmt *messages;
};

static int64_t messages_so_far(const struct timed_run *run)
{
    int64_t count;

    bench_require(sqlite3_step(run->messages) == SQLITE_ROW, "hw_links", sqlite3_errmsg(run->db));
    count = sqlite3_column_int64(run->messages, 0);
    (void)sqlite3_reset(run->messages);
    return count;
}

static void let_time_pass(void *context)
{
    const struct timed_run *run = context;
    int64_t end = messages_so_far(run) + run->units;

    while (messages_so_far(run) < end) {
        bench_sql(run->db, "SELECT tick(500)");
    }
    bench_sql(run->db, "SELECT retention()");
}

static void let_an_hour_pass(void *context)
{
    const struct timed_run *run = context;

    bench_sql(run->db, "SELECT tick(3600000)");
}

static void make_table(void *context)
{
    const struct timed_run *run = context;

    bench_sql(run->db, "DROP TABLE IF EXISTS r; CREATE TABLE r(value)");
}

static void insert_rows(void *context)
{
    const struct timed_run *run = context;
    sqlite3_stmt *insert =
        bench_sql_prepare(run->db, "INSERT INTO r VALUES (printf('%.*c', 100, 'v'))");

    bench_sql(run->db, "BEGIN");
    for (int64_t i = 0; i < run->units; i++) {
        (void)bench_sql_run(insert);
    }
    bench_sql(run->db, "COMMIT");
    (void)sqlite3_finalize(insert);
}

int main(void)
{
    struct timed_run ours = {.db = bench_sql_open(NULL), .units = bench_scaled(MESSAGES)};
    struct timed_run idle = {.db = bench_sql_open(NULL)};
    struct timed_run peer = {.db = bench_sql_open(NULL)};
    struct bench_side rows = {.prepare = make_table, .run = insert_rows, .context = &peer};

    bench_sql_load(ours.db, NULL);
    bench_sql(ours.db, begin);
    bench_sql(ours.db, "SELECT load('t', '{\"records_per_s\":1000,\"size\":1000,\"acks\":1,"
                       "\"in_flight\":1000}')");
    ours.messages = bench_sql_prepare(ours.db, "SELECT coalesce(sum(messages), 0) FROM hw_links");
    peer.units = ours.units * ROWS_OF_A_MESSAGE;
    bench_compare("timed, 100 partitions, 1000 records/s, 2 rows a message", 1, ours.units,
                  "message", (struct bench_side){.run = let_time_pass, .context = &ours}, rows);
    bench_sql_load(idle.db, NULL);
    bench_sql(idle.db, begin);
    peer.units = ROWS_OF_AN_IDLE_HOUR;
    bench_compare("timed, an hour of 100 partitions without load, 100,000 rows", 1, 1, "hour",
                  (struct bench_side){.run = let_an_hour_pass, .context = &idle}, rows);
    (void)sqlite3_finalize(ours.messages);
    (void)sqlite3_close(ours.db);
    (void)sqlite3_close(idle.db);
    (void)sqlite3_close(peer.db);
    return 0;
}
