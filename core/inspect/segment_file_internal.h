/* SPDX-License-Identifier: MIT */
/* What the files segment_file*.c share. */
#ifndef HW_INSPECT_SEGMENT_FILE_INTERNAL_H
#define HW_INSPECT_SEGMENT_FILE_INTERNAL_H

#include "core/inspect/segment_file.h"

struct hw_segment_file {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    struct hw_file *file;
    int64_t size_bytes;
    hw_offset_t base_offset;
    hw_offset_t offset_max; /* No offset of the file is above it. */
    bool is_closed;
    bool trusts_headers;
    hw_offset_t next_base; /* Of the segment behind a closed one. */

    struct hw_buffer window; /* The bytes from window_position on. */
    int64_t window_position;
    size_t window_ahead; /* Bytes to read at the next refill. */
    size_t window_max;
    int64_t bytes_read;
    int64_t bytes_checksummed; /* While searching. */

    int64_t position;
    int64_t end;
    hw_offset_t expected;
    hw_time_ms_t max_timestamp; /* Of the good batches so far. */
    bool is_at_end;
};

/*
 * Decode the header at `position` of what ends at `end`; fields of magic 0 and 1 as in struct
 * hw_segment_entry. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_header(struct hw_segment_file *file, int64_t position, int64_t end,
                                      struct hw_batch *batch, enum hw_batch_result *result,
                                      struct hw_error *error);

/* Compute the checksum of the whole batch or old entry at `position`, of any size, through the
 * window. *is_right is false too where the file has become shorter. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_segment_file_checksum(struct hw_segment_file *file, int64_t position,
                                        const struct hw_batch *batch, uint32_t *crc, bool *is_right,
                                        struct hw_error *error);

/*
 * Find the first position >= `from` and below file->end where a batch begins that has a right
 * checksum and no offset below file->expected; *found is false if there is none. The time is
 * bounded by a multiple of the bytes searched, whatever they are. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_segment_file_search(struct hw_segment_file *file, int64_t from, int64_t *position,
                                      struct hw_batch *batch, bool *found, struct hw_error *error);

/* How many bytes from `from` on there are up to the last one that is not 0. Errors: HW_NO_MEMORY,
 * HW_IO. */
enum hw_status hw_segment_file_written(struct hw_segment_file *file, int64_t from, int64_t *written,
                                       struct hw_error *error);

#endif /* HW_INSPECT_SEGMENT_FILE_INTERNAL_H */
