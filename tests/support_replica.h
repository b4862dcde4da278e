/* SPDX-License-Identifier: MIT */
/*
 * One partition without a cluster round it: replicas with logs on a memory store, told their roles
 * by the test, with messages that the test makes or that hw_exchange_... carries. Time stands
 * where t->now_ms says.
 *
 *     log_has(t, 1, "0-1@0 2-7@3");                batches with their leader epochs
 *     lead(t, 1, 10, "[1,2,3]", "[1,2]");          leader epoch 10
 *     fetch_by(t, 2, 5);                           broker 2 fetches from the leader at offset 5
 *     expect_answer(t, "hw 0 start 0 records 2-7");
 *
 * Brokers 1 to 5 are registered, with broker epochs 1 to 5; broker 1 has an empty log from the
 * beginning, others get theirs with log_has(). Settings and log configuration are Kafka's defaults.
 * Every verb asserts the invariants of the replicas; the tear-down fails on a leak.
 */
#ifndef SUPPORT_REPLICA_H
#define SUPPORT_REPLICA_H

#include "core/replication/exchange.h"
#include "tests/support_faulty_store.h"
#include "tests/support_heap.h"
#include "tests/support_partition_record.h"

struct test_replicas {
    struct test_heap heap;
    struct hw_store *memory;
    struct hw_faults faults; /* Of the store, which is `memory` behind a failing one. */
    struct hw_store *store;
    struct hw_controller controller;
    struct hw_links links;
    struct hw_settings settings;
    struct hw_log_config log_config;
    struct hw_partition partition; /* Its record is what the last lead() or follow() said. */
    hw_time_ms_t now_ms;
    bool changed; /* Of the last lead(): it did not lead before; follow(): the epoch rose. */
    struct hw_fetch_response response;          /* The last answer. */
    struct hw_log_append_info info;             /* Of the last append that worked. */
    struct hw_alter_partition_request proposal; /* The last one sent. */
    int64_t records;                            /* Of the last answered() or poll(). */
    struct hw_error error;                      /* Of the last verb, */
    enum hw_status status;                      /* which did this. */
};

/* For cmocka. */
int test_replicas_setup(void **state);
int test_replicas_teardown(void **state);

/* Cut a link that is not. */
void test_replicas_cut(struct test_replicas *t, hw_broker_id_t a, hw_broker_id_t b);

#define test_here __FILE__, __LINE__

/* ----------------------------------------------------------------------------- logs and roles */

/* The replica on `broker`, made with an empty log if there is none yet. */
struct hw_replica *test_replicas_get(struct test_replicas *t, hw_broker_id_t broker);

/* The arguments of a step now. */
struct hw_step test_replicas_step(struct test_replicas *t);

#define replica_of(t, broker) (test_replicas_get((t), (broker)))
#define log_of(t, broker)     (test_replicas_get((t), (broker))->log)

/* Close the log of `broker` as a crash does, and open it with this checkpointed high watermark. */
void test_replicas_reopen(struct test_replicas *t, hw_broker_id_t broker, hw_offset_t checkpoint);

/* Append batches "first-last@epoch" or "offset@epoch" as a follower does, one batch each. */
void test_replicas_log_has(struct test_replicas *t, hw_broker_id_t broker, const char *batches);
#define log_has(t, broker, batches) test_replicas_log_has((t), (broker), (batches))

/* Set the high watermark as a follower does. */
#define knows_high_watermark(t, broker, offset)                                                    \
    ((void)hw_log_update_high_watermark(log_of((t), (broker)), (offset)))

/* Tell a broker its role: by a record with these epochs, or with the next partition epoch. */
void test_replicas_lead(struct test_replicas *t, hw_broker_id_t broker, hw_epoch_t leader_epoch,
                        int32_t partition_epoch, const char *replicas, const char *isr);
#define lead(t, broker, leader_epoch, replicas, isr)                                               \
    test_replicas_lead((t), (broker), (leader_epoch), (t)->partition.record.partition_epoch + 1,   \
                       (replicas), (isr))
#define lead_at(t, broker, leader_epoch, partition_epoch, replicas, isr)                           \
    test_replicas_lead((t), (broker), (leader_epoch), (partition_epoch), (replicas), (isr))
void test_replicas_follow(struct test_replicas *t, hw_broker_id_t broker, hw_broker_id_t leader,
                          hw_epoch_t leader_epoch, int32_t partition_epoch);
#define follow(t, broker, leader, leader_epoch)                                                    \
    test_replicas_follow((t), (broker), (leader), (leader_epoch),                                  \
                         (t)->partition.record.partition_epoch + 1)
#define follow_at(t, broker, leader, leader_epoch, partition_epoch)                                \
    test_replicas_follow((t), (broker), (leader), (leader_epoch), (partition_epoch))

/* ------------------------------------------------------------------------------------- leading */

/* Produce one batch of `count` records to broker 1, without keys. acks is 1 but where it is given.
 */
void test_replicas_append(struct test_replicas *t, int count, int32_t acks);
#define append(t, count)            test_replicas_append((t), (count), 1)
#define append_acks(t, count, acks) test_replicas_append((t), (count), (acks))

/* Produce these bytes, which are not checked before. */
void test_replicas_append_bytes(struct test_replicas *t, struct hw_buffer *bytes);

/* One batch of `count` records with the test's time, base offset 0. */
void test_replicas_build(const struct test_replicas *t, struct hw_buffer *bytes, int count);

/* A fetch that broker 2, 3, ... would send now: the leader's epoch as broker 1 knows it, its own
 * broker epoch, no lastFetchedEpoch, no limits. */
struct hw_fetch_request test_replicas_request(struct test_replicas *t, hw_broker_id_t follower,
                                              hw_offset_t offset);
void test_replicas_send(struct test_replicas *t, const struct hw_fetch_request *request,
                        enum hw_fetch_attempt attempt);
#define fetch_request(t, follower, offset) test_replicas_request((t), (follower), (offset))
#define send(t, request)                   test_replicas_send((t), (request), HW_FETCH_AT_ONCE)
void test_replicas_fetch_by(struct test_replicas *t, hw_broker_id_t follower, hw_offset_t offset,
                            hw_epoch_t last_fetched_epoch);
#define fetch_by(t, follower, offset)                                                              \
    test_replicas_fetch_by((t), (follower), (offset), HW_EPOCH_NONE)
#define fetch_after_epoch(t, follower, epoch, offset)                                              \
    test_replicas_fetch_by((t), (follower), (offset), (epoch))

/* What broker 1 answered: "hw 2 start 0 records 0-1 2", "... records none",
 * "... diverging (0,2)", or the name of an error. */
#define expect_answer(t, text) test_replicas_expect_answer((t), (text), test_here)
void test_replicas_expect_answer(struct test_replicas *t, const char *text, const char *file,
                                 int line);

/* What broker 1 knows of `follower`: "end 10 start 1 caught up 5000", "... caught up never". */
#define expect_known(t, follower, text)                                                            \
    test_replicas_expect_known((t), (follower), (text), test_here)
void test_replicas_expect_known(struct test_replicas *t, hw_broker_id_t follower, const char *text,
                                const char *file, int line);

/* Committed and maximal ISR of broker 1. */
#define expect_isr(t, committed, maximal)                                                          \
    test_replicas_expect_isr((t), (committed), (maximal), test_here)
void test_replicas_expect_isr(struct test_replicas *t, const char *committed, const char *maximal,
                              const char *file, int line);

/* Broker 1 sends a proposal with this ISR, or none (NULL). It is kept in t->proposal. */
#define expect_proposal(t, isr) test_replicas_expect_proposal((t), (isr), test_here)
void test_replicas_expect_proposal(struct test_replicas *t, const char *isr, const char *file,
                                   int line);

/* The controller answers t->proposal: it is accepted with this partition epoch, or refused. */
void test_replicas_accept(struct test_replicas *t, int32_t partition_epoch);
void test_replicas_refuse(struct test_replicas *t, enum hw_kafka_error error);
#define accept_proposal(t, partition_epoch) test_replicas_accept((t), (partition_epoch))
#define refuse_proposal(t, kafka)           test_replicas_refuse((t), HW_KAFKA_##kafka)

/* ----------------------------------------------------------------------------------- following */

/* What a leader answers the next request of a follower. */
struct test_answer {
    enum hw_kafka_error error;
    hw_offset_t high_watermark;
    hw_offset_t log_start;
    bool diverging; /* With these two. */
    hw_epoch_t epoch;
    hw_offset_t end;
    const char *batches;
    size_t broken_byte; /* Not 0: this byte of the batches is wrong. */
};
#define answered(t, broker, ...)                                                                   \
    test_replicas_answered((t), (broker), (struct test_answer){__VA_ARGS__})
void test_replicas_answered(struct test_replicas *t, hw_broker_id_t broker,
                            struct test_answer answer);

/* One fetch of a follower from the leader that it knows, carried over. */
void test_replicas_poll(struct test_replicas *t, hw_broker_id_t broker);
#define poll(t, broker) test_replicas_poll((t), (broker))

/* "fetching at 140 after epoch 4", "truncating at ...", "failed at ...", and " delayed to 1000"
 * where it is. */
#define expect_fetch(t, broker, text) test_replicas_expect_fetch((t), (broker), (text), test_here)
void test_replicas_expect_fetch(struct test_replicas *t, hw_broker_id_t broker, const char *text,
                                const char *file, int line);

/* --------------------------------------------------------------------------------- any replica */

#define expect_log(t, broker, start, high_watermark, end)                                          \
    test_replicas_expect_log((t), (broker), (start), (high_watermark), (end), test_here)
void test_replicas_expect_log(struct test_replicas *t, hw_broker_id_t broker, hw_offset_t start,
                              hw_offset_t high_watermark, hw_offset_t end, const char *file,
                              int line);

/* Batches as log_has() takes them; epochs as "0:0 2:3". */
#define expect_batches(t, broker, text)                                                            \
    test_replicas_expect_batches((t), (broker), (text), test_here)
void test_replicas_expect_batches(struct test_replicas *t, hw_broker_id_t broker, const char *text,
                                  const char *file, int line);
#define expect_epochs(t, broker, text) test_replicas_expect_epochs((t), (broker), (text), test_here)
void test_replicas_expect_epochs(struct test_replicas *t, hw_broker_id_t broker, const char *text,
                                 const char *file, int line);

/* The last verb worked, or was refused with this Kafka error. */
#define expect_done(t) test_replicas_expect_status((t), HW_OK, HW_KAFKA_NONE, test_here)
#define expect_refused(t, kafka)                                                                   \
    test_replicas_expect_status((t), HW_REFUSED, HW_KAFKA_##kafka, test_here)
void test_replicas_expect_status(struct test_replicas *t, enum hw_status status,
                                 enum hw_kafka_error kafka, const char *file, int line);

#endif /* SUPPORT_REPLICA_H */
