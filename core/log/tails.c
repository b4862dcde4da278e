/* SPDX-License-Identifier: MIT */
#include "core/log/tails.h"

#include <string.h>

enum hw_status hw_tails_init(struct hw_tails *tails, const struct hw_allocator *allocator,
                             struct hw_error *error)
{
    *tails =
        (struct hw_tails){.allocator = allocator, .bytes = hw_alloc(allocator, HW_TAILS_BYTES)};
    return tails->bytes == NULL ? hw_error_no_memory(error, "the last appends") : HW_OK;
}

void hw_tails_release(struct hw_tails *tails)
{
    if (tails->bytes != NULL) {
        hw_free(tails->allocator, tails->bytes, HW_TAILS_BYTES);
        tails->bytes = NULL;
    }
}

void hw_tails_put(struct hw_tails *tails, const uint8_t *bytes, size_t size,
                  hw_offset_t first_offset, struct hw_tail *tail)
{
    size_t at;

    *tail = (struct hw_tail){.size = 0};
    if (tails == NULL || tails->bytes == NULL || size > HW_TAIL_BYTES_MAX) {
        return;
    }
    at = (size_t)(tails->written % HW_TAILS_BYTES);
    if (size > HW_TAILS_BYTES - at) { /* In one piece. */
        tails->written += HW_TAILS_BYTES - at;
        at = 0;
    }
    memcpy(tails->bytes + at, bytes, size);
    *tail =
        (struct hw_tail){.position = tails->written, .size = size, .first_offset = first_offset};
    tails->written += size;
}

uint8_t *hw_tails_get(const struct hw_tails *tails, const struct hw_tail *tail)
{
    return tail->size == 0 || tails->written - tail->position > HW_TAILS_BYTES
               ? NULL
               : tails->bytes + tail->position % HW_TAILS_BYTES;
}
