/* SPDX-License-Identifier: MIT */
/* A database file in a directory of its own, for tests that need more than one in memory. */
#ifndef SUPPORT_SQL_FILE_H
#define SUPPORT_SQL_FILE_H

#include "tests/support_directory.h"
#include "tests/support_sql.h"

#include <stdbool.h>

struct fixture {
    char directory[HW_PATH_MAX];
    char path[HW_PATH_MAX + 16]; /* <directory>/exp.db */
    sqlite3 *db;
    sqlite3 *other; /* A second connection; NULL: there is none. */
};

/* Open it and hand it to the test. The statements must print `expected`; NULL: there are none. */
int test_sql_file_set_up(void **state, bool has_other, const char *sql, const char *expected);

int test_sql_file_tear_down(void **state);

#endif /* SUPPORT_SQL_FILE_H */
