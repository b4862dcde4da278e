/* SPDX-License-Identifier: MIT */
/*
 * A protocol variant: the decisions in which the rules differ. Nothing asks which variant is in force:
 * what it decides stands in its table.
 *
 *     kafka            today's rules, R1 to R10                  variant_kafka.c
 *     hw-truncation    until 0.10: followers cut to their HW
 *     kip-101          0.11: they ask where their epoch ends
 *     kip-279          2.0: and back to the last common one
 *     minikafka        the teaching model                        variant_minikafka.c
 */
#ifndef HW_REPLICATION_VARIANT_H
#define HW_REPLICATION_VARIANT_H

#include "core/replication/partition.h"

/* What a rule about cutting looks at of a log; it may be one that lies on a disk. */
struct hw_log_outline {
    struct hw_epoch_cache epochs; /* Of a leader with the one in which it leads. */
    hw_offset_t start;
    hw_offset_t end;
    hw_offset_t high_watermark; /* Within the two. */
};

/* A variant's table names what it does: of what else stands here it does nothing. */
struct hw_variant {
    const char *name;

    /* How requests look: lastFetchedEpoch and currentLeaderEpoch (KIP-320, KIP-595) or neither. */
    bool sends_epochs;
    /* A new follower reconciles before it fetches: with its leader, before its first fetch; or by
     * itself, at the moment when it is told its role. */
    bool starts_truncating;
    bool truncates_when_told;
    bool high_watermark_ignores_min_isr; /* Before KIP-966 it moved below the minimum too (R3.3). */
    bool has_controller;                 /* Elections, controlled shutdown, moves: R6, R7. */
    bool has_transactions;
    bool has_timeouts; /* Waiting produces and fetches time out. */
    bool has_elr;      /* Eligible leader replicas, where they are turned on. */
    int32_t default_acks;
    const char *default_replica_lag_time_max_ms; /* As text; NULL: today's. */

    /* A partition was created, or loaded. Its replicas are attached and know their roles. */
    void (*created)(struct hw_partition *partition, const struct hw_step *step);

    /* A partition has gone by another protocol until now, and what that left is still to be seen in
     * it. Errors: HW_IO, HW_NO_MEMORY of a log that could not be cut; the rest is done. */
    enum hw_status (*entered)(struct hw_partition *partition, const struct hw_step *step,
                              struct hw_error *error);

    /* May the leader take a produce with these acks, and does the named epoch (-1: none) fit? */
    enum hw_status (*may_append)(struct hw_partition *partition, struct hw_replica *leader,
                                 int32_t acks, hw_epoch_t leader_epoch, struct hw_error *error);

    /* Checks a batch against what the leader's log knows of its producer, before acks are judged:
     * *repeated is the batch in the log that it repeats, NULL if it is new. Without this function the
     * log checks when it appends. */
    enum hw_status (*check_producer)(const struct hw_replica *leader,
                                     const struct hw_batch_options *batch, int32_t records,
                                     const struct hw_producer_batch **repeated,
                                     struct hw_error *error);

    /* A batch was appended on the leader, or it was told that it leads: move what follows from it.
     */
    void (*appended)(struct hw_partition *partition, const struct hw_step *step,
                     struct hw_replica *leader);

    /* Time has passed: answer waiting produces and fetches whose time is over. */
    enum hw_status (*expire)(struct hw_partition *partition, const struct hw_step *step,
                             struct hw_error *error);

    /* One replication round over some partitions, and one fetch of one follower; *records counts
     * appended ones. Partitions that a round does anything to are not settled any more. */
    enum hw_status (*fetch_round)(struct hw_partition *const *partitions, size_t count,
                                  const struct hw_step *step, int64_t *records,
                                  struct hw_error *error);
    enum hw_status (*fetch)(struct hw_partition *partition, const struct hw_step *step,
                            struct hw_replica *follower, int64_t *records, struct hw_error *error);

    /* Reconcile a follower in phase Truncating. */
    enum hw_status (*truncate)(struct hw_partition *partition, const struct hw_step *step,
                               struct hw_replica *follower, struct hw_error *error);

    /*
     * Where a follower's log ends once it agrees with this leader's, by the decisions that truncate()
     * and fetches make one after the other: its own end if nothing is cut, the leader's start if all
     * of it goes (R2.30). NULL: files do not tell.
     */
    hw_offset_t (*cut)(const struct hw_log_outline *follower, const struct hw_log_outline *leader);

    /* What a leader answers when a follower in that phase asks where an epoch ends. NULL: nobody asks.
     */
    enum hw_kafka_error (*answer_epoch)(const struct hw_replica *leader,
                                        hw_epoch_t current_leader_epoch, hw_epoch_t epoch,
                                        struct hw_epoch_end *end);

    /* Who is in the ISR now? Sets partition->is_record_dirty where that changed. */
    enum hw_status (*refresh_isr)(struct hw_partition *partition, const struct hw_step *step,
                                  struct hw_error *error);

    /* The earliest time at which refresh_isr() could change anything, if nothing else happens;
     * INT64_MAX: never. May be in the past. */
    hw_time_ms_t (*next_isr_change)(const struct hw_partition *partition);

    /* As hw_partition_move_times(), for what the variant remembers itself. NULL: no times. */
    void (*move_times)(struct hw_partition *partition, int64_t by_ms);

    /* The broker does not lead. */
    enum hw_status (*remove_from_isr)(struct hw_partition *partition, const struct hw_step *step,
                                      hw_broker_id_t id, struct hw_error *error);
    enum hw_status (*promote)(struct hw_partition *partition, const struct hw_step *step,
                              hw_broker_id_t id, bool unclean, struct hw_error *error);
    enum hw_status (*rejoin)(struct hw_partition *partition, const struct hw_step *step,
                             struct hw_replica *follower, struct hw_error *error);

    /* The high watermark by which `replica` shows its records. */
    hw_offset_t (*high_watermark)(const struct hw_partition *partition,
                                  const struct hw_replica *replica);

    /* Does the high watermark wait for what `remote` has, as far as `leader` knows of it? */
    bool (*waits_for)(const struct hw_partition *partition, const struct hw_replica *leader,
                      const struct hw_remote_replica *remote, hw_time_ms_t now_ms);

    /* Assert what the variant promises of itself; NULL: nothing. */
    void (*check)(const struct hw_partition *partition);
};

extern const struct hw_variant hw_variant_kafka;
extern const struct hw_variant hw_variant_hw_truncation;
extern const struct hw_variant hw_variant_kip_101;
extern const struct hw_variant hw_variant_kip_279;
extern const struct hw_variant hw_variant_minikafka;

/* The partition has gone by `before` and goes by partition->variant from now on. Errors:
 * HW_NO_MEMORY, HW_IO, HW_CORRUPT; all that could be done is done. */
enum hw_status hw_variant_switch(struct hw_partition *partition, const struct hw_step *step,
                                 const struct hw_variant *before, struct hw_error *error);

/* Up to where two replicas have the same records. */
hw_offset_t hw_variant_common_end(const struct hw_replica *a, const struct hw_replica *b);

/* For variants that are entered: followers that know the leader have what it has and nothing else,
 * and begin to fetch anew; nobody waits for an answer. Errors: as `entered`. */
enum hw_status hw_variant_align(struct hw_partition *partition, struct hw_error *error);

/* The variant of this name, or NULL. hw_variant_at() lists them: NULL behind the last one. */
const struct hw_variant *hw_variant_find(const char *name);
const struct hw_variant *hw_variant_at(size_t index);

#endif /* HW_REPLICATION_VARIANT_H */
