/* SPDX-License-Identifier: MIT */
#include "core/format/transaction_index_file.h"

#include "core/base/bytes.h"
#include "core/base/search.h"

#include <stdlib.h>

enum {
    INDEX_SIZE_MAX = 1 << 28,
    ENTRY_AT_PRODUCER_ID = 2,
    ENTRY_AT_FIRST_OFFSET = 10,
    ENTRY_AT_LAST_OFFSET = 18,
    ENTRY_AT_LAST_STABLE_OFFSET = 26
};

enum hw_status hw_transaction_index_read(struct hw_store *store, const char *path,
                                         struct hw_buffer *content, struct hw_error *error)
{
    enum hw_status status = hw_store_read_whole(store, path, INDEX_SIZE_MAX, content, error);

    return status == HW_NOT_FOUND ? HW_OK : status;
}

struct hw_aborted_transaction hw_aborted_transaction_get(const uint8_t *bytes)
{
    return (struct hw_aborted_transaction){
        .version = hw_get_i16(bytes),
        .producer_id = hw_get_i64(bytes + ENTRY_AT_PRODUCER_ID),
        .first_offset = hw_get_i64(bytes + ENTRY_AT_FIRST_OFFSET),
        .last_offset = hw_get_i64(bytes + ENTRY_AT_LAST_OFFSET),
        .last_stable_offset = hw_get_i64(bytes + ENTRY_AT_LAST_STABLE_OFFSET)};
}

void hw_aborted_transaction_put(uint8_t *bytes, const struct hw_aborted_transaction *entry)
{
    hw_put_i16(bytes, entry->version);
    hw_put_i64(bytes + ENTRY_AT_PRODUCER_ID, entry->producer_id);
    hw_put_i64(bytes + ENTRY_AT_FIRST_OFFSET, entry->first_offset);
    hw_put_i64(bytes + ENTRY_AT_LAST_OFFSET, entry->last_offset);
    hw_put_i64(bytes + ENTRY_AT_LAST_STABLE_OFFSET, entry->last_stable_offset);
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

/* By producer, then by first offset. */
static int aborted_compare(const void *left, const void *right)
{
    const struct hw_aborted_transaction *a = left;
    const struct hw_aborted_transaction *b = right;

    return a->producer_id != b->producer_id    ? (a->producer_id < b->producer_id ? -1 : 1)
           : a->first_offset < b->first_offset ? -1
                                               : (a->first_offset > b->first_offset);
}

static struct hw_aborted_transaction *aborted_items(const struct hw_buffer *list, size_t *count)
{
    *count = list->size / sizeof(struct hw_aborted_transaction);
    return (struct hw_aborted_transaction *)(void *)list->bytes;
}

void hw_aborted_transactions_sort(struct hw_buffer *list)
{
    size_t count;
    struct hw_aborted_transaction *aborted = aborted_items(list, &count);

    if (count > 1) {
        qsort(aborted, count, sizeof *aborted, aborted_compare);
    }
    /* Those of one producer follow each other; where files say that they overlap, as no log does,
     * each reaches as far as the one before. */
    for (size_t i = 1; i < count; i++) {
        if (aborted[i].producer_id == aborted[i - 1].producer_id &&
            aborted[i].last_offset < aborted[i - 1].last_offset) {
            aborted[i].last_offset = aborted[i - 1].last_offset;
        }
    }
}

bool hw_aborted_transactions_have(const struct hw_buffer *list, int64_t producer_id,
                                  hw_offset_t offset)
{
    struct hw_aborted_transaction wanted = {.producer_id = producer_id, .first_offset = offset};
    size_t at;
    size_t count;
    const struct hw_aborted_transaction *aborted = aborted_items(list, &count);

    HW_SEARCH(at, 0, count, aborted_compare(&aborted[at], &wanted) <= 0);
    return at > 0 && aborted[at - 1].producer_id == producer_id &&
           offset <= aborted[at - 1].last_offset;
}
