/* SPDX-License-Identifier: MIT */
/*
 * What the records of control batches say: markers that end a transaction, and the records that
 * KRaft keeps about itself.
 *
 *     key      version i16, type i16
 *     value    of ABORT and COMMIT: version i16, epoch of the transaction coordinator i32
 *
 * Source: ControlRecordType, EndTransactionMarker (kafka formats, section 2).
 */
#ifndef HW_RECORD_CONTROL_RECORD_H
#define HW_RECORD_CONTROL_RECORD_H

#include "core/record/batch.h"

enum hw_control_type {
    HW_CONTROL_UNKNOWN = -1, /* A key that is none, or of a type that Kafka does not know. */
    HW_CONTROL_ABORT,
    HW_CONTROL_COMMIT,
    HW_CONTROL_LEADER_CHANGE,
    HW_CONTROL_SNAPSHOT_HEADER,
    HW_CONTROL_SNAPSHOT_FOOTER,
    HW_CONTROL_KRAFT_VERSION,
    HW_CONTROL_KRAFT_VOTERS
};

/* The type that the key of a record from a control batch tells. Versions above 0 are read as 0. */
enum hw_control_type hw_control_record_type(const struct hw_record *record);

/* Kafka's name, "ABORT"; "UNKNOWN". Never NULL; static storage. */
const char *hw_control_type_name(enum hw_control_type type);

#endif /* HW_RECORD_CONTROL_RECORD_H */
