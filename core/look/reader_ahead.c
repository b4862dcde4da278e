/* SPDX-License-Identifier: MIT */
/* The records of the batch that a reader has entered, some of them read ahead. */
#include "core/look/reader_internal.h"

#include <inttypes.h>

enum { READER_AHEAD_MAX = 64, READER_AHEAD_GROWTH = 4 };

static enum hw_status out_of_order(const struct hw_reader *reader, const struct hw_record *record,
                                   struct hw_error *error)
{
    return hw_error_corrupt(error,
                            "%s-%" PRId64 ": a record in the batch [%" PRId64 ", %" PRId64
                            "] has offset %" PRId64 ", the one before it %" PRId64,
                            reader->topic, reader->options.partition, reader->batch.base_offset,
                            hw_batch_last_offset(&reader->batch), record->offset, reader->previous);
}

static enum hw_status malformed(const struct hw_reader *reader, struct hw_error *error)
{
    struct hw_error inner = *error;

    return hw_reader_corrupt(reader, inner.message, error);
}

/* The next record in the order of the batch. */
static enum hw_status next_record(struct hw_reader *reader, struct hw_record *record, bool *found,
                                  struct hw_error *error)
{
    do {
        if (hw_record_iterator_next(&reader->iterator, record, found, error) != HW_OK) {
            return malformed(reader, error);
        }
        if (!*found) {
            return HW_OK;
        }
        if (record->offset <= reader->previous || record->offset > reader->last) {
            return out_of_order(reader, record, error);
        }
        reader->previous = record->offset;
    } while (record->offset < reader->low);
    *found = record->offset < reader->high;
    return HW_OK;
}

/*
 * Read records behind those that were read ahead: several at once where they are as most are, any
 * other one by itself. *found is false when there are no more.
 */
static enum hw_status read_ahead(struct hw_reader *reader, bool *found, struct hw_error *error)
{
    hw_offset_t below = reader->low - 1;
    hw_offset_t after = HW_MAX(reader->previous, below);
    size_t left = (size_t)reader->iterator.left;
    size_t max = HW_MIN(left, reader->ahead);
    enum hw_status status =
        hw_array_reserve(reader->allocator, (void **)&reader->records, &reader->record_capacity,
                         reader->record_count + max, sizeof *reader->records, error);
    struct hw_record *records;
    size_t count;

    *found = false;
    if (status != HW_OK) {
        return status;
    }
    records = reader->records + reader->record_count;
    count = hw_record_iterator_take(&reader->iterator, after, reader->high - 1, records, max);
    if (count > 0) {
        reader->previous = records[count - 1].offset;
        *found = true;
    } else {
        status = next_record(reader, records, found, error);
        count = status == HW_OK && *found ? 1 : 0;
    }
    reader->record_count += count;
    if (reader->ahead < READER_AHEAD_MAX) {
        reader->ahead *= READER_AHEAD_GROWTH;
    }
    return status;
}

enum hw_status hw_reader_list_records(struct hw_reader *reader, struct hw_error *error)
{
    bool found = true;
    enum hw_status status = HW_OK;

    reader->record_next = reader->record_count = 0;
    while (status == HW_OK && found) {
        status = read_ahead(reader, &found, error);
    }
    return status;
}

enum hw_status hw_reader_read_record(struct hw_reader *reader, struct hw_record *record,
                                     bool *found, struct hw_error *error)
{
    enum hw_status status;

    if (reader->iterator.left <= 1) { /* As in a look-up: nothing could be read ahead. */
        return next_record(reader, record, found, error);
    }
    reader->record_next = reader->record_count = 0;
    status = read_ahead(reader, found, error);
    if (status == HW_OK && *found) {
        *record = reader->records[reader->record_next++];
    }
    return status;
}
