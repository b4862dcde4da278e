/* SPDX-License-Identifier: MIT */
/* Both ends of the logs: records deleted at the start, segments rolled. */
#include "core/cluster/cluster_internal.h"

#include <inttypes.h>

/* Whether a follower's log start counts: not while its broker is down, nor, as far as the leader
 * knows, where it is fenced. */
static bool log_ends_counts(const struct hw_partition *partition, const struct hw_replica *leader,
                            hw_broker_id_t follower)
{
    const struct hw_registration *registration = hw_metadata_find(leader->metadata, follower);

    return hw_partition_find(partition, follower) != NULL && registration != NULL &&
           !registration->fenced;
}

/* R7.14: dead brokers are ignored; one that has not been heard of blocks with -1. */
static hw_offset_t log_ends_low_watermark(const struct hw_partition *partition,
                                          struct hw_replica *leader)
{
    hw_offset_t low = hw_log_start(leader->log);

    for (int32_t i = 0; i < leader->remote_count; i++) {
        const struct hw_remote_replica *remote = &leader->remotes[i];

        if (remote->log_start < low && log_ends_counts(partition, leader, remote->broker)) {
            low = remote->log_start;
        }
    }
    return low;
}

enum hw_status hw_cluster_delete_records(struct hw_cluster *cluster, const char *topic,
                                         int64_t partition, int64_t before_offset,
                                         hw_offset_t *low_watermark, struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *leader;
    bool changed;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_leader(cluster, p, &leader, error);
    }
    if (status == HW_OK && !p->settings->deletable) {
        return hw_error_refuse(error, HW_KAFKA_POLICY_VIOLATION,
                               "%s has cleanup.policy=compact: records are deleted by key", topic);
    }
    if (status != HW_OK) {
        return status;
    }
    if (before_offset == -1) {
        before_offset = hw_log_high_watermark(leader->log);
    }
    if (before_offset < 0 || before_offset > hw_log_high_watermark(leader->log)) {
        return hw_error_refuse(error, HW_KAFKA_OFFSET_OUT_OF_RANGE,
                               "offset %" PRId64 " of %s, allowed are 0 to its high watermark"
                               " %" PRId64 ", and -1 for that",
                               before_offset, p->name, hw_log_high_watermark(leader->log));
    }
    status = hw_log_maybe_increment_log_start(leader->log, before_offset, &changed, error);
    if (status != HW_OK) {
        return status;
    }
    if (changed) {
        leader->changes++;
        hw_replica_note_log_start(leader);
    }
    *low_watermark = log_ends_low_watermark(p, leader);
    return hw_cluster_finish(cluster, p, status, error);
}

enum hw_status hw_cluster_roll(struct hw_cluster *cluster, const char *topic, int64_t partition,
                               int64_t *segments, struct hw_error *error)
{
    struct hw_selection selection;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, partition, &selection, error);

    *segments = 0;
    while (status == HW_OK && (p = hw_selection_next(&selection)) != NULL) {
        for (int32_t r = 0; status == HW_OK && r < p->replica_count; r++) {
            bool rolled = false;

            status = hw_log_roll(p->replicas[r]->log, cluster->now_ms, &rolled, error);
            *segments += rolled ? 1 : 0;
        }
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    return status;
}

enum hw_status hw_cluster_retention(struct hw_cluster *cluster, int64_t *segments,
                                    struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *p;
    enum hw_status status = HW_OK;

    *segments = 0;
    while (status == HW_OK && (p = hw_selection_next(&all)) != NULL) {
        for (int32_t r = 0; status == HW_OK && r < p->replica_count; r++) {
            struct hw_replica *replica = p->replicas[r];
            int32_t deleted = 0;

            status = hw_log_delete_old_segments(replica->log, cluster->now_ms, &deleted, error);
            if (deleted > 0) {
                replica->changes++;
                hw_replica_note_log_start(replica);
            }
            *segments += deleted;
        }
        status = hw_cluster_finish_partition(cluster, p, status, error);
        status = status == HW_OK ? hw_cluster_check_interrupt(cluster, error) : status;
    }
    return hw_cluster_finish_step(cluster, status, error);
}
