/* SPDX-License-Identifier: MIT */
/*
 * The cluster's own record of what it has shown: <directory>/high-watermarks.
 *
 *     slot 0      the clock, ms
 *     slot n > 0  the highest high watermark by which records of one replica were shown
 *
 * 16 bytes a slot: the number, then its CRC-32C and four zero bytes, so that a torn slot is noticed
 * and read as "unknown". Written with one small write and no fsync before a reader sees a row: that
 * survives the end of the process, as the design asks, and costs little. (Power loss is the concern
 * of flush().)
 */
#ifndef HW_DURABLE_SHOWN_FILE_H
#define HW_DURABLE_SHOWN_FILE_H

#include "core/io/store.h"

struct hw_shown_file {
    const struct hw_allocator *allocator;
    struct hw_file *file; /* NULL until the cluster is on disk. */
    int64_t *values;      /* As written; HW_OFFSET_NONE: unknown. */
    size_t count;
    size_t capacity;
};

void hw_shown_file_init(struct hw_shown_file *shown, const struct hw_allocator *allocator);
void hw_shown_file_release(struct hw_shown_file *shown);

/*
 * Open or create the file and read its first `slots` slots; nobody knows what others would mean,
 * however long the file is. Slots that were set before are written over the file's. A damaged slot,
 * and a part of one at the end, are unknown. Errors: HW_NO_MEMORY, HW_IO; only the file may then
 * have changed.
 */
enum hw_status hw_shown_file_open(struct hw_shown_file *shown, struct hw_store *store,
                                  const char *path, size_t slots, struct hw_error *error);

/* HW_OFFSET_NONE where nothing good was ever written. */
int64_t hw_shown_file_get(const struct hw_shown_file *shown, size_t slot);

/* Write `value` >= 0 unless the slot has it already. Before the file is open values are only kept
 * in memory. Errors: HW_NO_MEMORY (nothing changed); HW_IO: the slot then counts as not written. */
enum hw_status hw_shown_file_set(struct hw_shown_file *shown, size_t slot, int64_t value,
                                 struct hw_error *error);

#endif /* HW_DURABLE_SHOWN_FILE_H */
