/* SPDX-License-Identifier: MIT */
/*
 * The aborted transactions of one copy of a partition, by the offsets of their ABORT markers. In
 * the directory each segment has those whose marker it holds, in its .txnindex; here they are one
 * list, of which the files have what is below `written_end`.
 *
 *     first  last  last stable
 *         0    29            8     a reader who asks for [10, 36) needs both: the second says that
 *         8    74           36     nothing from 36 on is stable for it, so no later one can matter
 *
 * Always: the last offsets increase.
 *
 * Source: TransactionIndex, LocalLog.collectAbortedTransactions (R9.16, R9.17; kafka formats 4.4).
 */
#ifndef HW_LOG_TRANSACTION_INDEX_H
#define HW_LOG_TRANSACTION_INDEX_H

#include "core/format/transaction_index_file.h"

struct hw_transaction_index {
    const struct hw_allocator *allocator;
    struct hw_aborted_transaction *entries;
    size_t count;
    size_t capacity;
    hw_offset_t written_end;
};

void hw_transaction_index_init(struct hw_transaction_index *index,
                               const struct hw_allocator *allocator);
void hw_transaction_index_release(struct hw_transaction_index *index);

/* Have room for so many more. Errors: HW_NO_MEMORY. */
enum hw_status hw_transaction_index_reserve(struct hw_transaction_index *index, size_t entries,
                                            struct hw_error *error);

/* Add an entry, for which there is room. Returns false, and does not, unless its last offset is
 * above the others. */
bool hw_transaction_index_add(struct hw_transaction_index *index,
                              const struct hw_aborted_transaction *entry);

/* Forget the entries whose markers are at or above `offset`; below it. */
void hw_transaction_index_cut_from(struct hw_transaction_index *index, hw_offset_t offset);
void hw_transaction_index_cut_below(struct hw_transaction_index *index, hw_offset_t offset);

/* Number of the first entry whose marker is at or above `offset`; `count` where there is none. */
size_t hw_transaction_index_position(const struct hw_transaction_index *index, hw_offset_t offset);

/*
 * Append to `out`, as hw_aborted_transaction, those that a reader of [from, end) needs. *complete
 * says that an entry told that no later one can matter. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_transaction_index_collect(const struct hw_transaction_index *index,
                                            hw_offset_t from, hw_offset_t end,
                                            struct hw_buffer *out, bool *complete,
                                            struct hw_error *error);

/* Take over what the file of the segment [base, end) says, behind the other entries. *is_good is
 * false, and nothing is taken, where it says what cannot be. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_transaction_index_load(struct hw_transaction_index *index, struct hw_store *store,
                                         const char *path, hw_offset_t base, hw_offset_t end,
                                         bool *is_good, struct hw_error *error);

/* Make the file of the segment [base, end) say what is known of it: none where that is nothing.
 * Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_transaction_index_write(const struct hw_transaction_index *index,
                                          struct hw_store *store, const char *path,
                                          hw_offset_t base, hw_offset_t end, bool sync,
                                          struct hw_error *error);

#endif /* HW_LOG_TRANSACTION_INDEX_H */
