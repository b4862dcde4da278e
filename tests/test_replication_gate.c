/* SPDX-License-Identifier: MIT */
/*
 * Who is answered at all? Epochs, assignment and incarnations, before anything is read. Follows
 * Partition.checkCurrentLeaderEpoch, followerReplicaOrThrow and Replica.updateFetchStateOrThrow.
 */
#include "tests/support_replica.h"

#include "tests/support_test.h"

/* Row: C023. Semantics: R1.2 */
TEST(a_leader_accepts_its_own_epoch_and_none, struct test_replicas *t)
{
    struct hw_replica *leader = replica_of(t, 1);

    lead(t, 1, 5, "[1,2]", "[1,2]");
    assert_int_equal(hw_replica_check_epoch(leader, HW_EPOCH_NONE, true), HW_KAFKA_NONE);
    assert_int_equal(hw_replica_check_epoch(leader, 5, true), HW_KAFKA_NONE);
    assert_int_equal(hw_replica_check_epoch(leader, 4, true), HW_KAFKA_FENCED_LEADER_EPOCH);
    assert_int_equal(hw_replica_check_epoch(leader, 6, true), HW_KAFKA_UNKNOWN_LEADER_EPOCH);
}

/* Row: C024, C166. Semantics: R1.2, R10.2 */
TEST(a_follower_compares_epochs_before_it_says_that_it_does_not_lead, struct test_replicas *t)
{
    struct hw_replica *follower = replica_of(t, 1);

    follow(t, 1, 2, 5);
    assert_int_equal(hw_replica_check_epoch(follower, HW_EPOCH_NONE, true),
                     HW_KAFKA_NOT_LEADER_OR_FOLLOWER);
    assert_int_equal(hw_replica_check_epoch(follower, 5, true), HW_KAFKA_NOT_LEADER_OR_FOLLOWER);
    assert_int_equal(hw_replica_check_epoch(follower, HW_EPOCH_NONE, false), HW_KAFKA_NONE);
    assert_int_equal(hw_replica_check_epoch(follower, 5, false), HW_KAFKA_NONE);
    assert_int_equal(hw_replica_check_epoch(follower, 4, true), HW_KAFKA_FENCED_LEADER_EPOCH);
    assert_int_equal(hw_replica_check_epoch(follower, 6, true), HW_KAFKA_UNKNOWN_LEADER_EPOCH);
}

static void send_with_epoch(struct test_replicas *t, hw_broker_id_t from, hw_epoch_t epoch)
{
    struct hw_fetch_request request = fetch_request(t, from, 0);

    request.current_leader_epoch = epoch;
    send(t, &request);
}

/* Row: C025. Semantics: R1.2, R2.4 */
TEST(a_follower_is_not_fetched_from_by_followers, struct test_replicas *t)
{
    follow(t, 1, 2, 8);
    send_with_epoch(t, 3, HW_EPOCH_NONE);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");
    send_with_epoch(t, 3, 8);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");
    send_with_epoch(t, 3, 9);
    expect_answer(t, "UNKNOWN_LEADER_EPOCH");
    send_with_epoch(t, 3, 7);
    expect_answer(t, "FENCED_LEADER_EPOCH");
}

/* Row: C026. Semantics: R2.4, R7.3 */
TEST(who_is_not_assigned_yet_is_told_to_ask_again, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1,2]");
    append(t, 1);
    send_with_epoch(t, 3, 5);
    expect_answer(t, "UNKNOWN_LEADER_EPOCH");
    send_with_epoch(t, 3, HW_EPOCH_NONE);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");

    lead(t, 1, 5, "[1,2,3]", "[1,2]");
    assert_false(t->changed);
    expect_known(t, 3, "end -1 start -1 caught up never");
    send_with_epoch(t, 3, 5);
    expect_answer(t, "hw 0 start 0 records 0");
    expect_known(t, 3, "end 0 start 0 caught up never");
}

/* Semantics: R2.4 */
TEST(a_topic_of_the_same_name_is_another_topic, struct test_replicas *t)
{
    struct hw_fetch_request request;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    request = fetch_request(t, 2, 0);
    request.topic_id.bytes[0]++;
    send(t, &request);
    expect_answer(t, "INCONSISTENT_TOPIC_ID");
    request.topic_id = (struct hw_uuid){.bytes = {0}};
    send(t, &request);
    expect_answer(t, "hw 0 start 0 records none");
}

static void send_with_broker_epoch(struct test_replicas *t, hw_offset_t offset,
                                   hw_broker_epoch_t epoch)
{
    struct hw_fetch_request request = fetch_request(t, 2, offset);

    request.replica_epoch = epoch;
    send(t, &request);
}

/* Row: C042. Semantics: R2.8, R6.19 */
TEST(a_request_from_before_a_restart_is_refused, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1,2]");
    send_with_broker_epoch(t, 0, 2);
    expect_answer(t, "hw 0 start 0 records none");
    send_with_broker_epoch(t, 0, 1);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");
    send_with_broker_epoch(t, 0, HW_BROKER_EPOCH_NONE);
    expect_answer(t, "hw 0 start 0 records none");
}

/* Row: C174. Case: A-14. Semantics: R2.8 */
TEST(a_request_from_before_a_restart_teaches_the_leader_nothing, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1]");
    append(t, 10);
    t->now_ms = 500;
    send_with_broker_epoch(t, 10, 2);
    expect_known(t, 2, "end 10 start 0 caught up 500");

    t->now_ms = 700;
    send_with_broker_epoch(t, 3, 1);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");
    expect_known(t, 2, "end 10 start 0 caught up 500");
    assert_int_equal(hw_replica_find_remote(replica_of(t, 1), 2)->broker_epoch, 2);
}

/* Row: C171, though each message is about one partition. Semantics: R5.6 */
TEST(where_an_epoch_ends_is_answered_by_leaders_only, struct test_replicas *t)
{
    struct hw_epoch_end end;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 10);
    assert_int_equal(hw_replica_offset_for_leader_epoch(replica_of(t, 1), 0, 0, &end),
                     HW_KAFKA_NONE);
    assert_int_equal(end.epoch, 0);
    assert_int_equal(end.end_offset, 10);
    assert_int_equal(hw_replica_offset_for_leader_epoch(replica_of(t, 1), 0, 1, &end),
                     HW_KAFKA_NONE);
    assert_int_equal(end.epoch, -1);
    assert_int_equal(end.end_offset, -1);

    follow(t, 1, 2, 1);
    assert_int_equal(hw_replica_offset_for_leader_epoch(replica_of(t, 1), 1, 0, &end),
                     HW_KAFKA_NOT_LEADER_OR_FOLLOWER);
    assert_int_equal(end.epoch, -1);
    assert_int_equal(end.end_offset, -1);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
