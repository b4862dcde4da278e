/* SPDX-License-Identifier: MIT */
/* SQL functions for replication=held: which message arrives next, and what leaders and controller do of
 * themselves elsewhere. */
#include "ext/ext_json.h"
#include "ext/functions/functions.h"

SQLITE_EXTENSION_INIT3

/* deliver(kind, from, to [, topic, partition [, nth]]), and drop() likewise. */
static void held_move(struct ext_call *call,
                      enum hw_status (*move)(struct hw_cluster *cluster,
                                             const struct hw_held_message *message,
                                             struct hw_error *error))
{
    struct hw_held_message message = {.kind = ext_call_text(call, 0, "kind"), .nth = 1};

    message.from = ext_call_end(call, 1, "from", false);
    message.to = ext_call_end(call, 2, "to", false);
    message.topic = ext_call_optional_text(call, 3, "topic");
    if (message.topic != NULL && ext_call_is_missing(call, 4)) {
        ext_call_refuse(call, "%s(): a topic needs a partition: %s", call->function->name,
                        call->function->signature);
    }
    message.partition = ext_call_optional_integer(call, 4, "partition", 0);
    message.nth = ext_call_optional_integer(call, 5, "nth", 1);
    if (ext_call_lock(call)) {
        call->status = move(call->cluster, &message, &call->error);
    }
    ext_call_return_integer(call, 1);
}

void fn_deliver(struct ext_call *call)
{
    held_move(call, hw_cluster_deliver);
}

void fn_drop(struct ext_call *call)
{
    held_move(call, hw_cluster_drop);
}

void fn_ask(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t broker = ext_call_integer(call, 2, "broker");

    if (ext_call_lock(call)) {
        call->status = hw_cluster_ask(call->cluster, topic, partition, broker, &call->error);
    }
    ext_call_return_integer(call, broker);
}

void fn_propose_isr(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t broker = ext_call_optional_integer(call, 3, "broker", -1);
    struct hw_broker_list isr = {.count = 0};
    char text[HW_BROKER_LIST_TEXT_SIZE];

    if (call->status == HW_OK) {
        call->status =
            ext_json_brokers(call->session->db, call->argv[2], "isr", &isr, &call->error);
    }
    if (ext_call_lock(call)) {
        call->status =
            hw_cluster_propose_isr(call->cluster, topic, partition, &isr, broker, &call->error);
    }
    ext_call_return_text(call, hw_broker_list_format(&isr, text, sizeof text));
}

static void held_fence(struct ext_call *call, bool is_fenced, const char *state)
{
    int64_t broker = ext_call_integer(call, 0, "broker");
    int64_t leader = ext_call_optional_integer(call, 1, "leader", -1);

    if (ext_call_lock(call)) {
        call->status =
            hw_cluster_fence_by_hand(call->cluster, broker, is_fenced, leader, &call->error);
    }
    ext_call_return_text(call, state);
}

void fn_fence(struct ext_call *call)
{
    held_fence(call, true, "fenced");
}

void fn_unfence(struct ext_call *call)
{
    held_fence(call, false, "running");
}

void fn_checkpoint(struct ext_call *call)
{
    int64_t broker = ext_call_integer(call, 0, "broker");

    if (ext_call_lock(call)) {
        call->status = hw_cluster_checkpoint(call->cluster, broker, &call->error);
    }
    ext_call_return_integer(call, broker);
}
