/* SPDX-License-Identifier: MIT */
#include "tests/support_sql_memory.h"

#include <stdio.h>
#include <stdlib.h>

static sqlite3_mem_methods real_memory;
int test_sql_allocations;
int test_sql_fail_at = -1;

static void *failing_malloc(int size)
{
    return test_sql_allocations++ == test_sql_fail_at ? NULL : real_memory.xMalloc(size);
}

static void *failing_realloc(void *block, int size)
{
    return test_sql_allocations++ == test_sql_fail_at ? NULL : real_memory.xRealloc(block, size);
}

void test_sql_memory_install(void)
{
    sqlite3_mem_methods failing;
    int code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);

    failing = real_memory;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    /* No lookaside: small allocations must reach the allocator that fails. */
    if (code != SQLITE_OK || sqlite3_config(SQLITE_CONFIG_MALLOC, &failing) != SQLITE_OK ||
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0) != SQLITE_OK) {
        (void)fprintf(stderr, "SQLite takes no other memory\n");
        exit(2);
    }
}

int test_sql_run(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            (void)sqlite3_column_text(statement, i);
        }
    }
    (void)sqlite3_finalize(statement);
    return code;
}
