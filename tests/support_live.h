/* SPDX-License-Identifier: MIT */
/*
 * Databases with both libraries loaded, and a cluster for them: librdkafka's own mock, in this
 * process. It has topics, produce and fetch; it has no transactions of substance, no retention and no
 * administrative requests: tests/live.sh tries those on real brokers.
 */
#ifndef SUPPORT_LIVE_H
#define SUPPORT_LIVE_H

#include "tests/support_sql.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

struct mock {
    rd_kafka_t *rk;
    rd_kafka_mock_cluster_t *cluster;
};

/* Stops the program where there is no mock to be had. */
void mock_start(struct mock *mock, int brokers);
void mock_stop(struct mock *mock);
void mock_topic(struct mock *mock, const char *topic, int partitions);

/* highwater.so and highwater_live.so; the second one alone. */
sqlite3 *live_open(const char *path);
sqlite3 *live_open_alone(const char *path);

/* live_connect('mock', ...) with more properties: "" or ", \"name\":\"value\"". */
void live_connect_mock(sqlite3 *db, const struct mock *mock, const char *more);

/* How many threads and sockets this process has. */
int live_count_threads(void);
int live_count_sockets(void);

/* Milliseconds of a clock that only grows. */
long long live_now_ms(void);

#endif /* SUPPORT_LIVE_H */
