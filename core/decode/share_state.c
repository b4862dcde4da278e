/* SPDX-License-Identifier: MIT */
#include "core/decode/share_state.h"

#include "core/base/bytes.h"
#include "core/base/search.h"

#include <string.h>

enum { SHARE_SNAPSHOT, SHARE_UPDATE };

void hw_share_state_init(struct hw_share_state *state, const struct hw_allocator *allocator)
{
    *state = (struct hw_share_state){.allocator = allocator};
    hw_byte_map_init(&state->keys, allocator);
}

static void share_drop(const struct hw_share_state *state, struct hw_share_partition *partition)
{
    hw_free(state->allocator, partition->batches, partition->capacity * sizeof *partition->batches);
    *partition = (struct hw_share_partition){.is_live = false};
}

void hw_share_state_release(struct hw_share_state *state)
{
    for (size_t i = 0; i < state->keys.count; i++) {
        share_drop(state, &state->partitions[i]);
    }
    hw_free(state->allocator, state->partitions, state->capacity * sizeof *state->partitions);
    hw_byte_map_release(&state->keys);
    hw_share_state_init(state, state->allocator);
}

static void share_note(struct hw_share_state *state, hw_offset_t offset, const char *error)
{
    hw_internal_note(state->fault, sizeof state->fault, offset, error);
}

/* ------------------------------------------------------------------------------------- batches */

static enum hw_status share_insert(const struct hw_share_state *state,
                                   struct hw_share_partition *partition, size_t at,
                                   struct hw_share_batch batch, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(state->allocator, (void **)&partition->batches, &partition->capacity,
                         partition->count + 1, sizeof *partition->batches, error);

    if (status == HW_OK) {
        memmove(&partition->batches[at + 1], &partition->batches[at],
                (partition->count - at) * sizeof *partition->batches);
        partition->batches[at] = batch;
        partition->count++;
    }
    return status;
}

/* The first batch that ends at or behind the offset. */
static size_t share_find(const struct hw_share_partition *partition, hw_offset_t offset)
{
    size_t at;

    HW_SEARCH(at, 0, partition->count, partition->batches[at].last < offset);
    return at;
}

static bool share_wins(const struct hw_share_batch *one, const struct hw_share_batch *other)
{
    return one->count != other->count ? one->count > other->count : one->state > other->state;
}

/* Lay a batch over the others. 0 <= first <= last. */
static enum hw_status share_add(const struct hw_share_state *state,
                                struct hw_share_partition *partition, struct hw_share_batch batch,
                                struct hw_error *error)
{
    size_t at = share_find(partition, batch.first);
    enum hw_status status = HW_OK;

    while (status == HW_OK && batch.first <= batch.last) {
        struct hw_share_batch *other = at < partition->count ? &partition->batches[at] : NULL;
        struct hw_share_batch piece = batch;

        if (other == NULL || other->first > batch.first) {
            /* Nothing lies there, up to the next one. */
            if (other != NULL && other->first <= batch.last) {
                piece.last = other->first - 1;
            }
            status = share_insert(state, partition, at++, piece, error);
        } else if (other->first < batch.first) {
            /* Cut the other one, and look again at its second part. */
            piece = *other;
            piece.last = batch.first - 1;
            other->first = batch.first;
            status = share_insert(state, partition, at++, piece, error);
            continue;
        } else {
            if (other->last > batch.last) {
                piece = *other;
                piece.first = batch.last + 1;
                other->last = batch.last;
                status = share_insert(state, partition, at + 1, piece, error);
                other = &partition->batches[at];
            }
            piece.last = other->last;
            if (share_wins(&batch, other)) {
                other->count = batch.count;
                other->state = batch.state;
            }
            at++;
        }
        if (piece.last == INT64_MAX) {
            break;
        }
        batch.first = piece.last + 1;
    }
    return status;
}

/* Take away what is below the start, and join what is alike. */
static void share_tidy(struct hw_share_partition *partition)
{
    size_t kept = 0;

    for (size_t i = 0; i < partition->count; i++) {
        struct hw_share_batch batch = partition->batches[i];
        struct hw_share_batch *before = kept == 0 ? NULL : &partition->batches[kept - 1];

        if (batch.last < partition->start_offset) {
            continue;
        }
        batch.first = batch.first < partition->start_offset ? partition->start_offset : batch.first;
        if (before != NULL && before->last + 1 == batch.first && before->count == batch.count &&
            before->state == batch.state) {
            before->last = batch.last;
        } else {
            partition->batches[kept++] = batch;
        }
    }
    partition->count = kept;
}

static enum hw_status share_take_batches(struct hw_share_state *state,
                                         struct hw_share_partition *partition,
                                         struct hw_message_struct value, hw_offset_t offset,
                                         struct hw_error *error)
{
    int32_t count = hw_message_count(value, "stateBatches");
    enum hw_status status = HW_OK;

    for (int32_t i = 0; i < count && status == HW_OK; i++) {
        struct hw_message_struct of = hw_message_element(value, "stateBatches", i);
        struct hw_share_batch batch = {.first = hw_message_integer(of, "firstOffset"),
                                       .last = hw_message_integer(of, "lastOffset"),
                                       .count = (int16_t)hw_message_integer(of, "deliveryCount"),
                                       .state = (int8_t)hw_message_integer(of, "deliveryState")};

        if (batch.first < 0 || batch.last < batch.first) {
            share_note(state, offset, "a batch that ends before it begins");
        } else if (partition->count >= HW_SHARE_BATCHES_MAX) {
            share_note(state, offset, "more batches than a partition may have");
            return HW_OK;
        } else {
            status = share_add(state, partition, batch, error);
        }
    }
    share_tidy(partition);
    return status;
}

/* ------------------------------------------------------------------------------------- records */

/* The partition of a key, added if it is new. */
static enum hw_status share_key(struct hw_share_state *state, struct hw_message_struct key,
                                size_t *number, struct hw_error *error)
{
    struct hw_uuid topic_id = hw_message_uuid(key, "topicId");
    struct hw_message_text group = hw_message_text(key, "groupId");
    uint8_t head[HW_SHARE_KEY_SIZE_MIN];
    struct hw_buffer bytes;
    enum hw_status status;

    memcpy(head, topic_id.bytes, sizeof topic_id.bytes);
    hw_put_i32(head + sizeof topic_id.bytes, (int32_t)hw_message_integer(key, "partition"));
    hw_buffer_init(&bytes, state->allocator);
    status = hw_buffer_append(&bytes, head, sizeof head, error);
    if (status == HW_OK) {
        status = hw_buffer_append(&bytes, group.bytes, group.size, error);
    }
    if (status == HW_OK) {
        status =
            hw_byte_map_add_item(&state->keys, bytes.bytes, bytes.size, (void **)&state->partitions,
                                 &state->capacity, sizeof *state->partitions, number, error);
    }
    hw_buffer_release(&bytes);
    return status;
}

static enum hw_status share_take_snapshot(struct hw_share_state *state,
                                          struct hw_share_partition *partition,
                                          struct hw_message_struct value, hw_offset_t offset,
                                          struct hw_error *error)
{
    share_drop(state, partition);
    partition->is_live = true;
    partition->snapshot_epoch = (int32_t)hw_message_integer(value, "snapshotEpoch");
    partition->state_epoch = (int32_t)hw_message_integer(value, "stateEpoch");
    partition->leader_epoch = (int32_t)hw_message_integer(value, "leaderEpoch");
    partition->start_offset = hw_message_integer(value, "startOffset");
    partition->complete_count = (int32_t)hw_message_integer(value, "deliveryCompleteCount");
    partition->created = hw_message_integer(value, "createTimestamp");
    partition->written = hw_message_integer(value, "writeTimestamp");
    return share_take_batches(state, partition, value, offset, error);
}

/* A start or an epoch of -1 stays what it was. */
static enum hw_status share_take_update(struct hw_share_state *state,
                                        struct hw_share_partition *partition,
                                        struct hw_message_struct value, hw_offset_t offset,
                                        struct hw_error *error)
{
    hw_offset_t start = hw_message_integer(value, "startOffset");
    int32_t epoch = (int32_t)hw_message_integer(value, "leaderEpoch");

    if (!partition->is_live) {
        share_note(state, offset, "an update of a state without its snapshot");
        return HW_OK;
    }
    partition->start_offset = start < 0 ? partition->start_offset : start;
    partition->leader_epoch = epoch < 0 ? partition->leader_epoch : epoch;
    partition->complete_count = (int32_t)hw_message_integer(value, "deliveryCompleteCount");
    return share_take_batches(state, partition, value, offset, error);
}

enum hw_status hw_share_state_apply(struct hw_share_state *state,
                                    const struct hw_internal_record *internal,
                                    struct hw_error *error)
{
    const struct hw_record *record = internal->record;
    struct hw_share_partition *partition;
    size_t number;
    enum hw_status status;

    if (!internal->has_key || (!internal->has_value && !internal->is_tombstone)) {
        share_note(state, record->offset, internal->error);
        return HW_OK;
    }
    status = share_key(state, hw_message_root(&internal->key), &number, error);
    if (status != HW_OK) {
        return status;
    }
    partition = &state->partitions[number];
    if (internal->is_tombstone) {
        if (internal->type == SHARE_SNAPSHOT) {
            share_drop(state, partition);
        }
        return HW_OK;
    }
    status = internal->type == SHARE_SNAPSHOT
                 ? share_take_snapshot(state, partition, hw_message_root(&internal->value),
                                       record->offset, error)
                 : share_take_update(state, partition, hw_message_root(&internal->value),
                                     record->offset, error);
    partition->offset = record->offset;
    partition->timestamp = record->timestamp;
    return status;
}
