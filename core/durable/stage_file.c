/* SPDX-License-Identifier: MIT */
#include "core/durable/stage_file.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"

#include <string.h>

enum {
    STAGE_HEAD_SIZE = 8,
    STAGE_CRC_AT = 4,
    STAGE_ENTRY_SIZE = 32,
    STAGE_PARTITION_AT = 16,
    STAGE_BROKER_AT = 20,
    STAGE_OFFSET_AT = 24,
    STAGE_FILE_SIZE_MAX = 1 << 26 /* Bounds the memory for a file that is something else. */
};

enum hw_status hw_stage_file_add(struct hw_buffer *note, const struct hw_stage_start *start,
                                 struct hw_error *error)
{
    static const uint8_t head[STAGE_HEAD_SIZE];
    uint8_t entry[STAGE_ENTRY_SIZE];
    enum hw_status status =
        note->size == 0 ? hw_buffer_append(note, head, sizeof head, error) : HW_OK;

    memcpy(entry, start->topic_id.bytes, STAGE_PARTITION_AT);
    hw_put_i32(entry + STAGE_PARTITION_AT, start->partition);
    hw_put_i32(entry + STAGE_BROKER_AT, start->broker);
    hw_put_i64(entry + STAGE_OFFSET_AT, start->offset);
    return status == HW_OK ? hw_buffer_append(note, entry, sizeof entry, error) : status;
}

static size_t stage_file_count(const struct hw_buffer *note)
{
    return note->size < STAGE_HEAD_SIZE ? 0 : (note->size - STAGE_HEAD_SIZE) / STAGE_ENTRY_SIZE;
}

static enum hw_status stage_file_path(const char *directory, char path[HW_PATH_MAX],
                                      struct hw_error *error)
{
    return hw_path_join(path, directory, "stage-begun", error);
}

enum hw_status hw_stage_file_write(struct hw_stage_file *stage, struct hw_store *store,
                                   const char *directory, struct hw_buffer *note,
                                   struct hw_error *error)
{
    char path[HW_PATH_MAX];
    size_t count = stage_file_count(note);
    enum hw_status status = stage_file_path(directory, path, error);

    HW_ASSERT(count > 0);
    hw_put_u32(note->bytes, (uint32_t)count);
    hw_put_u32(note->bytes + STAGE_CRC_AT,
               hw_crc32c(note->bytes + STAGE_HEAD_SIZE, note->size - STAGE_HEAD_SIZE));
    if (status == HW_OK && stage->file == NULL) {
        status = hw_store_open(store, path, HW_OPEN_OR_CREATE, &stage->file, error);
    }
    if (status == HW_OK) {
        stage->is_noted = true;
        status = hw_file_write_at(stage->file, 0, note->bytes, note->size, error);
    }
    return status;
}

enum hw_status hw_stage_file_clear(struct hw_stage_file *stage, struct hw_error *error)
{
    enum hw_status status = stage->is_noted ? hw_file_truncate(stage->file, 0, error) : HW_OK;

    stage->is_noted = status != HW_OK;
    return status;
}

static bool stage_file_is_whole(const struct hw_buffer *note)
{
    size_t count = stage_file_count(note);

    return count > 0 && note->size == STAGE_HEAD_SIZE + count * STAGE_ENTRY_SIZE &&
           hw_get_u32(note->bytes) == count &&
           hw_get_u32(note->bytes + STAGE_CRC_AT) ==
               hw_crc32c(note->bytes + STAGE_HEAD_SIZE, note->size - STAGE_HEAD_SIZE);
}

enum hw_status hw_stage_file_open(struct hw_stage_file *stage, struct hw_store *store,
                                  const char *directory, struct hw_buffer *note,
                                  struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = stage_file_path(directory, path, error);

    HW_ASSERT(stage->file == NULL && note->size == 0);
    if (status == HW_OK) {
        status = hw_store_open(store, path, HW_OPEN_EXISTING, &stage->file, error);
    }
    if (status != HW_OK) {
        return status == HW_NOT_FOUND ? HW_OK : status;
    }
    stage->is_noted = true;
    status = hw_store_read_whole(store, path, STAGE_FILE_SIZE_MAX, note, error);
    if (status == HW_CORRUPT || (status == HW_OK && !stage_file_is_whole(note))) {
        note->size = 0;
        status = HW_OK;
    }
    return status;
}

bool hw_stage_file_entry(const struct hw_buffer *note, size_t index, struct hw_stage_start *start)
{
    const uint8_t *entry;

    if (index >= stage_file_count(note)) {
        return false;
    }
    entry = note->bytes + STAGE_HEAD_SIZE + index * STAGE_ENTRY_SIZE;
    memcpy(start->topic_id.bytes, entry, STAGE_PARTITION_AT);
    start->partition = hw_get_i32(entry + STAGE_PARTITION_AT);
    start->broker = hw_get_i32(entry + STAGE_BROKER_AT);
    start->offset = hw_get_i64(entry + STAGE_OFFSET_AT);
    return true;
}
