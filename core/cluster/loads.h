/* SPDX-License-Identifier: MIT */
/* What the clock needs of the loads that users started (load.h). */
#ifndef HW_CLUSTER_LOADS_H
#define HW_CLUSTER_LOADS_H

#include "core/cluster/load.h"

struct hw_load;

struct hw_loads {
    struct hw_load **loads;
    size_t count;
    size_t capacity;
    int64_t next_id;
    int64_t seen_finished_id; /* Of acks: nobody was answered since. */
};

void hw_loads_release(struct hw_cluster *cluster);

/* When the next of them does something by itself; INT64_MAX: never. */
int64_t hw_loads_next_us(const struct hw_cluster *cluster);

/* Let that happen, at its time. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_loads_run_next(struct hw_cluster *cluster, struct hw_error *error);

/* The next record of a load that is under way or waits, by position->topic and partition. */
struct hw_request_view;
bool hw_loads_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_request_view *view);

/* Something has happened: producers may have been answered. */
enum hw_status hw_loads_look(struct hw_cluster *cluster, struct hw_error *error);

#endif /* HW_CLUSTER_LOADS_H */
