/* SPDX-License-Identifier: MIT */
/* What ListOffsets and OffsetsForLeaderEpoch answer: offsets by name, by time and by epoch. */
#include "core/cluster/cluster_internal.h"
#include "core/look/reader.h"
#include "core/look/views_internal.h"

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

/* The end of what a consumer may fetch (R10.1). */
static hw_offset_t list_offsets_end(const struct hw_replica *leader, bool is_read_committed)
{
    hw_offset_t end = hw_log_high_watermark(leader->log);

    return is_read_committed ? hw_views_last_stable(leader, end) : end;
}

/* Of the records in [first, end), control records too, the first one that has the largest timestamp. */
static enum hw_status list_offsets_read(struct hw_cluster *cluster, const char *topic,
                                        const struct hw_replica *leader, int64_t index,
                                        hw_offset_t first, hw_offset_t end,
                                        struct hw_listed *listed, struct hw_error *error)
{
    struct hw_reader_options options = {.topic = topic,
                                        .partition = index,
                                        .replica = leader->broker,
                                        .mode = HW_READ_LOG,
                                        .first = first,
                                        .end = end};
    struct hw_reader *reader;
    struct hw_row row;
    bool found = true;
    enum hw_status status = hw_reader_open(cluster, &options, &reader, error);

    while (status == HW_OK && found) {
        status = hw_reader_next(reader, &row, &found, error);
        if (status == HW_OK && found &&
            (listed->offset == HW_OFFSET_NONE || row.record.timestamp > listed->timestamp)) {
            *listed = (struct hw_listed){.offset = row.record.offset,
                                         .timestamp = row.record.timestamp,
                                         .leader_epoch = row.leader_epoch};
        }
    }
    hw_reader_close(reader);
    return status;
}

/* A record by its time, or of the whole log the first that has the largest one: it is told of where a
 * consumer may fetch it, and is else not there, or not yet (R10.10, R10.11, R3.13). */
static enum hw_status list_offsets_by_time(struct hw_cluster *cluster, const char *topic,
                                           const struct hw_partition *partition,
                                           const struct hw_replica *leader,
                                           const struct hw_list_request *request,
                                           struct hw_listed *listed, struct hw_error *error)
{
    struct hw_listed read = *listed;
    hw_offset_t shown_end = list_offsets_end(leader, request->is_read_committed);
    hw_offset_t first = hw_log_start(leader->log);
    hw_offset_t end = INT64_MAX;
    hw_time_ms_t found;
    enum hw_status status = HW_OK;

    if (request->what == HW_LIST_TIMESTAMP) {
        status = hw_log_offset_for_timestamp(leader->log, request->timestamp,
                                             hw_log_end(leader->log), true, &first, &found, error);
        end = first == HW_OFFSET_NONE || first >= shown_end ? first : first + 1;
    }
    if (status == HW_OK && first != end) {
        status =
            list_offsets_read(cluster, topic, leader, partition->number, first, end, &read, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (read.offset == HW_OFFSET_NONE || read.offset >= shown_end) {
        return list_offsets_check_window(partition, leader, error);
    }
    *listed = read;
    return HW_OK;
}

/* R10.9: the epoch in which the log start lies. */
static void list_offsets_earliest(const struct hw_replica *leader, struct hw_listed *listed)
{
    listed->offset = hw_log_start(leader->log);
    listed->leader_epoch =
        hw_epoch_cache_epoch_for_offset(hw_log_epochs(leader->log), listed->offset);
}

/* R10.8. */
static enum hw_status list_offsets_latest(struct hw_cluster *cluster,
                                          struct hw_partition *partition, struct hw_replica *leader,
                                          bool is_read_committed, struct hw_listed *listed,
                                          struct hw_error *error)
{
    hw_offset_t shown;
    enum hw_status status = list_offsets_check_window(partition, leader, error);

    if (status == HW_OK) {
        status = hw_cluster_show(cluster, partition, leader, &shown, error);
    }
    if (status == HW_OK) {
        listed->offset = is_read_committed ? list_offsets_end(leader, true) : shown;
        listed->leader_epoch = leader->leader_epoch;
    }
    return status;
}

enum hw_status hw_cluster_list_offsets(struct hw_cluster *cluster, const char *topic,
                                       int64_t partition, const struct hw_list_request *request,
                                       struct hw_listed *listed, struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *leader;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    *listed = (struct hw_listed){
        .offset = HW_OFFSET_NONE, .timestamp = HW_TIMESTAMP_NONE, .leader_epoch = HW_EPOCH_NONE};
    if (status == HW_OK) {
        status = hw_cluster_find_asked(cluster, p, &request->client, true, &leader, error);
    }
    if (status != HW_OK) {
        return status;
    }
    switch (request->what) {
    case HW_LIST_EARLIEST:
    case HW_LIST_EARLIEST_LOCAL:
        list_offsets_earliest(leader, listed);
        break;
    case HW_LIST_LATEST:
        return list_offsets_latest(cluster, p, leader, request->is_read_committed, listed, error);
    case HW_LIST_LATEST_TIERED:
        break;
    case HW_LIST_MAX_TIMESTAMP:
    case HW_LIST_TIMESTAMP:
        return list_offsets_by_time(cluster, topic, p, leader, request, listed, error);
    }
    return HW_OK;
}

enum hw_status hw_cluster_epoch_end_offset(struct hw_cluster *cluster, const char *topic,
                                           int64_t partition, int64_t broker,
                                           const struct hw_client_call *client, int64_t epoch,
                                           hw_epoch_t *found_epoch, hw_offset_t *end_offset,
                                           struct hw_error *error)
{
    struct hw_partition *p;
    struct hw_replica *replica;
    struct hw_epoch_end end;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status == HW_OK) {
        status = client == NULL ? hw_cluster_find_replica(cluster, p, broker, &replica, error)
                                : hw_cluster_find_asked(cluster, p, client, true, &replica, error);
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
