/* SPDX-License-Identifier: MIT */
/*
 * What a broker's checkpoints say after a crash: of the partitions that there are, not of those
 * that there were, and no older than they may be. And what a power loss takes of a broker that has
 * been restarted: nothing that was synced before.
 */
#include "tests/support_cluster.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static void produce_three(struct test_cluster *t)
{
    produce(t, "a");
    produce(t, "b");
    produce(t, "c");
    replicate(t);
    tick(t, 5000);
}

static void reassign(struct test_cluster *t, hw_broker_id_t a, hw_broker_id_t b)
{
    struct hw_broker_list target = {.count = 2, .ids = {a, b}};
    struct hw_broker_list replicas;

    TEST_VERB(t, hw_cluster_reassign(t->cluster, "orders", 0, &target, &replicas, &t->error));
    expect_done(t);
}

/* What stands in a file of the broker, of partitions of "orders". */
static int count_entries(struct test_cluster *t, const char *path)
{
    struct hw_offset_checkpoint checkpoint;
    int count;

    hw_offset_checkpoint_init(&checkpoint, &hw_allocator_libc);
    assert_int_equal(hw_offset_checkpoint_read(t->store, path, &checkpoint, &t->error), HW_OK);
    count = (int)checkpoint.count;
    hw_offset_checkpoint_release(&checkpoint);
    return count;
}

/* A record that only the leader has is not committed, whatever an earlier topic of that name had at
 * its offset. Semantics: R7.9, R3.1 */
TEST(a_new_topic_has_nothing_of_the_checkpoint_of_the_old_one, struct test_cluster *t)
{
    struct hw_topic_spec spec = {.name = "orders", .partitions = 1, .replication_factor = 3};
    struct hw_uuid id;

    produce_three(t);
    assert_int_equal(count_entries(t, "cluster/broker-1/replication-offset-checkpoint"), 1);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_int_equal(count_entries(t, "cluster/broker-1/replication-offset-checkpoint"), 0);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    t->seen_high_watermark = 0;
    produce_acks(t, "x", 1);
    crash(t, 1);
    restart(t, 1);
    expect_log_end(t, 1, 1);
    expect_high_watermark(t, 1, 0);
}

/* The broker was down when the topic went. */
TEST(a_broker_that_was_down_has_nothing_of_the_old_topic_either, struct test_cluster *t)
{
    struct hw_topic_spec spec = {.name = "orders", .partitions = 1, .replication_factor = 2};
    struct hw_uuid id;

    produce_three(t);
    crash(t, 3);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_int_equal(count_entries(t, "cluster/broker-3/replication-offset-checkpoint"), 0);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    t->seen_high_watermark = 0;
    restart(t, 3);
    reassign(t, 1, 3);
    produce_acks(t, "x", 1);
    fetch(t, 3);
    crash(t, 3);
    restart(t, 3);
    expect_log_end(t, 3, 1);
    expect_high_watermark(t, 3, 0);
}

/* Semantics: R7.8, R3.1 */
TEST(a_replica_that_comes_back_begins_anew, struct test_cluster *t)
{
    produce_three(t);
    reassign(t, 1, 2);
    replicate(t);
    assert_int_equal(count_entries(t, "cluster/broker-3/replication-offset-checkpoint"), 0);
    assert_int_equal(count_entries(t, "cluster/broker-2/replication-offset-checkpoint"), 1);
    reassign(t, 1, 3);
    crash(t, 3);
    restart(t, 3);
    expect_log_end(t, 3, 0);
    expect_high_watermark(t, 3, 0);
}

/* Semantics: R7.17, W1.6 */
TEST(log_starts_are_written_every_minute, struct test_cluster *t)
{
    produce_three(t);
    delete_before(t, 2);
    tick(t, 60000 - 5000 - 1);
    crash(t, 1);
    restart(t, 1);
    expect_log_start(t, 1, 0); /* Older than it was: nothing is lost by that. */

    delete_before(t, 2);
    tick(t, 1);
    crash(t, 1);
    restart(t, 1);
    expect_log_start(t, 1, 2);
    assert_int_equal(count_entries(t, "cluster/broker-1/log-start-offset-checkpoint"), 1);
}

/* Time that passes at once does what it does in parts, also where checkpoints of high watermarks
 * are due before. Semantics: R7.17, R3.2 */
TEST(log_starts_are_written_however_long_a_tick_is, struct test_cluster *t)
{
    produce_three(t);
    delete_before(t, 2);
    tick(t, 71234);
    crash(t, 1);
    restart(t, 1);
    expect_log_start(t, 1, 2);
}

/* Semantics: R7.17, 0.4 */
TEST(how_often_log_starts_are_written_can_be_set, struct test_cluster *t)
{
    configure(t, "log.flush.start.offset.checkpoint.interval.ms", "700");
    produce_three(t);
    delete_before(t, 1);
    tick(t, 700);
    crash(t, 1);
    restart(t, 1);
    expect_log_start(t, 1, 1);
}

/* Semantics: R3.11: what is known to be deleted was committed */
TEST(a_log_start_above_the_checkpointed_high_watermark_lifts_it, struct test_cluster *t)
{
    configure(t, "log.flush.start.offset.checkpoint.interval.ms", "1000");
    configure(t, "replica.high.watermark.checkpoint.interval.ms", "1000000");
    produce(t, "a");
    produce(t, "b");
    produce(t, "c");
    replicate(t);
    delete_before(t, 2);
    fetch_round(t);
    tick(t, 1000);
    crash(t, 2);
    restart(t, 2);
    expect_log_start(t, 2, 2);
    expect_high_watermark(t, 2, 2);
}

/* Semantics: R7.10 */
TEST(a_follower_of_a_dead_leader_keeps_its_log, struct test_cluster *t)
{
    produce_three(t);
    crash(t, 1);
    for (int i = 0; i < 3; i++) {
        fetch_round(t);
        expect_result(t, 0);
        tick(t, 20000); /* Past the end of its session too. */
    }
    expect_leader(t, -1);
    expect_values(t, 2, "a@0 b@0 c@0");
    expect_values(t, 3, "a@0 b@0 c@0");
    expect_high_watermark(t, 2, 3);
    promote(t, 2);
    expect_done(t);
    produce(t, "d");
    fetch_round(t);
    expect_values(t, 3, "a@0 b@0 c@0 d@2");
}

TEST(a_power_loss_leaves_what_an_earlier_process_had_synced, struct test_cluster *t)
{
    t->records_may_be_lost = true;
    configure_topic(t, "flush.messages", "1");
    produce(t, "a");
    configure_topic(t, "flush.messages", "1000");
    produce(t, "b");
    crash(t, 1);
    restart(t, 1);
    expect_values(t, 1, "a@0 b@0");
    crash_power(t, 1);
    restart(t, 1);
    expect_values(t, 1, "a@0");
}

/* A segment is synced when it is rolled. A log with a hole would be taken for one with records. */
TEST(a_power_loss_leaves_no_hole, struct test_cluster *t)
{
    t->records_may_be_lost = true;
    produce(t, "a");
    roll(t);
    produce(t, "b");
    crash(t, 1);
    restart(t, 1);
    crash_power(t, 1);
    restart(t, 1);
    expect_values(t, 1, "a@0");
    expect_log_end(t, 1, 1);
}

/* The checkpoint says that the first record was synced, and the log was cut since and has another
 * one in its place. Kafka writes the checkpoint anew when it cuts: LogManager.truncateTo. */
TEST(a_power_loss_takes_what_came_in_the_place_of_what_was_synced, struct test_cluster *t)
{
    t->records_may_be_lost = true;
    produce_acks(t, "a", 1);
    flush_all(t);
    promote(t, 2);
    produce_acks(t, "b", 1);
    replicate(t);
    expect_values(t, 1, "b@1");
    crash(t, 1);
    restart(t, 1);
    expect_values(t, 1, "b@1");
    crash_power(t, 1);
    restart(t, 1);
    expect_log_end(t, 1, 0);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
