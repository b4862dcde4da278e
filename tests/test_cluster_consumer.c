/* SPDX-License-Identifier: MIT */
/* What is a consumer told: where to read, and where a log begins and ends? ReplicaManager,
 * RackAwareReplicaSelector, UnifiedLog.fetchOffsetByTimestamp. */
#include "tests/support_cluster.h"
#include "tests/support_reader.h"

#include <string.h>

#include "tests/support_test.h"

/* Brokers 1 and 4 stand in rack a, 2 and 3 in rack b, 5 nowhere. Broker 1 leads. */
static const char *const racks[] = {"a", "b", "b", "a", NULL};

static void renew_with_racks(struct test_cluster *t)
{
    struct hw_topic_spec spec = {.name = "orders", .partitions = 1, .replication_factor = 5};
    struct hw_uuid id;

    test_cluster_renew(t, 5, NULL, NULL);
    for (size_t i = 0; i < 5; i++) {
        if (racks[i] != NULL) {
            t->cluster->brokers[i]->rack = hw_text_copy(&t->heap.allocator, racks[i]);
        }
    }
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
}

static void nearest_is(struct test_cluster *t, const char *rack, int64_t offset, int64_t expected,
                       const char *file, int line)
{
    hw_broker_id_t broker = HW_BROKER_ID_NONE;

    t->status =
        hw_cluster_nearest_replica(t->cluster, "orders", 0, rack, offset, &broker, &t->error);
    test_done(t, file, line);
    test_equal(broker, expected, "nearest replica", -1, file, line);
}

#define expect_nearest(t, rack, expected)                                                          \
    nearest_is((t), (rack), -1, (expected), __FILE__, __LINE__)
#define expect_nearest_at(t, rack, offset, expected)                                               \
    nearest_is((t), (rack), (offset), (expected), __FILE__, __LINE__)

/* Semantics: R10.3 */
TEST(the_leader_is_nearest_unless_the_rack_has_only_followers, struct test_cluster *t)
{
    renew_with_racks(t);
    produce(t, "a");
    replicate(t);
    expect_nearest(t, "a", 1);
    expect_nearest(t, "c", 1);
    expect_nearest(t, NULL, 1);
    expect_nearest(t, "", 1);
    /* Both are equally far: the larger id. */
    expect_nearest(t, "b", 3);
}

/* Semantics: R10.3 */
TEST(the_follower_that_is_furthest_is_nearest, struct test_cluster *t)
{
    renew_with_racks(t);
    produce(t, "a");
    replicate(t);
    produce(t, "b");
    fetch(t, 2);
    /* It has the record, and the leader does not know yet. */
    expect_log_end(t, 2, 2);
    expect_nearest(t, "b", 3);
    fetch(t, 2);
    expect_nearest(t, "b", 2);
}

/* Semantics: R10.3. Equally far, and one was at the leader's end later than the other. */
TEST(the_follower_that_was_caught_up_last_is_nearest, struct test_cluster *t)
{
    renew_with_racks(t);
    produce(t, "a");
    replicate(t);
    tick(t, 10);
    fetch(t, 2);
    expect_nearest(t, "b", 2);
    tick(t, 10);
    fetch(t, 3);
    expect_nearest(t, "b", 3);
}

/* Row: C167. Semantics: R10.3 */
TEST(a_follower_outside_the_isr_is_not_chosen, struct test_cluster *t)
{
    renew_with_racks(t);
    produce(t, "a");
    replicate(t);
    remove_from_isr(t, 3);
    expect_nearest(t, "b", 2);
    remove_from_isr(t, 2);
    expect_nearest(t, "b", 1);
}

/* Semantics: R10.3 */
TEST(a_follower_must_have_the_offset_that_is_wanted, struct test_cluster *t)
{
    hw_offset_t low;

    renew_with_racks(t);
    produce(t, "a");
    replicate(t);
    expect_nearest_at(t, "b", 1, 3);
    expect_nearest_at(t, "b", 2, 1);
    produce(t, "b");
    fetch(t, 2);
    fetch(t, 2);
    expect_nearest_at(t, "b", 2, 2);

    /* Broker 2 hears of a new log start and drops what is below it, broker 3 does not. */
    produce(t, "c");
    replicate(t);
    TEST_VERB(t, hw_cluster_delete_records(t->cluster, "orders", 0, 2, &low, &t->error));
    tick(t, 10);
    fetch(t, 2);
    fetch(t, 2);
    expect_log_start(t, 2, 2);
    expect_log_start(t, 3, 0);
    expect_nearest_at(t, "b", 1, 3);
    expect_nearest_at(t, "b", 2, 2);
}

/* Semantics: R10.3 */
TEST(a_broker_that_died_is_told_until_somebody_notices, struct test_cluster *t)
{
    renew_with_racks(t);
    produce(t, "a");
    replicate(t);
    crash(t, 3);
    expect_nearest(t, "b", 3);
    tick(t, 10125);
    expect_nearest(t, "b", 2);
    crash(t, 1);
    assert_int_equal(hw_cluster_nearest_replica(t->cluster, "orders", 0, "b", -1,
                                                &(hw_broker_id_t){0}, &t->error),
                     HW_REFUSED);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_LEADER_NOT_AVAILABLE);
}

TEST(what_is_asked_for_is_checked, struct test_cluster *t)
{
    hw_broker_id_t broker;

    assert_int_equal(
        hw_cluster_nearest_replica(t->cluster, "orders", 1, "b", -1, &broker, &t->error),
        HW_REFUSED);
    assert_int_equal(t->error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_int_equal(
        hw_cluster_nearest_replica(t->cluster, "orders", 0, "b", -2, &broker, &t->error),
        HW_MISUSE);
    assert_string_equal(t->error.message, "offset -2, allowed are 0 and more");
}

#define expect_listed(t, what, timestamp, expected)                                                \
    do {                                                                                           \
        list_offset((t), (what), (timestamp));                                                     \
        expect_done(t);                                                                            \
        expect_result((t), (expected));                                                            \
    } while (0)

/* Row: C163, for records outside transactions. Semantics: R10.1, R10.8, R10.9 */
TEST(the_latest_offset_is_the_high_watermark, struct test_cluster *t)
{
    configure(t, "replica.fetch.max.bytes", "1"); /* One batch an answer. */
    produce(t, "a");
    produce(t, "b");
    produce(t, "c");
    expect_log_end(t, 1, 3);
    expect_listed(t, HW_LIST_LATEST, 0, 0);
    expect_listed(t, HW_LIST_EARLIEST, 0, 0);
    for (int i = 0; i < 2; i++) {
        fetch(t, 2);
        fetch(t, 3);
    }
    expect_log_end(t, 1, 3);
    expect_listed(t, HW_LIST_LATEST, 0, 1);
    expect_listed(t, HW_LIST_EARLIEST, 0, 0);
}

static void produce_at(struct test_cluster *t, hw_time_ms_t timestamp)
{
    struct hw_produce request = {.topic = "orders",
                                 .record = {.timestamp = timestamp, .key_size = -1},
                                 .acks = HW_ACKS_ALL,
                                 .leader_epoch = -1};

    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    expect_done(t);
}

/* Row: C164: the offsets; the epoch of a record is a column of it. Semantics: R10.8 to R10.11 */
TEST(offsets_are_found_by_time_across_epochs, struct test_cluster *t)
{
    produce_at(t, 1000);
    replicate(t);
    promote(t, 2);
    produce_at(t, 1001);
    /* Not committed yet: it is not found. */
    expect_listed(t, HW_LIST_TIMESTAMP, 1001, HW_OFFSET_NONE);
    replicate(t);
    expect_listed(t, HW_LIST_TIMESTAMP, 1000, 0);
    expect_listed(t, HW_LIST_TIMESTAMP, 1001, 1);
    expect_listed(t, HW_LIST_TIMESTAMP, 1002, HW_OFFSET_NONE);
    expect_listed(t, HW_LIST_EARLIEST, 0, 0);
    expect_listed(t, HW_LIST_LATEST, 0, 2);
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, 1);
    expect_epochs(t, 2, "0:0,1:1");
    promote(t, 1);
    expect_listed(t, HW_LIST_LATEST, 0, 2);
    expect_epochs(t, 1, "0:0,1:1,2:2");
}

/* Of the whole log, not of what a consumer may fetch. Semantics: R10.11 */
TEST(the_largest_timestamp_is_found_where_it_may_be_fetched, struct test_cluster *t)
{
    produce_at(t, 1000);
    replicate(t);
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, 0);
    produce_at(t, 2000);
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, HW_OFFSET_NONE);
    replicate(t);
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, 1);
    produce_at(t, 1500);
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, 1);
    produce_at(t, 2000);
    replicate(t);
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, 1); /* The first one. */
    delete_before(t, 2);                           /* Its segment is still there. */
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, 3);
}

/* Broker 2 leads with a high watermark behind the start of its epoch; a reader gets what is below it
 * all the same. Semantics: R3.13, R10.5 */
TEST(a_new_leader_tells_of_records_that_it_is_sure_of, struct test_cluster *t)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    hw_offset_t first;
    hw_offset_t end;

    produce_at(t, 2000);
    replicate(t);
    produce_at(t, 1000);
    fetch(t, 2);
    promote(t, 2);
    expect_high_watermark(t, 2, 1);
    expect_listed(t, HW_LIST_MAX_TIMESTAMP, 0, 0);
    expect_listed(t, HW_LIST_TIMESTAMP, 1500, 0);
    list_offset(t, HW_LIST_TIMESTAMP, 2001);
    expect_refused(t, OFFSET_NOT_AVAILABLE);
    list_offset(t, HW_LIST_LATEST, 0);
    expect_refused(t, OFFSET_NOT_AVAILABLE);
    expect_listed(t, HW_LIST_EARLIEST, 0, 0);
    assert_int_equal(hw_reader_bounds(t->cluster, &options, &first, &end, &t->error), HW_OK);
    assert_int_equal(end, 1);
}

/* Semantics: R10.9, R10.12 */
TEST(all_is_local_and_nothing_is_tiered, struct test_cluster *t)
{
    produce(t, "a");
    produce(t, "b");
    replicate(t);
    delete_before(t, 1);
    expect_listed(t, HW_LIST_EARLIEST_LOCAL, 0, 1);
    expect_listed(t, HW_LIST_LATEST_TIERED, 0, HW_OFFSET_NONE);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
