/* SPDX-License-Identifier: MIT */
#include "core/timed/wire.h"

#include "core/base/search.h"

#include <string.h>

/* The first retransmission, and how often it doubles at most. */
enum { WIRE_RETRANSMISSION_US = 200000, WIRE_LOSSES_MAX = 16 };

void hw_wires_release(struct hw_wires *wires)
{
    hw_free(wires->allocator, wires->wires, wires->capacity * sizeof *wires->wires);
    *wires = (struct hw_wires){.allocator = wires->allocator};
}

static size_t wires_lower(const struct hw_wires *wires, hw_broker_id_t from, hw_broker_id_t to)
{
    size_t at;

    HW_SEARCH(at, 0, wires->count,
              wires->wires[at].from < from ||
                  (wires->wires[at].from == from && wires->wires[at].to < to));
    return at;
}

struct hw_wire *hw_wires_find(const struct hw_wires *wires, hw_broker_id_t from, hw_broker_id_t to)
{
    size_t at = wires_lower(wires, from, to);

    return at < wires->count && wires->wires[at].from == from && wires->wires[at].to == to
               ? &wires->wires[at]
               : NULL;
}

enum hw_status hw_wires_have(struct hw_wires *wires, hw_broker_id_t from, hw_broker_id_t to,
                             struct hw_wire **wire, struct hw_error *error)
{
    size_t at = wires_lower(wires, from, to);
    enum hw_status status;

    *wire = hw_wires_find(wires, from, to);
    if (*wire != NULL) {
        return HW_OK;
    }
    status = hw_array_reserve(wires->allocator, (void **)&wires->wires, &wires->capacity,
                              wires->count + 1, sizeof *wires->wires, error);
    if (status == HW_OK) {
        memmove(&wires->wires[at + 1], &wires->wires[at],
                (wires->count - at) * sizeof *wires->wires);
        wires->wires[at] = (struct hw_wire){.from = from, .to = to};
        wires->count++;
        *wire = &wires->wires[at];
    }
    return status;
}

/* What losses cost one message. */
static int64_t wire_loss_us(const struct hw_wire *wire, struct hw_random *random)
{
    int64_t delay_us = 0;

    for (int lost = 0; lost < WIRE_LOSSES_MAX && wire->times.loss > 0 &&
                       hw_random_below(random, HW_WIRE_LOSS_WHOLE) < (uint64_t)wire->times.loss;
         lost++) {
        delay_us += (int64_t)WIRE_RETRANSMISSION_US << lost;
    }
    return delay_us;
}

int64_t hw_wire_transfer_us(int64_t bytes, int64_t bytes_per_s)
{
    return bytes_per_s <= 0 ? 0
                            : bytes / bytes_per_s * 1000000 +
                                  (bytes % bytes_per_s * 1000000 + bytes_per_s - 1) / bytes_per_s;
}

enum hw_status hw_wires_send(struct hw_wires *wires, struct hw_random *random, hw_broker_id_t from,
                             hw_broker_id_t to, int64_t bytes, int64_t now_us, int64_t *last_us,
                             struct hw_error *error)
{
    struct hw_wire *wire;
    enum hw_status status = hw_wires_have(wires, from, to, &wire, error);
    int64_t departure_us;
    int64_t arrival_us;

    if (status != HW_OK) {
        return status;
    }
    departure_us = HW_MAX(wire->free_us, now_us);
    wire->free_us = departure_us + hw_wire_transfer_us(bytes, wire->times.bytes_per_s);
    arrival_us = wire->free_us + wire->times.latency_us;
    if (wire->times.jitter_us > 0) {
        arrival_us += (int64_t)hw_random_below(random, (uint64_t)wire->times.jitter_us + 1);
    }
    arrival_us += wire_loss_us(wire, random);
    wire->messages++;
    wire->bytes += bytes;
    *last_us = HW_MAX(arrival_us, *last_us);
    return HW_OK;
}
