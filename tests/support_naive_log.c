/* SPDX-License-Identifier: MIT */
#include "tests/support_naive_log.h"

#include <stdlib.h>

#include "tests/support_test.h"

static struct naive_producer *naive_producer(struct naive_log *naive, int64_t producer_id)
{
    for (size_t i = 0; i < naive->producer_count; i++) {
        if (naive->producers[i].producer_id == producer_id) {
            return &naive->producers[i];
        }
    }
    assert_true(naive->producer_count < NAIVE_PRODUCERS_MAX);
    naive->producers[naive->producer_count] = (struct naive_producer){.producer_id = producer_id,
                                                                      .epoch = -1,
                                                                      .last_sequence = -1,
                                                                      .coordinator_epoch = -1,
                                                                      .open_from = HW_OFFSET_NONE};
    return &naive->producers[naive->producer_count++];
}

/* Take in one batch behind all others. */
static void naive_log_add(struct naive_log *naive, const struct naive_batch *batch)
{
    size_t at = naive->count;
    struct naive_producer *producer;

    assert_true(at < NAIVE_BATCHES_MAX);
    naive->batches[naive->count++] = *batch;
    if (batch->producer_id < 0) {
        return;
    }
    producer = naive_producer(naive, batch->producer_id);
    if (producer->epoch != batch->epoch) {
        producer->epoch = batch->epoch;
        producer->last_sequence = -1;
    }
    if (!batch->is_control) {
        producer->last_sequence = batch->sequence;
        if (batch->is_transactional && producer->open_from == HW_OFFSET_NONE) {
            producer->open_from = batch->offset;
        }
        return;
    }
    producer->coordinator_epoch = batch->marker.coordinator_epoch;
    for (size_t i = 0; i < at && producer->open_from != HW_OFFSET_NONE; i++) {
        struct naive_batch *earlier = &naive->batches[i];

        if (earlier->producer_id == batch->producer_id && earlier->is_transactional &&
            !earlier->is_control && earlier->offset >= producer->open_from) {
            earlier->ended_by = at;
        }
    }
    producer->open_from = HW_OFFSET_NONE;
}

/* The batch at `bytes`; returns its size. */
static size_t naive_log_parse(struct naive_log *naive, const uint8_t *bytes, size_t size)
{
    struct hw_record_iterator iterator;
    struct hw_record record;
    struct hw_error error;
    struct hw_batch batch;
    struct naive_batch made = {0};
    char digits[16] = "";
    bool found;

    assert_int_equal(hw_batch_parse(bytes, size, &batch), HW_BATCH_OK);
    made.offset = batch.base_offset;
    made.producer_id = batch.producer_id;
    made.epoch = batch.producer_epoch;
    made.sequence = batch.base_sequence;
    made.is_transactional = (batch.attributes & HW_BATCH_TRANSACTIONAL) != 0;
    made.is_control = (batch.attributes & HW_BATCH_CONTROL) != 0;
    assert_int_equal(batch.last_offset_delta, 0);
    if (made.is_control) {
        assert_true(hw_marker_decode(bytes, &batch, &made.marker));
    } else {
        assert_int_equal(hw_record_iterator_init(&iterator, bytes, &batch, &error), HW_OK);
        assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &error), HW_OK);
        assert_true(found && record.value_size < (int32_t)sizeof digits);
        for (int32_t i = 0; i < record.value_size; i++) {
            digits[i] = (char)record.value[i];
        }
        made.value = atoi(digits);
    }
    naive_log_add(naive, &made);
    return hw_batch_size_bytes(&batch);
}

void naive_log_read(struct naive_log *naive, struct hw_log *log)
{
    struct hw_buffer bytes;
    struct hw_error error;
    hw_offset_t end = hw_log_end(log);

    naive->count = naive->producer_count = 0;
    hw_buffer_init(&bytes, &hw_allocator_libc);
    for (hw_offset_t offset = hw_log_start(log); offset < end;
         offset = naive->batches[naive->count - 1].offset + 1) {
        bytes.size = 0;
        assert_int_equal(hw_log_read(log, offset, end, 1u << 22, true, &bytes, &error), HW_OK);
        assert_true(bytes.size > 0);
        for (size_t at = 0; at < bytes.size;) {
            at += naive_log_parse(naive, bytes.bytes + at, bytes.size - at);
        }
    }
    hw_buffer_release(&bytes);
}

hw_offset_t naive_log_last_stable(const struct naive_log *naive, hw_offset_t high_watermark)
{
    for (size_t i = 0; i < naive->count; i++) {
        const struct naive_batch *batch = &naive->batches[i];

        if (batch->offset >= high_watermark) {
            break;
        }
        if (batch->is_transactional && !batch->is_control &&
            (batch->ended_by == 0 || naive->batches[batch->ended_by].offset >= high_watermark)) {
            return batch->offset;
        }
    }
    return high_watermark;
}

bool naive_log_is_committed(const struct naive_log *naive, size_t i, hw_offset_t last_stable)
{
    const struct naive_batch *batch = &naive->batches[i];

    return batch->offset < last_stable && !batch->is_control &&
           (!batch->is_transactional ||
            naive->batches[batch->ended_by].marker.type == HW_CONTROL_COMMIT);
}

void naive_log_expect_producers(const struct naive_log *naive, const struct hw_log *log)
{
    const struct hw_producer_state *state = hw_log_producers(log);

    assert_int_equal(state->count, naive->producer_count);
    for (size_t i = 0; i < naive->producer_count; i++) {
        const struct naive_producer *expected = &naive->producers[i];
        const struct hw_producer *got = hw_producer_state_find(state, expected->producer_id);

        assert_non_null(got);
        assert_int_equal(got->epoch, expected->epoch);
        assert_int_equal(hw_producer_last_sequence(got), expected->last_sequence);
        assert_int_equal(got->coordinator_epoch, expected->coordinator_epoch);
        assert_int_equal(got->transaction_start, expected->open_from);
    }
}

/* The batch of that producer before number `i`; NULL: none. */
static const struct naive_batch *naive_log_before(const struct naive_log *naive, size_t i,
                                                  bool is_control)
{
    for (size_t k = i; k > 0; k--) {
        const struct naive_batch *batch = &naive->batches[k - 1];

        if (batch->producer_id == naive->batches[i].producer_id &&
            batch->is_control == is_control) {
            return batch;
        }
    }
    return NULL;
}

static void naive_log_expect_data(const struct naive_log *naive, size_t i, bool raises_epochs)
{
    const struct naive_batch *batch = &naive->batches[i];
    const struct naive_batch *before = naive_log_before(naive, i, false);
    const struct naive_batch *marker = naive_log_before(naive, i, true);
    bool goes_on = before != NULL && before->epoch == batch->epoch;

    assert_true(marker == NULL || batch->epoch >= marker->epoch);
    assert_true(before == NULL || batch->epoch >= before->epoch);
    if (goes_on) {
        assert_int_equal(batch->sequence, before->sequence + 1);
    } else if (before != NULL || marker != NULL || (batch->is_transactional && raises_epochs)) {
        assert_int_equal(batch->sequence, 0); /* Who is new may begin with any (R9.6). */
    }
    if (batch->is_transactional && before != NULL && before->is_transactional &&
        before->ended_by == batch->ended_by) {
        assert_int_equal(batch->epoch, before->epoch);
    }
    if (batch->is_transactional && batch->ended_by != 0 && raises_epochs) {
        assert_int_equal(naive->batches[batch->ended_by].epoch, batch->epoch + 1);
    }
}

static bool naive_log_has_ended(const struct naive_log *naive, size_t marker)
{
    for (size_t i = 0; i < marker; i++) {
        if (naive->batches[i].ended_by == marker && marker != 0) {
            return true;
        }
    }
    return false;
}

void naive_log_expect_order(const struct naive_log *naive, bool raises_epochs)
{
    for (size_t i = 0; i < naive->count; i++) {
        const struct naive_batch *batch = &naive->batches[i];
        const struct naive_batch *before;

        if (batch->producer_id < 0) {
            continue;
        }
        if (!batch->is_control) {
            naive_log_expect_data(naive, i, raises_epochs);
            continue;
        }
        before = naive_log_before(naive, i, true);
        assert_true(before == NULL ||
                    batch->marker.coordinator_epoch >= before->marker.coordinator_epoch);
        assert_true(before == NULL || batch->epoch >= before->epoch);
        if (raises_epochs && before != NULL && before->epoch == batch->epoch &&
            naive_log_has_ended(naive, i)) {
            assert_false(naive_log_has_ended(naive, (size_t)(before - naive->batches)) &&
                         before->marker.type != batch->marker.type);
        }
    }
}
