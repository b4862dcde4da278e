/* SPDX-License-Identifier: MIT */
#include "core/inspect/partition_summary.h"

#include "core/format/partition_metadata.h"
#include "core/inspect/partition_checkpoint.h"
#include "core/inspect/segment_summary.h"

#include <stdio.h>
#include <string.h>

/* Keep the first one. */
static void note_error(struct hw_partition_summary *summary, const struct hw_error *error)
{
    if (summary->error[0] == '\0') {
        (void)snprintf(summary->error, sizeof summary->error, "%.*s",
                       (int)sizeof summary->error - 1, error->message);
    }
}

static enum hw_status read_topic_id(struct hw_partition_summary *summary,
                                    const struct hw_allocator *allocator, struct hw_store *store,
                                    const char *directory, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, directory, "partition.metadata", error);

    if (status == HW_OK) {
        status = hw_partition_metadata_read(store, path, allocator, &summary->topic_id, error);
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
                                    const struct hw_allocator *allocator, struct hw_store *store,
                                    const char *directory, const struct hw_segment_list *list,
                                    bool wants_end, struct hw_error *error)
{
    struct hw_segment_summary last;
    struct hw_segment_paths paths;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < list->count; i++) {
        status = hw_segment_paths_format(&paths, directory, list->items[i], error);
        if (status == HW_OK) {
            status = hw_store_add_file_size(store, paths.log, &summary->size_bytes, error);
        }
        if (status == HW_IO) {
            note_error(summary, error);
            status = HW_OK;
        }
    }
    if (status != HW_OK || list->count == 0 || !wants_end) {
        return status;
    }
    status = hw_segment_summary_read(&last, allocator, store, &paths, false, HW_OFFSET_NONE, false,
                                     error);
    if (status == HW_OK) {
        summary->log_end = last.next_offset;
    } else if (status == HW_IO) {
        note_error(summary, error);
    }
    return status == HW_NOT_FOUND || status == HW_IO ? HW_OK : status;
}

enum hw_status hw_partition_summary_read(struct hw_partition_summary *summary,
                                         const struct hw_allocator *allocator,
                                         struct hw_store *store,
                                         const struct hw_kafka_partition *partition, bool wants_end,
                                         struct hw_error *error)
{
    struct hw_segment_list list;
    enum hw_status status = hw_segment_list_open(&list, allocator, store, partition, error);

    *summary =
        (struct hw_partition_summary){.log_start = HW_OFFSET_NONE, .log_end = HW_OFFSET_NONE};
    if (status == HW_OK) {
        summary->segments = (int64_t)list.count;
        summary->last_base = list.count > 0 ? list.items[list.count - 1].base_offset : 0;
        status = read_segments(summary, allocator, store, partition->path, &list, wants_end, error);
    }
    if (status == HW_OK) {
        status = hw_partition_checkpoint(allocator, store, partition, "log-start-offset-checkpoint",
                                         HW_OFFSET_NONE, &summary->log_start, error);
    }
    if (status == HW_OK && list.count > 0 && summary->log_start < list.items[0].base_offset) {
        summary->log_start = list.items[0].base_offset;
    }
    hw_segment_list_release(&list);
    return status == HW_OK ? read_topic_id(summary, allocator, store, partition->path, error)
                           : status;
}

/* Whether the directory is one of the topic's, for good. */
static bool is_of_topic(const struct hw_kafka_partition *partition, const char *topic)
{
    return partition->topic != NULL && strcmp(partition->topic, topic) == 0 &&
           (partition->state == HW_KAFKA_LIVE || partition->state == HW_KAFKA_FUTURE);
}

enum hw_status hw_partition_summary_compare(struct hw_partition_summary *summary,
                                            const struct hw_allocator *allocator,
                                            struct hw_store *store,
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
        status = hw_partition_metadata_read(store, path, allocator, &other, &ignored);
    }
    if (status == HW_OK && !hw_uuid_equal(&other, &summary->topic_id)) {
        hw_uuid_format(&other, id);
        (void)hw_error_set(&ignored, HW_CORRUPT, "the topic has another id, %s, in %.300s", id,
                           directory->partitions[first].path);
        note_error(summary, &ignored);
    }
    return status == HW_NO_MEMORY ? hw_error_no_memory(error, "a topic's id") : HW_OK;
}
