/* SPDX-License-Identifier: MIT */
#include "core/inspect/partition_summary.h"

#include "core/format/identity_files.h"
#include "core/inspect/index_file.h"
#include "core/inspect/kafka_directory.h"
#include "core/inspect/segment_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------------------- a segment */

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
        status = hw_index_file_count_up_to(&index, INT64_MAX, false, &read->entries, error);
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
 * aside are no entries while the segment is appended to; once it is closed they are cut off.
 * Source: OffsetIndex.sanityCheck of old releases.
 */
static void summary_check_index(struct hw_segment_summary *summary,
                                const struct summary_index *index, hw_offset_t next_base)
{
    bool is_odd =
        index->entries > 0 ? index->last.key == 0 : index->bytes > 0 && next_base != HW_OFFSET_NONE;

    if (is_odd && summary->error[0] == '\0') {
        (void)snprintf(summary->error, sizeof summary->error,
                       "the offset index has %" PRId64 " bytes, but ends at the base offset: "
                       "old brokers refuse it",
                       index->bytes);
    }
}

/* Records of a good batch, whose header may not tell. */
static enum hw_status summary_count_records(struct hw_segment_summary *summary,
                                            struct hw_segment_scan *scan,
                                            struct hw_segment_records *records,
                                            const struct hw_segment_entry *entry,
                                            struct hw_error *error)
{
    struct hw_record record;
    enum hw_status status;

    if (entry->batch.record_count >= 0) {
        summary->records += entry->batch.record_count;
        return HW_OK;
    }
    status = hw_segment_records_open(records, &scan->file, entry, false, error);
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
            status = summary_count_records(summary, scan, &records, &entry, error);
        }
    }
    hw_segment_records_release(&records);
    return status;
}

enum hw_status hw_segment_summary_read(struct hw_segment_summary *summary,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_segment_paths *paths, hw_offset_t next_base,
                                       bool whole, struct hw_error *error)
{
    struct hw_segment_range range = {.last_offset = INT64_MAX, .timestamp_min = INT64_MIN};
    struct hw_segment_scan *scan;
    struct hw_segment_tail tail = {0};
    struct summary_index index;
    enum hw_status status =
        hw_segment_scan_open(allocator, store, paths, next_base, &range, &scan, error);

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
    summary->size_bytes = scan->file.size_bytes;
    summary->next_offset = tail.next_offset;
    summary->trailing_bytes = tail.trailing_bytes;
    hw_segment_scan_close(scan);
    if (status == HW_OK) {
        status = summary_read_index(store, paths->index, HW_INDEX_OFFSET, &index, error);
    }
    if (status == HW_OK) {
        summary->index_entries = index.entries;
        summary->index_bytes = index.bytes;
        summary_check_index(summary, &index, next_base);
        status = summary_read_index(store, paths->time, HW_INDEX_TIME, &index, error);
    }
    if (status == HW_OK) {
        summary->time_index_entries = index.entries;
        summary->time_index_bytes = index.bytes;
    }
    return status;
}

enum hw_status hw_segment_summary_check_gaps(struct hw_segment_summary *summary,
                                             const struct hw_kafka_partition *partition,
                                             hw_offset_t next_base, struct hw_error *error)
{
    bool begins_late = summary->first_offset > summary->base_offset;
    hw_offset_t cleaned_to = 0;
    enum hw_status status = HW_OK;

    if (summary->error[0] != '\0' || (!begins_late && next_base <= summary->next_offset)) {
        return HW_OK;
    }
    status = hw_partition_checkpoint(partition, "cleaner-offset-checkpoint", false, 0, &cleaned_to,
                                     error);
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

/* --------------------------------------------------------------------------------- a partition */

/* Keep the first one. */
static void note_error(struct hw_partition_summary *summary, const struct hw_error *error)
{
    if (summary->error[0] == '\0') {
        (void)snprintf(summary->error, sizeof summary->error, "%.*s",
                       (int)sizeof summary->error - 1, error->message);
    }
}

static enum hw_status read_topic_id(struct hw_partition_summary *summary,
                                    const struct hw_kafka_partition *partition,
                                    struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, partition->path, "partition.metadata", error);

    if (status == HW_OK) {
        status = hw_partition_metadata_read(partition->store, path, partition->allocator,
                                            &summary->topic_id, error);
    }
    summary->has_topic_id = status == HW_OK;
    if (status == HW_CORRUPT || status == HW_IO) {
        note_error(summary, error);
        return HW_OK;
    }
    return status == HW_NOT_FOUND ? HW_OK : status;
}

/* Sizes of all segments, and the end of the last one. */
static enum hw_status read_segments(struct hw_partition_summary *summary,
                                    const struct hw_kafka_partition *partition,
                                    const struct hw_segment_list *list, bool wants_end,
                                    struct hw_error *error)
{
    struct hw_segment_summary last;
    struct hw_segment_paths paths;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < list->count; i++) {
        status = hw_segment_paths_format(&paths, partition->path, list->items[i], error);
        if (status == HW_OK) {
            status =
                hw_store_add_file_size(partition->store, paths.log, &summary->size_bytes, error);
        }
        if (status == HW_IO) {
            note_error(summary, error);
            status = HW_OK;
        }
    }
    if (status != HW_OK || list->count == 0 || !wants_end) {
        return status;
    }
    status = hw_segment_summary_read(&last, partition->allocator, partition->store, &paths,
                                     HW_OFFSET_NONE, false, error);
    if (status == HW_OK) {
        summary->log_end = last.next_offset;
    } else if (status == HW_IO) {
        note_error(summary, error);
    }
    return status == HW_NOT_FOUND || status == HW_IO ? HW_OK : status;
}

enum hw_status hw_partition_summary_read(struct hw_partition_summary *summary,
                                         const struct hw_kafka_partition *partition, bool wants_end,
                                         struct hw_error *error)
{
    struct hw_segment_list list;
    enum hw_status status = hw_segment_list_open(&list, partition, error);

    *summary =
        (struct hw_partition_summary){.log_start = HW_OFFSET_NONE, .log_end = HW_OFFSET_NONE};
    if (status == HW_OK) {
        summary->segments = (int64_t)list.count;
        summary->last_base = list.count > 0 ? list.items[list.count - 1].base_offset : 0;
        status = read_segments(summary, partition, &list, wants_end, error);
    }
    if (status == HW_OK) {
        status = hw_partition_checkpoint(partition, "log-start-offset-checkpoint", false,
                                         HW_OFFSET_NONE, &summary->log_start, error);
    }
    if (status == HW_OK && list.count > 0 && summary->log_start < list.items[0].base_offset) {
        summary->log_start = list.items[0].base_offset;
    }
    hw_segment_list_release(&list);
    return status == HW_OK ? read_topic_id(summary, partition, error) : status;
}

/* Whether the directory is one of the topic's, for good. */
static bool is_of_topic(const struct hw_kafka_partition *partition, const char *topic)
{
    return partition->topic != NULL && strcmp(partition->topic, topic) == 0 &&
           (partition->state == HW_KAFKA_LIVE || partition->state == HW_KAFKA_FUTURE);
}

enum hw_status hw_partition_summary_compare(struct hw_partition_summary *summary,
                                            const struct hw_kafka_directory *directory,
                                            size_t number, struct hw_error *error)
{
    const struct hw_kafka_partition *partition = &directory->partitions[number];
    char path[HW_PATH_MAX];
    char id[HW_UUID_TEXT_SIZE];
    struct hw_uuid other;
    struct hw_error ignored;
    size_t first = number;
    enum hw_status status;

    if (!summary->has_topic_id || partition->topic == NULL ||
        !is_of_topic(partition, partition->topic)) {
        return HW_OK;
    }
    /* They are sorted by topic. */
    for (size_t i = number; i > 0 && directory->partitions[i - 1].topic != NULL &&
                            strcmp(directory->partitions[i - 1].topic, partition->topic) == 0;
         i--) {
        first = is_of_topic(&directory->partitions[i - 1], partition->topic) ? i - 1 : first;
    }
    status = hw_path_join(path, directory->partitions[first].path, "partition.metadata", &ignored);
    if (status == HW_OK) {
        status = hw_partition_metadata_read(directory->store, path, directory->allocator, &other,
                                            &ignored);
    }
    if (status == HW_OK && !hw_uuid_equal(&other, &summary->topic_id)) {
        hw_uuid_format(&other, id);
        (void)hw_error_set(&ignored, HW_CORRUPT, "the topic has another id, %s, in %.300s", id,
                           directory->partitions[first].path);
        note_error(summary, &ignored);
    }
    return status == HW_NO_MEMORY ? hw_error_no_memory(error, "a topic's id") : HW_OK;
}
