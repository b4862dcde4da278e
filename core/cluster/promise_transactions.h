/* SPDX-License-Identifier: MIT */
/*
 * What is promised of producers and their transactions in one copy of a partition, told from its
 * batches alone and held against what the log says of itself: its last stable offset and its list of
 * aborted transactions (R9).
 */
#ifndef HW_CLUSTER_PROMISE_TRANSACTIONS_H
#define HW_CLUSTER_PROMISE_TRANSACTIONS_H

#include "core/cluster/promises.h"
#include "core/log/log.h"

struct hw_coordinator;

/* A copy of the partition, and up to where its reader of read_committed gets. */
struct hw_promise_copy {
    /* What producers with an id have written, and their markers: one producer after the other, of
     * each in order of offset. */
    const struct hw_promised *const *items;
    size_t count;
    hw_offset_t stable_end;          /* The last stable offset, as the log has it. */
    const struct hw_buffer *aborted; /* As hw_aborted_transactions_sort() leaves them. */
};

/* Put what is in `log` into that order; *ordered keeps the items. Errors: HW_NO_MEMORY. */
enum hw_status hw_promise_order(const struct hw_promised_list *log, struct hw_buffer *ordered,
                                struct hw_promise_copy *copy, struct hw_error *error);

/* Every batch of a producer is there once, and behind the one before, unless as much time lies
 * between the two as makes partitions forget a producer. */
bool hw_promise_stored_once(const struct hw_promise_copy *copy, int64_t expiration_ms);

/* Nothing that is shown belongs to a transaction that is open, or was aborted. */
bool hw_promise_aborted_unseen(const struct hw_promise_copy *copy);

/* Of a transaction whose COMMIT is shown, everything is; and markers say what was decided. */
bool hw_promise_transactions_whole(const struct hw_promise_copy *copy,
                                   const struct hw_coordinator *coordinator);

#endif /* HW_CLUSTER_PROMISE_TRANSACTIONS_H */
