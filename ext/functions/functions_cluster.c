/* SPDX-License-Identifier: MIT */
/* SQL functions about the cluster as a whole. */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/functions/functions.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

void fn_highwater_version(struct ext_call *call)
{
    ext_call_return_text(call, HW_VERSION);
}

/* Options of open_cluster(): how a new cluster is made. */
struct open_options {
    struct ext_cluster_options cluster;
    char protocol[64];
    char copy_of[HW_PATH_MAX];
};

static enum hw_status visit_open_option(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct open_options *options = context;
    int64_t number = 0;

    if (strcmp(member->name, "brokers") == 0) {
        if (!ext_json_integer(member, &number) || number < 1 || number > HW_BROKERS_MAX) {
            return ext_error_invalid(error, "open_cluster(): brokers must be 1 to %d",
                                     HW_BROKERS_MAX);
        }
        options->cluster.broker_count = (int32_t)number;
        return HW_OK;
    }
    if (strcmp(member->name, "seed") == 0) {
        if (!ext_json_integer(member, &number)) {
            return ext_error_invalid(error, "open_cluster(): seed must be an integer");
        }
        options->cluster.seed = (uint64_t)number;
        return HW_OK;
    }
    if (strcmp(member->name, "protocol") == 0) {
        if (strcmp(member->type, "text") != 0 || strlen(member->json) >= sizeof options->protocol) {
            return ext_error_invalid(error, "open_cluster(): protocol must be a name such as "
                                            "'kafka'");
        }
        memcpy(options->protocol, member->json, strlen(member->json) + 1);
        options->cluster.protocol = options->protocol;
        return HW_OK;
    }
    if (strcmp(member->name, "copy_of") == 0) {
        if (strcmp(member->type, "text") != 0 || member->json[0] == '\0' ||
            strlen(member->json) >= sizeof options->copy_of) {
            return ext_error_invalid(error,
                                     "open_cluster(): copy_of must be a cluster's directory");
        }
        memcpy(options->copy_of, member->json, strlen(member->json) + 1);
        options->cluster.copy_of = options->copy_of;
        return HW_OK;
    }
    if (strcmp(member->name, "memory") == 0) {
        if (!ext_json_integer(member, &number) || number < 0) {
            return ext_error_invalid(error, "open_cluster(): memory must be a number of bytes");
        }
        options->cluster.copy_bytes_max = number;
        return HW_OK;
    }
    return ext_error_invalid(
        error,
        "open_cluster(): no option named %.60s; there are protocol, brokers, seed, copy_of, memory",
        member->name);
}

void fn_open_cluster(struct ext_call *call)
{
    const char *path = ext_call_text(call, 0, "path");
    struct open_options options = {
        .cluster = {.directory = NULL, .copy_bytes_max = (int64_t)1 << 30}};

    if (call->status != HW_OK) {
        return;
    }
    if (path[0] == '\0') {
        ext_call_refuse(call, "open_cluster(): path must be a directory or ':memory:'");
        return;
    }
    if (strcmp(path, ":memory:") != 0) {
        options.cluster.directory = path;
    }
    if (!ext_call_is_missing(call, 1)) {
        call->status = ext_json_walk(call->session->db, call->argv[1], "options", visit_open_option,
                                     &options, &call->error);
    }
    if (call->status == HW_OK && options.cluster.copy_of != NULL &&
        options.cluster.directory != NULL) {
        ext_call_refuse(call, "open_cluster(): copy_of makes a cluster in ':memory:'");
    }
    if (call->status == HW_OK && options.cluster.copy_of != NULL) {
        call->status =
            ext_session_check_readable(call->session, options.cluster.copy_of, &call->error);
    }
    if (call->status == HW_OK && options.cluster.directory != NULL) {
        ext_call_check_writable(call);
    }
    if (call->status == HW_OK) {
        call->status = ext_session_attach(call->session, &options.cluster, &call->error);
    }
    ext_call_return_text(call, path);
}

/* A value as text; NULL if missing. */
static const char *config_value_argument(struct ext_call *call, int index)
{
    int type = sqlite3_value_type(call->argv[index]);
    const char *text;

    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        return ext_call_optional_text(call, index, "value");
    }
    text = (const char *)sqlite3_value_text(call->argv[index]);
    if (text == NULL && call->status == HW_OK) {
        call->status = hw_error_no_memory(&call->error, "a value");
    }
    return text;
}

void fn_configure(struct ext_call *call)
{
    const char *name = ext_call_text(call, 0, "name");
    const char *topic = ext_call_optional_text(call, 2, "topic");
    const char *value;
    struct hw_buffer in_force;
    struct hw_cluster *cluster;

    value = config_value_argument(call, 1);
    cluster = ext_call_lock(call);
    hw_buffer_init(&in_force, &ext_allocator);
    if (cluster != NULL) {
        call->status = hw_cluster_configure(cluster, name, value, topic, &in_force, &call->error);
    }
    ext_call_return_buffer(call, &in_force);
}

void fn_add_broker(struct ext_call *call)
{
    int64_t id = ext_call_integer(call, 0, "id");
    const char *rack = ext_call_optional_text(call, 1, "rack");
    const char *dir = ext_call_optional_text(call, 2, "dir");
    struct hw_cluster *cluster;

    if (dir != NULL && dir[0] == '\0') {
        ext_call_refuse(call, "add_broker(): dir must be a directory, or left out");
    }
    cluster = ext_call_lock(call);
    if (cluster != NULL) {
        call->status = hw_cluster_add_broker(cluster, id, rack, dir, &call->error);
    }
    ext_call_return_integer(call, id);
}
