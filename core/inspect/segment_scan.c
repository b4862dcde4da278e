/* SPDX-License-Identifier: MIT */
#include "core/inspect/segment_scan.h"

/* ------------------------------------------------------------------------------- by the indexes */

/* Entries that are tried before the index is given up. */
enum { TRIES_MAX = 16 };

/*
 * Whether the .log confirms the entry with this number, whose key is not above `key_max`: a batch
 * begins there whose offsets are not above the entry's, and above those of the entry before.
 */
static enum hw_status is_confirmed(struct hw_segment_scan *scan, int64_t number, int64_t key_max,
                                   int64_t *position, bool *is_good, struct hw_error *error)
{
    hw_offset_t base = scan->file.base_offset;
    struct hw_index_entry before = {.key = -1};
    struct hw_index_entry entry;
    struct hw_batch batch;
    enum hw_status status = hw_index_file_get(&scan->offsets, number, &entry, error);

    *is_good = false;
    if (status == HW_OK && number > 0) {
        status = hw_index_file_get(&scan->offsets, number - 1, &before, error);
    }
    if (status != HW_OK || entry.key <= before.key || entry.key < 0 || entry.key > key_max ||
        entry.value <= 0) {
        return status;
    }
    status = hw_segment_file_check(&scan->file, entry.value, hw_index_offset(base, entry.key),
                                   &batch, is_good, error);
    if (status == HW_OK && *is_good) {
        *is_good = batch.base_offset > hw_index_offset(base, before.key);
        *position = entry.value;
    }
    return status;
}

/* The position of entry `count` - 1 of the offset index, or of an earlier one, whichever is the
 * first with a key of at most `key_max` that the .log confirms; 0 if none of some is. The keys may
 * be in any order. */
static enum hw_status confirmed_position(struct hw_segment_scan *scan, int64_t count,
                                         int64_t key_max, int64_t *position, struct hw_error *error)
{
    for (int64_t i = count - 1; i >= 0 && i >= count - TRIES_MAX; i--) {
        bool is_good;
        enum hw_status status = is_confirmed(scan, i, key_max, position, &is_good, error);

        if (status != HW_OK || is_good) {
            return status;
        }
    }
    *position = 0;
    return HW_OK;
}

/*
 * Find where to begin to walk so that no batch with an offset >= `offset` is missed: the position
 * that the best index entry gives, or 0.
 */
static enum hw_status segment_seek_offset(struct hw_segment_scan *scan, hw_offset_t offset,
                                          int64_t *position, struct hw_error *error)
{
    hw_offset_t base = scan->file.base_offset;
    int64_t count;
    enum hw_status status;

    *position = 0;
    if (offset <= base) {
        return HW_OK;
    }
    status = hw_index_file_count_up_to(&scan->offsets, offset - base, false, &count, error);
    return status == HW_OK ? confirmed_position(scan, count, offset - base, position, error)
                           : status;
}

/*
 * The position of the `back`-th index entry, counted down from the last one that points below
 * `end`, or of the next one before it that can be believed; 0 if there is none.
 */
static enum hw_status segment_seek_before(struct hw_segment_scan *scan, int64_t end, int64_t back,
                                          int64_t *position, struct hw_error *error)
{
    int64_t count;
    enum hw_status status = hw_index_file_count_up_to(&scan->offsets, end - 1, true, &count, error);

    if (status != HW_OK) {
        return status;
    }
    status = confirmed_position(scan, count - back + 1, INT64_MAX, position, error);
    if (status == HW_OK && *position >= end) {
        *position = 0; /* The positions are not sorted. */
    }
    return status;
}

/* The last time index entry below `timestamp`, if it is in order with both its neighbours. */
static enum hw_status time_entry_below(struct hw_segment_scan *scan, hw_time_ms_t timestamp,
                                       struct hw_index_entry *entry, bool *found,
                                       struct hw_error *error)
{
    struct hw_index_entry neighbour;
    int64_t count = 0;
    enum hw_status status = HW_OK;

    *found = false;
    if (timestamp > INT64_MIN) {
        status = hw_index_file_count_up_to(&scan->times, timestamp - 1, false, &count, error);
    }
    if (status != HW_OK || count == 0) {
        return status;
    }
    status = hw_index_file_get(&scan->times, count - 1, entry, error);
    *found = status == HW_OK && entry->value >= 0 && entry->key >= 0;
    if (*found && count > 1) {
        status = hw_index_file_get(&scan->times, count - 2, &neighbour, error);
        *found = status == HW_OK && neighbour.key < entry->key && neighbour.value <= entry->value;
    }
    if (status == HW_OK && *found && count < scan->times.slots) {
        status = hw_index_file_get(&scan->times, count, &neighbour, error);
        *found =
            status == HW_OK && (hw_index_entry_is_zero(HW_INDEX_TIME, count, neighbour) ||
                                (neighbour.key > entry->key && neighbour.value >= entry->value));
    }
    return status;
}

/* Walk from `position` to the batch that holds `offset`, by headers only where possible; *found
 * tells whether its largest timestamp is `timestamp`. */
static enum hw_status find_batch(struct hw_segment_scan *scan, int64_t position, hw_offset_t offset,
                                 hw_time_ms_t timestamp, bool *found, struct hw_error *error)
{
    struct hw_segment_range wanted = {.first_offset = offset, .timestamp_min = INT64_MIN};
    struct hw_segment_entry entry;
    enum hw_status status;

    hw_segment_file_move(&scan->file, position, INT64_MAX, scan->file.base_offset);
    status = hw_segment_file_next(&scan->file, &wanted, &entry, found, error);
    *found = status == HW_OK && *found && entry.fault == HW_FAULT_NONE &&
             entry.first_offset <= offset && entry.last_offset >= offset &&
             entry.batch.max_timestamp == timestamp;
    return status;
}

/* Where to begin for records with a timestamp >= `timestamp`: an anchor, as it may be the end of a
 * batch that was looked at. *found is false if the time index does not help. */
static enum hw_status segment_seek_timestamp(struct hw_segment_scan *scan, hw_time_ms_t timestamp,
                                             struct hw_segment_anchor *anchor, bool *found,
                                             struct hw_error *error)
{
    struct hw_index_entry entry;
    hw_offset_t offset;
    int64_t position;
    enum hw_status status = time_entry_below(scan, timestamp, &entry, found, error);

    if (status != HW_OK || !*found) {
        return status;
    }
    offset = hw_index_offset(scan->file.base_offset, entry.value);
    status = segment_seek_offset(scan, offset, &position, error);
    if (status == HW_OK) {
        status = find_batch(scan, position, offset, entry.key, found, error);
    }
    *anchor = (struct hw_segment_anchor){.position = scan->file.position,
                                         .expected = scan->file.expected};
    return status;
}

/* ------------------------------------------------------------------------------------ backwards */

/* The offsets grow, as the index shows: nothing wanted is behind the range. */
static bool ends_early(const struct hw_segment_scan *scan)
{
    return scan->offsets.file != NULL;
}

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

enum {
    CHUNK_BYTES_MIN = 256 * 1024, /* Chunks grow up to this... */
    CHUNK_BYTES_MAX = 1 << 20,    /* ...and shrink from this. */
    CHUNK_ENTRIES_MAX = 16384     /* More are not held in memory: closer anchors are needed. */
};

static enum hw_status segment_backward_start(struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_range wanted = {.first_offset = scan->range.last_offset,
                                      .timestamp_min = INT64_MIN};
    struct hw_segment_entry entry;
    int64_t position;
    bool found = true;
    enum hw_status status;

    scan->stride = 1;
    scan->chunk_start = scan->file.size_bytes;
    if (!ends_early(scan) || scan->range.last_offset == INT64_MAX) {
        return HW_OK;
    }
    /* Begin where a walk forwards would end: what it meets on its way may be damage, or a message
     * of which the header does not tell where it ends. */
    status = segment_seek_offset(scan, scan->range.last_offset, &position, error);
    if (status != HW_OK) {
        return status;
    }
    hw_segment_file_move(&scan->file, position, INT64_MAX, scan->file.base_offset);
    while (status == HW_OK && found && scan->file.expected <= scan->range.last_offset) {
        status = hw_segment_file_next(&scan->file, &wanted, &entry, &found, error);
    }
    if (status == HW_OK && found) {
        scan->chunk_start = scan->file.position;
    }
    return status;
}

/* Walk over everything below the present chunk once, noting places to begin. */
static enum hw_status make_anchors(struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_anchor anchor = {.expected = scan->file.base_offset};
    struct hw_segment_entry entry;
    bool found = true;
    enum hw_status status = HW_OK;

    scan->uses_anchors = true;
    hw_segment_file_move(&scan->file, 0, scan->chunk_start, anchor.expected);
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
        status = hw_segment_file_next(&scan->file, NULL, &entry, &found, error);
        anchor = (struct hw_segment_anchor){.position = scan->file.position,
                                            .expected = scan->file.expected};
    }
    return status;
}

/* Where the next chunk begins, below the present one. */
static enum hw_status find_anchor(struct hw_segment_scan *scan, struct hw_segment_anchor *anchor,
                                  struct hw_error *error)
{
    *anchor = (struct hw_segment_anchor){.expected = scan->file.base_offset};
    if (!scan->uses_anchors) {
        return segment_seek_before(scan, scan->chunk_start, scan->stride, &anchor->position, error);
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
    bool found = true;
    enum hw_status status = HW_OK;

    *is_clean = true;
    scan->entry_left = 0;
    hw_segment_file_move(&scan->file, anchor->position, scan->chunk_start, anchor->expected);
    while (status == HW_OK && found) {
        status = hw_array_reserve(scan->allocator, (void **)&scan->entries, &scan->entry_capacity,
                                  scan->entry_left + 1, sizeof *scan->entries, error);
        if (status == HW_OK) {
            struct hw_segment_entry *entry = &scan->entries[scan->entry_left];

            status = hw_segment_file_next(&scan->file, &scan->range, entry, &found, error);
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
    if (*is_first || !ends_early(scan)) {
        return HW_OK;
    }
    status =
        hw_segment_file_check(&scan->file, anchor->position, INT64_MAX, &batch, &is_good, error);
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

static enum hw_status segment_backward_next(struct hw_segment_scan *scan,
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

/* ------------------------------------------------------------------------------------- the scan */

/* Open one index. One that cannot be opened is as good as none. */
static enum hw_status open_index(struct hw_segment_scan *scan, struct hw_index_file *index,
                                 struct hw_store *store, const char *path, enum hw_index_kind kind,
                                 struct hw_error *error)
{
    enum hw_status status =
        path[0] == '\0' ? HW_OK : hw_index_file_open(index, store, path, kind, error);

    if (status == HW_IO) {
        hw_index_file_close(index);
        return HW_OK;
    }
    index->bytes_read = scan->range.bytes_read;
    return status;
}

/* Go forward to where the first entry of the range may be. */
static enum hw_status forward_start(struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_anchor anchor = {.position = 0, .expected = scan->file.base_offset};
    struct hw_segment_anchor later;
    bool found = false;
    enum hw_status status =
        segment_seek_offset(scan, scan->range.first_offset, &anchor.position, error);

    if (status == HW_OK && scan->times.file != NULL) {
        status = segment_seek_timestamp(scan, scan->range.timestamp_min, &later, &found, error);
    }
    if (found && later.position > anchor.position) {
        anchor = later;
    }
    if (status == HW_OK) {
        hw_segment_file_move(&scan->file, anchor.position, INT64_MAX, anchor.expected);
    }
    return status;
}

enum hw_status hw_segment_scan_open(const struct hw_allocator *allocator, struct hw_store *store,
                                    const struct hw_segment_paths *paths, hw_offset_t next_base,
                                    const struct hw_segment_range *range,
                                    struct hw_segment_scan **scan, struct hw_error *error)
{
    struct hw_segment_scan *made = hw_alloc_zeroed(allocator, sizeof *made);
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, paths->log);
    }
    made->allocator = allocator;
    made->range = *range;
    status = hw_segment_file_open(&made->file, allocator, store, paths->log, paths->is_named,
                                  paths->base_offset, next_base, error);
    if (status == HW_OK) {
        made->file.trusts_headers = range->trusts_headers;
        made->file.bytes_read = range->bytes_read;
        if (range->window_max > 0) {
            made->file.window_max = range->window_max;
        }
        status = open_index(made, &made->offsets, store, paths->index, HW_INDEX_OFFSET, error);
    }
    if (status == HW_OK && range->timestamp_min > INT64_MIN) {
        status = open_index(made, &made->times, store, paths->time, HW_INDEX_TIME, error);
    }
    if (status == HW_OK) {
        status =
            range->is_backwards ? segment_backward_start(made, error) : forward_start(made, error);
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
    hw_segment_file_close(&scan->file);
    hw_free(scan->allocator, scan->entries, scan->entry_capacity * sizeof *scan->entries);
    hw_free(scan->allocator, scan->anchors, scan->anchor_capacity * sizeof *scan->anchors);
    hw_free(scan->allocator, scan, sizeof *scan);
}

enum hw_status hw_segment_scan_next(struct hw_segment_scan *scan, struct hw_segment_entry *entry,
                                    bool *found, struct hw_error *error)
{
    if (scan->range.is_backwards) {
        return segment_backward_next(scan, entry, found, error);
    }
    if (ends_early(scan) && scan->file.expected > scan->range.last_offset) {
        *found = false;
        return HW_OK;
    }
    return hw_segment_file_next(&scan->file, &scan->range, entry, found, error);
}

/* Walk from `position` to the end. *found tells whether there was a good batch. */
static enum hw_status walk_to_end(struct hw_segment_scan *scan, int64_t position,
                                  struct hw_segment_tail *tail, bool *found, struct hw_error *error)
{
    struct hw_segment_entry entry;
    int64_t end = 0;
    bool more = true;
    enum hw_status status = HW_OK;

    *found = false;
    tail->next_offset = scan->file.base_offset;
    hw_segment_file_move(&scan->file, position, INT64_MAX, tail->next_offset);
    while (status == HW_OK && more) {
        status = hw_segment_file_next(&scan->file, NULL, &entry, &more, error);
        if (status == HW_OK && more && entry.fault == HW_FAULT_NONE) {
            *found = true;
            end = entry.position + entry.size_bytes;
            tail->next_offset = entry.last_offset + 1;
        }
    }
    tail->trailing_bytes = scan->file.size_bytes - end;
    return status;
}

enum hw_status hw_segment_scan_tail(struct hw_segment_scan *scan, struct hw_segment_tail *tail,
                                    struct hw_error *error)
{
    int64_t position;
    bool found;
    enum hw_status status = segment_seek_before(scan, scan->file.size_bytes, 1, &position, error);

    if (status == HW_OK) {
        status = walk_to_end(scan, position, tail, &found, error);
    }
    if (status == HW_OK && !found && position > 0) {
        status = walk_to_end(scan, 0, tail, &found, error);
    }
    return status;
}
