/* SPDX-License-Identifier: MIT */
/*
 * When is a follower caught up? Follows Replica.updateFetchStateOrThrow and
 * ReplicaState.isCaughtUp. "Never" stands where Kafka's own tests have time 0 (R0.1).
 */
#include "tests/support_replica.h"

#include "tests/support_test.h"

static const struct hw_remote_replica *known(struct test_replicas *t, hw_broker_id_t follower)
{
    return hw_replica_find_remote(replica_of(t, 1), follower);
}

/* Fetch with a log start, while the leader's log ends at `leader_end`. */
static void update(struct test_replicas *t, hw_offset_t offset, hw_offset_t log_start,
                   hw_offset_t leader_end)
{
    struct hw_fetch_request request = fetch_request(t, 2, offset);

    if (leader_end > hw_log_end(log_of(t, 1))) {
        append(t, (int)(leader_end - hw_log_end(log_of(t, 1))));
    }
    request.log_start = log_start;
    send(t, &request);
}

static bool is_caught_up(struct test_replicas *t)
{
    return t->now_ms < hw_remote_replica_lags_from(known(t, 2), hw_log_end(log_of(t, 1)),
                                                   t->settings.replica_lag_time_max_ms);
}

static void check_lag(struct test_replicas *t, bool proposes)
{
    assert_int_equal(hw_replica_maybe_shrink_isr(replica_of(t, 1), t->now_ms), proposes);
}

/* Row: C065. Semantics: R2.8 */
TEST(a_follower_was_caught_up_when_it_reaches_what_it_had_seen, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1]");
    t->now_ms = 1000;
    update(t, 5, 1, 10);
    expect_known(t, 2, "end 5 start 1 caught up never");
    assert_int_equal(known(t, 2)->last_fetch_leader_log_end, 10);
    t->now_ms = 2000;
    update(t, 10, 2, 15);
    expect_known(t, 2, "end 10 start 2 caught up 1000");
    assert_int_equal(known(t, 2)->last_fetch_leader_log_end, 15);
    t->now_ms = 3000;
    update(t, 15, 3, 15);
    expect_known(t, 2, "end 15 start 3 caught up 3000");
    assert_int_equal(known(t, 2)->last_fetch_leader_log_end, 15);
    assert_int_equal(known(t, 2)->last_fetch_ms, 3000);
}

/* Row: C068. Semantics: R4.2 */
TEST(who_was_at_the_end_is_caught_up_for_the_lag_time, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1]");
    update(t, 5, 0, 10);
    assert_false(is_caught_up(t));
    update(t, 10, 0, 15);
    append(t, 1);
    assert_true(is_caught_up(t));
    t->now_ms += t->settings.replica_lag_time_max_ms;
    assert_true(is_caught_up(t));
    t->now_ms += 1;
    assert_false(is_caught_up(t));
}

/* Row: C181. Semantics: R4.2 */
TEST(who_is_at_the_end_is_caught_up_for_ever, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1]");
    append(t, 10);
    assert_false(is_caught_up(t));
    update(t, 10, 0, 10);
    assert_true(is_caught_up(t));
    t->now_ms += t->settings.replica_lag_time_max_ms + 1;
    assert_true(is_caught_up(t));
}

/* Row: C182. Semantics: R2.8, R4.13 */
TEST(a_member_of_the_isr_counts_from_the_election, struct test_replicas *t)
{
    t->now_ms = 100;
    lead(t, 1, 5, "[1,2]", "[1,2]");
    append(t, 6);
    expect_known(t, 2, "end -1 start -1 caught up 100");
    t->now_ms += 500;
    fetch_by(t, 2, 3);
    expect_known(t, 2, "end 3 start 0 caught up 100");
    t->now_ms += 500;
    fetch_by(t, 2, 6);
    expect_known(t, 2, "end 6 start 0 caught up 1100");
}

/* Row: C073. Semantics: R2.8, R4.5, W5.2, W-R05 */
TEST(who_trails_by_one_append_stays, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1,2]");
    append(t, 10);
    t->now_ms = 5000;
    fetch_by(t, 2, 5);
    expect_known(t, 2, "end 5 start 0 caught up 0");
    expect_log(t, 1, 0, 5, 10);
    t->now_ms += 5001;
    append(t, 5);
    fetch_by(t, 2, 10);
    expect_known(t, 2, "end 10 start 0 caught up 5000");
    expect_log(t, 1, 0, 10, 15);
    check_lag(t, false);
}

/* Case: A-11. Semantics: R2.8, R4.5 */
TEST(who_trails_by_one_append_leaves_when_it_stops, struct test_replicas *t)
{
    t->settings.replica_lag_time_max_ms = 10000;
    lead(t, 1, 5, "[1,2]", "[1,2]");
    append(t, 10);
    t->now_ms = 5000;
    fetch_by(t, 2, 5);
    t->now_ms = 10001;
    append(t, 5);
    fetch_by(t, 2, 10);
    expect_known(t, 2, "end 10 start 0 caught up 5000");
    check_lag(t, false);
    expect_log(t, 1, 0, 10, 15);

    t->now_ms = 15000;
    check_lag(t, false);
    t->now_ms = 15002;
    check_lag(t, true);
    expect_proposal(t, "[1]");
    accept_proposal(t, 2);
    expect_isr(t, "[1]", "[1]");
    expect_log(t, 1, 0, 15, 15);
}

/* Row: C074. Semantics: R4.2 */
TEST(who_has_everything_stays_however_silent, struct test_replicas *t)
{
    lead(t, 1, 5, "[1,2]", "[1,2]");
    append(t, 10);
    fetch_by(t, 2, 10);
    t->now_ms += 30001;
    check_lag(t, false);
    append(t, 1);
    check_lag(t, true);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
