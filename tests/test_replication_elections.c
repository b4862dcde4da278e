/* SPDX-License-Identifier: MIT */
/*
 * What do elections, promotions and removals that somebody asks for do, and when are they refused?
 *
 * Kafka's own table: ReplicationControlManagerTest. Semantics: R6.20, R6.21.
 */
#include "support_controller.h"

#include "tests/support_test.h"

/* --- Elections --- */

/* Row: C122. testElectUncleanLeaders_WithoutElr. */
TEST(an_ordered_unclean_election_ignores_the_config_but_not_a_leader, struct test_controller *t)
{
    create(t, "[1,2,3]");
    create(t, "[2,3,4]");
    create(t, "[0,2,1]");
    fence(t, 2);
    fence(t, 3);
    fence(t, 1);
    expect_partition(t, 0, "leader -1 epochs 1/3 replicas [1,2,3] isr [1]");
    expect_partition(t, 1, "leader 4 epochs 2/2 replicas [2,3,4] isr [4]");
    expect_partition(t, 2, "leader 0 epochs 0/2 replicas [0,2,1] isr [0]");

    assert_int_equal(elect(t, 0, HW_ELECTION_UNCLEAN), HW_KAFKA_ELIGIBLE_LEADERS_NOT_AVAILABLE);
    assert_int_equal(elect(t, 1, HW_ELECTION_UNCLEAN), HW_KAFKA_ELECTION_NOT_NEEDED);
    assert_int_equal(elect(t, 2, HW_ELECTION_UNCLEAN), HW_KAFKA_ELECTION_NOT_NEEDED);

    unfence(t, 2);
    assert_int_equal(propose(t, 1, "[2,4]"), HW_KAFKA_NONE);
    assert_int_equal(elect(t, 0, HW_ELECTION_UNCLEAN), HW_KAFKA_NONE);
    assert_int_equal(elect(t, 1, HW_ELECTION_UNCLEAN), HW_KAFKA_ELECTION_NOT_NEEDED);
    assert_int_equal(elect(t, 2, HW_ELECTION_UNCLEAN), HW_KAFKA_ELECTION_NOT_NEEDED);
    expect_partition(t, 0, "leader 2 epochs 2/4 replicas [1,2,3] isr [2] recovering");
    expect_partition(t, 1, "leader 4 epochs 2/3 replicas [2,3,4] isr [2,4]");
    expect_partition(t, 2, "leader 0 epochs 0/2 replicas [0,2,1] isr [0]");
}

/* Row: C123. testPreferredElectionDoesNotTriggerUncleanElection. */
TEST(a_preferred_election_is_never_unclean, struct test_controller *t)
{
    create(t, "[1,2,3]");
    fence(t, 2);
    fence(t, 3);
    fence(t, 1);
    unfence(t, 2);
    t->settings.unclean_leader_election_enable = true;
    assert_int_equal(elect(t, 0, HW_ELECTION_PREFERRED), HW_KAFKA_PREFERRED_LEADER_NOT_AVAILABLE);
    expect_partition(t, 0, "leader -1 epochs 1/3 replicas [1,2,3] isr [1]");
}

/* Row: C124. testElectPreferredLeaders. */
TEST(a_preferred_election_waits_for_the_first_replica_to_be_in_sync, struct test_controller *t)
{
    fence(t, 0);
    shut_down(t, 1);
    create(t, "[1,2,3]");
    create(t, "[2,3,4]");
    create(t, "[0,2,1]");
    assert_int_equal(elect(t, 0, HW_ELECTION_PREFERRED), HW_KAFKA_PREFERRED_LEADER_NOT_AVAILABLE);
    assert_int_equal(elect(t, 1, HW_ELECTION_PREFERRED), HW_KAFKA_ELECTION_NOT_NEEDED);
    assert_int_equal(elect(t, 2, HW_ELECTION_PREFERRED), HW_KAFKA_PREFERRED_LEADER_NOT_AVAILABLE);

    unfence(t, 0);
    restart(t, 1);
    assert_int_equal(propose(t, 0, "[1,2,3]"), HW_KAFKA_NONE);
    assert_int_equal(propose(t, 2, "[0,2,1]"), HW_KAFKA_NONE);
    assert_int_equal(elect(t, 0, HW_ELECTION_PREFERRED), HW_KAFKA_NONE);
    assert_int_equal(elect(t, 1, HW_ELECTION_PREFERRED), HW_KAFKA_ELECTION_NOT_NEEDED);
    assert_int_equal(elect(t, 2, HW_ELECTION_PREFERRED), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 1/2 replicas [1,2,3] isr [1,2,3]");
    expect_partition(t, 1, "leader 2 epochs 0/0 replicas [2,3,4] isr [2,3,4]");
    expect_partition(t, 2, "leader 0 epochs 1/2 replicas [0,2,1] isr [0,2,1]");
}

/* Row: C125. testMaybeTriggerUncleanLeaderElectionForLeaderlessPartitions. */
TEST(the_controller_elects_uncleanly_once_the_topic_allows_it, struct test_controller *t)
{
    create(t, "[1,2,4]");
    create(t, "[1,3,4]");
    create(t, "[0,2,4]");
    for (hw_broker_id_t id = 0; id <= 4; id++) {
        fence(t, id);
    }
    unfence(t, 2);
    expect_partition(t, 0, "leader -1 epochs 3/3 replicas [1,2,4] isr [4]");
    expect_partition(t, 1, "leader -1 epochs 3/3 replicas [1,3,4] isr [4]");
    expect_partition(t, 2, "leader -1 epochs 3/3 replicas [0,2,4] isr [4]");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(elect(t, i, HW_ELECTION_ONLINE), HW_KAFKA_ELIGIBLE_LEADERS_NOT_AVAILABLE);
    }

    t->settings.unclean_leader_election_enable = true;
    assert_int_equal(elect(t, 0, HW_ELECTION_ONLINE), HW_KAFKA_NONE);
    assert_int_equal(elect(t, 1, HW_ELECTION_ONLINE), HW_KAFKA_ELIGIBLE_LEADERS_NOT_AVAILABLE);
    assert_int_equal(elect(t, 2, HW_ELECTION_ONLINE), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 2 epochs 4/4 replicas [1,2,4] isr [2] recovering");
    expect_partition(t, 1, "leader -1 epochs 3/3 replicas [1,3,4] isr [4]");
    expect_partition(t, 2, "leader 2 epochs 4/4 replicas [0,2,4] isr [2] recovering");
}

/* Semantics: R6.4. */
TEST(an_online_election_keeps_a_leader_that_can_lead, struct test_controller *t)
{
    create(t, "[1,2,3]");
    t->partitions[0] = test_partition_record("leader 2 epochs 1/1 replicas [1,2,3] isr [1,2,3]");
    assert_int_equal(elect(t, 0, HW_ELECTION_ONLINE), HW_KAFKA_ELECTION_NOT_NEEDED);
    t->partitions[0].leader = HW_BROKER_ID_NONE;
    assert_int_equal(elect(t, 0, HW_ELECTION_ONLINE), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 2/2 replicas [1,2,3] isr [1,2,3]");
}

/* Semantics: R6.20. What an operator orders is clean where it can be. */
TEST(an_ordered_unclean_election_elects_cleanly_if_it_can, struct test_controller *t)
{
    create(t, "[1,2,3]");
    t->partitions[0] = test_partition_record("leader -1 epochs 1/1 replicas [1,2,3] isr [3]");
    assert_int_equal(elect(t, 0, HW_ELECTION_UNCLEAN), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 3 epochs 2/2 replicas [1,2,3] isr [3]");
}

/* Semantics: R6.20. Where no election is needed the record is not touched at all. */
TEST(an_election_that_is_not_needed_does_not_complete_a_move, struct test_controller *t)
{
    const char *text = "leader 1 epochs 1/2 replicas [1,2] isr [1] adding [1] removing [2]";

    create(t, "[1,2]");
    t->partitions[0] = test_partition_record(text);
    assert_int_equal(elect(t, 0, HW_ELECTION_UNCLEAN), HW_KAFKA_ELECTION_NOT_NEEDED);
    assert_int_equal(elect(t, 0, HW_ELECTION_PREFERRED), HW_KAFKA_ELECTION_NOT_NEEDED);
    expect_partition(t, 0, text);
}

/* --- Promotions --- */

TEST(promoting_a_member_of_the_isr_moves_the_leadership, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(promote(t, 0, 2, "[]", false), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 2 epochs 1/1 replicas [1,2,3] isr [1,2,3]");

    /* Crashed brokers, of which the controller knew nothing so far, leave the ISR with it. */
    assert_int_equal(promote(t, 0, 3, "[1,2,5]", false), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 3 epochs 2/2 replicas [1,2,3] isr [3]");
}

/* A leader that restarts leads again in a new epoch: nobody may take its old epoch for the new. */
TEST(promoting_the_leader_begins_a_new_leader_epoch, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(promote(t, 0, 1, "[]", false), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 1/1 replicas [1,2,3] isr [1,2,3]");
    assert_int_equal(promote(t, 0, 1, "[3]", true), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 2/2 replicas [1,2,3] isr [1,2]");
}

TEST(promoting_a_replica_outside_the_isr_has_to_be_forced, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(propose(t, 0, "[1,2]"), HW_KAFKA_NONE);
    assert_int_equal(promote(t, 0, 3, "[1]", false), HW_KAFKA_NOT_IN_SYNC_REPLICA);
    assert_string_equal(t->error.message,
                        "broker 3 is not in the ISR [1,2] of orders-0, promote a member of it, or "
                        "say 'unclean' and lose what broker 3 does not have");

    assert_int_equal(promote(t, 0, 3, "[1]", true), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 3 epochs 1/2 replicas [1,2,3] isr [3] recovering");
}

/* 'unclean' is a permission: whoever can lead cleanly does. */
TEST(forcing_what_is_clean_anyway_loses_nothing, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(promote(t, 0, 3, "[1]", true), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 3 epochs 1/1 replicas [1,2,3] isr [2,3]");
}

TEST(who_cannot_lead_cannot_be_promoted, struct test_controller *t)
{
    create(t, "[1,2,3]");
    assert_int_equal(promote(t, 0, 4, "[]", true), HW_KAFKA_REPLICA_NOT_AVAILABLE);
    assert_string_equal(t->error.message,
                        "broker 4 holds no replica of orders-0, brokers [1,2,3] do");
    assert_int_equal(promote(t, 0, 2, "[2]", true), HW_KAFKA_BROKER_NOT_AVAILABLE);
    assert_string_equal(t->error.message, "broker 2 is not running, it cannot lead orders-0");
    shut_down(t, 2);
    fence(t, 3);
    assert_int_equal(promote(t, 0, 2, "[]", true), HW_KAFKA_BROKER_NOT_AVAILABLE);
    assert_int_equal(promote(t, 0, 3, "[]", true), HW_KAFKA_BROKER_NOT_AVAILABLE);
    assert_string_equal(t->error.message,
                        "broker 3 is fenced or shutting down, it cannot lead orders-0");
}

/* Semantics: R6.2. */
TEST(a_member_of_the_elr_can_be_promoted_when_the_isr_is_empty, struct test_controller *t)
{
    const char *text = "leader 1 epochs 4/8 replicas [1,2,3] isr [1] elr [2,3]";

    t->controller.elr_enabled = true;
    t->settings.min_insync_replicas = 3;
    create(t, "[1,2,3]");
    t->partitions[0] = test_partition_record(text);
    assert_int_equal(promote(t, 0, 2, "[]", false), HW_KAFKA_NOT_IN_SYNC_REPLICA);
    assert_int_equal(promote(t, 0, 2, "[1]", false), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 2 epochs 5/9 replicas [1,2,3] isr [2] elr [1,3]");

    /* The feature is off: what the ELR says does not count. */
    t->controller.elr_enabled = false;
    t->partitions[0] = test_partition_record(text);
    assert_int_equal(promote(t, 0, 2, "[1]", false), HW_KAFKA_NOT_IN_SYNC_REPLICA);
}

/* The replica that a move takes away is promoted against it: the move must not take the leader. */
TEST(a_forced_promotion_does_not_complete_a_move, struct test_controller *t)
{
    create(t, "[1,2]");
    t->partitions[0] =
        test_partition_record("leader 1 epochs 4/8 replicas [1,2] isr [1] adding [1] removing [2]");
    assert_int_equal(promote(t, 0, 2, "[]", true), HW_KAFKA_NONE);
    expect_partition(
        t, 0, "leader 2 epochs 5/9 replicas [1,2] isr [2] adding [1] removing [2] recovering");
}

/* --- Removal from the ISR --- */

TEST(a_member_is_taken_out_of_the_isr_and_nobody_is_elected, struct test_controller *t)
{
    struct hw_partition_record *record;

    create(t, "[1,2,3]");
    record = &t->partitions[0];
    assert_true(hw_controller_remove_from_isr(&t->controller, &t->settings, 2, record));
    expect_partition(t, 0, "leader 1 epochs 0/1 replicas [1,2,3] isr [1,3]");
    assert_false(hw_controller_remove_from_isr(&t->controller, &t->settings, 2, record));
    expect_partition(t, 0, "leader 1 epochs 0/1 replicas [1,2,3] isr [1,3]");

    *record = test_partition_record("leader -1 epochs 1/2 replicas [1,2,3] isr [2,3]");
    assert_true(hw_controller_remove_from_isr(&t->controller, &t->settings, 2, record));
    expect_partition(t, 0, "leader -1 epochs 1/3 replicas [1,2,3] isr [3]");
    assert_false(hw_controller_remove_from_isr(&t->controller, &t->settings, 3, record));
    expect_partition(t, 0, "leader -1 epochs 1/3 replicas [1,2,3] isr [3]");
}

/* Semantics: R6.8. */
TEST(who_is_taken_out_of_a_small_isr_enters_the_elr, struct test_controller *t)
{
    t->controller.elr_enabled = true;
    t->settings.min_insync_replicas = 2;
    create(t, "[1,2]");
    assert_true(hw_controller_remove_from_isr(&t->controller, &t->settings, 2, &t->partitions[0]));
    expect_partition(t, 0, "leader 1 epochs 0/1 replicas [1,2] isr [1] elr [2]");
}

int main(void)
{
    return test_run(test_controller_set_up, NULL);
}
