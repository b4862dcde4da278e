/* SPDX-License-Identifier: MIT */
/*
 * A fetch that has nothing to tell. Most partitions of a round have no new records, no high
 * watermark to carry and nobody in doubt: then all followers fetch at the log end, get 0 bytes, and
 * ask again. What is left of that is two events and three times, and this is how a round does it
 * without the messages, as fetch_round.c would with them.
 */
#ifndef HW_REPLICATION_IDLE_FETCH_H
#define HW_REPLICATION_IDLE_FETCH_H

#include "core/replication/partition.h"

/* What a round needs to know of one, so that it need not look at the replicas again. */
struct hw_idle_fetch {
    struct hw_replica *follower;
    struct hw_remote_replica *remote; /* What its leader knows of it. */
    struct hw_journal *journal;
    struct hw_event event; /* What the journal says of the request. */
    hw_epoch_t last_fetched_epoch;
    int32_t max_bytes; /* As in the request. */
    int32_t min_bytes;
    hw_time_ms_t wait_until_ms; /* While it waits. */
    bool is_waiting;            /* It is at its leader. */
    bool is_current;            /* It waits, and all times are what they would be set to now. */
};

/*
 * The leader, if it and what it was told are such that fetches of its followers may have nothing to
 * tell: nobody else takes itself for one, no message is lost or late, no ISR change is on its way,
 * and nobody waits for a produce to be answered, or is throttled. NULL: it is not so.
 */
struct hw_replica *hw_idle_fetch_leader(const struct hw_partition *partition,
                                        const struct hw_step *step);

/*
 * Whether the next answer to this follower, and then its next request, change nothing but times.
 * True for all followers of a leader that hw_idle_fetch_leader() found: a round changes nothing of
 * the partition. Fills *fetch then.
 */
bool hw_idle_fetch_find(const struct hw_partition *partition, const struct hw_step *step,
                        struct hw_replica *leader, struct hw_replica *follower,
                        struct hw_idle_fetch *fetch);

/* The follower sends its request, which its leader receives; its leader answers. */
void hw_idle_fetch_send(struct hw_idle_fetch *fetch, const struct hw_partition *partition,
                        const struct hw_step *step);
void hw_idle_fetch_answer(struct hw_idle_fetch *fetch);

/* The round ends here, by an error: who was answered does not ask again. */
void hw_idle_fetch_end(struct hw_idle_fetch *fetch);

#endif /* HW_REPLICATION_IDLE_FETCH_H */
