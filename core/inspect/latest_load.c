/* SPDX-License-Identifier: MIT */
#include "core/inspect/latest_load.h"

#include <inttypes.h>
#include <stdio.h>

/* Keep the first one. */
static void latest_note(struct hw_latest_records *latest, hw_offset_t offset, const char *error)
{
    if (latest->fault[0] == '\0') {
        (void)snprintf(latest->fault, sizeof latest->fault, "offset %" PRId64 ": %.*s", offset,
                       (int)sizeof latest->fault - 40, error);
    }
}

static bool latest_wants(const struct hw_latest_options *options,
                         const struct hw_internal_record *internal)
{
    if (internal->layout == NULL || internal->type >= 32) {
        return options->wants_unknown;
    }
    return (options->types & UINT32_C(1) << internal->type) != 0;
}

static enum hw_status latest_take(struct hw_latest_records *latest,
                                  const struct hw_latest_options *options,
                                  const struct hw_internal_scan *scan, struct hw_error *error)
{
    const struct hw_record *record = &scan->row->record;
    const struct hw_internal_record *internal = &scan->internal;
    int64_t producer_id = scan->row->entry.batch.producer_id;
    struct hw_buffer key;
    enum hw_status status;

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

enum hw_status hw_latest_load(struct hw_latest_records *latest, struct hw_store *store,
                              const struct hw_kafka_partition *partition,
                              const struct hw_latest_options *options, struct hw_error *error)
{
    struct hw_internal_scan scan;
    enum hw_status status =
        hw_internal_scan_open(&scan, latest->allocator, store, partition, options->set, 0, error);

    while (status == HW_OK) {
        status = hw_internal_scan_next(&scan, error);
        if (status != HW_OK || scan.row == NULL) {
            break;
        }
        if (scan.row->error != NULL) {
            latest_note(latest, scan.row->offset, scan.row->error);
        }
        if (scan.row->has_record && scan.row->record.timestamp <= options->until) {
            status = latest_take(latest, options, &scan, error);
        }
    }
    hw_internal_scan_close(&scan);
    return status;
}
