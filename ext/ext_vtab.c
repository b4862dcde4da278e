/* SPDX-License-Identifier: MIT */
#include "ext/ext_vtab.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

int ext_vtab_register(sqlite3 *db, struct ext_owner *owner, const struct ext_schema *schema)
{
    struct ext_client *client = ext_client_create(owner, schema);

    return client == NULL ? SQLITE_NOMEM
                          : sqlite3_create_module_v2(db, schema->name, &schema->driver->methods,
                                                     client, ext_client_destroy);
}

void ext_vtab_unregister(sqlite3 *db, const struct ext_schema *schema)
{
    (void)sqlite3_create_module_v2(db, schema->name, NULL, NULL, NULL);
}

int ext_vtab_make(sqlite3 *db, void *client_argument, struct ext_vtab **made, char **message)
{
    const struct ext_client *client = client_argument;
    const struct ext_schema *schema = client->definition;
    const struct ext_driver *driver = schema->driver;
    struct ext_vtab *table;
    int code = ext_schema_declare(db, schema, message);

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
    table->owner = client->owner;
    table->schema = schema;
    ext_owner_retain(table->owner);
    *made = table;
    return SQLITE_OK;
}

void ext_vtab_free(struct ext_vtab *table)
{
    ext_owner_release(table->owner);
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
