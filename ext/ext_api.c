/* SPDX-License-Identifier: MIT */
/* The functions of the SQLite that has loaded the extension, for all files. */
#include "ext/ext_version.h"

#include <stddef.h>

SQLITE_EXTENSION_INIT1

void ext_api_use(const sqlite3_api_routines *api)
{
#ifdef SQLITE_CORE
    (void)api; /* Linked with SQLite: its functions are called by name. */
#else
    sqlite3_mutex *mutex =
        api->xthreadsafe() == 0 ? NULL : api->mutex_alloc(SQLITE_MUTEX_STATIC_APP1);

    if (mutex != NULL) {
        api->mutex_enter(mutex);
    }
    if (sqlite3_api != api) {
        SQLITE_EXTENSION_INIT2(api);
    }
    if (mutex != NULL) {
        api->mutex_leave(mutex);
    }
#endif
}
