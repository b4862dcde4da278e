/* SPDX-License-Identifier: MIT */
/*
 * What does a log accept from a producer and from a leader, and where does it land?
 * Source: UnifiedLog.appendAsLeader, appendAsFollower, LogValidator.
 */
#include "core/record/codec.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <string.h>

/* A batch as a producer sends it: two records, timestamps 5 and 7. */
static struct hw_buffer produced_batch(void)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_buffer buffer;
    struct hw_error error;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    assert_int_equal(hw_batch_builder_begin(&builder, &buffer, 0, &error), HW_OK);
    for (int i = 0; i < 2; i++) {
        struct hw_record record = {
            .offset = i, .timestamp = 5 + 2 * i, .key_size = -1, .value_size = -1};

        assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
    }
    hw_batch_builder_finish(&builder, &options);
    return buffer;
}

/* Change the header of the batch in `buffer`, keeping the checksum right. */
static struct hw_batch header_of(const struct hw_buffer *buffer)
{
    struct hw_batch batch;

    (void)hw_batch_parse(buffer->bytes, buffer->size, &batch);
    return batch;
}

#define expect_batch_refused(t, change, kafka)                                                     \
    do {                                                                                           \
        struct hw_buffer buffer = produced_batch();                                                \
        struct hw_batch batch = header_of(&buffer);                                                \
        change;                                                                                    \
        hw_batch_encode(buffer.bytes, &batch);                                                     \
        expect_refused(t, lead_bytes(t, &buffer), kafka);                                          \
        hw_buffer_release(&buffer);                                                                \
        expect_log(t, 0, 0, 1);                                                                    \
        expect_epochs(t, "0:0");                                                                   \
    } while (0)

/* Semantics: R1.27 */
TEST(offsets_start_at_the_log_end, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 1, 10);
    produce(t, 0, 3, 11);
    produce(t, 2, 2, 12);
    expect_log(t, 0, 0, 6);
    expect_batches(t, "0 1-3 4-5");
    expect_epochs(t, "0:0 2:4");
    assert_int_equal(expect_all_readable(t), 6);
}

/* Row: C172. Semantics: R1.27 */
TEST(every_batch_gets_the_leaders_epoch, struct test_log *t)
{
    struct hw_buffer buffer;

    open_log(t);
    for (int i = 0; i < 50; i++) {
        produce(t, 72, 1, 0);
    }
    hw_buffer_init(&buffer, &hw_allocator_libc);
    expect_ok(t, hw_log_read(t->log, 0, INT64_MAX, SIZE_MAX, true, &buffer, &t->error));
    for (size_t at = 0; at < buffer.size;) {
        struct hw_batch batch;

        assert_int_equal(hw_batch_parse(buffer.bytes + at, buffer.size - at, &batch), HW_BATCH_OK);
        assert_int_equal(batch.leader_epoch, 72);
        at += hw_batch_size_bytes(&batch);
    }
    hw_buffer_release(&buffer);
    expect_epochs(t, "72:0");
}

/* Semantics: R1.5, R1.11, R1.12, R1.13, R1.15, R1.18 */
TEST(a_producers_batch_is_refused_by_the_first_rule_that_it_breaks, struct test_log *t)
{
    open_log(t);
    produce(t, 0, 1, 0);
    expect_batch_refused(t, batch.base_offset = 3, INVALID_RECORD);
    expect_batch_refused(t, batch.record_count = 1, INVALID_RECORD);
    expect_batch_refused(t, batch.record_count = 3, INVALID_RECORD);
    expect_batch_refused(t, batch.record_count = 0, INVALID_RECORD);
    expect_batch_refused(t, batch.record_count = -1, INVALID_RECORD);
    expect_batch_refused(t, batch.last_offset_delta = 0, INVALID_RECORD);
    expect_batch_refused(t, batch.last_offset_delta = -1, INVALID_RECORD);
    expect_batch_refused(t, (batch.record_count = 3, batch.last_offset_delta = 2), INVALID_RECORD);
    expect_batch_refused(t, (batch.record_count = 1, batch.last_offset_delta = 0), INVALID_RECORD);
    expect_batch_refused(t, batch.attributes = HW_BATCH_CONTROL, INVALID_RECORD);
    expect_batch_refused(t, batch.attributes = 6, INVALID_RECORD);
    expect_batch_refused(t, batch.producer_id = 7, INVALID_RECORD);
    expect_batch_refused(t, batch.attributes = HW_BATCH_LOG_APPEND_TIME, INVALID_TIMESTAMP);
    /* Magic and length are not covered by the checksum. */
    expect_batch_refused(t, batch.magic = 1, INVALID_RECORD);
    expect_batch_refused(t, batch.magic = 3, CORRUPT_MESSAGE);
    expect_batch_refused(t, buffer.size--, INVALID_RECORD);
    expect_batch_refused(t, buffer.size = 0, INVALID_RECORD);
}

/* Semantics: R1.5, R1.13 */
TEST(bytes_that_are_not_one_batch_are_refused, struct test_log *t)
{
    struct hw_buffer buffer = produced_batch();
    struct hw_buffer second = produced_batch();

    open_log(t);
    assert_int_equal(hw_buffer_append(&buffer, second.bytes, second.size, &t->error), HW_OK);
    expect_refused(t, lead_bytes(t, &buffer), INVALID_RECORD);
    second.bytes[second.size - 1] ^= 1;
    expect_refused(t, lead_bytes(t, &second), CORRUPT_MESSAGE);
    memset(second.bytes, 0, second.size);
    expect_refused(t, lead_bytes(t, &second), CORRUPT_MESSAGE);
    expect_log(t, 0, 0, 0);
    hw_buffer_release(&buffer);
    hw_buffer_release(&second);
}

/* Row: C045. Semantics: R1.12 */
TEST(a_batch_above_max_message_bytes_is_refused, struct test_log *t)
{
    struct hw_buffer buffer;

    t->config.max_message_bytes = 199;
    open_log(t);
    produce_sized(t, 0, 199);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_sized_batch(&buffer, 0, 0, 200);
    /* The size is looked at before the checksum. */
    buffer.bytes[199] ^= 1;
    expect_refused(t, lead_bytes(t, &buffer), MESSAGE_TOO_LARGE);
    hw_buffer_release(&buffer);
    expect_log(t, 0, 0, 1);
}

/* Row: C046. Semantics: R1.20 */
TEST(a_batch_above_segment_bytes_is_refused, struct test_log *t)
{
    struct hw_buffer buffer;

    t->config.segment_bytes = 199;
    open_log(t);
    produce_sized(t, 0, 199);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_sized_batch(&buffer, 0, 0, 200);
    expect_refused(t, lead_bytes(t, &buffer), RECORD_LIST_TOO_LARGE);
    hw_buffer_release(&buffer);
    expect_log(t, 0, 0, 1);
    expect_segments(t, "0");
}

/* Semantics: R1.27 */
TEST(log_append_time_replaces_the_timestamps_of_a_batch, struct test_log *t)
{
    struct hw_log_append_info info;
    struct hw_buffer buffer = produced_batch();
    struct hw_batch batch;

    t->config.log_append_time = true;
    t->now_ms = 1234;
    open_log(t);
    expect_ok(t, hw_log_append_as_leader(t->log, buffer.bytes, buffer.size, 0, t->now_ms, &info,
                                         &t->error));
    batch = header_of(&buffer);
    assert_true(hw_batch_crc_ok(buffer.bytes, &batch));
    assert_int_equal(batch.max_timestamp, 1234);
    assert_int_equal(batch.attributes, HW_BATCH_LOG_APPEND_TIME);
    assert_int_equal(hw_log_segment_view(t->log, 0).max_timestamp, 1234);
    hw_buffer_release(&buffer);
}

/* Semantics: R1.27 (kafka formats 1.5: the stored maximum is corrected) */
TEST(a_wrong_largest_timestamp_is_corrected, struct test_log *t)
{
    struct hw_log_append_info info;
    struct hw_buffer buffer = produced_batch();
    struct hw_batch batch = header_of(&buffer);

    open_log(t);
    batch.max_timestamp = 99;
    hw_batch_encode(buffer.bytes, &batch);
    expect_ok(t, hw_log_append_as_leader(t->log, buffer.bytes, buffer.size, 0, t->now_ms, &info,
                                         &t->error));
    batch = header_of(&buffer);
    assert_true(hw_batch_crc_ok(buffer.bytes, &batch));
    assert_int_equal(batch.max_timestamp, 7);
    assert_int_equal(hw_log_segment_view(t->log, 0).max_timestamp, 7);
    hw_buffer_release(&buffer);
}

/* Semantics: R1.15 */
TEST(a_compressed_batch_is_looked_into, struct test_log *t)
{
    struct hw_buffer plain = produced_batch();
    struct hw_buffer packed;
    struct hw_batch batch = header_of(&plain);

    open_log(t);
    hw_buffer_init(&packed, &hw_allocator_libc);
    expect_ok(t,
              hw_batch_recompress(plain.bytes, &batch, HW_CODEC_GZIP, 1 << 20, &packed, &t->error));
    expect_ok(t, lead_bytes(t, &packed));
    expect_log(t, 0, 0, 2);

    hw_batch_set_base_offset(packed.bytes, 0);
    batch = header_of(&packed);
    batch.record_count = 3;
    batch.last_offset_delta = 2;
    hw_batch_encode(packed.bytes, &batch);
    expect_refused(t, lead_bytes(t, &packed), INVALID_RECORD);
    expect_log(t, 0, 0, 2);
    hw_buffer_release(&packed);
    hw_buffer_release(&plain);
}

TEST(offsets_never_pass_the_end_of_64_bits, struct test_log *t)
{
    struct hw_buffer buffer = produced_batch();

    open_log(t);
    expect_ok(t,
              hw_log_truncate_fully_and_start_at(t->log, INT64_MAX - 1, HW_OFFSET_NONE, &t->error));
    expect_refused(t, lead_bytes(t, &buffer), INVALID_RECORD);
    produce(t, 0, 1, 0);
    expect_log(t, INT64_MAX - 1, INT64_MAX - 1, INT64_MAX);
    expect_refused(t, lead_bytes(t, &buffer), INVALID_RECORD);
    crash_and_reopen(t);
    expect_log(t, INT64_MAX - 1, INT64_MAX - 1, INT64_MAX);
    hw_buffer_release(&buffer);
}

/* Row: C048. Semantics: R2.31 */
TEST(fetched_batches_out_of_order_are_refused, struct test_log *t)
{
    static const hw_offset_t offsets[] = {0, 1, 3, 2, 4};
    struct hw_buffer buffer;

    open_log(t);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    for (size_t i = 0; i < 5; i++) {
        build_batch(&buffer, offsets[i], 1, 0, 0);
    }
    expect_refused(t, follow_bytes(t, &buffer), INVALID_RECORD);
    buffer.size = 0;
    build_batch(&buffer, 0, 3, 0, 0);
    build_batch(&buffer, 2, 3, 0, 0);
    expect_refused(t, follow_bytes(t, &buffer), INVALID_RECORD);
    expect_log(t, 0, 0, 0);
    expect_epochs(t, "");
    hw_buffer_release(&buffer);
}

/* Row: C049. Semantics: R2.31 */
TEST(fetched_batches_below_the_log_end_are_refused, struct test_log *t)
{
    open_log(t);
    expect_ok(t, follow(t, 0, 2, 0, 0));
    expect_refused(t, follow(t, 0, 1, 0, 0), OFFSET_OUT_OF_RANGE);
    expect_refused(t, follow(t, 1, 2, 0, 0), OFFSET_OUT_OF_RANGE);
    expect_log(t, 0, 0, 2);
}

/* Row: C050. Case: A-13. Semantics: R2.32 */
TEST(an_empty_follower_starts_below_its_log_start_if_a_batch_covers_it, struct test_log *t)
{
    open_log(t);
    expect_ok(t, hw_log_truncate_fully_and_start_at(t->log, 5, HW_OFFSET_NONE, &t->error));
    expect_refused(t, follow(t, 3, 1, 0, 0), OFFSET_OUT_OF_RANGE);
    expect_log(t, 5, 5, 5);
    expect_ok(t, follow(t, 4, 3, 0, 0));
    expect_log(t, 4, 4, 7);
    expect_epochs(t, "0:4");
    expect_ok(t, follow(t, 7, 1, 0, 0));
    expect_refused(t, follow(t, 3, 2, 0, 0), OFFSET_OUT_OF_RANGE);
    expect_log(t, 4, 4, 8);
    expect_ok(t, follow(t, 8, 1, 0, 0));
    expect_log(t, 4, 4, 9);
    expect_batches(t, "4-6 7 8");
}

/* Row: C177. Semantics: R2.31 */
TEST(a_follower_takes_batches_of_any_size_and_gaps, struct test_log *t)
{
    t->config.max_message_bytes = 70;
    t->config.segment_bytes = 80;
    open_log(t);
    expect_ok(t, follow(t, 0, 2, 0, 0));
    expect_ok(t, follow(t, 5, 2, 0, 0));
    expect_log(t, 0, 0, 7);
    expect_batches(t, "0-1 5-6");
    expect_segments(t, "0 5");
}

/* Row: C022. Semantics: R5.2 */
TEST(a_follower_learns_epochs_from_the_batches, struct test_log *t)
{
    struct hw_buffer buffer;

    open_log(t);
    for (int i = 0; i < 50; i++) {
        expect_ok(t, follow(t, i, 1, 42, 0));
    }
    expect_epochs(t, "42:0");

    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, 50, 2, 42, 0);
    build_batch(&buffer, 52, 1, 43, 0);
    build_batch(&buffer, 60, 1, 45, 0);
    expect_ok(t, follow_bytes(t, &buffer));
    hw_buffer_release(&buffer);
    expect_epochs(t, "42:0 43:52 45:60");
}

/* Semantics: R2.15, R2.31 */
TEST(a_partial_batch_at_the_end_of_a_fetch_is_dropped, struct test_log *t)
{
    struct hw_log_append_info info;
    struct hw_buffer buffer;

    open_log(t);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, 0, 2, 0, 0);
    build_batch(&buffer, 2, 1, 0, 0);
    buffer.size -= 1;
    expect_ok(t, follow_bytes(t, &buffer));
    expect_batches(t, "0-1");

    buffer.size = 30;
    expect_ok(t, hw_log_append_as_follower(t->log, buffer.bytes, buffer.size, 0, &info, &t->error));
    assert_int_equal(info.first_offset, HW_OFFSET_NONE);
    expect_log(t, 0, 0, 2);
    hw_buffer_release(&buffer);
}

/* Semantics: R2.31 */
TEST(a_damaged_fetch_is_refused_as_a_whole, struct test_log *t)
{
    struct hw_buffer buffer;
    size_t first;

    open_log(t);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, 0, 2, 0, 0);
    first = buffer.size;
    build_batch(&buffer, 2, 1, 1, 0);
    buffer.bytes[buffer.size - 1] ^= 1;
    expect_refused(t, follow_bytes(t, &buffer), CORRUPT_MESSAGE);
    memset(buffer.bytes + first, 0, buffer.size - first);
    expect_refused(t, follow_bytes(t, &buffer), CORRUPT_MESSAGE);
    expect_log(t, 0, 0, 0);
    expect_epochs(t, "");
    hw_buffer_release(&buffer);
}

TEST(fetched_offsets_too_far_apart_for_a_segment_are_refused, struct test_log *t)
{
    struct hw_buffer buffer;

    open_log(t);
    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, 5, 1, 0, 0);
    build_batch(&buffer, 5 + (hw_offset_t)INT32_MAX + 1, 1, 0, 0);
    expect_refused(t, follow_bytes(t, &buffer), INVALID_RECORD);
    expect_log(t, 0, 0, 0);
    hw_buffer_release(&buffer);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
