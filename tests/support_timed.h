/* SPDX-License-Identifier: MIT */
/*
 * Stories of a cluster that runs by itself: a test cluster (support_cluster.h) whose links take
 * time. Broker 1 leads orders-0, brokers 2 and 3 follow.
 *
 *     timed_begin(t, 10000, 40000);   links of 10 and 40 ms
 *     tick_to(t, 2003);
 *     produce(t, "x");
 *     tick_to(t, 6000);
 *     when_committed(t, 1)            2083
 */
#ifndef SUPPORT_TIMED_H
#define SUPPORT_TIMED_H

#include "core/cluster/link_times.h"
#include "core/cluster/load.h"
#include "tests/support_cluster.h"

/* Both ways of a link; 0 bytes_per_s: no limit. */
void link_both(struct test_cluster *t, hw_broker_id_t a, hw_broker_id_t b, int64_t latency_us,
               int64_t bytes_per_s);

/* From now on the cluster runs by itself; this far from the leader are its two followers. */
void timed_begin(struct test_cluster *t, int64_t to_second_us, int64_t to_third_us);

void tick_to(struct test_cluster *t, hw_time_ms_t time_ms);

/* When the high watermark of `broker` came to cover the last record; -1: not yet. */
hw_time_ms_t when_committed(struct test_cluster *t, hw_broker_id_t broker);

/* The first time from `from_ms` on at which the ISR became so; -1: not yet. */
hw_time_ms_t when_isr_is(struct test_cluster *t, const char *isr, hw_time_ms_t from_ms);

/* Load options for orders that wait for no answer: what is measured is the time to the commit. */
struct hw_load_options timed_load_options(double start_ms, double every_ms, hw_time_ms_t until_ms,
                                          int64_t size_bytes);

/* Run such a load, the first of the cluster, until all its records are answered. */
void timed_load(struct test_cluster *t, double start_ms, double every_ms, hw_time_ms_t until_ms,
                int64_t size_bytes, struct hw_load_view *view);

/* Start a load. */
int64_t start_load(struct test_cluster *t, const struct hw_load_options *options);

/* The load at place `index`. */
struct hw_load_view load_at(const struct test_cluster *t, size_t index);

void expect_near(double actual, double expected, double within);

#endif /* SUPPORT_TIMED_H */
