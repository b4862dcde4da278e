/* SPDX-License-Identifier: MIT */
/* Asked of SQLite by statements of our own, in a way that every one answers: whether a call that takes
 * long is to stop, and whether anything may have an effect. */
#ifndef EXT_PROBE_H
#define EXT_PROBE_H

#include "core/highwater.h"

#include <sqlite3ext.h>

/* A statement of our own, stepped again and again, meets sqlite3_interrupt() and a progress
 * handler. */
struct ext_probe {
    sqlite3 *db;
    sqlite3_stmt *statement; /* NULL until somebody asks. */
};

/* For struct hw_interrupt; `context` is the probe. */
bool ext_probe_is_interrupted(void *context);
void ext_probe_release(struct ext_probe *probe);

/* PRAGMA query_only, which SQLite applies to its own statements but not to functions. Errors:
 * HW_REFUSED with INVALID_REQUEST where it is on; HW_NO_MEMORY, HW_INTERRUPTED. */
enum hw_status ext_query_only_check(sqlite3 *db, struct hw_error *error);

#endif /* EXT_PROBE_H */
