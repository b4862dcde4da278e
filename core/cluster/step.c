/* SPDX-License-Identifier: MIT */
/* The end of a step, once for every verb: markers, followers, checks, losses, cluster.state. */
#include "core/cluster/cluster_internal.h"

enum hw_status hw_cluster_finish_step(struct hw_cluster *cluster, enum hw_status first,
                                      struct hw_error *error)
{
    struct hw_error later;
    struct hw_error *reason = first == HW_OK ? error : &later;
    enum hw_status status = hw_cluster_send_markers(cluster, reason);
    enum hw_status next;

    hw_cluster_follow(cluster);
    if (status == HW_OK) {
        status = hw_cluster_send_markers(cluster, reason);
    }
    if (cluster->settings.checks_invariants) {
        hw_cluster_check(cluster);
    }
    if (cluster->promises.checked != 0) {
        next = hw_promises_look(cluster, false, status == HW_OK ? reason : &later);
        status = status == HW_OK ? next : status;
    }
    if (status == HW_OK && cluster->is_on_disk) {
        status = hw_loss_file_write(cluster, reason);
    }
    next = hw_cluster_write_state(cluster, status == HW_OK ? reason : &later);
    status = status == HW_OK ? next : status;
    return first == HW_OK ? status : first;
}

enum hw_status hw_cluster_check_event(struct hw_cluster *cluster, struct hw_error *error)
{
    if (cluster->settings.checks_invariants) {
        hw_cluster_check(cluster);
    }
    return cluster->promises.checked == 0 ? HW_OK : hw_promises_look(cluster, true, error);
}

enum hw_status hw_cluster_finish(struct hw_cluster *cluster, struct hw_partition *partition,
                                 enum hw_status first, struct hw_error *error)
{
    enum hw_status status = hw_cluster_finish_partition(cluster, partition, first, error);

    return hw_cluster_finish_step(cluster, status, error);
}
