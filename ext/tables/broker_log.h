/* SPDX-License-Identifier: MIT */
/* What hw_log(topic, partition, broker) and hw_batches(topic, partition, broker) share: they belong
 * to a session, and name one replica. */
#ifndef EXT_BROKER_LOG_H
#define EXT_BROKER_LOG_H

#include "ext/ext_schema.h"
#include "ext/ext_session.h"
#include "ext/topics/record_cursor.h"

/* xConnect, for a client that is the session, and xDisconnect. The table is a record_table. */
int broker_log_connect(sqlite3 *db, struct ext_session *session, const struct ext_schema *schema,
                       sqlite3_vtab **vtab);
int broker_log_disconnect(sqlite3_vtab *vtab);

/*
 * Whether all three arguments are there, each one value that may be. Not asked of a scan that is
 * empty. Errors: HW_REFUSED with INVALID_REQUEST, UNKNOWN_TOPIC_OR_PARTITION, BROKER_NOT_AVAILABLE;
 * the words name the table.
 */
enum hw_status broker_log_check(const struct record_scan *scan, const char *name,
                                struct hw_error *error);

#endif /* EXT_BROKER_LOG_H */
