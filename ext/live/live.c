/* SPDX-License-Identifier: MIT */
/*
 * The door of the second extension: topics of a real Kafka cluster as tables, through librdkafka.
 *
 *     .load ./highwater_live
 *     SELECT live_connect('prod', '{"bootstrap.servers":"localhost:9092"}');
 *     CREATE VIRTUAL TABLE orders USING highwater_live(topic=orders, connection=prod);
 *
 * It shares helpers of ext/ with highwater.so as sources; each library has its own copy, and
 * neither knows whether the other is loaded.
 */
#include "ext/ext_version.h"
#include "ext/ext_vtab.h"
#include "ext/live/live_call.h"
#include "ext/live/live_tables.h"
#include "ext/live/live_topic.h"

SQLITE_EXTENSION_INIT3

static const struct ext_schema *module_at(size_t number)
{
    return number == 0 ? &vtab_live_topic : live_table_at(number - 1);
}

/* All or nothing: where loading fails, SQLite unloads the library but keeps what was registered. */
static int register_all(struct live_session *session)
{
    int code = live_functions_register(session);

    for (size_t i = 0; code == SQLITE_OK && module_at(i) != NULL; i++) {
        code = ext_vtab_register(session->db, &session->owner, module_at(i));
    }
    if (code != SQLITE_OK) {
        live_functions_unregister(session->db);
        for (size_t i = 0; module_at(i) != NULL; i++) {
            ext_vtab_unregister(session->db, module_at(i));
        }
    }
    return code;
}

/* Loading again changes nothing: it would part the tables that there are from the connections. */
static int find_loaded(sqlite3 *db, bool *is_loaded)
{
    sqlite3_stmt *functions = NULL;
    int code = sqlite3_prepare_v2(
        db, "SELECT 1 FROM pragma_function_list WHERE name = 'live_connect'", -1, &functions, NULL);

    if (code == SQLITE_OK) {
        code = sqlite3_step(functions);
    }
    *is_loaded = code == SQLITE_ROW;
    (void)sqlite3_finalize(functions);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

__attribute__((visibility("default"))) int
sqlite3_highwaterlive_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

int sqlite3_highwaterlive_init(sqlite3 *db, char **message, const sqlite3_api_routines *api)
{
    struct live_session *session;
    bool is_loaded = false;
    int code;

    if (api->libversion_number() < EXT_SQLITE_OLDEST) {
        *message = api->mprintf("highwater_live needs SQLite " EXT_SQLITE_OLDEST_TEXT
                                " or later, this is SQLite %s",
                                api->libversion());
        return SQLITE_ERROR;
    }
    ext_api_use(api);
    code = find_loaded(db, &is_loaded);
    if (code != SQLITE_OK || is_loaded) {
        return code;
    }
    session = live_session_create(db);
    if (session == NULL) {
        return SQLITE_NOMEM;
    }
    code = register_all(session);
    ext_owner_release(&session->owner);
    /* librdkafka and the libraries below it keep state of the process and may have threads that are
     * about to end: the code must not go with the connection. */
    return code == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : code;
}
