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

#include "core/inspect/segment_file.h"

struct hw_segment_scan; /* Opaque. */

/* Which file. */
struct hw_segment_place {
    const char *path;       /* Of the .log. */
    const char *index_path; /* NULL: without. */
    const char *time_path;  /* NULL: without. */
    bool is_named;          /* The name says the base offset; otherwise that is 0. */
    hw_offset_t base_offset;
    bool is_closed; /* hw_segment_file_set_closed(). */
    hw_offset_t next_base;
};

/* What is looked for. */
struct hw_segment_range {
    hw_offset_t first_offset;
    hw_offset_t last_offset;    /* INT64_MAX: to the end. */
    hw_time_ms_t timestamp_min; /* INT64_MIN: any. */
    bool is_backwards;
    size_t window_max;   /* hw_segment_file_set_window(); 0: as it is. */
    bool trusts_headers; /* hw_segment_file_trust_headers(). */
};

/*
 * Start. The caller owns *scan: hw_segment_scan_close(). `allocator` and `store` must outlive it.
 * Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND if the .log is not there.
 */
enum hw_status hw_segment_scan_open(const struct hw_allocator *allocator, struct hw_store *store,
                                    const struct hw_segment_place *place,
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

/* To read the records of the entry that came last. */
struct hw_segment_file *hw_segment_scan_file(struct hw_segment_scan *scan);

/* Bytes read so far, of the .log and the indexes. */
int64_t hw_segment_scan_bytes_read(const struct hw_segment_scan *scan);

/* What a clean end of a segment's walk tells; see hw_segment_scan_tail(). */
struct hw_segment_tail {
    hw_offset_t next_offset; /* Behind the last batch; the base offset if there is none. */
    int64_t end_position;    /* Where that batch ends. */
    int64_t trailing_bytes;  /* Behind it. */
};

/* Find the end of the segment, walking from the last index entry that can be believed. Errors:
 * HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_scan_tail(struct hw_segment_scan *scan, struct hw_segment_tail *tail,
                                    struct hw_error *error);

#endif /* HW_INSPECT_SEGMENT_SCAN_H */
