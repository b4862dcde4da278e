/* SPDX-License-Identifier: MIT */
/*
 * Producer snapshots: B.snapshot holds what is known of producers below offset B. One is taken at
 * each roll and at a clean stop.
 *
 *     0.log                  100.log              250.log
 *     [..........................)[...................)[.......      )
 *                           100.snapshot         250.snapshot    312.snapshot: the last clean stop
 *
 * No state of producers is kept in memory yet, so only what is known without it is written: behind
 * a snapshot, as long as no batch of a producer with an id follows, nothing changes, and the next
 * one has the same content; without any, nothing is known and it is empty. Once such batches
 * follow, no snapshot is taken any more, and who needs the state has it from the last one and the
 * batches behind that. So the state in a directory that a broker wrote is carried on, or stays.
 *
 * Losing a snapshot loses nothing: the batches say the same. So they are not synced, and where one
 * is in doubt it goes.
 *
 * Source: ProducerStateManager.takeSnapshot, removeStraySnapshots, truncateAndReload (kafka
 * formats, sections 6 and 7.2).
 */
#include "core/format/snapshot_file.h"
#include "core/log/directory.h"
#include "core/log/log_internal.h"

/* A snapshot without producers: version 1, checksum, count 0. */
static const uint8_t empty_snapshot[] = {0, 1, 0x48, 0x67, 0x4b, 0xc7, 0, 0, 0, 0};

static enum hw_status snapshot_path(const struct hw_log *log, hw_offset_t offset,
                                    char path[HW_PATH_MAX], struct hw_error *error)
{
    return hw_segment_name_path(path, log->owner.directory, offset, ".snapshot", error);
}

static hw_offset_t newest(const struct hw_log *log)
{
    return log->snapshot_count == 0 ? 0 : log->snapshots[log->snapshot_count - 1];
}

static enum hw_status reserve(struct hw_log *log, struct hw_error *error)
{
    return hw_array_reserve(log->owner.allocator, (void **)&log->snapshots, &log->snapshot_capacity,
                            log->snapshot_count + 1, sizeof *log->snapshots, error);
}

/* Remove number `i`. */
static enum hw_status remove_snapshot(struct hw_log *log, size_t i, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = snapshot_path(log, log->snapshots[i], path, error);

    if (status == HW_OK) {
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

enum hw_status hw_log_add_snapshot(struct hw_log *log, hw_offset_t offset, struct hw_error *error)
{
    enum hw_status status = reserve(log, error);

    if (status == HW_OK) {
        log->snapshots[log->snapshot_count++] = offset;
    }
    return status;
}

enum hw_status hw_log_find_snapshots(struct hw_log *log, const struct hw_name_list *names,
                                     struct hw_error *error)
{
    for (size_t i = 0; i < names->count; i++) {
        hw_offset_t offset;
        enum hw_status status;

        if (!hw_segment_name_parse(names->names[i], ".snapshot", &offset)) {
            continue;
        }
        status = hw_log_add_snapshot(log, offset, error); /* Names are in order. */
        if (status != HW_OK) {
            return status;
        }
    }
    return HW_OK;
}

enum hw_status hw_log_drop_snapshots_above(struct hw_log *log, hw_offset_t offset,
                                           struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && log->snapshot_count > 0 && newest(log) > offset) {
        status = remove_snapshot(log, log->snapshot_count - 1, error);
        log->unseen_end = offset; /* The one before does not tell what follows it. */
    }
    return status;
}

enum hw_status hw_log_drop_snapshots_below(struct hw_log *log, hw_offset_t offset,
                                           struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && log->snapshot_count > 0 && log->snapshots[0] < offset) {
        status = remove_snapshot(log, 0, error);
    }
    return status;
}

enum hw_status hw_log_drop_stray_snapshots(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i + 1 < log->snapshot_count;) {
        hw_offset_t offset = log->snapshots[i];
        const struct hw_segment *segment = log->segments[hw_log_floor_segment(log, offset)];

        if (hw_segment_base_offset(segment) == offset) {
            i++;
        } else {
            status = remove_snapshot(log, i, error);
        }
    }
    return status;
}

void hw_log_note_producer(struct hw_log *log, const struct hw_batch *batch)
{
    log->has_producers = log->has_producers ||
                         (batch->producer_id >= 0 && hw_batch_next_offset(batch) > newest(log));
}

static enum hw_status note_producer(void *context, const struct hw_batch *batch, int64_t position,
                                    struct hw_error *error)
{
    (void)position;
    (void)error;
    hw_log_note_producer(context, batch);
    return HW_OK;
}

/* Look at the batches behind the newest snapshot that nobody has looked at. As in Kafka, a log
 * without any snapshot counts as one without producers. */
static enum hw_status look_for_producers(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = hw_log_floor_segment(log, newest(log));
         log->snapshot_count > 0 && status == HW_OK && i < log->count && !log->has_producers; i++) {
        hw_offset_t from = hw_segment_base_offset(log->segments[i]);

        if ((from > newest(log) ? from : newest(log)) < log->unseen_end) {
            status = hw_segment_walk(log->segments[i], note_producer, log, error);
        }
    }
    if (status == HW_OK) {
        log->unseen_end = 0;
    }
    return status;
}

/* What the newest snapshot says that can be read. Damaged ones go, as in Kafka. */
static enum hw_status read_newest(struct hw_log *log, struct hw_snapshot_file *snapshot,
                                  struct hw_error *error)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && log->snapshot_count > 0) {
        char path[HW_PATH_MAX];

        status = snapshot_path(log, newest(log), path, error);
        if (status == HW_OK) {
            status = hw_snapshot_file_read(snapshot, log->owner.store, path, error);
        }
        if (status == HW_OK && !snapshot->has_fault) {
            return HW_OK;
        }
        if (status == HW_OK || status == HW_NOT_FOUND) {
            log->unseen_end = newest(log) > log->unseen_end ? newest(log) : log->unseen_end;
            status = remove_snapshot(log, log->snapshot_count - 1, error);
        }
        snapshot->content.size = 0;
    }
    return status;
}

static enum hw_status write_snapshot(struct hw_log *log, hw_offset_t offset, const uint8_t *bytes,
                                     size_t size, struct hw_error *error)
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
    status = hw_file_write_at(file, 0, bytes, size, error);
    hw_file_close(file);
    return status;
}

enum hw_status hw_log_take_snapshot(struct hw_log *log, hw_offset_t offset, struct hw_error *error)
{
    struct hw_snapshot_file snapshot;
    enum hw_status status;

    if (log->has_producers || offset <= newest(log) || offset <= log->start) {
        return HW_OK;
    }
    hw_snapshot_file_init(&snapshot, log->owner.allocator);
    status = read_newest(log, &snapshot, error);
    if (status == HW_OK) {
        status = look_for_producers(log, error);
    }
    if (status == HW_OK && !log->has_producers) {
        status =
            snapshot.content.size == 0
                ? write_snapshot(log, offset, empty_snapshot, sizeof empty_snapshot, error)
                : write_snapshot(log, offset, snapshot.content.bytes, snapshot.content.size, error);
    }
    hw_snapshot_file_release(&snapshot);
    return status;
}
