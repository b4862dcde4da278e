/* SPDX-License-Identifier: MIT */
/* MurmurHash2 by Austin Appleby, as Kafka computes it: the low 32 bits of everything, with Kafka's
 * seed. */
#include "core/cluster/partitioner.h"

#include "core/base/assert.h"

uint32_t hw_murmur2(const uint8_t *bytes, size_t size)
{
    const uint32_t multiplier = 0x5bd1e995;
    size_t whole = size & ~(size_t)3;
    uint32_t hash = UINT32_C(0x9747b28c) ^ (uint32_t)size;

    for (size_t i = 0; i < whole; i += 4) {
        /* Little-endian, unlike Kafka's formats. */
        uint32_t word = (uint32_t)bytes[i] | ((uint32_t)bytes[i + 1] << 8) |
                        ((uint32_t)bytes[i + 2] << 16) | ((uint32_t)bytes[i + 3] << 24);

        word *= multiplier;
        word ^= word >> 24;
        word *= multiplier;
        hash = (hash * multiplier) ^ word;
    }
    for (size_t i = size; i > whole; i--) {
        hash ^= (uint32_t)bytes[i - 1] << (8 * (i - 1 - whole));
    }
    if (size > whole) {
        hash *= multiplier;
    }
    hash ^= hash >> 13;
    hash *= multiplier;
    hash ^= hash >> 15;
    return hash;
}

int32_t hw_partition_for_key(const uint8_t *key, int32_t key_size, int32_t partitions)
{
    HW_ASSERT(key_size >= 0);
    HW_ASSERT(partitions >= 1);
    return (int32_t)((hw_murmur2(key, (size_t)key_size) & INT32_MAX) % (uint32_t)partitions);
}
