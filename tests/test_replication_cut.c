/* SPDX-License-Identifier: MIT */
/*
 * Where would a log be cut, by what is known of it and of its leader's? Each variant says so without
 * any log, and it has to be where the same variant cuts a follower's log in fact.
 */
#include "core/base/random.h"
#include "core/replication/variant.h"
#include "tests/support_replica.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support_test.h"

enum { LEADER = 1, FOLLOWER = 2, LEADER_EPOCH = 9, POLLS = 12 };

static struct hw_log_outline outline_of(struct test_replicas *t, hw_broker_id_t broker)
{
    const struct hw_log *log = log_of(t, broker);

    return (struct hw_log_outline){.epochs = *hw_log_epochs(log),
                                   .start = hw_log_start(log),
                                   .end = hw_log_end(log),
                                   .high_watermark = hw_log_high_watermark(log)};
}

/* Where the variant cuts broker 2's log in fact, or its end; nothing is cut once it has copied. */
static hw_offset_t cut_in_fact(struct test_replicas *t)
{
    hw_offset_t offset = hw_log_end(log_of(t, FOLLOWER));
    struct hw_journal journal;
    struct hw_event event;

    hw_journal_init(&journal, &t->heap.allocator, &t->now_ms);
    replica_of(t, FOLLOWER)->journal = &journal;
    follow(t, FOLLOWER, LEADER, LEADER_EPOCH);
    for (int i = 0; i < POLLS; i++) {
        poll(t, FOLLOWER);
    }
    for (size_t i = 0; hw_journal_at(&journal, i, &event); i++) {
        offset = event.kind == HW_EVENT_TRUNCATE ? event.offset : offset;
    }
    replica_of(t, FOLLOWER)->journal = NULL;
    hw_journal_release(&journal);
    return offset;
}

/* Both logs, by the rule of `variant`, and where it cuts broker 2's. */
static void expect_cut(struct test_replicas *t, const char *variant, const char *leader,
                       const char *follower, hw_offset_t high_watermark, hw_offset_t expected)
{
    struct hw_log_outline outlines[2];

    t->partition.variant = hw_variant_find(variant);
    log_has(t, LEADER, leader);
    log_has(t, FOLLOWER, follower);
    knows_high_watermark(t, FOLLOWER, high_watermark);
    lead(t, LEADER, LEADER_EPOCH, "[1,2]", "[1]");
    outlines[0] = outline_of(t, FOLLOWER);
    outlines[1] = outline_of(t, LEADER);
    assert_int_equal(t->partition.variant->cut(&outlines[0], &outlines[1]), expected);
    assert_int_equal(cut_in_fact(t), expected);
}

/* The same by every rule, from the oldest to today's. */
static void expect_cuts(const char *leader, const char *follower, hw_offset_t high_watermark,
                        const hw_offset_t expected[4])
{
    static const char *const variants[] = {"hw-truncation", "kip-101", "kip-279", "kafka"};

    for (size_t i = 0; i < 4; i++) {
        void *made;

        assert_int_equal(test_replicas_setup(&made), 0);
        expect_cut(made, variants[i], leader, follower, high_watermark, expected[i]);
        assert_int_equal(test_replicas_teardown(&made), 0);
    }
}

/* KIP-279's own example: the rule of KIP-101 leaves offsets 1 and 2 as they are. Semantics: R5.19 */
TEST_ALONE(fast_leader_changes_are_cut_by_their_rule)
{
    expect_cuts("0@0 1@2 2@2 3@2 4@4 5@4", "0@0 1@1 2@3", 2, (hw_offset_t[]){2, 3, 1, 1});
}

/* Semantics: R5.12 */
TEST_ALONE(a_log_without_epochs_is_cut_to_its_high_watermark)
{
    expect_cuts("0@0 1@0", "0@-1 1@-1", 1, (hw_offset_t[]){1, 1, 1, 1});
}

/* Semantics: R2.30 */
TEST(a_log_that_ends_before_its_leaders_begins_anew, struct test_replicas *t)
{
    assert_int_equal(
        hw_log_truncate_fully_and_start_at(log_of(t, LEADER), 20, HW_OFFSET_NONE, &t->error),
        HW_OK);
    expect_cut(t, "kafka", "20@3", "0@0 1@0", 0, 20);
}

/* Write what a few leaders might: each appends behind what it has, and the other copies some of that
 * while their logs are still the same. */
static void write_at_random(struct test_replicas *t, struct hw_random *random)
{
    bool is_same = true;

    for (int epoch = 0; epoch < LEADER_EPOCH; epoch++) {
        hw_broker_id_t writer = LEADER + (hw_broker_id_t)hw_random_below(random, 2);
        hw_broker_id_t other = LEADER + FOLLOWER - writer;
        int count = (int)hw_random_below(random, 3);
        int copied = is_same ? (int)hw_random_below(random, 4) : 0;

        for (int i = 0; i < count; i++) {
            char batch[32];

            (void)snprintf(batch, sizeof batch, "%d@%d", (int)hw_log_end(log_of(t, writer)), epoch);
            log_has(t, writer, batch);
            if (i < copied) {
                log_has(t, other, batch);
            }
        }
        is_same = is_same && copied >= count;
    }
}

static void cut_at_random(uint64_t seed)
{
    const struct hw_variant *variant = hw_variant_at(seed % 4);
    struct hw_random random;
    struct hw_log_outline outlines[2];
    struct test_replicas *t;
    hw_offset_t expected;
    hw_offset_t cut;
    void *made;

    hw_random_init(&random, seed);
    assert_int_equal(test_replicas_setup(&made), 0);
    t = made;
    t->partition.variant = variant;
    write_at_random(t, &random);
    for (hw_broker_id_t broker = LEADER; broker <= FOLLOWER; broker++) {
        hw_offset_t start = (hw_offset_t)hw_random_below(&random, 8) - 3;
        bool changed;

        knows_high_watermark(t, broker, (hw_offset_t)hw_random_below(&random, 8));
        if (start <= hw_log_high_watermark(log_of(t, broker))) {
            assert_int_equal(
                hw_log_maybe_increment_log_start(log_of(t, broker), start, &changed, &t->error),
                HW_OK);
        }
    }
    lead(t, LEADER, LEADER_EPOCH, "[1,2]", "[1]");
    outlines[0] = outline_of(t, FOLLOWER);
    outlines[1] = outline_of(t, LEADER);
    cut = variant->cut(&outlines[0], &outlines[1]);
    expected = cut_in_fact(t);
    if (cut != expected) {
        fail_msg("seed %d: %s says %d and cuts at %d", (int)seed, variant->name, (int)cut,
                 (int)expected);
    }
    assert_int_equal(test_replicas_teardown(&made), 0);
}

/* Semantics: R5.10-R5.15, R5.19 */
TEST_ALONE(what_a_variant_says_is_what_it_does)
{
    uint64_t count = getenv("HW_TEST_QUICK") != NULL ? 400 : 8000;

    for (uint64_t seed = 0; seed < count; seed++) {
        cut_at_random(seed);
    }
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
