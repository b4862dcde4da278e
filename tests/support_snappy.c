/* SPDX-License-Identifier: MIT */
/* See support_snappy.h. */
#include "tests/support_snappy.h"

#define snappy_compress              own_snappy_compress
#define snappy_uncompress            own_snappy_uncompress
#define snappy_max_compressed_length own_snappy_max_compressed_length
#define snappy_uncompressed_length   own_snappy_uncompressed_length

#include "ext/packaging/snappy/snappy.c"

size_t test_snappy_room(size_t size)
{
    return snappy_max_compressed_length(size);
}

bool test_snappy_compress(const char *bytes, size_t size, char *out, size_t *out_size)
{
    return snappy_compress(bytes, size, out, out_size) == SNAPPY_OK;
}

bool test_snappy_uncompress(const char *block, size_t size, char *out, size_t *out_size)
{
    return snappy_uncompress(block, size, out, out_size) == SNAPPY_OK;
}

bool test_snappy_plain_size(const char *block, size_t size, size_t *plain_size)
{
    return snappy_uncompressed_length(block, size, plain_size) == SNAPPY_OK;
}
