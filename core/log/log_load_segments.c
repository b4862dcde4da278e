/* SPDX-License-Identifier: MIT */
/*
 * The segments of a log that is opened: which of them are recovered, which are trusted, and where
 * the log ends. Also the way Kafka does it, where this log is stricter: LogLoader.loadSegmentFiles,
 * recoverLog, LogSegment.readNextOffset (kafka formats 7.2).
 */
#include "core/base/bytes.h"
#include "core/format/segment_name.h"
#include "core/format/transaction_index_file.h"
#include "core/log/log_internal.h"
#include "core/log/segment.h"

#include <inttypes.h>
#include <stdio.h>

static const char index_problem[] = "it or its .timeindex is missing or does not fit the .log";

/* Recover segment number `i`. */
static enum hw_status recover_segment(struct hw_log_loader *loader, size_t i, hw_offset_t limit,
                                      struct hw_error *error)
{
    struct hw_log *log = loader->log;
    enum hw_status status;

    if (i < loader->first_recovered) {
        loader->first_recovered = i;
        loader->last_epoch =
            hw_epoch_cache_epoch_for_offset(&loader->noted, log->segments[i]->base_offset);
    }
    status = hw_segment_recover(log->segments[i], limit, hw_log_learn_batch, loader,
                                loader->recovery, error);
    if (loader->load->as_kafka) { /* Nobody looks something up. */
        hw_index_reset(&log->segments[i]->offsets);
        hw_index_reset(&log->segments[i]->times);
        return status;
    }
    return status == HW_OK
               ? hw_log_loader_forgive(
                     loader, hw_segment_write_indexes(log->segments[i], false, error), error)
               : status;
}

/* The same, and remove the segments behind it if it had to be cut: they would not join on. */
static enum hw_status recover_and_cut(struct hw_log_loader *loader, size_t i, hw_offset_t limit,
                                      struct hw_error *error)
{
    struct hw_log *log = loader->log;
    int64_t cut_before = loader->recovery->bytes_cut;
    enum hw_status status = recover_segment(loader, i, limit, error);

    if (status == HW_OK && loader->recovery->bytes_cut > cut_before) {
        hw_log_loader_note_deleted(loader, i + 1, "lies behind a cut");
        status = hw_log_remove_segments_from(log, i + 1, error);
    }
    return status;
}

/* A segment that is to be trusted but for its indexes. */
static enum hw_status check_segment(struct hw_log_loader *loader, size_t i, bool usable,
                                    struct hw_error *error)
{
    struct hw_log *log = loader->log;
    struct hw_segment *segment = log->segments[i];
    bool is_active = i + 1 == log->count;
    bool is_clean = usable;
    enum hw_status status = HW_OK;

    if (is_active && usable) {
        hw_epoch_t last_epoch;

        status = hw_segment_find_end(segment, &last_epoch, &is_clean, error);
        hw_log_learn_end(loader, is_clean ? segment->next_offset - 1 : HW_OFFSET_NONE, last_epoch);
    }
    if (status != HW_OK || is_clean) {
        return status;
    }
    if (is_active) {
        return recover_and_cut(loader, i, INT64_MAX, error);
    }
    status = hw_segment_rebuild_indexes(segment, error);
    return status == HW_OK ? hw_log_loader_forgive(
                                 loader, hw_segment_write_indexes(segment, false, error), error)
                           : status;
}

static enum hw_status load_segments(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    size_t recover_from =
        loader->load->clean ? log->count : hw_log_floor_segment(log, loader->load->recovery_point);
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < log->count; i++) {
        hw_offset_t limit = hw_log_segment_limit(log, i, INT64_MAX);
        bool usable;

        status = hw_segment_open_indexes(log->segments[i], limit, &usable, error);
        if (status == HW_OK && !usable) {
            hw_log_loader_note_segment(loader, i, ".index", index_problem, "rebuilt from the .log",
                                       0);
        }
        if (status == HW_OK) {
            status = i < recover_from ? check_segment(loader, i, usable, error)
                                      : recover_and_cut(loader, i, limit, error);
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------ as Kafka */

/* Whether a segment has a file with that suffix. */
static enum hw_status segment_has(const struct hw_segment *segment, const char *suffix, bool *has,
                                  struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status =
        hw_segment_name_path(path, segment->owner->directory, segment->base_offset, suffix, error);

    return status == HW_OK ? hw_store_exists(segment->owner->store, path, has, error) : status;
}

/* Whether the transactions that the whole entries of its index tell of end in the segment or behind
 * it. */
static enum hw_status transactions_fit(const struct hw_segment *segment, bool *fit,
                                       struct hw_error *error)
{
    struct hw_buffer content;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_segment_name_path(path, segment->owner->directory,
                                                 segment->base_offset, ".txnindex", error);

    hw_buffer_init(&content, segment->owner->allocator);
    if (status == HW_OK) {
        status = hw_transaction_index_read(segment->owner->store, path, &content, error);
    }
    *fit = status != HW_CORRUPT;
    for (size_t at = 0; status == HW_OK && at + HW_ABORTED_TRANSACTION_SIZE <= content.size;
         at += HW_ABORTED_TRANSACTION_SIZE) {
        *fit = *fit &&
               hw_aborted_transaction_get(content.bytes + at).last_offset >= segment->base_offset;
    }
    hw_buffer_release(&content);
    return status == HW_CORRUPT ? HW_OK : status;
}

/* Whether it trusts a segment that need not be recovered: if there is an offset index, and the
 * transaction index can be of this segment. What the indexes say is believed. */
static enum hw_status check_as_kafka(struct hw_log_loader *loader, size_t i, bool is_recovered,
                                     bool *is_trusted, struct hw_error *error)
{
    const struct hw_segment *segment = loader->log->segments[i];
    bool has_times = true;
    bool has_offsets = true;
    enum hw_status status = transactions_fit(segment, is_trusted, error);

    if (status == HW_OK && !*is_trusted) {
        hw_log_loader_note_segment(loader, i, ".txnindex", "does not fit the .log",
                                   "rebuilt from the .log", 0);
    }
    if (status == HW_OK) {
        status = segment_has(segment, ".index", &has_offsets, error);
    }
    *is_trusted = *is_trusted && has_offsets;
    if (status == HW_OK) {
        status = segment_has(segment, ".timeindex", &has_times, error);
    }
    if (status == HW_OK && *is_trusted && !is_recovered && !has_times) {
        hw_log_loader_note_segment(loader, i, ".timeindex", "missing", "made empty", 0);
    }
    return status;
}

/* As Java adds: what the bytes say may be anything. */
static int64_t add_as_kafka(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* The batch at a position as Kafka's input sees it: only size and magic are looked at. *size is 0
 * where it takes the file for ended. */
static enum hw_status batch_as_kafka(const struct hw_segment *segment, int64_t position,
                                     hw_offset_t *last_offset, int64_t *size,
                                     struct hw_error *error)
{
    uint8_t header[HW_BATCH_HEADER_SIZE] = {0};
    size_t got;
    enum hw_status status =
        hw_file_read_at(segment->file, position, header, sizeof header, &got, error);

    *size = 0;
    if (status != HW_OK || got < HW_BATCH_PREFIX_SIZE) {
        return status;
    }
    *size = HW_BATCH_OVERHEAD + (int64_t)hw_get_i32(header + 8);
    *last_offset = add_as_kafka(hw_get_i64(header), header[16] < 2 ? 0 : hw_get_i32(header + 23));
    if (*size < HW_BATCH_OVERHEAD + HW_BATCH_LENGTH_MIN) {
        return hw_error_set(error, HW_CORRUPT, "no batch begins at byte %" PRId64, position);
    }
    *size = *size > segment->size_bytes - position ? 0 : *size;
    return HW_OK;
}

/* Where the last entry of the offset index leads a search for its own offset. The whole length of
 * the file counts as entries. */
static enum hw_status last_entry_as_kafka(const struct hw_segment *segment, hw_offset_t *offset,
                                          int64_t *position, struct hw_error *error)
{
    enum { ENTRY_SIZE = 8 };
    uint8_t first[ENTRY_SIZE] = {0};
    uint8_t last[ENTRY_SIZE] = {0};
    char path[HW_PATH_MAX];
    struct hw_file *file;
    int64_t size = 0;
    size_t got;
    enum hw_status status = hw_segment_name_path(path, segment->owner->directory,
                                                 segment->base_offset, ".index", error);

    if (status == HW_OK) {
        status = hw_store_open(segment->owner->store, path, HW_OPEN_READ, &file, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = hw_file_size(file, &size, error);
    size -= size % ENTRY_SIZE;
    if (status == HW_OK && size > 0) {
        status = hw_file_read_at(file, 0, first, ENTRY_SIZE, &got, error);
    }
    if (status == HW_OK && size > 0) {
        status = hw_file_read_at(file, size - ENTRY_SIZE, last, ENTRY_SIZE, &got, error);
    }
    hw_file_close(file);
    *offset = add_as_kafka(segment->base_offset, hw_get_i32(last));
    *position = hw_get_i32(last) < hw_get_i32(first) ? 0 : hw_get_i32(last + 4);
    *position = HW_MAX(*position, 0);
    return status;
}

/* Whether zeros stand behind the entries of an index, as in that of an active segment after a crash. */
static enum hw_status index_is_set_aside(const struct hw_segment *segment, bool *is_set_aside,
                                         struct hw_error *error)
{
    hw_offset_t offset;
    int64_t position;
    enum hw_status status = last_entry_as_kafka(segment, &offset, &position, error);

    *is_set_aside = status == HW_OK && offset == segment->base_offset && position == 0;
    return status == HW_NOT_FOUND ? HW_OK : status;
}

/* Tell of what lies behind `position` in the active segment, where its end was found. */
static void note_tail_as_kafka(struct hw_log_loader *loader, int64_t position)
{
    size_t active = loader->log->count - 1;
    struct hw_segment *segment = loader->log->segments[active];
    char problem[80];

    if (segment->next_offset == segment->base_offset) {
        hw_log_loader_note_segment(
            loader, active, ".log", "the last entry of its .index leads to no whole batch",
            "left, but the log ends at its first offset: all of it is lost", segment->size_bytes);
        segment->size_bytes = segment->synced_bytes = 0;
    } else {
        (void)snprintf(problem, sizeof problem,
                       "%" PRId64 " bytes behind the last whole batch, after a clean stop",
                       segment->size_bytes - position);
        hw_log_loader_note_segment(loader, active, ".log", problem,
                                   "left, and what is appended comes behind them", 0);
    }
}

/* The same of bytes that it does not get over. Returns HW_CORRUPT. */
static enum hw_status refuse_as_kafka(struct hw_log_loader *loader, struct hw_error *error)
{
    size_t active = loader->log->count - 1;
    char problem[80];

    (void)snprintf(problem, sizeof problem, "%.*s", (int)sizeof problem - 1, error->message);
    hw_log_loader_note_segment(loader, active, ".log", problem,
                               "refused: the broker does not start", 0);
    return hw_error_set(error, HW_CORRUPT,
                        "%020" PRId64 ".log: %s: behind a clean stop nothing is cut",
                        loader->log->segments[active]->base_offset, problem);
}

/* Find the end of the active segment, which is trusted: behind the last batch, if a batch is found
 * for the last entry of the index; else where the segment begins. */
static enum hw_status find_end_as_kafka(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_segment *segment = hw_log_active(loader->log);
    hw_offset_t wanted;
    hw_offset_t last_offset = HW_OFFSET_NONE;
    hw_offset_t end = segment->base_offset;
    bool is_found = false;
    int64_t position;
    int64_t size = 1;
    unsigned batches = 0;
    enum hw_status status = last_entry_as_kafka(segment, &wanted, &position, error);

    while (status == HW_OK && size > 0 && position < segment->size_bytes) {
        status = hw_log_watch_ask(segment->owner->watch, &batches, error);
        if (status == HW_OK) {
            status = batch_as_kafka(segment, position, &last_offset, &size, error);
        }
        if (status == HW_OK && size > 0) {
            is_found = is_found || last_offset >= wanted;
            end = is_found ? add_as_kafka(last_offset, 1) : end;
            position += size;
        }
    }
    if (status != HW_OK) {
        return status == HW_CORRUPT ? refuse_as_kafka(loader, error) : status;
    }
    hw_index_reset(&segment->offsets);
    hw_index_reset(&segment->times);
    segment->next_offset = HW_MAX(end, segment->base_offset);
    if (position < segment->size_bytes || (!is_found && segment->size_bytes > 0)) {
        note_tail_as_kafka(loader, position);
    }
    return HW_OK;
}

static enum hw_status load_as_kafka(struct hw_log_loader *loader, struct hw_error *error)
{
    struct hw_log *log = loader->log;
    size_t recover_from =
        loader->load->clean ? log->count : hw_log_floor_segment(log, loader->load->recovery_point);
    bool is_believed = false;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < log->count; i++) {
        struct hw_segment *segment = log->segments[i];
        hw_offset_t limit = hw_log_segment_limit(log, i, INT64_MAX);
        bool is_set_aside = false;
        bool is_trusted = false;
        bool usable;

        status = check_as_kafka(loader, i, i >= recover_from, &is_trusted, error);
        if (status == HW_OK) {
            status = hw_segment_open_indexes(segment, limit, &usable, error);
        }
        is_believed = is_trusted && i < recover_from;
        if (status == HW_OK && !usable && !is_believed) {
            status = index_is_set_aside(segment, &is_set_aside, error);
        }
        if (status == HW_OK && !usable && !is_set_aside) {
            hw_log_loader_note_segment(loader, i, ".index", index_problem,
                                       is_believed ? "left, and believed" : "rebuilt from the .log",
                                       0);
        }
        /* One that is not trusted is recovered before all others are: from a cut that was made then,
         * nothing follows. */
        if (status == HW_OK && !is_trusted) {
            status = recover_segment(loader, i, limit, error);
        } else if (status == HW_OK && !is_believed) {
            status = recover_and_cut(loader, i, limit, error);
        }
        if (status == HW_OK && segment->next_offset > limit) {
            segment->next_offset = limit;
        }
    }
    return status == HW_OK && is_believed ? find_end_as_kafka(loader, error) : status;
}

enum hw_status hw_log_load_segments(struct hw_log_loader *loader, struct hw_error *error)
{
    return loader->load->as_kafka ? load_as_kafka(loader, error) : load_segments(loader, error);
}
