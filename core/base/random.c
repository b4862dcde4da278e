/* SPDX-License-Identifier: MIT */
/* SplitMix64: one addition and a mix a number, every seed is a good seed. */
#include "core/base/random.h"

#include "core/base/assert.h"

void hw_random_init(struct hw_random *random, uint64_t seed)
{
    random->state = seed;
}

uint64_t hw_random_next(struct hw_random *random)
{
    uint64_t z;

    random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t hw_random_below(struct hw_random *random, uint64_t bound)
{
    uint64_t surplus;
    uint64_t number;

    HW_ASSERT(bound > 0);
    /* 2^64 mod bound: so many numbers at the low end would make the first results more likely. */
    surplus = (0 - bound) % bound;
    do {
        number = hw_random_next(random);
    } while (number < surplus);
    return number % bound;
}

struct hw_uuid hw_random_uuid(struct hw_random *random)
{
    struct hw_uuid uuid;

    do {
        uint64_t halves[2] = {hw_random_next(random), hw_random_next(random)};

        for (size_t i = 0; i < sizeof uuid.bytes; i++) {
            uuid.bytes[i] = (uint8_t)(halves[i / 8] >> (8 * (7 - i % 8)));
        }
        uuid.bytes[6] = (uint8_t)((uuid.bytes[6] & 0x0f) | 0x40); /* Version 4: random. */
        uuid.bytes[8] = (uint8_t)((uuid.bytes[8] & 0x3f) | 0x80); /* Variant of RFC 4122. */
        /* '-' is the base64url digit 62, and the first digit is the top six bits. */
    } while (uuid.bytes[0] >> 2 == 62);
    return uuid;
}
