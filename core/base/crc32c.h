/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli), the checksum of record batches and producer snapshots. Check value of
 * "123456789": 0xE3069283.
 */
#ifndef HW_BASE_CRC32C_H
#define HW_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The checksum of `size` bytes. Takes the fastest way that the running CPU has. */
uint32_t hw_crc32c(const void *bytes, size_t size);

/* The checksum of what `crc` already covers followed by these bytes; hw_crc32c_extend(0, ...) is
 * hw_crc32c(...). */
uint32_t hw_crc32c_extend(uint32_t crc, const void *bytes, size_t size);

/* The same by tables only, on every CPU. For tests, and where there is no fast way. */
uint32_t hw_crc32c_portable(uint32_t crc, const void *bytes, size_t size);

#endif /* HW_BASE_CRC32C_H */
