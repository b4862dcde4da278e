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

#include <stddef.h>
#include <stdint.h>

enum { HW_INDEX_ENTRY_SIZE_MAX = 12 };

enum hw_index_kind { HW_INDEX_OFFSET, HW_INDEX_TIME };

struct hw_index_entry {
    int64_t key;
    int32_t value;
};

/* Bytes of one entry on disk: 8 or 12. */
size_t hw_index_entry_size(enum hw_index_kind kind);

/* The entry in these bytes, and the other way round. */
struct hw_index_entry hw_index_entry_decode(enum hw_index_kind kind, const uint8_t *bytes);
void hw_index_entry_encode(enum hw_index_kind kind, struct hw_index_entry entry, uint8_t *bytes);

#endif /* HW_FORMAT_INDEX_ENTRY_H */
