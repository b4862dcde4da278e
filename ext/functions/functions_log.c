/* SPDX-License-Identifier: MIT */
/* SQL functions about the ends of a log: delete, roll, retention, offsets. */
#include "ext/ext_value.h"
#include "ext/functions/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

void fn_delete_records(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t before_offset = ext_call_integer(call, 2, "before_offset");
    struct hw_cluster *cluster = ext_call_lock(call);
    hw_offset_t low_watermark = HW_OFFSET_NONE;

    if (cluster != NULL) {
        call->status = hw_cluster_delete_records(cluster, topic, partition, before_offset,
                                                 &low_watermark, &call->error);
    }
    ext_call_return_integer(call, low_watermark);
}

void fn_roll(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_optional_integer(call, 1, "partition", -1);
    struct hw_cluster *cluster = ext_call_lock(call);
    int64_t segments = 0;

    if (cluster != NULL) {
        call->status = hw_cluster_roll(cluster, topic, partition, &segments, &call->error);
    }
    ext_call_return_integer(call, segments);
}

void fn_retention(struct ext_call *call)
{
    struct hw_cluster *cluster = ext_call_lock(call);
    int64_t segments = 0;

    if (cluster != NULL) {
        call->status = hw_cluster_retention(cluster, &segments, &call->error);
    }
    ext_call_return_integer(call, segments);
}

/* One of the words, or a time in milliseconds. */
static enum hw_list_offsets list_argument(struct ext_call *call, int index, int64_t *timestamp)
{
    static const char *const words[] = {[HW_LIST_EARLIEST] = "earliest",
                                        [HW_LIST_LATEST] = "latest",
                                        [HW_LIST_MAX_TIMESTAMP] = "max_timestamp",
                                        [HW_LIST_EARLIEST_LOCAL] = "earliest_local",
                                        [HW_LIST_LATEST_TIERED] = "latest_tiered"};
    sqlite3_value *value = call->argv[index];

    if (ext_value_integer(value, timestamp) && *timestamp >= 0) {
        return HW_LIST_TIMESTAMP;
    }
    for (size_t i = 0;
         sqlite3_value_type(value) == SQLITE_TEXT && i < sizeof words / sizeof words[0]; i++) {
        const char *text = (const char *)sqlite3_value_text(value);

        if (text != NULL && strcmp(text, words[i]) == 0) {
            return (enum hw_list_offsets)i;
        }
    }
    ext_call_refuse(call, "list_offsets(): the third argument must be 'earliest', 'latest', "
                          "'max_timestamp', 'earliest_local', 'latest_tiered', or milliseconds, "
                          "0 or more");
    return HW_LIST_EARLIEST;
}

void fn_list_offsets(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t timestamp = 0;
    enum hw_list_offsets what = list_argument(call, 2, &timestamp);
    struct hw_cluster *cluster = ext_call_lock(call);
    hw_offset_t offset = HW_OFFSET_NONE;

    if (cluster != NULL) {
        call->status = hw_cluster_list_offsets(cluster, topic, partition, what, timestamp, &offset,
                                               &call->error);
    }
    if (call->status == HW_OK && offset != HW_OFFSET_NONE) {
        ext_call_return_integer(call, offset);
    }
}

void fn_epoch_end_offset(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t broker = ext_call_integer(call, 2, "broker");
    int64_t epoch = ext_call_integer(call, 3, "epoch");
    struct hw_cluster *cluster = ext_call_lock(call);
    hw_epoch_t found = HW_EPOCH_NONE;
    hw_offset_t end = HW_OFFSET_NONE;
    char text[48];

    if (cluster != NULL) {
        call->status = hw_cluster_epoch_end_offset(cluster, topic, partition, broker, epoch, &found,
                                                   &end, &call->error);
    }
    (void)snprintf(text, sizeof text, "[%" PRId32 ",%" PRId64 "]", found, end);
    ext_call_return_text(call, end == HW_OFFSET_NONE ? NULL : text);
}
