/* SPDX-License-Identifier: MIT */
/*
 * Is every value that is out of its range refused in words that help, and what is allowed kept in
 * one form? Source of the ranges: LogConfig, ServerConfigs, ReplicationConfigs; of the forms:
 * ConfigDef.parseType.
 */
#include "core/record/codec.h"
#include "tests/support_config.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void expect_refused(struct test_config *t, const char *name, const char *value,
                           const char *message, int line)
{
    const char *before = test_config_value(t, name);
    enum hw_status status = hw_config_set(&t->cluster, test_config_find(t, name), value, &t->error);

    if (status != HW_REFUSED || t->error.kafka_error != HW_KAFKA_INVALID_CONFIG ||
        (message != NULL && strcmp(t->error.message, message) != 0)) {
        print_error("%s = '%s': %s '%s', expected '%s'\n", name, value, hw_status_name(status),
                    status == HW_OK ? "" : t->error.message, message == NULL ? "" : message);
        _fail(__FILE__, line);
    }
    assert_ptr_equal(test_config_value(t, name), before);
}
#define REFUSED(t, name, value, message) expect_refused(t, name, value, message, __LINE__)

TEST(an_integer_is_taken_at_its_bounds_and_not_beyond, struct test_config *t)
{
    for (size_t i = 0; i < hw_config_count(); i++) {
        const struct hw_config_entry *entry = hw_config_entry_at(i);
        char text[32];

        if (entry->type != HW_CONFIG_INTEGER) {
            continue;
        }
        for (int side = 0; side < 2; side++) {
            (void)snprintf(text, sizeof text, "%" PRId64,
                           side == 0 ? entry->minimum : entry->maximum);
            SET(t, entry->name, text);
            assert_string_equal(test_config_value(t, entry->name), text);
            assert_int_equal(hw_config_int64(&t->cluster, NULL, entry->name),
                             side == 0 ? entry->minimum : entry->maximum);
        }
        (void)snprintf(text, sizeof text, "%" PRId64, entry->minimum - 1);
        REFUSED(t, entry->name, text, NULL);
        (void)snprintf(text, sizeof text, "%" PRIu64, (uint64_t)entry->maximum + 1);
        REFUSED(t, entry->name, text, NULL);
    }
    REFUSED(t, "segment.bytes", "13",
            "segment.bytes cannot be \"13\", it has to be an integer from 14 to 2147483647");
    REFUSED(t, "retention.ms", "-2",
            "retention.ms cannot be \"-2\", it has to be an integer, -1 or more");
}

TEST(what_is_not_an_integer_is_refused, struct test_config *t)
{
    static const char *const values[] = {
        "",
        " ",
        "-",
        "+",
        "x",
        "1x",
        "1 2",
        "1.0",
        "1e3",
        "0x10",
        "--1",
        "+-1",
        "1,000",
        "NULL",
        "18446744073709551616",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999999999999999999999999999999999999999999999999999999999999999999999"};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        REFUSED(t, "retention.bytes", values[i], NULL);
    }
    REFUSED(t, "retention.bytes", "1\n2",
            "retention.bytes cannot be \"1?2\", it has to be an integer, -1 or more");
}

TEST(a_value_is_kept_in_its_normal_form, struct test_config *t)
{
    static const struct {
        const char *name;
        const char *value;
        const char *normal;
    } cases[] = {
        {"retention.ms", "+5", "5"},
        {"retention.ms", "0005", "5"},
        {"retention.ms", "-0", "0"},
        {"retention.ms", "-01", "-1"},
        {"retention.ms", " \t5\n ", "5"},
        {"check.invariants", "1", "true"},
        {"check.invariants", "0", "false"},
        {"check.invariants", "TRUE", "true"},
        {"check.invariants", " False ", "false"},
        {"acks", "-1", "all"},
        {"acks", "all", "all"},
        {"acks", "0", "0"},
        {"acks", " 1 ", "1"},
        {"compression.type", "none", "uncompressed"},
        {"compression.type", "zstd", "zstd"},
        {"compression.type", "producer", "producer"},
        {"message.timestamp.type", "LogAppendTime", "LogAppendTime"},
        {"cleanup.policy", "compact", "compact"},
        {"cleanup.policy", "delete,compact", "compact,delete"},
        {"cleanup.policy", "compact , delete", "compact,delete"},
        {"cleanup.policy", "delete,delete", "delete"},
        {"replication", "auto", "auto"},
        {"protocol", "minikafka", "minikafka"},
        {"protocol", " hw-truncation ", "hw-truncation"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        SET(t, cases[i].name, cases[i].value);
        assert_string_equal(test_config_value(t, cases[i].name), cases[i].normal);
    }
}

TEST(a_refused_value_tells_what_is_allowed, struct test_config *t)
{
    REFUSED(t, "check.invariants", "yes",
            "check.invariants cannot be \"yes\", it has to be true or false");
    REFUSED(t, "check.invariants", "tru", NULL);
    REFUSED(t, "check.invariants", "trues", NULL);
    REFUSED(t, "check.invariants", "2", NULL);
    REFUSED(t, "check.invariants", "", NULL);
    REFUSED(t, "acks", "2", "acks cannot be \"2\", it has to be one of 0, 1, all");
    REFUSED(t, "acks", "ALL", NULL);
    REFUSED(t, "acks", "", NULL);
    REFUSED(t, "acks", "0|1", NULL);
    REFUSED(t, "acks", "-1=all", NULL);
    REFUSED(t, "compression.type", "brotli",
            "compression.type cannot be \"brotli\", it has to be one of producer, uncompressed,"
            " gzip, snappy, lz4, zstd");
    REFUSED(t, "message.timestamp.type", "createtime", NULL);
    REFUSED(t, "cleanup.policy", "deletes",
            "cleanup.policy cannot be \"deletes\", it has to be one or more, with commas, of"
            " compact, delete");
    REFUSED(t, "cleanup.policy", "", NULL);
    REFUSED(t, "cleanup.policy", ",", NULL);
    REFUSED(t, "cleanup.policy", "delete,", NULL);
    REFUSED(t, "cleanup.policy", "delete compact", NULL);
    REFUSED(t, "protocol", "raft",
            "protocol cannot be \"raft\", it has to be one of kafka, hw-truncation, kip-101,"
            " kip-279, minikafka");
    REFUSED(t, "protocol", "", NULL);
}

/* The codecs that the leader can store are those that there are. */
TEST(every_compression_type_but_producer_is_a_codec, struct test_config *t)
{
    char choices[100];

    (void)snprintf(choices, sizeof choices, "%s",
                   hw_config_entry_at(test_config_find(t, "compression.type"))->choices);
    for (char *choice = strtok(choices, "|="); choice != NULL; choice = strtok(NULL, "|=")) {
        enum hw_codec codec;

        assert_int_equal(hw_codec_from_name(choice, &codec), strcmp(choice, "producer") != 0);
    }
}

int main(void)
{
    return test_run(test_config_setup, test_config_teardown);
}
