/* SPDX-License-Identifier: MIT */
/*
 * The oldest SQLite that is promised. It is the first one that has sqlite3_vtab_in() and
 * sqlite3_vtab_rhs_value(). What builds, tests or packages the extension reads it here.
 */
#ifndef EXT_VERSION_H
#define EXT_VERSION_H

#include <sqlite3ext.h>

#define EXT_SQLITE_OLDEST      3038000
#define EXT_SQLITE_OLDEST_TEXT "3.38.0"

#if SQLITE_VERSION_NUMBER < EXT_SQLITE_OLDEST
#error "highwater needs the headers of SQLite 3.38.0 or later"
#endif

#endif /* EXT_VERSION_H */
