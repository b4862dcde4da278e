/* SPDX-License-Identifier: MIT */
/*
 * What a protocol leaves behind when another one takes its place: stories, and random walks that
 * change the protocol between any two steps. HW_SEED and HW_STEPS in the environment choose another
 * walk.
 */
#include "tests/support_topics.h"
#include "tests/support_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support_test.h"

enum { STEPS = 400, WALKS = 60, QUICK_WALKS = 4 };

/* Case: F-05 */
TEST(what_the_model_copied_is_there_for_the_next_protocol, struct test_cluster *t)
{
    test_cluster_renew(t, 2, "minikafka", NULL);
    produce(t, "a");
    produce(t, "b");
    produce(t, "c");
    fetch_round(t);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    configure(t, "protocol", "kafka");
    assert_int_equal(t->cluster->topics[0]->partitions[0].model.high_watermark, 0);
    configure(t, "replica.fetch.max.bytes", "1");
    fetch(t, 2);
    expect_done(t);
    expect_log_end(t, 2, 3);
    crash(t, 1);
    promote(t, 2);
    expect_done(t);
    expect_values(t, 2, "a@0 b@0 c@0");
    expect_high_watermark(t, 2, 3);
}

/* A follower that waits for an answer to a question of the old rules asks again. Case: F-05 */
TEST(a_request_that_waits_is_none_of_the_next_protocol, struct test_cluster *t)
{
    test_cluster_renew(t, 2, "hw-truncation", NULL);
    fetch_round(t);
    assert_true(
        hw_partition_find(&t->cluster->topics[0]->partitions[0], 2)->fetch.is_request_waiting);
    configure(t, "protocol", "kafka");
    assert_false(
        hw_partition_find(&t->cluster->topics[0]->partitions[0], 2)->fetch.is_request_waiting);
    produce(t, "a");
    fetch_round(t);
    expect_log_end(t, 2, 1);
    expect_high_watermark(t, 1, 1);
}

/* A tail that today's follower would have cut with its first fetch is nothing that the model keeps.
 * Case: F-05 */
TEST(the_model_begins_with_logs_that_agree, struct test_cluster *t)
{
    t->records_may_be_lost = true;
    produce_acks(t, "a", 1);
    replicate(t);
    produce_acks(t, "at-risk", 1);
    promote(t, 2);
    produce_acks(t, "b", 1);
    expect_values(t, 1, "a@0 at-risk@0");
    configure(t, "protocol", "minikafka");
    expect_values(t, 1, "a@0");
    fetch_round(t);
    expect_values(t, 1, "a@0 b@1");
    expect_high_watermark(t, 2, 2);
}

/* The model has not asked the controller: what a follower of it does is not known to today's
 * leader, and who lacks what is visible does not lead. Case: F-05 */
TEST(who_lacks_what_the_model_showed_leaves_the_isr, struct test_cluster *t)
{
    test_cluster_renew(t, 3, "minikafka", NULL);
    t->records_may_be_lost = true;
    produce_acks(t, "a", 1);
    fetch_round(t);
    produce_acks(t, "tail", 1);
    promote(t, 2); /* Broker 1 keeps its tail, */
    produce_acks(t, "b", 1);
    fetch_round(t); /* and is in sync by the length of it. */
    expect_isr(t, "[1,2,3]");
    expect_values(t, 1, "a@0 tail@0");
    expect_high_watermark(t, 2, 2);
    configure(t, "protocol", "kafka");
    expect_values(t, 1, "a@0");
    expect_isr(t, "[2,3]");
    replicate(t);
    expect_values(t, 1, "a@0 b@1");
    expect_isr(t, "[2,3,1]");
}

/* How long logs are says nothing where nobody leads: members of the ISR may differ, or be down. Case:
 * F-05 */
TEST(the_model_does_not_begin_without_a_leader, struct test_cluster *t)
{
    produce_acks(t, "a", 1);
    crash(t, 1);
    configure(t, "protocol", "minikafka");
    expect_refused(t, LEADER_NOT_AVAILABLE);
    assert_string_equal(
        t->error.message,
        "protocol minikafka begins with what the leader has, and orders-0 has no leader"
        " that runs: restart() it, or promote() another one");
    assert_ptr_equal(t->cluster->variant, &hw_variant_kafka);
    promote(t, 2);
    configure(t, "protocol", "minikafka");
    expect_done(t);
    crash(t, 2);
    configure(t, "protocol", "minikafka"); /* Which it is. */
    expect_done(t);
}

/* Case: F-06 */
TEST(an_elr_that_no_rule_has_kept_elects_nobody, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};
    const struct hw_partition_record *record;

    test_cluster_renew(t, 3, "kafka", configs);
    record = &t->cluster->topics[0]->partitions[0].record;
    configure(t, "eligible.leader.replicas.version", "1");
    configure(t, "controller.auto.elect", "true");
    produce(t, "a");
    replicate(t);
    cut(t, 1, 2);
    cut(t, 1, 3);
    cut(t, 2, HW_CLUSTER_CONTROLLER);
    cut(t, 3, HW_CLUSTER_CONTROLLER);
    tick(t, 10200);
    assert_int_equal(record->elr.count, 1);
    configure(t, "protocol", "kip-279");
    assert_int_equal(record->elr.count, 0);
    produce_acks(t, "b", 1);
    fetch_round(t);
    tick(t, 40000);
    refresh_isr(t);
    expect_high_watermark(t, 1, 2);
    configure(t, "protocol", "kafka");
    assert_int_equal(record->elr.count, 0);
    heal_all(t);
    crash(t, 1);
    tick(t, 10200);
    expect_leader(t, HW_BROKER_ID_NONE);
    restart(t, 1);
    expect_leader(t, 1);
    expect_values(t, 1, "a@0 b@0");
}

/* Without the ELR an ISR is never empty: who may lead by it may lead without it. Case: F-06 */
TEST(who_was_eligible_is_in_the_isr_of_older_rules, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 2, "kafka", configs);
    configure(t, "eligible.leader.replicas.version", "1");
    produce(t, "a");
    replicate(t);
    crash(t, 1);
    crash(t, 2);
    tick(t, 10200);
    expect_isr(t, "[]");
    configure(t, "protocol", "kip-279");
    expect_isr(t, "[1,2]");
    restart(t, 2);
    promote(t, 2);
    expect_done(t);
    expect_values(t, 2, "a@0");
}

/* A log that the older rules have written, whose epochs go back, comes to rest. Case: F-26 */
TEST(epochs_that_went_back_grow_again_in_the_next_protocol, struct test_cluster *t)
{
    struct hw_partition *orders;

    test_cluster_renew(t, 3, "minikafka", NULL);
    t->records_may_be_lost = true;
    orders = &t->cluster->topics[0]->partitions[0];
    produce_acks(t, "a", 1);
    fetch_round(t);
    produce_acks(t, "b", 1);
    produce_acks(t, "c", 1);
    produce_acks(t, "d", 1); /* a@0 b@0 c@0 d@0 on broker 1 */
    promote(t, 2);
    produce_acks(t, "e", 1); /* a@0 e@1 on broker 2 */
    fetch_round(t);
    promote(t, 1);
    fetch(t, 2); /* Broker 2 takes what lies behind its end. */
    if (hw_log_end(hw_partition_find(orders, 2)->log) > 2) {
        promote(t, 2);
    }
    configure(t, "protocol", "kafka");
    expect_done(t);
    replicate(t);
    expect_done(t);
    assert_true(t->result < 20);
    for (int32_t i = 0; i < orders->replica_count; i++) {
        assert_string_equal(orders->replicas[i]->failure, "");
        assert_int_equal(hw_log_end(orders->replicas[i]->log),
                         hw_log_end(hw_partition_leader(orders)->log));
    }
}

static void walk_protocols(void **state, unsigned with, uint64_t first_seed)
{
    struct walk *w = test_calloc(1, sizeof *w);
    uint64_t seed = test_topics_number("HW_SEED", first_seed);
    uint64_t end = seed + (getenv("HW_SEED") != NULL         ? 1
                           : getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS
                                                             : WALKS);

    w->t = *state;
    w->with = with | WALK_PROTOCOLS | WALK_CUT_LINKS | WALK_ADMIN;
    for (; seed < end; seed++) {
        w->t->records_may_be_lost = (with & WALK_STRICT) == 0;
        w->t->acks_are_remembered = true;
        print_message("seed %" PRIu64 "\n", seed);
        (void)test_walk(w, "kafka", seed, test_topics_number("HW_STEPS", STEPS));
        if ((with & WALK_STRICT) == 0) { /* Lost by the rules of an older protocol. */
            w->broken[0] = '\0';
            test_walk_promise_nothing(w);
        }
        if (w->broken[0] == '\0') {
            test_walk_comes_to_rest(w);
        }
        if (w->broken[0] != '\0') {
            fail_msg("%s", w->broken);
        }
    }
    assert_true(w->switches > 0);
    test_free(w);
}

/* Case: F-05 */
TEST_AGAIN(changes_of_the_protocol_lose_nothing, void **state)
{
    walk_protocols(state, WALK_STRICT, 1);
}

/* Case: F-05 */
TEST_AGAIN(whatever_happens_under_whatever_protocol_comes_to_rest, void **state)
{
    walk_protocols(state, 0, 1001);
}

static enum hw_status move_on(struct hw_partition *const *partitions, size_t count,
                              const struct hw_step *step, int64_t *records, struct hw_error *error)
{
    (void)count;
    (void)step;
    (void)error;
    hw_partition_find(partitions[0], 2)->changes++;
    *records = 0;
    return HW_OK;
}

/* Case: F-42 */
TEST(who_does_not_come_to_rest_is_named, struct test_cluster *t)
{
    struct hw_variant restless = *t->cluster->variant;
    const struct hw_variant *before = t->cluster->variant;

    restless.fetch_round = move_on;
    t->cluster->variant = &restless;
    t->status = hw_cluster_replicate(t->cluster, "orders", 0, &t->result, &t->error);
    t->cluster->variant = before;
    expect_refused(t, UNKNOWN_SERVER_ERROR);
    assert_string_equal(t->error.message,
                        "orders-0 does not come to rest in 1000000 rounds, broker 2 moves on and "
                        "on: hw_journal shows what it does, crash(2) stops it");
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
