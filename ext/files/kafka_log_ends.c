/* SPDX-License-Identifier: MIT */
#include "ext/files/kafka_log_ends.h"

#include <stdio.h>
#include <string.h>

void kafka_log_ends_init(struct kafka_log_ends *log_ends)
{
    *log_ends = (struct kafka_log_ends){.ends = NULL};
    hw_byte_map_init(&log_ends->keys, &ext_allocator);
}

void kafka_log_ends_release(struct kafka_log_ends *log_ends)
{
    hw_free(&ext_allocator, log_ends->ends, log_ends->capacity * sizeof *log_ends->ends);
    hw_byte_map_release(&log_ends->keys);
    kafka_log_ends_init(log_ends);
}

/* The partition among the directories of the statement; NULL: it is not there. */
static const struct hw_kafka_partition *log_ends_search(const struct kafka_log_places *places,
                                                        const char *topic, int32_t number)
{
    const struct hw_kafka_partition *found = NULL;

    for (size_t i = 0; i < places->directory->count; i++) {
        const struct hw_kafka_partition *partition = &places->directory->partitions[i];

        if (partition->topic == NULL || partition->file != NULL || partition->partition != number ||
            strcmp(partition->topic, topic) != 0) {
            continue;
        }
        if (partition->root == places->beside->root) {
            return partition;
        }
        found = found == NULL ? partition : found;
    }
    return found;
}

/* The end of what lies in a directory; one that cannot be read has none. */
static enum hw_status log_ends_read(const struct kafka_log_places *places,
                                    const struct hw_kafka_partition *partition, hw_offset_t *end,
                                    struct hw_error *error)
{
    struct hw_partition_summary summary;
    enum hw_status status =
        hw_partition_summary_read(&summary, &ext_allocator, places->store, partition, true, error);

    *end = status == HW_OK && summary.segments > 0 ? summary.log_end : HW_OFFSET_NONE;
    return status == HW_NO_MEMORY ? status : HW_OK;
}

static enum hw_status log_ends_look(const struct kafka_log_places *places, char *topic,
                                    int32_t number, const char *directory, hw_offset_t *end,
                                    struct hw_error *error)
{
    const struct hw_kafka_partition *found = log_ends_search(places, topic, number);
    char path[HW_PATH_MAX];
    struct hw_kafka_partition near = {.path = path, .topic = topic, .partition = number};
    enum hw_status status;

    *end = HW_OFFSET_NONE;
    if (found != NULL) {
        return log_ends_read(places, found, end, error);
    }
    status = hw_kafka_path_beside(path, places->beside->path, directory, error);
    if (status == HW_OK) {
        status = ext_session_check_readable(places->session, path, error);
    }
    if (status != HW_OK) {
        return status == HW_NO_MEMORY ? status : HW_OK;
    }
    return log_ends_read(places, &near, end, error);
}

enum hw_status kafka_log_ends_find(struct kafka_log_ends *log_ends,
                                   const struct kafka_log_places *places,
                                   struct hw_message_text topic, int32_t partition,
                                   hw_offset_t *end, struct hw_error *error)
{
    char name[HW_TOPIC_NAME_MAX + 1];
    char key[HW_TOPIC_NAME_MAX + 16];
    size_t count = log_ends->keys.count;
    size_t number;
    int size;
    enum hw_status status;

    *end = HW_OFFSET_NONE;
    /* What is no topic's name cannot lie in a directory of its own. */
    if (!hw_is_topic_name((const char *)topic.bytes, topic.size) || partition < 0) {
        return HW_OK;
    }
    memcpy(name, topic.bytes, topic.size);
    name[topic.size] = '\0';
    size = snprintf(key, sizeof key, "%s-%d", name, (int)partition);
    status = hw_array_reserve(&ext_allocator, (void **)&log_ends->ends, &log_ends->capacity,
                              count + 1, sizeof *log_ends->ends, error);
    if (status == HW_OK) {
        number = hw_byte_map_find(&log_ends->keys, key, (size_t)size);
        if (number != HW_BYTE_MAP_NONE) {
            *end = log_ends->ends[number];
            return HW_OK;
        }
        status = log_ends_look(places, name, partition, key, end, error);
    }
    if (status == HW_OK) {
        status = hw_byte_map_add(&log_ends->keys, key, (size_t)size, &number, error);
    }
    if (status == HW_OK) {
        log_ends->ends[number] = *end;
    }
    return status;
}
