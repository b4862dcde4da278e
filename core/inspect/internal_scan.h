/* SPDX-License-Identifier: MIT */
/*
 * The records of one partition of an internal topic, read and decoded, in the order of the log:
 * a partition's directory, one of its .log files, or a snapshot of cluster metadata.
 */
#ifndef HW_INSPECT_INTERNAL_SCAN_H
#define HW_INSPECT_INTERNAL_SCAN_H

#include "core/decode/internal_record.h"
#include "core/inspect/partition_scan.h"

/* Use through the functions. */
struct hw_internal_scan {
    enum hw_message_set set;
    struct hw_partition_scan *scan;
    const struct hw_partition_row *row; /* NULL: at the end. */
    bool is_control;                    /* The row has a record, which stands in a control batch. */
    /* What the record of the row says; of a row about damage, which has no record, nothing. */
    struct hw_internal_record internal;
};

/* The records from `first_offset` on; `partition` must outlive the scan. Close it in any case.
 * Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND. */
enum hw_status hw_internal_scan_open(struct hw_internal_scan *scan,
                                     const struct hw_allocator *allocator, struct hw_store *store,
                                     const struct hw_kafka_partition *partition,
                                     enum hw_message_set set, hw_offset_t first_offset,
                                     struct hw_error *error);
void hw_internal_scan_close(struct hw_internal_scan *scan);

/* Step to the next row; scan->row is NULL at the end. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_internal_scan_next(struct hw_internal_scan *scan, struct hw_error *error);

#endif /* HW_INSPECT_INTERNAL_SCAN_H */
