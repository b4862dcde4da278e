/* SPDX-License-Identifier: MIT */
/*
 * What a database connection has of this extension: the clusters that it was told of, and the rows
 * of its transaction.
 *
 * Nobody is dialled whom the connection's own SQL did not name: live_connect(name, properties) and
 * live_allow(servers) do. What a schema says is not enough.
 *
 * SQLite's functions and modules hold references; the last one released ends all handles.
 */
#ifndef LIVE_SESSION_H
#define LIVE_SESSION_H

#include "ext/ext_owner.h"
#include "ext/live/live_cluster.h"
#include "ext/live/live_stage.h"
#include "ext/live/live_tally.h"

/* How the last COMMIT with rows ended. */
enum live_outcome {
    LIVE_NOTHING_YET,
    LIVE_COMMITTED,
    LIVE_FAILED,      /* Without a transaction of Kafka's: some rows may be there. */
    LIVE_ROLLED_BACK, /* In SQLite, after Kafka had the rows. */
    LIVE_UNKNOWN      /* Kafka did not say how its transaction ended. */
};

struct live_session {
    struct ext_owner owner; /* Must be first. */
    sqlite3 *db;
    struct live_cluster *clusters;
    struct live_stage stage;           /* Of the transaction that is open, */
    struct live_cluster *writing;      /* the cluster that it is for; NULL: no row yet, */
    uint64_t transaction;              /* and its number, from 1 on. */
    struct hw_buffer headers;          /* Scratch: of one record. */
    struct live_tally last;            /* Of the last COMMIT with rows, */
    enum live_outcome outcome;         /* how it ended, */
    struct live_cluster *last_cluster; /* and where; NULL: that connection is gone. */
};

/* NULL if there is no memory. The caller holds one reference. */
struct live_session *live_session_create(sqlite3 *db);

/*
 * The cluster that live_connect() gave this name, or whose servers live_allow() was told of.
 * Errors: HW_REFUSED with INVALID_REQUEST and what to call, also in a process that a fork() made.
 */
enum hw_status live_session_find(struct live_session *session, const char *name,
                                 struct live_cluster **cluster, struct hw_error *error);
enum hw_status live_session_find_allowed(struct live_session *session, const char *servers,
                                         struct live_cluster **cluster, struct hw_error *error);

/* Add one. Takes over the properties. Errors: HW_REFUSED with INVALID_REQUEST where the name is
 * taken; those of live_cluster_create(). */
enum hw_status live_session_connect(struct live_session *session, const char *name,
                                    struct ext_config_list *properties, struct hw_error *error);

/* Let tables dial these servers. That they may already is fine. */
enum hw_status live_session_allow(struct live_session *session, const char *servers,
                                  struct hw_error *error);

/* End one, with its handles. Errors: HW_REFUSED with INVALID_REQUEST where there is none, or a
 * statement or the open transaction uses it. */
enum hw_status live_session_disconnect(struct live_session *session, const char *name,
                                       struct hw_error *error);

/*
 * live_send.c: what COMMIT does. Sends the rows that were not sent yet, and waits until the cluster
 * has acknowledged all of them; session->last and outcome then tell of them. Where it fails some rows
 * may be in the log, and the error counts them; with a transactional.id none are, for readers of
 * committed records. Errors, after which the connection's producer is a new one: HW_NO_MEMORY; HW_IO;
 * HW_INTERRUPTED; HW_REFUSED with Kafka's error of the first row that failed.
 */
enum hw_status live_send(struct live_session *session, struct hw_error *error);

#endif /* LIVE_SESSION_H */
