/* SPDX-License-Identifier: MIT */
/*
 * What leaders have appended last, in memory, so that a follower at the end of the log gets it
 * without a read. One ring for all logs of a cluster: what is older is written over, and is then
 * read from its file.
 *
 *     bytes   [ orders-1 | ...... | orders-0 | orders-1 | many-17 | orders-0 ]
 *                                     one that is known ^          ^ the next one comes here
 */
#ifndef HW_LOG_RECENT_APPENDS_H
#define HW_LOG_RECENT_APPENDS_H

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/base/types.h"

/* Of larger appends the copy would cost more than the read that it spares. */
enum { HW_RECENT_BYTES = 1024 * 1024, HW_RECENT_APPEND_MAX = 4096 };

/* All fields are its own. */
struct hw_recent_appends {
    const struct hw_allocator *allocator;
    uint8_t *bytes; /* NULL: not initialised. */
    uint64_t written;
};

/* Where in the ring the last append of one log is. */
struct hw_recent_append {
    uint64_t position; /* Counted from the first byte that was ever written. */
    size_t size;       /* 0: nowhere. */
    hw_offset_t first_offset;
};

/* Errors: HW_NO_MEMORY (fit for releasing). */
enum hw_status hw_recent_init(struct hw_recent_appends *recent,
                              const struct hw_allocator *allocator, struct hw_error *error);
void hw_recent_release(struct hw_recent_appends *recent);

/* Keep a copy of `size` bytes, which begin at `first_offset`. Where they are too many *append is
 * nowhere. `recent` may be NULL: that keeps nothing. */
void hw_recent_put(struct hw_recent_appends *recent, const uint8_t *bytes, size_t size,
                   hw_offset_t first_offset, struct hw_recent_append *append);

/* The bytes, until the next hw_recent_put(), or NULL where they are not there any more. */
uint8_t *hw_recent_get(const struct hw_recent_appends *recent,
                       const struct hw_recent_append *append);

#endif /* HW_LOG_RECENT_APPENDS_H */
