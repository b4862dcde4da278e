/* SPDX-License-Identifier: MIT */
/* Whether a call that takes long is to stop, asked in a way that every SQLite answers. */
#ifndef EXT_PROBE_H
#define EXT_PROBE_H

#include <sqlite3ext.h>
#include <stdbool.h>

/* A statement of our own, stepped again and again, meets sqlite3_interrupt() and a progress
 * handler. */
struct ext_probe {
    sqlite3 *db;
    sqlite3_stmt *statement; /* NULL until somebody asks. */
};

/* For struct hw_interrupt; `context` is the probe. */
bool ext_probe_is_interrupted(void *context);
void ext_probe_release(struct ext_probe *probe);

#endif /* EXT_PROBE_H */
