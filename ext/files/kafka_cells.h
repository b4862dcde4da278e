/* SPDX-License-Identifier: MIT */
/* Cells that tables share: what a message of an internal topic has, as SQL has it, and others. */
#ifndef EXT_KAFKA_CELLS_H
#define EXT_KAFKA_CELLS_H

#include "ext/ext_rows.h"
#include "ext/files/vtab_kafka_table.h"

/* The directory that is read, or the one file of it that is meant. */
const char *kafka_place_of(const struct kafka_fill *fill);

/* A uuid as Kafka writes it; one of zeros is NULL with `or_null`. */
void kafka_rows_uuid(struct ext_rows *rows, const struct hw_uuid *uuid, bool or_null);

/* A text of a message. */
void kafka_rows_message_text(struct ext_rows *rows, struct hw_message_text text);

/* Read again what latest has under a key; `record` is for its bytes and must outlive `internal`'s use.
 * Errors: HW_NO_MEMORY. */
enum hw_status kafka_read_latest(struct hw_internal_record *internal,
                                 const struct hw_latest_records *latest, size_t number,
                                 enum hw_message_set set, struct hw_record *record,
                                 struct hw_error *error);

/* The last row of a directory where something could not be read: it and what that was stand in the
 * last two columns. None where fault is "". */
void kafka_rows_fault(const struct kafka_fill *fill, const char *fault, struct ext_rows *rows);

#endif /* EXT_KAFKA_CELLS_H */
