/* SPDX-License-Identifier: MIT */
/* The batches of a replica's log, as they lie in its files. */
#include "core/cluster/cluster_internal.h"
#include "core/inspect/kafka_scan.h"

enum hw_status hw_cluster_scan_batches(struct hw_cluster *cluster, const char *topic,
                                       int64_t partition, int64_t broker,
                                       const struct hw_segment_range *range,
                                       struct hw_kafka_scan **scan, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    char *name = path;
    struct hw_name_list paths = {.names = &name, .count = 1};
    struct hw_kafka_scan_options options = {.paths = &paths, .scan = {.range = *range}};
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_replica *replica;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &t, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_replica(cluster, p, broker, &replica, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = hw_path_format(path, error, "%s", hw_log_directory(replica->log));
    return status == HW_OK
               ? hw_kafka_scan_open(cluster->callers, cluster->store, &options, scan, error)
               : status;
}
