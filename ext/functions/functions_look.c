/* SPDX-License-Identifier: MIT */
/* SQL functions that look at a partition, or at what real brokers wrote, and change nothing. */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/ext_value.h"
#include "ext/functions/functions.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const char waits[] = "waits in this connection's transaction: COMMIT writes it";

void fn_why(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t offset = ext_call_integer(call, 2, "offset");

    if (ext_call_lock(call)) {
        const struct hw_stage *stage = call->session->stage;

        call->status =
            hw_cluster_why(call->cluster, topic, partition, offset, &call->buffer, &call->error);
        if (call->status == HW_OK && stage != NULL &&
            hw_stage_has_offset(stage, topic, partition, offset)) {
            call->buffer.size = 0;
            call->status = hw_buffer_append(&call->buffer, waits, sizeof waits - 1, &call->error);
        }
    }
    ext_call_return_buffer(call);
}

void fn_nearest_replica(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    const char *rack = ext_call_optional_text(call, 2, "rack");
    int64_t offset = ext_call_optional_integer(call, 3, "offset", -1);
    hw_broker_id_t broker = HW_BROKER_ID_NONE;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_nearest_replica(call->cluster, topic, partition, rack, offset,
                                                  &broker, &call->error);
    }
    ext_call_return_integer(call, broker);
}

void fn_diagram(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    bool is_utf8 = ext_call_optional_word(call, 2, "characters", "utf8");

    if (ext_call_lock(call)) {
        call->status = hw_cluster_diagram(call->cluster, topic, partition, is_utf8, &call->buffer,
                                          &call->error);
    }
    ext_call_return_buffer(call);
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

    options.topic = ext_call_scope(call, 0, &options.partition);
    options.from_ms = ext_call_optional_integer(call, 2, "from_ms", options.from_ms);
    options.to_ms = ext_call_optional_integer(call, 3, "to_ms", options.to_ms);
    ext_call_options(call, 4, visit_timeline_option, &options);
    if (ext_call_lock(call)) {
        call->status = hw_cluster_timeline(call->cluster, &options, &call->buffer, &call->error);
    }
    ext_call_return_buffer(call);
}

void fn_sequence_diagram(struct ext_call *call)
{
    struct hw_page_options options = hw_page_options_default();

    options.topic = ext_call_text(call, 0, "topic");
    options.partition = ext_call_optional_integer(call, 1, "partition", 0);
    options.from_ms = ext_call_optional_integer(call, 2, "from_ms", options.from_ms);
    options.to_ms = ext_call_optional_integer(call, 3, "to_ms", options.to_ms);
    if (ext_call_lock(call)) {
        call->status =
            hw_cluster_sequence_diagram(call->cluster, &options, &call->buffer, &call->error);
    }
    ext_call_return_buffer(call);
}

/* Key and value of a record, as kafka_log() shows them. */
static void look_read_record(struct ext_call *call, struct hw_record *record)
{
    call->status =
        ext_value_bytes(call->argv[1], "a key", &record->key, &record->key_size, &call->error);
    if (call->status == HW_OK) {
        call->status = ext_value_bytes(call->argv[2], "a value", &record->value,
                                       &record->value_size, &call->error);
    }
}

void fn_kafka_record(struct ext_call *call)
{
    const char *topic = ext_call_optional_text(call, 0, "topic");
    bool shows_secrets = ext_call_optional_integer(call, 3, "secrets", 0) != 0;
    struct hw_internal_record internal;
    struct hw_record record = {.offset = 0};
    enum hw_message_set set;

    if (topic == NULL || !hw_internal_topic_find(topic, strlen(topic), &set)) {
        return;
    }
    hw_internal_record_init(&internal, &ext_allocator);
    if (call->status == HW_OK && shows_secrets) {
        call->status = ext_session_check_secrets(call->session, &call->error);
    }
    if (call->status == HW_OK) {
        look_read_record(call, &record);
    }
    if (call->status == HW_OK) {
        call->status = hw_internal_record_read(
            &internal, set, hw_internal_record_is_control(set, record.key, record.key_size),
            &record, &call->error);
    }
    if (call->status == HW_OK) {
        call->status =
            hw_internal_record_append(&internal, shows_secrets, &call->buffer, &call->error);
    }
    hw_internal_record_release(&internal);
    ext_call_return_buffer(call);
}
