/* SPDX-License-Identifier: MIT */
/* Finding batches by offset, by position and by time, and reading them. */
#include "core/log/segment_internal.h"

#include "core/base/assert.h"

#include <inttypes.h>
#include <string.h>

static enum hw_status no_batch_at(const struct hw_segment *segment, int64_t position,
                                  struct hw_error *error)
{
    return hw_error_set(
        error, HW_CORRUPT,
        "%s/%020" PRId64 ".log: no whole batch of magic 2 at byte %" PRId64 " of %" PRId64,
        segment->owner->directory, segment->base_offset, position, segment->size_bytes);
}

enum hw_status hw_segment_header_at(struct hw_segment *segment, struct hw_segment_window *window,
                                    int64_t position, struct hw_batch *batch,
                                    struct hw_error *error)
{
    int64_t left = segment->size_bytes - position;
    size_t needed = left < HW_BATCH_HEADER_SIZE ? (size_t)left : (size_t)HW_BATCH_HEADER_SIZE;

    HW_ASSERT(position >= 0);
    HW_ASSERT(left > 0);

    if (window->size == 0 || position < window->position ||
        position + (int64_t)needed > window->position + (int64_t)window->size) {
        size_t wanted = left < (int64_t)sizeof window->bytes ? (size_t)left : sizeof window->bytes;
        enum hw_status status =
            hw_file_read_at(segment->file, position, window->bytes, wanted, &window->size, error);

        if (status != HW_OK) {
            window->size = 0;
            return status;
        }
        window->position = position;
        if (window->size < needed) {
            return no_batch_at(segment, position, error);
        }
    }
    /* Only the header is looked at, so the bytes of the records need not be here. */
    if (hw_batch_parse(window->bytes + (position - window->position), (size_t)left, batch) !=
        HW_BATCH_OK) {
        return no_batch_at(segment, position, error);
    }
    return HW_OK;
}

enum hw_status hw_segment_load_indexes(struct hw_segment *segment, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    bool usable = true;
    enum hw_status status = HW_OK;

    if (!segment->offsets.is_loaded) {
        status = hw_segment_path(segment, ".index", path, error);
        if (status == HW_OK) {
            status = hw_index_load(&segment->offsets, segment->owner->store, path,
                                   segment->size_bytes, &usable, error);
        }
    }
    if (status == HW_OK && usable && !segment->times.is_loaded) {
        status = hw_segment_path(segment, ".timeindex", path, error);
        if (status == HW_OK) {
            status = hw_index_load(&segment->times, segment->owner->store, path,
                                   segment->next_offset - segment->base_offset, &usable, error);
        }
    }
    if (status == HW_OK && !usable) {
        status = hw_segment_rebuild_indexes(segment, error);
    }
    return status;
}

/*
 * The position that the last of the first `count` offset index entries gives, or 0. *trusted is
 * false if no batch starts there that begins at or below the entry's offset: the index is wrong
 * then.
 */
static enum hw_status entry_position(struct hw_segment *segment, size_t count,
                                     struct hw_segment_window *window, int64_t *position,
                                     bool *trusted, struct hw_error *error)
{
    struct hw_index_entry entry;
    struct hw_batch batch;
    enum hw_status status;

    *position = 0;
    *trusted = true;
    if (count == 0) {
        return HW_OK;
    }
    entry = hw_index_get(&segment->offsets, count - 1);
    status = hw_segment_header_at(segment, window, entry.value, &batch, error);
    if (status == HW_OK && batch.base_offset >= segment->base_offset &&
        batch.base_offset <= segment->base_offset + entry.key) {
        *position = entry.value;
        return HW_OK;
    }
    *trusted = false;
    return status == HW_CORRUPT ? HW_OK : status;
}

/* Where to begin to walk to reach `offset` with few steps. A wrong index is made anew on the way.
 */
static enum hw_status walk_start(struct hw_segment *segment, hw_offset_t offset,
                                 struct hw_segment_window *window, int64_t *position,
                                 struct hw_error *error)
{
    bool trusted = false;
    enum hw_status status = hw_segment_load_indexes(segment, error);

    for (int attempt = 0; status == HW_OK && !trusted; attempt++) {
        size_t count = hw_index_count_up_to_key(&segment->offsets, offset - segment->base_offset);

        status = entry_position(segment, count, window, position, &trusted, error);
        if (status != HW_OK || trusted) {
            break;
        }
        if (attempt > 0) {
            return no_batch_at(segment, *position, error);
        }
        status = hw_segment_rebuild_indexes(segment, error);
    }
    return status;
}

enum hw_status hw_segment_find(struct hw_segment *segment, hw_offset_t offset,
                               struct hw_batch *batch, int64_t *position, struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    enum hw_status status;

    if (offset >= segment->next_offset) {
        *position = segment->size_bytes;
        return hw_segment_load_indexes(segment, error);
    }
    status = walk_start(segment, offset, &window, position, error);
    while (status == HW_OK && *position < segment->size_bytes) {
        status = hw_segment_header_at(segment, &window, *position, batch, error);
        if (status != HW_OK || hw_batch_last_offset(batch) >= offset) {
            break;
        }
        *position += (int64_t)hw_batch_size_bytes(batch);
    }
    return status;
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

/* A position at or behind the end of all batches that start below `bound`, not far behind. */
static int64_t position_above(const struct hw_segment *segment, hw_offset_t bound)
{
    /* The first entry at or above the bound may stand for several batches of one append; so it is
     * the one after it that surely starts above. */
    size_t count = hw_index_count_up_to_key(&segment->offsets, bound - 1 - segment->base_offset);

    return bound < segment->next_offset && count + 1 < segment->offsets.count
               ? hw_index_get(&segment->offsets, count + 1).value
               : segment->size_bytes;
}

enum hw_status hw_segment_read(struct hw_segment *segment, int64_t position,
                               const struct hw_batch *first, hw_offset_t bound, size_t max_bytes,
                               struct hw_buffer *out, struct hw_error *error)
{
    int64_t first_end = position + (int64_t)hw_batch_size_bytes(first);
    int64_t end = position_above(segment, bound);
    size_t start = out->size;
    size_t kept = 0;
    enum hw_status status;

    HW_ASSERT(first->base_offset < bound);

    if (end - position > 0 && (uint64_t)(end - position) > max_bytes) {
        end = position + (int64_t)max_bytes;
    }
    if (end < first_end) {
        end = first_end;
    }
    status = hw_segment_read_bytes(segment, position, (size_t)(end - position), out, error);
    if (status != HW_OK) {
        return status;
    }
    while (start + kept < out->size) {
        struct hw_batch batch;

        if (hw_batch_parse(out->bytes + start + kept, out->size - start - kept, &batch) !=
                HW_BATCH_OK ||
            batch.base_offset >= bound) {
            break;
        }
        kept += hw_batch_size_bytes(&batch);
    }
    out->size = start + kept;
    return kept == 0 ? no_batch_at(segment, position, error) : HW_OK;
}

/* Walk from *position to the last batch that starts below `end`; *position_end is then its end.
 * Both stay where they are if there is none. */
static enum hw_status find_last_below(struct hw_segment *segment, hw_offset_t end,
                                      struct hw_segment_window *window, struct hw_batch *last,
                                      int64_t *position, int64_t *position_end,
                                      struct hw_error *error)
{
    int64_t at = *position;

    *position_end = at;
    while (at < segment->size_bytes) {
        struct hw_batch batch;
        enum hw_status status = hw_segment_header_at(segment, window, at, &batch, error);

        if (status != HW_OK) {
            return status;
        }
        if (batch.base_offset >= end) {
            break;
        }
        *last = batch;
        *position = at;
        at += (int64_t)hw_batch_size_bytes(&batch);
        *position_end = at;
    }
    return HW_OK;
}

enum hw_status hw_segment_find_before(struct hw_segment *segment, hw_offset_t start,
                                      hw_offset_t end, size_t max_bytes, int64_t *position,
                                      int64_t *position_end, struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    struct hw_batch batch;
    int64_t last;
    int64_t first_wanted;
    int64_t at;
    bool trusted;
    enum hw_status status = walk_start(segment, end - 1, &window, &last, error);

    if (status == HW_OK) {
        status = find_last_below(segment, end, &window, &batch, &last, position_end, error);
    }
    *position = last;
    if (status != HW_OK || last == *position_end || hw_batch_last_offset(&batch) < start) {
        *position_end = *position;
        return status;
    }
    first_wanted = (uint64_t)*position_end > max_bytes ? *position_end - (int64_t)max_bytes : 0;
    status = walk_start(segment, start, &window, position, error);
    if (status == HW_OK) {
        size_t count = hw_index_count_up_to_value(&segment->offsets, first_wanted);

        status = entry_position(segment, count, &window, &at, &trusted, error);
        if (status == HW_OK && trusted && at > *position && at <= last) {
            *position = at;
        }
    }
    while (status == HW_OK && *position < last) {
        status = hw_segment_header_at(segment, &window, *position, &batch, error);
        if (status != HW_OK ||
            (*position >= first_wanted && hw_batch_last_offset(&batch) >= start)) {
            break;
        }
        *position += (int64_t)hw_batch_size_bytes(&batch);
    }
    return status;
}

enum hw_status hw_segment_find_timestamp(struct hw_segment *segment, hw_time_ms_t timestamp,
                                         hw_offset_t from, struct hw_batch *batch,
                                         int64_t *position, struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    enum hw_status status = hw_segment_load_indexes(segment, error);
    size_t count;

    if (status != HW_OK) {
        return status;
    }
    count = hw_index_count_up_to_key(&segment->times, timestamp);
    if (count > 0) {
        hw_offset_t offset = segment->base_offset + hw_index_get(&segment->times, count - 1).value;

        from = offset > from ? offset : from;
    }
    status = hw_segment_find(segment, from, batch, position, error);
    while (status == HW_OK && *position < segment->size_bytes) {
        status = hw_segment_header_at(segment, &window, *position, batch, error);
        if (status != HW_OK || batch->max_timestamp >= timestamp) {
            break;
        }
        *position += (int64_t)hw_batch_size_bytes(batch);
    }
    return status;
}
