/* SPDX-License-Identifier: MIT */
/* What a table of this extension is registered with. */
#ifndef LIVE_MODULE_H
#define LIVE_MODULE_H

#include "ext/ext_schema.h"
#include "ext/live/live_session.h"

struct live_module {
    struct ext_schema schema;
    const sqlite3_module *methods;
};

/* What xCreate and xConnect get. */
struct live_client {
    struct live_session *session;
    const struct live_module *module;
};

/* On success SQLite holds a reference to the session; on an error nothing is registered. Returns a
 * code of SQLite. */
int live_module_register(struct live_session *session, const struct live_module *module);

/* Declare the columns, for statements that a person writes alone: a trigger or a view of a database
 * file must not reach a cluster. Returns a code of SQLite. */
int live_module_declare(sqlite3 *db, const struct live_module *module, char **message);

#endif /* LIVE_MODULE_H */
