/* SPDX-License-Identifier: MIT */
/* The partitions of a selection, side by side: a request is about all of them. */
#ifndef HW_CLUSTER_FOLLOW_H
#define HW_CLUSTER_FOLLOW_H

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/base/types.h"

struct hw_cluster;
struct hw_partition;
struct hw_topic;

struct hw_gathered {
    const struct hw_allocator *allocator;
    struct hw_partition **partitions;
    size_t count;
    size_t capacity;
};

/* Those of the topic (NULL: all) and partition (-1: all) without those that are prepared. Errors: as
 * hw_cluster_select(), HW_NO_MEMORY; nothing to release then. */
enum hw_status hw_gathered_select(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                  struct hw_gathered *gathered, struct hw_error *error);
void hw_gathered_release(struct hw_gathered *gathered);

/* Rounds until nothing moves; the last, idle one is not counted. Errors: those of a round;
 * HW_INTERRUPTED; HW_REFUSED with UNKNOWN_SERVER_ERROR where it does not come to rest. */
enum hw_status hw_gathered_run(struct hw_cluster *cluster, const struct hw_gathered *gathered,
                               int64_t *rounds, struct hw_error *error);

/* Between the preparation of a stage and its commit the leader's log has rows that may still be
 * taken back: nobody may copy or count them. */
bool hw_cluster_is_prepared(const struct hw_topic *topic, const struct hw_partition *partition);

#endif /* HW_CLUSTER_FOLLOW_H */
