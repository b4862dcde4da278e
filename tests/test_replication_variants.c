/* SPDX-License-Identifier: MIT */
/*
 * How did followers find their place before today's in-fetch check? By asking for the end of their
 * latest epoch: follows ReplicaFetcherThreadTest and AbstractFetcherThreadTest of Kafka 2.x.
 */
#include "tests/support_replica.h"

#include "tests/support_test.h"

/* Broker 2 holds this log and follows broker 1 in this leader epoch; it has not asked yet. */
static void truncating(struct test_replicas *t, const struct hw_variant *variant,
                       const char *batches, hw_offset_t high_watermark, hw_epoch_t leader_epoch)
{
    t->partition.variant = variant;
    log_has(t, 2, batches);
    knows_high_watermark(t, 2, high_watermark);
    follow(t, 2, 1, leader_epoch);
}

/* The leader's answer reaches broker 2; the question named `leader_epoch` (-1: none). */
static void told(struct test_replicas *t, enum hw_kafka_error refused, hw_epoch_t leader_epoch,
                 hw_epoch_t epoch, hw_offset_t end_offset)
{
    struct hw_epoch_end end = {.epoch = epoch, .end_offset = end_offset};

    t->status = hw_replica_apply_epoch_end(replica_of(t, 2), t->now_ms, refused, leader_epoch, end,
                                           &t->error);
    expect_done(t);
}

/* Row: C082. Semantics: R5.14 3c */
TEST(a_follower_cuts_where_its_epoch_ends_on_the_leader, struct test_replicas *t)
{
    truncating(t, &hw_variant_kip_279, "0-99@5 100-155@5 156-171@5 172-199@5", 0, 6);
    expect_fetch(t, 2, "truncating at 0 after epoch 5");
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 5, 172);
    expect_fetch(t, 2, "fetching at 172 after epoch 5");
    expect_log(t, 2, 0, 0, 172);

    follow(t, 2, 1, 7);
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 5, 156);
    expect_fetch(t, 2, "fetching at 156 after epoch 5");
    expect_log(t, 2, 0, 0, 156);
}

/* Row: C083. Semantics: R5.14 3a. No leader answers a larger epoch than it was asked for; if one
 * did, its end offset is what there is. */
TEST(an_epoch_above_all_of_the_followers_counts_by_its_end_offset, struct test_replicas *t)
{
    truncating(t, &hw_variant_kip_279, "0-155@3 156-199@3", 0, 6);
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 4, 202);
    expect_fetch(t, 2, "fetching at 200 after epoch 3");
    follow(t, 2, 1, 7);
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 4, 156);
    expect_fetch(t, 2, "fetching at 156 after epoch 3");
}

/* Semantics: R5.14 3b, R5.15 */
TEST(an_epoch_that_the_follower_never_had_makes_it_ask_again, struct test_replicas *t)
{
    truncating(t, &hw_variant_kip_279, "0@0 1@1 2@3", 0, 4);
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 2, 4);
    expect_fetch(t, 2, "truncating at 2 after epoch 1");
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 0, 1);
    expect_fetch(t, 2, "fetching at 1 after epoch 0");
}

/* Row: C088. Semantics: R5.11, R2.29 */
TEST(a_follower_asks_until_the_leader_answers, struct test_replicas *t)
{
    static const enum hw_kafka_error refusals[] = {
        HW_KAFKA_NOT_LEADER_OR_FOLLOWER, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
        HW_KAFKA_UNKNOWN_LEADER_EPOCH, HW_KAFKA_UNKNOWN_SERVER_ERROR};

    truncating(t, &hw_variant_kip_279, "0-155@5 156-199@5", 0, 6);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        told(t, refusals[i], HW_EPOCH_NONE, HW_EPOCH_NONE, HW_OFFSET_NONE);
        expect_fetch(t, 2, "truncating at 0 after epoch 5 delayed to 1000");
        expect_log(t, 2, 0, 0, 200);
    }
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 5, 156);
    expect_fetch(t, 2, "fetching at 156 after epoch 5");
    expect_log(t, 2, 0, 0, 156);
}

/* Row: C185. Semantics: R5.14 1, R2.21 */
TEST(a_leader_that_does_not_know_sends_the_follower_to_its_high_watermark, struct test_replicas *t)
{
    static const struct hw_variant *const variants[] = {&hw_variant_kip_101, &hw_variant_kip_279};

    for (hw_epoch_t i = 0; i < 2; i++) {
        truncating(t, variants[i], i == 0 ? "0-99@5 100-199@5" : "100-199@5", 100, 6 + i);
        told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, HW_EPOCH_NONE, HW_OFFSET_NONE);
        expect_fetch(t, 2, "fetching at 100 after epoch 5");
        expect_log(t, 2, 0, 100, 100);
    }
}

/* Row: C186. Semantics: R5.11, R1.2. From KIP-320 on, when the question names the leader epoch. */
TEST(a_leader_that_is_behind_leaves_the_follower_truncating, struct test_replicas *t)
{
    struct hw_epoch_end end;
    enum hw_kafka_error refused;

    log_has(t, 1, "0@0");
    lead(t, 1, 0, "[1,2]", "[1]");
    truncating(t, &hw_variant_kip_279, "0@0", 0, 1);
    refused = hw_replica_offset_for_leader_epoch(replica_of(t, 1), 1, 0, &end);
    told(t, refused, 1, end.epoch, end.end_offset);
    assert_int_equal(end.end_offset, HW_OFFSET_NONE);
    expect_fetch(t, 2, "truncating at 0 after epoch 0 delayed to 1000");

    lead(t, 1, 1, "[1,2]", "[1]");
    refused = hw_replica_offset_for_leader_epoch(replica_of(t, 1), 1, 0, &end);
    told(t, refused, 1, end.epoch, end.end_offset);
    expect_fetch(t, 2, "fetching at 1 after epoch 0");
    expect_log(t, 2, 0, 0, 1);
}

/* Semantics: R5.11, R2.27 */
TEST(a_fenced_follower_gives_up_until_it_is_told_a_new_epoch, struct test_replicas *t)
{
    truncating(t, &hw_variant_kip_279, "0-9@5", 0, 6);
    told(t, HW_KAFKA_FENCED_LEADER_EPOCH, 6, HW_EPOCH_NONE, HW_OFFSET_NONE);
    expect_fetch(t, 2, "failed at 0 after epoch 5");
    follow(t, 2, 1, 7);
    expect_fetch(t, 2, "truncating at 0 after epoch 5");
}

/* Semantics: R5.16 */
TEST(an_answer_that_comes_too_late_cuts_nothing, struct test_replicas *t)
{
    truncating(t, &hw_variant_kip_279, "0-9@5", 0, 6);
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 5, 10);
    told(t, HW_KAFKA_NONE, HW_EPOCH_NONE, 5, 3);
    expect_log(t, 2, 0, 0, 10);
}

/* Semantics: R5.12 */
TEST(a_log_without_epochs_is_cut_to_its_high_watermark_unasked, struct test_replicas *t)
{
    t->partition.variant = &hw_variant_kip_279;
    (void)replica_of(t, 2);
    follow(t, 2, 3, 6); /* Broker 3 has no replica: nobody could answer. */
    poll(t, 2);
    expect_fetch(t, 2, "fetching at 0 delayed to 1000");
}

/* Semantics: R5.11 */
TEST(a_question_that_gets_lost_is_asked_again, struct test_replicas *t)
{
    log_has(t, 1, "0-4@0 5-9@1");
    lead(t, 1, 2, "[1,2]", "[1]");
    truncating(t, &hw_variant_kip_279, "0-4@0 5-6@0", 0, 2);
    test_replicas_cut(t, 1, 2);
    poll(t, 2);
    expect_fetch(t, 2, "truncating at 0 after epoch 0 delayed to 1000");
    t->links.count = 0;
    poll(t, 2);
    expect_log(t, 2, 0, 10, 10);
    expect_batches(t, 2, "0-4@0 5-9@1");
}

/* The leader's log of the next tests: epochs 2, 4 and 6, and now it leads epoch 8. */
static void ask_leader(struct test_replicas *t, const struct hw_variant *variant,
                       const char *batches)
{
    log_has(t, 1, "10-19@2 20-29@4 30-39@6");
    lead(t, 1, 8, "[1,2]", "[1]");
    truncating(t, variant, batches, 12, 8);
    t->status = variant->truncate(
        &t->partition,
        &(struct hw_step){.now_ms = 0, .controller = &t->controller, .links = &t->links},
        replica_of(t, 2), &t->error);
    expect_done(t);
}

/* Semantics: R5.19. The first larger epoch starts where an epoch ends that the leader never had:
 * that is too far, and the answer cannot say so. */
TEST(before_kip_279_an_epoch_the_leader_never_had_is_kept, struct test_replicas *t)
{
    ask_leader(t, &hw_variant_kip_101, "10-19@2 20-24@3 25-34@5");
    expect_fetch(t, 2, "fetching at 30 after epoch 5");
    expect_batches(t, 2, "10-19@2 20-24@3");
}

/* Semantics: R5.14 3b */
TEST(since_kip_279_an_epoch_the_leader_never_had_is_cut, struct test_replicas *t)
{
    ask_leader(t, &hw_variant_kip_279, "10-19@2 20-24@3 25-34@5");
    expect_fetch(t, 2, "truncating at 25 after epoch 3");
    expect_batches(t, 2, "10-19@2 20-24@3");
    poll(t, 2);
    expect_batches(t, 2, "10-19@2 20-29@4 30-39@6");
}

/* Semantics: R5.15. An epoch in which broker 2 led and wrote nothing has no record to cut. */
TEST(a_question_that_cuts_only_an_empty_epoch_is_followed_by_the_next, struct test_replicas *t)
{
    struct hw_step step = {.controller = &t->controller, .links = &t->links};

    log_has(t, 1, "0@0 1-3@2");
    lead(t, 1, 4, "[1,2]", "[1]");
    log_has(t, 2, "0@0 1@1");
    assert_int_equal(hw_log_assign_epoch(log_of(t, 2), 3, &t->error), HW_OK);
    t->partition.variant = &hw_variant_kip_279;
    follow(t, 2, 1, 4);
    assert_int_equal(
        t->partition.variant->rejoin(&t->partition, &step, replica_of(t, 2), &t->error), HW_OK);
    expect_batches(t, 2, "0@0 1-3@2");
}

/* Semantics: R5.19 */
TEST(kip_101_answers_the_log_end_for_the_latest_epoch, struct test_replicas *t)
{
    ask_leader(t, &hw_variant_kip_101, "10-19@2 20-29@4 30-44@8");
    expect_fetch(t, 2, "fetching at 40 after epoch 8");
}

/* Semantics: R5.19 */
TEST(kip_101_knows_nothing_of_an_epoch_above_its_own, struct test_replicas *t)
{
    ask_leader(t, &hw_variant_kip_101, "10-11@2 12-29@4 30-39@9");
    expect_fetch(t, 2, "fetching at 12 after epoch 2");
}

/* Semantics: R5.19 */
TEST(kip_101_knows_nothing_of_an_epoch_below_its_first, struct test_replicas *t)
{
    ask_leader(t, &hw_variant_kip_101, "9@1 10-11@1 12-15@1");
    expect_fetch(t, 2, "fetching at 12 after epoch 1");
}

/* Semantics: R5.3 4, R5.19. Since KIP-279 it says where its first epoch starts. */
TEST(kip_279_answers_an_epoch_below_its_first, struct test_replicas *t)
{
    ask_leader(t, &hw_variant_kip_279, "9@1 10-11@1 12-15@1");
    expect_fetch(t, 2, "fetching at 10 after epoch 1");
}

/* Semantics: R5.19 */
TEST(before_kip_101_a_follower_asks_nobody, struct test_replicas *t)
{
    ask_leader(t, &hw_variant_hw_truncation, "10-11@2 12-19@2");
    expect_fetch(t, 2, "fetching at 12 after epoch 2");
}

TEST_ALONE(variants_have_names_of_their_own)
{
    const struct hw_variant *variant;
    size_t count = 0;

    while ((variant = hw_variant_at(count)) != NULL) {
        assert_ptr_equal(hw_variant_find(variant->name), variant);
        count++;
    }
    assert_int_equal(count, 5);
    assert_null(hw_variant_find("kip-1"));
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
