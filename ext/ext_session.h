/* SPDX-License-Identifier: MIT */
/*
 * What a database connection has of the extension: its cluster, opened when it is first needed, and
 * the stage of its transaction.
 *
 *     database in memory, or temporary     a cluster in memory, for this connection alone
 *     database file exp.db                 the cluster in exp.db-highwater
 *     after open_cluster(path)             that one
 *
 * SQLite's functions and modules hold references to the session; the last one released frees it.
 */
#ifndef EXT_SESSION_H
#define EXT_SESSION_H

#include "ext/ext_registry.h"

#include <sqlite3ext.h>

/* Where the connection's transaction stands; the transitions are in ext_transaction.c. */
enum ext_stage_state {
    EXT_STAGE_IDLE,    /* Nothing is staged. */
    EXT_STAGE_OPEN,    /* The transaction has touched a topic. */
    EXT_STAGE_PREPARED /* COMMIT has begun: the rows are in the logs. */
};

struct ext_session {
    int references;
    sqlite3 *db;
    struct ext_cluster *cluster; /* NULL until it is needed. */
    bool is_read_only;           /* So is the database, whose own cluster this is. */
    struct hw_stage *stage;      /* NULL until it is needed. */
    enum ext_stage_state stage_state;
    int32_t marks;            /* Levels 0 to marks-1 of savepoints are marked in the stage. */
    struct hw_buffer headers; /* Scratch of xUpdate. */
};

/* NULL if there is no memory. The caller holds one reference. */
struct ext_session *ext_session_create(sqlite3 *db);
void ext_session_retain(struct ext_session *session);
void ext_session_release(void *session);

/* The connection's cluster, opened if need be; borrowed from the session. Errors: those of
 * ext_registry_open(). */
enum hw_status ext_session_cluster(struct ext_session *session, struct ext_cluster **cluster,
                                   struct hw_error *error);

/* Whether the cluster may be changed: the database's own goes with its file. Errors: HW_REFUSED
 * with INVALID_REQUEST where that is open for reading only. */
enum hw_status ext_session_check_writable(const struct ext_session *session,
                                          struct hw_error *error);

/*
 * Attach the connection to another cluster: options->directory is a path, relative ones are
 * allowed, or NULL for a new one in memory. Errors: HW_REFUSED with INVALID_REQUEST inside a
 * transaction that has staged records, or for a path that is too long; with INVALID_CONFIG where
 * the cluster is there already and was made with another protocol or number of brokers; those of
 * ext_registry_open(). The connection then keeps the cluster that it had.
 */
enum hw_status ext_session_attach(struct ext_session *session,
                                  const struct ext_cluster_options *options,
                                  struct hw_error *error);

#endif /* EXT_SESSION_H */
