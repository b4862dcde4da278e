/* SPDX-License-Identifier: MIT */
/*
 * What survives when leaders die, and what does a new one show? The stories that the variants do
 * not differ in are here; those that they do differ in are in test_cluster_variants.c.
 */
#include "core/base/broker_list.h"
#include "tests/support_cluster.h"
#include "tests/support_partition_record.h"

#include <string.h>

#include "tests/support_test.h"

static struct hw_partition *orders(const struct test_cluster *t)
{
    return &t->cluster->topics[0]->partitions[0];
}

/* Case: A-01. Semantics: R3.12, R5.10, scenario S1 */
TEST(a_restarted_follower_keeps_what_it_does_not_know_to_be_committed, struct test_cluster *t)
{
    test_cluster_renew(t, 2, NULL, NULL);
    produce(t, "a");
    fetch(t, 2);
    fetch(t, 2);
    fetch(t, 2);
    produce(t, "b");
    fetch(t, 2);
    fetch(t, 2);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    expect_high_watermark(t, 1, 2);
    expect_high_watermark(t, 2, 1);

    crash(t, 2);
    restart(t, 2);
    expect_log_end(t, 2, 2);
    crash(t, 1);
    promote(t, 2);
    expect_log_end(t, 2, 2);
    expect_epochs(t, 2, "0:0,1:2");
    expect_high_watermark(t, 2, 2);

    restart(t, 1);
    replicate(t);
    expect_values(t, 1, "a@0 b@0");
    produce(t, "c");
    expect_offset(t, 2);
}

/* Case: A-02. Semantics: R5.10, R5.18, scenario S2 */
TEST(logs_of_equal_length_are_compared_by_their_epochs, struct test_cluster *t)
{
    test_cluster_renew(t, 2, NULL, NULL);
    t->records_may_be_lost = true;
    produce(t, "m0");
    replicate(t);
    flush_all(t);
    produce(t, "m1");
    replicate(t);
    expect_high_watermark(t, 1, 2);
    tick(t, 5000); /* The high watermark is in the checkpoint of both. */

    crash(t, 1);
    crash_power(t, 2);
    restart(t, 2);
    expect_log_end(t, 2, 1);
    promote(t, 2);
    produce(t, "m2");
    expect_offset(t, 1);
    restart(t, 1);
    expect_log_end(t, 1, 2);
    expect_high_watermark(t, 1, 2);
    replicate(t);
    expect_values(t, 1, "m0@0 m2@1");
    expect_values(t, 2, "m0@0 m2@1");
    expect_epochs(t, 1, "0:0,1:1");
    expect_epochs(t, 2, "0:0,1:1");
    expect_high_watermark(t, 1, 2);
}

/* Produce to the broker that takes itself for the leader. */
static void produce_to(struct test_cluster *t, hw_broker_id_t broker, const char *value)
{
    struct hw_produce request = {.topic = "orders",
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                            .key_size = -1,
                                            .value = (const uint8_t *)value,
                                            .value_size = (int32_t)strlen(value)},
                                 .acks = HW_ACKS_ALL,
                                 .leader_epoch = -1,
                                 .has_broker = true,
                                 .broker = broker};

    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
}

/* What broker 2 answers a follower's question of this epoch. */
static enum hw_kafka_error asked_with_epoch(struct test_cluster *t, hw_epoch_t epoch)
{
    struct hw_epoch_end end;

    return hw_replica_offset_for_leader_epoch(hw_partition_find(orders(t), 2), epoch, 0, &end);
}

/* Case: A-15. Semantics: R1.2, R1.3, R1.39, scenario S4 */
TEST(a_deposed_leader_commits_nothing, struct test_cluster *t)
{
    for (int i = 0; i < 5; i++) {
        promote(t, 1);
    }
    expect_leader_epoch(t, 5);
    for (int i = 0; i < 4; i++) {
        produce(t, "a");
    }
    replicate(t);
    expect_high_watermark(t, 1, 4);
    cut(t, 1, HW_CLUSTER_CONTROLLER);
    promote(t, 2);
    expect_leader_epoch(t, 6);

    assert_int_equal(asked_with_epoch(t, 5), HW_KAFKA_FENCED_LEADER_EPOCH);
    assert_int_equal(asked_with_epoch(t, 6), HW_KAFKA_NONE);
    assert_int_equal(asked_with_epoch(t, 7), HW_KAFKA_UNKNOWN_LEADER_EPOCH);
    assert_int_equal(asked_with_epoch(t, HW_EPOCH_NONE), HW_KAFKA_NONE);

    produce_to(t, 1, "stray");
    expect_done(t);
    expect_offset(t, 4);
    for (int i = 0; i < 3; i++) {
        fetch_round(t);
    }
    expect_log_end(t, 1, 5);
    expect_high_watermark(t, 1, 4);
    expect_log_end(t, 3, 4);
    expect_ack(t, t->produced.ack_id, "pending");

    heal(t, 1, HW_CLUSTER_CONTROLLER);
    expect_ack(t, t->produced.ack_id, "NOT_LEADER_OR_FOLLOWER");
    fetch_round(t);
    expect_log_end(t, 1, 4);
    replicate(t);
    expect_values(t, 1, "a@5 a@5 a@5 a@5");
    expect_values(t, 2, "a@5 a@5 a@5 a@5");
    expect_values(t, 3, "a@5 a@5 a@5 a@5");
}

/* Row: C061, C062, C063. Semantics: R3.12, R3.13, R3.14, scenario S6 (KIP-207) */
TEST(the_end_of_the_log_does_not_go_back_after_an_election, struct test_cluster *t)
{
    for (int i = 0; i < 5; i++) {
        produce(t, "a");
    }
    list_offset(t, HW_LIST_LATEST, 0);
    expect_result(t, 0);
    fetch_round(t);
    expect_high_watermark(t, 1, 5);
    list_offset(t, HW_LIST_LATEST, 0);
    expect_result(t, 5);

    crash(t, 1);
    promote(t, 2);
    expect_log_end(t, 2, 5);
    expect_high_watermark(t, 2, 0);
    list_offset(t, HW_LIST_LATEST, 0);
    expect_refused(t, OFFSET_NOT_AVAILABLE);
    list_offset(t, HW_LIST_EARLIEST, 0);
    expect_done(t);
    expect_result(t, 0);

    fetch(t, 3);
    expect_high_watermark(t, 2, 5);
    list_offset(t, HW_LIST_LATEST, 0);
    expect_done(t);
    expect_result(t, 5);
}

/* Three brokers, min.insync.replicas 2, broker 3 leads; 0 to 9 are everywhere, 10 and 11 on two of
 * three and acknowledged, 12 and 13 with acks=1 on the leader only. */
static void lose_members_of_the_isr(struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 3, NULL, configs);
    promote(t, 3);
    for (int i = 0; i < 10; i++) {
        produce(t, "a");
    }
    replicate(t);
    flush_all(t);
    cut(t, 1, 3);
    produce(t, "b");
    produce(t, "b");
    fetch(t, 2);
    fetch(t, 2);
    expect_high_watermark(t, 3, 10);
    tick(t, 30001);
    tick(t, 15000);
    expect_isr(t, "[2,3]");
    expect_high_watermark(t, 3, 12);
    cut(t, 2, 3);
    produce_acks(t, "c", 1);
    produce_acks(t, "c", 1);
    tick(t, 30001);
    tick(t, 15000);
    expect_isr(t, "[3]");
    expect_log_end(t, 3, 14);
}

/* Semantics: R3.3, R4.15, R6.24, scenario S5 (KIP-966) */
TEST(nothing_is_committed_by_too_few_replicas, struct test_cluster *t)
{
    lose_members_of_the_isr(t);
    expect_high_watermark(t, 3, 12);
    produce(t, "d");
    expect_refused(t, NOT_ENOUGH_REPLICAS);
    list_offset(t, HW_LIST_LATEST, 0);
    expect_result(t, 12);

    /* The last member that is left loses what it had not flushed: it alone may lead, and the
     * acknowledged 10 and 11 are gone with it. */
    t->records_may_be_lost = true;
    crash_power(t, 3);
    promote(t, 2);
    expect_refused(t, NOT_IN_SYNC_REPLICA);
    restart(t, 3);
    expect_leader(t, 3);
    expect_log_end(t, 3, 10);
}

static bool is_fenced(const struct test_cluster *t, hw_broker_id_t broker)
{
    return hw_metadata_find(&t->cluster->controller.metadata, broker)->fenced;
}

/* Several that are silent go one after the other. Semantics: W0.3, W0.5, W1.21, W1.28, W6.3. Case W-C38 */
TEST(sessions_end_at_the_controllers_checks_one_by_one, struct test_cluster *t)
{
    tick(t, 100);
    crash(t, 2);
    crash(t, 3);
    tick(t, 10024); /* 9100 is no check, 9000 came too early: 10125 it is. */
    assert_false(is_fenced(t, 2));
    tick(t, 1);
    assert_true(is_fenced(t, 2));
    assert_false(is_fenced(t, 3));
    tick(t, 10);
    assert_true(is_fenced(t, 3));
    crash(t, 1);
    tick(t, 9009); /* The checks go on from the last one, of 10145, which found nobody: 19145. */
    assert_false(is_fenced(t, 1));
    tick(t, 1);
    assert_true(is_fenced(t, 1));
}

/* Semantics: R6.8, R6.11, R6.12, scenario S5 with ELR (KIP-966) */
TEST(a_replica_that_left_below_the_minimum_may_still_lead, struct test_cluster *t)
{
    struct hw_controller *controller;

    lose_members_of_the_isr(t);
    controller = &t->cluster->controller;
    controller->elr_enabled = true;
    /* From here on the controller keeps the list; broker 2 left the ISR before it did. */
    hw_broker_list_add(&orders(t)->record.elr, 2);

    crash_power(t, 3);
    tick(t, 10125);
    expect_isr(t, "[]");
    expect_list(&orders(t)->record.elr, "[2,3]");
    (void)hw_controller_broker_restarted_uncleanly(controller, orders(t)->settings, 3,
                                                   &orders(t)->record);
    expect_list(&orders(t)->record.elr, "[2]");
    heal(t, 2, 3);
    heal(t, 1, 3);
    promote(t, 2);
    expect_done(t);
    expect_isr(t, "[2]");
    restart(t, 3);
    replicate(t);
    tick(t, 1);
    expect_log_end(t, 2, 12);
    expect_log_end(t, 3, 12);
    expect_log_end(t, 1, 12);
}

/* Row: C098, with an election in place of each restart: here those of followers make no epoch.
 * Semantics: R4.12, R5.2 */
TEST(epochs_follow_the_records, struct test_cluster *t)
{
    test_cluster_renew(t, 2, NULL, NULL);
    produce(t, "a");
    replicate(t);
    expect_epochs(t, 1, "0:0");
    expect_epochs(t, 2, "0:0");
    crash(t, 2);
    restart(t, 2);
    promote(t, 1);
    expect_epochs(t, 1, "0:0,1:1");
    expect_epochs(t, 2, "0:0");
    produce(t, "b");
    replicate(t);
    expect_epochs(t, 1, "0:0,1:1");
    expect_epochs(t, 2, "0:0,1:1");
    crash(t, 1);
    restart(t, 1);
    expect_leader(t, 1);
    expect_epochs(t, 1, "0:0,1:1,2:2");
    expect_epochs(t, 2, "0:0,1:1");
    produce(t, "c");
    replicate(t);
    expect_epochs(t, 1, "0:0,1:1,2:2");
    expect_epochs(t, 2, "0:0,1:1,2:2");
}

/* Semantics: R3.1, R3.2, W1.3 */
TEST(a_broker_comes_back_with_its_last_checkpoint, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    tick(t, 4999);
    crash(t, 2);
    restart(t, 2);
    expect_high_watermark(t, 2, 0);
    replicate(t);
    tick(t, 1);
    produce(t, "b");
    replicate(t);
    expect_high_watermark(t, 2, 2);
    crash(t, 2);
    restart(t, 2);
    expect_high_watermark(t, 2, 1);
    expect_log_end(t, 2, 2);
}

/* Semantics: R4.12: a leader is who was told so in this life */
TEST(a_leader_that_comes_back_without_the_controller_does_not_lead_yet, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    crash(t, 1);
    cut(t, 1, HW_CLUSTER_CONTROLLER);
    restart(t, 1);
    expect_leader(t, 1);
    produce(t, "b");
    expect_refused(t, LEADER_NOT_AVAILABLE);
    list_offset(t, HW_LIST_LATEST, 0);
    expect_refused(t, LEADER_NOT_AVAILABLE);
    heal(t, 1, HW_CLUSTER_CONTROLLER);
    produce(t, "b");
    expect_done(t);
    expect_leader_epoch(t, 1);
}

/* Semantics: R1.39: nobody hears from a leader that died */
TEST(who_waits_for_a_dead_leader_learns_that_the_connection_broke, struct test_cluster *t)
{
    produce(t, "a");
    crash(t, 1);
    expect_ack(t, t->produced.ack_id, "NETWORK_EXCEPTION");
    produce(t, "b");
    expect_refused(t, LEADER_NOT_AVAILABLE);
    promote(t, 2);
    produce(t, "c");
    expect_offset(t, 0);
    fetch(t, 3);
    fetch(t, 3);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    expect_isr(t, "[2,3]");
}

/* Who does not answer is fenced, whether there is a leader to be had or not. Semantics: R6.14,
 * R6.20 */
TEST(an_election_that_finds_nobody_is_written_down_all_the_same, struct test_cluster *t)
{
    crash(t, 1);
    crash(t, 2);
    crash(t, 3);
    elect(t, HW_ELECT_ONLINE);
    expect_refused(t, ELIGIBLE_LEADERS_NOT_AVAILABLE);
    expect_leader(t, -1);
    assert_false(t->cluster->is_state_dirty);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
