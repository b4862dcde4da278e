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

#include "ext/ext_owner.h"
#include "ext/ext_probe.h"
#include "ext/ext_registry.h"
#include "ext/ext_token.h"

#include <sqlite3ext.h>

/* Where the connection's transaction stands; the transitions are in ext_transaction.c. */
enum ext_stage_state {
    EXT_STAGE_IDLE,    /* Nothing is staged. */
    EXT_STAGE_OPEN,    /* The transaction has touched a topic. */
    EXT_STAGE_PREPARED /* COMMIT has begun: the rows are in the logs. */
};

struct ext_session {
    struct ext_owner owner; /* Must be first. */
    sqlite3 *db;
    struct ext_cluster *cluster; /* NULL until it is needed. */
    bool is_read_only;           /* As the database or its directory is, but for another cluster. */
    bool is_restricted;          /* Nothing has an effect, and files are read below `root` only. */
    char *root;                  /* NULL: none are. */
    bool is_attached;            /* By open_cluster(): it is not the database's own. */
    const char *changing;        /* The table that xCreate or xDestroy is about, while it runs; */
    bool is_dropping;            /* which of them. */
    struct hw_stage *stage;      /* NULL until it is needed. */
    enum ext_stage_state stage_state;
    struct ext_token_writer token_writer;
    bool is_beginning;        /* In xBegin, where SQLite allows no statement. */
    bool is_decided;          /* So far as the transaction has to know. */
    bool has_token;           /* The transaction that is prepared has written its token. */
    int32_t marks;            /* Levels 0 to marks-1 of savepoints are marked in the stage. */
    struct hw_buffer headers; /* Scratch of xUpdate. */
};

/* NULL if there is no memory. The caller holds one reference. A restricted one takes its root from
 * the environment variable HIGHWATER_ROOT. */
struct ext_session *ext_session_create(sqlite3 *db, bool is_restricted);

/* The connection's cluster, opened if need be; borrowed from the session. Errors: those of
 * ext_registry_open(). */
enum hw_status ext_session_cluster(struct ext_session *session, struct ext_cluster **cluster,
                                   struct hw_error *error);

/* Before a table with transactional=1 is used: its cluster is the database's own, and what an ended
 * process left open is decided. Errors: HW_REFUSED with INVALID_REQUEST where it is another one;
 * those of ext_session_cluster() and ext_token_decide(). */
enum hw_status ext_session_check_decided(struct ext_session *session, struct hw_error *error);

/* Whether the connection may have effects: who may only read the database only reads, also other
 * clusters. Errors: HW_REFUSED with INVALID_REQUEST; HW_NO_MEMORY. */
enum hw_status ext_session_check_writable(const struct ext_session *session,
                                          struct hw_error *error);

/* Whether the file or directory may be read by a table over real files. Errors: HW_REFUSED with
 * INVALID_REQUEST; HW_NO_MEMORY. */
enum hw_status ext_session_check_readable(const struct ext_session *session, const char *path,
                                          struct hw_error *error);

/* A store of real files for a table over them, in which the restricted entry finds nothing that is
 * outside of its folder, behind links neither. It asks `probe`, which must outlive it and be released
 * then, for interrupts. The caller owns *store. Errors: as hw_posix_store_create(). */
enum hw_status ext_session_open_files(const struct ext_session *session, size_t descriptors_max,
                                      struct ext_probe *probe, struct hw_store **store,
                                      struct hw_error *error);

/* Whether keys and passwords that files of brokers hold may be shown. Errors: HW_REFUSED with
 * INVALID_REQUEST. */
enum hw_status ext_session_check_secrets(const struct ext_session *session, struct hw_error *error);

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
