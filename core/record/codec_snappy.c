/* SPDX-License-Identifier: MIT */
/*
 * Snappy blocks in the framing of snappy-java ("xerial"), which is not Google's framing format.
 * Source: SnappyOutputStream, SnappyInputStream of snappy-java.
 */
#include "core/base/bytes.h"
#include "core/record/codec_library.h"

#include <snappy-c.h>
#include <string.h>

#ifndef HW_SNAPPY_VERSION
#define HW_SNAPPY_VERSION "unknown" /* C cannot ask libsnappy. */
#endif

enum {
    FRAME_HEADER_SIZE = 16, /* Magic, version, smallest version that can read it. */
    FRAME_MAGIC_SIZE = 8,
    FRAME_VERSION = 1,
    CHUNK_HEADER_SIZE = 4,
    CHUNK_SIZE_MAX = 512 * 1024 * 1024,
    PLAIN_BLOCK_SIZE = 32768,
    EXPANSION_MAX = 64 /* A copy of 64 bytes is the most that an element of 2 or more can be. */
};

static const uint8_t frame_magic[FRAME_MAGIC_SIZE] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};

static const char *codec_snappy_version(void)
{
    return HW_SNAPPY_VERSION;
}

/* One chunk: the size of the block, then the block. */
static enum hw_status compress_block(const uint8_t *plain, size_t size, struct hw_buffer *out,
                                     struct hw_error *error)
{
    size_t room = snappy_max_compressed_length(size);
    enum hw_status status = hw_buffer_reserve(out, CHUNK_HEADER_SIZE + room, error);
    uint8_t *chunk;

    if (status != HW_OK) {
        return status;
    }
    chunk = out->bytes + out->size;
    if (snappy_compress((const char *)plain, size, (char *)chunk + CHUNK_HEADER_SIZE, &room) !=
        SNAPPY_OK) {
        return hw_error_no_memory(error, "snappy block");
    }
    hw_put_u32(chunk, (uint32_t)room);
    out->size += CHUNK_HEADER_SIZE + room;
    return HW_OK;
}

static enum hw_status codec_snappy_compress(const uint8_t *plain, size_t size,
                                            struct hw_buffer *out, struct hw_error *error)
{
    uint8_t header[FRAME_HEADER_SIZE];
    enum hw_status status;

    memcpy(header, frame_magic, FRAME_MAGIC_SIZE);
    hw_put_u32(header + FRAME_MAGIC_SIZE, FRAME_VERSION);
    hw_put_u32(header + FRAME_MAGIC_SIZE + 4, FRAME_VERSION);
    status = hw_buffer_append(out, header, sizeof header, error);
    while (status == HW_OK && size > 0) {
        size_t block = HW_MIN(size, PLAIN_BLOCK_SIZE);

        status = compress_block(plain, block, out, error);
        plain += block;
        size -= block;
    }
    return status;
}

static enum hw_status snappy_corrupt(const char *fault, struct hw_error *error)
{
    return hw_codec_corrupt(HW_CODEC_SNAPPY, fault, error);
}

static enum hw_status decompress_block(const uint8_t *block, size_t size,
                                       struct hw_codec_output *output, struct hw_error *error)
{
    struct hw_buffer *buffer = output->buffer;
    size_t plain_size;
    enum hw_status status;

    if (snappy_uncompressed_length((const char *)block, size, &plain_size) != SNAPPY_OK ||
        plain_size / EXPANSION_MAX > size) {
        return snappy_corrupt("a block has no size, or one that it cannot have", error);
    }
    if (plain_size > output->size_max - (buffer->size - output->start)) {
        return hw_codec_too_large(output, error);
    }
    status = hw_buffer_reserve(buffer, plain_size, error);
    if (status != HW_OK) {
        return status;
    }
    if (plain_size > 0 &&
        snappy_uncompress((const char *)block, size, (char *)buffer->bytes + buffer->size,
                          &plain_size) != SNAPPY_OK) {
        return snappy_corrupt("a block is damaged", error);
    }
    buffer->size += plain_size;
    return HW_OK;
}

static bool has_frame_magic(const uint8_t *bytes, size_t size)
{
    return size >= FRAME_HEADER_SIZE && memcmp(bytes, frame_magic, FRAME_MAGIC_SIZE) == 0;
}

static enum hw_status codec_snappy_decompress(int magic, const uint8_t *bytes, size_t size,
                                              struct hw_codec_output *output,
                                              struct hw_error *error)
{
    const uint8_t *end = bytes + size;
    const uint8_t *at = bytes;
    enum hw_status status = HW_OK;

    (void)magic;
    /* librdkafka writes a block without a frame. The versions of the first header are not looked
     * at: some producers wrote them in little-endian order. */
    if (!has_frame_magic(bytes, size)) {
        return decompress_block(bytes, size, output, error);
    }
    at += FRAME_HEADER_SIZE;
    while (status == HW_OK && end - at >= CHUNK_HEADER_SIZE) {
        size_t left = (size_t)(end - at);
        uint32_t chunk_size = hw_get_u32(at);

        if (chunk_size == hw_get_u32(frame_magic)) {
            if (!has_frame_magic(at, left) || hw_get_i32(at + FRAME_MAGIC_SIZE) < FRAME_VERSION) {
                return snappy_corrupt("a header between the chunks is damaged", error);
            }
            at += FRAME_HEADER_SIZE;
            continue;
        }
        if (chunk_size > CHUNK_SIZE_MAX || chunk_size > left - CHUNK_HEADER_SIZE) {
            return snappy_corrupt("a chunk does not end within the payload", error);
        }
        status = decompress_block(at + CHUNK_HEADER_SIZE, chunk_size, output, error);
        at += CHUNK_HEADER_SIZE + chunk_size;
    }
    return status;
}

const struct hw_codec_library hw_codec_snappy = {codec_snappy_version, codec_snappy_compress,
                                                 codec_snappy_decompress};
