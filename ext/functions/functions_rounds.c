/* SPDX-License-Identifier: MIT */
/* SQL functions that let replication and time go on. */
#include "ext/functions/functions.h"

SQLITE_EXTENSION_INIT3

/* fetch_round(), replicate() and refresh_isr() differ in one call of the core. */
static void run_in_scope(struct ext_call *call,
                         enum hw_status (*step)(struct hw_cluster *cluster, const char *topic,
                                                int64_t partition, int64_t *count,
                                                struct hw_error *error))
{
    int64_t partition;
    const char *topic = ext_call_scope(call, 0, &partition);
    int64_t count = 0;

    if (ext_call_lock(call)) {
        call->status = step(call->cluster, topic, partition, &count, &call->error);
    }
    ext_call_return_integer(call, count);
}

void fn_fetch_round(struct ext_call *call)
{
    run_in_scope(call, hw_cluster_fetch_round);
}

void fn_replicate(struct ext_call *call)
{
    run_in_scope(call, hw_cluster_replicate);
}

void fn_refresh_isr(struct ext_call *call)
{
    run_in_scope(call, hw_cluster_refresh_isr);
}

void functions_run_in_partition(struct ext_call *call, const char *third,
                                enum hw_status (*step)(struct hw_cluster *cluster,
                                                       const char *topic, int64_t partition,
                                                       int64_t number, int64_t *result,
                                                       struct hw_error *error))
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t number = ext_call_integer(call, 2, third);
    int64_t result = 0;

    if (ext_call_lock(call)) {
        call->status = step(call->cluster, topic, partition, number, &result, &call->error);
    }
    ext_call_return_integer(call, result);
}

void fn_fetch(struct ext_call *call)
{
    functions_run_in_partition(call, "broker", hw_cluster_fetch);
}

void fn_rejoin(struct ext_call *call)
{
    functions_run_in_partition(call, "broker", hw_cluster_rejoin);
}

void fn_tick(struct ext_call *call)
{
    int64_t ms = ext_call_integer(call, 0, "ms");
    hw_time_ms_t now_ms = 0;

    if (ms < 0) {
        ext_call_refuse(call, "tick(): ms must be 0 or more: time does not go back");
    }
    if (ext_call_lock(call)) {
        call->status = hw_cluster_tick(call->cluster, ms, &now_ms, &call->error);
    }
    ext_call_return_integer(call, now_ms);
}
