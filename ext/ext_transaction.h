/* SPDX-License-Identifier: MIT */
/*
 * A transaction of the database drives one stage of the cluster, whichever tables take part in it.
 *
 *     IDLE --begin--> OPEN --sync--> PREPARED --commit--> IDLE
 *                      |  <--reopen--   |
 *                      +---rollback-----+--> IDLE
 *
 * SQLite calls these once for every table in the transaction; only the first call of a kind does
 * something. Savepoints that were opened before the first table joined are marked when it does:
 * nothing was staged since.
 *
 * PREPARED outlives its COMMIT only where the database itself could not commit (SQLITE_BUSY): then
 * COMMIT again, ROLLBACK, or go on: a write, SAVEPOINT or ROLLBACK TO leads back to OPEN.
 */
#ifndef EXT_TRANSACTION_H
#define EXT_TRANSACTION_H

#include "ext/ext_schema.h"
#include "ext/ext_session.h"

/* The methods of a sqlite3_module, for tables that begin with a struct ext_vtab. They return codes of
 * SQLite and set the table's message. */
int ext_transaction_begin(sqlite3_vtab *vtab);
/* A transaction that is one of Kafka's too has its token in the database then. */
int ext_transaction_sync(sqlite3_vtab *vtab);
int ext_transaction_commit(sqlite3_vtab *vtab);
int ext_transaction_rollback(sqlite3_vtab *vtab);
int ext_transaction_savepoint(sqlite3_vtab *vtab, int level);
int ext_transaction_release(sqlite3_vtab *vtab, int level);
int ext_transaction_rollback_to(sqlite3_vtab *vtab, int level);

/*
 * The stage, for a write that belongs to the transaction; begun if it was not. On HW_OK the cluster
 * is locked: ext_cluster_unlock(session->cluster). Errors: those of opening the cluster,
 * HW_NO_MEMORY, HW_REFUSED with INVALID_REQUEST where the database is open for reading only.
 */
enum hw_status ext_transaction_stage(struct ext_session *session, struct hw_stage **stage,
                                     struct hw_error *error);

/* Add a row to the stage. Errors: those of ext_transaction_stage() and hw_stage_add(). */
enum hw_status ext_transaction_add(struct ext_session *session, const struct hw_produce *produce,
                                   struct hw_produced *produced, struct hw_error *error);

/*
 * Let the session take part in SQLite's transaction from now on. SQLite does this by itself for a
 * table that is written to, but not for one that is created or dropped. Errors: those of a
 * statement on the connection.
 */
enum hw_status ext_transaction_join(struct ext_session *session, struct hw_error *error);

/* The table that ext_transaction_join() writes to: always empty, and there for its methods only. */
extern const struct ext_schema ext_transaction_schema;

#endif /* EXT_TRANSACTION_H */
