/* SPDX-License-Identifier: MIT */
/* The end of a step, once for every verb: markers, followers, checks, losses, cluster.state. */
#include "core/cluster/cluster_internal.h"

enum hw_status hw_cluster_finish_step(struct hw_cluster *cluster, enum hw_status first,
                                      struct hw_error *error)
{
    struct hw_error later;
    enum hw_status status = HW_OK;
    enum hw_status written;

    status = hw_cluster_send_markers(cluster, first == HW_OK ? error : &later);
    hw_cluster_follow(cluster);
    if (status == HW_OK) {
        status = hw_cluster_send_markers(cluster, first == HW_OK ? error : &later);
    }
    if (cluster->settings.checks_invariants) {
        hw_cluster_check(cluster);
    }
    if (cluster->promises.checked != 0) {
        enum hw_status promised =
            hw_promises_look(cluster, first == HW_OK && status == HW_OK ? error : &later);

        status = status == HW_OK ? promised : status;
    }
    if (status == HW_OK && cluster->is_on_disk) {
        status = hw_loss_file_write(cluster, first == HW_OK ? error : &later);
    }
    written = hw_cluster_write_state(cluster, first == HW_OK && status == HW_OK ? error : &later);
    status = status == HW_OK ? written : status;
    return first == HW_OK ? status : first;
}

enum hw_status hw_cluster_check_event(struct hw_cluster *cluster, struct hw_error *error)
{
    if (cluster->settings.checks_invariants) {
        hw_cluster_check(cluster);
    }
    return cluster->promises.checked == 0 ? HW_OK : hw_promises_look_at_changes(cluster, error);
}

enum hw_status hw_cluster_finish(struct hw_cluster *cluster, struct hw_topic *topic,
                                 struct hw_partition *partition, enum hw_status first,
                                 struct hw_error *error)
{
    enum hw_status status = hw_cluster_finish_partition(cluster, topic, partition, first, error);

    return hw_cluster_finish_step(cluster, status, error);
}
