/* SPDX-License-Identifier: MIT */
/*
 * Where is the high watermark? Follows Partition.maybeIncrementLeaderHW and
 * UnifiedLog.updateHighWatermark.
 */
#include "tests/support_replica.h"

#include "tests/support_test.h"

/* Semantics: R3.1 */
TEST(no_role_resets_the_checkpointed_high_watermark, struct test_replicas *t)
{
    log_has(t, 1, "0-5@0");
    test_replicas_reopen(t, 1, 4);
    follow(t, 1, 2, 1);
    expect_log(t, 1, 0, 4, 6);
    lead(t, 1, 2, "[1,2]", "[1,2]");
    expect_log(t, 1, 0, 4, 6);
}

/* Two replicas at 10, all committed; then the leader appends 10 and `left` has happened to the
 * follower when the controller takes it out of the ISR. */
static hw_offset_t high_watermark_without_member(struct test_replicas *t, bool fenced,
                                                 bool shutting_down)
{
    lead_at(t, 1, 5, 1, "[1,2]", "[1,2]");
    append(t, 10);
    fetch_by(t, 2, 10);
    append(t, 10);
    expect_log(t, 1, 0, 10, 20);

    hw_controller_registration(&t->controller, 2)->fenced = fenced;
    hw_controller_registration(&t->controller, 2)->in_controlled_shutdown = shutting_down;
    lead_at(t, 1, 5, 2, "[1,2]", "[1]");
    assert_false(t->changed);
    expect_list(hw_replica_maximal_isr(replica_of(t, 1)), "[1]");
    assert_false(hw_replica_maybe_shrink_isr(replica_of(t, 1), t->now_ms));
    return hw_log_high_watermark(log_of(t, 1));
}

/* Row: C058. Semantics: R3.4, R3.5, W5.10 */
TEST(a_replica_that_keeps_up_is_waited_for_without_being_in_the_isr, void *fixture)
{
    assert_int_equal(high_watermark_without_member(fixture, false, false), 10);
}

/* Row: C058. Semantics: R3.5 */
TEST(a_fenced_replica_is_not_waited_for, void *fixture)
{
    assert_int_equal(high_watermark_without_member(fixture, true, false), 20);
}

/* Row: C058. Semantics: R3.5 */
TEST(a_replica_that_shuts_down_is_not_waited_for, void *fixture)
{
    assert_int_equal(high_watermark_without_member(fixture, false, true), 20);
}

/* Semantics: R3.5 */
TEST(a_replica_that_lags_is_not_waited_for, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1]");
    append(t, 10);
    fetch_by(t, 2, 3);
    append(t, 1);
    expect_log(t, 1, 0, 11, 11);

    /* A member is, until the shrink is committed. */
    lead(t, 1, 5, "[1,2]", "[1,2]");
    t->now_ms = t->settings.replica_lag_time_max_ms + 1;
    append(t, 1);
    expect_log(t, 1, 0, 11, 12);
    assert_true(hw_replica_maybe_shrink_isr(replica_of(t, 1), t->now_ms));
    append(t, 1);
    expect_log(t, 1, 0, 11, 13);
    expect_proposal(t, "[1]");
    accept_proposal(t, 3);
    expect_log(t, 1, 0, 13, 13);
}

/* Row: C059. Semantics: R3.3 */
TEST(below_the_minimum_nothing_is_committed, struct test_replicas *t)
{
    t->settings.min_insync_replicas = 3;
    lead(t, 1, 5, "[1,2,3]", "[1,2]");
    append(t, 10);
    fetch_by(t, 2, 10);
    expect_log(t, 1, 0, 0, 10);
    fetch_by(t, 3, 10);
    expect_log(t, 1, 0, 0, 10);
    expect_isr(t, "[1,2]", "[1,2,3]");
    expect_proposal(t, "[1,2,3]");
    expect_proposal(t, NULL);

    accept_proposal(t, 2);
    expect_isr(t, "[1,2,3]", "[1,2,3]");
    expect_log(t, 1, 0, 10, 10);
}

/* Semantics: R0.1 effective min ISR */
TEST(the_minimum_is_never_more_than_the_replicas_there_are, struct test_replicas *t)
{
    t->settings.min_insync_replicas = 5;
    lead(t, 1, 0, "[1,2]", "[1,2]");
    assert_int_equal(hw_replica_effective_min_isr(replica_of(t, 1)), 2);
    append(t, 1);
    fetch_by(t, 2, 1);
    expect_log(t, 1, 0, 1, 1);
    t->settings.min_insync_replicas = 1;
    assert_int_equal(hw_replica_effective_min_isr(replica_of(t, 1)), 1);
}

/* Row: C060. Case: A-10. Semantics: R4.3, R3.12 */
TEST(who_has_not_reached_the_start_of_the_epoch_does_not_join, struct test_replicas *t)
{
    lead(t, 1, 8, "[1,2,3]", "[1,3]");
    append(t, 2);
    append(t, 3);
    fetch_by(t, 3, 0);
    fetch_by(t, 3, 2);
    expect_log(t, 1, 0, 2, 5);

    follow(t, 1, 3, 9);
    lead(t, 1, 10, "[1,2,3]", "[1,3]");
    assert_int_equal(replica_of(t, 1)->epoch_start, 5);
    append(t, 2);
    fetch_by(t, 2, 0);
    expect_isr(t, "[1,3]", "[1,3]");
    fetch_by(t, 2, 2); /* Above the high watermark, but below what may have been committed. */
    expect_isr(t, "[1,3]", "[1,3]");
    expect_proposal(t, NULL);
    fetch_by(t, 2, 5);
    expect_isr(t, "[1,3]", "[1,3,2]");
    expect_proposal(t, "[1,3,2]");
}

/* Semantics: R3.12, R3.8: the half of C061 to C063 that ListOffsets would show */
TEST(a_new_leader_begins_with_what_it_had_heard, struct test_replicas *t)
{
    lead(t, 1, 8, "[1,2,3]", "[1,3]");
    append(t, 2);
    append(t, 3);
    fetch_by(t, 2, 0);
    fetch_by(t, 3, 0);
    expect_log(t, 1, 0, 0, 5);
    fetch_by(t, 2, 2);
    fetch_by(t, 3, 2);
    expect_log(t, 1, 0, 2, 5);
    expect_proposal(t, "[1,3,2]");
    accept_proposal(t, 2);
    expect_isr(t, "[1,3,2]", "[1,3,2]");

    follow(t, 1, 3, 9);
    lead(t, 1, 10, "[1,2,3]", "[1,3,2]");
    expect_log(t, 1, 0, 2, 5);
    fetch_by(t, 2, 5);
    expect_log(t, 1, 0, 2, 5);
    fetch_by(t, 3, 5);
    expect_log(t, 1, 0, 5, 5);
}

/* Semantics: R3.4 */
TEST(a_member_that_was_never_heard_of_blocks, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2,3]", "[1,2,3]");
    append(t, 1);
    fetch_by(t, 2, 1);
    expect_log(t, 1, 0, 0, 1);
    fetch_by(t, 3, 1);
    expect_log(t, 1, 0, 1, 1);
}

/* Semantics: R2.8, R3.8 */
TEST(a_follower_that_was_cut_does_not_take_the_high_watermark_with_it, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append(t, 4);
    fetch_by(t, 2, 4);
    expect_log(t, 1, 0, 4, 4);
    fetch_by(t, 2, 1);
    expect_known(t, 2, "end 1 start 0 caught up 0");
    expect_log(t, 1, 0, 4, 4);
}

/* Semantics: R3.9, R3.10 */
TEST(a_follower_goes_down_with_its_leader, struct test_replicas *t)
{
    log_has(t, 2, "0@0 1@0 2@0");
    follow(t, 2, 1, 0);
    answered(t, 2, .high_watermark = 3);
    expect_log(t, 2, 0, 3, 3);
    answered(t, 2, .high_watermark = 1);
    expect_log(t, 2, 0, 1, 3);
    answered(t, 2, .high_watermark = 7, .batches = "3@0");
    expect_log(t, 2, 0, 4, 4);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
