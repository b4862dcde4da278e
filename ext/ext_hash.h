/* SPDX-License-Identifier: MIT */
/*
 * Hashes for rowids. A rowid is one of the whole table: the same row has the same one in each scan,
 * and two rows have two, whatever the arguments were, since SQLite joins the scans of an OR by it.
 * Two equal hashes are as unlikely as any of 64 bits. A hash begins as 0, and each part is added to
 * the hash of those before it.
 */
#ifndef EXT_HASH_H
#define EXT_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t ext_hash(uint64_t hash, uint64_t more)
{
    /* SplitMix64's finisher. */
    uint64_t x = hash + more;

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t ext_hash_text(uint64_t hash, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = ext_hash(hash, (uint8_t)text[i]);
    }
    return ext_hash(hash, size);
}

#endif /* EXT_HASH_H */
