/* SPDX-License-Identifier: MIT */
/* Cutting off the end of a segment. Source: LogSegment.truncateTo. */
#include "core/log/segment_internal.h"

#include "core/base/assert.h"

/* What truncation leaves. */
struct remains {
    int64_t size_bytes;
    size_t offset_entries;
    size_t time_entries;
    hw_time_ms_t max_timestamp;
    hw_offset_t max_timestamp_offset;
    hw_time_ms_t rolling_timestamp;
};

/*
 * The largest timestamp in front of remains->size_bytes. The last time index entry that remains has
 * it, but for the batches behind the last offset index entry: both are made at the same time.
 */
static enum hw_status find_timestamps(struct hw_segment *segment, struct remains *remains,
                                      struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    struct hw_batch batch;
    int64_t position = 0;

    remains->max_timestamp = HW_TIMESTAMP_NONE;
    remains->max_timestamp_offset = segment->base_offset;
    remains->rolling_timestamp = HW_TIMESTAMP_NONE;
    if (remains->size_bytes > 0) {
        enum hw_status status = hw_segment_header_at(segment, &window, 0, &batch, error);

        if (status != HW_OK) {
            return status;
        }
        remains->rolling_timestamp = batch.max_timestamp;
    }
    if (remains->time_entries > 0) {
        struct hw_index_entry entry = hw_index_get(&segment->times, remains->time_entries - 1);

        remains->max_timestamp = entry.key;
        remains->max_timestamp_offset = segment->base_offset + entry.value;
    }
    if (remains->offset_entries > 0) {
        position = hw_index_get(&segment->offsets, remains->offset_entries - 1).value;
    }
    while (position < remains->size_bytes) {
        enum hw_status status = hw_segment_header_at(segment, &window, position, &batch, error);

        if (status != HW_OK) {
            return status;
        }
        if (batch.max_timestamp > remains->max_timestamp) {
            remains->max_timestamp = batch.max_timestamp;
            remains->max_timestamp_offset = hw_batch_last_offset(&batch);
        }
        position += (int64_t)hw_batch_size_bytes(&batch);
    }
    return HW_OK;
}

/* Shorten the files to what remains: indexes first, so that no entry ever points past the end. */
static enum hw_status cut_files(struct hw_segment *segment, const struct remains *remains,
                                struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_segment_path(segment, ".index", path, error);

    if (status == HW_OK) {
        status = hw_index_cut(&segment->offsets, segment->owner->store, path,
                              remains->offset_entries, error);
    }
    if (status == HW_OK) {
        status = hw_segment_path(segment, ".timeindex", path, error);
    }
    if (status == HW_OK) {
        status = hw_index_cut(&segment->times, segment->owner->store, path, remains->time_entries,
                              error);
    }
    if (status == HW_OK && (remains->size_bytes < segment->size_bytes || segment->tail_is_dirty)) {
        status = hw_file_truncate(segment->file, remains->size_bytes, error);
    }
    return status;
}

/* How many entries of the offset index stay. By the rule that is those with a smaller offset; a
 * file that is wrong may have some of them point to where the cut is. */
static size_t count_kept_entries(const struct hw_segment *segment, hw_offset_t offset,
                                 int64_t size_bytes)
{
    size_t by_offset =
        hw_index_count_up_to_key(&segment->offsets, offset - 1 - segment->base_offset);
    size_t by_position = hw_index_count_up_to_value(&segment->offsets, size_bytes - 1);

    return HW_MIN(by_offset, by_position);
}

enum hw_status hw_segment_truncate_to(struct hw_segment *segment, hw_offset_t offset,
                                      struct hw_error *error)
{
    struct remains remains;
    enum hw_status status = hw_segment_load_indexes(segment, error);

    HW_ASSERT(offset >= segment->base_offset);

    if (status == HW_OK) {
        status = hw_segment_find(segment, offset, &remains.size_bytes, error);
    }
    if (status != HW_OK) {
        return status;
    }
    remains.offset_entries = count_kept_entries(segment, offset, remains.size_bytes);
    remains.time_entries =
        hw_index_count_up_to_value(&segment->times, offset - 1 - segment->base_offset);
    status = find_timestamps(segment, &remains, error);
    if (status == HW_OK) {
        status = cut_files(segment, &remains, error);
    }
    if (status != HW_OK) {
        return status;
    }

    hw_segment_clear_marks(segment);
    segment->tail_is_dirty = false;
    segment->cut_is_unsynced = segment->cut_is_unsynced || remains.size_bytes < segment->size_bytes;
    segment->size_bytes = remains.size_bytes;
    if (segment->synced_bytes > remains.size_bytes) {
        segment->synced_bytes = remains.size_bytes;
    }
    segment->next_offset = offset;
    segment->bytes_since_entry = 0;
    segment->max_timestamp = remains.max_timestamp;
    segment->max_timestamp_offset = remains.max_timestamp_offset;
    segment->rolling_timestamp = remains.rolling_timestamp;
    if (remains.size_bytes == 0) {
        segment->created_ms = HW_TIMESTAMP_NONE;
    }
    return HW_OK;
}
