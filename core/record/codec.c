/* SPDX-License-Identifier: MIT */
#include "core/record/codec.h"

#include "core/base/assert.h"
#include "core/record/codec_library.h"

#include <inttypes.h>
#include <string.h>

static const struct hw_codec_library *const codec_libraries[] = {
    [HW_CODEC_GZIP] = &hw_codec_gzip,
    [HW_CODEC_SNAPPY] = &hw_codec_snappy,
    [HW_CODEC_LZ4] = &hw_codec_lz4,
    [HW_CODEC_ZSTD] = &hw_codec_zstd,
};

int hw_batch_codec_id(const struct hw_batch *batch)
{
    return batch->attributes & HW_BATCH_CODEC_MASK;
}

bool hw_codec_from_name(const char *name, enum hw_codec *codec)
{
    if (strcmp(name, "uncompressed") == 0) {
        *codec = HW_CODEC_NONE;
        return true;
    }
    for (int i = HW_CODEC_NONE; i <= HW_CODEC_ZSTD; i++) {
        if (strcmp(name, hw_codec_name(i)) == 0) {
            *codec = (enum hw_codec)i;
            return true;
        }
    }
    return false;
}

const char *hw_codec_library_version(enum hw_codec codec)
{
    return codec == HW_CODEC_NONE ? "" : codec_libraries[codec]->version();
}

enum hw_status hw_codec_compress(enum hw_codec codec, const uint8_t *plain, size_t size,
                                 struct hw_buffer *out, struct hw_error *error)
{
    size_t start = out->size;
    enum hw_status status;

    HW_ASSERT(codec <= HW_CODEC_ZSTD);
    if (size > INT32_MAX) {
        return hw_error_set(error, HW_MISUSE,
                            "%zu bytes are too many for one batch, limit %" PRId32, size,
                            INT32_MAX);
    }
    status = codec == HW_CODEC_NONE ? hw_buffer_append(out, plain, size, error)
                                    : codec_libraries[codec]->compress(plain, size, out, error);
    if (status != HW_OK) {
        out->size = start;
    }
    return status;
}

enum hw_status hw_codec_decompress(int codec_id, int magic, const uint8_t *bytes, size_t size,
                                   size_t size_max, struct hw_buffer *out, struct hw_error *error)
{
    struct hw_codec_output output = {.buffer = out,
                                     .start = out->size,
                                     .size_max = size_max < SIZE_MAX ? size_max : SIZE_MAX - 1,
                                     .codec_id = codec_id};
    enum hw_status status;

    HW_ASSERT(codec_id >= 0 && codec_id <= HW_BATCH_CODEC_MASK);
    HW_ASSERT(magic >= 0 && magic <= 2);
    HW_ASSERT(size <= INT32_MAX);
    if (codec_id == HW_CODEC_NONE) {
        status = hw_buffer_append(out, bytes, size, error);
    } else if (codec_id > HW_CODEC_ZSTD) {
        status = hw_error_corrupt(error, "there is no codec with id %d", codec_id);
    } else {
        status = codec_libraries[codec_id]->decompress(magic, bytes, size, &output, error);
    }
    if (status == HW_OK) {
        status = hw_codec_output_finish(&output, error);
    }
    if (status != HW_OK) {
        out->size = output.start;
    }
    return status;
}

/* ------------------------------------------------------------------------------------- of batches */

enum hw_status hw_batch_decompress(const uint8_t *bytes, const struct hw_batch *batch,
                                   size_t size_max, struct hw_buffer *records,
                                   struct hw_error *error)
{
    struct hw_error cause;
    enum hw_status status = hw_codec_decompress(
        hw_batch_codec_id(batch), batch->magic, bytes + HW_BATCH_HEADER_SIZE,
        hw_batch_size_bytes(batch) - HW_BATCH_HEADER_SIZE, size_max, records, &cause);

    if (status != HW_OK) {
        return hw_error_set(error, status, "the batch at offset %" PRId64 ": %.400s",
                            batch->base_offset, cause.message);
    }
    return HW_OK;
}

enum hw_status hw_record_iterator_open(struct hw_record_iterator *iterator, const uint8_t *bytes,
                                       const struct hw_batch *batch, size_t size_max,
                                       struct hw_buffer *scratch, struct hw_error *error)
{
    enum hw_status status;

    if (hw_batch_codec_id(batch) == HW_CODEC_NONE) {
        return hw_record_iterator_init(iterator, bytes, batch, error);
    }
    scratch->size = 0;
    if (batch->record_count > 0) {
        status = hw_batch_decompress(bytes, batch, size_max, scratch, error);
        if (status != HW_OK) {
            return status;
        }
    }
    /* No bytes are not at NULL, where there is nothing to add an offset to. */
    *iterator = (struct hw_record_iterator){.batch = *batch,
                                            .at = scratch->size > 0 ? scratch->bytes : bytes,
                                            .left = batch->record_count};
    iterator->end = iterator->at + scratch->size;
    return HW_OK;
}

/* Append the batch's header, and its records from `plain`. */
static enum hw_status append_compressed(const struct hw_batch *batch, enum hw_codec codec,
                                        const uint8_t *plain, size_t plain_size,
                                        struct hw_buffer *out, struct hw_error *error)
{
    struct hw_batch written = *batch;
    size_t start = out->size;
    size_t size;
    enum hw_status status = hw_buffer_reserve(out, HW_BATCH_HEADER_SIZE, error);

    if (status != HW_OK) {
        return status;
    }
    out->size += HW_BATCH_HEADER_SIZE;
    status = hw_codec_compress(codec, plain, plain_size, out, error);
    size = out->size - start;
    if (status == HW_OK && size > INT32_MAX) {
        status = hw_error_refuse(error, HW_KAFKA_MESSAGE_TOO_LARGE,
                                 "the batch at offset %" PRId64
                                 " would have %zu bytes with %s, limit %" PRId32,
                                 batch->base_offset, size, hw_codec_name((int)codec), INT32_MAX);
    }
    if (status != HW_OK) {
        out->size = start;
        return status;
    }
    written.batch_length = (int32_t)(size - HW_BATCH_OVERHEAD);
    written.attributes =
        (int16_t)((batch->attributes & HW_BATCH_ATTRIBUTES_KNOWN & ~HW_BATCH_CODEC_MASK) |
                  (int)codec);
    hw_batch_encode(out->bytes + start, &written);
    return HW_OK;
}

enum hw_status hw_batch_recompress(const uint8_t *bytes, const struct hw_batch *batch,
                                   enum hw_codec codec, size_t size_max, struct hw_buffer *out,
                                   struct hw_error *error)
{
    const uint8_t *plain = bytes + HW_BATCH_HEADER_SIZE;
    size_t plain_size = hw_batch_size_bytes(batch) - HW_BATCH_HEADER_SIZE;
    struct hw_buffer records;
    enum hw_status status = HW_OK;

    HW_ASSERT(batch->magic == 2);
    hw_buffer_init(&records, out->allocator);
    if (batch->record_count == 0) {
        codec = HW_CODEC_NONE;
        plain_size = 0;
    } else if (hw_batch_codec_id(batch) != HW_CODEC_NONE) {
        status = hw_batch_decompress(bytes, batch, size_max, &records, error);
        plain = records.bytes;
        plain_size = records.size;
    }
    if (status == HW_OK) {
        status = append_compressed(batch, codec, plain, plain_size, out, error);
    }
    hw_buffer_release(&records);
    return status;
}
