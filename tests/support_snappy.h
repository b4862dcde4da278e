/* SPDX-License-Identifier: MIT */
/* The Snappy of ext/packaging/snappy, under names that do not meet libsnappy's. */
#ifndef SUPPORT_SNAPPY_H
#define SUPPORT_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>

size_t test_snappy_room(size_t size);
bool test_snappy_compress(const char *bytes, size_t size, char *out, size_t *out_size);
bool test_snappy_uncompress(const char *block, size_t size, char *out, size_t *out_size);
bool test_snappy_plain_size(const char *block, size_t size, size_t *plain_size);

#endif /* SUPPORT_SNAPPY_H */
