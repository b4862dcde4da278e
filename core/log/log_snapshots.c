/* SPDX-License-Identifier: MIT */
/*
 * Producer snapshots: B.snapshot holds what is known of producers below offset B. One is taken at
 * each roll and at a clean stop.
 *
 *     0.log                  100.log              250.log
 *     [..........................)[...................)[.......      )
 *                           100.snapshot         250.snapshot    312.snapshot: the last clean stop
 *
 * Losing a snapshot loses nothing: the batches say the same. So they are not synced, and where one
 * is in doubt it goes. What the .txnindex files lack is written before: below the newest snapshot
 * they say all.
 *
 * Source: ProducerStateManager.takeSnapshot, removeStraySnapshots, truncateAndReload (kafka
 * formats, sections 6 and 7.2).
 */
#include "core/format/segment_name.h"
#include "core/format/snapshot_file.h"
#include "core/log/log_internal.h"

#include <string.h>

static enum hw_status snapshot_path(const struct hw_log *log, hw_offset_t offset,
                                    char path[HW_PATH_MAX], struct hw_error *error)
{
    return hw_segment_name_path(path, log->owner.directory, offset, ".snapshot", error);
}

hw_offset_t hw_log_newest_snapshot(const struct hw_log *log)
{
    return log->snapshot_count == 0 ? 0 : log->snapshots[log->snapshot_count - 1];
}

static enum hw_status reserve(struct hw_log *log, struct hw_error *error)
{
    return hw_array_reserve(log->owner.allocator, (void **)&log->snapshots, &log->snapshot_capacity,
                            log->snapshot_count + 1, sizeof *log->snapshots, error);
}

/* Remove number `i`. */
static enum hw_status remove_snapshot(struct hw_log *log, size_t i, const char *problem,
                                      struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = snapshot_path(log, log->snapshots[i], path, error);

    if (status == HW_OK) {
        hw_log_watch_tell(log->owner.watch, strrchr(path, '/') + 1, problem, "deleted");
        status = hw_store_remove(log->owner.store, path, error);
    }
    if (status != HW_OK && status != HW_NOT_FOUND) {
        return status;
    }
    log->snapshot_count--;
    for (size_t k = i; k < log->snapshot_count; k++) {
        log->snapshots[k] = log->snapshots[k + 1];
    }
    log->names_are_durable = false;
    return HW_OK;
}

enum hw_status hw_log_find_snapshots(struct hw_log *log, const struct hw_name_list *names,
                                     struct hw_error *error)
{
    for (size_t i = 0; i < names->count; i++) {
        hw_offset_t offset;
        enum hw_status status;

        log->has_transaction_files = log->has_transaction_files ||
                                     hw_segment_name_parse(names->names[i], ".txnindex", &offset);
        if (!hw_segment_name_parse(names->names[i], ".snapshot", &offset)) {
            continue;
        }
        status = reserve(log, error);
        if (status != HW_OK) {
            return status;
        }
        log->snapshots[log->snapshot_count++] = offset; /* Names are in order. */
    }
    return HW_OK;
}

enum hw_status hw_log_drop_snapshots_above(struct hw_log *log, hw_offset_t offset,
                                           struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && log->snapshot_count > 0 && hw_log_newest_snapshot(log) > offset) {
        status = remove_snapshot(log, log->snapshot_count - 1, "lies above the log end", error);
    }
    return status;
}

enum hw_status hw_log_drop_snapshots_below(struct hw_log *log, hw_offset_t offset,
                                           struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && log->snapshot_count > 0 && log->snapshots[0] < offset) {
        status = remove_snapshot(log, 0, "lies below the log start", error);
    }
    return status;
}

enum hw_status hw_log_drop_stray_snapshots(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i + 1 < log->snapshot_count;) {
        hw_offset_t offset = log->snapshots[i];
        const struct hw_segment *segment = log->segments[hw_log_floor_segment(log, offset)];

        if (segment->base_offset == offset) {
            i++;
        } else {
            status = remove_snapshot(log, i, "no segment begins there", error);
        }
    }
    return status;
}

/* Number of the newest snapshot at or below `offset`, plus one; 0: there is none. */
static size_t snapshots_up_to(const struct hw_log *log, hw_offset_t offset)
{
    size_t count = log->snapshot_count;

    while (count > 0 && log->snapshots[count - 1] > offset) {
        count--;
    }
    return count;
}

enum hw_status hw_log_read_snapshot(struct hw_log *log, hw_offset_t offset,
                                    struct hw_producer_state *state, hw_offset_t *from,
                                    struct hw_error *error)
{
    struct hw_snapshot_file snapshot;
    bool is_found = false;
    enum hw_status status = HW_OK;

    hw_snapshot_file_init(&snapshot, log->owner.allocator);
    for (size_t i; status == HW_OK && !is_found && (i = snapshots_up_to(log, offset)) > 0;) {
        char path[HW_PATH_MAX];

        status = snapshot_path(log, log->snapshots[i - 1], path, error);
        if (status == HW_OK) {
            status = hw_snapshot_file_read(&snapshot, log->owner.store, path, error);
        }
        is_found = status == HW_OK && !snapshot.has_fault;
        if (is_found) {
            *from = log->snapshots[i - 1];
        } else if (status == HW_OK || status == HW_NOT_FOUND) {
            status = remove_snapshot(log, i - 1, "damaged", error);
        }
    }
    for (int32_t i = 0; status == HW_OK && is_found && i < snapshot.whole; i++) {
        struct hw_snapshot_producer entry = hw_snapshot_file_get(&snapshot, i);

        status = hw_producer_state_restore(state, &entry, error);
    }
    hw_snapshot_file_release(&snapshot);
    return status;
}

enum hw_status hw_log_write_snapshot(struct hw_log *log, hw_offset_t offset,
                                     const struct hw_buffer *content, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_file *file;
    enum hw_status status = reserve(log, error);

    if (status == HW_OK) {
        status = snapshot_path(log, offset, path, error);
    }
    if (status == HW_OK) {
        status = hw_store_open(log->owner.store, path, HW_OPEN_TRUNCATE, &file, error);
    }
    if (status != HW_OK) {
        return status;
    }
    /* Even one that was written in part is there, and goes as a damaged one. */
    log->snapshots[log->snapshot_count++] = offset;
    log->names_are_durable = false;
    status = hw_file_write_at(file, 0, content->bytes, content->size, error);
    hw_file_close(file);
    return status;
}
