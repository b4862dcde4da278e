/* SPDX-License-Identifier: MIT */
/*
 * A cluster that runs by itself on its virtual clock. Every follower's broker has a fetcher for
 * each leader's broker; a fetcher sends one request, waits for the answer, applies it, and sends
 * the next:
 *
 *     turn ---request---> leader: waits for data, at most max wait ---answer---> disk, apply, turn
 *       ^                                                                                      |
 *       +--- back-off, where nothing is ready or the request failed <--------------------------+
 *
 *     fetcher.c     that loop;  fetch_wait.c: what becomes of its requests at the leader
 *     proposals.c   a leader's AlterPartition requests, one under way for each broker
 *     heartbeats.c  what the controller hears of a broker's life
 *     notices.c     what the controller tells brokers
 *     pause.c       a broker stands still
 *     timed.c       the queue of what is due;  places.c: which partitions take part
 *     wire.c        how long a message travels;  event_queue.c: what is due first
 *
 * Messages are those of core/replication, and so are sending, receiving and applying them: here is
 * only when. Nothing in it knows the cluster: its owner moves the clock, hands over the partitions
 * after each verb, and is told which of them an event has touched.
 *
 * Time is in microseconds; the rules see whole milliseconds. Source: kafka-time W1 to W10.
 */
#ifndef HW_TIMED_TIMED_H
#define HW_TIMED_TIMED_H

#include "core/replication/notices.h"
#include "core/replication/partition.h"
#include "core/timed/event_queue.h"
#include "core/timed/wire.h"

struct hw_timed_fetcher;
struct hw_timed_sender;

/* How long a broker's disk takes for what is appended. */
struct hw_timed_disk {
    hw_broker_id_t broker;
    int64_t append_us;
    int64_t bytes_per_s; /* 0: no limit. */
    int64_t free_us;
};

/* A broker's heartbeats. */
struct hw_timed_heart {
    hw_broker_id_t broker;
    bool beats;
    bool is_named;      /* Among those that were named last. */
    bool is_told;       /* The controller has registered it, so it hears of records. */
    bool is_registered; /* As it knows. */
    bool is_under_way;  /* It waits for an answer. */
    int64_t generation; /* Of what it waits for. */
    int64_t request_id;
    int64_t sent_us;
    int64_t due_us; /* When it gives the answer up. */
    int64_t last_request_us;
    int64_t last_answer_us;
    int64_t known_id; /* Of the notices that the controller knows it has: all up to this message. */
    int64_t sent_id;  /* What the heartbeat under way says of that. */
    bool leaves;      /* It asks for its controlled shutdown, since: */
    int64_t leaves_us;
    int64_t leaves_from; /* The first generation whose message says so; 0: none has yet. */
    bool was_put_off;
    bool is_granted;  /* What it asks for, by the answer under way. */
    int64_t wakes_us; /* Until then it stands still. */
};

/* What an event brings to its owner. */
enum hw_timed_contact_kind {
    HW_CONTACT_NONE,
    HW_CONTACT_HEARTBEAT,    /* The controller has heard from a broker, */
    HW_CONTACT_REGISTRATION, /* which asks to be registered: hw_timed_answer(), */
    HW_CONTACT_LEAVES,       /* or to be shut down: the same. */
    HW_CONTACT_STOPS         /* A broker may stop, or has waited long enough for that. */
};

struct hw_timed_contact {
    enum hw_timed_contact_kind kind;
    hw_broker_id_t broker;
    int64_t generation; /* Of its message. */
};

/* A broker that runs, and whether the controller had registered it when it began to. */
struct hw_timed_beating {
    hw_broker_id_t broker;
    bool is_registered;
};

struct hw_timed {
    const struct hw_allocator *allocator;
    struct hw_random *random; /* The cluster's; borrowed. */
    int64_t now_us;
    int64_t request_timeout_ms;
    int32_t fetchers_per_leader; /* num.replica.fetchers */
    struct hw_event_queue queue;
    struct hw_wires wires;
    struct hw_notices notices; /* What tells them is hw_step.notices. Its ids are those of all
                                * messages. */
    struct hw_timed_disk *disks;
    size_t disk_count;
    size_t disk_capacity;
    struct hw_partition **partitions; /* Borrowed, from the last hw_timed_refresh() on. */
    size_t partition_count;
    size_t partition_capacity;
    struct hw_uuid *topic_ids; /* Of these. */
    size_t topic_id_capacity;
    size_t *touched; /* Places in `partitions`: each once, since an event comes to each once. */
    size_t touched_count;
    size_t touched_capacity;
    struct hw_timed_fetcher **fetchers;
    size_t fetcher_count;
    size_t fetcher_capacity;
    struct hw_timed_sender **senders;
    size_t sender_count;
    size_t sender_capacity;
    int64_t heartbeat_interval_ms;
    struct hw_timed_heart *hearts;
    size_t heart_count;
    size_t heart_capacity;
    int64_t all_awake_us;            /* From then on no broker stands still. */
    struct hw_timed_contact contact; /* Made by the last event. */
};

void hw_timed_init(struct hw_timed *timed, const struct hw_allocator *allocator,
                   struct hw_random *random);
void hw_timed_release(struct hw_timed *timed);

/* Nothing is under way any more, and nothing is due; links and disks stay as they are. */
void hw_timed_stop(struct hw_timed *timed);

/*
 * Something may have happened that is no event of this queue, a verb, or time that passed, to the
 * partitions that have news. These are the partitions now; it is step->now_ms. Messages of brokers
 * and partitions that are gone are dropped, those that were held up by a cut link go on, requests
 * that wait are looked at again, and what was told or proposed is sent. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_timed_refresh(struct hw_timed *timed, const struct hw_step *step,
                                struct hw_partition *const *partitions, size_t count,
                                struct hw_error *error);

/* Something was appended outside of the queue, at timed->now_us, to partitions that have news:
 * requests that wait for them are looked at again. Errors: as hw_timed_run_next(). */
enum hw_status hw_timed_look(struct hw_timed *timed, const struct hw_step *step,
                             struct hw_error *error);

/* These brokers run now, and no others: those that begin to beat do so at once. Errors:
 * HW_NO_MEMORY. */
enum hw_status hw_timed_beat(struct hw_timed *timed, const struct hw_timed_beating *brokers,
                             size_t count, struct hw_error *error);

/* The broker's process has ended: the next one begins anew, however soon it comes. */
void hw_timed_dies(struct hw_timed *timed, hw_broker_id_t broker);

/*
 * What the controller says of the registration, or the shutdown, that timed->contact has told of;
 * where it has written something, its answer leaves once that is committed. A broker that is
 * accepted sends a heartbeat when it hears of it; else it asks again an interval later. One that
 * may stop does so when it hears of it (HW_CONTACT_STOPS); else it asks again after 50 ms, and from
 * then on each interval. Errors: HW_NO_MEMORY. Source: kafka-time W6.1, W6.5, W6.6.
 */
enum hw_status hw_timed_answer(struct hw_timed *timed, bool is_granted, bool is_written,
                               struct hw_error *error);

/* The broker asks for its controlled shutdown: at once, or right after the answer to the heartbeat
 * that is under way; after 5 minutes it stops all the same. Errors: HW_NO_MEMORY. */
enum hw_status hw_timed_leave(struct hw_timed *timed, hw_broker_id_t broker, int64_t now_us,
                              struct hw_error *error);

/* It could not stop: it asks again an interval later. Errors: HW_NO_MEMORY. */
enum hw_status hw_timed_leave_again(struct hw_timed *timed, hw_broker_id_t broker,
                                    struct hw_error *error);

/* The broker stands still until then, or for as long as it was told before. Its process does: another
 * one is awake. Errors: HW_NO_MEMORY. */
enum hw_status hw_timed_pause(struct hw_timed *timed, hw_broker_id_t broker, int64_t wakes_us,
                              struct hw_error *error);

/* What is known of a broker's life, never NULL: one that never beat is told of records, has heard of
 * none, neither leaves nor stands still. Good until the next call that is not const. */
const struct hw_timed_heart *hw_timed_heart(const struct hw_timed *timed, hw_broker_id_t broker);

/* Until when it stands still; a time that is past: it is awake. Each event and each INSERT asks,
 * mostly while nobody does. */
static inline int64_t hw_timed_wakes_us(const struct hw_timed *timed, hw_broker_id_t broker)
{
    return timed->all_awake_us <= timed->now_us ? 0 : hw_timed_heart(timed, broker)->wakes_us;
}

/* When the next event is due; INT64_MAX: never. */
int64_t hw_timed_next_us(const struct hw_timed *timed);

/* Let the next event happen, at its time, of which step->now_ms is the whole milliseconds. Errors:
 * HW_NO_MEMORY. A log that fails is an event of the journal, and stops its follower only. */
enum hw_status hw_timed_run_next(struct hw_timed *timed, const struct hw_step *step,
                                 struct hw_error *error);

/* The disk of a broker, made where there is none; and when it has taken `bytes` that it is given
 * now. */
enum hw_status hw_timed_have_disk(struct hw_timed *timed, hw_broker_id_t broker,
                                  struct hw_timed_disk **disk, struct hw_error *error);
int64_t hw_timed_disk_us(struct hw_timed *timed, hw_broker_id_t broker, int64_t bytes);

/* A message that is under way, or waits where it arrived, for people to look at. */
struct hw_timed_request {
    int64_t id;
    const char *
        kind; /* fetch, epoch, list_offsets, alter_partition, notice, heartbeat, registration; static. */
    const struct hw_partition *partition; /* NULL: it is about none. */
    struct hw_uuid
        topic_id;          /* Tells whether that partition is still there: its topic may be gone. */
    hw_broker_id_t sender; /* HW_CONTROLLER: the controller. */
    hw_broker_id_t receiver;
    const char *state; /* travelling, waiting, answered, held; static. */
    hw_offset_t offset;
    int32_t min_bytes;
    int32_t max_bytes;
    int64_t size_bytes;
    int64_t sent_us;
    int64_t due_us;        /* INT64_MAX: not known. */
    int64_t wait_until_us; /* INT64_MAX: it does not wait. */
};

/* Fetch requests that wait at this leader's broker, and of how many partitions they are. */
void hw_timed_waiting(const struct hw_timed *timed, hw_broker_id_t leader, int64_t *requests,
                      int64_t *partitions);

/* Of this follower's broker's fetchers that have something to fetch: the smallest number of requests
 * a second that one has made over the last minute; 0 without a fetcher. */
double hw_timed_min_fetch_rate(const struct hw_timed *timed, hw_broker_id_t follower);

/* The message at place `index` of all that are under way; false behind the last. */
bool hw_timed_request_at(const struct hw_timed *timed, size_t index,
                         struct hw_timed_request *request);

#endif /* HW_TIMED_TIMED_H */
