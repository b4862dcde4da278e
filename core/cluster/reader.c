/* SPDX-License-Identifier: MIT */
/* Bounds of what a reader shows, and its rows. */
#include "core/cluster/reader.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/cluster/reader_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    READER_CHUNK_BYTES_FIRST = 64 * 1024,
    READER_ROW_BYTES_ASSUMED = 256,
    READER_KEPT_BYTES = 64 * 1024, /* Of memory that is not in use. */
    CONTROL_KEY_SIZE = 4           /* version and type, both int16. */
};

/* -------------------------------------------------------------------------------------- bounds */

enum hw_status hw_reader_find(struct hw_cluster *cluster, const struct hw_reader_options *options,
                              struct hw_reader_place *place, struct hw_error *error)
{
    enum hw_status status = hw_cluster_find_partition(cluster, options->topic, options->partition,
                                                      &place->topic, &place->partition, error);

    if (status == HW_OK) {
        status = options->replica == HW_BROKER_ID_NONE
                     ? hw_cluster_find_leader(place->partition, &place->replica, error)
                     : hw_cluster_find_replica(cluster, place->partition, options->replica,
                                               &place->replica, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (options->mode == HW_READ_LOG) {
        place->high_watermark = cluster->variant->high_watermark(place->partition, place->replica);
        place->end = hw_log_end(place->replica->log);
        return HW_OK;
    }
    status = hw_cluster_show(cluster, place->topic, place->partition, place->replica,
                             &place->high_watermark, error);
    /* Without transactions the last stable offset is the high watermark. */
    place->end = place->high_watermark;
    return status;
}

static hw_offset_t at_least(hw_offset_t offset, hw_offset_t least)
{
    return offset < least ? least : offset;
}

enum hw_status hw_reader_bounds(struct hw_cluster *cluster, const struct hw_reader_options *options,
                                hw_offset_t *first, hw_offset_t *end, struct hw_error *error)
{
    struct hw_reader_place place;
    enum hw_status status = hw_reader_find(cluster, options, &place, error);

    if (status == HW_OK) {
        *first = at_least(options->first, hw_log_start(place.replica->log));
        *end = at_least(options->end < place.end ? options->end : place.end, *first);
    }
    return status;
}

/* Bytes of the first chunk: enough for few rows, where only few are wanted. */
static size_t first_chunk_bytes(const struct hw_reader *reader)
{
    int64_t rows = reader->end > reader->first ? reader->end - reader->first : 0;

    if (reader->options.rows_wanted > 0 && reader->options.rows_wanted < rows) {
        rows = reader->options.rows_wanted;
    }
    return rows < READER_CHUNK_BYTES_FIRST / READER_ROW_BYTES_ASSUMED
               ? (size_t)(rows + 1) * READER_ROW_BYTES_ASSUMED
               : (size_t)READER_CHUNK_BYTES_FIRST;
}

/* Nothing more comes, and memory that an error left half filled is not looked at. */
static void reader_stop(struct hw_reader *reader)
{
    reader->first = reader->end;
    reader->chunk.size = 0;
    reader->at = 0;
    reader->start_count = 0;
    reader->is_run = false;
    reader->is_iterating = false;
    reader->record_count = 0;
}

enum hw_status hw_reader_reopen(struct hw_reader *reader, struct hw_cluster *cluster,
                                const struct hw_reader_options *options, struct hw_error *error)
{
    struct hw_reader_place place;
    enum hw_status status = hw_reader_find(cluster, options, &place, error);

    reader_stop(reader);
    if (status != HW_OK) {
        return status;
    }
    reader->cluster = cluster;
    reader->topic_id = place.topic->id;
    reader->options = *options;
    reader->options.topic = reader->topic;
    memcpy(reader->topic, place.topic->name, sizeof reader->topic);
    reader->log_start = hw_log_start(place.replica->log);
    reader->high_watermark = place.high_watermark;
    /* The batch that holds the log start is still there whole, for those who look at the log. */
    reader->first = at_least(options->first, options->mode == HW_READ_LOG ? 0 : reader->log_start);
    reader->end = options->end < place.end ? options->end : place.end;
    reader->chunk_bytes = first_chunk_bytes(reader);
    return HW_OK;
}

enum hw_status hw_reader_open(struct hw_cluster *cluster, const struct hw_reader_options *options,
                              struct hw_reader **reader, struct hw_error *error)
{
    struct hw_reader *made = hw_alloc_zeroed(cluster->allocator, sizeof *made);
    enum hw_status status;

    *reader = NULL;
    if (made == NULL) {
        return hw_error_no_memory(error, "reader");
    }
    made->allocator = cluster->allocator;
    hw_buffer_init(&made->chunk, made->allocator);
    hw_buffer_init(&made->plain, made->allocator);
    status = hw_reader_reopen(made, cluster, options, error);
    if (status != HW_OK) {
        hw_reader_close(made);
        return status;
    }
    *reader = made;
    return HW_OK;
}

static void release_if_large(struct hw_buffer *buffer)
{
    if (buffer->capacity > READER_KEPT_BYTES) {
        hw_buffer_release(buffer);
    }
}

void hw_reader_rest(struct hw_reader *reader)
{
    reader_stop(reader);
    release_if_large(&reader->chunk);
    release_if_large(&reader->plain);
}

void hw_reader_close(struct hw_reader *reader)
{
    const struct hw_allocator *allocator;

    if (reader == NULL) {
        return;
    }
    allocator = reader->allocator;
    hw_buffer_release(&reader->chunk);
    hw_buffer_release(&reader->plain);
    hw_free(allocator, reader->starts, reader->start_capacity * sizeof *reader->starts);
    hw_free(allocator, reader->records, reader->record_capacity * sizeof *reader->records);
    hw_free(allocator, reader, sizeof *reader);
}

/* ---------------------------------------------------------------------------------------- rows */

/* Name of a control record's type, from its key. Source: ControlRecordType. */
static const char *control_type(struct hw_reader *reader, const struct hw_record *record)
{
    int16_t type;

    if ((reader->batch.attributes & HW_BATCH_CONTROL) == 0) {
        return NULL;
    }
    if (record->key_size < CONTROL_KEY_SIZE) {
        return "-1"; /* Kafka's "unknown". */
    }
    type = hw_get_i16(record->key + 2);
    if (type == 0 || type == 1) {
        return type == 0 ? "ABORT" : "COMMIT";
    }
    (void)snprintf(reader->control, sizeof reader->control, "%" PRId16, type);
    return reader->control;
}

static const char *visibility_of(const struct hw_reader *reader, hw_offset_t offset)
{
    if (offset < reader->log_start) {
        return "below_log_start";
    }
    if (offset >= reader->high_watermark) {
        return "above_hw";
    }
    return (reader->batch.attributes & HW_BATCH_CONTROL) != 0 ? "control" : "visible";
}

/* The rest of a row whose record is there. */
static void fill_row(struct hw_reader *reader, struct hw_row *row)
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
    row->control = control_type(reader, &row->record);
    row->visibility = visibility_of(reader, row->record.offset);
}

/* The next row of the batch that was entered, or *found false when there are no more. */
static enum hw_status next_in_batch(struct hw_reader *reader, struct hw_row *row, bool *found,
                                    struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *found = false;
    if (reader->is_run) {
        *row = (struct hw_row){.partition = (int32_t)reader->options.partition};
        row->record.offset = reader->options.descending ? --reader->high : reader->low++;
        reader->is_run = reader->low < reader->high;
        *found = true;
        return HW_OK;
    }
    if (reader->record_count > 0) {
        row->record = reader->records[--reader->record_count];
        *found = true;
    } else if (reader->is_iterating) {
        status = hw_reader_next_record(reader, &row->record, found, error);
        reader->is_iterating = *found;
    }
    if (*found) {
        fill_row(reader, row);
    }
    return status;
}

enum hw_status hw_reader_next(struct hw_reader *reader, struct hw_row *row, bool *found,
                              struct hw_error *error)
{
    bool more = true;
    enum hw_status status = next_in_batch(reader, row, found, error);

    while (status == HW_OK && !*found && more) {
        status = hw_reader_enter_next(reader, &more, error);
        if (status == HW_OK && more) {
            status = next_in_batch(reader, row, found, error);
        }
    }
    if (status != HW_OK) {
        *found = false;
        reader_stop(reader);
    }
    return status;
}

enum hw_status hw_reader_next_buffered(struct hw_reader *reader, struct hw_row *row, bool *found,
                                       bool *is_at_end, struct hw_error *error)
{
    bool more = true;
    enum hw_status status = next_in_batch(reader, row, found, error);

    while (status == HW_OK && !*found && more) {
        status = hw_reader_enter_buffered(reader, &more, error);
        if (status == HW_OK && more) {
            status = next_in_batch(reader, row, found, error);
        }
    }
    if (status != HW_OK) {
        *found = false;
        reader_stop(reader);
    }
    *is_at_end = !*found && reader->first >= reader->end;
    return status;
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

/* --------------------------------------------------------------------------------------- times */

/* The first offset >= options->first with such a timestamp, record by record. */
static enum hw_status scan_for_timestamp(struct hw_cluster *cluster,
                                         const struct hw_reader_options *options,
                                         hw_time_ms_t timestamp, hw_offset_t *offset,
                                         struct hw_error *error)
{
    struct hw_reader_options forward = *options;
    struct hw_reader *reader;
    struct hw_row row;
    bool found = true;
    enum hw_status status;

    forward.descending = false;
    forward.count_only = false;
    forward.rows_wanted = 1;
    status = hw_reader_open(cluster, &forward, &reader, error);
    while (status == HW_OK && found) {
        status = hw_reader_next(reader, &row, &found, error);
        if (status == HW_OK && found && row.record.timestamp >= timestamp) {
            *offset = row.record.offset;
            break;
        }
    }
    hw_reader_close(reader);
    return status;
}

enum hw_status hw_reader_offset_for_timestamp(struct hw_cluster *cluster,
                                              const struct hw_reader_options *options,
                                              hw_time_ms_t timestamp, hw_offset_t *offset,
                                              struct hw_error *error)
{
    struct hw_reader_place place;
    hw_offset_t first;
    hw_offset_t end;
    hw_time_ms_t unused;
    enum hw_status status = hw_reader_find(cluster, options, &place, error);

    *offset = HW_OFFSET_NONE;
    if (status == HW_OK) {
        status = hw_reader_bounds(cluster, options, &first, &end, error);
    }
    if (status != HW_OK || first == end) {
        return status;
    }
    status =
        hw_log_offset_for_timestamp(place.replica->log, timestamp, end, offset, &unused, error);
    /* Timestamps need not grow: one below the bounds says nothing of those within. */
    if (status == HW_OK && *offset != HW_OFFSET_NONE && *offset < first) {
        *offset = HW_OFFSET_NONE;
        status = scan_for_timestamp(cluster, options, timestamp, offset, error);
    }
    return status;
}
