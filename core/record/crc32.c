/* SPDX-License-Identifier: MIT */
#include "core/record/crc32.h"

#include <zlib.h>

uint32_t hw_crc32_extend(uint32_t crc, const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc, bytes, size);
}
