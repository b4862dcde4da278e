/* SPDX-License-Identifier: MIT */
/* The SQL functions: live_connect() and so on. */
#include "ext/live/live_call.h"

#include "ext/ext_error.h"
#include "ext/ext_probe.h"

SQLITE_EXTENSION_INIT3

static void function_connect(struct live_call *call)
{
    const char *name = live_call_text(call, 0, "name");
    struct ext_config_list properties;

    if (call->status != HW_OK) {
        return;
    }
    ext_config_list_init(&properties);
    call->status =
        ext_config_list_add_json(&properties, call->session->db, call->argv[1], &call->error);
    if (call->status != HW_OK) {
        ext_config_list_release(&properties);
        return;
    }
    call->status = live_session_connect(call->session, name, &properties, &call->error);
    if (call->status == HW_OK) {
        sqlite3_result_value(call->context, call->argv[0]);
    }
}

static void function_allow(struct live_call *call)
{
    const char *servers = live_call_text(call, 0, "servers");

    if (call->status == HW_OK) {
        call->status = live_session_allow(call->session, servers, &call->error);
    }
    if (call->status == HW_OK) {
        sqlite3_result_value(call->context, call->argv[0]);
    }
}

static void function_disconnect(struct live_call *call)
{
    const char *name = live_call_text(call, 0, "name");

    if (call->status == HW_OK) {
        call->status = live_session_disconnect(call->session, name, &call->error);
    }
    if (call->status == HW_OK) {
        sqlite3_result_value(call->context, call->argv[0]);
    }
}

/* After it nobody else's transaction under this transactional id can end any more: what the log of
 * committed records holds then is what was sent. */
static void function_init_producer(struct live_call *call)
{
    struct live_cluster *cluster = live_call_cluster(call);
    struct live_handle *handle = NULL;

    if (call->status == HW_OK) {
        call->status = live_cluster_producer(cluster, &handle, &call->error);
    }
    if (call->status == HW_OK) {
        sqlite3_result_int(call->context, 1);
    }
}

static void function_version(struct live_call *call)
{
    char *text = sqlite3_mprintf("%s, librdkafka %s", HW_VERSION, rd_kafka_version_str());

    if (text == NULL) {
        call->status = hw_error_no_memory(&call->error, "a version");
    } else {
        sqlite3_result_text(call->context, text, -1, sqlite3_free);
    }
}

static const struct live_function own_functions[] = {
    {"live_connect", 2, 2, function_connect,
     "live_connect(name, '{\"bootstrap.servers\":\"host:9092\", ...}')"},
    {"live_allow", 1, 1, function_allow, "live_allow('host:9092')"},
    {"live_disconnect", 1, 1, function_disconnect, "live_disconnect(name)"},
    {"live_init_producer", 1, 1, function_init_producer, "live_init_producer(connection)"},
    {"live_version", 0, 0, function_version, "live_version()"}};

enum { OWN_COUNT = sizeof own_functions / sizeof own_functions[0] };

static const struct live_function *function_at(size_t number)
{
    if (number < OWN_COUNT) {
        return &own_functions[number];
    }
    number -= OWN_COUNT;
    return number < live_doing_count ? &live_doing[number] : NULL;
}

/* Whether it changes the cluster: one that begins as a transactional producer fences another. */
static bool has_effect(const struct live_function *function)
{
    return function->run == function_init_producer ||
           (function >= live_doing && function < live_doing + live_doing_count);
}

static void dispatch(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct ext_client *client = sqlite3_user_data(context);
    const struct live_function *function = client->definition;
    struct live_call call = {.context = context,
                             .session = (struct live_session *)client->owner,
                             .function = function,
                             .argc = argc,
                             .argv = argv,
                             .status = HW_OK};

    if (argc < function->arguments_min || argc > function->arguments_max) {
        call.status =
            ext_error_invalid(&call.error, "wrong number of arguments: %s", function->signature);
    } else if (has_effect(function)) {
        call.status = ext_query_only_check(call.session->db, &call.error);
    }
    if (call.status == HW_OK) {
        function->run(&call);
    }
    if (call.status != HW_OK) {
        ext_error_to_context(context, &call.error);
    }
}

int live_functions_register(struct live_session *session)
{
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && function_at(i) != NULL; i++) {
        struct ext_client *client = ext_client_create(&session->owner, function_at(i));

        code = client == NULL
                   ? SQLITE_NOMEM
                   : sqlite3_create_function_v2(session->db, function_at(i)->name, -1,
                                                SQLITE_UTF8 | SQLITE_DIRECTONLY, client, dispatch,
                                                NULL, NULL, ext_client_destroy);
    }
    return code;
}

void live_functions_unregister(sqlite3 *db)
{
    for (size_t i = 0; function_at(i) != NULL; i++) {
        (void)sqlite3_create_function_v2(db, function_at(i)->name, -1, SQLITE_UTF8, NULL, NULL,
                                         NULL, NULL, NULL);
    }
}
