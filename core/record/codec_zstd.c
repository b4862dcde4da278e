/* SPDX-License-Identifier: MIT */
/* Source: ZstdCompression, and zstd-jni's ZstdInputStream for frames that follow each other. */
#include "core/record/codec_library.h"

#include <zstd.h>
#include <zstd_errors.h>

enum { LEVEL_DEFAULT = 3 };

static enum hw_status codec_zstd_compress(const uint8_t *plain, size_t size, struct hw_buffer *out,
                                          struct hw_error *error)
{
    size_t room = ZSTD_compressBound(size);
    enum hw_status status = hw_buffer_reserve(out, room, error);
    ZSTD_CCtx *context;
    size_t written;

    if (status != HW_OK) {
        return status;
    }
    context = ZSTD_createCCtx();
    if (context == NULL) {
        return hw_error_no_memory(error, "zstd context");
    }
    written = ZSTD_compressCCtx(context, out->bytes + out->size, room, plain, size, LEVEL_DEFAULT);
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(written)) {
        return hw_error_set(error, HW_NO_MEMORY, "zstd: compressing stopped with %s",
                            ZSTD_getErrorName(written));
    }
    out->size += written;
    return HW_OK;
}

/* Frame after frame until the input ends. */
static enum hw_status decompress_frames(ZSTD_DCtx *context, const uint8_t *bytes, size_t size,
                                        struct hw_codec_output *output, struct hw_error *error)
{
    struct hw_buffer *buffer = output->buffer;
    ZSTD_inBuffer in = {bytes, size, 0};

    for (;;) {
        size_t room;
        size_t result;
        ZSTD_outBuffer out;
        enum hw_status status = hw_codec_output_reserve(output, &room, error);

        if (status != HW_OK) {
            return status;
        }
        out = (ZSTD_outBuffer){buffer->bytes + buffer->size, room, 0};
        result = ZSTD_decompressStream(context, &out, &in);
        if (ZSTD_isError(result)) {
            return ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation
                       ? hw_error_no_memory(error, "zstd window")
                       : hw_codec_corrupt(HW_CODEC_ZSTD, ZSTD_getErrorName(result), error);
        }
        buffer->size += out.pos;
        if (result == 0 && in.pos == in.size) {
            return HW_OK;
        }
        if (in.pos == in.size && out.pos < out.size) {
            return hw_codec_corrupt(HW_CODEC_ZSTD, "the payload is cut off", error);
        }
    }
}

static enum hw_status codec_zstd_decompress(int magic, const uint8_t *bytes, size_t size,
                                            struct hw_codec_output *output, struct hw_error *error)
{
    ZSTD_DCtx *context;
    enum hw_status status;

    if (magic < 2) {
        return hw_error_corrupt(error, "zstd: not allowed with magic %d", magic);
    }
    context = ZSTD_createDCtx();
    if (context == NULL) {
        return hw_error_no_memory(error, "zstd context");
    }
    status = decompress_frames(context, bytes, size, output, error);
    ZSTD_freeDCtx(context);
    return status;
}

const struct hw_codec_library hw_codec_zstd = {ZSTD_versionString, codec_zstd_compress,
                                               codec_zstd_decompress};
