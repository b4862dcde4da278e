/* SPDX-License-Identifier: MIT */
#include "core/inspect/segment_scan_internal.h"

#include "core/base/assert.h"

/* Open one index. One that cannot be opened is as good as none. */
static enum hw_status open_index(struct hw_index_file *index, struct hw_store *store,
                                 const char *path, enum hw_index_kind kind, struct hw_error *error)
{
    enum hw_status status = hw_index_file_open(index, store, path, kind, error);

    if (status == HW_IO) {
        hw_index_file_close(index);
        return HW_OK;
    }
    return status;
}

static enum hw_status open_indexes(struct hw_segment_scan *scan, struct hw_store *store,
                                   const struct hw_segment_place *place, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (place->index_path != NULL) {
        status = open_index(&scan->offsets, store, place->index_path, HW_INDEX_OFFSET, error);
    }
    if (status == HW_OK && place->time_path != NULL && scan->range.timestamp_min > INT64_MIN) {
        status = open_index(&scan->times, store, place->time_path, HW_INDEX_TIME, error);
    }
    scan->ends_early = scan->offsets.file != NULL;
    return status;
}

/* Go forward to where the first entry of the range may be. */
static enum hw_status forward_start(struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_anchor anchor = {.position = 0,
                                       .expected = hw_segment_file_base_offset(scan->file)};
    struct hw_segment_anchor later;
    bool found = false;
    enum hw_status status =
        hw_segment_seek_offset(scan, scan->range.first_offset, &anchor.position, error);

    if (status == HW_OK && scan->times.file != NULL) {
        status = hw_segment_seek_timestamp(scan, scan->range.timestamp_min, &later, &found, error);
    }
    if (found && later.position > anchor.position) {
        anchor = later;
    }
    if (status == HW_OK) {
        hw_segment_file_move(scan->file, anchor.position, INT64_MAX, anchor.expected);
    }
    return status;
}

enum hw_status hw_segment_scan_open(const struct hw_allocator *allocator, struct hw_store *store,
                                    const struct hw_segment_place *place,
                                    const struct hw_segment_range *range,
                                    struct hw_segment_scan **scan, struct hw_error *error)
{
    struct hw_segment_scan *made = hw_alloc_zeroed(allocator, sizeof *made);
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, place->path);
    }
    made->allocator = allocator;
    made->range = *range;
    status = hw_segment_file_open(allocator, store, place->path, place->is_named,
                                  place->base_offset, &made->file, error);
    if (status == HW_OK) {
        if (place->is_closed) {
            hw_segment_file_set_closed(made->file, place->next_base);
        }
        if (range->trusts_headers) {
            hw_segment_file_trust_headers(made->file);
        }
        if (range->window_max > 0) {
            hw_segment_file_set_window(made->file, range->window_max);
        }
        status = open_indexes(made, store, place, error);
    }
    if (status == HW_OK) {
        status = range->is_backwards ? hw_segment_backward_start(made, error)
                                     : forward_start(made, error);
    }
    if (status != HW_OK) {
        hw_segment_scan_close(made);
        return status;
    }
    *scan = made;
    return HW_OK;
}

void hw_segment_scan_close(struct hw_segment_scan *scan)
{
    if (scan == NULL) {
        return;
    }
    hw_index_file_close(&scan->offsets);
    hw_index_file_close(&scan->times);
    hw_segment_file_close(scan->file);
    hw_free(scan->allocator, scan->entries, scan->entry_capacity * sizeof *scan->entries);
    hw_free(scan->allocator, scan->anchors, scan->anchor_capacity * sizeof *scan->anchors);
    hw_free(scan->allocator, scan, sizeof *scan);
}

enum hw_status hw_segment_scan_next(struct hw_segment_scan *scan, struct hw_segment_entry *entry,
                                    bool *found, struct hw_error *error)
{
    struct hw_segment_filter filter = {.first_offset = scan->range.first_offset,
                                       .timestamp_min = scan->range.timestamp_min};

    if (scan->range.is_backwards) {
        return hw_segment_backward_next(scan, entry, found, error);
    }
    if (scan->ends_early && hw_segment_file_expected(scan->file) > scan->range.last_offset) {
        *found = false;
        return HW_OK;
    }
    return hw_segment_file_next(scan->file, &filter, entry, found, error);
}

struct hw_segment_file *hw_segment_scan_file(struct hw_segment_scan *scan)
{
    return scan->file;
}

int64_t hw_segment_scan_bytes_read(const struct hw_segment_scan *scan)
{
    return hw_segment_file_bytes_read(scan->file) + scan->offsets.bytes_read +
           scan->times.bytes_read;
}

/* Walk from `position` to the end. *found tells whether there was a good batch. */
static enum hw_status walk_to_end(struct hw_segment_scan *scan, int64_t position,
                                  struct hw_segment_tail *tail, bool *found, struct hw_error *error)
{
    struct hw_segment_entry entry;
    bool more = true;
    enum hw_status status = HW_OK;

    *found = false;
    tail->next_offset = hw_segment_file_base_offset(scan->file);
    tail->end_position = 0;
    hw_segment_file_move(scan->file, position, INT64_MAX, tail->next_offset);
    while (status == HW_OK && more) {
        status = hw_segment_file_next(scan->file, NULL, &entry, &more, error);
        if (status == HW_OK && more && entry.fault == HW_FAULT_NONE) {
            *found = true;
            tail->end_position = entry.position + entry.size_bytes;
            tail->next_offset = entry.last_offset + 1;
        }
    }
    tail->trailing_bytes = hw_segment_file_size_bytes(scan->file) - tail->end_position;
    return status;
}

enum hw_status hw_segment_scan_tail(struct hw_segment_scan *scan, struct hw_segment_tail *tail,
                                    struct hw_error *error)
{
    int64_t position;
    bool found;
    enum hw_status status =
        hw_segment_seek_before(scan, hw_segment_file_size_bytes(scan->file), 1, &position, error);

    if (status == HW_OK) {
        status = walk_to_end(scan, position, tail, &found, error);
    }
    if (status == HW_OK && !found && position > 0) {
        status = walk_to_end(scan, 0, tail, &found, error);
    }
    return status;
}
