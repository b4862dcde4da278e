/* SPDX-License-Identifier: MIT */
/*
 * Fetches that have nothing to tell. Most partitions of a round have no new records, no high
 * watermark to carry and nobody in doubt: then all followers fetch at the log end, get 0 bytes, and
 * ask again. What is left of that is two events and three times for each follower, and this is how
 * a round does it without the messages, as fetch_round.c would with them.
 *
 * That a partition is idle is remembered until something is done to it (hw_partition_touch()), so
 * that the next round need not look at its replicas.
 */
#ifndef HW_REPLICATION_IDLE_FETCH_H
#define HW_REPLICATION_IDLE_FETCH_H

#include "core/replication/replica.h"

struct hw_partition;

/* One follower of an idle partition. */
struct hw_idle_fetch {
    struct hw_replica *follower;
    struct hw_remote_replica *remote; /* What its leader knows of it. */
    hw_broker_id_t broker;
    hw_epoch_t last_fetched_epoch;
    hw_time_ms_t wait_until_ms; /* While it waits. */
    hw_time_ms_t current_ms;    /* All times are what a request at this time sets them to. */
    bool is_waiting;            /* It is at its leader. */
};

/* What a round needs to know of an idle partition. */
struct hw_idle {
    bool is_known; /* It is idle, and all this is so; else nothing here means anything. */
    int32_t count;
    int32_t max_bytes; /* Of a request. */
    int32_t min_bytes;
    struct hw_journal *journal;
    struct hw_event event; /* What is the same in all events; its peer is the leader. */
    struct hw_idle_fetch fetches[HW_REPLICAS_MAX]; /* In order of broker id. */
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

/* The follower sends its request, which its leader receives; its leader answers. */
void hw_idle_fetch_send(struct hw_partition *partition, struct hw_idle_fetch *fetch,
                        hw_time_ms_t now_ms);
void hw_idle_fetch_answer(struct hw_partition *partition, struct hw_idle_fetch *fetch,
                          hw_time_ms_t now_ms);

/* The round ends here, by an error: who was answered does not ask again. */
void hw_idle_end(struct hw_partition *partition);

#endif /* HW_REPLICATION_IDLE_FETCH_H */
