/* SPDX-License-Identifier: MIT */
/*
 * The oldest SQLite that is promised, and tested. sqlite3_vtab_in() and sqlite3_vtab_rhs_value() came
 * with 3.38, paths without links and doubled slashes, by which a cluster is known, with 3.39. What
 * builds, tests or packages the extension reads it here.
 */
#ifndef EXT_VERSION_H
#define EXT_VERSION_H

#include <sqlite3ext.h>

#define EXT_SQLITE_OLDEST      3039000
#define EXT_SQLITE_OLDEST_TEXT "3.39.0"

#if SQLITE_VERSION_NUMBER < EXT_SQLITE_OLDEST
#error "highwater needs the headers of SQLite 3.39.0 or later"
#endif

/* Call SQLite through `api` from now on. Threads may load the extension at the same time, while
 * others use it already: the pointer is written once. An SQLite without threads has no mutexes. */
void ext_api_use(const sqlite3_api_routines *api);

#endif /* EXT_VERSION_H */
