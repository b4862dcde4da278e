/* SPDX-License-Identifier: MIT */
/*
 * Where do replicas live, and where do logs begin? Moves, and records deleted at the start. Follows
 * ReplicationControlManager.alterPartitionReassignments, ReplicaManager.deleteRecords.
 */
#include "tests/support_cluster.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void reassign(struct test_cluster *t, const struct hw_broker_list *target)
{
    struct hw_broker_list now;

    t->status = hw_cluster_reassign(t->cluster, "orders", 0, target, &now, &t->error);
    test_check(t, __FILE__, __LINE__);
}

static bool has_files(struct test_cluster *t, hw_broker_id_t broker)
{
    char path[HW_PATH_MAX];
    bool exists;

    assert_int_equal(hw_path_format(path, &t->error, "cluster/broker-%d/orders-0", (int)broker),
                     HW_OK);
    assert_int_equal(hw_store_exists(t->store, path, &exists, &t->error), HW_OK);
    return exists;
}

/* Semantics: R7.1, R7.3, R7.4, R7.6, R7.8 */
static void a_moved_partition_leaves_nothing_behind(void **state)
{
    struct test_cluster *t = *state;
    struct hw_broker_list target = {.count = 2, .ids = {1, 4}};

    produce(t, "a");
    replicate(t);
    assert_int_equal(hw_cluster_add_broker(t->cluster, 4, NULL, NULL, &t->error), HW_OK);
    reassign(t, &target);
    expect_done(t);
    assert_true(has_files(t, 4));
    assert_true(has_files(t, 2));
    expect_isr(t, "[1,2,3]");

    replicate(t);
    expect_isr(t, "[1,4]");
    expect_leader(t, 1);
    expect_leader_epoch(t, 1); /* The list lost members: their fetches are fenced. */
    expect_values(t, 4, "a@0");
    assert_false(has_files(t, 2));
    assert_false(has_files(t, 3));

    reassign(t, NULL);
    expect_refused(t, NO_REASSIGNMENT_IN_PROGRESS);
}

/* A replica that stays and is sick holds up no move that adds as many as it removes.
 * Semantics: R7.4 as of 4.3. Case: F-22 */
static void a_move_completes_past_a_sick_replica_that_stays(void **state)
{
    struct test_cluster *t = *state;
    struct hw_broker_list target = {.count = 3, .ids = {2, 3, 4}};

    produce(t, "a");
    replicate(t);
    assert_int_equal(hw_cluster_add_broker(t->cluster, 4, NULL, NULL, &t->error), HW_OK);
    crash(t, 2);
    tick(t, 10000);
    reassign(t, &target);
    replicate(t);
    expect_isr(t, "[3,4]");
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.adding.count, 0);
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.replicas.count, 3);
    assert_false(has_files(t, 1));
}

static hw_offset_t delete_records(struct test_cluster *t, int64_t before_offset)
{
    hw_offset_t low_watermark = -2;

    t->status = hw_cluster_delete_records(t->cluster, "orders", 0, before_offset, &low_watermark,
                                          &t->error);
    test_check(t, __FILE__, __LINE__);
    return low_watermark;
}

/* Semantics: R7.11, R7.12, R7.14, R7.15 */
static void the_low_watermark_follows_the_slowest_replica(void **state)
{
    struct test_cluster *t = *state;

    produce(t, "a");
    produce(t, "b");
    assert_int_equal(delete_records(t, 0), -1); /* No follower has been heard of yet. */
    replicate(t);
    (void)delete_records(t, 3);
    expect_refused(t, OFFSET_OUT_OF_RANGE);
    (void)delete_records(t, -2);
    expect_refused(t, OFFSET_OUT_OF_RANGE);

    assert_int_equal(delete_records(t, 1), 0);
    expect_log_start(t, 1, 1);
    expect_log_start(t, 2, 0);
    fetch_round(t); /* The answer brings the new start, the next question says so. */
    expect_log_start(t, 2, 1);
    assert_int_equal(delete_records(t, 1), 1);

    assert_int_equal(delete_records(t, -1), 1);
    expect_log_start(t, 1, 2);
    crash(t, 3); /* A dead broker's replica does not count. */
    fetch_round(t);
    assert_int_equal(delete_records(t, -1), 2);
}

/* Semantics: R7.14 */
static void a_fenced_broker_does_not_hold_the_low_watermark_back(void **state)
{
    struct test_cluster *t = *state;

    produce(t, "a");
    replicate(t);
    cut(t, 1, 3); /* It runs, and does not hear of it. */
    assert_int_equal(delete_records(t, 1), 0);
    fetch(t, 2);
    fetch(t, 2);
    assert_int_equal(delete_records(t, 1), 0);
    cut(t, 3, HW_CLUSTER_CONTROLLER);
    tick(t, 8999);
    assert_int_equal(delete_records(t, 1), 0);
    tick(t, 1);
    assert_int_equal(delete_records(t, 1), 1);
}

/* Semantics: R7.11 */
static void a_compacted_topic_deletes_by_key_only(void **state)
{
    static const char *const configs[] = {"cleanup.policy", "compact", NULL};
    struct test_cluster *t = *state;

    test_cluster_renew(t, 3, NULL, configs);
    (void)delete_records(t, -1);
    expect_refused(t, POLICY_VIOLATION);
}

/* Age and size take nothing of it, until its policy has "delete" too. Semantics: R7.18 */
static void a_compacted_topic_is_not_shortened_by_retention(void **state)
{
    struct test_cluster *t = *state;

    configure_topic(t, "retention.ms", "1");
    configure_topic(t, "retention.bytes", "0");
    produce(t, "a");
    replicate(t);
    configure_topic(t, "cleanup.policy", "compact");
    tick(t, 1000);
    retention(t);
    assert_int_equal(t->result, 0);
    expect_log_start(t, 1, 0);

    configure_topic(t, "cleanup.policy", "compact,delete");
    retention(t);
    assert_int_equal(t->result, 3);
    expect_log_start(t, 1, 1);
}

/* Row: C017. Semantics: R5.3 */
static void each_epoch_ends_where_the_next_known_one_starts(void **state)
{
    static const hw_offset_t ends[] = {1, 1, 2, 2, 3, HW_OFFSET_NONE};
    struct test_cluster *t = *state;
    hw_epoch_t epoch;
    hw_offset_t end;

    /* Each restart of Kafka's test raises the epoch by two. */
    for (int i = 0; i < 3; i++) {
        produce(t, "a");
        replicate(t);
        if (i < 2) {
            crash(t, 1);
            restart(t, 1);
            promote(t, 1);
        }
    }
    expect_leader_epoch(t, 4);
    for (int i = 0; i <= 5; i++) {
        assert_int_equal(hw_cluster_epoch_end_offset(t->cluster, "orders", 0, 1, NULL, i, &epoch,
                                                     &end, &t->error),
                         HW_OK);
        assert_int_equal(end, ends[i]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, test_cluster_setup, test_cluster_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_moved_partition_leaves_nothing_behind),
        TEST(a_move_completes_past_a_sick_replica_that_stays),
        TEST(the_low_watermark_follows_the_slowest_replica),
        TEST(a_fenced_broker_does_not_hold_the_low_watermark_back),
        TEST(a_compacted_topic_deletes_by_key_only),
        TEST(a_compacted_topic_is_not_shortened_by_retention),
        TEST(each_epoch_ends_where_the_next_known_one_starts),
    };

    return cmocka_run_group_tests_name("cluster_placement", tests, NULL, NULL);
}
