/* SPDX-License-Identifier: MIT */
/* SQL functions that look at a partition and change nothing. */
#include "ext/ext_registry.h"
#include "ext/functions/functions.h"

SQLITE_EXTENSION_INIT3

void fn_why(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t offset = ext_call_integer(call, 2, "offset");
    struct hw_cluster *cluster = ext_call_lock(call);
    struct hw_buffer text;

    hw_buffer_init(&text, &ext_allocator);
    if (cluster != NULL) {
        call->status = hw_cluster_why(cluster, topic, partition, offset, &text, &call->error);
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
