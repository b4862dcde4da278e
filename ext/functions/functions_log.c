/* SPDX-License-Identifier: MIT */
/* SQL functions about the ends of a log: delete, roll, retention, offsets. */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/ext_value.h"
#include "ext/functions/functions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

void fn_delete_records(struct ext_call *call)
{
    functions_run_in_partition(call, "before_offset", hw_cluster_delete_records);
}

void fn_roll(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_optional_integer(call, 1, "partition", -1);
    int64_t segments = 0;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_roll(call->cluster, topic, partition, &segments, &call->error);
    }
    ext_call_return_integer(call, segments);
}

void fn_retention(struct ext_call *call)
{
    int64_t segments = 0;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_retention(call->cluster, &segments, &call->error);
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

/* What a client says beside its question. */
struct client_options {
    struct hw_client_call client;
    bool *is_read_committed; /* NULL: the question has no such option. */
};

static enum hw_status visit_client_option(void *context, const struct ext_json_member *member,
                                          struct hw_error *error)
{
    struct client_options *options = context;
    enum hw_read_mode mode;
    bool is_known;
    enum hw_status status = ext_json_client_option(&options->client, member, &is_known, error);

    if (status != HW_OK || is_known) {
        return status;
    }
    if (options->is_read_committed == NULL || strcmp(member->name, "isolation") != 0) {
        return ext_error_invalid(error, "no option named %.60s; there are leader_epoch, broker%s",
                                 member->name,
                                 options->is_read_committed != NULL ? ", isolation" : "");
    }
    if (member->json == NULL || !ext_isolation_read(member->json, &mode)) {
        return ext_error_invalid(error,
                                 "isolation must be \"read_uncommitted\" or \"read_committed\"");
    }
    *options->is_read_committed = mode == HW_READ_COMMITTED;
    return HW_OK;
}

/* Whether there are options, argument `index`. */
static bool read_client_options(struct ext_call *call, int index, struct client_options *options)
{
    options->client = (struct hw_client_call){.leader_epoch = HW_EPOCH_NONE};
    ext_call_options(call, index, visit_client_option, options);
    return !ext_call_is_missing(call, index);
}

void fn_list_offsets(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    struct hw_list_request request = {.is_read_committed = false};
    struct client_options options = {.is_read_committed = &request.is_read_committed};
    struct hw_listed listed = {.offset = HW_OFFSET_NONE};
    bool has_options;
    char text[80];

    request.what = list_argument(call, 2, &request.timestamp);
    has_options = read_client_options(call, 3, &options);
    request.client = options.client;
    if (ext_call_lock(call)) {
        call->status = hw_cluster_list_offsets(call->cluster, topic, partition, &request, &listed,
                                               &call->error);
    }
    if (has_options) {
        (void)snprintf(text, sizeof text, "[%" PRId64 ",%" PRId64 ",%" PRId32 "]", listed.offset,
                       listed.timestamp, listed.leader_epoch);
        ext_call_return_text(call, text);
    } else if (listed.offset != HW_OFFSET_NONE) {
        ext_call_return_integer(call, listed.offset);
    }
}

void fn_epoch_end_offset(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t broker = ext_call_integer(call, 2, "broker");
    int64_t epoch = ext_call_integer(call, 3, "epoch");
    struct client_options options = {.is_read_committed = NULL};
    bool has_options = read_client_options(call, 4, &options);
    hw_epoch_t found = HW_EPOCH_NONE;
    hw_offset_t end = HW_OFFSET_NONE;
    char text[48];

    if (has_options && options.client.has_broker && options.client.broker != broker) {
        ext_call_refuse(call, "epoch_end_offset(): the option broker is another one than the third "
                              "argument");
    }
    options.client.has_broker = true;
    options.client.broker = broker;
    if (ext_call_lock(call)) {
        call->status = hw_cluster_epoch_end_offset(call->cluster, topic, partition, broker,
                                                   has_options ? &options.client : NULL, epoch,
                                                   &found, &end, &call->error);
    }
    (void)snprintf(text, sizeof text, "[%" PRId32 ",%" PRId64 "]", found, end);
    ext_call_return_text(call, end == HW_OFFSET_NONE ? NULL : text);
}
