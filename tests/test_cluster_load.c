/* SPDX-License-Identifier: MIT */
/* Do producers on the clock send what they should, to whom they should, and wait for the answer? */
#include "tests/support_timed.h"

#include <stddef.h>
#include <string.h>

#include "tests/support_test.h"

/* Three partitions, led by brokers 1, 2 and 3. */
static void create_spread(struct test_cluster *t)
{
    struct hw_topic_spec topic = {.name = "spread", .partitions = 3, .replication_factor = 3};
    struct hw_uuid id;

    assert_int_equal(hw_cluster_create_topic(t->cluster, &topic, &id, &t->error), HW_OK);
}

/* Each record goes to the leader of its own partition, over the link to that. */
TEST(a_record_travels_to_the_leader_of_its_partition, struct test_cluster *t)
{
    struct hw_load_options options = timed_load_options(0, 100, 900, 100);
    struct hw_load_view view;

    create_spread(t);
    timed_begin(t, 0, 0);
    link_both(t, HW_CLIENTS, 3, 50000, 0);
    options.topic = "spread";
    options.acks = 1;
    (void)start_load(t, &options);
    tick_to(t, 2000);
    view = load_at(t, 0);
    assert_int_equal(view.acknowledged, 10);
    assert_int_equal((int64_t)view.max_latency_ms, 100);
    /* Three or four of ten are the far broker's. */
    expect_near(view.mean_latency_ms, 35, 6);
}

/* A deposed leader that has not heard of it takes what it is sent; one that has, does not. */
TEST(a_record_arrives_where_it_was_sent, struct test_cluster *t)
{
    struct hw_load_options options = timed_load_options(0, 100, 0, 100);
    struct hw_load_view view;

    timed_begin(t, 1000, 1000);
    link_both(t, HW_CLIENTS, 1, 400000, 0);
    options.acks = 1;
    options.retries = 1;
    (void)start_load(t, &options);
    tick_to(t, 100);
    promote(t, 2);
    expect_done(t);
    tick_to(t, 2000);
    view = load_at(t, 0);
    /* Refused by the old leader at 400, which it hears at 800; sent to the new one at 900. */
    assert_int_equal(view.acknowledged, 1);
    assert_int_equal((int64_t)view.max_latency_ms, 900);
    expect_log_end(t, 2, 1);
}

/* Whether a record of a load is under way so. */
static bool has_produce(const struct test_cluster *t, const char *state, int64_t sender,
                        hw_offset_t offset, hw_time_ms_t due_ms)
{
    struct hw_position position = {0};
    struct hw_request_view view;

    while (hw_cluster_next_request(t->cluster, &position, &view)) {
        if (strcmp(view.kind, "produce") == 0) {
            return strcmp(view.state, state) == 0 && view.sender == sender &&
                   view.offset == offset && view.due_ms == due_ms;
        }
    }
    return false;
}

TEST(a_record_under_way_can_be_seen, struct test_cluster *t)
{
    struct hw_load_options options = timed_load_options(1000, 1000, 1000, 100);

    timed_begin(t, 10000, 10000);
    link_both(t, HW_CLIENTS, 1, 50000, 0);
    (void)start_load(t, &options);
    tick_to(t, 1010);
    assert_true(has_produce(t, "travelling", HW_CLUSTER_CLIENT, HW_OFFSET_NONE, 1050));
    tick_to(t, 1060);
    assert_true(has_produce(t, "waiting", HW_CLUSTER_CLIENT, 0, HW_TIME_NEVER));
    tick_to(t, 1080);
    assert_true(has_produce(t, "answered", 1, 0, 1120));
    tick_to(t, 1120);
    assert_false(has_produce(t, "answered", 1, 0, 1120));
}

/* Semantics: W1.4 */
TEST(retention_runs_by_itself, struct test_cluster *t)
{
    struct hw_load_options options = timed_load_options(0, 100, 900000, 1000);
    int64_t size_bytes[2];

    t->records_may_be_lost = true; /* Those that retention deletes. */
    configure(t, "segment.bytes", "20000");
    configure(t, "retention.bytes", "100000");
    timed_begin(t, 1000, 1000);
    options.acks = 1;
    (void)start_load(t, &options);
    tick_to(t, 299900);
    expect_log_start(t, 1, 0);
    for (int i = 0; i < 2; i++) {
        tick_to(t, 300000 * (i + 1));
        size_bytes[i] = hw_log_size_bytes(test_replica(t, 3, __FILE__, __LINE__)->log);
        assert_true(size_bytes[i] < 100000 + 20000);
    }
    assert_true(size_bytes[1] > 80000);
}

/* By hand, unless the clock is one that goes on by itself. */
TEST(retention_does_not_run_where_nothing_does, struct test_cluster *t)
{
    t->records_may_be_lost = true;
    configure(t, "segment.bytes", "200");
    configure(t, "retention.bytes", "0");
    for (int i = 0; i < 10; i++) {
        produce(t, "0123456789012345678901234567890123456789");
    }
    replicate(t);
    tick(t, 700000);
    expect_done(t);
    expect_log_start(t, 1, 0);
    retention(t);
    assert_true(hw_log_start(test_replica(t, 1, __FILE__, __LINE__)->log) > 0);
}

/* What the heap had at most while the clock went on to `time_ms`. */
static size_t most_until(struct test_cluster *t, hw_time_ms_t time_ms)
{
    t->heap.bytes_most = t->heap.bytes_in_use;
    tick_to(t, time_ms);
    return t->heap.bytes_most;
}

/* Logs are full and lists have their length, but for the ring of the journal that retention's own few
 * events fill slowly: a percent. */
TEST(memory_does_not_grow_once_retention_takes, struct test_cluster *t)
{
    struct hw_load_options options = timed_load_options(0, 5, 400000, 1000);
    size_t before;
    size_t after;

    configure(t, "segment.bytes", "100000");
    configure(t, "retention.bytes", "300000");
    configure(t, "log.retention.check.interval.ms", "10000");
    timed_begin(t, 1000, 1000);
    (void)start_load(t, &options);
    before = most_until(t, 100000);
    assert_true(before > (size_t)3 * 2000000);
    before = most_until(t, 200000);
    after = most_until(t, 400000);
    assert_true(after <= before + before / 100);
    /* Three replicas, each with what is kept, what ten seconds bring, and a segment. */
    assert_true(after < (size_t)3 * (300000 + 10 * 220000 + 100000) + 8000000);
}

static bool is_taken(struct test_cluster *t, const struct hw_load_options *options)
{
    int64_t id;

    return hw_cluster_load(t->cluster, options, &id, &t->error) == HW_OK;
}

TEST(options_have_bounds, struct test_cluster *t)
{
    static const struct {
        size_t at;
        int64_t least, most;
    } numbers[] = {{offsetof(struct hw_load_options, size_bytes), 0, 16777216},
                   {offsetof(struct hw_load_options, keys), 0, INT64_MAX},
                   {offsetof(struct hw_load_options, retries), 0, INT64_MAX},
                   {offsetof(struct hw_load_options, retry_ms), 1, INT32_MAX},
                   {offsetof(struct hw_load_options, in_flight), 1, HW_LOAD_IN_FLIGHT_MAX},
                   {offsetof(struct hw_load_options, acks), HW_ACKS_ALL, 1},
                   {offsetof(struct hw_load_options, until_ms), INT64_MIN, HW_CLOCK_MS_MAX}};
    static const struct {
        size_t at;
        double below, least, most, above;
    } times[] = {{offsetof(struct hw_load_options, records_per_s), 0.00099, 0.001, 1e6, 1e6 + 1},
                 {offsetof(struct hw_load_options, start_ms), -0.1, 0, 1e12, 1e12 + 1}};

    timed_begin(t, 0, 0);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct hw_load_options options = hw_load_options_default();
        int64_t *value = (int64_t *)((char *)&options + numbers[i].at);

        options.topic = "orders";
        *value = numbers[i].least;
        assert_true(is_taken(t, &options));
        *value = numbers[i].most;
        assert_true(is_taken(t, &options));
        *value = numbers[i].least - (numbers[i].least != INT64_MIN);
        assert_true(numbers[i].least == INT64_MIN || !is_taken(t, &options));
        *value = numbers[i].most + (numbers[i].most != INT64_MAX);
        assert_true(numbers[i].most == INT64_MAX || !is_taken(t, &options));
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        struct hw_load_options options = hw_load_options_default();
        double *value = (double *)((char *)&options + times[i].at);

        options.topic = "orders";
        *value = times[i].below;
        assert_false(is_taken(t, &options));
        *value = times[i].least;
        assert_true(is_taken(t, &options));
        *value = times[i].most;
        assert_true(is_taken(t, &options));
        *value = times[i].above;
        assert_false(is_taken(t, &options));
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
