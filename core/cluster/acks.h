/* SPDX-License-Identifier: MIT */
/*
 * What the callers of produce were told: every waiting request and the 10 000 that finished last,
 * in order of id. Ids start at 1 and are never used again.
 *
 *     rows   head            count
 *              v               v
 *       [ - ][ 3 ][ - ][ 5 ][ 6 ]       - was dropped: its topic is NULL. Walk with hw_acks_after()
 *
 * Dropped rows stay as holes until half the array is holes, so that adding and finishing one costs
 * no more than finding it by its id, a binary search.
 */
#ifndef HW_CLUSTER_ACKS_H
#define HW_CLUSTER_ACKS_H

#include "core/base/memory.h"
#include "core/base/types.h"

enum { HW_ACKS_FINISHED_MAX = 10000 };

struct hw_ack {
    int64_t id;
    hw_time_ms_t time_ms;
    char *topic; /* NULL: the row was dropped. */
    int32_t partition;
    hw_offset_t base_offset; /* HW_OFFSET_NONE where it was refused, as last_offset. */
    hw_offset_t last_offset;
    hw_epoch_t leader_epoch; /* HW_EPOCH_NONE: no leader was found. */
    int32_t acks;            /* 0, 1 or HW_ACKS_ALL. */
    bool is_pending;
    bool is_refused; /* Nothing was written. */
    enum hw_kafka_error error;
    hw_time_ms_t resolved_ms; /* HW_TIME_NEVER while pending. */
    int64_t next_finished_id; /* The row that finished after this one; 0: none has. */
};

struct hw_acks {
    const struct hw_allocator *allocator;
    struct hw_ack *rows; /* In order of id, from `head` on, with holes. */
    size_t head;         /* The first row that was not dropped, or `count`. */
    size_t count;        /* One behind the last. */
    size_t capacity;
    size_t finished_count;
    size_t dropped_count;      /* Holes, those before `head` included. */
    int64_t first_finished_id; /* Of those that finished, the first and the last; 0: none. */
    int64_t last_finished_id;
    int64_t next_id;
};

/* pending, acknowledged, failed, refused; unanswered with acks=0. Static. */
const char *hw_ack_status(const struct hw_ack *ack);

void hw_acks_init(struct hw_acks *acks, const struct hw_allocator *allocator);
void hw_acks_release(struct hw_acks *acks);

/* A pending row like *ack, whose id, topic and state are set by the call (topic is copied). Errors:
 * HW_NO_MEMORY. */
enum hw_status hw_acks_add(struct hw_acks *acks, const struct hw_ack *ack, const char *topic,
                           int64_t *id, struct hw_error *error);

/* Take a pending row back, as if it had never been: a produce that failed. The newest one's id is
 * given to the next row. Ids that are unknown or finished are ignored. */
void hw_acks_remove(struct hw_acks *acks, int64_t id);

/* Finish a pending row; ids that are unknown or finished are ignored. Drops the rows that finished
 * first above the limit. */
void hw_acks_resolve(struct hw_acks *acks, int64_t id, enum hw_kafka_error error,
                     hw_time_ms_t now_ms);

/* Where the record landed, and in which leader epoch, for a row that was added before. Unknown ids are
 * ignored. */
void hw_acks_set_appended(struct hw_acks *acks, int64_t id, hw_offset_t base_offset,
                          hw_offset_t last_offset, hw_epoch_t leader_epoch);

/* The row with this id, borrowed as below; NULL: it is unknown, or was dropped. */
const struct hw_ack *hw_acks_find(const struct hw_acks *acks, int64_t id);

/* The row with the smallest id above `id`, or NULL: begin with 0, go on with the id of the row.
 * Borrowed until the next change. */
const struct hw_ack *hw_acks_after(const struct hw_acks *acks, int64_t id);

#endif /* HW_CLUSTER_ACKS_H */
