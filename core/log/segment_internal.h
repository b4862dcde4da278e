/* SPDX-License-Identifier: MIT */
/*
 * The inside of a segment, shared by segment.c (append, sync, remove), segment_open.c (make, open),
 * segment_read.c (find, read), segment_recover.c (walk all, recover), segment_truncate.c
 * and segment_bytes.c.
 */
#ifndef HW_LOG_SEGMENT_INTERNAL_H
#define HW_LOG_SEGMENT_INTERNAL_H

#include "core/log/segment.h"

/* A place that was looked up or read up to: the batch at `position` is the first one that ends at
 * or above `offset`. Followers and scans go on where they were, so that they need no search. */
struct hw_segment_mark {
    hw_offset_t offset; /* HW_OFFSET_NONE: not in use. */
    int64_t position;
};

enum { HW_SEGMENT_MARKS = 4 };

struct hw_segment {
    const struct hw_segment_owner *owner;
    struct hw_file *file;
    struct hw_index offsets;
    struct hw_index times;
    hw_offset_t base_offset;
    hw_offset_t next_offset;
    int64_t size_bytes;        /* End of the last batch. */
    int64_t synced_bytes;      /* Of these, durable. */
    int64_t bytes_since_entry; /* Appended since the last index entry, or since opening. */
    hw_time_ms_t created_ms;   /* HW_TIMESTAMP_NONE: at the next append. */
    /* Largest timestamp of the first append, or of the first batch after opening: segment.ms counts
     * from there. HW_TIMESTAMP_NONE: there is none, and created_ms counts. */
    hw_time_ms_t rolling_timestamp;
    hw_time_ms_t max_timestamp; /* HW_TIMESTAMP_NONE if no batch has one. */
    hw_offset_t max_timestamp_offset;
    struct hw_segment_mark marks[HW_SEGMENT_MARKS];
    uint8_t mark_next;    /* The one to be replaced next. */
    bool tail_is_dirty;   /* A failed append left bytes behind size_bytes. */
    bool cut_is_unsynced; /* A power loss may give back what was cut off. */
    bool sync_has_failed; /* The system may take bytes for written that are not. */
};

/* Forget all marks: offsets or positions have changed. */
void hw_segment_clear_marks(struct hw_segment *segment);

enum { HW_SEGMENT_SIZE_BYTES_MAX = INT32_MAX }; /* Positions in indexes are int32. */

/* "<directory>/<20 digits><suffix>" */
enum hw_status hw_segment_path(const struct hw_segment *segment, const char *suffix,
                               char path[HW_PATH_MAX], struct hw_error *error);

/* Have the index entries in memory: load them, or make them if the files are not usable. Errors:
 * HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_load_indexes(struct hw_segment *segment, struct hw_error *error);

/* A few bytes of the .log, for walking headers near each other. */
struct hw_segment_window {
    int64_t position;
    size_t size; /* 0 at first. */
    uint8_t bytes[4096];
};

/*
 * Decode the header at `position` < size_bytes through the window. Errors: HW_IO; HW_CORRUPT if no
 * whole batch of magic 2 starts there.
 */
enum hw_status hw_segment_header_at(struct hw_segment *segment, struct hw_segment_window *window,
                                    int64_t position, struct hw_batch *batch,
                                    struct hw_error *error);

#endif /* HW_LOG_SEGMENT_INTERNAL_H */
