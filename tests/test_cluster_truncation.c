/* SPDX-License-Identifier: MIT */
/*
 * Do logs become equal again, whatever happened to them? Follows
 * EpochDrivenReplicationProtocolAcceptanceTest.
 */
#include "core/base/random.h"
#include "tests/support_cluster.h"

#include <stdio.h>

#include "tests/support_test.h"

static struct hw_replica *replica(const struct test_cluster *t, hw_broker_id_t broker)
{
    return hw_partition_find(&t->cluster->topics[0]->partitions[0], broker);
}

static void expect_equal_logs(struct test_cluster *t, hw_offset_t log_end)
{
    struct hw_buffer bytes[2];

    for (int i = 0; i < 2; i++) {
        struct hw_log *log = replica(t, i + 1)->log;

        assert_int_equal(hw_log_end(log), log_end);
        hw_buffer_init(&bytes[i], &hw_allocator_libc);
        assert_int_equal(hw_log_read(log, 0, log_end, 1u << 20, true, &bytes[i], &t->error), HW_OK);
    }
    assert_int_equal(bytes[0].size, bytes[1].size);
    assert_memory_equal(bytes[0].bytes, bytes[1].bytes, bytes[0].size);
    hw_buffer_release(&bytes[0]);
    hw_buffer_release(&bytes[1]);
}

static void produce_many(struct test_cluster *t, int count, const char *value)
{
    for (int i = 0; i < count; i++) {
        produce_acks(t, value, 1);
        expect_done(t);
    }
}

static void begin(struct test_cluster *t, const char *unclean)
{
    const char *const configs[] = {"unclean.leader.election.enable", unclean, NULL};

    test_cluster_renew(t, 2, NULL, configs);
    t->records_may_be_lost = true;
}

/* Row: C099. Semantics: R5.10 */
TEST(a_replica_that_lost_records_and_leads_makes_the_other_one_equal, struct test_cluster *t)
{
    begin(t, "false");
    produce_many(t, 5, "a");
    replicate(t);
    flush_all(t);
    produce_many(t, 5, "b");
    replicate(t);
    crash(t, 2);
    crash_power(t, 1);
    restart(t, 1);
    expect_log_end(t, 1, 5);
    produce_many(t, 9, "c");
    restart(t, 2);
    expect_log_end(t, 2, 10);
    replicate(t);
    expect_equal_logs(t, 14);
}

/* One of two dies, the other one, which was away, takes over uncleanly and takes `count` records.
 */
static void take_turns(struct test_cluster *t, hw_broker_id_t dies, hw_broker_id_t leads, int count,
                       const char *value)
{
    crash(t, dies);
    restart(t, leads);
    promote_unclean(t, leads);
    expect_done(t);
    produce_many(t, count, value);
}

/* Row: C203. Semantics: R5.14, scenario S3 (KIP-279) */
TEST(fast_unclean_elections_do_not_make_logs_differ, struct test_cluster *t)
{
    begin(t, "true");
    produce_many(t, 1, "a");
    replicate(t);
    crash(t, 1);
    promote(t, 2);
    produce_many(t, 1, "b");
    take_turns(t, 2, 1, 3, "a longer value");
    take_turns(t, 1, 2, 1, "c");
    take_turns(t, 2, 1, 2, "another longer value");
    restart(t, 2);
    expect_log_end(t, 2, 3);
    expect_epochs(t, 2, "0:0,1:1,3:2");
    replicate(t);
    expect_equal_logs(t, 6);
    expect_epochs(t, 2, "0:0,2:1,4:4");
}

/* Case: A-05. Semantics: R5.7 */
TEST(leaders_that_never_write_leave_no_epoch_behind, struct test_cluster *t)
{
    begin(t, "false");
    produce_many(t, 2, "a");
    replicate(t);
    for (int i = 0; i < 4; i++) {
        promote(t, 2);
        promote(t, 1);
        fetch_round(t);
    }
    expect_epochs(t, 1, "0:0,8:2");
    expect_epochs(t, 2, "0:0");
    replicate(t);
    assert_in_range(t->result, 0, 5);
    produce_many(t, 1, "b");
    replicate(t);
    expect_equal_logs(t, 3);
    expect_epochs(t, 2, "0:0,8:2");
}

/* Case: A-13. Semantics: R2.32, R2.34 */
TEST(a_replica_that_comes_after_a_deletion_begins_in_the_batch, struct test_cluster *t)
{
    hw_offset_t low_watermark;

    begin(t, "false");
    crash(t, 2);
    produce_many(t, 8, "a");
    tick(t, 30000);
    expect_high_watermark(t, 1, 8);
    TEST_VERB(t, hw_cluster_delete_records(t->cluster, "orders", 0, 5, &low_watermark, &t->error));
    expect_done(t);
    restart(t, 2);
    replicate(t);
    expect_log_start(t, 2, 5);
    expect_log_end(t, 2, 8);
    expect_high_watermark(t, 2, 8);
    expect_epochs(t, 2, "0:5");
}

/* Leaders that come and go uncleanly, with power lost in between: at the end all logs are equal, in
 * a number of rounds that does not depend on how long they are. Semantics: R5.14, R5.15 */
TEST(after_any_history_logs_become_equal, struct test_cluster *t)
{
    struct hw_random random;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        hw_random_init(&random, seed);
        begin(t, "true");
        for (int i = 0; i < 25; i++) {
            hw_broker_id_t broker = 1 + (hw_broker_id_t)hw_random_below(&random, 2);

            if (replica(t, broker) != NULL && replica(t, 3 - broker) == NULL) {
                take_turns(t, broker, 3 - broker, (int)hw_random_below(&random, 4), "v");
            } else if (replica(t, broker) != NULL && hw_random_below(&random, 2) == 0) {
                crash_power(t, broker);
                promote_unclean(t, 3 - broker);
            } else {
                restart(t, broker);
                produce_acks(t, "w", 1);
                fetch_round(t);
            }
        }
        restart(t, 1);
        restart(t, 2);
        promote_unclean(t, 1 + (hw_broker_id_t)hw_random_below(&random, 2));
        expect_done(t);
        replicate(t);
        assert_in_range(t->result, 0, 60);
        expect_equal_logs(t, hw_log_end(replica(t, 1)->log));
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
