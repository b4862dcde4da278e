/* SPDX-License-Identifier: MIT */
/*
 * What a log knows of producers and transactions: made from the newest snapshot and the batches
 * behind it, kept up with each append, taken back with each cut.
 *
 * Source: UnifiedLog.rebuildProducerState, ProducerStateManager.truncateAndReload (R9.12, kafka
 * formats 7.2).
 */
#include "core/format/segment_name.h"
#include "core/log/log_internal.h"

const struct hw_producer_state *hw_log_producers(const struct hw_log *log)
{
    return &log->producers;
}

hw_offset_t hw_log_last_stable(const struct hw_log *log)
{
    hw_offset_t first = log->producers.first_unstable;

    if (first < log->start) {
        first = log->start;
    }
    return HW_MIN(first, log->high_watermark);
}

enum hw_status hw_log_aborted(const struct hw_log *log, hw_offset_t from, hw_offset_t end,
                              struct hw_buffer *out, struct hw_error *error)
{
    bool complete;

    return hw_transaction_index_collect(&log->transactions, from, end, out, &complete, error);
}

size_t hw_log_count_aborted(const struct hw_log *log, hw_offset_t from)
{
    const struct hw_transaction_index *index = &log->transactions;
    hw_offset_t last_stable = hw_log_last_stable(log);
    size_t count = 0;

    for (size_t i = hw_transaction_index_position(index, from); i < index->count; i++) {
        count += index->entries[i].first_offset < last_stable;
    }
    return count;
}

size_t hw_log_expire_producers(struct hw_log *log, hw_time_ms_t now_ms, int64_t expiration_ms)
{
    return hw_producer_state_expire(&log->producers, now_ms, expiration_ms);
}

/* Take in a batch of a producer, for which there is room. `bytes` are needed of control batches. */
static void log_producers_apply(struct hw_producer_state *state, struct hw_transaction_index *index,
                                const uint8_t *bytes, const struct hw_batch *batch)
{
    struct hw_completed_transaction completed;
    struct hw_marker marker;

    if ((batch->attributes & HW_BATCH_CONTROL) == 0) {
        hw_producer_state_apply(state, batch);
    } else if (hw_marker_decode(bytes, batch, &marker)) {
        completed = hw_producer_state_apply_marker(state, &marker, hw_batch_last_offset(batch));
        if (index != NULL && completed.is_aborted && completed.first_offset != HW_OFFSET_NONE) {
            (void)hw_transaction_index_add(index,
                                           &(struct hw_aborted_transaction){
                                               .producer_id = completed.producer_id,
                                               .first_offset = completed.first_offset,
                                               .last_offset = completed.last_offset,
                                               .last_stable_offset = completed.last_stable_offset});
        }
    }
}

enum hw_status hw_log_reserve_producers(struct hw_log *log, size_t batches, struct hw_error *error)
{
    enum hw_status status = hw_producer_state_reserve(&log->producers, batches, error);

    return status == HW_OK ? hw_transaction_index_reserve(&log->transactions, batches, error)
                           : status;
}

void hw_log_take_in(struct hw_log *log, const struct hw_segment_append *appends, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct hw_batch batch;

        (void)hw_batch_parse(appends[i].bytes, appends[i].size_bytes, &batch);
        if (batch.producer_id >= 0) {
            log_producers_apply(&log->producers, &log->transactions, appends[i].bytes, &batch);
        }
    }
}

/* A walk over batches that were appended before. */
struct producer_replay {
    struct hw_segment *segment;
    struct hw_producer_state *state;
    struct hw_transaction_index *index; /* NULL: it has them already. */
    hw_offset_t from;
    hw_offset_t end;
    struct hw_buffer marker;
};

static enum hw_status replay_batch(void *context, const struct hw_batch *batch, int64_t position,
                                   struct hw_error *error)
{
    struct producer_replay *replay = context;
    enum hw_status status = HW_OK;

    if (batch->producer_id < 0 || hw_batch_last_offset(batch) < replay->from ||
        hw_batch_last_offset(batch) >= replay->end) {
        return HW_OK;
    }
    replay->marker.size = 0;
    if ((batch->attributes & HW_BATCH_CONTROL) != 0) {
        status = hw_segment_read_bytes(replay->segment, position, hw_batch_size_bytes(batch),
                                       &replay->marker, error);
    }
    if (status == HW_OK) {
        status = hw_producer_state_reserve(replay->state, 1, error);
    }
    if (status == HW_OK && replay->index != NULL) {
        status = hw_transaction_index_reserve(replay->index, 1, error);
    }
    if (status == HW_OK) {
        log_producers_apply(replay->state, replay->index, replay->marker.bytes, batch);
    }
    return status;
}

/* Take in the batches of [from, end). */
static enum hw_status log_producers_replay(struct hw_log *log, struct hw_producer_state *state,
                                           struct hw_transaction_index *index, hw_offset_t from,
                                           hw_offset_t end, struct hw_error *error)
{
    struct producer_replay replay = {.state = state, .index = index, .from = from, .end = end};
    enum hw_status status = HW_OK;

    hw_buffer_init(&replay.marker, log->owner.allocator);
    for (size_t i = hw_log_floor_segment(log, from);
         status == HW_OK && i < log->count && from < end && log->segments[i]->base_offset < end;
         i++) {
        replay.segment = log->segments[i];
        status = hw_segment_walk(replay.segment, replay_batch, &replay, error);
    }
    hw_buffer_release(&replay.marker);
    return status;
}

enum hw_status hw_log_rewind_producers(struct hw_log *log, hw_offset_t offset,
                                       struct hw_producer_state *rewound, struct hw_error *error)
{
    hw_offset_t from = hw_log_first_segment_base(log);
    enum hw_status status = HW_OK;

    hw_producer_state_init(rewound, log->owner.allocator);
    if (log->producers.count == 0) {
        return HW_OK; /* Nobody is known, so nobody was. */
    }
    status = hw_log_read_snapshot(log, offset, rewound, &from, error);
    if (status == HW_OK) {
        status = log_producers_replay(log, rewound, NULL, from, offset, error);
    }
    if (status == HW_OK) {
        status = hw_producer_state_keep_ended(rewound, &log->producers, offset, error);
    }
    if (status != HW_OK) {
        hw_producer_state_release(rewound);
    }
    return status;
}

void hw_log_adopt_producers(struct hw_log *log, struct hw_producer_state *state, hw_offset_t end)
{
    hw_producer_state_release(&log->producers);
    log->producers = *state;
    hw_producer_state_init(state, log->owner.allocator);
    log->producers_end = end;
}

enum hw_status hw_log_catch_up_producers(struct hw_log *log, struct hw_error *error)
{
    struct hw_producer_state state;
    enum hw_status status = HW_OK;

    if (log->producers_end > hw_log_end(log)) {
        status = hw_log_rewind_producers(log, hw_log_end(log), &state, error);
        if (status == HW_OK) {
            hw_log_adopt_producers(log, &state, hw_log_end(log));
            hw_transaction_index_cut_from(&log->transactions, hw_log_end(log));
        }
    }
    return status;
}

/* The .txnindex of segment number `i`. */
static enum hw_status log_producers_index_path(const struct hw_log *log, size_t i,
                                               char path[HW_PATH_MAX], struct hw_error *error)
{
    return hw_segment_name_path(path, log->owner.directory, log->segments[i]->base_offset,
                                ".txnindex", error);
}

/* What the files of the segments below `limit` say. *good_end is where the first of them begins
 * that says what cannot be, or `limit`. */
static enum hw_status log_producers_load_indexes(struct hw_log *log, hw_offset_t limit,
                                                 hw_offset_t *good_end, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *good_end = limit;
    for (size_t i = 0; status == HW_OK && log->has_transaction_files && i < log->count; i++) {
        char path[HW_PATH_MAX];
        bool is_good;

        if (log->segments[i]->base_offset >= *good_end) {
            break;
        }
        status = log_producers_index_path(log, i, path, error);
        if (status == HW_OK) {
            status = hw_transaction_index_load(
                &log->transactions, log->owner.store, path, log->segments[i]->base_offset,
                hw_log_segment_limit(log, i, INT64_MAX), &is_good, error);
        }
        if (status == HW_OK && !is_good) {
            *good_end = log->segments[i]->base_offset;
        }
    }
    return status;
}

/* Which transactions ended at or above the high watermark, no snapshot above it tells: the batches
 * do. */
static enum hw_status log_producers_find_ended(struct hw_log *log, struct hw_error *error)
{
    struct hw_producer_state state;
    hw_offset_t from = hw_log_first_segment_base(log);
    hw_offset_t end = hw_log_end(log);
    enum hw_status status;

    hw_producer_state_init(&state, log->owner.allocator);
    status = hw_log_read_snapshot(log, log->high_watermark, &state, &from, error);
    if (status == HW_OK) {
        status = log_producers_replay(log, &state, NULL, from, end, error);
    }
    if (status == HW_OK) {
        status = hw_producer_state_keep_ended(&log->producers, &state, end, error);
    }
    hw_producer_state_release(&state);
    return status;
}

enum hw_status hw_log_load_producers(struct hw_log *log, hw_offset_t recovered_from,
                                     bool has_recovered_producers, struct hw_error *error)
{
    hw_offset_t end = hw_log_end(log);
    hw_offset_t good_end;
    hw_offset_t from = hw_log_first_segment_base(log);
    enum hw_status status = log_producers_load_indexes(log, recovered_from, &good_end, error);
    bool trusts_all = good_end == recovered_from && !has_recovered_producers;

    if (status == HW_OK) {
        status =
            hw_log_read_snapshot(log, trusts_all ? end : good_end, &log->producers, &from, error);
    }
    if (status != HW_OK) {
        return status;
    }
    hw_transaction_index_cut_from(&log->transactions, from);
    log->transactions.written_end = from;
    status = log_producers_replay(log, &log->producers, &log->transactions, from,
                                  has_recovered_producers ? end : recovered_from, error);
    if (status == HW_OK && log->producers.count > 0 && from > log->high_watermark) {
        status = log_producers_find_ended(log, error);
    }
    hw_producer_state_pass(&log->producers, log->high_watermark);
    log->producers_end = end;
    return status;
}

enum hw_status hw_log_write_transactions(struct hw_log *log, hw_offset_t end,
                                         struct hw_error *error)
{
    struct hw_transaction_index *index = &log->transactions;
    enum hw_status status = HW_OK;

    for (size_t i = hw_log_floor_segment(log, index->written_end);
         status == HW_OK && (index->count > 0 || log->has_transaction_files) && i < log->count;
         i++) {
        char path[HW_PATH_MAX];

        log->names_are_durable = false;
        log->has_transaction_files = true;
        status = log_producers_index_path(log, i, path, error);
        if (status == HW_OK) {
            status = hw_transaction_index_write(
                index, log->owner.store, path, log->segments[i]->base_offset,
                hw_log_segment_limit(log, i, INT64_MAX), true, error);
        }
    }
    if (status == HW_OK && end > index->written_end) {
        index->written_end = end;
    }
    return status;
}
