/* SPDX-License-Identifier: MIT */
/* Does an arena give what it was asked for, and does all of it come back as it was? */
#include "core/base/arena.h"
#include "core/base/random.h"
#include "tests/support_heap.h"

#include <string.h>

#include "tests/support_test.h"

enum { BLOCKS = 200 };

/* Blocks of every size, each filled with a byte of its own; the table lives in the arena too. */
struct blocks {
    unsigned char *bytes[BLOCKS];
    size_t sizes[BLOCKS];
};

static void check_blocks(const struct blocks *blocks)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        for (size_t at = 0; at < blocks->sizes[i]; at += 1 + blocks->sizes[i] / 64) {
            assert_int_equal(blocks->bytes[i][at], (unsigned char)(i + blocks->sizes[i]));
        }
    }
}

static void disturb(const struct hw_allocator *allocator, struct blocks *blocks,
                    struct hw_random *random, int steps)
{
    for (int step = 0; step < steps; step++) {
        size_t i = (size_t)hw_random_below(random, BLOCKS);
        size_t most = hw_random_below(random, 10) == 0 ? 300000 : 600;
        size_t size = (size_t)hw_random_below(random, most);
        void *block =
            allocator->resize(allocator->context, blocks->bytes[i], blocks->sizes[i], size);

        assert_true((block != NULL) == (size > 0));
        blocks->bytes[i] = block;
        blocks->sizes[i] = size;
        if (size > 0) {
            memset(block, (int)(unsigned char)(i + size), size);
        }
    }
    check_blocks(blocks);
}

TEST_ALONE(what_was_saved_comes_back_any_number_of_times)
{
    struct test_heap heap;
    struct hw_arena arena;
    struct hw_arena_image images[3];
    struct hw_random random;
    struct hw_error error;
    struct blocks *blocks;
    struct blocks copies[3];

    test_heap_init(&heap, -1);
    hw_arena_init(&arena, &heap.allocator);
    memset(images, 0, sizeof images);
    hw_random_init(&random, 7);
    blocks = hw_alloc_zeroed(&arena.allocator, sizeof *blocks);
    for (int i = 0; i < 3; i++) {
        disturb(&arena.allocator, blocks, &random, 500);
        assert_int_equal(hw_arena_save(&arena, &images[i], &error), HW_OK);
        copies[i] = *blocks;
    }
    for (int round = 0; round < 30; round++) {
        size_t i = (size_t)hw_random_below(&random, 3);

        disturb(&arena.allocator, blocks, &random, 300);
        hw_arena_restore(&arena, &images[i]);
        assert_memory_equal(blocks, &copies[i], sizeof *blocks);
        check_blocks(blocks);
    }
    disturb(&arena.allocator, blocks, &random, 300);
    assert_int_equal(hw_arena_save(&arena, &images[0], &error), HW_OK);
    for (int i = 0; i < 3; i++) {
        hw_arena_image_release(&arena, &images[i]);
        check_blocks(blocks);
    }
    hw_arena_release(&arena);
    assert_int_equal(heap.bytes_in_use, 0);
}

TEST_ALONE(blocks_of_every_small_size_are_aligned_and_apart)
{
    struct test_heap heap;
    struct hw_arena arena;
    unsigned char *last = NULL;

    test_heap_init(&heap, -1);
    hw_arena_init(&arena, &heap.allocator);
    for (size_t size = 1; size <= HW_ARENA_BLOCK_MAX + 1; size++) {
        unsigned char *block = hw_alloc(&arena.allocator, size);

        assert_int_equal((uintptr_t)block % 8, 0);
        memset(block, 1, size);
        if (last != NULL) {
            assert_int_equal(last[0], 1);
            last[0] = 0;
        }
        assert_int_equal(block[size - 1], 1);
        last = block;
    }
    hw_arena_release(&arena);
    assert_int_equal(heap.bytes_in_use, 0);
}

/* Of one block the middle, of another all; named in the wrong order. */
TEST_ALONE(what_is_left_out_is_neither_copied_nor_put_back)
{
    struct test_heap heap;
    struct hw_arena arena;
    struct hw_arena_image whole = {.size = 0};
    struct hw_arena_image part = {.size = 0};
    struct hw_error error;
    char *first;
    char *second;
    char *large;

    test_heap_init(&heap, -1);
    hw_arena_init(&arena, &heap.allocator);
    first = hw_alloc(&arena.allocator, 64);
    second = hw_alloc(&arena.allocator, 64);
    large = hw_alloc(&arena.allocator, 100000);
    memset(first, 'a', 64);
    memset(second, 'a', 64);
    memset(large, 'a', 100000);
    assert_int_equal(hw_arena_save(&arena, &whole, &error), HW_OK);
    assert_int_equal(hw_arena_leave_out(&arena, large + 10, 99980, &error), HW_OK);
    assert_int_equal(hw_arena_leave_out(&arena, second, 64, &error), HW_OK);
    assert_int_equal(hw_arena_leave_out(&arena, first + 16, 32, &error), HW_OK);
    assert_int_equal(hw_arena_save(&arena, &part, &error), HW_OK);
    assert_int_equal(part.size, whole.size - 99980 - 64 - 32);

    memset(first, 'b', 64);
    memset(second, 'b', 64);
    memset(large, 'b', 100000);
    hw_arena_restore(&arena, &part);
    assert_memory_equal(first, "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbaaaaaaaaaaaaaaaa",
                        64);
    assert_int_equal(second[0], 'b');
    assert_int_equal(second[63], 'b');
    assert_int_equal(large[9], 'a');
    assert_int_equal(large[10], 'b');
    assert_int_equal(large[99989], 'b');
    assert_int_equal(large[99990], 'a');

    hw_arena_copy_all(&arena);
    hw_arena_restore(&arena, &whole);
    assert_int_equal(first[16], 'a');
    assert_int_equal(second[0], 'a');
    assert_int_equal(large[50000], 'a');
    assert_int_equal(hw_arena_save(&arena, &part, &error), HW_OK);
    assert_int_equal(part.size, whole.size);
    hw_arena_image_release(&arena, &part);
    hw_arena_image_release(&arena, &whole);
    hw_arena_release(&arena);
    assert_int_equal(heap.bytes_in_use, 0);
}

TEST_ALONE(without_memory_nothing_is_changed)
{
    struct test_heap heap;
    int fail_at = 0;

    do {
        struct hw_arena arena;
        struct hw_arena_image image = {.size = 0};
        struct hw_error error;
        char *text;

        test_heap_init(&heap, fail_at++);
        hw_arena_init(&arena, &heap.allocator);
        text = hw_text_copy(&arena.allocator, "kept");
        if (text != NULL) {
            void *large = hw_alloc(&arena.allocator, 100000);

            if (hw_arena_leave_out(&arena, text + 4, 1, &error) == HW_OK &&
                hw_arena_save(&arena, &image, &error) == HW_OK) {
                text[0] = 'x';
                hw_free(&arena.allocator, large, large == NULL ? 0 : 100000);
                hw_arena_restore(&arena, &image);
            }
            assert_string_equal(text, "kept");
        }
        hw_arena_image_release(&arena, &image);
        hw_arena_release(&arena);
        assert_int_equal(heap.bytes_in_use, 0);
    } while (test_heap_has_failed(&heap));
}

int main(void)
{
    return test_run(NULL, NULL);
}
