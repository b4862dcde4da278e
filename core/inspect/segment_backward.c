/* SPDX-License-Identifier: MIT */
/*
 * Walking backwards: chunk by chunk from the end down, each of them forwards into memory.
 *
 *     0 ........ anchor ....... anchor ... anchor ... end
 *                                          \ chunk 1 /
 *                               \ chunk 2 /
 *
 * Anchors come from the offset index, first every entry and then every few. Where a chunk has any
 * damage in it, or the index none to offer, the file is walked once from its beginning to make
 * anchors of our own, so that the entries are the same as forwards.
 */
#include "core/inspect/segment_scan_internal.h"

enum {
    CHUNK_BYTES_MIN = 256 * 1024, /* Chunks grow up to this... */
    CHUNK_BYTES_MAX = 1 << 20,    /* ...and shrink from this. */
    CHUNK_ENTRIES_MAX = 16384     /* More are not held in memory: closer anchors are needed. */
};

enum hw_status hw_segment_backward_start(struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_filter filter = {.first_offset = scan->range.last_offset,
                                       .timestamp_min = INT64_MIN};
    struct hw_segment_entry entry;
    int64_t position;
    bool found = true;
    enum hw_status status;

    scan->stride = 1;
    scan->chunk_start = hw_segment_file_size_bytes(scan->file);
    if (!scan->ends_early || scan->range.last_offset == INT64_MAX) {
        return HW_OK;
    }
    /* Begin where a walk forwards would end: what it meets on its way may be damage, or a message
     * of which the header does not tell where it ends. */
    status = hw_segment_seek_offset(scan, scan->range.last_offset, &position, error);
    if (status != HW_OK) {
        return status;
    }
    hw_segment_file_move(scan->file, position, INT64_MAX, hw_segment_file_base_offset(scan->file));
    while (status == HW_OK && found &&
           hw_segment_file_expected(scan->file) <= scan->range.last_offset) {
        status = hw_segment_file_next(scan->file, &filter, &entry, &found, error);
    }
    if (status == HW_OK && found) {
        scan->chunk_start = hw_segment_file_position(scan->file);
    }
    return status;
}

/* Walk over everything below the present chunk once, noting places to begin. */
static enum hw_status make_anchors(struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_anchor anchor = {.expected = hw_segment_file_base_offset(scan->file)};
    struct hw_segment_entry entry;
    bool found = true;
    enum hw_status status = HW_OK;

    scan->uses_anchors = true;
    hw_segment_file_move(scan->file, 0, scan->chunk_start, anchor.expected);
    while (status == HW_OK && found) {
        if (scan->anchor_count == 0 ||
            anchor.position - scan->anchors[scan->anchor_count - 1].position >= CHUNK_BYTES_MIN) {
            status =
                hw_array_reserve(scan->allocator, (void **)&scan->anchors, &scan->anchor_capacity,
                                 scan->anchor_count + 1, sizeof *scan->anchors, error);
            if (status != HW_OK) {
                return status;
            }
            scan->anchors[scan->anchor_count++] = anchor;
        }
        status = hw_segment_file_next(scan->file, NULL, &entry, &found, error);
        anchor = (struct hw_segment_anchor){.position = hw_segment_file_position(scan->file),
                                            .expected = hw_segment_file_expected(scan->file)};
    }
    return status;
}

/* Where the next chunk begins, below the present one. */
static enum hw_status find_anchor(struct hw_segment_scan *scan, struct hw_segment_anchor *anchor,
                                  struct hw_error *error)
{
    *anchor = (struct hw_segment_anchor){.expected = hw_segment_file_base_offset(scan->file)};
    if (!scan->uses_anchors) {
        return hw_segment_seek_before(scan, scan->chunk_start, scan->stride, &anchor->position,
                                      error);
    }
    while (scan->anchor_count > 0 &&
           scan->anchors[scan->anchor_count - 1].position >= scan->chunk_start) {
        scan->anchor_count--;
    }
    if (scan->anchor_count > 0) {
        *anchor = scan->anchors[scan->anchor_count - 1];
    }
    return HW_OK;
}

/* Walk from the anchor to the present chunk. *is_clean is false if there is any damage between, or
 * more than fits. */
static enum hw_status fill_chunk(struct hw_segment_scan *scan,
                                 const struct hw_segment_anchor *anchor, bool *is_clean,
                                 struct hw_error *error)
{
    struct hw_segment_filter filter = {.first_offset = scan->range.first_offset,
                                       .timestamp_min = scan->range.timestamp_min};
    bool found = true;
    enum hw_status status = HW_OK;

    *is_clean = true;
    scan->entry_left = 0;
    hw_segment_file_move(scan->file, anchor->position, scan->chunk_start, anchor->expected);
    while (status == HW_OK && found) {
        status = hw_array_reserve(scan->allocator, (void **)&scan->entries, &scan->entry_capacity,
                                  scan->entry_left + 1, sizeof *scan->entries, error);
        if (status == HW_OK) {
            struct hw_segment_entry *entry = &scan->entries[scan->entry_left];

            status = hw_segment_file_next(scan->file, &filter, entry, &found, error);
            if (status == HW_OK && found) {
                *is_clean = *is_clean && entry->fault == HW_FAULT_NONE &&
                            scan->entry_left < CHUNK_ENTRIES_MAX;
                scan->entry_left++;
            }
            if (!*is_clean && !scan->uses_anchors) {
                return status;
            }
        }
    }
    return status;
}

/* Whether nothing that is wanted lies below the anchor. */
static enum hw_status is_first_chunk(struct hw_segment_scan *scan,
                                     const struct hw_segment_anchor *anchor, bool *is_first,
                                     struct hw_error *error)
{
    struct hw_batch batch;
    bool is_good;
    enum hw_status status;

    *is_first = anchor->position == 0;
    if (*is_first || !scan->ends_early) {
        return HW_OK;
    }
    status =
        hw_segment_file_check(scan->file, anchor->position, INT64_MAX, &batch, &is_good, error);
    *is_first = status == HW_OK && is_good &&
                (batch.base_offset < scan->range.first_offset ||
                 (batch.magic == 2 && batch.base_offset == scan->range.first_offset));
    return status;
}

static enum hw_status next_chunk(struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_anchor anchor;
    bool is_clean;
    bool is_first;
    enum hw_status status = find_anchor(scan, &anchor, error);

    if (status == HW_OK) {
        status = fill_chunk(scan, &anchor, &is_clean, error);
    }
    if (status == HW_OK && !is_clean && !scan->uses_anchors) {
        status = make_anchors(scan, error);
        if (status == HW_OK) {
            status = find_anchor(scan, &anchor, error);
        }
        if (status == HW_OK) {
            status = fill_chunk(scan, &anchor, &is_clean, error);
        }
    }
    if (status == HW_OK) {
        status = is_first_chunk(scan, &anchor, &is_first, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (scan->chunk_start - anchor.position < CHUNK_BYTES_MIN) {
        scan->stride *= 2;
    } else if (scan->chunk_start - anchor.position > CHUNK_BYTES_MAX && scan->stride > 1) {
        scan->stride /= 2;
    }
    scan->chunk_start = is_first ? 0 : anchor.position;
    return HW_OK;
}

enum hw_status hw_segment_backward_next(struct hw_segment_scan *scan,
                                        struct hw_segment_entry *entry, bool *found,
                                        struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && scan->entry_left == 0 && scan->chunk_start > 0) {
        status = next_chunk(scan, error);
    }
    *found = status == HW_OK && scan->entry_left > 0;
    if (*found) {
        *entry = scan->entries[--scan->entry_left];
    }
    return status;
}
