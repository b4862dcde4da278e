/* SPDX-License-Identifier: MIT */
/*
 * Databases with the extension loaded, and what statements print.
 *
 *     sqlite3 *db = test_sql_open(":memory:");
 *     expect_sql(db, "SELECT fetch_round('orders')", "2");
 *     expect_sql(db, "SELECT * FROM nothing", "error: no such table: nothing");
 *     test_sql_close(db);
 *
 * Columns are joined by '|' and rows by a line feed, NULL is spelled out, blobs are x'00FF'. After
 * an error the rest of the statements is left out.
 */
#ifndef SUPPORT_SQL_H
#define SUPPORT_SQL_H

#include <sqlite3.h>

/* Open a database and load the extension. Stops the program if that fails. */
sqlite3 *test_sql_open(const char *path);

/* Close it; fails the test if a statement or anything else is still open. */
#define test_sql_close(db) test_sql_close_at((db), __FILE__, __LINE__)
void test_sql_close_at(sqlite3 *db, const char *file, int line);

/* What the statements print, without the last line feed. Valid until the next call. */
const char *test_sql(sqlite3 *db, const char *sql);

/* Fail the test, in words, unless the statements print exactly that. */
#define expect_sql(db, sql, expected) expect_sql_at((db), (sql), (expected), __FILE__, __LINE__)
void expect_sql_at(sqlite3 *db, const char *sql, const char *expected, const char *file, int line);

/* The same, for an error: it begins with `beginning`, is one line, and has SQLite's code. */
#define expect_error(db, sql, code, beginning)                                                     \
    expect_error_at((db), (sql), (code), (beginning), __FILE__, __LINE__)
void expect_error_at(sqlite3 *db, const char *sql, int code, const char *beginning,
                     const char *file, int line);

/* Both databases print the same for the statements. */
#define expect_same_sql(db, sql, other_sql)                                                        \
    expect_same_sql_at((db), (sql), (other_sql), __FILE__, __LINE__)
void expect_same_sql_at(sqlite3 *db, const char *sql, const char *other_sql, const char *file,
                        int line);

#endif /* SUPPORT_SQL_H */
