/* SPDX-License-Identifier: MIT */
/* Are varints Kafka's, in both directions, and is what is not one refused? Source: ByteUtils. */
#include "core/base/varint.h"

#include "core/base/random.h"

#include <string.h>

#include "tests/support_test.h"

struct vector {
    int64_t value;
    size_t size;
    uint8_t bytes[HW_VARLONG_SIZE_MAX];
};

static const struct vector vectors_32[] = {
    {0, 1, {0x00}},
    {-1, 1, {0x01}},
    {1, 1, {0x02}},
    {-2, 1, {0x03}},
    {63, 1, {0x7e}},
    {-64, 1, {0x7f}},
    {64, 2, {0x80, 0x01}},
    {-65, 2, {0x81, 0x01}},
    {8191, 2, {0xfe, 0x7f}},
    {8192, 3, {0x80, 0x80, 0x01}},
    {INT32_MAX, 5, {0xfe, 0xff, 0xff, 0xff, 0x0f}},
    {INT32_MIN, 5, {0xff, 0xff, 0xff, 0xff, 0x0f}},
};

static const struct vector vectors_64[] = {
    {1700000000000, 6, {0x80, 0xa0, 0xab, 0xfe, 0xf9, 0x62}},
    {INT64_MAX, 10, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
    {INT64_MIN, 10, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}},
};

enum { VECTORS_32 = sizeof vectors_32 / sizeof *vectors_32 };
enum { VECTORS_64 = sizeof vectors_64 / sizeof *vectors_64 };

static void expect_varlong(const struct vector *vector)
{
    uint8_t out[HW_VARLONG_SIZE_MAX];
    int64_t value = 0;

    assert_int_equal(hw_varlong_size(vector->value), vector->size);
    assert_int_equal(hw_varlong_put(out, vector->value), vector->size);
    assert_memory_equal(out, vector->bytes, vector->size);
    assert_int_equal(hw_varlong_get(out, vector->size, &value), vector->size);
    assert_true(value == vector->value);
}

TEST_ALONE(varints_are_those_of_kafka)
{
    for (size_t i = 0; i < VECTORS_32; i++) {
        const struct vector *vector = &vectors_32[i];
        uint8_t out[HW_VARINT_SIZE_MAX];
        int32_t value = 0;

        assert_int_equal(hw_varlong_size((int32_t)vector->value), vector->size);
        assert_int_equal(hw_varlong_put(out, vector->value), vector->size);
        assert_memory_equal(out, vector->bytes, vector->size);
        assert_int_equal(hw_varint_get(out, vector->size, &value), vector->size);
        assert_int_equal(value, (int32_t)vector->value);
    }
}

/* The form does not depend on the width of the type. */
TEST_ALONE(varlongs_are_those_of_kafka)
{
    for (size_t i = 0; i < VECTORS_32; i++) {
        expect_varlong(&vectors_32[i]);
    }
    for (size_t i = 0; i < VECTORS_64; i++) {
        expect_varlong(&vectors_64[i]);
    }
}

TEST_ALONE(a_number_without_a_sign_has_no_zig_zag)
{
    static const uint8_t most[] = {0xff, 0xff, 0xff, 0xff, 0x0f};
    static const uint8_t overlong[] = {0x80, 0x00};
    static const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
    uint32_t value = 7;

    assert_int_equal(hw_unsigned_varint_get(most, sizeof most, &value), 5);
    assert_true(value == UINT32_MAX);
    assert_int_equal(hw_unsigned_varint_get(overlong, sizeof overlong, &value), 2);
    assert_int_equal(value, 0);
    assert_int_equal(hw_unsigned_varint_get(endless, sizeof endless, &value), 0);
    assert_int_equal(hw_unsigned_varint_get(most, 4, &value), 0);
}

TEST_ALONE(what_is_put_is_got)
{
    struct hw_random random;

    hw_random_init(&random, 3);
    for (int round = 0; round < 100000; round++) {
        uint8_t out[HW_VARLONG_SIZE_MAX];
        int64_t wide = (int64_t)(hw_random_next(&random) >> hw_random_below(&random, 64));
        int32_t narrow = (int32_t)wide;
        int64_t wide_back = 0;
        int32_t narrow_back = 0;
        size_t size = hw_varlong_put(out, wide);

        assert_int_equal(hw_varlong_size(wide), size);
        assert_int_equal(hw_varlong_get(out, sizeof out, &wide_back), size);
        assert_true(wide_back == wide);
        size = hw_varlong_put(out, narrow);
        assert_int_equal(hw_varlong_size(narrow), size);
        assert_int_equal(hw_varint_get(out, sizeof out, &narrow_back), size);
        assert_int_equal(narrow_back, narrow);
    }
}

TEST_ALONE(a_number_that_ends_too_early_is_refused)
{
    for (size_t i = 0; i < VECTORS_64; i++) {
        for (size_t available = 0; available < vectors_64[i].size; available++) {
            int64_t value = 77;

            assert_int_equal(hw_varlong_get(vectors_64[i].bytes, available, &value), 0);
            assert_true(value == 77);
        }
    }
    for (size_t available = 0; available < 5; available++) {
        int32_t value = 77;

        assert_int_equal(hw_varint_get(vectors_32[VECTORS_32 - 1].bytes, available, &value), 0);
        assert_int_equal(value, 77);
    }
}

TEST_ALONE(a_number_that_does_not_end_is_refused)
{
    uint8_t bytes[12];
    int32_t narrow = 77;
    int64_t wide = 77;

    memset(bytes, 0x80, sizeof bytes);
    bytes[11] = 0;
    assert_int_equal(hw_varint_get(bytes, sizeof bytes, &narrow), 0);
    assert_int_equal(hw_varlong_get(bytes, sizeof bytes, &wide), 0);
    assert_int_equal(narrow, 77);
    assert_true(wide == 77);
}

TEST_ALONE(an_overlong_number_is_accepted)
{
    static const uint8_t zero[] = {0x80, 0x80, 0x80, 0x80, 0x00};
    int32_t narrow = 77;
    int64_t wide = 77;

    assert_int_equal(hw_varint_get(zero, sizeof zero, &narrow), 5);
    assert_int_equal(narrow, 0);
    assert_int_equal(hw_varlong_get(zero, sizeof zero, &wide), 5);
    assert_true(wide == 0);
}

TEST_ALONE(surplus_bits_of_the_last_byte_are_dropped)
{
    static const uint8_t bytes_32[] = {0xff, 0xff, 0xff, 0xff, 0x7f};
    static const uint8_t bytes_64[] = {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    int32_t narrow = 77;
    int64_t wide = 77;

    assert_int_equal(hw_varint_get(bytes_32, sizeof bytes_32, &narrow), 5);
    assert_int_equal(narrow, INT32_MIN);
    assert_int_equal(hw_varlong_get(bytes_64, sizeof bytes_64, &wide), 10);
    assert_true(wide == INT64_MAX);
}

int main(void)
{
    return test_run(NULL, NULL);
}
