/* SPDX-License-Identifier: MIT */
/* What all files of a segment need: its names, what is known of it, bytes at a position. */
#include "core/log/segment_internal.h"

#include "core/base/assert.h"
#include "core/format/segment_name.h"

#include <inttypes.h>

enum hw_status hw_segment_path(const struct hw_segment *segment, const char *suffix,
                               char path[HW_PATH_MAX], struct hw_error *error)
{
    return hw_segment_name_path(path, segment->owner->directory, segment->base_offset, suffix,
                                error);
}

hw_offset_t hw_segment_base_offset(const struct hw_segment *segment)
{
    return segment->base_offset;
}

hw_offset_t hw_segment_next_offset(const struct hw_segment *segment)
{
    return segment->next_offset;
}

int64_t hw_segment_size_bytes(const struct hw_segment *segment)
{
    return segment->size_bytes;
}

hw_time_ms_t hw_segment_max_timestamp(const struct hw_segment *segment)
{
    return segment->max_timestamp;
}

hw_time_ms_t hw_segment_newest_ms(const struct hw_segment *segment)
{
    return segment->max_timestamp >= 0 ? segment->max_timestamp : segment->created_ms;
}

struct hw_segment_view hw_segment_view(const struct hw_segment *segment)
{
    return (struct hw_segment_view){.base_offset = segment->base_offset,
                                    .next_offset = segment->next_offset,
                                    .size_bytes = segment->size_bytes,
                                    .index_entries = (int64_t)segment->offsets.count,
                                    .max_timestamp = segment->max_timestamp};
}

void hw_segment_clear_marks(struct hw_segment *segment)
{
    for (size_t i = 0; i < HW_SEGMENT_MARKS; i++) {
        segment->marks[i].offset = HW_OFFSET_NONE;
    }
}

enum hw_status hw_segment_read_bytes(struct hw_segment *segment, int64_t position, size_t size,
                                     struct hw_buffer *out, struct hw_error *error)
{
    size_t got;
    enum hw_status status;

    HW_ASSERT(position >= 0);
    HW_ASSERT(position + (int64_t)size <= segment->size_bytes);

    status = hw_buffer_reserve(out, size, error);
    if (status == HW_OK && size > 0) {
        status =
            hw_file_read_at(segment->file, position, out->bytes + out->size, size, &got, error);
        if (status == HW_OK && got < size) {
            status = hw_error_set(error, HW_IO,
                                  "%s/%020" PRId64 ".log: only %" PRId64 " of %" PRId64
                                  " bytes are there",
                                  segment->owner->directory, segment->base_offset,
                                  position + (int64_t)got, segment->size_bytes);
        }
    }
    if (status == HW_OK) {
        out->size += size;
    }
    return status;
}
