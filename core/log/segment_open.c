/* SPDX-License-Identifier: MIT */
/* Making a segment, and opening one that is there without reading much of it. */
#include "core/log/segment_internal.h"

#include "core/base/assert.h"

/* A segment that has nothing yet, no file either. NULL: no memory. */
static struct hw_segment *segment_alloc(const struct hw_segment_owner *owner,
                                        hw_offset_t base_offset, hw_time_ms_t now_ms)
{
    struct hw_segment *made = hw_alloc(owner->allocator, sizeof *made);

    if (made == NULL) {
        return NULL;
    }
    *made = (struct hw_segment){.owner = owner,
                                .base_offset = base_offset,
                                .next_offset = base_offset,
                                .created_ms = now_ms,
                                .rolling_timestamp = HW_TIMESTAMP_NONE,
                                .max_timestamp = HW_TIMESTAMP_NONE,
                                .max_timestamp_offset = base_offset};
    hw_segment_clear_marks(made);
    hw_index_init(&made->offsets, owner->allocator, HW_INDEX_OFFSET);
    hw_index_init(&made->times, owner->allocator, HW_INDEX_TIME);
    return made;
}

static enum hw_status segment_make(const struct hw_segment_owner *owner, hw_offset_t base_offset,
                                   const char *suffix, enum hw_open_mode mode, hw_time_ms_t now_ms,
                                   struct hw_segment **segment, struct hw_error *error)
{
    struct hw_segment *made = segment_alloc(owner, base_offset, now_ms);
    char path[HW_PATH_MAX];
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, "a segment");
    }
    status = hw_segment_path(made, suffix, path, error);
    if (status == HW_OK) {
        status = hw_store_open(owner->store, path, mode, &made->file, error);
    }
    if (status != HW_OK) {
        made->file = NULL;
        hw_segment_close(made);
        return status;
    }
    *segment = made;
    return HW_OK;
}

enum hw_status hw_segment_create(const struct hw_segment_owner *owner, hw_offset_t base_offset,
                                 hw_time_ms_t now_ms, struct hw_segment **segment,
                                 struct hw_error *error)
{
    return segment_make(owner, base_offset, ".log", HW_OPEN_TRUNCATE, now_ms, segment, error);
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
    char path[HW_PATH_MAX];
    bool times_usable = false;
    enum hw_status status = hw_segment_path(segment, ".index", path, error);

    HW_ASSERT(limit >= segment->base_offset);

    segment->next_offset = limit;
    if (status == HW_OK) {
        status = hw_index_open(&segment->offsets, segment->owner->store, path, usable, error);
    }
    if (status == HW_OK) {
        status = hw_segment_path(segment, ".timeindex", path, error);
    }
    if (status == HW_OK) {
        status = hw_index_open(&segment->times, segment->owner->store, path, &times_usable, error);
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

static enum hw_status open_existing(const struct hw_segment_owner *owner, hw_offset_t base_offset,
                                    const char *suffix, hw_time_ms_t now_ms,
                                    struct hw_segment **segment, struct hw_error *error)
{
    struct hw_segment *made;
    enum hw_status status =
        segment_make(owner, base_offset, suffix, HW_OPEN_EXISTING, now_ms, &made, error);

    if (status != HW_OK) {
        return status;
    }
    status = hw_file_size(made->file, &made->size_bytes, error);
    if (status != HW_OK) {
        hw_segment_close(made);
        return status;
    }
    if (made->size_bytes > HW_SEGMENT_SIZE_BYTES_MAX) {
        made->size_bytes = HW_SEGMENT_SIZE_BYTES_MAX;
    }
    made->synced_bytes = made->size_bytes;
    *segment = made;
    return HW_OK;
}

enum hw_status hw_segment_open(const struct hw_segment_owner *owner, hw_offset_t base_offset,
                               hw_time_ms_t now_ms, struct hw_segment **segment,
                               struct hw_error *error)
{
    return open_existing(owner, base_offset, ".log", now_ms, segment, error);
}

enum hw_status hw_segment_open_as(const struct hw_segment_owner *owner, hw_offset_t base_offset,
                                  const char *suffix, struct hw_segment **segment,
                                  struct hw_error *error)
{
    enum hw_status status =
        open_existing(owner, base_offset, suffix, HW_TIMESTAMP_NONE, segment, error);

    if (status == HW_OK) {
        (*segment)->next_offset = INT64_MAX;
    }
    return status;
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
        if (batch.max_timestamp > segment->max_timestamp) {
            segment->max_timestamp = batch.max_timestamp;
            segment->max_timestamp_offset = hw_batch_last_offset(&batch);
        }
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
