/* SPDX-License-Identifier: MIT */
/* What a fetcher asks before it fetches takes its time, and the others of the fetcher wait for it. */
#include "tests/support_timed.h"

#include <string.h>

#include "tests/support_test.h"

/* When broker 3 has asked this, if the request is so; -1: it is not. The row of an answer is the
 * request's. */
static hw_time_ms_t asked_at(const struct test_cluster *t, const char *kind, const char *state)
{
    struct hw_position position = {0};
    struct hw_request_view view;

    while (hw_cluster_next_request(t->cluster, &position, &view)) {
        if (strcmp(view.kind, kind) == 0 && strcmp(view.state, state) == 0 && view.sender == 3) {
            return view.sent_ms;
        }
    }
    return -1;
}

static bool is_asked(const struct test_cluster *t, const char *kind, const char *state)
{
    return asked_at(t, kind, state) >= 0;
}

/* The millisecond of the next 2 s in which this is asked, and is so; fails if there is none. */
static hw_time_ms_t wait_for(struct test_cluster *t, const char *kind, const char *state)
{
    for (int ms = 0; ms < 2000; ms++) {
        if (is_asked(t, kind, state)) {
            return t->cluster->now_ms;
        }
        tick_to(t, t->cluster->now_ms + 1);
    }
    fail_msg("no %s is %s", kind, state);
    return -1;
}

/* Broker 3 was away while its leader lost what comes next. */
static void fall_behind(struct test_cluster *t)
{
    timed_begin(t, 10000, 10000);
    for (int i = 0; i < 3; i++) {
        produce(t, "x");
        tick_to(t, t->cluster->now_ms + 1000);
    }
    t->deleted_end = 6;
    crash(t, 3);
    tick_to(t, 20000);
    for (int i = 0; i < 4; i++) {
        produce(t, "y");
        tick_to(t, t->cluster->now_ms + 1000);
    }
    delete_before(t, 6);
    expect_done(t);
    restart(t, 3);
}

/* Semantics: R2.30, W3.1 */
TEST(a_follower_out_of_range_asks_for_the_leaders_offsets, struct test_cluster *t)
{
    hw_time_ms_t asked_ms;

    fall_behind(t);
    asked_ms = wait_for(t, "list_offsets", "travelling");
    expect_log_end(t, 3, 3);
    tick_to(t, asked_ms + 10);
    assert_true(is_asked(t, "list_offsets", "answered"));
    expect_log_end(t, 3, 3);
    tick_to(t, asked_ms + 20);
    expect_log_start(t, 3, 6);
    tick_to(t, asked_ms + 100);
    expect_log_end(t, 3, 7);
}

/* A question that is lost is asked again. Semantics: W3.5, W7.3 */
TEST(a_question_that_gets_no_answer_is_asked_again, struct test_cluster *t)
{
    configure(t, "request.timeout.ms", "1000");
    fall_behind(t);
    (void)wait_for(t, "list_offsets", "travelling");
    cut(t, 1, 3);
    tick_to(t, t->cluster->now_ms + 1500);
    assert_false(is_asked(t, "list_offsets", "answered"));
    heal(t, 1, 3);
    tick_to(t, t->cluster->now_ms + 4000);
    expect_log_end(t, 3, 7);
}

/* On its way there or back: it fails when its time is over. Semantics: W7.3 */
TEST(a_request_on_a_cut_link_fails_by_its_time_out, struct test_cluster *t)
{
    static const char *const states[] = {"travelling", "answered"};

    configure(t, "request.timeout.ms", "1000");
    timed_begin(t, 10000, 10000);
    for (size_t i = 0; i < 2; i++) {
        hw_time_ms_t sent_ms;

        (void)wait_for(t, "fetch", "travelling");
        produce(t, "x");
        (void)wait_for(t, "fetch", states[i]);
        cut(t, 1, 3);
        sent_ms = asked_at(t, "fetch", states[i]);
        tick_to(t, sent_ms + 1000);
        assert_true(is_asked(t, "fetch", "held"));
        tick_to(t, sent_ms + 1002);
        assert_false(is_asked(t, "fetch", "held"));
        heal(t, 1, 3);
        tick_to(t, sent_ms + 5000);
    }
}

/* Kafka 2.0: a new follower asks where its latest epoch ends. */
TEST(a_follower_of_an_older_protocol_asks_where_its_epoch_ends, struct test_cluster *t)
{
    hw_time_ms_t asked_ms;

    test_cluster_renew(t, 3, "kip-279", NULL);
    t->records_may_be_lost = true;
    timed_begin(t, 10000, 10000);
    link_both(t, 2, 3, 30000, 0);
    produce(t, "x");
    tick_to(t, 2000);
    promote(t, 2);
    expect_done(t);
    asked_ms = wait_for(t, "epoch", "travelling");
    assert_int_equal(asked_ms, 2025);
    tick_to(t, asked_ms + 30);
    assert_true(is_asked(t, "epoch", "answered"));
    tick_to(t, asked_ms + 59);
    assert_int_equal(test_replica(t, 3, __FILE__, __LINE__)->fetch.phase, HW_PHASE_TRUNCATING);
    tick_to(t, asked_ms + 60);
    assert_int_equal(test_replica(t, 3, __FILE__, __LINE__)->fetch.phase, HW_PHASE_FETCHING);
    produce(t, "y");
    tick_to(t, asked_ms + 1000);
    expect_log_end(t, 3, 2);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
