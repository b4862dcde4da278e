/* SPDX-License-Identifier: MIT */
/* What the last openings of logs have mended, for people to look at. */
#ifndef HW_CLUSTER_RECOVERIES_H
#define HW_CLUSTER_RECOVERIES_H

#include "core/log/log.h"

enum { HW_RECOVERIES_MAX = 1000 };

struct hw_cluster;
struct hw_position;

struct hw_recovery_entry {
    hw_time_ms_t time_ms;
    hw_broker_id_t broker;
    uint32_t topic; /* Place of its name in the journal. */
    int32_t partition;
    struct hw_log_mend mend;
};

struct hw_recoveries {
    struct hw_recovery_entry *entries; /* A ring once it has HW_RECOVERIES_MAX. */
    size_t count;
    size_t capacity;
    size_t oldest;
};

struct hw_recovery_view {
    hw_time_ms_t time_ms;
    hw_broker_id_t broker;
    const char *topic; /* NULL: there was no memory for its name. */
    int32_t partition;
    const struct hw_log_mend *mend;
};

/* From the oldest kept one on; false behind the last. */
bool hw_cluster_next_recovery(const struct hw_cluster *cluster, struct hw_position *position,
                              struct hw_recovery_view *view);

#endif /* HW_CLUSTER_RECOVERIES_H */
