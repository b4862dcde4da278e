/* SPDX-License-Identifier: MIT */
/*
 * What do the partitions of one request share, and when is it answered? Follows FetchRequestTest,
 * ReplicaManager.readFromLog.
 */
#include "tests/support_limits.h"

#include "tests/support_test.h"

/* ------------------------------------------------------------------- one limit for an answer */

/* Row: C039. Semantics: R2.14 */
TEST(the_first_batch_may_pass_the_limit_of_its_partition, struct test_topics *t)
{
    create(t, 4, 2);
    configure(t, "replica.fetch.max.bytes", "190");
    configure(t, "replica.fetch.response.max.bytes", "800");
    produce(t, 0, 400);
    for (int64_t p = 1; p < 4; p++) {
        produce(t, p, 150);
        produce(t, p, 150);
    }
    fetch_round(t);
    expect_ends(t, 2, "1 1 1 0"); /* 400 + 150 + 150; the next 150 would make 850. */
    fetch_round(t);
    expect_ends(t, 2, "1 2 2 1");
    fetch_round(t);
    expect_ends(t, 2, "1 2 2 2");
}

/* Row: C040. Semantics: R2.14 */
TEST(the_first_batch_may_pass_the_limit_of_the_answer_and_leaves_nothing, struct test_topics *t)
{
    create(t, 3, 2);
    configure(t, "replica.fetch.max.bytes", "190");
    configure(t, "replica.fetch.response.max.bytes", "800");
    for (int64_t p = 0; p < 3; p++) {
        produce(t, p, 900);
        produce(t, p, 150);
    }
    fetch_round(t);
    expect_ends(t, 2, "1 0 0");
}

/* Semantics: R2.14. Only the first partition that has records is sure of a batch. */
TEST(a_batch_that_does_not_fit_after_another_partition_waits, struct test_topics *t)
{
    create(t, 3, 2);
    configure(t, "replica.fetch.response.max.bytes", "800");
    produce(t, 1, 150);
    produce(t, 2, 700);
    fetch_round(t);
    expect_ends(t, 2, "0 1 0");
    fetch_round(t);
    expect_ends(t, 2, "0 1 1");
}

/* Semantics: R2.14, R2.18. As long as all have more to fetch, all get on alike. */
TEST(partitions_that_went_empty_come_first_the_next_time, struct test_topics *t)
{
    create(t, 5, 2);
    configure(t, "replica.fetch.max.bytes", "200");
    configure(t, "replica.fetch.response.max.bytes", "400");
    for (int i = 0; i < 12; i++) {
        for (int64_t p = 0; p < 5; p++) {
            produce(t, p, 200);
        }
    }
    fetch_round(t);
    expect_ends(t, 2, "1 1 0 0 0");
    fetch_round(t);
    expect_ends(t, 2, "1 1 1 1 0");
    fetch_round(t);
    expect_ends(t, 2, "2 1 1 1 1");
    fetch_round(t);
    fetch_round(t);
    expect_ends(t, 2, "2 2 2 2 2");
    for (int i = 0; i < 10; i++) {
        fetch_round(t);
    }
    expect_ends(t, 2, "6 6 6 6 6");
}

/* Semantics: R2.14. Each follower has an answer of its own, and from each leader. */
TEST(followers_and_leaders_do_not_share_a_limit, struct test_topics *t)
{
    hw_epoch_t epoch;

    create(t, 4, 3);
    configure(t, "replica.fetch.response.max.bytes", "400");
    for (int64_t p = 2; p < 4; p++) {
        must(t, hw_cluster_promote(t->cluster, "t", p, 2, false, &epoch, &t->error));
    }
    for (int64_t p = 0; p < 4; p++) {
        produce(t, p, 300);
    }
    fetch_round(t);
    expect_ends(t, 3, "1 0 1 0"); /* From broker 1, and from broker 2. */
    expect_ends(t, 2, "1 0 1 1");
    expect_ends(t, 1, "1 1 1 0");
}

/* Semantics: R2.3. A single poll asks for one partition. */
TEST(a_fetch_by_hand_has_the_limit_for_itself, struct test_topics *t)
{
    int64_t records;

    create(t, 2, 2);
    configure(t, "replica.fetch.response.max.bytes", "400");
    for (int64_t p = 0; p < 2; p++) {
        produce(t, p, 300);
        must(t, hw_cluster_fetch(t->cluster, "t", p, 2, &records, &t->error));
        assert_int_equal(records, 1);
    }
}

TEST(rounds_until_nothing_moves_bring_all_partitions_over, struct test_topics *t)
{
    int64_t rounds;

    create(t, 6, 2);
    configure(t, "replica.fetch.max.bytes", "200");
    configure(t, "replica.fetch.response.max.bytes", "400");
    for (int64_t p = 0; p < 6; p++) {
        produce(t, p, 200);
        produce(t, p, 200);
    }
    must(t, hw_cluster_replicate(t->cluster, "t", -1, &rounds, &t->error));
    expect_ends(t, 2, "2 2 2 2 2 2");
    assert_int_equal(rounds, 7); /* Six with two batches each, and one for the high watermark. */
}

/* Semantics: R2.12. The bytes of all partitions of the request count together. */
TEST(partitions_reach_min_bytes_together, struct test_topics *t)
{
    create(t, 2, 2);
    configure(t, "replica.fetch.min.bytes", "500");
    produce(t, 0, 300);
    fetch_round(t);
    expect_ends(t, 2, "0 0");
    produce(t, 1, 300);
    fetch_round(t);
    expect_ends(t, 2, "1 1");
}

/* Semantics: R2.17 */
TEST(more_than_an_answer_may_have_is_not_waited_for, struct test_topics *t)
{
    create(t, 1, 2);
    configure(t, "replica.fetch.min.bytes", "10000");
    configure(t, "replica.fetch.response.max.bytes", "400");
    produce(t, 0, 300);
    fetch_round(t);
    expect_ends(t, 2, "0");
    produce(t, 0, 300);
    fetch_round(t);
    expect_ends(t, 2, "1");
}

/* Semantics: R2.12. The partition that has waited longest has its say for the whole request. */
TEST(the_longest_wait_of_a_request_counts, struct test_topics *t)
{
    create(t, 2, 2);
    configure(t, "replica.fetch.min.bytes", "500");
    tick(t, 300); /* A new request for partition 0; the one for partition 1 was sent at 0. */
    must(t, hw_cluster_fetch(t->cluster, "t", 0, 2, &(int64_t){0}, &t->error));
    must(t, hw_cluster_fetch_round(t->cluster, "t", 0, &(int64_t){0}, &t->error));
    produce(t, 0, 150);
    produce(t, 1, 150);
    tick(t, 199);
    fetch_round(t);
    expect_ends(t, 2, "0 0");
    tick(t, 1);
    fetch_round(t);
    expect_ends(t, 2, "1 1");
}

/* ------------------------------------------------------------------------------------- by time */

static hw_offset_t high_watermark(struct test_topics *t, hw_broker_id_t broker)
{
    struct hw_topic *topic = hw_cluster_topic(t->cluster, "t");

    return hw_log_high_watermark(hw_partition_find(&topic->partitions[0], broker)->log);
}

/* Row: C034. Semantics: R2.13. In two ticks as in one. */
TEST(followers_learn_the_high_watermark_when_their_wait_is_over, struct test_topics *t)
{
    create(t, 1, 2);
    produce(t, 0, 200);
    fetch_round(t);
    tick(t, 250);
    tick(t, 249);
    assert_int_equal(high_watermark(t, 1), 1);
    assert_int_equal(high_watermark(t, 2), 0);
    tick(t, 1);
    assert_int_equal(high_watermark(t, 2), 1);

    produce(t, 0, 200);
    tick(t, 100000); /* No record moves. */
    expect_ends(t, 2, "1");
}

/* Semantics: R2.12 */
TEST(a_longer_wait_is_configured, struct test_topics *t)
{
    configure(t, "replica.fetch.wait.max.ms", "1000");
    create(t, 1, 2);
    produce(t, 0, 200);
    fetch_round(t);
    tick(t, 999);
    assert_int_equal(high_watermark(t, 2), 0);
    tick(t, 1);
    assert_int_equal(high_watermark(t, 2), 1);
}

int main(void)
{
    return test_run(test_limits_set_up, test_limits_tear_down);
}
