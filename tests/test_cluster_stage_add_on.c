/* SPDX-License-Identifier: MIT */
/*
 * Rows that a stage takes without a look at the cluster: which they are, that they are what any
 * other rows are, and what has to be looked at again. The random walk over them is in
 * test_cluster_stage_model.c.
 */
#include "core/stage/stage_internal.h"
#include "tests/support_stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* The stage has memory already: what a row needs besides is looked at. */
static int setup(void **state)
{
    struct test_stage *f;

    if (test_stage_setup(state) != 0) {
        return -1;
    }
    f = *state;
    for (int32_t p = 0; p < 4; p++) {
        ok(f, stage_add_big(f, "wide", p, 4096));
    }
    hw_stage_rollback(f->stage);
    return 0;
}

static bool add_on(struct test_stage *f, const char *topic, int64_t partition, const char *key,
                   const char *value)
{
    struct hw_produce produce = test_produce_of(topic, partition, key, value);

    return hw_stage_add_on(f->stage, &produce, &f->produced);
}

static bool add_on_at(struct test_stage *f, hw_time_ms_t timestamp)
{
    struct hw_produce produce = test_produce_of("orders", 0, NULL, "t");

    produce.record.timestamp = timestamp;
    return hw_stage_add_on(f->stage, &produce, &f->produced);
}

static void a_row_goes_behind_one_like_it(void **state)
{
    struct test_stage *f = *state;

    assert_false(add_on(f, "orders", 0, NULL, "a"));
    ok(f, stage_add(f, "a"));
    assert_true(add_on(f, "orders", 0, NULL, "b"));
    assert_int_equal(f->produced.partition, 0);
    assert_int_equal(f->produced.offset, 1);
    assert_int_equal(f->produced.ack_id, -1);
    assert_true(f->produced.answered);
    assert_true(add_on(f, "orders", -1, "key", "c"));
    assert_int_equal(f->produced.offset, 2);
    ok(f, stage_add(f, "d"));
    assert_int_equal(f->produced.offset, 3);
    expect_orders(f, "");
    stage_commit(f);
    expect_orders(f, "a@0 b@1 c@2 d@3");
    expect_acks(f, "-1:0-3:pending");
}

/* Whether the row comes with the clock, with a key or with neither: the same bytes. */
static void the_batch_is_the_one_that_other_rows_make(void **state)
{
    struct test_stage *f = *state;
    struct hw_row row;
    struct hw_reader *reader;
    struct hw_error error;
    hw_time_ms_t now_ms;
    bool found;
    size_t sizes[2];

    assert_ok(hw_cluster_tick(f->topics.cluster, 77, &now_ms, &error));
    for (int32_t p = 0; p < 2; p++) {
        ok(f, stage_add_to(f, "wide", p, NULL));
        for (int i = 0; i < 3; i++) {
            const char *key = i == 1 ? "key" : NULL;

            if (p == 0) {
                ok(f, stage_add_to(f, "wide", p, key));
            } else {
                assert_true(add_on(f, "wide", p, key, "v"));
            }
        }
    }
    stage_commit(f);
    for (int32_t p = 0; p < 2; p++) {
        struct hw_reader_options options = {
            .topic = "wide", .partition = p, .replica = -1, .mode = HW_READ_LOG, .end = INT64_MAX};
        int rows = 0;

        assert_int_equal(test_stage_count_batches(f, "wide", p, &sizes[p]), 1);
        assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
        while (assert_ok(hw_reader_next(reader, &row, &found, &error)), found) {
            assert_int_equal(row.record.timestamp, 77);
            assert_int_equal(row.record.key_size, rows++ == 2 ? 3 : -1);
        }
        assert_int_equal(rows, 4);
        hw_reader_close(reader);
    }
    assert_int_equal(sizes[0], sizes[1]);
}

static void rows_unlike_it_are_looked_at(void **state)
{
    struct test_stage *f = *state;
    struct hw_produce produce = test_produce_of("orders", 0, NULL, "v");

    ok(f, stage_add(f, "a"));
    assert_false(add_on(f, "wide", 0, NULL, "b"));
    assert_false(add_on(f, "order", 0, NULL, "b"));
    assert_false(add_on(f, "orders", 1, NULL, "b"));
    assert_false(add_on(f, "orders", -2, NULL, "b"));
    produce.acks = 1;
    assert_false(hw_stage_add_on(f->stage, &produce, &f->produced));
    produce = test_produce_of("orders", 0, NULL, "v");
    produce.leader_epoch = 0;
    assert_false(hw_stage_add_on(f->stage, &produce, &f->produced));
    produce = test_produce_of("orders", 0, NULL, "v");
    produce.has_broker = true;
    produce.broker = 1;
    assert_false(hw_stage_add_on(f->stage, &produce, &f->produced));
    stage_commit(f);
    expect_orders(f, "a@0");
}

/* A partition of the topic at a time. */
static void each_partition_is_looked_at_first(void **state)
{
    struct test_stage *f = *state;

    ok(f, stage_add_to(f, "wide", 2, NULL));
    assert_false(add_on(f, "wide", 3, NULL, "v"));
    ok(f, stage_add_to(f, "wide", 3, NULL));
    assert_true(add_on(f, "wide", 2, NULL, "v"));
    assert_true(add_on(f, "wide", 3, NULL, "v"));
    ok(f, stage_add_acks(f, "o", 1)); /* With acks of its own: nothing is known for others. */
    assert_false(add_on(f, "orders", 0, NULL, "v"));
    assert_true(add_on(f, "wide", 2, NULL, "v"));
    stage_commit(f);
    expect_log(f, "wide", 2, "v@0 v@1 v@2");
    expect_log(f, "wide", 3, "v@0 v@1");
}

static void what_was_found_can_be_forgotten(void **state)
{
    struct test_stage *f = *state;

    ok(f, stage_add_to(f, "wide", 0, NULL));
    ok(f, stage_add_to(f, "wide", 1, NULL));
    hw_stage_forget_found(f->stage);
    assert_false(add_on(f, "wide", 0, NULL, "v"));
    ok(f, stage_add_to(f, "wide", 0, NULL));
    assert_true(add_on(f, "wide", 0, NULL, "v"));
    assert_false(add_on(f, "wide", 1, NULL, "v"));
    ok(f, stage_add_to(f, "wide", 1, NULL));
    assert_true(add_on(f, "wide", 1, NULL, "v"));
    stage_commit(f);
    expect_log(f, "wide", 0, "v@0 v@1 v@2");
    expect_log(f, "wide", 1, "v@0 v@1 v@2");
}

/* Nothing is left of what was found of a partition that the stage does not hold any more. */
static void what_was_found_goes_with_the_rows(void **state)
{
    struct test_stage *f = *state;
    struct hw_error error;

    ok(f, stage_add(f, "a"));
    hw_stage_rollback(f->stage);
    assert_false(add_on(f, "orders", 0, NULL, "b"));
    assert_ok(hw_stage_mark(f->stage, 0, &error));
    ok(f, stage_add(f, "c"));
    hw_stage_rollback_to(f->stage, 0);
    assert_false(add_on(f, "orders", 0, NULL, "d"));
    ok(f, stage_add(f, "e"));
    stage_commit(f);
    assert_false(add_on(f, "orders", 0, NULL, "f"));
    ok(f, stage_add(f, "g"));
    ok(f, hw_stage_prepare(f->stage, &f->error));
    assert_false(add_on(f, "orders", 0, NULL, "h"));
    hw_stage_reopen(f->stage);
    assert_false(add_on(f, "orders", 0, NULL, "i"));
    assert_ok(hw_stage_delete_topic(f->stage, "orders", &error));
    assert_false(add_on(f, "orders", 0, NULL, "j"));
    hw_stage_rollback(f->stage);
    expect_orders(f, "e@0");
}

static void rows_are_checked_as_others_are(void **state)
{
    struct test_stage *f = *state;
    struct hw_error error;
    hw_time_ms_t now_ms;

    assert_ok(hw_cluster_tick(f->topics.cluster, 1000, &now_ms, &error));
    ok(f, stage_add(f, "a"));
    assert_true(add_on_at(f, -1));
    assert_true(add_on_at(f, 0));
    assert_true(add_on_at(f, INT64_MAX));
    assert_false(add_on_at(f, -2));
    hw_stage_rollback(f->stage);
    configure(f, "message.timestamp.before.max.ms", "100", "orders");
    configure(f, "message.timestamp.after.max.ms", "50", "orders");
    ok(f, stage_add(f, "a"));
    assert_false(add_on_at(f, 899));
    assert_true(add_on_at(f, 900));
    assert_true(add_on_at(f, 1050));
    assert_false(add_on_at(f, 1051));
    assert_true(add_on_at(f, -1));
    hw_stage_rollback(f->stage);
    configure(f, "message.timestamp.type", "LogAppendTime", "orders");
    ok(f, stage_add(f, "a"));
    assert_true(add_on_at(f, 1));
    assert_false(add_on_at(f, -2));
    hw_stage_rollback(f->stage);
    configure(f, "cleanup.policy", "compact", "orders");
    ok(f, stage_add_to(f, "orders", 0, "key"));
    assert_false(add_on(f, "orders", 0, NULL, "b"));
    assert_true(add_on(f, "orders", 0, "key", "b"));
    hw_stage_rollback(f->stage);
}

static void memory_is_what_it_may_be(void **state)
{
    struct test_stage *f = *state;

    configure(f, "batch.size", "100000", NULL);
    configure(f, "buffer.memory", "50000", NULL);
    for (int i = 0; i < 5000; i++) {
        if (!add_on(f, "orders", 0, NULL, "0123456789")) {
            ok(f, stage_add(f, "0123456789"));
        }
        assert_in_range(f->stage->pieces.memory, 1, 50000);
    }
    assert_non_null(f->stage->pieces.file);
    stage_commit(f);
    assert_int_equal(f->produced.offset, 4999);
}

/* Where a batch or a piece ends, the other way goes on. */
static void batches_end_where_they_do_otherwise(void **state)
{
    struct test_stage *f = *state;
    size_t largest;
    int refused = 0;

    configure(f, "batch.size", "1000", NULL);
    ok(f, stage_add(f, "v"));
    for (int i = 0; i < 20000; i++) {
        if (!add_on(f, "orders", 0, NULL, "0123456789")) {
            refused++;
            ok(f, stage_add(f, "0123456789"));
        }
        assert_int_equal(f->produced.offset, i + 1);
    }
    stage_commit(f);
    assert_in_range(refused, 350, 800);
    assert_in_range(test_stage_count_batches(f, "orders", 0, &largest), 350, 500);
    assert_in_range(largest, 900, 1000);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, test_stage_teardown)
    const struct CMUnitTest tests[] = {
        T(a_row_goes_behind_one_like_it),       T(the_batch_is_the_one_that_other_rows_make),
        T(rows_unlike_it_are_looked_at),        T(each_partition_is_looked_at_first),
        T(what_was_found_can_be_forgotten),     T(what_was_found_goes_with_the_rows),
        T(rows_are_checked_as_others_are),      T(memory_is_what_it_may_be),
        T(batches_end_where_they_do_otherwise),
    };
#undef T

    return cmocka_run_group_tests_name("cluster_stage_add_on", tests, NULL, NULL);
}
