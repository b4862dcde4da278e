/* SPDX-License-Identifier: MIT */
/*
 * Is every way to compute CRC-32C the same function, and the right one? The definition, bit by bit,
 * checks the tables; the tables check the instructions.
 */
#include "core/base/crc32c.h"

#include "core/base/crc32c_x86.h"
#include "core/base/random.h"

#include <string.h>

#include "tests/support_test.h"

enum { BYTES = 40000 };

static uint8_t bytes[BYTES];

static uint32_t crc32c_by_bits(uint32_t crc, const uint8_t *p, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
        }
    }
    return ~crc;
}

/* The published values of RFC 3720, B.4, and the check value of the CRC catalogue. */
TEST_ALONE(published_values_come_out)
{
    static const uint8_t read_command[48] = {
        0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
    uint8_t block[32];

    assert_int_equal(hw_crc32c("123456789", 9), 0xe3069283);
    assert_int_equal(hw_crc32c_portable(0, "123456789", 9), 0xe3069283);
    memset(block, 0, sizeof block);
    assert_int_equal(hw_crc32c(block, sizeof block), 0x8a9136aa);
    memset(block, 0xff, sizeof block);
    assert_int_equal(hw_crc32c(block, sizeof block), 0x62a8ab43);
    for (uint8_t i = 0; i < sizeof block; i++) {
        block[i] = i;
    }
    assert_int_equal(hw_crc32c(block, sizeof block), 0x46dd794e);
    for (uint8_t i = 0; i < sizeof block; i++) {
        block[i] = (uint8_t)(31 - i);
    }
    assert_int_equal(hw_crc32c(block, sizeof block), 0x113fdb5c);
    assert_int_equal(hw_crc32c(read_command, sizeof read_command), 0xd9963a56);
}

TEST_ALONE(nothing_leaves_the_checksum_as_it_is)
{
    assert_int_equal(hw_crc32c(NULL, 0), 0);
    assert_int_equal(hw_crc32c_extend(0x12345678, NULL, 0), 0x12345678);
    assert_int_equal(hw_crc32c_portable(0x12345678, NULL, 0), 0x12345678);
}

/* Sizes up to 700 pass every entry of every table many times over. */
TEST_ALONE(the_tables_are_those_of_the_polynomial)
{
    for (size_t size = 0; size < 700; size++) {
        const uint8_t *p = bytes + size * 41 % 4096;
        uint32_t before = (uint32_t)(size * 2654435761u);

        assert_int_equal(hw_crc32c_portable(before, p, size), crc32c_by_bits(before, p, size));
    }
}

static void expect_same(const uint8_t *p, size_t size, uint32_t before)
{
    uint32_t expected = hw_crc32c_portable(before, p, size);

    assert_int_equal(hw_crc32c_extend(before, p, size), expected);
#ifdef HW_CRC32C_X86
    if (hw_crc32c_has_sse42()) {
        assert_int_equal(hw_crc32c_sse42(before, p, size), expected);
    }
    if (size >= HW_CRC32C_AVX512_SIZE_MIN && hw_crc32c_has_avx512()) {
        assert_int_equal(hw_crc32c_avx512(before, p, size), expected);
    }
#endif
}

TEST_ALONE(every_way_agrees_for_every_small_size)
{
    for (size_t size = 0; size < 2000; size++) {
        expect_same(bytes + size % 64, size, (uint32_t)(size * 2246822519u));
    }
}

TEST_ALONE(every_way_agrees_for_any_size_and_alignment)
{
    struct hw_random random;

    hw_random_init(&random, 1);
    for (int round = 0; round < 3000; round++) {
        size_t start = (size_t)hw_random_below(&random, 128);
        size_t size = (size_t)hw_random_below(&random, BYTES - start + 1);

        expect_same(bytes + start, size, (uint32_t)hw_random_next(&random));
    }
}

TEST_ALONE(pieces_give_the_checksum_of_the_whole)
{
    struct hw_random random;

    hw_random_init(&random, 2);
    for (int round = 0; round < 300; round++) {
        size_t size = (size_t)hw_random_below(&random, BYTES + 1);
        uint32_t crc = 0;
        size_t done = 0;

        while (done < size) {
            size_t piece = (size_t)hw_random_below(&random, size - done) + 1;

            crc = hw_crc32c_extend(crc, bytes + done, piece);
            done += piece;
        }
        assert_int_equal(crc, hw_crc32c(bytes, size));
    }
}

static int fill_bytes(void **state)
{
    struct hw_random random;

    (void)state;
    hw_random_init(&random, 0);
    for (size_t i = 0; i < BYTES; i++) {
        bytes[i] = (uint8_t)hw_random_next(&random);
    }
    return 0;
}

int main(void)
{
    return test_run_together(fill_bytes, NULL);
}
