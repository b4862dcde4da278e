/* SPDX-License-Identifier: MIT */
/* CRC-32 (IEEE), the checksum of messages of magic 0 and 1, for bytes that come in pieces. */
#ifndef HW_RECORD_CRC32_H
#define HW_RECORD_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of what `crc` already covers followed by these bytes; 0 covers none. */
uint32_t hw_crc32_extend(uint32_t crc, const void *bytes, size_t size);

#endif /* HW_RECORD_CRC32_H */
