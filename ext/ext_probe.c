/* SPDX-License-Identifier: MIT */
#include "ext/ext_probe.h"

#include "ext/ext_error.h"

SQLITE_EXTENSION_INIT3

bool ext_probe_is_interrupted(void *context)
{
    struct ext_probe *probe = context;
    int code = SQLITE_OK;

    if (probe->statement == NULL) {
        code = sqlite3_prepare_v2(probe->db, "SELECT 1", -1, &probe->statement, NULL);
    }
    code = code == SQLITE_OK ? sqlite3_step(probe->statement) : code;
    (void)sqlite3_reset(probe->statement);
    return code == SQLITE_INTERRUPT;
}

void ext_probe_release(struct ext_probe *probe)
{
    (void)sqlite3_finalize(probe->statement);
    probe->statement = NULL;
}

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
