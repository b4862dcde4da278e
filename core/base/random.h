/* SPDX-License-Identifier: MIT */
/* A seeded generator (SplitMix64). Its whole state is the struct, so a copy repeats the sequence.
 */
#ifndef HW_BASE_RANDOM_H
#define HW_BASE_RANDOM_H

#include "core/base/types.h"

struct hw_random {
    uint64_t state;
};

void hw_random_init(struct hw_random *random, uint64_t seed);

/* The next 64 bits. */
uint64_t hw_random_next(struct hw_random *random);

/* Evenly spread over 0 .. bound-1; bound > 0. */
uint64_t hw_random_below(struct hw_random *random, uint64_t bound);

/* A version 4 UUID, never one that begins with '-' in base64url, as Kafka's Uuid.randomUuid(). */
struct hw_uuid hw_random_uuid(struct hw_random *random);

#endif /* HW_BASE_RANDOM_H */
