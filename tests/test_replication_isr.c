/* SPDX-License-Identifier: MIT */
/*
 * Who is in sync? The leader proposes, the controller answers. Follows Partition.maybeExpandIsr,
 * maybeShrinkIsr, handleAlterPartitionUpdate and handleAlterPartitionError.
 */
#include "tests/support_replica.h"

#include "tests/support_test.h"

static const struct hw_remote_replica *known(struct test_replicas *t, hw_broker_id_t follower)
{
    return hw_replica_find_remote(replica_of(t, 1), follower);
}

static void check_lag(struct test_replicas *t, bool proposes)
{
    assert_int_equal(hw_replica_maybe_shrink_isr(replica_of(t, 1), t->now_ms), proposes);
}

/* Row: C069. Semantics: R4.3, R4.6 */
TEST(who_has_the_committed_records_joins, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1]");
    append(t, 10);
    fetch_by(t, 2, 3);
    expect_isr(t, "[1]", "[1]");
    expect_proposal(t, NULL);
    fetch_by(t, 2, 10);
    expect_isr(t, "[1]", "[1,2]");
    expect_proposal(t, "[1,2]");
    accept_proposal(t, 2);
    assert_true(t->changed);
    expect_isr(t, "[1,2]", "[1,2]");
    assert_int_equal(replica_of(t, 1)->partition_epoch, 2);
}

/* Whoever waits for all to come to rest would wait for ever, where each fetch leads to the same
 * proposal and the same answer. Semantics: R4.7 */
TEST(a_refused_proposal_has_moved_nothing, struct test_replicas *t)
{
    uint64_t changes;

    lead(t, 1, 5, "[1,2]", "[1]");
    append(t, 10);
    fetch_by(t, 2, 10);
    refuse_proposal(t, INELIGIBLE_REPLICA);
    changes = replica_of(t, 1)->changes;
    fetch_by(t, 2, 10);
    expect_proposal(t, "[1,2]");
    refuse_proposal(t, INELIGIBLE_REPLICA);
    assert_true(replica_of(t, 1)->changes == changes);
}

/* Row: C070. Semantics: R4.4, R4.7 */
TEST(a_fenced_broker_is_not_proposed, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1]");
    append(t, 10);
    fetch_by(t, 2, 10);
    expect_proposal(t, "[1,2]");
    refuse_proposal(t, INELIGIBLE_REPLICA);
    expect_isr(t, "[1]", "[1]");
    expect_proposal(t, NULL);

    hw_controller_registration(&t->controller, 2)->fenced = true;
    fetch_by(t, 2, 10);
    expect_proposal(t, NULL);
    hw_controller_registration(&t->controller, 2)->fenced = false;
    hw_controller_registration(&t->controller, 2)->in_controlled_shutdown = true;
    fetch_by(t, 2, 10);
    expect_proposal(t, NULL);
    hw_controller_registration(&t->controller, 2)->in_controlled_shutdown = false;
    fetch_by(t, 2, 10);
    expect_proposal(t, "[1,2]");
    accept_proposal(t, 2);
    expect_isr(t, "[1,2]", "[1,2]");
}

/* Row: C071. Semantics: R4.4, R4.6 */
TEST(a_fetch_from_before_the_registration_makes_no_member, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2,3]", "[1,3]");
    append(t, 10);
    hw_controller_registration(&t->controller, 2)->fenced = true;
    fetch_by(t, 2, 10);
    expect_known(t, 2, "end 10 start 0 caught up 0");
    assert_int_equal(hw_controller_register(&t->controller, 2), 6);
    assert_false(hw_replica_maybe_expand_isr(replica_of(t, 1), known(t, 2)));
    expect_proposal(t, NULL);

    fetch_by(t, 2, 10);
    expect_proposal(t, "[1,3,2]");
    assert_int_equal(t->proposal.broker_epochs[0], 1);
    assert_int_equal(t->proposal.broker_epochs[1], HW_BROKER_EPOCH_NONE);
    assert_int_equal(t->proposal.broker_epochs[2], 6);
    assert_int_equal(t->proposal.sender_epoch, 1);
    assert_false(t->proposal.recovering);
}

/* Case: A-14. Semantics: R2.8, R4.4, R6.19 */
TEST(a_late_fetch_from_before_a_crash_does_not_count, struct test_replicas *t)
{
    struct hw_fetch_request late;

    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 10);
    fetch_by(t, 2, 10);
    expect_log(t, 1, 0, 10, 10);
    late = fetch_request(t, 2, 10);
    lead(t, 1, 1, "[1,2]", "[1]");
    assert_int_equal(hw_controller_register(&t->controller, 2), 6);
    fetch_by(t, 2, 6);

    late.current_leader_epoch = 1;
    send(t, &late);
    expect_answer(t, "NOT_LEADER_OR_FOLLOWER");
    expect_known(t, 2, "end 6 start 0 caught up never");
    expect_isr(t, "[1]", "[1]");
    fetch_by(t, 2, 10);
    expect_proposal(t, "[1,2]");
}

/* Row: C072. Semantics: R4.5, R4.7, R3.7 */
TEST(a_shrink_is_sent_until_the_controller_answers, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1,2]");
    append(t, 10);
    t->now_ms += 30001;
    check_lag(t, true);
    expect_proposal(t, "[1]");
    expect_isr(t, "[1,2]", "[1,2]");
    expect_log(t, 1, 0, 0, 10);
    expect_proposal(t, NULL);

    refuse_proposal(t, NETWORK_EXCEPTION);
    check_lag(t, false);
    expect_proposal(t, "[1]");
    accept_proposal(t, 2);
    expect_isr(t, "[1]", "[1]");
    assert_int_equal(replica_of(t, 1)->partition_epoch, 2);
    expect_log(t, 1, 0, 10, 10);
}

/* Case: A-09. Semantics: R3.6, R3.7 */
TEST(a_committed_shrink_itself_moves_the_high_watermark, struct test_replicas *t)
{
    int64_t id;
    enum hw_kafka_error answer;

    t->settings.replica_lag_time_max_ms = 10000;
    log_has(t, 1, "0-8@4");
    lead(t, 1, 5, "[1,2]", "[1,2]");
    append_acks(t, 1, -1);
    t->now_ms += 10001;
    check_lag(t, true);
    expect_log(t, 1, 0, 0, 10);
    expect_proposal(t, "[1]");
    refuse_proposal(t, UNKNOWN_SERVER_ERROR);
    expect_log(t, 1, 0, 0, 10);
    assert_false(hw_waiting_take_resolved(replica_of(t, 1), &id, &answer));

    expect_proposal(t, "[1]");
    accept_proposal(t, 2);
    expect_isr(t, "[1]", "[1]");
    expect_log(t, 1, 0, 10, 10);
    assert_true(hw_waiting_take_resolved(replica_of(t, 1), &id, &answer));
    assert_int_equal(id, 9);
    assert_int_equal(answer, HW_KAFKA_NONE);
}

static void propose_member(struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1]");
    append(t, 10);
    fetch_by(t, 2, 10);
    expect_proposal(t, "[1,2]");
}

/* Row: C075. Semantics: R4.7 */
TEST(an_invalid_request_is_not_repeated, struct test_replicas *t)
{
    propose_member(t);
    refuse_proposal(t, INVALID_REQUEST);
    expect_isr(t, "[1]", "[1,2]");
    expect_proposal(t, NULL);
    fetch_by(t, 2, 10);
    expect_proposal(t, NULL);
}

/* Row: C076. Semantics: R4.7 */
TEST(only_unexpected_errors_are_repeated, struct test_replicas *t)
{
    static const enum hw_kafka_error final[] = {
        HW_KAFKA_NEW_LEADER_ELECTED, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION, HW_KAFKA_UNKNOWN_TOPIC_ID,
        HW_KAFKA_INVALID_UPDATE_VERSION, HW_KAFKA_FENCED_LEADER_EPOCH};

    propose_member(t);
    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++) {
        test_replicas_refuse(t, final[i]);
        expect_isr(t, "[1]", "[1,2]");
        expect_proposal(t, NULL);
    }
    refuse_proposal(t, UNKNOWN_SERVER_ERROR);
    expect_isr(t, "[1]", "[1,2]");
    expect_proposal(t, "[1,2]");
    refuse_proposal(t, OPERATION_NOT_ATTEMPTED);
    expect_isr(t, "[1]", "[1]");
}

/* Semantics: R4.7 */
TEST(an_answer_of_another_epoch_is_ignored, struct test_replicas *t)
{
    struct hw_alter_partition_response answer = {
        .leader = 1, .leader_epoch = 6, .partition_epoch = 2};

    propose_member(t);
    answer.isr = t->proposal.isr;
    assert_false(
        hw_replica_apply_proposal_answer(replica_of(t, 1), t->now_ms, &t->proposal, &answer));
    expect_isr(t, "[1]", "[1,2]");
    answer.leader_epoch = 5;
    answer.partition_epoch = 0;
    assert_false(
        hw_replica_apply_proposal_answer(replica_of(t, 1), t->now_ms, &t->proposal, &answer));
    expect_isr(t, "[1]", "[1,2]");
    answer.partition_epoch = 1; /* Nothing had to be changed: accepted too (R4.9). */
    assert_true(
        hw_replica_apply_proposal_answer(replica_of(t, 1), t->now_ms, &t->proposal, &answer));
    expect_isr(t, "[1,2]", "[1,2]");
}

/* Row: C081, where each proposal is a message of its own: what Kafka's queue refuses is sent here.
 * Semantics: R4.7, R4.12 */
TEST(the_answer_to_a_forgotten_proposal_is_ignored, struct test_replicas *t)
{
    struct hw_alter_partition_request forgotten;

    lead_at(t, 1, 5, 1, "[1,2]", "[1,2]");
    append(t, 10);
    t->now_ms += 30001;
    check_lag(t, true);
    expect_proposal(t, "[1]");
    forgotten = t->proposal;

    lead_at(t, 1, 5, 2, "[1,2]", "[1,2]");
    expect_isr(t, "[1,2]", "[1,2]");
    expect_proposal(t, NULL);
    accept_proposal(t, 2);
    assert_false(t->changed);
    expect_isr(t, "[1,2]", "[1,2]");

    t->now_ms += 30001;
    check_lag(t, true);
    t->proposal = forgotten;
    accept_proposal(t, 2);
    assert_false(t->changed);
    expect_isr(t, "[1,2]", "[1,2]");
    expect_proposal(t, "[1]");
    accept_proposal(t, 3);
    expect_isr(t, "[1]", "[1]");
}

/* Brokers 2 and 4 are in sync and at the log end, 3 is in sync and behind, 5 qualifies, 6 does not. */
TEST(by_hand_one_joins_who_qualifies_or_those_go_who_are_behind, struct test_replicas *t)
{
    static const struct {
        struct hw_broker_list isr;
        const char *proposed; /* NULL: nothing is. */
    } cases[] = {{{4, {1, 2, 3, 4}}, NULL},
                 {{3, {1, 3, 4}}, NULL},
                 {{2, {1, 4}}, NULL},
                 {{2, {1, 2}}, NULL},
                 {{4, {1, 2, 4, 5}}, NULL},
                 {{4, {1, 2, 2, 4}}, NULL},
                 {{5, {1, 2, 3, 4, 6}}, NULL},
                 {{6, {1, 2, 3, 4, 5, 6}}, NULL},
                 {{5, {1, 2, 3, 4, 5}}, "[1,2,3,4,5]"},
                 {{3, {1, 2, 4}}, "[1,2,4]"}};

    t->settings.is_isr_proposed_by_hand = true;
    lead(t, 1, 5, "[1,2,3,4,5,6]", "[1,2,3,4]");
    append(t, 10);
    for (hw_broker_id_t i = 2; i <= 5; i++) {
        fetch_by(t, i, i == 3 ? 3 : 10);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(hw_replica_propose_isr(replica_of(t, 1), &cases[i].isr),
                         cases[i].proposed != NULL);
        expect_proposal(t, cases[i].proposed);
        if (cases[i].proposed != NULL) {
            assert_false(hw_replica_propose_isr(replica_of(t, 1), &cases[i].isr));
            refuse_proposal(t, INELIGIBLE_REPLICA);
        }
        expect_known(t, 3,
                     i + 1 < sizeof cases / sizeof cases[0] ? "end 3 start 0 caught up 0"
                                                            : "end 3 start 0 caught up never");
    }
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
