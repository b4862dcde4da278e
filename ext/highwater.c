/* SPDX-License-Identifier: MIT */
/*
 * The door of the extension: registers its functions and tables with a connection.
 *
 *     .load ./highwater
 *     CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3);
 *     SELECT name, signature FROM hw_help;
 *
 * Functions are listed in functions.c, tables in ext_module_at(). No rule of replication is
 * decided in ext/: a function turns SQL values into one call of the core, and its answer into a SQL
 * value.
 */
#include "ext/ext_session.h"
#include "ext/ext_transaction.h"
#include "ext/ext_version.h"
#include "ext/ext_vtab.h"
#include "ext/files/vtab_kafka_scan.h"
#include "ext/files/vtab_kafka_table.h"
#include "ext/functions/functions.h"
#include "ext/tables/tables.h"
#include "ext/topics/vtab_topic.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* Those that are no rows of a list. */
static const struct ext_schema *const tables_single[] = {&vtab_topic_schema, &vtab_log_schema,
                                                         &vtab_batches_schema, &vtab_explore_schema,
                                                         &ext_transaction_schema};

enum { TABLES_SINGLE_COUNT = sizeof tables_single / sizeof tables_single[0] };

const struct ext_schema *ext_module_at(size_t number)
{
    if (number < ext_table_count) {
        return &ext_tables[number].schema;
    }
    number -= ext_table_count;
    if (number < TABLES_SINGLE_COUNT) {
        return tables_single[number];
    }
    number -= TABLES_SINGLE_COUNT;
    if (number < kafka_scan_table_count) {
        return &kafka_scan_tables[number].schema;
    }
    number -= kafka_scan_table_count;
    if (number < kafka_table_count) {
        return &kafka_tables[number].schema;
    }
    number -= kafka_table_count;
    return number < kafka_internal_table_count ? &kafka_internal_tables[number].schema : NULL;
}

static void unregister_all(sqlite3 *db)
{
    for (size_t i = 0; i < ext_function_count; i++) {
        ext_call_unregister(db, &ext_functions[i]);
    }
    for (size_t i = 0; ext_module_at(i) != NULL; i++) {
        ext_vtab_unregister(db, ext_module_at(i));
    }
}

static int register_all(struct ext_session *session)
{
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < ext_function_count; i++) {
        if (!session->is_restricted || (ext_functions[i].flags & SQLITE_DIRECTONLY) == 0) {
            code = ext_call_register(session, &ext_functions[i]);
        }
    }
    for (size_t i = 0; code == SQLITE_OK && ext_module_at(i) != NULL; i++) {
        code = ext_vtab_register(session->db, &session->owner, ext_module_at(i));
    }
    return code;
}

/* What the connection has of the extension already. */
struct loaded {
    bool any;
    bool with_effects;
};

static bool can_prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    (void)sqlite3_finalize(statement);
    return code == SQLITE_OK;
}

/* Loading again changes nothing, since it would part the tables that there are from the functions.
 * Calling a function to see whether it is there writes to the program's error log where it is not:
 * that is for an SQLite without the pragma, and for an authorizer that refuses it. Returns a code
 * of SQLite. */
static int find_loaded(sqlite3 *db, struct loaded *loaded)
{
    sqlite3_stmt *functions = NULL;
    bool is_listed = false;
    int code = sqlite3_prepare_v2(db, "PRAGMA function_list", -1, &functions, NULL);

    *loaded = (struct loaded){.any = false};
    while (code == SQLITE_OK && (code = sqlite3_step(functions)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(functions, 0);

        is_listed = true;
        loaded->any |= name != NULL && strcmp(name, "highwater_version") == 0;
        loaded->with_effects |= name != NULL && strcmp(name, "open_cluster") == 0;
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(functions);
    if (!is_listed && code != SQLITE_NOMEM) {
        loaded->any = can_prepare(db, "SELECT highwater_version()");
        loaded->with_effects = can_prepare(db, "SELECT open_cluster('')");
        /* An open that loads us automatically would return the last error. */
        (void)can_prepare(db, "SELECT 1");
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The SQLite that loads us. Of the functions that are called through `api` this one is in the table
 * of any SQLite that can load extensions. */
static int host_version(const sqlite3_api_routines *api)
{
#ifdef SQLITE_CORE
    (void)api;
    return sqlite3_libversion_number();
#else
    return api->libversion_number();
#endif
}

/* An older SQLite has a shorter table of functions, and would be read past its end. */
static int refuse_old_sqlite(char **message, const sqlite3_api_routines *api)
{
#ifdef SQLITE_CORE
    (void)message, (void)api;
#else
    *message = api->mprintf("highwater needs SQLite " EXT_SQLITE_OLDEST_TEXT
                            " or later, this is SQLite %s",
                            api->libversion());
#endif
    return SQLITE_ERROR;
}

/*
 * All or nothing: where this returns an error, SQLite unloads the library but keeps what was
 * registered so far, so a half-done registration would leave pointers to code that is gone.
 */
static int load(sqlite3 *db, char **message, bool is_restricted)
{
    struct ext_session *session;
    struct loaded loaded;
    int code = find_loaded(db, &loaded);

    if (code == SQLITE_NOMEM) {
        return code;
    }
    if (loaded.any) {
        if (loaded.with_effects != is_restricted) {
            return SQLITE_OK;
        }
        *message =
            sqlite3_mprintf("highwater is loaded already, by the entry point that %s effects",
                            is_restricted ? "has" : "has no");
        return *message == NULL ? SQLITE_NOMEM : SQLITE_ERROR;
    }
    session = ext_session_create(db, is_restricted);
    if (session == NULL) {
        return SQLITE_NOMEM;
    }
    code = register_all(session);
    if (code != SQLITE_OK) {
        unregister_all(db);
    }
    ext_owner_release(&session->owner);
    return code;
}

#ifdef _WIN32
#define ENTRY_POINT __declspec(dllexport)
#else
#define ENTRY_POINT __attribute__((visibility("default")))
#endif

ENTRY_POINT int sqlite3_highwater_init(sqlite3 *db, char **message,
                                       const sqlite3_api_routines *api);
ENTRY_POINT int sqlite3_highwater_readonly_init(sqlite3 *db, char **message,
                                                const sqlite3_api_routines *api);

static int highwater_enter(sqlite3 *db, char **message, const sqlite3_api_routines *api,
                           bool is_restricted)
{
    if (host_version(api) < EXT_SQLITE_OLDEST) {
        return refuse_old_sqlite(message, api);
    }
    ext_api_use(api);
    return load(db, message, is_restricted);
}

int sqlite3_highwater_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    return highwater_enter(db, message, api, false);
}

/* For hosts that run other people's SQL, such as a web server: nothing that has an effect is there,
 * and kafka_ tables read below the folder that the environment variable HIGHWATER_ROOT names. */
int sqlite3_highwater_readonly_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    return highwater_enter(db, message, api, true);
}
