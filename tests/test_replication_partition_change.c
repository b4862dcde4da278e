/* SPDX-License-Identifier: MIT */
/*
 * Does a change of a partition record elect, bump the leader epoch, keep the ELR and complete a
 * reassignment as Kafka's does?
 *
 * Kafka's own table: PartitionChangeBuilderTest. Semantics: R6.1 to R6.7, R7.4 to R7.6.
 */
#include "core/replication/reassignment.h"
#include "support_partition_change.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* The partition that most of Kafka's tests begin with. */
#define FOO "leader 1 epochs 100/200 replicas [2,1,3] isr [2,1,3]"

/* Row: C104. testElectLeader. */
static void a_preferred_election_alone_moves_the_leader_to_the_first_replica(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,4]");

    (void)state;
    t.change.election = HW_ELECTION_PREFERRED;
    expect_clean_change(&t, "leader 2 epochs 101/201 replicas [2,1,3] isr [2,1,3]");
    t.change.election = HW_ELECTION_ONLINE;
    expect_no_change(&t);
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_no_change(&t);
}

/* Row: C105. testElectLeader. */
static void
without_an_acceptable_member_of_the_isr_only_an_unclean_election_finds_a_leader(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,4]");

    (void)state;
    t.change.isr = test_list("[3]");
    t.change.election = HW_ELECTION_ONLINE;
    expect_clean_change(&t, "leader -1 epochs 101/201 replicas [2,1,3] isr [3]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 2 epochs 101/201 replicas [2,1,3] isr [2] recovering");
}

/* Row: C189. testElectLeader. */
static void an_unclean_election_takes_a_member_of_the_isr_where_there_is_one(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,4]");

    (void)state;
    t.change.replicas = test_list("[2,1,3,4]");
    t.change.isr = test_list("[4]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_clean_change(&t, "leader 4 epochs 101/201 replicas [2,1,3,4] isr [4]");
}

/* Semantics: R6.3. The current leader goes before the order of the list. */
static void a_preferred_election_keeps_the_leader_if_the_first_replica_cannot_lead(void **state)
{
    struct test_change t = change_of("leader 3 epochs 5/9 replicas [2,1,3] isr [2,1,3]", "[1,3]");

    (void)state;
    t.change.election = HW_ELECTION_PREFERRED;
    expect_no_change(&t);
    t.change.acceptable = test_list("[1]");
    expect_clean_change(&t, "leader 1 epochs 6/10 replicas [2,1,3] isr [2,1,3]");
    t.change.acceptable = test_list("[]");
    expect_clean_change(&t, "leader -1 epochs 6/10 replicas [2,1,3] isr [2,1,3]");
}

/* Row: C106. testIsrChangeDoesntBumpLeaderEpoch. */
static void a_change_of_the_isr_does_not_bump_the_leader_epoch(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    (void)state;
    t.change.isr = test_list("[2,1]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1]");

    /* Nor does one that lets a member in. */
    t.record.isr = test_list("[2,1]");
    t.change.isr = test_list("[2,1,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1,3]");
}

/* Row: C107. testUncleanLeaderElection. */
static void an_unclean_leader_is_alone_in_the_isr_and_recovering(void **state)
{
    struct test_change t = change_of(FOO, "[1,2]");

    (void)state;
    t.change.isr = test_list("[3]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 2 epochs 101/201 replicas [2,1,3] isr [2] recovering");
}

/* Stricter than Kafka, which would leave it outside of its own ISR. */
static void a_leader_that_is_elected_uncleanly_again_begins_a_new_epoch(void **state)
{
    struct test_change t = change_of("leader 1 epochs 1/2 replicas [1,2,3] isr [1,3]", "[1]");

    (void)state;
    t.change.isr = test_list("[3]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 1 epochs 2/3 replicas [1,2,3] isr [1] recovering");
}

/* Row: C109. testNoLeaderEpochBumpOnIsrShrink. */
static void a_shrinking_isr_leaves_the_leader_field_unset(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    (void)state;
    t.change.isr = test_list("[2,1]");
    t.change.bump_leader_epoch_on_shrink = false;
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1]");
}

/* Row: C190. testLeaderEpochBumpOnIsrShrink. */
static void before_metadata_version_3_6_a_shrinking_isr_bumps_the_leader_epoch(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    (void)state;
    t.change.isr = test_list("[2,1]");
    t.change.bump_leader_epoch_on_shrink = true;
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [2,1,3] isr [2,1]");

    /* A growing one never did. */
    t.record.isr = test_list("[2,1]");
    t.change.isr = test_list("[2,1,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1,3]");
}

/* Row: C110. testLeaderEpochBumpOnNewReplicaSetDisjoint. */
static void losing_a_replica_bumps_the_leader_epoch_although_the_leader_stays(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,3,4]");

    (void)state;
    t.change.replicas = test_list("[2,1,4]");
    t.change.isr = test_list("[2,1]");
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [2,1,4] isr [2,1]");

    /* Only gaining one does not. Semantics: R7.6. */
    t.change.replicas = test_list("[2,1,3,4]");
    t.change.isr = test_list("[2,1,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3,4] isr [2,1,3]");
}

/* Semantics: R4.10. What promote() of the leader itself, and a restart of it, need. */
static void the_leader_epoch_can_be_bumped_for_its_own_sake(void **state)
{
    struct test_change t = change_of(FOO, "[1]");

    (void)state;
    t.change.bump_leader_epoch = true;
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [2,1,3] isr [2,1,3]");
}

/* Semantics: R6.7. */
static void without_the_elr_the_last_member_of_the_isr_stays_in_it_without_leading(void **state)
{
    struct test_change t = change_of("leader 1 epochs 3/7 replicas [2,1,3] isr [1]", "[2,3]");

    (void)state;
    t.change.isr = test_list("[]");
    expect_clean_change(&t, "leader -1 epochs 4/8 replicas [2,1,3] isr [1]");

    /* Once it is leaderless there is nothing left to change. */
    t.record.leader = HW_BROKER_ID_NONE;
    expect_no_change(&t);
}

/* Semantics: R6.23. Only the leader's own report ends the recovery (R6.22). */
static void a_clean_election_leaves_the_recovery_state(void **state)
{
    struct test_change t =
        change_of("leader 1 epochs 1/2 replicas [1,2,3] isr [1,2] recovering", "[2,3]");

    (void)state;
    t.change.isr = test_list("[2]");
    expect_clean_change(&t, "leader 2 epochs 2/3 replicas [1,2,3] isr [2] recovering");
    t.change = hw_partition_change_of(&t.record);
    t.change.acceptable = test_list("[1]");
    t.change.recovering = false;
    expect_clean_change(&t, "leader 1 epochs 1/3 replicas [1,2,3] isr [1,2]");
}

/* Row: C133. testIsrEnlargementCompletesReassignment. */
static void the_isr_change_that_brings_the_last_replica_completes_the_move(void **state)
{
    struct test_change t = change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2,3] "
                                     "adding [4] removing [1]",
                                     "[1,2,4]");

    (void)state;
    t.change.isr = test_list("[1,2,3,4]");
    expect_clean_change(&t, "leader 2 epochs 101/201 replicas [2,3,4] isr [2,3,4]");
}

/* Row: C134. testRevertReassignment. */
static void a_move_that_is_taken_back_bumps_the_leader_epoch(void **state)
{
    struct test_change t = change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2,3] "
                                     "adding [4] removing [1]",
                                     "[1,2,4]");
    struct hw_reassignment_revert revert = hw_reassignment_revert_of(&t.record);

    (void)state;
    t.change.replicas = revert.replicas;
    t.change.isr = revert.isr;
    t.change.adding = test_list("[]");
    t.change.removing = test_list("[]");
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [1,2,3] isr [1,2,3]");
}

/* Row: C135. testStoppedLeaderIsDemotedAfterReassignmentCompletesEvenIfNoNewEligibleLeaders. */
static void a_leader_that_was_moved_away_goes_although_nobody_can_follow_it(void **state)
{
    struct test_change t = change_of("leader 0 epochs 100/200 replicas [2,3,0,1] isr [0,1] "
                                     "adding [2,3] removing [0,1]",
                                     "[]");

    (void)state;
    t.change.isr = test_list("[0,1,2,3]");
    expect_clean_change(&t, "leader -1 epochs 101/201 replicas [2,3] isr [2,3]");
}

/* Row: C194. testReassignmentRearrangesReplicas. */
static void another_order_of_the_replicas_changes_the_list_alone(void **state)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    (void)state;
    t.change.replicas = test_list("[3,2,1]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [3,2,1] isr [2,1,3]");
}

/* Semantics: R4.10. A file from elsewhere can bring the greatest epoch; none comes after it. */
static void epochs_stay_at_the_greatest_one(void **state)
{
    struct test_change t =
        change_of("leader 1 epochs 2147483647/2147483647 replicas [2,1,3] isr [2,1,3]", "[1,2,4]");

    (void)state;
    t.change.election = HW_ELECTION_PREFERRED;
    expect_clean_change(&t, "leader 2 epochs 2147483647/2147483647 replicas [2,1,3] isr [2,1,3]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preferred_election_alone_moves_the_leader_to_the_first_replica),
        cmocka_unit_test(
            without_an_acceptable_member_of_the_isr_only_an_unclean_election_finds_a_leader),
        cmocka_unit_test(an_unclean_election_takes_a_member_of_the_isr_where_there_is_one),
        cmocka_unit_test(a_preferred_election_keeps_the_leader_if_the_first_replica_cannot_lead),
        cmocka_unit_test(a_change_of_the_isr_does_not_bump_the_leader_epoch),
        cmocka_unit_test(an_unclean_leader_is_alone_in_the_isr_and_recovering),
        cmocka_unit_test(a_leader_that_is_elected_uncleanly_again_begins_a_new_epoch),
        cmocka_unit_test(a_shrinking_isr_leaves_the_leader_field_unset),
        cmocka_unit_test(before_metadata_version_3_6_a_shrinking_isr_bumps_the_leader_epoch),
        cmocka_unit_test(losing_a_replica_bumps_the_leader_epoch_although_the_leader_stays),
        cmocka_unit_test(the_leader_epoch_can_be_bumped_for_its_own_sake),
        cmocka_unit_test(without_the_elr_the_last_member_of_the_isr_stays_in_it_without_leading),
        cmocka_unit_test(a_clean_election_leaves_the_recovery_state),
        cmocka_unit_test(the_isr_change_that_brings_the_last_replica_completes_the_move),
        cmocka_unit_test(a_move_that_is_taken_back_bumps_the_leader_epoch),
        cmocka_unit_test(a_leader_that_was_moved_away_goes_although_nobody_can_follow_it),
        cmocka_unit_test(another_order_of_the_replicas_changes_the_list_alone),
        cmocka_unit_test(epochs_stay_at_the_greatest_one),
    };
    return cmocka_run_group_tests_name("replication_partition_change", tests, NULL, NULL);
}
