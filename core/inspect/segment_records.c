/* SPDX-License-Identifier: MIT */
#include "core/inspect/segment_records.h"

#include "core/base/assert.h"
#include "core/record/codec.h"

#include <inttypes.h>

enum { RECORD_SIZE_MIN = 7 }; /* Of magic 2: seven fields of a byte each. */

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
    records->has_fault = records->is_at_end = true;
    return HW_OK;
}

/* The next record behind those that the header counts, if there is one: the header is wrong then,
 * and the record is not. */
static bool take_uncounted(struct hw_segment_records *records, struct hw_record *record)
{
    struct hw_record_iterator *iterator = &records->iterator;
    struct hw_error ignored;
    bool found = false;

    if (iterator->at == iterator->end) {
        return false;
    }
    iterator->left = INT32_MAX;
    if (hw_record_iterator_next(iterator, record, &found, &ignored) != HW_OK || !found) {
        return false;
    }
    records->is_uncounted = true;
    return true;
}

/* Note what is wrong with a batch all of whose records can be read. */
static void note_header(struct hw_segment_records *records)
{
    if (records->is_uncounted) {
        records->has_fault = true;
        (void)hw_error_set(&records->fault, HW_CORRUPT,
                           "the header counts %" PRId32 " records, and there are %" PRId64,
                           records->iterator.batch.record_count, records->taken);
    } else if (records->taken == 0 && !records->is_legacy &&
               records->iterator.at != records->iterator.end) {
        records->has_fault = true;
        (void)hw_error_set(&records->fault, HW_CORRUPT,
                           "the header counts no records, and bytes follow that are none");
    } else if (records->stray_offset != HW_OFFSET_NONE) {
        records->has_fault = true;
        (void)hw_error_set(&records->fault, HW_CORRUPT,
                           "a record has offset %" PRId64
                           ", which is not above the one before it and one of %" PRId64
                           " to %" PRId64,
                           records->stray_offset, records->first_offset, records->last_offset);
    }
}

/* The next record as it is stored. A fault is noted, and is the end. */
static bool take_record(struct hw_segment_records *records, struct hw_record *record)
{
    bool found = false;
    enum hw_status status = HW_OK;

    if (records->is_at_end) {
        return false;
    }
    if (!records->is_uncounted) {
        status = records->is_legacy
                     ? hw_legacy_iterator_next(&records->legacy, record, &found, &records->fault)
                     : hw_record_iterator_next(&records->iterator, record, &found, &records->fault);
    }
    if (!found && !records->is_legacy && take_uncounted(records, record)) {
        status = HW_OK;
        found = true;
    }
    if (found) {
        records->taken++;
        if (record->offset < records->next_offset || record->offset > records->last_offset) {
            records->stray_offset = record->offset;
        }
        records->next_offset = record->offset + 1;
        return true;
    }
    records->is_at_end = true;
    records->has_fault = status != HW_OK;
    if (status == HW_OK) {
        note_header(records);
    }
    return false;
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

    records->has_fault = records->is_at_end = records->is_uncounted = false;
    records->is_backwards = is_backwards;
    records->list_left = 0;
    records->taken = 0;
    records->stray_offset = HW_OFFSET_NONE;
    records->is_legacy = entry->batch.magic < 2;
    records->first_offset = records->is_legacy ? 0 : entry->first_offset;
    records->next_offset = records->first_offset;
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
                              file->size_bytes);
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

/* Whether the batch can hold so many, decompressed up to what would be read of it. */
static bool count_is_credible(const struct hw_segment_entry *entry, bool is_plain)
{
    int64_t count = entry->batch.record_count;
    int64_t size_max = is_plain ? entry->size_bytes : HW_BATCH_PLAIN_SIZE_MAX;

    return entry->fault == HW_FAULT_NONE && count >= 0 &&
           hw_batch_codec_id(&entry->batch) <= HW_CODEC_ZSTD &&
           count <= entry->last_offset - entry->first_offset + 1 &&
           count <= size_max / RECORD_SIZE_MIN &&
           (count > 0 || entry->size_bytes == HW_BATCH_HEADER_SIZE);
}

enum hw_status hw_segment_records_are_counted(struct hw_segment_file *file,
                                              const struct hw_segment_entry *entry, bool *are,
                                              struct hw_error *error)
{
    bool is_plain = entry->batch.magic == 2 && hw_batch_codec_id(&entry->batch) == HW_CODEC_NONE;
    struct hw_record_iterator iterator;
    struct hw_error ignored;
    hw_offset_t offset;
    hw_offset_t last_offset = entry->first_offset - 1;
    const uint8_t *bytes;
    size_t got;
    bool found = true;
    enum hw_status status = HW_OK;

    *are = count_is_credible(entry, is_plain);
    if (!*are || !is_plain) {
        return HW_OK;
    }
    status =
        hw_segment_file_view(file, entry->position, (size_t)entry->size_bytes, &bytes, &got, error);
    *are = status == HW_OK && (int64_t)got == entry->size_bytes &&
           hw_record_iterator_init(&iterator, bytes, &entry->batch, &ignored) == HW_OK;
    while (*are && found) {
        *are = hw_record_iterator_skip(&iterator, &offset, &found, &ignored) == HW_OK &&
               (!found || (offset > last_offset && offset <= entry->last_offset));
        last_offset = offset;
    }
    return status;
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
            (struct hw_record){.offset = records->next_offset, .key_size = -1, .value_size = -1};
        return HW_SEGMENT_RECORD_FAULT;
    }
    if (records->list_left > 0) {
        *record = records->list[--records->list_left];
        return HW_SEGMENT_RECORD;
    }
    return HW_SEGMENT_RECORD_END;
}
