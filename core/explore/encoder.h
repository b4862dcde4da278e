/* SPDX-License-Identifier: MIT */
/* Words mixed into one number, of which equal ones mean equal words but for a chance of 2^-128. */
#ifndef HW_EXPLORE_ENCODER_H
#define HW_EXPLORE_ENCODER_H

#include <stdint.h>

/* Two streams of 64 bits, each word mixed in. */
struct encoder {
    uint64_t high;
    uint64_t low;
};

static inline uint64_t encode_rotate(uint64_t word, int by)
{
    return word << by | word >> (64 - by);
}

static inline void encode_put(struct encoder *encoder, uint64_t word)
{
    encoder->high = encode_rotate((encoder->high ^ word) * 0x9E3779B97F4A7C15U, 31);
    encoder->low = encode_rotate((encoder->low + word) * 0xC2B2AE3D27D4EB4FU, 29) ^ encoder->high;
}

static inline uint64_t encode_finish(uint64_t word)
{
    word = (word ^ word >> 32) * 0xD6E8FEB86659FD93U;
    word = (word ^ word >> 32) * 0xD6E8FEB86659FD93U;
    return word ^ word >> 32;
}

#endif /* HW_EXPLORE_ENCODER_H */
