/* SPDX-License-Identifier: MIT */
/*
 * Partitions of one topic, "t", that broker 1 leads, for tests of what they share: batches of an
 * exact size, rounds, and log ends of all of them at a glance.
 */
#ifndef SUPPORT_LIMITS_H
#define SUPPORT_LIMITS_H

#include "tests/support_topics.h"

#define must(t, call) test_expect_status((call), HW_OK, &(t)->error, #call, __FILE__, __LINE__)

/* For cmocka: a cluster of brokers 1 to 3. The tear-down fails on a leak. */
int test_limits_set_up(void **state);
int test_limits_tear_down(void **state);

/* Set a config of the cluster, or of topic "t". */
void test_limits_configure(struct test_topics *t, const char *topic, const char *name,
                           const char *value);
#define configure(t, name, value)       test_limits_configure((t), NULL, (name), (value))
#define configure_topic(t, name, value) test_limits_configure((t), "t", (name), (value))

/* Topic "t" of some partitions on brokers 1 to `replicas`, led by broker 1, all caught up. */
void test_limits_create(struct test_topics *t, int64_t partitions, int64_t replicas);
#define create(t, partitions, replicas) test_limits_create((t), (partitions), (replicas))

/* One record, with acks=1, whose batch has `size` bytes: 134 to 8191. */
void test_limits_produce(struct test_topics *t, int64_t partition, int32_t size);
#define produce(t, partition, size) test_limits_produce((t), (partition), (size))

/* One round over all partitions of "t"; then every invariant is checked. */
void test_limits_fetch_round(struct test_topics *t);
#define fetch_round(t) test_limits_fetch_round(t)

void test_limits_tick(struct test_topics *t, int64_t ms);
#define tick(t, ms) test_limits_tick((t), (ms))

/* Log ends of all partitions on `broker`: "1 0 2"; -1 where it has none. */
void test_limits_expect_ends(struct test_topics *t, hw_broker_id_t broker, const char *expected,
                             const char *file, int line);
#define expect_ends(t, broker, expected)                                                           \
    test_limits_expect_ends((t), (broker), (expected), __FILE__, __LINE__)

#endif /* SUPPORT_LIMITS_H */
