/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a partition that the transaction of another connection has written to, as SQLite
 * waits for the lock of a file:
 *
 *     that transaction is open        as long as PRAGMA busy_timeout says
 *
 *     its COMMIT is under way         longer too: SQLite gives its lock back before the last step
 *                                     of a COMMIT, and has let this statement through
 *
 *     it waits for this one, or is    not at all
 *     this connection's own
 *
 * The cluster's mutex is released meanwhile. sqlite3_interrupt() and a progress handler end it. A
 * busy handler of the host's own cannot be called from here: it counts as a timeout of 0.
 */
#ifndef EXT_WAIT_H
#define EXT_WAIT_H

#include "ext/ext_session.h"

/* Of one call and its repetitions; begins with zeros. */
struct ext_wait {
    sqlite3_stmt *timeout; /* PRAGMA busy_timeout; NULL until there is something to wait for. */
    int64_t slept_ms;
};

/*
 * Release the mutex after a call on the session's cluster that returned *status. True: that was
 * HW_BUSY, some time has passed, and the call is to be done again, and then this. False: it is
 * over, with *status, which is HW_INTERRUPTED or HW_NO_MEMORY if the waiting ended so.
 */
bool ext_wait_unlock(struct ext_session *session, struct ext_wait *wait, enum hw_status *status,
                     struct hw_error *error);

#endif /* EXT_WAIT_H */
