/* SPDX-License-Identifier: MIT */
/*
 * A replication round: each follower sends each of its leaders one request for all the partitions
 * at hand, and gets one answer.
 *
 *     1. who has no request at its leader (new, restarted, told of a new leader) sends one
 *     2. the answers to all waiting requests are delivered and applied (R2.10)
 *     3. who has got its answer sends its next request, which the leader receives and keeps
 *
 * So after a round followers hold the records and the leader knows it. What the leader has appended
 * last is not read from its file (hw_log_recent_append()).
 *
 * The partitions of a request share its limit (R2.14): replica.fetch.response.max.bytes shrinks
 * from partition to partition, and only until one has records the first batch is given whatever its
 * size. The first partition that went empty because of that comes first the next time, with those
 * behind it (Kafka moves a partition that got records to the end of its order).
 *
 * How long does a request wait? In Kafka it is answered when there are replica.fetch.min.bytes or
 * something else to tell (R2.12), or after replica.fetch.wait.max.ms. Here nothing moves by itself,
 * so an answer that has records, or makes the follower cut its log, is given by a round only:
 *
 *     in a round   answered, if the wait has ended by R2.12 or by time; also if there is nothing to
 *                  send at all: a round stands for as long as that answer takes in Kafka, and
 *                  followers learn the high watermark with it. With some records, but fewer than
 *                  min bytes, and time left, the request goes on waiting
 *     by time      a request for which there is nothing to send is answered when its time is over:
 *                  the follower learns the high watermark (R2.13) and asks again in the next round.
 *                  Any other one is then due in the next round, whatever min bytes says
 *
 * A request that is sent by hand, hw_exchange_fetch(), stands for a whole poll and never waits.
 */
#ifndef HW_REPLICATION_FETCH_ROUND_H
#define HW_REPLICATION_FETCH_ROUND_H

#include "core/replication/variant.h"

/*
 * One round over `count` different partitions. *records: how many followers appended. Errors:
 * HW_NO_MEMORY, HW_IO; partitions before the failing one have moved then.
 */
enum hw_status hw_fetch_round(struct hw_partition *const *partitions, size_t count,
                              const struct hw_step *step, int64_t *records, struct hw_error *error);

/* Time has passed: end the waits of the partition's requests that are over. Errors: HW_NO_MEMORY,
 * HW_IO. */
enum hw_status hw_fetch_round_expire(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_error *error);

/* When the wait of the first of them is over; INT64_MAX: none waits. */
hw_time_ms_t hw_fetch_round_next_expiry(const struct hw_partition *partition);

/* What the answer to a request over several partitions has left for the next one (R2.14, R2.15). */
struct hw_answer_room {
    int32_t bytes_left;  /* Of replica.fetch.response.max.bytes. */
    bool has_data;       /* A partition has been answered with records. */
    bool has_next_first; /* One has been found that comes first the next time. */
};

/* The request for one partition within what is left. */
struct hw_fetch_request hw_answer_room_limit(const struct hw_answer_room *room,
                                             const struct hw_fetch_request *request);

/* The partition was answered with so many bytes. Without any, for want of room, it comes first the
 * next time. `leader` is NULL where it is not reached, `follower` where it is gone. */
void hw_answer_room_take(struct hw_answer_room *room, const struct hw_fetch_request *request,
                         int64_t size_bytes, struct hw_replica *leader, hw_time_ms_t now_ms,
                         struct hw_replica *follower);

#endif /* HW_REPLICATION_FETCH_ROUND_H */
