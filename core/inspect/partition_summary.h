/* SPDX-License-Identifier: MIT */
/* One segment on disk, and one partition's directory, in numbers. */
#ifndef HW_INSPECT_PARTITION_SUMMARY_H
#define HW_INSPECT_PARTITION_SUMMARY_H

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
 * Look at a segment; `next_base` as in hw_segment_file_open(). With `whole` false only its end is
 * read. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_segment_summary_read(struct hw_segment_summary *summary,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_segment_paths *paths, hw_offset_t next_base,
                                       bool whole, struct hw_error *error);

/*
 * Note offsets that no segment has: before the first batch of a segment that was read whole, which
 * then has another one's name, or between it and the next one. The cleaner leaves such gaps too, so
 * none is noted in what it may have cleaned, by its checkpoint. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_segment_summary_check_gaps(struct hw_segment_summary *summary,
                                             const struct hw_kafka_partition *partition,
                                             hw_offset_t next_base, struct hw_error *error);

struct hw_partition_summary {
    int64_t segments;
    int64_t size_bytes; /* Of all .log files. */
    hw_offset_t
        log_start; /* As the log directory's checkpoint or the first segment says; -1: none. */
    hw_offset_t last_base; /* The base offset of the last segment; 0: there is none. */
    hw_offset_t log_end;   /* -1: there is no segment, or it was not asked for. */
    bool has_topic_id;
    struct hw_uuid topic_id;
    char error[512]; /* The first thing that is damaged or cannot be read; empty if all can. */
};

/* Look at a partition; `wants_end` has the end of the last segment read. A file or directory that
 * has gone meanwhile counts as empty. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_partition_summary_read(struct hw_partition_summary *summary,
                                         const struct hw_kafka_partition *partition, bool wants_end,
                                         struct hw_error *error);

/*
 * Note that the topic has another id in the first of its directories, where those of several
 * brokers are looked at: `number` is the partition's there. Those that are to be deleted, and
 * strays, may well have another one. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_partition_summary_compare(struct hw_partition_summary *summary,
                                            const struct hw_kafka_directory *directory,
                                            size_t number, struct hw_error *error);

#endif /* HW_INSPECT_PARTITION_SUMMARY_H */
