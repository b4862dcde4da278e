/* SPDX-License-Identifier: MIT */
/*
 * In which codec does a leader store what it is sent (compression.type)?
 * Source: LogValidator.validateMessagesAndAssignOffsets, buildRecordsAndAssignOffsets.
 */
#include "core/record/codec.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <string.h>

enum { PRODUCER = -1, RECORDS = 40 };

/* The first batch of a producer, in `codec`: records that are alike, the largest timestamp in the
 * middle. */
static struct hw_buffer sent_batch(enum hw_codec codec, int number)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_buffer plain;
    struct hw_buffer sent;
    struct hw_batch batch;
    struct hw_error error;

    hw_buffer_init(&plain, &hw_allocator_libc);
    hw_buffer_init(&sent, &hw_allocator_libc);
    assert_int_equal(hw_batch_builder_begin(&builder, &plain, 0, &error), HW_OK);
    for (int i = 0; i < RECORDS; i++) {
        struct hw_record record = {.offset = i,
                                   .timestamp = i == RECORDS / 2 ? 900 : 100 + i,
                                   .key = (const uint8_t *)"a key",
                                   .key_size = i % 3 == 0 ? -1 : 5,
                                   .value = (const uint8_t *)"a value that is there many times",
                                   .value_size = 32};

        assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
    }
    options.producer_id = 4000 + number;
    options.producer_epoch = 2;
    options.base_sequence = 7;
    hw_batch_builder_finish(&builder, &options);
    assert_int_equal(hw_batch_parse(plain.bytes, plain.size, &batch), HW_BATCH_OK);
    if (codec == HW_CODEC_NONE) {
        return plain;
    }
    assert_int_equal(hw_batch_recompress(plain.bytes, &batch, codec, SIZE_MAX, &sent, &error),
                     HW_OK);
    hw_buffer_release(&plain);
    return sent;
}

static void set_codec(struct test_log *t, int codec)
{
    t->config.recompresses = codec != PRODUCER;
    t->config.codec = codec == PRODUCER ? HW_CODEC_NONE : (enum hw_codec)codec;
    hw_log_set_config(t->log, &t->config);
}

/* All that the log holds from `offset` on. */
static struct hw_buffer stored(struct test_log *t, hw_offset_t offset)
{
    struct hw_buffer buffer;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    expect_ok(t, hw_log_read(t->log, offset, INT64_MAX, SIZE_MAX, true, &buffer, &t->error));
    return buffer;
}

/* Two batches of magic 2 have the same records, and the same header but for codec and place. */
static void expect_same_records(const struct hw_buffer *sent, const struct hw_buffer *kept,
                                hw_offset_t base_offset)
{
    struct hw_batch a;
    struct hw_batch b;
    struct hw_buffer plain_a;
    struct hw_buffer plain_b;
    struct hw_error error;

    hw_buffer_init(&plain_a, &hw_allocator_libc);
    hw_buffer_init(&plain_b, &hw_allocator_libc);
    assert_int_equal(hw_batch_parse(sent->bytes, sent->size, &a), HW_BATCH_OK);
    assert_int_equal(hw_batch_parse(kept->bytes, kept->size, &b), HW_BATCH_OK);
    assert_int_equal(hw_batch_size_bytes(&b), kept->size);
    assert_true(hw_batch_crc_ok(kept->bytes, &b));
    assert_int_equal(hw_batch_decompress(sent->bytes, &a, SIZE_MAX, &plain_a, &error), HW_OK);
    assert_int_equal(hw_batch_decompress(kept->bytes, &b, SIZE_MAX, &plain_b, &error), HW_OK);
    assert_int_equal(plain_a.size, plain_b.size);
    assert_memory_equal(plain_a.bytes, plain_b.bytes, plain_a.size);
    assert_int_equal(b.base_offset, base_offset);
    assert_int_equal(b.last_offset_delta, a.last_offset_delta);
    assert_int_equal(b.base_timestamp, a.base_timestamp);
    assert_int_equal(b.max_timestamp, 900);
    assert_int_equal(b.producer_id, a.producer_id);
    assert_int_equal(b.producer_epoch, 2);
    assert_int_equal(b.base_sequence, 7);
    assert_int_equal(b.record_count, RECORDS);
    hw_buffer_release(&plain_a);
    hw_buffer_release(&plain_b);
}

static void expect_codec(const struct hw_buffer *kept, int codec)
{
    struct hw_batch batch;

    assert_int_equal(hw_batch_parse(kept->bytes, kept->size, &batch), HW_BATCH_OK);
    assert_int_equal(hw_batch_codec_id(&batch), codec);
}

/* Every codec that a batch can have, into every one that a topic can name. */
TEST(the_leader_stores_a_batch_in_the_codec_of_the_log, struct test_log *t)
{
    open_log(t);
    for (int own = PRODUCER; own <= HW_CODEC_ZSTD; own++) {
        for (int codec = HW_CODEC_NONE; codec <= HW_CODEC_ZSTD; codec++) {
            struct hw_buffer sent = sent_batch((enum hw_codec)codec, own * 8 + codec);
            struct hw_buffer again = sent_batch((enum hw_codec)codec, own * 8 + codec);
            hw_offset_t end = hw_log_end(t->log);
            struct hw_buffer kept;

            set_codec(t, own);
            expect_ok(t, lead_bytes(t, &sent));
            kept = stored(t, end);
            expect_codec(&kept, own == PRODUCER ? codec : own);
            expect_same_records(&again, &kept, end);
            if (own == PRODUCER || own == codec) { /* Not even compressed anew. */
                assert_int_equal(kept.size, again.size);
                assert_memory_equal(kept.bytes + HW_BATCH_HEADER_SIZE,
                                    again.bytes + HW_BATCH_HEADER_SIZE,
                                    again.size - HW_BATCH_HEADER_SIZE);
            }
            hw_buffer_release(&kept);
            hw_buffer_release(&again);
            hw_buffer_release(&sent);
        }
    }
    assert_int_equal(expect_all_readable(t), 6 * 5 * RECORDS);
    crash_and_reopen(t);
    assert_int_equal(expect_all_readable(t), 6 * 5 * RECORDS);
}

/* What it takes on disk is less than what was sent. */
TEST(an_append_takes_the_bytes_that_are_stored, struct test_log *t)
{
    struct hw_buffer sent = sent_batch(HW_CODEC_NONE, 0);
    struct hw_log_append_info info;

    open_log(t);
    set_codec(t, HW_CODEC_ZSTD);
    expect_ok(
        t, hw_log_append_as_leader(t->log, sent.bytes, sent.size, 3, t->now_ms, &info, &t->error));
    assert_true(hw_log_size_bytes(t->log) > 0);
    assert_true(hw_log_size_bytes(t->log) < (int64_t)sent.size / 2);
    assert_int_equal(info.last_offset, RECORDS - 1);
    assert_int_equal(hw_log_segment_view(t->log, 0).max_timestamp, 900);
    expect_epochs(t, "3:0");
    hw_buffer_release(&sent);
}

TEST(log_append_time_and_a_codec_go_together, struct test_log *t)
{
    struct hw_buffer sent = sent_batch(HW_CODEC_NONE, 0);
    struct hw_buffer kept;
    struct hw_batch batch;

    open_log(t);
    t->now_ms = 5000;
    t->config.log_append_time = true;
    set_codec(t, HW_CODEC_LZ4);
    expect_ok(t, lead_bytes(t, &sent));
    kept = stored(t, 0);
    expect_codec(&kept, HW_CODEC_LZ4);
    assert_int_equal(hw_batch_parse(kept.bytes, kept.size, &batch), HW_BATCH_OK);
    assert_true((batch.attributes & HW_BATCH_LOG_APPEND_TIME) != 0);
    assert_int_equal(batch.max_timestamp, 5000);
    assert_true(hw_batch_crc_ok(kept.bytes, &batch));
    hw_buffer_release(&kept);
    hw_buffer_release(&sent);
}

/* Semantics: R1.12, R1.19 */
TEST(the_size_is_checked_as_sent_and_as_stored, struct test_log *t)
{
    struct hw_buffer small = sent_batch(HW_CODEC_ZSTD, 0);
    struct hw_buffer large = sent_batch(HW_CODEC_NONE, 0);
    int32_t plain_size = (int32_t)large.size;

    open_log(t);
    t->config.max_message_bytes = plain_size - 1;
    set_codec(t, HW_CODEC_NONE);
    expect_refused(t, lead_bytes(t, &small), MESSAGE_TOO_LARGE); /* Once it is decompressed. */
    set_codec(t, HW_CODEC_ZSTD);
    expect_refused(t, lead_bytes(t, &large), MESSAGE_TOO_LARGE); /* Though it would be small. */
    expect_log(t, 0, 0, 0);
    expect_epochs(t, "");
    t->config.max_message_bytes = plain_size;
    set_codec(t, HW_CODEC_NONE);
    expect_ok(t, lead_bytes(t, &small));
    expect_log(t, 0, 0, RECORDS);
    hw_buffer_release(&small);
    hw_buffer_release(&large);
}

/* Semantics: R1.20 */
TEST(segment_bytes_bounds_what_is_stored, struct test_log *t)
{
    struct hw_buffer sent = sent_batch(HW_CODEC_NONE, 0);
    struct hw_buffer packed = sent_batch(HW_CODEC_ZSTD, 0);

    open_log(t);
    t->config.segment_bytes = (int32_t)sent.size - 1;
    set_codec(t, HW_CODEC_NONE);
    expect_refused(t, lead_bytes(t, &packed), RECORD_LIST_TOO_LARGE);
    set_codec(t, HW_CODEC_ZSTD);
    expect_ok(t, lead_bytes(t, &sent));
    expect_log(t, 0, 0, RECORDS);
    hw_buffer_release(&packed);
    hw_buffer_release(&sent);
}

TEST(a_follower_keeps_the_bytes_whatever_its_own_codec, struct test_log *t)
{
    struct hw_buffer sent = sent_batch(HW_CODEC_GZIP, 0);
    struct hw_buffer kept;

    open_log(t);
    set_codec(t, HW_CODEC_ZSTD);
    expect_ok(t, follow_bytes(t, &sent));
    kept = stored(t, 0);
    assert_int_equal(kept.size, sent.size);
    assert_memory_equal(kept.bytes, sent.bytes, sent.size);
    hw_buffer_release(&kept);
    hw_buffer_release(&sent);
}

/* Batches that were built here: each keeps its records, offsets go on. */
TEST(built_batches_are_stored_in_the_codec_of_the_log, struct test_log *t)
{
    open_log(t);
    for (int own = PRODUCER; own <= HW_CODEC_ZSTD; own++) {
        struct hw_buffer sent = sent_batch(HW_CODEC_NONE, 0);
        struct hw_buffer twice = sent_batch(HW_CODEC_NONE, 0);
        hw_offset_t end = hw_log_end(t->log);
        struct hw_log_append_info info;

        set_codec(t, own);
        assert_int_equal(hw_buffer_append(&twice, sent.bytes, sent.size, &t->error), HW_OK);
        expect_ok(t, hw_log_append_built(t->log, twice.bytes, twice.size, 0, t->now_ms, &info,
                                         &t->error));
        assert_int_equal(info.first_offset, end);
        assert_int_equal(info.last_offset, end + 2 * RECORDS - 1);
        for (int i = 0; i < 2; i++) {
            struct hw_buffer kept = stored(t, end + (hw_offset_t)i * RECORDS);
            struct hw_batch batch;

            assert_int_equal(hw_batch_parse(kept.bytes, kept.size, &batch), HW_BATCH_OK);
            kept.size = hw_batch_size_bytes(&batch);
            expect_codec(&kept, own == PRODUCER ? HW_CODEC_NONE : own);
            expect_same_records(&sent, &kept, end + (hw_offset_t)i * RECORDS);
            hw_buffer_release(&kept);
        }
        hw_buffer_release(&twice);
        hw_buffer_release(&sent);
    }
    assert_int_equal(expect_all_readable(t), 6 * 2 * RECORDS);
}

/* Semantics: R1.12, R1.19 */
TEST(a_built_batch_that_is_too_large_appends_nothing, struct test_log *t)
{
    struct hw_buffer small = sent_batch(HW_CODEC_NONE, 0);
    struct hw_buffer large = sent_batch(HW_CODEC_NONE, 0);
    struct hw_log_append_info info;

    open_log(t);
    build_sized_batch(&small, 0, 0, small.size + 1);
    t->config.max_message_bytes = (int32_t)large.size;
    set_codec(t, HW_CODEC_ZSTD);
    expect_refused(
        t, hw_log_append_built(t->log, small.bytes, small.size, 0, t->now_ms, &info, &t->error),
        MESSAGE_TOO_LARGE);
    expect_log(t, 0, 0, 0);

    /* 80 bytes grow by the frame of a codec. */
    small.size = 0;
    build_sized_batch(&small, 0, 0, 80);
    t->config.max_message_bytes = 80;
    set_codec(t, HW_CODEC_GZIP);
    expect_refused(
        t, hw_log_append_built(t->log, small.bytes, small.size, 0, t->now_ms, &info, &t->error),
        MESSAGE_TOO_LARGE);
    expect_log(t, 0, 0, 0);
    hw_buffer_release(&small);
    hw_buffer_release(&large);
}

TEST(every_allocation_of_an_append_may_fail, struct test_log *t)
{
    enum hw_status status = HW_NO_MEMORY;

    open_log(t);
    set_codec(t, HW_CODEC_SNAPPY);
    for (int fail_at = 0; status == HW_NO_MEMORY; fail_at++) {
        struct hw_buffer sent = sent_batch(HW_CODEC_NONE, 0);

        expect_log(t, 0, 0, 0);
        t->heap.fail_at = t->heap.allocations + fail_at;
        status = lead_bytes(t, &sent);
        t->heap.fail_at = -1;
        hw_buffer_release(&sent);
        assert_true(fail_at < 100);
    }
    expect_ok(t, status);
    expect_log(t, 0, 0, RECORDS);
    assert_int_equal(expect_all_readable(t), RECORDS);
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
