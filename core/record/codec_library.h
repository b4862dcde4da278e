/* SPDX-License-Identifier: MIT */
/*
 * What codec.c needs of each compression library, one file a library. Only codec.c, codec_output.c
 * and those files include this. Functions report as hw_codec_compress() and hw_codec_decompress() do, but may leave
 * some bytes behind in the buffer when they fail: codec.c takes them away.
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

/* Versions of the libraries. That of libsnappy is what the build knew ("unknown": nothing): C cannot
 * ask it. */
const char *hw_gzip_version(void);
const char *hw_snappy_version(void);
const char *hw_lz4_version(void);
const char *hw_zstd_version(void);

enum hw_status hw_gzip_compress(int level, const uint8_t *plain, size_t size, struct hw_buffer *out,
                                struct hw_error *error);
enum hw_status hw_gzip_decompress(const uint8_t *bytes, size_t size, struct hw_codec_output *output,
                                  struct hw_error *error);

enum hw_status hw_snappy_compress(const uint8_t *plain, size_t size, struct hw_buffer *out,
                                  struct hw_error *error);
enum hw_status hw_snappy_decompress(const uint8_t *bytes, size_t size,
                                    struct hw_codec_output *output, struct hw_error *error);

enum hw_status hw_lz4_compress(int level, const uint8_t *plain, size_t size, struct hw_buffer *out,
                               struct hw_error *error);
enum hw_status hw_lz4_decompress(int magic, const uint8_t *bytes, size_t size,
                                 struct hw_codec_output *output, struct hw_error *error);

enum hw_status hw_zstd_compress(int level, const uint8_t *plain, size_t size, struct hw_buffer *out,
                                struct hw_error *error);
enum hw_status hw_zstd_decompress(const uint8_t *bytes, size_t size, struct hw_codec_output *output,
                                  struct hw_error *error);

#endif /* HW_RECORD_CODEC_LIBRARY_H */
