/* SPDX-License-Identifier: MIT */
#include "ext/live/live_module.h"

SQLITE_EXTENSION_INIT3

static void client_destroy(void *argument)
{
    struct live_client *client = argument;

    live_session_release(client->session);
    sqlite3_free(client);
}

int live_module_register(struct live_session *session, const struct live_module *module)
{
    struct live_client *client = sqlite3_malloc64(sizeof *client);

    if (client == NULL) {
        return SQLITE_NOMEM;
    }
    *client = (struct live_client){.session = session, .module = module};
    /* SQLite calls the destructor also where registering fails. */
    live_session_retain(session);
    return sqlite3_create_module_v2(session->db, module->schema.name, module->methods, client,
                                    client_destroy);
}

int live_module_declare(sqlite3 *db, const struct live_module *module, char **message)
{
    int code = ext_schema_declare(db, &module->schema, message);

    return code == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) : code;
}
