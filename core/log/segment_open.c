/* SPDX-License-Identifier: MIT */
/* Making a segment, and opening one that is there without reading much of it. */
#include "core/log/segment.h"

#include "core/base/assert.h"
#include "core/format/segment_name.h"

enum hw_status hw_segment_open(const struct hw_segment_owner *owner, hw_offset_t base_offset,
                               const char *suffix, enum hw_open_mode mode, hw_time_ms_t now_ms,
                               struct hw_segment **segment, struct hw_error *error)
{
    struct hw_segment *made = hw_alloc(owner->allocator, sizeof *made);
    char path[HW_PATH_MAX];
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, "a segment");
    }
    *made = (struct hw_segment){.owner = owner,
                                .base_offset = base_offset,
                                .next_offset = base_offset,
                                .created_ms = now_ms};
    hw_segment_clear_marks(made);
    hw_segment_forget_batches(made);
    status = hw_segment_name_path(path, owner->directory, base_offset, suffix, error);
    if (status == HW_OK) {
        status = hw_store_open(owner->store, path, mode, &made->file, error);
    }
    if (status != HW_OK) {
        made->file = NULL;
    } else if (mode != HW_OPEN_TRUNCATE) {
        status = hw_file_size(made->file, &made->size_bytes, error);
    }
    if (status != HW_OK) {
        hw_segment_close(made);
        return status;
    }
    made->size_bytes = HW_MIN(made->size_bytes, HW_SEGMENT_SIZE_BYTES_MAX);
    made->synced_bytes = made->size_bytes;
    *segment = made;
    return HW_OK;
}

/* Kafka makes an empty time index where it is missing. But the last entry is made whenever a
 * segment is closed: that of a segment with timestamps is not empty. */
static enum hw_status time_index_may_be_empty(struct hw_segment *segment, bool *usable,
                                              struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    struct hw_batch batch;
    enum hw_status status = hw_segment_header_at(segment, &window, 0, &batch, error);

    *usable = status == HW_OK && batch.max_timestamp < 0;
    return status == HW_CORRUPT ? HW_OK : status;
}

enum hw_status hw_segment_open_indexes(struct hw_segment *segment, hw_offset_t limit, bool *usable,
                                       struct hw_error *error)
{
    int64_t span = limit - segment->base_offset;
    size_t batches_max = (size_t)(segment->size_bytes / HW_BATCH_HEADER_SIZE);
    const struct hw_index *offsets = &segment->offsets;
    const struct hw_index *times = &segment->times;
    bool times_usable = false;
    enum hw_status status = hw_index_open(&segment->offsets, usable, error);

    HW_ASSERT(limit >= segment->base_offset);

    segment->next_offset = limit;
    if (status == HW_OK) {
        status = hw_index_open(&segment->times, &times_usable, error);
    }
    if (status != HW_OK) {
        return status;
    }
    /* A batch makes one entry at most, and the end of a segment one in the time index. An index
     * that has more is not read: it may be of any size. In front of the batch of an entry there is
     * at least one batch without an entry, or with the entry before. */
    *usable = *usable && times_usable && offsets->count <= batches_max &&
              times->count <= batches_max + 1 &&
              (offsets->count == 0 ||
               (offsets->last.key >= (int64_t)offsets->count && offsets->last.key < span &&
                offsets->last.value >= (int64_t)offsets->count * HW_BATCH_HEADER_SIZE &&
                offsets->last.value < segment->size_bytes)) &&
              (times->count == 0 ||
               (times->last.key >= 0 && times->last.value >= 0 && times->last.value < span));
    if (*usable && times->count == 0 && segment->size_bytes > 0) {
        status = time_index_may_be_empty(segment, usable, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (!*usable) {
        hw_index_reset(&segment->offsets);
        hw_index_reset(&segment->times);
    } else if (times->count > 0) {
        segment->max_timestamp = times->last.key;
        segment->max_timestamp_offset = segment->base_offset + times->last.value;
    }
    return HW_OK;
}

enum hw_status hw_segment_find_end(struct hw_segment *segment, hw_epoch_t *last_epoch,
                                   bool *is_clean, struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    hw_offset_t next_offset = segment->base_offset;
    bool has_entry = segment->offsets.count > 0;
    int64_t position = has_entry ? segment->offsets.last.value : 0;
    struct hw_batch batch;
    enum hw_status status = HW_OK;

    *is_clean = false;
    *last_epoch = HW_EPOCH_NONE;
    if (segment->size_bytes > 0) {
        status = hw_segment_header_at(segment, &window, 0, &batch, error);
        segment->rolling_timestamp = status == HW_OK ? batch.max_timestamp : HW_TIMESTAMP_NONE;
    }
    for (bool is_first = true; status == HW_OK && position < segment->size_bytes;
         is_first = false) {
        status = hw_segment_header_at(segment, &window, position, &batch, error);
        if (status != HW_OK) {
            break;
        }
        if (batch.base_offset < next_offset ||
            hw_batch_last_offset(&batch) - segment->base_offset > INT32_MAX ||
            (is_first && has_entry &&
             batch.base_offset > segment->base_offset + segment->offsets.last.key)) {
            return HW_OK;
        }
        hw_segment_note_timestamp(segment, batch.max_timestamp, hw_batch_last_offset(&batch));
        *last_epoch = batch.leader_epoch;
        next_offset = hw_batch_next_offset(&batch);
        position += (int64_t)hw_batch_size_bytes(&batch);
    }
    if (status != HW_OK) {
        return status == HW_CORRUPT ? HW_OK : status;
    }
    if ((has_entry && segment->base_offset + segment->offsets.last.key >= next_offset) ||
        (segment->times.count > 0 &&
         segment->base_offset + segment->times.last.value >= next_offset)) {
        return HW_OK;
    }
    segment->next_offset = next_offset;
    *is_clean = true;
    return HW_OK;
}
