/* SPDX-License-Identifier: MIT */
/* What segment_scan.c, segment_seek.c and segment_backward.c share. */
#ifndef HW_INSPECT_SEGMENT_SCAN_INTERNAL_H
#define HW_INSPECT_SEGMENT_SCAN_INTERNAL_H

#include "core/inspect/index_file.h"
#include "core/inspect/segment_scan.h"

/* A place where the walk may begin. */
struct hw_segment_anchor {
    int64_t position;
    hw_offset_t expected;
};

struct hw_segment_scan {
    const struct hw_allocator *allocator;
    struct hw_segment_file *file;
    struct hw_index_file offsets;
    struct hw_index_file times;
    struct hw_segment_range range;
    bool ends_early; /* The offsets grow, as the index shows: nothing wanted is behind the range. */

    /* Backwards: the entries of the present chunk, from entries[left - 1] down. */
    struct hw_segment_entry *entries;
    size_t entry_capacity;
    size_t entry_left;
    int64_t chunk_start;               /* Everything from here on has been returned or is above. */
    int64_t stride;                    /* Index entries that the next chunk covers. */
    struct hw_segment_anchor *anchors; /* Made by a walk over the file, where the index is bad. */
    size_t anchor_capacity;
    size_t anchor_count;
    bool uses_anchors;
};

/*
 * Find where to begin to walk so that no batch with an offset >= `offset` is missed: the position
 * that the best index entry gives, or 0. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_seek_offset(struct hw_segment_scan *scan, hw_offset_t offset,
                                      int64_t *position, struct hw_error *error);

/*
 * The same for records with a timestamp >= `timestamp`; an anchor, as it may be the end of a batch
 * that was looked at. *found is false if the time index does not help. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_seek_timestamp(struct hw_segment_scan *scan, hw_time_ms_t timestamp,
                                         struct hw_segment_anchor *anchor, bool *found,
                                         struct hw_error *error);

/*
 * The position of the `back`-th index entry, counted down from the last one that points below
 * `end`, or of the next one before it that can be believed; 0 if there is none. Errors:
 * HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_seek_before(struct hw_segment_scan *scan, int64_t end, int64_t back,
                                      int64_t *position, struct hw_error *error);

/* Where a scan backwards begins, and its next entry. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_backward_start(struct hw_segment_scan *scan, struct hw_error *error);
enum hw_status hw_segment_backward_next(struct hw_segment_scan *scan,
                                        struct hw_segment_entry *entry, bool *found,
                                        struct hw_error *error);

#endif /* HW_INSPECT_SEGMENT_SCAN_INTERNAL_H */
