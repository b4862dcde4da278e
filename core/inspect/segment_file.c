/* SPDX-License-Identifier: MIT */
/* Bytes, headers and checksums of one file. The walk over its entries: segment_file_walk.c. */
#include "core/inspect/segment_file_internal.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/record/crc32.h"

#include <string.h>

enum {
    WINDOW_MIN = 4096,
    WINDOW_MAX = 1 << 20,
    AT_LEGACY_ATTRIBUTES = 17,
    AT_LEGACY_TIMESTAMP = 18,
    CHECKSUM_START = 21,
    LEGACY_CHECKSUM_START = 16
};

/* ----------------------------------------------------------------------------------------- file */

enum hw_status hw_segment_file_open(const struct hw_allocator *allocator, struct hw_store *store,
                                    const char *path, bool is_named, hw_offset_t base_offset,
                                    struct hw_segment_file **file, struct hw_error *error)
{
    struct hw_segment_file *made = hw_alloc_zeroed(allocator, sizeof *made);
    enum hw_status status;

    HW_ASSERT(base_offset >= 0);

    if (made == NULL) {
        return hw_error_no_memory(error, path);
    }
    made->allocator = allocator;
    made->store = store;
    made->base_offset = base_offset;
    made->offset_max =
        is_named && base_offset <= INT64_MAX - INT32_MAX ? base_offset + INT32_MAX : INT64_MAX;
    made->window_max = WINDOW_MAX;
    hw_buffer_init(&made->window, allocator);
    status = hw_store_open(store, path, HW_OPEN_READ, &made->file, error);
    if (status == HW_OK) {
        status = hw_file_size(made->file, &made->size_bytes, error);
    }
    if (status != HW_OK) {
        hw_segment_file_close(made);
        return status;
    }
    hw_segment_file_move(made, 0, made->size_bytes, base_offset);
    *file = made;
    return HW_OK;
}

void hw_segment_file_close(struct hw_segment_file *file)
{
    if (file != NULL) {
        hw_file_close(file->file);
        hw_buffer_release(&file->window);
        hw_free(file->allocator, file, sizeof *file);
    }
}

void hw_segment_file_set_window(struct hw_segment_file *file, size_t window_max)
{
    file->window_max = window_max < WINDOW_MIN ? (size_t)WINDOW_MIN : window_max;
}

void hw_segment_file_trust_headers(struct hw_segment_file *file)
{
    file->trusts_headers = true;
}

int64_t hw_segment_file_size_bytes(const struct hw_segment_file *file)
{
    return file->size_bytes;
}

hw_offset_t hw_segment_file_base_offset(const struct hw_segment_file *file)
{
    return file->base_offset;
}

int64_t hw_segment_file_bytes_read(const struct hw_segment_file *file)
{
    return file->bytes_read;
}

void hw_segment_file_set_closed(struct hw_segment_file *file, hw_offset_t next_base)
{
    file->is_closed = true;
    file->next_base = next_base;
    if (file->offset_max >= next_base) {
        file->offset_max = next_base - 1;
    }
}

void hw_segment_file_move(struct hw_segment_file *file, int64_t position, int64_t end,
                          hw_offset_t expected)
{
    HW_ASSERT(position >= 0);
    HW_ASSERT(expected >= 0);

    file->position = position;
    file->end = end < file->size_bytes ? end : file->size_bytes;
    file->expected = expected;
    file->max_timestamp = HW_TIMESTAMP_NONE;
    file->is_at_end = false;
}

int64_t hw_segment_file_position(const struct hw_segment_file *file)
{
    return file->position;
}

hw_offset_t hw_segment_file_expected(const struct hw_segment_file *file)
{
    return file->expected;
}

hw_time_ms_t hw_segment_file_max_timestamp(const struct hw_segment_file *file)
{
    return file->max_timestamp;
}

/* --------------------------------------------------------------------------------------- window */

static bool is_in_window(const struct hw_segment_file *file, int64_t position, size_t size)
{
    return position >= file->window_position &&
           position + (int64_t)size <= file->window_position + (int64_t)file->window.size;
}

/* How many bytes of the window are also wanted from `position` on, and where they begin. They are
 * moved to its front. */
static void keep_overlap(struct hw_segment_file *file, int64_t position)
{
    int64_t end = file->window_position + (int64_t)file->window.size;
    bool goes_on = file->window.size > 0 && position >= file->window_position && position <= end;
    size_t kept = goes_on ? (size_t)(end - position) : 0;

    if (kept > 0) {
        memmove(file->window.bytes, file->window.bytes + (file->window.size - kept), kept);
    }
    file->window.size = kept;
    file->window_position = position;
    file->window_ahead = goes_on ? 2 * file->window_ahead : (size_t)WINDOW_MIN;
    if (file->window_ahead > file->window_max) {
        file->window_ahead = file->window_max;
    }
}

static enum hw_status fill_window(struct hw_segment_file *file, int64_t position, size_t size,
                                  struct hw_error *error)
{
    int64_t left = file->size_bytes - position;
    enum hw_status status;
    size_t wanted;
    size_t more;
    size_t got = 0;

    keep_overlap(file, position);
    wanted = size > file->window_ahead ? size : file->window_ahead;
    if ((int64_t)wanted > left) {
        wanted = (size_t)left;
    }
    HW_ASSERT(wanted >= file->window.size);
    more = wanted - file->window.size;
    status = hw_store_ask(file->store, error);
    if (status == HW_OK) {
        status = hw_buffer_reserve(&file->window, more, error);
    }
    if (status == HW_OK) {
        status = hw_file_read_at(file->file, position + (int64_t)file->window.size,
                                 file->window.bytes + file->window.size, more, &got, error);
    }
    if (status != HW_OK) {
        file->window.size = 0;
        return status;
    }
    file->window.size += got;
    file->bytes_read += (int64_t)got;
    if (got < more) {
        file->size_bytes = position + (int64_t)file->window.size; /* Cut since it was opened. */
    }
    return HW_OK;
}

enum hw_status hw_segment_file_view(struct hw_segment_file *file, int64_t position, size_t size,
                                    const uint8_t **bytes, size_t *got, struct hw_error *error)
{
    int64_t left = file->size_bytes - position;

    *got = 0;
    *bytes = NULL;
    if (left <= 0 || size == 0) {
        return HW_OK;
    }
    if ((int64_t)size > left) {
        size = (size_t)left;
    }
    if (!is_in_window(file, position, size)) {
        enum hw_status status = fill_window(file, position, size, error);

        if (status != HW_OK) {
            return status;
        }
    }
    *bytes = file->window.bytes + (position - file->window_position);
    *got = file->window.size - (size_t)(position - file->window_position);
    if (*got > size) {
        *got = size;
    }
    return HW_OK;
}

/* -------------------------------------------------------------------------------------- headers */

/* The fields that hw_batch_parse() does not set for magic 0 and 1. */
static void complete_legacy(struct hw_batch *batch, const uint8_t *bytes)
{
    batch->leader_epoch = HW_EPOCH_NONE;
    batch->attributes = bytes[AT_LEGACY_ATTRIBUTES] & 0x0f;
    batch->max_timestamp =
        batch->magic == 0 ? HW_TIMESTAMP_NONE : hw_get_i64(bytes + AT_LEGACY_TIMESTAMP);
    batch->base_timestamp = HW_TIMESTAMP_NONE;
    batch->producer_id = HW_PRODUCER_ID_NONE;
    batch->producer_epoch = -1;
    batch->base_sequence = -1;
    batch->record_count = (batch->attributes & HW_BATCH_CODEC_MASK) == HW_CODEC_NONE ? 1 : -1;
}

enum hw_status hw_segment_file_header(struct hw_segment_file *file, int64_t position, int64_t end,
                                      struct hw_batch *batch, enum hw_batch_result *result,
                                      struct hw_error *error)
{
    int64_t left = (end < file->size_bytes ? end : file->size_bytes) - position;
    size_t wanted =
        left < HW_BATCH_HEADER_SIZE ? (size_t)(left > 0 ? left : 0) : (size_t)HW_BATCH_HEADER_SIZE;
    const uint8_t *bytes;
    size_t got;
    enum hw_status status = hw_segment_file_view(file, position, wanted, &bytes, &got, error);

    if (status != HW_OK) {
        return status;
    }
    *batch = (struct hw_batch){0};
    *result = HW_BATCH_TRUNCATED;
    if (got == wanted && got > 0) {
        /* It looks at the header only: the rest need not be in memory. */
        *result = hw_batch_parse(bytes, (size_t)left, batch);
        if (*result == HW_BATCH_LEGACY) {
            complete_legacy(batch, bytes);
        }
    }
    return HW_OK;
}

/* The bytes that the checksum covers go through it in pieces. */
static enum hw_status checksum_pieces(struct hw_segment_file *file, int64_t at, int64_t end,
                                      bool is_legacy, uint32_t *crc, struct hw_error *error)
{
    *crc = 0;
    while (at < end) {
        size_t wanted =
            end - at < (int64_t)file->window_max ? (size_t)(end - at) : file->window_max;
        const uint8_t *bytes;
        size_t got;
        enum hw_status status = hw_segment_file_view(file, at, wanted, &bytes, &got, error);

        if (status != HW_OK || got == 0) {
            return status;
        }
        *crc = is_legacy ? hw_crc32_extend(*crc, bytes, got) : hw_crc32c_extend(*crc, bytes, got);
        at += (int64_t)got;
    }
    return HW_OK;
}

enum hw_status hw_segment_file_checksum(struct hw_segment_file *file, int64_t position,
                                        const struct hw_batch *batch, uint32_t *crc, bool *is_right,
                                        struct hw_error *error)
{
    int64_t size = (int64_t)hw_batch_size_bytes(batch);
    bool is_legacy = batch->magic < 2;
    const uint8_t *bytes;
    size_t got;
    enum hw_status status = HW_OK;

    *is_right = false;
    if (size <= (int64_t)file->window_max) {
        /* All of it at once, so that its records need not be read again. */
        status = hw_segment_file_view(file, position, (size_t)size, &bytes, &got, error);
    }
    if (status == HW_OK) {
        status =
            checksum_pieces(file, position + (is_legacy ? LEGACY_CHECKSUM_START : CHECKSUM_START),
                            position + size, is_legacy, crc, error);
    }
    if (status == HW_OK) {
        *is_right = *crc == batch->crc && position + size <= file->size_bytes;
    }
    return status;
}
