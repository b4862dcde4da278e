/* SPDX-License-Identifier: MIT */
/*
 * Snappy blocks by C alone: the four functions of libsnappy's header of the same name that
 * core/record/codec_snappy.c calls. Which of the two is used is decided by the file that is linked
 * and the folder that the compiler looks into.
 */
#ifndef HW_PACKAGING_SNAPPY_C_H
#define HW_PACKAGING_SNAPPY_C_H

#include <stddef.h>

/* For highwater_build(). */
#define HW_SNAPPY_VERSION "highwater's own"

typedef enum { SNAPPY_OK = 0, SNAPPY_INVALID_INPUT = 1, SNAPPY_BUFFER_TOO_SMALL = 2 } snappy_status;

/*
 * Compress `size` bytes, fewer than 2^32, to `out`, which has room for *out_size bytes: at least
 * snappy_max_compressed_length(size), else SNAPPY_BUFFER_TOO_SMALL. *out_size becomes what was
 * used. The same bytes come out on every machine.
 */
snappy_status snappy_compress(const char *bytes, size_t size, char *out, size_t *out_size);

/*
 * The plain bytes of a block. SNAPPY_BUFFER_TOO_SMALL if there are more than *out_size;
 * SNAPPY_INVALID_INPUT if the block is damaged, and `out` then holds anything. Never reads outside
 * of the block and never writes outside of `out`.
 */
snappy_status snappy_uncompress(const char *block, size_t size, char *out, size_t *out_size);

/* Room that is always enough. */
size_t snappy_max_compressed_length(size_t size);

/* How many plain bytes the block says it has. SNAPPY_INVALID_INPUT if it does not say. */
snappy_status snappy_uncompressed_length(const char *block, size_t size, size_t *plain_size);

#endif /* HW_PACKAGING_SNAPPY_C_H */
