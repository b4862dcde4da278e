/* SPDX-License-Identifier: MIT */
/*
 * Does a change of a partition record elect, bump the leader epoch, keep the ELR and complete a
 * reassignment as Kafka's does?
 *
 * Kafka's own table: PartitionChangeBuilderTest. Semantics: R6.1 to R6.7, R7.4 to R7.6.
 */
#include "support_partition_change.h"

#include "tests/support_test.h"

/* The partition that most of Kafka's tests begin with. */
#define FOO "leader 1 epochs 100/200 replicas [2,1,3] isr [2,1,3]"

/* Row: C104. testElectLeader. */
TEST_ALONE(a_preferred_election_alone_moves_the_leader_to_the_first_replica)
{
    struct test_change t = change_of(FOO, "[1,2,4]");

    t.change.election = HW_ELECTION_PREFERRED;
    expect_clean_change(&t, "leader 2 epochs 101/201 replicas [2,1,3] isr [2,1,3]");
    t.change.election = HW_ELECTION_ONLINE;
    expect_no_change(&t);
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_no_change(&t);
}

/* Row: C105. testElectLeader. */
TEST_ALONE(without_an_acceptable_member_of_the_isr_only_an_unclean_election_finds_a_leader)
{
    struct test_change t = change_of(FOO, "[1,2,4]");

    t.change.isr = test_list("[3]");
    t.change.election = HW_ELECTION_ONLINE;
    expect_clean_change(&t, "leader -1 epochs 101/201 replicas [2,1,3] isr [3]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 2 epochs 101/201 replicas [2,1,3] isr [2] recovering");
}

/* Row: C189. testElectLeader. */
TEST_ALONE(an_unclean_election_takes_a_member_of_the_isr_where_there_is_one)
{
    struct test_change t = change_of(FOO, "[1,2,4]");

    t.change.replicas = test_list("[2,1,3,4]");
    t.change.isr = test_list("[4]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_clean_change(&t, "leader 4 epochs 101/201 replicas [2,1,3,4] isr [4]");
}

/* Semantics: R6.3. The current leader goes before the order of the list. */
TEST_ALONE(a_preferred_election_keeps_the_leader_if_the_first_replica_cannot_lead)
{
    struct test_change t = change_of("leader 3 epochs 5/9 replicas [2,1,3] isr [2,1,3]", "[1,3]");

    t.change.election = HW_ELECTION_PREFERRED;
    expect_no_change(&t);
    t.change.acceptable = test_list("[1]");
    expect_clean_change(&t, "leader 1 epochs 6/10 replicas [2,1,3] isr [2,1,3]");
    t.change.acceptable = test_list("[]");
    expect_clean_change(&t, "leader -1 epochs 6/10 replicas [2,1,3] isr [2,1,3]");
}

/* Row: C106. testIsrChangeDoesntBumpLeaderEpoch. */
TEST_ALONE(a_change_of_the_isr_does_not_bump_the_leader_epoch)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    t.change.isr = test_list("[2,1]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1]");

    /* Nor does one that lets a member in. */
    t.record.isr = test_list("[2,1]");
    t.change.isr = test_list("[2,1,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1,3]");
}

/* Row: C107. testUncleanLeaderElection. */
TEST_ALONE(an_unclean_leader_is_alone_in_the_isr_and_recovering)
{
    struct test_change t = change_of(FOO, "[1,2]");

    t.change.isr = test_list("[3]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 2 epochs 101/201 replicas [2,1,3] isr [2] recovering");
}

/* Stricter than Kafka, which would leave it outside of its own ISR. */
TEST_ALONE(a_leader_that_is_elected_uncleanly_again_begins_a_new_epoch)
{
    struct test_change t = change_of("leader 1 epochs 1/2 replicas [1,2,3] isr [1,3]", "[1]");

    t.change.isr = test_list("[3]");
    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 1 epochs 2/3 replicas [1,2,3] isr [1] recovering");
}

/* Row: C109. testNoLeaderEpochBumpOnIsrShrink. */
TEST_ALONE(a_shrinking_isr_leaves_the_leader_field_unset)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    t.change.isr = test_list("[2,1]");
    t.change.bump_leader_epoch_on_shrink = false;
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1]");
}

/* Row: C190. testLeaderEpochBumpOnIsrShrink. */
TEST_ALONE(before_metadata_version_3_6_a_shrinking_isr_bumps_the_leader_epoch)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    t.change.isr = test_list("[2,1]");
    t.change.bump_leader_epoch_on_shrink = true;
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [2,1,3] isr [2,1]");

    /* A growing one never did. */
    t.record.isr = test_list("[2,1]");
    t.change.isr = test_list("[2,1,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3] isr [2,1,3]");
}

/* Row: C110. testLeaderEpochBumpOnNewReplicaSetDisjoint. */
TEST_ALONE(losing_a_replica_bumps_the_leader_epoch_although_the_leader_stays)
{
    struct test_change t = change_of(FOO, "[1,2,3,4]");

    t.change.replicas = test_list("[2,1,4]");
    t.change.isr = test_list("[2,1]");
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [2,1,4] isr [2,1]");

    /* Only gaining one does not. Semantics: R7.6. */
    t.change.replicas = test_list("[2,1,3,4]");
    t.change.isr = test_list("[2,1,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [2,1,3,4] isr [2,1,3]");
}

/* Semantics: R4.10. What promote() of the leader itself, and a restart of it, need. */
TEST_ALONE(the_leader_epoch_can_be_bumped_for_its_own_sake)
{
    struct test_change t = change_of(FOO, "[1]");

    t.change.bump_leader_epoch = true;
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [2,1,3] isr [2,1,3]");
}

/* Semantics: R6.7. */
TEST_ALONE(without_the_elr_the_last_member_of_the_isr_stays_in_it_without_leading)
{
    struct test_change t = change_of("leader 1 epochs 3/7 replicas [2,1,3] isr [1]", "[2,3]");

    t.change.isr = test_list("[]");
    expect_clean_change(&t, "leader -1 epochs 4/8 replicas [2,1,3] isr [1]");

    /* Once it is leaderless there is nothing left to change. */
    t.record.leader = HW_BROKER_ID_NONE;
    expect_no_change(&t);
}

/* Semantics: R6.23. Only the leader's own report ends the recovery (R6.22). */
TEST_ALONE(a_clean_election_leaves_the_recovery_state)
{
    struct test_change t =
        change_of("leader 1 epochs 1/2 replicas [1,2,3] isr [1,2] recovering", "[2,3]");

    t.change.isr = test_list("[2]");
    expect_clean_change(&t, "leader 2 epochs 2/3 replicas [1,2,3] isr [2] recovering");
    t.change = hw_partition_change_of(&t.record);
    t.change.acceptable = test_list("[1]");
    t.change.recovering = false;
    expect_clean_change(&t, "leader 1 epochs 1/3 replicas [1,2,3] isr [1,2]");
}

/* Row: C133. testIsrEnlargementCompletesReassignment. */
TEST_ALONE(the_isr_change_that_brings_the_last_replica_completes_the_move)
{
    struct test_change t = change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2,3] "
                                     "adding [4] removing [1]",
                                     "[1,2,4]");

    t.change.isr = test_list("[1,2,3,4]");
    expect_clean_change(&t, "leader 2 epochs 101/201 replicas [2,3,4] isr [2,3,4]");
}

/* Row: C134. testRevertReassignment. */
TEST_ALONE(a_move_that_is_taken_back_bumps_the_leader_epoch)
{
    struct test_change t = change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2,3] "
                                     "adding [4] removing [1]",
                                     "[1,2,4]");

    assert_false(hw_partition_change_cancel_move(&t.change));
    expect_clean_change(&t, "leader 1 epochs 101/201 replicas [1,2,3] isr [1,2,3]");
}

/* Row: C135. testStoppedLeaderIsDemotedAfterReassignmentCompletesEvenIfNoNewEligibleLeaders. */
TEST_ALONE(a_leader_that_was_moved_away_goes_although_nobody_can_follow_it)
{
    struct test_change t = change_of("leader 0 epochs 100/200 replicas [2,3,0,1] isr [0,1] "
                                     "adding [2,3] removing [0,1]",
                                     "[]");

    t.change.isr = test_list("[0,1,2,3]");
    expect_clean_change(&t, "leader -1 epochs 101/201 replicas [2,3] isr [2,3]");
}

/* Row: C194. testReassignmentRearrangesReplicas. */
TEST_ALONE(another_order_of_the_replicas_changes_the_list_alone)
{
    struct test_change t = change_of(FOO, "[1,2,3]");

    t.change.replicas = test_list("[3,2,1]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [3,2,1] isr [2,1,3]");
}

/* Semantics: R4.10. A file from elsewhere can bring the greatest epoch; none comes after it. */
TEST_ALONE(epochs_stay_at_the_greatest_one)
{
    struct test_change t =
        change_of("leader 1 epochs 2147483647/2147483647 replicas [2,1,3] isr [2,1,3]", "[1,2,4]");

    t.change.election = HW_ELECTION_PREFERRED;
    expect_clean_change(&t, "leader 2 epochs 2147483647/2147483647 replicas [2,1,3] isr [2,1,3]");
}

int main(void)
{
    return test_run(NULL, NULL);
}
