/* SPDX-License-Identifier: MIT */
/* What the files of metrics share. */
#ifndef HW_LOOK_METRICS_INTERNAL_H
#define HW_LOOK_METRICS_INTERNAL_H

#include "core/cluster/cluster_internal.h"
#include "core/look/metrics.h"

#define METRIC_TOPIC(NAME)      "kafka.server:type=BrokerTopicMetrics,name=" NAME
#define METRIC_REPLICA(NAME)    "kafka.server:type=ReplicaManager,name=" NAME
#define METRIC_PARTITION(NAME)  "kafka.cluster:type=Partition,name=" NAME
#define METRIC_REQUEST(NAME)    "kafka.network:type=RequestMetrics,name=" NAME
#define METRIC_FETCHERS(NAME)   "kafka.server:type=ReplicaFetcherManager,name=" NAME
#define METRIC_FETCHER(NAME)    "kafka.server:type=FetcherStats,name=" NAME
#define METRIC_CONTROLLER(NAME) "kafka.controller:type=KafkaController,name=" NAME
#define METRIC_PURGATORY(NAME, OPERATION)                                                          \
    "kafka.server:type=DelayedOperationPurgatory,name=" NAME ",delayedOperation=" OPERATION

struct metrics_walk {
    struct hw_cluster *cluster;
    hw_metric_visit *visit;
    void *context;
};

/* metrics_brokers.c: what is of a broker, or of the controller, and of no partition. */
void hw_metrics_of_brokers(const struct metrics_walk *walk);
void hw_metrics_of_controller(const struct metrics_walk *walk);

#endif /* HW_LOOK_METRICS_INTERNAL_H */
