/* SPDX-License-Identifier: MIT */
/* SQL functions by which a cluster in memory goes back to what it was. */
#include "ext/functions/functions.h"

SQLITE_EXTENSION_INIT3

/* Statements that have begun and not ended, this one among them. */
static int explore_busy_statements(sqlite3 *db)
{
    int count = 0;

    for (sqlite3_stmt *statement = sqlite3_next_stmt(db, NULL); statement != NULL;
         statement = sqlite3_next_stmt(db, statement)) {
        count += sqlite3_stmt_busy(statement) != 0;
    }
    return count;
}

/* The cluster, if nobody is in the middle of something that would not go back with it. */
static struct hw_cluster *explore_lock_alone(struct ext_call *call)
{
    struct hw_cluster *cluster;

    if (call->status == HW_OK && sqlite3_get_autocommit(call->session->db) == 0) {
        ext_call_refuse(call, "%s(): not inside a transaction: COMMIT or ROLLBACK it first",
                        call->function->name);
    }
    cluster = ext_call_lock(call);
    if (cluster != NULL && (ext_cluster_has_cursors(call->session->cluster) ||
                            explore_busy_statements(call->session->db) > 1)) {
        call->status =
            hw_error_set(&call->error, HW_BUSY, "%s(): a statement is open: end or reset it first",
                         call->function->name);
        return NULL;
    }
    return cluster;
}

static void explore_move(struct ext_call *call,
                         enum hw_status (*move)(struct hw_cluster *cluster, const char *name,
                                                hw_time_ms_t *now_ms, struct hw_error *error))
{
    const char *name = ext_call_text(call, 0, "name");
    struct hw_cluster *cluster = explore_lock_alone(call);
    hw_time_ms_t now_ms = 0;

    if (cluster != NULL) {
        call->status = move(cluster, name, &now_ms, &call->error);
    }
    ext_call_return_integer(call, now_ms);
}

void fn_snapshot(struct ext_call *call)
{
    explore_move(call, hw_cluster_snapshot);
}

void fn_rewind(struct ext_call *call)
{
    explore_move(call, hw_cluster_rewind);
}

void fn_forget(struct ext_call *call)
{
    const char *name = ext_call_text(call, 0, "name");
    struct hw_cluster *cluster = explore_lock_alone(call);
    int64_t left = 0;

    if (cluster != NULL) {
        call->status = hw_cluster_forget(cluster, name, &left, &call->error);
    }
    ext_call_return_integer(call, left);
}
