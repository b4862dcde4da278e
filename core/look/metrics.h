/* SPDX-License-Identifier: MIT */
/* Kafka's metrics by their names, as far as there is something here to count: kafka-time M. */
#ifndef HW_LOOK_METRICS_H
#define HW_LOOK_METRICS_H

#include "core/cluster/cluster.h"

struct hw_metric_row {
    const char *name;      /* group:type=...,name=...; borrowed until the visit is over. */
    const char *scope;     /* cluster, broker, topic, partition */
    hw_broker_id_t broker; /* HW_BROKER_ID_NONE: all. */
    const char *topic;     /* NULL: all. Borrowed until the next change. */
    int32_t partition;     /* -1: all. */
    int64_t value;
    double real; /* In its place, if it is one. */
    bool is_real;
    const char *unit; /* Static, as description. */
    const char *description;
};

typedef void hw_metric_visit(void *context, const struct hw_metric_row *row);

/*
 * All of them, metric by metric: of the whole cluster, of each broker, of each topic, of each
 * replica. Counters begin anew with their broker's process.
 */
void hw_cluster_metrics(struct hw_cluster *cluster, hw_metric_visit *visit, void *context);

#endif /* HW_LOOK_METRICS_H */
