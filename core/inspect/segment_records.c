/* SPDX-License-Identifier: MIT */
#include "core/inspect/segment_records.h"

#include "core/base/assert.h"
#include "core/record/codec.h"
#include "core/record/compressed_batch.h"

#include <inttypes.h>

void hw_segment_records_init(struct hw_segment_records *records,
                             const struct hw_allocator *allocator)
{
    *records = (struct hw_segment_records){.allocator = allocator};
    hw_buffer_init(&records->scratch, allocator);
}

void hw_segment_records_release(struct hw_segment_records *records)
{
    hw_buffer_release(&records->scratch);
    hw_free(records->allocator, records->list, records->list_capacity * sizeof *records->list);
    hw_segment_records_init(records, records->allocator);
}

/* Keep a fault in what the batch holds; other errors are passed on. */
static enum hw_status keep_fault(struct hw_segment_records *records, enum hw_status status,
                                 struct hw_error *error)
{
    if (status != HW_CORRUPT) {
        if (status != HW_OK) {
            *error = records->fault;
        }
        return status;
    }
    records->has_fault = true;
    return HW_OK;
}

/* The next record as it is stored. A fault is noted, and is the end. */
static bool take_record(struct hw_segment_records *records, struct hw_record *record)
{
    bool found = false;
    enum hw_status status;

    if (records->has_fault) {
        return false;
    }
    status = records->is_legacy
                 ? hw_legacy_iterator_next(&records->legacy, record, &found, &records->fault)
                 : hw_record_iterator_next(&records->iterator, record, &found, &records->fault);
    if (status == HW_OK && found &&
        (record->offset < records->first_offset || record->offset > records->last_offset)) {
        status = hw_error_set(&records->fault, HW_CORRUPT,
                              "a record has offset %" PRId64 ", not one of %" PRId64 " to %" PRId64,
                              record->offset, records->first_offset, records->last_offset);
    }
    records->has_fault = status != HW_OK;
    if (status == HW_OK && found) {
        records->first_offset = record->offset + 1;
    }
    return status == HW_OK && found;
}

static enum hw_status fill_list(struct hw_segment_records *records, struct hw_error *error)
{
    struct hw_record record;

    while (take_record(records, &record)) {
        enum hw_status status =
            hw_array_reserve(records->allocator, (void **)&records->list, &records->list_capacity,
                             records->list_left + 1, sizeof *records->list, error);

        if (status != HW_OK) {
            return status;
        }
        records->list[records->list_left++] = record;
    }
    return HW_OK;
}

enum hw_status hw_segment_records_open(struct hw_segment_records *records,
                                       struct hw_segment_file *file,
                                       const struct hw_segment_entry *entry, bool is_backwards,
                                       struct hw_error *error)
{
    const uint8_t *bytes;
    size_t got;
    enum hw_status status;

    HW_ASSERT(entry->fault == HW_FAULT_NONE || entry->fault == HW_FAULT_OFFSETS);

    records->has_fault = false;
    records->is_backwards = is_backwards;
    records->list_left = 0;
    records->is_legacy = hw_segment_entry_is_legacy(entry);
    records->first_offset = records->is_legacy ? 0 : entry->first_offset;
    /* A compressed message of magic 1 with offset 0 may hold any offsets. */
    records->last_offset =
        records->is_legacy && entry->batch.base_offset == 0 ? INT64_MAX : entry->last_offset;
    status =
        hw_segment_file_view(file, entry->position, (size_t)entry->size_bytes, &bytes, &got, error);
    if (status != HW_OK) {
        return status;
    }
    if ((int64_t)got < entry->size_bytes) {
        status = hw_error_set(&records->fault, HW_CORRUPT,
                              "the file was cut to %" PRId64 " bytes while it was read",
                              hw_segment_file_size_bytes(file));
    } else if (records->is_legacy) {
        status =
            hw_legacy_iterator_init(&records->legacy, bytes, &entry->batch, HW_BATCH_PLAIN_SIZE_MAX,
                                    &records->scratch, &records->fault);
    } else {
        status =
            hw_record_iterator_open(&records->iterator, bytes, &entry->batch,
                                    HW_BATCH_PLAIN_SIZE_MAX, &records->scratch, &records->fault);
    }
    status = keep_fault(records, status, error);
    return status == HW_OK && is_backwards ? fill_list(records, error) : status;
}

enum hw_segment_record_kind hw_segment_records_next(struct hw_segment_records *records,
                                                    struct hw_record *record)
{
    if (!records->is_backwards && take_record(records, record)) {
        return HW_SEGMENT_RECORD;
    }
    if (records->has_fault) {
        records->has_fault = false;
        *record =
            (struct hw_record){.offset = records->first_offset, .key_size = -1, .value_size = -1};
        records->is_backwards = true; /* Nothing comes behind a fault. */
        return HW_SEGMENT_RECORD_FAULT;
    }
    if (records->list_left > 0) {
        *record = records->list[--records->list_left];
        return HW_SEGMENT_RECORD;
    }
    return HW_SEGMENT_RECORD_END;
}
