/* SPDX-License-Identifier: MIT */
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
#ifndef HW_INSPECT_INDEX_CHECK_H
#define HW_INSPECT_INDEX_CHECK_H

#include "core/inspect/index_file.h"
#include "core/inspect/segment_file.h"
#include "core/inspect/segment_list.h"

/* All fields are its own. */
struct hw_index_check {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    const struct hw_segment_paths *paths;
    struct hw_path_look index_look; /* As the files were when they were opened. */
    struct hw_path_look log_look;
    struct hw_index_file index;
    struct hw_segment_file *log;    /* NULL: there is none, and only the order is checked. */
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

#endif /* HW_INSPECT_INDEX_CHECK_H */
