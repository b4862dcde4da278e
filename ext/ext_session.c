/* SPDX-License-Identifier: MIT */
/* Which cluster a connection is attached to. */
#include "ext/ext_session.h"

#include "ext/ext_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

static const char directory_suffix[] = "-highwater";

static const char read_only_words[] =
    "the database is open for reading only, and so is every cluster in a directory";

/* The folder as the system names it; one that is not there has no files. */
static char *copy_root(void)
{
    const char *named = getenv("HIGHWATER_ROOT");
    char real[HW_PATH_MAX];
    struct hw_error error;

    if (named == NULL || named[0] == '\0' || hw_posix_real_path(named, real, &error) != HW_OK) {
        return NULL;
    }
    return hw_text_copy(&ext_allocator, real);
}

static void detach(struct ext_session *session)
{
    if (session->stage != NULL) {
        (void)ext_cluster_lock(session->cluster);
        hw_stage_destroy(session->stage);
        ext_cluster_unlock(session->cluster);
        session->stage = NULL;
    }
    ext_token_forget(&session->token_writer);
    ext_cluster_release(session->cluster);
    session->cluster = NULL;
}

static void session_destroy(struct ext_owner *owner)
{
    struct ext_session *session = (struct ext_session *)owner;

    detach(session);
    hw_buffer_release(&session->headers);
    hw_text_free(&ext_allocator, session->root);
    sqlite3_free(session);
}

/* Whether the database lies in memory, as one can that has a name. */
static bool session_is_in_memory(sqlite3 *db)
{
    const char *file = sqlite3_db_filename(db, "main");
    sqlite3_vfs *vfs = NULL;

    if (file == NULL || file[0] == '\0') {
        return true;
    }
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_VFS_POINTER, &vfs) == SQLITE_OK &&
           vfs != NULL && strcmp(vfs->zName, "memdb") == 0;
}

/* Fill in options->directory for the database of the connection; `path` is its memory. */
static enum hw_status options_of_database(sqlite3 *db, struct ext_cluster_options *options,
                                          char path[HW_PATH_MAX], struct hw_error *error)
{
    char beside[HW_PATH_MAX];

    *options = (struct ext_cluster_options){.directory = NULL};
    if (session_is_in_memory(db)) {
        return HW_OK;
    }
    if (snprintf(beside, sizeof beside, "%s%s", sqlite3_db_filename(db, "main"),
                 directory_suffix) >= (int)sizeof beside) {
        return ext_error_invalid(error, "the path of the database has more than %d bytes",
                                 HW_PATH_MAX - (int)sizeof directory_suffix);
    }
    options->directory = path;
    options->database = sqlite3_db_filename(db, "main");
    return hw_posix_real_path(beside, path, error);
}

/* Whether this user may only read the database, or what lies beside it. */
static bool may_only_read(sqlite3 *db)
{
    struct ext_cluster_options options;
    char path[HW_PATH_MAX];
    struct hw_error ignored; /* Who uses the cluster hears of it. */

    return sqlite3_db_readonly(db, "main") == 1 ||
           (options_of_database(db, &options, path, &ignored) == HW_OK &&
            options.directory != NULL && !hw_posix_may_write(options.directory));
}

struct ext_session *ext_session_create(sqlite3 *db, bool is_restricted)
{
    struct ext_session *session = sqlite3_malloc64(sizeof *session);

    if (session != NULL) {
        *session = (struct ext_session){.owner = {.references = 1, .destroy = session_destroy},
                                        .db = db,
                                        .is_read_only = may_only_read(db),
                                        .is_restricted = is_restricted,
                                        .root = is_restricted ? copy_root() : NULL};
        hw_buffer_init(&session->headers, &ext_allocator);
    }
    return session;
}

/*
 * Whether the database has a table of that name that makes its own topic. While SQLite creates or
 * drops a table, its schema says so already: then what was before counts. False where the schema
 * cannot be read now.
 */
static bool schema_tells(const struct ext_session *session, const char *topic, bool *has_table)
{
    sqlite3_stmt *statement;
    int code;

    if (session->changing != NULL && sqlite3_stricmp(session->changing, topic) == 0) {
        *has_table = session->is_dropping;
        return true;
    }
    if (sqlite3_prepare_v2(
            session->db,
            "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1 AND "
            "sql >= 'CREATE VIRTUAL TABLE' AND sql < 'CREATE VIRTUAL TABLF'",
            -1, &statement, NULL) != SQLITE_OK) {
        return false;
    }
    code = sqlite3_bind_text(statement, 1, topic, -1, SQLITE_STATIC);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    *has_table = code == SQLITE_ROW;
    (void)sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE;
}

/*
 * Topics that were being created or deleted when an earlier process was killed go the way that the
 * database went. What cannot be done now is tried again by the next connection.
 */
static void decide_topics(struct ext_session *session)
{
    size_t position = 0;
    const char *next = hw_cluster_next_undecided(ext_cluster_lock(session->cluster), &position);

    while (next != NULL) {
        char *topic = sqlite3_mprintf("%s", next);
        struct hw_error unused;
        bool has_table;

        ext_cluster_unlock(session->cluster); /* Reading the schema may come back to it. */
        if (topic != NULL && schema_tells(session, topic, &has_table)) {
            position -= has_table ? 0 : 1;
            if (hw_cluster_decide_topic(ext_cluster_lock(session->cluster), topic, has_table,
                                        &unused) != HW_OK) {
                position += has_table ? 0 : 1;
            }
            ext_cluster_unlock(session->cluster);
        }
        sqlite3_free(topic);
        next = hw_cluster_next_undecided(ext_cluster_lock(session->cluster), &position);
    }
    ext_cluster_unlock(session->cluster);
}

/*
 * Whether nothing may be written beside the database: who loads the extension for others' SQL, or
 * may only read database and directory, sees what is there, as SQLite shows such a database.
 */
static bool reads_only(const struct ext_session *session, const char *directory)
{
    return directory != NULL &&
           (session->is_restricted || (session->is_read_only && !hw_posix_may_write(directory)));
}

/* SQLite forgets an interrupt when a statement begins while none runs, as where one is prepared that
 * needs the cluster: so one runs until the cluster is open. */
static enum hw_status open_cluster(sqlite3 *db, struct ext_cluster_options *options,
                                   struct ext_cluster **cluster, struct hw_error *error)
{
    struct ext_probe probe = {.db = db};
    sqlite3_stmt *running = NULL;
    enum hw_status status;

    if (sqlite3_prepare_v2(db, "SELECT 1", -1, &running, NULL) == SQLITE_OK) {
        (void)sqlite3_step(running);
    }
    options->interrupt =
        (struct hw_interrupt){.is_asked = ext_probe_is_interrupted, .context = &probe};
    status = ext_registry_open(options, cluster, error);
    ext_probe_release(&probe);
    (void)sqlite3_finalize(running);
    return status;
}

enum hw_status ext_session_cluster(struct ext_session *session, struct ext_cluster **cluster,
                                   struct hw_error *error)
{
    struct ext_cluster_options options;
    char path[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    if (session->cluster != NULL && !ext_cluster_is_own(session->cluster)) {
        return ext_error_invalid(error, "this database connection was made in another process: "
                                        "open one of your own after fork()");
    }
    if (session->cluster == NULL) {
        status = options_of_database(session->db, &options, path, error);
        options.is_reader = status == HW_OK && reads_only(session, options.directory);
        if (status == HW_OK) {
            status = open_cluster(session->db, &options, &session->cluster, error);
        }
        if (status == HW_OK && !session->is_read_only) {
            decide_topics(session);
        }
        if (status == HW_OK && !session->is_beginning) {
            struct hw_error later; /* Who uses a transactional table hears of it. */

            status = ext_token_decide(session->db, session->cluster, &later);
            if (status == HW_NO_MEMORY) {
                *error = later;
            } else {
                status = HW_OK;
            }
        }
    }
    *cluster = session->cluster;
    return status;
}

enum hw_status ext_session_check_decided(struct ext_session *session, struct hw_error *error)
{
    struct ext_cluster *cluster = NULL;
    enum hw_status status = ext_session_cluster(session, &cluster, error);

    if (status == HW_OK && session->is_attached) {
        return ext_error_invalid(error, "transactional=1 works with the database's own cluster, and"
                                        " open_cluster() has attached another one");
    }
    return status == HW_OK ? ext_token_decide(session->db, cluster, error) : status;
}

enum hw_status ext_session_check_writable(const struct ext_session *session, struct hw_error *error)
{
    if (session->is_restricted) {
        return ext_error_invalid(error, "the extension is loaded for reading only");
    }
    if (session->is_read_only) {
        return ext_error_invalid(error, "%s",
                                 sqlite3_db_readonly(session->db, "main") == 1
                                     ? read_only_words
                                     : "this user may only read the cluster's directory");
    }
    return HW_OK;
}

enum hw_status ext_session_check_readable(const struct ext_session *session, const char *path,
                                          struct hw_error *error)
{
    if (!session->is_restricted) {
        return HW_OK;
    }
    if (session->root == NULL) {
        return ext_error_invalid(error, "no files may be read: the host names a folder in the "
                                        "environment variable HIGHWATER_ROOT");
    }
    /* The same words for what is not there: nobody learns what lies elsewhere. */
    return hw_path_is_below(path, session->root)
               ? HW_OK
               : ext_error_invalid(error, "%.200s is not below the folder that may be read", path);
}

enum hw_status ext_session_open_files(const struct ext_session *session, size_t descriptors_max,
                                      struct ext_probe *probe, struct hw_store **store,
                                      struct hw_error *error)
{
    enum hw_status status = hw_posix_store_create(&ext_allocator, descriptors_max, store, error);

    probe->db = session->db;
    if (status == HW_OK) {
        (*store)->root = session->is_restricted ? session->root : NULL;
        (*store)->interrupt =
            (struct hw_interrupt){.is_asked = ext_probe_is_interrupted, .context = probe};
    }
    return status;
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

enum hw_status ext_session_check_secrets(const struct ext_session *session, struct hw_error *error)
{
    return session->is_restricted
               ? ext_error_invalid(error, "secrets are not shown here: the extension was loaded by "
                                          "the entry point for hosts that run other people's SQL")
               : HW_OK;
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
    if (options->directory != NULL && sqlite3_db_readonly(session->db, "main") == 1) {
        return ext_error_invalid(error, "%s", read_only_words);
    }
    if (options->directory != NULL) {
        status = hw_posix_real_path(options->directory, path, error);
        wanted.directory = path;
    }
    if (status == HW_OK) {
        status = open_cluster(session->db, &wanted, &cluster, error);
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
    session->is_read_only = false; /* In memory, where the database may only be read. */
    session->is_attached = true;
    return HW_OK;
}
