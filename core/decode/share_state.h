/* SPDX-License-Identifier: MIT */
/*
 * Where share groups are in each partition, as the records of __share_group_state add up to it: the
 * newest snapshot of a key, and the updates behind it.
 *
 *     snapshot   start 0, [0..9] Available 1      update   [3..5] Acknowledged 1
 *     together   start 0, [0..2] Available 1, [3..5] Acknowledged 1, [6..9] Available 1
 *
 * Where two batches overlap the larger delivery count wins, and of equal ones the larger state.
 *
 * Source: the rules S3.1 to S3.4; ShareCoordinatorShard, PersisterStateBatchCombiner.
 */
#ifndef HW_DECODE_SHARE_STATE_H
#define HW_DECODE_SHARE_STATE_H

#include "core/base/byte_map.h"
#include "core/base/types.h"
#include "core/decode/internal_record.h"

struct hw_share_batch {
    hw_offset_t first;
    hw_offset_t last;
    int16_t count; /* How often it was delivered. */
    int8_t state;
};

struct hw_share_partition {
    bool is_live;
    int32_t snapshot_epoch;
    int32_t state_epoch;
    int32_t leader_epoch;
    hw_offset_t start_offset;
    int32_t complete_count; /* -1: not told. */
    hw_time_ms_t created;
    hw_time_ms_t written;
    struct hw_share_batch *batches; /* In the order of their offsets, none over another one. */
    size_t count;
    size_t capacity;
    hw_offset_t offset; /* Of the record that changed it last. */
    hw_time_ms_t timestamp;
};

enum {
    HW_SHARE_KEY_SIZE_MIN = 20, /* Topic id and partition; the group stands behind. */
    /* Kafka holds some thousand records of a partition at once. */
    HW_SHARE_BATCHES_MAX = 20000
};

/* Read the arrays; change through the functions. */
struct hw_share_state {
    const struct hw_allocator *allocator;
    struct hw_byte_map keys;
    struct hw_share_partition *partitions;
    size_t capacity;
    char fault[HW_MESSAGE_FAULT_SIZE + 128]; /* The first thing that could not be read; "". */
};

void hw_share_state_init(struct hw_share_state *state, const struct hw_allocator *allocator);
void hw_share_state_release(struct hw_share_state *state);

/* Take notice of the next record, which is none of a control batch. Errors: HW_NO_MEMORY (the state
 * is then of no use). */
enum hw_status hw_share_state_apply(struct hw_share_state *state,
                                    const struct hw_internal_record *internal,
                                    struct hw_error *error);

#endif /* HW_DECODE_SHARE_STATE_H */
