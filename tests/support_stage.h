/* SPDX-License-Identifier: MIT */
/*
 * Two stages of a cluster with two brokers, topic "orders" of one partition and topic "wide" of
 * four, each with two replicas; and verbs for the first stage. Verbs report into f->error:
 *
 *     ok(f, stage_add(f, "a"));       the call must work, or the test fails at this line
 *     expect_orders(f, "a@0");        what the leader of orders-0 holds
 */
#ifndef SUPPORT_STAGE_H
#define SUPPORT_STAGE_H

#include "core/stage/stage.h"
#include "tests/support_topics.h"

struct test_stage {
    struct test_topics topics;
    struct hw_stage *stage;
    struct hw_stage *other;
    struct hw_produced produced; /* Of the last verb that adds or produces. */
    struct hw_error error;       /* Of the last verb. */
};

/* cmocka set-up and tear-down. The tear-down fails on a leak. */
int test_stage_setup(void **state);
int test_stage_teardown(void **state);

/* The call, which reports into f->error, must work. */
#define ok(f, call) test_expect_status((call), HW_OK, &(f)->error, #call, __FILE__, __LINE__)

/* A produce of text with the default acks and the cluster's time; a NULL key is null. */
struct hw_produce test_produce_of(const char *topic, int64_t partition, const char *key,
                                  const char *value);

/* Add a row: of this value to orders-0, with these acks; of "v" anywhere; of `size` bytes. */
enum hw_status stage_add(struct test_stage *f, const char *value);
enum hw_status stage_add_acks(struct test_stage *f, const char *value, int64_t acks);
enum hw_status stage_add_to(struct test_stage *f, const char *topic, int64_t partition,
                            const char *key);
enum hw_status stage_add_big(struct test_stage *f, const char *topic, int64_t partition,
                             size_t size);

/* Add a row to the other stage, or produce one at once. */
enum hw_status other_add_to(struct test_stage *f, const char *topic, int64_t partition);
enum hw_status produce_now(struct test_stage *f, const char *topic, int64_t partition);

/* Prepare and commit the first stage. */
void stage_commit(struct test_stage *f);

void configure(struct test_stage *f, const char *name, const char *value, const char *topic);

/* "value@offset ..." of all records that the partition's leader holds. */
#define expect_log(f, topic, partition, text)                                                      \
    test_stage_expect_log((f), (topic), (partition), (text), __FILE__, __LINE__)
#define expect_orders(f, text) expect_log((f), "orders", 0, (text))
void test_stage_expect_log(struct test_stage *f, const char *topic, int32_t partition,
                           const char *expected, const char *file, int line);

/* "acks:first-last:status ..." of all rows of hw_acks. */
#define expect_acks(f, text) test_stage_expect_acks((f), (text), __FILE__, __LINE__)
void test_stage_expect_acks(struct test_stage *f, const char *expected, const char *file, int line);

/* Batches in the leader's log, and the size of the largest. */
int test_stage_count_batches(struct test_stage *f, const char *topic, int32_t partition,
                             size_t *largest);

#endif /* SUPPORT_STAGE_H */
