/* SPDX-License-Identifier: MIT */
#include "ext/live/live_wait.h"

#include <time.h>

SQLITE_EXTENSION_INIT3

enum { SLICE_MS = 50, SLICE_MS_MAX = 1000, SLICES_SHORT = 20 };

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void live_wait_begin(struct live_wait *wait, sqlite3 *db, int timeout_ms)
{
    *wait = (struct live_wait){.db = db, .timeout_ms = timeout_ms, .began_ms = now_ms()};
}

void live_wait_heard(struct live_wait *wait)
{
    wait->began_ms = now_ms();
    wait->slices = 0;
}

int64_t live_wait_waited_ms(const struct live_wait *wait)
{
    return now_ms() - wait->began_ms;
}

int live_wait_slice_ms(struct live_wait *wait)
{
    int64_t left_ms = wait->timeout_ms - live_wait_waited_ms(wait);
    int64_t slice_ms = SLICE_MS;

    if (wait->slices >= SLICES_SHORT) {
        slice_ms = wait->slices % 4 == 3 ? SLICE_MS_MAX : SLICE_MS * 4;
    }
    wait->slices++;
    slice_ms = slice_ms < left_ms ? slice_ms : left_ms;
    return slice_ms < 1 ? 1 : (int)slice_ms;
}

enum hw_status live_wait_check(sqlite3 *db, struct hw_error *error)
{
    /* SQLite tells of an interrupt by ending a statement only, and calls a progress handler after
     * some number of steps only: this one has as many as the larger numbers in use. */
    static const char steps[] = "WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM c"
                                " WHERE i < 500) SELECT count(*) FROM c";
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, steps, -1, &statement, NULL);

    if (code == SQLITE_OK) {
        code = sqlite3_step(statement);
    }
    (void)sqlite3_finalize(statement);
    return code == SQLITE_INTERRUPT ? hw_error_set(error, HW_INTERRUPTED, "interrupted") : HW_OK;
}

enum hw_status live_wait_again(const struct live_wait *wait, struct hw_error *error)
{
    enum hw_status status = live_wait_check(wait->db, error);

    if (status == HW_OK && live_wait_waited_ms(wait) >= wait->timeout_ms) {
        return hw_error_set(error, HW_BUSY, "nothing was heard for %d ms", wait->timeout_ms);
    }
    return status;
}
