/* SPDX-License-Identifier: MIT */
/* The partitions that a page is about, each with the brokers that have a lane on it. */
#ifndef HW_LOOK_PAGE_PARTS_H
#define HW_LOOK_PAGE_PARTS_H

#include "core/cluster/cluster.h"

enum { HW_PAGE_LANES_MAX = 64 };

struct hw_page_part {
    const char *topic; /* Borrowed of the cluster. */
    int32_t partition;
    int32_t lane_count;
    hw_broker_id_t lanes[HW_PAGE_LANES_MAX];
};

/* In order of topic and partition. */
struct hw_page_parts {
    const struct hw_allocator *allocator;
    struct hw_page_part *parts;
    size_t count;
    size_t capacity;
};

/*
 * All partitions that there are, and those that only the journal still knows; of one topic, or of
 * one of its partitions, where these are given (NULL, -1: all). Lanes: the replicas in the order of
 * the record, then whoever the journal names besides. Release also after an error, which is
 * HW_NO_MEMORY.
 */
enum hw_status hw_page_parts_gather(struct hw_page_parts *parts, const struct hw_cluster *cluster,
                                    const char *topic, int64_t partition, struct hw_error *error);
void hw_page_parts_release(struct hw_page_parts *parts);

/* Where the partition stands among the parts; count: nowhere. What is about a whole topic
 * (partition -1) belongs to the topic's first part. */
size_t hw_page_parts_find(const struct hw_page_parts *parts, const char *topic, int32_t partition);

#endif /* HW_LOOK_PAGE_PARTS_H */
