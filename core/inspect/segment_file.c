/* SPDX-License-Identifier: MIT */
/* Bytes, headers and checksums of one file, and finding the way again behind bytes that are no
 * batch. The walk over its entries: segment_file_walk.c. */
#include "core/inspect/segment_file.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/record/codec.h"
#include "core/record/legacy.h"

#include <string.h>

enum {
    WINDOW_MIN = 4096,
    WINDOW_MAX = 1 << 20,
    SEGMENT_AT_LEGACY_ATTRIBUTES = 17,
    SEGMENT_AT_LEGACY_TIMESTAMP = 18,
    SEGMENT_CHECKSUM_START = 21,
    LEGACY_CHECKSUM_START = 16
};

/* ----------------------------------------------------------------------------------------- file */

enum hw_status hw_segment_file_open(struct hw_segment_file *file,
                                    const struct hw_allocator *allocator, struct hw_store *store,
                                    const char *path, bool is_named, hw_offset_t base_offset,
                                    hw_offset_t next_base, struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT(base_offset >= 0);

    *file = (struct hw_segment_file){.store = store,
                                     .base_offset = base_offset,
                                     .offset_max = INT64_MAX,
                                     .next_base = next_base,
                                     .window_max = WINDOW_MAX};
    if (is_named && base_offset <= INT64_MAX - INT32_MAX) {
        file->offset_max = base_offset + INT32_MAX;
    }
    if (next_base != HW_OFFSET_NONE) {
        file->offset_max = HW_MIN(file->offset_max, next_base - 1);
    }
    hw_buffer_init(&file->window, allocator);
    status = hw_store_open(store, path, HW_OPEN_READ, &file->file, error);
    if (status != HW_OK) {
        file->file = NULL;
        return status;
    }
    status = hw_file_size(file->file, &file->size_bytes, error);
    hw_segment_file_move(file, 0, file->size_bytes, base_offset);
    return status;
}

void hw_segment_file_close(struct hw_segment_file *file)
{
    hw_file_close(file->file);
    file->file = NULL;
    hw_buffer_release(&file->window);
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
    if (file->bytes_read != NULL) {
        *file->bytes_read += (int64_t)got;
    }
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
    batch->attributes = bytes[SEGMENT_AT_LEGACY_ATTRIBUTES] & 0x0f;
    batch->max_timestamp =
        batch->magic == 0 ? HW_TIMESTAMP_NONE : hw_get_i64(bytes + SEGMENT_AT_LEGACY_TIMESTAMP);
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
        status = checksum_pieces(
            file, position + (is_legacy ? LEGACY_CHECKSUM_START : SEGMENT_CHECKSUM_START),
            position + size, is_legacy, crc, error);
    }
    if (status == HW_OK) {
        *is_right = *crc == batch->crc && position + size <= file->size_bytes;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- search */

enum {
    SEARCH_CHUNK = 64 * 1024,
    SEGMENT_AT_LENGTH = 8,
    SEGMENT_AT_MAGIC = 16,
    /* Bytes that may be checksummed while a file is searched: so many, and all of it so often. Junk
     * can be made so that every other byte begins what looks like a batch of any size. */
    CHECKSUM_BYTES = 16 << 20,
    CHECKSUM_FACTOR = 8
};

/* The cheap part of whether a batch may begin here, with `left` bytes up to the end. */
static bool is_candidate(const uint8_t *bytes, int64_t left)
{
    int32_t length = hw_get_i32(bytes + SEGMENT_AT_LENGTH);

    return bytes[SEGMENT_AT_MAGIC] <= 2 && length >= HW_BATCH_LENGTH_MIN &&
           length <= left - HW_BATCH_OVERHEAD && (bytes[0] & 0x80) == 0;
}

/* The first candidate from *at on; *at is the end of the walk if there is none. */
static enum hw_status find_candidate(struct hw_segment_file *file, int64_t *at,
                                     struct hw_error *error)
{
    while (file->end - *at > HW_BATCH_PREFIX_SIZE) {
        int64_t left = file->end - *at;
        size_t wanted = left < SEARCH_CHUNK ? (size_t)left : (size_t)SEARCH_CHUNK;
        const uint8_t *bytes;
        size_t got;
        enum hw_status status = hw_segment_file_view(file, *at, wanted, &bytes, &got, error);

        if (status != HW_OK || got <= HW_BATCH_PREFIX_SIZE) {
            *at = file->end;
            return status;
        }
        for (size_t i = 0; i < got - HW_BATCH_PREFIX_SIZE; i++) {
            if (is_candidate(bytes + i, left - (int64_t)i)) {
                *at += (int64_t)i;
                return HW_OK;
            }
        }
        *at += (int64_t)(got - HW_BATCH_PREFIX_SIZE);
    }
    *at = file->end;
    return HW_OK;
}

/* Whether the header could be that of the next batch. */
static bool is_plausible(const struct hw_segment_file *file, enum hw_batch_result result,
                         const struct hw_batch *batch)
{
    if ((result != HW_BATCH_OK && result != HW_BATCH_LEGACY) ||
        batch->base_offset < file->expected || hw_batch_last_offset(batch) > file->offset_max) {
        return false;
    }
    return result == HW_BATCH_LEGACY || (batch->record_count <= batch->last_offset_delta + 1LL &&
                                         hw_batch_codec_id(batch) <= HW_CODEC_ZSTD);
}

enum hw_status hw_segment_file_search(struct hw_segment_file *file, int64_t from, int64_t *position,
                                      struct hw_batch *batch, bool *found, struct hw_error *error)
{
    int64_t at = from;

    *found = false;
    for (;; at++) {
        enum hw_batch_result result;
        uint32_t crc;
        enum hw_status status = find_candidate(file, &at, error);

        if (status != HW_OK || at >= file->end) {
            return status;
        }
        status = hw_segment_file_header(file, at, file->end, batch, &result, error);
        if (status != HW_OK) {
            return status;
        }
        if (!is_plausible(file, result, batch) ||
            (file->bytes_checksummed - CHECKSUM_BYTES) / CHECKSUM_FACTOR > file->size_bytes) {
            continue;
        }
        file->bytes_checksummed += (int64_t)hw_batch_size_bytes(batch);
        status = hw_segment_file_checksum(file, at, batch, &crc, found, error);
        if (status != HW_OK || *found) {
            *position = at;
            return status;
        }
    }
}

enum hw_status hw_segment_file_written(struct hw_segment_file *file, int64_t from, int64_t *written,
                                       struct hw_error *error)
{
    *written = 0;
    for (int64_t at = from; at < file->size_bytes;) {
        const uint8_t *bytes;
        size_t got;
        enum hw_status status = hw_segment_file_view(file, at, SEARCH_CHUNK, &bytes, &got, error);

        if (status != HW_OK || got == 0) {
            return status;
        }
        if (bytes[0] != 0 || memcmp(bytes, bytes + 1, got - 1) != 0) {
            size_t last = got - 1;

            while (bytes[last] == 0) {
                last--;
            }
            *written = at + (int64_t)last + 1 - from;
        }
        at += (int64_t)got;
    }
    return HW_OK;
}
