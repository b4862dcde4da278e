/* SPDX-License-Identifier: MIT */
/*
 * Does a cluster keep what it promised, whatever happens in whatever order? Random walks over three
 * to five brokers that crash, lose power, are cut off and lead in turns, and over everything that
 * can be ordered of them: support_walk.h. The same walk must catch the old rule of truncation
 * losing records: that proves that it can. HW_SEED and HW_STEPS in the environment choose another
 * walk; where a walk fails, its seed was printed last.
 */
#include "tests/support_topics.h"
#include "tests/support_walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support_test.h"

/* Of the walks over all that may happen, with today's rules and no power loss: 100 000 steps. */
enum { STEPS = 300, WALKS = 40, QUICK_WALKS = 2, ALL_STEPS = 500, ALL_WALKS = 200 };

static uint64_t walk_count(uint64_t count)
{
    return getenv("HW_TEST_QUICK") != NULL ? QUICK_WALKS : count;
}

static struct walk *begin(void **state, unsigned with, bool records_may_be_lost)
{
    struct walk *w = test_calloc(1, sizeof *w);

    w->t = *state;
    w->with = with;
    w->t->records_may_be_lost = records_may_be_lost;
    return w;
}

static void keep_promises(struct walk *w, uint64_t first_seed, uint64_t walks, uint64_t steps)
{
    uint64_t seed = test_topics_number("HW_SEED", first_seed);
    uint64_t end = seed + walk_count(walks);

    for (; seed < end; seed++) {
        print_message("seed %" PRIu64 "\n", seed);
        if (test_walk(w, "kafka", seed, test_topics_number("HW_STEPS", steps))) {
            fail_msg("%s", w->broken);
        }
    }
}

static void walk_keeps_promises(void **state, unsigned with, uint64_t first_seed)
{
    struct walk *w = begin(state, with, (with & WALK_POWER_LOSS) != 0);

    keep_promises(w, first_seed, WALKS, STEPS);
    test_free(w);
}

/* Semantics: 0.6 invariants 3, 4, 5, 7 */
TEST_AGAIN(crashes_and_elections_break_no_promise, void **state)
{
    walk_keeps_promises(state, 0, 1);
}

TEST_AGAIN(cut_links_and_deposed_leaders_break_no_promise, void **state)
{
    walk_keeps_promises(state, WALK_CUT_LINKS, 1001);
}

TEST_AGAIN(a_power_loss_takes_only_what_was_not_flushed_everywhere, void **state)
{
    walk_keeps_promises(state, WALK_CUT_LINKS | WALK_POWER_LOSS, 2001);
}

/* Semantics: 0.6 invariants 3, 4, 5, 7, over all that can be ordered */
TEST_AGAIN(nothing_that_can_be_ordered_breaks_a_promise, void **state)
{
    struct walk *w = begin(state, WALK_CUT_LINKS | WALK_ADMIN, false);
    int walks = (int)walk_count(ALL_WALKS);

    keep_promises(w, 4001, ALL_WALKS, ALL_STEPS);
    /* A walk in which every order is refused tests nothing. */
    assert_true(w->moves > walks && w->cancels > walks / 8);
    assert_true(w->preferred > walks / 8 && w->shutdowns > walks);
    assert_true(w->deletions > walks && w->topics > walks / 8);
    test_free(w);
}

/* Semantics: R5.19: the walk finds what KIP-101 is about */
TEST_AGAIN(the_walk_catches_the_old_rule_losing_a_record, void **state)
{
    struct walk *w = begin(state, 0, true);
    uint64_t seed = 1;

    while (!test_walk(w, "hw-truncation", seed, STEPS)) {
        assert_true(seed++ < 200);
    }
    print_message("seed %" PRIu64 ": %s\n", seed, w->broken);
    test_free(w);
}

/* What they promise differs, what they assert of themselves does not. */
TEST_AGAIN(every_variant_survives_every_walk, void **state)
{
    struct walk *w = begin(state, WALK_CUT_LINKS | WALK_POWER_LOSS | WALK_ADMIN, true);
    const struct hw_variant *variant;

    for (size_t i = 0; (variant = hw_variant_at(i)) != NULL; i++) {
        for (uint64_t seed = 3001; seed < 3001 + walk_count(WALKS); seed++) {
            print_message("%s, seed %" PRIu64 "\n", variant->name, seed);
            (void)test_walk(w, variant->name, seed, STEPS);
        }
    }
    test_free(w);
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
