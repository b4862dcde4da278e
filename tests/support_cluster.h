/* SPDX-License-Identifier: MIT */
/*
 * A cluster for stories: brokers on a memory store, moved by verbs. After every verb all invariants
 * are checked (0.6 of the rules): those of each part, and that any two replicas hold the same
 * records below both their high watermarks, that a leader's high watermark does not fall within its
 * epoch, and that no record acknowledged with acks=all is missing on a leader.
 *
 *     produce(t, "a");                      acks=all on orders-0; expect_offset(...) for the result
 *     fetch(t, 2);                          one fetch of broker 2
 *     expect_log_end(t, 2, 1);
 *
 * A failing verb or expectation says in words what was wrong and names the line of the story. Verbs
 * work on partition 0 of topic "orders" with replicas 1 to N, N brokers.
 */
#ifndef SUPPORT_CLUSTER_H
#define SUPPORT_CLUSTER_H

#include "core/cluster/cluster_internal.h"
#include "tests/support_heap.h"

enum { TEST_RECORDS_MAX = 4096 };

struct test_cluster {
    struct test_heap heap;
    struct hw_store *store;
    struct hw_cluster *cluster;
    /* Set by a story in which records below a high watermark may be lost by the rules: unclean
     * elections, power loss, the older variants. */
    bool records_may_be_lost;
    /* Set by a walk that itself remembers what was acknowledged, and by whose rules. */
    bool acks_are_remembered;
    /* Below it records have been deleted. A crash brings those back that were deleted since the
     * last checkpoint of the log start (R7.17), and they need not be the same: a follower compares
     * nothing below its leader's log start (R5.3). Set by a story that has both. */
    hw_offset_t deleted_end;
    hw_epoch_t seen_leader_epoch;
    hw_broker_id_t seen_leader;
    hw_offset_t seen_high_watermark;
    struct hw_produced produced; /* Of the last produce. */
    struct hw_error error;       /* Of the last verb. */
    enum hw_status status;
    int64_t result; /* What the last verb returned. */
};

/* cmocka set-up and tear-down: 3 brokers, topic "orders" with 3 replicas, variant kafka. The
 * tear-down fails on a leak. */
int test_cluster_setup(void **state);
int test_cluster_teardown(void **state);

/* A new cluster instead: `brokers` brokers, "orders" on all of them, configs name, value, ... NULL.
 */
void test_cluster_renew(struct test_cluster *t, int32_t brokers, const char *protocol,
                        const char *const *topic_configs);

/* Checks that every verb runs at its end. */
void test_check(struct test_cluster *t, const char *file, int line);

void test_cluster_produce(struct test_cluster *t, const char *value, int64_t acks, const char *file,
                          int line);
void test_refused(struct test_cluster *t, enum hw_kafka_error expected, const char *file, int line);
void test_done(struct test_cluster *t, const char *file, int line);
struct hw_replica *test_replica(struct test_cluster *t, hw_broker_id_t broker, const char *file,
                                int line);
void test_equal(int64_t actual, int64_t expected, const char *what, hw_broker_id_t broker,
                const char *file, int line);
void test_isr(struct test_cluster *t, const char *expected, const char *file, int line);
void test_epochs(struct test_cluster *t, hw_broker_id_t broker, const char *expected,
                 const char *file, int line);
void test_values(struct test_cluster *t, hw_broker_id_t broker, const char *expected,
                 const char *file, int line);
void test_ack(struct test_cluster *t, int64_t id, const char *expected, const char *file, int line);

/* ---------------------------------------------------------------------------------------- verbs */

#define TEST_VERB(t, call) ((t)->status = (call), test_check((t), __FILE__, __LINE__))

#define produce(t, value) (test_cluster_produce((t), (value), HW_ACKS_ALL, __FILE__, __LINE__))
#define produce_acks(t, value, acks)                                                               \
    (test_cluster_produce((t), (value), (acks), __FILE__, __LINE__))
#define fetch(t, broker)                                                                           \
    TEST_VERB((t), hw_cluster_fetch((t)->cluster, "orders", 0, (broker), &(t)->result, &(t)->error))
#define fetch_round(t)                                                                             \
    TEST_VERB((t), hw_cluster_fetch_round((t)->cluster, "orders", 0, &(t)->result, &(t)->error))
#define replicate(t)                                                                               \
    TEST_VERB((t), hw_cluster_replicate((t)->cluster, NULL, -1, &(t)->result, &(t)->error))
#define tick(t, ms) TEST_VERB((t), hw_cluster_tick((t)->cluster, (ms), &(t)->result, &(t)->error))
#define refresh_isr(t)                                                                             \
    TEST_VERB((t), hw_cluster_refresh_isr((t)->cluster, "orders", 0, &(t)->result, &(t)->error))
#define remove_from_isr(t, broker)                                                                 \
    TEST_VERB((t), hw_cluster_remove_from_isr((t)->cluster, "orders", 0, (broker),                 \
                                              &(struct hw_broker_list){0}, &(t)->error))
#define promote(t, broker)         test_promote((t), (broker), false, __FILE__, __LINE__)
#define promote_unclean(t, broker) test_promote((t), (broker), true, __FILE__, __LINE__)
#define rejoin(t, broker)                                                                          \
    TEST_VERB((t),                                                                                 \
              hw_cluster_rejoin((t)->cluster, "orders", 0, (broker), &(t)->result, &(t)->error))
#define crash(t, broker)                                                                           \
    TEST_VERB((t), hw_cluster_crash((t)->cluster, (broker), false, &(const char *){0}, &(t)->error))
#define crash_power(t, broker)                                                                     \
    TEST_VERB((t), hw_cluster_crash((t)->cluster, (broker), true, &(const char *){0}, &(t)->error))
#define restart(t, broker)                                                                         \
    TEST_VERB((t), hw_cluster_restart((t)->cluster, (broker), &(const char *){0}, &(t)->error))
#define cut(t, a, b)                                                                               \
    TEST_VERB((t), hw_cluster_cut((t)->cluster, (a), (b), &(t)->result, &(t)->error))
#define heal(t, a, b)                                                                              \
    TEST_VERB((t), hw_cluster_heal((t)->cluster, (a), (b), &(t)->result, &(t)->error))
#define heal_all(t) TEST_VERB((t), hw_cluster_heal_all((t)->cluster, &(t)->result, &(t)->error))
#define elect(t, how)                                                                              \
    TEST_VERB((t), hw_cluster_elect((t)->cluster, "orders", 0, (how), &(t)->result, &(t)->error))
#define pause_broker(t, broker, ms)                                                                \
    TEST_VERB((t), hw_cluster_pause((t)->cluster, (broker), (ms), &(t)->result, &(t)->error))
#define shutdown_broker(t, broker)                                                                 \
    TEST_VERB((t),                                                                                 \
              hw_cluster_shutdown_broker((t)->cluster, (broker), &(const char *){0}, &(t)->error))
#define delete_before(t, before)                                                                   \
    TEST_VERB((t), hw_cluster_delete_records((t)->cluster, "orders", 0, (before), &(t)->result,    \
                                             &(t)->error))
#define roll(t)                                                                                    \
    TEST_VERB((t), hw_cluster_roll((t)->cluster, "orders", 0, &(t)->result, &(t)->error))
#define retention(t) TEST_VERB((t), hw_cluster_retention((t)->cluster, &(t)->result, &(t)->error))
#define flush_all(t) TEST_VERB((t), hw_cluster_flush((t)->cluster, NULL, &(t)->result, &(t)->error))
#define configure(t, name, value)                                                                  \
    TEST_VERB((t), hw_cluster_configure((t)->cluster, (name), (value), NULL, NULL, &(t)->error))
#define configure_topic(t, name, value)                                                            \
    TEST_VERB((t), hw_cluster_configure((t)->cluster, (name), (value), "orders", NULL, &(t)->error))

#define list_offset(t, what, timestamp) TEST_VERB((t), test_list_offsets((t), (what), (timestamp)))

void test_promote(struct test_cluster *t, hw_broker_id_t broker, bool unclean, const char *file,
                  int line);

/* What the leader answers a consumer that says no more; its offset is in t->result. */
enum hw_status test_list_offsets(struct test_cluster *t, enum hw_list_offsets what,
                                 hw_time_ms_t timestamp);

/* --------------------------------------------------------------------------------- expectations */

/* The last verb worked, or was refused with this Kafka error. */
#define expect_done(t)                test_done((t), __FILE__, __LINE__)
#define expect_refused(t, kafka_name) test_refused((t), HW_KAFKA_##kafka_name, __FILE__, __LINE__)

#define TEST_FACT(t, broker, what, fact, expected)                                                 \
    test_equal((int64_t)(fact), (expected), (what), (broker), __FILE__, __LINE__)
#define expect_result(t, expected) TEST_FACT((t), -1, "result", (t)->result, (expected))
#define expect_offset(t, expected) TEST_FACT((t), -1, "offset", (t)->produced.offset, (expected))
#define expect_log_end(t, broker, expected)                                                        \
    TEST_FACT((t), (broker), "log end",                                                            \
              hw_log_end(test_replica((t), (broker), __FILE__, __LINE__)->log), (expected))
#define expect_log_start(t, broker, expected)                                                      \
    TEST_FACT((t), (broker), "log start",                                                          \
              hw_log_start(test_replica((t), (broker), __FILE__, __LINE__)->log), (expected))
#define expect_high_watermark(t, broker, expected)                                                 \
    TEST_FACT(                                                                                     \
        (t), (broker), "high watermark",                                                           \
        (t)->cluster->variant->high_watermark(&(t)->cluster->topics[0]->partitions[0],             \
                                              test_replica((t), (broker), __FILE__, __LINE__)),    \
        (expected))
#define expect_leader(t, expected)                                                                 \
    TEST_FACT((t), -1, "leader", (t)->cluster->topics[0]->partitions[0].record.leader, (expected))
#define expect_leader_epoch(t, expected)                                                           \
    TEST_FACT((t), -1, "leader epoch", (t)->cluster->topics[0]->partitions[0].record.leader_epoch, \
              (expected))
#define expect_isr(t, text) test_isr((t), (text), __FILE__, __LINE__)
/* "0:0,1:2": epoch and start offset of each entry. */
#define expect_epochs(t, broker, text) test_epochs((t), (broker), (text), __FILE__, __LINE__)
/* "a@0 b@1": value and leader epoch of every record in the broker's log. */
#define expect_values(t, broker, text) test_values((t), (broker), (text), __FILE__, __LINE__)
/* Status of a produce, or the name of its error: "pending", "acknowledged", "REQUEST_TIMED_OUT". */
#define expect_ack(t, id, text) test_ack((t), (id), (text), __FILE__, __LINE__)

#endif /* SUPPORT_CLUSTER_H */
