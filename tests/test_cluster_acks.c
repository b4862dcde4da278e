/* SPDX-License-Identifier: MIT */
/*
 * Does hw_acks keep every waiting request and the 10 000 that finished last, in order of id, at a
 * cost that does not grow with what it keeps?
 */
#include "core/base/random.h"
#include "core/cluster/acks.h"
#include "tests/support_heap.h"
#include "tests/support_test.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct test_heap heap;
    struct hw_acks acks;
    struct hw_error error;
};

static int setup(void **state)
{
    static struct fixture fixture;

    test_heap_init(&fixture.heap, -1);
    hw_acks_init(&fixture.acks, &fixture.heap.allocator);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_acks_release(&t->acks);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

static int64_t add_to(struct fixture *t, const char *topic)
{
    struct hw_ack ack = {.time_ms = 5,
                         .partition = 2,
                         .base_offset = HW_OFFSET_NONE,
                         .last_offset = HW_OFFSET_NONE,
                         .leader_epoch = 3,
                         .acks = -1,
                         .next_finished_id = 99};
    int64_t id;

    assert_int_equal(hw_acks_add(&t->acks, &ack, topic, &id, &t->error), HW_OK);
    return id;
}

static int64_t add(struct fixture *t)
{
    return add_to(t, "orders");
}

static void finish(struct fixture *t, int64_t id)
{
    hw_acks_resolve(&t->acks, id, HW_KAFKA_NONE, 9);
}

/* Rows that there are; the books on holes and ends are checked by the way. */
static size_t count_rows(const struct fixture *t)
{
    size_t count = 0;
    size_t holes = t->acks.head;
    int64_t id = 0;

    for (size_t i = t->acks.head; i < t->acks.count; i++) {
        holes += t->acks.rows[i].topic == NULL;
    }
    assert_int_equal(t->acks.dropped_count, holes);
    assert_true(t->acks.head == t->acks.count || t->acks.rows[t->acks.head].topic != NULL);

    for (const struct hw_ack *row; (row = hw_acks_after(&t->acks, id)) != NULL; id = row->id) {
        assert_true(row->id > id);
        assert_non_null(row->topic);
        count++;
    }
    return count;
}

/* The row with this id, or NULL. */
static const struct hw_ack *row_of(const struct fixture *t, int64_t id)
{
    const struct hw_ack *row = hw_acks_after(&t->acks, id - 1);

    return row != NULL && row->id == id ? row : NULL;
}

TEST(a_row_is_pending_until_it_is_resolved, struct fixture *t)
{
    const struct hw_ack *row;

    assert_int_equal(add(t), 1);
    row = row_of(t, 1);
    assert_non_null(row);
    assert_int_equal(row->time_ms, 5);
    assert_string_equal(row->topic, "orders");
    assert_int_equal(row->partition, 2);
    assert_int_equal(row->leader_epoch, 3);
    assert_int_equal(row->acks, -1);
    assert_true(row->is_pending);
    assert_int_equal(row->error, HW_KAFKA_NONE);
    assert_int_equal(row->resolved_ms, HW_TIME_NEVER);

    hw_acks_set_appended(&t->acks, 1, 40, 44, 3);
    hw_acks_resolve(&t->acks, 1, HW_KAFKA_REQUEST_TIMED_OUT, 30000);
    row = row_of(t, 1);
    assert_int_equal(row->base_offset, 40);
    assert_int_equal(row->last_offset, 44);
    assert_false(row->is_pending);
    assert_int_equal(row->error, HW_KAFKA_REQUEST_TIMED_OUT);
    assert_int_equal(row->resolved_ms, 30000);
}

TEST(the_first_answer_is_the_one_that_counts, struct fixture *t)
{
    (void)add(t);
    hw_acks_resolve(&t->acks, 1, HW_KAFKA_NONE, 7);
    hw_acks_resolve(&t->acks, 1, HW_KAFKA_REQUEST_TIMED_OUT, 8);
    assert_int_equal(row_of(t, 1)->error, HW_KAFKA_NONE);
    assert_int_equal(row_of(t, 1)->resolved_ms, 7);
    assert_int_equal(t->acks.finished_count, 1);
}

TEST(unknown_ids_are_ignored, struct fixture *t)
{
    static const int64_t ids[] = {INT64_MIN, -1, 0, 2, 100, INT64_MAX};

    for (int rows = 0; rows < 2; rows++) {
        for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
            finish(t, ids[i]);
            hw_acks_set_appended(&t->acks, ids[i], 1, 1, 0);
            hw_acks_remove(&t->acks, ids[i]);
        }
        assert_int_equal(count_rows(t), rows);
        if (rows == 0) {
            (void)add(t);
        }
    }
    assert_true(row_of(t, 1)->is_pending);
    assert_int_equal(row_of(t, 1)->base_offset, HW_OFFSET_NONE);
    assert_null(hw_acks_after(&t->acks, 1));
    assert_null(hw_acks_after(&t->acks, INT64_MAX));
    assert_int_equal(hw_acks_after(&t->acks, INT64_MIN)->id, 1);
}

TEST(a_row_that_was_taken_back_has_never_been, struct fixture *t)
{
    assert_int_equal(add(t), 1);
    assert_int_equal(add(t), 2);
    hw_acks_remove(&t->acks, 2);
    assert_int_equal(count_rows(t), 1);
    assert_int_equal(add(t), 2);
    assert_int_equal(count_rows(t), 2);

    /* Not the newest: its id is not given again. */
    hw_acks_remove(&t->acks, 1);
    assert_null(row_of(t, 1));
    assert_int_equal(count_rows(t), 1);
    assert_int_equal(add(t), 3);
    finish(t, 1);
    hw_acks_remove(&t->acks, 1);
    assert_int_equal(t->acks.finished_count, 0);
    assert_int_equal(count_rows(t), 2);
    hw_acks_remove(&t->acks, 2);
    hw_acks_remove(&t->acks, 3);
    assert_int_equal(count_rows(t), 0);
    assert_int_equal(add(t), 3);
}

TEST(a_finished_row_cannot_be_taken_back, struct fixture *t)
{
    finish(t, add(t));
    hw_acks_remove(&t->acks, 1);
    assert_int_equal(count_rows(t), 1);
    assert_int_equal(add(t), 2);
}

TEST(the_10000_that_finished_last_are_kept, struct fixture *t)
{
    for (int i = 0; i < 10000; i++) {
        finish(t, add(t));
    }
    assert_int_equal(count_rows(t), 10000);
    assert_non_null(row_of(t, 1));

    finish(t, add(t));
    assert_int_equal(count_rows(t), 10000);
    assert_null(row_of(t, 1));
    assert_non_null(row_of(t, 2));
    assert_non_null(row_of(t, 10001));
}

TEST(waiting_rows_are_never_dropped, struct fixture *t)
{
    for (int i = 0; i < 3; i++) {
        (void)add(t);
    }
    for (int i = 0; i < 60000; i++) {
        finish(t, add(t));
    }
    assert_int_equal(count_rows(t), 10003);
    for (int64_t id = 1; id <= 3; id++) {
        assert_true(row_of(t, id)->is_pending);
    }
    assert_null(row_of(t, 4));
    assert_null(row_of(t, 50003));
    assert_non_null(row_of(t, 50004));
}

/* Whoever waited long for an answer can still read it: it is the newest, whatever its id. */
TEST(the_answer_to_an_old_request_is_kept_like_a_new_one, struct fixture *t)
{
    int64_t old = add(t);

    for (int i = 0; i < 20000; i++) {
        finish(t, add(t));
    }
    finish(t, old);
    assert_int_equal(count_rows(t), 10000);
    assert_false(row_of(t, old)->is_pending);
    assert_null(row_of(t, 10002));

    for (int i = 0; i < 9999; i++) {
        finish(t, add(t));
    }
    assert_non_null(row_of(t, old));
    finish(t, add(t));
    assert_null(row_of(t, old));
}

TEST(memory_does_not_grow_with_the_requests_that_came_and_went, struct fixture *t)
{
    size_t after_first;

    (void)add(t);
    for (int i = 0; i < 40000; i++) {
        finish(t, add(t));
    }
    after_first = t->heap.bytes_in_use;
    for (int i = 0; i < 200000; i++) {
        finish(t, add(t));
    }
    assert_true(t->heap.bytes_in_use <= after_first);
}

/* So many requests come; each is answered and looked at. */
static void serve(struct fixture *t, int count)
{
    for (int i = 0; i < count; i++) {
        int64_t id = add(t);

        finish(t, id);
        assert_false(row_of(t, id)->is_pending);
    }
}

/* What waits in front is neither dropped for what comes and goes behind it, nor in its way. */
TEST(rows_that_wait_in_front_stay_until_they_finish, struct fixture *t)
{
    for (int i = 0; i < 100000; i++) {
        (void)add(t);
    }
    serve(t, 20000);
    assert_int_equal(count_rows(t), 110000);
    for (int64_t id = 100000; id >= 1; id--) {
        finish(t, id);
    }
    assert_int_equal(count_rows(t), 10000);
    assert_non_null(row_of(t, 10000));
    assert_null(row_of(t, 10001));
}

/* What the rows should be, by the simplest means: one byte an id, and the order of finishing. */
enum { MODEL_IDS_MAX = 60000 };
struct model {
    uint8_t is_pending[MODEL_IDS_MAX];
    uint8_t is_finished[MODEL_IDS_MAX];
    int64_t finished[MODEL_IDS_MAX];
    size_t finished_count;
};

/* Some rows after each other have the same, and names are of different lengths. */
static const char *model_topic(int64_t id)
{
    static const char *const topics[] = {"orders", "orders", "orders", "payments", "o"};

    return topics[id * id % 5];
}

static void model_finish(struct model *model, int64_t id)
{
    if (!model->is_pending[id]) {
        return;
    }
    model->is_pending[id] = 0;
    model->is_finished[id] = 1;
    model->finished[model->finished_count++] = id;
    if (model->finished_count > 10000) {
        model->is_finished[model->finished[model->finished_count - 10001]] = 0;
    }
}

static void expect_model(const struct fixture *t, const struct model *model)
{
    int64_t last = 0;

    for (int64_t id = 1; id < MODEL_IDS_MAX; id++) {
        const struct hw_ack *row;

        if (!model->is_pending[id] && !model->is_finished[id]) {
            continue;
        }
        row = hw_acks_after(&t->acks, last);
        assert_non_null(row);
        assert_int_equal(row->id, id);
        assert_int_equal(row->is_pending, model->is_pending[id]);
        assert_string_equal(row->topic, model_topic(id));
        last = id;
    }
    assert_null(hw_acks_after(&t->acks, last));
    (void)count_rows(t);
}

TEST(a_random_walk_agrees_with_the_simplest_model, struct fixture *t)
{
    struct model *model = calloc(1, sizeof *model);
    struct hw_random random;
    int steps = getenv("HW_TEST_QUICK") != NULL ? 30000 : 120000;
    int64_t newest = 0;

    assert_non_null(model);
    hw_random_init(&random, 11);
    for (int step = 0; step < steps && newest < MODEL_IDS_MAX - 1; step++) {
        uint64_t kind = hw_random_below(&random, 100);
        int64_t any = (int64_t)hw_random_below(&random, (uint64_t)newest + 2);

        if (kind < 45) {
            newest = add_to(t, model_topic(newest + 1));
            model->is_pending[newest] = 1;
        } else if (kind < 97) {
            int64_t id = kind < 75 ? newest : any;

            finish(t, id);
            model_finish(model, id);
        } else {
            hw_acks_remove(&t->acks, any);
            newest -= model->is_pending[any] && any == newest;
            model->is_pending[any] = 0;
        }
        if (step % 9973 == 0) {
            expect_model(t, model);
        }
    }
    expect_model(t, model);
    free(model);
}

/* Also one that was copied from memory that is gone. */
TEST(the_name_of_a_topic_is_copied, struct fixture *t)
{
    char topic[] = "orders";
    int64_t first = add_to(t, topic);
    int64_t second = add_to(t, topic);

    memset(topic, 'x', sizeof topic - 1);
    hw_acks_remove(&t->acks, first);
    assert_string_equal(row_of(t, second)->topic, "orders");
    assert_string_equal(row_of(t, add_to(t, topic))->topic, "xxxxxx");
    hw_acks_remove(&t->acks, second);
    assert_string_equal(row_of(t, add_to(t, "orders"))->topic, "orders");
}

TEST(a_lack_of_memory_changes_nothing, struct fixture *t)
{
    struct hw_ack ack = {.acks = 1};
    int64_t id = 77;
    int failures = 0;

    for (int i = 1; i <= 100; i++) {
        enum hw_status status;

        for (int fail_at = 0;; fail_at++) {
            t->heap.fail_at = t->heap.allocations + fail_at;
            status =
                hw_acks_add(&t->acks, &ack, i % 2 == 0 ? "orders" : "payments", &id, &t->error);
            t->heap.fail_at = -1;
            if (status == HW_OK) {
                break;
            }
            failures++;
            assert_int_equal(status, HW_NO_MEMORY);
            assert_int_equal(count_rows(t), i - 1);
        }
        assert_int_equal(id, i);
    }
    assert_true(failures > 100);
}

int main(void)
{
    return test_run(setup, teardown);
}
