/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a cluster: in slices, so that sqlite3_interrupt() and a progress handler are heeded
 * between two of them, and until the time-out of the connection is over.
 *
 *     live_wait_begin(&wait, db, cluster->timeout_ms);
 *     do {
 *         answer = ask(..., live_wait_slice_ms(&wait));
 *     } while (answer == none && (status = live_wait_again(&wait, &error)) == HW_OK);
 *
 * A call that did not get its answer within a slice has to ask again, and would never get one from
 * a cluster that takes longer: so the slices grow where nothing was heard for a second.
 */
#ifndef LIVE_WAIT_H
#define LIVE_WAIT_H

#include "core/highwater.h"

#include <sqlite3ext.h>

struct live_wait {
    sqlite3 *db;
    int timeout_ms;
    int64_t began_ms; /* Of the clock that only grows. */
    int slices;       /* How many there were. */
};

void live_wait_begin(struct live_wait *wait, sqlite3 *db, int timeout_ms);

/* Something was heard: the time-out begins anew. */
void live_wait_heard(struct live_wait *wait);

/* Milliseconds since the begin, or since something was heard. */
int64_t live_wait_waited_ms(const struct live_wait *wait);

/* How long the next call may block: 1 to 1000 ms, mostly 50. */
int live_wait_slice_ms(struct live_wait *wait);

/* Whether there may be another slice. Errors: HW_INTERRUPTED; HW_BUSY where the time-out is over,
 * for which the caller has the better words. */
enum hw_status live_wait_again(const struct live_wait *wait, struct hw_error *error);

/* Whether somebody asked to stop: HW_OK or HW_INTERRUPTED. */
enum hw_status live_wait_check(sqlite3 *db, struct hw_error *error);

#endif /* LIVE_WAIT_H */
