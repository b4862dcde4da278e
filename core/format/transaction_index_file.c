/* SPDX-License-Identifier: MIT */
#include "core/format/transaction_index_file.h"

#include "core/base/bytes.h"

enum {
    FILE_SIZE_MAX = 1 << 28,
    AT_PRODUCER_ID = 2,
    AT_FIRST_OFFSET = 10,
    AT_LAST_OFFSET = 18,
    AT_LAST_STABLE_OFFSET = 26
};

enum hw_status hw_transaction_index_read(struct hw_store *store, const char *path,
                                         struct hw_buffer *content, struct hw_error *error)
{
    enum hw_status status = hw_store_read_whole(store, path, FILE_SIZE_MAX, content, error);

    return status == HW_NOT_FOUND ? HW_OK : status;
}

struct hw_aborted_transaction hw_aborted_transaction_get(const uint8_t *bytes)
{
    return (struct hw_aborted_transaction){.version = hw_get_i16(bytes),
                                           .producer_id = hw_get_i64(bytes + AT_PRODUCER_ID),
                                           .first_offset = hw_get_i64(bytes + AT_FIRST_OFFSET),
                                           .last_offset = hw_get_i64(bytes + AT_LAST_OFFSET),
                                           .last_stable_offset =
                                               hw_get_i64(bytes + AT_LAST_STABLE_OFFSET)};
}

void hw_aborted_transaction_put(uint8_t *bytes, const struct hw_aborted_transaction *entry)
{
    hw_put_i16(bytes, entry->version);
    hw_put_i64(bytes + AT_PRODUCER_ID, entry->producer_id);
    hw_put_i64(bytes + AT_FIRST_OFFSET, entry->first_offset);
    hw_put_i64(bytes + AT_LAST_OFFSET, entry->last_offset);
    hw_put_i64(bytes + AT_LAST_STABLE_OFFSET, entry->last_stable_offset);
}

const char *hw_aborted_transaction_fault(const struct hw_aborted_transaction *entry,
                                         const struct hw_aborted_transaction *previous,
                                         hw_offset_t base_offset)
{
    if (entry->version != 0) {
        return "the version is not 0";
    }
    if (entry->producer_id < 0 || entry->first_offset < 0 || entry->last_stable_offset < 0) {
        return "a number is negative";
    }
    if (entry->first_offset > entry->last_offset) {
        return "the first offset is behind the last one";
    }
    if (entry->last_offset < base_offset) {
        return "the last offset is before the segment";
    }
    if (previous != NULL && previous->version == 0 && entry->last_offset <= previous->last_offset) {
        return "the last offset is not above the one before";
    }
    return NULL;
}
