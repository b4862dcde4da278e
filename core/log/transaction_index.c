/* SPDX-License-Identifier: MIT */
#include "core/log/transaction_index.h"

#include "core/base/assert.h"
#include "core/base/memory.h"
#include "core/base/search.h"

#include <string.h>

void hw_transaction_index_init(struct hw_transaction_index *index,
                               const struct hw_allocator *allocator)
{
    *index = (struct hw_transaction_index){.allocator = allocator};
}

void hw_transaction_index_release(struct hw_transaction_index *index)
{
    hw_free(index->allocator, index->entries, index->capacity * sizeof *index->entries);
    hw_transaction_index_init(index, index->allocator);
}

enum hw_status hw_transaction_index_reserve(struct hw_transaction_index *index, size_t entries,
                                            struct hw_error *error)
{
    return hw_array_reserve(index->allocator, (void **)&index->entries, &index->capacity,
                            index->count + entries, sizeof *index->entries, error);
}

bool hw_transaction_index_add(struct hw_transaction_index *index,
                              const struct hw_aborted_transaction *entry)
{
    if (index->count > 0 && entry->last_offset <= index->entries[index->count - 1].last_offset) {
        return false;
    }
    HW_ASSERT(index->count < index->capacity);
    index->entries[index->count++] = *entry;
    return true;
}

size_t hw_transaction_index_position(const struct hw_transaction_index *index, hw_offset_t offset)
{
    size_t at;

    HW_SEARCH(at, 0, index->count, index->entries[at].last_offset < offset);
    return at;
}

void hw_transaction_index_cut_from(struct hw_transaction_index *index, hw_offset_t offset)
{
    index->count = hw_transaction_index_position(index, offset);
    if (index->written_end > offset) {
        index->written_end = offset;
    }
}

void hw_transaction_index_cut_below(struct hw_transaction_index *index, hw_offset_t offset)
{
    size_t below = hw_transaction_index_position(index, offset);

    if (below > 0) {
        index->count -= below;
        memmove(index->entries, index->entries + below, index->count * sizeof *index->entries);
    }
}

enum hw_status hw_transaction_index_collect(const struct hw_transaction_index *index,
                                            hw_offset_t from, hw_offset_t end,
                                            struct hw_buffer *out, bool *complete,
                                            struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *complete = false;
    for (size_t i = hw_transaction_index_position(index, from);
         status == HW_OK && i < index->count && !*complete; i++) {
        const struct hw_aborted_transaction *entry = &index->entries[i];

        if (entry->first_offset < end) {
            status = hw_buffer_append(out, entry, sizeof *entry, error);
        }
        *complete = entry->last_stable_offset >= end;
    }
    return status;
}

enum hw_status hw_transaction_index_load(struct hw_transaction_index *index, struct hw_store *store,
                                         const char *path, hw_offset_t base, hw_offset_t end,
                                         bool *is_good, struct hw_error *error)
{
    size_t count_before = index->count;
    struct hw_buffer content;
    enum hw_status status;

    *is_good = true;
    hw_buffer_init(&content, index->allocator);
    status = hw_transaction_index_read(store, path, &content, error);
    if (status == HW_CORRUPT) {
        *is_good = false;
        status = HW_OK;
        content.size = 0;
    }
    if (status == HW_OK) {
        status =
            hw_transaction_index_reserve(index, content.size / HW_ABORTED_TRANSACTION_SIZE, error);
    }
    for (size_t at = 0;
         status == HW_OK && *is_good && at + HW_ABORTED_TRANSACTION_SIZE <= content.size;
         at += HW_ABORTED_TRANSACTION_SIZE) {
        struct hw_aborted_transaction entry = hw_aborted_transaction_get(content.bytes + at);

        *is_good = hw_aborted_transaction_fault(&entry, NULL, base) == NULL &&
                   entry.last_offset < end && hw_transaction_index_add(index, &entry);
    }
    *is_good = *is_good && content.size % HW_ABORTED_TRANSACTION_SIZE == 0;
    if (!*is_good) {
        index->count = count_before;
    }
    hw_buffer_release(&content);
    return status;
}

static enum hw_status transaction_index_encode(const struct hw_transaction_index *index,
                                               size_t first, size_t end, struct hw_buffer *out,
                                               struct hw_error *error)
{
    enum hw_status status =
        hw_buffer_reserve(out, (end - first) * HW_ABORTED_TRANSACTION_SIZE, error);

    for (size_t i = first; status == HW_OK && i < end; i++) {
        hw_aborted_transaction_put(out->bytes + out->size, &index->entries[i]);
        out->size += HW_ABORTED_TRANSACTION_SIZE;
    }
    return status;
}

enum hw_status hw_transaction_index_write(const struct hw_transaction_index *index,
                                          struct hw_store *store, const char *path,
                                          hw_offset_t base, hw_offset_t end, bool sync,
                                          struct hw_error *error)
{
    size_t first = hw_transaction_index_position(index, base);
    size_t behind = hw_transaction_index_position(index, end);
    struct hw_buffer content;
    struct hw_file *file = NULL;
    enum hw_status status;

    if (first == behind) {
        status = hw_store_remove(store, path, error);
        return status == HW_NOT_FOUND ? HW_OK : status;
    }
    hw_buffer_init(&content, index->allocator);
    status = transaction_index_encode(index, first, behind, &content, error);
    if (status == HW_OK) {
        status = hw_store_open(store, path, HW_OPEN_TRUNCATE, &file, error);
    }
    if (status == HW_OK) {
        status = hw_file_write_at(file, 0, content.bytes, content.size, error);
    }
    if (status == HW_OK && sync) {
        status = hw_file_sync(file, error);
    }
    hw_file_close(file);
    hw_buffer_release(&content);
    return status;
}
