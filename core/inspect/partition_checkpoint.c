/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_directory.h"

#include "core/base/byte_map.h"
#include "core/base/bytes.h"
#include "core/format/checkpoint_scan.h"

#include <string.h>

struct hw_checkpoint_file {
    char *path;
    struct hw_byte_map keys; /* checkpoint_key() */
    hw_offset_t *offsets;    /* Of each of them, the last one in the file. */
    size_t capacity;
    enum hw_status status; /* As for who has to rely on all of it: its first fault is `error`. */
    struct hw_error error;
};

static void checkpoint_file_release(const struct hw_allocator *allocator,
                                    struct hw_checkpoint_file *file)
{
    hw_text_free(allocator, file->path);
    hw_byte_map_release(&file->keys);
    hw_free(allocator, file->offsets, file->capacity * sizeof *file->offsets);
}

void hw_checkpoint_memo_release(struct hw_checkpoint_memo *memo)
{
    for (size_t i = 0; i < memo->count; i++) {
        checkpoint_file_release(memo->allocator, &memo->files[i]);
    }
    hw_free(memo->allocator, memo->files, memo->capacity * sizeof *memo->files);
    *memo = (struct hw_checkpoint_memo){.allocator = memo->allocator};
}

/* Make the bytes of a topic and of a partition one key. */
static enum hw_status checkpoint_key(struct hw_buffer *key, const char *topic, size_t topic_size,
                                     int32_t partition, struct hw_error *error)
{
    uint8_t number[4];
    enum hw_status status;

    hw_put_i32(number, partition);
    key->size = 0;
    status = hw_buffer_append(key, topic, topic_size, error);
    return status == HW_OK ? hw_buffer_append(key, number, sizeof number, error) : status;
}

/* Read the file at file->path. */
static enum hw_status checkpoint_file_read(const struct hw_allocator *allocator,
                                           struct hw_store *store, struct hw_checkpoint_file *file,
                                           struct hw_error *error)
{
    struct hw_checkpoint_scan scan;
    struct hw_checkpoint_row row;
    struct hw_buffer key;
    size_t number;
    enum hw_status status;

    hw_checkpoint_scan_init(&scan, allocator);
    hw_buffer_init(&key, allocator);
    status = hw_checkpoint_scan_open(&scan, store, file->path, HW_CHECKPOINT_OFFSETS, error);
    while (status == HW_OK && hw_checkpoint_scan_next(&scan, &row)) {
        if (row.fault[0] != '\0') {
            if (file->status == HW_OK) {
                file->status =
                    hw_error_set(&file->error, HW_CORRUPT, "%s: %s", file->path, row.fault);
            }
            continue;
        }
        status = checkpoint_key(&key, row.topic.text, row.topic.size, row.number, error);
        if (status == HW_OK) {
            status = hw_byte_map_add_item(&file->keys, key.bytes, key.size, (void **)&file->offsets,
                                          &file->capacity, sizeof *file->offsets, &number, error);
        }
        if (status == HW_OK) {
            file->offsets[number] = row.offset;
        }
    }
    hw_buffer_release(&key);
    hw_checkpoint_scan_release(&scan);
    if (status == HW_NOT_FOUND || status == HW_CORRUPT || status == HW_IO) {
        file->status = status;
        file->error = *error;
        status = HW_OK;
    }
    return status;
}

/* The file with that path, which is read the first time. */
static enum hw_status checkpoint_memo_find(struct hw_checkpoint_memo *memo, struct hw_store *store,
                                           const char *path,
                                           const struct hw_checkpoint_file **found,
                                           struct hw_error *error)
{
    struct hw_checkpoint_file file = {.path = NULL};
    enum hw_status status;

    for (size_t i = 0; i < memo->count; i++) {
        if (strcmp(memo->files[i].path, path) == 0) {
            *found = &memo->files[i];
            return HW_OK;
        }
    }
    hw_byte_map_init(&file.keys, memo->allocator);
    status = hw_array_reserve(memo->allocator, (void **)&memo->files, &memo->capacity,
                              memo->count + 1, sizeof *memo->files, error);
    if (status == HW_OK) {
        file.path = hw_text_copy(memo->allocator, path);
        status = file.path == NULL ? hw_error_no_memory(error, path)
                                   : checkpoint_file_read(memo->allocator, store, &file, error);
    }
    if (status != HW_OK) {
        checkpoint_file_release(memo->allocator, &file);
        return status;
    }
    memo->files[memo->count] = file;
    *found = &memo->files[memo->count++];
    return HW_OK;
}

enum hw_status hw_partition_checkpoint(const struct hw_kafka_partition *partition,
                                       const char *checkpoint, bool is_strict, hw_offset_t missing,
                                       hw_offset_t *offset, struct hw_error *error)
{
    struct hw_checkpoint_memo own = {.allocator = partition->allocator};
    const struct hw_checkpoint_file *file = NULL;
    struct hw_buffer key;
    char path[HW_PATH_MAX];
    enum hw_status status;

    *offset = missing;
    if (partition->topic == NULL) {
        return HW_OK;
    }
    hw_buffer_init(&key, partition->allocator);
    status = hw_kafka_path_beside(path, partition->path, checkpoint, error);
    if (status == HW_OK) {
        status = checkpoint_memo_find(partition->memo == NULL ? &own : partition->memo,
                                      partition->store, path, &file, error);
    }
    if (status == HW_OK && is_strict && file->status != HW_OK) {
        *error = file->error;
        status = file->status;
    }
    if (status == HW_OK) {
        status = checkpoint_key(&key, partition->topic, strlen(partition->topic),
                                partition->partition, error);
    }
    if (status == HW_OK) {
        size_t number = hw_byte_map_find(&file->keys, key.bytes, key.size);

        *offset = number == HW_BYTE_MAP_NONE ? missing : file->offsets[number];
    }
    hw_buffer_release(&key);
    hw_checkpoint_memo_release(&own);
    return status;
}
