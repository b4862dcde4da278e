/* SPDX-License-Identifier: MIT */
/*
 * What codec.c needs of each compression library, one file a library. Only codec.c, codec_output.c
 * and those files include this.
 */
#ifndef HW_RECORD_CODEC_LIBRARY_H
#define HW_RECORD_CODEC_LIBRARY_H

#include "core/record/codec.h"

/* Where plain bytes go while they are made. */
struct hw_codec_output {
    struct hw_buffer *buffer;
    size_t start;    /* Size of the buffer before the first of them. */
    size_t size_max; /* Bytes allowed behind start; below SIZE_MAX. */
    int codec_id;
};

/*
 * Make room for some more bytes behind buffer->size: at least one, and *room of them. The room ends
 * one byte behind the limit, so that a stream which ends just there can be told from a longer one.
 * Errors: HW_NO_MEMORY; HW_CORRUPT if the limit has been passed.
 */
enum hw_status hw_codec_output_reserve(struct hw_codec_output *output, size_t *room,
                                       struct hw_error *error);

/* HW_CORRUPT: the limit would be passed. */
enum hw_status hw_codec_output_finish(const struct hw_codec_output *output, struct hw_error *error);
enum hw_status hw_codec_too_large(const struct hw_codec_output *output, struct hw_error *error);

/* HW_CORRUPT with the codec's name in front of `fault`. */
enum hw_status hw_codec_corrupt(int codec_id, const char *fault, struct hw_error *error);

/* One library. Functions report as hw_codec_compress() and hw_codec_decompress() do, but may leave some
 * bytes behind in the buffer when they fail: codec.c takes them away. */
struct hw_codec_library {
    const char *(*version)(void);
    enum hw_status (*compress)(const uint8_t *plain, size_t size, struct hw_buffer *out,
                               struct hw_error *error);
    enum hw_status (*decompress)(int magic, const uint8_t *bytes, size_t size,
                                 struct hw_codec_output *output, struct hw_error *error);
};

extern const struct hw_codec_library hw_codec_gzip, hw_codec_snappy, hw_codec_lz4, hw_codec_zstd;

#endif /* HW_RECORD_CODEC_LIBRARY_H */
