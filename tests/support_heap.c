/* SPDX-License-Identifier: MIT */
/* Each block has its size before it, so that the sizes which the core passes can be checked. */
#include "tests/support_heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_SIZE_MAX (SIZE_MAX >> (sizeof(size_t) > 4 ? 26 : 2))

union block_head {
    size_t size;
    max_align_t alignment;
};

static void *heap_resize(void *context, void *block, size_t size_old, size_t size_new)
{
    struct test_heap *heap = context;
    union block_head *head = block == NULL ? NULL : (union block_head *)block - 1;
    size_t size = head == NULL ? 0 : head->size;

    if (size != size_old) {
        (void)fprintf(stderr, "a block of %zu bytes is resized as one of %zu\n", size, size_old);
        abort();
    }
    if (size_new == 0) {
        free(head);
        heap->bytes_in_use -= size_old;
        return NULL;
    }
    if (heap->allocations++ == heap->fail_at) {
        return NULL;
    }
    /* No machine has it, and sanitizers stop a program that asks. */
    if (size_new > BLOCK_SIZE_MAX) {
        return NULL;
    }
    head = realloc(head, sizeof *head + size_new);
    if (head == NULL) {
        abort();
    }
    head->size = size_new;
    heap->bytes_in_use += size_new - size_old;
    heap->bytes_most =
        heap->bytes_in_use > heap->bytes_most ? heap->bytes_in_use : heap->bytes_most;
    return head + 1;
}

void test_heap_init(struct test_heap *heap, int fail_at)
{
    *heap = (struct test_heap){.allocator = {.context = heap, .resize = heap_resize},
                               .fail_at = fail_at};
}

bool test_heap_has_failed(const struct test_heap *heap)
{
    return heap->fail_at >= 0 && heap->allocations > heap->fail_at;
}
