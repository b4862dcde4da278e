/* SPDX-License-Identifier: MIT */
/*
 * The end of a step for one partition: whatever was done to it, acks, losses, its record, its
 * replicas and the shown file follow from what it is now.
 */
#include "core/cluster/cluster_internal.h"

/* The slot of a replica in the shown file. */
static size_t step_slot(const struct hw_partition *partition, hw_broker_id_t broker)
{
    for (int32_t i = 0; i < partition->placed.count; i++) {
        if (partition->placed.ids[i] == broker) {
            return partition->slots[i];
        }
    }
    return 0;
}

enum hw_status hw_cluster_show(struct hw_cluster *cluster, struct hw_partition *partition,
                               const struct hw_replica *replica, hw_offset_t *high_watermark,
                               struct hw_error *error)
{
    size_t slot = step_slot(partition, replica->broker);
    hw_offset_t shown = cluster->variant->high_watermark(partition, replica);

    if (shown > hw_log_end(replica->log)) {
        shown = hw_log_end(replica->log);
    }
    *high_watermark = shown;
    return slot == 0 ? HW_OK : hw_shown_file_set(&cluster->shown, slot, shown, error);
}

/* High watermarks that fell below what was shown: a truncation took records away. */
static enum hw_status step_take_back_shown(struct hw_cluster *cluster,
                                           const struct hw_partition *partition,
                                           struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (int32_t i = 0; status == HW_OK && i < partition->replica_count; i++) {
        const struct hw_replica *replica = partition->replicas[i];
        size_t slot = step_slot(partition, replica->broker);
        hw_offset_t high_watermark = hw_log_high_watermark(replica->log);

        if (slot != 0 && hw_shown_file_get(&cluster->shown, slot) > high_watermark) {
            status = hw_shown_file_set(&cluster->shown, slot, high_watermark, error);
        }
    }
    return status;
}

enum hw_status hw_cluster_finish_partition(struct hw_cluster *cluster,
                                           struct hw_partition *partition, enum hw_status first,
                                           struct hw_error *error)
{
    struct hw_error later;
    struct hw_error *reason = first == HW_OK ? error : &later;
    struct hw_replica *leader = hw_partition_leader(partition);
    hw_offset_t shown;
    enum hw_status placed;
    enum hw_status status = HW_OK;

    /* What a producer was told is as good as shown: it is there, and visible, when the process has
     * ended at any moment after this. */
    if (hw_cluster_collect_acks(cluster, partition) && leader != NULL) {
        status = hw_cluster_show(cluster, partition, leader, &shown, reason);
    }
    hw_losses_observe(cluster, partition);
    if (partition->is_record_dirty) {
        cluster->is_state_dirty = true;
        partition->is_record_dirty = false;
        hw_partition_note_record(partition);
    }
    placed = hw_cluster_place_replicas(cluster, partition, status == HW_OK ? reason : &later);
    status = status == HW_OK ? placed : status;
    if (status == HW_OK) {
        status = step_take_back_shown(cluster, partition, reason);
    }
    if (status == HW_OK && cluster->settings.is_held) {
        status = hw_held_look(&cluster->held, partition, reason);
    }
    hw_cluster_has_news(cluster, partition);
    return first == HW_OK ? status : first;
}
