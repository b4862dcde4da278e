/* SPDX-License-Identifier: MIT */
/* SQL functions for replication=timed: links and disks that take time, and producers on the clock. */
#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/ext_value.h"
#include "ext/functions/functions.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static enum hw_status time_refuse(struct hw_error *error, const char *name)
{
    return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "%s must be a number, 0 or more", name);
}

/* A member that is a number, 0 or more; a whole one. */
static enum hw_status time_number(const struct ext_json_member *member, double *number,
                                  struct hw_error *error)
{
    if (strcmp(member->type, "integer") != 0 && strcmp(member->type, "real") != 0) {
        return time_refuse(error, member->name);
    }
    *number = sqlite3_value_double(member->atom);
    return *number >= 0 ? HW_OK : time_refuse(error, member->name);
}

static enum hw_status time_integer(const struct ext_json_member *member, int64_t *number,
                                   struct hw_error *error)
{
    return ext_json_integer(member, number) && *number >= 0 ? HW_OK
                                                            : time_refuse(error, member->name);
}

static enum hw_status time_refuse_name(struct hw_error *error, const char *verb, const char *name,
                                       const char *names)
{
    return ext_error_invalid(error, "%s: no option named %.60s; there are %s", verb, name, names);
}

static enum hw_status visit_link_option(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct hw_link_times *times = context;
    double *number = strcmp(member->name, "latency_ms") == 0  ? &times->latency_ms
                     : strcmp(member->name, "jitter_ms") == 0 ? &times->jitter_ms
                     : strcmp(member->name, "loss") == 0      ? &times->loss
                                                              : NULL;

    if (number != NULL) {
        return time_number(member, number, error);
    }
    if (strcmp(member->name, "bytes_per_s") == 0) {
        return time_integer(member, &times->bytes_per_s, error);
    }
    if (strcmp(member->name, "one_way") == 0 && ext_json_boolean(member, &times->one_way)) {
        return HW_OK;
    }
    return time_refuse_name(error, "link()", member->name,
                            "latency_ms, jitter_ms, loss, bytes_per_s, and one_way, which is true"
                            " or false");
}

void fn_link(struct ext_call *call)
{
    struct hw_link_times times = {.latency_ms = -1, .jitter_ms = -1, .loss = -1, .bytes_per_s = -1};
    int64_t a = ext_call_end(call, 0, "a", true);
    int64_t b = ext_call_end(call, 1, "b", true);
    char json[160] = "";

    ext_call_options(call, 2, visit_link_option, &times);
    if (ext_call_lock(call)) {
        call->status = hw_cluster_link(call->cluster, a, b, &times, &call->error);
    }
    if (call->status == HW_OK) {
        (void)sqlite3_snprintf(
            sizeof json, json,
            "{\"latency_ms\":%!.15g,\"jitter_ms\":%!.15g,\"loss\":%!.15g,\"bytes_per_s\":%lld}",
            times.latency_ms, times.jitter_ms, times.loss, (long long)times.bytes_per_s);
    }
    ext_call_return_text(call, json);
}

static enum hw_status visit_disk_option(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct hw_disk_times *times = context;

    if (strcmp(member->name, "append_ms") == 0) {
        return time_number(member, &times->append_ms, error);
    }
    if (strcmp(member->name, "bytes_per_s") == 0) {
        return time_integer(member, &times->bytes_per_s, error);
    }
    return time_refuse_name(error, "disk()", member->name, "append_ms, bytes_per_s");
}

void fn_disk(struct ext_call *call)
{
    struct hw_disk_times times = {.append_ms = -1, .bytes_per_s = -1};
    int64_t broker = ext_call_integer(call, 0, "broker");
    char json[96] = "";

    ext_call_options(call, 1, visit_disk_option, &times);
    if (ext_call_lock(call)) {
        call->status = hw_cluster_disk(call->cluster, broker, &times, &call->error);
    }
    if (call->status == HW_OK) {
        (void)sqlite3_snprintf(sizeof json, json, "{\"append_ms\":%!.15g,\"bytes_per_s\":%lld}",
                               times.append_ms, (long long)times.bytes_per_s);
    }
    ext_call_return_text(call, json);
}

void fn_pause(struct ext_call *call)
{
    int64_t broker = ext_call_integer(call, 0, "broker");
    int64_t ms = ext_call_integer(call, 1, "ms");
    hw_time_ms_t wakes_ms = 0;

    if (ext_call_lock(call)) {
        call->status = hw_cluster_pause(call->cluster, broker, ms, &wakes_ms, &call->error);
    }
    ext_call_return_integer(call, wakes_ms);
}

/* Where an option of load() that is a whole number goes; NULL: it is none. */
static int64_t *load_integer(struct hw_load_options *options, const char *name)
{
    return strcmp(name, "size") == 0        ? &options->size_bytes
           : strcmp(name, "keys") == 0      ? &options->keys
           : strcmp(name, "in_flight") == 0 ? &options->in_flight
           : strcmp(name, "retries") == 0   ? &options->retries
           : strcmp(name, "retry_ms") == 0  ? &options->retry_ms
           : strcmp(name, "until_ms") == 0  ? &options->until_ms
                                            : NULL;
}

static enum hw_status visit_load_option(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct hw_load_options *options = context;
    int64_t *integer = load_integer(options, member->name);

    if (integer != NULL) {
        return time_integer(member, integer, error);
    }
    if (strcmp(member->name, "records_per_s") == 0) {
        return time_number(member, &options->records_per_s, error);
    }
    if (strcmp(member->name, "start_ms") == 0) {
        return time_number(member, &options->start_ms, error);
    }
    if (strcmp(member->name, "random") == 0 && ext_json_boolean(member, &options->random)) {
        return HW_OK;
    }
    if (strcmp(member->name, "acks") == 0) {
        if (ext_value_is_word(member->atom, "all")) {
            options->acks = HW_ACKS_ALL;
            return HW_OK;
        }
        return ext_json_integer(member, &options->acks)
                   ? HW_OK
                   : hw_error_refuse(error, HW_KAFKA_INVALID_REQUIRED_ACKS,
                                     "acks must be 0, 1, -1 or \"all\"");
    }
    return time_refuse_name(error, "load()", member->name,
                            "records_per_s, size, keys, acks, in_flight, retries, retry_ms, "
                            "start_ms, until_ms, random");
}

void fn_load(struct ext_call *call)
{
    struct hw_load_options options = hw_load_options_default();
    int64_t id = 0;
    bool is_end = call->argc == 2 && sqlite3_value_type(call->argv[0]) == SQLITE_INTEGER &&
                  sqlite3_value_type(call->argv[1]) == SQLITE_NULL;

    if (is_end) {
        id = ext_call_integer(call, 0, "id");
    } else {
        options.topic = ext_call_text(call, 0, "topic");
        ext_call_options(call, 1, visit_load_option, &options);
    }
    if (ext_call_lock(call)) {
        call->status = is_end ? hw_cluster_end_load(call->cluster, id, &call->error)
                              : hw_cluster_load(call->cluster, &options, &id, &call->error);
    }
    ext_call_return_integer(call, id);
}
