/* SPDX-License-Identifier: MIT */
/*
 * Memory comes from the owner of an object, never from a global: the extension passes SQLite's
 * allocator, tests pass one that counts and fails on demand.
 */
#ifndef HW_BASE_MEMORY_H
#define HW_BASE_MEMORY_H

#include "core/base/status.h"

#include <stddef.h>

struct hw_allocator {
    void *context;
    /*
     * Resize `block` from `size_old` to `size_new` bytes and return it, or NULL if there is no
     * memory (the block is then untouched). A NULL block allocates. A zero `size_new` frees and
     * returns NULL. The sizes are always exact, so an allocator can keep its own books.
     */
    void *(*resize)(void *context, void *block, size_t size_old, size_t size_new);
};

/* malloc() and free(), for programs outside SQLite. */
extern const struct hw_allocator hw_allocator_libc;

/* `size` > 0 bytes, not initialised. NULL if there is no memory. */
void *hw_alloc(const struct hw_allocator *allocator, size_t size);

/* `size` > 0 bytes, all zero. NULL if there is no memory. */
void *hw_alloc_zeroed(const struct hw_allocator *allocator, size_t size);

/* Give back `block`, which has exactly `size` bytes. NULL is allowed. */
void hw_free(const struct hw_allocator *allocator, void *block, size_t size);

/* A copy of the NUL-terminated `text`; hw_text_free() gives it back. NULL if there is no memory. */
char *hw_text_copy(const struct hw_allocator *allocator, const char *text);
/* The same of `size` bytes, none of which is NUL. */
char *hw_text_copy_size(const struct hw_allocator *allocator, const void *text, size_t size);
void hw_text_free(const struct hw_allocator *allocator, char *text);

/*
 * Make room for at least `needed` elements of `element_size` bytes in a growing array:
 *
 *     status = hw_array_reserve(allocator, (void **)&items, &capacity, count + 1, sizeof *items,
 *                               error);
 *
 * Grows by half or more, so that adding one at a time is amortised O(1). New elements are not
 * initialised. Errors, which leave the array as it was: HW_NO_MEMORY, also where the size in bytes
 * would overflow. Release with hw_free(allocator, items, capacity * sizeof *items).
 */
enum hw_status hw_array_reserve(const struct hw_allocator *allocator, void **items,
                                size_t *capacity, size_t needed, size_t element_size,
                                struct hw_error *error);

#endif /* HW_BASE_MEMORY_H */
