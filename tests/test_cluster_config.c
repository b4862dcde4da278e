/* SPDX-License-Identifier: MIT */
/*
 * Is every setting what Kafka's documentation says, does a wrong name get help, and does the
 * nearest value win: the topic's, the cluster's, the default? Source of names and defaults:
 * LogConfig, ServerConfigs, ReplicationConfigs.
 */
#include "core/replication/variant.h"
#include "tests/support_config.h"
#include "tests/support_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------- the table */

/* As in the documentation of Kafka, and in the sources named above. */
/* Semantics: W1.30 */
TEST(defaults_are_those_of_kafka, struct test_config *t)
{
    static const struct {
        const char *name;
        const char *value;
    } defaults[] = {
        {"acks", NULL},
        {"auto.leader.rebalance.enable", "true"},
        {"broker.heartbeat.interval.ms", "2000"},
        {"broker.session.timeout.ms", "9000"},
        {"cleanup.policy", "delete"},
        {"clock", "virtual"},
        {"compression.type", "producer"},
        {"default.replication.factor", "1"},
        {"delivery.timeout.ms", "120000"},
        {"flush.messages", "9223372036854775807"},
        {"follower.replication.throttled.rate", "9223372036854775807"},
        {"follower.replication.throttled.replicas", ""},
        {"index.interval.bytes", "4096"},
        {"leader.imbalance.check.interval.seconds", "300"},
        {"leader.replication.throttled.rate", "9223372036854775807"},
        {"leader.replication.throttled.replicas", ""},
        {"log.flush.start.offset.checkpoint.interval.ms", "60000"},
        {"log.retention.check.interval.ms", "300000"},
        {"max.message.bytes", "1048588"},
        {"message.timestamp.after.max.ms", "9223372036854775807"},
        {"message.timestamp.before.max.ms", "9223372036854775807"},
        {"message.timestamp.type", "CreateTime"},
        {"min.insync.replicas", "1"},
        {"num.partitions", "1"},
        {"num.replica.fetchers", "1"},
        {"replica.fetch.backoff.ms", "1000"},
        {"replica.fetch.max.bytes", "1048576"},
        {"replica.fetch.min.bytes", "1"},
        {"replica.fetch.response.max.bytes", "10485760"},
        {"replica.fetch.wait.max.ms", "500"},
        {"replica.high.watermark.checkpoint.interval.ms", "5000"},
        {"replica.lag.time.max.ms", "30000"},
        {"replication.quota.window.num", "11"},
        {"replication.quota.window.size.seconds", "1"},
        {"request.timeout.ms", "30000"},
        {"retention.bytes", "-1"},
        {"retention.ms", "604800000"},
        {"segment.bytes", "1073741824"},
        {"segment.index.bytes", "10485760"},
        {"segment.ms", "604800000"},
        {"unclean.leader.election.enable", "false"},
        {"unclean.leader.election.interval.ms", "300000"},
        /* Ours. */
        {"batch.size", "16384"},
        {"buffer.memory", "33554432"},
        {"check.invariants", "false"},
        {"check.promises", "none"},
        {"check.promises.acks", "all"},
        {"controller.auto.elect", "false"},
        {"retries", "0"},
        {"eligible.leader.replicas.version", "0"},
        {"protocol", "kafka"},
        {"replica.lag.max.messages", "10000"},
        {"replication", "manual"},
        {"producer.id.expiration.ms", "86400000"},
        {"transaction.max.timeout.ms", "900000"},
        {"transaction.partition.verification.enable", "true"},
        {"transaction.timeout.ms", "60000"},
        {"transaction.version", "2"},
        {"transactional.id.expiration.ms", "604800000"},
    };

    for (size_t i = 0; i < sizeof defaults / sizeof defaults[0]; i++) {
        const char *value = test_config_value(t, defaults[i].name);

        assert_true((value == NULL) == (defaults[i].value == NULL));
        if (value != NULL) {
            assert_string_equal(value, defaults[i].value);
        }
    }
    assert_int_equal(hw_config_count(), sizeof defaults / sizeof defaults[0]);
}

TEST(the_table_is_in_order_of_name_and_each_row_is_complete, struct test_config *t)
{
    for (size_t i = 0; i < hw_config_count(); i++) {
        const struct hw_config_entry *entry = hw_config_entry_at(i);
        bool has_choices = entry->type == HW_CONFIG_CHOICE || entry->type == HW_CONFIG_CHOICES;

        assert_int_equal(test_config_find(t, entry->name), i);
        assert_true(strlen(entry->name) < 64);
        if (i > 0) {
            assert_true(strcmp(hw_config_entry_at(i - 1)->name, entry->name) < 0);
        }
        if (entry->broker_name != NULL) {
            assert_int_equal(test_config_find(t, entry->broker_name), i);
            assert_true(strlen(entry->broker_name) < 64);
        }
        assert_null(hw_config_no_effect_reason(entry->name));
        assert_true(strlen(entry->description) > 10);
        assert_null(strchr(entry->description, '\n'));
        assert_int_equal(entry->choices != NULL, has_choices);
        assert_int_equal(entry->minimum < entry->maximum, entry->type == HW_CONFIG_INTEGER);
    }
}

TEST(every_default_is_an_allowed_value_in_its_normal_form, struct test_config *t)
{
    const struct hw_variant *variant;

    for (size_t v = 0; (variant = hw_variant_at(v)) != NULL; v++) {
        SET(t, "protocol", variant->name);
        for (size_t i = 0; i < hw_config_count(); i++) {
            const struct hw_config_entry *entry = hw_config_entry_at(i);
            const char *value = hw_config_default(&t->cluster, i);

            if (value != NULL && entry->type != HW_CONFIG_VARIANT) {
                SET(t, entry->name, value);
                assert_string_equal(t->cluster.values[i], value);
                SET(t, entry->name, NULL);
            }
        }
    }
}

/* hw_config shows it beside the value, so it should not need another place to look it up. */
TEST(every_description_tells_the_range, struct test_config *t)
{
    (void)t;
    for (size_t i = 0; i < hw_config_count(); i++) {
        const struct hw_config_entry *entry = hw_config_entry_at(i);
        char bound[32];

        if (entry->type == HW_CONFIG_INTEGER) {
            (void)snprintf(bound, sizeof bound, "%" PRId64, entry->minimum);
            assert_non_null(strstr(entry->description, bound));
            if (entry->maximum < INT32_MAX) {
                (void)snprintf(bound, sizeof bound, "to %" PRId64, entry->maximum);
                assert_non_null(strstr(entry->description, bound));
            }
        }
        if (entry->type == HW_CONFIG_BOOLEAN) {
            assert_non_null(strstr(entry->description, "true or false"));
        }
        if (entry->type == HW_CONFIG_CHOICE || entry->type == HW_CONFIG_CHOICES) {
            char choices[100];

            (void)snprintf(choices, sizeof choices, "%s", entry->choices);
            for (char *choice = strtok(choices, "|"); choice != NULL; choice = strtok(NULL, "|")) {
                /* Promises have a line each in hw_help. */
                if (strchr(choice, '=') == NULL && (strcmp(entry->name, "check.promises") != 0 ||
                                                    strlen(choice) <= strlen("none"))) {
                    assert_non_null(strstr(entry->description, choice));
                }
            }
        }
    }
}

/* ----------------------------------------------------------------------------------- finding */

TEST(settings_of_a_topic_are_found_by_their_broker_names_too, struct test_config *t)
{
    static const char *const names[][2] = {
        {"log.segment.bytes", "segment.bytes"},
        {"log.roll.ms", "segment.ms"},
        {"log.index.size.max.bytes", "segment.index.bytes"},
        {"log.index.interval.bytes", "index.interval.bytes"},
        {"message.max.bytes", "max.message.bytes"},
        {"log.flush.interval.messages", "flush.messages"},
        {"log.retention.ms", "retention.ms"},
        {"log.retention.bytes", "retention.bytes"},
        {"log.cleanup.policy", "cleanup.policy"},
        {"log.message.timestamp.type", "message.timestamp.type"},
        {"log.message.timestamp.before.max.ms", "message.timestamp.before.max.ms"},
        {"log.message.timestamp.after.max.ms", "message.timestamp.after.max.ms"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(test_config_find(t, names[i][0]), test_config_find(t, names[i][1]));
    }
}

static void expect_unknown(struct test_config *t, const char *name, const char *message, int line)
{
    size_t index = 4711;

    if (hw_config_find(name, &index, &t->error) != HW_REFUSED ||
        t->error.kafka_error != HW_KAFKA_INVALID_CONFIG || index != 4711 ||
        strcmp(t->error.message, message) != 0) {
        print_error("%s: '%s', expected '%s'\n", name, t->error.message, message);
        _fail(__FILE__, line);
    }
}
#define UNKNOWN(t, name, message) expect_unknown(t, name, message, __LINE__)
#define LISTED                    " (SELECT name FROM hw_config lists all)"

TEST(a_name_with_a_wrong_letter_gets_the_nearest_one, struct test_config *t)
{
    static const char *const names[][2] = {
        {"min.insync.replica", "min.insync.replicas"},
        {"min.in.sync.replicas", "min.insync.replicas"},
        {"min_insync_replicas", "min.insync.replicas"},
        {"Min-Insync-Replicas", "min.insync.replicas"},
        {"retention", "retention.ms"},
        {"retention.byte", "retention.bytes"},
        {"ack", "acks"},
        {"ACKS", "acks"},
        {"protocl", "protocol"},
        {"log.segment.byts", "log.segment.bytes"},
        {"replica.lag.time.max", "replica.lag.time.max.ms"},
        {"unclean.leader.elections.enable", "unclean.leader.election.enable"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char message[300];

        (void)snprintf(message, sizeof message,
                       "there is no config \"%s\", did you mean \"%s\"?" LISTED, names[i][0],
                       names[i][1]);
        UNKNOWN(t, names[i][0], message);
    }
}

TEST(a_name_like_no_other_gets_the_place_where_all_are_listed, struct test_config *t)
{
    char name[2000];
    size_t index;

    UNKNOWN(t, "", "there is no config \"\"" LISTED);
    UNKNOWN(t, "x", "there is no config \"x\"" LISTED);
    UNKNOWN(t, "colour", "there is no config \"colour\"" LISTED);

    /* One line, however long the name is and whatever is in it. */
    UNKNOWN(t, "a\nb\x7f", "there is no config \"a?b?\"" LISTED);
    memset(name, 'z', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t end = 0; end < 2; end++) {
        assert_int_equal(hw_config_find(name, &index, &t->error), HW_REFUSED);
        assert_non_null(strstr(t->error.message, "zzz...\"" LISTED));
        memcpy(name + 95, "\xc3\xa9", 2); /* Two bytes of one character where it is cut. */
    }
}

/* Semantics: W0.8 */
TEST(settings_without_effect_are_refused_with_the_reason, struct test_config *t)
{
    static const char *const names[] = {
        /* Topics. */
        "segment.jitter.ms", "flush.ms", "delete.retention.ms", "min.compaction.lag.ms",
        "max.compaction.lag.ms", "min.cleanable.dirty.ratio", "file.delete.delay.ms", "preallocate",
        "compression.gzip.level", "compression.lz4.level", "compression.zstd.level",
        /* Brokers and the controller. */
        "replica.socket.timeout.ms", "log.flush.offset.checkpoint.interval.ms", "fetch.max.bytes",
        "max.incremental.fetch.session.cache.slots", "leader.imbalance.per.broker.percentage",
        "controlled.shutdown.enable", "controlled.shutdown.max.retries",
        "controlled.shutdown.retry.backoff.ms", "log.dir", "log.dirs",
        "num.recovery.threads.per.data.dir", "log.roll.hours", "log.retention.hours",
        "log.retention.minutes",
        /* Transactions, producers, consumers. */
        "transaction.state.log.replication.factor", "transaction.state.log.min.isr",
        "transaction.state.log.num.partitions", "enable.idempotence",
        "max.in.flight.requests.per.connection", "fetch.min.bytes", "fetch.max.wait.ms",
        "max.partition.fetch.bytes", "isolation.level"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char message[300];

        assert_non_null(hw_config_no_effect_reason(names[i]));
        (void)snprintf(message, sizeof message, "%s has no effect here: %s", names[i],
                       hw_config_no_effect_reason(names[i]));
        UNKNOWN(t, names[i], message);
    }
    UNKNOWN(t, "flush.ms",
            "flush.ms has no effect here: logs are synced by flush() and flush.messages");
}

/* --------------------------------------------------------------------------------- resolving */

TEST(the_topics_value_wins_over_the_clusters_and_that_over_the_default, struct test_config *t)
{
    size_t index = test_config_find(t, "min.insync.replicas");

    SET(t, "min.insync.replicas", "2");
    assert_string_equal(hw_config_value(&t->cluster, &t->topic, index), "2");
    SET_TOPIC(t, "min.insync.replicas", "3");
    assert_string_equal(hw_config_value(&t->cluster, &t->topic, index), "3");
    assert_string_equal(hw_config_value(&t->cluster, NULL, index), "2");
    assert_int_equal(hw_config_settings(&t->cluster, &t->topic).min_insync_replicas, 3);
    assert_int_equal(hw_config_settings(&t->cluster, NULL).min_insync_replicas, 2);

    SET_TOPIC(t, "min.insync.replicas", NULL);
    assert_string_equal(hw_config_value(&t->cluster, &t->topic, index), "2");
    SET(t, "min.insync.replicas", NULL);
    assert_string_equal(hw_config_value(&t->cluster, &t->topic, index), "1");
}

TEST(taking_back_what_was_not_set_is_fine, struct test_config *t)
{
    SET(t, "acks", NULL);
    assert_null(t->cluster.values);
    assert_null(test_config_value(t, "acks"));
    SET(t, "acks", "1");
    SET(t, "batch.size", NULL);
    assert_string_equal(test_config_value(t, "acks"), "1");
}

TEST(minikafka_has_defaults_of_its_own, struct test_config *t)
{
    size_t lag = test_config_find(t, "replica.lag.time.max.ms");

    assert_string_equal(hw_config_default(&t->cluster, lag), "30000");
    SET(t, "protocol", "minikafka");
    assert_string_equal(hw_config_default(&t->cluster, lag), "10000");
    assert_int_equal(hw_config_settings(&t->cluster, NULL).replica_lag_time_max_ms, 10000);
    assert_int_equal(hw_config_settings(&t->cluster, NULL).replica_lag_max_messages, 10000);
    assert_int_equal(hw_config_settings(&t->cluster, NULL).min_insync_replicas, 1);
    SET(t, "replica.lag.time.max.ms", "30000");
    assert_int_equal(hw_config_settings(&t->cluster, NULL).replica_lag_time_max_ms, 30000);
    SET(t, "replica.lag.time.max.ms", NULL);
    SET(t, "protocol", "hw-truncation");
    assert_int_equal(hw_config_settings(&t->cluster, NULL).replica_lag_time_max_ms, 30000);
}

/* Each setting changed alone changes its own field, and gets there whole. */
TEST(every_field_of_the_layers_below_comes_from_its_setting, struct test_config *t)
{
    static const struct {
        const char *name;
        const char *value;
        size_t offset;
        size_t size;
    } settings[] = {
#define FIELD(member)                                                                              \
    offsetof(struct hw_settings, member), sizeof(((struct hw_settings *)0)->member)
        {"replica.lag.time.max.ms", "70001", FIELD(replica_lag_time_max_ms)},
        {"replica.lag.max.messages", "70002", FIELD(replica_lag_max_messages)},
        {"replica.fetch.wait.max.ms", "70003", FIELD(replica_fetch_wait_max_ms)},
        {"replica.fetch.backoff.ms", "70004", FIELD(replica_fetch_backoff_ms)},
        {"replica.fetch.max.bytes", "70005", FIELD(replica_fetch_max_bytes)},
        {"replica.fetch.response.max.bytes", "70006", FIELD(replica_fetch_response_max_bytes)},
        {"replica.fetch.min.bytes", "70007", FIELD(replica_fetch_min_bytes)},
        {"min.insync.replicas", "70008", FIELD(min_insync_replicas)},
        {"unclean.leader.election.enable", "1", FIELD(unclean_leader_election_enable)},
#undef FIELD
    };

    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        struct hw_settings resolved;
        int64_t expected = settings[i].size == 1 ? 1 : atoi(settings[i].value);
        const char *field = (const char *)&resolved + settings[i].offset;
        int64_t value;

        SET(t, settings[i].name, settings[i].value);
        resolved = hw_config_settings(&t->cluster, &t->topic);
        if (settings[i].size == sizeof(int64_t)) {
            memcpy(&value, field, sizeof value);
        } else if (settings[i].size == sizeof(int32_t)) {
            int32_t number;

            memcpy(&number, field, sizeof number);
            value = number;
        } else {
            value = *field;
        }
        if (value != expected) {
            fail_msg("%s is %" PRId64 ", expected %" PRId64, settings[i].name, value, expected);
        }
    }
}

TEST(every_field_of_the_log_comes_from_its_setting, struct test_config *t)
{
    struct hw_log_config config = hw_config_log(&t->cluster, &t->topic);

    assert_false(config.log_append_time);
    SET(t, "segment.bytes", "101");
    SET(t, "segment.ms", "102");
    SET(t, "index.interval.bytes", "103");
    SET(t, "segment.index.bytes", "104");
    SET_TOPIC(t, "max.message.bytes", "105");
    SET_TOPIC(t, "flush.messages", "106");
    SET_TOPIC(t, "message.timestamp.type", "LogAppendTime");
    SET_TOPIC(t, "message.timestamp.before.max.ms", "107");
    SET_TOPIC(t, "message.timestamp.after.max.ms", "108");
    SET_TOPIC(t, "retention.ms", "-1");
    SET_TOPIC(t, "retention.bytes", "9223372036854775807");
    config = hw_config_log(&t->cluster, &t->topic);
    assert_int_equal(config.segment_bytes, 101);
    assert_int_equal(config.segment_ms, 102);
    assert_int_equal(config.index_interval_bytes, 103);
    assert_int_equal(config.segment_index_bytes, 104);
    assert_int_equal(config.max_message_bytes, 105);
    assert_int_equal(config.flush_messages, 106);
    assert_true(config.log_append_time);
    assert_int_equal(config.message_timestamp_before_max_ms, 107);
    assert_int_equal(config.message_timestamp_after_max_ms, 108);
    assert_int_equal(config.retention_ms, -1);
    assert_int_equal(config.retention_bytes, INT64_MAX);
}

/* "producer" leaves batches as they come; every other type is a codec. */
TEST(the_compression_type_names_the_codec_of_the_log, struct test_config *t)
{
    static const struct {
        const char *type;
        bool recompresses;
        enum hw_codec codec;
    } cases[] = {{"producer", false, HW_CODEC_NONE}, {"uncompressed", true, HW_CODEC_NONE},
                 {"none", true, HW_CODEC_NONE},      {"gzip", true, HW_CODEC_GZIP},
                 {"snappy", true, HW_CODEC_SNAPPY},  {"lz4", true, HW_CODEC_LZ4},
                 {"zstd", true, HW_CODEC_ZSTD}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_log_config config;

        SET_TOPIC(t, "compression.type", cases[i].type);
        config = hw_config_log(&t->cluster, &t->topic);
        assert_int_equal(config.recompresses, cases[i].recompresses);
        assert_int_equal(config.codec, cases[i].codec);
    }
}

TEST(the_defaults_of_a_log_are_kafkas, struct test_config *t)
{
    struct hw_log_config ours = hw_config_log(&t->cluster, &t->topic);
    struct hw_log_config logs = test_log_config();

    assert_int_equal(ours.segment_bytes, logs.segment_bytes);
    assert_int_equal(ours.segment_ms, logs.segment_ms);
    assert_int_equal(ours.index_interval_bytes, logs.index_interval_bytes);
    assert_int_equal(ours.segment_index_bytes, logs.segment_index_bytes);
    assert_int_equal(ours.max_message_bytes, logs.max_message_bytes);
    assert_int_equal(ours.flush_messages, logs.flush_messages);
    assert_int_equal(ours.log_append_time, logs.log_append_time);
    assert_int_equal(ours.recompresses, logs.recompresses);
    assert_int_equal(ours.retention_ms, logs.retention_ms);
    assert_int_equal(ours.retention_bytes, logs.retention_bytes);
}

TEST(the_cleanup_policy_says_what_records_need, struct test_config *t)
{
    static const struct {
        const char *policy;
        bool compacted;
        bool deletable;
    } cases[] = {{"delete", false, true}, {"compact", true, false}, {"delete,compact", true, true}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_settings settings;

        SET_TOPIC(t, "cleanup.policy", cases[i].policy);
        settings = hw_config_settings(&t->cluster, &t->topic);
        assert_int_equal(hw_config_log(&t->cluster, &t->topic).compacted, cases[i].compacted);
        assert_int_equal(settings.deletable, cases[i].deletable);
    }
}

TEST(values_are_read_with_their_types, struct test_config *t)
{
    assert_int_equal(hw_config_int64(&t->cluster, NULL, "batch.size"), 16384);
    assert_int_equal(hw_config_int64(&t->cluster, &t->topic, "retention.bytes"), -1);
    assert_false(hw_config_bool(&t->cluster, NULL, "check.invariants"));
    SET(t, "check.invariants", "1");
    assert_true(hw_config_bool(&t->cluster, NULL, "check.invariants"));
    assert_string_equal(hw_config_text(&t->cluster, NULL, "replication"), "manual");
    assert_null(hw_config_text(&t->cluster, NULL, "acks"));
}

TEST(a_lack_of_memory_changes_nothing, struct test_config *t)
{
    enum hw_status status;
    int fail_at = 0;

    do {
        hw_config_values_release(&t->cluster);
        t->heap.fail_at = t->heap.allocations + fail_at++;
        status = hw_config_set(&t->cluster, test_config_find(t, "acks"), "0", &t->error);
        if (status == HW_OK) {
            status = hw_config_set(&t->cluster, test_config_find(t, "acks"), "1", &t->error);
            assert_string_equal(test_config_value(t, "acks"), status == HW_OK ? "1" : "0");
        } else {
            assert_null(test_config_value(t, "acks"));
        }
        t->heap.fail_at = -1;
        assert_true(status == HW_OK || status == HW_NO_MEMORY);
    } while (status != HW_OK);
    assert_int_equal(fail_at, 4); /* The array and two values, then none fails. */
}

int main(void)
{
    return test_run(test_config_setup, test_config_teardown);
}
