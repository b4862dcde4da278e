/* SPDX-License-Identifier: MIT */
/* Finding batches by offset, by position and by time, and reading them. */
#include "core/log/segment.h"

#include "core/base/assert.h"

#include <inttypes.h>

static enum hw_status no_batch_at(const struct hw_segment *segment, int64_t position,
                                  struct hw_error *error)
{
    return hw_error_corrupt(
        error, "%s/%020" PRId64 ".log: no whole batch of magic 2 at byte %" PRId64 " of %" PRId64,
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
    bool usable;
    enum hw_status status = hw_index_load(&segment->offsets, segment->size_bytes, &usable, error);

    if (status == HW_OK && usable) {
        status = hw_index_load(&segment->times, segment->next_offset - segment->base_offset,
                               &usable, error);
    }
    return status == HW_OK && !usable ? hw_segment_rebuild_indexes(segment, error) : status;
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

static bool find_mark(const struct hw_segment *segment, hw_offset_t offset, int64_t *position)
{
    for (size_t i = 0; i < HW_SEGMENT_MARKS; i++) {
        if (segment->marks[i].offset == offset) {
            *position = segment->marks[i].position;
            return true;
        }
    }
    return false;
}

static void set_mark(struct hw_segment *segment, hw_offset_t offset, int64_t position)
{
    int64_t known;

    if (!find_mark(segment, offset, &known)) {
        segment->marks[segment->mark_next] =
            (struct hw_segment_mark){.offset = offset, .position = position};
        segment->mark_next = (uint8_t)((segment->mark_next + 1) % HW_SEGMENT_MARKS);
    }
}

void hw_segment_mark_end(struct hw_segment *segment)
{
    set_mark(segment, segment->next_offset, segment->size_bytes);
}

/* Search without marks. */
static enum hw_status search(struct hw_segment *segment, hw_offset_t offset, int64_t *position,
                             struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    enum hw_status status = walk_start(segment, offset, &window, position, error);

    while (status == HW_OK && *position < segment->size_bytes) {
        struct hw_batch batch;

        status = hw_segment_header_at(segment, &window, *position, &batch, error);
        if (status != HW_OK || hw_batch_last_offset(&batch) >= offset) {
            break;
        }
        *position += (int64_t)hw_batch_size_bytes(&batch);
    }
    return status;
}

enum hw_status hw_segment_find(struct hw_segment *segment, hw_offset_t offset, int64_t *position,
                               struct hw_error *error)
{
    enum hw_status status;

    if (offset >= segment->next_offset) {
        *position = segment->size_bytes;
        return HW_OK;
    }
    if (offset >= 0 && find_mark(segment, offset, position)) {
        return HW_OK;
    }
    status = search(segment, offset, position, error);
    if (status == HW_OK && offset >= 0) {
        set_mark(segment, offset, *position);
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

/* How many of the bytes are whole batches, in order, that start below `bound`. *next_offset is at
 * most the first one's base at first, and then behind them. */
static size_t measure_batches(const uint8_t *bytes, size_t size, hw_offset_t bound,
                              hw_offset_t *next_offset)
{
    struct hw_batch batch;
    size_t measured = 0;

    while (hw_batch_parse(bytes + measured, size - measured, &batch) == HW_BATCH_OK &&
           batch.base_offset < bound && batch.base_offset >= *next_offset) {
        measured += hw_batch_size_bytes(&batch);
        *next_offset = hw_batch_next_offset(&batch);
    }
    return measured;
}

/* Append what `max_bytes` and `bound` allow from `position` on, where `offset` was found, to `out`;
 * with `first_batch_always` at least one batch. */
static enum hw_status read_from(struct hw_segment *segment, int64_t position, hw_offset_t offset,
                                hw_offset_t bound, size_t max_bytes, bool first_batch_always,
                                struct hw_buffer *out, struct hw_error *error)
{
    int64_t left = segment->size_bytes - position;
    int64_t end = position_above(segment, bound);
    int64_t wanted = end > position ? end - position : 0;
    int64_t header = HW_MIN(left, HW_BATCH_HEADER_SIZE);
    size_t start = out->size;
    hw_offset_t next_offset;
    struct hw_batch first;
    enum hw_status status;

    wanted = (uint64_t)wanted > max_bytes ? (int64_t)max_bytes : wanted;
    wanted = HW_MAX(wanted, header);
    status = hw_segment_read_bytes(segment, position, (size_t)wanted, out, error);
    if (status != HW_OK) {
        return status;
    }
    /* A batch below the offset would have its reader come back for ever: the file is damaged. */
    if (hw_batch_parse(out->bytes + start, (size_t)left, &first) != HW_BATCH_OK ||
        hw_batch_last_offset(&first) < offset) {
        out->size = start;
        return no_batch_at(segment, position, error);
    }
    if (first.base_offset >= bound ||
        (!first_batch_always && hw_batch_size_bytes(&first) > max_bytes)) {
        out->size = start;
        return HW_OK;
    }
    if ((int64_t)hw_batch_size_bytes(&first) > wanted) {
        status = hw_segment_read_bytes(segment, position + wanted,
                                       hw_batch_size_bytes(&first) - (size_t)wanted, out, error);
        if (status != HW_OK) {
            out->size = start;
            return status;
        }
    }
    next_offset = first.base_offset;
    out->size = start + measure_batches(out->bytes + start, out->size - start, bound, &next_offset);
    set_mark(segment, next_offset, position + (int64_t)(out->size - start));
    return HW_OK;
}

/*
 * Read from where the index says that the batch begins which ends at or above `offset`: one read,
 * no walk. *found is false, and `out` unchanged, where no whole batch is there that ends where the
 * entry says and holds the offset.
 */
static enum hw_status read_by_entry(struct hw_segment *segment, hw_offset_t offset,
                                    hw_offset_t bound, size_t max_bytes, struct hw_buffer *out,
                                    bool *found, struct hw_error *error)
{
    size_t number = hw_index_count_up_to_key(&segment->offsets, offset - 1 - segment->base_offset);
    size_t start = out->size;
    struct hw_index_entry entry;
    struct hw_batch batch;
    int64_t wanted;
    enum hw_status status;

    *found = false;
    if (number == 0 || number >= segment->offsets.count) {
        return HW_OK;
    }
    entry = hw_index_get(&segment->offsets, number);
    /* Only where batches are so large that each has an entry is it worth a try. */
    if (entry.value - hw_index_get(&segment->offsets, number - 1).value <=
        2 * (int64_t)segment->owner->config.index_interval_bytes) {
        return HW_OK;
    }
    /* Where this batch is all that is wanted, the next entry is behind it. */
    wanted = (segment->base_offset + entry.key >= bound - 1 && number + 1 < segment->offsets.count
                  ? hw_index_get(&segment->offsets, number + 1).value
                  : position_above(segment, bound)) -
             entry.value;
    wanted = wanted > 0 && (uint64_t)wanted > max_bytes ? (int64_t)max_bytes : wanted;
    if (wanted < HW_BATCH_HEADER_SIZE) {
        return HW_OK;
    }
    status = hw_segment_read_bytes(segment, entry.value, (size_t)wanted, out, error);
    if (status != HW_OK) {
        return status;
    }
    *found = hw_batch_parse(out->bytes + start, (size_t)wanted, &batch) == HW_BATCH_OK &&
             batch.base_offset <= offset && batch.base_offset < bound &&
             hw_batch_last_offset(&batch) - segment->base_offset == entry.key;
    if (*found) {
        hw_offset_t next_offset = batch.base_offset;

        out->size =
            start + measure_batches(out->bytes + start, out->size - start, bound, &next_offset);
        set_mark(segment, next_offset, entry.value + (int64_t)(out->size - start));
    } else {
        out->size = start;
    }
    return HW_OK;
}

enum hw_status hw_segment_read(struct hw_segment *segment, hw_offset_t offset, hw_offset_t bound,
                               size_t max_bytes, bool first_batch_always, struct hw_buffer *out,
                               bool *at_end, struct hw_error *error)
{
    int64_t position;
    bool found = false;
    enum hw_status status = hw_segment_load_indexes(segment, error);

    *at_end = false;
    if (status == HW_OK && offset < segment->next_offset &&
        !find_mark(segment, offset, &position)) {
        status = read_by_entry(segment, offset, bound, max_bytes, out, &found, error);
    }
    if (status != HW_OK || found) {
        return status;
    }
    status = hw_segment_find(segment, offset, &position, error);
    *at_end = status == HW_OK && position == segment->size_bytes;
    if (status != HW_OK || *at_end) {
        return status;
    }
    return read_from(segment, position, offset, bound, max_bytes, first_batch_always, out, error);
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
