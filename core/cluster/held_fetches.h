/* SPDX-License-Identifier: MIT */
/*
 * replication=held, and a poll in two steps: a follower asks, its leader learns from that and
 * answers; and the answer arrives, late, after something else has changed, or never.
 */
#ifndef HW_CLUSTER_HELD_FETCHES_H
#define HW_CLUSTER_HELD_FETCHES_H

#include "core/replication/messages.h"

struct hw_partition;
struct hw_topic;

/* An answer under way. */
struct hw_held_fetch {
    struct hw_partition *partition;
    hw_broker_id_t leader;
    struct hw_fetch_request request;
    struct hw_fetch_response response; /* Owns its records. */
};

struct hw_held_fetches {
    struct hw_held_fetch *fetches; /* In the order in which they were answered. */
    size_t count;
    size_t capacity;
};

/* Forget those about a topic (NULL: any) and to a broker (HW_BROKER_ID_NONE: any). */
void hw_held_fetches_forget(struct hw_held_fetches *fetches, const struct hw_topic *topic,
                            hw_broker_id_t follower);
void hw_held_fetches_release(struct hw_held_fetches *fetches, const struct hw_allocator *allocator);

/* Where the answer of that leader to that follower stands; fetches->count: nowhere. */
size_t hw_held_fetches_find(const struct hw_held_fetches *fetches,
                            const struct hw_partition *partition, int64_t leader, int64_t follower);

/* It is not under way any more; those behind it move up. */
void hw_held_fetches_take(struct hw_held_fetches *fetches, size_t index);

#endif /* HW_CLUSTER_HELD_FETCHES_H */
