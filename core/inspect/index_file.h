/* SPDX-License-Identifier: MIT */
/*
 * Reads an offset index or a time index as it lies on disk, entry by entry, believing nothing.
 *
 *     [entry][entry][entry][0 0 0 0 ... up to the size that was set aside][part of an entry]
 *     \______ count ______/\________________ zero tail __________________/
 *
 * A broker that runs, or was killed, leaves some ten MiB of zeros behind the entries; they are no
 * entries. Of the entries little is read: a look-up is a binary search. What it finds is a hint
 * only, good if the .log agrees (segment_seek.c).
 *
 * Source: OffsetIndex, TimeIndex, AbstractIndex (kafka formats 4.2, 4.3, 4.6).
 */
#ifndef HW_INSPECT_INDEX_FILE_H
#define HW_INSPECT_INDEX_FILE_H

#include "core/base/types.h"
#include "core/format/index_entry.h"
#include "core/io/store.h"

struct hw_index_file {
    enum hw_index_kind kind;
    struct hw_store *store;
    struct hw_file *file; /* NULL: there is no such file; it counts as empty. */
    int64_t size_bytes;
    int64_t slots; /* Whole entries that the file has room for, zeros included. */
    int64_t bytes_read;
};

/* Open the file; a missing one is no error. Close it in any case. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_index_file_open(struct hw_index_file *index, struct hw_store *store,
                                  const char *path, enum hw_index_kind kind,
                                  struct hw_error *error);
void hw_index_file_close(struct hw_index_file *index);

/* Read the slot with this number, below index->slots. Errors: HW_IO. */
enum hw_status hw_index_file_get(struct hw_index_file *index, int64_t number,
                                 struct hw_index_entry *entry, struct hw_error *error);

/* Whether the entry with this number can only be a part of the zero tail. */
bool hw_index_entry_is_zero(enum hw_index_kind kind, int64_t number, struct hw_index_entry entry);

/*
 * How many entries from the first on have a key of at most `key`, if they are sorted; the zero tail
 * does not count. Errors: HW_IO.
 */
enum hw_status hw_index_file_count_up_to(struct hw_index_file *index, int64_t key, int64_t *count,
                                         struct hw_error *error);

/* The same for values: positions of an offset index. */
enum hw_status hw_index_file_count_up_to_value(struct hw_index_file *index, int64_t value,
                                               int64_t *count, struct hw_error *error);

/* Find the first entry from `from` on that is not all zeros: index->slots if there is none. Errors:
 * HW_IO. */
enum hw_status hw_index_file_find_nonzero(struct hw_index_file *index, int64_t from,
                                          int64_t *number, struct hw_error *error);

/* The offset that an entry of a segment means; the largest one where that would be too large. */
hw_offset_t hw_index_offset(hw_offset_t base_offset, int64_t relative);

#endif /* HW_INSPECT_INDEX_FILE_H */
