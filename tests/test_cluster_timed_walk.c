/* SPDX-License-Identifier: MIT */
/*
 * A cluster that runs by itself, with links, disks and loads that change, and brokers that die and
 * are cut off in between: after every event invariants hold, and every promise that replication
 * makes (check.promises), however long messages took: none of what was acknowledged with acks=all
 * is lost, as none is in walks by hand. 200,000 events over 50 seeds; HW_SEED in the environment
 * chooses another first one, and where a walk fails its seed was printed last. The second story is
 * the comparison: with latency 0 and time enough `timed` comes to the same logs as rounds by hand.
 */
#include "core/base/random.h"
#include "core/cluster/link_times.h"
#include "core/cluster/load.h"
#include "tests/support_cluster.h"
#include "tests/support_topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support_test.h"

enum { WALKS = 50, QUICK_WALKS = 2, EVENTS = 4000, RECORDS_MAX = 900 };

struct timed_walk {
    struct test_cluster *t;
    struct hw_random random;
    int records;
};

static uint64_t dice(struct timed_walk *w, uint64_t bound)
{
    return hw_random_below(&w->random, bound);
}

static hw_broker_id_t any_broker(struct timed_walk *w)
{
    return (hw_broker_id_t)dice(w, 3) + 1;
}

/* One end of a link: a broker, the controller or the clients. */
static int64_t any_end(struct timed_walk *w)
{
    uint64_t n = dice(w, 5);

    return n < 3 ? (int64_t)n + 1 : n == 3 ? HW_CLUSTER_CONTROLLER : HW_CLUSTER_CLIENT;
}

static void step_link(struct timed_walk *w)
{
    static const double latencies[] = {0, 0, 0.3, 2, 40, 400, 5000};
    static const double losses[] = {0, 0, 0.01, 0.3};
    struct hw_link_times times = {.latency_ms = latencies[dice(w, 7)],
                                  .jitter_ms = (double)dice(w, 30),
                                  .loss = losses[dice(w, 4)],
                                  .bytes_per_s = dice(w, 3) == 0 ? 20000 : 0,
                                  .one_way = dice(w, 2) == 0};
    struct hw_disk_times disk = {.append_ms = (double)dice(w, 20), .bytes_per_s = -1};

    (void)hw_cluster_link(w->t->cluster, any_end(w), any_end(w), &times, &w->t->error);
    (void)hw_cluster_disk(w->t->cluster, any_broker(w), &disk, &w->t->error);
}

static void step_load(struct timed_walk *w)
{
    struct hw_load_options options = hw_load_options_default();
    int64_t id;

    options.topic = "orders";
    options.records_per_s = (double)dice(w, 20) + 1;
    options.size_bytes = (int64_t)dice(w, 300);
    options.acks = dice(w, 3) == 0 ? 1 : HW_ACKS_ALL;
    options.in_flight = (int64_t)dice(w, 5) + 1;
    options.retries = (int64_t)dice(w, 3);
    options.random = true;
    options.until_ms = w->t->cluster->now_ms + (hw_time_ms_t)dice(w, 3000);
    (void)hw_cluster_load(w->t->cluster, &options, &id, &w->t->error);
}

static void step_pause(struct timed_walk *w)
{
    hw_broker_id_t broker = any_broker(w);

    pause_broker(w->t, broker, (int64_t)dice(w, 15000));
}

static void step_verb(struct timed_walk *w)
{
    struct test_cluster *t = w->t;
    int64_t a = any_end(w);
    int64_t b = any_end(w);

    switch (dice(w, 16)) {
    case 0:
        crash(t, any_broker(w));
        break;
    case 1:
    case 2:
        restart(t, any_broker(w));
        break;
    case 3:
        cut(t, a, b);
        break;
    case 4:
    case 5:
        heal_all(t);
        break;
    case 6:
        promote(t, any_broker(w));
        break;
    case 7:
        remove_from_isr(t, any_broker(w));
        break;
    case 8:
        elect(t, HW_ELECT_PREFERRED);
        break;
    case 9:
        roll(t);
        break;
    case 10:
        refresh_isr(t);
        break;
    case 11:
        shutdown_broker(t, any_broker(w));
        break;
    case 12:
        step_load(w);
        break;
    case 13:
        step_pause(w);
        break;
    default:
        step_link(w);
    }
}

static void step(struct timed_walk *w)
{
    char value[24];

    if (dice(w, 3) == 0 && w->records < RECORDS_MAX) {
        (void)snprintf(value, sizeof value, "v%d", w->records++);
        produce_acks(w->t, value, dice(w, 4) == 0 ? 1 : HW_ACKS_ALL);
    } else if (dice(w, 4) == 0) {
        step_verb(w);
    }
    tick(w->t, (hw_time_ms_t)dice(w, dice(w, 20) == 0 ? 20000 : 300));
    expect_done(w->t);
}

/* Everybody runs and hears of everybody: all logs become one. */
static void come_to_rest(struct timed_walk *w)
{
    struct hw_link_times none = {.latency_ms = 1, .jitter_ms = 0, .loss = 0, .bytes_per_s = 0};
    struct test_cluster *t = w->t;

    heal_all(t);
    for (int64_t a = HW_CLUSTER_CLIENT; a <= 3; a++) {
        for (int64_t b = HW_CLUSTER_CLIENT; b <= 3; b++) {
            struct hw_link_times times = none;

            (void)hw_cluster_link(t->cluster, a, b, &times, &t->error);
        }
    }
    tick(t, 20000); /* Who asks whether it may stop does stop. */
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        restart(t, broker);
    }
    tick(t, 120000);
    elect(t, HW_ELECT_PREFERRED);
    tick(t, 120000);
    expect_done(t);
    produce(t, "the last");
    expect_done(t);
    tick(t, 10000);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        expect_log_end(t, broker, t->produced.offset + 1);
        expect_high_watermark(t, broker, t->produced.offset + 1);
    }
}

TEST(invariants_and_promises_hold_after_every_event, void *fixture)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};
    uint64_t seed = test_topics_number("HW_SEED", 1);
    uint64_t end = seed + (getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS : WALKS);
    struct timed_walk w = {.t = fixture};
    uint64_t events = 0;

    for (; seed < end; seed++) {
        print_message("seed %" PRIu64 "\n", seed);
        test_cluster_renew(w.t, 3, "kafka", configs);
        hw_random_init(&w.random, seed);
        w.records = 0;
        configure(w.t, "check.invariants", "true");
        configure(w.t, "check.promises", "all");
        configure(w.t, "controller.auto.elect", "true");
        configure(w.t, "replication", "timed");
        expect_done(w.t);
        while (w.t->cluster->timed.queue.next_order < EVENTS) {
            step(&w);
        }
        come_to_rest(&w);
        events += w.t->cluster->timed.queue.next_order;
    }
    print_message("%" PRIu64 " events\n", events);
}

/* Semantics: W10.3. What an experiment orders that does not depend on how long something takes. */
static void order(struct test_cluster *t, bool is_timed)
{
    for (int i = 0; i < 40; i++) {
        char value[24];

        (void)snprintf(value, sizeof value, "v%d", i);
        produce_acks(t, value, i % 3 == 0 ? 1 : HW_ACKS_ALL);
        expect_done(t);
        if (is_timed) {
            tick(t, 1000);
        } else {
            replicate(t);
        }
        if (i % 10 == 9) {
            promote(t, (hw_broker_id_t)(i / 10 % 3) + 1);
            if (is_timed) {
                tick(t, 5000);
            } else {
                replicate(t);
            }
        }
    }
}

/* Epochs and where they begin, of all brokers; returns how many numbers that were. */
static size_t expect_same_logs(struct test_cluster *t, hw_epoch_t epochs[64], bool is_first)
{
    struct hw_position position = {0};
    struct hw_epoch_view view;
    size_t count = 0;

    while (hw_cluster_next_epoch(t->cluster, &position, &view)) {
        hw_epoch_t facts[2] = {view.epoch, (hw_epoch_t)view.start_offset};

        for (size_t i = 0; i < 2; i++) {
            assert_true(count < 63);
            if (is_first) {
                epochs[count] = facts[i];
            }
            assert_int_equal(epochs[count++], facts[i]);
        }
    }
    assert_true(count > 8);
    return count;
}

TEST(without_latency_it_comes_to_the_same_logs_as_rounds_by_hand, struct test_cluster *t)
{
    hw_epoch_t epochs[64];
    size_t count;

    order(t, false);
    count = expect_same_logs(t, epochs, true);
    test_cluster_renew(t, 3, "kafka", NULL);
    configure(t, "replication", "timed");
    order(t, true);
    assert_int_equal(expect_same_logs(t, epochs, false), count);
    for (hw_broker_id_t broker = 1; broker <= 3; broker++) {
        expect_log_end(t, broker, 40);
        expect_high_watermark(t, broker, 40);
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
