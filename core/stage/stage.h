/* SPDX-License-Identifier: MIT */
/*
 * The writes of one transaction of the database, kept apart until it commits.
 *
 *     add ... savepoint ... add ... rollback_to ... add     rows wait here; each has its offset already,
 *                                                      since the stage holds the partition's lock
 *     prepare     the rows are appended to the leaders' logs; all that can fail is done
 *     reopen      prepare is taken back, the rows wait again
 *     commit      they count: high watermarks may move, acks are pending       | cannot fail
 *     rollback    the stage is dropped; after prepare the logs are cut back    |
 *
 * Marks are SQLite's savepoints: numbers that grow; rolling back to one keeps it.
 * Large stages spill to a file of the cluster's directory, so memory stays bounded.
 *
 * Creating and deleting topics takes part: a created topic goes again with the rollback, a deleted
 * one is hidden until the commit and back after a rollback.
 */
#ifndef HW_STAGE_STAGE_H
#define HW_STAGE_STAGE_H

#include "core/cluster/cluster.h"

struct hw_stage;

/* Begin a stage of the cluster. The caller owns *stage: hw_stage_destroy(). Errors: HW_NO_MEMORY.
 */
enum hw_status hw_stage_create(struct hw_cluster *cluster, struct hw_stage **stage,
                               struct hw_error *error);

/* Say that the stage is of the database beside the cluster. Only then can an opening after a kill
 * ask the database's schema whether a transaction that creates or deletes topics was committed. */
void hw_stage_of_own_database(struct hw_stage *stage);

/* Rolls back what was not committed. NULL is allowed. */
void hw_stage_destroy(struct hw_stage *stage);

/*
 * Add one record; produce->acks and leader_epoch as in hw_cluster_produce(), checked now. The
 * offset that the record will have is in *produced; its ack_id is -1 until the commit. Errors:
 * those of hw_cluster_produce(); HW_BUSY if another stage has written to the partition.
 */
enum hw_status hw_stage_add(struct hw_stage *stage, const struct hw_produce *produce,
                            struct hw_produced *produced, struct hw_error *error);

/* Whether a row that waits in the stage will have this offset. */
bool hw_stage_has_offset(const struct hw_stage *stage, const char *topic, int64_t partition,
                         hw_offset_t offset);

enum hw_status hw_stage_create_topic(struct hw_stage *stage, const struct hw_topic_spec *spec,
                                     struct hw_error *error);
enum hw_status hw_stage_delete_topic(struct hw_stage *stage, const char *topic,
                                     struct hw_error *error);

/* Set savepoint `level` >= 0 here; levels above it are forgotten. Errors: HW_NO_MEMORY. */
enum hw_status hw_stage_savepoint(struct hw_stage *stage, int32_t level, struct hw_error *error);

/* Forget savepoint `level` and those above; what was added stays. */
void hw_stage_release(struct hw_stage *stage, int32_t level);

/* Undo everything since savepoint `level` (or the one above it that is set; without any: nothing). */
void hw_stage_rollback_to(struct hw_stage *stage, int32_t level);

/* What a call that returned HW_BUSY ran into. */
enum hw_stage_met {
    HW_MET_IN_VAIN, /* No other stage, or one that waits for the caller: to wait is no help. */
    HW_MET_OPEN,    /* A stage that goes on for as long as its transaction does. */
    HW_MET_COMMIT   /* A stage that is prepared: its end is under way. */
};

/*
 * What the call that has just returned HW_BUSY ran into; its caller holds the locks of `stage` (NULL:
 * none). Where it can be waited for, the stage counts as waiting until hw_stage_stop_waiting(), so
 * that of two stages which wait for each other the second one is told HW_MET_IN_VAIN.
 */
enum hw_stage_met hw_stage_wait(struct hw_cluster *cluster, struct hw_stage *stage);

/* The call has succeeded, or is given up. */
void hw_stage_stop_waiting(struct hw_stage *stage);

/*
 * Append everything to the leaders' logs; on an error all of them are as before and the stage still
 * holds its rows. May be called again: only the first does something. After it nothing may be added
 * or marked before the commit, rollback or reopening. Errors: those of hw_cluster_produce();
 * HW_REFUSED with FENCED_LEADER_EPOCH if a partition has another leader by now, so that the offsets
 * which hw_stage_add() has told would be wrong.
 */
enum hw_status hw_stage_prepare(struct hw_stage *stage, struct hw_error *error);

/* Whether a row that waits in the stage is transactional. */
bool hw_stage_takes_part(const struct hw_stage *stage);

/* What the database is to write down in the commit of a prepared stage that is a transaction of
 * Kafka's too; the caller sets `table`. False: the stage is none. */
bool hw_stage_token(const struct hw_stage *stage, struct hw_database_token *token);

/*
 * Take hw_stage_prepare() back: the logs are cut back, and the stage goes on with the rows and
 * savepoints that it had. Nothing happens where it is not prepared. Where a log cannot be cut back,
 * because of its disk, the next hw_stage_add() or hw_stage_prepare() refuses its partition.
 */
void hw_stage_reopen(struct hw_stage *stage);

/*
 * After hw_stage_prepare() returned HW_OK. Each partition gets one row in hw_acks for all that was
 * written with the same acks. Where the leader went meanwhile the answer is
 * NOT_LEADER_OR_FOLLOWER: as in Kafka the records may be lost or not. The stage is then empty and
 * may be used again.
 */
void hw_stage_commit(struct hw_stage *stage);

/* Drop rows and locks, and undo what was done to topics; after prepare cut the logs back. The stage
 * is then empty and may be used again. */
void hw_stage_rollback(struct hw_stage *stage);

#endif /* HW_STAGE_STAGE_H */
