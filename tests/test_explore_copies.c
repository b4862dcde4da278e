/* SPDX-License-Identifier: MIT */
/*
 * Is what an exploration leaves out of its copies what it may leave out? Before a copy is put back,
 * each such span has to be as it was at first; one that is not is filled with something else then,
 * and the exploration has to find the same, so nothing can have read it. The linker puts this
 * file's hw_arena_restore() round the core's (--wrap).
 */
#include "core/base/arena.h"
#include "core/explore/explore.h"
#include "tests/support_cluster.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum { SPANS_MAX = 64 };

static struct {
    bool fills;
    unsigned char *first[SPANS_MAX]; /* As it was; NULL: not looked at yet. */
    bool is_written[SPANS_MAX];
    int written;
    unsigned char next; /* What the next one is filled with. */
} spans;

static void spans_look(size_t number, const struct hw_arena_span *span)
{
    unsigned char **first = &spans.first[number];

    if (*first == NULL) {
        *first = malloc(span->size + 1);
        assert_non_null(*first);
        memcpy(*first, span->from, span->size);
    }
    if (!spans.is_written[number] && memcmp(*first, span->from, span->size) != 0) {
        spans.is_written[number] = true;
        spans.written++;
    }
    if (spans.fills && spans.is_written[number]) {
        memset(span->from, spans.next++, span->size);
    }
}

void __real_hw_arena_restore(struct hw_arena *arena, const struct hw_arena_image *image);
void __wrap_hw_arena_restore(struct hw_arena *arena, const struct hw_arena_image *image);

void __wrap_hw_arena_restore(struct hw_arena *arena, const struct hw_arena_image *image)
{
    assert_true(arena->left_out_count <= SPANS_MAX);
    for (size_t i = 0; i < arena->left_out_count; i++) {
        spans_look(i, &arena->left_out[i]);
    }
    __real_hw_arena_restore(arena, image);
}

static struct hw_exploration explore(struct test_cluster *t,
                                     const struct hw_explore_options *options, bool fills)
{
    struct hw_exploration exploration;
    struct hw_exploration found;

    memset(&spans, 0, sizeof spans);
    spans.fills = fills;
    assert_int_equal(hw_explore_begin(t->cluster, options, &exploration, &t->error), HW_OK);
    assert_int_equal(hw_explore_run(&exploration, &t->error), HW_OK);
    found = exploration; /* Its numbers. */
    hw_exploration_release(&exploration);
    for (size_t i = 0; i < SPANS_MAX; i++) {
        free(spans.first[i]);
    }
    return found;
}

TEST(what_is_left_out_of_the_copies_is_not_needed, struct test_cluster *t)
{
    const struct hw_explore_config unclean = {"unclean.leader.election.enable", "true"};
    struct hw_explore_options options = hw_explore_options_usual();
    int64_t happened[HW_EXPLORE_ACTIONS] = {0};

    options.new_brokers = 3;
    options.configs = &unclean;
    options.config_count = 1;
    options.actions = (1U << HW_EXPLORE_ACTIONS) - 1;
    options.promises = 1U << HW_PROMISE_LOG_MATCHING; /* The others break. */
    options.states = 20000;
    for (int i = 0; i < HW_EXPLORE_BUDGETS; i++) {
        options.budgets[i] = 10;
    }
    for (int walk = 0; walk < 2; walk++) {
        struct hw_exploration usual;
        struct hw_exploration filled;

        options.is_walk = walk == 1;
        usual = explore(t, &options, false);
        filled = explore(t, &options, true);
        assert_true(spans.written > 0);
        assert_int_equal(filled.states, usual.states);
        assert_int_equal(filled.transitions, usual.transitions);
        assert_memory_equal(filled.happened, usual.happened, sizeof usual.happened);
        assert_memory_equal(filled.witnessed, usual.witnessed, sizeof usual.witnessed);
        for (int i = 0; i < HW_EXPLORE_ACTIONS; i++) {
            happened[i] += usual.happened[i];
        }
    }
    for (int i = 0; i < HW_EXPLORE_ACTIONS; i++) {
        assert_int_equal(happened[i] > 0, i != HW_EXPLORE_GAP); /* Which is refused. */
    }
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
