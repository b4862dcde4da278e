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
    sqlite3 *db;
    struct ext_cluster_options cluster;
    struct hw_adoption adoption;
    size_t broker_capacity;
    size_t leader_capacity;
    char protocol[64];
    char copy_of[HW_PATH_MAX];
    bool has_memory;
};

/* An id as a member's name: digits, no more than an int32 has. */
static bool open_broker_id(const char *name, hw_broker_id_t *id)
{
    int64_t value = 0;
    const char *at = name;

    while (*at >= '0' && *at <= '9' && value <= INT32_MAX) {
        value = value * 10 + (*at++ - '0');
    }
    *id = (hw_broker_id_t)value;
    return at != name && *at == '\0' && value <= INT32_MAX && (name[0] != '0' || at == name + 1);
}

/* {"1": "/logs/1", ...}: whose directory it is, and its one name. */
static enum hw_status visit_open_broker(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct open_options *options = context;
    struct hw_adoption *adoption = &options->adoption;
    struct hw_adopted_broker broker;
    char path[HW_PATH_MAX];
    enum hw_status status;

    if (strcmp(member->type, "text") != 0 || member->json[0] == '\0' ||
        !open_broker_id(member->name, &broker.id)) {
        return ext_error_invalid(error, "open_cluster(): brokers must be a number, or directories "
                                        "by the ids of brokers, {\"1\":\"/logs/1\"}");
    }
    if (adoption->count == HW_BROKERS_MAX) {
        return ext_error_invalid(error, "open_cluster(): brokers may be %d at most",
                                 HW_BROKERS_MAX);
    }
    status = hw_posix_real_path(member->json, path, error);
    for (size_t i = 0; status == HW_OK && i < adoption->count; i++) {
        if (adoption->brokers[i].id == broker.id ||
            strcmp(adoption->brokers[i].directory, path) == 0) {
            return ext_error_invalid(error,
                                     "open_cluster(): broker %d or its directory '%.200s' is "
                                     "there twice in brokers: name each once",
                                     (int)broker.id, path);
        }
    }
    if (status == HW_OK) {
        status =
            hw_array_reserve(&ext_allocator, (void **)&adoption->brokers, &options->broker_capacity,
                             adoption->count + 1, sizeof *adoption->brokers, error);
    }
    if (status != HW_OK) {
        return status;
    }
    broker.directory = hw_text_copy(&ext_allocator, path);
    if (broker.directory == NULL) {
        return hw_error_no_memory(error, "a path");
    }
    adoption->brokers[adoption->count++] = broker;
    return HW_OK;
}

/* {"orders-0": 1, ...} */
static enum hw_status visit_open_leader(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct open_options *options = context;
    struct hw_adoption *adoption = &options->adoption;
    struct hw_adopted_leader leader;
    int64_t id = 0;
    enum hw_status status;

    if (!ext_json_integer(member, &id) || id < 0 || id > INT32_MAX) {
        return ext_error_invalid(error,
                                 "open_cluster(): leaders must be brokers' ids by partition, "
                                 "{\"orders-0\":1}");
    }
    leader.broker = (hw_broker_id_t)id;
    for (size_t i = 0; i < adoption->leader_count; i++) {
        if (strcmp(adoption->leaders[i].partition, member->name) == 0) {
            return ext_error_invalid(error, "open_cluster(): leaders has %.200s twice",
                                     member->name);
        }
    }
    status =
        hw_array_reserve(&ext_allocator, (void **)&adoption->leaders, &options->leader_capacity,
                         adoption->leader_count + 1, sizeof *adoption->leaders, error);
    if (status != HW_OK) {
        return status;
    }
    leader.partition = hw_text_copy(&ext_allocator, member->name);
    if (leader.partition == NULL) {
        return hw_error_no_memory(error, "a name");
    }
    adoption->leaders[adoption->leader_count++] = leader;
    return HW_OK;
}

static void open_options_release(struct open_options *options)
{
    struct hw_adoption *adoption = &options->adoption;

    for (size_t i = 0; i < adoption->count; i++) {
        hw_text_free(&ext_allocator, adoption->brokers[i].directory);
    }
    for (size_t i = 0; i < adoption->leader_count; i++) {
        hw_text_free(&ext_allocator, adoption->leaders[i].partition);
    }
    hw_free(&ext_allocator, adoption->brokers,
            options->broker_capacity * sizeof *adoption->brokers);
    hw_free(&ext_allocator, adoption->leaders,
            options->leader_capacity * sizeof *adoption->leaders);
}

static enum hw_status visit_open_option(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct open_options *options = context;
    int64_t number = 0;

    if (strcmp(member->name, "brokers") == 0 && strcmp(member->type, "object") == 0) {
        options->cluster.adoption = &options->adoption;
        return ext_json_walk_elements(options->db, member, visit_open_broker, options, error);
    }
    if (strcmp(member->name, "leaders") == 0) {
        options->adoption.has_leaders = true;
        return strcmp(member->type, "object") != 0
                   ? ext_error_invalid(error, "open_cluster(): leaders must be an object, "
                                              "{\"orders-0\":1}")
                   : ext_json_walk_elements(options->db, member, visit_open_leader, options, error);
    }
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
        options->has_memory = true;
        return HW_OK;
    }
    return ext_error_invalid(error,
                             "open_cluster(): no option named %.60s; there are protocol, brokers, "
                             "leaders, seed, copy_of, "
                             "memory",
                             member->name);
}

/* What goes together, once all is known. */
static void open_check_options(struct ext_call *call, const struct open_options *options)
{
    const struct ext_cluster_options *cluster = &options->cluster;

    if (cluster->directory != NULL && (cluster->copy_of != NULL || cluster->adoption != NULL)) {
        ext_call_refuse(call,
                        cluster->copy_of != NULL
                            ? "open_cluster(): copy_of makes a cluster in ':memory:'"
                            : "open_cluster(): brokers with directories make one in ':memory:'");
    } else if (cluster->adoption != NULL &&
               (cluster->copy_of != NULL || cluster->broker_count != 0 ||
                cluster->adoption->count == 0)) {
        ext_call_refuse(call, "open_cluster(): brokers name one directory or more, once, and not "
                              "together with copy_of");
    } else if (cluster->adoption == NULL && options->adoption.has_leaders) {
        ext_call_refuse(call, "open_cluster(): leaders go with directories in brokers, "
                              "{\"1\":\"/logs/1\"}");
    } else if (cluster->adoption == NULL && cluster->copy_of == NULL && options->has_memory) {
        ext_call_refuse(call,
                        "open_cluster(): memory bounds what is copied: it goes with copy_of, or "
                        "with directories in brokers");
    }
}

void fn_open_cluster(struct ext_call *call)
{
    const char *path = ext_call_text(call, 0, "path");
    struct open_options options = {
        .db = call->session->db,
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
    ext_call_options(call, 1, visit_open_option, &options);
    if (call->status == HW_OK) {
        open_check_options(call, &options);
    }
    if (call->status == HW_OK && options.cluster.directory != NULL) {
        call->status = ext_query_only_check(call->session->db, &call->error);
    }
    if (call->status == HW_OK) {
        call->status = ext_session_attach(call->session, &options.cluster, &call->error);
    }
    open_options_release(&options);
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
    const char *value = config_value_argument(call, 1);

    if (ext_call_lock(call)) {
        call->status =
            hw_cluster_configure(call->cluster, name, value, topic, &call->buffer, &call->error);
    }
    ext_call_return_buffer(call);
}

void fn_add_broker(struct ext_call *call)
{
    int64_t id = ext_call_integer(call, 0, "id");
    const char *rack = ext_call_optional_text(call, 1, "rack");
    const char *dir = ext_call_optional_text(call, 2, "dir");

    if (dir != NULL && dir[0] == '\0') {
        ext_call_refuse(call, "add_broker(): dir must be a directory, or left out");
    }
    if (ext_call_lock(call)) {
        call->status = hw_cluster_add_broker(call->cluster, id, rack, dir, &call->error);
    }
    ext_call_return_integer(call, id);
}

/* ------------------------------------------------------------------- a cluster in memory goes back */

/* Statements that have begun and not ended, this one among them. */
static int cluster_busy_statements(sqlite3 *db)
{
    int count = 0;

    for (sqlite3_stmt *statement = sqlite3_next_stmt(db, NULL); statement != NULL;
         statement = sqlite3_next_stmt(db, statement)) {
        count += sqlite3_stmt_busy(statement) != 0;
    }
    return count;
}

/* The verbs of snapshots, if nobody is in the middle of something that would not go back with the
 * cluster; they differ in one call of the core. */
static void cluster_move(struct ext_call *call,
                         enum hw_status (*move)(struct hw_cluster *cluster, const char *name,
                                                int64_t *number, struct hw_error *error))
{
    const char *name = ext_call_text(call, 0, "name");
    int64_t number = 0;

    if (call->status == HW_OK && sqlite3_get_autocommit(call->session->db) == 0) {
        ext_call_refuse(call, "%s(): not inside a transaction: COMMIT or ROLLBACK it first",
                        call->function->name);
    }
    if (ext_call_lock(call)) {
        call->status = ext_cluster_has_cursors(call->session->cluster) ||
                               cluster_busy_statements(call->session->db) > 1
                           ? hw_error_set(&call->error, HW_BUSY,
                                          "%s(): a statement is open: end or reset it first",
                                          call->function->name)
                           : move(call->cluster, name, &number, &call->error);
    }
    ext_call_return_integer(call, number);
}

void fn_snapshot(struct ext_call *call)
{
    cluster_move(call, hw_cluster_snapshot);
}

void fn_rewind(struct ext_call *call)
{
    cluster_move(call, hw_cluster_rewind);
}

void fn_forget(struct ext_call *call)
{
    cluster_move(call, hw_cluster_forget);
}
