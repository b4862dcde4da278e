/* SPDX-License-Identifier: MIT */
/* Are records of Kafka's internal topics read as Kafka reads them, and bytes that are none told? */
#include "core/decode/internal_record.h"
#include "tests/support_heap.h"
#include "tests/support_test.h"
#include "tests/support_vectors.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    struct test_heap heap;
    struct hw_internal_record internal;
    struct hw_buffer json;
    struct hw_error error;
};

static int setup(void **state)
{
    static struct fixture fixture;

    test_heap_init(&fixture.heap, -1);
    hw_internal_record_init(&fixture.internal, &fixture.heap.allocator);
    hw_buffer_init(&fixture.json, &fixture.heap.allocator);
    *state = &fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *t = *state;

    hw_internal_record_release(&t->internal);
    hw_buffer_release(&t->json);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

/* The record as JSON, valid until the next call. */
static const char *json_of(struct fixture *t, enum hw_message_set set, bool is_control,
                           const struct hw_record *record, bool shows_secrets)
{
    t->json.size = 0;
    assert_int_equal(hw_internal_record_read(&t->internal, set, is_control, record, &t->error),
                     HW_OK);
    assert_int_equal(hw_internal_record_append(&t->internal, shows_secrets, &t->json, &t->error),
                     HW_OK);
    assert_int_equal(hw_buffer_append(&t->json, "", 1, &t->error), HW_OK);
    return (const char *)t->json.bytes;
}

/* All records of the file, as text: names, order and numbers are Kafka's own. */
static int expect_file(struct fixture *t, const char *name)
{
    struct test_vector vector;
    int count = 0;

    test_vectors_open(&vector, name);
    while (test_vectors_next(&vector)) {
        const char *json = json_of(t, vector.set, vector.is_control, &vector.record, true);

        if (strcmp(json, vector.fields[6]) != 0) {
            fail_msg("%s.tsv:%d\n%s\nexpected\n%s", name, vector.number, json, vector.fields[6]);
        }
        count++;
    }
    return count;
}

/* Row: I001 */
TEST(records_of_real_brokers_are_read_as_kafka_reads_them, void *fixture)
{
    assert_int_equal(expect_file(fixture, "coordinators-4.4"), 325);
    assert_int_equal(expect_file(fixture, "metadata-4.4"), 314);
    assert_int_equal(expect_file(fixture, "snapshot-759-4.4"), 77);
    assert_int_equal(expect_file(fixture, "records-3.9"), 40);
}

/* Row: I001 */
TEST(every_version_of_every_type_is_read, void *fixture)
{
    assert_int_equal(expect_file(fixture, "generated"), 239);
}

/* Row: I002 */
TEST(a_value_that_is_cut_is_bytes_and_names_the_field, struct fixture *t)
{
    struct test_vector vector;

    test_vectors_open(&vector, "generated");
    while (test_vectors_next(&vector)) {
        const uint8_t *whole = vector.record.value;
        int32_t size = vector.record.value_size;

        for (int32_t kept = 0; kept < size; kept++) {
            uint8_t *cut = malloc(kept == 0 ? 1 : (size_t)kept);

            assert_non_null(cut);
            memcpy(cut, whole, (size_t)kept);
            vector.record.value = cut;
            vector.record.value_size = kept;
            (void)json_of(t, vector.set, vector.is_control, &vector.record, true);
            if (t->internal.has_value || t->internal.error[0] == '\0') {
                fail_msg("generated.tsv:%d: %d bytes of %d are taken for %s", vector.number,
                         (int)kept, (int)size, (const char *)t->json.bytes);
            }
            free(cut);
        }
        vector.record.value = whole;
        vector.record.value_size = size;
    }
}

/* Row: I003 */
TEST(a_byte_that_is_changed_costs_no_more_memory_than_the_bytes_allow, struct fixture *t)
{
    struct test_vector vector;

    test_vectors_open(&vector, "generated");
    while (test_vectors_next(&vector)) {
        uint8_t *bytes = (uint8_t *)(uintptr_t)vector.record.value;

        for (int32_t i = 0; i < vector.record.value_size; i++) {
            static const uint8_t changes[] = {0x01, 0x80, 0xff};

            for (size_t k = 0; k < sizeof changes; k++) {
                size_t most = 4096 + 100 * (size_t)vector.record.value_size;

                hw_internal_record_release(&t->internal);
                bytes[i] ^= changes[k];
                (void)json_of(t, vector.set, vector.is_control, &vector.record, true);
                bytes[i] ^= changes[k];
                assert_true(t->internal.value.capacity * sizeof *t->internal.value.values < most);
            }
        }
    }
}

/* What hostile.tsv is to become: where Kafka takes it, Kafka's JSON with a word on what is odd;
 * where Kafka refuses it, a word. */
TEST(bytes_that_mean_harm_are_told, struct fixture *t)
{
    /* Of those that Kafka refuses, this reader can read the value; the case begins so. */
    static const char *const tolerated[] = {"B7", "B8", "B11", "M6", "M15"};
    struct test_vector vector;

    test_vectors_open(&vector, "hostile");
    while (test_vectors_next(&vector)) {
        const char *expected = vector.fields[6];
        const char *json = json_of(t, vector.set, false, &vector.record, true);
        bool is_tolerated = false;

        if (strncmp(expected, "OK ", 3) == 0) {
            size_t size = strlen(expected + 3) - 1; /* Without the brace. */

            if (strncmp(json, expected + 3, size) != 0 ||
                (strcmp(json + size, "}") != 0 && strncmp(json + size, ",\"error\":", 9) != 0)) {
                fail_msg("hostile.tsv:%d\n%s\nexpected\n%s", vector.number, json, expected);
            }
            continue;
        }
        for (size_t i = 0; i < sizeof tolerated / sizeof tolerated[0]; i++) {
            size_t size = strlen(tolerated[i]);

            is_tolerated = is_tolerated || (strncmp(vector.line, tolerated[i], size) == 0 &&
                                            vector.line[size] == ' ');
        }
        if (t->internal.error[0] == '\0' ||
            (vector.record.value_size >= 0 && t->internal.has_value) != is_tolerated) {
            fail_msg("hostile.tsv:%d\n%s\nexpected\n%s", vector.number, json, expected);
        }
    }
}

struct example {
    enum hw_message_set set;
    bool is_control;
    const char *key; /* Hex; NULL: null. */
    const char *value;
    const char *expected;
};

static void expect_examples(struct fixture *t, const struct example *examples, size_t count,
                            bool shows_secrets)
{
    for (size_t i = 0; i < count; i++) {
        const struct example *example = &examples[i];
        uint8_t key[256];
        uint8_t value[256];
        struct hw_record record = {.key = key, .value = value};

        record.key_size = test_hex(example->key, key);
        record.value_size = test_hex(example->value, value);
        assert_string_equal(json_of(t, example->set, example->is_control, &record, shows_secrets),
                            example->expected);
    }
}

#define COMMIT_KEY                                                                                 \
    "00010001670001740000"                                                                         \
    "0000"
#define COMMIT_JSON "\"key\":{\"group\":\"g\",\"topic\":\"t\",\"partition\":0}"
#define TOPIC_ID    "00112233445566778899AABBCCDDEEFF"

/* Row: I007, I008, I009, I010, I011 */
TEST(what_is_not_known_is_told_with_its_number, void *fixture)
{
    static const struct example examples[] = {
        {HW_MESSAGES_OFFSETS, false, COMMIT_KEY,
         "0004"
         "0000000000000005"
         "00000000"
         "01"
         "0000000000000007"
         "01"
         "05"
         "02"
         "ABCD",
         "{\"type\":1,\"name\":\"OffsetCommit\",\"version\":4," COMMIT_JSON
         ",\"value\":{\"offset\":5,\"leaderEpoch\":0,\"metadata\":\"\",\"commitTimestamp\":7}}"},
        {HW_MESSAGES_OFFSETS, false, COMMIT_KEY,
         "0005"
         "0000000000000005"
         "00000000"
         "01"
         "0000000000000007"
         "01"
         "05"
         "02"
         "ABCD",
         "{\"type\":1,\"name\":\"OffsetCommit\",\"version\":5," COMMIT_JSON
         ",\"value\":{\"offset\":5,\"leaderEpoch\":0,\"metadata\":\"\",\"commitTimestamp\":7},"
         "\"error\":\"version 5 of OffsetCommit is unknown: read as the newest that is known\"}"},
        {HW_MESSAGES_OFFSETS, false, COMMIT_KEY,
         "0005"
         "0000000000000005"
         "00000000"
         "01"
         "0000000000000007"
         "00"
         "05",
         "{\"type\":1,\"name\":\"OffsetCommit\",\"version\":5," COMMIT_JSON
         ",\"value\":{\"hex\":\"0005000000000000000500000000010000000000000007"
         "0005\"},"
         "\"error\":\"version 5 of OffsetCommit is unknown\"}"},
        {HW_MESSAGES_OFFSETS, false,
         "00180001"
         "67",
         "0000",
         "{\"type\":24,\"key\":{\"hex\":\"0018000167\"},\"value\":{\"hex\":\"0000\"},"
         "\"error\":\"type 24 is unknown\"}"},
        {HW_MESSAGES_METADATA, false, NULL, "01060000",
         "{\"type\":6,\"value\":{\"hex\":\"01060000\"},\"error\":\"type 6 is unknown\"}"},
        {HW_MESSAGES_METADATA, false, NULL, "00020000",
         "{\"type\":null,\"value\":{\"hex\":\"00020000\"},"
         "\"error\":\"frame version 0: written by the preview in Kafka 2.8\"}"},
        {HW_MESSAGES_OFFSETS, true, "00000001", "000000000000",
         "{\"type\":1,\"name\":\"COMMIT\",\"version\":0,\"value\":{\"coordinatorEpoch\":0}}"},
        {HW_MESSAGES_OFFSETS, true, "00000009", "000000000000",
         "{\"type\":9,\"value\":{\"hex\":\"000000000000\"},"
         "\"error\":\"control type 9 is unknown\"}"},
        /* Not with the batch in sight, a marker is told by its key. */
        {HW_MESSAGES_OFFSETS, false, "00000001", "000000000000",
         "{\"type\":0,\"name\":\"LegacyOffsetCommit\",\"version\":0,"
         "\"key\":{\"hex\":\"00000001\"},\"value\":{\"hex\":\"000000000000\"},"
         "\"error\":\"key: group at byte 2: 1 bytes, of which 0 are there\"}"},
    };

    expect_examples(fixture, examples, sizeof examples / sizeof examples[0], true);
    assert_true(hw_internal_record_is_control(HW_MESSAGES_OFFSETS, (const uint8_t *)"\0\0\0\1", 4));
    assert_false(
        hw_internal_record_is_control(HW_MESSAGES_TRANSACTIONS, (const uint8_t *)"\0\0\0\0", 4));
}

TEST(what_kafka_would_refuse_is_read_and_told, void *fixture)
{
    static const struct example examples[] = {
        {HW_MESSAGES_OFFSETS, false, COMMIT_KEY,
         "0003"
         "0000000000000005"
         "00000000"
         "0000"
         "0000000000000007"
         "FF00",
         "{\"type\":1,\"name\":\"OffsetCommit\",\"version\":3," COMMIT_JSON
         ",\"value\":{\"offset\":5,\"leaderEpoch\":0,\"metadata\":\"\",\"commitTimestamp\":7},"
         "\"trailing\":\"FF00\",\"error\":\"value: 2 bytes behind its last field\"}"},
        {HW_MESSAGES_METADATA, false, NULL,
         "010500"
         "00000000" TOPIC_ID "01"
         "06"
         "05"
         "0200000001",
         "{\"type\":5,\"name\":\"PARTITION_CHANGE_RECORD\",\"version\":0,\"value\":{"
         "\"partitionId\":"
         "0,\"topicId\":\"ABEiM0RVZneImaq7zN3u_w\"},\"error\":\"value: tag 6, "
         "eligibleLeaderReplicas, is none of version 0: left out\"}"},
    };

    expect_examples(fixture, examples, sizeof examples / sizeof examples[0], true);
}

#define SCRAM                                                                                      \
    "010B00"                                                                                       \
    "0261"                                                                                         \
    "01"                                                                                           \
    "0341"                                                                                         \
    "42"                                                                                           \
    "0343"                                                                                         \
    "44"                                                                                           \
    "0345"                                                                                         \
    "46"                                                                                           \
    "00001000"                                                                                     \
    "00"

TEST(secrets_are_shown_to_those_only_who_ask_for_them, void *fixture)
{
    static const struct example hidden[] = {
        {HW_MESSAGES_METADATA, false, NULL, SCRAM,
         "{\"type\":11,\"name\":\"USER_SCRAM_CREDENTIAL_RECORD\",\"version\":0,\"value\":{\"name\":"
         "\"a\",\"mechanism\":1,\"salt\":\"***\",\"storedKey\":\"***\",\"serverKey\":\"***\","
         "\"iterations\":4096}}"},
        /* Cut, unknown or with bytes behind: what is no field any more may be the secret, too. */
        {HW_MESSAGES_METADATA, false, NULL,
         "010B00"
         "0261"
         "01"
         "0341",
         "{\"type\":11,\"name\":\"USER_SCRAM_CREDENTIAL_RECORD\",\"version\":0,\"value\":{\"hex\":"
         "\"***\"},\"error\":\"value: salt at byte 4: 2 bytes, of which 1 are there\"}"},
        {HW_MESSAGES_METADATA, false, NULL, SCRAM "41",
         "{\"type\":11,\"name\":\"USER_SCRAM_CREDENTIAL_RECORD\",\"version\":0,\"value\":{\"name\":"
         "\"a\",\"mechanism\":1,\"salt\":\"***\",\"storedKey\":\"***\",\"serverKey\":\"***\","
         "\"iterations\":4096},\"trailing\":\"***\",\"error\":\"value: 1 bytes behind its last "
         "field\"}"},
        {HW_MESSAGES_METADATA, false, NULL,
         "010400"
         "04"
         "01"
         "04706173"
         "0278"
         "00",
         "{\"type\":4,\"name\":\"CONFIG_RECORD\",\"version\":0,\"value\":{\"resourceType\":4,"
         "\"resourceName\":\"\",\"name\":\"pas\",\"value\":\"x\"}}"},
        {HW_MESSAGES_METADATA, false, NULL,
         "010400040111"
         "73736C2E6B65792E70617373776F7264"
         "027800",
         "{\"type\":4,\"name\":\"CONFIG_RECORD\",\"version\":0,\"value\":{\"resourceType\":4,"
         "\"resourceName\":\"\",\"name\":\"ssl.key.password\",\"value\":\"***\"}}"},
    };
    static const struct example shown[] = {
        {HW_MESSAGES_METADATA, false, NULL, SCRAM,
         "{\"type\":11,\"name\":\"USER_SCRAM_CREDENTIAL_RECORD\",\"version\":0,\"value\":{\"name\":"
         "\"a\",\"mechanism\":1,\"salt\":\"QUI=\",\"storedKey\":\"Q0Q=\",\"serverKey\":\"RUY=\","
         "\"iterations\":4096}}"},
    };

    expect_examples(fixture, hidden, sizeof hidden / sizeof hidden[0], false);
    expect_examples(fixture, shown, sizeof shown / sizeof shown[0], true);
    assert_true(hw_config_is_secret((const uint8_t *)"listener.name.a.SSL.Key.Password", 32));
    assert_true(hw_config_is_secret((const uint8_t *)"sasl.jaas.config", 16));
    assert_false(hw_config_is_secret((const uint8_t *)"min.insync.replicas", 19));
    assert_false(hw_config_is_secret((const uint8_t *)"", 0));
}

TEST_ALONE(memory_that_runs_out_is_told)
{
    struct test_vector vector;

    test_vectors_open(&vector, "generated");
    while (test_vectors_next(&vector)) {
        for (int fail_at = 0;; fail_at++) {
            struct hw_internal_record internal;
            struct hw_buffer json;
            struct test_heap heap;
            struct hw_error error;
            enum hw_status status;

            test_heap_init(&heap, fail_at);
            hw_internal_record_init(&internal, &heap.allocator);
            hw_buffer_init(&json, &heap.allocator);
            status = hw_internal_record_read(&internal, vector.set, vector.is_control,
                                             &vector.record, &error);
            if (status == HW_OK) {
                status = hw_internal_record_append(&internal, true, &json, &error);
            }
            hw_internal_record_release(&internal);
            hw_buffer_release(&json);
            assert_int_equal(heap.bytes_in_use, 0);
            assert_int_equal(status, test_heap_has_failed(&heap) ? HW_NO_MEMORY : HW_OK);
            if (!test_heap_has_failed(&heap)) {
                break;
            }
        }
    }
}

int main(void)
{
    return test_run(setup, teardown);
}
