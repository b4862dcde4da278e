/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of moving a partition to other brokers: how a move begins, when it is complete,
 * and what taking it back leaves.
 *
 *     replicas [3,2,1], target [0,2,1]
 *     begin      replicas [0,2,1,3]   adding [0]   removing [3]
 *     complete   replicas [0,2,1]     once 0, 2 and 1 are all in the ISR
 *     cancel     replicas [2,1,3]     0 is gone, 3 stays
 *
 * Source: PartitionReassignmentReplicas, PartitionReassignmentRevert (R7.1, R7.4, R7.7).
 */
#ifndef HW_REPLICATION_REASSIGNMENT_H
#define HW_REPLICATION_REASSIGNMENT_H

#include "core/replication/partition_record.h"

struct hw_reassignment {
    struct hw_broker_list replicas; /* The target, then those that will go. */
    struct hw_broker_list adding;   /* Ascending, as the next. */
    struct hw_broker_list removing;
};

/*
 * What moving from `replicas` to `target` (no member twice) begins with. Returns false, and leaves
 * *reassignment, if both together are more than HW_REPLICAS_MAX brokers. R7.1, R7.2.
 */
bool hw_reassignment_begin(const struct hw_broker_list *replicas,
                           const struct hw_broker_list *target,
                           struct hw_reassignment *reassignment);

/*
 * Complete the move of *record if one is running and every replica that was added is in the ISR,
 * and, where fewer are added than removed, every one that will stay: the others leave the replicas
 * and the ISR. Touches neither the leader nor the epochs. Returns whether it did. R7.4 as it is
 * since 4.3 (KAFKA-19975).
 */
bool hw_reassignment_maybe_complete(struct hw_partition_record *record);

/* What remains of a move that is taken back. */
struct hw_reassignment_revert {
    struct hw_broker_list replicas; /* Without the ones that were being added. */
    struct hw_broker_list isr;
    bool unclean; /* No member of the ISR remains: the first replica was put into it. */
};

/* Take back the running move of `record`, of which a replica that was not added remains. R7.7. */
struct hw_reassignment_revert hw_reassignment_revert_of(const struct hw_partition_record *record);

#endif /* HW_REPLICATION_REASSIGNMENT_H */
