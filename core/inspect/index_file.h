/* SPDX-License-Identifier: MIT */
/*
 * Reads an offset index or a time index as it lies on disk, entry by entry, believing nothing.
 *
 *     [entry][entry][entry][0 0 0 0 ... up to the size that was set aside][part of an entry]
 *     \______ count ______/\________________ zero tail __________________/
 *
 * A broker that runs, or was killed, leaves some ten MiB of zeros behind the entries; they are no
 * entries. Of the entries little is read: a look-up is a binary search. What it finds is a hint
 * only, good if the .log agrees (segment_scan.c).
 *
 * Source: OffsetIndex, TimeIndex, AbstractIndex (kafka formats 4.2, 4.3, 4.6).
 */
#ifndef HW_INSPECT_INDEX_FILE_H
#define HW_INSPECT_INDEX_FILE_H

#include "core/format/index_entry.h"
#include "core/inspect/kafka_name.h"
#include "core/inspect/segment_file.h"

struct hw_index_file {
    enum hw_index_kind kind;
    struct hw_store *store;
    struct hw_file *file; /* NULL: there is no such file; it counts as empty. */
    int64_t size_bytes;
    int64_t slots;       /* Whole entries that the file has room for, zeros included. */
    int64_t *bytes_read; /* As in struct hw_segment_file. */
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
 * How many entries from the first on have a key of at most `limit`, or a value (a position of an
 * offset index), if these are sorted; the zero tail does not count. Errors: HW_IO.
 */
enum hw_status hw_index_file_count_up_to(struct hw_index_file *index, int64_t limit, bool of_values,
                                         int64_t *count, struct hw_error *error);

/* The offset that an entry of a segment means; the largest one where that would be too large. */
hw_offset_t hw_index_offset(hw_offset_t base_offset, int64_t relative);

/* -------------------------------------------------------------------------------------- checks */

/*
 * What the indexes of a segment say against what its .log says, entry by entry.
 *
 *     .index      (offset, position)    a batch begins at the position that has the offset; or
 *                                       one behind it, of the same append, ends with that
 *     .timeindex  (timestamp, offset)   the batch with the offset has that largest timestamp,
 *                                       and none before it has a larger one
 *
 * A leader indexes its appends, one batch each, and a follower what it fetched, many batches at
 * once perhaps; so an offset behind the first batch's end is right too if a batch ends with it.
 * Brokers up to 1.1 noted the first offset of a batch, later ones the last. The zero tail of a
 * running broker's index is not looked at.
 *
 * Where a broker is at work, index and log are looked at in two moments: before an entry is called
 * wrong, hw_index_check_again() judges it by the files as they are then.
 *
 * Source: DumpLogSegments.dumpIndex, dumpTimeIndex (kafka formats 4.2, 4.3, 4.5); stricter in the
 * order of the entries, and right for followers, whose entries that tool reports.
 */

/* All fields are its own. */
struct hw_index_check {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    const struct hw_segment_paths *paths;
    struct hw_path_look index_look; /* As the files were when they were opened. */
    struct hw_path_look log_look;
    struct hw_index_file index;
    struct hw_segment_file log;     /* Not open: there is none, and only the order is checked. */
    int64_t number;                 /* Of the next entry. */
    struct hw_index_entry previous; /* The last one in order. */
    bool has_previous;
    int64_t nonzero; /* No tail begins before this entry. */
    bool is_at_end;
    /* Of the time index: the batch that the walk stands behind. */
    struct hw_segment_entry batch;
    bool has_batch;
};

struct hw_index_row {
    int64_t number;         /* Of the entry. */
    bool has_entry;         /* false: the row is about bytes at the end that are no entry. */
    hw_offset_t offset;     /* Absolute. */
    int64_t position;       /* Of an offset index. */
    hw_time_ms_t timestamp; /* Of a time index. */
    bool has_batch;         /* There is a batch where the entry points: */
    hw_offset_t batch_last_offset;
    hw_time_ms_t batch_max_timestamp;
    char fault[160]; /* What is wrong, in one line; empty if nothing is. */
};

/*
 * Start on one index of the segment; a missing file has no entries. Allocator, store and paths must
 * outlive it. Close it in any case. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_index_check_open(struct hw_index_check *check,
                                   const struct hw_allocator *allocator, struct hw_store *store,
                                   const struct hw_segment_paths *paths, enum hw_index_kind kind,
                                   struct hw_error *error);
void hw_index_check_close(struct hw_index_check *check);

/* The next entry, or *found false at the end. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_index_check_next(struct hw_index_check *check, struct hw_index_row *row,
                                   bool *found, struct hw_error *error);

/*
 * Judge the entry of the row that came last anew if a file has changed since it was opened, which
 * goes to *changed. *found is false if the entry is not there any more. Errors: as above.
 */
enum hw_status hw_index_check_again(struct hw_index_check *check, struct hw_index_row *row,
                                    bool *changed, bool *found, struct hw_error *error);

#endif /* HW_INSPECT_INDEX_FILE_H */
