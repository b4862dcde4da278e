/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C by instructions of x86-64 CPUs.
 *
 * The crc32 instruction takes eight bytes a cycle but answers after three, so three neighbouring
 * blocks are done at a time and their checksums joined. To join is to multiply the checksum of the
 * front by the power of x that stands for the bytes behind it, modulo the polynomial. The constants
 * below are such powers, bits reversed as CRC-32C has them. Where crc32 takes a product in, that
 * multiplies by x^33 once more, so the power for n bytes is x^(8n - 33).
 *
 * Source: V. Gopal et al., "Fast CRC Computation for iSCSI Polynomial Using CRC32 Instruction" and
 * "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2011, 2009).
 */
#include "core/base/crc32c_x86.h"

#ifdef HW_CRC32C_X86

#include "core/base/assert.h"

#include <immintrin.h>
#include <string.h>

/* gcc counts the crc32 instruction to SSE 4.2 and 512 bits to AVX-512; clang can have them switched
 * off by themselves. */
#ifdef __clang__
#define SSE42 "sse4.2,crc32,pclmul"
#else
#define SSE42 "sse4.2,pclmul"
#endif
#if defined(__clang__) && __clang_major__ >= 18 && __clang_major__ <= 21
#define AVX512 SSE42 ",avx512f,evex512,vpclmulqdq"
#else
#define AVX512 SSE42 ",avx512f,vpclmulqdq"
#endif
#define TARGET_SSE42  __attribute__((target(SSE42)))
#define TARGET_AVX512 __attribute__((target(AVX512)))

/* Sizes of the blocks that are done three at a time, and the powers that join them. */
enum { LONG_BLOCK = 2048, SHORT_BLOCK = 256 };

static const uint32_t long_block_1 = 0xa51b6135;  /* x^(8 * 2048 - 33) */
static const uint32_t long_block_2 = 0x82f89c77;  /* x^(16 * 2048 - 33) */
static const uint32_t short_block_1 = 0xb9e02b86; /* x^(8 * 256 - 33) */
static const uint32_t short_block_2 = 0xdd7e3b0c; /* x^(16 * 256 - 33) */

bool hw_crc32c_has_sse42(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

bool hw_crc32c_has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("vpclmulqdq") &&
           hw_crc32c_has_sse42();
}

static inline uint64_t load_u64(const uint8_t *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

TARGET_SSE42 static inline uint64_t multiply(uint64_t a, uint32_t b)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)a), _mm_cvtsi32_si128((int)b), 0);

    return (uint64_t)_mm_cvtsi128_si64(product);
}

/* The three blocks of `block` bytes at `p`; `power_1` and `power_2` skip one and two blocks. */
TARGET_SSE42 static inline uint64_t three_blocks(uint64_t crc, const uint8_t *p, size_t block,
                                                 uint32_t power_1, uint32_t power_2)
{
    uint64_t second = 0;
    uint64_t third = 0;

    for (size_t i = 0; i < block; i += 8) {
        crc = _mm_crc32_u64(crc, load_u64(p + i));
        second = _mm_crc32_u64(second, load_u64(p + block + i));
        third = _mm_crc32_u64(third, load_u64(p + 2 * block + i));
    }
    return _mm_crc32_u64(0, multiply(crc, power_2) ^ multiply(second, power_1)) ^ third;
}

TARGET_SSE42 uint32_t hw_crc32c_sse42(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t state = (uint32_t)~crc;

    for (; size >= 3 * LONG_BLOCK; p += 3 * LONG_BLOCK, size -= 3 * LONG_BLOCK) {
        state = three_blocks(state, p, LONG_BLOCK, long_block_1, long_block_2);
    }
    for (; size >= 3 * SHORT_BLOCK; p += 3 * SHORT_BLOCK, size -= 3 * SHORT_BLOCK) {
        state = three_blocks(state, p, SHORT_BLOCK, short_block_1, short_block_2);
    }
    for (; size >= 8; p += 8, size -= 8) {
        state = _mm_crc32_u64(state, load_u64(p));
    }
    for (; size > 0; p++, size--) {
        state = _mm_crc32_u8((uint32_t)state, *p);
    }
    return ~(uint32_t)state;
}

/*
 * Folding: a vector stands for its 16 byte lanes as polynomials; to move a lane D bits forward is
 * to multiply its low half by x^(D + 31) and its high half by x^(D - 33), whereupon it can be added
 * to the lane that is there.
 */
struct fold_powers {
    uint32_t low;
    uint32_t high;
};

static const struct fold_powers fold_256_bytes = {0xdcb17aa4, 0xb9e02b86};
static const struct fold_powers fold_64_bytes = {0x740eef02, 0x9e4addf8};
static const struct fold_powers fold_16_bytes = {0xf20c0dfe, 0x493c7d27};

TARGET_AVX512 static inline __m512i fold_512(__m512i vector, __m512i powers, __m512i onto)
{
    __m512i low = _mm512_clmulepi64_epi128(vector, powers, 0x00);
    __m512i high = _mm512_clmulepi64_epi128(vector, powers, 0x11);

    return _mm512_ternarylogic_epi64(low, high, onto, 0x96); /* a ^ b ^ c */
}

TARGET_AVX512 static inline __m128i fold_128(__m128i vector, __m128i powers, __m128i onto)
{
    __m128i low = _mm_clmulepi64_si128(vector, powers, 0x00);
    __m128i high = _mm_clmulepi64_si128(vector, powers, 0x11);

    return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

TARGET_AVX512 static inline __m128i powers_128(struct fold_powers powers)
{
    return _mm_set_epi64x((long long)powers.high, (long long)powers.low);
}

TARGET_AVX512 static inline __m512i powers_512(struct fold_powers powers)
{
    return _mm512_broadcast_i32x4(powers_128(powers));
}

/* The checksum state of the four lanes of `vector`, as if they were 64 bytes in memory. */
TARGET_AVX512 static inline uint64_t reduce(__m512i vector)
{
    __m128i powers = powers_128(fold_16_bytes);
    __m128i lane = _mm512_castsi512_si128(vector);
    uint64_t state;

    lane = fold_128(lane, powers, _mm512_extracti32x4_epi32(vector, 1));
    lane = fold_128(lane, powers, _mm512_extracti32x4_epi32(vector, 2));
    lane = fold_128(lane, powers, _mm512_extracti32x4_epi32(vector, 3));
    state = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(lane));
    return _mm_crc32_u64(state, (uint64_t)_mm_extract_epi64(lane, 1));
}

TARGET_AVX512 uint32_t hw_crc32c_avx512(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    __m512i powers = powers_512(fold_256_bytes);
    __m512i a, b, c, d;

    HW_ASSERT(size >= HW_CRC32C_AVX512_SIZE_MIN);
    a = _mm512_loadu_si512(p);
    b = _mm512_loadu_si512(p + 64);
    c = _mm512_loadu_si512(p + 128);
    d = _mm512_loadu_si512(p + 192);
    /* What the checksum was before stands in front of the first four bytes. */
    a = _mm512_xor_si512(a, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)(uint32_t)~crc)));
    for (p += 256, size -= 256; size >= 256; p += 256, size -= 256) {
        a = fold_512(a, powers, _mm512_loadu_si512(p));
        b = fold_512(b, powers, _mm512_loadu_si512(p + 64));
        c = fold_512(c, powers, _mm512_loadu_si512(p + 128));
        d = fold_512(d, powers, _mm512_loadu_si512(p + 192));
    }
    powers = powers_512(fold_64_bytes);
    a = fold_512(fold_512(fold_512(a, powers, b), powers, c), powers, d);
    for (; size >= 64; p += 64, size -= 64) {
        a = fold_512(a, powers, _mm512_loadu_si512(p));
    }
    return hw_crc32c_sse42(~(uint32_t)reduce(a), p, size);
}

#endif
