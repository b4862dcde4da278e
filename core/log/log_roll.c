/* SPDX-License-Identifier: MIT */
/* Rolling to a new segment. Source: LocalLog.roll, UnifiedLog.roll. */
#include "core/log/log_internal.h"

/* A snapshot at the base of a segment that did not come to be, above the log end. Should it not go,
 * it is the next opening that removes it. */
static void drop_early_snapshot(struct hw_log *log)
{
    struct hw_error ignored;

    (void)hw_log_drop_snapshots_above(log, hw_log_end(log), &ignored);
}

/* Write what is known of producers below `offset`, the log end or behind it, unless that is known. */
static enum hw_status take_snapshot(struct hw_log *log, hw_offset_t offset, struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status;

    if (offset <= hw_log_newest_snapshot(log) || offset <= log->start) {
        return HW_OK;
    }
    hw_buffer_init(&content, log->owner.allocator);
    status = hw_log_catch_up_producers(log, error);
    if (status == HW_OK) {
        status = hw_log_write_transactions(log, offset, error);
    }
    if (status == HW_OK) {
        status = hw_producer_state_encode(&log->producers, &content, error);
    }
    if (status == HW_OK) {
        status = hw_log_write_snapshot(log, offset, &content, error);
    }
    hw_buffer_release(&content);
    return status;
}

enum hw_status hw_log_roll_to(struct hw_log *log, hw_offset_t base_offset, hw_time_ms_t now_ms,
                              struct hw_error *error)
{
    enum hw_status status = hw_segment_become_inactive(hw_log_active(log), error);

    if (status == HW_OK) {
        status = hw_log_make_durable(log, error);
    }
    if (status == HW_OK) {
        status = take_snapshot(log, base_offset, error);
    }
    if (status == HW_OK) {
        status = hw_log_add_segment(log, base_offset, HW_OPEN_TRUNCATE, now_ms, error);
    }
    if (status == HW_OK) {
        log->names_are_durable = false;
    } else {
        drop_early_snapshot(log);
    }
    return status;
}

enum hw_status hw_log_roll(struct hw_log *log, hw_time_ms_t now_ms, bool *rolled,
                           struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *rolled = false;
    if (hw_log_active(log)->size_bytes > 0) {
        status = hw_log_roll_to(log, hw_log_end(log), now_ms, error);
        *rolled = status == HW_OK;
    }
    return status;
}

void hw_log_unroll(struct hw_log *log)
{
    struct hw_segment *segment = hw_log_active(log);
    struct hw_error ignored;

    (void)hw_segment_remove_files(segment, &ignored);
    hw_segment_close(segment);
    log->count--;
    drop_early_snapshot(log);
}

enum hw_status hw_log_clean_stop(struct hw_log *log, struct hw_error *error)
{
    enum hw_status status = hw_log_flush(log, error);

    if (status == HW_OK) {
        status = take_snapshot(log, hw_log_end(log), error);
    }
    if (status == HW_OK) {
        status = hw_log_drop_stray_snapshots(log, error);
    }
    for (size_t i = 0; status == HW_OK && i < log->count; i++) {
        if (!log->segments[i]->offsets.file_is_good || !log->segments[i]->times.file_is_good) {
            log->names_are_durable = false; /* The file that is missing makes a new name. */
        }
        status = hw_segment_become_inactive(log->segments[i], error);
    }
    return status == HW_OK ? hw_log_sync_names(log, error) : status;
}
