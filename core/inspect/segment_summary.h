/* SPDX-License-Identifier: MIT */
/* One segment on disk in numbers. */
#ifndef HW_INSPECT_SEGMENT_SUMMARY_H
#define HW_INSPECT_SEGMENT_SUMMARY_H

#include "core/inspect/segment_list.h"
#include "core/inspect/segment_scan.h"

struct hw_segment_summary {
    hw_offset_t base_offset;
    hw_offset_t next_offset; /* Behind the last good batch; the base offset if there is none. */
    int64_t size_bytes;
    int64_t trailing_bytes;     /* Behind the last good batch. */
    int64_t index_entries;      /* Without the zero tail; -1: there is none that can be opened. */
    int64_t time_index_entries; /* Likewise. */
    int64_t index_bytes;        /* With it; -1: there is none that can be opened. */
    int64_t time_index_bytes;
    /* The rest is filled if the segment was read whole. */
    int64_t batches; /* Good ones. */
    int64_t records;
    int64_t damaged; /* Stretches of damage. */
    hw_time_ms_t max_timestamp;
    hw_offset_t first_offset; /* Of the first good batch; HW_OFFSET_NONE: none, or not told. */
    /* About the first damage, or else about an offset index that is there and ends where the segment
     * begins, which old brokers refuse; empty if there is none. */
    char error[512];
};

/*
 * Look at a segment; `is_closed` and `next_base` as in struct hw_segment_place. With `whole` false
 * only its end is read. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_segment_summary_read(struct hw_segment_summary *summary,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_segment_paths *paths, bool is_closed,
                                       hw_offset_t next_base, bool whole, struct hw_error *error);

/*
 * Note offsets that no segment has: before the first batch of a segment that was read whole, which
 * then has another one's name, or between it and the next one. The cleaner leaves such gaps too, so
 * none is noted in what it may have cleaned, by its checkpoint. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_segment_summary_check_gaps(struct hw_segment_summary *summary,
                                             const struct hw_allocator *allocator,
                                             struct hw_store *store,
                                             const struct hw_kafka_partition *partition,
                                             hw_offset_t next_base, struct hw_error *error);

#endif /* HW_INSPECT_SEGMENT_SUMMARY_H */
