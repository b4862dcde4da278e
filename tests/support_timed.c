/* SPDX-License-Identifier: MIT */
#include "tests/support_timed.h"

#include <string.h>

#include "tests/support_test.h"

void link_both(struct test_cluster *t, hw_broker_id_t a, hw_broker_id_t b, int64_t latency_us,
               int64_t bytes_per_s)
{
    struct hw_wire *wire;

    for (int way = 0; way < 2; way++) {
        assert_int_equal(hw_wires_have(&t->cluster->timed.wires, way == 0 ? a : b, way == 0 ? b : a,
                                       &wire, &t->error),
                         HW_OK);
        wire->times.latency_us = latency_us;
        wire->times.bytes_per_s = bytes_per_s;
    }
}

void timed_begin(struct test_cluster *t, int64_t to_second_us, int64_t to_third_us)
{
    configure(t, "replication", "timed");
    expect_done(t);
    link_both(t, 1, 2, to_second_us, 0);
    link_both(t, 1, 3, to_third_us, 0);
}

void tick_to(struct test_cluster *t, hw_time_ms_t time_ms)
{
    tick(t, time_ms - t->cluster->now_ms);
    expect_done(t);
}

hw_time_ms_t when_committed(struct test_cluster *t, hw_broker_id_t broker)
{
    struct hw_position position = {0};
    struct hw_journal_view view;
    hw_time_ms_t time_ms = -1;

    while (hw_cluster_next_event(t->cluster, &position, &view)) {
        if (strcmp(view.name, "high_watermark") == 0 && view.event.broker == broker &&
            view.event.high_watermark > t->produced.offset) {
            time_ms = time_ms < 0 ? view.event.time_ms : time_ms;
        }
    }
    return time_ms;
}

hw_time_ms_t when_isr_is(struct test_cluster *t, const char *isr, hw_time_ms_t from_ms)
{
    struct hw_position position = {0};
    struct hw_journal_view view;

    while (hw_cluster_next_event(t->cluster, &position, &view)) {
        if (strcmp(view.name, "isr") == 0 && view.event.time_ms >= from_ms &&
            strstr(view.detail, isr) != NULL) {
            return view.event.time_ms;
        }
    }
    return -1;
}

struct hw_load_options timed_load_options(double start_ms, double every_ms, hw_time_ms_t until_ms,
                                          int64_t size_bytes)
{
    struct hw_load_options options = hw_load_options_default();

    options.topic = "orders";
    options.records_per_s = 1000 / every_ms;
    options.start_ms = start_ms;
    options.until_ms = until_ms;
    options.size_bytes = size_bytes;
    options.in_flight = HW_LOAD_IN_FLIGHT_MAX;
    return options;
}

int64_t start_load(struct test_cluster *t, const struct hw_load_options *options)
{
    int64_t id = 0;

    assert_int_equal(hw_cluster_load(t->cluster, options, &id, &t->error), HW_OK);
    return id;
}

struct hw_load_view load_at(const struct test_cluster *t, size_t index)
{
    struct hw_position position = {.item = index};
    struct hw_load_view view;

    assert_true(hw_cluster_next_load(t->cluster, &position, &view));
    return view;
}

void timed_load(struct test_cluster *t, double start_ms, double every_ms, hw_time_ms_t until_ms,
                int64_t size_bytes, struct hw_load_view *view)
{
    struct hw_load_options options = timed_load_options(start_ms, every_ms, until_ms, size_bytes);

    (void)start_load(t, &options);
    tick_to(t, until_ms + 2000);
    *view = load_at(t, 0);
    assert_int_equal(view->under_way, 0);
    assert_int_equal(view->failed, 0);
}

void expect_near(double actual, double expected, double within)
{
    if (actual < expected - within || actual > expected + within) {
        fail_msg("%f is not within %f of %f", actual, within, expected);
    }
}
