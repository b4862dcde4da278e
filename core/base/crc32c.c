/* SPDX-License-Identifier: MIT */
/* CRC-32C by table. */
#include "core/base/crc32c.h"

uint32_t hw_crc32c(const void *bytes, size_t size)
{
    return hw_crc32c_extend(0, bytes, size);
}

uint32_t hw_crc32c_extend(uint32_t crc, const void *bytes, size_t size)
{
    return hw_crc32c_portable(crc, bytes, size);
}

uint32_t hw_crc32c_portable(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;

    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
        }
    }
    return ~crc;
}
