/* SPDX-License-Identifier: MIT */
#include "ext/ext_hash.h"

uint64_t ext_hash(uint64_t hash, uint64_t more)
{
    /* SplitMix64's finisher. */
    uint64_t x = hash + more;

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t ext_hash_text(uint64_t hash, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = ext_hash(hash, (uint8_t)text[i]);
    }
    return ext_hash(hash, size);
}
