/* SPDX-License-Identifier: MIT */
/*
 * One entry of an offset index or a time index, as on disk:
 *
 *     .index       8 bytes   key i32 relative offset   value i32 position in the .log
 *     .timeindex  12 bytes   key i64 timestamp         value i32 relative offset
 *
 * Source: OffsetIndex, TimeIndex (kafka formats 4.2, 4.3).
 */
#ifndef HW_FORMAT_INDEX_ENTRY_H
#define HW_FORMAT_INDEX_ENTRY_H

#include "core/base/bytes.h"

#include <stddef.h>

enum { HW_INDEX_ENTRY_SIZE_MAX = 12 };

enum hw_index_kind { HW_INDEX_OFFSET, HW_INDEX_TIME };

struct hw_index_entry {
    int64_t key;
    int32_t value;
};

/* Bytes of one entry on disk: 8 or 12. */
static inline size_t hw_index_entry_size(enum hw_index_kind kind)
{
    return kind == HW_INDEX_OFFSET ? 8 : HW_INDEX_ENTRY_SIZE_MAX;
}

/* The entry in these bytes, and the other way round. */
static inline struct hw_index_entry hw_index_entry_decode(enum hw_index_kind kind,
                                                          const uint8_t *bytes)
{
    if (kind == HW_INDEX_OFFSET) {
        return (struct hw_index_entry){.key = hw_get_i32(bytes), .value = hw_get_i32(bytes + 4)};
    }
    return (struct hw_index_entry){.key = hw_get_i64(bytes), .value = hw_get_i32(bytes + 8)};
}

static inline void hw_index_entry_encode(enum hw_index_kind kind, struct hw_index_entry entry,
                                         uint8_t *bytes)
{
    if (kind == HW_INDEX_OFFSET) {
        hw_put_i32(bytes, (int32_t)entry.key);
        hw_put_i32(bytes + 4, entry.value);
    } else {
        hw_put_i64(bytes, entry.key);
        hw_put_i32(bytes + 8, entry.value);
    }
}

#endif /* HW_FORMAT_INDEX_ENTRY_H */
