/* SPDX-License-Identifier: MIT */
/* The only file of the core that calls malloc: everything else gets an allocator passed in. */
#include "core/base/memory.h"

#include "core/base/assert.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *libc_resize(void *context, void *block, size_t size_old, size_t size_new)
{
    (void)context;
    (void)size_old;
    if (size_new == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size_new);
}

const struct hw_allocator hw_allocator_libc = {.context = NULL, .resize = libc_resize};

void *hw_alloc(const struct hw_allocator *allocator, size_t size)
{
    HW_ASSERT(size > 0);
    return allocator->resize(allocator->context, NULL, 0, size);
}

void *hw_alloc_zeroed(const struct hw_allocator *allocator, size_t size)
{
    void *block = hw_alloc(allocator, size);

    if (block != NULL) {
        memset(block, 0, size);
    }
    return block;
}

void hw_free(const struct hw_allocator *allocator, void *block, size_t size)
{
    if (block != NULL) {
        HW_ASSERT(size > 0);
        (void)allocator->resize(allocator->context, block, size, 0);
    }
}

char *hw_text_copy_size(const struct hw_allocator *allocator, const void *text, size_t size)
{
    char *copy = hw_alloc(allocator, size + 1);

    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

char *hw_text_copy(const struct hw_allocator *allocator, const char *text)
{
    return hw_text_copy_size(allocator, text, strlen(text));
}

void hw_text_free(const struct hw_allocator *allocator, char *text)
{
    if (text != NULL) {
        hw_free(allocator, text, strlen(text) + 1);
    }
}

enum hw_status hw_array_reserve(const struct hw_allocator *allocator, void **items,
                                size_t *capacity, size_t needed, size_t element_size,
                                struct hw_error *error)
{
    /* No array of the core needs more; half the address space leaves room for the growth. */
    size_t elements_max;
    size_t wanted;
    void *grown;

    HW_ASSERT(element_size > 0);
    if (needed <= *capacity) {
        return HW_OK; /* Nearly always, so before the division. */
    }
    elements_max = SIZE_MAX / 2 / element_size;
    if (needed > elements_max) {
        return hw_error_set(error, HW_NO_MEMORY,
                            "out of memory for an array of %zu elements of %zu bytes, at most %zu",
                            needed, element_size, elements_max);
    }
    wanted = *capacity + *capacity / 2;
    if (wanted > elements_max) {
        wanted = elements_max;
    }
    if (wanted < 4 && elements_max >= 4) {
        wanted = 4;
    }
    if (wanted < needed) {
        wanted = needed;
    }
    grown = allocator->resize(allocator->context, *items, *capacity * element_size,
                              wanted * element_size);
    if (grown == NULL) {
        return hw_error_set(error, HW_NO_MEMORY,
                            "out of memory for an array of %zu elements of %zu bytes", wanted,
                            element_size);
    }
    *items = grown;
    *capacity = wanted;
    return HW_OK;
}
