/* SPDX-License-Identifier: MIT */
/* Partitions that share a fetcher share its waits; with more fetchers they do not. */
#include "tests/support_timed.h"

#include <string.h>

#include "tests/support_test.h"

enum { RECORD_BYTES = 100000 };

/* Three partitions that 1 leads and 2 follows, over 1 ms and 1 MB/s, which is a tenth of the scenario's as
 * all sizes are. small-1 has a backlog that takes half a minute, orders-0 gets a record now and then. */
static void begin_big_and_small(struct test_cluster *t, const char *fetchers)
{
    static char value[RECORD_BYTES - HW_BATCH_HEADER_SIZE - 11];
    struct hw_broker_list assignment[2];
    struct hw_topic_spec topic = {.name = "small", .partitions = 2, .assignment = assignment};
    struct hw_produced produced;
    struct hw_uuid id;

    test_cluster_renew(t, 2, "kafka", NULL);
    configure(t, "replica.fetch.max.bytes", "100000");
    configure(t, "num.replica.fetchers", fetchers);
    expect_done(t);
    for (size_t i = 0; i < 2; i++) {
        assignment[i] = (struct hw_broker_list){.count = 2, .ids = {1, 2}};
    }
    assert_int_equal(hw_cluster_create_topic(t->cluster, &topic, &id, &t->error), HW_OK);
    memset(value, 'x', sizeof value - 1);
    for (int64_t i = 0; i < 300; i++) {
        struct hw_produce produce = {.topic = "small",
                                     .partition = 1,
                                     .acks = 1,
                                     .leader_epoch = -1,
                                     .record = {.key_size = -1,
                                                .value = (const uint8_t *)value,
                                                .value_size = (int32_t)sizeof value,
                                                .timestamp = HW_TIMESTAMP_CLOCK}};

        assert_int_equal(hw_cluster_produce(t->cluster, &produce, &produced, &t->error), HW_OK);
    }
    configure(t, "replication", "timed");
    link_both(t, 1, 2, 1000, 1000000);
}

/* How long the records of orders-0 wait for their commit, while small-1 is copied. */
static struct hw_load_view small_beside_big(struct test_cluster *t, const char *fetchers)
{
    struct hw_load_options options = timed_load_options(2000.3, 100, 22000, 100);

    begin_big_and_small(t, fetchers);
    (void)start_load(t, &options);
    tick_to(t, 25000);
    return load_at(t, 0);
}

/* Semantics: W-S29, F18, W2.3, W3.1, W-C32 */
TEST(a_small_partition_beside_a_big_one_waits_for_it, void *fixture)
{
    struct hw_load_view view = small_beside_big(fixture, "1");

    assert_true(view.acknowledged > 190);
    expect_near(view.mean_latency_ms, 152.4, 4);
    expect_near(view.max_latency_ms, 204.1, 2);
}

/* A record on small-0 or small-1, which was made just now, is committed so much later. */
static hw_time_ms_t first_commit(struct test_cluster *t, int64_t partition, const char *fetchers)
{
    struct hw_broker_list assignment[2];
    struct hw_topic_spec topic = {.name = "small", .partitions = 2, .assignment = assignment};
    struct hw_produce produce = {
        .topic = "small",
        .partition = partition,
        .acks = HW_ACKS_ALL,
        .leader_epoch = -1,
        .record = {.key_size = -1, .value_size = -1, .timestamp = HW_TIMESTAMP_CLOCK}};
    struct hw_produced produced;
    struct hw_uuid id;

    test_cluster_renew(t, 2, "kafka", NULL);
    configure(t, "num.replica.fetchers", fetchers);
    for (size_t i = 0; i < 2; i++) {
        assignment[i] = (struct hw_broker_list){.count = 2, .ids = {1, 2}};
    }
    configure(t, "replication", "timed");
    link_both(t, 1, 2, 1000, 0);
    tick_to(t, 10100);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &topic, &id, &t->error), HW_OK);
    assert_int_equal(hw_cluster_produce(t->cluster, &produce, &produced, &t->error), HW_OK);
    /* Not tick_to(), which takes what was acknowledged for records of orders. */
    assert_int_equal(hw_cluster_tick(t->cluster, 1900, &t->result, &t->error), HW_OK);
    return hw_acks_find(&t->cluster->acks, produced.ack_id)->resolved_ms - 10100;
}

/* By Java's hash orders-0, small-0 and small-1 have fetchers 1, 1 and 0 of two, 2, 1 and 0 of three,
 * and 4, 4 and 3 of five. A partition that a fetcher gets while its request waits has its turn when
 * that is over. Semantics: W1.1, W2.2, W3.3, W3.8 */
TEST(a_new_partition_waits_for_the_fetcher_that_it_is_given, void *fixture)
{
    /* The poll that waits at 10100 is the one of 20 times 502, and ends at 10542. */
    assert_true(first_commit(fixture, 0, "1") >= 442);
    assert_true(first_commit(fixture, 1, "1") >= 442);
    assert_true(first_commit(fixture, 0, "2") >= 442);
    assert_true(first_commit(fixture, 1, "2") < 10);
    assert_true(first_commit(fixture, 1, "3") < 10);
    assert_true(first_commit(fixture, 0, "5") >= 442);
}

static int64_t fetchers_to(const struct test_cluster *t, hw_broker_id_t leader)
{
    struct hw_position position = {0};
    struct hw_request_view view;
    int64_t ids[8];
    int64_t count = 0;

    while (hw_cluster_next_request(t->cluster, &position, &view)) {
        bool is_new = strcmp(view.kind, "fetch") == 0 && view.receiver == leader;

        for (int64_t i = 0; i < count; i++) {
            is_new = is_new && ids[i] != view.id;
        }
        if (is_new) {
            ids[count++] = view.id;
        }
    }
    return count;
}

/* Semantics: W1.1, F6 */
TEST(their_number_can_be_changed_while_they_run, struct test_cluster *t)
{
    begin_big_and_small(t, "1");
    link_both(t, 1, 2, 1000, 0);
    tick_to(t, 10000);
    assert_int_equal(fetchers_to(t, 1), 1);
    configure(t, "num.replica.fetchers", "2");
    tick_to(t, 12000);
    assert_int_equal(fetchers_to(t, 1), 2);
    configure(t, "num.replica.fetchers", "1");
    tick_to(t, 14000);
    assert_int_equal(fetchers_to(t, 1), 1);
    produce(t, "x");
    expect_done(t);
    tick_to(t, 14010);
    expect_ack(t, t->produced.ack_id, "acknowledged");
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
