/* SPDX-License-Identifier: MIT */
/*
 * Processes that are killed while they use a database: at any of their system calls, or at any
 * time.
 */
#ifndef SUPPORT_SQL_KILL_H
#define SUPPORT_SQL_KILL_H

#include <stdbool.h>

/* Run `sql` on the database in a child under ptrace(), which stops before and behind each of its
 * system calls, and kill it at its stop number `stop`. Returns whether it was killed: else it has
 * closed the database and ended by itself. */
bool test_sql_kill_at(const char *path, const char *sql, long stop);

/* What is told of a child that runs, while it waits. */
struct test_sql_trace {
    /* Before a system call that may change a file, and once more at the end: what is in the files
     * now is what they would have had the process been killed since the call before. */
    void (*visit)(void *context, long number);
    /* Before a call that syncs the file or directory; NULL: nobody asks. */
    void (*sync)(void *context, const char *path);
    void *context;
};

/* Run `sql` on the database in a child, and trace it from when it has opened the cluster. */
void test_sql_trace(const char *path, const char *sql, const struct test_sql_trace *trace);

/* Run `sql` on the database in a child, and kill it so many microseconds after it has begun.
 * Returns whether it was killed. */
bool test_sql_kill_after(const char *path, const char *sql, long microseconds);

#endif /* SUPPORT_SQL_KILL_H */
