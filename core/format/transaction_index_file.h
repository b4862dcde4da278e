/* SPDX-License-Identifier: MIT */
/*
 * Reads a .txnindex: the aborted transactions whose ABORT marker is in the segment.
 *
 *     0        2             10             18            26                 34
 *     | version | producer id | first offset | last offset | last stable offset | ...
 *
 * Source: AbortedTxn, TransactionIndex (kafka formats 4.4).
 */
#ifndef HW_INSPECT_TRANSACTION_INDEX_FILE_H
#define HW_INSPECT_TRANSACTION_INDEX_FILE_H

#include "core/base/buffer.h"
#include "core/io/store.h"

enum { HW_ABORTED_TRANSACTION_SIZE = 34 };

struct hw_aborted_transaction {
    int16_t version; /* 0; what else the bytes mean is not known. */
    int64_t producer_id;
    hw_offset_t first_offset; /* Of the transaction's first record here. */
    hw_offset_t last_offset;  /* Of the ABORT marker. */
    hw_offset_t last_stable_offset;
};

/*
 * Append the file's bytes to `content`; a missing file has none. Entry `i` is then at
 * i * HW_ABORTED_TRANSACTION_SIZE, and a part of one at the end is what a crash leaves. Errors:
 * HW_NO_MEMORY, HW_IO; HW_CORRUPT if the file is larger than any real one.
 */
enum hw_status hw_transaction_index_read(struct hw_store *store, const char *path,
                                         struct hw_buffer *content, struct hw_error *error);

struct hw_aborted_transaction hw_aborted_transaction_get(const uint8_t *bytes);

void hw_aborted_transaction_put(uint8_t *bytes, const struct hw_aborted_transaction *entry);

/* What is wrong with an entry of the segment that begins at `base_offset`, `previous` being the one
 * before or NULL; NULL if nothing is. */
const char *hw_aborted_transaction_fault(const struct hw_aborted_transaction *entry,
                                         const struct hw_aborted_transaction *previous,
                                         hw_offset_t base_offset);

/* Put a list as hw_log_aborted() makes it in order, so that it can be asked whether it has what a
 * producer wrote at an offset. */
void hw_aborted_transactions_sort(struct hw_buffer *list);
bool hw_aborted_transactions_have(const struct hw_buffer *list, int64_t producer_id,
                                  hw_offset_t offset);

#endif /* HW_INSPECT_TRANSACTION_INDEX_FILE_H */
