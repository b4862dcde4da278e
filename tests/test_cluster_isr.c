/* SPDX-License-Identifier: MIT */
/*
 * When does a follower leave the ISR, and when does it come back? As users see it, by the clock and
 * the calls that they have. Follows Partition.maybeShrinkIsr and maybeExpandIsr.
 */
#include "tests/support_cluster.h"

#include "tests/support_test.h"

static struct hw_partition_view partition_view(const struct test_cluster *t)
{
    struct hw_position position = {0};
    struct hw_partition_view view;

    assert_true(hw_cluster_next_partition(t->cluster, &position, &view));
    return view;
}

/* Semantics: R4.5: checked every 15 s, so gone between 30 and 45 s after the last catch-up */
TEST(a_silent_follower_leaves_at_the_first_check_after_its_time, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    tick(t, 1000);
    fetch(t, 2);
    produce(t, "b");
    fetch(t, 2);
    fetch(t, 2);
    fetch(t, 3); /* Takes "b", and is not heard of again. */
    tick(t, 29000);
    expect_isr(t, "[1,2,3]");
    tick(t, 14999);
    expect_isr(t, "[1,2,3]");
    expect_high_watermark(t, 1, 1);
    tick(t, 1);
    expect_isr(t, "[1,2]");
    expect_high_watermark(t, 1, 2);
}

/* Semantics: R4.2 */
TEST(who_has_everything_stays_however_long_nothing_happens, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    tick(t, 1000000000);
    expect_isr(t, "[1,2,3]");
    produce(t, "b");
    tick(t, 15000);
    expect_isr(t, "[1]");
}

/* Case: A-09. Semantics: R3.6, R4.5 */
TEST(when_the_last_follower_leaves_what_waited_is_committed, struct test_cluster *t)
{
    test_cluster_renew(t, 2, NULL, NULL);
    configure(t, "replica.lag.time.max.ms", "10000");
    configure(t, "request.timeout.ms", "60000");
    for (int i = 0; i < 10; i++) {
        produce_acks(t, "a", 1);
    }
    promote(t, 1);
    produce(t, "b");
    cut(t, 1, 2);
    tick(t, 10000);
    expect_high_watermark(t, 1, 0);
    expect_ack(t, t->produced.ack_id, "pending");
    tick(t, 5000);
    expect_isr(t, "[1]");
    expect_high_watermark(t, 1, 11);
    expect_ack(t, t->produced.ack_id, "acknowledged");
}

/* Semantics: R4.1, R4.7: the leader that cannot reach the controller shrinks nothing */
TEST(without_the_controller_nobody_leaves, struct test_cluster *t)
{
    configure(t, "broker.session.timeout.ms", "1000000");
    produce(t, "a");
    cut(t, 1, 3);
    fetch(t, 2);
    fetch(t, 2);
    cut(t, 1, HW_CLUSTER_CONTROLLER);
    tick(t, 60000);
    expect_isr(t, "[1,2,3]");
    expect_high_watermark(t, 1, 0);
    heal(t, 1, HW_CLUSTER_CONTROLLER);
    expect_isr(t, "[1,2]");
    expect_high_watermark(t, 1, 1);
}

/* Case: A-11. Semantics: R2.8 */
TEST(a_follower_that_always_trails_by_one_append_stays, struct test_cluster *t)
{
    for (int i = 0; i < 20; i++) {
        produce_acks(t, "a", 1);
        fetch(t, 2);
        fetch(t, 3);
        tick(t, 14000);
        expect_isr(t, "[1,2,3]");
    }
    expect_high_watermark(t, 1, 19);
}

/* Case: A-10. Semantics: R4.3 */
TEST(who_is_behind_the_start_of_the_epoch_stays_outside, struct test_cluster *t)
{
    remove_from_isr(t, 2);
    expect_isr(t, "[1,3]");
    cut(t, 1, 2);
    configure(t, "replica.fetch.max.bytes", "1"); /* One batch a fetch. */
    for (int i = 0; i < 5; i++) {
        produce(t, "a");
    }
    for (int i = 0; i < 3; i++) {
        fetch(t, 3);
    }
    expect_high_watermark(t, 1, 2);
    promote(t, 1);
    produce(t, "b");
    produce(t, "b");
    heal(t, 1, 2);
    for (hw_offset_t offset = 1; offset <= 5; offset++) {
        fetch(t, 2);
        expect_log_end(t, 2, offset);
        expect_isr(t, "[1,3]");
    }
    fetch(t, 2);
    expect_isr(t, "[1,3,2]");
}

/* Semantics: R4.3, R4.15 */
TEST(who_was_taken_out_comes_back_with_its_next_fetch, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    remove_from_isr(t, 3);
    expect_isr(t, "[1,2]");
    produce(t, "b");
    fetch(t, 2);
    fetch(t, 2);
    expect_high_watermark(t, 1, 1); /* Broker 3 keeps up, and is waited for (R3.5). */
    fetch(t, 3);
    expect_isr(t, "[1,2,3]");
    fetch(t, 3);
    expect_high_watermark(t, 1, 2);
}

/* Semantics: R6.14, R6.19 */
TEST(a_broker_that_died_leaves_when_its_session_ends, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    crash(t, 3);
    produce(t, "b");
    fetch(t, 2);
    fetch(t, 2);
    tick(t, 9000); /* It is over after its last millisecond, and a check notices it. */
    expect_isr(t, "[1,2,3]");
    expect_high_watermark(t, 1, 1);
    tick(t, 1124);
    expect_isr(t, "[1,2,3]");
    tick(t, 1);
    expect_isr(t, "[1,2]");
    expect_high_watermark(t, 1, 2);

    /* What it fetched before it died does not count. */
    restart(t, 3);
    expect_isr(t, "[1,2]");
    fetch(t, 3);
    expect_isr(t, "[1,2]");
    fetch(t, 3);
    expect_isr(t, "[1,2,3]");
}

/* Row: C080. Semantics: R4.15, R4.16 */
TEST(a_partition_tells_that_it_has_too_few_replicas, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 3, NULL, configs);
    assert_false(partition_view(t).under_replicated);
    assert_false(partition_view(t).under_min_isr);
    remove_from_isr(t, 3);
    assert_true(partition_view(t).under_replicated);
    assert_false(partition_view(t).under_min_isr);
    remove_from_isr(t, 2);
    assert_true(partition_view(t).under_min_isr);
    produce(t, "a");
    expect_refused(t, NOT_ENOUGH_REPLICAS);
    replicate(t);
    expect_isr(t, "[1,2,3]");
    assert_false(partition_view(t).under_replicated);
    assert_false(partition_view(t).under_min_isr);
}

/* Semantics: R4.10 */
TEST(changes_of_the_isr_do_not_make_a_leader_epoch, struct test_cluster *t)
{
    int32_t before = partition_view(t).partition_epoch;

    remove_from_isr(t, 3);
    fetch(t, 3);
    expect_isr(t, "[1,2,3]");
    expect_leader_epoch(t, 0);
    assert_int_equal(partition_view(t).partition_epoch, before + 2);
}

/* A member of the ELR holds what is committed while the ISR is too small for anything to be. With
 * another minimum that is over. Semantics: R6.8, R6.11, invariant 8. Case: F-23 */
TEST(another_minimum_ends_the_elr, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 2, NULL, configs);
    configure(t, "eligible.leader.replicas.version", "1");
    replicate(t);
    tick(t, 31000); /* So that the high watermark does not wait for broker 2. */
    remove_from_isr(t, 2);
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.elr.count, 1);
    configure_topic(t, "flush.messages", "3");
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.elr.count, 1);
    configure_topic(t, "min.insync.replicas", "3");
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.elr.count, 0);
    produce_acks(t, "a", 1);
    expect_high_watermark(t, 1, 0);
    configure_topic(t, "min.insync.replicas", "1");
    expect_done(t);
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.elr.count, 0);
    produce(t, "b");
    expect_high_watermark(t, 1, 2);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    crash(t, 1);
    tick(t, 10125);
    promote(t, 2);
    expect_refused(t, NOT_IN_SYNC_REPLICA);
}

/* Nor does the teaching model know it: its high watermark moves however small the ISR is. */
TEST(who_is_in_the_shared_isr_is_not_in_the_elr, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 3, "minikafka", configs);
    configure(t, "eligible.leader.replicas.version", "1");
    configure(t, "broker.session.timeout.ms", "8000");
    crash(t, 2);
    cut(t, 3, HW_CLUSTER_CONTROLLER);
    tick(t, 9010); /* The controller fences both. */
    expect_isr(t, "[1]");
    fetch_round(t);
    expect_done(t);
    expect_isr(t, "[1,2,3]"); /* Nobody has lagged for long enough. */
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.elr.count, 0);
    remove_from_isr(t, 2);
    remove_from_isr(t, 3);
    expect_isr(t, "[1]");
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.elr.count, 0);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
