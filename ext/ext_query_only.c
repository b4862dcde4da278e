/* SPDX-License-Identifier: MIT */
#include "ext/ext_query_only.h"

#include "ext/ext_error.h"

SQLITE_EXTENSION_INIT3

enum hw_status ext_query_only_check(sqlite3 *db, struct hw_error *error)
{
    sqlite3_stmt *pragma = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA query_only", -1, &pragma, NULL);
    bool is_on = false;

    if (code == SQLITE_OK) {
        code = sqlite3_step(pragma);
        is_on = code == SQLITE_ROW && sqlite3_column_int(pragma, 0) != 0;
    }
    (void)sqlite3_finalize(pragma);
    if (code == SQLITE_NOMEM || code == SQLITE_INTERRUPT) {
        return ext_error_from_sqlite(error, db, code, "PRAGMA query_only");
    }
    /* An authorizer may forbid to ask; then it is not on. */
    return is_on ? ext_error_invalid(error, "PRAGMA query_only is on: nothing may have an effect")
                 : HW_OK;
}
