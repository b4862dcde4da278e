/* SPDX-License-Identifier: MIT */
/* Reading by offset, backwards, and by time. */
#include "core/log/log_internal.h"

#include "core/record/codec.h"

#include <inttypes.h>

static enum hw_status check_range(const struct hw_log *log, hw_offset_t start, hw_offset_t offset,
                                  struct hw_error *error)
{
    if (offset < start || offset > hw_log_end(log)) {
        return hw_error_refuse(error, HW_KAFKA_OFFSET_OUT_OF_RANGE,
                               "offset %" PRId64 " is outside of the log [%" PRId64 ", %" PRId64
                               ")",
                               offset, start, hw_log_end(log));
    }
    return HW_OK;
}

enum hw_status hw_log_read(struct hw_log *log, hw_offset_t offset, hw_offset_t bound,
                           size_t max_bytes, bool first_batch_always, struct hw_buffer *out,
                           struct hw_error *error)
{
    enum hw_status status = check_range(log, log->start, offset, error);

    return status == HW_OK
               ? hw_log_read_stored(log, offset, bound, max_bytes, first_batch_always, out, error)
               : status;
}

enum hw_status hw_log_read_stored(struct hw_log *log, hw_offset_t offset, hw_offset_t bound,
                                  size_t max_bytes, bool first_batch_always, struct hw_buffer *out,
                                  struct hw_error *error)
{
    enum hw_status status = check_range(log, hw_log_stored_start(log), offset, error);

    if (bound > hw_log_end(log)) {
        bound = hw_log_end(log);
    }
    if (status != HW_OK || offset >= bound) {
        return status;
    }
    for (size_t i = hw_log_floor_segment(log, offset); i < log->count; i++) {
        struct hw_segment *segment = log->segments[i];
        bool at_end;

        if (segment->base_offset >= bound) {
            break;
        }
        status = hw_segment_read(segment, offset, bound, max_bytes, first_batch_always, out,
                                 &at_end, error);
        if (status != HW_OK || !at_end) {
            return status; /* If at its end: a gap reaches to the next segment. */
        }
    }
    return HW_OK;
}

uint8_t *hw_log_recent_append(struct hw_log *log, hw_offset_t offset, size_t max_bytes,
                              size_t *size)
{
    uint8_t *bytes =
        log->recent_append.first_offset == offset && log->recent_append.size <= max_bytes
            ? hw_recent_get(log->recent, &log->recent_append)
            : NULL;

    if (bytes != NULL) {
        *size = log->recent_append.size;
        hw_segment_mark_end(hw_log_active(log));
    }
    return bytes;
}

enum hw_status hw_log_read_before(struct hw_log *log, hw_offset_t start, hw_offset_t end,
                                  size_t max_bytes, struct hw_buffer *out, struct hw_error *error)
{
    if (end > hw_log_end(log)) {
        end = hw_log_end(log);
    }
    if (end <= start) {
        return HW_OK;
    }
    for (size_t i = hw_log_floor_segment(log, end - 1) + 1; i > 0; i--) {
        struct hw_segment *segment = log->segments[i - 1];
        int64_t position;
        int64_t position_end;
        enum hw_status status;

        if (segment->next_offset <= start) {
            break;
        }
        status =
            hw_segment_find_before(segment, start, end, max_bytes, &position, &position_end, error);
        if (status != HW_OK) {
            return status;
        }
        if (position < position_end) {
            return hw_segment_read_bytes(segment, position, (size_t)(position_end - position), out,
                                         error);
        }
    }
    return HW_OK;
}

/* Position in segment number `i` of the first batch that ends above `offset`; where that cannot be
 * found out, 0. */
static int64_t position_of(struct hw_log *log, size_t i, hw_offset_t offset)
{
    struct hw_error ignored;
    int64_t position;

    return hw_segment_find(log->segments[i], offset, &position, &ignored) == HW_OK ? position : 0;
}

int64_t hw_log_bytes_between(struct hw_log *log, hw_offset_t offset, hw_offset_t bound)
{
    size_t first;
    size_t last;
    int64_t size_bytes = 0;

    if (bound > hw_log_end(log)) {
        bound = hw_log_end(log);
    }
    if (offset < log->start || offset >= bound) {
        return 0;
    }
    first = hw_log_floor_segment(log, offset);
    last = hw_log_floor_segment(log, bound - 1);
    for (size_t i = first; i < last; i++) {
        size_bytes += log->segments[i]->size_bytes;
    }
    size_bytes += position_of(log, last, bound) - position_of(log, first, offset);
    return HW_MAX(size_bytes, 0);
}

int64_t hw_log_bytes_following(struct hw_log *log, hw_offset_t offset, hw_offset_t bound,
                               size_t size_bytes)
{
    for (size_t i = hw_log_floor_segment(log, offset); i < log->count; i++) {
        int64_t segment_size = log->segments[i]->size_bytes;
        int64_t position = position_of(log, i, offset);

        if (position < segment_size) {
            return position_of(log, i, bound) - position - (int64_t)size_bytes;
        }
    }
    return 0;
}

/* Find where to begin to look for a record with timestamp >= `timestamp` and offset >= `from`, by
 * the time index. */
static enum hw_status find_timestamp(struct hw_segment *segment, hw_time_ms_t timestamp,
                                     hw_offset_t from, int64_t *position, struct hw_error *error)
{
    enum hw_status status = hw_segment_load_indexes(segment, error);
    size_t count;

    if (status != HW_OK) {
        return status;
    }
    count = hw_index_count_up_to_key(&segment->times, timestamp);
    if (count > 0) {
        hw_offset_t offset = segment->base_offset + hw_index_get(&segment->times, count - 1).value;

        from = HW_MAX(offset, from);
    }
    return hw_segment_find(segment, from, position, error);
}

/* Go from *position, where a batch begins, to the first one whose largest timestamp is >=
 * `timestamp`: its header, or the file's size where there is none. */
static enum hw_status next_with_timestamp(struct hw_segment *segment, hw_time_ms_t timestamp,
                                          struct hw_batch *batch, int64_t *position,
                                          struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    enum hw_status status = HW_OK;

    while (*position < segment->size_bytes) {
        status = hw_segment_header_at(segment, &window, *position, batch, error);
        if (status != HW_OK || batch->max_timestamp >= timestamp) {
            break;
        }
        *position += (int64_t)hw_batch_size_bytes(batch);
    }
    return status;
}

/* The first record of the batch at `position` with at least this timestamp and offset. */
static enum hw_status search_batch(struct hw_segment *segment, const struct hw_batch *batch,
                                   int64_t position, hw_time_ms_t timestamp, hw_offset_t from,
                                   struct hw_buffer buffers[2], struct hw_record *record,
                                   bool *found, struct hw_error *error)
{
    struct hw_record_iterator iterator;
    enum hw_status status;

    buffers[0].size = 0;
    status =
        hw_segment_read_bytes(segment, position, hw_batch_size_bytes(batch), &buffers[0], error);
    if (status == HW_OK) {
        status = hw_record_iterator_open(&iterator, buffers[0].bytes, batch,
                                         HW_BATCH_PLAIN_SIZE_MAX, &buffers[1], error);
    }
    *found = true;
    while (status == HW_OK && *found) {
        status = hw_record_iterator_next(&iterator, record, found, error);
        if (status == HW_OK && *found && record->timestamp >= timestamp && record->offset >= from) {
            break;
        }
    }
    return status;
}

/* The same in one segment, whose largest timestamp is high enough. */
static enum hw_status search_segment(struct hw_segment *segment, hw_time_ms_t timestamp,
                                     hw_offset_t from, struct hw_buffer buffers[2],
                                     struct hw_record *record, bool *found, struct hw_error *error)
{
    int64_t position;
    enum hw_status status = find_timestamp(segment, timestamp, from, &position, error);

    *found = false;
    while (status == HW_OK && !*found) {
        struct hw_batch batch;

        status = next_with_timestamp(segment, timestamp, &batch, &position, error);
        if (status != HW_OK || position == segment->size_bytes) {
            break;
        }
        /* Not found: the record lies below `from`, or the header says more than the records do. */
        status =
            search_batch(segment, &batch, position, timestamp, from, buffers, record, found, error);
        position += (int64_t)hw_batch_size_bytes(&batch);
    }
    return status;
}

enum hw_status hw_log_offset_for_timestamp(struct hw_log *log, hw_time_ms_t timestamp,
                                           hw_offset_t bound, bool first_only, hw_offset_t *offset,
                                           hw_time_ms_t *found_timestamp, struct hw_error *error)
{
    struct hw_buffer buffers[2]; /* A batch, and its records if they are compressed. */
    enum hw_status status = HW_OK;
    bool found = false;

    *offset = HW_OFFSET_NONE;
    *found_timestamp = HW_TIMESTAMP_NONE;
    hw_buffer_init(&buffers[0], log->owner.allocator);
    hw_buffer_init(&buffers[1], log->owner.allocator);
    for (size_t i = hw_log_floor_segment(log, log->start); i < log->count; i++) {
        struct hw_segment *segment = log->segments[i];
        struct hw_record record;

        if (segment->base_offset >= bound) {
            break;
        }
        if (segment->max_timestamp < timestamp) {
            continue;
        }
        status = search_segment(segment, timestamp, log->start, buffers, &record, &found, error);
        if (status != HW_OK) {
            break;
        }
        if (found && record.offset < bound) {
            *offset = record.offset;
            *found_timestamp = record.timestamp;
        }
        if (found || first_only) {
            break;
        }
    }
    hw_buffer_release(&buffers[0]);
    hw_buffer_release(&buffers[1]);
    return status;
}
