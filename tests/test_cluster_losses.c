/* SPDX-License-Identifier: MIT */
/*
 * Which records does an election take away from those who were told that they were stored, or saw
 * them? The ledger of losses, case by case; test_cluster_losses_model.c walks at random.
 */
#include "tests/support_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

static void describe(const struct hw_loss_view *view, char *text, size_t size)
{
    char answer[40] = "acks forgotten";

    if (view->is_answer_known) {
        (void)snprintf(answer, sizeof answer, "acks %" PRId32 "%s", view->acks,
                       view->is_acknowledged ? "" : " not acknowledged");
    }
    (void)snprintf(text, size, "%" PRId64 "-%" PRId64 "@%" PRId32 " %s, %s, broker %" PRId32,
                   view->first_offset, view->end_offset - 1, view->leader_epoch, answer,
                   view->by_event, view->broker);
}

/* The ledger: "2-4@0 acks 1, election, broker 2", ranges joined by "; ". */
static void lost_is(struct test_cluster *t, const char *expected, const char *file, int line)
{
    struct hw_position position = {0};
    struct hw_loss_view view;
    char text[4096] = "";
    size_t used = 0;

    while (hw_cluster_next_lost(t->cluster, &position, &view) && used < sizeof text) {
        char one[200];

        assert_string_equal(view.topic, "orders");
        assert_int_equal(view.partition, 0);
        describe(&view, one, sizeof one);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", used == 0 ? "" : "; ", one);
    }
    if (strcmp(text, expected) != 0) {
        (void)fprintf(stderr, "lost is\n  %s\nexpected\n  %s\n", text, expected);
        _fail(file, line);
    }
}

#define expect_lost(t, expected) lost_is((t), (expected), __FILE__, __LINE__)

static void produce_many(struct test_cluster *t, int count, int64_t acks)
{
    for (int i = 0; i < count; i++) {
        produce_acks(t, "a", acks);
        expect_done(t);
    }
}

/* Replicas 1, 2, 3 end at 10, 5 and 2; the ISR is [1,2]; then 1 and 2 die and 3 is elected. */
static void elect_the_shortest_of_three(struct test_cluster *t, int64_t acks)
{
    produce_many(t, 2, acks);
    replicate(t);
    cut(t, 1, 3);
    remove_from_isr(t, 3);
    tick(t, 30001);
    expect_isr(t, "[1,2]");
    produce_many(t, 3, acks);
    fetch(t, 2);
    fetch(t, 2);
    produce_many(t, 5, acks);
    expect_log_end(t, 1, 10);
    expect_log_end(t, 2, 5);
    expect_log_end(t, 3, 2);
    t->records_may_be_lost = true;
    crash(t, 1);
    crash(t, 2);
    promote(t, 3);
    expect_refused(t, NOT_IN_SYNC_REPLICA);
    expect_lost(t, "");
    promote_unclean(t, 3);
    expect_done(t);
}

/* KAFKA-10751 */
TEST(an_unclean_election_loses_eight_of_ten_with_acks_1, struct test_cluster *t)
{
    elect_the_shortest_of_three(t, 1);
    expect_lost(t, "2-9@0 acks 1, unclean election, broker 3");
}

/* KAFKA-10751 */
TEST(an_unclean_election_loses_three_of_five_acknowledged_with_acks_all, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 3, NULL, configs);
    elect_the_shortest_of_three(t, HW_ACKS_ALL);
    expect_lost(t, "2-4@0 acks -1, unclean election, broker 3");
}

TEST(a_clean_election_loses_what_only_the_leader_acknowledged, struct test_cluster *t)
{
    produce_many(t, 2, HW_ACKS_ALL);
    replicate(t);
    produce(t, "pending");
    produce_acks(t, "answered", 1);
    produce_acks(t, "not answered", 0);
    crash(t, 1);
    promote(t, 2);
    expect_lost(t, "3-3@0 acks 1, election, broker 2");

    /* The same offsets again: they are other records. */
    produce_many(t, 4, 1);
    restart(t, 1);
    crash(t, 2);
    promote(t, 1);
    expect_refused(t, NOT_IN_SYNC_REPLICA);
    t->records_may_be_lost = true;
    promote_unclean(t, 1);
    expect_lost(t, "3-3@0 acks 1, election, broker 2; 2-5@1 acks 1, unclean election, broker 1");
}

TEST(what_every_member_of_the_isr_has_is_not_lost, struct test_cluster *t)
{
    produce_many(t, 3, 1);
    replicate(t);
    crash(t, 1);
    promote(t, 2);
    produce_many(t, 3, 1);
    restart(t, 1);
    replicate(t);
    promote(t, 3);
    promote(t, 1);
    replicate(t);
    expect_log_end(t, 1, 6);
    expect_lost(t, "");
}

TEST(a_visible_record_is_lost_also_if_nobody_asked_for_an_answer, struct test_cluster *t)
{
    t->records_may_be_lost = true;
    cut(t, 1, 3);
    produce_acks(t, "seen", 0);
    tick(t, 45000);
    fetch(t, 2);
    fetch(t, 2);
    expect_isr(t, "[1,2]");
    expect_high_watermark(t, 1, 1);
    produce_acks(t, "not seen", 0);
    crash(t, 1);
    crash(t, 2);
    promote_unclean(t, 3);
    expect_lost(t, "0-0@0 acks 0 not acknowledged, unclean election, broker 3");
}

/* A new leader shows less than the old one did, until its followers have fetched. */
TEST(what_the_leader_before_showed_counts_as_visible, struct test_cluster *t)
{
    test_cluster_renew(t, 4, NULL, NULL);
    t->records_may_be_lost = true;
    replicate(t);
    cut(t, 1, 3);
    cut(t, 2, 3);
    remove_from_isr(t, 3);
    tick(t, 30001);
    expect_isr(t, "[1,2,4]");
    produce_acks(t, "seen", 0);
    fetch(t, 2);
    fetch(t, 4);
    fetch(t, 2);
    fetch(t, 4);
    expect_high_watermark(t, 1, 1);
    crash(t, 1);
    promote(t, 2);
    expect_high_watermark(t, 2, 0);
    expect_lost(t, "");
    crash(t, 2);
    crash(t, 4);
    promote_unclean(t, 3);
    expect_lost(t, "0-0@0 acks 0 not acknowledged, unclean election, broker 3");
}

TEST(a_leader_that_lost_power_leads_without_its_tail, struct test_cluster *t)
{
    test_cluster_renew(t, 1, NULL, NULL);
    t->records_may_be_lost = true;
    produce_many(t, 2, HW_ACKS_ALL);
    flush_all(t);
    produce_many(t, 2, HW_ACKS_ALL);
    produce_many(t, 1, 1);
    crash(t, 1);
    restart(t, 1);
    expect_log_end(t, 1, 5);
    expect_lost(t, "");
    produce_many(t, 1, 1);
    crash_power(t, 1);
    expect_lost(t, "");
    restart(t, 1);
    expect_log_end(t, 1, 2);
    expect_lost(t, "2-3@0 acks -1, power loss, broker 1; 4-4@0 acks 1, power loss, broker 1;"
                   " 5-5@1 acks 1, power loss, broker 1");
}

TEST(a_deposed_leader_acknowledges_what_is_lost_already, struct test_cluster *t)
{
    struct hw_produce request = {.topic = "orders",
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK, .key_size = -1},
                                 .acks = 1,
                                 .leader_epoch = -1,
                                 .has_broker = true,
                                 .broker = 1};

    produce_many(t, 2, 1);
    replicate(t);
    cut(t, 1, HW_CLUSTER_CONTROLLER);
    promote(t, 2);
    expect_lost(t, "");
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    expect_done(t);
    expect_offset(t, 2);
    expect_lost(t, "2-2@0 acks 1, deposed leader, broker 2");
    request.acks = HW_ACKS_ALL;
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    heal_all(t);
    replicate(t);
    expect_log_end(t, 1, 2);
    expect_lost(t, "2-2@0 acks 1, deposed leader, broker 2");
}

/* While the new leader has not been told, the old one's log is the one that counts. */
TEST(nothing_is_lost_before_the_new_leader_leads, struct test_cluster *t)
{
    produce_many(t, 2, 1);
    cut(t, 2, HW_CLUSTER_CONTROLLER);
    promote(t, 2);
    expect_done(t);
    expect_leader(t, 2);
    expect_lost(t, "");
    heal_all(t);
    expect_lost(t, "0-1@0 acks 1, election, broker 2");
}

/* Semantics: R5.19. What broker 1 cuts as a follower it does not have as a leader. */
TEST(cutting_to_the_high_watermark_loses_what_was_committed, struct test_cluster *t)
{
    test_cluster_renew(t, 2, "hw-truncation", NULL);
    t->records_may_be_lost = true;
    promote(t, 2);
    produce(t, "m1");
    fetch(t, 1);
    fetch(t, 1);
    fetch(t, 1);
    tick(t, 5000);
    produce(t, "m2");
    fetch(t, 1);
    fetch(t, 1);
    expect_ack(t, t->produced.ack_id, "acknowledged");
    crash(t, 1);
    restart(t, 1);
    crash(t, 2);
    expect_lost(t, "");
    promote(t, 1);
    expect_lost(t, "1-1@1 acks -1, election, broker 1");
}

TEST(the_model_loses_what_is_above_its_high_watermark, struct test_cluster *t)
{
    static const char *const configs[] = {"min.insync.replicas", "2", NULL};

    test_cluster_renew(t, 2, "minikafka", configs);
    produce(t, "safe");
    fetch_round(t);
    produce_acks(t, "at-risk", 1);
    promote(t, 2);
    expect_lost(t, "1-1@0 acks 1, election, broker 2");
}

TEST(deleted_records_are_not_lost, struct test_cluster *t)
{
    hw_offset_t low;

    produce_many(t, 4, 1);
    replicate(t);
    TEST_VERB(t, hw_cluster_delete_records(t->cluster, "orders", 0, 3, &low, &t->error));
    expect_done(t);
    t->records_may_be_lost = true;
    crash(t, 1);
    crash(t, 3);
    promote(t, 2);
    expect_lost(t, "");
    /* A replica that has nothing: only what was not deleted is lost with it. */
    cut(t, 2, 3);
    restart(t, 3);
    tick(t, 45000);
    crash(t, 2);
    promote_unclean(t, 3);
    expect_lost(t, "");
}

/* hw_acks keeps the last 10 000 answers: of older ones nobody knows any more. */
TEST(an_answer_that_is_forgotten_is_unknown_and_not_guessed, struct test_cluster *t)
{
    t->records_may_be_lost = true; /* Not looked at: that would take long. */
    cut(t, 1, 2);
    cut(t, 1, 3);
    produce_many(t, 3 + HW_ACKS_FINISHED_MAX, 1);
    promote(t, 2);
    expect_lost(t, "0-2@0 acks forgotten, election, broker 2;"
                   " 3-10002@0 acks 1, election, broker 2");
}

TEST(a_topic_of_the_same_name_has_answers_of_its_own, struct test_cluster *t)
{
    struct hw_topic_spec spec = {.name = "orders", .partitions = 1, .replication_factor = 3};
    struct hw_uuid id;

    produce_many(t, 2, 1);
    assert_int_equal(hw_cluster_delete_topic(t->cluster, "orders", &t->error), HW_OK);
    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    produce_many(t, 2, HW_ACKS_ALL);
    promote(t, 2);
    expect_lost(t, "");
}

TEST(answers_of_another_topic_are_not_looked_at, struct test_cluster *t)
{
    struct hw_topic_spec spec = {.name = "other", .partitions = 1, .replication_factor = 3};
    struct hw_produce request = {.topic = "other",
                                 .record = {.timestamp = HW_TIMESTAMP_CLOCK, .key_size = -1},
                                 .acks = 1,
                                 .leader_epoch = -1};
    struct hw_uuid id;

    assert_int_equal(hw_cluster_create_topic(t->cluster, &spec, &id, &t->error), HW_OK);
    TEST_VERB(t, hw_cluster_produce(t->cluster, &request, &t->produced, &t->error));
    produce_many(t, 2, HW_ACKS_ALL);
    promote(t, 2);
    expect_lost(t, "");
}

static int64_t lost_records(const struct test_cluster *t, size_t *ranges)
{
    struct hw_position position = {0};
    struct hw_loss_view view;
    int64_t records = 0;

    *ranges = 0;
    while (hw_cluster_next_lost(t->cluster, &position, &view)) {
        records += view.end_offset - view.first_offset;
        *ranges += 1;
    }
    return records;
}

/* The first two records, of two ranges, make room for the last two. */
TEST(the_ledger_keeps_the_last_ten_thousand_ranges, struct test_cluster *t)
{
    size_t ranges;

    t->records_may_be_lost = true; /* Not looked at: that would take long. */
    for (int i = 0; i < HW_LOSSES_MAX + 2; i++) {
        produce_acks(t, "a", 1);
        promote(t, i % 2 == 0 ? 2 : 1);
        fetch(t, i % 2 == 0 ? 1 : 2);
    }
    assert_int_equal(lost_records(t, &ranges), HW_LOSSES_MAX);
    assert_int_equal(ranges, HW_LOSSES_MAX);
    assert_int_equal(t->cluster->losses.forgotten, 2);
    assert_int_equal(hw_losses_at(&t->cluster->losses, 0)->leader_epoch, 2);
}

/* Five thousand lost records are one range. */
TEST(a_long_loss_costs_no_memory, struct test_cluster *t)
{
    size_t ranges;

    t->records_may_be_lost = true; /* Not looked at: that would take long. */
    produce_many(t, 5000, 1);
    promote(t, 2);
    assert_int_equal(lost_records(t, &ranges), 5000);
    assert_int_equal(ranges, 1);
    assert_true(t->cluster->losses.capacity < 100);
}

static void lose_two(struct test_cluster *t)
{
    produce_acks(t, "a", 1);
    if (t->status == HW_OK) {
        promote(t, 2);
    }
    if (t->status == HW_OK) {
        fetch(t, 1);
    }
    if (t->status == HW_OK) {
        produce_acks(t, "b", 1);
    }
    if (t->status == HW_OK) {
        promote(t, 1);
    }
}

/* Whatever allocation fails, the ledger has every loss or counts it as forgotten, once the election
 * itself has succeeded. */
TEST(without_memory_a_loss_is_counted, struct test_cluster *t)
{
    bool has_failed = true;

    for (int n = 0; has_failed; n++) {
        enum hw_status status;
        size_t ranges;

        test_cluster_renew(t, 3, NULL, NULL);
        t->heap.fail_at = t->heap.allocations + n;
        lose_two(t);
        status = t->status;
        has_failed = test_heap_has_failed(&t->heap);
        t->heap.fail_at = -1;
        if (status == HW_OK) {
            produce_acks(t, "c", 1); /* What could not be remembered is looked at again. */
            assert_int_equal(lost_records(t, &ranges) + t->cluster->losses.forgotten, 2);
        } else {
            assert_int_equal(status, HW_NO_MEMORY);
        }
    }
}

TEST_ALONE(causes_have_names)
{
    assert_string_equal(hw_loss_cause_name(HW_LOSS_ELECTION), "election");
    assert_string_equal(hw_loss_cause_name(HW_LOSS_UNCLEAN_ELECTION), "unclean election");
    assert_string_equal(hw_loss_cause_name(HW_LOSS_POWER_LOSS), "power loss");
    assert_string_equal(hw_loss_cause_name(HW_LOSS_DEPOSED_LEADER), "deposed leader");
}

int main(void)
{
    return test_run(test_cluster_setup, test_cluster_teardown);
}
