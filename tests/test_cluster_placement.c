/* SPDX-License-Identifier: MIT */
/*
 * Where do replicas live, and where do logs begin? Moves, and records deleted at the start. Follows
 * ReplicationControlManager.alterPartitionReassignments, ReplicaManager.deleteRecords.
 */
#include "tests/support_cluster.h"
#include "tests/support_topics.h"

#include <string.h>

#include "tests/support_test.h"

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
TEST(a_moved_partition_leaves_nothing_behind, struct test_cluster *t)
{
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

/* What was shown of a replica that stays is known where it was (shown_file.h). */
TEST(a_replica_that_stays_keeps_its_slot, struct test_cluster *t)
{
    static const struct hw_broker_list targets[] = {
        {.count = 3, .ids = {3, 1, 2}}, {.count = 2, .ids = {4, 3}}, {.count = 2, .ids = {3, 1}}};
    static const size_t slots[][3] = {{3, 1, 2}, {4, 3}, {3, 5}};

    assert_int_equal(hw_cluster_add_broker(t->cluster, 4, NULL, NULL, &t->error), HW_OK);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        reassign(t, &targets[i]);
        replicate(t);
        assert_memory_equal(t->cluster->topics[0]->partitions[0].slots, slots[i],
                            (size_t)targets[i].count * sizeof slots[i][0]);
    }
    assert_int_equal(t->cluster->next_slot, 6);
}

/* A replica that stays and is sick holds up no move that adds as many as it removes.
 * Semantics: R7.4 as of 4.3. Case: F-22 */
TEST(a_move_completes_past_a_sick_replica_that_stays, struct test_cluster *t)
{
    struct hw_broker_list target = {.count = 3, .ids = {2, 3, 4}};

    produce(t, "a");
    replicate(t);
    assert_int_equal(hw_cluster_add_broker(t->cluster, 4, NULL, NULL, &t->error), HW_OK);
    crash(t, 2);
    tick(t, 10125);
    reassign(t, &target);
    replicate(t);
    expect_isr(t, "[3,4]");
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.adding.count, 0);
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.replicas.count, 3);
    assert_false(has_files(t, 1));
}

/* How many directories the broker has put aside. */
static size_t strays_of(struct test_cluster *t, hw_broker_id_t broker)
{
    struct hw_name_list names = {.allocator = &t->heap.allocator};
    char path[HW_PATH_MAX];
    size_t count = 0;

    assert_int_equal(hw_path_format(path, &t->error, "cluster/broker-%d", (int)broker), HW_OK);
    assert_int_equal(hw_store_list(t->store, path, &names, &t->error), HW_OK);
    for (size_t i = 0; i < names.count; i++) {
        count += strncmp(names.names[i], "orders-0.", 9) == 0 &&
                 strcmp(names.names[i] + strlen(names.names[i]) - 6, "-stray") == 0;
    }
    hw_name_list_release(&names);
    return count;
}

static const struct hw_broker_list without_3 = {.count = 2, .ids = {1, 2}};
static const struct hw_broker_list with_3 = {.count = 3, .ids = {1, 2, 3}};

/* Who is down hears of nothing. What it finds of a partition that it does not hold any more it puts
 * aside. Source: LogManager.loadLog. Case: F-10 */
TEST(a_broker_that_is_down_keeps_what_it_held, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    crash(t, 3);
    reassign(t, &without_3);
    expect_done(t);
    assert_true(has_files(t, 3));
    restart(t, 3);
    expect_done(t);
    assert_false(has_files(t, 3));
    assert_int_equal(strays_of(t, 3), 1);

    reassign(t, &with_3);
    expect_log_end(t, 3, 0);
    replicate(t);
    expect_values(t, 3, "a@0");
}

/* Added again before it comes back, it goes on with what it has. Case: F-10 */
TEST(a_broker_that_is_down_may_get_its_replica_back, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    crash(t, 3);
    reassign(t, &without_3);
    reassign(t, &with_3);
    restart(t, 3);
    expect_log_end(t, 3, 1);
    assert_int_equal(strays_of(t, 3), 0);
    produce(t, "b");
    replicate(t);
    expect_values(t, 3, "a@0 b@1");
    expect_isr(t, "[1,2,3]");
}

/* Nor does one that is cut off: it follows, or leads, as it was told, and nobody answers it. It
 * deletes its files when it hears. Semantics: R7.8. Case: F-10 */
TEST(a_broker_that_is_cut_off_holds_its_replica_until_it_hears, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    cut(t, 3, HW_CLUSTER_CONTROLLER);
    reassign(t, &without_3);
    assert_true(has_files(t, 3));
    produce(t, "b");
    replicate(t);
    expect_high_watermark(t, 1, 2);
    fetch(t, 3);
    expect_result(t, 0);
    expect_values(t, 3, "a@0");
    heal(t, 3, HW_CLUSTER_CONTROLLER);
    assert_false(has_files(t, 3));
    assert_int_equal(strays_of(t, 3), 0);
    fetch(t, 3);
    expect_refused(t, REPLICA_NOT_AVAILABLE);
}

/* Another topic of that name is none of its business. Case: F-10 */
TEST(a_broker_that_was_down_does_not_take_an_old_topic_for_a_new_one, struct test_cluster *t)
{
    static const struct hw_topic_spec spec = {
        .name = "orders", .partitions = 1, .replication_factor = 2};
    struct hw_uuid id;

    produce(t, "a");
    replicate(t);
    crash(t, 3);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_true(has_files(t, 3));
    assert_false(has_files(t, 2));
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    t->seen_leader = HW_BROKER_ID_NONE;
    reassign(t, &with_3);
    restart(t, 3);
    assert_int_equal(strays_of(t, 3), 1);
    expect_log_end(t, 3, 0);
}

/* Wherever the removal of a replica's files fails: added again, it begins with nothing. */
TEST_ALONE(a_replica_whose_files_could_not_be_removed_begins_anew)
{
    int64_t fail_at = 0;
    bool was_hit = true;

    for (; was_hit; fail_at++) {
        struct test_topics t = {.cluster = NULL};
        struct hw_produce produce = {.topic = "orders",
                                     .acks = 1,
                                     .leader_epoch = -1,
                                     .record = {.key_size = -1, .value_size = -1}};
        struct hw_produced produced;
        struct hw_broker_list now;
        struct hw_partition *orders;
        int64_t rounds;

        test_topics_open(&t, 3);
        orders = test_topics_create(&t, "orders", 1, 3, NULL)->partitions;
        assert_int_equal(hw_cluster_produce(t.cluster, &produce, &produced, &t.error), HW_OK);
        assert_int_equal(hw_cluster_replicate(t.cluster, NULL, -1, &rounds, &t.error), HW_OK);
        t.faults = (struct hw_faults){.fail_at = fail_at, .only_changes = true};
        (void)hw_cluster_reassign(t.cluster, "orders", 0, &without_3, &now, &t.error);
        was_hit = t.faults.calls > fail_at;
        t.faults = (struct hw_faults){.fail_at = -1};
        assert_null(hw_partition_find(orders, 3));
        assert_int_equal(hw_cluster_reassign(t.cluster, "orders", 0, &with_3, &now, &t.error),
                         HW_OK);
        assert_int_equal(hw_log_end(hw_partition_find(orders, 3)->log), 0);
        assert_int_equal(hw_cluster_replicate(t.cluster, NULL, -1, &rounds, &t.error), HW_OK);
        assert_int_equal(hw_log_end(hw_partition_find(orders, 3)->log), 1);
        test_topics_close(&t);
    }
    assert_true(fail_at > 5);
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
TEST(the_low_watermark_follows_the_slowest_replica, struct test_cluster *t)
{
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
TEST(a_fenced_broker_does_not_hold_the_low_watermark_back, struct test_cluster *t)
{
    produce(t, "a");
    replicate(t);
    cut(t, 1, 3); /* It runs, and does not hear of it. */
    assert_int_equal(delete_records(t, 1), 0);
    fetch(t, 2);
    fetch(t, 2);
    assert_int_equal(delete_records(t, 1), 0);
    cut(t, 3, HW_CLUSTER_CONTROLLER);
    tick(t, 9000);
    assert_int_equal(delete_records(t, 1), 0);
    tick(t, 1125);
    assert_int_equal(delete_records(t, 1), 1);
}

/* Semantics: R7.11 */
TEST(a_compacted_topic_deletes_by_key_only, struct test_cluster *t)
{
    static const char *const configs[] = {"cleanup.policy", "compact", NULL};

    test_cluster_renew(t, 3, NULL, configs);
    (void)delete_records(t, -1);
    expect_refused(t, POLICY_VIOLATION);
}

/* Age and size take nothing of it, until its policy has "delete" too. Semantics: R7.18 */
TEST(a_compacted_topic_is_not_shortened_by_retention, struct test_cluster *t)
{
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
TEST(each_epoch_ends_where_the_next_known_one_starts, struct test_cluster *t)
{
    static const hw_offset_t ends[] = {1, 1, 2, 2, 3, HW_OFFSET_NONE};
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

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
