/* SPDX-License-Identifier: MIT */
/* What is left of a transaction when one allocation, or one call of the store, fails. */
#include "core/stage/stage.h"
#include "tests/support_topics.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

/* Six rows on two partitions and one on a third, some of them large. */
static enum hw_status add_rows(struct hw_stage *stage, const uint8_t *value, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (int i = 0; status == HW_OK && i < 7; i++) {
        struct hw_produce produce = {.topic = "alpha",
                                     .partition = i < 6 ? i % 2 : 2,
                                     .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                                .key_size = -1,
                                                .value = value,
                                                .value_size = i < 4 ? 500 : 5},
                                     .acks = i < 5 ? HW_ACKS_ALL : 1,
                                     .leader_epoch = -1};
        struct hw_produced produced;

        status = hw_stage_add(stage, &produce, &produced, error);
    }
    return status;
}

struct sweep {
    struct test_topics topics;
    struct hw_stage *stage;
    uint8_t value[500];
};

/* With LogAppendTime a leader changes more of the batches that it is given. */
static void sweep_begin(struct sweep *s, bool log_append_time)
{
    static const char *const configs[] = {"message.timestamp.type", "LogAppendTime", NULL};
    struct hw_error error;

    memset(s, 0, sizeof *s);
    test_topics_open(&s->topics, 2);
    (void)test_topics_create(&s->topics, "alpha", 3, 2, log_append_time ? configs : NULL);
    assert_ok(hw_cluster_configure(s->topics.cluster, "batch.size", "600", NULL, NULL, &error));
    assert_ok(hw_stage_create(s->topics.cluster, &s->stage, &error));
}

static void sweep_end(struct sweep *s)
{
    hw_stage_destroy(s->stage);
    test_topics_close(&s->topics);
}

static void expect_ends(struct sweep *s, hw_offset_t zero, hw_offset_t one, hw_offset_t two)
{
    assert_int_equal(hw_log_end(test_topics_log(&s->topics, "alpha", 0)), zero);
    assert_int_equal(hw_log_end(test_topics_log(&s->topics, "alpha", 1)), one);
    assert_int_equal(hw_log_end(test_topics_log(&s->topics, "alpha", 2)), two);
    for (int32_t p = 0; p < 3; p++) {
        /* The leader's epoch is noted at the start of its log in any case. */
        const struct hw_epoch_cache *epochs =
            hw_log_epochs(test_topics_log(&s->topics, "alpha", p));

        assert_int_equal(epochs->count, 1);
        assert_int_equal(epochs->entries[0].start_offset, 0);
    }
    hw_cluster_check(s->topics.cluster);
}

static int count_acks(struct sweep *s)
{
    struct hw_position position = {0};
    const struct hw_ack *ack;
    int count = 0;

    while ((ack = hw_cluster_next_ack(s->topics.cluster, &position)) != NULL) {
        count++;
    }
    return count;
}

/* After a failed preparation nothing has changed, and the next one does it all. */
static void expect_unprepared_then_commit(struct sweep *s)
{
    struct hw_error error;

    expect_ends(s, 0, 0, 0);
    assert_int_equal(count_acks(s), 0);
    assert_ok(hw_stage_prepare(s->stage, &error));
    hw_stage_commit(s->stage);
    expect_ends(s, 3, 3, 1);
    assert_int_equal(count_acks(s), 4);
}

static void sweep_failing_writes(bool log_append_time)
{
    bool has_failed = true;
    int failures = 0;

    for (int fail_at = 0; has_failed; fail_at++) {
        struct sweep s;
        struct hw_error error;
        enum hw_status status;

        sweep_begin(&s, log_append_time);
        assert_ok(add_rows(s.stage, s.value, &error));
        s.topics.faults = (struct hw_faults){.fail_at = fail_at, .torn_bytes = 30};
        status = hw_stage_prepare(s.stage, &error);
        has_failed = status != HW_OK;
        s.topics.faults.fail_at = -1;
        if (has_failed) {
            assert_int_equal(status, HW_IO);
            failures++;
            expect_unprepared_then_commit(&s);
        }
        sweep_end(&s);
    }
    assert_true(failures >= 4); /* At least one write for each partition and acks. */
}

TEST_ALONE(a_preparation_that_cannot_write_changes_nothing)
{
    sweep_failing_writes(false);
    sweep_failing_writes(true);
}

TEST_ALONE(a_preparation_without_memory_changes_nothing)
{
    bool is_reached = true;
    int failures = 0;

    for (int fail_at = 0; is_reached; fail_at++) {
        struct sweep s;
        struct hw_error error;
        enum hw_status status;

        sweep_begin(&s, false);
        assert_ok(add_rows(s.stage, s.value, &error));
        s.topics.heap.fail_at = s.topics.heap.allocations + fail_at;
        status = hw_stage_prepare(s.stage, &error);
        is_reached = test_heap_has_failed(&s.topics.heap);
        s.topics.heap.fail_at = -1;
        if (status != HW_OK) { /* The journal does without. */
            assert_int_equal(status, HW_NO_MEMORY);
            failures++;
            expect_unprepared_then_commit(&s);
        }
        sweep_end(&s);
    }
    assert_true(failures >= 8);
}

/* Nothing that a commit or rollback does after its preparation needs memory or the store. */
TEST_ALONE(a_commit_and_a_rollback_cannot_fail)
{
    for (int i = 0; i < 2; i++) {
        struct sweep s;
        struct hw_error error;

        sweep_begin(&s, false);
        assert_ok(add_rows(s.stage, s.value, &error));
        assert_ok(hw_stage_prepare(s.stage, &error));
        if (i == 0) {
            s.topics.heap.fail_at = s.topics.heap.allocations;
            s.topics.faults = (struct hw_faults){.fail_at = 0, .fail_on = true};
            hw_stage_commit(s.stage);
        } else {
            s.topics.heap.fail_at = s.topics.heap.allocations;
            hw_stage_rollback(s.stage);
        }
        s.topics.heap.fail_at = -1;
        s.topics.faults = (struct hw_faults){.fail_at = -1};
        expect_ends(&s, i == 0 ? 3 : 0, i == 0 ? 3 : 0, i == 0 ? 1 : 0);
        assert_int_equal(count_acks(&s), i == 0 ? 4 : 0);
        sweep_end(&s);
    }
}

/* All of a transaction but its end, which the sweeps above look at. */
static enum hw_status run_story(struct test_topics *t, const uint8_t *value)
{
    struct hw_topic_spec spec = {.name = "new", .partitions = 20, .replication_factor = 1};
    struct hw_stage *stage = NULL;
    struct hw_error error;
    enum hw_status status = hw_stage_create(t->cluster, &stage, &error);

    if (status == HW_OK) {
        status = hw_stage_savepoint(stage, 0, &error);
    }
    if (status == HW_OK) {
        status = add_rows(stage, value, &error);
    }
    if (status == HW_OK) {
        status = hw_stage_create_topic(stage, &spec, &error);
    }
    for (int i = 0; status == HW_OK && i < 64; i++) {
        struct hw_produce produce = {.topic = "new",
                                     .partition = i % 20,
                                     .record = {.timestamp = HW_TIMESTAMP_CLOCK,
                                                .key_size = -1,
                                                .value = value,
                                                .value_size = 100000},
                                     .acks = 1,
                                     .leader_epoch = -1};
        struct hw_produced produced;

        status = hw_stage_savepoint(stage, 1 + i % 5, &error);
        if (status == HW_OK) {
            status = hw_stage_add(stage, &produce, &produced, &error);
        }
    }
    if (status == HW_OK) {
        status = hw_stage_delete_topic(stage, "alpha", &error);
    }
    if (status == HW_OK) {
        status = hw_stage_prepare(stage, &error);
    }
    hw_stage_destroy(stage);
    return status;
}

TEST_ALONE(every_allocation_and_every_call_of_the_store_can_fail)
{
    uint8_t *value = calloc(1, 100000);

    assert_non_null(value);
    for (int kind = 0; kind < 2; kind++) {
        enum hw_status status = HW_MISUSE;

        for (int fail_at = 0; status != HW_OK; fail_at++) {
            struct test_topics t;
            int32_t partitions;

            test_topics_open(&t, 1);
            (void)test_topics_create(&t, "alpha", 3, 1, NULL);
            if (kind == 0) {
                t.heap.fail_at = t.heap.allocations + fail_at;
            } else {
                t.faults = (struct hw_faults){.fail_at = fail_at, .torn_bytes = 10};
            }
            status = run_story(&t, value);
            assert_true(status == HW_OK || status == (kind == 0 ? HW_NO_MEMORY : HW_IO));
            t.heap.fail_at = -1;
            t.faults.fail_at = -1;
            assert_true(hw_cluster_find_topic(t.cluster, "alpha", &partitions));
            assert_false(hw_cluster_find_topic(t.cluster, "new", &partitions));
            assert_int_equal(hw_log_end(test_topics_log(&t, "alpha", 0)), 0);
            hw_cluster_check(t.cluster);
            test_topics_close(&t);
        }
    }
    free(value);
}

/* The process ends at the n-th change of the store that a preparation makes, in the midst of a
 * write or before it: what is there afterwards? */
static bool sweep_end_of_process(int fail_at, size_t torn_bytes, bool *is_there)
{
    struct hw_cluster_options options = {.directory = "cluster"};
    struct sweep s;
    struct hw_error error;
    enum hw_status status;
    hw_offset_t end;

    sweep_begin(&s, false);
    assert_ok(add_rows(s.stage, s.value, &error));
    s.topics.faults = (struct hw_faults){
        .fail_at = fail_at, .fail_on = true, .only_changes = true, .torn_bytes = torn_bytes};
    status = hw_stage_prepare(s.stage, &error);
    hw_stage_destroy(s.stage);
    s.stage = NULL;
    hw_cluster_abandon(s.topics.cluster);
    s.topics.faults = (struct hw_faults){.fail_at = -1};
    options.allocator = &s.topics.heap.allocator;
    options.store = s.topics.store;
    assert_ok(hw_cluster_open(&options, &s.topics.cluster, &error));
    end = hw_log_end(test_topics_log(&s.topics, "alpha", 0));
    assert_true(end == 0 || end == 3);
    expect_ends(&s, end, end, end / 3);

    /* The next transaction there is whole, and so is what is appended without one. */
    assert_ok(hw_stage_create(s.topics.cluster, &s.stage, &error));
    assert_ok(add_rows(s.stage, s.value, &error));
    assert_ok(hw_stage_prepare(s.stage, &error));
    hw_stage_commit(s.stage);
    hw_stage_destroy(s.stage);
    s.stage = NULL;
    hw_cluster_abandon(s.topics.cluster);
    assert_ok(hw_cluster_open(&options, &s.topics.cluster, &error));
    expect_ends(&s, end + 3, end + 3, end / 3 + 1);
    sweep_end(&s);
    *is_there = end == 3;
    return status != HW_OK;
}

/* Case: F-61 */
TEST_ALONE(a_process_that_ends_within_commit_leaves_all_or_nothing)
{
    static const size_t torn_bytes[] = {0, 30, 700};
    bool is_there;

    for (size_t i = 0; i < sizeof torn_bytes / sizeof torn_bytes[0]; i++) {
        int fail_at = 0;

        while (sweep_end_of_process(fail_at, torn_bytes[i], &is_there)) {
            assert_false(is_there);
            fail_at++;
        }
        assert_true(is_there);
        assert_true(fail_at >= 5); /* The note, three logs, the note's end. */
    }
}

/* Case: F-61. A note that cannot be taken back takes nothing with it that comes after it. */
TEST_ALONE(a_note_that_stays_is_taken_back_before_the_next_append)
{
    struct hw_cluster_options options = {.directory = "cluster"};
    struct hw_produce produce = {.topic = "alpha",
                                 .partition = 0,
                                 .record = {.key_size = -1, .value_size = -1},
                                 .acks = 1,
                                 .leader_epoch = -1};
    struct hw_produced produced;
    struct hw_error error;
    int failures = 0;
    enum hw_status status = HW_IO;

    for (int fail_at = 0; status != HW_OK; fail_at++) {
        struct sweep s;

        sweep_begin(&s, false);
        assert_ok(add_rows(s.stage, s.value, &error));
        /* Two in a row: the note's end, and the attempt to end it once more. */
        s.topics.faults = (struct hw_faults){.fail_at = fail_at, .fail_on = true};
        status = hw_stage_prepare(s.stage, &error);
        s.topics.faults = (struct hw_faults){.fail_at = -1};
        failures += status != HW_OK;
        hw_stage_destroy(s.stage);
        s.stage = NULL;
        (void)hw_cluster_produce(s.topics.cluster, &produce, &produced, &error);
        hw_cluster_abandon(s.topics.cluster);
        options.allocator = &s.topics.heap.allocator;
        options.store = s.topics.store;
        assert_ok(hw_cluster_open(&options, &s.topics.cluster, &error));
        assert_int_equal(hw_log_end(test_topics_log(&s.topics, "alpha", 0)), produced.offset + 1);
        sweep_end(&s);
    }
    assert_true(failures >= 5);
}

int main(void)
{
    return test_run(NULL, NULL);
}
