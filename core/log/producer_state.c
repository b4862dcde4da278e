/* SPDX-License-Identifier: MIT */
#include "core/log/producer_state.h"

#include "core/base/assert.h"
#include "core/base/memory.h"
#include "core/base/search.h"

#include <inttypes.h>
#include <string.h>

void hw_producer_state_init(struct hw_producer_state *state, const struct hw_allocator *allocator)
{
    *state = (struct hw_producer_state){.allocator = allocator, .first_unstable = INT64_MAX};
}

void hw_producer_state_release(struct hw_producer_state *state)
{
    hw_free(state->allocator, state->producers, state->capacity * sizeof *state->producers);
    hw_free(state->allocator, state->ended, state->ended_capacity * sizeof *state->ended);
    hw_producer_state_init(state, state->allocator);
}

/* Number of the first producer whose id is not below. */
static size_t producer_state_position(const struct hw_producer_state *state, int64_t producer_id)
{
    size_t at;

    HW_SEARCH(at, 0, state->count, state->producers[at].producer_id < producer_id);
    return at;
}

const struct hw_producer *hw_producer_state_find(const struct hw_producer_state *state,
                                                 int64_t producer_id)
{
    size_t at = producer_state_position(state, producer_id);

    return at < state->count && state->producers[at].producer_id == producer_id
               ? &state->producers[at]
               : NULL;
}

int64_t hw_producer_state_last_id(const struct hw_producer_state *state)
{
    return state->count == 0 ? HW_PRODUCER_ID_NONE : state->producers[state->count - 1].producer_id;
}

const struct hw_producer *hw_producer_state_find_open(const struct hw_producer_state *state,
                                                      hw_offset_t start_offset)
{
    for (size_t i = 0; start_offset >= 0 && i < state->count; i++) {
        if (state->producers[i].transaction_start == start_offset) {
            return &state->producers[i];
        }
    }
    return NULL;
}

int32_t hw_producer_last_sequence(const struct hw_producer *producer)
{
    return producer->batch_count == 0 ? -1
                                      : producer->batches[producer->batch_count - 1].last_sequence;
}

int32_t hw_producer_batch_first_sequence(const struct hw_producer_batch *batch)
{
    int64_t first = (int64_t)batch->last_sequence - batch->offset_delta;

    return (int32_t)(first < 0 ? first + INT32_MAX + 1 : first);
}

static int32_t producer_state_last_sequence_of(const struct hw_batch *batch)
{
    return batch->base_sequence < 0
               ? -1
               : hw_sequence_add(batch->base_sequence, batch->last_offset_delta);
}

/* R9.3: the whole range, of the producer's epoch. */
static const struct hw_producer_batch *
producer_state_find_duplicate(const struct hw_producer *producer, const struct hw_batch *batch)
{
    if (producer == NULL || producer->epoch != batch->producer_epoch) {
        return NULL;
    }
    for (int32_t i = 0; i < producer->batch_count; i++) {
        const struct hw_producer_batch *known = &producer->batches[i];

        if (hw_producer_batch_first_sequence(known) == batch->base_sequence &&
            known->last_sequence == producer_state_last_sequence_of(batch)) {
            return known;
        }
    }
    return NULL;
}

bool hw_producer_has_batch(const struct hw_producer *producer, int16_t epoch, int32_t base_sequence,
                           int32_t records)
{
    struct hw_batch batch = {
        .producer_epoch = epoch, .base_sequence = base_sequence, .last_offset_delta = records - 1};

    return producer_state_find_duplicate(producer, &batch) != NULL;
}

/* R9.5 to R9.7. */
static enum hw_status producer_state_check_sequence(const struct hw_producer *producer,
                                                    const struct hw_batch *batch,
                                                    bool starts_at_zero, struct hw_error *error)
{
    bool is_known = producer != NULL && producer->epoch >= 0;
    bool is_new_epoch = is_known && producer->epoch != batch->producer_epoch;
    int32_t last = producer == NULL || is_new_epoch ? -1 : hw_producer_last_sequence(producer);
    int32_t expected = last < 0 ? 0 : hw_sequence_add(last, 1);
    bool is_behind;

    if ((!is_known && !starts_at_zero) || batch->base_sequence == expected) {
        return HW_OK;
    }
    is_behind = ((uint32_t)expected - (uint32_t)batch->base_sequence) % (1U << 31) < 1U << 30;
    return hw_error_refuse(
        error, HW_KAFKA_OUT_OF_ORDER_SEQUENCE_NUMBER,
        "producer %" PRId64 " epoch %d sent sequence %" PRId32 ", next is %" PRId32 ": %s",
        batch->producer_id, batch->producer_epoch, batch->base_sequence, expected,
        is_behind ? "as a duplicate it is too old, or not the same records, to be known"
                  : "what is between must come first");
}

enum hw_status hw_producer_state_check(const struct hw_producer_state *state,
                                       const struct hw_batch *batch, bool starts_at_zero,
                                       const struct hw_producer_batch **duplicate,
                                       struct hw_error *error)
{
    const struct hw_producer *producer = hw_producer_state_find(state, batch->producer_id);
    enum hw_status status;

    *duplicate = producer_state_find_duplicate(producer, batch);
    if (*duplicate != NULL) {
        return HW_OK;
    }
    if (producer != NULL && batch->producer_epoch < producer->epoch) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PRODUCER_EPOCH,
                               "producer %" PRId64 " sent epoch %d, the partition knows epoch %d:"
                               " whoever has called init_producer() since goes on",
                               batch->producer_id, batch->producer_epoch, producer->epoch);
    }
    status = producer_state_check_sequence(producer, batch, starts_at_zero, error);
    if (status == HW_OK && (batch->attributes & HW_BATCH_TRANSACTIONAL) == 0 && producer != NULL &&
        producer->transaction_start != HW_OFFSET_NONE) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TXN_STATE,
                               "producer %" PRId64 " has a transaction open here since offset"
                               " %" PRId64 ": commit_txn() or abort_txn() it before plain records",
                               batch->producer_id, producer->transaction_start);
    }
    return status;
}

enum hw_status hw_producer_state_check_marker(const struct hw_producer_state *state,
                                              const struct hw_marker *marker,
                                              int transaction_version, struct hw_error *error)
{
    const struct hw_producer *producer = hw_producer_state_find(state, marker->producer_id);
    int16_t stored = producer == NULL ? -1 : producer->epoch;
    bool is_open = producer != NULL && producer->transaction_start != HW_OFFSET_NONE;
    bool is_retry =
        marker->producer_epoch == stored && (!is_open || marker->producer_epoch == INT16_MAX);

    if (marker->producer_epoch < stored ||
        (transaction_version >= 2 && marker->producer_epoch == stored && !is_retry)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_PRODUCER_EPOCH,
                               "a marker of producer %" PRId64 " has epoch %d, the partition knows"
                               " epoch %d",
                               marker->producer_id, marker->producer_epoch, stored);
    }
    if (producer != NULL && marker->coordinator_epoch < producer->coordinator_epoch) {
        return hw_error_refuse(error, HW_KAFKA_TRANSACTION_COORDINATOR_FENCED,
                               "a marker of producer %" PRId64 " has coordinator epoch %" PRId32
                               ", one of epoch %" PRId32 " came before",
                               marker->producer_id, marker->coordinator_epoch,
                               producer->coordinator_epoch);
    }
    return HW_OK;
}

enum hw_status hw_producer_state_reserve(struct hw_producer_state *state, size_t batches,
                                         struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(state->allocator, (void **)&state->producers, &state->capacity,
                         state->count + batches, sizeof *state->producers, error);

    if (status == HW_OK) {
        status = hw_array_reserve(state->allocator, (void **)&state->ended, &state->ended_capacity,
                                  state->ended_count + batches, sizeof *state->ended, error);
    }
    return status;
}

/* The producer, with `epoch` from now on; room was reserved. */
static struct hw_producer *producer_state_enter(struct hw_producer_state *state,
                                                int64_t producer_id, int16_t epoch)
{
    size_t at = producer_state_position(state, producer_id);
    struct hw_producer *producer = &state->producers[at];

    if (at == state->count || producer->producer_id != producer_id) {
        HW_ASSERT(state->count < state->capacity);
        memmove(producer + 1, producer, (state->count - at) * sizeof *producer);
        *producer = (struct hw_producer){.producer_id = producer_id,
                                         .epoch = -1,
                                         .coordinator_epoch = -1,
                                         .last_timestamp = HW_TIMESTAMP_NONE,
                                         .transaction_start = HW_OFFSET_NONE,
                                         .transaction_epoch = -1};
        state->count++;
    }
    producer->contradicts |= epoch < producer->epoch;
    if (producer->epoch != epoch) {
        producer->batch_count = 0;
        producer->epoch = epoch;
    }
    return producer;
}

static void producer_state_add_batch(struct hw_producer *producer,
                                     const struct hw_producer_batch *batch)
{
    if (producer->batch_count == HW_PRODUCER_BATCHES) {
        memmove(producer->batches, producer->batches + 1,
                (HW_PRODUCER_BATCHES - 1) * sizeof *producer->batches);
        producer->batch_count--;
    }
    producer->batches[producer->batch_count++] = *batch;
}

static void producer_state_open(struct hw_producer_state *state, struct hw_producer *producer,
                                hw_offset_t offset)
{
    producer->transaction_start = offset;
    producer->transaction_epoch = producer->epoch;
    state->open_count++;
    if (offset < state->first_unstable) {
        state->first_unstable = offset;
    }
}

void hw_producer_state_apply(struct hw_producer_state *state, const struct hw_batch *batch)
{
    struct hw_producer *producer;

    if (batch->producer_id < 0) {
        return;
    }
    producer = producer_state_enter(state, batch->producer_id, batch->producer_epoch);
    producer_state_add_batch(producer, &(struct hw_producer_batch){
                                           .last_sequence = producer_state_last_sequence_of(batch),
                                           .offset_delta = batch->last_offset_delta,
                                           .last_offset = hw_batch_last_offset(batch),
                                           .timestamp = batch->max_timestamp});
    producer->last_timestamp = batch->max_timestamp;
    if (producer->transaction_start != HW_OFFSET_NONE) {
        producer->contradicts |= producer->transaction_epoch != batch->producer_epoch;
    } else if ((batch->attributes & HW_BATCH_TRANSACTIONAL) != 0) {
        producer_state_open(state, producer, batch->base_offset);
    }
}

/* The first offset of the earliest open transaction; INT64_MAX where none is. */
static hw_offset_t producer_state_first_open(const struct hw_producer_state *state)
{
    hw_offset_t first = INT64_MAX;

    for (size_t i = 0; state->open_count > 0 && i < state->count; i++) {
        hw_offset_t start = state->producers[i].transaction_start;

        if (start != HW_OFFSET_NONE && start < first) {
            first = start;
        }
    }
    return first;
}

static void producer_state_find_first_unstable(struct hw_producer_state *state)
{
    state->first_unstable = producer_state_first_open(state);
    for (size_t i = 0; i < state->ended_count; i++) {
        if (state->ended[i].first_offset < state->first_unstable) {
            state->first_unstable = state->ended[i].first_offset;
        }
    }
}

struct hw_completed_transaction hw_producer_state_apply_marker(struct hw_producer_state *state,
                                                               const struct hw_marker *marker,
                                                               hw_offset_t offset)
{
    struct hw_producer *producer =
        producer_state_enter(state, marker->producer_id, marker->producer_epoch);
    struct hw_completed_transaction completed = {.producer_id = marker->producer_id,
                                                 .first_offset = producer->transaction_start,
                                                 .last_offset = offset,
                                                 .last_stable_offset = offset + 1,
                                                 .is_aborted = marker->type == HW_CONTROL_ABORT};

    producer->contradicts |= marker->coordinator_epoch < producer->coordinator_epoch;
    producer->coordinator_epoch = marker->coordinator_epoch;
    producer->last_timestamp = marker->timestamp;
    if (completed.first_offset == HW_OFFSET_NONE) {
        producer->transaction_epoch = -1;
    } else {
        HW_ASSERT(state->ended_count < state->ended_capacity);
        producer->transaction_start = HW_OFFSET_NONE;
        state->open_count--;
        state->ended[state->ended_count++] = (struct hw_ended_transaction){
            .first_offset = completed.first_offset, .last_offset = offset};
        if (state->open_count > 0) {
            completed.last_stable_offset = producer_state_first_open(state);
        }
    }
    return completed;
}

void hw_producer_state_pass(struct hw_producer_state *state, hw_offset_t high_watermark)
{
    size_t passed = 0;

    while (passed < state->ended_count && state->ended[passed].last_offset < high_watermark) {
        passed++;
    }
    if (passed > 0) {
        state->ended_count -= passed;
        memmove(state->ended, state->ended + passed, state->ended_count * sizeof *state->ended);
        producer_state_find_first_unstable(state);
    }
}

/* The difference of a clock that only rises and a timestamp, which can be any, fits 64 bits. */
static bool producer_state_is_expired(const struct hw_producer *producer, hw_time_ms_t now_ms,
                                      int64_t expiration_ms)
{
    return producer->transaction_start == HW_OFFSET_NONE && now_ms >= producer->last_timestamp &&
           (uint64_t)now_ms - (uint64_t)producer->last_timestamp >= (uint64_t)expiration_ms;
}

size_t hw_producer_state_expire(struct hw_producer_state *state, hw_time_ms_t now_ms,
                                int64_t expiration_ms)
{
    size_t kept = 0;
    size_t before = state->count;

    for (size_t i = 0; i < before; i++) {
        if (!producer_state_is_expired(&state->producers[i], now_ms, expiration_ms)) {
            state->producers[kept++] = state->producers[i];
        }
    }
    state->count = kept;
    return before - kept;
}

enum hw_status hw_producer_state_restore(struct hw_producer_state *state,
                                         const struct hw_snapshot_producer *entry,
                                         struct hw_error *error)
{
    enum hw_status status = hw_producer_state_reserve(state, 1, error);
    struct hw_producer *producer;

    if (status != HW_OK || entry->producer_id < 0 ||
        hw_producer_state_find(state, entry->producer_id) != NULL) {
        return status; /* No file of Kafka's names a producer twice, or none. */
    }
    producer = producer_state_enter(state, entry->producer_id, entry->producer_epoch);
    producer->coordinator_epoch = entry->coordinator_epoch;
    producer->last_timestamp = entry->timestamp;
    if (entry->last_offset >= 0 && entry->last_sequence >= 0) {
        producer_state_add_batch(producer,
                                 &(struct hw_producer_batch){.last_sequence = entry->last_sequence,
                                                             .offset_delta = entry->offset_delta,
                                                             .last_offset = entry->last_offset,
                                                             .timestamp = entry->timestamp});
    }
    if (entry->current_transaction_first_offset >= 0) {
        producer_state_open(state, producer, entry->current_transaction_first_offset);
    }
    return HW_OK;
}

enum hw_status hw_producer_state_keep_ended(struct hw_producer_state *state,
                                            const struct hw_producer_state *other,
                                            hw_offset_t offset, struct hw_error *error)
{
    enum hw_status status;

    state->ended_count = 0;
    status = hw_array_reserve(state->allocator, (void **)&state->ended, &state->ended_capacity,
                              other->ended_count, sizeof *state->ended, error);
    while (status == HW_OK && state->ended_count < other->ended_count &&
           other->ended[state->ended_count].last_offset < offset) {
        state->ended[state->ended_count] = other->ended[state->ended_count];
        state->ended_count++;
    }
    producer_state_find_first_unstable(state);
    return status;
}

static struct hw_snapshot_producer producer_state_entry(const struct hw_producer *producer)
{
    struct hw_snapshot_producer entry = {.producer_id = producer->producer_id,
                                         .producer_epoch = producer->epoch,
                                         .last_sequence = -1,
                                         .last_offset = HW_OFFSET_NONE,
                                         .timestamp = producer->last_timestamp,
                                         .coordinator_epoch = producer->coordinator_epoch,
                                         .current_transaction_first_offset =
                                             producer->transaction_start};

    if (producer->batch_count > 0) {
        const struct hw_producer_batch *last = &producer->batches[producer->batch_count - 1];

        entry.last_sequence = last->last_sequence;
        entry.last_offset = last->last_offset;
        entry.offset_delta = last->offset_delta;
    }
    return entry;
}

enum hw_status hw_producer_state_encode(const struct hw_producer_state *state,
                                        struct hw_buffer *out, struct hw_error *error)
{
    size_t size = hw_snapshot_size_bytes(state->count);
    enum hw_status status = hw_buffer_reserve(out, size, error);

    if (status == HW_OK) {
        for (size_t i = 0; i < state->count; i++) {
            struct hw_snapshot_producer entry = producer_state_entry(&state->producers[i]);

            hw_snapshot_put(out->bytes + out->size, i, &entry);
        }
        hw_snapshot_finish(out->bytes + out->size, state->count);
        out->size += size;
    }
    return status;
}

void hw_producer_state_check_order(const struct hw_producer_state *state)
{
    struct hw_producer_state again = *state;
    size_t open = 0;

    for (size_t i = 0; i < state->count; i++) {
        HW_ASSERT(HW_IMPLIES(i > 0, state->producers[i - 1].producer_id <
                                        state->producers[i].producer_id));
        open += state->producers[i].transaction_start != HW_OFFSET_NONE;
    }
    HW_ASSERT(open == state->open_count);
    producer_state_find_first_unstable(&again);
    HW_ASSERT(again.first_unstable == state->first_unstable);
}
