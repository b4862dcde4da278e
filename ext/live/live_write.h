/* SPDX-License-Identifier: MIT */
/* The methods of a live table that write: xUpdate, and those that follow SQLite's transaction. */
#ifndef LIVE_WRITE_H
#define LIVE_WRITE_H

#include <sqlite3ext.h>

int live_write_update(sqlite3_vtab *vtab, int argc, sqlite3_value **argv, sqlite3_int64 *rowid);
int live_write_begin(sqlite3_vtab *vtab);
int live_write_sync(sqlite3_vtab *vtab);
int live_write_commit(sqlite3_vtab *vtab);
int live_write_rollback(sqlite3_vtab *vtab);
int live_write_savepoint(sqlite3_vtab *vtab, int level);
int live_write_release(sqlite3_vtab *vtab, int level);
int live_write_rollback_to(sqlite3_vtab *vtab, int level);

#endif /* LIVE_WRITE_H */
