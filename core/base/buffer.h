/* SPDX-License-Identifier: MIT */
/* A growing run of bytes with one owner. */
#ifndef HW_BASE_BUFFER_H
#define HW_BASE_BUFFER_H

#include "core/base/memory.h"

#include <stdint.h>
#include <string.h>

struct hw_buffer {
    const struct hw_allocator *allocator;
    uint8_t *bytes; /* NULL while capacity is 0. */
    size_t size;
    size_t capacity;
};

/* An empty buffer; allocates nothing yet. `allocator` must outlive it. */
void hw_buffer_init(struct hw_buffer *buffer, const struct hw_allocator *allocator);

/* Release the memory; the buffer is then as after hw_buffer_init(). */
void hw_buffer_release(struct hw_buffer *buffer);

/* As hw_buffer_reserve(), where there is no such room yet. */
enum hw_status hw_buffer_grow(struct hw_buffer *buffer, size_t more, struct hw_error *error);

/* Make room for `more` bytes behind the present size. Errors: HW_NO_MEMORY (buffer unchanged). */
static inline enum hw_status hw_buffer_reserve(struct hw_buffer *buffer, size_t more,
                                               struct hw_error *error)
{
    return more <= buffer->capacity - buffer->size ? HW_OK : hw_buffer_grow(buffer, more, error);
}

/* Copy `size` bytes to the end. Errors: HW_NO_MEMORY (buffer unchanged). */
static inline enum hw_status hw_buffer_append(struct hw_buffer *buffer, const void *bytes,
                                              size_t size, struct hw_error *error)
{
    enum hw_status status = hw_buffer_reserve(buffer, size, error);

    /* memcpy() may not be called with NULL, which an empty buffer and an empty source have. */
    if (status == HW_OK && size > 0) {
        memcpy(buffer->bytes + buffer->size, bytes, size);
        buffer->size += size;
    }
    return status;
}

/* Append formatted text without its NUL. Errors: HW_NO_MEMORY (buffer unchanged). */
enum hw_status hw_buffer_append_format(struct hw_buffer *buffer, struct hw_error *error,
                                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif /* HW_BASE_BUFFER_H */
