/* SPDX-License-Identifier: MIT */
/* How a reader gets at bytes: a few large reads, each batch checked once when it is entered, and of its
 * records some read ahead. Few rows come from the cluster's cache of batches. */
#include "core/base/uuid.h"
#include "core/format/transaction_index_file.h"
#include "core/look/reader_internal.h"
#include "core/record/codec.h"

#include <inttypes.h>

enum {
    READER_CHUNK_BYTES_MAX = 1024 * 1024,
    READER_CHUNK_GROWTH = 4,
    READER_AHEAD_MAX = 64,
    READER_AHEAD_GROWTH = 4,
    READER_LOOKUP_ROWS = 64,         /* So many offsets are looked up, more are scanned. */
    READER_LOOKUP_BYTES = 20 * 1024, /* Little more than a batch as INSERT makes them. */
    /* No producer makes batches that large; without a limit 1 MiB could unfold to 1 GiB. */
    READER_PLAIN_BYTES_MAX = 256 * 1024 * 1024
};

static enum hw_status reader_not_a_batch(const struct hw_reader *reader, struct hw_error *error)
{
    return hw_reader_corrupt(reader, "the log has bytes that are not a batch", error);
}

/* What a look at a batch has returned. */
static enum hw_status reader_failed(const struct hw_reader *reader, enum hw_status status,
                                    const struct hw_error *inner, struct hw_error *error)
{
    return status == HW_CORRUPT ? hw_reader_corrupt(reader, inner->message, error)
                                : hw_error_set(error, status, "%s", inner->message);
}

/* Whether every offset of the batch has a record, by its header. */
static bool reader_is_gapless(const struct hw_batch *batch)
{
    return batch->record_count - 1 == batch->last_offset_delta;
}

/* ------------------------------------------------------------------------------------- chunks */

/* Remember where each batch of the chunk starts. */
static enum hw_status reader_list_batches(struct hw_reader *reader, struct hw_error *error)
{
    struct hw_batch batch;

    for (size_t at = 0; at < reader->chunk.size; at += hw_batch_size_bytes(&batch)) {
        enum hw_status status =
            hw_array_reserve(reader->allocator, (void **)&reader->starts, &reader->start_capacity,
                             reader->start_count + 1, sizeof *reader->starts, error);

        if (status != HW_OK) {
            return status;
        }
        if (hw_batch_parse(reader->chunk.bytes + at, reader->chunk.size - at, &batch) !=
            HW_BATCH_OK) {
            return reader_not_a_batch(reader, error);
        }
        reader->starts[reader->start_count++] = at;
    }
    return HW_OK;
}

/* What is still to be read of the log: the batches that hold offsets in [*from, *bound). */
static void reader_take_place(struct hw_reader *reader, const struct hw_reader_place *place,
                              hw_offset_t *from, hw_offset_t *bound)
{
    reader->end = HW_MIN(place->end, reader->end);
    reader->bottom = hw_reader_bottom(&reader->options, place);
    *from = HW_MAX(reader->first, reader->bottom);
    *bound = reader->end;
}

/* Find the log once more, since it may have changed. */
static enum hw_status reader_find_again(struct hw_reader *reader, struct hw_reader_place *place,
                                        struct hw_error *error)
{
    enum hw_status status = hw_reader_find(reader->cluster, &reader->options, place, error);

    if (status == HW_OK && !hw_uuid_equal(&place->partition->topic->id, &reader->topic_id)) {
        return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                               "topic %s was deleted while it was read, and made anew",
                               reader->topic);
    }
    return status;
}

/* Enter the offsets next to come, as far as the log knows that each of them has a record. Returns
 * whether there are any. */
static bool reader_enter_gapless(struct hw_reader *reader, const struct hw_log *log,
                                 hw_offset_t from, hw_offset_t bound)
{
    hw_offset_t first;
    hw_offset_t end;

    hw_log_gapless(log, &first, &end);
    reader->low = HW_MAX(first, from);
    reader->high = HW_MIN(end, bound);
    if (reader->low >= reader->high ||
        (reader->options.descending ? reader->high < bound : reader->low > from)) {
        return false;
    }
    if (!reader->options.descending) {
        reader->first = reader->high;
    } else if (reader->low > from) {
        reader->end = reader->low;
    } else {
        reader->end = reader->first; /* That was all. */
    }
    reader->is_run = true;
    return true;
}

/* Have the log know which batches of the chunk have a record for each offset. */
static enum hw_status reader_note_gapless(const struct hw_reader *reader, struct hw_log *log,
                                          struct hw_error *error)
{
    struct hw_batch batch;

    for (size_t at = 0; at < reader->chunk.size; at += hw_batch_size_bytes(&batch)) {
        if (hw_batch_parse(reader->chunk.bytes + at, reader->chunk.size - at, &batch) !=
            HW_BATCH_OK) {
            return reader_not_a_batch(reader, error);
        }
        if (reader_is_gapless(&batch) && (batch.attributes & HW_BATCH_CONTROL) == 0) {
            hw_log_note_gapless(log, batch.base_offset, hw_batch_next_offset(&batch));
        }
    }
    return HW_OK;
}

/* Read the next chunk; an empty one is the end, unless a run of offsets was entered. */
static enum hw_status reader_refill(struct hw_reader *reader, const struct hw_reader_place *place,
                                    struct hw_error *error)
{
    struct hw_log *log = place->replica->log;
    /* What is gapless may have been aborted. */
    bool counts = reader->options.count_only && reader->options.mode != HW_READ_LOG &&
                  reader->aborted.size == 0;
    hw_offset_t from;
    hw_offset_t bound;
    enum hw_status status;

    reader->chunk.size = 0;
    reader->at = 0;
    reader->start_count = 0;
    reader_take_place(reader, place, &from, &bound);
    if (from >= bound || (counts && reader_enter_gapless(reader, log, from, bound))) {
        return HW_OK;
    }
    if (reader->options.descending) {
        status = hw_log_read_before(log, reader->bottom, bound, reader->chunk_bytes, &reader->chunk,
                                    error);
        if (status == HW_OK) {
            status = reader_list_batches(reader, error);
        }
    } else {
        status =
            hw_log_read_stored(log, from, bound, reader->chunk_bytes, true, &reader->chunk, error);
    }
    if (status == HW_OK && counts) {
        status = reader_note_gapless(reader, log, error);
    }
    if (reader->chunk_bytes < READER_CHUNK_BYTES_MAX) {
        reader->chunk_bytes *= READER_CHUNK_GROWTH;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- records */

static enum hw_status out_of_order(const struct hw_reader *reader, const struct hw_record *record,
                                   struct hw_error *error)
{
    return hw_error_corrupt(error,
                            "%s-%" PRId64 ": a record in the batch [%" PRId64 ", %" PRId64
                            "] has offset %" PRId64 ", the one before it %" PRId64,
                            reader->topic, reader->options.partition, reader->batch.base_offset,
                            hw_batch_last_offset(&reader->batch), record->offset, reader->previous);
}

static enum hw_status chunk_malformed(const struct hw_reader *reader, struct hw_error *error)
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
            return chunk_malformed(reader, error);
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

/* Read all records of the batch that was entered ahead whose offsets are in [low, high). */
static enum hw_status list_records(struct hw_reader *reader, struct hw_error *error)
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

/* ------------------------------------------------------------------------------------ batches */

static enum hw_status reader_check_crc(const struct hw_reader *reader, const uint8_t *bytes,
                                       struct hw_error *error)
{
    if (hw_batch_crc_ok(bytes, &reader->batch)) {
        return HW_OK;
    }
    return hw_error_corrupt(
        error, "%s-%" PRId64 ": the checksum of the batch at offset %" PRId64 " is wrong",
        reader->topic, reader->options.partition, reader->batch.base_offset);
}

/* Begin to decode the batch at `bytes`. */
static enum hw_status reader_decode(struct hw_reader *reader, const uint8_t *bytes,
                                    struct hw_error *error)
{
    struct hw_error inner;
    enum hw_status status = reader_check_crc(reader, bytes, error);

    if (status != HW_OK) {
        return status;
    }
    status = hw_record_iterator_open(&reader->iterator, bytes, &reader->batch,
                                     READER_PLAIN_BYTES_MAX, &reader->plain, &inner);
    if (status != HW_OK) {
        return reader_failed(reader, status, &inner, error);
    }
    reader->is_iterating = true;
    reader->previous = reader->batch.base_offset - 1;
    reader->last = hw_batch_last_offset(&reader->batch);
    if (reader->options.descending) {
        status = list_records(reader, error);
        reader->is_iterating = false;
    }
    return status;
}

bool hw_reader_is_aborted(const struct hw_reader *reader, const struct hw_batch *batch)
{
    return (batch->attributes & HW_BATCH_TRANSACTIONAL) != 0 &&
           hw_aborted_transactions_have(&reader->aborted, batch->producer_id, batch->base_offset);
}

/* Note which rows of reader->batch are wanted. Returns whether there may be any. */
static bool reader_take_bounds(struct hw_reader *reader)
{
    const struct hw_batch *batch = &reader->batch;
    hw_offset_t next_offset = hw_batch_next_offset(batch);

    reader->low = HW_MAX(reader->first, batch->base_offset);
    reader->high = HW_MIN(reader->end, next_offset);
    return reader->low < reader->high &&
           (reader->options.mode == HW_READ_LOG ||
            ((batch->attributes & HW_BATCH_CONTROL) == 0 && !hw_reader_is_aborted(reader, batch)));
}

/* Enter the batch at `start` of the chunk, or step over it if it has no rows for this reader. */
static enum hw_status reader_enter(struct hw_reader *reader, size_t start, struct hw_error *error)
{
    const uint8_t *bytes = reader->chunk.bytes + start;
    struct hw_batch *batch = &reader->batch;
    hw_offset_t next_offset;
    bool has_rows;

    if (hw_batch_parse(bytes, reader->chunk.size - start, batch) != HW_BATCH_OK) {
        return reader_not_a_batch(reader, error);
    }
    next_offset = hw_batch_next_offset(batch);
    has_rows = reader_take_bounds(reader);
    if (reader->options.descending) {
        reader->end = HW_MIN(batch->base_offset, reader->end);
        if (batch->base_offset <= reader->bottom) {
            reader->first = reader->end; /* The lowest one. */
        }
    } else {
        reader->first = HW_MAX(next_offset, reader->first);
        reader->at = start + hw_batch_size_bytes(batch);
    }
    if (!has_rows) {
        return HW_OK;
    }
    if (reader->options.count_only && reader_is_gapless(batch)) {
        reader->is_run = true;
        return HW_OK;
    }
    return reader_decode(reader, bytes, error);
}

/* ---------------------------------------------------------------------------------- few rows */

static bool reader_is_lookup(const struct hw_reader *reader)
{
    return reader->first < reader->end && reader->end - reader->first <= READER_LOOKUP_ROWS &&
           !reader->options.descending && !reader->options.count_only;
}

/* Read the batch that holds `from`, or the next one, check it and keep it; NULL: there is none. */
static enum hw_status reader_cache(struct hw_reader *reader, struct hw_log *log, hw_offset_t from,
                                   hw_offset_t bound, struct hw_cached_batch **found,
                                   struct hw_error *error)
{
    struct hw_error inner;
    enum hw_status status;

    *found = NULL;
    reader->chunk.size = 0;
    status = hw_log_read_stored(log, from, bound, READER_LOOKUP_BYTES, true, &reader->chunk, error);
    if (status != HW_OK || reader->chunk.size == 0) {
        return status;
    }
    if (hw_batch_parse(reader->chunk.bytes, reader->chunk.size, &reader->batch) != HW_BATCH_OK) {
        return reader_not_a_batch(reader, error);
    }
    status = reader_check_crc(reader, reader->chunk.bytes, error);
    if (status != HW_OK) {
        return status;
    }
    if (reader->batch.base_offset > from) { /* It is behind a gap, in which `from` is. */
        *found = hw_batch_cache_find(&reader->cluster->batches, hw_log_content_id(log),
                                     reader->batch.base_offset);
    }
    if (*found != NULL) {
        return HW_OK;
    }
    status = hw_batch_cache_add(&reader->cluster->batches, hw_log_content_id(log), &reader->chunk,
                                &reader->batch, READER_PLAIN_BYTES_MAX, found, &inner);
    return status == HW_OK ? HW_OK : reader_failed(reader, status, &inner, error);
}

/* Enter the next batch by way of the cache. */
static enum hw_status reader_enter_cached(struct hw_reader *reader,
                                          const struct hw_reader_place *place, bool *more,
                                          struct hw_error *error)
{
    struct hw_batch_cache *cache = &reader->cluster->batches;
    struct hw_log *log = place->replica->log;
    struct hw_cached_batch *entry;
    hw_offset_t from;
    hw_offset_t bound;
    struct hw_error inner;
    enum hw_status status = HW_OK;

    *more = false;
    reader_take_place(reader, place, &from, &bound);
    if (from >= bound) {
        return HW_OK;
    }
    if (hw_log_content_id(log) == 0) {
        hw_log_set_content_id(log, hw_batch_cache_new_content_id(cache));
    }
    entry = hw_batch_cache_find(cache, hw_log_content_id(log), from);
    if (entry == NULL) {
        status = reader_cache(reader, log, from, bound, &entry, error);
        reader->chunk.size = 0;
        reader->at = 0;
    }
    if (status != HW_OK || entry == NULL) {
        return status;
    }
    *more = true;
    reader->batch = entry->start.batch;
    if (reader_take_bounds(reader)) {
        reader->plain.size = 0;
        status = hw_cached_batch_copy(entry, reader->low, reader->high, &reader->plain,
                                      &reader->iterator, &inner);
        reader->is_iterating = status == HW_OK;
        reader->previous = reader->low - 1;
        reader->last = entry->next_offset - 1;
    }
    reader->first = HW_MAX(entry->next_offset, reader->first);
    return status == HW_OK ? HW_OK : reader_failed(reader, status, &inner, error);
}

enum hw_status hw_reader_enter_buffered(struct hw_reader *reader, bool *entered,
                                        struct hw_error *error)
{
    bool is_descending = reader->options.descending;

    *entered = is_descending ? reader->start_count > 0 : reader->at < reader->chunk.size;
    if (!*entered) {
        return HW_OK;
    }
    return reader_enter(reader, is_descending ? reader->starts[--reader->start_count] : reader->at,
                        error);
}

enum hw_status hw_reader_enter_first(struct hw_reader *reader, const struct hw_reader_place *place,
                                     struct hw_error *error)
{
    bool more;

    return reader_is_lookup(reader) ? reader_enter_cached(reader, place, &more, error) : HW_OK;
}

enum hw_status hw_reader_enter_next(struct hw_reader *reader, bool *more, struct hw_error *error)
{
    struct hw_reader_place place;
    enum hw_status status = hw_reader_enter_buffered(reader, more, error);

    if (status != HW_OK || *more || reader->first >= reader->end) {
        return status;
    }
    status = reader_find_again(reader, &place, error);
    if (status != HW_OK) {
        return status;
    }
    if (reader_is_lookup(reader)) {
        return reader_enter_cached(reader, &place, more, error);
    }
    status = reader_refill(reader, &place, error);
    *more = reader->is_run;
    return status == HW_OK && !*more ? hw_reader_enter_buffered(reader, more, error) : status;
}
