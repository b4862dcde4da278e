/* SPDX-License-Identifier: MIT */
/* Random numbers, UUIDs, broker lists and maps of keys: small values that the rest of the core passes
 * around. */
#include "core/base/broker_list.h"
#include "core/base/byte_map.h"
#include "core/base/random.h"
#include "core/base/uuid.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

/* The reference values of SplitMix64, of S. Vigna's C source. */
TEST_ALONE(a_seed_gives_the_published_sequence)
{
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821)};
    struct hw_random random;

    hw_random_init(&random, 1234567);
    for (size_t i = 0; i < 5; i++) {
        assert_true(hw_random_next(&random) == expected[i]);
    }
}

TEST_ALONE(a_copy_repeats_the_sequence)
{
    struct hw_random random;
    struct hw_random copy;

    hw_random_init(&random, 5);
    (void)hw_random_next(&random);
    copy = random;
    for (int i = 0; i < 10; i++) {
        assert_true(hw_random_next(&random) == hw_random_next(&copy));
    }
}

TEST_ALONE(numbers_below_a_bound_are_spread_evenly)
{
    struct hw_random random;
    int counts[7] = {0};

    hw_random_init(&random, 6);
    for (int i = 0; i < 70000; i++) {
        uint64_t number = hw_random_below(&random, 7);

        assert_in_range(number, 0, 6);
        counts[number]++;
    }
    for (size_t i = 0; i < 7; i++) {
        assert_in_range(counts[i], 9600, 10400);
    }
    for (int i = 0; i < 100; i++) {
        assert_int_equal(hw_random_below(&random, 1), 0);
    }
}

/* With a plain remainder the lower third of the numbers would come up half of the time. */
TEST_ALONE(a_bound_that_does_not_divide_the_range_is_no_exception)
{
    const uint64_t bound = UINT64_C(3) << 62;
    struct hw_random random;
    int low = 0;

    hw_random_init(&random, 7);
    for (int i = 0; i < 30000; i++) {
        uint64_t number = hw_random_below(&random, bound);

        assert_true(number < bound);
        low += number < UINT64_C(1) << 62;
    }
    assert_in_range(low, 9600, 10400);
}

TEST_ALONE(a_random_uuid_is_a_version_4_one_without_a_leading_dash)
{
    struct hw_random random;
    struct hw_uuid before = {{0}};

    hw_random_init(&random, 8);
    for (int i = 0; i < 2000; i++) {
        struct hw_uuid uuid = hw_random_uuid(&random);
        char text[HW_UUID_TEXT_SIZE];

        hw_uuid_format(&uuid, text);
        assert_int_equal(uuid.bytes[6] >> 4, 4);
        assert_int_equal(uuid.bytes[8] >> 6, 2);
        assert_int_not_equal(text[0], '-');
        assert_false(hw_uuid_equal(&uuid, &before));
        before = uuid;
    }
}

struct uuid_case {
    const char *text;
    uint8_t bytes[16];
};

static const struct uuid_case uuid_cases[] = {
    {"AAAAAAAAAAAAAAAAAAAAAA", {0}},
    {"AAAAAAAAAAAAAAAAAAAAAQ", {[15] = 1}}, /* Uuid.METADATA_TOPIC_ID */
    {"ASNFZ4mrze-BI0VniavN7w",
     {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x81, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd,
      0xef}},
    {"_____________________w",
     {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
      0xff}},
};

TEST_ALONE(a_uuid_is_written_and_read_as_kafka_does)
{
    for (size_t i = 0; i < sizeof uuid_cases / sizeof *uuid_cases; i++) {
        const struct uuid_case *c = &uuid_cases[i];
        struct hw_uuid uuid;
        struct hw_uuid parsed;
        char text[HW_UUID_TEXT_SIZE];
        char padded[HW_UUID_TEXT_SIZE + 2];

        memcpy(uuid.bytes, c->bytes, sizeof uuid.bytes);
        hw_uuid_format(&uuid, text);
        assert_string_equal(text, c->text);
        memset(&parsed, 0x55, sizeof parsed);
        assert_true(hw_uuid_parse(text, 22, &parsed));
        assert_true(hw_uuid_equal(&parsed, &uuid));
        memcpy(padded, text, 22);
        memcpy(padded + 22, "==", 3);
        memset(&parsed, 0x55, sizeof parsed);
        assert_true(hw_uuid_parse(padded, 24, &parsed));
        assert_true(hw_uuid_equal(&parsed, &uuid));
        assert_int_equal(hw_uuid_is_zero(&uuid), i == 0);
    }
}

/* java.util.Base64 does not look at the four bits that stand for no byte, so Kafka does not. */
TEST_ALONE(surplus_bits_of_the_last_digit_do_not_matter)
{
    struct hw_uuid uuid;

    assert_true(hw_uuid_parse("AAAAAAAAAAAAAAAAAAAAAf", 22, &uuid));
    assert_int_equal(uuid.bytes[15], 1);
}

TEST_ALONE(what_is_no_uuid_is_refused)
{
    static const char *const texts[] = {
        "",
        "AAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAAAA",
        "AAAAAAAAAAAAAAAAAAAAAA=",
        "AAAAAAAAAAAAAAAAAAAAA===",
        "AAAAAAAAAAAAAAAAAAAAAA==A",
        "AAAAAAAAAA+AAAAAAAAAAA",
        "AAAAAAAAAA/AAAAAAAAAAA",
        "AAAAAAAAAA AAAAAAAAAAA",
        "=AAAAAAAAAAAAAAAAAAAAA",
    };
    struct hw_uuid uuid;
    struct hw_uuid before;

    memset(&uuid, 0x55, sizeof uuid);
    before = uuid;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_false(hw_uuid_parse(texts[i], strlen(texts[i]), &uuid));
    }
    /* A NUL inside is a character like any other that is no digit. */
    assert_false(hw_uuid_parse("AAAAAAAAAA\0AAAAAAAAAAA", 22, &uuid));
    assert_true(hw_uuid_equal(&uuid, &before));
}

TEST_ALONE(a_broker_list_is_a_set_that_keeps_its_order)
{
    struct hw_broker_list list = {.count = 0};

    hw_broker_list_add(&list, 3);
    hw_broker_list_add(&list, 1);
    hw_broker_list_add(&list, 2);
    hw_broker_list_add(&list, 1);
    assert_int_equal(list.count, 3);
    assert_true(hw_broker_list_contains(&list, 2));
    assert_false(hw_broker_list_contains(&list, 4));
    assert_true(hw_broker_list_remove(&list, 3));
    assert_false(hw_broker_list_remove(&list, 3));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.ids[0], 1);
    assert_int_equal(list.ids[1], 2);
}

TEST_ALONE(broker_lists_are_compared_as_sets_or_in_order)
{
    const struct hw_broker_list a = {3, {1, 2, 3}};
    const struct hw_broker_list b = {3, {3, 2, 1}};
    const struct hw_broker_list part = {2, {3, 1}};
    const struct hw_broker_list none = {.count = 0};
    struct hw_broker_list rest = hw_broker_list_minus(&b, &part);

    assert_true(hw_broker_list_equal(&a, &a));
    assert_false(hw_broker_list_equal(&a, &b));
    assert_false(hw_broker_list_equal(&a, &part));
    assert_true(hw_broker_list_is_subset(&part, &a));
    assert_false(hw_broker_list_is_subset(&a, &part));
    assert_true(hw_broker_list_is_subset(&a, &b));
    assert_true(hw_broker_list_is_subset(&none, &none));
    assert_int_equal(rest.count, 1);
    assert_int_equal(rest.ids[0], 2);
    rest = hw_broker_list_minus(&b, &none);
    assert_true(hw_broker_list_equal(&rest, &b));
}

TEST_ALONE(a_broker_list_is_printed_and_cut_to_fit)
{
    struct hw_broker_list list = {3, {1, 20, 300}};
    const struct hw_broker_list none = {.count = 0};
    char text[HW_BROKER_LIST_TEXT_SIZE];

    assert_string_equal(hw_broker_list_format(&list, text, sizeof text), "[1,20,300]");
    assert_string_equal(hw_broker_list_format(&none, text, sizeof text), "[]");
    for (size_t size = 1; size <= 11; size++) {
        char whole[] = "[1,20,300]";

        memset(text, 'x', sizeof text);
        whole[size - 1] = '\0';
        assert_string_equal(hw_broker_list_format(&list, text, size), whole);
        for (size_t behind = size; behind < sizeof text; behind++) {
            assert_int_equal(text[behind], 'x');
        }
    }
    list.count = 0;
    for (int32_t i = 0; i < HW_REPLICAS_MAX; i++) {
        hw_broker_list_add(&list, INT32_MIN + i);
    }
    (void)hw_broker_list_format(&list, text, sizeof text);
    assert_string_equal(text + strlen(text) - 13, ",-2147483633]");
}

TEST_ALONE(a_key_keeps_its_number)
{
    struct hw_byte_map map;
    struct hw_error error;
    size_t number;
    size_t size;

    hw_byte_map_init(&map, &hw_allocator_libc);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 1000; i++) {
            char key[16];

            (void)snprintf(key, sizeof key, "key %zu", i);
            assert_int_equal(hw_byte_map_add(&map, key, strlen(key), &number, &error), HW_OK);
            assert_int_equal(number, i);
        }
    }
    assert_int_equal(map.count, 1000);
    assert_memory_equal(hw_byte_map_key(&map, 999, &size), "key 999", 7);
    assert_int_equal(size, 7);
    hw_byte_map_release(&map);
}

int main(void)
{
    return test_run(NULL, NULL);
}
