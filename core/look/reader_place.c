/* SPDX-License-Identifier: MIT */
/* Where a reader reads, and what its batches are to it. */
#include "core/look/reader_internal.h"

#include <inttypes.h>

enum hw_status hw_reader_find(struct hw_cluster *cluster, const struct hw_reader_options *options,
                              struct hw_reader_place *place, struct hw_error *error)
{
    struct hw_client_call client = {
        .has_broker = options->replica != HW_BROKER_ID_NONE,
        .broker = options->replica,
        .leader_epoch = options->has_client_epoch ? options->client_epoch : HW_EPOCH_NONE};
    /* Who looks at a broker's log does not ask the broker, which may stand still. */
    bool is_look = options->mode == HW_READ_LOG && client.has_broker && !options->has_client_epoch;
    enum hw_status status = hw_cluster_find_partition(cluster, options->topic, options->partition,
                                                      &place->partition, error);

    if (status == HW_OK) {
        status = is_look ? hw_cluster_find_replica(cluster, place->partition, client.broker,
                                                   &place->replica, error)
                         : hw_cluster_find_asked(cluster, place->partition, &client, false,
                                                 &place->replica, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (options->mode == HW_READ_LOG) {
        place->high_watermark = cluster->variant->high_watermark(place->partition, place->replica);
    } else {
        status = hw_cluster_show(cluster, place->partition, place->replica, &place->high_watermark,
                                 error);
    }
    place->last_stable = hw_log_last_stable(place->replica->log);
    if (place->last_stable > place->high_watermark) {
        place->last_stable = place->high_watermark;
    }
    place->end = options->mode == HW_READ_LOG         ? hw_log_end(place->replica->log)
                 : options->mode == HW_READ_COMMITTED ? place->last_stable
                                                      : place->high_watermark;
    return status;
}

hw_offset_t hw_reader_bottom(const struct hw_reader_options *options,
                             const struct hw_reader_place *place)
{
    const struct hw_log *log = place->replica->log;

    return options->mode == HW_READ_LOG ? hw_log_stored_start(log) : hw_log_start(log);
}

enum hw_status hw_reader_corrupt(const struct hw_reader *reader, const char *message,
                                 struct hw_error *error)
{
    return hw_error_corrupt(error, "%s-%" PRId64 ": %s", reader->topic, reader->options.partition,
                            message);
}

void hw_reader_stop(struct hw_reader *reader)
{
    reader->first = reader->end;
    reader->chunk.size = 0;
    reader->at = 0;
    reader->start_count = 0;
    reader->is_run = false;
    reader->is_iterating = false;
    reader->record_next = reader->record_count = 0;
    reader->ahead = HW_READER_AHEAD_FIRST;
}
