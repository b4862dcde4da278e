/* SPDX-License-Identifier: MIT */
#include "core/format/index_entry.h"

#include "core/base/bytes.h"

size_t hw_index_entry_size(enum hw_index_kind kind)
{
    return kind == HW_INDEX_OFFSET ? 8 : HW_INDEX_ENTRY_SIZE_MAX;
}

struct hw_index_entry hw_index_entry_decode(enum hw_index_kind kind, const uint8_t *bytes)
{
    if (kind == HW_INDEX_OFFSET) {
        return (struct hw_index_entry){.key = hw_get_i32(bytes), .value = hw_get_i32(bytes + 4)};
    }
    return (struct hw_index_entry){.key = hw_get_i64(bytes), .value = hw_get_i32(bytes + 8)};
}

void hw_index_entry_encode(enum hw_index_kind kind, struct hw_index_entry entry, uint8_t *bytes)
{
    if (kind == HW_INDEX_OFFSET) {
        hw_put_i32(bytes, (int32_t)entry.key);
        hw_put_i32(bytes + 4, entry.value);
    } else {
        hw_put_i64(bytes, entry.key);
        hw_put_i32(bytes + 8, entry.value);
    }
}
