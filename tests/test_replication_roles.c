/* SPDX-License-Identifier: MIT */
/*
 * What does a replica forget when it is told its role? Follows Partition.makeLeader and
 * makeFollower, and Replica.resetReplicaState. "Never" stands where Kafka's own tests have time 0
 * (R0.1).
 */
#include "tests/support_replica.h"

#include "tests/support_test.h"

static const struct hw_remote_replica *known(struct test_replicas *t, hw_broker_id_t follower)
{
    return hw_replica_find_remote(replica_of(t, 1), follower);
}

/* Broker 2 is at offset 10, the leader's log end, and its log starts at 1. */
static void fetch_at_10(struct test_replicas *t)
{
    struct hw_fetch_request request = fetch_request(t, 2, 10);

    append(t, 10);
    request.log_start = 1;
    send(t, &request);
    expect_known(t, 2, "end 10 start 1 caught up 0");
}

/* Row: C064. Semantics: R4.13 */
TEST(nothing_is_known_of_a_replica_that_was_just_assigned, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,3]", "[1]");
    lead(t, 1, 5, "[1,3,2]", "[1]");
    expect_known(t, 2, "end -1 start -1 caught up never");
    assert_int_equal(known(t, 2)->last_fetch_leader_log_end, 0);
    assert_int_equal(known(t, 2)->last_fetch_ms, HW_TIME_NEVER);
    assert_false(known(t, 2)->has_fetched_epoch);
}

/* Row: C066. Semantics: R4.13 */
TEST(a_leader_that_is_elected_again_keeps_what_it_knows, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1,2]");
    fetch_at_10(t);
    append(t, 1);
    t->now_ms = 4000;
    lead(t, 1, 6, "[1,2]", "[1,2]");
    assert_false(t->changed);
    expect_known(t, 2, "end 10 start 1 caught up 4000");
    assert_int_equal(known(t, 2)->last_fetch_leader_log_end, 11);
    assert_int_equal(known(t, 2)->last_fetch_ms, 4000);
    assert_int_equal(known(t, 2)->broker_epoch, 2);

    lead(t, 1, 7, "[1,2]", "[1]");
    expect_known(t, 2, "end 10 start 1 caught up never");
    assert_int_equal(known(t, 2)->last_fetch_ms, HW_TIME_NEVER);
}

/* Row: C067. Semantics: R4.13 */
TEST(a_new_leader_begins_by_knowing_nothing, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1,2]");
    fetch_at_10(t);
    follow(t, 1, 2, 6);
    t->now_ms = 4000;
    lead(t, 1, 7, "[1,2]", "[1]");
    assert_true(t->changed);
    expect_known(t, 2, "end -1 start -1 caught up never");
    assert_int_equal(known(t, 2)->last_fetch_leader_log_end, -1);
    assert_int_equal(known(t, 2)->last_fetch_ms, HW_TIME_NEVER);
    assert_false(known(t, 2)->has_fetched_epoch);

    /* A member of the ISR has all its time from now on. */
    follow(t, 1, 2, 8);
    lead(t, 1, 9, "[1,2]", "[1,2]");
    expect_known(t, 2, "end -1 start -1 caught up 4000");
}

/* Row: C077. Semantics: R4.12, W-C05 */
TEST(the_same_leader_epoch_again_resets_nothing, struct test_replicas *t)
{
    lead_at(t, 1, 8, 1, "[1,2]", "[1]");
    t->now_ms = 700;
    fetch_by(t, 2, 0);
    expect_known(t, 2, "end 0 start 0 caught up 700");
    t->now_ms = 900;
    lead_at(t, 1, 8, 2, "[1,2]", "[1]");
    assert_false(t->changed);
    assert_int_equal(replica_of(t, 1)->partition_epoch, 2);
    expect_known(t, 2, "end 0 start 0 caught up 700");
}

/* Row: C078. Semantics: R4.11 */
TEST(a_leader_ignores_an_older_record, struct test_replicas *t)
{
    lead_at(t, 1, 8, 1, "[1,2]", "[1]");
    lead_at(t, 1, 8, 0, "[1,2]", "[1,2]");
    assert_false(t->changed);
    assert_int_equal(replica_of(t, 1)->partition_epoch, 1);
    expect_isr(t, "[1]", "[1]");
}

/* Row: C183. Semantics: R4.11 */
TEST(a_follower_ignores_an_older_record, struct test_replicas *t)
{
    follow_at(t, 1, 2, 8, 1);
    follow_at(t, 1, 3, 9, 0);
    assert_false(t->changed);
    assert_int_equal(replica_of(t, 1)->partition_epoch, 1);
    assert_int_equal(replica_of(t, 1)->leader, 2);
}

/* Row: C079. Semantics: R2.19, R2.21, R4.14, R5.13 */
TEST(a_follower_starts_over_only_in_a_new_leader_epoch, struct test_replicas *t)
{
    follow(t, 1, 2, 1);
    follow(t, 1, 2, 4);
    assert_true(t->changed);
    answered(t, 1, .error = HW_KAFKA_UNKNOWN_LEADER_EPOCH);
    expect_fetch(t, 1, "fetching at 0 delayed to 1000");
    follow(t, 1, 2, 4);
    assert_false(t->changed);
    expect_fetch(t, 1, "fetching at 0 delayed to 1000");
    follow(t, 1, 2, 5);
    assert_true(t->changed);
    expect_fetch(t, 1, "truncating at 0");
}

/* Row: C018. Case: A-04. Semantics: R4.12, R5.2 */
TEST(a_new_leader_notes_its_epoch_at_its_log_end, struct test_replicas *t)
{
    struct hw_epoch_end end;

    log_has(t, 1, "0-1@0 2-3@5");
    lead(t, 1, 8, "[1,2]", "[1,2]");
    expect_epochs(t, 1, "0:0 5:2 8:4");
    end = hw_log_end_offset_for_epoch(log_of(t, 1), 8);
    assert_int_equal(end.epoch, 8);
    assert_int_equal(end.end_offset, 4);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
