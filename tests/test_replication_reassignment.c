/* SPDX-License-Identifier: MIT */
/*
 * What does a move of a partition begin with, when is it complete, what does taking it back leave?
 *
 * Kafka's own tables: PartitionReassignmentReplicasTest, PartitionReassignmentRevertTest,
 * ReplicationControlManagerTest. Semantics: R7.1 to R7.7.
 */
#include "core/replication/partition_change.h"
#include "support_controller.h"

#include "tests/support_test.h"

static void expect_begin(const char *replicas, const char *target, const char *removing,
                         const char *adding, const char *list)
{
    struct hw_partition_change change = {.replicas = test_list(replicas)};
    struct hw_broker_list to = test_list(target);

    assert_true(hw_partition_change_begin_move(&change, &to));
    expect_list(&change.removing, removing);
    expect_list(&change.adding, adding);
    expect_list(&change.replicas, list);
}

/* Row: C127. testRemovals. */
TEST_ALONE(replicas_to_be_removed_go_behind_the_target)
{
    expect_begin("[3,2,1,0]", "[3,1]", "[0,2]", "[]", "[3,1,0,2]");
}

/* Row: C128. testAdditionsAndRemovals. */
TEST_ALONE(replicas_can_be_added_and_removed_in_one_move)
{
    expect_begin("[3,2,1,0]", "[7,3,1,9]", "[0,2]", "[7,9]", "[7,3,1,9,0,2]");
}

/* Row: C193. testAdditions. */
TEST_ALONE(replicas_that_are_added_stand_where_the_target_has_them)
{
    expect_begin("[3,2,1]", "[3,6,2,1,5]", "[]", "[5,6]", "[3,6,2,1,5]");
}

TEST_ALONE(a_move_with_more_replicas_than_a_list_holds_is_refused)
{
    struct hw_partition_change change = {.replicas = test_list("[1,2,3,4,5,6,7,8,9,10,11,12]")};
    struct hw_partition_change refused = change;
    struct hw_broker_list to = test_list("[12,13,14,15,16]");
    struct hw_broker_list too_many = test_list("[12,13,14,15,16,17]");

    assert_true(hw_partition_change_begin_move(&change, &to));
    assert_int_equal(change.replicas.count, HW_REPLICAS_MAX);
    assert_false(hw_partition_change_begin_move(&refused, &too_many));
    expect_list(&refused.replicas, "[1,2,3,4,5,6,7,8,9,10,11,12]");
}

/* Row: C129. testDoesNotCompleteReassignment. */
TEST_ALONE(a_move_is_not_complete_until_every_new_replica_is_in_sync)
{
    const char *text = "leader 0 epochs 0/1 replicas [3,4,5,0,1,2] isr [0,1,2,3,4] "
                       "adding [3,4,5] removing [0,1,2]";
    struct hw_partition_record record = test_partition_record(text);

    assert_false(hw_partition_record_maybe_complete_move(&record));
    expect_record(&record, text);
}

/* Row: C130. testDoesCompleteReassignmentAllNewReplicas. */
TEST_ALONE(a_move_to_other_brokers_completes_when_all_of_them_are_in_sync)
{
    struct hw_partition_record record =
        test_partition_record("leader 3 epochs 0/1 replicas [3,4,5,0,1,2] isr [0,1,2,3,4,5] "
                              "adding [3,4,5] removing [0,1,2]");

    assert_true(hw_partition_record_maybe_complete_move(&record));
    expect_record(&record, "leader 3 epochs 0/1 replicas [3,4,5] isr [3,4,5]");
}

/* Semantics: R7.4. Replicas that stay count too. */
TEST_ALONE(a_move_is_not_complete_while_a_replica_that_stays_is_out_of_sync)
{
    struct hw_partition_record record =
        test_partition_record("leader 3 epochs 0/1 replicas [3,4,0] isr [3,0] removing [0]");
    struct hw_partition_record at_rest =
        test_partition_record("leader 3 epochs 0/1 replicas [3,4] isr [3]");
    struct hw_partition_record synced =
        test_partition_record("leader 3 epochs 0/1 replicas [3,4] isr [3,4]");
    struct hw_partition_record nothing =
        test_partition_record("leader 3 epochs 0/1 replicas [3] isr [3] removing [3]");

    assert_false(hw_partition_record_maybe_complete_move(&record));
    assert_false(hw_partition_record_maybe_complete_move(&at_rest));
    assert_false(hw_partition_record_maybe_complete_move(&synced));  /* Nothing is moving. */
    assert_false(hw_partition_record_maybe_complete_move(&nothing)); /* Nothing would be left. */
}

/* Row: C131. testSomeAdding. */
TEST_ALONE(taking_a_move_back_drops_the_added_replicas)
{
    struct hw_partition_record record =
        test_partition_record("leader 4 epochs 0/1 replicas [4,5,3,2,1] isr [4,5,2] adding [4,5]");
    struct hw_partition_change change = hw_partition_change_of(&record);

    assert_false(hw_partition_change_cancel_move(&change));
    expect_list(&change.replicas, "[3,2,1]");
    expect_list(&change.isr, "[2]");
}

/* Row: C132. testIsrSpecialCase. */
TEST_ALONE(taking_a_move_back_whose_isr_is_all_new_is_unclean)
{
    struct hw_partition_record record = test_partition_record(
        "leader 4 epochs 0/1 replicas [4,5,3,2,1] isr [4,5] adding [4,5] removing [2]");
    struct hw_partition_change change = hw_partition_change_of(&record);

    assert_true(hw_partition_change_cancel_move(&change));
    expect_list(&change.replicas, "[3,2,1]");
    expect_list(&change.isr, "[3]");
}

/* Row: C136. testReassignPartitions. */
TEST(the_proposal_that_completes_a_move_can_cost_its_sender_the_leadership,
     struct test_controller *t)
{
    struct hw_partition_record moving;

    create(t, "[3,2,1]");
    assert_int_equal(reassign(t, 0, "[0,2,1]"), HW_KAFKA_NONE);
    expect_partition(t, 0,
                     "leader 3 epochs 0/1 replicas [0,2,1,3] isr [3,2,1] adding [0] removing [3]");

    moving = t->partitions[0];
    assert_int_equal(cancel_reassignment(t, 0), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 3 epochs 1/2 replicas [2,1,3] isr [3,2,1]");

    t->partitions[0] = moving;
    assert_int_equal(propose(t, 0, "[3,0,2,1]"), HW_KAFKA_NEW_LEADER_ELECTED);
    expect_partition(t, 0, "leader 0 epochs 1/2 replicas [0,2,1] isr [0,2,1]");
}

/* Row: C195. testCancelReassignPartitions. */
TEST(a_move_to_unknown_brokers_or_to_nowhere_is_refused, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(reassign(t, 0, "[5,6,7]"), HW_KAFKA_INVALID_REPLICA_ASSIGNMENT);
    assert_string_equal(t->error.message,
                        "the replica list [5,6,7] names broker 6, which is not registered");
    assert_int_equal(reassign(t, 0, "[]"), HW_KAFKA_INVALID_REPLICA_ASSIGNMENT);
    assert_string_equal(t->error.message,
                        "the replica list is empty, a partition needs at least one broker");
    assert_int_equal(reassign(t, 0, "[1,4,4]"), HW_KAFKA_INVALID_REPLICA_ASSIGNMENT);
    assert_int_equal(reassign(t, 0, "[1,-4]"), HW_KAFKA_INVALID_REPLICA_ASSIGNMENT);
}

/* Semantics: R7.1. */
TEST(a_move_that_only_reorders_takes_effect_at_once, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(reassign(t, 0, "[3,1,2]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 0/1 replicas [3,1,2] isr [1,2,3]");
    assert_int_equal(reassign(t, 0, "[3,1,2]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 0/1 replicas [3,1,2] isr [1,2,3]");
}

/* Semantics: R7.4, R7.6. */
TEST(a_move_that_only_removes_completes_at_once, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(reassign(t, 0, "[1,2]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 1/1 replicas [1,2] isr [1,2]");

    /* The leader itself is taken away. Semantics: R7.5. */
    assert_int_equal(reassign(t, 0, "[2]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 2 epochs 2/2 replicas [2] isr [2]");
}

/* Semantics: R7.2. */
TEST(a_second_move_is_computed_from_the_replicas_of_the_first, struct test_controller *t)
{
    create(t, "[1,2]");
    assert_int_equal(reassign(t, 0, "[3,4]"), HW_KAFKA_NONE);
    expect_partition(
        t, 0, "leader 1 epochs 0/1 replicas [3,4,1,2] isr [1,2] adding [3,4] removing [1,2]");
    assert_int_equal(reassign(t, 0, "[1,5]"), HW_KAFKA_NONE);
    expect_partition(
        t, 0, "leader 1 epochs 0/2 replicas [1,5,2,3,4] isr [1,2] adding [5] removing [2,3,4]");
    assert_int_equal(propose(t, 0, "[1,2,5]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 1/3 replicas [1,5] isr [1,5]");
}

/* The replica that is added is active, but has nothing. */
TEST(a_new_replica_is_not_elected_when_a_move_of_a_leaderless_partition_begins,
     struct test_controller *t)
{
    t->settings.unclean_leader_election_enable = true;
    create(t, "[1,2]");
    fence(t, 2);
    t->partitions[0] = test_partition_record("leader -1 epochs 1/2 replicas [1,2] isr [2]");
    assert_int_equal(reassign(t, 0, "[3,2]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader -1 epochs 1/3 replicas [3,2,1] isr [2] adding [3] removing [1]");
}

/* The user is the one who elects: design of controller.auto.elect. */
TEST(without_auto_elect_a_move_elects_only_where_it_takes_the_leader_away,
     struct test_controller *t)
{
    t->controller.auto_elect = false;
    create(t, "[1,2,3]");
    assert_int_equal(reassign(t, 0, "[2,3]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 2 epochs 1/1 replicas [2,3] isr [2,3]");
    fence(t, 2);
    assert_int_equal(reassign(t, 0, "[3,4]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader -1 epochs 2/3 replicas [3,4,2] isr [3] adding [4] removing [2]");
    assert_int_equal(cancel_reassignment(t, 0), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader -1 epochs 3/4 replicas [3,2] isr [3]");
}

/* Semantics: R7.7. */
TEST(there_is_no_cancelling_without_a_move, struct test_controller *t)
{
    create(t, "[1,2]");
    assert_int_equal(cancel_reassignment(t, 0), HW_KAFKA_NO_REASSIGNMENT_IN_PROGRESS);
    assert_string_equal(t->error.message, "no reassignment is running, there is nothing to cancel");
}

/* Semantics: R7.7. */
TEST(a_cancel_that_leaves_no_in_sync_replica_needs_unclean_elections, struct test_controller *t)
{
    create(t, "[1,2,3]");
    t->partitions[0] = test_partition_record("leader 4 epochs 1/5 replicas [4,5,3,2,1] isr [4,5] "
                                             "adding [4,5] removing [2]");
    assert_int_equal(cancel_reassignment(t, 0), HW_KAFKA_INVALID_REPLICA_ASSIGNMENT);
    assert_string_equal(t->error.message,
                        "cancelling would need an unclean election of broker 3, and "
                        "unclean.leader.election.enable is false");
    t->settings.unclean_leader_election_enable = true;
    assert_int_equal(cancel_reassignment(t, 0), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 3 epochs 2/6 replicas [3,2,1] isr [3]");
}

TEST(a_move_of_more_replicas_than_there_is_room_for_is_refused, struct test_controller *t)
{
    struct hw_broker_list target = {.count = HW_REPLICAS_MAX};
    struct hw_partition_record before;

    for (int32_t i = 0; i < HW_REPLICAS_MAX; i++) {
        target.ids[i] = 10 + i;
        (void)hw_controller_register(&t->controller, 10 + i);
    }
    create(t, "[1,2]");
    before = t->partitions[0];
    assert_int_equal(
        hw_controller_reassign(&t->controller, &t->settings, &target, &t->partitions[0], &t->error),
        HW_REFUSED);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT);
    assert_string_equal(t->error.message,
                        "the old and the new replicas together are more than 16 brokers, move the "
                        "partition in two steps");
    assert_int_equal(t->partitions[0].partition_epoch, before.partition_epoch);
}

int main(void)
{
    return test_run(test_controller_set_up, NULL);
}
