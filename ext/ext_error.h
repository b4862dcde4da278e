/* SPDX-License-Identifier: MIT */
/*
 * How an error of the core becomes an error of SQLite.
 *
 *     HW_REFUSED                        NOT_ENOUGH_REPLICAS: orders-0 has 1 in-sync replica ...
 *     HW_MISUSE                         INVALID_REQUEST: ...
 *     HW_IO, HW_NOT_FOUND, HW_CORRUPT   KAFKA_STORAGE_ERROR: ...; CORRUPT_MESSAGE of a batch
 *     HW_BUSY, HW_INTERRUPTED           no name, as SQLite's own errors; SQLITE_BUSY, _INTERRUPT
 *     HW_NO_MEMORY                      SQLITE_NOMEM
 */
#ifndef EXT_ERROR_H
#define EXT_ERROR_H

#include "core/highwater.h"

#include <sqlite3ext.h>

/* SQLITE_NOMEM, SQLITE_BUSY, SQLITE_INTERRUPT; or SQLITE_ERROR, as an extended code that has Kafka's
 * number: SQLITE_ERROR | (128 + number) << 8. SQLite itself has none from 128 on. Errors with a
 * number below 1 have no extended code. */
enum { EXT_ERROR_FIRST = 128 };
int ext_error_code(const struct hw_error *error);

/* Make it the outcome of a SQL function. */
void ext_error_to_context(sqlite3_context *context, const struct hw_error *error);

/* Make it the message of a virtual table; returns the code for SQLite. */
int ext_error_to_vtab(sqlite3_vtab *vtab, const struct hw_error *error);

/* The same for the message of xCreate and xConnect. */
int ext_error_to_message(char **message, const struct hw_error *error);

/* Take over a failure of a statement on `db`: HW_NO_MEMORY, HW_INTERRUPTED, HW_BUSY for what another
 * connection holds, or HW_REFUSED with INVALID_REQUEST and "<what>: <SQLite's words>". */
enum hw_status ext_error_from_sqlite(struct hw_error *error, sqlite3 *db, int code,
                                     const char *what);

/* Returned where an argument is wrong: HW_REFUSED with INVALID_REQUEST. */
enum hw_status ext_error_invalid(struct hw_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A table's topic, which was there when the table was made, is not: HW_REFUSED with
 * UNKNOWN_TOPIC_OR_PARTITION. */
enum hw_status ext_error_topic_gone(struct hw_error *error, const char *topic);

#endif /* EXT_ERROR_H */
