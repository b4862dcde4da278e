/* SPDX-License-Identifier: MIT */
/*
 * The inside of a stage, shared by stage.c (adding, savepoints, waiting), stage_commit.c (prepare,
 * commit, rollback), stage_split.c and stage_transaction.c.
 *
 * Always: a partition in the list has at least one row, and is locked (its writer) by this
 * stage; so are all partitions of a topic that the stage has created.
 */
#ifndef HW_STAGE_STAGE_INTERNAL_H
#define HW_STAGE_STAGE_INTERNAL_H

#include "core/cluster/cluster_internal.h"
#include "core/stage/stage.h"
#include "core/stage/stage_chunks.h"

/* What is known of the rows of one partition; goes back with them. */
struct hw_stage_tally {
    int64_t row_count;
    int64_t sticky_count;  /* Of them: without a key and for no named partition. */
    int64_t keyless_count; /* Of them: without a key. */
    int64_t transactional_count;
    hw_time_ms_t earliest; /* Of their times, those without one aside; none: INT64_MAX, */
    hw_time_ms_t latest;   /* HW_TIMESTAMP_NONE. */
};

/* A partition that has rows in the stage. */
struct hw_stage_partition {
    struct hw_topic *topic;
    int32_t index;
    hw_offset_t base; /* Offset of its first row: the leader's log end then. */
    struct hw_stage_tally tally;
    size_t chunk; /* Its last one: number + 1. */

    /* Set by prepare: who took the rows. */
    hw_broker_id_t leader;
    hw_epoch_t leader_epoch;
    bool is_appended;      /* At least one batch is in the leader's log. */
    int32_t next_sequence; /* Of a transaction's producer. */
    size_t answer;         /* The last one: index + 1; 0: none. */
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

/* What rolling back to a savepoint restores of a partition. */
struct hw_stage_saved {
    struct hw_stage_tally tally;
    struct hw_stage_chunk_end end;
};

struct hw_stage_savepoint {
    int32_t level;
    size_t chunk_count;
    size_t partition_count; /* So many entries of `saved` are the savepoint's, in order. */
    size_t created_count;
    size_t deleted_count;
};

struct hw_stage {
    struct hw_writer writer; /* Must be first: it stands for the stage as a writer. */
    struct hw_cluster *cluster;
    struct hw_stage_chunks chunks;

    struct hw_stage_partition *partitions; /* In order of their first row. */
    size_t partition_count;
    size_t partition_capacity;

    struct hw_topic **created; /* Made at once, gone again after a rollback. */
    size_t created_count;
    size_t created_capacity;
    struct hw_topic **deleted; /* Hidden until the commit. */
    size_t deleted_count;
    size_t deleted_capacity;

    struct hw_stage_savepoint *savepoints; /* Levels grow. */
    size_t savepoint_count;
    size_t savepoint_capacity;
    struct hw_stage_saved *saved; /* Of all savepoints, one behind the other. */
    size_t saved_count;
    size_t saved_capacity;

    struct hw_stage_answer *answers;
    size_t answer_count;
    size_t answer_capacity;
    struct hw_buffer batches; /* What prepare appends, if it cannot take a chunk's own bytes, */
    struct hw_buffer smaller; /* and where batches have become too large meanwhile. */
    bool is_of_own_database;
    /* Of the producer that prepare has taken for the rows; ONGOING, and kept until the end. */
    struct hw_transaction_entry *transaction;
    bool has_signed;             /* Batches may say that they are of a producer. */
    struct hw_written waits_for; /* A partition that another stage has; none: it does not wait. */
};

/* Whether the stage has created the topic, and so has its partitions whatever it has written. */
bool hw_stage_has_created(const struct hw_stage *stage, const struct hw_topic *topic);

/* The rows' offsets were told already, so they must be the log's next ones. Errors: HW_REFUSED with
 * FENCED_LEADER_EPOCH. */
enum hw_status hw_stage_check_leader(const struct hw_stage_partition *partition,
                                     const struct hw_replica *leader, struct hw_error *error);

/* What the leader checks of each record (R1.16, R1.17): when it is added, so that the statement
 * fails and not the commit, and once more then, since clock and settings may have changed. Errors:
 * HW_REFUSED with INVALID_TIMESTAMP, INVALID_RECORD. */
enum hw_status hw_stage_check_record(const struct hw_log_config *config, const char *name,
                                     hw_time_ms_t now_ms, hw_time_ms_t timestamp, bool has_key,
                                     struct hw_error *error);

/* stage_transaction.c: have a producer for the rows that are transactional, if there are any, and
 * their partitions in its transaction. What it makes is durable with the next
 * hw_cluster_write_state(). Errors: HW_NO_MEMORY; HW_REFUSED with UNSUPPORTED_VERSION. */
enum hw_status hw_stage_begin_transaction(struct hw_stage *stage, struct hw_error *error);

/* Write into batches, ready to be appended, who they are from. */
void hw_stage_sign(struct hw_stage *stage, struct hw_stage_partition *partition,
                   struct hw_buffer *batches);

/* Decide the transaction, if there is one; markers follow at the end of the step. One that is
 * aborted gets markers where rows could not be cut off again. */
void hw_stage_commit_transaction(struct hw_stage *stage);
void hw_stage_abort_transaction(struct hw_stage *stage);

/* The size that no batch of the topic may pass; batches of one record are checked against it too.
 */
int64_t hw_stage_batch_size_limit(const struct hw_topic *topic);

/*
 * Make batches smaller that were allowed when they were begun: if one of more than one record in
 * **batches passes size_max, all records are put into new ones in `smaller`, as many as fit into
 * each, and *batches is that. Source: ProducerBatch.split. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_stage_split(struct hw_buffer **batches, struct hw_buffer *smaller,
                              int64_t size_max, struct hw_error *error);

/* Drop the partitions from number `count` on, with their locks; tallies of the others stay. */
void hw_stage_drop_partitions(struct hw_stage *stage, size_t count);

/* Undo the creations and deletions of topics from these numbers on. No row of a topic created there
 * is left. */
void hw_stage_drop_topics(struct hw_stage *stage, size_t created_count, size_t deleted_count);

/* Back to an empty stage: rows, locks, savepoints. The lists of topics are empty already. */
void hw_stage_reset(struct hw_stage *stage);

#endif /* HW_STAGE_STAGE_INTERNAL_H */
