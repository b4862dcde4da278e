/* SPDX-License-Identifier: MIT */
/* Both ends of the logs: records deleted at the start, segments rolled, offsets asked for. */
#include "core/cluster/cluster_internal.h"
#include "core/look/reader.h"

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
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_replica *leader;
    bool changed;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &t, &p, error);

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
    leader->changes += changed ? 1 : 0;
    *low_watermark = log_ends_low_watermark(p, leader);
    return hw_cluster_end_step(cluster, t, p, status, error);
}

enum hw_status hw_cluster_roll(struct hw_cluster *cluster, const char *topic, int64_t partition,
                               int64_t *segments, struct hw_error *error)
{
    struct hw_selection selection;
    struct hw_topic *t;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, topic, partition, &selection, error);

    *segments = 0;
    while (status == HW_OK && hw_selection_next(&selection, &t, &p)) {
        for (int32_t r = 0; status == HW_OK && r < p->replica_count; r++) {
            bool rolled = false;

            status = hw_log_roll(p->replicas[r]->log, cluster->now_ms, &rolled, error);
            *segments += rolled ? 1 : 0;
        }
    }
    return status;
}

enum hw_status hw_cluster_retention(struct hw_cluster *cluster, int64_t *segments,
                                    struct hw_error *error)
{
    struct hw_selection all;
    struct hw_topic *t;
    struct hw_partition *p;
    enum hw_status status = hw_cluster_select(cluster, NULL, -1, &all, error);

    *segments = 0;
    while (status == HW_OK && hw_selection_next(&all, &t, &p)) {
        for (int32_t r = 0; status == HW_OK && r < p->replica_count; r++) {
            int32_t deleted = 0;

            status =
                hw_log_delete_old_segments(p->replicas[r]->log, cluster->now_ms, &deleted, error);
            p->replicas[r]->changes += deleted > 0 ? 1 : 0;
            *segments += deleted;
        }
        status = hw_cluster_settle(cluster, t, p, status, error);
    }
    return hw_cluster_finish_step(cluster, status, error);
}

/* While a new leader's high watermark is below the start of its epoch, it may not name an end: an
 * earlier leader may have named a later one (KIP-207, R3.13). */
static enum hw_status log_ends_check_window(const struct hw_partition *partition,
                                            const struct hw_replica *leader, struct hw_error *error)
{
    if (hw_log_high_watermark(leader->log) >= leader->epoch_start) {
        return HW_OK;
    }
    return hw_error_refuse(error, HW_KAFKA_OFFSET_NOT_AVAILABLE,
                           "the high watermark of %s is %" PRId64 ", it has to reach %" PRId64
                           ", where leader epoch %" PRId32 " began: fetch_round() first",
                           partition->name, hw_log_high_watermark(leader->log), leader->epoch_start,
                           leader->leader_epoch);
}

/* What was looked for is answered where a consumer may fetch it, and is else not there, or not yet
 * (R10.10, R3.13). */
static enum hw_status log_ends_filter(const struct hw_partition *partition,
                                      const struct hw_replica *leader, hw_offset_t *offset,
                                      struct hw_error *error)
{
    if (*offset != HW_OFFSET_NONE && *offset < hw_log_high_watermark(leader->log)) {
        return HW_OK;
    }
    *offset = HW_OFFSET_NONE;
    return log_ends_check_window(partition, leader, error);
}

/* R10.11: of the whole log, from its start, the first record that has the largest timestamp. */
static enum hw_status log_ends_max_timestamp(struct hw_cluster *cluster,
                                             const struct hw_replica *leader, const char *topic,
                                             int64_t index, hw_offset_t *offset,
                                             struct hw_error *error)
{
    struct hw_reader_options options = {.topic = topic,
                                        .partition = index,
                                        .replica = leader->broker,
                                        .mode = HW_READ_LOG,
                                        .first = hw_log_start(leader->log),
                                        .end = INT64_MAX};
    hw_time_ms_t largest = INT64_MIN;
    struct hw_reader *reader;
    struct hw_row row;
    bool found = true;
    enum hw_status status = hw_reader_open(cluster, &options, &reader, error);

    *offset = HW_OFFSET_NONE;
    if (status != HW_OK) {
        return status;
    }
    while (status == HW_OK && found) {
        status = hw_reader_next(reader, &row, &found, error);
        if (status == HW_OK && found && row.record.timestamp > largest) {
            largest = row.record.timestamp;
            *offset = row.record.offset;
        }
    }
    hw_reader_close(reader);
    return status;
}

enum hw_status hw_cluster_list_offsets(struct hw_cluster *cluster, const char *topic,
                                       int64_t partition, enum hw_list_offsets what,
                                       hw_time_ms_t timestamp, hw_offset_t *offset,
                                       struct hw_error *error)
{
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_replica *leader;
    hw_time_ms_t found;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &t, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_leader(cluster, p, &leader, error);
    }
    if (status != HW_OK) {
        return status;
    }
    switch (what) {
    case HW_LIST_EARLIEST:
    case HW_LIST_EARLIEST_LOCAL:
        *offset = hw_log_start(leader->log);
        return HW_OK;
    case HW_LIST_LATEST:
        status = log_ends_check_window(p, leader, error);
        return status == HW_OK ? hw_cluster_show(cluster, t, p, leader, offset, error) : status;
    case HW_LIST_LATEST_TIERED:
        *offset = HW_OFFSET_NONE;
        return HW_OK;
    case HW_LIST_MAX_TIMESTAMP:
        status = log_ends_max_timestamp(cluster, leader, topic, partition, offset, error);
        break;
    case HW_LIST_TIMESTAMP:
        status = hw_log_offset_for_timestamp(leader->log, timestamp, hw_log_end(leader->log),
                                             offset, &found, error);
        break;
    }
    return status == HW_OK ? log_ends_filter(p, leader, offset, error) : status;
}

enum hw_status hw_cluster_epoch_end_offset(struct hw_cluster *cluster, const char *topic,
                                           int64_t partition, int64_t broker, int64_t epoch,
                                           hw_epoch_t *found_epoch, hw_offset_t *end_offset,
                                           struct hw_error *error)
{
    struct hw_topic *t;
    struct hw_partition *p;
    struct hw_replica *replica;
    struct hw_epoch_end end;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &t, &p, error);

    if (status == HW_OK) {
        status = hw_cluster_find_replica(cluster, p, broker, &replica, error);
    }
    if (status == HW_OK && (epoch < -1 || epoch > INT32_MAX)) {
        return hw_error_set(error, HW_MISUSE,
                            "leader epoch %" PRId64 ", allowed are -1 to 2147483647", epoch);
    }
    if (status == HW_OK) {
        end = hw_log_end_offset_for_epoch(replica->log, (hw_epoch_t)epoch);
        *found_epoch = end.epoch;
        *end_offset = end.end_offset;
    }
    return status;
}
