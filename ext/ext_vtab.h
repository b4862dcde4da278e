/* SPDX-License-Identifier: MIT */
/*
 * What the drivers of tables have in common: how a table is registered, connected and left, and how
 * a cursor is made.
 *
 *     static const struct ext_driver ...   the methods of one driver, and how large its structs are
 *     struct ext_schema                    one table: its columns, its help, its driver
 *     ext_vtab_register()                  both to SQLite
 */
#ifndef EXT_VTAB_H
#define EXT_VTAB_H

#include "ext/ext_owner.h"
#include "ext/ext_schema.h"

#include <stddef.h>

struct ext_session;
struct live_session;

struct ext_driver {
    /* xCreate stays NULL where the table is always there and cannot be created by another name. */
    sqlite3_module methods;
    size_t table_size;  /* Of a struct that begins with struct ext_vtab. */
    size_t cursor_size; /* Of a struct that begins with sqlite3_vtab_cursor. */
    bool is_directonly; /* A schema that somebody else made must not use it. */
};

/* What each table begins with. */
struct ext_vtab {
    sqlite3_vtab base; /* Must be first. */
    union {            /* The session that begins with it, in either library. */
        struct ext_owner *owner;
        struct ext_session *session;
        struct live_session *live;
    };
    const struct ext_schema *schema;
};

/* On success SQLite holds a reference to the owner; on an error nothing is registered. Returns a
 * code of SQLite. */
int ext_vtab_register(sqlite3 *db, struct ext_owner *owner, const struct ext_schema *schema);

/* Removes what has the name; that nothing has it is fine. */
void ext_vtab_unregister(sqlite3 *db, const struct ext_schema *schema);

/* A table declared to SQLite, all of its own fields zero. `client` is what xConnect and xCreate
 * get. Returns a code of SQLite. */
int ext_vtab_make(sqlite3 *db, void *client, struct ext_vtab **made, char **message);
void ext_vtab_free(struct ext_vtab *table);

/* xConnect and xDisconnect of a table that has nothing more, and xOpen of a cursor that begins as
 * zeros. */
int ext_vtab_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                     sqlite3_vtab **vtab, char **message);
int ext_vtab_disconnect(sqlite3_vtab *vtab);
int ext_vtab_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **cursor);

/* These, and those of a cursor that begins with a struct ext_rows_cursor, among a driver's methods. */
#define EXT_VTAB_METHODS                                                                           \
    .xConnect = ext_vtab_connect, .xDisconnect = ext_vtab_disconnect, .xOpen = ext_vtab_open
#define EXT_VTAB_ROWS_METHODS                                                                      \
    EXT_VTAB_METHODS, .xClose = ext_rows_cursor_close, .xNext = ext_rows_cursor_next,              \
                      .xEof = ext_rows_cursor_eof, .xColumn = ext_rows_cursor_column

#endif /* EXT_VTAB_H */
