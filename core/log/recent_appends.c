/* SPDX-License-Identifier: MIT */
#include "core/log/recent_appends.h"

#include <string.h>

enum hw_status hw_recent_init(struct hw_recent_appends *recent,
                              const struct hw_allocator *allocator, struct hw_error *error)
{
    *recent = (struct hw_recent_appends){.allocator = allocator,
                                         .bytes = hw_alloc(allocator, HW_RECENT_BYTES)};
    return recent->bytes == NULL ? hw_error_no_memory(error, "the last appends") : HW_OK;
}

void hw_recent_release(struct hw_recent_appends *recent)
{
    if (recent->bytes != NULL) {
        hw_free(recent->allocator, recent->bytes, HW_RECENT_BYTES);
        recent->bytes = NULL;
    }
}

void hw_recent_put(struct hw_recent_appends *recent, const uint8_t *bytes, size_t size,
                   hw_offset_t first_offset, struct hw_recent_append *append)
{
    size_t at;

    *append = (struct hw_recent_append){.size = 0};
    if (recent == NULL || recent->bytes == NULL || size > HW_RECENT_APPEND_MAX) {
        return;
    }
    at = (size_t)(recent->written % HW_RECENT_BYTES);
    if (size > HW_RECENT_BYTES - at) { /* In one piece. */
        recent->written += HW_RECENT_BYTES - at;
        at = 0;
    }
    memcpy(recent->bytes + at, bytes, size);
    *append = (struct hw_recent_append){
        .position = recent->written, .size = size, .first_offset = first_offset};
    recent->written += size;
}

uint8_t *hw_recent_get(const struct hw_recent_appends *recent,
                       const struct hw_recent_append *append)
{
    return append->size == 0 || recent->written - append->position > HW_RECENT_BYTES
               ? NULL
               : recent->bytes + append->position % HW_RECENT_BYTES;
}
