/* SPDX-License-Identifier: MIT */
/*
 * Fetches that have nothing to tell. Most partitions of a round have no new records, no high
 * watermark to carry and nobody in doubt: then all followers fetch at the log end, get 0 bytes, and
 * ask again. What is left of that is two events and three times for each follower, and this is how
 * a round does it without the messages, as fetch_round.c would with them.
 *
 * That a partition is idle is remembered until something is done to it (hw_partition_touch()), so
 * that the next round need not look at its replicas. And where a round had idle partitions only,
 * the next one at the same time would note the same events again and change nothing else, so that
 * is what is done instead.
 */
#ifndef HW_REPLICATION_IDLE_FETCH_H
#define HW_REPLICATION_IDLE_FETCH_H

#include "core/replication/replica.h"

struct hw_partition;

/* A round of idle partitions only, whose followers' requests were all at their leaders before. */
struct hw_idle_round {
    int64_t mark; /* hw_journal_mark() behind its events. */
    int64_t events;
    hw_time_ms_t now_ms;
    size_t count; /* Of its partitions. */
};

/* What a round needs to know of an idle partition. */
struct hw_idle {
    bool is_known;     /* It is idle, and the next three are so; else they do not mean anything. */
    int32_t max_bytes; /* Of a request. */
    int32_t min_bytes;
    struct hw_event event;      /* What is the same in all events; its peer is the leader. */
    struct hw_idle_round round; /* The last such round; all zero: none. */
};

/*
 * Whether the next answers to all followers, and then their next requests, change nothing but
 * times, where every link is there: all replicas have been told the newest record and have the same
 * log end and high watermark, no ISR change is on its way, nobody waits for a produce to be
 * answered or is throttled. Then partition->idle tells all, until hw_partition_touch().
 */
bool hw_idle_find(struct hw_partition *partition, hw_time_ms_t now_ms);

/* Assert that what is remembered of the partition is so. */
void hw_idle_check(const struct hw_partition *partition, hw_time_ms_t now_ms);

/* The follower sends its request, which its leader receives; its leader answers. `is_same`: it is
 * the request that was answered last. */
void hw_idle_fetch_send(struct hw_partition *partition, struct hw_replica *follower, bool is_same,
                        hw_time_ms_t now_ms);
void hw_idle_fetch_answer(const struct hw_partition *partition, struct hw_replica *follower,
                          hw_time_ms_t now_ms);

/* Remember a round of idle partitions. */
void hw_idle_round_end(struct hw_partition *const *partitions, size_t count,
                       const struct hw_idle_round *round);

/* Do the last round again, if that was one of just these partitions, now, and nothing has happened
 * since. They are in the same order in each round. Returns whether it has done so. */
bool hw_idle_round_repeat(struct hw_partition *const *partitions, size_t count,
                          hw_time_ms_t now_ms);

#endif /* HW_REPLICATION_IDLE_FETCH_H */
