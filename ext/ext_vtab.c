/* SPDX-License-Identifier: MIT */
#include "ext/ext_vtab.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* What SQLite keeps for a registered module. */
struct ext_vtab_client {
    struct ext_session *session;
    const struct ext_schema *schema;
};

static void ext_vtab_client_destroy(void *argument)
{
    struct ext_vtab_client *client = argument;

    ext_session_release(client->session);
    sqlite3_free(client);
}

int ext_vtab_register(struct ext_session *session, const struct ext_schema *schema)
{
    struct ext_vtab_client *client = sqlite3_malloc64(sizeof *client);

    if (client == NULL) {
        return SQLITE_NOMEM;
    }
    *client = (struct ext_vtab_client){.session = session, .schema = schema};
    /* SQLite calls the destructor also where registering fails. */
    ext_session_retain(session);
    return sqlite3_create_module_v2(session->db, schema->name, &schema->driver->methods, client,
                                    ext_vtab_client_destroy);
}

void ext_vtab_unregister(sqlite3 *db, const struct ext_schema *schema)
{
    (void)sqlite3_create_module_v2(db, schema->name, NULL, NULL, NULL);
}

int ext_vtab_make(sqlite3 *db, void *client_argument, struct ext_vtab **made, char **message)
{
    const struct ext_vtab_client *client = client_argument;
    const struct ext_driver *driver = client->schema->driver;
    struct ext_vtab *table;
    int code = ext_schema_declare(db, client->schema, message);

    if (code == SQLITE_OK && driver->is_directonly) {
        code = sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY);
    }
    if (code != SQLITE_OK) {
        return code;
    }
    table = sqlite3_malloc64(driver->table_size);
    if (table == NULL) {
        return SQLITE_NOMEM;
    }
    memset(table, 0, driver->table_size);
    table->session = client->session;
    table->schema = client->schema;
    ext_session_retain(table->session);
    *made = table;
    return SQLITE_OK;
}

void ext_vtab_free(struct ext_vtab *table)
{
    ext_session_release(table->session);
    sqlite3_free(table);
}

int ext_vtab_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                     sqlite3_vtab **vtab, char **message)
{
    struct ext_vtab *table = NULL;
    int code = ext_vtab_make(db, client, &table, message);

    (void)argc, (void)argv;
    if (code == SQLITE_OK) {
        *vtab = &table->base;
    }
    return code;
}

int ext_vtab_disconnect(sqlite3_vtab *vtab)
{
    ext_vtab_free((struct ext_vtab *)vtab);
    return SQLITE_OK;
}

int ext_vtab_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor)
{
    size_t size = ((const struct ext_vtab *)vtab)->schema->driver->cursor_size;

    *cursor = sqlite3_malloc64(size);
    if (*cursor == NULL) {
        return SQLITE_NOMEM;
    }
    memset(*cursor, 0, size);
    return SQLITE_OK;
}
