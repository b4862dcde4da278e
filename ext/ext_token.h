/* SPDX-License-Identifier: MIT */
/*
 * Tokens: what a database says of its transactions that are Kafka's too, in the shadow tables
 * <table>_token of its tables with transactional=1. One row a producer:
 *
 *     producer_id  epoch  coordinator_epoch  cluster_id
 *     4000         17     3                  4711           all up to epoch 17 are committed
 *
 * The last is the number of chance by which the cluster knows its database. A COMMIT writes one row,
 * into any shadow table; who decides reads all of them. A token goes
 * the way of the transaction that wrote it: that is the decision.
 */
#ifndef EXT_TOKEN_H
#define EXT_TOKEN_H

#include "ext/ext_registry.h"

#include <sqlite3ext.h>

/* The name of a shadow table behind its table's name and "_". */
extern const char ext_token_suffix[];

/* The statement that writes tokens, kept for the next one. */
struct ext_token_writer {
    sqlite3_stmt *statement; /* NULL: there is none yet. */
    char *table;
};

/* Make the shadow table of a table in main. Errors: HW_NO_MEMORY; HW_REFUSED with INVALID_REQUEST,
 * as where something has its name already. */
enum hw_status ext_token_create(sqlite3 *db, const char *table, struct hw_error *error);

/* Drop it, if it is there; its rows go to another one, if there is one. Errors: HW_NO_MEMORY;
 * HW_REFUSED with INVALID_REQUEST. */
enum hw_status ext_token_drop(sqlite3 *db, const char *table, struct hw_error *error);

/* Write a token into a shadow table. Errors: those of a statement on `db`, HW_BUSY among them;
 * HW_REFUSED with INVALID_REQUEST where there is none, or it has a trigger. */
enum hw_status ext_token_write(struct ext_token_writer *writer, sqlite3 *db,
                               const struct hw_database_token *token, struct hw_error *error);

/* Before a table is disconnected: SQLite closes no connection that has statements. */
void ext_token_forget(struct ext_token_writer *writer);

/*
 * Have the cluster decide what only the database knows (hw_cluster_decide_transactions()), by the
 * newest commit of the database, also where the connection looks at an older one. Does nothing where
 * nothing is undecided. Errors: those of statements on the database, and of that call.
 */
enum hw_status ext_token_decide(sqlite3 *db, struct ext_cluster *cluster, struct hw_error *error);

#endif /* EXT_TOKEN_H */
