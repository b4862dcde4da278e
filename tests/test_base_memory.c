/* SPDX-License-Identifier: MIT */
/* Do arrays and buffers keep what they hold, grow in time, and survive having no memory? */
#include "core/base/buffer.h"
#include "core/base/bytes.h"
#include "tests/support_heap.h"

#include <string.h>

#include "tests/support_test.h"

TEST_ALONE(the_libc_allocator_resizes_and_frees)
{
    const struct hw_allocator *libc = &hw_allocator_libc;
    uint8_t *block = hw_alloc_zeroed(libc, 100);

    assert_non_null(block);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(block[i], 0);
    }
    block[99] = 7;
    block = libc->resize(libc->context, block, 100, 100000);
    assert_non_null(block);
    assert_int_equal(block[99], 7);
    assert_null(libc->resize(libc->context, block, 100000, 0));
    hw_free(libc, NULL, 0);
}

TEST_ALONE(text_is_copied_and_given_back)
{
    struct test_heap heap;
    char *copy;

    test_heap_init(&heap, 1);
    copy = hw_text_copy(&heap.allocator, "");
    assert_string_equal(copy, "");
    hw_text_free(&heap.allocator, copy);
    assert_null(hw_text_copy(&heap.allocator, "no memory for this"));
    copy = hw_text_copy(&heap.allocator, "text");
    assert_string_equal(copy, "text");
    assert_int_equal(heap.bytes_in_use, 5);
    hw_text_free(&heap.allocator, copy);
    hw_text_free(&heap.allocator, NULL);
    assert_int_equal(heap.bytes_in_use, 0);
}

TEST_ALONE(adding_one_at_a_time_seldom_allocates)
{
    struct test_heap heap;
    struct hw_error error;
    void *items = NULL;
    size_t capacity = 0;

    test_heap_init(&heap, -1);
    for (size_t count = 0; count < 100000; count++) {
        assert_int_equal(hw_array_reserve(&heap.allocator, &items, &capacity, count + 1,
                                          sizeof(uint32_t), &error),
                         HW_OK);
        assert_true(capacity > count);
        ((uint32_t *)items)[count] = (uint32_t)count;
    }
    for (size_t i = 0; i < 100000; i++) {
        assert_int_equal(((uint32_t *)items)[i], i);
    }
    assert_in_range(heap.allocations, 1, 30);
    assert_in_range(capacity, 100000, 150000);
    assert_int_equal(heap.bytes_in_use, capacity * sizeof(uint32_t));
    hw_free(&heap.allocator, items, capacity * sizeof(uint32_t));
}

TEST_ALONE(an_array_that_cannot_grow_is_as_before)
{
    static const size_t element_sizes[] = {1, 8, 1000};
    struct test_heap heap;
    struct hw_error error;
    void *items = NULL;
    size_t capacity = 0;

    test_heap_init(&heap, 1);
    assert_int_equal(hw_array_reserve(&heap.allocator, &items, &capacity, 4, 4, &error), HW_OK);
    memcpy(items, "four elements ok", 16);
    assert_int_equal(hw_array_reserve(&heap.allocator, &items, &capacity, 5, 4, &error),
                     HW_NO_MEMORY);
    assert_int_equal(error.status, HW_NO_MEMORY);
    assert_int_equal(capacity, 4);
    assert_memory_equal(items, "four elements ok", 16);
    assert_int_equal(hw_array_reserve(&heap.allocator, &items, &capacity, 4, 4, &error), HW_OK);

    /* A size in bytes that does not fit size_t is not even asked for. */
    for (size_t i = 0; i < 3; i++) {
        void *none = NULL;
        size_t zero = 0;
        size_t needed = SIZE_MAX / element_sizes[i];

        assert_int_equal(
            hw_array_reserve(&heap.allocator, &none, &zero, needed, element_sizes[i], &error),
            HW_NO_MEMORY);
        assert_int_equal(
            hw_array_reserve(&heap.allocator, &none, &zero, SIZE_MAX, element_sizes[i], &error),
            HW_NO_MEMORY);
        assert_null(none);
        assert_int_equal(zero, 0);
    }
    assert_int_equal(heap.allocations, 2);
    hw_free(&heap.allocator, items, capacity * 4);
    assert_int_equal(heap.bytes_in_use, 0);
}

TEST_ALONE(a_buffer_holds_what_is_appended)
{
    struct test_heap heap;
    struct hw_error error;
    struct hw_buffer buffer;

    test_heap_init(&heap, -1);
    hw_buffer_init(&buffer, &heap.allocator);
    assert_int_equal(hw_buffer_append(&buffer, NULL, 0, &error), HW_OK);
    assert_null(buffer.bytes);
    assert_int_equal(hw_buffer_append(&buffer, "abc", 3, &error), HW_OK);
    assert_int_equal(hw_buffer_append_format(&buffer, &error, "%d-%s", -5, "x"), HW_OK);
    assert_int_equal(hw_buffer_append_format(&buffer, &error, "%s", ""), HW_OK);
    assert_int_equal(buffer.size, 7);
    assert_memory_equal(buffer.bytes, "abc-5-x", 7);
    assert_int_equal(hw_buffer_append_format(&buffer, &error, "%0500d", 1), HW_OK);
    assert_int_equal(buffer.size, 507);
    assert_int_equal(buffer.bytes[506], '1');
    hw_buffer_release(&buffer);
    assert_null(buffer.bytes);
    assert_int_equal(heap.bytes_in_use, 0);
    assert_int_equal(hw_buffer_append(&buffer, "again", 5, &error), HW_OK);
    hw_buffer_release(&buffer);
    assert_int_equal(heap.bytes_in_use, 0);
}

TEST_ALONE(reserved_room_needs_no_allocation)
{
    struct test_heap heap;
    struct hw_error error;
    struct hw_buffer buffer;

    test_heap_init(&heap, 1);
    hw_buffer_init(&buffer, &heap.allocator);
    assert_int_equal(hw_buffer_reserve(&buffer, 1000, &error), HW_OK);
    assert_int_equal(buffer.size, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(hw_buffer_append(&buffer, "0123456789", 10, &error), HW_OK);
    }
    assert_int_equal(hw_buffer_append(&buffer, "x", 1, &error), HW_NO_MEMORY);
    assert_int_equal(buffer.size, 1000);
    assert_memory_equal(buffer.bytes + 990, "0123456789", 10);
    assert_int_equal(hw_buffer_reserve(&buffer, SIZE_MAX, &error), HW_NO_MEMORY);
    assert_int_equal(hw_buffer_reserve(&buffer, SIZE_MAX - 1000, &error), HW_NO_MEMORY);
    assert_int_equal(buffer.size, 1000);
    hw_buffer_release(&buffer);
    assert_int_equal(heap.bytes_in_use, 0);
}

TEST_ALONE(a_buffer_without_memory_is_as_before)
{
    int fail_at = 0;
    bool has_failed;

    do {
        struct test_heap heap;
        struct hw_error error;
        struct hw_buffer buffer;
        size_t size = 0;

        test_heap_init(&heap, fail_at++);
        hw_buffer_init(&buffer, &heap.allocator);
        for (int i = 0; i < 200; i++) {
            if (hw_buffer_append(&buffer, "abcd", 4, &error) == HW_OK) {
                size += 4;
            }
            if (hw_buffer_append_format(&buffer, &error, "%04d", i) == HW_OK) {
                size += 4;
            }
            assert_int_equal(buffer.size, size);
        }
        has_failed = test_heap_has_failed(&heap);
        assert_int_equal(size, has_failed ? 1596 : 1600);
        hw_buffer_release(&buffer);
        assert_int_equal(heap.bytes_in_use, 0);
    } while (has_failed);
    assert_in_range(fail_at, 5, 20);
}

TEST_ALONE(integers_are_big_endian)
{
    static const uint8_t expected[] = {0xff, 0xfe, 0x80, 0x00, 0x00, 0x01, 0x01, 0x23,
                                       0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x7f};
    uint8_t bytes[15];

    hw_put_i16(bytes, -2);
    hw_put_i32(bytes + 2, INT32_MIN + 1);
    hw_put_i64(bytes + 6, 0x0123456789abcdef);
    bytes[14] = 0x7f;
    assert_memory_equal(bytes, expected, sizeof expected);
    assert_int_equal(hw_get_i16(bytes), -2);
    assert_int_equal(hw_get_u16(bytes), 0xfffe);
    assert_int_equal(hw_get_i32(bytes + 2), INT32_MIN + 1);
    assert_true(hw_get_u32(bytes + 2) == 0x80000001u);
    assert_true(hw_get_i64(bytes + 6) == 0x0123456789abcdef);
    assert_true(hw_get_u64(bytes + 2) == 0x8000000101234567u);
}

int main(void)
{
    return test_run(NULL, NULL);
}
