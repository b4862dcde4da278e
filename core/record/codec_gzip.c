/* SPDX-License-Identifier: MIT */
/* Source: GzipCompression, and the JDK's GZIPInputStream for members that follow each other. */
#include "core/record/codec_library.h"

/* Input is const. */
#define ZLIB_CONST
#include <zlib.h>

enum {
    WINDOW_BITS_GZIP = 15 + 16, /* zlib's way to ask for the gzip format, and for that only. */
    MEMORY_LEVEL_DEFAULT = 8,
    MEMBER_SIZE_MIN = 18 /* Header and trailer. */
};

static enum hw_status codec_gzip_compress(const uint8_t *plain, size_t size, struct hw_buffer *out,
                                          struct hw_error *error)
{
    z_stream stream = {.next_in = plain, .avail_in = (uInt)size};
    enum hw_status status;
    size_t room;
    int result;

    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS_GZIP,
                     MEMORY_LEVEL_DEFAULT, Z_DEFAULT_STRATEGY) != Z_OK) {
        return hw_error_no_memory(error, "gzip stream");
    }
    room = deflateBound(&stream, (uLong)size);
    status = hw_buffer_reserve(out, room, error);
    if (status != HW_OK) {
        deflateEnd(&stream);
        return status;
    }
    stream.next_out = out->bytes + out->size;
    stream.avail_out = (uInt)room;
    result = deflate(&stream, Z_FINISH);
    out->size += room - stream.avail_out;
    deflateEnd(&stream);
    if (result != Z_STREAM_END) {
        return hw_error_set(error, HW_NO_MEMORY, "gzip: compressing stopped with result %d",
                            result);
    }
    return HW_OK;
}

/* Everything up to the end of one member. */
static enum hw_status inflate_member(z_stream *stream, struct hw_codec_output *output,
                                     struct hw_error *error)
{
    for (;;) {
        size_t room;
        int result;
        enum hw_status status = hw_codec_output_reserve(output, &room, error);

        if (status != HW_OK) {
            return status;
        }
        stream->next_out = output->buffer->bytes + output->buffer->size;
        stream->avail_out = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
        result = inflate(stream, Z_NO_FLUSH);
        output->buffer->size = (size_t)(stream->next_out - output->buffer->bytes);
        switch (result) {
        case Z_OK:
            break;
        case Z_STREAM_END:
            return HW_OK;
        case Z_MEM_ERROR:
            return hw_error_no_memory(error, "gzip window");
        case Z_BUF_ERROR: /* There was room, so it is the input that ended. */
            return hw_codec_corrupt(HW_CODEC_GZIP, "the payload is cut off", error);
        default:
            return hw_codec_corrupt(
                HW_CODEC_GZIP, stream->msg != NULL ? stream->msg : "the payload is damaged", error);
        }
    }
}

/* Whether what is left can be another member. */
static bool has_member(const z_stream *stream)
{
    return stream->avail_in >= MEMBER_SIZE_MIN && stream->next_in[0] == 0x1f &&
           stream->next_in[1] == 0x8b && stream->next_in[2] == Z_DEFLATED;
}

static enum hw_status codec_gzip_decompress(int magic, const uint8_t *bytes, size_t size,
                                            struct hw_codec_output *output, struct hw_error *error)
{
    z_stream stream = {.next_in = bytes, .avail_in = (uInt)size};
    enum hw_status status;

    (void)magic;
    if (inflateInit2(&stream, WINDOW_BITS_GZIP) != Z_OK) {
        return hw_error_no_memory(error, "gzip stream");
    }
    do {
        status = inflate_member(&stream, output, error);
    } while (status == HW_OK && has_member(&stream) && inflateReset(&stream) == Z_OK);
    inflateEnd(&stream);
    return status;
}

const struct hw_codec_library hw_codec_gzip = {zlibVersion, codec_gzip_compress,
                                               codec_gzip_decompress};
