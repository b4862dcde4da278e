/* SPDX-License-Identifier: MIT */
/* Is what a leader appended last there, as long as it is what the log ends with, and never later?
 */
#include "core/log/recent_appends.h"
#include "tests/support_heap.h"
#include "tests/support_log.h"

#include <string.h>

#include "tests/support_test.h"

static void expect_bytes(const struct hw_recent_appends *recent,
                         const struct hw_recent_append *append, uint8_t byte)
{
    const uint8_t *bytes = hw_recent_get(recent, append);

    assert_non_null(bytes);
    for (size_t i = 0; i < append->size; i++) {
        assert_int_equal(bytes[i], byte);
    }
}

TEST_ALONE(the_ring_keeps_the_last_ones)
{
    enum { SIZE = 1000, KEPT = HW_RECENT_BYTES / SIZE };
    static struct hw_recent_append kept[3 * KEPT];
    struct test_heap heap;
    struct hw_recent_appends recent;
    struct hw_error error;
    uint8_t bytes[SIZE];

    test_heap_init(&heap, -1);
    assert_int_equal(hw_recent_init(&recent, &heap.allocator, &error), HW_OK);
    for (size_t i = 0; i < 3 * KEPT; i++) {
        memset(bytes, (int)(i % 251), sizeof bytes);
        hw_recent_put(&recent, bytes, sizeof bytes, (hw_offset_t)i, &kept[i]);
        assert_int_equal(kept[i].first_offset, i);
        for (size_t j = i < 3 ? 0 : i - 3; j <= i; j++) {
            expect_bytes(&recent, &kept[j], (uint8_t)(j % 251));
        }
    }
    for (size_t i = 0; i < 3 * KEPT; i++) {
        if (i + KEPT > 3 * KEPT) {
            expect_bytes(&recent, &kept[i], (uint8_t)(i % 251));
        } else if (i + KEPT < 3 * KEPT) {
            assert_null(hw_recent_get(&recent, &kept[i]));
        }
    }
    hw_recent_release(&recent);
    assert_int_equal(heap.bytes_in_use, 0);
}

TEST_ALONE(what_is_not_kept_is_nowhere)
{
    struct test_heap heap;
    struct hw_recent_appends recent;
    struct hw_recent_append append = {.size = 7};
    struct hw_error error;
    uint8_t bytes[HW_RECENT_APPEND_MAX + 1] = {0};

    hw_recent_put(NULL, bytes, 1, 0, &append);
    assert_null(hw_recent_get(NULL, &append));
    test_heap_init(&heap, 0);
    assert_int_equal(hw_recent_init(&recent, &heap.allocator, &error), HW_NO_MEMORY);
    hw_recent_release(&recent);
    assert_int_equal(hw_recent_init(&recent, &heap.allocator, &error), HW_OK);
    hw_recent_put(&recent, bytes, HW_RECENT_APPEND_MAX, 0, &append);
    assert_non_null(hw_recent_get(&recent, &append));
    hw_recent_put(&recent, bytes, HW_RECENT_APPEND_MAX + 1, 0, &append);
    assert_null(hw_recent_get(&recent, &append));
    hw_recent_release(&recent);
}

static bool is_there(struct test_log *t, hw_offset_t offset, size_t max_bytes)
{
    size_t size;

    return hw_log_recent_append(t->log, offset, max_bytes, &size) != NULL;
}

TEST(a_log_has_its_last_append_of_a_leader, struct test_log *t)
{
    struct hw_recent_appends recent;
    struct hw_error error;
    size_t size;

    assert_int_equal(hw_recent_init(&recent, &hw_allocator_libc, &error), HW_OK);
    t->recent = &recent;
    open_log(t);
    assert_false(is_there(t, 0, SIZE_MAX));
    produce(t, 0, 3, 1);
    assert_non_null(hw_log_recent_append(t->log, 0, SIZE_MAX, &size));
    assert_int_equal(size, hw_log_size_bytes(t->log));
    assert_true(is_there(t, 0, size));
    assert_false(is_there(t, 0, size - 1));
    assert_false(is_there(t, 1, SIZE_MAX));
    produce(t, 0, 1, 1);
    assert_false(is_there(t, 0, SIZE_MAX));
    assert_true(is_there(t, 3, SIZE_MAX));
    /* Somebody else's batch takes the place of one that was cut off. */
    expect_ok(t, hw_log_truncate_to(t->log, 3, &error));
    assert_false(is_there(t, 3, SIZE_MAX));
    expect_ok(t, follow(t, 3, 1, 1, 1));
    assert_false(is_there(t, 3, SIZE_MAX));
    produce(t, 1, 1, 1);
    assert_true(is_there(t, 4, SIZE_MAX));
    expect_ok(t, follow(t, 5, 1, 1, 1));
    assert_false(is_there(t, 4, SIZE_MAX));
    produce(t, 1, 1, 1);
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 6, HW_OFFSET_NONE, &error));
    assert_false(is_there(t, 6, SIZE_MAX));
    produce(t, 1, 1, 1);
    assert_true(is_there(t, 6, SIZE_MAX));
    crash_and_reopen(t);
    assert_false(is_there(t, 6, SIZE_MAX));
    t->recent = NULL;
    hw_recent_release(&recent);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
