/* SPDX-License-Identifier: MIT */
/* SQLite's memory, which runs out when a test says so. */
#ifndef SUPPORT_SQL_MEMORY_H
#define SUPPORT_SQL_MEMORY_H

#include <sqlite3.h>

/* Allocations since a test has set it to 0, and which of them fails, from 0 on; -1: none. */
extern int test_sql_allocations;
extern int test_sql_fail_at;

/* Have SQLite, which has not begun yet, use it. Stops the program if that fails. */
void test_sql_memory_install(void);

/* Step through all rows, reading each column, so that results are made too. Returns SQLite's code:
 * SQLITE_DONE if nothing failed. */
int test_sql_run(sqlite3 *db, const char *sql);

#endif /* SUPPORT_SQL_MEMORY_H */
