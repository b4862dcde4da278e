/* SPDX-License-Identifier: MIT */
#include "ext/live/live_session.h"

#include "ext/ext_error.h"
#include "ext/ext_memory.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static void session_destroy(struct ext_owner *owner)
{
    struct live_session *session = (struct live_session *)owner;

    while (session->clusters != NULL) {
        struct live_cluster *cluster = session->clusters;

        session->clusters = cluster->next;
        live_cluster_destroy(cluster);
    }
    live_stage_clear(&session->stage);
    live_tally_clear(&session->last);
    hw_buffer_release(&session->headers);
    sqlite3_free(session);
}

struct live_session *live_session_create(sqlite3 *db)
{
    struct live_session *session = sqlite3_malloc64(sizeof *session);

    if (session != NULL) {
        *session = (struct live_session){
            .owner = {.references = 1, .destroy = session_destroy}, .db = db, .transaction = 1};
        hw_buffer_init(&session->headers, &ext_allocator);
        live_stage_init(&session->stage);
    }
    return session;
}

static struct live_cluster *session_look(const struct live_session *session, const char *name)
{
    struct live_cluster *cluster = session->clusters;

    while (cluster != NULL && strcmp(cluster->name, name) != 0) {
        cluster = cluster->next;
    }
    return cluster;
}

enum hw_status live_session_find(struct live_session *session, const char *name,
                                 struct live_cluster **found, struct hw_error *error)
{
    *found = session_look(session, name);
    if (*found != NULL) {
        return live_cluster_check_process(*found, error);
    }
    return ext_error_invalid(error,
                             "there is no connection \"%.60s\" here: SELECT live_connect('%.60s', "
                             "'{\"bootstrap.servers\":\"host:9092\"}')",
                             name, name);
}

enum hw_status live_session_find_allowed(struct live_session *session, const char *servers,
                                         struct live_cluster **found, struct hw_error *error)
{
    *found = session_look(session, servers);
    if (*found != NULL && (*found)->is_allowed) {
        return live_cluster_check_process(*found, error);
    }
    return ext_error_invalid(error,
                             "the table wants to connect to %.200s: if you want that, SELECT "
                             "live_allow('%.200s')",
                             servers, servers);
}

static enum hw_status session_add(struct live_session *session, const char *name, bool is_allowed,
                                  struct ext_config_list *properties, struct hw_error *error)
{
    struct live_cluster *cluster = NULL;
    enum hw_status status = live_cluster_create(session->db, name, properties, &cluster, error);

    if (status == HW_OK) {
        cluster->is_allowed = is_allowed;
        cluster->next = session->clusters;
        session->clusters = cluster;
    }
    return status;
}

enum hw_status live_session_connect(struct live_session *session, const char *name,
                                    struct ext_config_list *properties, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (name[0] == '\0') {
        status = ext_error_invalid(error, "a connection's name has at least one character");
    }
    if (status == HW_OK && session_look(session, name) != NULL) {
        status = ext_error_invalid(error,
                                   "there is a connection \"%.60s\" already: SELECT "
                                   "live_disconnect('%.60s') first, or choose another name",
                                   name, name);
    }
    if (status != HW_OK) {
        ext_config_list_release(properties);
        return status;
    }
    return session_add(session, name, false, properties, error);
}

enum hw_status live_session_allow(struct live_session *session, const char *servers,
                                  struct hw_error *error)
{
    struct live_cluster *cluster = session_look(session, servers);
    struct ext_config_list properties;
    enum hw_status status;

    if (cluster != NULL && cluster->is_allowed) {
        return HW_OK;
    }
    if (cluster != NULL) {
        return ext_error_invalid(error, "there is a connection with the name \"%.60s\"", servers);
    }
    ext_config_list_init(&properties);
    status = ext_config_list_add(&properties, "bootstrap.servers", servers, error);
    if (status != HW_OK) {
        ext_config_list_release(&properties);
        return status;
    }
    return session_add(session, servers, true, &properties, error);
}

enum hw_status live_session_disconnect(struct live_session *session, const char *name,
                                       struct hw_error *error)
{
    struct live_cluster *cluster = NULL;
    struct live_cluster **place = &session->clusters;
    enum hw_status status = live_session_find(session, name, &cluster, error);

    if (status != HW_OK) {
        return status;
    }
    if (live_cluster_is_used(cluster) || session->writing == cluster) {
        return ext_error_invalid(error,
                                 "connection \"%.60s\" is in use: end the statement or the "
                                 "transaction first",
                                 name);
    }
    while (*place != cluster) {
        place = &(*place)->next;
    }
    *place = cluster->next;
    session->last_cluster = session->last_cluster == cluster ? NULL : session->last_cluster;
    live_cluster_destroy(cluster);
    return HW_OK;
}
