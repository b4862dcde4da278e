/* SPDX-License-Identifier: MIT */
/* What makes a log shorter: truncation at its end, its start, retention. */
#include "core/log/log_internal.h"

#include "core/base/assert.h"

#include <inttypes.h>
#include <string.h>

enum hw_status hw_log_remove_segment(struct hw_log *log, size_t i, struct hw_error *error)
{
    enum hw_status status = hw_segment_remove_files(log->segments[i], error);

    if (status == HW_OK) {
        hw_segment_close(log->segments[i]);
        log->count--;
        memmove(log->segments + i, log->segments + i + 1, (log->count - i) * sizeof *log->segments);
        log->names_are_durable = false;
    }
    return status;
}

enum hw_status hw_log_remove_segments_from(struct hw_log *log, size_t first, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    HW_ASSERT(first >= 1);

    /* From the end, so that what is left is a log at any moment. */
    while (status == HW_OK && log->count > first) {
        status = hw_log_remove_segment(log, log->count - 1, error);
    }
    return status;
}

/* After the log lost its end: bring the rest of its state in line, whether that was all or not. */
static enum hw_status follow_cut(struct hw_log *log, enum hw_status status, struct hw_error *error)
{
    hw_offset_t end = hw_log_end(log);
    struct hw_error epochs_error;
    enum hw_status epochs_status;

    log->high_watermark = HW_MIN(log->high_watermark, end);
    log->recovery_point = HW_MIN(log->recovery_point, end);
    log->synced_end = HW_MIN(log->synced_end, end);
    log->start = HW_MIN(log->start, end);
    if (hw_epoch_cache_truncate_from_end(&log->epochs, end)) {
        log->epochs_are_on_disk = false;
    }
    epochs_status = hw_log_write_epochs(log, status == HW_OK ? error : &epochs_error);
    return status == HW_OK ? epochs_status : status;
}

/* Before the log loses its end: what was known of it. */
static void forget_content(struct hw_log *log)
{
    log->content_id = 0;
    log->recent_append.size = 0;
    log->gapless_first = log->gapless_end = 0;
}

enum hw_status hw_log_truncate_to(struct hw_log *log, hw_offset_t offset, struct hw_error *error)
{
    struct hw_producer_state producers;
    enum hw_status status;

    if (offset < 0) {
        return hw_error_set(error, HW_MISUSE, "cannot truncate to offset %" PRId64, offset);
    }
    if (offset >= hw_log_end(log)) {
        return follow_cut(log, HW_OK, error);
    }
    forget_content(log);
    if (offset < hw_log_first_segment_base(log)) {
        return hw_log_truncate_fully_and_start_at(log, offset, HW_OFFSET_NONE, error);
    }
    status = hw_log_rewind_producers(log, offset, &producers, error);
    if (status == HW_OK) {
        status = hw_log_drop_snapshots_above(log, offset, error);
    }
    if (status != HW_OK) {
        hw_producer_state_release(&producers);
        return status;
    }
    status = hw_log_remove_segments_from(log, hw_log_floor_segment(log, offset) + 1, error);
    if (status == HW_OK) {
        status = hw_segment_truncate_to(hw_log_active(log), offset, error);
    }
    hw_transaction_index_cut_from(&log->transactions, hw_log_end(log));
    if (status == HW_OK) {
        hw_log_adopt_producers(log, &producers, offset);
    }
    hw_producer_state_release(&producers);
    return follow_cut(log, status, error);
}

/* Have one empty segment with this base, of a log that has one segment. */
static enum hw_status replace_first_segment(struct hw_log *log, hw_offset_t base_offset,
                                            struct hw_error *error)
{
    struct hw_segment *old = log->segments[0];
    enum hw_status status = hw_segment_truncate_to(old, old->base_offset, error);

    if (status != HW_OK || old->base_offset == base_offset) {
        return status;
    }
    status = hw_log_add_segment(log, base_offset, HW_OPEN_TRUNCATE, HW_TIMESTAMP_NONE, error);
    if (status == HW_OK) {
        status = hw_log_remove_segment(log, 0, error);
        if (status != HW_OK) {
            hw_log_unroll(log);
        }
    }
    return status;
}

enum hw_status hw_log_truncate_fully_and_start_at(struct hw_log *log, hw_offset_t offset,
                                                  hw_offset_t log_start, struct hw_error *error)
{
    struct hw_producer_state nobody;
    enum hw_status status;

    if (offset < 0 || log_start > offset || log_start < HW_OFFSET_NONE) {
        return hw_error_set(error, HW_MISUSE,
                            "cannot start a log at offset %" PRId64 " with log start %" PRId64,
                            offset, log_start);
    }
    forget_content(log);
    status = hw_log_drop_snapshots_above(log, HW_OFFSET_NONE, error);
    if (status != HW_OK) {
        return status;
    }
    status = hw_log_remove_segments_from(log, 1, error);
    if (status == HW_OK) {
        status = replace_first_segment(log, offset, error);
    }
    if (status != HW_OK) {
        return follow_cut(log, status, error);
    }

    log->start = log_start == HW_OFFSET_NONE ? offset : log_start;
    log->high_watermark = offset;
    log->recovery_point = offset;
    log->synced_end = offset;
    hw_producer_state_init(&nobody, log->owner.allocator);
    hw_log_adopt_producers(log, &nobody, offset);
    hw_transaction_index_cut_from(&log->transactions, 0);
    if (log->epochs.count > 0) {
        hw_epoch_cache_clear(&log->epochs);
        log->epochs_are_on_disk = false;
    }
    return hw_log_write_epochs(log, error);
}

/* Raise the log start, in the epochs too: the file first, as a start that is checkpointed elsewhere
 * must not be ahead of it. */
static enum hw_status raise_start(struct hw_log *log, hw_offset_t offset, struct hw_error *error)
{
    struct hw_epoch_cache next;
    enum hw_status status = hw_epoch_cache_copy(&next, &log->epochs, error);

    if (status == HW_OK && hw_epoch_cache_truncate_from_start(&next, offset)) {
        status = hw_log_store_epochs(log, &next, error);
    }
    hw_epoch_cache_release(&next);
    if (status == HW_OK) {
        log->start = offset;
    }
    return status;
}

enum hw_status hw_log_maybe_increment_log_start(struct hw_log *log, hw_offset_t offset,
                                                bool *changed, struct hw_error *error)
{
    enum hw_status status;

    *changed = false;
    if (offset > log->high_watermark) {
        return hw_error_refuse(error, HW_KAFKA_OFFSET_OUT_OF_RANGE,
                               "log start %" PRId64 " is above the high watermark %" PRId64, offset,
                               log->high_watermark);
    }
    if (offset <= log->start) {
        return HW_OK;
    }
    status = raise_start(log, offset, error);
    *changed = status == HW_OK;
    return status;
}

/* Whether segment number `i` may go at all: it is below the high watermark, and not the empty
 * active one. */
static bool is_deletable(const struct hw_log *log, size_t i)
{
    return i < log->count && log->high_watermark >= hw_log_segment_limit(log, i, hw_log_end(log)) &&
           (i + 1 < log->count || log->segments[i]->size_bytes > 0);
}

/* How many segments, the oldest first, retention takes. Source: UnifiedLog.deleteOldSegments: by
 * log start, then by size, then by time, each as far as it gets. */
static size_t count_deletable(const struct hw_log *log, hw_time_ms_t now_ms)
{
    const struct hw_log_config *config = &log->owner.config;
    int64_t surplus = hw_log_size_bytes(log) - config->retention_bytes;
    size_t count = 0;

    while (is_deletable(log, count) && count + 1 < log->count &&
           hw_log_segment_limit(log, count, hw_log_end(log)) <= log->start) {
        surplus -= log->segments[count]->size_bytes;
        count++;
    }
    if (config->retention_bytes >= 0) {
        while (is_deletable(log, count) && surplus >= log->segments[count]->size_bytes) {
            surplus -= log->segments[count]->size_bytes;
            count++;
        }
    }
    if (config->retention_ms >= 0) {
        while (is_deletable(log, count)) {
            const struct hw_segment *segment = log->segments[count];
            hw_time_ms_t newest =
                segment->max_timestamp >= 0 ? segment->max_timestamp : segment->created_ms;

            if (newest >= now_ms ||
                (uint64_t)now_ms - (uint64_t)newest <= (uint64_t)config->retention_ms) {
                break;
            }
            count++;
        }
    }
    return count;
}

enum hw_status hw_log_delete_old_segments(struct hw_log *log, hw_time_ms_t now_ms, int32_t *deleted,
                                          struct hw_error *error)
{
    size_t count = count_deletable(log, now_ms);
    enum hw_status status = HW_OK;
    bool rolled;

    *deleted = 0;
    if (count > 0 && count == log->count) {
        status = hw_log_roll(log, now_ms, &rolled, error);
    }
    if (count > 0 && status == HW_OK) {
        hw_offset_t start = log->segments[count]->base_offset;

        /* First, so that whatever stays behind after an error is below the log start. */
        status = start > log->start ? raise_start(log, start, error) : HW_OK;
    }
    while (status == HW_OK && count > 0) {
        status = hw_log_remove_segment(log, 0, error);
        if (status == HW_OK) {
            count--;
            (*deleted)++;
        }
    }
    if (*deleted > 0) {
        hw_transaction_index_cut_below(&log->transactions, hw_log_first_segment_base(log));
    }
    if (status == HW_OK && *deleted > 0) {
        status = hw_log_drop_snapshots_below(log, hw_log_first_segment_base(log), error);
    }
    return status;
}
