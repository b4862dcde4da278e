/* SPDX-License-Identifier: MIT */
/* The cluster comes to be on disk with its first change, and is written down after each one. */
#include "core/cluster/cluster_internal.h"

#include <string.h>

enum hw_status hw_cluster_lock(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, cluster->directory, ".lock", error);

    return status == HW_OK ? hw_store_lock(cluster->store, path, &cluster->lock, error) : status;
}

enum hw_status hw_cluster_open_shown(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, cluster->directory, "high-watermarks", error);

    return status == HW_OK ? hw_shown_file_open(&cluster->shown, cluster->store, path,
                                                cluster->next_slot, error)
                           : status;
}

/* A cluster without cluster.state writes one before it makes a broker's directory: where one is,
 * the file was lost, and what lies there may be all that is left of it. */
static enum hw_status disk_refuse_lost_state(const struct hw_cluster *cluster,
                                             struct hw_error *error)
{
    struct hw_name_list names = {.allocator = cluster->allocator};
    enum hw_status status = hw_store_list(cluster->store, cluster->directory, &names, error);

    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        if (strncmp(names.names[i], "broker-", 7) == 0) {
            status = hw_error_set(error, HW_CORRUPT,
                                  "'%s' has the directory %s but no cluster.state: restore that"
                                  " file, or move the directory away to begin anew",
                                  cluster->directory, names.names[i]);
        }
    }
    hw_name_list_release(&names);
    return status;
}

/* What a process left behind that was killed before it wrote the first cluster.state. */
static enum hw_status disk_forget_shown(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, cluster->directory, "high-watermarks", error);

    if (status == HW_OK) {
        status = hw_store_remove(cluster->store, path, error);
    }
    return status == HW_NOT_FOUND ? HW_OK : status;
}

enum hw_status hw_cluster_make_durable(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status;

    if (cluster->is_on_disk) {
        return HW_OK;
    }
    status = hw_store_make_directory(cluster->store, cluster->directory, error);
    if (status == HW_OK && cluster->lock == NULL) {
        status = hw_cluster_lock(cluster, error);
    }
    if (status == HW_OK) {
        status = disk_refuse_lost_state(cluster, error);
    }
    if (status == HW_OK && cluster->shown.file == NULL) {
        status = disk_forget_shown(cluster, error);
        if (status == HW_OK) {
            status = hw_loss_file_remove(cluster, error);
        }
        if (status == HW_OK) {
            status = hw_cluster_open_shown(cluster, error);
        }
    }
    if (status == HW_OK) {
        status = hw_state_file_write(cluster, error);
    }
    cluster->is_on_disk = status == HW_OK;
    return status;
}

enum hw_status hw_cluster_write_state(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = hw_stage_file_clear(&cluster->stage_file, error);

    return status == HW_OK && cluster->is_state_dirty && cluster->is_on_disk
               ? hw_state_file_write(cluster, error)
               : status;
}
