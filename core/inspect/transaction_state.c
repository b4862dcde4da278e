/* SPDX-License-Identifier: MIT */
#include "core/inspect/transaction_state.h"

#include "core/base/search.h"

#include <stdlib.h>

void hw_transaction_state_init(struct hw_transaction_state *state,
                               const struct hw_allocator *allocator, hw_offset_t high_watermark)
{
    *state = (struct hw_transaction_state){
        .allocator = allocator, .high_watermark = high_watermark, .unstable_offset = INT64_MAX};
}

void hw_transaction_state_release(struct hw_transaction_state *state)
{
    hw_free(state->allocator, state->open, state->open_capacity * sizeof *state->open);
    hw_free(state->allocator, state->aborted, state->aborted_capacity * sizeof *state->aborted);
    hw_transaction_state_init(state, state->allocator, state->high_watermark);
}

static struct hw_transaction *find_open(const struct hw_transaction_state *state,
                                        int64_t producer_id)
{
    for (size_t i = 0; i < state->open_count; i++) {
        if (state->open[i].producer_id == producer_id) {
            return &state->open[i];
        }
    }
    return NULL;
}

enum hw_status hw_transaction_state_add_open(struct hw_transaction_state *state,
                                             int64_t producer_id, hw_offset_t first_offset,
                                             struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(state->allocator, (void **)&state->open, &state->open_capacity,
                         state->open_count + 1, sizeof *state->open, error);

    if (status == HW_OK) {
        state->open[state->open_count++] = (struct hw_transaction){.producer_id = producer_id,
                                                                   .first_offset = first_offset,
                                                                   .last_offset = HW_OFFSET_NONE};
    }
    return status;
}

enum hw_status hw_transaction_state_add_aborted(struct hw_transaction_state *state,
                                                const struct hw_transaction *transaction,
                                                struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(state->allocator, (void **)&state->aborted, &state->aborted_capacity,
                         state->aborted_count + 1, sizeof *state->aborted, error);

    if (status == HW_OK) {
        state->aborted[state->aborted_count++] = *transaction;
    }
    return status;
}

/* The producer's transaction is over. */
static enum hw_status end_transaction(struct hw_transaction_state *state,
                                      const struct hw_batch *batch, enum hw_control_type marker,
                                      struct hw_error *error)
{
    struct hw_transaction *open = find_open(state, batch->producer_id);
    enum hw_status status = HW_OK;

    if (open == NULL) {
        return HW_OK; /* Kafka writes markers to partitions that got no data, too. */
    }
    open->last_offset = batch->base_offset;
    if (marker == HW_CONTROL_ABORT) {
        status = hw_transaction_state_add_aborted(state, open, error);
    }
    if (status == HW_OK) {
        if (batch->base_offset >= state->high_watermark &&
            open->first_offset < state->unstable_offset) {
            state->unstable_offset = open->first_offset;
        }
        *open = state->open[--state->open_count];
    }
    return status;
}

/* Take notice of the next batch; `marker` is what its first record is, if it is a control batch. */
static enum hw_status take_batch(struct hw_transaction_state *state, const struct hw_batch *batch,
                                 enum hw_control_type marker, struct hw_error *error)
{
    if (batch->magic < 2 || batch->producer_id < 0 ||
        (batch->attributes & HW_BATCH_TRANSACTIONAL) == 0) {
        return HW_OK;
    }
    if ((batch->attributes & HW_BATCH_CONTROL) != 0) {
        return marker == HW_CONTROL_ABORT || marker == HW_CONTROL_COMMIT
                   ? end_transaction(state, batch, marker, error)
                   : HW_OK;
    }
    return find_open(state, batch->producer_id) == NULL
               ? hw_transaction_state_add_open(state, batch->producer_id, batch->base_offset, error)
               : HW_OK;
}

enum hw_status hw_transaction_state_take_batches(struct hw_transaction_state *state,
                                                 struct hw_store *store,
                                                 const struct hw_kafka_partition *partition,
                                                 hw_offset_t first, int64_t *bytes_read,
                                                 struct hw_error *error)
{
    struct hw_partition_scan_options options = {
        .range = {.first_offset = first, .last_offset = INT64_MAX, .timestamp_min = INT64_MIN}};
    struct hw_partition_scan *scan;
    bool found = true;
    enum hw_status status =
        hw_partition_scan_open(state->allocator, store, partition, &options, &scan, error);

    if (status != HW_OK) {
        return status;
    }
    while (status == HW_OK && found) {
        const struct hw_segment_entry *entry = &hw_partition_scan_row(scan)->entry;
        enum hw_control_type marker = HW_CONTROL_UNKNOWN;
        struct hw_record record;
        bool has_record;

        status = hw_partition_scan_next(scan, &found, error);
        if (status != HW_OK || !found || entry->fault != HW_FAULT_NONE ||
            entry->last_offset < first) {
            continue;
        }
        if ((entry->batch.attributes & HW_BATCH_CONTROL) != 0) {
            status = hw_partition_scan_control(scan, &record, &has_record, error);
            marker = status == HW_OK && has_record ? hw_control_record_type(&record)
                                                   : HW_CONTROL_UNKNOWN;
        }
        if (status == HW_OK) {
            status = take_batch(state, &entry->batch, marker, error);
        }
    }
    *bytes_read += hw_partition_scan_bytes_read(scan);
    hw_partition_scan_close(scan);
    return status;
}

bool hw_transaction_state_is_open(const struct hw_transaction_state *state, int64_t producer_id,
                                  hw_offset_t offset)
{
    const struct hw_transaction *open = find_open(state, producer_id);

    return open != NULL && open->first_offset <= offset;
}

static int compare(const void *a, const void *b)
{
    const struct hw_transaction *left = a;
    const struct hw_transaction *right = b;

    if (left->producer_id != right->producer_id) {
        return left->producer_id < right->producer_id ? -1 : 1;
    }
    return (left->last_offset > right->last_offset) - (left->last_offset < right->last_offset);
}

void hw_transaction_state_sort(struct hw_transaction_state *state)
{
    if (state->aborted_count > 0) {
        qsort(state->aborted, state->aborted_count, sizeof *state->aborted, compare);
    }
}

bool hw_transaction_state_is_aborted(const struct hw_transaction_state *state, int64_t producer_id,
                                     hw_offset_t offset)
{
    struct hw_transaction wanted = {.producer_id = producer_id, .last_offset = offset};
    size_t at;

    /* The first one of the producer that ends at or behind the offset. */
    HW_SEARCH(at, 0, state->aborted_count, compare(&state->aborted[at], &wanted) < 0);
    return at < state->aborted_count && state->aborted[at].producer_id == producer_id &&
           state->aborted[at].first_offset <= offset;
}

hw_offset_t hw_transaction_state_first_unstable(const struct hw_transaction_state *state)
{
    hw_offset_t first = state->unstable_offset;

    for (size_t i = 0; i < state->open_count; i++) {
        if (state->open[i].first_offset < first) {
            first = state->open[i].first_offset;
        }
    }
    return first;
}
