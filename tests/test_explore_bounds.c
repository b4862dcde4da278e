/* SPDX-License-Identifier: MIT */
/* Does an exploration end when its time is over, whatever it is doing? By a clock that is one step
 * further whenever it is looked at. */
#include "core/explore/explore.h"
#include "tests/support_cluster.h"

#include "tests/support_test.h"

struct counted_clock {
    hw_time_ms_t now_ms;
    hw_time_ms_t step_ms;
    int asked; /* How often it could have been interrupted. */
    int interrupt_at;
};

static hw_time_ms_t count_on(void *context)
{
    struct counted_clock *clock = context;

    return clock->now_ms += clock->step_ms;
}

static bool is_asked(void *context)
{
    struct counted_clock *clock = context;

    return ++clock->asked == clock->interrupt_at;
}

static struct hw_explore_options small_options(void)
{
    struct hw_explore_options options = hw_explore_options_usual();

    options.new_brokers = 2;
    options.seconds = 1;
    options.budgets[HW_EXPLORE_BUDGET_RECORDS] = 1;
    options.budgets[HW_EXPLORE_BUDGET_CRASHES] = 0;
    options.budgets[HW_EXPLORE_BUDGET_SHRINKS] = 0;
    options.budgets[HW_EXPLORE_BUDGET_CHECKPOINTS] = 0;
    return options;
}

static enum hw_status explore(struct test_cluster *t, struct counted_clock *clock,
                              const struct hw_explore_options *options,
                              struct hw_exploration *found)
{
    enum hw_status status;

    t->cluster->clock = (struct hw_clock){.now_ms = count_on, .context = clock};
    hw_cluster_set_interrupt(t->cluster,
                             &(struct hw_interrupt){.is_asked = is_asked, .context = clock});
    status = hw_explore_begin(t->cluster, options, found, &t->error);
    return status == HW_OK ? hw_explore_run(found, &t->error) : status;
}

static void expect_stopped(struct test_cluster *t, hw_time_ms_t step_ms,
                           const struct hw_explore_options *options, int64_t calls_most)
{
    struct counted_clock clock = {.step_ms = step_ms};
    struct hw_exploration found;

    assert_int_equal(explore(t, &clock, options, &found), HW_OK);
    assert_int_equal(found.verdict, HW_EXPLORE_STOPPED);
    assert_string_equal(found.stopped_by, "seconds");
    assert_true(found.transitions <= calls_most);
    hw_exploration_release(&found);
}

/* Of a state with many calls, not all of them are made first. */
TEST(a_search_stops_between_two_calls, void *fixture)
{
    struct hw_explore_options options = small_options();

    expect_stopped(fixture, 200, &options, 5);
    options.is_walk = true;
    expect_stopped(fixture, 200, &options, 5);
}

TEST(going_on_from_states_again_counts_too, void *fixture)
{
    struct hw_explore_options options = small_options();
    struct counted_clock clock = {.step_ms = 1};
    struct hw_exploration found;
    hw_time_ms_t search_ms;

    options.seconds = 1000;
    assert_int_equal(explore(fixture, &clock, &options, &found), HW_OK);
    assert_int_equal(found.verdict, HW_EXPLORE_EXHAUSTED);
    search_ms = found.milliseconds;
    hw_exploration_release(&found);
    assert_true(search_ms > 100);
    options.verifies = true;
    options.seconds = search_ms / 1000 + 1;
    expect_stopped(fixture, 1, &options, search_ms);
}

/* As short as it is by then. */
TEST(a_run_that_was_found_in_time_is_told, void *fixture)
{
    struct hw_explore_options options = small_options();
    struct counted_clock clock = {.step_ms = 1};
    struct hw_exploration found;
    size_t calls;
    size_t longest;

    options.new_brokers = 3;
    options.acks = 1;
    options.is_walk = true;
    options.seconds = 1000;
    assert_int_equal(explore(fixture, &clock, &options, &found), HW_OK);
    assert_int_equal(found.verdict, HW_EXPLORE_VIOLATED);
    calls = found.count;
    hw_exploration_release(&found);
    clock.step_ms = 1000 * options.seconds;
    do {
        clock.step_ms -= clock.step_ms / 16;
        assert_int_equal(explore(fixture, &clock, &options, &found), HW_OK);
        longest = found.verdict == HW_EXPLORE_VIOLATED ? found.count : 0;
        hw_exploration_release(&found);
    } while (longest == 0);
    assert_true(longest > calls);
}

/* Whatever it is doing, also where its clock stands still. */
TEST(it_can_be_interrupted_at_any_call, struct test_cluster *t)
{
    struct hw_explore_options options = small_options();
    int ends = 0;

    options.verifies = true;
    for (int walk = 0; walk < 2; walk++) {
        options.is_walk = walk == 1;
        options.acks = walk == 1 ? 1 : HW_ACKS_ALL;
        options.new_brokers = 2 + walk;
        for (int step_ms = 0; step_ms < 2; step_ms++) {
            struct counted_clock clock = {.step_ms = step_ms, .interrupt_at = 1};
            struct hw_exploration found;

            options.seconds = 1000;
            while (explore(t, &clock, &options, &found) == HW_INTERRUPTED) {
                assert_int_equal(clock.asked, clock.interrupt_at);
                clock.interrupt_at += 1 + clock.interrupt_at / 8;
                clock.asked = 0;
                ends++;
            }
            hw_exploration_release(&found);
        }
    }
    assert_true(ends > 40);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
