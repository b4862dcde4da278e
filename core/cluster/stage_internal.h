/* SPDX-License-Identifier: MIT */
/*
 * The inside of a stage, shared by stage.c (adding), stage_marks.c (savepoints) and stage_commit.c
 * (prepare, commit, rollback).
 *
 * Always: a partition in the list has at least one row, and is locked (topic->writers) by this
 * stage; so are all partitions of a topic that the stage has created.
 */
#ifndef HW_CLUSTER_STAGE_INTERNAL_H
#define HW_CLUSTER_STAGE_INTERNAL_H

#include "core/cluster/cluster_internal.h"
#include "core/cluster/stage.h"
#include "core/cluster/stage_rows.h"

/* A partition that has rows in the stage. */
struct hw_stage_partition {
    struct hw_topic *topic;
    int32_t index;
    hw_offset_t base; /* Offset of its first row: the leader's log end then. */
    int64_t row_count;
    int64_t sticky_count; /* Of them: without a key and for no named partition. */

    /* Set by prepare: who took the rows. */
    hw_broker_id_t leader;
    hw_epoch_t leader_epoch;
    bool is_appended; /* At least one batch is in the leader's log. */

    /* While preparing: batches to be written together, of which the last one is being built, and
     * the last answer. */
    struct hw_buffer bytes;
    struct hw_batch_builder builder;
    int32_t acks;
    size_t answer; /* Index + 1; 0: none. */
    size_t waiting_count;
};

/* A row of hw_acks to be: the rows of one partition that follow each other with the same acks. */
struct hw_stage_answer {
    size_t partition; /* Index in the list. */
    int32_t acks;
    hw_offset_t base_offset;
    hw_offset_t next_offset;
    int64_t ack_id;
};

/* What rolling back to a mark restores of a partition. */
struct hw_stage_counts {
    int64_t row_count;
    int64_t sticky_count;
};

struct hw_stage_mark {
    int32_t level;
    int64_t rows_size;
    size_t partition_count; /* So many entries of `counts` are the mark's, in order. */
    size_t created_count;
    size_t deleted_count;
};

struct hw_stage {
    struct hw_cluster *cluster;
    struct hw_stage_rows rows;

    struct hw_stage_partition *partitions; /* In order of their first row. */
    size_t partition_count;
    size_t partition_capacity;
    /* Hash table from topic and number to index + 1 in the list, 0 being free; a power of two, and
     * at most half full. */
    uint32_t *table;
    size_t table_size;

    struct hw_topic **created; /* Made at once, gone again after a rollback. */
    size_t created_count;
    size_t created_capacity;
    struct hw_topic **deleted; /* Hidden until the commit. */
    size_t deleted_count;
    size_t deleted_capacity;

    struct hw_stage_mark *marks; /* Levels grow. */
    size_t mark_count;
    size_t mark_capacity;
    struct hw_stage_counts *counts; /* Of all marks, one behind the other. */
    size_t counts_count;
    size_t counts_capacity;

    struct hw_stage_answer *answers;
    size_t answer_count;
    size_t answer_capacity;
    bool is_prepared;
};

/* The rows' offsets were told already, so they must be the log's next ones. Errors: HW_REFUSED with
 * FENCED_LEADER_EPOCH. */
enum hw_status hw_stage_check_leader(const struct hw_stage_partition *partition,
                                     const struct hw_replica *leader, struct hw_error *error);

/* What the leader checks of each record (R1.16, R1.17): when it is added, so that the statement
 * fails and not the commit, and once more then, since clock and settings may have changed. Errors:
 * HW_REFUSED with INVALID_TIMESTAMP, INVALID_RECORD. */
enum hw_status hw_stage_check_record(const struct hw_settings *settings, const char *name,
                                     hw_time_ms_t now_ms, const struct hw_record *record,
                                     struct hw_error *error);

/* Drop the partitions from number `count` on, with their locks; counts of the others stay. */
void hw_stage_drop_partitions(struct hw_stage *stage, size_t count);

/* Undo the creations and deletions of topics from these numbers on. No row of a topic created there
 * is left. */
void hw_stage_drop_topics(struct hw_stage *stage, size_t created_count, size_t deleted_count);

/* Back to an empty stage: rows, locks, marks. The lists of topics are empty already. */
void hw_stage_reset(struct hw_stage *stage);

#endif /* HW_CLUSTER_STAGE_INTERNAL_H */
