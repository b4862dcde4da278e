/* SPDX-License-Identifier: MIT */
/* PRAGMA query_only, which SQLite applies to its own statements but not to functions. */
#ifndef EXT_QUERY_ONLY_H
#define EXT_QUERY_ONLY_H

#include "core/highwater.h"

#include <sqlite3ext.h>

/* Errors: HW_REFUSED with INVALID_REQUEST where it is on; HW_NO_MEMORY, HW_INTERRUPTED. */
enum hw_status ext_query_only_check(sqlite3 *db, struct hw_error *error);

#endif /* EXT_QUERY_ONLY_H */
