/* SPDX-License-Identifier: MIT */
/*
 * What a consumer would see of a partition whose directory lies on disk, as far as the files tell:
 *
 *     log-start-offset-checkpoint      where the log starts
 *     replication-offset-checkpoint    the high watermark
 *     .txnindex, .snapshot, batches    aborted and open transactions
 *
 * The checkpoints are those of the log directory; what they do not have bounds nothing.
 *
 * A broker that runs writes its checkpoints every few seconds, so they may be behind. Transactions
 * that were aborted before the newest good snapshot below the high watermark come from the indexes,
 * and what is behind it from the batches; without a snapshot all batches are walked over. That is
 * done if the partition is small, or has a .txnindex, or once a transactional batch is asked about:
 * a scan of plain records reads nothing for it.
 */
#ifndef HW_INSPECT_VISIBILITY_H
#define HW_INSPECT_VISIBILITY_H

#include "core/inspect/partition_scan.h"

/* A transaction of one producer in this partition. */
struct hw_transaction {
    int64_t producer_id;
    hw_offset_t first_offset;
    hw_offset_t last_offset; /* Of the marker; HW_OFFSET_NONE while it is open. */
};

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

/* Take notice of every batch of the partition from offset `first` on; what was read is added to
 * *bytes_read, unless that is NULL. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND. */
enum hw_status hw_transaction_state_take_batches(struct hw_transaction_state *state,
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

/* ----------------------------------------------------------------------------------------- view */

/* Use through the functions. */
struct hw_visibility {
    const struct hw_kafka_partition *partition; /* NULL: not opened. */
    struct hw_kafka_partition scope; /* With the file taken away where the directory tells more. */
    hw_offset_t log_start;
    hw_offset_t high_watermark; /* INT64_MAX: not known. */
    bool has_looked;            /* For signs of transactions. */
    bool has_transactions;      /* The state is filled. */
    hw_offset_t last_stable_offset;
    struct hw_transaction_state transactions;
    int64_t *bytes_read; /* What is read for the transactions is added there. */
};

/*
 * Read the checkpoints. `partition` and `bytes_read` must outlive the view. A file in a partition's
 * directory, or beside other segments, is seen with all of them: a transaction may begin in one and
 * end in the next. Release it in any case. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_visibility_open(struct hw_visibility *view,
                                  const struct hw_kafka_partition *partition, int64_t *bytes_read,
                                  struct hw_error *error);
void hw_visibility_release(struct hw_visibility *view);

/*
 * "visible", "above_hw", "above_lso", "aborted", "control" or "below_log_start" for the record with
 * this offset in the batch; NULL where a file by itself does not tell how a transaction that begins
 * in it ends. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_visibility_of(struct hw_visibility *view, const struct hw_batch *batch,
                                hw_offset_t offset, const char **visibility,
                                struct hw_error *error);

#endif /* HW_INSPECT_VISIBILITY_H */
