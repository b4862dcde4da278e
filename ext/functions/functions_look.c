/* SPDX-License-Identifier: MIT */
/* SQL functions that look at a partition and change nothing. */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/functions/functions.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const char waits[] = "waits in this connection's transaction: COMMIT writes it";

void fn_why(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t offset = ext_call_integer(call, 2, "offset");
    struct hw_cluster *cluster = ext_call_lock(call);
    struct hw_buffer text;

    hw_buffer_init(&text, &ext_allocator);
    if (cluster != NULL) {
        const struct hw_stage *stage = call->session->stage;

        call->status = hw_cluster_why(cluster, topic, partition, offset, &text, &call->error);
        if (call->status == HW_OK && stage != NULL &&
            hw_stage_has_offset(stage, topic, partition, offset)) {
            text.size = 0;
            call->status = hw_buffer_append(&text, waits, sizeof waits - 1, &call->error);
        }
    }
    ext_call_return_buffer(call, &text);
}

void fn_nearest_replica(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    const char *rack = ext_call_optional_text(call, 2, "rack");
    int64_t offset = ext_call_optional_integer(call, 3, "offset", -1);
    struct hw_cluster *cluster = ext_call_lock(call);
    hw_broker_id_t broker = HW_BROKER_ID_NONE;

    if (cluster != NULL) {
        call->status = hw_cluster_nearest_replica(cluster, topic, partition, rack, offset, &broker,
                                                  &call->error);
    }
    ext_call_return_integer(call, broker);
}

void fn_diagram(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    bool is_utf8 = ext_call_optional_word(call, 2, "characters", "utf8");
    struct hw_cluster *cluster = ext_call_lock(call);
    struct hw_buffer text;

    hw_buffer_init(&text, &ext_allocator);
    if (cluster != NULL) {
        call->status = hw_cluster_diagram(cluster, topic, partition, is_utf8, &text, &call->error);
    }
    ext_call_return_buffer(call, &text);
}

static enum hw_status visit_timeline_option(void *context, const struct ext_json_member *member,
                                            struct hw_error *error)
{
    struct hw_page_options *options = context;

    if (strcmp(member->name, "records") != 0) {
        return ext_error_invalid(error, "timeline(): no option named %.60s; there is records",
                                 member->name);
    }
    if (!ext_json_integer(member, &options->records_max) || options->records_max < 0 ||
        options->records_max > HW_PAGE_RECORDS_MAX) {
        return ext_error_invalid(error, "records must be an integer, 0 to %d", HW_PAGE_RECORDS_MAX);
    }
    return HW_OK;
}

void fn_timeline(struct ext_call *call)
{
    struct hw_page_options options = hw_page_options_default();
    struct hw_cluster *cluster;
    struct hw_buffer text;

    options.topic = ext_call_scope(call, 0, &options.partition);
    options.from_ms = ext_call_optional_integer(call, 2, "from_ms", options.from_ms);
    options.to_ms = ext_call_optional_integer(call, 3, "to_ms", options.to_ms);
    if (call->status == HW_OK && !ext_call_is_missing(call, 4)) {
        call->status = ext_json_walk(call->session->db, call->argv[4], "options",
                                     visit_timeline_option, &options, &call->error);
    }
    cluster = ext_call_lock(call);
    hw_buffer_init(&text, &ext_allocator);
    if (cluster != NULL) {
        call->status = hw_cluster_timeline(cluster, &options, &text, &call->error);
    }
    ext_call_return_buffer(call, &text);
}

void fn_sequence_diagram(struct ext_call *call)
{
    struct hw_page_options options = hw_page_options_default();
    struct hw_cluster *cluster;
    struct hw_buffer text;

    options.topic = ext_call_text(call, 0, "topic");
    options.partition = ext_call_optional_integer(call, 1, "partition", 0);
    options.from_ms = ext_call_optional_integer(call, 2, "from_ms", options.from_ms);
    options.to_ms = ext_call_optional_integer(call, 3, "to_ms", options.to_ms);
    cluster = ext_call_lock(call);
    hw_buffer_init(&text, &ext_allocator);
    if (cluster != NULL) {
        call->status = hw_cluster_sequence_diagram(cluster, &options, &text, &call->error);
    }
    ext_call_return_buffer(call, &text);
}
