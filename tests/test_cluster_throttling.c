/* SPDX-License-Identifier: MIT */
/*
 * Who is slowed down by the limits of replication, and who is not? Follows
 * ReplicaManagerQuotasTest, ReplicationQuotaManager, RemoteLeaderEndPoint.
 */
#include "tests/support_limits.h"

#include "tests/support_test.h"

/* Two partitions with three records of 400 bytes each, that broker 2 has not. */
static void fall_behind(struct test_topics *t, bool in_sync)
{
    create(t, 2, 2);
    configure(t, "leader.replication.throttled.rate", "100");
    configure_topic(t, "leader.replication.throttled.replicas", "0:1,1:1");
    for (int64_t p = 0; p < 2; p++) {
        produce(t, p, 400);
        produce(t, p, 400);
        produce(t, p, 400);
    }
    if (!in_sync) {
        tick(t, 60000);
    }
    for (int64_t p = 0; p < 2; p++) {
        assert_int_equal(hw_cluster_topic(t->cluster, "t")->partitions[p].record.isr.count,
                         in_sync ? 2 : 1);
    }
}

static void use_up(struct test_topics *t, hw_broker_id_t broker)
{
    struct hw_broker *found;

    must(t, hw_cluster_find_broker(t->cluster, broker, &found, &t->error));
    hw_quota_record(&found->quotas.leader, 1000000, t->cluster->now_ms);
    hw_quota_record(&found->quotas.follower, 1000000, t->cluster->now_ms);
}

/* Row: C142. Semantics: R8.4, R8.5, R8.6 */
TEST(partitions_after_the_quota_has_tripped_go_empty, struct test_topics *t)
{
    fall_behind(t, false);
    fetch_round(t);
    expect_ends(t, 2, "3 0");
    /* 1200 bytes in 11.5 s are more than 100 a second; then they are forgotten: 11 s after the last
     * answer, without records, when the wait of the request was over. */
    tick(t, 11499);
    fetch_round(t);
    expect_ends(t, 2, "3 0");
    tick(t, 1);
    fetch_round(t);
    expect_ends(t, 2, "3 3");
}

/* Row: C143. Semantics: R8.4, R8.10 */
TEST(followers_in_sync_are_not_throttled, struct test_topics *t)
{
    fall_behind(t, true);
    fetch_round(t);
    expect_ends(t, 2, "3 3");
}

/* Semantics: R8.6 */
TEST(followers_in_sync_use_up_the_quota, struct test_topics *t)
{
    struct hw_broker *leader;

    fall_behind(t, true);
    fetch_round(t);
    must(t, hw_cluster_find_broker(t->cluster, 1, &leader, &t->error));
    assert_true(hw_quota_rate(&leader->quotas.leader, 0) == 2400.0);
    assert_true(hw_quota_rate(&leader->quotas.follower, 0) == 0.0);
}

/* Who leads does not fetch: the first sample begins when the broker follows. Semantics: R8.2, R8.7
 */
TEST(a_leader_is_not_asked_how_fast_it_takes, struct test_topics *t)
{
    struct hw_broker *leader;

    create(t, 1, 2);
    configure_topic(t, "follower.replication.throttled.replicas", "*");
    produce(t, 0, 400);
    fetch_round(t);
    must(t, hw_cluster_find_broker(t->cluster, 1, &leader, &t->error));
    assert_int_equal(hw_cluster_topic(t->cluster, "t")->partitions[0].record.leader, 1);
    assert_int_equal(leader->quotas.follower.sample_count, 0);
}

/* Row: C196. Semantics: R8.4 */
TEST(with_the_quota_exceeded_from_the_start_nobody_gets_records, struct test_topics *t)
{
    struct hw_topic *topic;

    fall_behind(t, false);
    use_up(t, 1);
    fetch_round(t);
    expect_ends(t, 2, "0 0");
    /* No error: the fetch counts, and its answer carries what else there is to tell. */
    topic = hw_cluster_topic(t->cluster, "t");
    for (int32_t p = 0; p < 2; p++) {
        struct hw_replica *leader = hw_partition_leader(&topic->partitions[p]);

        assert_int_equal(hw_replica_find_remote(leader, 2)->last_fetch_ms, t->cluster->now_ms);
        assert_int_equal(hw_partition_find(&topic->partitions[p], 2)->fetch.delay_until_ms,
                         HW_TIME_NEVER);
    }
}

/* Semantics: R8.1 */
TEST(only_listed_replicas_are_throttled_and_a_new_list_replaces_the_old_one, struct test_topics *t)
{
    fall_behind(t, false);
    configure_topic(t, "leader.replication.throttled.replicas", "1:1,0:2");
    use_up(t, 1);
    fetch_round(t);
    expect_ends(t, 2, "3 0");
    configure_topic(t, "leader.replication.throttled.replicas", NULL);
    fetch_round(t);
    expect_ends(t, 2, "3 3");
}

/* Semantics: R8.3, R8.4 */
TEST(a_higher_rate_lets_followers_go_on_at_once, struct test_topics *t)
{
    fall_behind(t, false);
    use_up(t, 1);
    fetch_round(t);
    expect_ends(t, 2, "0 0");
    configure(t, "leader.replication.throttled.rate", "2000000");
    fetch_round(t);
    expect_ends(t, 2, "3 3");
}

/* Semantics: R8.7 */
TEST(a_follower_that_takes_too_fast_does_not_ask, struct test_topics *t)
{
    struct hw_replica *follower;

    create(t, 2, 2);
    configure(t, "follower.replication.throttled.rate", "100");
    configure_topic(t, "follower.replication.throttled.replicas", "*");
    for (int64_t p = 0; p < 2; p++) {
        produce(t, p, 400);
        produce(t, p, 400);
    }
    tick(t, 60000); /* Out of the ISR: the high watermark is the leader's log end. */
    configure(t, "replica.fetch.max.bytes", "400");
    fetch_round(t);
    expect_ends(t, 2, "1 1"); /* Both asked before either answer came. */
    follower = hw_partition_find(&hw_cluster_topic(t->cluster, "t")->partitions[0], 2);
    assert_false(follower->fetch.is_request_waiting);
    fetch_round(t);
    expect_ends(t, 2, "1 1");
    must(t, hw_cluster_fetch(t->cluster, "t", 0, 2, &(int64_t){0}, &t->error));
    expect_ends(t, 2, "1 1");
    tick(t, 11000);
    fetch_round(t);
    expect_ends(t, 2, "2 2");
}

/* Semantics: R8.7, R8.10. It goes by the lag that it has seen itself. */
TEST(a_follower_at_the_high_watermark_asks_however_fast_it_is, struct test_topics *t)
{
    create(t, 1, 2);
    produce(t, 0, 400);
    must(t, hw_cluster_replicate(t->cluster, "t", -1, &(int64_t){0}, &t->error));
    configure(t, "follower.replication.throttled.rate", "100");
    configure_topic(t, "follower.replication.throttled.replicas", "0:2");
    use_up(t, 2);
    produce(t, 0, 400);
    fetch_round(t);
    expect_ends(t, 2, "2");
}

/* Semantics: R8.8 */
TEST(followers_count_what_they_take_for_throttled_replicas, struct test_topics *t)
{
    struct hw_broker *follower;

    create(t, 2, 2);
    configure_topic(t, "follower.replication.throttled.replicas", "1:2");
    produce(t, 0, 400);
    produce(t, 1, 500);
    fetch_round(t);
    must(t, hw_cluster_find_broker(t->cluster, 2, &follower, &t->error));
    assert_true(hw_quota_rate(&follower->quotas.follower, 0) == 500.0);
    assert_true(hw_quota_rate(&follower->quotas.leader, 0) == 0.0);
}

/* Semantics: R8.9. At least one batch is sent, whatever the rate. */
TEST(one_batch_may_pass_any_quota, struct test_topics *t)
{
    create(t, 1, 2);
    configure(t, "leader.replication.throttled.rate", "0");
    configure_topic(t, "leader.replication.throttled.replicas", "*");
    configure(t, "replica.fetch.max.bytes", "1");
    produce(t, 0, 400);
    produce(t, 0, 400);
    tick(t, 60000);
    fetch_round(t);
    expect_ends(t, 2, "1");
    tick(t, 10000);
    fetch_round(t);
    expect_ends(t, 2, "1");
}

/* Semantics: R8.4, R2.14. A partition that is throttled takes no other one's turn. */
TEST(turns_go_round_past_a_throttled_partition, struct test_topics *t)
{
    create(t, 4, 2);
    configure(t, "replica.fetch.max.bytes", "200");
    configure(t, "replica.fetch.response.max.bytes", "400");
    configure(t, "leader.replication.throttled.rate", "100");
    configure_topic(t, "leader.replication.throttled.replicas", "0:1");
    for (int i = 0; i < 6; i++) {
        for (int64_t p = 0; p < 4; p++) {
            produce(t, p, 200);
        }
    }
    tick(t, 60000);
    use_up(t, 1);
    fetch_round(t);
    expect_ends(t, 2, "0 1 1 0");
    fetch_round(t);
    expect_ends(t, 2, "0 2 1 1");
    fetch_round(t);
    expect_ends(t, 2, "0 2 2 2");
}

/* The process that counted is gone. */
TEST(a_broker_that_restarts_has_counted_nothing, struct test_topics *t)
{
    const char *broker_state;

    create(t, 1, 2);
    configure(t, "follower.replication.throttled.rate", "100");
    configure_topic(t, "follower.replication.throttled.replicas", "*");
    use_up(t, 2);
    produce(t, 0, 400);
    tick(t, 100);
    must(t, hw_cluster_crash(t->cluster, 2, false, &broker_state, &t->error));
    must(t, hw_cluster_restart(t->cluster, 2, &broker_state, &t->error));
    fetch_round(t);
    expect_ends(t, 2, "1");
    fetch_round(t);
    produce(t, 0, 400);
    tick(t, 60000);
    use_up(t, 2);
    fetch_round(t); /* It is throttled as before, once it knows that it lags. */
    produce(t, 0, 400);
    expect_ends(t, 2, "2");
    fetch_round(t);
}

/* Semantics: R8.1. Replicas that come later are marked too, and so is one that a broker opens
 * again.
 */
TEST(replicas_that_are_added_are_throttled_as_the_list_says, struct test_topics *t)
{
    struct hw_broker_list target = {.count = 3, .ids = {1, 2, 3}};
    struct hw_broker_list now;

    create(t, 1, 2);
    configure(t, "follower.replication.throttled.rate", "100");
    configure_topic(t, "follower.replication.throttled.replicas", "0:3");
    produce(t, 0, 400);
    use_up(t, 3);
    use_up(t, 2);
    must(t, hw_cluster_reassign(t->cluster, "t", 0, &target, &now, &t->error));
    fetch_round(t);
    fetch_round(t);
    expect_ends(t, 2, "1");
    expect_ends(t, 3, "0");
    tick(t, 11000);
    fetch_round(t);
    expect_ends(t, 3, "1");
}

/* The settings are there again when the cluster is opened again. */
TEST(settings_of_throttling_survive, struct test_topics *t)
{
    struct hw_cluster_options options = {
        .allocator = &t->heap.allocator, .directory = "cluster", .store = t->store};
    struct hw_broker *broker;

    create(t, 2, 2);
    configure(t, "leader.replication.throttled.rate", "100");
    configure(t, "replication.quota.window.num", "3");
    configure_topic(t, "leader.replication.throttled.replicas", " 1:1, 0:2 ");
    configure_topic(t, "follower.replication.throttled.replicas", "");
    must(t, hw_cluster_close(t->cluster, &t->error));
    must(t, hw_cluster_open(&options, &t->cluster, &t->error));
    must(t, hw_cluster_find_broker(t->cluster, 1, &broker, &t->error));
    assert_int_equal(broker->quotas.leader.bytes_per_second, 100);
    assert_int_equal(broker->quotas.leader.window_count, 3);
    for (int32_t p = 0; p < 2; p++) {
        const struct hw_partition *partition = &hw_cluster_topic(t->cluster, "t")->partitions[p];

        assert_int_equal(hw_partition_find(partition, 1)->throttles_as_leader, p == 1);
        assert_int_equal(hw_partition_find(partition, 2)->throttles_as_leader, p == 0);
        assert_false(hw_partition_find(partition, 2)->throttles_as_follower);
    }
}

int main(void)
{
    return test_run(test_limits_set_up, test_limits_tear_down);
}
