/* SPDX-License-Identifier: MIT */
/*
 * Does a key go to the partition to which Kafka's own producer sends it? The hashes are those of
 * Kafka's tests. Source: UtilsTest.testMurmur2, BuiltInPartitioner.partitionForKey.
 */
#include "core/base/random.h"
#include "core/cluster/partitioner.h"
#include "tests/support_test.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    int32_t hash;
} vectors[] = {
    {"21", -973932308},
    {"foobar", -790332482},
    {"a-little-bit-long-string", -985981536},
    {"a-little-bit-longer-string", -1486304829},
    {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
    {"abc", 479470107},
};

TEST_ALONE(hashes_are_those_of_kafka)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        uint32_t hash = hw_murmur2((const uint8_t *)vectors[i].text, strlen(vectors[i].text));

        assert_int_equal(hash, (uint32_t)vectors[i].hash);
    }
}

/* Kafka clears the sign bit; it does not take the absolute value. */
TEST_ALONE(the_partition_is_the_hash_without_its_sign_bit_modulo_the_partitions)
{
    static const int32_t counts[] = {1, 2, 3, 7, 12, 100000, INT32_MAX};

    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
            int32_t size = (int32_t)strlen(vectors[i].text);
            int64_t positive = vectors[i].hash < 0 ? (int64_t)vectors[i].hash + (INT64_C(1) << 31)
                                                   : vectors[i].hash;

            assert_int_equal(
                hw_partition_for_key((const uint8_t *)vectors[i].text, size, counts[c]),
                positive % counts[c]);
        }
    }
    /* 1173551340 mod 3: worked out by hand, for "21". */
    assert_int_equal(hw_partition_for_key((const uint8_t *)"21", 2, 3), 0);
    assert_int_equal(hw_partition_for_key((const uint8_t *)"21", 2, 7), 1173551340 % 7);
}

/* 275646681 is what the algorithm leaves of the seed alone. */
TEST_ALONE(an_empty_key_is_a_key)
{
    assert_int_equal(hw_murmur2(NULL, 0), 275646681);
    assert_int_equal(hw_partition_for_key((const uint8_t *)"", 0, 1000), 681);
}

/* Utils.murmur2 line by line, with Java's signed bytes and its switch that falls through. */
static int32_t kafkas_murmur2(const int8_t *data, int length)
{
    const uint32_t m = 0x5bd1e995;
    uint32_t h = 0x9747b28cu ^ (uint32_t)length;

    for (int i = 0; i < length / 4; i++) {
        const int i4 = i * 4;
        uint32_t k = (uint32_t)(data[i4 + 0] & 0xff) + ((uint32_t)(data[i4 + 1] & 0xff) << 8) +
                     ((uint32_t)(data[i4 + 2] & 0xff) << 16) +
                     ((uint32_t)(data[i4 + 3] & 0xff) << 24);

        k *= m;
        k ^= k >> 24;
        k *= m;
        h *= m;
        h ^= k;
    }
    if (length % 4 >= 3) {
        h ^= (uint32_t)(data[(length & ~3) + 2] & 0xff) << 16;
    }
    if (length % 4 >= 2) {
        h ^= (uint32_t)(data[(length & ~3) + 1] & 0xff) << 8;
    }
    if (length % 4 >= 1) {
        h ^= (uint32_t)(data[length & ~3] & 0xff);
        h *= m;
    }
    h ^= h >> 13;
    h *= m;
    h ^= h >> 15;
    return (int32_t)h;
}

/* Each key in a block of its own, so that a sanitizer sees a read behind it. */
TEST_ALONE(keys_of_all_bytes_and_lengths_agree_with_kafkas_code)
{
    struct hw_random random;

    hw_random_init(&random, 5);
    for (int size = 1; size <= 64; size++) {
        for (int round = 0; round < 20; round++) {
            int8_t *key = malloc((size_t)size);

            assert_non_null(key);
            for (int i = 0; i < size; i++) {
                key[i] = (int8_t)(hw_random_below(&random, 256) - 128);
            }
            assert_int_equal((int32_t)hw_murmur2((const uint8_t *)key, (size_t)size),
                             kafkas_murmur2(key, size));
            free(key);
        }
    }
}

int main(void)
{
    return test_run(NULL, NULL);
}
