/* SPDX-License-Identifier: MIT */
/* What the files of the promises share. */
#ifndef HW_CLUSTER_PROMISES_INTERNAL_H
#define HW_CLUSTER_PROMISES_INTERNAL_H

#include "core/cluster/cluster_internal.h"

/* The partition that is looked at, with what is the same for every promise. */
struct hw_promise_look {
    struct hw_cluster *cluster;
    const struct hw_partition *partition;
    struct hw_promised_partition *promised;
    const struct hw_replica *leader; /* The nonstale one, or NULL. */
    size_t leader_at;                /* Its place among the replicas. */
};

/* ------------------------------------------------------------------------------ promise_logs.c */

/* NULL: the list has nothing at `offset`. */
const struct hw_promised *hw_promised_at(const struct hw_promised_list *list, hw_offset_t offset);

/* Have in `list` all that the log has, from its log start on; what it has of the same content is not
 * read again. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_promises_read_log(struct hw_cluster *cluster, struct hw_log *log,
                                    struct hw_promised_list *list, struct hw_error *error);

/* The end of what the replica shows, if it leads or believes so. */
hw_offset_t hw_promise_shown_end(const struct hw_promise_look *look,
                                 const struct hw_replica *replica);

/* Add to what was shown; HW_PROMISE_ONE_RECORD_PER_OFFSET where something else was shown at an
 * offset. Errors: HW_NO_MEMORY. */
enum hw_status hw_promise_note_shown(const struct hw_promise_look *look, uint32_t *broken,
                                     struct hw_error *error);

/* Add to what was acknowledged what hw_acks has told since the last look. Errors: HW_NO_MEMORY. */
enum hw_status hw_promise_note_acks(const struct hw_promise_look *look, struct hw_error *error);

/* --------------------------------------------------------------------- promise_transactions.c */

/* Look at what producers with an id have written to each copy. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_promise_look_at_producers(const struct hw_promise_look *look, uint32_t *broken,
                                            struct hw_error *error);

#endif /* HW_CLUSTER_PROMISES_INTERNAL_H */
