/* SPDX-License-Identifier: MIT */
/* SQL functions about topics. */
#include "ext/config_list.h"
#include "ext/ext_json.h"
#include "ext/functions/functions.h"

#include <inttypes.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* To the core 0 means "the default"; who writes 0 does not mean that. */
static int64_t optional_count(struct ext_call *call, int index, const char *name,
                              enum hw_kafka_error invalid)
{
    int64_t number = ext_call_optional_integer(call, index, name, 0);

    if (call->status == HW_OK && number <= 0 && !ext_call_is_missing(call, index)) {
        call->status =
            hw_error_refuse(&call->error, invalid,
                            "create_topic(): %s must be 1 or more, not %" PRId64, name, number);
    }
    return number;
}

/* How many partitions, or where the replicas of each are to be: its lists go to the buffer. */
static void read_partitions(struct ext_call *call, struct hw_topic_spec *spec)
{
    const struct hw_buffer *lists = &call->buffer;
    const char *text;

    if (call->status != HW_OK || ext_call_is_missing(call, 1) ||
        sqlite3_value_type(call->argv[1]) != SQLITE_TEXT) {
        spec->partitions = optional_count(call, 1, "partitions", HW_KAFKA_INVALID_PARTITIONS);
        return;
    }
    text = (const char *)sqlite3_value_text(call->argv[1]);
    if (text != NULL && text[strspn(text, " \t\r\n")] != '[') {
        ext_call_refuse_argument(call, 1, "partitions",
                                 "an integer, or lists of replicas such as '[[1,2],[2,3]]'");
        return;
    }
    call->status = ext_json_broker_lists(call->session->db, call->argv[1],
                                         "create_topic(): partitions", &call->buffer, &call->error);
    spec->assignment = (const struct hw_broker_list *)(const void *)lists->bytes;
    spec->partitions = (int64_t)(lists->size / sizeof *spec->assignment);
    if (spec->replication_factor != 0) {
        ext_call_refuse(call, "create_topic(): the lists of replicas say the replication factor: "
                              "leave it out, or NULL");
    } else if (lists->size == 0) {
        ext_call_refuse(call, "create_topic(): a topic has at least one list of replicas, [[1,2]]");
    }
}

void fn_create_topic(struct ext_call *call)
{
    struct hw_topic_spec spec = {
        .name = ext_call_text(call, 0, "name"),
        .replication_factor =
            optional_count(call, 2, "replication_factor", HW_KAFKA_INVALID_REPLICATION_FACTOR)};
    struct ext_config_list configs;
    struct hw_uuid id = {{0}};
    char text[HW_UUID_TEXT_SIZE];

    read_partitions(call, &spec);
    ext_config_list_init(&configs);
    if (call->status == HW_OK && !ext_call_is_missing(call, 3)) {
        call->status =
            ext_config_list_add_json(&configs, call->session->db, call->argv[3], &call->error);
    }
    if (ext_call_lock(call)) {
        spec.configs = configs.pairs;
        spec.config_count = configs.count;
        call->status = hw_cluster_create_topic(call->cluster, &spec, &id, &call->error);
    }
    ext_config_list_release(&configs);
    hw_uuid_format(&id, text);
    ext_call_return_text(call, text);
}

void fn_delete_topic(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "name");

    if (ext_call_lock(call)) {
        call->status = hw_cluster_delete_topic(call->cluster, topic, &call->error);
    }
    ext_call_return_integer(call, 1);
}

void fn_flush(struct ext_call *call)
{
    const char *topic = ext_call_optional_text(call, 0, "topic");
    int64_t partitions = 0;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_flush(call->cluster, topic, &partitions, &call->error);
    }
    ext_call_return_integer(call, partitions);
}
