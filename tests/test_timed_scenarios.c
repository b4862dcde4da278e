/* SPDX-License-Identifier: MIT */
/* Waits, tails and evictions against the formulas: what a producer sees when links, loads and brokers
 * are so. */
#include "tests/support_timed.h"

#include <string.h>

#include "tests/support_test.h"

/* ------------------------------------------------------------------------------ what a commit takes
 */

/* Records at random times, so many a second over a cycle of 20 ms. Semantics: F3 */
TEST(between_idle_and_busy_a_commit_takes_a_little_more_than_a_cycle, struct test_cluster *t)
{
    static const struct {
        double per_s;
        double mean;
    } runs[] = {{1, 20.53}, {10, 22.08}, {50, 27.37}};

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        hw_time_ms_t until_ms = 1000 + (hw_time_ms_t)(6000000 / runs[i].per_s);
        struct hw_load_options options = timed_load_options(0, 1000 / runs[i].per_s, until_ms, 100);

        test_cluster_renew(t, 3, "kafka", NULL);
        timed_begin(t, 10000, 10000);
        options.random = true;
        (void)start_load(t, &options);
        tick_to(t, until_ms + 2000);
        expect_near(load_at(t, 0).mean_latency_ms, runs[i].mean, 0.25);
        assert_true(load_at(t, 0).max_latency_ms <= 40.001);
    }
}

/* Semantics: F4 */
TEST(jitter_adds_the_mean_of_the_slowest_follower_and_no_longer_tail, struct test_cluster *t)
{
    static const double means[] = {30.0, 32.3};

    for (int32_t followers = 1; followers <= 2; followers++) {
        struct hw_link_times times = {
            .latency_ms = 10, .jitter_ms = 10, .loss = -1, .bytes_per_s = -1};
        struct hw_load_view view;

        test_cluster_renew(t, followers + 1, "kafka", NULL);
        configure(t, "replication", "timed");
        for (int32_t follower = 2; follower <= followers + 1; follower++) {
            assert_int_equal(hw_cluster_link(t->cluster, 1, follower, &times, &t->error), HW_OK);
        }
        timed_load(t, 1000.3, 777, 2000000, 100, &view);
        expect_near(view.mean_latency_ms, means[followers - 1], 0.7);
        assert_true(view.max_latency_ms <= 40.001);
    }
}

/* One request after the other: as many as commits fit into the time. Semantics: F19 */
TEST(one_at_a_time_is_a_request_a_commit, struct test_cluster *t)
{
    struct hw_load_options options = timed_load_options(1000, 1, 11000, 16000);

    timed_begin(t, 5000, 5000);
    options.in_flight = 1;
    (void)start_load(t, &options);
    tick_to(t, 12000);
    expect_near((double)load_at(t, 0).acknowledged, 1000, 10);
}

/* Semantics: W-S20, F20, W-C31 */
TEST(a_large_record_is_one_answer_that_others_wait_for, struct test_cluster *t)
{
    static char large[5000000];
    int64_t ids[2];

    configure(t, "max.message.bytes", "6000000");
    timed_begin(t, 1000, 1000);
    link_both(t, 1, 2, 1000, 10000000);
    tick_to(t, 1000);
    memset(large, 'x', sizeof large - 1);
    produce_acks(t, large, HW_ACKS_ALL);
    expect_done(t);
    ids[0] = t->produced.ack_id;
    tick_to(t, 1001);
    produce_acks(t, "x", HW_ACKS_ALL);
    expect_done(t);
    ids[1] = t->produced.ack_id;
    tick_to(t, 3000);
    expect_near((double)hw_acks_find(&t->cluster->acks, ids[0])->resolved_ms, 1502, 1.5);
    expect_near((double)hw_acks_find(&t->cluster->acks, ids[1])->resolved_ms, 1504, 1.5);
}

/* ------------------------------------------------------------------------------------ the ISR */

/* It lags by as many records as come in a cycle, for ever. Semantics: W-C01, W5.2 */
TEST(a_follower_one_append_behind_stays, struct test_cluster *t)
{
    struct hw_load_view view;

    configure(t, "replica.lag.time.max.ms", "1000");
    timed_begin(t, 5000, 5000);
    timed_load(t, 100, 1, 20000, 100, &view);
    expect_isr(t, "[1,2,3]");
    assert_int_equal(t->cluster->topics[0]->partitions[0].record.partition_epoch, 0);
}

/* Until it is out of the ISR everybody waits for it, then nobody; the leader's epoch stays.
 * Semantics: W-C02, W-C03, W-C09, W7.6 */
TEST(a_silent_follower_costs_one_and_a_half_lag_times, struct test_cluster *t)
{
    const struct hw_ack *ack;
    int64_t id;

    configure(t, "replica.lag.time.max.ms", "3000");
    timed_begin(t, 2000, 2000);
    tick_to(t, 10000);
    cut(t, 1, 3);
    produce(t, "x");
    expect_done(t);
    id = t->produced.ack_id;
    tick_to(t, 20000);
    expect_isr(t, "[1,2]");
    ack = hw_acks_find(&t->cluster->acks, id);
    assert_true(ack->resolved_ms > 10000 + 3000 - 502 && ack->resolved_ms <= 10000 + 4535);
    expect_leader_epoch(t, 0);
    produce(t, "y");
    expect_done(t);
    tick_to(t, 20010);
    expect_ack(t, t->produced.ack_id, "acknowledged");
}

/* Semantics: W-C04, W5.9 */
TEST(an_election_is_no_lag, struct test_cluster *t)
{
    configure(t, "replica.lag.time.max.ms", "3000");
    timed_begin(t, 1000, 1000);
    link_both(t, 2, 3, 400000, 0);
    tick_to(t, 10000);
    promote(t, 2);
    tick_to(t, 10100);
    produce_acks(t, "x", 1);
    expect_done(t);
    refresh_isr(t);
    tick_to(t, 12900);
    expect_isr(t, "[1,2,3]");
}

/* Bursts of 200 kB/s over a link that lets 92.6 kB/s pass, 50 ms long: a hundredth of the scenario's. */
static void run_bursts(struct test_cluster *t, hw_time_ms_t length_ms, hw_time_ms_t every_ms,
                       hw_time_ms_t until_ms)
{
    test_cluster_renew(t, 2, "kafka", NULL);
    configure(t, "replica.fetch.max.bytes", "10000");
    configure(t, "replication", "timed");
    link_both(t, 1, 2, 50000, 1250000);
    for (hw_time_ms_t at_ms = 1000; at_ms < until_ms; at_ms += every_ms) {
        struct hw_load_options options =
            timed_load_options((double)at_ms, 5, at_ms + length_ms, 1000 - 71);

        options.acks = 1;
        (void)start_load(t, &options);
    }
    tick_to(t, until_ms);
}

/* Late is a follower from the beginning of a burst until it has caught up.
 * Semantics: W-S26, W-S27, F17, W-C10, W1.2, W5.1 */
TEST(a_burst_costs_the_isr_if_it_is_late_for_too_long, struct test_cluster *t)
{
    run_bursts(t, 40000, 120000, 290000);
    assert_int_equal(when_isr_is(t, "[1]", 1), 45000);
    expect_near((double)when_isr_is(t, "[1,2]", 1), 87500, 1000);
    assert_int_equal(when_isr_is(t, "[1]", 100000), 165000);
    expect_near((double)when_isr_is(t, "[1,2]", 100000), 207500, 1000);
    assert_int_equal(when_isr_is(t, "[1]", 220000), 285000);
    /* 32.4 s late, of which a check sees 29 s: nothing. */
    run_bursts(t, 15000, 60000, 200000);
    assert_int_equal(when_isr_is(t, "[1]", 1), -1);
}

/* An isolated leader cannot make its ISR smaller; one that the controller hears can. Semantics: W-C06 */
TEST(who_is_cut_off_from_everybody_keeps_its_isr, struct test_cluster *t)
{
    for (int alone = 0; alone < 2; alone++) {
        test_cluster_renew(t, 3, "kafka", NULL);
        configure(t, "broker.session.timeout.ms", "60000");
        configure(t, "controller.auto.elect", "true");
        timed_begin(t, 1000, 1000);
        tick_to(t, 10000);
        cut(t, 1, 2);
        cut(t, 1, 3);
        if (alone == 1) {
            cut(t, 1, HW_CLUSTER_CONTROLLER);
        }
        produce_acks(t, "x", 1);
        expect_done(t);
        tick_to(t, 56000);
        expect_isr(t, alone == 1 ? "[1,2,3]" : "[1]");
        tick_to(t, 10000 + 60000 + 7500 + 100);
        if (alone == 1) {
            expect_leader(t, 2);
        }
        t->records_may_be_lost = true; /* Of acks=1, by the rules. */
    }
}

/* Two that die at once are fenced 10 ms apart. Semantics: W-C38, W-R10 */
TEST(sessions_end_one_after_the_other, struct test_cluster *t)
{
    struct hw_position position = {0};
    struct hw_journal_view view;
    hw_time_ms_t fenced[3] = {0};

    timed_begin(t, 1000, 1000);
    tick_to(t, 10000);
    crash(t, 2);
    crash(t, 3);
    tick_to(t, 25000);
    while (hw_cluster_next_event(t->cluster, &position, &view)) {
        if (strcmp(view.name, "broker") == 0 && strstr(view.detail, "fenced") != NULL &&
            view.event.broker >= 2) {
            fenced[view.event.broker - 1] = view.event.time_ms;
        }
    }
    assert_true(fenced[1] > 10000 + 9000 - 2000);
    assert_int_equal(fenced[2] - fenced[1], 10);
}

/* ------------------------------------------------------------------------------ links that are cut
 */

/* Semantics: W-C46, W7.2 */
TEST(silence_is_noticed_by_its_time_outs_only, struct test_cluster *t)
{
    timed_begin(t, 2000, 2000);
    tick_to(t, 100000);
    cut(t, 1, 3);
    produce(t, "x");
    expect_done(t);
    tick_to(t, 112000);
    expect_ack(t, t->produced.ack_id, "pending");
    heal(t, 1, 3);
    tick_to(t, 112100);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    expect_isr(t, "[1,2,3]");
    /* For 40 s: its request fails at 30 s, and it is out of the ISR by then or at the next check. */
    cut(t, 1, 3);
    produce(t, "y");
    expect_done(t);
    tick_to(t, 112100 + 46000);
    expect_isr(t, "[1,2]");
    heal(t, 1, 3);
    tick_to(t, 112100 + 46000 + 13000);
    expect_isr(t, "[1,2,3]");
}

/* A follower that is told of a leader before that is told of it asks again a second later.
 * Semantics: W3.6, W3.7 */
TEST(a_notice_that_comes_late_costs_a_back_off, struct test_cluster *t)
{
    hw_time_ms_t waited_ms[2];

    for (int late = 0; late < 2; late++) {
        test_cluster_renew(t, 3, "kafka", NULL);
        timed_begin(t, 1000, 1000);
        link_both(t, 2, 3, 1000, 0);
        link_both(t, HW_CONTROLLER, 2, late == 1 ? 10000 : 0, 0);
        tick_to(t, 10100);
        promote(t, 2);
        tick_to(t, 10150);
        produce(t, "x");
        expect_done(t);
        tick_to(t, 15000);
        waited_ms[late] = hw_acks_find(&t->cluster->acks, t->produced.ack_id)->resolved_ms - 10150;
    }
    assert_true(waited_ms[0] < 10);
    assert_true(waited_ms[1] > 950 && waited_ms[1] < 1010);
}

/* ------------------------------------------------------------------------------------------ crashes
 */

/* How long until it is fenced, whenever it dies. Semantics: F12, W-S31 */
TEST(a_dead_broker_is_fenced_after_its_session, struct test_cluster *t)
{
    double sum = 0;
    int count = 0;

    timed_begin(t, 1000, 1000);
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        link_both(t, HW_CONTROLLER, broker, 1000, 0);
    }
    tick_to(t, 20000);
    for (; count < 40; count++) {
        hw_time_ms_t crashed_ms;

        tick_to(t, t->cluster->now_ms + 30000 + 613 * count % 2004 + 97 * count % 1125);
        crashed_ms = t->cluster->now_ms;
        crash(t, 3);
        while (!hw_metadata_find(&t->cluster->controller.metadata, 3)->fenced) {
            tick_to(t, t->cluster->now_ms + 1);
            assert_true(t->cluster->now_ms - crashed_ms < 10130);
        }
        assert_true(t->cluster->now_ms - crashed_ms >= 6998);
        sum += (double)(t->cluster->now_ms - crashed_ms);
        restart(t, 3);
    }
    expect_near(sum / count, 8562, 250);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
