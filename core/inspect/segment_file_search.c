/* SPDX-License-Identifier: MIT */
/* Finding the way again behind bytes that are no batch. */
#include "core/inspect/segment_file_internal.h"

#include "core/base/bytes.h"
#include "core/record/codec.h"

#include <string.h>

enum {
    SEARCH_CHUNK = 64 * 1024,
    AT_LENGTH = 8,
    AT_MAGIC = 16,
    /* Bytes that may be checksummed while a file is searched: so many, and all of it so often. Junk
     * can be made so that every other byte begins what looks like a batch of any size. */
    CHECKSUM_BYTES = 16 << 20,
    CHECKSUM_FACTOR = 8
};

/* The cheap part of whether a batch may begin here, with `left` bytes up to the end. */
static bool is_candidate(const uint8_t *bytes, int64_t left)
{
    int32_t length = hw_get_i32(bytes + AT_LENGTH);

    return bytes[AT_MAGIC] <= 2 && length >= HW_BATCH_LENGTH_MIN &&
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
