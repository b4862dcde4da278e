/* SPDX-License-Identifier: MIT */
/*
 * An allocator for tests: fails the n-th allocation, knows what has not been given back, and stops
 * the program when a block comes back with another size than it has.
 *
 *     for (fail_at = 0;; fail_at++) {
 *         test_heap_init(&heap, fail_at);
 *         status = story(&heap.allocator);
 *         assert_true(status == HW_OK || status == HW_NO_MEMORY);
 *         assert_int_equal(heap.bytes_in_use, 0);
 *         if (!test_heap_has_failed(&heap)) break;
 *     }
 */
#ifndef SUPPORT_HEAP_H
#define SUPPORT_HEAP_H

#include "core/base/memory.h"

#include <stdbool.h>

struct test_heap {
    struct hw_allocator allocator;
    int fail_at;         /* Fail the allocation with this number, counted from 0. -1: never. */
    int allocations;     /* Allocations asked for so far, growing and shrinking blocks included. */
    size_t bytes_in_use; /* 0 once everything was released. */
    size_t bytes_most;   /* That there were at any time. */
};

/* The heap must not be moved afterwards: its allocator points to it. */
void test_heap_init(struct test_heap *heap, int fail_at);

/* Whether the allocation `fail_at` has been asked for. */
bool test_heap_has_failed(const struct test_heap *heap);

#endif /* SUPPORT_HEAP_H */
