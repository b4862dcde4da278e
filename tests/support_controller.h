/* SPDX-License-Identifier: MIT */
/*
 * A controller with brokers 0 to 5 and up to three partitions, and events in words: an event
 * reaches every partition, and every record is checked after it.
 *
 *     create(t, "[1,2,3]");
 *     fence(t, 1);
 *     expect_partition(t, 0, "leader 2 epochs 1/1 replicas [1,2,3] isr [2,3]");
 *
 * min.insync.replicas is 1 and unclean elections are off; the ELR is off; the controller elects by
 * itself, as Kafka's does.
 */
#ifndef SUPPORT_CONTROLLER_H
#define SUPPORT_CONTROLLER_H

#include "core/replication/controller.h"
#include "support_partition_record.h"

enum { TEST_BROKERS = 6, TEST_PARTITIONS_MAX = 3 };

struct test_controller {
    struct hw_controller controller;
    struct hw_settings settings;
    struct hw_partition_record partitions[TEST_PARTITIONS_MAX];
    int count;
    struct hw_alter_partition_response response; /* The last answer to a proposal. */
    struct hw_error error;                       /* Of the last call that failed. */
};

/* cmocka set-up; *state is the controller. There is nothing to tear down. */
int test_controller_set_up(void **state);

/* A new partition; the first has index 0. */
void test_controller_create(struct test_controller *t, const char *replicas);

/* One event of a broker: the registration changes, then each partition. */
void test_controller_fence(struct test_controller *t, hw_broker_id_t id);
void test_controller_unfence(struct test_controller *t, hw_broker_id_t id);
void test_controller_shut_down(struct test_controller *t, hw_broker_id_t id);
void test_controller_restart(struct test_controller *t, hw_broker_id_t id);

/* A proposal that the leader of a partition would make now, with everything as it should be. */
struct hw_alter_partition_request test_controller_proposal_of(const struct test_controller *t,
                                                              int partition, const char *isr);

/* Send a proposal; the answer is kept in t->response. An error must leave the record alone. */
enum hw_kafka_error test_controller_send_proposal(struct test_controller *t, int partition,
                                                  const struct hw_alter_partition_request *request);
enum hw_kafka_error test_controller_propose(struct test_controller *t, int partition,
                                            const char *isr);

enum hw_kafka_error test_controller_elect(struct test_controller *t, int partition,
                                          enum hw_election election);

/* Returns HW_KAFKA_NONE or the error that it was refused with, which must leave the record alone.
 */
enum hw_kafka_error test_controller_promote(struct test_controller *t, int partition,
                                            hw_broker_id_t id, const char *dead, bool unclean);
enum hw_kafka_error test_controller_reassign(struct test_controller *t, int partition,
                                             const char *target);
enum hw_kafka_error test_controller_cancel_reassignment(struct test_controller *t, int partition);

/* The verbs, short in the tests and long for the linker: all supports are linked together. */
#define create              test_controller_create
#define fence               test_controller_fence
#define unfence             test_controller_unfence
#define shut_down           test_controller_shut_down
#define restart             test_controller_restart
#define proposal_of         test_controller_proposal_of
#define send_proposal       test_controller_send_proposal
#define propose             test_controller_propose
#define elect               test_controller_elect
#define promote             test_controller_promote
#define reassign            test_controller_reassign
#define cancel_reassignment test_controller_cancel_reassignment

#define expect_partition(t, partition, text)                                                       \
    test_expect_partition_record(&(t)->partitions[partition], (text), __FILE__, __LINE__)

#endif /* SUPPORT_CONTROLLER_H */
