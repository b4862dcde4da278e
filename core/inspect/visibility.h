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

#include "core/inspect/transaction_state.h"

/* Use through the functions. */
struct hw_visibility {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    const struct hw_kafka_partition *partition; /* NULL: not opened. */
    struct hw_kafka_partition scope; /* With the file taken away where the directory tells more. */
    hw_offset_t log_start;
    hw_offset_t high_watermark; /* INT64_MAX: not known. */
    bool has_looked;            /* For signs of transactions. */
    bool has_transactions;      /* The state is filled. */
    hw_offset_t last_stable_offset;
    struct hw_transaction_state transactions;
    int64_t bytes_read; /* For the transactions. */
};

/*
 * Read the checkpoints. `partition` must outlive the view. A file in a partition's directory, or
 * beside other segments, is seen with all of them: a transaction may begin in one and end in the
 * next. Release it in any case. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_visibility_open(struct hw_visibility *view, const struct hw_allocator *allocator,
                                  struct hw_store *store,
                                  const struct hw_kafka_partition *partition,
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
