/* SPDX-License-Identifier: MIT */
/* SQL functions that do by hand what the controller, an operator or bad luck does. */
#include "ext/functions/functions.h"

SQLITE_EXTENSION_INIT3

/* The three arguments that name a replica. */
struct replica_name {
    const char *topic;
    int64_t partition;
    int64_t broker;
};

static struct replica_name replica_argument(struct ext_call *call)
{
    struct replica_name name;

    name.topic = ext_call_text(call, 0, "topic");
    name.partition = ext_call_integer(call, 1, "partition");
    name.broker = ext_call_integer(call, 2, "broker");
    return name;
}

void fn_remove_from_isr(struct ext_call *call)
{
    struct replica_name name = replica_argument(call);
    struct hw_cluster *cluster = ext_call_lock(call);
    struct hw_broker_list isr = {.count = 0};
    char text[HW_BROKER_LIST_TEXT_SIZE];

    if (cluster != NULL) {
        call->status = hw_cluster_remove_from_isr(cluster, name.topic, name.partition, name.broker,
                                                  &isr, &call->error);
    }
    ext_call_return_text(call, hw_broker_list_format(&isr, text, sizeof text));
}

void fn_promote(struct ext_call *call)
{
    struct replica_name name = replica_argument(call);
    bool unclean = ext_call_optional_word(call, 3, "the fourth argument", "unclean");
    struct hw_cluster *cluster = ext_call_lock(call);
    hw_epoch_t leader_epoch = HW_EPOCH_NONE;

    if (cluster != NULL) {
        call->status = hw_cluster_promote(cluster, name.topic, name.partition, name.broker, unclean,
                                          &leader_epoch, &call->error);
    }
    ext_call_return_integer(call, leader_epoch);
}

void fn_rejoin(struct ext_call *call)
{
    struct replica_name name = replica_argument(call);
    struct hw_cluster *cluster = ext_call_lock(call);
    hw_offset_t log_end = HW_OFFSET_NONE;

    if (cluster != NULL) {
        call->status = hw_cluster_rejoin(cluster, name.topic, name.partition, name.broker, &log_end,
                                         &call->error);
    }
    ext_call_return_integer(call, log_end);
}

void fn_crash(struct ext_call *call)
{
    int64_t broker = ext_call_integer(call, 0, "broker");
    bool power_loss = ext_call_optional_word(call, 1, "the second argument", "power");
    struct hw_cluster *cluster = ext_call_lock(call);
    const char *state = NULL;

    if (cluster != NULL) {
        call->status = hw_cluster_crash(cluster, broker, power_loss, &state, &call->error);
    }
    ext_call_return_text(call, state);
}

void fn_restart(struct ext_call *call)
{
    int64_t broker = ext_call_integer(call, 0, "broker");
    struct hw_cluster *cluster = ext_call_lock(call);
    const char *state = NULL;

    if (cluster != NULL) {
        call->status = hw_cluster_restart(cluster, broker, &state, &call->error);
    }
    ext_call_return_text(call, state);
}
