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

/*
 * Run `sql` on the database in a child, once it has opened it, and call visit() before each system
 * call of the child that may change a file, and once more at its end: what is in the files then is
 * what they would have had the process been killed since the call before. The child waits meanwhile.
 */
void test_sql_visit_changes(const char *path, const char *sql,
                            void (*visit)(void *context, long number), void *context);

/* Run `sql` on the database in a child, and kill it so many microseconds after it has begun.
 * Returns whether it was killed. */
bool test_sql_kill_after(const char *path, const char *sql, long microseconds);

#endif /* SUPPORT_SQL_KILL_H */
