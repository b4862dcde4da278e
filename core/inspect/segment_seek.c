/* SPDX-License-Identifier: MIT */
/* Places to begin a walk, by the indexes as far as they can be believed. */
#include "core/inspect/segment_scan_internal.h"

/* Entries that are tried before the index is given up. */
enum { TRIES_MAX = 16 };

/*
 * Whether the .log confirms the entry with this number, whose key is not above `key_max`: a batch
 * begins there whose offsets are not above the entry's, and above those of the entry before.
 */
static enum hw_status is_confirmed(struct hw_segment_scan *scan, int64_t number, int64_t key_max,
                                   int64_t *position, bool *is_good, struct hw_error *error)
{
    hw_offset_t base = hw_segment_file_base_offset(scan->file);
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
    status = hw_segment_file_check(scan->file, entry.value, hw_index_offset(base, entry.key),
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

enum hw_status hw_segment_seek_offset(struct hw_segment_scan *scan, hw_offset_t offset,
                                      int64_t *position, struct hw_error *error)
{
    hw_offset_t base = hw_segment_file_base_offset(scan->file);
    int64_t count;
    enum hw_status status;

    *position = 0;
    if (offset <= base) {
        return HW_OK;
    }
    status = hw_index_file_count_up_to(&scan->offsets, offset - base, &count, error);
    return status == HW_OK ? confirmed_position(scan, count, offset - base, position, error)
                           : status;
}

enum hw_status hw_segment_seek_before(struct hw_segment_scan *scan, int64_t end, int64_t back,
                                      int64_t *position, struct hw_error *error)
{
    int64_t count;
    enum hw_status status = hw_index_file_count_up_to_value(&scan->offsets, end - 1, &count, error);

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
        status = hw_index_file_count_up_to(&scan->times, timestamp - 1, &count, error);
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
    struct hw_segment_filter filter = {.first_offset = offset, .timestamp_min = INT64_MIN};
    struct hw_segment_entry entry;
    enum hw_status status;

    hw_segment_file_move(scan->file, position, INT64_MAX, hw_segment_file_base_offset(scan->file));
    status = hw_segment_file_next(scan->file, &filter, &entry, found, error);
    *found = status == HW_OK && *found && entry.fault == HW_FAULT_NONE &&
             entry.first_offset <= offset && entry.last_offset >= offset &&
             entry.batch.max_timestamp == timestamp;
    return status;
}

enum hw_status hw_segment_seek_timestamp(struct hw_segment_scan *scan, hw_time_ms_t timestamp,
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
    offset = hw_index_offset(hw_segment_file_base_offset(scan->file), entry.value);
    status = hw_segment_seek_offset(scan, offset, &position, error);
    if (status == HW_OK) {
        status = find_batch(scan, position, offset, entry.key, found, error);
    }
    *anchor = (struct hw_segment_anchor){.position = hw_segment_file_position(scan->file),
                                         .expected = hw_segment_file_expected(scan->file)};
    return status;
}
