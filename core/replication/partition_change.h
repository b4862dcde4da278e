/* SPDX-License-Identifier: MIT */
/*
 * One change of a partition record, built in Kafka's order: complete a reassignment, recompute the
 * ELR, elect, bump the leader epoch where members were lost, remember the last known leader.
 *
 * Pure: it looks at nothing but its arguments. Source: PartitionChangeBuilder (R6.1 to R6.12, R7.4
 * to R7.6).
 */
#ifndef HW_REPLICATION_PARTITION_CHANGE_H
#define HW_REPLICATION_PARTITION_CHANGE_H

#include "core/replication/partition_record.h"

enum hw_election {
    HW_ELECTION_PREFERRED, /* R6.3 */
    HW_ELECTION_ONLINE,    /* R6.4 */
    HW_ELECTION_UNCLEAN    /* R6.4, also outside the ISR */
};

/* What is wanted. Start from hw_partition_change_of(), then set what differs. */
struct hw_partition_change {
    struct hw_broker_list isr; /* Targets, this and the next four: the record's unless changed. */
    struct hw_broker_list replicas;
    struct hw_broker_list adding;
    struct hw_broker_list removing;
    bool recovering;                        /* An unclean election sets it in any case (R6.6). */
    struct hw_broker_list unclean_restarts; /* Brokers that lost their state: they leave the ELR. */
    struct hw_broker_list acceptable;       /* Replicas that may lead now (R6.1). */
    enum hw_election election;
    int32_t effective_min_isr; /* R0.1: min(min.insync.replicas, replica count). */
    bool elr_enabled;
    bool use_last_known_leader;       /* useLastKnownLeaderInBalancedRecovery, default true. */
    bool bump_leader_epoch;           /* Set the leader field also where the leader stays. */
    bool bump_leader_epoch_on_shrink; /* Metadata versions before 3.6 (C190); default false. */
};

/*
 * A change that wants nothing new of `record`: election ONLINE, nobody acceptable, no ELR, an
 * effective min ISR of 1.
 */
struct hw_partition_change hw_partition_change_of(const struct hw_partition_record *record);

/*
 * Apply the change to *record. Returns whether anything changed; then the partition epoch is one
 * higher, and the leader epoch too where the leader field was set (R4.10).
 *
 * The target ISR is a subset of the target replicas. An empty one is kept only with the ELR on;
 * without it the old ISR stays and names the only broker that may lead again (R6.7).
 *
 * Stricter than Kafka in two points: who is no replica any more leaves the ELR, and the last known
 * leader is elected only if it is acceptable (R6.10).
 */
bool hw_partition_change_apply(const struct hw_partition_change *change,
                               struct hw_partition_record *record);

/*
 * A move to other brokers:
 *
 *     replicas [3,2,1], target [0,2,1]
 *     begin      replicas [0,2,1,3]   adding [0]   removing [3]
 *     complete   replicas [0,2,1]     once 0, 2 and 1 are all in the ISR
 *     cancel     replicas [2,1,3]     0 is gone, 3 stays
 *
 * Source: PartitionReassignmentReplicas, PartitionReassignmentRevert.
 */

/*
 * Begin one to `target` (no member twice): the replicas are the target, then those that will go;
 * adding and removing ascend. Returns false, and leaves *change, if both together are more than
 * HW_REPLICAS_MAX brokers. R7.1, R7.2.
 */
bool hw_partition_change_begin_move(struct hw_partition_change *change,
                                    const struct hw_broker_list *target);

/* Take the running one back, of which a replica that was not added remains. Returns whether that is
 * unclean: no member of the ISR remains, and the first replica was put into it. R7.7. */
bool hw_partition_change_cancel_move(struct hw_partition_change *change);

/*
 * Complete the move of *record if one is running and every replica that was added is in the ISR,
 * and, where fewer are added than removed, every one that will stay: the others leave the replicas
 * and the ISR. Touches neither the leader nor the epochs. Returns whether it did. R7.4 as it is
 * since 4.3 (KAFKA-19975).
 */
bool hw_partition_record_maybe_complete_move(struct hw_partition_record *record);

#endif /* HW_REPLICATION_PARTITION_CHANGE_H */
