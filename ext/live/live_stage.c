/* SPDX-License-Identifier: MIT */
#include "ext/live/live_stage.h"

#include "ext/ext_memory.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

enum { STAGE_MEMORY_MAX = 8 << 20, STAGE_WINDOW = 1 << 20, STAGE_PIECE = 1 << 16 };

/* What stands in front of the bytes of a row: key, value, headers. */
struct stage_head {
    int64_t timestamp;
    uint32_t topic;
    int32_t partition;
    int32_t key_size; /* -1: null. */
    int32_t value_size;
    int32_t header_count;
    int32_t headers_size;
};

void live_stage_init(struct live_stage *stage)
{
    *stage = (struct live_stage){.topics.allocator = &ext_allocator};
    hw_buffer_init(&stage->tail, &ext_allocator);
    hw_buffer_init(&stage->window, &ext_allocator);
}

void live_stage_clear(struct live_stage *stage)
{
    hw_name_list_release(&stage->topics);
    hw_free(&ext_allocator, stage->marks, stage->mark_capacity * sizeof *stage->marks);
    hw_buffer_release(&stage->tail);
    hw_buffer_release(&stage->window);
    if (stage->file != NULL) {
        (void)stage->file->pMethods->xClose(stage->file);
        sqlite3_free(stage->file);
    }
    live_stage_init(stage);
}

enum hw_status live_stage_topic(struct live_stage *stage, const char *topic, uint32_t *number,
                                struct hw_error *error)
{
    for (*number = 0; *number < stage->topics.count; ++*number) {
        if (strcmp(stage->topics.names[*number], topic) == 0) {
            return HW_OK;
        }
    }
    return hw_name_list_add(&stage->topics, topic, error);
}

/* ------------------------------------------------------------------------------------- the file */

static enum hw_status file_error(const char *what, int code, struct hw_error *error)
{
    return hw_error_set(error, HW_IO, "%s the temporary file of a transaction: %s", what,
                        code == SQLITE_FULL ? "the disk is full" : sqlite3_errstr(code));
}

static enum hw_status file_open(struct live_stage *stage, struct hw_error *error)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE |
                SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_TEMP_JOURNAL;
    sqlite3_file *file;
    int code;

    if (vfs == NULL) {
        return file_error("making", SQLITE_CANTOPEN, error);
    }
    file = sqlite3_malloc64((sqlite3_uint64)vfs->szOsFile);
    if (file == NULL) {
        return hw_error_no_memory(error, "a temporary file");
    }
    memset(file, 0, (size_t)vfs->szOsFile);
    code = vfs->xOpen(vfs, NULL, file, flags, &flags);
    if (code != SQLITE_OK) {
        if (file->pMethods != NULL) {
            (void)file->pMethods->xClose(file);
        }
        sqlite3_free(file);
        return file_error("making", code, error);
    }
    stage->file = file;
    return HW_OK;
}

/* In pieces of the size of a page at the most: SQLite's own VFS knows no larger ones. */
static int file_move(sqlite3_file *file, bool is_write, uint8_t *bytes, size_t size, int64_t at)
{
    int code = SQLITE_OK;

    for (size_t done = 0; code == SQLITE_OK && done < size; done += STAGE_PIECE) {
        int piece = (int)HW_MIN(size - done, STAGE_PIECE);
        int64_t from = at + (int64_t)done;

        code = is_write ? file->pMethods->xWrite(file, bytes + done, piece, from)
                        : file->pMethods->xRead(file, bytes + done, piece, from);
    }
    return code;
}

/* Write the rows in memory behind those in the file. */
static enum hw_status stage_spill(struct live_stage *stage, struct hw_error *error)
{
    enum hw_status status = stage->file == NULL ? file_open(stage, error) : HW_OK;
    int code;

    if (status != HW_OK) {
        return status;
    }
    code = file_move(stage->file, true, stage->tail.bytes, stage->tail.size, stage->file_size);
    if (code != SQLITE_OK) {
        return file_error("writing", code, error);
    }
    stage->file_size += (int64_t)stage->tail.size;
    stage->tail.size = 0;
    return HW_OK;
}

/* The bytes [at, at + size), which are in the file as a whole or in memory as a whole. */
static enum hw_status stage_bytes(struct live_stage *stage, int64_t at, size_t size,
                                  const uint8_t **bytes, struct hw_error *error)
{
    int64_t wanted;
    enum hw_status status;
    int code;

    if (at >= stage->file_size) {
        *bytes = stage->tail.bytes + (at - stage->file_size);
        return HW_OK;
    }
    if (at < stage->window_at ||
        at + (int64_t)size > stage->window_at + (int64_t)stage->window.size) {
        stage->window.size = 0;
        wanted = (int64_t)size > STAGE_WINDOW ? (int64_t)size : STAGE_WINDOW;
        wanted = wanted < stage->file_size - at ? wanted : stage->file_size - at;
        status = hw_buffer_reserve(&stage->window, (size_t)wanted, error);
        if (status != HW_OK) {
            return status;
        }
        code = file_move(stage->file, false, stage->window.bytes, (size_t)wanted, at);
        if (code != SQLITE_OK) {
            return file_error("reading", code, error);
        }
        stage->window.size = (size_t)wanted;
        stage->window_at = at;
    }
    *bytes = stage->window.bytes + (at - stage->window_at);
    return HW_OK;
}

/* ----------------------------------------------------------------------------------------- rows */

static size_t head_size(const struct stage_head *head)
{
    return (size_t)(head->key_size > 0 ? head->key_size : 0) +
           (size_t)(head->value_size > 0 ? head->value_size : 0) + (size_t)head->headers_size;
}

static void put(struct hw_buffer *buffer, const void *bytes, int64_t size)
{
    if (size > 0) {
        memcpy(buffer->bytes + buffer->size, bytes, (size_t)size);
        buffer->size += (size_t)size;
    }
}

enum hw_status live_stage_add(struct live_stage *stage, const struct live_row *row,
                              struct hw_error *error)
{
    const struct hw_record *record = &row->record;
    struct stage_head head = {.timestamp = record->timestamp,
                              .topic = row->topic,
                              .partition = row->partition,
                              .key_size = record->key_size,
                              .value_size = record->value_size,
                              .header_count = record->header_count,
                              .headers_size = record->headers_size};
    size_t size = sizeof head + head_size(&head);
    enum hw_status status = HW_OK;

    if (stage->tail.size > 0 && stage->tail.size + size > STAGE_MEMORY_MAX) {
        status = stage_spill(stage, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_reserve(&stage->tail, size, error);
    }
    if (status != HW_OK) {
        return status;
    }
    put(&stage->tail, &head, sizeof head);
    put(&stage->tail, record->key, record->key_size);
    put(&stage->tail, record->value, record->value_size);
    put(&stage->tail, record->headers, record->headers_size);
    stage->end.size += (int64_t)size;
    stage->end.rows++;
    return HW_OK;
}

/* NULL where there is none; not NULL where it is empty. */
static const uint8_t *take(const uint8_t **at, int32_t size)
{
    const uint8_t *bytes = size < 0 ? NULL : *at;

    *at += size > 0 ? size : 0;
    return bytes;
}

enum hw_status live_stage_next(struct live_stage *stage, struct live_row *row, bool *found,
                               struct hw_error *error)
{
    struct stage_head head;
    const uint8_t *bytes = NULL;
    enum hw_status status;

    *found = stage->at.size < stage->end.size;
    if (!*found) {
        return HW_OK;
    }
    status = stage_bytes(stage, stage->at.size, sizeof head, &bytes, error);
    if (status == HW_OK) {
        memcpy(&head, bytes, sizeof head);
        status = stage_bytes(stage, stage->at.size, sizeof head + head_size(&head), &bytes, error);
    }
    if (status != HW_OK) {
        return status;
    }
    stage->at.size += (int64_t)(sizeof head + head_size(&head));
    stage->at.rows++;
    bytes += sizeof head;
    *row = (struct live_row){.topic = head.topic,
                             .partition = head.partition,
                             .record = {.timestamp = head.timestamp,
                                        .key_size = head.key_size,
                                        .value_size = head.value_size,
                                        .header_count = head.header_count,
                                        .headers_size = head.headers_size}};
    row->record.key = take(&bytes, head.key_size);
    row->record.value = take(&bytes, head.value_size);
    row->record.headers = take(&bytes, head.headers_size);
    return HW_OK;
}

/* ----------------------------------------------------------------------------------- savepoints */

enum hw_status live_stage_savepoint(struct live_stage *stage, int level, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (level >= 0 && (size_t)level >= stage->mark_count) {
        status = hw_array_reserve(&ext_allocator, (void **)&stage->marks, &stage->mark_capacity,
                                  (size_t)level + 1, sizeof *stage->marks, error);
    }
    if (status != HW_OK) {
        return status;
    }
    /* A table that joins later is told of a level that others know: its mark stays. Levels that
     * were opened before the first one joined are marked with it: nothing was staged since. */
    while (level >= 0 && stage->mark_count <= (size_t)level) {
        stage->marks[stage->mark_count++] = stage->end;
    }
    return HW_OK;
}

void live_stage_release(struct live_stage *stage, int level)
{
    if (level >= 0 && stage->mark_count > (size_t)level) {
        stage->mark_count = (size_t)level;
    }
}

bool live_stage_rollback_to(struct live_stage *stage, int level)
{
    struct live_mark mark = {.size = 0};

    if (level >= 0 && (size_t)level >= stage->mark_count) {
        return false;
    }
    if (level >= 0) { /* -1 is a SAVEPOINT that began the transaction. */
        mark = stage->marks[level];
    }
    stage->mark_count = (size_t)(level + 1);
    stage->end = mark.size < stage->sent.size ? stage->sent : mark;
    stage->window.size = 0;
    if (stage->end.size < stage->file_size) {
        stage->file_size = stage->end.size;
        stage->tail.size = 0;
    } else {
        stage->tail.size = (size_t)(stage->end.size - stage->file_size);
    }
    return mark.size < stage->sent.size;
}
