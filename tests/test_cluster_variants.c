/* SPDX-License-Identifier: MIT */
/*
 * What did each change of Kafka's truncation rule buy? The failure stories of KIP-101, KIP-279 and
 * KIP-320, told with every variant.
 */
#include "tests/support_cluster.h"

#include "tests/support_test.h"

static const char *const before_kip_101[] = {"hw-truncation", NULL};
static const char *const from_kip_101_on[] = {"kip-101", "kip-279", "kafka", NULL};
static const char *const before_kip_279[] = {"kip-101", NULL};
static const char *const from_kip_279_on[] = {"kip-279", "kafka", NULL};
static const char *const before_kip_320[] = {"kip-101", "kip-279", NULL};
static const char *const from_kip_320_on[] = {"kafka", NULL};

/* A new cluster under `variant`. */
static void begin(struct test_cluster *t, int32_t brokers, const char *variant)
{
    test_cluster_renew(t, brokers, variant, NULL);
    t->records_may_be_lost = true;
}

/* `dies` does, and `leads` takes over, if need be after a restart and from outside the ISR. */
static void take_over(struct test_cluster *t, hw_broker_id_t dies, hw_broker_id_t leads)
{
    crash(t, dies);
    expect_done(t);
    if (hw_partition_find(&t->cluster->topics[0]->partitions[0], leads) == NULL) {
        restart(t, leads);
        expect_done(t);
    }
    promote_unclean(t, leads);
    expect_done(t);
}

/* ------------------------------------------------------------------------------------ KIP-101 */

/* S1: broker 2 leads; "m2" is acknowledged, follower 1 has it and does not know that it is
 * committed. Broker 1 restarts, and leads when broker 2 dies before 1 could fetch. */
static void lose_the_leader_after_the_follower_restarted(struct test_cluster *t,
                                                         const char *variant)
{
    begin(t, 2, variant);
    promote(t, 2);
    produce(t, "m1");
    fetch(t, 1);
    fetch(t, 1);
    fetch(t, 1);
    tick(t, 5000);
    produce(t, "m2");
    fetch(t, 1);
    fetch(t, 1);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    expect_high_watermark(t, 1, 1);

    crash(t, 1);
    restart(t, 1);
    expect_done(t);
    take_over(t, 2, 1);
    restart(t, 2);
    replicate(t);
    expect_done(t);
}

/* Scenario: S1. Semantics: R5.19 */
TEST(cutting_to_the_high_watermark_loses_an_acknowledged_record, struct test_cluster *t)
{
    for (size_t i = 0; before_kip_101[i] != NULL; i++) {
        lose_the_leader_after_the_follower_restarted(t, before_kip_101[i]);
        expect_values(t, 1, "m1@1");
        expect_values(t, 2, "m1@1");
    }
}

/* Scenario: S1. Semantics: R5.10, R5.11 */
TEST(asking_for_epochs_keeps_an_acknowledged_record, struct test_cluster *t)
{
    for (size_t i = 0; from_kip_101_on[i] != NULL; i++) {
        lose_the_leader_after_the_follower_restarted(t, from_kip_101_on[i]);
        expect_values(t, 1, "m1@1 m2@1");
        expect_values(t, 2, "m1@1 m2@1");
    }
}

/* S2: "m2" is durable on broker 1 only when both lose power. Broker 2 is back first, leads, and
 * takes "m3" in its place. */
static void lose_power_before_the_follower_has_flushed(struct test_cluster *t, const char *variant)
{
    begin(t, 2, variant);
    produce(t, "m1");
    replicate(t);
    produce(t, "m2");
    flush_all(t);
    replicate(t);
    expect_high_watermark(t, 1, 2);
    tick(t, 5000);

    crash_power(t, 1);
    crash_power(t, 2);
    restart(t, 2);
    expect_values(t, 2, "m1@0");
    promote(t, 2);
    expect_done(t);
    produce(t, "m3");
    restart(t, 1);
    replicate(t);
    expect_done(t);
    expect_values(t, 2, "m1@0 m3@1");
}

/* Scenario: S2. Semantics: R5.19 */
TEST(logs_of_equal_length_that_differ_go_unnoticed, struct test_cluster *t)
{
    for (size_t i = 0; before_kip_101[i] != NULL; i++) {
        lose_power_before_the_follower_has_flushed(t, before_kip_101[i]);
        expect_values(t, 1, "m1@0 m2@0");
    }
}

/* Scenario: S2. Semantics: R5.14 */
TEST(asking_for_epochs_makes_logs_of_equal_length_equal, struct test_cluster *t)
{
    for (size_t i = 0; from_kip_101_on[i] != NULL; i++) {
        lose_power_before_the_follower_has_flushed(t, from_kip_101_on[i]);
        expect_values(t, 1, "m1@0 m3@1");
    }
}

/* ------------------------------------------------------------------------------------ KIP-279 */

/* S3: the two brokers lead in turns, each without the other. */
static void lead_in_turns(struct test_cluster *t, const char *variant)
{
    begin(t, 2, variant);
    produce(t, "a0");
    replicate(t);
    take_over(t, 1, 2);
    produce(t, "b1");
    take_over(t, 2, 1);
    produce(t, "a1");
    produce(t, "a2");
    produce(t, "a3");
    take_over(t, 1, 2);
    produce(t, "b2");
    take_over(t, 2, 1);
    produce(t, "a4");
    produce(t, "a5");
    expect_values(t, 1, "a0@0 a1@2 a2@2 a3@2 a4@4 a5@4");
    restart(t, 2);
    expect_done(t);
    expect_values(t, 2, "a0@0 b1@1 b2@3");
    expect_epochs(t, 2, "0:0,1:1,3:2");
}

/* Scenario: S3. Semantics: R5.19 */
TEST(an_offset_alone_cannot_say_where_logs_part, struct test_cluster *t)
{
    for (size_t i = 0; before_kip_279[i] != NULL; i++) {
        lead_in_turns(t, before_kip_279[i]);
        replicate(t);
        expect_done(t);
        expect_values(t, 2, "a0@0 b1@1 b2@3 a3@2 a4@4 a5@4");
    }
}

/* Scenario: S3. Semantics: R5.14, R5.15 */
TEST(two_questions_find_where_logs_part, struct test_cluster *t)
{
    for (size_t i = 0; from_kip_279_on[i] != NULL; i++) {
        lead_in_turns(t, from_kip_279_on[i]);
        fetch(t, 2);
        expect_values(t, 2, "a0@0 b1@1");
        fetch(t, 2);
        if (t->cluster->variant->starts_truncating) {
            expect_values(t, 2, "a0@0 a1@2 a2@2 a3@2 a4@4 a5@4"); /* One poll asks and fetches. */
        } else {
            expect_values(t, 2, "a0@0");
        }
        replicate(t);
        expect_values(t, 2, "a0@0 a1@2 a2@2 a3@2 a4@4 a5@4");
    }
}

/* Semantics: R5.15. Every round of questions counts as movement, and rejoin() asks them all. */
TEST(a_rejoin_asks_until_the_logs_are_equal, struct test_cluster *t)
{
    for (size_t i = 0; from_kip_279_on[i] != NULL; i++) {
        lead_in_turns(t, from_kip_279_on[i]);
        rejoin(t, 2);
        expect_done(t);
        expect_values(t, 2, "a0@0 a1@2 a2@2 a3@2 a4@4 a5@4");
    }
}

/* ------------------------------------------------------------------------------------ KIP-320 */

/* S4: follower 3 follows broker 1 in epoch 0 and is told of neither election: of broker 2, nor of
 * broker 1 again. */
static void miss_two_elections(struct test_cluster *t, const char *variant)
{
    begin(t, 3, variant);
    produce(t, "a");
    replicate(t);
    cut(t, 1, HW_CLUSTER_CONTROLLER);
    cut(t, 3, HW_CLUSTER_CONTROLLER);
    produce_acks(t, "x", 1);
    fetch(t, 3);
    expect_values(t, 3, "a@0 x@0");
    promote(t, 2);
    produce_acks(t, "y", 1);
    heal(t, 1, HW_CLUSTER_CONTROLLER);
    rejoin(t, 1);
    expect_values(t, 1, "a@0 y@1");
    fetch(t, 3);
    expect_result(t, 0);
    expect_values(t, 3, "a@0 x@0");
    promote(t, 1);
    produce_acks(t, "z", 1);
    expect_values(t, 1, "a@0 y@1 z@2");
    fetch(t, 3);
    expect_done(t);
}

/* Scenario: S4. Semantics: R5.19 */
TEST(without_its_epoch_a_stale_follower_takes_the_new_leader_for_the_old_one,
     struct test_cluster *t)
{
    for (size_t i = 0; before_kip_320[i] != NULL; i++) {
        miss_two_elections(t, before_kip_320[i]);
        expect_values(t, 3, "a@0 x@0 z@2");
        heal(t, 3, HW_CLUSTER_CONTROLLER);
        replicate(t);
        expect_values(t, 3, "a@0 x@0 z@2");
    }
}

/* Scenario: S4. Semantics: R1.2, R2.27 */
TEST(with_its_epoch_a_stale_follower_is_fenced_until_it_hears_of_the_election,
     struct test_cluster *t)
{
    for (size_t i = 0; from_kip_320_on[i] != NULL; i++) {
        miss_two_elections(t, from_kip_320_on[i]);
        expect_values(t, 3, "a@0 x@0");
        heal(t, 3, HW_CLUSTER_CONTROLLER);
        replicate(t);
        expect_values(t, 3, "a@0 y@1 z@2");
    }
}

/* ---------------------------------------------------------------------- after unclean elections */

/* S7: the old leader holds four records more than the new one, whose log then grows or does not. */
static void lead_uncleanly_with_less(struct test_cluster *t, const char *variant, int new_records)
{
    static const char *const values[] = {"n1", "n2", "n3", "n4", "n5", "n6"};

    begin(t, 2, variant);
    produce(t, "a");
    replicate(t);
    produce(t, "b");
    tick(t, 50000); /* Broker 2 leaves the ISR, and is not waited for any more. */
    expect_isr(t, "[1]");
    produce(t, "c");
    produce(t, "d");
    produce(t, "e");
    expect_high_watermark(t, 1, 5);
    tick(t, 5000);
    crash(t, 1);
    promote_unclean(t, 2);
    expect_done(t);
    for (int i = 0; i < new_records; i++) {
        produce(t, values[i]);
    }
    restart(t, 1);
    replicate(t);
    expect_done(t);
}

/* Scenario: S7. Semantics: R2.30, R5.18 */
TEST(a_shorter_leader_makes_the_old_one_cut_with_every_rule, struct test_cluster *t)
{
    static const char *const all[] = {"hw-truncation", "kip-101", "kip-279", "kafka"};

    for (size_t i = 0; i < 4; i++) {
        lead_uncleanly_with_less(t, all[i], 0);
        expect_values(t, 1, "a@0");
        expect_values(t, 2, "a@0");
    }
}

/* Scenario: S7. Semantics: R5.19 */
TEST(a_leader_that_grew_meanwhile_is_taken_for_equal_without_epochs, struct test_cluster *t)
{
    for (size_t i = 0; before_kip_101[i] != NULL; i++) {
        lead_uncleanly_with_less(t, before_kip_101[i], 6);
        expect_values(t, 2, "a@0 n1@1 n2@1 n3@1 n4@1 n5@1 n6@1");
        expect_values(t, 1, "a@0 b@0 c@0 d@0 e@0 n5@1 n6@1");
    }
    for (size_t i = 0; from_kip_101_on[i] != NULL; i++) {
        lead_uncleanly_with_less(t, from_kip_101_on[i], 6);
        expect_values(t, 1, "a@0 n1@1 n2@1 n3@1 n4@1 n5@1 n6@1");
    }
}

/* ------------------------------------------------------------------------------------ KIP-966 */

/* S5: of three members only the leader is left in the ISR, two are required, and it takes "b". */
static void lead_alone_below_the_minimum(struct test_cluster *t, const char *variant)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 3, variant, configs);
    t->records_may_be_lost = true;
    produce(t, "a");
    replicate(t);
    cut(t, 1, 2);
    cut(t, 1, 3);
    produce_acks(t, "b", 1);
    tick(t, 50000);
    expect_isr(t, "[1]");
}

/* Scenario: S5. Semantics: R3.3 */
TEST(before_kip_966_readers_saw_what_too_few_replicas_held, struct test_cluster *t)
{
    static const char *const variants[] = {"hw-truncation", "kip-101", "kip-279"};

    for (size_t i = 0; i < 3; i++) {
        lead_alone_below_the_minimum(t, variants[i]);
        expect_high_watermark(t, 1, 2);
    }
    lead_alone_below_the_minimum(t, "kafka");
    expect_high_watermark(t, 1, 1);
}

/* Semantics: R1.37. It was the usual end of a wait, before the high watermark stood still. */
TEST(before_kip_966_those_who_waited_were_told_that_replicas_had_gone, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 3, "kip-279", configs);
    t->records_may_be_lost = true;
    configure(t, "request.timeout.ms", "100000");
    cut(t, 1, 2);
    cut(t, 1, 3);
    produce(t, "a");
    tick(t, 50000);
    expect_isr(t, "[1]");
    expect_ack(t, t->produced.ack_id, "NOT_ENOUGH_REPLICAS_AFTER_APPEND");

    test_cluster_renew(t, 3, "kafka", configs);
    configure(t, "request.timeout.ms", "100000");
    cut(t, 1, 2);
    cut(t, 1, 3);
    produce(t, "a");
    tick(t, 50000);
    expect_ack(t, t->produced.ack_id, "pending");
    tick(t, 50000);
    expect_ack(t, t->produced.ack_id, "REQUEST_TIMED_OUT");
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
