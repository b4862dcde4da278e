/* SPDX-License-Identifier: MIT */
/*
 * One LZ4 frame, of the features that Kafka allows.
 *
 *     | 04 22 4d 18 | FLG | BD | content size, | HC | blocks ... | end mark, 0 | content checksum,
 *     |             |     |    |  if flagged   |    |            |             |  if flagged
 *
 *     FLG  bits 7-6 version 01, 5 independent blocks, 4 block checksums, 3 content size, 2 content
 *          checksum, 1 reserved, 0 dictionary
 *     BD   bits 6-4 largest block: 4 is 64 KiB ... 7 is 4 MiB
 *     HC   second byte of the xxHash32 of FLG to content size
 *
 * Kafka's rules for the header are not those of liblz4, so it is checked here, and the library gets
 * the plainest header that describes the same blocks.
 *
 * Source: Lz4BlockInputStream.readHeader, Lz4BlockOutputStream.
 */
#include "core/record/codec_library.h"

#include <lz4.h>
#include <lz4frame.h>
#include <string.h>

enum {
    FLG_VERSION_MASK = 0xc0,
    FLG_VERSION = 0x40,
    FLG_INDEPENDENT = 0x20,
    FLG_BLOCK_CHECKSUM = 0x10,
    FLG_CONTENT_SIZE = 0x08,
    FLG_FORBIDDEN = 0x03,
    BD_SIZE_MASK = 0x70,
    BD_SIZE_MIN = LZ4F_max64KB << 4,
    AT_FLG = 4,
    AT_BD = 5,
    AT_HC = 6, /* Without content size. */
    HEADER_SIZE = 7,
    CONTENT_SIZE_SIZE = 8
};

static bool is_out_of_memory(LZ4F_errorCode_t result)
{
    return strcmp(LZ4F_getErrorName(result), "ERROR_allocation_failed") == 0;
}

static enum hw_status codec_lz4_compress(const uint8_t *plain, size_t size, struct hw_buffer *out,
                                         struct hw_error *error)
{
    /* Level 0 is the fast compressor: Kafka's default is not high compression. */
    LZ4F_preferences_t preferences = {
        .frameInfo = {.blockSizeID = LZ4F_max64KB, .blockMode = LZ4F_blockIndependent}};
    size_t room;
    size_t written;
    enum hw_status status;

    room = LZ4F_compressFrameBound(size, &preferences);
    status = hw_buffer_reserve(out, room, error);
    if (status != HW_OK) {
        return status;
    }
    written = LZ4F_compressFrame(out->bytes + out->size, room, plain, size, &preferences);
    if (LZ4F_isError(written)) {
        return hw_error_set(error, HW_NO_MEMORY, "lz4: compressing stopped with %s",
                            LZ4F_getErrorName(written));
    }
    out->size += written;
    return HW_OK;
}

static uint32_t rotate_left(uint32_t value, int bits)
{
    return (value << bits) | (value >> (32 - bits));
}

/* xxHash32 with seed 0 of the few bytes of a header (less than 16: the long loop is left out). */
static uint32_t xxh32_short(const uint8_t *bytes, size_t size)
{
    static const uint32_t prime_1 = 2654435761u, prime_2 = 2246822519u, prime_3 = 3266489917u,
                          prime_4 = 668265263u, prime_5 = 374761393u;
    uint32_t hash = prime_5 + (uint32_t)size;

    for (; size >= 4; size -= 4, bytes += 4) {
        uint32_t word = (uint32_t)bytes[0] | ((uint32_t)bytes[1] << 8) |
                        ((uint32_t)bytes[2] << 16) | ((uint32_t)bytes[3] << 24);

        hash = rotate_left(hash + word * prime_3, 17) * prime_4;
    }
    for (; size > 0; size--, bytes++) {
        hash = rotate_left(hash + *bytes * prime_5, 11) * prime_1;
    }
    hash = (hash ^ (hash >> 15)) * prime_2;
    hash = (hash ^ (hash >> 13)) * prime_3;
    return hash ^ (hash >> 16);
}

static uint8_t header_checksum(const uint8_t *descriptor, size_t size)
{
    return (uint8_t)(xxh32_short(descriptor, size) >> 8);
}

static enum hw_status lz4_corrupt(const char *fault, struct hw_error *error)
{
    return hw_codec_corrupt(HW_CODEC_LZ4, fault, error);
}

/* Check the header that `bytes` begins with. *size receives its bytes, `plain` the plainest one
 * that goes with the same blocks. */
static enum hw_status read_header(int magic, const uint8_t *bytes, size_t available,
                                  uint8_t plain[HEADER_SIZE], size_t *size, struct hw_error *error)
{
    static const uint8_t frame_magic[AT_FLG] = {0x04, 0x22, 0x4d, 0x18};
    int flg;
    int bd;

    if (available < HEADER_SIZE || memcmp(bytes, frame_magic, sizeof frame_magic) != 0) {
        return lz4_corrupt("the payload does not begin with a frame", error);
    }
    flg = bytes[AT_FLG];
    bd = bytes[AT_BD];
    *size = HEADER_SIZE + ((flg & FLG_CONTENT_SIZE) != 0 ? CONTENT_SIZE_SIZE : 0);
    if ((flg & FLG_VERSION_MASK) != FLG_VERSION || (flg & FLG_FORBIDDEN) != 0 ||
        (flg & FLG_INDEPENDENT) == 0) {
        return hw_error_corrupt(error,
                                "lz4: frame flags 0x%02x ask for another version, a dictionary or "
                                "dependent blocks",
                                (unsigned)flg);
    }
    if ((bd & ~BD_SIZE_MASK) != 0 || bd < BD_SIZE_MIN) {
        return hw_error_corrupt(error, "lz4: block descriptor 0x%02x has no block size",
                                (unsigned)bd);
    }
    if (available < *size) {
        return lz4_corrupt("the payload is cut off", error);
    }
    if (magic == 2 && header_checksum(bytes + AT_FLG, *size - AT_FLG - 1) != bytes[*size - 1]) {
        return lz4_corrupt("the frame header has a wrong checksum", error);
    }
    memcpy(plain, frame_magic, sizeof frame_magic);
    plain[AT_FLG] = (uint8_t)(FLG_VERSION | FLG_INDEPENDENT | (flg & FLG_BLOCK_CHECKSUM));
    plain[AT_BD] = (uint8_t)bd;
    plain[AT_HC] = header_checksum(plain + AT_FLG, AT_HC - AT_FLG);
    return HW_OK;
}

static enum hw_status library_failed(LZ4F_errorCode_t result, struct hw_error *error)
{
    if (is_out_of_memory(result)) {
        return hw_error_no_memory(error, "lz4 block");
    }
    return lz4_corrupt(LZ4F_getErrorName(result), error);
}

/* The blocks behind the header that `context` has seen, up to the end mark. */
static enum hw_status decompress_blocks(LZ4F_dctx *context, const uint8_t *at, size_t left,
                                        struct hw_codec_output *output, struct hw_error *error)
{
    struct hw_buffer *buffer = output->buffer;

    for (;;) {
        size_t taken = left;
        size_t room;
        size_t made;
        size_t result;
        enum hw_status status = hw_codec_output_reserve(output, &room, error);

        if (status != HW_OK) {
            return status;
        }
        made = room;
        result = LZ4F_decompress(context, buffer->bytes + buffer->size, &made, at, &taken, NULL);
        if (LZ4F_isError(result)) {
            return library_failed(result, error);
        }
        buffer->size += made;
        at += taken;
        left -= taken;
        if (result == 0) {
            return HW_OK;
        }
        if (left == 0 && made < room) {
            return lz4_corrupt("the payload ends without an end mark", error);
        }
    }
}

static enum hw_status codec_lz4_decompress(int magic, const uint8_t *bytes, size_t size,
                                           struct hw_codec_output *output, struct hw_error *error)
{
    uint8_t header[HEADER_SIZE];
    size_t header_size = HEADER_SIZE;
    uint8_t nothing;
    size_t made = 0;
    size_t taken = sizeof header;
    size_t result;
    LZ4F_dctx *context;
    enum hw_status status = read_header(magic, bytes, size, header, &header_size, error);

    if (status != HW_OK) {
        return status;
    }
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
        return hw_error_no_memory(error, "lz4 context");
    }
    result = LZ4F_decompress(context, &nothing, &made, header, &taken, NULL);
    status = LZ4F_isError(result) ? library_failed(result, error)
                                  : decompress_blocks(context, bytes + header_size,
                                                      size - header_size, output, error);
    LZ4F_freeDecompressionContext(context);
    return status;
}

const struct hw_codec_library hw_codec_lz4 = {LZ4_versionString, codec_lz4_compress,
                                              codec_lz4_decompress};
