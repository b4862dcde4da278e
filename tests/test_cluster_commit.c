/* SPDX-License-Identifier: MIT */
/*
 * When is a record committed, and who knows it? Follows Partition.maybeIncrementLeaderHW,
 * ReplicaManager.fetchMessages and DelayedProduce.
 */
#include "tests/support_cluster.h"

#include "tests/support_test.h"

/* Semantics: R0.3, R2.10, R3.4 Partition.maybeIncrementLeaderHW */
TEST(a_record_is_committed_by_the_second_fetch_of_every_follower, struct test_cluster *t)
{
    produce(t, "a");
    expect_offset(t, 0);
    expect_high_watermark(t, 1, 0);

    /* Both followers copy the record. The leader does not know yet that they have it. */
    fetch(t, 2);
    fetch(t, 3);
    expect_log_end(t, 2, 1);
    expect_log_end(t, 3, 1);
    expect_high_watermark(t, 1, 0);

    /* Broker 2 asks for offset 1, so it holds offset 0. Broker 3 may still lack it. */
    fetch(t, 2);
    expect_high_watermark(t, 1, 0);
    expect_ack(t, t->produced.ack_id, "pending");

    /* Broker 3 does the same: now offset 0 is on all three. Its answer was read before. */
    fetch(t, 3);
    expect_high_watermark(t, 1, 1);
    expect_high_watermark(t, 2, 0);
    expect_high_watermark(t, 3, 0);
    expect_ack(t, t->produced.ack_id, "acknowledged");

    /* The third fetch carries the news. */
    fetch(t, 2);
    expect_high_watermark(t, 2, 1);
}

/* Semantics: the pump of the design, 3.4 */
TEST(one_round_copies_and_tells_the_leader, struct test_cluster *t)
{
    produce(t, "a");
    fetch_round(t);
    expect_result(t, 2);
    expect_high_watermark(t, 1, 1);
    expect_high_watermark(t, 2, 0);

    fetch_round(t);
    expect_result(t, 0);
    expect_high_watermark(t, 2, 1);
    expect_high_watermark(t, 3, 1);
}

/* Semantics: R1.31, R1.32, R1.33, R1.38 DelayedProduce.onExpiration */
TEST(what_the_caller_learns_depends_on_acks, struct test_cluster *t)
{
    int64_t all;

    produce_acks(t, "a", 0);
    expect_ack(t, t->produced.ack_id, "unanswered");
    produce_acks(t, "b", 1);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    produce_acks(t, "c", HW_ACKS_ALL);
    all = t->produced.ack_id;
    expect_ack(t, all, "pending");

    tick(t, 29999);
    expect_ack(t, all, "pending");
    tick(t, 1);
    expect_ack(t, all, "REQUEST_TIMED_OUT");
    expect_log_end(t, 1, 3);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
