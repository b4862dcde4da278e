/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C by tables, eight bytes at a time, and the choice of something faster.
 *
 * A CRC is linear: the entry for a byte is the exclusive or of the entries of its bits. So the
 * tables are written as 64 numbers, from which the compiler makes the 2048. The numbers are what a
 * single one bit becomes when it is followed by 1, 2, 3, ... zero bits; x^32 is the first.
 */
#include "core/base/crc32c.h"

#include "core/base/crc32c_x86.h"

/* The entry for the byte `i`, given those of its bits from the highest to the lowest. */
#define BIT(i, n, entry) ((((i) >> (n)) & 1) != 0 ? (entry) : 0u)
#define ENTRY(i, b7, b6, b5, b4, b3, b2, b1, b0)                                                   \
    BIT(i, 7, b7) ^ BIT(i, 6, b6) ^ BIT(i, 5, b5) ^ BIT(i, 4, b4) ^ BIT(i, 3, b3) ^                \
        BIT(i, 2, b2) ^ BIT(i, 1, b1) ^ BIT(i, 0, b0)
#define ENTRIES_4(i, ...)                                                                          \
    ENTRY(i, __VA_ARGS__), ENTRY(i + 1, __VA_ARGS__), ENTRY(i + 2, __VA_ARGS__),                   \
        ENTRY(i + 3, __VA_ARGS__)
#define ENTRIES_16(i, ...)                                                                         \
    ENTRIES_4(i, __VA_ARGS__), ENTRIES_4(i + 4, __VA_ARGS__), ENTRIES_4(i + 8, __VA_ARGS__),       \
        ENTRIES_4(i + 12, __VA_ARGS__)
#define ENTRIES_64(i, ...)                                                                         \
    ENTRIES_16(i, __VA_ARGS__), ENTRIES_16(i + 16, __VA_ARGS__), ENTRIES_16(i + 32, __VA_ARGS__),  \
        ENTRIES_16(i + 48, __VA_ARGS__)
#define TABLE(...)                                                                                 \
    {                                                                                              \
        ENTRIES_64(0, __VA_ARGS__), ENTRIES_64(64, __VA_ARGS__), ENTRIES_64(128, __VA_ARGS__),     \
            ENTRIES_64(192, __VA_ARGS__)                                                           \
    }

/* tables[k][b]: what the byte b becomes when k more bytes follow it. */
static const uint32_t tables[8][256] = {
    TABLE(0x82f63b78, 0x417b1dbc, 0x20bd8ede, 0x105ec76f, 0x8ad958cf, 0xc79a971f, 0xe13b70f7,
          0xf26b8303),
    TABLE(0xfbc3faf9, 0xff17c604, 0x7f8be302, 0x3fc5f181, 0x9d14c3b8, 0x4e8a61dc, 0x274530ee,
          0x13a29877),
    TABLE(0x8b277743, 0xc76580d9, 0xe144fb14, 0x70a27d8a, 0x38513ec5, 0x9edea41a, 0x4f6f520d,
          0xa541927e),
    TABLE(0x52a0c93f, 0xaba65fe7, 0xd725148b, 0xe964b13d, 0xf64463e6, 0x7b2231f3, 0xbf672381,
          0xdd45aab8),
    TABLE(0x6ea2d55c, 0x37516aae, 0x1ba8b557, 0x8f2261d3, 0xc5670b91, 0xe045beb0, 0x7022df58,
          0x38116fac),
    TABLE(0x1c08b7d6, 0x0e045beb, 0x85f4168d, 0xc00c303e, 0x6006181f, 0xb2f53777, 0xdb8ca0c3,
          0xef306b19),
    TABLE(0xf56e0ef4, 0x7ab7077a, 0x3d5b83bd, 0x9c5bfaa6, 0x4e2dfd53, 0xa5e0c5d1, 0xd0065990,
          0x68032cc8),
    TABLE(0x34019664, 0x1a00cb32, 0x0d006599, 0x847609b4, 0x423b04da, 0x211d826d, 0x9278fa4e,
          0x493c7d27),
};

uint32_t hw_crc32c(const void *bytes, size_t size)
{
    return hw_crc32c_extend(0, bytes, size);
}

uint32_t hw_crc32c_extend(uint32_t crc, const void *bytes, size_t size)
{
#ifdef HW_CRC32C_X86
    if (size >= HW_CRC32C_AVX512_SIZE_MIN && hw_crc32c_has_avx512()) {
        return hw_crc32c_avx512(crc, bytes, size);
    }
    if (hw_crc32c_has_sse42()) {
        return hw_crc32c_sse42(crc, bytes, size);
    }
#endif
    return hw_crc32c_portable(crc, bytes, size);
}

/* Kafka's integers are big-endian; the CRC takes its bytes from the low end. */
static uint32_t get_u32_little(const uint8_t *p)
{
    return (uint32_t)p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16) | ((uint32_t)p[3] << 24);
}

uint32_t hw_crc32c_portable(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;

    crc = ~crc;
    for (; size >= 8; p += 8, size -= 8) {
        uint32_t low = crc ^ get_u32_little(p);
        uint32_t high = get_u32_little(p + 4);

        crc = tables[7][low & 0xff] ^ tables[6][(low >> 8) & 0xff] ^ tables[5][(low >> 16) & 0xff] ^
              tables[4][low >> 24] ^ tables[3][high & 0xff] ^ tables[2][(high >> 8) & 0xff] ^
              tables[1][(high >> 16) & 0xff] ^ tables[0][high >> 24];
    }
    for (; size > 0; p++, size--) {
        crc = (crc >> 8) ^ tables[0][(crc ^ *p) & 0xff];
    }
    return ~crc;
}
