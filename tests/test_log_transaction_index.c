/* SPDX-License-Identifier: MIT */
/* Does the index of aborted transactions answer, keep and write what Kafka's does? */
#include "core/io/memory_store.h"
#include "core/log/transaction_index.h"
#include "tests/support_batch.h"
#include "tests/support_heap.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <string.h>

struct fixture {
    struct test_heap heap;
    struct hw_store *store;
    struct hw_transaction_index index;
    struct hw_error error;
};

static int setup(void **state)
{
    static struct fixture fixture;

    test_heap_init(&fixture.heap, -1);
    assert_int_equal(
        hw_memory_store_create(&fixture.heap.allocator, &fixture.store, &fixture.error), HW_OK);
    hw_transaction_index_init(&fixture.index, &fixture.heap.allocator);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_transaction_index_release(&t->index);
    hw_store_destroy(t->store);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

static bool add(struct fixture *t, int64_t producer_id, hw_offset_t first, hw_offset_t last,
                hw_offset_t stable)
{
    struct hw_aborted_transaction entry = {.producer_id = producer_id,
                                           .first_offset = first,
                                           .last_offset = last,
                                           .last_stable_offset = stable};

    assert_int_equal(hw_transaction_index_reserve(&t->index, 1, &t->error), HW_OK);
    return hw_transaction_index_add(&t->index, &entry);
}

/* "1 2 complete" */
static void expect_collected(struct fixture *t, hw_offset_t from, hw_offset_t end,
                             const char *expected)
{
    struct hw_buffer out;
    bool complete;
    char text[100] = "";

    hw_buffer_init(&out, &t->heap.allocator);
    assert_int_equal(hw_transaction_index_collect(&t->index, from, end, &out, &complete, &t->error),
                     HW_OK);
    for (size_t at = 0; at < out.size; at += sizeof(struct hw_aborted_transaction)) {
        struct hw_aborted_transaction entry;

        memcpy(&entry, out.bytes + at, sizeof entry);
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%lld ",
                       (long long)entry.producer_id);
    }
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s",
                   complete ? "complete" : "incomplete");
    hw_buffer_release(&out);
    assert_string_equal(text, expected);
}

/* Row: C155. Semantics: R9.17 */
TEST(a_reader_gets_what_overlaps_up_to_where_nothing_later_matters, struct fixture *t)
{
    assert_true(add(t, 1, 0, 10, 11));
    assert_true(add(t, 2, 5, 15, 13));
    assert_true(add(t, 3, 18, 35, 25));
    assert_true(add(t, 4, 32, 50, 40));
    expect_collected(t, 0, 100, "1 2 3 4 incomplete");
    expect_collected(t, 0, 32, "1 2 3 complete");
    expect_collected(t, 0, 25, "1 2 3 complete");
    expect_collected(t, 10, 35, "1 2 3 4 complete");
    expect_collected(t, 16, 18, "complete");
    expect_collected(t, 51, 60, "incomplete");
}

/* Row: C200. Semantics: R9.16 */
TEST(the_last_offsets_increase, struct fixture *t)
{
    assert_true(add(t, 1, 5, 15, 16));
    assert_false(add(t, 1, 10, 15, 11));
    assert_false(add(t, 1, 1, 10, 11));
    assert_int_equal(t->index.count, 1);
}

/* Semantics: R5.8 */
TEST(what_is_cut_off_either_end_is_forgotten, struct fixture *t)
{
    assert_true(add(t, 1, 0, 10, 11));
    assert_true(add(t, 2, 5, 15, 13));
    assert_true(add(t, 3, 18, 35, 25));
    t->index.written_end = 36;
    hw_transaction_index_cut_from(&t->index, 35);
    expect_collected(t, 0, 100, "1 2 incomplete");
    assert_int_equal(t->index.written_end, 35);
    hw_transaction_index_cut_below(&t->index, 11);
    expect_collected(t, 0, 100, "2 incomplete");
}

TEST(a_segments_file_has_its_own_markers_in_kafkas_bytes, struct fixture *t)
{
    struct hw_buffer expected;
    struct hw_buffer found;
    struct hw_transaction_index again;
    bool is_good;

    assert_true(add(t, 1, 0, 99, 100));
    assert_true(add(t, 4000, 100, 102, 103));
    assert_true(add(t, 7, 110, 200, 201));
    assert_int_equal(
        hw_transaction_index_write(&t->index, t->store, "100.txnindex", 100, 200, false, &t->error),
        HW_OK);
    hw_buffer_init(&expected, &t->heap.allocator);
    hw_buffer_init(&found, &t->heap.allocator);
    test_read_vector(&expected, "G.txnindex");
    assert_int_equal(hw_transaction_index_read(t->store, "100.txnindex", &found, &t->error), HW_OK);
    assert_int_equal(found.size, expected.size);
    assert_memory_equal(found.bytes, expected.bytes, found.size);

    hw_transaction_index_init(&again, &t->heap.allocator);
    assert_int_equal(
        hw_transaction_index_load(&again, t->store, "100.txnindex", 100, 200, &is_good, &t->error),
        HW_OK);
    assert_true(is_good);
    assert_int_equal(again.count, 1);
    assert_int_equal(again.entries[0].last_offset, 102);
    assert_int_equal(
        hw_transaction_index_load(&again, t->store, "100.txnindex", 103, 200, &is_good, &t->error),
        HW_OK);
    assert_false(is_good);
    assert_int_equal(again.count, 1);

    /* A segment without any has no file. */
    hw_transaction_index_cut_from(&t->index, 100);
    assert_int_equal(
        hw_transaction_index_write(&t->index, t->store, "100.txnindex", 100, 200, false, &t->error),
        HW_OK);
    found.size = 0;
    assert_int_equal(hw_transaction_index_read(t->store, "100.txnindex", &found, &t->error), HW_OK);
    assert_int_equal(found.size, 0);
    hw_transaction_index_release(&again);
    hw_buffer_release(&expected);
    hw_buffer_release(&found);
}

int main(void)
{
    return test_run(setup, teardown);
}
