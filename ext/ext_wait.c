/* SPDX-License-Identifier: MIT */
#include "ext/ext_wait.h"

SQLITE_EXTENSION_INIT3

/* Between two tries, as SQLite's own first ones. */
enum { WAIT_STEP_MS = 1 };

/* What is left of a COMMIT takes no time but that in which it has the mutex; a slow machine, or a
 * COMMIT that the database itself holds up, may make it longer. */
enum { WAIT_COMMIT_MS_MAX = 5000 };

/* Ask SQLite how long to wait. A statement of our own meets interrupts and progress handlers. */
static enum hw_status wait_ask(const struct ext_session *session, struct ext_wait *wait,
                               int64_t *timeout_ms, struct hw_error *error)
{
    int code = SQLITE_OK;

    *timeout_ms = 0;
    if (wait->timeout == NULL) {
        code = sqlite3_prepare_v2(session->db, "PRAGMA busy_timeout", -1, &wait->timeout, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_step(wait->timeout);
    }
    if (code == SQLITE_ROW) {
        *timeout_ms = sqlite3_column_int64(wait->timeout, 0);
    }
    (void)sqlite3_reset(wait->timeout);
    if (code == SQLITE_INTERRUPT) {
        return hw_error_set(error, HW_INTERRUPTED, "interrupted");
    }
    /* An authorizer may forbid to ask: that is a timeout of 0. */
    return code == SQLITE_NOMEM ? hw_error_no_memory(error, "the busy timeout") : HW_OK;
}

/* Let some time pass, without the mutex. Whether the call is to be done again. */
static bool wait_some(const struct ext_session *session, struct ext_wait *wait,
                      enum hw_stage_met met, enum hw_status *status, struct hw_error *error)
{
    int64_t timeout_ms;
    enum hw_status asked = wait_ask(session, wait, &timeout_ms, error);

    if (asked != HW_OK) {
        *status = asked;
        return false;
    }
    if (met == HW_MET_COMMIT && timeout_ms < WAIT_COMMIT_MS_MAX) {
        timeout_ms = WAIT_COMMIT_MS_MAX;
    }
    if (wait->slept_ms >= timeout_ms) {
        return false;
    }
    wait->slept_ms += sqlite3_sleep(WAIT_STEP_MS);
    return true;
}

bool ext_wait_unlock(struct ext_session *session, struct ext_wait *wait, enum hw_status *status,
                     struct hw_error *error)
{
    enum hw_stage_met met = HW_MET_IN_VAIN;

    if (*status == HW_BUSY) {
        met = hw_stage_wait(ext_cluster_locked(session->cluster), session->stage);
    }
    if (met != HW_MET_IN_VAIN) {
        ext_cluster_unlock(session->cluster);
        if (wait_some(session, wait, met, status, error)) {
            return true;
        }
        (void)ext_cluster_lock(session->cluster);
    }
    if (session->stage != NULL) {
        hw_stage_stop_waiting(session->stage);
    }
    ext_cluster_unlock(session->cluster);
    if (wait->timeout != NULL) {
        (void)sqlite3_finalize(wait->timeout);
    }
    return false;
}
