/* SPDX-License-Identifier: MIT */
/* How long links and disks take with replication=timed, as users set and see it. In milliseconds,
 * down to thousandths of one. */
#ifndef HW_CLUSTER_LINK_TIMES_H
#define HW_CLUSTER_LINK_TIMES_H

#include "core/cluster/cluster.h"

/* The other end of a producer's or consumer's link. */
enum { HW_CLUSTER_CLIENT = -3 };

/* A negative number leaves the setting as it is. */
struct hw_link_times {
    double latency_ms;   /* One way. */
    double jitter_ms;    /* At most so much more, evenly spread. */
    double loss;         /* 0 to 1: how many messages are late because a packet was lost. */
    int64_t bytes_per_s; /* 0: no limit. */
    bool one_way;        /* Only from a to b. */
};

struct hw_disk_times {
    double append_ms;
    int64_t bytes_per_s; /* 0: no limit. */
};

/*
 * Set the times of the link between a and b, each a broker's id, HW_CLUSTER_CONTROLLER or
 * HW_CLUSTER_CLIENT, in both directions or from a to b. *times are those in force from a to b
 * afterwards. Errors: HW_REFUSED with BROKER_NOT_AVAILABLE, INVALID_CONFIG; HW_NO_MEMORY.
 */
enum hw_status hw_cluster_link(struct hw_cluster *cluster, int64_t a, int64_t b,
                               struct hw_link_times *times, struct hw_error *error);

/* The same for the disk of a broker: how long it takes for one append, and for its bytes. */
enum hw_status hw_cluster_disk(struct hw_cluster *cluster, int64_t broker,
                               struct hw_disk_times *times, struct hw_error *error);

/* One direction of a link that has times, or on which something was sent, or that is cut. */
struct hw_link_view {
    int64_t a;
    int64_t b;
    struct hw_link_times times;
    bool is_cut;
    int64_t messages;
    int64_t bytes;
};
bool hw_cluster_next_link(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_link_view *view);

/* One partition of a message that is under way, or that waits where it arrived. */
struct hw_request_view {
    int64_t id;
    const char *kind;  /* Those of struct hw_timed_request, and produce (of loads). */
    const char *topic; /* NULL: it is about none. */
    int32_t partition; /* -1 then. */
    int64_t sender;
    int64_t receiver;
    const char *state;  /* travelling, waiting, answered, held */
    hw_offset_t offset; /* HW_OFFSET_NONE: it names none. */
    int32_t min_bytes;
    int32_t max_bytes;
    int64_t size_bytes;
    hw_time_ms_t sent_ms;
    hw_time_ms_t due_ms;        /* HW_TIME_NEVER: not known. */
    hw_time_ms_t wait_until_ms; /* HW_TIME_NEVER: it does not wait. */
    const char *waits_for;      /* NULL: for nothing but its way. */
};
bool hw_cluster_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                             struct hw_request_view *view);

#endif /* HW_CLUSTER_LINK_TIMES_H */
