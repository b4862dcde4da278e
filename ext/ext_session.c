/* SPDX-License-Identifier: MIT */
/* Which cluster a connection is attached to. */
#include "ext/ext_session.h"

#include "ext/ext_error.h"

#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

static const char directory_suffix[] = "-highwater";

struct ext_session *ext_session_create(sqlite3 *db)
{
    struct ext_session *session = sqlite3_malloc64(sizeof *session);

    if (session != NULL) {
        *session = (struct ext_session){
            .references = 1, .db = db, .is_read_only = sqlite3_db_readonly(db, "main") == 1};
        hw_buffer_init(&session->headers, &ext_allocator);
    }
    return session;
}

void ext_session_retain(struct ext_session *session)
{
    session->references++;
}

static void detach(struct ext_session *session)
{
    if (session->stage != NULL) {
        (void)ext_cluster_lock(session->cluster);
        hw_stage_destroy(session->stage);
        ext_cluster_unlock(session->cluster);
        session->stage = NULL;
    }
    ext_cluster_release(session->cluster);
    session->cluster = NULL;
}

void ext_session_release(void *argument)
{
    struct ext_session *session = argument;

    if (--session->references == 0) {
        detach(session);
        hw_buffer_release(&session->headers);
        sqlite3_free(session);
    }
}

/* The path as the system names it, so that two ways to write it are one cluster. */
static enum hw_status canonical_path(const char *path, char canonical[HW_PATH_MAX],
                                     struct hw_error *error)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int code = vfs == NULL ? SQLITE_ERROR : vfs->xFullPathname(vfs, path, HW_PATH_MAX, canonical);

    /* The extended code SQLITE_OK_SYMLINK is a success too. */
    if ((code & 0xff) == SQLITE_NOMEM) {
        return hw_error_no_memory(error, "a path");
    }
    if ((code & 0xff) != SQLITE_OK) {
        return ext_error_invalid(error, "%.200s is not a usable path of at most %d bytes", path,
                                 HW_PATH_MAX - 1);
    }
    return HW_OK;
}

/* Fill in options->directory for the database of the connection; `path` is its memory. */
static enum hw_status options_of_database(sqlite3 *db, struct ext_cluster_options *options,
                                          char path[HW_PATH_MAX], struct hw_error *error)
{
    const char *file = sqlite3_db_filename(db, "main");
    char beside[HW_PATH_MAX];
    enum hw_status status;

    *options = (struct ext_cluster_options){.directory = NULL};
    if (file == NULL || file[0] == '\0') {
        return HW_OK;
    }
    if (snprintf(beside, sizeof beside, "%s%s", file, directory_suffix) >= (int)sizeof beside) {
        return ext_error_invalid(error, "the path of the database has more than %d bytes",
                                 HW_PATH_MAX - (int)sizeof directory_suffix);
    }
    status = canonical_path(beside, path, error);
    options->directory = path;
    return status;
}

enum hw_status ext_session_cluster(struct ext_session *session, struct ext_cluster **cluster,
                                   struct hw_error *error)
{
    struct ext_cluster_options options;
    char path[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    if (session->cluster == NULL) {
        status = options_of_database(session->db, &options, path, error);
        if (status == HW_OK) {
            status = ext_registry_open(&options, &session->cluster, error);
        }
    }
    *cluster = session->cluster;
    return status;
}

enum hw_status ext_session_check_writable(const struct ext_session *session, struct hw_error *error)
{
    if (session->is_read_only) {
        return ext_error_invalid(error, "the database is open for reading only, and so is the "
                                        "cluster beside it");
    }
    return HW_OK;
}

static const char *protocol_of(const struct hw_cluster *cluster)
{
    struct hw_position position = {0};
    struct hw_config_view view;

    while (hw_cluster_next_config(cluster, &position, &view)) {
        if (view.topic == NULL && strcmp(view.name, "protocol") == 0) {
            return view.value;
        }
    }
    return "";
}

static int32_t count_brokers(const struct hw_cluster *cluster)
{
    struct hw_position position = {0};
    struct hw_broker_view view;
    int32_t count = 0;

    while (hw_cluster_next_broker(cluster, &position, &view)) {
        count++;
    }
    return count;
}

/* The options make a new cluster: one that was there already has to agree with them. */
static enum hw_status check_options(struct ext_cluster *cluster,
                                    const struct ext_cluster_options *options,
                                    struct hw_error *error)
{
    const struct hw_cluster *opened = ext_cluster_lock(cluster);
    enum hw_status status = HW_OK;

    if (options->protocol != NULL && strcmp(options->protocol, protocol_of(opened)) != 0) {
        status = hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                 "the cluster there has protocol %s: leave the option out, and use "
                                 "configure() then",
                                 protocol_of(opened));
    } else if (options->broker_count != 0 && options->broker_count != count_brokers(opened)) {
        status = hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                 "the cluster there has %d brokers: leave the option out, and use "
                                 "add_broker() then",
                                 (int)count_brokers(opened));
    }
    ext_cluster_unlock(cluster);
    return status;
}

enum hw_status ext_session_attach(struct ext_session *session,
                                  const struct ext_cluster_options *options, struct hw_error *error)
{
    struct ext_cluster_options wanted = *options;
    struct ext_cluster *cluster = NULL;
    char path[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    if (session->stage_state != EXT_STAGE_IDLE) {
        return ext_error_invalid(error, "the transaction has written to topics of the present "
                                        "cluster: COMMIT or ROLLBACK first");
    }
    if (options->directory != NULL) {
        status = canonical_path(options->directory, path, error);
        wanted.directory = path;
    }
    if (status == HW_OK) {
        status = ext_registry_open(&wanted, &cluster, error);
    }
    if (status == HW_OK) {
        status = check_options(cluster, options, error);
    }
    if (status != HW_OK) {
        ext_cluster_release(cluster);
        return status;
    }
    detach(session);
    session->cluster = cluster;
    session->is_read_only = false;
    return HW_OK;
}
