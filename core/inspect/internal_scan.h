/* SPDX-License-Identifier: MIT */
/*
 * The records of one partition of an internal topic, read and decoded, in the order of the log: a
 * partition's directory, one of its .log files, or a snapshot of cluster metadata. And what those
 * of a compacted topic add up to: the last record of each key.
 */
#ifndef HW_INSPECT_INTERNAL_SCAN_H
#define HW_INSPECT_INTERNAL_SCAN_H

#include "core/decode/internal_record.h"
#include "core/decode/latest_records.h"
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
                                     const struct hw_kafka_partition *partition,
                                     enum hw_message_set set, hw_offset_t first_offset,
                                     struct hw_error *error);
void hw_internal_scan_close(struct hw_internal_scan *scan);

/* Step to the next row; scan->row is NULL at the end. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_internal_scan_next(struct hw_internal_scan *scan, struct hw_error *error);

/* Takes notice of the record that the scan stands at. */
typedef enum hw_status hw_internal_take_function(void *context, const struct hw_internal_scan *scan,
                                                 struct hw_error *error);

/* Have all records of a partition taken notice of. Where one cannot be read, hw_internal_note()
 * keeps that in `fault`. Errors: as above; those of who is told. */
enum hw_status hw_internal_walk(const struct hw_kafka_partition *partition, enum hw_message_set set,
                                hw_internal_take_function *take, void *context, char *fault,
                                size_t fault_size, struct hw_error *error);

/* What counts. */
struct hw_latest_options {
    enum hw_message_set set;
    uint32_t types;     /* A bit for each type below 32 that is wanted; */
    bool wants_unknown; /* and whether those are that no table knows, or that have no type. */
    hw_time_ms_t until; /* Records with a later timestamp have not happened. INT64_MAX: all have. */
};

/*
 * Add the records of the partition. Keys are those of the records, type and all; an offset that was
 * committed as type 0 is one of type 1. What cannot be read is latest->fault. Errors: HW_NO_MEMORY,
 * HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_latest_load(struct hw_latest_records *latest,
                              const struct hw_kafka_partition *partition,
                              const struct hw_latest_options *options, struct hw_error *error);

#endif /* HW_INSPECT_INTERNAL_SCAN_H */
