/* SPDX-License-Identifier: MIT */
/* SQL functions that do by hand what the controller, an operator or bad luck does, and about the
 * network. */
#include "ext/ext_json.h"
#include "ext/functions/functions.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

void fn_remove_from_isr(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t broker = ext_call_integer(call, 2, "broker");
    struct hw_broker_list isr = {.count = 0};
    char text[HW_BROKER_LIST_TEXT_SIZE];

    if (ext_call_lock(call)) {
        call->status =
            hw_cluster_remove_from_isr(call->cluster, topic, partition, broker, &isr, &call->error);
    }
    ext_call_return_text(call, hw_broker_list_format(&isr, text, sizeof text));
}

void fn_promote(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    int64_t broker = ext_call_integer(call, 2, "broker");
    bool unclean = ext_call_optional_word(call, 3, "the fourth argument", "unclean");
    hw_epoch_t leader_epoch = HW_EPOCH_NONE;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_promote(call->cluster, topic, partition, broker, unclean,
                                          &leader_epoch, &call->error);
    }
    ext_call_return_integer(call, leader_epoch);
}

void fn_crash(struct ext_call *call)
{
    int64_t broker = ext_call_integer(call, 0, "broker");
    bool power_loss = ext_call_optional_word(call, 1, "the second argument", "power");
    const char *state = NULL;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_crash(call->cluster, broker, power_loss, &state, &call->error);
    }
    ext_call_return_text(call, state);
}

/* restart() and shutdown_broker() differ in one call of the core. */
static void move_broker(struct ext_call *call,
                        enum hw_status (*move)(struct hw_cluster *cluster, int64_t broker,
                                               const char **state, struct hw_error *error))
{
    int64_t broker = ext_call_integer(call, 0, "broker");
    const char *state = NULL;

    if (ext_call_lock(call)) {
        call->status = move(call->cluster, broker, &state, &call->error);
    }
    ext_call_return_text(call, state);
}

void fn_restart(struct ext_call *call)
{
    move_broker(call, hw_cluster_restart);
}

void fn_shutdown_broker(struct ext_call *call)
{
    move_broker(call, hw_cluster_shutdown_broker);
}

void fn_cut(struct ext_call *call)
{
    int64_t a = ext_call_end(call, 0, "a", false);
    int64_t b = ext_call_end(call, 1, "b", false);
    int64_t links_cut = 0;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_cut(call->cluster, a, b, &links_cut, &call->error);
    }
    ext_call_return_integer(call, links_cut);
}

void fn_heal(struct ext_call *call)
{
    bool is_all = ext_call_is_missing(call, 0) && ext_call_is_missing(call, 1);
    int64_t a = 0;
    int64_t b = 0;
    int64_t links_cut = 0;

    if (!is_all && call->argc == 1) {
        ext_call_refuse(call, "heal() takes both ends of a link, or none");
    } else if (!is_all) {
        a = ext_call_end(call, 0, "a", false);
        b = ext_call_end(call, 1, "b", false);
    }
    if (ext_call_lock(call)) {
        call->status = is_all ? hw_cluster_heal_all(call->cluster, &links_cut, &call->error)
                              : hw_cluster_heal(call->cluster, a, b, &links_cut, &call->error);
    }
    ext_call_return_integer(call, links_cut);
}

static enum hw_cluster_election election_argument(struct ext_call *call, int index)
{
    const char *word = ext_call_optional_text(call, index, "the third argument");

    if (word == NULL) {
        return HW_ELECT_ONLINE;
    }
    if (strcmp(word, "preferred") == 0) {
        return HW_ELECT_PREFERRED;
    }
    if (strcmp(word, "unclean") != 0) {
        ext_call_refuse(call, "elect(): the third argument must be 'preferred', 'unclean' or NULL");
    }
    return HW_ELECT_UNCLEAN;
}

void fn_elect(struct ext_call *call)
{
    int64_t partition = -1;
    const char *topic = ext_call_scope(call, 0, &partition);
    enum hw_cluster_election election = election_argument(call, 2);
    int64_t changed = 0;

    if (ext_call_lock(call)) {
        call->status =
            hw_cluster_elect(call->cluster, topic, partition, election, &changed, &call->error);
    }
    ext_call_return_integer(call, changed);
}

void fn_reassign(struct ext_call *call)
{
    const char *topic = ext_call_text(call, 0, "topic");
    int64_t partition = ext_call_integer(call, 1, "partition");
    bool is_cancel = ext_call_is_missing(call, 2);
    struct hw_broker_list target = {.count = 0};
    struct hw_broker_list replicas = {.count = 0};
    char text[HW_BROKER_LIST_TEXT_SIZE];

    if (call->status == HW_OK && !is_cancel) {
        call->status =
            ext_json_brokers(call->session->db, call->argv[2], "replicas", &target, &call->error);
    }
    if (ext_call_lock(call)) {
        call->status = hw_cluster_reassign(call->cluster, topic, partition,
                                           is_cancel ? NULL : &target, &replicas, &call->error);
    }
    ext_call_return_text(call, hw_broker_list_format(&replicas, text, sizeof text));
}
