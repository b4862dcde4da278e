/* SPDX-License-Identifier: MIT */
/*
 * What is a produce with acks=all answered, and when? Follows DelayedProduce.tryComplete and
 * Partition.checkEnoughReplicasReachOffset.
 */
#include "core/base/random.h"
#include "tests/support_replica.h"

#include "tests/support_test.h"

/* The next produce that was answered is `id`, with this error. */
static void expect_resolved(struct test_replicas *t, int64_t id, enum hw_kafka_error error)
{
    int64_t found;
    enum hw_kafka_error answer;

    assert_true(hw_waiting_take_resolved(replica_of(t, 1), &found, &answer));
    assert_int_equal(found, id);
    assert_string_equal(hw_kafka_error_name(answer), hw_kafka_error_name(error));
}

static void expect_none_resolved(struct test_replicas *t)
{
    int64_t found;
    enum hw_kafka_error answer;

    hw_waiting_check(replica_of(t, 1), t->now_ms);
    assert_false(hw_waiting_take_resolved(replica_of(t, 1), &found, &answer));
}

static void check(struct test_replicas *t)
{
    hw_waiting_check(replica_of(t, 1), t->now_ms);
}

/* Semantics: R1.33, R1.35: the offset behind the last record */
TEST(a_produce_is_done_when_all_its_records_are_committed, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 3, -1);
    append_acks(t, 1, -1);
    fetch_by(t, 2, 2);
    expect_none_resolved(t);
    fetch_by(t, 2, 3);
    check(t);
    expect_resolved(t, 0, HW_KAFKA_NONE);
    expect_none_resolved(t);
    fetch_by(t, 2, 4);
    check(t);
    expect_resolved(t, 3, HW_KAFKA_NONE);
}

/* Semantics: R1.28, R1.33, R1.40: with nobody to wait for */
TEST(a_leader_alone_commits_at_once, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1]");
    append_acks(t, 1, -1);
    expect_resolved(t, 0, HW_KAFKA_NONE);
}

/* Semantics: R1.36, R3.7 */
TEST(a_member_that_leaves_is_not_waited_for, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2,3]", "[1,2,3]");
    append_acks(t, 1, -1);
    fetch_by(t, 2, 1);
    fetch_by(t, 3, 0);
    expect_none_resolved(t);
    t->now_ms = t->settings.replica_lag_time_max_ms - 1;
    lead(t, 1, 0, "[1,2,3]", "[1,2]");
    expect_none_resolved(t); /* It may be only late, and come back at once (R3.5). */
    hw_controller_registration(&t->controller, 3)->fenced = true;
    lead(t, 1, 0, "[1,2,3]", "[1,2]");
    check(t);
    expect_resolved(t, 0, HW_KAFKA_NONE);
}

/* Semantics: R1.36 */
TEST(a_member_that_joins_is_waited_for, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2,3]", "[1,2]");
    append(t, 1);
    fetch_by(t, 3, 1);
    expect_isr(t, "[1,2]", "[1,2,3]");
    append_acks(t, 1, -1);
    fetch_by(t, 2, 2);
    expect_none_resolved(t);
    fetch_by(t, 3, 2);
    check(t);
    expect_resolved(t, 1, HW_KAFKA_NONE);
}

/* Semantics: R1.35, R4.15 */
TEST(committed_with_too_small_an_isr_is_another_answer, struct test_replicas *t)
{
    t->settings.min_insync_replicas = 2;
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 1, -1);
    fetch_by(t, 2, 1);
    expect_log(t, 1, 0, 1, 1);
    lead(t, 1, 0, "[1,2]", "[1]"); /* Before anybody looked at those who wait. */
    check(t);
    expect_resolved(t, 0, HW_KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND);
}

/* Semantics: R1.35 */
TEST(a_member_that_is_about_to_join_makes_enough, struct test_replicas *t)
{
    t->settings.min_insync_replicas = 2;
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 1, -1);
    fetch_by(t, 2, 1);
    t->partition.record.isr = test_list("[1]");
    t->partition.record.partition_epoch++;
    assert_int_equal(hw_replica_become_leader(replica_of(t, 1), t->now_ms, &t->partition.record,
                                              &t->changed, &t->error),
                     HW_OK);
    fetch_by(t, 2, 1);
    expect_isr(t, "[1]", "[1,2]");
    check(t);
    expect_resolved(t, 0, HW_KAFKA_NONE);
}

/* Semantics: R1.37, R3.3 */
TEST(below_the_minimum_a_produce_runs_into_its_timeout, struct test_replicas *t)
{
    t->settings.min_insync_replicas = 2;
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 1, -1);
    t->now_ms = 1000;
    lead(t, 1, 0, "[1,2]", "[1]");
    expect_none_resolved(t);
    t->now_ms = 29999;
    expect_none_resolved(t);
    t->now_ms = 30000;
    check(t);
    expect_resolved(t, 0, HW_KAFKA_REQUEST_TIMED_OUT);
    expect_log(t, 1, 0, 0, 1);
}

/* Semantics: R1.38 */
TEST(what_timed_out_may_be_committed_later, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 1, -1);
    assert_int_equal(hw_waiting_next_deadline(replica_of(t, 1)), 30000);
    t->now_ms = 30000;
    append_acks(t, 1, -1);
    expect_resolved(t, 0, HW_KAFKA_REQUEST_TIMED_OUT);
    assert_int_equal(hw_waiting_next_deadline(replica_of(t, 1)), 60000);
    fetch_by(t, 2, 2);
    check(t);
    expect_resolved(t, 1, HW_KAFKA_NONE);
    expect_log(t, 1, 0, 2, 2);
    assert_int_equal(hw_waiting_next_deadline(replica_of(t, 1)), INT64_MAX);
}

/* Semantics: R1.39 */
TEST(a_new_epoch_of_the_same_leader_fails_nobody, struct test_replicas *t)
{
    lead(t, 1, 0, "[1,2]", "[1,2]");
    append_acks(t, 1, -1);
    lead(t, 1, 1, "[1,2]", "[1,2]");
    expect_none_resolved(t);
    fetch_by(t, 2, 1);
    check(t);
    expect_resolved(t, 0, HW_KAFKA_NONE);
}

/* ------------------------------------------------------------------------------- against a list */

enum { LIST_MAX = 4000 };

struct listed {
    hw_offset_t required;
    hw_time_ms_t deadline;
    bool is_taken;
};

struct list {
    struct listed entries[LIST_MAX];
    int64_t count;
};

/* All that is answered, against the list; ids are indexes. */
static void take_all(struct test_replicas *t, struct list *list)
{
    hw_offset_t high_watermark = hw_log_high_watermark(log_of(t, 1));
    int64_t id;
    enum hw_kafka_error answer;

    check(t);
    while (hw_waiting_take_resolved(replica_of(t, 1), &id, &answer)) {
        struct listed *entry = &list->entries[id];

        assert_false(entry->is_taken);
        assert_int_equal(answer, entry->required <= high_watermark ? HW_KAFKA_NONE
                                                                   : HW_KAFKA_REQUEST_TIMED_OUT);
        entry->is_taken = true;
    }
    for (int64_t i = 0; i < list->count; i++) {
        const struct listed *entry = &list->entries[i];

        assert_int_equal(entry->is_taken, entry->required <= high_watermark ||
                                              entry->deadline <= t->now_ms || entry->is_taken);
    }
}

/* Produces of any timeout, commits and time, beside a plain list. Semantics: R1.35, R1.38 */
TEST(those_who_wait_are_answered_like_a_plain_list, struct test_replicas *t)
{
    struct list *list = test_calloc(1, sizeof *list);
    struct hw_random random;

    hw_random_init(&random, 7);
    lead(t, 1, 0, "[1,2]", "[1,2]");
    while (list->count < LIST_MAX) {
        hw_offset_t high_watermark = hw_log_high_watermark(log_of(t, 1));
        hw_offset_t log_end = hw_log_end(log_of(t, 1));

        switch (hw_random_below(&random, 8)) {
        case 0:
            t->now_ms += (int64_t)hw_random_below(&random, 20);
            break;
        case 1:
            fetch_by(t, 2,
                     high_watermark + (int64_t)hw_random_below(
                                          &random, (uint64_t)(log_end - high_watermark) + 1));
            break;
        default:
            append(t, 1);
            assert_int_equal(hw_waiting_reserve(replica_of(t, 1), 1, &t->error), HW_OK);
            list->entries[list->count] =
                (struct listed){.required = log_end + 1,
                                .deadline = t->now_ms + (int64_t)hw_random_below(&random, 90)};
            hw_waiting_add(replica_of(t, 1), list->count, log_end + 1,
                           list->entries[list->count].deadline);
            list->count++;
        }
        take_all(t, list);
    }
    test_free(list);
}

int main(void)
{
    return test_run(test_replicas_setup, test_replicas_teardown);
}
