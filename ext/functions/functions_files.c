/* SPDX-License-Identifier: MIT */
/* SQL functions about what real brokers wrote. */
#include "ext/ext_value.h"
#include "ext/functions/functions.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* Key and value of a record, as kafka_log() shows them. */
static void read_record(struct ext_call *call, struct hw_record *record)
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
    struct hw_buffer json;

    if (topic == NULL || !hw_internal_topic_find(topic, strlen(topic), &set)) {
        return;
    }
    hw_internal_record_init(&internal, &ext_allocator);
    hw_buffer_init(&json, &ext_allocator);
    if (call->status == HW_OK && shows_secrets) {
        call->status = ext_session_check_secrets(call->session, &call->error);
    }
    if (call->status == HW_OK) {
        read_record(call, &record);
    }
    if (call->status == HW_OK) {
        call->status = hw_internal_record_read(
            &internal, set, hw_internal_record_is_control(set, record.key, record.key_size),
            &record, &call->error);
    }
    if (call->status == HW_OK) {
        call->status = hw_internal_record_append(&internal, shows_secrets, &json, &call->error);
    }
    hw_internal_record_release(&internal);
    ext_call_return_buffer(call, &json);
}
