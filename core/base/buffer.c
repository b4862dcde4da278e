/* SPDX-License-Identifier: MIT */
/* A growing run of bytes: an hw_array_reserve() array whose elements are bytes. */
#include "core/base/buffer.h"

#include "core/base/assert.h"

#include <stdarg.h>
#include <stdio.h>

/* Small buffers hold names and numbers: one allocation should do for them. */
enum { BUFFER_CAPACITY_MIN = 64 };

void hw_buffer_init(struct hw_buffer *buffer, const struct hw_allocator *allocator)
{
    *buffer = (struct hw_buffer){.allocator = allocator};
}

void hw_buffer_release(struct hw_buffer *buffer)
{
    hw_free(buffer->allocator, buffer->bytes, buffer->capacity);
    hw_buffer_init(buffer, buffer->allocator);
}

enum hw_status hw_buffer_grow(struct hw_buffer *buffer, size_t more, struct hw_error *error)
{
    void *bytes = buffer->bytes;
    size_t needed;
    enum hw_status status;

    HW_ASSERT(buffer->size <= buffer->capacity);
    if (more > SIZE_MAX - buffer->size) {
        return hw_error_set(error, HW_NO_MEMORY, "out of memory for %zu bytes behind %zu bytes",
                            more, buffer->size);
    }
    needed = buffer->size + more;
    if (needed < BUFFER_CAPACITY_MIN) {
        needed = BUFFER_CAPACITY_MIN;
    }
    status = hw_array_reserve(buffer->allocator, &bytes, &buffer->capacity, needed, 1, error);
    buffer->bytes = bytes;
    return status;
}

enum hw_status hw_buffer_append_format(struct hw_buffer *buffer, struct hw_error *error,
                                       const char *format, ...)
{
    size_t room = buffer->capacity - buffer->size;
    va_list args;
    int length;
    enum hw_status status;

    va_start(args, format);
    length = vsnprintf(room == 0 ? NULL : (char *)buffer->bytes + buffer->size, room, format, args);
    va_end(args);
    HW_ASSERT(length >= 0);

    /* vsnprintf() writes a NUL behind the text, which then does not count. */
    if ((size_t)length < room) {
        buffer->size += (size_t)length;
        return HW_OK;
    }
    status = hw_buffer_reserve(buffer, (size_t)length + 1, error);
    if (status != HW_OK) {
        return status;
    }
    va_start(args, format);
    (void)vsnprintf((char *)buffer->bytes + buffer->size, (size_t)length + 1, format, args);
    va_end(args);
    buffer->size += (size_t)length;
    return HW_OK;
}
