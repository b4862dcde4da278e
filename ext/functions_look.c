/* SPDX-License-Identifier: MIT */
/* SQL functions that look at a partition and change nothing. */
#include "ext/functions.h"

SQLITE_EXTENSION_INIT3

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
