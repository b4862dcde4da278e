/* SPDX-License-Identifier: MIT */
/* What changes a segment while its log is open: append, write indexes, cut, sync, remove. */
#include "core/log/segment.h"

#include "core/base/assert.h"
#include "core/format/segment_name.h"

enum { REWRITE_SIZE = 256 * 1024 };

/* Whether more than `limit` ms lie between two times, of which any may come from outside. */
static bool is_longer(hw_time_ms_t from, hw_time_ms_t to, int64_t limit)
{
    return to > from && (uint64_t)to - (uint64_t)from > (uint64_t)limit;
}

bool hw_segment_should_roll(const struct hw_segment *segment,
                            const struct hw_segment_append *before, size_t count,
                            const struct hw_segment_append *append)
{
    const struct hw_log_config *config = &segment->owner->config;
    int64_t size_bytes = segment->size_bytes;
    hw_time_ms_t rolling_timestamp =
        size_bytes == 0 && count > 0 ? before[0].max_timestamp : segment->rolling_timestamp;
    bool waited_too_long =
        rolling_timestamp >= 0
            ? is_longer(rolling_timestamp, append->max_timestamp, config->segment_ms)
            : segment->created_ms != HW_TIMESTAMP_NONE &&
                  is_longer(segment->created_ms, append->now_ms, config->segment_ms);

    if (append->last_offset - segment->base_offset > INT32_MAX) {
        return true;
    }
    if (count > 0) {
        size_bytes += append->bytes - before[0].bytes;
    }
    /* An empty segment would be replaced by itself. */
    return size_bytes > 0 &&
           (size_bytes > config->segment_bytes - (int64_t)append->size_bytes || waited_too_long ||
            hw_index_is_full(&segment->offsets, count, config->segment_index_bytes) ||
            hw_index_is_full(&segment->times, count, config->segment_index_bytes));
}

/* Cut a tail that a failed append left. Errors: HW_IO. */
static enum hw_status segment_cut_dirty_tail(struct hw_segment *segment, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (segment->tail_is_dirty) {
        status = hw_file_truncate(segment->file, segment->size_bytes, error);
        segment->tail_is_dirty = status != HW_OK;
    }
    return status;
}

/* Write the bytes behind the others, and leave the file as it was if that fails. */
static enum hw_status write_at_end(struct hw_segment *segment, const uint8_t *bytes,
                                   size_t size_bytes, bool sync, struct hw_error *error)
{
    struct hw_error ignored;
    enum hw_status status =
        hw_file_write_at(segment->file, segment->size_bytes, bytes, size_bytes, error);

    if (status == HW_OK && sync) {
        status = hw_file_sync(segment->file, error);
    }
    if (status != HW_OK) {
        segment->tail_is_dirty = true;
        (void)segment_cut_dirty_tail(segment, &ignored);
    }
    return status;
}

static bool entry_is_due(const struct hw_segment *segment, int64_t bytes_since_entry)
{
    return bytes_since_entry > segment->owner->config.index_interval_bytes;
}

static void note_append(struct hw_segment *segment, const struct hw_segment_append *append)
{
    if (segment->created_ms == HW_TIMESTAMP_NONE) {
        segment->created_ms = append->now_ms;
    }
    if (segment->size_bytes == 0) {
        segment->rolling_timestamp = append->max_timestamp;
    }
    hw_segment_note_timestamp(segment, append->max_timestamp, append->last_offset);
    if (entry_is_due(segment, segment->bytes_since_entry)) {
        hw_segment_add_entries(segment, append->last_offset, segment->size_bytes);
        segment->bytes_since_entry = 0;
    }
    segment->bytes_since_entry += (int64_t)append->size_bytes;
    segment->size_bytes += (int64_t)append->size_bytes;
    segment->next_offset = append->last_offset + 1;
}

/* Room in both indexes for the entries that come due with all of this but its last `tail` bytes. */
static enum hw_status reserve_entries(struct hw_segment *segment, size_t size_bytes, size_t tail,
                                      size_t count, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (entry_is_due(segment, segment->bytes_since_entry + (int64_t)(size_bytes - tail))) {
        status = hw_segment_load_indexes(segment, error);
        if (status == HW_OK) {
            status = hw_segment_reserve_entries(segment, count, error);
        }
    }
    return status;
}

enum hw_status hw_segment_append(struct hw_segment *segment,
                                 const struct hw_segment_append *appends, size_t count, bool sync,
                                 struct hw_error *error)
{
    size_t size_bytes = 0;
    enum hw_status status;

    HW_ASSERT(count > 0);
    HW_ASSERT(appends[0].last_offset >= segment->next_offset);
    HW_ASSERT(appends[count - 1].last_offset - segment->base_offset <= INT32_MAX);
    for (size_t i = 0; i < count; i++) {
        HW_ASSERT(appends[i].bytes == appends[0].bytes + size_bytes);
        HW_ASSERT(appends[i].size_bytes > 0);
        size_bytes += appends[i].size_bytes;
    }
    HW_ASSERT(segment->size_bytes + (int64_t)size_bytes <= HW_SEGMENT_SIZE_BYTES_MAX);

    status = segment_cut_dirty_tail(segment, error);
    if (status == HW_OK) {
        status = reserve_entries(segment, size_bytes, appends[count - 1].size_bytes, count, error);
    }
    if (status == HW_OK) {
        status = write_at_end(segment, appends[0].bytes, size_bytes, sync, error);
    }
    if (status != HW_OK) {
        return status;
    }

    for (size_t i = 0; i < count; i++) {
        note_append(segment, &appends[i]);
    }
    if (sync) {
        segment->synced_bytes = segment->size_bytes;
        segment->cut_is_unsynced = false;
    }
    return HW_OK;
}

enum hw_status hw_segment_write_indexes(struct hw_segment *segment, bool sync,
                                        struct hw_error *error)
{
    hw_time_ms_t latest = segment->times.count == 0 ? HW_TIMESTAMP_NONE : segment->times.last.key;
    enum hw_status status = HW_OK;

    if (segment->max_timestamp > latest) {
        status = hw_segment_load_indexes(segment, error);
        if (status == HW_OK) {
            status = hw_index_reserve(&segment->times, 1, error);
        }
        if (status == HW_OK) {
            hw_segment_add_time_entry(segment);
        }
    }
    if (status == HW_OK) {
        status = hw_index_write(&segment->offsets, sync, error);
    }
    return status == HW_OK ? hw_index_write(&segment->times, sync, error) : status;
}

enum hw_status hw_segment_become_inactive(struct hw_segment *segment, struct hw_error *error)
{
    enum hw_status status = segment_cut_dirty_tail(segment, error);

    return status == HW_OK ? hw_segment_write_indexes(segment, true, error) : status;
}

/*
 * The timestamps of `rest`, what remains of the segment with so many index entries. The last time index
 * entry has the largest, but for the batches behind the last offset index entry: both are made at the
 * same time.
 */
static enum hw_status find_timestamps(struct hw_segment *segment, size_t offset_entries,
                                      size_t time_entries, struct hw_segment *rest,
                                      struct hw_error *error)
{
    struct hw_segment_window window = {.size = 0};
    struct hw_batch batch;
    int64_t position =
        offset_entries == 0 ? 0 : hw_index_get(&segment->offsets, offset_entries - 1).value;
    enum hw_status status = HW_OK;

    rest->max_timestamp = rest->rolling_timestamp = HW_TIMESTAMP_NONE;
    rest->max_timestamp_offset = segment->base_offset;
    if (rest->size_bytes > 0) {
        status = hw_segment_header_at(segment, &window, 0, &batch, error);
        rest->rolling_timestamp = status == HW_OK ? batch.max_timestamp : HW_TIMESTAMP_NONE;
    }
    if (time_entries > 0) {
        struct hw_index_entry entry = hw_index_get(&segment->times, time_entries - 1);

        rest->max_timestamp = entry.key;
        rest->max_timestamp_offset = segment->base_offset + entry.value;
    }
    while (status == HW_OK && position < rest->size_bytes) {
        status = hw_segment_header_at(segment, &window, position, &batch, error);
        if (status == HW_OK) {
            hw_segment_note_timestamp(rest, batch.max_timestamp, hw_batch_last_offset(&batch));
            position += (int64_t)hw_batch_size_bytes(&batch);
        }
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
    struct hw_segment rest;
    size_t offset_entries;
    size_t time_entries;
    int64_t size_bytes;
    enum hw_status status = hw_segment_load_indexes(segment, error);

    HW_ASSERT(offset >= segment->base_offset);

    if (status == HW_OK) {
        status = hw_segment_find(segment, offset, &size_bytes, error);
    }
    if (status != HW_OK) {
        return status;
    }
    rest = *segment;
    rest.size_bytes = size_bytes;
    offset_entries = count_kept_entries(segment, offset, size_bytes);
    time_entries = hw_index_count_up_to_value(&segment->times, offset - 1 - segment->base_offset);
    status = find_timestamps(segment, offset_entries, time_entries, &rest, error);
    /* The indexes first, so that no entry ever points past the end. */
    if (status == HW_OK) {
        status = hw_index_cut(&segment->offsets, offset_entries, error);
    }
    if (status == HW_OK) {
        status = hw_index_cut(&segment->times, time_entries, error);
    }
    if (status == HW_OK && (size_bytes < segment->size_bytes || segment->tail_is_dirty)) {
        status = hw_file_truncate(segment->file, size_bytes, error);
    }
    if (status != HW_OK) {
        return status;
    }

    rest.offsets = segment->offsets;
    rest.times = segment->times;
    rest.tail_is_dirty = false;
    rest.cut_is_unsynced = segment->cut_is_unsynced || size_bytes < segment->size_bytes;
    rest.synced_bytes = HW_MIN(segment->synced_bytes, size_bytes);
    rest.next_offset = offset;
    rest.bytes_since_entry = 0;
    if (size_bytes == 0) {
        rest.created_ms = HW_TIMESTAMP_NONE;
    }
    hw_segment_clear_marks(&rest);
    *segment = rest;
    return HW_OK;
}

/*
 * Write again what is not durable. After a failed sync the system may take bytes for written that
 * never reached the disk, and the next sync would succeed without them.
 */
static enum hw_status rewrite_unsynced(struct hw_segment *segment, struct hw_error *error)
{
    struct hw_buffer chunk;
    enum hw_status status = HW_OK;

    hw_buffer_init(&chunk, segment->owner->allocator);
    for (int64_t position = segment->synced_bytes;
         status == HW_OK && position < segment->size_bytes; position += (int64_t)chunk.size) {
        int64_t left = segment->size_bytes - position;

        chunk.size = 0;
        status = hw_segment_read_bytes(segment, position,
                                       left < REWRITE_SIZE ? (size_t)left : (size_t)REWRITE_SIZE,
                                       &chunk, error);
        if (status == HW_OK) {
            status = hw_file_write_at(segment->file, position, chunk.bytes, chunk.size, error);
        }
    }
    hw_buffer_release(&chunk);
    return status;
}

bool hw_segment_is_synced(const struct hw_segment *segment)
{
    return segment->synced_bytes == segment->size_bytes && !segment->cut_is_unsynced;
}

enum hw_status hw_segment_sync(struct hw_segment *segment, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (hw_segment_is_synced(segment)) {
        return HW_OK;
    }
    if (segment->sync_has_failed) {
        status = rewrite_unsynced(segment, error);
    }
    if (status == HW_OK) {
        status = hw_file_sync(segment->file, error);
        segment->sync_has_failed = status != HW_OK;
    }
    if (status == HW_OK) {
        segment->synced_bytes = segment->size_bytes;
        segment->cut_is_unsynced = false;
    }
    return status;
}

enum hw_status hw_segment_remove_files(struct hw_segment *segment, struct hw_error *error)
{
    static const char *const suffixes[] = {".log", ".index", ".timeindex", ".txnindex"};
    struct hw_error ignored;

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char path[HW_PATH_MAX];
        enum hw_status status = hw_segment_name_path(path, segment->owner->directory,
                                                     segment->base_offset, suffixes[i], error);

        if (status == HW_OK) {
            status = hw_store_remove(segment->owner->store, path, i == 0 ? error : &ignored);
        }
        if (i == 0 && status != HW_OK && status != HW_NOT_FOUND) {
            return status;
        }
    }
    return HW_OK;
}

void hw_segment_close(struct hw_segment *segment)
{
    const struct hw_allocator *allocator;

    if (segment == NULL) {
        return;
    }
    allocator = segment->owner->allocator;
    hw_index_release(&segment->offsets);
    hw_index_release(&segment->times);
    hw_file_close(segment->file);
    hw_free(allocator, segment, sizeof *segment);
}

void hw_segment_check(const struct hw_segment *segment)
{
    int64_t span = segment->next_offset - segment->base_offset;

    HW_ASSERT(segment->base_offset >= 0);
    HW_ASSERT(span >= 0);
    HW_ASSERT(segment->synced_bytes >= 0);
    HW_ASSERT(segment->synced_bytes <= segment->size_bytes);
    HW_ASSERT(segment->size_bytes <= HW_SEGMENT_SIZE_BYTES_MAX);
    hw_index_check(&segment->offsets);
    hw_index_check(&segment->times);
    if (segment->offsets.count > 0) {
        HW_ASSERT(segment->offsets.last.key < span);
        HW_ASSERT(segment->offsets.last.value < segment->size_bytes);
    }
    if (segment->times.count > 0) {
        HW_ASSERT(segment->times.last.key <= segment->max_timestamp);
        HW_ASSERT(segment->times.last.value < span);
    }
}
