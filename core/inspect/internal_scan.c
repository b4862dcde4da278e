/* SPDX-License-Identifier: MIT */
#include "core/inspect/internal_scan.h"

enum hw_status hw_internal_scan_open(struct hw_internal_scan *scan,
                                     const struct hw_allocator *allocator, struct hw_store *store,
                                     const struct hw_kafka_partition *partition,
                                     enum hw_message_set set, hw_offset_t first_offset,
                                     struct hw_error *error)
{
    struct hw_partition_scan_options options = {.range = {.first_offset = first_offset,
                                                          .last_offset = INT64_MAX,
                                                          .timestamp_min = INT64_MIN},
                                                .wants_records = true};

    *scan = (struct hw_internal_scan){.set = set};
    hw_internal_record_init(&scan->internal, allocator);
    return hw_partition_scan_open(allocator, store, partition, &options, &scan->scan, error);
}

void hw_internal_scan_close(struct hw_internal_scan *scan)
{
    hw_partition_scan_close(scan->scan);
    hw_internal_record_release(&scan->internal);
    scan->scan = NULL;
    scan->row = NULL;
}

enum hw_status hw_internal_scan_next(struct hw_internal_scan *scan, struct hw_error *error)
{
    bool found = false;
    enum hw_status status = hw_partition_scan_next(scan->scan, &found, error);

    scan->row = NULL;
    if (status != HW_OK || !found) {
        return status;
    }
    scan->row = hw_partition_scan_row(scan->scan);
    scan->is_control =
        scan->row->has_record && (scan->row->entry.batch.attributes & HW_BATCH_CONTROL) != 0;
    if (!scan->row->has_record) {
        return HW_OK;
    }
    return hw_internal_record_read(&scan->internal, scan->set, scan->is_control, &scan->row->record,
                                   error);
}
