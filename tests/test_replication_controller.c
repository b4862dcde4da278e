/* SPDX-License-Identifier: MIT */
/*
 * What becomes of partitions when they are created, when leaders propose an ISR, and when brokers
 * come and go?
 *
 * Kafka's own table: ReplicationControlManagerTest. Semantics: R4.8, R4.9, R6.11 to R6.19.
 */
#include "support_controller.h"

#include "tests/support_test.h"

TEST_ALONE(registrations_are_kept_in_order_of_id)
{
    struct hw_controller controller;
    const hw_broker_id_t ids[] = {5, 1, 9, 3};
    const hw_broker_id_t in_order[] = {1, 3, 5, 9};

    hw_controller_init(&controller);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(hw_controller_register(&controller, ids[i]), i + 1);
    }
    assert_int_equal(controller.metadata.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(controller.metadata.registrations[i].id, in_order[i]);
    }
    assert_int_equal(hw_metadata_find(&controller.metadata, 9)->epoch, 3);
    assert_null(hw_metadata_find(&controller.metadata, 2));
    assert_false(hw_metadata_is_active(&controller.metadata, 2));
}

/* Semantics: R6.17. */
TEST(registering_anew_makes_a_broker_active_in_a_new_epoch, struct test_controller *t)
{
    shut_down(t, 2);
    assert_false(hw_metadata_is_active(&t->controller.metadata, 2));
    fence(t, 2);
    assert_false(hw_metadata_is_active(&t->controller.metadata, 2));

    assert_int_equal(hw_controller_register(&t->controller, 2), TEST_BROKERS + 1);
    assert_int_equal(t->controller.metadata.count, TEST_BROKERS);
    assert_true(hw_metadata_is_active(&t->controller.metadata, 2));
    assert_int_equal(hw_metadata_find(&t->controller.metadata, 2)->epoch, TEST_BROKERS + 1);
}

/* --- New partitions --- */

/* Semantics: R6.13. */
TEST(a_new_partition_is_led_by_its_first_active_replica, struct test_controller *t)
{
    create(t, "[3,1,2]");
    expect_partition(t, 0, "leader 3 epochs 0/0 replicas [3,1,2] isr [3,1,2]");
    fence(t, 3);
    shut_down(t, 1);
    create(t, "[3,1,2,4]");
    expect_partition(t, 1, "leader 2 epochs 0/0 replicas [3,1,2,4] isr [2,4]");
}

/* Semantics: R6.13. */
TEST(a_partition_that_nobody_could_hold_is_refused, struct test_controller *t)
{
    const char *lists[] = {"[]", "[1,9]", "[1,2,1]", "[4,5]"};
    const char *messages[] = {
        "the replica list is empty, a partition needs at least one broker",
        "the replica list [1,9] names broker 9, which is not registered",
        "the replica list [1,2,1] names broker 1 twice",
        "no broker of the replica list [4,5] is active, at least one must be",
    };

    fence(t, 4);
    shut_down(t, 5);
    for (int i = 0; i < 4; i++) {
        struct hw_broker_list list = test_list(lists[i]);
        struct hw_partition_record record = {.leader = 77};

        assert_int_equal(hw_controller_create_partition(&t->controller, &list, &record, &t->error),
                         HW_REFUSED);
        assert_int_equal(t->error.kafka_error, HW_KAFKA_INVALID_REPLICA_ASSIGNMENT);
        assert_string_equal(t->error.message, messages[i]);
        assert_int_equal(record.leader, 77);
    }
}

/* --- Proposals of an ISR --- */

/* Row: C192. testShrinkAndExpandIsr. */
TEST(a_leader_can_shrink_and_grow_the_isr, struct test_controller *t)
{
    create(t, "[0,1,2]");
    assert_int_equal(propose(t, 0, "[0,1]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 0 epochs 0/1 replicas [0,1,2] isr [0,1]");
    assert_int_equal(t->response.leader, 0);
    assert_int_equal(t->response.leader_epoch, 0);
    assert_int_equal(t->response.partition_epoch, 1);
    expect_list(&t->response.isr, "[0,1]");

    assert_int_equal(propose(t, 0, "[0,1,2]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 0 epochs 0/2 replicas [0,1,2] isr [0,1,2]");
    assert_int_equal(t->response.leader, 0);
    assert_int_equal(t->response.leader_epoch, 0);
    assert_int_equal(t->response.partition_epoch, 2);
    expect_list(&t->response.isr, "[0,1,2]");
}

/* Semantics: R4.9. */
TEST(a_proposal_of_the_same_isr_is_accepted_and_changes_nothing, struct test_controller *t)
{
    create(t, "[0,1,2]");
    assert_int_equal(propose(t, 0, "[0,1,2]"), HW_KAFKA_NONE);
    assert_int_equal(t->response.partition_epoch, 0);
    expect_partition(t, 0, "leader 0 epochs 0/0 replicas [0,1,2] isr [0,1,2]");
}

/* Row: C119. testInvalidAlterPartitionRequests. */
TEST(a_proposal_with_wrong_sender_or_epochs_is_refused, struct test_controller *t)
{
    struct hw_alter_partition_request request;

    create(t, "[0,1,2]");
    request = proposal_of(t, 0, "[0,1]");
    request.sender = 1;
    request.sender_epoch = hw_metadata_find(&t->controller.metadata, 1)->epoch;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INVALID_REQUEST);

    request = proposal_of(t, 0, "[0,1]");
    request.sender_epoch--;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_STALE_BROKER_EPOCH);
    request.sender = 9;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_STALE_BROKER_EPOCH);

    request = proposal_of(t, 0, "[0,1]");
    request.leader_epoch = 500;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_NOT_CONTROLLER);

    request = proposal_of(t, 0, "[0,1]");
    request.partition_epoch = 500;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_NOT_CONTROLLER);
}

/* Semantics: R4.8. Which error wins tells the leader what to do: R4.7. */
TEST(an_old_leader_epoch_is_fenced_and_an_old_partition_epoch_is_out_of_date,
     struct test_controller *t)
{
    struct hw_alter_partition_request old;
    struct hw_alter_partition_request request;

    create(t, "[0,1,2]");
    old = proposal_of(t, 0, "[0,1]");
    assert_int_equal(promote(t, 0, 1, "[]", false), HW_KAFKA_NONE);
    assert_int_equal(send_proposal(t, 0, &old), HW_KAFKA_FENCED_LEADER_EPOCH);

    /* A newer partition epoch goes before an older leader epoch, ... */
    request = old;
    request.partition_epoch = 500;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_NOT_CONTROLLER);

    /* ... and who sends it before an older partition epoch. */
    request = proposal_of(t, 0, "[0,1]");
    request.partition_epoch--;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INVALID_UPDATE_VERSION);
    request.sender = 0;
    request.sender_epoch = hw_metadata_find(&t->controller.metadata, 0)->epoch;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INVALID_REQUEST);
}

/* Row: C120. testInvalidAlterPartitionRequests. */
TEST(a_proposal_of_an_impossible_isr_is_refused, struct test_controller *t)
{
    const char *impossible[] = {"[0,1,3]", "[1,2]", "[]", "[0,1,1]"};
    struct hw_alter_partition_request request;

    create(t, "[0,1,2]");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(propose(t, 0, impossible[i]), HW_KAFKA_INVALID_REQUEST);
    }

    /* RECOVERING is for an unclean leader that is alone, ... */
    t->partitions[0].recovering = true;
    request = proposal_of(t, 0, "[0,1]");
    request.recovering = true;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INVALID_REQUEST);

    /* ... and not for one that has recovered. */
    t->partitions[0].recovering = false;
    request = proposal_of(t, 0, "[0]");
    request.recovering = true;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INVALID_REQUEST);
}

/* A message is not to be trusted, not even in its counts. */
TEST(a_proposal_of_more_members_than_a_list_holds_is_refused, struct test_controller *t)
{
    const char *all = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]";
    struct hw_alter_partition_request request;

    for (hw_broker_id_t id = TEST_BROKERS; id < HW_REPLICAS_MAX; id++) {
        (void)hw_controller_register(&t->controller, id);
    }
    create(t, all);
    request = proposal_of(t, 0, all);
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_NONE);
    request.isr.count = HW_REPLICAS_MAX + 1;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INVALID_REQUEST);
    request.isr.count = -1;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INVALID_REQUEST);
}

/* Semantics: R6.22. */
TEST(a_leader_that_has_recovered_says_so_with_its_next_proposal, struct test_controller *t)
{
    struct hw_alter_partition_request request;

    create(t, "[0,1,2]");
    t->partitions[0] =
        test_partition_record("leader 1 epochs 3/5 replicas [0,1,2] isr [1] recovering");
    request = proposal_of(t, 0, "[1]");
    request.recovering = true;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_NONE);
    assert_true(t->response.recovering);

    assert_int_equal(propose(t, 0, "[1,2]"), HW_KAFKA_NONE);
    assert_false(t->response.recovering);
    expect_partition(t, 0, "leader 1 epochs 3/6 replicas [0,1,2] isr [1,2]");
}

/* Row: C121. testAlterPartitionShouldRejectFencedBrokers. */
TEST(a_fenced_broker_cannot_be_put_into_the_isr, struct test_controller *t)
{
    create(t, "[1,2,3,4]");
    fence(t, 3);
    expect_partition(t, 0, "leader 1 epochs 0/1 replicas [1,2,3,4] isr [1,2,4]");
    assert_int_equal(propose(t, 0, "[1,2,3,4]"), HW_KAFKA_INELIGIBLE_REPLICA);

    unfence(t, 3);
    assert_int_equal(propose(t, 0, "[1,2,3,4]"), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 0/2 replicas [1,2,3,4] isr [1,2,3,4]");
}

/* Row: C191. testAlterPartitionShouldRejectShuttingDownBrokers. */
TEST(a_broker_that_is_shutting_down_cannot_be_put_into_the_isr, struct test_controller *t)
{
    create(t, "[1,2,3,4]");
    hw_controller_registration(&t->controller, 3)->in_controlled_shutdown = true;
    assert_int_equal(propose(t, 0, "[1,2,3,4]"), HW_KAFKA_INELIGIBLE_REPLICA);
    expect_partition(t, 0, "leader 1 epochs 0/0 replicas [1,2,3,4] isr [1,2,3,4]");
}

/* Semantics: R6.19. The leader saw it before it restarted: it may have lost what it had then. */
TEST(a_broker_that_restarted_since_its_last_fetch_cannot_be_put_into_the_isr,
     struct test_controller *t)
{
    struct hw_alter_partition_request request;

    create(t, "[1,2,3]");
    fence(t, 3);
    unfence(t, 3);
    request = proposal_of(t, 0, "[1,2,3]");
    restart(t, 3);
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_INELIGIBLE_REPLICA);

    /* A leader that does not know the epoch is believed. */
    request.broker_epochs[2] = HW_BROKER_EPOCH_NONE;
    assert_int_equal(send_proposal(t, 0, &request), HW_KAFKA_NONE);
    expect_partition(t, 0, "leader 1 epochs 0/2 replicas [1,2,3] isr [1,2,3]");
}

/* --- Brokers come and go --- */

/* Row: C126. testProcessBrokerHeartbeatInControlledShutdown. */
TEST(a_controlled_shutdown_moves_the_leadership_at_once, struct test_controller *t)
{
    create(t, "[0,1,2]");
    shut_down(t, 0);
    expect_partition(t, 0, "leader 1 epochs 1/1 replicas [0,1,2] isr [1,2]");
    assert_true(hw_metadata_find(&t->controller.metadata, 0)->in_controlled_shutdown);
}

/* Semantics: R6.16. */
TEST(the_sole_member_of_the_isr_stays_in_it_when_it_shuts_down, struct test_controller *t)
{
    create(t, "[0,1]");
    assert_int_equal(propose(t, 0, "[0]"), HW_KAFKA_NONE);
    shut_down(t, 0);
    expect_partition(t, 0, "leader -1 epochs 1/2 replicas [0,1] isr [0]");
}

/* Semantics: R6.16, with the ELR. */
TEST(with_the_elr_the_sole_member_of_the_isr_moves_to_the_elr, struct test_controller *t)
{
    t->controller.elr_enabled = true;
    create(t, "[0,1]");
    assert_int_equal(propose(t, 0, "[0]"), HW_KAFKA_NONE);
    shut_down(t, 0);
    expect_partition(t, 0, "leader -1 epochs 1/2 replicas [0,1] isr [] elr [0] known [0]");
}

/* Semantics: R6.14, R6.15. */
TEST(a_partition_led_by_a_fenced_broker_waits_for_a_member_of_its_isr, struct test_controller *t)
{
    create(t, "[0,1,2]");
    fence(t, 1);
    fence(t, 0);
    expect_partition(t, 0, "leader 2 epochs 1/2 replicas [0,1,2] isr [2]");
    fence(t, 2);
    expect_partition(t, 0, "leader -1 epochs 2/3 replicas [0,1,2] isr [2]");
    unfence(t, 0);
    expect_partition(t, 0, "leader -1 epochs 2/3 replicas [0,1,2] isr [2]");
    unfence(t, 2);
    expect_partition(t, 0, "leader 2 epochs 3/4 replicas [0,1,2] isr [2]");
    unfence(t, 1);
    expect_partition(t, 0, "leader 2 epochs 3/4 replicas [0,1,2] isr [2]");
}

/* Semantics: R6.14 to R6.16. A partition is looked at only where the event concerns it. */
TEST(events_of_brokers_outside_the_isr_change_nothing, struct test_controller *t)
{
    const char *leaderless = "leader -1 epochs 1/2 replicas [0,1,2] isr [0]";
    const char *moved = "leader 0 epochs 1/2 replicas [0,1] isr [0] adding [0] removing [1]";

    create(t, "[0,1,2]");
    t->partitions[0] = test_partition_record(leaderless);
    fence(t, 1);
    shut_down(t, 2);
    expect_partition(t, 0, leaderless);
    t->partitions[0] = test_partition_record(moved);
    unfence(t, 1);
    expect_partition(t, 0, moved);
}

/* Semantics: R6.14. */
TEST(fencing_elects_uncleanly_where_the_topic_allows_it, struct test_controller *t)
{
    create(t, "[0,1,2]");
    assert_int_equal(propose(t, 0, "[0]"), HW_KAFKA_NONE);
    t->settings.unclean_leader_election_enable = true;
    fence(t, 0);
    expect_partition(t, 0, "leader 1 epochs 1/2 replicas [0,1,2] isr [1] recovering");
}

/* The user is the one who elects: design of controller.auto.elect. */
TEST(without_auto_elect_only_a_controlled_shutdown_elects, struct test_controller *t)
{
    t->controller.auto_elect = false;
    t->settings.unclean_leader_election_enable = true;
    create(t, "[0,1,2]");
    create(t, "[1,2,3]");
    fence(t, 0);
    expect_partition(t, 0, "leader -1 epochs 1/1 replicas [0,1,2] isr [1,2]");
    unfence(t, 0);
    expect_partition(t, 0, "leader -1 epochs 1/1 replicas [0,1,2] isr [1,2]");

    /* Who is not the leader leaves the ISR, and the leader stays. */
    fence(t, 3);
    expect_partition(t, 1, "leader 1 epochs 0/1 replicas [1,2,3] isr [1,2]");
    shut_down(t, 1);
    expect_partition(t, 0, "leader -1 epochs 1/2 replicas [0,1,2] isr [2]");
    expect_partition(t, 1, "leader 2 epochs 1/2 replicas [1,2,3] isr [2]");
}

int main(void)
{
    return test_run(test_controller_set_up, NULL);
}
