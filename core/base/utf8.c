/* SPDX-License-Identifier: MIT */
/*
 * Most texts are ASCII, so as many bytes as a register takes are looked at together, and characters
 * one by one only from the first other byte on. Every key and value that is read comes by here.
 */
#include "core/base/utf8.h"

#include <string.h>

/* How many bytes are looked at together, and how many in one turn of a loop. */
enum { STRIDE = 16, HALF = STRIDE / 2, TURN = 4 * STRIDE };

#ifdef __SSE2__

#include <immintrin.h>

/* Bytes of ASCII other than NUL are those above 0 as signed ones. */
static inline __m128i above_zero(const uint8_t *bytes)
{
    return _mm_cmpgt_epi8(_mm_loadu_si128((const __m128i *)(const void *)bytes),
                          _mm_setzero_si128());
}

static inline bool is_full(__m128i mask)
{
    return _mm_movemask_epi8(mask) == 0xffff;
}

/* Whether STRIDE bytes are characters of ASCII other than NUL. */
static inline bool is_ascii(const uint8_t *bytes)
{
    return is_full(above_zero(bytes));
}

/* The same of HALF a stride. */
static inline bool is_half_ascii(const uint8_t *bytes)
{
    __m128i half = _mm_loadl_epi64((const __m128i *)(const void *)bytes);

    return _mm_movemask_epi8(_mm_cmpgt_epi8(half, _mm_setzero_si128())) == 0xff;
}

/* The same of a TURN. */
static inline bool are_ascii(const uint8_t *bytes)
{
    return is_full(_mm_and_si128(
        _mm_and_si128(above_zero(bytes), above_zero(bytes + STRIDE)),
        _mm_and_si128(above_zero(bytes + 2 * STRIDE), above_zero(bytes + 3 * STRIDE))));
}

#else

/* Eight bytes: the result has top bits of bytes set unless all of them are characters of ASCII
 * other than NUL. The test of a zero byte may see one where there is none only if a byte has its
 * top bit set, so the answer is right. */
static inline uint64_t not_ascii(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof word);
    return word | (word - UINT64_C(0x0101010101010101));
}

static inline bool is_half_ascii(const uint8_t *bytes)
{
    return (not_ascii(bytes) & UINT64_C(0x8080808080808080)) == 0;
}

static inline bool is_ascii(const uint8_t *bytes)
{
    return is_half_ascii(bytes) && is_half_ascii(bytes + HALF);
}

static inline bool are_ascii(const uint8_t *bytes)
{
    return is_ascii(bytes) && is_ascii(bytes + STRIDE) && is_ascii(bytes + 2 * STRIDE) &&
           is_ascii(bytes + 3 * STRIDE);
}

#endif

/* How many bytes from the first one on are known to be such characters, by strides. What is left of
 * a whole stride, or turn, is looked at with some of the bytes before it. */
static inline size_t count_ascii(const uint8_t *bytes, size_t size)
{
    size_t at = 0;

    if (size < STRIDE) {
        return size >= HALF && is_half_ascii(bytes) && is_half_ascii(bytes + size - HALF) ? size
                                                                                          : 0;
    }
    if (size >= TURN) {
        const uint8_t *last = bytes + size - TURN;
        const uint8_t *turn = bytes;

        while (turn < last && are_ascii(turn)) {
            turn += TURN;
        }
        if (turn >= last && are_ascii(last)) {
            return size;
        }
        at = (size_t)(turn - bytes);
    }
    while (size - at >= STRIDE) {
        if (!is_ascii(bytes + at)) {
            return at;
        }
        at += STRIDE;
    }
    return is_ascii(bytes + size - STRIDE) ? size : at;
}

size_t hw_utf8_character_size(const uint8_t *bytes, size_t size)
{
    uint8_t first = bytes[0];
    size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint8_t second_min = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t second_max = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    if (length == 1) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4 || size < length || bytes[1] < second_min ||
        bytes[1] > second_max) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/* hw_utf8_is_text() of which the first `at` bytes are known to be so. */
static bool is_text_from(const uint8_t *bytes, size_t size, size_t at)
{
    while (at < size) {
        size_t length;

        if (bytes[at] - 1U < 0x7f) {
            at++; /* Few are left of a stride. */
            continue;
        }
        length = bytes[at] == 0 ? 0 : hw_utf8_character_size(bytes + at, size - at);
        if (length == 0) {
            return false;
        }
        at += length;
        at += count_ascii(bytes + at, size - at);
    }
    return true;
}

bool hw_utf8_is_text(const uint8_t *bytes, size_t size)
{
    size_t ascii = count_ascii(bytes, size);

    return ascii == size || is_text_from(bytes, size, ascii);
}
