/* SPDX-License-Identifier: MIT */
/* What ListOffsets and OffsetsForLeaderEpoch answer: offsets by name, by time and by epoch. */
#include "core/cluster/cluster_internal.h"
#include "core/look/reader.h"

#include <inttypes.h>

/* While a new leader's high watermark is below the start of its epoch, it may not name an end: an
 * earlier leader may have named a later one (KIP-207, R3.13). */
static enum hw_status list_offsets_check_window(const struct hw_partition *partition,
                                                const struct hw_replica *leader,
                                                struct hw_error *error)
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
static enum hw_status list_offsets_filter(const struct hw_partition *partition,
                                          const struct hw_replica *leader, hw_offset_t *offset,
                                          struct hw_error *error)
{
    if (*offset != HW_OFFSET_NONE && *offset < hw_log_high_watermark(leader->log)) {
        return HW_OK;
    }
    *offset = HW_OFFSET_NONE;
    return list_offsets_check_window(partition, leader, error);
}

/* R10.11: of the whole log, from its start, the first record that has the largest timestamp. */
static enum hw_status list_offsets_max_timestamp(struct hw_cluster *cluster,
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
        status = list_offsets_check_window(p, leader, error);
        return status == HW_OK ? hw_cluster_show(cluster, t, p, leader, offset, error) : status;
    case HW_LIST_LATEST_TIERED:
        *offset = HW_OFFSET_NONE;
        return HW_OK;
    case HW_LIST_MAX_TIMESTAMP:
        status = list_offsets_max_timestamp(cluster, leader, topic, partition, offset, error);
        break;
    case HW_LIST_TIMESTAMP:
        status = hw_log_offset_for_timestamp(leader->log, timestamp, hw_log_end(leader->log),
                                             offset, &found, error);
        break;
    }
    return status == HW_OK ? list_offsets_filter(p, leader, offset, error) : status;
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
