/* SPDX-License-Identifier: MIT */
#include "tests/support_sql_file.h"

#include <stdio.h>

int test_sql_file_set_up(void **state, bool has_other, const char *sql, const char *expected)
{
    static struct fixture fixture;

    test_directory_make(fixture.directory);
    (void)snprintf(fixture.path, sizeof fixture.path, "%s/exp.db", fixture.directory);
    fixture.db = test_sql_open(fixture.path);
    fixture.other = has_other ? test_sql_open(fixture.path) : NULL;
    if (sql != NULL) {
        expect_sql(fixture.db, sql, expected);
    }
    *state = &fixture;
    return 0;
}

int test_sql_file_tear_down(void **state)
{
    struct fixture *f = *state;

    test_sql_close(f->db);
    if (f->other != NULL) {
        test_sql_close(f->other);
    }
    test_directory_remove(f->directory);
    return 0;
}
