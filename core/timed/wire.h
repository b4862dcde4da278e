/* SPDX-License-Identifier: MIT */
/*
 * How long a message takes from one end of a link to the other. Each direction has its own times:
 *
 *     departure = when the message is sent, or when the link has let the one before it go
 *     the link is free again = departure + bytes / bytes_per_s
 *     arrival = that + latency + jitter + what a loss costs; never before the previous message of
 *               the same connection
 *
 * A lost packet is sent again, so that it is late and not lost: after 200 ms, then after twice as
 * long each time (kafka-time W2.3, W2.4).
 */
#ifndef HW_TIMED_WIRE_H
#define HW_TIMED_WIRE_H

#include "core/base/memory.h"
#include "core/base/random.h"
#include "core/base/status.h"

/* The producers' and consumers' end of a link. The controller is HW_CONTROLLER. */
enum { HW_CLIENTS = -3 };

enum { HW_WIRE_LOSS_WHOLE = 1000000 };

/* A day is longer than any wait of the protocol; a terabyte a second is no limit any more. */
#define HW_WIRE_US_MAX          INT64_C(86400000000)
#define HW_WIRE_BYTES_PER_S_MAX INT64_C(1000000000000)

struct hw_wire_times {
    int64_t latency_us;
    int64_t jitter_us;
    int64_t bytes_per_s; /* 0: no limit. */
    int32_t loss;        /* In millionths. */
};

/* One direction of a link. */
struct hw_wire {
    hw_broker_id_t from;
    hw_broker_id_t to;
    struct hw_wire_times times;
    int64_t free_us; /* When it has let go of what it was given. */
    int64_t messages;
    int64_t bytes;
};

/* In order of from and to. A link that nobody set takes no time. */
struct hw_wires {
    const struct hw_allocator *allocator;
    struct hw_wire *wires;
    size_t count;
    size_t capacity;
};

void hw_wires_release(struct hw_wires *wires);

/* The wire from one to the other, made where there is none. Errors: HW_NO_MEMORY. */
enum hw_status hw_wires_have(struct hw_wires *wires, hw_broker_id_t from, hw_broker_id_t to,
                             struct hw_wire **wire, struct hw_error *error);

/* The same, or NULL. */
struct hw_wire *hw_wires_find(const struct hw_wires *wires, hw_broker_id_t from, hw_broker_id_t to);

/* How long so many bytes take at this rate, rounded up; a rate of 0 is none. */
int64_t hw_wire_transfer_us(int64_t bytes, int64_t bytes_per_s);

/* When a message of so many bytes that is sent at `now_us` arrives. `*last_us` is when the previous
 * one of its connection arrived, and is set. Errors: HW_NO_MEMORY. */
enum hw_status hw_wires_send(struct hw_wires *wires, struct hw_random *random, hw_broker_id_t from,
                             hw_broker_id_t to, int64_t bytes, int64_t now_us, int64_t *last_us,
                             struct hw_error *error);

#endif /* HW_TIMED_WIRE_H */
