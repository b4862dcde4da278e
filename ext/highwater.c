/* SPDX-License-Identifier: MIT */
/*
 * The door of the extension: registers its functions and tables with a connection.
 *
 *     .load ./highwater
 *     CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3);
 *     SELECT name, signature FROM hw_help;
 *
 * Functions are listed in functions.c, tables in tables.c and modules.c. No rule of replication is
 * decided in ext/: a function turns SQL values into one call of the core, and its answer into a SQL
 * value.
 */
#include "ext/files/kafka_tables.h"
#include "ext/functions/functions.h"
#include "ext/modules.h"
#include "ext/tables/tables.h"
#include "ext/tables/vtab_table.h"

#include <string.h>

SQLITE_EXTENSION_INIT1

/* Registering NULL removes what has the name; that nothing has it is fine. */
static void unregister_all(sqlite3 *db)
{
    for (size_t i = 0; i < ext_function_count; i++) {
        ext_call_unregister(db, &ext_functions[i]);
    }
    for (size_t i = 0; i < ext_table_count; i++) {
        (void)sqlite3_create_module_v2(db, ext_tables[i].schema.name, NULL, NULL, NULL);
    }
    for (size_t i = 0; i < ext_module_count; i++) {
        (void)sqlite3_create_module_v2(db, ext_modules[i].schema->name, NULL, NULL, NULL);
    }
    kafka_tables_unregister(db);
}

static int register_all(struct ext_session *session)
{
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < ext_function_count; i++) {
        code = ext_call_register(session, &ext_functions[i]);
    }
    for (size_t i = 0; code == SQLITE_OK && i < ext_table_count; i++) {
        code = vtab_table_register(session, &ext_tables[i]);
    }
    for (size_t i = 0; code == SQLITE_OK && i < ext_module_count; i++) {
        /* SQLite releases the reference again, even where registering fails. */
        ext_session_retain(session);
        code = sqlite3_create_module_v2(session->db, ext_modules[i].schema->name,
                                        ext_modules[i].module, session, ext_session_release);
    }
    return code == SQLITE_OK ? kafka_tables_register(session->db) : code;
}

/* Threads may load the extension at the same time, while others use it already: the pointer through
 * which everything is called is written once. An SQLite without threads has no mutexes. */
static void use_api(const sqlite3_api_routines *api)
{
#ifdef SQLITE_CORE
    (void)api; /* Linked with SQLite: its functions are called by name. */
#else
    sqlite3_mutex *mutex =
        api->xthreadsafe() == 0 ? NULL : api->mutex_alloc(SQLITE_MUTEX_STATIC_APP1);

    if (mutex != NULL) {
        api->mutex_enter(mutex);
    }
    if (sqlite3_api != api) {
        SQLITE_EXTENSION_INIT2(api);
    }
    if (mutex != NULL) {
        api->mutex_leave(mutex);
    }
#endif
}

/* Whether the connection has the extension already: loading it again changes nothing, since it
 * would part the tables that there are from the functions. Calling one of them to see whether it is
 * there would write to the program's error log. Returns a code of SQLite. */
static int find_loaded(sqlite3 *db, bool *found)
{
    sqlite3_stmt *functions = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA function_list", -1, &functions, NULL);

    *found = false;
    while (code == SQLITE_OK && !*found && (code = sqlite3_step(functions)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(functions, 0);

        *found = name != NULL && strcmp(name, ext_functions[0].name) == 0;
        code = SQLITE_OK;
    }
    (void)sqlite3_finalize(functions);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

#ifdef _WIN32
__declspec(dllexport)
#else
__attribute__((visibility("default")))
#endif
    int sqlite3_highwater_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

/*
 * All or nothing: where this returns an error, SQLite unloads the library but keeps what was
 * registered so far, so a half-done registration would leave pointers to code that is gone.
 */
int sqlite3_highwater_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    struct ext_session *session;
    bool is_loaded;
    int code;

    use_api(api);
    (void)message;
    code = find_loaded(db, &is_loaded);
    if (code == SQLITE_NOMEM || is_loaded) {
        return code;
    }
    session = ext_session_create(db);
    if (session == NULL) {
        return SQLITE_NOMEM;
    }
    code = register_all(session);
    if (code != SQLITE_OK) {
        unregister_all(db);
    }
    ext_session_release(session);
    return code;
}
