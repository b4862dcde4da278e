/* SPDX-License-Identifier: MIT */
/* The columns of a topic's table, and the row of an INSERT as a record. */
#ifndef EXT_TOPIC_ROW_H
#define EXT_TOPIC_ROW_H

#include "ext/topics/record_plan.h"

/* In the order in which they are declared. */
enum topic_column {
    TOPIC_PARTITION,
    TOPIC_OFFSET,
    TOPIC_TIMESTAMP,
    TOPIC_KEY,
    TOPIC_VALUE,
    TOPIC_HEADERS,
    TOPIC_LEADER_EPOCH, /* Hidden from here on. */
    TOPIC_PRODUCER_ID,
    TOPIC_REPLICA,
    TOPIC_ISOLATION,
    TOPIC_CLIENT_EPOCH
};

/* What they are for a scan: the shape of the table, all but how many partitions there are. */
extern const struct record_shape topic_row_shape;

/* SQLITE_OK where xUpdate was called for an INSERT. UPDATE and DELETE are refused, since a log only
 * grows: the message is in `vtab`, and a code for SQLite is returned. */
int topic_row_refuse_change(sqlite3_vtab *vtab, int argc, sqlite3_value **argv);

/* The code for an INSERT that fails with `code`: SQLITE_CONSTRAINT where it gives a rowid or an
 * offset, which it must not, so that OR IGNORE skips the row. */
int topic_row_code(sqlite3_value **argv, int code);

/*
 * Read the arguments of an INSERT. *partition is -1 where none is
 * given, the record's timestamp HW_TIMESTAMP_CLOCK. Key and value are borrowed from the arguments,
 * headers from the buffer. `db` reads their JSON. Errors: HW_NO_MEMORY; HW_REFUSED with
 * INVALID_REQUEST or INVALID_TIMESTAMP.
 */
enum hw_status topic_row_read(sqlite3 *db, sqlite3_value **argv, struct hw_buffer *headers,
                              int64_t *partition, struct hw_record *record, struct hw_error *error);

#endif /* EXT_TOPIC_ROW_H */
