/* SPDX-License-Identifier: MIT */
/*
 * Which transactions of a partition were aborted and which are open, as its batches tell.
 *
 *     producer 7   data 3   data 5   ABORT 9         3..9 aborted: records 3 and 5
 *     producer 8       data 4                        open from 4 on: nothing is stable from there
 *
 * A producer's transaction begins with its first transactional batch and ends with its next marker;
 * between transactions it has none, so a look-up needs producer and offset only.
 *
 * Source: ProducerAppendInfo, ProducerStateManager.firstUnstableOffset, TransactionIndex (kafka
 * formats 2, 4.4).
 */
#ifndef HW_INSPECT_TRANSACTION_STATE_H
#define HW_INSPECT_TRANSACTION_STATE_H

#include "core/base/memory.h"
#include "core/inspect/partition_scan.h"
#include "core/record/control_record.h"

/* A transaction of one producer in this partition. */
struct hw_transaction {
    int64_t producer_id;
    hw_offset_t first_offset;
    hw_offset_t last_offset; /* Of the marker; HW_OFFSET_NONE while it is open. */
};

struct hw_transaction_state {
    const struct hw_allocator *allocator;
    struct hw_transaction *open;
    size_t open_count;
    size_t open_capacity;
    struct hw_transaction *aborted; /* By producer and offset, once hw_transaction_state_sort(). */
    size_t aborted_count;
    size_t aborted_capacity;
    /* Markers at or above it have not happened yet for consumers. */
    hw_offset_t high_watermark;
    hw_offset_t unstable_offset; /* First one of a transaction that ended there; else INT64_MAX. */
};

void hw_transaction_state_init(struct hw_transaction_state *state,
                               const struct hw_allocator *allocator, hw_offset_t high_watermark);
void hw_transaction_state_release(struct hw_transaction_state *state);

/* Take notice of an open or aborted transaction. Errors: HW_NO_MEMORY. */
enum hw_status hw_transaction_state_add_open(struct hw_transaction_state *state,
                                             int64_t producer_id, hw_offset_t first_offset,
                                             struct hw_error *error);
enum hw_status hw_transaction_state_add_aborted(struct hw_transaction_state *state,
                                                const struct hw_transaction *transaction,
                                                struct hw_error *error);

/* Take notice of every batch of the partition from offset `first` on; what was read is added to
 * *bytes_read. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND. */
enum hw_status hw_transaction_state_take_batches(struct hw_transaction_state *state,
                                                 struct hw_store *store,
                                                 const struct hw_kafka_partition *partition,
                                                 hw_offset_t first, int64_t *bytes_read,
                                                 struct hw_error *error);

/* Whether the producer has a transaction that is open and began at or before the offset. */
bool hw_transaction_state_is_open(const struct hw_transaction_state *state, int64_t producer_id,
                                  hw_offset_t offset);

/* Make look-ups possible. */
void hw_transaction_state_sort(struct hw_transaction_state *state);

/* Whether the producer's record is part of an aborted transaction. */
bool hw_transaction_state_is_aborted(const struct hw_transaction_state *state, int64_t producer_id,
                                     hw_offset_t offset);

/* The first offset of the earliest transaction that is not over, or INT64_MAX. */
hw_offset_t hw_transaction_state_first_unstable(const struct hw_transaction_state *state);

#endif /* HW_INSPECT_TRANSACTION_STATE_H */
