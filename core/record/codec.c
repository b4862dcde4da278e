/* SPDX-License-Identifier: MIT */
#include "core/record/codec.h"

#include "core/base/assert.h"
#include "core/record/codec_library.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    int level_min;
    int level_max;
    int level_default;
} codecs[] = {
    [HW_CODEC_NONE] = {0, 0, 0}, [HW_CODEC_GZIP] = {-1, 9, -1},      [HW_CODEC_SNAPPY] = {0, 0, 0},
    [HW_CODEC_LZ4] = {1, 17, 9}, [HW_CODEC_ZSTD] = {-131072, 22, 3},
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
    switch (codec) {
    case HW_CODEC_GZIP:
        return hw_gzip_version();
    case HW_CODEC_SNAPPY:
        return hw_snappy_version();
    case HW_CODEC_LZ4:
        return hw_lz4_version();
    case HW_CODEC_ZSTD:
        return hw_zstd_version();
    case HW_CODEC_NONE:
        break;
    }
    return "";
}

int hw_codec_level_default(enum hw_codec codec)
{
    return codecs[codec].level_default;
}

bool hw_codec_level_is_valid(enum hw_codec codec, int level)
{
    if (codec == HW_CODEC_GZIP && level == 0) {
        return false; /* zlib would store; Kafka does not allow it. */
    }
    return level >= codecs[codec].level_min && level <= codecs[codec].level_max;
}

static enum hw_status compress_with(enum hw_codec codec, int level, const uint8_t *plain,
                                    size_t size, struct hw_buffer *out, struct hw_error *error)
{
    switch (codec) {
    case HW_CODEC_GZIP:
        return hw_gzip_compress(level, plain, size, out, error);
    case HW_CODEC_SNAPPY:
        return hw_snappy_compress(plain, size, out, error);
    case HW_CODEC_LZ4:
        return hw_lz4_compress(level, plain, size, out, error);
    case HW_CODEC_ZSTD:
        return hw_zstd_compress(level, plain, size, out, error);
    case HW_CODEC_NONE:
    default:
        return hw_buffer_append(out, plain, size, error);
    }
}

enum hw_status hw_codec_compress(enum hw_codec codec, int level, const uint8_t *plain, size_t size,
                                 struct hw_buffer *out, struct hw_error *error)
{
    size_t start = out->size;
    enum hw_status status;

    HW_ASSERT(codec <= HW_CODEC_ZSTD);
    if (!hw_codec_level_is_valid(codec, level)) {
        return hw_error_set(error, HW_MISUSE, "%s has no level %d, only %d to %d%s",
                            hw_codec_name((int)codec), level, codecs[codec].level_min,
                            codecs[codec].level_max, codec == HW_CODEC_GZIP ? " without 0" : "");
    }
    if (size > INT32_MAX) {
        return hw_error_set(error, HW_MISUSE,
                            "%zu bytes are too many for one batch, limit %" PRId32, size,
                            INT32_MAX);
    }
    status = compress_with(codec, level, plain, size, out, error);
    if (status != HW_OK) {
        out->size = start;
    }
    return status;
}

static enum hw_status decompress_with(int codec_id, int magic, const uint8_t *bytes, size_t size,
                                      struct hw_codec_output *output, struct hw_error *error)
{
    switch (codec_id) {
    case HW_CODEC_NONE:
        return hw_buffer_append(output->buffer, bytes, size, error);
    case HW_CODEC_GZIP:
        return hw_gzip_decompress(bytes, size, output, error);
    case HW_CODEC_SNAPPY:
        return hw_snappy_decompress(bytes, size, output, error);
    case HW_CODEC_LZ4:
        return hw_lz4_decompress(magic, bytes, size, output, error);
    case HW_CODEC_ZSTD:
        if (magic < 2) {
            return hw_error_corrupt(error, "zstd: not allowed with magic %d", magic);
        }
        return hw_zstd_decompress(bytes, size, output, error);
    default:
        return hw_error_corrupt(error, "there is no codec with id %d", codec_id);
    }
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
    status = decompress_with(codec_id, magic, bytes, size, &output, error);
    if (status == HW_OK) {
        status = hw_codec_output_finish(&output, error);
    }
    if (status != HW_OK) {
        out->size = output.start;
    }
    return status;
}
