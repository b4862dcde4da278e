/* SPDX-License-Identifier: MIT */
#include "core/inspect/index_file.h"

#include "core/base/assert.h"

#include <string.h>

enum { BLOCK_SIZE = 4096 };

enum hw_status hw_index_file_open(struct hw_index_file *index, struct hw_store *store,
                                  const char *path, enum hw_index_kind kind, struct hw_error *error)
{
    enum hw_status status;

    *index = (struct hw_index_file){.kind = kind, .store = store};
    status = hw_store_open(store, path, HW_OPEN_READ, &index->file, error);
    if (status == HW_NOT_FOUND) {
        index->file = NULL;
        return HW_OK;
    }
    if (status == HW_OK) {
        status = hw_file_size(index->file, &index->size_bytes, error);
    }
    index->slots = index->size_bytes / (int64_t)hw_index_entry_size(kind);
    return status;
}

void hw_index_file_close(struct hw_index_file *index)
{
    hw_file_close(index->file);
    *index = (struct hw_index_file){.kind = index->kind};
}

enum hw_status hw_index_file_get(struct hw_index_file *index, int64_t number,
                                 struct hw_index_entry *entry, struct hw_error *error)
{
    size_t size = hw_index_entry_size(index->kind);
    uint8_t bytes[HW_INDEX_ENTRY_SIZE_MAX] = {0};
    size_t got = 0;
    enum hw_status status;

    HW_ASSERT(number >= 0 && number < index->slots);

    status = hw_file_read_at(index->file, number * (int64_t)size, bytes, size, &got, error);
    if (status != HW_OK) {
        return status;
    }
    index->bytes_read += (int64_t)got;
    if (got < size) {
        memset(bytes, 0, sizeof bytes); /* Cut meanwhile: no entry any more. */
    }
    *entry = hw_index_entry_decode(index->kind, bytes);
    return HW_OK;
}

bool hw_index_entry_is_zero(enum hw_index_kind kind, int64_t number, struct hw_index_entry entry)
{
    /* No offset index has an entry for the first byte. A time index may begin with time 0. */
    return entry.key == 0 && entry.value == 0 && (kind == HW_INDEX_OFFSET || number > 0);
}

static enum hw_status count_up_to(struct hw_index_file *index, int64_t limit, bool is_value,
                                  int64_t *count, struct hw_error *error)
{
    int64_t low = 0;
    int64_t high = index->slots;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        struct hw_index_entry entry;
        enum hw_status status = hw_index_file_get(index, middle, &entry, error);

        if (status != HW_OK) {
            return status;
        }
        if (!hw_index_entry_is_zero(index->kind, middle, entry) &&
            (is_value ? entry.value : entry.key) <= limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *count = low;
    return HW_OK;
}

enum hw_status hw_index_file_count_up_to(struct hw_index_file *index, int64_t key, int64_t *count,
                                         struct hw_error *error)
{
    return count_up_to(index, key, false, count, error);
}

enum hw_status hw_index_file_count_up_to_value(struct hw_index_file *index, int64_t value,
                                               int64_t *count, struct hw_error *error)
{
    return count_up_to(index, value, true, count, error);
}

enum hw_status hw_index_file_find_nonzero(struct hw_index_file *index, int64_t from,
                                          int64_t *number, struct hw_error *error)
{
    int64_t entry_size = (int64_t)hw_index_entry_size(index->kind);
    int64_t at = from * entry_size;

    while (at < index->slots * entry_size) {
        uint8_t block[BLOCK_SIZE];
        size_t got = 0;
        enum hw_status status = hw_store_ask(index->store, error);

        if (status == HW_OK) {
            status = hw_file_read_at(index->file, at, block, sizeof block, &got, error);
        }
        if (status != HW_OK || got == 0) {
            *number = index->slots;
            return status;
        }
        index->bytes_read += (int64_t)got;
        for (size_t i = 0; i < got; i++) {
            if (block[i] != 0) {
                at += (int64_t)i;
                *number = at / entry_size < index->slots ? at / entry_size : index->slots;
                return HW_OK;
            }
        }
        at += (int64_t)got;
    }
    *number = index->slots;
    return HW_OK;
}

hw_offset_t hw_index_offset(hw_offset_t base_offset, int64_t relative)
{
    return relative > INT64_MAX - base_offset ? INT64_MAX : base_offset + relative;
}
