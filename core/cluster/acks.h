/* SPDX-License-Identifier: MIT */
/*
 * What the callers of produce were told: every waiting request and the last 10 000 finished ones,
 * in order of id. Ids start at 1 and are never used again.
 */
#ifndef HW_CLUSTER_ACKS_H
#define HW_CLUSTER_ACKS_H

#include "core/base/memory.h"
#include "core/base/types.h"

enum { HW_ACKS_FINISHED_MAX = 10000 };

struct hw_ack {
    int64_t id;
    hw_time_ms_t time_ms;
    char *topic; /* Owned. */
    int32_t partition;
    hw_offset_t base_offset;
    hw_offset_t last_offset;
    hw_epoch_t leader_epoch;
    int32_t acks;
    bool is_pending;
    enum hw_kafka_error error;
    hw_time_ms_t resolved_ms; /* HW_TIME_NEVER while pending. */
};

struct hw_acks {
    const struct hw_allocator *allocator;
    struct hw_ack *rows; /* In order of id, from `head` on. */
    size_t head;
    size_t count; /* One behind the last. */
    size_t capacity;
    size_t finished_count;
    int64_t next_id;
};

void hw_acks_init(struct hw_acks *acks, const struct hw_allocator *allocator);
void hw_acks_release(struct hw_acks *acks);

/* A pending row like *ack, whose id, topic and state are set by the call (topic is copied). Errors:
 * HW_NO_MEMORY. The caller may take it back with hw_acks_remove_last() while it is the newest. */
enum hw_status hw_acks_add(struct hw_acks *acks, const struct hw_ack *ack, const char *topic,
                           int64_t *id, struct hw_error *error);
void hw_acks_remove_last(struct hw_acks *acks);

/* Finish a pending row; unknown ids are ignored. Drops the oldest finished rows above the limit. */
void hw_acks_resolve(struct hw_acks *acks, int64_t id, enum hw_kafka_error error,
                     hw_time_ms_t now_ms);

/* Where the record landed, for a row whose offsets were not known when it was added. */
void hw_acks_set_offsets(struct hw_acks *acks, int64_t id, hw_offset_t base_offset,
                         hw_offset_t last_offset);

#endif /* HW_CLUSTER_ACKS_H */
