/* SPDX-License-Identifier: MIT */
/*
 * The loss ledger: records that stood in the log that led, had been acknowledged or were visible,
 * and do not stand in the log that leads now.
 *
 *     log that led      a b c d e      its high watermark 3; d was acknowledged with acks=1
 *     log that leads    a b            another broker, elected uncleanly
 *     lost                  c d        c was visible, d acknowledged; e was neither
 *
 * Of the log that leads a partition its epochs and its ends are remembered, since it may be cut or
 * gone when another one leads. Then the two lists of epochs are compared: a record is known by its
 * offset and epoch. So keeping the ledger costs O(1) a step, and an election costs as much as the
 * logs have epochs; the answers of producers (acks.h) are looked at only where there is a
 * difference. With the rules before KIP-279 a log may hold epochs that its list does not tell; then
 * the ledger is as wrong as that list.
 *
 * What is lost is noted as ranges of offsets that have everything else in common. The last
 * HW_LOSSES_MAX ranges are kept; `forgotten` counts the records of older ones, and of those that
 * there was no memory for. What is noted waits in `unsaved` until it is in the store: loss_file.h.
 */
#ifndef HW_CLUSTER_LOSSES_H
#define HW_CLUSTER_LOSSES_H

#include "core/cluster/acks.h"
#include "core/replication/partition.h"

struct hw_cluster;

enum { HW_LOSSES_MAX = 10000 };

#define HW_LOSS_CAUSE_MAP(X)                                                                       \
    X(ELECTION, "election")                 /* Of a member of the ISR that had less. */            \
    X(UNCLEAN_ELECTION, "unclean election") /* Of a replica outside the ISR. */                    \
    X(POWER_LOSS, "power loss")             /* The same broker leads again, with less. */          \
    X(DEPOSED_LEADER, "deposed leader")     /* Acknowledged by one that did not know that. */      \
    X(OPENING, "opening")                   /* Shown before the process ended: its files lack it. */

enum hw_loss_cause {
#define HW_LOSS_CAUSE_ENUM(NAME, TEXT) HW_LOSS_##NAME,
    HW_LOSS_CAUSE_MAP(HW_LOSS_CAUSE_ENUM)
#undef HW_LOSS_CAUSE_ENUM
};

/* Records [first_offset, end_offset), all of one epoch and one fate. */
struct hw_loss {
    struct hw_uuid topic_id;
    uint32_t topic; /* Place of its name in the journal. */
    int32_t partition;
    hw_offset_t first_offset;
    hw_offset_t end_offset;
    hw_epoch_t leader_epoch; /* Of the records. */
    bool is_answer_known; /* false: the answers have forgotten the produce; the next two are 0. */
    int32_t acks;
    bool is_acknowledged;
    hw_time_ms_t lost_ms;
    enum hw_loss_cause cause;
    hw_broker_id_t broker; /* The leader whose log does not have them. */
    hw_epoch_t lost_epoch; /* Leader epoch of the partition's record when they were lost. */
    /* Since when a leader's log has them again; HW_TIME_NEVER: lost. */
    hw_time_ms_t back_ms;
};

struct hw_losses {
    struct hw_loss *entries; /* A ring once it has HW_LOSSES_MAX. */
    size_t count;
    size_t capacity;
    size_t oldest;           /* Where the ring begins. */
    int64_t forgotten;       /* Records. */
    struct hw_loss *unsaved; /* Noted since hw_losses_saved(). */
    size_t unsaved_count;
    size_t unsaved_capacity;
    bool is_unsaved_incomplete; /* There are more than fit into the above. */
};

/* What is remembered of the log that leads one partition. */
struct hw_seen_log {
    int64_t first_ack_id; /* Produces with smaller ids went to another topic of that name. */
    bool is_known;        /* false: nobody has led yet. */
    hw_broker_id_t broker;
    hw_epoch_t leader_epoch;
    struct hw_epoch_cache epochs;
    hw_offset_t log_start;
    hw_offset_t log_end;
    hw_offset_t visible_end; /* Largest high watermark that it, or one before it, has had. */
    bool has_undeleted; /* A log that led later begins below the start of the one before, and nobody
                         * can compare what lies between: a marker may be missing. */
};

void hw_losses_release(struct hw_losses *losses, const struct hw_allocator *allocator);

/* Note what another process had noted; it is not unsaved. */
void hw_losses_restore(struct hw_cluster *cluster, const struct hw_loss *loss);

/* All that was noted is in the store. */
void hw_losses_saved(struct hw_losses *losses);

/* `first_ack_id`: what the id of the next produce will be. */
void hw_seen_log_init(struct hw_seen_log *seen, const struct hw_allocator *allocator,
                      int64_t first_ack_id);
void hw_seen_log_release(struct hw_seen_log *seen);

/* Text of a cause ("unclean election"). Never NULL; static storage. */
const char *hw_loss_cause_name(enum hw_loss_cause cause);

/*
 * Look at the log that leads `partition` now, after anything may have happened to it, and note what
 * has been lost since the last look. Where there is no memory to remember that log, nothing
 * changes and the next look compares. Does nothing while rows of a transaction are in it that has not
 * committed: these are not lost if they go.
 */
void hw_losses_observe(struct hw_cluster *cluster, const struct hw_partition *partition);

/* The cluster is being opened, and the log that leads ends below `shown_end`, up to which records were
 * shown: damage, a lost directory, or a power loss took them. What was acknowledged is not known. */
void hw_losses_missing(struct hw_cluster *cluster, const struct hw_partition *partition,
                       const struct hw_replica *leader, hw_offset_t shown_end);

/* A produce was acknowledged: note it if another leader's log is the one that counts, and does not
 * have the records. */
void hw_losses_acknowledged(struct hw_cluster *cluster, const struct hw_partition *partition,
                            const struct hw_ack *ack);

/* The range at place `index`, from the oldest kept one on; NULL behind the last. */
const struct hw_loss *hw_losses_at(const struct hw_losses *losses, size_t index);

#endif /* HW_CLUSTER_LOSSES_H */
