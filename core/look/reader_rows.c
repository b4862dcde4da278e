/* SPDX-License-Identifier: MIT */
/* The rows of the batch that a reader has entered, one after the other. Every row of every scan
 * comes by here. */
#include "core/base/assert.h"
#include "core/look/reader_internal.h"

static const char *visibility_of(const struct hw_reader *reader, hw_offset_t offset)
{
    if (offset < reader->log_start) {
        return "below_log_start";
    }
    if (offset >= reader->high_watermark) {
        return "above_hw";
    }
    if (offset >= reader->last_stable) {
        return "above_lso";
    }
    if ((reader->batch.attributes & HW_BATCH_CONTROL) != 0) {
        return "control";
    }
    return hw_reader_is_aborted(reader, &reader->batch) ? "aborted" : "visible";
}

/* The rest of a row whose record is there. */
static inline void fill_row(struct hw_reader *reader, struct hw_row *row)
{
    const struct hw_batch *batch = &reader->batch;

    row->partition = (int32_t)reader->options.partition;
    row->leader_epoch = batch->leader_epoch;
    row->producer_id = batch->producer_id;
    row->producer_epoch = batch->producer_epoch;
    row->sequence = batch->base_sequence < 0
                        ? -1
                        : hw_sequence_add(batch->base_sequence,
                                          (int32_t)(row->record.offset - batch->base_offset));
    row->batch_base_offset = batch->base_offset;
    row->control = NULL;
    row->visibility = "visible"; /* Consumers get nothing else. */
    if (reader->options.mode == HW_READ_LOG) {
        row->control = (batch->attributes & HW_BATCH_CONTROL) == 0
                           ? NULL
                           : hw_control_record_name(&row->record, reader->control);
        row->visibility = visibility_of(reader, row->record.offset);
    }
}

static void rows_take_from_run(struct hw_reader *reader, struct hw_row *row)
{
    *row = (struct hw_row){.partition = (int32_t)reader->options.partition};
    row->record.offset = reader->options.descending ? --reader->high : reader->low++;
    reader->is_run = reader->low < reader->high;
}

/* The next row of the batch that was entered, or *found false when there are no more. */
static enum hw_status next_in_batch(struct hw_reader *reader, struct hw_row *row, bool *found,
                                    struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (reader->is_run) {
        rows_take_from_run(reader, row);
        *found = true;
        return HW_OK;
    }
    *found = reader->record_next < reader->record_count;
    if (*found) {
        row->record = reader->options.descending ? reader->records[--reader->record_count]
                                                 : reader->records[reader->record_next++];
    } else if (reader->is_iterating) {
        status = hw_reader_read_record(reader, &row->record, found, error);
        reader->is_iterating = status == HW_OK && *found;
    }
    if (status == HW_OK && *found) {
        fill_row(reader, row);
    }
    return status;
}

/* Gives the reader another batch. */
typedef enum hw_status enter_function(struct hw_reader *reader, bool *more, struct hw_error *error);

/* The next row behind a batch that has no more, or that could not be read: then nothing comes. */
static enum hw_status next_in_others(struct hw_reader *reader, struct hw_row *row, bool *found,
                                     enter_function *enter, enum hw_status status,
                                     struct hw_error *error)
{
    bool more = true;

    while (status == HW_OK && !*found && more) {
        status = enter(reader, &more, error);
        if (status == HW_OK && more) {
            status = next_in_batch(reader, row, found, error);
        }
    }
    if (status != HW_OK) {
        *found = false;
        hw_reader_stop(reader);
    }
    return status;
}

enum hw_status hw_reader_next(struct hw_reader *reader, struct hw_row *row, bool *found,
                              struct hw_error *error)
{
    enum hw_status status = next_in_batch(reader, row, found, error);

    return status == HW_OK && *found
               ? HW_OK
               : next_in_others(reader, row, found, hw_reader_enter_next, status, error);
}

enum hw_status hw_reader_next_buffered(struct hw_reader *reader, struct hw_row *row, bool *found,
                                       bool *is_at_end, struct hw_error *error)
{
    enum hw_status status = next_in_batch(reader, row, found, error);

    *is_at_end = false;
    if (status == HW_OK && *found) {
        return HW_OK;
    }
    status = next_in_others(reader, row, found, hw_reader_enter_buffered, status, error);
    *is_at_end = !*found && reader->first >= reader->end;
    return status;
}

void hw_reader_take_ahead(struct hw_reader *reader, const struct hw_record **first,
                          const struct hw_record **end)
{
    HW_ASSERT(reader->options.mode != HW_READ_LOG);
    *first = *end = NULL;
    if (!reader->options.descending && reader->record_next < reader->record_count) {
        *first = reader->records + reader->record_next;
        *end = reader->records + reader->record_count;
        reader->record_next = reader->record_count;
    }
}

enum hw_status hw_reader_next_run(struct hw_reader *reader, hw_offset_t *first, hw_offset_t *end,
                                  bool *found, struct hw_error *error)
{
    struct hw_row row;
    enum hw_status status = HW_OK;

    HW_ASSERT(reader->options.count_only);
    if (!reader->is_run) {
        status = hw_reader_next(reader, &row, found, error);
        if (status != HW_OK || !*found) {
            return status;
        }
        *first = row.record.offset;
        *end = row.record.offset + 1;
    } else {
        *first = reader->options.descending ? reader->high : reader->low;
        *end = *first;
    }
    /* The rest of the run, of which hw_reader_next() has taken one. */
    if (reader->is_run && reader->options.descending) {
        *first = reader->low;
    } else if (reader->is_run) {
        *end = reader->high;
    }
    *found = true;
    reader->is_run = false;
    return HW_OK;
}
