/* SPDX-License-Identifier: MIT */
/* What a partition of a compacted internal topic adds up to: the last record of each key. */
#ifndef HW_INSPECT_LATEST_LOAD_H
#define HW_INSPECT_LATEST_LOAD_H

#include "core/decode/latest_records.h"
#include "core/inspect/internal_scan.h"

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
enum hw_status hw_latest_load(struct hw_latest_records *latest, struct hw_store *store,
                              const struct hw_kafka_partition *partition,
                              const struct hw_latest_options *options, struct hw_error *error);

#endif /* HW_INSPECT_LATEST_LOAD_H */
