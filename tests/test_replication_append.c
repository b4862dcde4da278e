/* SPDX-License-Identifier: MIT */
/*
 * What may a client, or a leader, write to a replica's log? Follows
 * Partition.appendRecordsToLeader, LogValidator and UnifiedLog.append.
 */
#include "core/record/codec.h"
#include "tests/support_replica.h"

#include <string.h>

#include "tests/support_test.h"

enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };

/* A replica that leads alone, at an hour of its day. */
static int setup_leader(void **state)
{
    if (test_replicas_setup(state) != 0) {
        return -1;
    }
    ((struct test_replicas *)*state)->now_ms = 100 * HOUR_MS;
    lead((struct test_replicas *)*state, 1, 0, "[1,2,3]", "[1]");
    return 0;
}

struct sent {
    const char *key; /* NULL: none. */
    hw_time_ms_t timestamp;
};

/* Produce one batch of these records. */
static void produce(struct test_replicas *t, const struct sent *records, int count,
                    enum hw_codec codec)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_buffer plain;
    struct hw_buffer bytes;
    struct hw_batch batch;

    hw_buffer_init(&plain, &t->heap.allocator);
    hw_buffer_init(&bytes, &t->heap.allocator);
    assert_int_equal(hw_batch_builder_begin(&builder, &plain, 0, &t->error), HW_OK);
    for (int i = 0; i < count; i++) {
        struct hw_record record = {
            .offset = i,
            .timestamp = records[i].timestamp,
            .key = (const uint8_t *)records[i].key,
            .key_size = records[i].key == NULL ? -1 : (int32_t)strlen(records[i].key),
            .value_size = -1};

        assert_int_equal(hw_batch_builder_add(&builder, &record, &t->error), HW_OK);
    }
    hw_batch_builder_finish(&builder, &options);
    assert_int_equal(hw_batch_parse(plain.bytes, plain.size, &batch), HW_BATCH_OK);
    assert_int_equal(hw_batch_recompress(plain.bytes, &batch, codec, 1 << 20, &bytes, &t->error),
                     HW_OK);
    test_replicas_append_bytes(t, &bytes);
    hw_buffer_release(&plain);
    hw_buffer_release(&bytes);
}

/* Produce a batch of 3 records with this header; the checksum is right. */
static void produce_with_header(struct test_replicas *t, const struct hw_batch *header)
{
    struct hw_buffer bytes;
    struct hw_batch batch;

    hw_buffer_init(&bytes, &t->heap.allocator);
    test_replicas_build(t, &bytes, 3);
    assert_int_equal(hw_batch_parse(bytes.bytes, bytes.size, &batch), HW_BATCH_OK);
    batch.attributes = header->attributes;
    batch.last_offset_delta = header->last_offset_delta;
    batch.record_count = header->record_count;
    batch.producer_id = header->producer_id;
    batch.base_sequence = header->base_sequence;
    hw_batch_encode(bytes.bytes, &batch);
    test_replicas_append_bytes(t, &bytes);
    hw_buffer_release(&bytes);
}

static void produce_with_counts(struct test_replicas *t, int32_t last_offset_delta,
                                int32_t record_count)
{
    produce_with_header(t, &(struct hw_batch){.last_offset_delta = last_offset_delta,
                                              .record_count = record_count,
                                              .producer_id = HW_PRODUCER_ID_NONE,
                                              .base_sequence = -1});
}

/* Row: C043. Semantics: R1.6 */
TEST(acks_are_0_or_1_or_all, struct test_replicas *t)
{
    append_acks(t, 1, 3);
    expect_refused(t, INVALID_REQUIRED_ACKS);
    append_acks(t, 1, -2);
    expect_refused(t, INVALID_REQUIRED_ACKS);
    append_acks(t, 1, 0);
    expect_done(t);
    append_acks(t, 1, -1);
    expect_done(t);
    expect_log(t, 1, 0, 2, 2);
}

/* Semantics: R1.3, R1.9 */
TEST(a_follower_takes_no_produce, struct test_replicas *t)
{
    follow(t, 1, 2, 1);
    append(t, 1);
    expect_refused(t, NOT_LEADER_OR_FOLLOWER);
}

/* Semantics: R1.10, R4.15 */
TEST(only_acks_all_needs_min_insync_replicas, struct test_replicas *t)
{
    t->settings.min_insync_replicas = 2;
    append_acks(t, 1, -1);
    expect_refused(t, NOT_ENOUGH_REPLICAS);
    assert_string_equal(t->error.message,
                        "orders-0 has 1 in-sync replica [1], min.insync.replicas is 2");
    append_acks(t, 1, 1);
    expect_done(t);

    /* A replica that is about to join does not count yet. */
    fetch_by(t, 2, 1);
    expect_isr(t, "[1]", "[1,2]");
    append_acks(t, 1, -1);
    expect_refused(t, NOT_ENOUGH_REPLICAS);
    expect_proposal(t, "[1,2]");
    accept_proposal(t, 2);
    append_acks(t, 1, -1);
    expect_done(t);
}

/* Row: C044. Semantics: R1.39 */
TEST(a_deposed_leader_answers_those_who_wait, struct test_replicas *t)
{
    int64_t id;
    enum hw_kafka_error answer;

    lead(t, 1, 1, "[1,2,3]", "[1,2]");
    append_acks(t, 1, -1);
    expect_done(t);
    assert_false(hw_waiting_take_resolved(replica_of(t, 1), &id, &answer));
    follow(t, 1, 2, 2);
    assert_true(hw_waiting_take_resolved(replica_of(t, 1), &id, &answer));
    assert_int_equal(answer, HW_KAFKA_NOT_LEADER_OR_FOLLOWER);
}

/* Row: C045. Semantics: R1.12 */
TEST(a_batch_over_the_limit_is_refused, struct test_replicas *t)
{
    int64_t size_bytes;

    append(t, 1);
    size_bytes = hw_log_size_bytes(log_of(t, 1));
    append(t, 2);
    size_bytes = hw_log_size_bytes(log_of(t, 1)) - size_bytes;
    t->log_config.max_message_bytes = (int32_t)size_bytes - 1;
    hw_log_set_config(log_of(t, 1), &t->log_config);
    append(t, 1);
    expect_done(t);
    append(t, 2);
    expect_refused(t, MESSAGE_TOO_LARGE);
    expect_log(t, 1, 0, 4, 4);
}

/* Row: C046. Semantics: R1.20 */
TEST(a_batch_over_a_segment_is_refused, struct test_replicas *t)
{
    append(t, 3);
    t->log_config.segment_bytes = (int32_t)hw_log_size_bytes(log_of(t, 1)) - 1;
    hw_log_set_config(log_of(t, 1), &t->log_config);
    append(t, 3);
    expect_refused(t, RECORD_LIST_TOO_LARGE);
}

static void only_with_keys(struct test_replicas *t)
{
    t->log_config.compacted = true;
    hw_log_set_config(log_of(t, 1), &t->log_config);
}

/* Row: C047. Semantics: R1.16 */
TEST(records_of_a_compacted_topic_have_keys, struct test_replicas *t)
{
    struct sent no_key = {NULL, t->now_ms};
    struct sent key = {"k", t->now_ms};

    only_with_keys(t);
    produce(t, (struct sent[]){no_key, key}, 2, HW_CODEC_NONE);
    expect_refused(t, INVALID_RECORD);
    assert_string_equal(t->error.message, "a record has no key, and orders-0-on-1 is compacted");
    produce(t, (struct sent[]){key, no_key}, 2, HW_CODEC_GZIP);
    expect_refused(t, INVALID_RECORD);
    produce(t, (struct sent[]){key, key}, 2, HW_CODEC_GZIP);
    expect_done(t);
    produce(t, (struct sent[]){{"", t->now_ms}}, 1, HW_CODEC_NONE);
    expect_done(t);
    expect_log(t, 1, 0, 3, 3);
}

/* Row: C051. Semantics: R1.15 */
TEST(clients_write_no_control_records, struct test_replicas *t)
{
    produce_with_header(t, &(struct hw_batch){.attributes = HW_BATCH_CONTROL,
                                              .last_offset_delta = 2,
                                              .record_count = 3,
                                              .producer_id = 7});
    expect_refused(t, INVALID_RECORD);
}

/* Row: C052. Semantics: R1.15 */
TEST(the_last_offset_must_fit_the_number_of_records, struct test_replicas *t)
{
    produce_with_counts(t, 0, 3);
    expect_refused(t, INVALID_RECORD);
    produce_with_counts(t, 15, 3);
    expect_refused(t, INVALID_RECORD);
    produce_with_counts(t, -3, 3);
    expect_refused(t, INVALID_RECORD);
    produce_with_counts(t, 2, 3);
    expect_done(t);
}

/* Row: C178. Semantics: R1.15 */
TEST(the_number_of_records_must_be_the_real_one, struct test_replicas *t)
{
    for (int round = 0; round < 2; round++) {
        produce_with_counts(t, 5, 6);
        expect_refused(t, INVALID_RECORD);
        produce_with_counts(t, 1, 2);
        expect_refused(t, INVALID_RECORD);
        only_with_keys(t);
    }
}

/* Semantics: R1.15, R1.18 */
TEST(sequences_are_not_negative_and_log_append_time_is_not_the_producers, struct test_replicas *t)
{
    produce_with_header(
        t, &(struct hw_batch){
               .last_offset_delta = 2, .record_count = 3, .producer_id = 7, .base_sequence = -1});
    expect_refused(t, INVALID_RECORD);
    produce_with_header(t, &(struct hw_batch){.attributes = HW_BATCH_LOG_APPEND_TIME,
                                              .last_offset_delta = 2,
                                              .record_count = 3,
                                              .producer_id = HW_PRODUCER_ID_NONE,
                                              .base_sequence = -1});
    expect_refused(t, INVALID_TIMESTAMP);
}

static void limit_times(struct test_replicas *t)
{
    t->log_config.message_timestamp_before_max_ms = 24 * HOUR_MS;
    t->log_config.message_timestamp_after_max_ms = HOUR_MS;
    hw_log_set_config(log_of(t, 1), &t->log_config);
}

/* Row: C053. Semantics: R1.17 */
TEST(records_from_the_future_are_refused, struct test_replicas *t)
{
    struct sent late = {NULL, t->now_ms + 65 * MINUTE_MS};

    limit_times(t);
    produce(t, (struct sent[]){late, late, late}, 3, HW_CODEC_NONE);
    expect_refused(t, INVALID_TIMESTAMP);
    produce(t, (struct sent[]){late, late, late}, 3, HW_CODEC_LZ4);
    expect_refused(t, INVALID_TIMESTAMP);
}

/* Semantics: R1.17 */
TEST(both_ends_of_the_allowed_time_are_allowed, struct test_replicas *t)
{
    limit_times(t);
    produce(t, &(struct sent){NULL, t->now_ms - 24 * HOUR_MS}, 1, HW_CODEC_NONE);
    expect_done(t);
    produce(t, &(struct sent){NULL, t->now_ms - 24 * HOUR_MS - 1}, 1, HW_CODEC_NONE);
    expect_refused(t, INVALID_TIMESTAMP);
    produce(t, &(struct sent){NULL, t->now_ms + HOUR_MS}, 1, HW_CODEC_NONE);
    expect_done(t);
    produce(t, &(struct sent){NULL, t->now_ms + HOUR_MS + 1}, 1, HW_CODEC_NONE);
    expect_refused(t, INVALID_TIMESTAMP);
    produce(t, &(struct sent){NULL, INT64_MAX}, 1, HW_CODEC_NONE);
    expect_refused(t, INVALID_TIMESTAMP);
    produce(t, &(struct sent){NULL, HW_TIMESTAMP_NONE}, 1, HW_CODEC_NONE);
    expect_done(t);

    /* With LogAppendTime the producer's times do not matter. */
    t->log_config.log_append_time = true;
    hw_log_set_config(log_of(t, 1), &t->log_config);
    produce(t, &(struct sent){NULL, INT64_MAX}, 1, HW_CODEC_NONE);
    expect_done(t);
    only_with_keys(t);
    produce(t, &(struct sent){"k", INT64_MAX}, 1, HW_CODEC_NONE);
    expect_done(t);
}

/* Row: C054. Semantics: R1.17 */
TEST(a_bad_timestamp_wins_over_a_bad_record, struct test_replicas *t)
{
    struct sent keyless = {NULL, t->now_ms};
    struct sent late = {"k", t->now_ms + 65 * MINUTE_MS};

    only_with_keys(t);
    limit_times(t);
    produce(t, (struct sent[]){keyless, keyless, keyless, keyless, keyless, late}, 6,
            HW_CODEC_NONE);
    expect_refused(t, INVALID_TIMESTAMP);
}

/* Semantics: R1.12, R1.16, R1.17 */
TEST(a_batch_that_is_too_large_is_refused_before_its_records_are_looked_at, struct test_replicas *t)
{
    limit_times(t);
    t->log_config.max_message_bytes = 61;
    hw_log_set_config(log_of(t, 1), &t->log_config);
    produce(t, &(struct sent){NULL, t->now_ms + HOUR_MS + 1}, 1, HW_CODEC_NONE);
    expect_refused(t, MESSAGE_TOO_LARGE);
    t->log_config.max_message_bytes = 1000;
    hw_log_set_config(log_of(t, 1), &t->log_config);
    produce(t, &(struct sent){NULL, t->now_ms + HOUR_MS + 1}, 1, HW_CODEC_NONE);
    expect_refused(t, INVALID_TIMESTAMP);
}

/* Semantics: R1.13, R1.16 */
TEST(a_bad_checksum_wins_over_a_bad_record, struct test_replicas *t)
{
    struct hw_buffer bytes;

    only_with_keys(t);
    hw_buffer_init(&bytes, &t->heap.allocator);
    test_replicas_build(t, &bytes, 1);
    bytes.bytes[bytes.size - 2] ^= 1; /* The value: the record can still be read. */
    test_replicas_append_bytes(t, &bytes);
    expect_refused(t, CORRUPT_MESSAGE);
    hw_buffer_release(&bytes);
}

/* Semantics: R1.5, R1.11 */
TEST(a_produce_is_one_batch_with_base_offset_0, struct test_replicas *t)
{
    struct hw_buffer bytes;

    hw_buffer_init(&bytes, &t->heap.allocator);
    test_replicas_append_bytes(t, &bytes);
    expect_refused(t, INVALID_RECORD);
    test_replicas_build(t, &bytes, 1);
    test_replicas_build(t, &bytes, 1);
    test_replicas_append_bytes(t, &bytes);
    expect_refused(t, INVALID_RECORD);
    bytes.size /= 2;
    hw_batch_set_base_offset(bytes.bytes, 4);
    test_replicas_append_bytes(t, &bytes);
    expect_refused(t, INVALID_RECORD);
    hw_buffer_release(&bytes);
}

/* Row: C048. Semantics: R2.31 */
TEST(a_follower_gives_up_on_batches_out_of_order, struct test_replicas *t)
{
    follow(t, 2, 1, 1);
    log_has(t, 2, "0@0");
    follow(t, 2, 1, 2);
    answered(t, 2, .high_watermark = 5, .batches = "1@0 3@0 2@0 4@0");
    expect_done(t);
    expect_fetch(t, 2, "failed at 1 after epoch 0");
    expect_log(t, 2, 0, 0, 1);
}

/* Row: C049. Semantics: R2.31 */
TEST(a_follower_gives_up_on_a_batch_below_its_log_end, struct test_replicas *t)
{
    log_has(t, 2, "0@0 1@0");
    follow(t, 2, 1, 1);
    answered(t, 2, .high_watermark = 2, .batches = "0@0");
    expect_done(t);
    expect_fetch(t, 2, "failed at 2 after epoch 0");
    expect_log(t, 2, 0, 0, 2);
}

/* Row: C177. Semantics: R2.31 */
TEST(a_follower_takes_any_size_and_gaps, struct test_replicas *t)
{
    t->log_config.max_message_bytes = 61;
    log_has(t, 2, "0-1@0");
    hw_log_set_config(log_of(t, 2), &t->log_config);
    follow(t, 2, 1, 1);
    answered(t, 2, .batches = "5-6@0");
    expect_done(t);
    expect_fetch(t, 2, "fetching at 7 after epoch 0");
    expect_log(t, 2, 0, 0, 7);
    expect_batches(t, 2, "0-1@0 5-6@0");
}

int main(void)
{
    return test_run(setup_leader, test_replicas_teardown);
}
