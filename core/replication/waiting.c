/* SPDX-License-Identifier: MIT */
/*
 * Produces with acks=all that wait for their offset to be committed: Kafka's purgatory. The ISR
 * that counts is the one at the moment of the check, nothing is captured at the append (R1.36): `captured` is
 * minikafka's.
 */
#include "core/base/assert.h"
#include "core/replication/replica.h"

#include <string.h>

enum hw_status hw_waiting_reserve(struct hw_replica *replica, size_t count, struct hw_error *error)
{
    /* Only where it frees a good part, so that adding stays amortised O(1). */
    if (replica->waiting_count + count > replica->waiting_capacity &&
        replica->waiting_head > replica->waiting_capacity / 2) {
        replica->waiting_count -= replica->waiting_head;
        memmove(replica->waiting, replica->waiting + replica->waiting_head,
                replica->waiting_count * sizeof *replica->waiting);
        replica->waiting_head = 0;
    }
    return hw_array_reserve(replica->allocator, (void **)&replica->waiting,
                            &replica->waiting_capacity, replica->waiting_count + count,
                            sizeof *replica->waiting, error);
}

void hw_waiting_add(struct hw_replica *replica, int64_t id, hw_offset_t required_offset,
                    hw_time_ms_t deadline_ms)
{
    size_t at = replica->waiting_count;

    HW_ASSERT(replica->waiting_count < replica->waiting_capacity);
    if (replica->waiting_count == replica->waiting_head ||
        deadline_ms < replica->waiting_deadline_ms) {
        replica->waiting_deadline_ms = deadline_ms;
    }
    /* A duplicate waits for less than those that came before it. */
    while (at > replica->waiting_head &&
           replica->waiting[at - 1].required_offset > required_offset) {
        at--;
    }
    memmove(replica->waiting + at + 1, replica->waiting + at,
            (replica->waiting_count - at) * sizeof *replica->waiting);
    replica->waiting_count++;
    replica->waiting[at] = (struct hw_waiting_produce){.id = id,
                                                       .required_offset = required_offset,
                                                       .deadline_ms = deadline_ms,
                                                       .captured = replica->isr};
}

static void waiting_resolve(struct hw_replica *replica, struct hw_waiting_produce *waiting,
                            enum hw_kafka_error error)
{
    waiting->is_resolved = true;
    waiting->error = error;
    replica->changes++;
}

void hw_waiting_check(struct hw_replica *replica, hw_time_ms_t now_ms)
{
    hw_offset_t high_watermark = hw_log_high_watermark(replica->log);
    bool enough = hw_replica_maximal_isr(replica)->count >= hw_replica_effective_min_isr(replica);

    for (size_t i = replica->waiting_head; i < replica->waiting_count; i++) {
        struct hw_waiting_produce *waiting = &replica->waiting[i];

        if (waiting->is_resolved) {
            continue;
        }
        if (high_watermark >= waiting->required_offset) {
            waiting_resolve(replica, waiting,
                            enough ? HW_KAFKA_NONE : HW_KAFKA_NOT_ENOUGH_REPLICAS_AFTER_APPEND);
        } else if (now_ms >= waiting->deadline_ms) {
            waiting_resolve(replica, waiting, HW_KAFKA_REQUEST_TIMED_OUT);
            replica->counters.produce_expired++;
        } else if (now_ms < replica->waiting_deadline_ms) {
            break; /* Later entries need a higher offset, and no deadline has come. */
        }
    }
    if (now_ms >= replica->waiting_deadline_ms) {
        replica->waiting_deadline_ms = hw_waiting_next_deadline(replica);
    }
}

void hw_waiting_fail_all(struct hw_replica *replica, enum hw_kafka_error error)
{
    for (size_t i = replica->waiting_head; i < replica->waiting_count; i++) {
        if (!replica->waiting[i].is_resolved) {
            waiting_resolve(replica, &replica->waiting[i], error);
        }
    }
}

bool hw_waiting_take_resolved(struct hw_replica *replica, int64_t *id, enum hw_kafka_error *error)
{
    size_t i = replica->waiting_head;

    while (i < replica->waiting_count && !replica->waiting[i].is_resolved) {
        i++;
    }
    if (i == replica->waiting_count) {
        return false;
    }
    *id = replica->waiting[i].id;
    *error = replica->waiting[i].error;
    /* Nearly always the first one: the entries before it, if any, move up by one. */
    memmove(replica->waiting + replica->waiting_head + 1, replica->waiting + replica->waiting_head,
            (i - replica->waiting_head) * sizeof *replica->waiting);
    replica->waiting_head++;
    return true;
}

hw_time_ms_t hw_waiting_next_deadline(const struct hw_replica *replica)
{
    hw_time_ms_t earliest = INT64_MAX;

    for (size_t i = replica->waiting_head; i < replica->waiting_count; i++) {
        if (!replica->waiting[i].is_resolved && replica->waiting[i].deadline_ms < earliest) {
            earliest = replica->waiting[i].deadline_ms;
        }
    }
    return earliest;
}
