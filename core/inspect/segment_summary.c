/* SPDX-License-Identifier: MIT */
#include "core/inspect/segment_summary.h"

#include "core/inspect/index_file.h"
#include "core/inspect/partition_checkpoint.h"
#include "core/inspect/segment_records.h"

#include <inttypes.h>
#include <stdio.h>

/* What an index has: -1 each if there is no such file, or it cannot be opened. */
struct summary_index {
    int64_t entries;
    int64_t bytes;
    struct hw_index_entry last; /* If there are entries. */
};

static enum hw_status summary_read_index(struct hw_store *store, const char *path,
                                         enum hw_index_kind kind, struct summary_index *read,
                                         struct hw_error *error)
{
    struct hw_index_file index;
    enum hw_status status;

    *read = (struct summary_index){.entries = -1, .bytes = -1};
    if (path[0] == '\0') {
        return HW_OK; /* A file without a segment's name has no indexes. */
    }
    status = hw_index_file_open(&index, store, path, kind, error);
    if (status == HW_OK && index.file != NULL) {
        read->bytes = index.size_bytes;
        status = hw_index_file_count_up_to(&index, INT64_MAX, &read->entries, error);
        if (status == HW_OK && read->entries > 0) {
            status = hw_index_file_get(&index, read->entries - 1, &read->last, error);
        }
    } else if (status == HW_IO) {
        status = HW_OK;
    }
    hw_index_file_close(&index);
    return status;
}

/*
 * Note an index that is not empty but ends at the base offset. Zeros up to the size that was set
 * aside are no entries while the segment is appended to; once it is closed they are cut off. Source:
 * OffsetIndex.sanityCheck of old releases.
 */
static void summary_check_index(struct hw_segment_summary *summary,
                                const struct summary_index *index, bool is_closed)
{
    bool is_odd = index->entries > 0 ? index->last.key == 0 : index->bytes > 0 && is_closed;

    if (is_odd && summary->error[0] == '\0') {
        (void)snprintf(summary->error, sizeof summary->error,
                       "the offset index has %" PRId64 " bytes, but ends at the base offset: "
                       "old brokers refuse it",
                       index->bytes);
    }
}

/* Records of a good batch, whose header may not tell. */
static enum hw_status count_records(struct hw_segment_summary *summary,
                                    struct hw_segment_scan *scan,
                                    struct hw_segment_records *records,
                                    const struct hw_segment_entry *entry, struct hw_error *error)
{
    struct hw_record record;
    enum hw_status status;

    if (entry->batch.record_count >= 0) {
        summary->records += entry->batch.record_count;
        return HW_OK;
    }
    status = hw_segment_records_open(records, hw_segment_scan_file(scan), entry, false, error);
    while (status == HW_OK && hw_segment_records_next(records, &record) == HW_SEGMENT_RECORD) {
        summary->records++;
    }
    return status;
}

static enum hw_status count_batches(struct hw_segment_summary *summary,
                                    const struct hw_allocator *allocator,
                                    struct hw_segment_scan *scan, struct hw_error *error)
{
    struct hw_segment_records records;
    struct hw_segment_entry entry;
    bool found = true;
    enum hw_status status = HW_OK;

    hw_segment_records_init(&records, allocator);
    while (status == HW_OK && found) {
        status = hw_segment_scan_next(scan, &entry, &found, error);
        if (status != HW_OK || !found) {
            break;
        }
        if (entry.fault != HW_FAULT_NONE) {
            if (summary->damaged++ == 0) {
                hw_segment_entry_describe(&entry, summary->error, sizeof summary->error);
            }
        }
        if (entry.fault == HW_FAULT_NONE || entry.fault == HW_FAULT_OFFSETS) {
            if (summary->batches++ == 0) {
                summary->first_offset = entry.first_offset;
            }
            if (entry.batch.max_timestamp > summary->max_timestamp) {
                summary->max_timestamp = entry.batch.max_timestamp;
            }
            status = count_records(summary, scan, &records, &entry, error);
        }
    }
    hw_segment_records_release(&records);
    return status;
}

enum hw_status hw_segment_summary_read(struct hw_segment_summary *summary,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_segment_paths *paths, bool is_closed,
                                       hw_offset_t next_base, bool whole, struct hw_error *error)
{
    struct hw_segment_range range = {.last_offset = INT64_MAX, .timestamp_min = INT64_MIN};
    struct hw_segment_place place = {.path = paths->log,
                                     .index_path = paths->is_named ? paths->index : NULL,
                                     .is_named = paths->is_named,
                                     .base_offset = paths->base_offset,
                                     .is_closed = is_closed,
                                     .next_base = next_base};
    struct hw_segment_scan *scan;
    struct hw_segment_tail tail = {0};
    struct summary_index index;
    enum hw_status status = hw_segment_scan_open(allocator, store, &place, &range, &scan, error);

    *summary = (struct hw_segment_summary){.base_offset = paths->base_offset,
                                           .first_offset = HW_OFFSET_NONE,
                                           .max_timestamp = HW_TIMESTAMP_NONE};
    if (status != HW_OK) {
        return status;
    }
    if (whole) {
        status = count_batches(summary, allocator, scan, error);
    }
    if (status == HW_OK) {
        status = hw_segment_scan_tail(scan, &tail, error);
    }
    summary->size_bytes = hw_segment_file_size_bytes(hw_segment_scan_file(scan));
    summary->next_offset = tail.next_offset;
    summary->trailing_bytes = tail.trailing_bytes;
    hw_segment_scan_close(scan);
    if (status == HW_OK) {
        status = summary_read_index(store, paths->index, HW_INDEX_OFFSET, &index, error);
    }
    if (status == HW_OK) {
        summary->index_entries = index.entries;
        summary->index_bytes = index.bytes;
        summary_check_index(summary, &index, is_closed);
        status = summary_read_index(store, paths->time, HW_INDEX_TIME, &index, error);
    }
    if (status == HW_OK) {
        summary->time_index_entries = index.entries;
        summary->time_index_bytes = index.bytes;
    }
    return status;
}

enum hw_status hw_segment_summary_check_gaps(struct hw_segment_summary *summary,
                                             const struct hw_allocator *allocator,
                                             struct hw_store *store,
                                             const struct hw_kafka_partition *partition,
                                             hw_offset_t next_base, struct hw_error *error)
{
    bool begins_late = summary->first_offset > summary->base_offset;
    hw_offset_t cleaned_to = 0;
    enum hw_status status = HW_OK;

    if (summary->error[0] != '\0' || (!begins_late && next_base <= summary->next_offset)) {
        return HW_OK;
    }
    status = hw_partition_checkpoint(allocator, store, partition, "cleaner-offset-checkpoint", 0,
                                     &cleaned_to, error);
    if (status == HW_OK && summary->base_offset >= cleaned_to) {
        (void)snprintf(summary->error, sizeof summary->error,
                       "offsets %" PRId64 " to %" PRId64 " are missing %s: %s, unless the log was "
                       "compacted",
                       begins_late ? summary->base_offset : summary->next_offset,
                       begins_late ? summary->first_offset - 1 : next_base - 1,
                       begins_late ? "before the first batch" : "before the next segment",
                       begins_late ? "the file has a wrong name" : "a file is missing");
    }
    return status;
}
