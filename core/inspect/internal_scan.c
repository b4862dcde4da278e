/* SPDX-License-Identifier: MIT */
#include "core/inspect/internal_scan.h"

enum hw_status hw_internal_scan_open(struct hw_internal_scan *scan,
                                     const struct hw_kafka_partition *partition,
                                     enum hw_message_set set, hw_offset_t first_offset,
                                     struct hw_error *error)
{
    struct hw_partition_scan_options options = {.range = {.first_offset = first_offset,
                                                          .last_offset = INT64_MAX,
                                                          .timestamp_min = INT64_MIN},
                                                .wants_records = true};

    *scan = (struct hw_internal_scan){.set = set};
    hw_internal_record_init(&scan->internal, partition->allocator);
    return hw_partition_scan_open(partition, &options, &scan->scan, error);
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
    enum hw_status status = hw_partition_scan_next(scan->scan, &scan->row, error);

    if (scan->row == NULL) {
        return status;
    }
    scan->is_control =
        scan->row->has_record && (scan->row->entry.batch.attributes & HW_BATCH_CONTROL) != 0;
    if (!scan->row->has_record) {
        return HW_OK;
    }
    return hw_internal_record_read(&scan->internal, scan->set, scan->is_control, &scan->row->record,
                                   error);
}

enum hw_status hw_internal_walk(const struct hw_kafka_partition *partition, enum hw_message_set set,
                                hw_internal_take_function *take, void *context, char *fault,
                                size_t fault_size, struct hw_error *error)
{
    struct hw_internal_scan scan;
    enum hw_status status = hw_internal_scan_open(&scan, partition, set, 0, error);

    while (status == HW_OK) {
        status = hw_internal_scan_next(&scan, error);
        if (status != HW_OK || scan.row == NULL) {
            break;
        }
        if (scan.row->error != NULL) {
            hw_internal_note(fault, fault_size, scan.row->offset, scan.row->error);
        }
        if (scan.row->has_record) {
            status = take(context, &scan, error);
        }
    }
    hw_internal_scan_close(&scan);
    return status;
}

/* --------------------------------------------------------------------- the last one of each key */

static bool latest_wants(const struct hw_latest_options *options,
                         const struct hw_internal_record *internal)
{
    if (internal->layout == NULL || internal->type >= 32) {
        return options->wants_unknown;
    }
    return (options->types & UINT32_C(1) << internal->type) != 0;
}

/* What is added up, and of which records. */
struct latest_walk {
    struct hw_latest_records *latest;
    const struct hw_latest_options *options;
};

static enum hw_status latest_take(void *context, const struct hw_internal_scan *scan,
                                  struct hw_error *error)
{
    struct hw_latest_records *latest = ((const struct latest_walk *)context)->latest;
    const struct hw_latest_options *options = ((const struct latest_walk *)context)->options;
    const struct hw_record *record = &scan->row->record;
    const struct hw_internal_record *internal = &scan->internal;
    int64_t producer_id = scan->row->entry.batch.producer_id;
    struct hw_buffer key;
    enum hw_status status;

    if (record->timestamp > options->until) {
        return HW_OK;
    }
    if (scan->is_control) {
        if (internal->type == HW_CONTROL_COMMIT || internal->type == HW_CONTROL_ABORT) {
            hw_latest_records_end(latest, producer_id, internal->type == HW_CONTROL_COMMIT);
        }
        return HW_OK;
    }
    if (!latest_wants(options, internal) || record->key_size < 0) {
        return HW_OK;
    }
    hw_buffer_init(&key, latest->allocator);
    status = hw_buffer_append(&key, record->key, (size_t)record->key_size, error);
    if (status == HW_OK && options->set == HW_MESSAGES_OFFSETS && internal->type == 0) {
        key.bytes[1] = 1;
    }
    if (status == HW_OK) {
        status = hw_latest_records_add(latest, key.bytes, key.size, record, producer_id, error);
    }
    hw_buffer_release(&key);
    return status;
}

enum hw_status hw_latest_load(struct hw_latest_records *latest,
                              const struct hw_kafka_partition *partition,
                              const struct hw_latest_options *options, struct hw_error *error)
{
    struct latest_walk walk = {.latest = latest, .options = options};

    return hw_internal_walk(partition, options->set, latest_take, &walk, latest->fault,
                            sizeof latest->fault, error);
}
