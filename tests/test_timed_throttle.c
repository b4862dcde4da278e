/* SPDX-License-Identifier: MIT */
/*
 * How long does a newcomer take to catch up, throttled and not? To scale: bytes and rates are a tenth of
 * those of the scenarios, so times are the same, but for the 76 bytes that an answer has beside its
 * 100 kB.
 */
#include "tests/support_timed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

enum { RECORD_BYTES = 100000 };

/* Broker 2 is out of the ISR and has nothing of the backlog, which has so many records; from time 0 on
 * it fetches, one record at a time, over this link. Whatever is proposed is answered 35 ms later. */
static void begin_catch_up(struct test_cluster *t, const char *const *configs, int64_t records,
                           int64_t latency_us, int64_t bytes_per_s)
{
    static char value[RECORD_BYTES];

    test_cluster_renew(t, 2, "kafka", configs);
    configure(t, "max.message.bytes", "2000000");
    configure(t, "replica.fetch.max.bytes", "100000");
    remove_from_isr(t, 2);
    expect_done(t);
    /* As one that never was there: the high watermark does not wait for it (W10.7). */
    hw_replica_find_remote(test_replica(t, 1, __FILE__, __LINE__), 2)->last_caught_up_ms =
        HW_TIME_NEVER;
    memset(value, 'x', sizeof value);
    /* With the batch's header and its own fields the record has RECORD_BYTES. */
    value[RECORD_BYTES - HW_BATCH_HEADER_SIZE - 11] = '\0';
    for (int64_t i = 0; i < records; i++) {
        produce_acks(t, value, 1);
        expect_done(t);
    }
    assert_int_equal(hw_log_size_bytes(test_replica(t, 1, __FILE__, __LINE__)->log),
                     records * RECORD_BYTES);
    configure(t, "replication", "timed");
    link_both(t, 1, 2, latency_us, bytes_per_s);
    link_both(t, HW_CONTROLLER, 1, 5000, 0);
    link_both(t, HW_CONTROLLER, 2, 5000, 0);
}

/* How many partitions of the topic have both brokers in their ISR. */
static int in_sync_count(const struct test_cluster *t, const char *name)
{
    const struct hw_topic *topic = hw_cluster_topic(t->cluster, name);
    int count = 0;

    for (int32_t p = 0; p < topic->partition_count; p++) {
        count += topic->partitions[p].record.isr.count == 2 ? 1 : 0;
    }
    return count;
}

/* Within half a percent, which is what the scale costs. The leader hears of it 30 ms after the
 * controller has decided it. */
static void expect_in_sync_at(struct test_cluster *t, hw_time_ms_t expected)
{
    hw_time_ms_t time_ms = when_isr_is(t, "[1,2]", 1) + 30;

    if (time_ms < expected - expected / 200 || time_ms > expected + expected / 200 + 5) {
        fail_msg("in sync at %" PRId64 ", not at %" PRId64, time_ms, expected);
    }
}

static int64_t start_producing(struct test_cluster *t, double start_ms, double every_ms,
                               hw_time_ms_t until_ms, int64_t size_bytes)
{
    struct hw_load_options options = timed_load_options(start_ms, every_ms, until_ms, size_bytes);

    options.acks = 1;
    return start_load(t, &options);
}

/* Semantics: W-S11, W-S14, F9, F10 */
TEST(catching_up_takes_as_many_cycles_as_there_are_answers, struct test_cluster *t)
{
    static const struct {
        int64_t latency_us;
        int64_t bytes_per_s;
        hw_time_ms_t in_sync_ms;
    } runs[] = {{50000, 12500000, 21685}, {1000, 12500000, 2036}, {50000, 1000000, 40085}};

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        begin_catch_up(t, NULL, 200, runs[i].latency_us, runs[i].bytes_per_s);
        tick_to(t, 45000);
        expect_in_sync_at(t, runs[i].in_sync_ms);
    }
}

/* One answer has something of each partition. Semantics: W-S12, W3.4 */
TEST(ten_partitions_share_an_answer, struct test_cluster *t)
{
    static char value[RECORD_BYTES - HW_BATCH_HEADER_SIZE - 11];
    struct hw_broker_list assignment[10];
    struct hw_topic_spec topic = {.name = "parts", .partitions = 10, .assignment = assignment};
    struct hw_uuid id;

    begin_catch_up(t, NULL, 0, 50000, 12500000);
    configure(t, "replication", "manual");
    configure(t, "replica.fetch.response.max.bytes", "1000000");
    for (size_t i = 0; i < 10; i++) {
        assignment[i] = (struct hw_broker_list){.count = 2, .ids = {1, 2}};
    }
    assert_int_equal(hw_cluster_create_topic(t->cluster, &topic, &id, &t->error), HW_OK);
    memset(value, 'x', sizeof value);
    for (int64_t p = 0; p < 10; p++) {
        struct hw_produce produce = {.topic = "parts",
                                     .partition = p,
                                     .acks = 1,
                                     .leader_epoch = -1,
                                     .record = {.key_size = -1,
                                                .value = (const uint8_t *)value,
                                                .value_size = (int32_t)sizeof value - 1,
                                                .timestamp = HW_TIMESTAMP_CLOCK}};
        struct hw_produced produced;

        assert_int_equal(hw_cluster_remove_from_isr(t->cluster, "parts", p, 2,
                                                    &(struct hw_broker_list){0}, &t->error),
                         HW_OK);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(hw_cluster_produce(t->cluster, &produce, &produced, &t->error), HW_OK);
        }
    }
    configure(t, "replication", "timed");
    tick_to(t, 3000);
    assert_int_equal(in_sync_count(t, "parts"), 0);
    tick_to(t, 3750);
    assert_int_equal(in_sync_count(t, "parts"), 10);
}

/* Semantics: W-S13, F10, W10.7 */
TEST(producing_meanwhile_makes_it_longer, struct test_cluster *t)
{
    begin_catch_up(t, NULL, 200, 50000, 12500000);
    (void)start_producing(t, 0.5, 20, 60000, 9918);
    tick_to(t, 55000);
    expect_in_sync_at(t, 47167);
}

/* Semantics: W-S15, W-S16, W-S17, W8.1, W8.2, W8.3, W3.2, F16 */
TEST(a_throttle_lets_pass_what_it_says, struct test_cluster *t)
{
    static const char *const leader[] = {"leader.replication.throttled.replicas", "*", NULL};
    static const char *const follower[] = {"follower.replication.throttled.replicas", "*", NULL};
    static const struct {
        const char *const *throttled;
        const char *rate;
        int64_t records;
        hw_time_ms_t in_sync_ms;
    } runs[] = {{leader, "1000000", 200, 20540},
                {follower, "1000000", 200, 21036},
                {leader, "5000000", 1000, 20538},
                {follower, "5000000", 1000, 21036}};

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        begin_catch_up(t, runs[i].throttled, runs[i].records, 1000, 12500000);
        configure(t, "leader.replication.throttled.rate", runs[i].rate);
        configure(t, "follower.replication.throttled.rate", runs[i].rate);
        tick_to(t, 25000);
        expect_in_sync_at(t, runs[i].in_sync_ms);
    }
}

/* Semantics: W-S19, W-C29, W8.6 */
TEST(a_throttle_below_what_is_produced_never_ends, struct test_cluster *t)
{
    static const char *const leader[] = {"leader.replication.throttled.replicas", "*", NULL};

    begin_catch_up(t, leader, 50, 1000, 12500000);
    configure(t, "leader.replication.throttled.rate", "500000");
    (void)start_producing(t, 0.5, 25, 100000, 9918);
    tick_to(t, 55000);
    /* As the formula has it, B / (Q - p), and a poll of the throttled follower. */
    expect_near((double)when_isr_is(t, "[1,2]", 1), 50000, 1000);
    begin_catch_up(t, leader, 50, 1000, 12500000);
    configure(t, "leader.replication.throttled.rate", "500000");
    (void)start_producing(t, 0.5, 1000.0 / 60, 300000, 9918);
    tick_to(t, 60000);
    expect_isr(t, "[1]");
    expect_near((double)(hw_log_size_bytes(test_replica(t, 1, __FILE__, __LINE__)->log) -
                         hw_log_size_bytes(test_replica(t, 2, __FILE__, __LINE__)->log)),
                11000000, 300000);
    /* Above what is produced it ends: 11 MB at 0.4 MB/s more than comes in. */
    configure(t, "leader.replication.throttled.rate", "1000000");
    tick_to(t, 60000 + 30000);
    expect_isr(t, "[1,2]");
}

/* One answer passes, whatever the rate. Semantics: W-S22, W8.4, W-C28 */
TEST(a_rate_below_an_answer_is_one_answer_in_eleven_seconds, struct test_cluster *t)
{
    static const char *const leader[] = {"leader.replication.throttled.replicas", "*", NULL};

    begin_catch_up(t, leader, 60, 1000, 12500000);
    configure(t, "leader.replication.throttled.rate", "1");
    for (int64_t i = 1; i <= 6; i++) {
        tick_to(t, i == 1 ? 900 : (i - 1) * 11000 + 1000);
        expect_log_end(t, 2, i);
        tick_to(t, i * 11000 - 600);
        expect_log_end(t, 2, i);
    }
}

/* Two newcomers share what the leader gives, and each has its own. Semantics: W-S18 */
TEST(two_newcomers_take_as_long_as_their_sum, struct test_cluster *t)
{
    struct hw_broker_list three = {.count = 3, .ids = {1, 2, 3}};

    begin_catch_up(t, NULL, 100, 1000, 12500000);
    /* Broker 2 and broker 3 both begin with nothing. */
    assert_int_equal(hw_cluster_add_broker(t->cluster, 3, NULL, NULL, &t->error), HW_OK);
    link_both(t, 1, 3, 1000, 12500000);
    configure_topic(t, "leader.replication.throttled.replicas", "*");
    configure(t, "leader.replication.throttled.rate", "1000000");
    expect_done(t);
    assert_int_equal(hw_cluster_reassign(t->cluster, "orders", 0, &three,
                                         &(struct hw_broker_list){0}, &t->error),
                     HW_OK);
    tick_to(t, 25000);
    /* 2 X / Q, give or take a second. */
    expect_near((double)when_isr_is(t, "[1,2", 1), 20000, 1100);
    expect_near((double)when_isr_is(t, "3]", 1), 20000, 1100);
}

/* Who is in sync has what it wants, whatever it uses up. Semantics: W8.6, W8.7, W-C25 */
TEST(a_throttle_that_was_left_holds_nobody_back_who_is_in_sync, struct test_cluster *t)
{
    static const char *const both[] = {"leader.replication.throttled.replicas", "*",
                                       "follower.replication.throttled.replicas", "*", NULL};

    begin_catch_up(t, both, 1, 1000, 12500000);
    tick_to(t, 5000);
    expect_isr(t, "[1,2]");
    configure(t, "leader.replication.throttled.rate", "1000");
    (void)start_producing(t, 0, 10, 15000, 5000);
    tick_to(t, 15500);
    expect_isr(t, "[1,2]");
    assert_int_equal(load_at(t, 0).failed, 0);
    expect_high_watermark(t, 1, hw_log_end(test_replica(t, 1, __FILE__, __LINE__)->log));
    /* But when it falls out of the ISR it stays out. */
    crash(t, 2);
    (void)start_producing(t, 0, 10, 29000, 5000);
    tick_to(t, 30000);
    restart(t, 2);
    tick_to(t, 60000);
    expect_isr(t, "[1]");
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
