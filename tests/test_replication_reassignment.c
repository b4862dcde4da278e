/* SPDX-License-Identifier: MIT */
/*
 * What does a move of a partition begin with, when is it complete, what does taking it back leave?
 *
 * Kafka's own tables: PartitionReassignmentReplicasTest, PartitionReassignmentRevertTest.
 * Semantics: R7.1, R7.4, R7.7.
 */
#include "core/replication/reassignment.h"
#include "support_partition_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect_begin(const char *replicas, const char *target, const char *removing,
                         const char *adding, const char *list)
{
    struct hw_broker_list from = test_list(replicas);
    struct hw_broker_list to = test_list(target);
    struct hw_reassignment reassignment;

    assert_true(hw_reassignment_begin(&from, &to, &reassignment));
    expect_list(&reassignment.removing, removing);
    expect_list(&reassignment.adding, adding);
    expect_list(&reassignment.replicas, list);
}

/* Row: C127. testRemovals. */
static void replicas_to_be_removed_go_behind_the_target(void **state)
{
    (void)state;
    expect_begin("[3,2,1,0]", "[3,1]", "[0,2]", "[]", "[3,1,0,2]");
}

/* Row: C128. testAdditionsAndRemovals. */
static void replicas_can_be_added_and_removed_in_one_move(void **state)
{
    (void)state;
    expect_begin("[3,2,1,0]", "[7,3,1,9]", "[0,2]", "[7,9]", "[7,3,1,9,0,2]");
}

/* Row: C193. testAdditions. */
static void replicas_that_are_added_stand_where_the_target_has_them(void **state)
{
    (void)state;
    expect_begin("[3,2,1]", "[3,6,2,1,5]", "[]", "[5,6]", "[3,6,2,1,5]");
}

static void a_move_with_more_replicas_than_a_list_holds_is_refused(void **state)
{
    struct hw_broker_list from = test_list("[1,2,3,4,5,6,7,8,9,10,11,12]");
    struct hw_broker_list to = test_list("[12,13,14,15,16]");
    struct hw_broker_list too_many = test_list("[12,13,14,15,16,17]");
    struct hw_reassignment reassignment;

    (void)state;
    assert_true(hw_reassignment_begin(&from, &to, &reassignment));
    assert_int_equal(reassignment.replicas.count, HW_REPLICAS_MAX);
    assert_false(hw_reassignment_begin(&from, &too_many, &reassignment));
    assert_int_equal(reassignment.replicas.count, HW_REPLICAS_MAX);
}

/* Row: C129. testDoesNotCompleteReassignment. */
static void a_move_is_not_complete_until_every_new_replica_is_in_sync(void **state)
{
    const char *text = "leader 0 epochs 0/1 replicas [3,4,5,0,1,2] isr [0,1,2,3,4] "
                       "adding [3,4,5] removing [0,1,2]";
    struct hw_partition_record record = test_record(text);

    (void)state;
    assert_false(hw_reassignment_maybe_complete(&record));
    expect_record(&record, text);
}

/* Row: C130. testDoesCompleteReassignmentAllNewReplicas. */
static void a_move_to_other_brokers_completes_when_all_of_them_are_in_sync(void **state)
{
    struct hw_partition_record record =
        test_record("leader 3 epochs 0/1 replicas [3,4,5,0,1,2] isr [0,1,2,3,4,5] "
                    "adding [3,4,5] removing [0,1,2]");

    (void)state;
    assert_true(hw_reassignment_maybe_complete(&record));
    expect_record(&record, "leader 3 epochs 0/1 replicas [3,4,5] isr [3,4,5]");
}

/* Semantics: R7.4. Replicas that stay count too. */
static void a_move_is_not_complete_while_a_replica_that_stays_is_out_of_sync(void **state)
{
    struct hw_partition_record record =
        test_record("leader 3 epochs 0/1 replicas [3,4,0] isr [3,0] removing [0]");
    struct hw_partition_record at_rest = test_record("leader 3 epochs 0/1 replicas [3,4] isr [3]");
    struct hw_partition_record synced = test_record("leader 3 epochs 0/1 replicas [3,4] isr [3,4]");

    (void)state;
    assert_false(hw_reassignment_maybe_complete(&record));
    assert_false(hw_reassignment_maybe_complete(&at_rest));
    assert_false(hw_reassignment_maybe_complete(&synced)); /* Nothing is moving. */
}

/* Row: C131. testSomeAdding. */
static void taking_a_move_back_drops_the_added_replicas(void **state)
{
    struct hw_partition_record record =
        test_record("leader 4 epochs 0/1 replicas [4,5,3,2,1] isr [4,5,2] adding [4,5]");
    struct hw_reassignment_revert revert = hw_reassignment_revert_of(&record);

    (void)state;
    expect_list(&revert.replicas, "[3,2,1]");
    expect_list(&revert.isr, "[2]");
    assert_false(revert.unclean);
}

/* Row: C132. testIsrSpecialCase. */
static void taking_a_move_back_whose_isr_is_all_new_is_unclean(void **state)
{
    struct hw_partition_record record =
        test_record("leader 4 epochs 0/1 replicas [4,5,3,2,1] isr [4,5] adding [4,5] removing [2]");
    struct hw_reassignment_revert revert = hw_reassignment_revert_of(&record);

    (void)state;
    expect_list(&revert.replicas, "[3,2,1]");
    expect_list(&revert.isr, "[3]");
    assert_true(revert.unclean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replicas_to_be_removed_go_behind_the_target),
        cmocka_unit_test(replicas_can_be_added_and_removed_in_one_move),
        cmocka_unit_test(replicas_that_are_added_stand_where_the_target_has_them),
        cmocka_unit_test(a_move_with_more_replicas_than_a_list_holds_is_refused),
        cmocka_unit_test(a_move_is_not_complete_until_every_new_replica_is_in_sync),
        cmocka_unit_test(a_move_to_other_brokers_completes_when_all_of_them_are_in_sync),
        cmocka_unit_test(a_move_is_not_complete_while_a_replica_that_stays_is_out_of_sync),
        cmocka_unit_test(taking_a_move_back_drops_the_added_replicas),
        cmocka_unit_test(taking_a_move_back_whose_isr_is_all_new_is_unclean),
    };
    return cmocka_run_group_tests_name("replication_reassignment", tests, NULL, NULL);
}
