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

/* The number of the type as the key has it, known or not. Returns false if the key is none: shorter
 * than 4 bytes, or of a negative version. */
bool hw_control_record_key(const struct hw_record *record, int16_t *type);

/* Kafka's name of the type, "ABORT", or the number of one that Kafka does not know, for which
 * `text` is used; "UNKNOWN" where the key is none. */
enum { HW_CONTROL_TEXT_SIZE = 8 };
const char *hw_control_record_name(const struct hw_record *record, char text[HW_CONTROL_TEXT_SIZE]);

/* The epoch of the transaction coordinator that wrote an ABORT or COMMIT. Returns false for other
 * records, and where the value has none. */
bool hw_control_record_coordinator_epoch(const struct hw_record *record, int32_t *epoch);

/* What ends a transaction in a partition: a batch of its own, with one record. */
struct hw_marker {
    int64_t producer_id;
    int16_t producer_epoch;
    int32_t coordinator_epoch;
    enum hw_control_type type; /* HW_CONTROL_ABORT or HW_CONTROL_COMMIT. */
    hw_time_ms_t timestamp;
};

enum { HW_MARKER_SIZE = 78 }; /* Bytes of such a batch. */

/* Write the batch, at offset 0 and without a leader epoch. Source:
 * MemoryRecords.writeEndTransactionalMarker. */
void hw_marker_encode(const struct hw_marker *marker, uint8_t bytes[HW_MARKER_SIZE]);

/* Whether the whole control batch at `bytes` ends a transaction, and how: read from its first
 * record, as Kafka does. One that was emptied by the cleaner, or cannot be read, does not. */
bool hw_marker_decode(const uint8_t *bytes, const struct hw_batch *batch, struct hw_marker *marker);

#endif /* HW_RECORD_CONTROL_RECORD_H */
