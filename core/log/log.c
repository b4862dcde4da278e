/* SPDX-License-Identifier: MIT */
/* A log's state: what it knows, its high watermark, its epochs, and making it durable. */
#include "core/log/log_internal.h"

#include "core/base/assert.h"
#include "core/base/search.h"
#include "core/log/checkpoint_file.h"

#include <string.h>

void hw_log_set_config(struct hw_log *log, const struct hw_log_config *config)
{
    log->owner.config = *config;
}

struct hw_segment *hw_log_active(const struct hw_log *log)
{
    return log->segments[log->count - 1];
}

size_t hw_log_floor_segment(const struct hw_log *log, hw_offset_t offset)
{
    size_t at;

    HW_SEARCH(at, 1, log->count, log->segments[at]->base_offset <= offset);
    return at - 1;
}

hw_offset_t hw_log_segment_limit(const struct hw_log *log, size_t i, hw_offset_t last)
{
    return i + 1 < log->count ? log->segments[i + 1]->base_offset : last;
}

enum hw_status hw_log_add_segment(struct hw_log *log, hw_offset_t base_offset,
                                  enum hw_open_mode mode, hw_time_ms_t now_ms,
                                  struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(log->owner.allocator, (void **)&log->segments, &log->capacity,
                         log->count + 1, sizeof *log->segments, error);

    if (status == HW_OK) {
        status = hw_segment_open(&log->owner, base_offset, ".log", mode, now_ms,
                                 &log->segments[log->count], error);
    }
    log->count += status == HW_OK;
    return status;
}

hw_offset_t hw_log_start(const struct hw_log *log)
{
    return log->start;
}

hw_offset_t hw_log_end(const struct hw_log *log)
{
    return hw_log_active(log)->next_offset;
}

int64_t hw_log_flush_count(const struct hw_log *log)
{
    return log->flush_count;
}

hw_offset_t hw_log_high_watermark(const struct hw_log *log)
{
    return log->high_watermark;
}

hw_offset_t hw_log_recovery_point(const struct hw_log *log)
{
    return log->recovery_point;
}

hw_offset_t hw_log_synced_end(const struct hw_log *log)
{
    return HW_MAX(log->recovery_point, log->synced_end);
}

const struct hw_epoch_cache *hw_log_epochs(const struct hw_log *log)
{
    return &log->epochs;
}

uint64_t hw_log_content_id(const struct hw_log *log)
{
    return log->content_id;
}

void hw_log_set_content_id(struct hw_log *log, uint64_t content_id)
{
    log->content_id = content_id;
}

void hw_log_keep_recent(struct hw_log *log, struct hw_recent_appends *recent)
{
    log->recent = recent;
}

void hw_log_note_gapless(struct hw_log *log, hw_offset_t first, hw_offset_t end)
{
    if (end > hw_log_end(log)) { /* A damaged header. */
        return;
    }
    if (first <= log->gapless_end && end >= log->gapless_first) {
        log->gapless_first = HW_MIN(first, log->gapless_first);
        log->gapless_end = HW_MAX(end, log->gapless_end);
    } else if (end - first > log->gapless_end - log->gapless_first) {
        log->gapless_first = first;
        log->gapless_end = end;
    }
}

void hw_log_gapless(const struct hw_log *log, hw_offset_t *first, hw_offset_t *end)
{
    *first = log->gapless_first;
    *end = log->gapless_end;
}

const char *hw_log_directory(const struct hw_log *log)
{
    return log->owner.directory;
}

int64_t hw_log_size_bytes(const struct hw_log *log)
{
    int64_t size_bytes = 0;

    for (size_t i = 0; i < log->count; i++) {
        size_bytes += log->segments[i]->size_bytes;
    }
    return size_bytes;
}

hw_offset_t hw_log_first_segment_base(const struct hw_log *log)
{
    return log->segments[0]->base_offset;
}

hw_offset_t hw_log_stored_start(const struct hw_log *log)
{
    hw_offset_t base = hw_log_first_segment_base(log);

    return HW_MIN(base, log->start);
}

size_t hw_log_segment_count(const struct hw_log *log)
{
    return log->count;
}

struct hw_segment_view hw_log_segment_view(const struct hw_log *log, size_t index)
{
    const struct hw_segment *segment;

    HW_ASSERT(index < log->count);
    segment = log->segments[index];
    return (struct hw_segment_view){.base_offset = segment->base_offset,
                                    .next_offset = segment->next_offset,
                                    .size_bytes = segment->size_bytes,
                                    .index_entries = (int64_t)segment->offsets.count,
                                    .max_timestamp = segment->max_timestamp};
}

bool hw_log_update_high_watermark(struct hw_log *log, hw_offset_t high_watermark)
{
    hw_offset_t before = log->high_watermark;

    log->high_watermark = HW_MAX(log->start, HW_MIN(high_watermark, hw_log_end(log)));
    hw_producer_state_pass(&log->producers, log->high_watermark);
    return log->high_watermark != before;
}

bool hw_log_maybe_increment_high_watermark(struct hw_log *log, hw_offset_t high_watermark)
{
    HW_ASSERT(high_watermark <= hw_log_end(log));
    if (high_watermark <= log->high_watermark) {
        return false;
    }
    log->high_watermark = high_watermark;
    hw_producer_state_pass(&log->producers, high_watermark);
    return true;
}

enum hw_status hw_log_write_epochs_of(struct hw_log *log, const struct hw_epoch_cache *epochs,
                                      struct hw_error *error)
{
    /* That the first epoch begins at 0 is what a log says without the file, so it can wait for the
     * first flush; and cut off anywhere, or empty, this file says the same or nothing. */
    bool sync = log->has_epoch_file || epochs->count != 1 || epochs->entries[0].start_offset != 0;
    char path[HW_PATH_MAX];
    enum hw_status status =
        hw_path_join(path, log->owner.directory, "leader-epoch-checkpoint", error);

    if (status == HW_OK) {
        log->has_epoch_file = true;
        log->lacks_sync = log->lacks_sync || !sync;
        log->names_are_durable = log->names_are_durable && sync;
        status = hw_epoch_checkpoint_write(log->owner.store, path, epochs, sync, error);
    }
    return status;
}

enum hw_status hw_log_write_epochs(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (!log->epochs_are_on_disk) {
        status = hw_log_write_epochs_of(log, &log->epochs, error);
        log->epochs_are_on_disk = status == HW_OK;
    }
    return status;
}

static void epochs_swap(struct hw_log *log, struct hw_epoch_cache *next)
{
    struct hw_epoch_cache old = log->epochs;

    log->epochs = *next;
    *next = old;
}

enum hw_status hw_log_store_epochs(struct hw_log *log, struct hw_epoch_cache *next,
                                   struct hw_error *error)
{
    enum hw_status status = hw_log_write_epochs_of(log, next, error);

    /* Even after an error the file may be the new one: the last step is to sync the directory. */
    log->epochs_are_on_disk = false;
    if (status == HW_OK) {
        epochs_swap(log, next);
        log->epochs_are_on_disk = true;
    }
    return status;
}

enum hw_status hw_log_assign_epoch(struct hw_log *log, hw_epoch_t epoch, struct hw_error *error)
{
    struct hw_epoch_cache next;
    enum hw_status status;

    HW_ASSERT(epoch >= 0);

    if (hw_epoch_cache_is_noted(&log->epochs, epoch, hw_log_end(log))) {
        return HW_OK;
    }
    status = hw_epoch_cache_copy(&next, &log->epochs, error);
    if (status == HW_OK) {
        status = hw_epoch_cache_assign(&next, epoch, hw_log_end(log), error);
    }
    if (status == HW_OK) {
        status = hw_log_store_epochs(log, &next, error);
        if (status == HW_IO) {
            epochs_swap(log, &next);
            status = HW_OK;
        }
    }
    hw_epoch_cache_release(&next);
    return status;
}

struct hw_epoch_end hw_log_end_offset_for_epoch(const struct hw_log *log, hw_epoch_t epoch)
{
    return hw_epoch_cache_end_offset_for(&log->epochs, epoch, hw_log_end(log));
}

enum hw_status hw_log_sync_names(struct hw_log *log, struct hw_error *error)
{
    const char *slash = strrchr(log->owner.directory, '/');
    char parent[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    if (!log->names_are_durable) {
        status = hw_store_sync_directory(log->owner.store, log->owner.directory, error);
    }
    if (status == HW_OK && log->directory_is_new && slash != NULL &&
        slash != log->owner.directory) {
        hw_path_parent(log->owner.directory, parent);
        status = hw_store_sync_directory(log->owner.store, parent, error);
    }
    if (status == HW_OK) {
        log->names_are_durable = true;
        log->directory_is_new = false;
    }
    return status;
}

/* The two small files, if they were not synced when they were written. */
static enum hw_status sync_small_files(struct hw_log *log, struct hw_error *error)
{
    static const char *const names[] = {"partition.metadata", "leader-epoch-checkpoint"};
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && log->lacks_sync && i < 2; i++) {
        char path[HW_PATH_MAX];

        status = hw_path_join(path, log->owner.directory, names[i], error);
        if (status == HW_OK) {
            status = hw_store_sync_file(log->owner.store, log->owner.allocator, path, error);
        }
    }
    log->lacks_sync = log->lacks_sync && status != HW_OK;
    return status;
}

enum hw_status hw_log_make_durable(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = sync_small_files(log, error);

    for (size_t i = hw_log_floor_segment(log, log->recovery_point);
         status == HW_OK && i < log->count; i++) {
        log->flush_count += hw_segment_is_synced(log->segments[i]) ? 0 : 1;
        status = hw_segment_sync(log->segments[i], error);
    }
    if (status == HW_OK) {
        status = hw_log_sync_names(log, error);
    }
    if (status == HW_OK) {
        log->recovery_point = hw_log_end(log);
    }
    return status;
}

enum hw_status hw_log_flush(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = hw_log_write_epochs(log, error);

    return status == HW_OK ? hw_log_make_durable(log, error) : status;
}

enum hw_status hw_log_lose_unsynced(struct hw_log *log, struct hw_error *error)
{
    const struct hw_segment *active = hw_log_active(log);

    return hw_file_truncate(active->file, active->synced_bytes, error);
}

void hw_log_close(struct hw_log *log)
{
    const struct hw_allocator *allocator;

    if (log == NULL) {
        return;
    }
    allocator = log->owner.allocator;
    for (size_t i = 0; i < log->count; i++) {
        hw_segment_close(log->segments[i]);
    }
    hw_free(allocator, log->segments, log->capacity * sizeof *log->segments);
    hw_free(allocator, log->snapshots, log->snapshot_capacity * sizeof *log->snapshots);
    hw_epoch_cache_release(&log->epochs);
    hw_producer_state_release(&log->producers);
    hw_transaction_index_release(&log->transactions);
    hw_buffer_release(&log->appends);
    hw_text_free(allocator, log->owner.directory);
    hw_free(allocator, log, sizeof *log);
}

void hw_log_check(const struct hw_log *log)
{
    HW_ASSERT(log->count > 0 && log->count <= log->capacity);
    HW_ASSERT(log->start >= 0);
    HW_ASSERT(log->start <= log->high_watermark);
    HW_ASSERT(log->high_watermark <= hw_log_end(log));
    HW_ASSERT(log->recovery_point >= 0 && log->recovery_point <= hw_log_end(log));
    for (size_t i = 0; i < log->count; i++) {
        hw_segment_check(log->segments[i]);
        HW_ASSERT(
            HW_IMPLIES(i > 0, log->segments[i - 1]->next_offset <= log->segments[i]->base_offset));
        HW_ASSERT(
            HW_IMPLIES(i > 0, log->segments[i - 1]->base_offset < log->segments[i]->base_offset));
    }
    HW_ASSERT(log->gapless_first <= log->gapless_end && log->gapless_end <= hw_log_end(log));
    hw_epoch_cache_check(&log->epochs);
    hw_producer_state_check_order(&log->producers);
    HW_ASSERT(log->producers_end >= hw_log_end(log));
    if (log->epochs.count > 0) {
        HW_ASSERT(log->epochs.entries[log->epochs.count - 1].start_offset <= hw_log_end(log));
    }
}
