/* SPDX-License-Identifier: MIT */
/*
 * The entries of one segment on disk that may hold what somebody looks for, in offset order,
 * forwards or backwards, reading as little as the indexes allow.
 *
 *     first = 107      .index: (.., 0) (102, 2300) (109, 4100)    start to walk at byte 2300
 *     backwards        ... walk from 4100 to the end, then from 2300 to 4100, then from 0
 *
 * Indexes are hints. An entry is believed if it is in order with its neighbours and the .log agrees
 * (hw_segment_file_check()); otherwise the one before is tried, and the start of the file at last.
 * So a damaged index costs time and changes nothing else.
 *
 * Source: LogSegment.translateOffset, findOffsetByTimestamp (kafka formats 4.2, 4.3, 7.4).
 */
#ifndef HW_INSPECT_SEGMENT_SCAN_H
#define HW_INSPECT_SEGMENT_SCAN_H

#include "core/inspect/index_file.h"
#include "core/inspect/kafka_name.h"
#include "core/inspect/segment_file.h"

/* A place where the walk may begin. */
struct hw_segment_anchor {
    int64_t position;
    hw_offset_t expected;
};

/* Use through the functions; `file` is for who reads the records of the entry that came last. */
struct hw_segment_scan {
    const struct hw_allocator *allocator;
    struct hw_segment_file file;
    struct hw_index_file offsets;
    struct hw_index_file times;
    struct hw_segment_range range;

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
 * Start. `next_base` as in hw_segment_file_open(). The caller owns *scan: hw_segment_scan_close().
 * `allocator` and `store` must outlive it. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND if the .log is
 * not there.
 */
enum hw_status hw_segment_scan_open(const struct hw_allocator *allocator, struct hw_store *store,
                                    const struct hw_segment_paths *paths, hw_offset_t next_base,
                                    const struct hw_segment_range *range,
                                    struct hw_segment_scan **scan, struct hw_error *error);

/* NULL is allowed. */
void hw_segment_scan_close(struct hw_segment_scan *scan);

/*
 * The next entry, or *found false at the end. Entries outside of the range may come too: what is
 * exact is up to the caller; but none inside is left out, and where the offsets of the file grow
 * they come in order. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_scan_next(struct hw_segment_scan *scan, struct hw_segment_entry *entry,
                                    bool *found, struct hw_error *error);

/* What a clean end of a segment's walk tells; see hw_segment_scan_tail(). */
struct hw_segment_tail {
    hw_offset_t next_offset; /* Behind the last batch; the base offset if there is none. */
    int64_t trailing_bytes;  /* Behind it. */
};

/* Find the end of the segment, walking from the last index entry that can be believed. Errors:
 * HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_scan_tail(struct hw_segment_scan *scan, struct hw_segment_tail *tail,
                                    struct hw_error *error);

#endif /* HW_INSPECT_SEGMENT_SCAN_H */
