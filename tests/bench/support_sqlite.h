/* SPDX-License-Identifier: MIT */
/*
 * Databases for benchmarks: with the extension, with an ordinary table, or with a virtual table
 * that does nothing. A mistake in SQL stops the program.
 */
#ifndef BENCH_SUPPORT_SQLITE_H
#define BENCH_SUPPORT_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

/* Open a database; with `path` NULL one in memory. */
sqlite3 *bench_sql_open(const char *path);

/* Load the extension; with `cluster` not NULL the data goes into that directory. */
void bench_sql_load(sqlite3 *db, const char *cluster);

/* Run statements that take no arguments, without their rows. */
void bench_sql(sqlite3 *db, const char *sql);

sqlite3_stmt *bench_sql_prepare(sqlite3 *db, const char *sql);

/* Step through all rows, and reset. Returns how many there were. */
int64_t bench_sql_run(sqlite3_stmt *statement);

/* Create the table t, as an ordinary one or (`is_topic`) as a topic with one replica, and fill it
 * with rows in transactions of 100,000. */
void bench_sql_fill(sqlite3 *db, bool is_topic, int64_t rows, int value_size);

/* The module `null_sink`: a table with the columns of a topic, whose INSERT does nothing. */
void bench_sql_add_null_sink(sqlite3 *db);

#endif /* BENCH_SUPPORT_SQLITE_H */
