/* SPDX-License-Identifier: MIT */
/*
 * What the logs of a broker hold after a clean stop, in one file beside its checkpoints, so that
 * the next start need not list and read every partition's directory:
 *
 *     .highwater-log-states    "HWLS", version 1, CRC-32C of what follows, then for each log:
 *                              topic (length before it), partition, state (length before it)
 *
 * It makes a start faster and says nothing that the logs do not. So it is not synced, and one that
 * is missing, damaged or could not be written is no error.
 */
#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/cluster/cluster_internal.h"

#include <string.h>

static const char states_name[] = ".highwater-log-states";

enum {
    STATES_MAGIC = 0x48574c53,
    STATES_VERSION = 1,
    HEAD_SIZE = 12,
    STATES_SIZE_MAX = 1 << 30 /* More than any real file; bounds the memory. */
};

void hw_broker_states_init(struct hw_broker_states *states, const struct hw_allocator *allocator)
{
    hw_buffer_init(&states->bytes, allocator);
    hw_offset_checkpoint_init(&states->places, allocator);
    states->lookout = (struct hw_lookout){.store = NULL};
}

void hw_broker_states_release(struct hw_broker_states *states)
{
    hw_buffer_release(&states->bytes);
    hw_offset_checkpoint_release(&states->places);
    hw_lookout_close(&states->lookout);
}

/* --------------------------------------------------------------------------------------- reading
 */

/* Note where the state of each log begins, as far as the bytes are what they should be. Errors:
 * HW_NO_MEMORY. */
static enum hw_status states_index(struct hw_broker_states *states, struct hw_error *error)
{
    const uint8_t *bytes = states->bytes.bytes;
    size_t size = states->bytes.size;
    size_t at = HEAD_SIZE;
    enum hw_status status = HW_OK;

    if (size < HEAD_SIZE || hw_get_u32(bytes) != STATES_MAGIC ||
        hw_get_u32(bytes + 4) != STATES_VERSION ||
        hw_get_u32(bytes + 8) != hw_crc32c(bytes + HEAD_SIZE, size - HEAD_SIZE)) {
        return HW_OK;
    }
    while (status == HW_OK && size - at > 2) {
        size_t topic_size = hw_get_u16(bytes + at);
        char topic[HW_TOPIC_NAME_MAX + 1];
        int32_t partition;

        if (topic_size > HW_TOPIC_NAME_MAX || size - at < 2 + topic_size + 8) {
            break;
        }
        memcpy(topic, bytes + at + 2, topic_size);
        topic[topic_size] = '\0';
        at += 2 + topic_size;
        partition = hw_get_i32(bytes + at);
        if (partition < 0 || size - at - 8 < hw_get_u32(bytes + at + 4)) {
            break;
        }
        status =
            hw_offset_checkpoint_set(&states->places, topic, partition, (int64_t)at + 4, error);
        at += 8 + hw_get_u32(bytes + at + 4);
    }
    return status;
}

enum hw_status hw_broker_states_load(struct hw_broker_states *states, struct hw_store *store,
                                     const struct hw_broker *broker, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_error ignored;
    enum hw_status status = hw_path_join(path, broker->dir, states_name, error);

    if (status == HW_OK) {
        status = hw_store_read_whole(store, path, STATES_SIZE_MAX, &states->bytes, error);
    }
    if (status == HW_OK) {
        status = states_index(states, error);
        /* It says how things were at the stop, and is of no more use once they go on. */
        (void)hw_store_remove(store, path, &ignored);
        /* Without it every file is looked at from the root. */
        (void)hw_store_open_lookout(store, broker->dir, &states->lookout, &ignored);
    }
    return status == HW_NO_MEMORY ? status : HW_OK;
}

void hw_broker_states_find(struct hw_broker_states *states, const char *topic, int32_t partition,
                           struct hw_log_load *load)
{
    int64_t at = hw_offset_checkpoint_get(&states->places, topic, partition, -1);

    if (at >= 0) {
        load->state = states->bytes.bytes + at + 4;
        load->state_size = hw_get_u32(states->bytes.bytes + at);
        load->lookout = states->lookout.store == NULL ? NULL : &states->lookout;
    }
}

/* --------------------------------------------------------------------------------------- writing
 */

/* Append what one log holds, or nothing if that is not known. */
static enum hw_status states_append(struct hw_buffer *out, const struct hw_topic *topic,
                                    int32_t partition, struct hw_log *log, int64_t now_ns,
                                    struct hw_error *error)
{
    size_t size_before = out->size;
    size_t topic_size = strlen(topic->name);
    size_t head_size = 2 + topic_size + 8;
    uint8_t *head;
    enum hw_status status = hw_buffer_reserve(out, head_size, error);

    if (status != HW_OK) {
        return status;
    }
    out->size += head_size;
    status = hw_log_save_state(log, &topic->id, now_ns, out, error);
    if (status != HW_OK || out->size == size_before + head_size) {
        out->size = size_before;
        return status;
    }
    head = out->bytes + size_before;
    hw_put_u16(head, (uint16_t)topic_size);
    memcpy(head + 2, topic->name, topic_size);
    hw_put_i32(head + 2 + topic_size, partition);
    hw_put_u32(head + 2 + topic_size + 4, (uint32_t)(out->size - size_before - head_size));
    return HW_OK;
}

/* Write the file; `content` is what stands behind the head. */
static enum hw_status states_write(struct hw_file *file, const struct hw_buffer *content,
                                   struct hw_error *error)
{
    uint8_t head[HEAD_SIZE];
    enum hw_status status = hw_file_write_at(file, HEAD_SIZE, content->bytes, content->size, error);

    hw_put_u32(head, STATES_MAGIC);
    hw_put_u32(head + 4, STATES_VERSION);
    hw_put_u32(head + 8, hw_crc32c(content->bytes, content->size));
    return status == HW_OK ? hw_file_write_at(file, 0, head, sizeof head, error) : status;
}

/* Open the file for writing, and take the time of that for the present. */
static enum hw_status states_open(struct hw_store *store, const struct hw_broker *broker,
                                  struct hw_file **file, int64_t *now_ns, struct hw_error *error)
{
    struct hw_path_look look;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, broker->dir, states_name, error);

    if (status == HW_OK) {
        status = hw_store_open(store, path, HW_OPEN_TRUNCATE, file, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = hw_file_write_at(*file, 0, "", 1, error);
    if (status == HW_OK) {
        status = hw_store_look(store, path, &look, error);
    }
    if (status != HW_OK) {
        hw_file_close(*file);
        return status;
    }
    *now_ns = look.changed_ns;
    return HW_OK;
}

void hw_broker_states_save(struct hw_cluster *cluster, const struct hw_broker *broker)
{
    struct hw_buffer content;
    struct hw_selection all;
    struct hw_topic *topic;
    struct hw_partition *partition;
    struct hw_file *file;
    int64_t now_ns;
    struct hw_error ignored;
    enum hw_status status = states_open(cluster->store, broker, &file, &now_ns, &ignored);

    if (status != HW_OK) {
        return;
    }
    hw_buffer_init(&content, cluster->allocator);
    status = hw_cluster_select(cluster, NULL, -1, &all, &ignored);
    while (status == HW_OK && hw_selection_next(&all, &topic, &partition)) {
        const struct hw_replica *replica = hw_partition_find(partition, broker->id);

        if (replica != NULL) {
            status =
                states_append(&content, topic, partition->number, replica->log, now_ns, &ignored);
        }
    }
    if (status == HW_OK) {
        (void)states_write(file, &content, &ignored);
    }
    hw_file_close(file);
    hw_buffer_release(&content);
}
