/* SPDX-License-Identifier: MIT */
/*
 * Who enters the eligible leader replicas (KIP-966), who leaves them, and when may they lead?
 *
 * Kafka's own tables: PartitionChangeBuilderTest, ReplicationControlManagerTest. Semantics: R6.8 to
 * R6.12.
 */
#include "support_controller.h"
#include "support_partition_change.h"

#include "tests/support_test.h"

/* Row: C108. testUncleanLeaderElection. */
TEST_ALONE(an_unclean_election_forgets_the_elr)
{
    struct test_change t =
        elr_change_of("leader -1 epochs 100/200 replicas [2,1,3] isr [] elr [3] known [2]", "[1]");

    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 1 epochs 101/201 replicas [2,1,3] isr [1] recovering");
}

/* Row: C111. testEligibleLeaderReplicas_IsrShrinkBelowMinISR. */
TEST_ALONE(who_leaves_an_isr_that_falls_below_the_minimum_enters_the_elr)
{
    struct test_change t =
        elr_change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2,3,4]", "[1,2,3,4]");

    t.change.isr = test_list("[1,2]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [1,2,3,4] isr [1,2] elr [3,4]");
}

/* Semantics: R0.4. */
TEST_ALONE(the_elr_is_kept_in_order_of_id)
{
    struct test_change t =
        elr_change_of("leader 3 epochs 1/2 replicas [4,3,2,1] isr [4,3,2,1]", "[1,2,3,4]");

    t.change.isr = test_list("[3]");
    expect_clean_change(&t, "leader 3 epochs 1/3 replicas [4,3,2,1] isr [3] elr [1,2,4]");
}

/* Semantics: R6.8. The high watermark moved on without it. */
TEST_ALONE(who_leaves_an_isr_that_stays_large_enough_does_not_enter_the_elr)
{
    struct test_change t =
        elr_change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2,3,4]", "[1,2,3,4]");

    t.change.isr = test_list("[1,2,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [1,2,3,4] isr [1,2,3]");
}

/* Row: C112. testEligibleLeaderReplicas_IsrExpandAboveMinISR. */
TEST_ALONE(an_isr_that_reaches_the_minimum_empties_the_elr)
{
    struct test_change t = elr_change_of(
        "leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2] elr [3] known [4]", "[1,2,3,4]");

    t.change.isr = test_list("[1,2,3]");
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [1,2,3,4] isr [1,2,3]");
    t.change.use_last_known_leader = false;
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [1,2,3,4] isr [1,2,3]");
}

/* Row: C113. testEligibleLeaderReplicas_RemoveUncleanShutdownReplicasFromElr. */
TEST_ALONE(who_restarted_uncleanly_leaves_the_elr)
{
    struct test_change t =
        elr_change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1] elr [2,3]", "[1,2,4]");

    t.change.unclean_restarts = test_list("[3]");
    t.change.use_last_known_leader = false;
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [1,2,3,4] isr [1] elr [2] known [3]");

    /* With the flag on, the field is kept for the last known leader. Semantics: R6.9. */
    t.change.use_last_known_leader = true;
    expect_clean_change(&t, "leader 1 epochs 100/201 replicas [1,2,3,4] isr [1] elr [2]");
}

/* Row: C114. testEligibleLeaderReplicas_ElrCanBeElected. */
TEST_ALONE(a_member_of_the_elr_leads_cleanly_when_the_isr_is_empty)
{
    struct test_change t =
        elr_change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1] elr [3]", "[2,3,4]");

    t.change.isr = test_list("[]");
    expect_clean_change(&t, "leader 3 epochs 101/201 replicas [1,2,3,4] isr [3] elr [1]");
}

/* Semantics: R6.2. */
TEST_ALONE(a_member_of_the_elr_does_not_lead_while_the_isr_has_members)
{
    struct test_change t =
        elr_change_of("leader 1 epochs 100/200 replicas [1,2,3,4] isr [1,2] elr [3]", "[3,4]");

    t.change.isr = test_list("[2]");
    expect_clean_change(&t, "leader -1 epochs 101/201 replicas [1,2,3,4] isr [2] elr [1,3]");
}

/* Row: C115. testEligibleLeaderReplicas_ElectLastKnownLeader. */
TEST_ALONE(the_last_known_leader_leads_when_isr_and_elr_are_empty)
{
    struct test_change t =
        elr_change_of("leader -1 epochs 100/200 replicas [1,2,3,4] isr [] known [1]", "[1,2,3,4]");

    t.change.election = HW_ELECTION_PREFERRED;
    expect_unclean_change(&t, "leader 1 epochs 101/201 replicas [1,2,3,4] isr [1] recovering");
    t.change.election = HW_ELECTION_ONLINE;
    expect_unclean_change(&t, "leader 1 epochs 101/201 replicas [1,2,3,4] isr [1] recovering");
}

/* Semantics: R6.10. */
TEST_ALONE(the_last_known_leader_is_not_elected_unless_every_condition_holds)
{
    struct test_change t;

    t = elr_change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [] known [1]", "[2,3]");
    expect_no_change(&t); /* It is down. */

    t = elr_change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [] known [1]", "[1,2,3]");
    t.change.use_last_known_leader = false;
    expect_no_change(&t); /* The flag is off. */

    t = elr_change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [] known [1,2]", "[1,2,3]");
    expect_no_change(&t); /* It is not one. */

    t = elr_change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [] elr [3] known [1]", "[1]");
    expect_no_change(&t); /* The ELR has somebody better, */

    t = elr_change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [3] known [1]", "[1]");
    expect_no_change(&t); /* or the ISR. */

    t = elr_change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [] known [9]", "[9]");
    expect_no_change(&t); /* It holds no replica any more. */
}

/* Semantics: R6.4. Of those that may lack records it lacks the fewest. */
TEST_ALONE(an_unclean_election_prefers_the_last_known_leader)
{
    struct test_change t =
        elr_change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [] known [3]", "[1,2,3]");

    t.change.election = HW_ELECTION_UNCLEAN;
    expect_unclean_change(&t, "leader 3 epochs 2/3 replicas [1,2,3] isr [3] recovering");
}

/* Semantics: R6.9. */
TEST_ALONE(the_leader_of_an_isr_that_becomes_empty_is_remembered_until_one_leads_again)
{
    struct test_change t =
        elr_change_of("leader 1 epochs 100/200 replicas [1,2,3] isr [1] elr [2]", "[3]");

    t.change.isr = test_list("[]");
    expect_clean_change(&t, "leader -1 epochs 101/201 replicas [1,2,3] isr [] elr [1,2] known [1]");

    /* A change that leaves it leaderless keeps the field. */
    t = elr_change_of("leader -1 epochs 4/4 replicas [1,2,3] isr [] elr [1,2] known [1]", "[]");
    t.change.unclean_restarts = test_list("[2]");
    expect_clean_change(&t, "leader -1 epochs 4/5 replicas [1,2,3] isr [] elr [1] known [1]");

    t = elr_change_of("leader -1 epochs 4/4 replicas [1,2,3] isr [] elr [1,2] known [1]", "[2]");
    expect_clean_change(&t, "leader 2 epochs 5/5 replicas [1,2,3] isr [2] elr [1]");
}

/* Semantics: R6.5. With the feature off, what it left behind goes with the next change. */
TEST_ALONE(with_the_elr_off_its_fields_are_emptied)
{
    struct test_change t =
        change_of("leader 1 epochs 1/2 replicas [1,2,3] isr [1] elr [2] known [3]", "[1]");

    expect_clean_change(&t, "leader 1 epochs 1/3 replicas [1,2,3] isr [1]");

    /* Nor can it elect anybody any more. */
    t = change_of("leader -1 epochs 1/2 replicas [1,2,3] isr [] elr [2] known [3]", "[1,2,3]");
    expect_clean_change(&t, "leader -1 epochs 1/3 replicas [1,2,3] isr []");
}

/* A removed replica is in the old ISR, but must not become eligible: it is no replica any more. */
TEST_ALONE(who_was_moved_away_does_not_enter_the_elr)
{
    struct test_change t = elr_change_of("leader 1 epochs 1/2 replicas [1,2,3] isr [1,3] elr [2] "
                                         "adding [1,2] removing [3]",
                                         "[1,2,3]");

    t.change.isr = test_list("[1,2,3]");
    expect_clean_change(&t, "leader 1 epochs 2/3 replicas [1,2] isr [1,2]");
}

/* Semantics: R6.12. Without the ELR a broker that registers anew stays where it is. */
TEST(an_unclean_restart_counts_only_with_the_elr, struct test_controller *t)
{
    create(t, "[0,1,2]");
    restart(t, 0);
    expect_partition(t, 0, "leader 0 epochs 0/0 replicas [0,1,2] isr [0,1,2]");

    t->controller.elr_enabled = true;
    restart(t, 0);
    expect_partition(t, 0, "leader 1 epochs 1/1 replicas [0,1,2] isr [1,2]");
    t->controller.auto_elect = false;
    restart(t, 1);
    expect_partition(t, 0, "leader -1 epochs 2/2 replicas [0,1,2] isr [2]");
}

/* Row: C116. testEligibleLeaderReplicas_BrokerFence. */
TEST(brokers_fenced_below_the_minimum_enter_the_elr, struct test_controller *t)
{
    t->controller.elr_enabled = true;
    t->settings.min_insync_replicas = 3;
    create(t, "[0,1,2,3]");
    fence(t, 2);
    expect_partition(t, 0, "leader 0 epochs 0/1 replicas [0,1,2,3] isr [0,1,3]");
    fence(t, 3);
    expect_partition(t, 0, "leader 0 epochs 0/2 replicas [0,1,2,3] isr [0,1] elr [3]");
    fence(t, 1);
    expect_partition(t, 0, "leader 0 epochs 0/3 replicas [0,1,2,3] isr [0] elr [1,3]");
    unfence(t, 1);
    unfence(t, 2);
    unfence(t, 3);
    expect_partition(t, 0, "leader 0 epochs 0/3 replicas [0,1,2,3] isr [0] elr [1,3]");
}

/* The minimum was lowered while nobody led. From the election on the high watermark moves, and who
 * is not in the ISR does not have all below it any more. Semantics: 0.6 invariants 4 and 8, R6.11
 */
TEST(a_leader_that_is_enough_alone_leaves_nobody_in_the_elr, struct test_controller *t)
{
    t->controller.elr_enabled = true;
    t->settings.min_insync_replicas = 2;
    create(t, "[0,1]");
    fence(t, 1);
    fence(t, 0);
    expect_partition(t, 0, "leader -1 epochs 1/2 replicas [0,1] isr [] elr [0,1] known [0]");
    t->settings.min_insync_replicas = 1;
    unfence(t, 0);
    expect_partition(t, 0, "leader 0 epochs 2/3 replicas [0,1] isr [0]");

    fence(t, 0);
    unfence(t, 1);
    expect_partition(t, 0, "leader -1 epochs 3/4 replicas [0,1] isr [] elr [0] known [0]");
}

/* Row: C117. testEligibleLeaderReplicas_EffectiveMinIsr. */
TEST(the_minimum_is_never_more_than_the_replicas_there_are, struct test_controller *t)
{
    create(t, "[0,1,2]");
    t->settings.min_insync_replicas = 5;
    assert_int_equal(hw_settings_effective_min_isr(&t->settings, t->partitions[0].replicas.count),
                     3);
    t->settings.min_insync_replicas = 2;
    assert_int_equal(hw_settings_effective_min_isr(&t->settings, t->partitions[0].replicas.count),
                     2);
}

/* Row: C118. testEligibleLeaderReplicas_UncleanShutdown. */
TEST(brokers_that_restart_uncleanly_leave_isr_and_elr, struct test_controller *t)
{
    t->controller.elr_enabled = true;
    t->settings.min_insync_replicas = 3;
    create(t, "[0,1,2,3]");
    fence(t, 1);
    fence(t, 2);
    fence(t, 3);
    expect_partition(t, 0, "leader 0 epochs 0/3 replicas [0,1,2,3] isr [0] elr [2,3]");
    restart(t, 3);
    expect_partition(t, 0, "leader 0 epochs 0/4 replicas [0,1,2,3] isr [0] elr [2]");
    restart(t, 0);
    expect_partition(t, 0, "leader -1 epochs 1/5 replicas [0,1,2,3] isr [] elr [2] known [0]");
}

/* Semantics: R6.11. */
TEST(an_unfenced_member_of_the_elr_leads_a_leaderless_partition, struct test_controller *t)
{
    t->controller.elr_enabled = true;
    t->settings.min_insync_replicas = 2;
    create(t, "[0,1,2]");
    fence(t, 2);
    fence(t, 0);
    fence(t, 1);
    expect_partition(t, 0, "leader -1 epochs 2/3 replicas [0,1,2] isr [] elr [0,1] known [1]");
    unfence(t, 2);
    expect_partition(t, 0, "leader -1 epochs 2/3 replicas [0,1,2] isr [] elr [0,1] known [1]");
    unfence(t, 0);
    expect_partition(t, 0, "leader 0 epochs 3/4 replicas [0,1,2] isr [0] elr [1]");
}

int main(void)
{
    return test_run(test_controller_set_up, NULL);
}
