/* SPDX-License-Identifier: MIT */
/*
 * What will happen when, in virtual time: a heap, whose first event is the one that is due first.
 * Of events that are due at the same time a smaller class comes first, then the one that was noted
 * first (kafka-time W10.1).
 */
#ifndef HW_TIMED_EVENT_QUEUE_H
#define HW_TIMED_EVENT_QUEUE_H

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/base/types.h"

enum hw_timed_class {
    HW_TIMED_DELIVERY,   /* A message arrives: news before judgement. */
    HW_TIMED_DISK,       /* A disk has taken what it was given. */
    HW_TIMED_WAIT_OVER,  /* A request has waited long enough at its leader. */
    HW_TIMED_TURN,       /* A fetcher's turn, or the end of its back-off. */
    HW_TIMED_BROKER_TIME /* A broker's own timers. */
};

/* An event of time `due_us` (microseconds). What it is about is the caller's to say: `kind`, and
 * three numbers. */
struct hw_timed_event {
    int64_t due_us;
    enum hw_timed_class class;
    uint64_t order; /* Set when it is noted. */
    int kind;
    int64_t what;
    int64_t generation;
};

struct hw_event_queue {
    const struct hw_allocator *allocator;
    struct hw_timed_event *heap;
    size_t count;
    size_t capacity;
    uint64_t next_order;
};

void hw_event_queue_release(struct hw_event_queue *queue);

/* Errors: HW_NO_MEMORY. */
enum hw_status hw_event_queue_add(struct hw_event_queue *queue, struct hw_timed_event event,
                                  struct hw_error *error);

/* The event that is due first, or NULL. Valid until the next call. */
const struct hw_timed_event *hw_event_queue_first(const struct hw_event_queue *queue);

/* Take it out. There has to be one. */
struct hw_timed_event hw_event_queue_take(struct hw_event_queue *queue);

/* Put one back that was taken, in its old place: it did not happen. There is room for one. */
void hw_event_queue_put_back(struct hw_event_queue *queue, const struct hw_timed_event *event);

#endif /* HW_TIMED_EVENT_QUEUE_H */
