/* SPDX-License-Identifier: MIT */
/*
 * Producers on the clock, for replication=timed: a record every so often, of which so many may be
 * under way at once.
 *
 *     due ---client's link---> leader appends ... committed ---link back---> answered
 *     |<------------------------- what the producer waits --------------------------->|
 *
 * A producer that has as many records under way as it may holds the next one back until an answer
 * has come. The same load on the same cluster produces the same records.
 */
#ifndef HW_CLUSTER_LOAD_H
#define HW_CLUSTER_LOAD_H

#include "core/cluster/cluster.h"

enum { HW_LOAD_IN_FLIGHT_MAX = 1000, HW_LOADS_MAX = 1000 };

struct hw_load_options {
    const char *topic;
    double records_per_s;
    double start_ms;       /* From now on; the first record is due then. */
    int64_t size_bytes;    /* Of a value. */
    int64_t keys;          /* So many different ones, in turn; 0: none. */
    int64_t acks;          /* As hw_produce.acks. */
    int64_t in_flight;     /* Records under way at most. */
    int64_t retries;       /* How often a record is sent again that was refused. */
    int64_t retry_ms;      /* After how long. */
    hw_time_ms_t until_ms; /* On the cluster's clock; HW_TIME_NEVER: without end. */
    bool random;           /* The times between two records vary as those of independent senders. */
};

struct hw_load_options hw_load_options_default(void);

/* Errors: HW_MISUSE where the cluster is not timed; HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION,
 * INVALID_CONFIG; HW_NO_MEMORY. */
enum hw_status hw_cluster_load(struct hw_cluster *cluster, const struct hw_load_options *options,
                               int64_t *id, struct hw_error *error);

/* End a load; what it has under way arrives, and nobody waits for it. Errors: HW_MISUSE: there is
 * none of that id. */
enum hw_status hw_cluster_end_load(struct hw_cluster *cluster, int64_t id, struct hw_error *error);

struct hw_load_view {
    int64_t id;
    struct hw_load_options options;
    bool is_running;
    int64_t sent;
    int64_t acknowledged;
    int64_t failed;
    int64_t under_way;
    double mean_latency_ms; /* Of those acknowledged; 0: none yet. */
    double max_latency_ms;
};
bool hw_cluster_next_load(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_load_view *view);

#endif /* HW_CLUSTER_LOAD_H */
