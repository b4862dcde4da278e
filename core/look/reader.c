/* SPDX-License-Identifier: MIT */
/* Opening a reader, the bounds of what it shows, and times. */
#include "core/look/reader.h"

#include "core/format/transaction_index_file.h"
#include "core/look/reader_internal.h"

#include <string.h>

enum {
    READER_CHUNK_BYTES_FIRST = 64 * 1024,
    READER_ROW_BYTES_ASSUMED = 256,
    READER_KEPT_BYTES = 64 * 1024 /* Of memory that is not in use. */
};

/* -------------------------------------------------------------------------------------- bounds */

static hw_offset_t at_least(hw_offset_t offset, hw_offset_t least)
{
    return HW_MAX(offset, least);
}

enum hw_status hw_reader_bounds(struct hw_cluster *cluster, const struct hw_reader_options *options,
                                hw_offset_t *first, hw_offset_t *end, struct hw_error *error)
{
    struct hw_reader_place place;
    enum hw_status status = hw_reader_find(cluster, options, &place, error);

    if (status == HW_OK) {
        *first = at_least(options->first, hw_reader_bottom(options, &place));
        *end = at_least(HW_MIN(options->end, place.end), *first);
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

enum hw_status hw_reader_reopen(struct hw_reader *reader, struct hw_cluster *cluster,
                                const struct hw_reader_options *options, struct hw_error *error)
{
    struct hw_reader_place place;
    enum hw_status status = hw_reader_find(cluster, options, &place, error);

    hw_reader_stop(reader);
    if (status != HW_OK) {
        return status;
    }
    reader->cluster = cluster;
    reader->topic_id = place.partition->topic->id;
    reader->options = *options;
    reader->options.topic = reader->topic;
    memcpy(reader->topic, place.partition->topic->name, sizeof reader->topic);
    reader->log_start = hw_log_start(place.replica->log);
    reader->high_watermark = place.high_watermark;
    reader->last_stable = place.last_stable;
    reader->first = at_least(options->first, hw_reader_bottom(options, &place));
    reader->end = HW_MIN(options->end, place.end);
    reader->chunk_bytes = first_chunk_bytes(reader);
    reader->aborted.size = 0;
    if (options->mode != HW_READ_UNCOMMITTED) {
        status =
            hw_log_aborted(place.replica->log, reader->first, reader->end, &reader->aborted, error);
        hw_aborted_transactions_sort(&reader->aborted);
    }
    if (status == HW_OK) {
        status = hw_reader_enter_first(reader, &place, error);
    }
    if (status != HW_OK) {
        hw_reader_stop(reader);
    }
    return status;
}

enum hw_status hw_reader_open(struct hw_cluster *cluster, const struct hw_reader_options *options,
                              struct hw_reader **reader, struct hw_error *error)
{
    struct hw_reader *made = hw_alloc_zeroed(cluster->callers, sizeof *made);
    enum hw_status status;

    *reader = NULL;
    if (made == NULL) {
        return hw_error_no_memory(error, "reader");
    }
    made->allocator = cluster->callers;
    hw_buffer_init(&made->chunk, made->allocator);
    hw_buffer_init(&made->plain, made->allocator);
    hw_buffer_init(&made->aborted, made->allocator);
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

void hw_reader_release(struct hw_reader *reader)
{
    hw_reader_stop(reader);
    release_if_large(&reader->chunk);
    release_if_large(&reader->plain);
    release_if_large(&reader->aborted);
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
    hw_buffer_release(&reader->aborted);
    hw_free(allocator, reader->starts, reader->start_capacity * sizeof *reader->starts);
    hw_free(allocator, reader->records, reader->record_capacity * sizeof *reader->records);
    hw_free(allocator, reader, sizeof *reader);
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
    status = hw_log_offset_for_timestamp(place.replica->log, timestamp, end, false, offset, &unused,
                                         error);
    /* Timestamps need not grow: one below the bounds says nothing of those within. */
    if (status == HW_OK && *offset != HW_OFFSET_NONE && *offset < first) {
        *offset = HW_OFFSET_NONE;
        status = scan_for_timestamp(cluster, options, timestamp, offset, error);
    }
    return status;
}
