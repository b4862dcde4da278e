/* SPDX-License-Identifier: MIT */
/* Does a cluster that runs by itself take the time that the rules say? The scenarios are those of a
 * model of the rules that shares nothing with this code. */
#include "tests/support_timed.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static int64_t requests_of(struct test_cluster *t, hw_broker_id_t broker)
{
    struct hw_position position = {0};
    struct hw_journal_view view;
    int64_t count = 0;

    while (hw_cluster_next_event(t->cluster, &position, &view)) {
        count += strcmp(view.name, "fetch_request") == 0 && view.event.broker == broker ? 1 : 0;
    }
    return count;
}

static void append_at(struct test_cluster *t, hw_time_ms_t time_ms)
{
    tick_to(t, time_ms);
    produce_acks(t, "x", HW_ACKS_ALL);
    expect_done(t);
}

/* Semantics: W-S01, F1, F8, W-C20 */
TEST(a_record_is_committed_after_one_cycle_and_followers_hear_of_it_a_wait_later,
     struct test_cluster *t)
{
    timed_begin(t, 10000, 10000);
    append_at(t, 2003);
    tick_to(t, 6000);
    assert_int_equal(when_committed(t, 1), 2023);
    assert_int_equal(when_committed(t, 2), 2533);
    assert_int_equal(when_committed(t, 3), 2533);
    assert_int_equal(requests_of(t, 2), 12);
    assert_int_equal(requests_of(t, 3), 12);
}

/* Semantics: W-S02 */
TEST(the_slowest_follower_decides, struct test_cluster *t)
{
    timed_begin(t, 10000, 40000);
    append_at(t, 2003);
    tick_to(t, 6000);
    assert_int_equal(when_committed(t, 1), 2083);
    assert_int_equal(when_committed(t, 2), 2533);
    assert_int_equal(when_committed(t, 3), 2623);
}

/* Semantics: W-S03 */
TEST(a_record_that_finds_no_request_waiting_waits_for_the_next, struct test_cluster *t)
{
    timed_begin(t, 100000, 100000);
    append_at(t, 2050);
    tick_to(t, 6000);
    assert_int_equal(when_committed(t, 1), 2400);
    assert_int_equal(when_committed(t, 2), 3000);
}

/* Semantics: W-S04 */
TEST(a_longer_wait_delays_what_followers_show_only, struct test_cluster *t)
{
    configure(t, "replica.fetch.wait.max.ms", "2000");
    timed_begin(t, 3000, 3000);
    append_at(t, 2002); /* At 2003 the request of time 0 has waited long enough. */
    tick_to(t, 6000);
    assert_int_equal(when_committed(t, 1), 2008);
    assert_int_equal(when_committed(t, 2), 4011);
}

/* Semantics: W-S10, F6, W4.1 */
TEST(an_idle_follower_asks_once_a_wait_and_a_cycle, struct test_cluster *t)
{
    static const struct {
        int64_t latency_us;
        int64_t requests;
    } idle[] = {{1000, 200}, {5000, 197}, {50000, 167}};

    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++) {
        test_cluster_renew(t, 3, "kafka", NULL);
        timed_begin(t, idle[i].latency_us, idle[i].latency_us);
        tick_to(t, 100000);
        assert_int_equal(requests_of(t, 2), idle[i].requests);
    }
}

/* An acknowledgement that a silent follower holds back. Semantics: W-S21, W-S23, F11 */
TEST(a_silent_follower_leaves_the_isr_at_a_check_and_an_answer_later, struct test_cluster *t)
{
    timed_begin(t, 2000, 2000);
    link_both(t, HW_CONTROLLER, 1, 5000, 0);
    for (hw_time_ms_t now = 1000; now < 10000; now += 10) {
        append_at(t, now);
    }
    cut(t, 1, 3);
    append_at(t, 10010);
    tick_to(t, 45034);
    assert_int_equal(when_committed(t, 1), -1);
    tick_to(t, 45035);
    assert_int_equal(when_committed(t, 1), 45035);
}

/* Two brokers that are 5 ms from their controller, and a follower that catches up. Semantics: F13
 */
TEST(a_follower_that_has_caught_up_is_in_the_isr_after_the_controllers_answer,
     struct test_cluster *t)
{
    remove_from_isr(t, 3);
    crash(t, 3);
    produce_acks(t, "x", 1);
    timed_begin(t, 2000, 2000);
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        link_both(t, HW_CONTROLLER, broker, 5000, 0);
    }
    restart(t, 3);
    expect_done(t);
    tick_to(t, 12000);
    expect_isr(t, "[1,2,3]");
}

/* How often the journal has this about a broker, and when last. */
static int64_t times_of(struct test_cluster *t, const char *what, hw_time_ms_t *last_ms)
{
    struct hw_position position = {0};
    struct hw_journal_view view;
    int64_t count = 0;

    *last_ms = -1;
    while (hw_cluster_next_event(t->cluster, &position, &view)) {
        if (strcmp(view.name, "broker") == 0 && strcmp(view.detail, what) == 0) {
            count++;
            *last_ms = view.event.time_ms;
        }
    }
    return count;
}

/* Semantics: W1.16, W1.17, W6.1, W6.5, W7.11, W-C39 */
TEST(a_broker_that_comes_back_soon_waits_for_its_own_session_to_end, struct test_cluster *t)
{
    hw_time_ms_t at_ms;

    timed_begin(t, 2000, 2000);
    tick_to(t, 4000); /* Heartbeats at 0, 2000, 4000. */
    crash(t, 3);
    tick_to(t, 6500);
    restart(t, 3);
    expect_done(t);
    tick_to(t, 14499);
    assert_int_equal(times_of(t, "refused: DUPLICATE_BROKER_REGISTRATION", &at_ms), 4);
    assert_int_equal(at_ms, 12500);
    tick_to(t, 20000);
    assert_int_equal(times_of(t, "registered", &at_ms), 1);
    assert_int_equal(at_ms, 14500);
    assert_int_equal(times_of(t, "unfenced", &at_ms), 1);
    assert_int_equal(at_ms, 14525);
    expect_isr(t, "[1,2,3]");
}

/* Semantics: F12, W6.2, W6.3, W6.4, W7.7 */
TEST(a_broker_that_the_controller_does_not_hear_is_fenced_and_comes_back_by_itself,
     struct test_cluster *t)
{
    hw_time_ms_t at_ms;

    timed_begin(t, 2000, 2000);
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        link_both(t, HW_CONTROLLER, broker, 1000, 0);
    }
    tick_to(t, 5000); /* The last contact was at 4005. */
    cut(t, 3, HW_CONTROLLER);
    append_at(t, 5001);
    tick_to(t, 20000);
    assert_int_equal(times_of(t, "fenced", &at_ms), 1);
    assert_int_equal(at_ms, 13500); /* The first check after 13005. */
    expect_isr(t, "[1,2]");
    heal(t, 3, HW_CONTROLLER);
    tick_to(t,
            24000); /* One that was lost is given up after 2000, and 2000 later comes the next. */
    assert_int_equal(times_of(t, "unfenced", &at_ms), 1);
    expect_isr(t, "[1,2,3]");
}

/* Far away is not dead: every heartbeat is given up by its sender, and counts when it comes. One
 * that is started there is registered, and never hears of it. Semantics: W0.2, W0.4, W-C47 */
TEST(a_broker_far_from_the_controller_is_not_fenced, struct test_cluster *t)
{
    hw_time_ms_t at_ms;

    timed_begin(t, 2000, 2000);
    link_both(t, HW_CONTROLLER, 3, 1500000, 0);
    tick_to(t, 100000);
    assert_int_equal(times_of(t, "fenced", &at_ms), 0);
    crash(t, 3);
    tick_to(t, 120000);
    restart(t, 3);
    tick_to(t, 150000);
    assert_true(times_of(t, "registered", &at_ms) >= 1);
    assert_int_equal(times_of(t, "unfenced", &at_ms), 0);
    expect_isr(t, "[1,2]");
}

/* Two heartbeats in a row that come too late are one too many. Semantics: F23, W0.1, W-C35, W-C36 */
TEST(a_session_outlives_one_lost_heartbeat, struct test_cluster *t)
{
    hw_time_ms_t at_ms;

    timed_begin(t, 2000, 2000);
    tick_to(t, 3000); /* Contacts at 0 and 2000. */
    cut(t, 3, HW_CONTROLLER);
    tick_to(t, 4500); /* The one of 4000 is lost: given up at 6000, the next at 8000. */
    heal(t, 3, HW_CONTROLLER);
    tick_to(t, 30000);
    assert_int_equal(times_of(t, "fenced", &at_ms), 0);
    configure(t, "broker.heartbeat.interval.ms", "5000");
    tick_to(t, 41000);
    cut(t, 3, HW_CONTROLLER);
    tick_to(t, 46500);
    heal(t, 3, HW_CONTROLLER);
    tick_to(t, 70000);
    assert_int_equal(times_of(t, "fenced", &at_ms), 1);
    assert_int_equal(times_of(t, "unfenced", &at_ms), 1);
}

/* What a cut link holds up arrives when it heals. Semantics: W7.3 */
TEST(a_link_that_heals_in_time_has_lost_nothing, struct test_cluster *t)
{
    timed_begin(t, 2000, 2000);
    tick_to(t, 1000);
    cut(t, 1, 2);
    append_at(t, 1010);
    tick_to(t, 13000);
    assert_int_equal(when_committed(t, 1), -1);
    heal(t, 1, 2);
    tick_to(t, 13100);
    assert_in_range(when_committed(t, 1), 13000, 13010);
    expect_isr(t, "[1,2,3]");
}

/* Semantics: W6.7, W7.1 */
TEST(a_leader_that_dies_is_followed_by_one_that_is_told_of_it, struct test_cluster *t)
{
    configure(t, "controller.auto.elect", "true");
    timed_begin(t, 1000, 1000);
    append_at(t, 1000);
    tick_to(t, 2000);
    crash(t, 1);
    tick_to(t, 14000);
    expect_leader(t, 2);
    produce_acks(t, "y", HW_ACKS_ALL);
    expect_done(t);
    tick_to(t, 16000);
    assert_in_range(when_committed(t, 2), 14000, 15100);
    restart(t, 1);
    expect_done(t);
    tick_to(t, 20000);
    expect_isr(t, "[2,3,1]");
    expect_values(t, 1, "x@0 y@1");
}

/* Semantics: W3.9, W1.27 */
TEST(a_topic_that_goes_takes_its_messages_with_it, struct test_cluster *t)
{
    timed_begin(t, 1000, 1000);
    append_at(t, 1000);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_int_equal(hw_cluster_tick(t->cluster, 5000, &t->result, &t->error), HW_OK);
    assert_int_equal(hw_cluster_create_topic(
                         t->cluster, &(struct hw_topic_spec){.name = "orders", .partitions = 2},
                         &(struct hw_uuid){{0}}, &t->error),
                     HW_OK);
    assert_int_equal(hw_cluster_tick(t->cluster, 5000, &t->result, &t->error), HW_OK);
}

/* Fetches under way about a topic of this name; NULL: about none, as those of a topic that is gone. */
static int fetches_about(const struct test_cluster *t, const char *topic)
{
    struct hw_position position = {0};
    struct hw_request_view view;
    int count = 0;

    while (hw_cluster_next_request(t->cluster, &position, &view)) {
        assert_int_equal(view.partition, view.topic == NULL ? -1 : 0);
        count += strcmp(view.kind, "fetch") == 0 &&
                 strcmp(view.topic == NULL ? "" : view.topic, topic == NULL ? "" : topic) == 0;
    }
    return count;
}

/* Semantics: W3.9 */
TEST(a_fetch_about_a_topic_that_is_gone_is_about_none_until_the_next_tick, struct test_cluster *t)
{
    timed_begin(t, 100000, 100000);
    append_at(t, 1000);
    tick_to(t, 1050);
    assert_int_equal(fetches_about(t, "orders"), 2);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_int_equal(fetches_about(t, NULL), 2);
    /* Its memory may be that of another one of that name by now. */
    assert_int_equal(hw_cluster_create_topic(t->cluster, &(struct hw_topic_spec){.name = "orders"},
                                             &(struct hw_uuid){{1}}, &t->error),
                     HW_OK);
    assert_int_equal(fetches_about(t, "orders"), 0);
    assert_int_equal(fetches_about(t, NULL), 2);
    tick_to(t, 1051);
    assert_int_equal(fetches_about(t, NULL), 0);
}

TEST(rounds_by_hand_are_refused_and_come_back, struct test_cluster *t)
{
    timed_begin(t, 1000, 1000);
    append_at(t, 100);
    tick_to(t, 101);
    fetch_round(t);
    assert_int_equal(t->status, HW_MISUSE);
    configure(t, "replication", "manual");
    expect_done(t);
    fetch_round(t);
    expect_done(t);
    fetch_round(t);
    expect_high_watermark(t, 1, 1);
}

/* Semantics: W10.1 to W10.5. Two ticks are as good as one, and the same run gives the same events.
 */
TEST(ticks_can_be_cut_anywhere, struct test_cluster *t)
{
    hw_offset_t ends[2];
    int64_t events[2];

    for (int run = 0; run < 2; run++) {
        test_cluster_renew(t, 3, "kafka", NULL);
        timed_begin(t, 1500, 2500);
        for (hw_time_ms_t now = 100; now < 3000; now += 100) {
            append_at(t, now);
            for (int i = 0; run == 1 && i < 9; i++) {
                tick(t, 9);
            }
        }
        tick_to(t, 4000);
        ends[run] = hw_log_end(test_replica(t, 3, __FILE__, __LINE__)->log);
        events[run] = requests_of(t, 2) + requests_of(t, 3);
    }
    assert_int_equal(ends[0], ends[1]);
    assert_int_equal(events[0], events[1]);
}

static void slow_disks(struct test_cluster *t, double append_ms)
{
    for (hw_broker_id_t broker = 2; broker <= 3; broker++) {
        struct hw_disk_times times = {.append_ms = append_ms, .bytes_per_s = -1};

        assert_int_equal(hw_cluster_disk(t->cluster, broker, &times, &t->error), HW_OK);
    }
}

/* Semantics: W-S05, W-S06, W-S07, F2, W4.4 */
TEST(under_a_steady_load_a_commit_takes_one_to_two_cycles, struct test_cluster *t)
{
    static const struct {
        int64_t second_us;
        int64_t third_us;
        double append_ms;
        double mean;
        double max;
    } runs[] = {{5000, 5000, 0, 14.50, 19},
                {5000, 20000, 0, 59.50, 79},
                {1000, 1000, 5, 10.00, 13},
                {1000, 1000, 50, 77.59, 103}};

    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct hw_load_view view;

        test_cluster_renew(t, 3, "kafka", NULL);
        timed_begin(t, runs[i].second_us, runs[i].third_us);
        slow_disks(t, runs[i].append_ms);
        timed_load(t, 1000.1, 1, 4000, 1000, &view);
        expect_near(view.mean_latency_ms, runs[i].mean, 0.6);
        expect_near(view.max_latency_ms, runs[i].max, 1.0);
    }
}

/* Semantics: W-S08, W-S09, F5 */
TEST(min_bytes_that_do_not_come_cost_the_whole_wait, struct test_cluster *t)
{
    struct hw_load_view view;

    configure(t, "replica.fetch.min.bytes", "100000");
    timed_begin(t, 5000, 5000);
    timed_load(t, 1000.3, 1000, 61000, 1000, &view);
    expect_near(view.mean_latency_ms, 240.7, 10);
    expect_near(view.max_latency_ms, 514.7, 2);
    test_cluster_renew(t, 3, "kafka", NULL);
    timed_begin(t, 5000, 5000);
    timed_load(t, 1000.3, 1000, 61000, 1000, &view);
    expect_near(view.mean_latency_ms, 10.0, 0.1);
}

/* Semantics: W9.5 */
TEST(a_producer_waits_for_its_own_link_too, struct test_cluster *t)
{
    struct hw_link_times times = {.latency_ms = 7, .jitter_ms = -1, .loss = -1, .bytes_per_s = -1};
    struct hw_load_view view;

    timed_begin(t, 10000, 10000);
    assert_int_equal(hw_cluster_link(t->cluster, HW_CLUSTER_CLIENT, 1, &times, &t->error), HW_OK);
    timed_load(t, 1000.1, 100, 5000, 100, &view);
    expect_near(view.mean_latency_ms, 34, 0.1);
}

/* Semantics: F9. A follower that was away takes 200 MB over a link of 125 MB/s, 50 ms long. */
TEST(catching_up_goes_by_answers_and_their_length, struct test_cluster *t)
{
    static const char *const configs[] = {"max.message.bytes", "2000000", NULL};
    hw_time_ms_t from_ms;

    test_cluster_renew(t, 3, "kafka", configs);
    timed_begin(t, 50000, 50000);
    link_both(t, 1, 3, 50000, 125000000);
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        link_both(t, HW_CONTROLLER, broker, 5000, 0);
    }
    crash(t, 3);
    tick_to(t, 20000);
    for (int i = 0; i < 200; i++) {
        static char value[99900];

        memset(value, 'x', sizeof value - 1);
        produce_acks(t, value, 1);
        expect_done(t);
    }
    tick_to(t, 30000);
    restart(t, 3);
    from_ms = t->cluster->now_ms;
    /* 25 ms and the controller's link until it is told, half a cycle, and 20 cycles of 108 ms. */
    tick_to(t, from_ms + 30 + 50 + 20 * 108);
    expect_isr(t, "[1,2]");
    tick_to(t, from_ms + 30 + 50 + 21 * 108);
    expect_isr(t, "[1,2,3]");
}

/* Semantics: W2.4, W10.4 */
TEST(a_run_with_chance_in_it_is_the_same_each_time, struct test_cluster *t)
{
    double means[2];

    for (int run = 0; run < 2; run++) {
        struct hw_link_times times = {
            .latency_ms = 3, .jitter_ms = 4, .loss = 0.01, .bytes_per_s = 1000000};
        struct hw_load_view view;

        test_cluster_renew(t, 3, "kafka", NULL);
        timed_begin(t, 1000, 1000);
        assert_int_equal(hw_cluster_link(t->cluster, 1, 3, &times, &t->error), HW_OK);
        timed_load(t, 0, 10, 20000, 100, &view);
        means[run] = view.mean_latency_ms;
        assert_true(view.max_latency_ms > 200);
    }
    assert_true(means[0] == means[1]);
}

/* An earlier version let followers wait for longer than they may be late: such a cluster goes on.
 * Semantics: W1.29 */
TEST(settings_that_are_no_longer_allowed_hinder_no_others, struct test_cluster *t)
{
    size_t index;

    timed_begin(t, 1000, 1000);
    assert_int_equal(hw_config_find("replica.fetch.wait.max.ms", &index, &t->error), HW_OK);
    assert_int_equal(hw_config_set(&t->cluster->configs, index, "40000", &t->error), HW_OK);
    configure(t, "replica.lag.time.max.ms", "39999");
    expect_refused(t, INVALID_CONFIG);
    configure(t, "acks", "1");
    expect_done(t);
    configure(t, "replica.lag.time.max.ms", "40000");
    expect_done(t);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
