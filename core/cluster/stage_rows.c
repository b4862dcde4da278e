/* SPDX-License-Identifier: MIT */
/* Rows as bytes: a header of fixed size, then key, value and encoded headers. */
#include "core/cluster/stage_rows.h"

#include "core/base/assert.h"

#include <string.h>

enum { STAGE_WINDOW_BYTES = 1024 * 1024, STAGE_TAIL_BYTES_KEPT = 4 * 1024 * 1024 };

struct row_header {
    int64_t timestamp;
    int32_t partition;
    int32_t acks;
    int32_t key_size;
    int32_t value_size;
    int32_t header_count;
    int32_t headers_size;
};

void hw_stage_rows_init(struct hw_stage_rows *rows, const struct hw_allocator *allocator,
                        struct hw_store *store, const char *directory)
{
    *rows = (struct hw_stage_rows){.store = store, .directory = directory};
    hw_buffer_init(&rows->tail, allocator);
    hw_buffer_init(&rows->window, allocator);
}

void hw_stage_rows_clear(struct hw_stage_rows *rows)
{
    struct hw_error unused;

    if (rows->file != NULL) {
        hw_file_close(rows->file);
        rows->file = NULL;
        /* A file that cannot be removed takes room, no more: it is never read again. */
        (void)hw_store_remove(rows->store, rows->path, &unused);
    }
    /* Memory is kept for as long as it is used: its first use is what costs. */
    if (rows->tail.capacity > STAGE_TAIL_BYTES_KEPT && rows->file_size == 0 &&
        rows->tail.size > 0 && rows->tail.size < rows->tail.capacity / 4) {
        hw_buffer_release(&rows->tail);
    }
    rows->file_size = 0;
    rows->tail.size = 0;
    hw_buffer_release(&rows->window);
}

void hw_stage_rows_release(struct hw_stage_rows *rows)
{
    hw_stage_rows_clear(rows);
    hw_buffer_release(&rows->tail);
}

int64_t hw_stage_rows_size(const struct hw_stage_rows *rows)
{
    return rows->file_size + (int64_t)rows->tail.size;
}

void hw_stage_rows_truncate(struct hw_stage_rows *rows, int64_t size)
{
    HW_ASSERT(size >= 0 && size <= hw_stage_rows_size(rows));
    if (size < rows->file_size) {
        rows->file_size = size; /* The file is overwritten from there. */
        rows->tail.size = 0;
    } else {
        rows->tail.size = (size_t)(size - rows->file_size);
    }
}

/* Open a file that no other stage uses: the first name that is free. */
static enum hw_status rows_open_file(struct hw_stage_rows *rows, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    bool exists = true;

    for (int number = 1; status == HW_OK && exists; number++) {
        status = hw_path_format(rows->path, error, "%s/stage-%d.tmp", rows->directory, number);
        if (status == HW_OK) {
            status = hw_store_exists(rows->store, rows->path, &exists, error);
        }
    }
    if (status == HW_OK) {
        status = hw_store_open(rows->store, rows->path, HW_OPEN_TRUNCATE, &rows->file, error);
    }
    if (status != HW_OK) {
        rows->file = NULL;
    }
    return status;
}

static enum hw_status rows_spill(struct hw_stage_rows *rows, struct hw_error *error)
{
    enum hw_status status = rows->file == NULL ? rows_open_file(rows, error) : HW_OK;

    if (status == HW_OK) {
        status =
            hw_file_write_at(rows->file, rows->file_size, rows->tail.bytes, rows->tail.size, error);
    }
    if (status == HW_OK) {
        rows->file_size += (int64_t)rows->tail.size;
        rows->tail.size = 0;
    }
    return status;
}

static size_t content_size(int32_t size)
{
    return size > 0 ? (size_t)size : 0;
}

static uint8_t *put_content(uint8_t *out, const uint8_t *bytes, int32_t size)
{
    if (size > 0) {
        memcpy(out, bytes, (size_t)size);
        out += size;
    }
    return out;
}

enum hw_status hw_stage_rows_add(struct hw_stage_rows *rows, int64_t memory_max,
                                 const struct hw_stage_row *row, struct hw_error *error)
{
    const struct hw_record *record = &row->record;
    struct row_header header = {.timestamp = record->timestamp,
                                .partition = row->partition,
                                .acks = row->acks,
                                .key_size = record->key_size,
                                .value_size = record->value_size,
                                .header_count = record->header_count,
                                .headers_size = record->headers_size};
    size_t size = sizeof header + content_size(record->key_size) +
                  content_size(record->value_size) + content_size(record->headers_size);
    enum hw_status status = HW_OK;
    uint8_t *out;

    if (rows->tail.size > 0 && (int64_t)(rows->tail.size + size) > memory_max) {
        status = rows_spill(rows, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_reserve(&rows->tail, size, error);
    }
    if (status != HW_OK) {
        return status;
    }
    out = rows->tail.bytes + rows->tail.size;
    memcpy(out, &header, sizeof header);
    out = put_content(out + sizeof header, record->key, record->key_size);
    out = put_content(out, record->value, record->value_size);
    out = put_content(out, record->headers, record->headers_size);
    rows->tail.size = (size_t)(out - rows->tail.bytes);
    return HW_OK;
}

void hw_stage_walk_init(struct hw_stage_walk *walk, struct hw_stage_rows *rows)
{
    *walk = (struct hw_stage_walk){.rows = rows};
    rows->window.size = 0;
}

/* Have the `size` bytes at walk->at in one piece. */
static enum hw_status walk_bytes(struct hw_stage_walk *walk, size_t size, const uint8_t **bytes,
                                 struct hw_error *error)
{
    struct hw_stage_rows *rows = walk->rows;
    size_t wanted = size > STAGE_WINDOW_BYTES ? size : STAGE_WINDOW_BYTES;
    size_t got;
    enum hw_status status;

    if (walk->at >= rows->file_size) {
        *bytes = rows->tail.bytes + (walk->at - rows->file_size);
        return HW_OK;
    }
    if (walk->at + (int64_t)size > walk->window_start + (int64_t)rows->window.size) {
        if ((int64_t)wanted > rows->file_size - walk->at) {
            wanted = (size_t)(rows->file_size - walk->at);
        }
        rows->window.size = 0;
        status = hw_buffer_reserve(&rows->window, wanted, error);
        if (status == HW_OK) {
            status = hw_file_read_at(rows->file, walk->at, rows->window.bytes, wanted, &got, error);
        }
        if (status == HW_OK && got < wanted) {
            status = hw_error_set(error, HW_IO, "%s: only %zu of %zu bytes are there", rows->path,
                                  got, wanted);
        }
        if (status != HW_OK) {
            return status;
        }
        rows->window.size = wanted;
        walk->window_start = walk->at;
    }
    *bytes = rows->window.bytes + (walk->at - walk->window_start);
    return HW_OK;
}

static const uint8_t *take_content(const uint8_t **at, int32_t size)
{
    const uint8_t *bytes = *at;

    *at += content_size(size);
    return size < 0 ? NULL : bytes;
}

enum hw_status hw_stage_walk_next(struct hw_stage_walk *walk, struct hw_stage_row *row, bool *found,
                                  struct hw_error *error)
{
    struct row_header header;
    const uint8_t *bytes;
    size_t size;
    enum hw_status status;

    *found = false;
    if (walk->at == hw_stage_rows_size(walk->rows)) {
        return HW_OK;
    }
    status = walk_bytes(walk, sizeof header, &bytes, error);
    if (status != HW_OK) {
        return status;
    }
    memcpy(&header, bytes, sizeof header);
    size = sizeof header + content_size(header.key_size) + content_size(header.value_size) +
           content_size(header.headers_size);
    status = walk_bytes(walk, size, &bytes, error);
    if (status != HW_OK) {
        return status;
    }
    walk->at += (int64_t)size;
    bytes += sizeof header;
    *row = (struct hw_stage_row){.partition = header.partition,
                                 .acks = header.acks,
                                 .record = {.timestamp = header.timestamp,
                                            .key_size = header.key_size,
                                            .value_size = header.value_size,
                                            .header_count = header.header_count,
                                            .headers_size = header.headers_size}};
    row->record.key = take_content(&bytes, header.key_size);
    row->record.value = take_content(&bytes, header.value_size);
    row->record.headers = take_content(&bytes, header.headers_size);
    *found = true;
    return HW_OK;
}
