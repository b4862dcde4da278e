/* SPDX-License-Identifier: MIT */
/*
 * Is a compressed batch the same as its plain twin to whoever reads it, and can a leader give it
 * another codec? Source: DefaultRecordBatch.recordInputStream,
 * LogValidator.validateMessagesAndAssignOffsetsCompressed.
 */
#include "core/record/codec.h"
#include "support_batch.h"
#include "support_heap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

#define TIME INT64_C(1700000000000)

enum { LIMIT = 1 << 20 };

static const char *const vectors[] = {"A-two-records.bin", "H-gzip-batch.bin", "H-snappy-batch.bin",
                                      "H-lz4-batch.bin", "H-zstd-batch.bin"};

struct fixture {
    struct hw_buffer batch;
    struct hw_buffer scratch;
    struct hw_buffer out;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    hw_buffer_init(&fixture.batch, &hw_allocator_libc);
    hw_buffer_init(&fixture.scratch, &hw_allocator_libc);
    hw_buffer_init(&fixture.out, &hw_allocator_libc);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    hw_buffer_release(&fixture->batch);
    hw_buffer_release(&fixture->scratch);
    hw_buffer_release(&fixture->out);
    return 0;
}

static void load(struct fixture *fixture, const char *name)
{
    fixture->batch.size = 0;
    test_read_vector(&fixture->batch, name);
}

/* The whole batch in `buffer` holds the two records of example A. */
static void expect_records_of_a(struct fixture *fixture, const struct hw_buffer *buffer)
{
    struct hw_batch batch = test_parse(buffer->bytes, buffer->size);
    struct hw_record first = test_record(100, TIME, NULL, "v0");
    struct hw_record_iterator iterator;
    struct hw_buffer headers;
    struct hw_error error;

    hw_buffer_init(&headers, &hw_allocator_libc);
    test_add_header(&headers, "h", "x");
    first.header_count = 1;
    first.headers = headers.bytes;
    first.headers_size = (int32_t)headers.size;
    assert_int_equal(
        hw_record_iterator_open(&iterator, buffer->bytes, &batch, LIMIT, &fixture->scratch, &error),
        HW_OK);
    expect_record(&iterator, first);
    expect_record(&iterator, test_record(101, TIME - 5, "k1", "hello"));
    expect_end(&iterator);
    hw_buffer_release(&headers);
}

/* Case: E-10. */
TEST(every_codec_gives_the_same_records, struct fixture *fixture)
{
    static const uint32_t crcs[] = {0xf7aa9e5b, 0x5e0fbc66, 0xafcb715f, 0x3c70bfb4, 0x76bcc8a3};

    for (int codec = HW_CODEC_NONE; codec <= HW_CODEC_ZSTD; codec++) {
        struct hw_batch batch;

        load(fixture, vectors[codec]);
        batch = test_parse(fixture->batch.bytes, fixture->batch.size);
        assert_int_equal(hw_batch_codec_id(&batch), codec);
        assert_int_equal(batch.crc, crcs[codec]);
        expect_records_of_a(fixture, &fixture->batch);
    }
}

/* From each codec to each: the records stay, and so do all other fields of the header. */
TEST(a_batch_can_get_any_other_codec, struct fixture *fixture)
{
    struct hw_error error;

    for (int from = HW_CODEC_NONE; from <= HW_CODEC_ZSTD; from++) {
        for (int to = HW_CODEC_NONE; to <= HW_CODEC_ZSTD; to++) {
            enum hw_codec codec = (enum hw_codec)to;
            struct hw_batch before;
            struct hw_batch after;

            load(fixture, vectors[from]);
            before = test_parse(fixture->batch.bytes, fixture->batch.size);
            fixture->out.size = 0;
            assert_int_equal(hw_batch_recompress(fixture->batch.bytes, &before, codec, LIMIT,
                                                 &fixture->out, &error),
                             HW_OK);
            expect_records_of_a(fixture, &fixture->out);
            after = test_parse(fixture->out.bytes, fixture->out.size);
            assert_int_equal(hw_batch_codec_id(&after), to);
            after.attributes = before.attributes;
            after.batch_length = before.batch_length;
            after.crc = before.crc;
            assert_memory_equal(&after, &before, sizeof after);
        }
    }
    /* Without a codec it is example A again, byte for byte. */
    load(fixture, vectors[HW_CODEC_ZSTD]);
    fixture->out.size = 0;
    {
        struct hw_batch batch = test_parse(fixture->batch.bytes, fixture->batch.size);

        assert_int_equal(hw_batch_recompress(fixture->batch.bytes, &batch, HW_CODEC_NONE, LIMIT,
                                             &fixture->out, &error),
                         HW_OK);
    }
    load(fixture, vectors[HW_CODEC_NONE]);
    assert_int_equal(fixture->out.size, fixture->batch.size);
    assert_memory_equal(fixture->out.bytes, fixture->batch.bytes, fixture->batch.size);
}

/* Flags of the batch stay, and what has no meaning goes. */
TEST(flags_survive_another_codec, struct fixture *fixture)
{
    struct hw_batch batch;
    struct hw_error error;

    load(fixture, vectors[HW_CODEC_GZIP]);
    batch = test_parse(fixture->batch.bytes, fixture->batch.size);
    batch.attributes = 0x7f00 | HW_BATCH_LOG_APPEND_TIME | HW_BATCH_TRANSACTIONAL | HW_CODEC_GZIP;
    hw_batch_encode(fixture->batch.bytes, &batch);
    assert_int_equal(hw_batch_recompress(fixture->batch.bytes, &batch, HW_CODEC_LZ4, LIMIT,
                                         &fixture->out, &error),
                     HW_OK);
    batch = test_parse(fixture->out.bytes, fixture->out.size);
    assert_int_equal(batch.attributes,
                     HW_BATCH_LOG_APPEND_TIME | HW_BATCH_TRANSACTIONAL | HW_CODEC_LZ4);
}

/* Case: E-01. Nothing to read, whatever the attributes say about a codec. */
TEST(an_empty_batch_is_never_decompressed, struct fixture *fixture)
{
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;

    load(fixture, "C-empty-batch.bin");
    assert_int_equal(hw_buffer_append(&fixture->batch, "left over", 9, &error), HW_OK);
    batch = test_parse(fixture->batch.bytes, fixture->batch.size);
    batch.attributes |= HW_CODEC_GZIP;
    batch.batch_length += 9;
    hw_batch_encode(fixture->batch.bytes, &batch);
    assert_int_equal(hw_record_iterator_open(&iterator, fixture->batch.bytes, &batch, LIMIT,
                                             &fixture->scratch, &error),
                     HW_OK);
    expect_end(&iterator);

    assert_int_equal(hw_batch_recompress(fixture->batch.bytes, &batch, HW_CODEC_ZSTD, LIMIT,
                                         &fixture->out, &error),
                     HW_OK);
    load(fixture, "C-empty-batch.bin");
    assert_int_equal(fixture->out.size, fixture->batch.size);
    assert_memory_equal(fixture->out.bytes, fixture->batch.bytes, fixture->out.size);
}

/* Case: E-10. Offsets, count and checksum can be had; only the records cannot. */
TEST(a_batch_of_an_unknown_codec_can_still_be_listed, struct fixture *fixture)
{
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;

    load(fixture, vectors[HW_CODEC_GZIP]);
    batch = test_parse(fixture->batch.bytes, fixture->batch.size);
    batch.attributes = 5;
    hw_batch_encode(fixture->batch.bytes, &batch);
    batch = test_parse(fixture->batch.bytes, fixture->batch.size);
    assert_int_equal(hw_batch_last_offset(&batch), 101);
    assert_int_equal(batch.record_count, 2);
    assert_int_equal(hw_batch_codec_id(&batch), 5);
    assert_int_equal(hw_record_iterator_open(&iterator, fixture->batch.bytes, &batch, LIMIT,
                                             &fixture->scratch, &error),
                     HW_CORRUPT);
    assert_string_equal(error.message, "the batch at offset 100: there is no codec with id 5");
}

TEST(the_limit_on_plain_bytes_is_named, struct fixture *fixture)
{
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;

    load(fixture, vectors[HW_CODEC_ZSTD]);
    batch = test_parse(fixture->batch.bytes, fixture->batch.size);
    assert_int_equal(hw_record_iterator_open(&iterator, fixture->batch.bytes, &batch, 26,
                                             &fixture->scratch, &error),
                     HW_CORRUPT);
    assert_string_equal(error.message,
                        "the batch at offset 100: zstd: more than 26 bytes when decompressed");
    assert_int_equal(
        hw_batch_recompress(fixture->batch.bytes, &batch, HW_CODEC_NONE, 26, &fixture->out, &error),
        HW_CORRUPT);
    assert_int_equal(fixture->out.size, 0);
}

/* The plain bytes must be exactly record_count records. */
TEST(a_wrong_count_is_found_in_the_plain_bytes, struct fixture *fixture)
{
    static const int32_t counts[] = {1, 3, INT32_MAX};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct hw_record_iterator iterator;
        struct hw_record record;
        struct hw_batch batch;
        struct hw_error error;
        enum hw_status status;
        bool found;

        load(fixture, vectors[HW_CODEC_SNAPPY]);
        batch = test_parse(fixture->batch.bytes, fixture->batch.size);
        batch.record_count = counts[i];
        hw_batch_encode(fixture->batch.bytes, &batch);
        assert_int_equal(hw_record_iterator_open(&iterator, fixture->batch.bytes, &batch, LIMIT,
                                                 &fixture->scratch, &error),
                         HW_OK);
        do {
            status = hw_record_iterator_next(&iterator, &record, &found, &error);
        } while (status == HW_OK && found);
        assert_int_equal(status, HW_CORRUPT);
    }
}

/* A frame without a single plain byte where there should be two records. */
TEST(an_empty_stream_is_found_too, struct fixture *fixture)
{
    struct hw_record_iterator iterator;
    struct hw_record record;
    struct hw_batch batch;
    struct hw_error error;
    bool found;

    load(fixture, vectors[HW_CODEC_SNAPPY]);
    batch = test_parse(fixture->batch.bytes, fixture->batch.size);
    batch.batch_length = HW_BATCH_HEADER_SIZE - HW_BATCH_OVERHEAD + 16;
    hw_batch_encode(fixture->batch.bytes, &batch);
    assert_int_equal(hw_record_iterator_open(&iterator, fixture->batch.bytes, &batch, LIMIT,
                                             &fixture->scratch, &error),
                     HW_OK);
    assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &error), HW_CORRUPT);
    assert_false(found);
}

/* Whatever byte of whatever codec changes, reading ends, and within the bytes there are. */
TEST(every_change_of_one_byte_is_harmless, struct fixture *fixture)
{
    for (int codec = HW_CODEC_GZIP; codec <= HW_CODEC_ZSTD; codec++) {
        load(fixture, vectors[codec]);
        for (size_t i = 0; i < fixture->batch.size * 256; i++) {
            size_t size = fixture->batch.size;
            uint8_t *copy = malloc(size);
            struct hw_record_iterator iterator;
            struct hw_record record;
            struct hw_batch batch;
            struct hw_error error;
            bool found = true;

            assert_non_null(copy);
            memcpy(copy, fixture->batch.bytes, size);
            copy[i / 256] = (uint8_t)i;
            if (hw_batch_parse(copy, size, &batch) == HW_BATCH_OK &&
                hw_record_iterator_open(&iterator, copy, &batch, 4096, &fixture->scratch, &error) ==
                    HW_OK) {
                while (found &&
                       hw_record_iterator_next(&iterator, &record, &found, &error) == HW_OK) {
                    assert_true(record.offset >= 0);
                }
            }
            free(copy);
        }
    }
}

static enum hw_status story(const struct hw_allocator *allocator, const struct hw_buffer *plain)
{
    struct hw_batch batch = test_parse(plain->bytes, plain->size);
    struct hw_buffer packed;
    struct hw_buffer again;
    struct hw_buffer scratch;
    struct hw_record_iterator iterator;
    struct hw_error error;
    enum hw_status status;

    hw_buffer_init(&packed, allocator);
    hw_buffer_init(&again, allocator);
    hw_buffer_init(&scratch, allocator);
    status = hw_batch_recompress(plain->bytes, &batch, HW_CODEC_LZ4, LIMIT, &packed, &error);
    assert_true(status == HW_OK || packed.size == 0);
    if (status == HW_OK) {
        batch = test_parse(packed.bytes, packed.size);
        status = hw_batch_recompress(packed.bytes, &batch, HW_CODEC_ZSTD, LIMIT, &again, &error);
        assert_true(status == HW_OK || again.size == 0);
    }
    if (status == HW_OK) {
        batch = test_parse(again.bytes, again.size);
        status = hw_record_iterator_open(&iterator, again.bytes, &batch, LIMIT, &scratch, &error);
    }
    hw_buffer_release(&packed);
    hw_buffer_release(&again);
    hw_buffer_release(&scratch);
    return status;
}

TEST(every_allocation_can_fail, struct fixture *fixture)
{
    struct test_heap heap;
    int fail_at = 0;

    load(fixture, vectors[HW_CODEC_NONE]);
    do {
        enum hw_status status;

        test_heap_init(&heap, fail_at++);
        status = story(&heap.allocator, &fixture->batch);
        assert_int_equal(status, test_heap_has_failed(&heap) ? HW_NO_MEMORY : HW_OK);
        assert_int_equal(heap.bytes_in_use, 0);
    } while (test_heap_has_failed(&heap));
    assert_true(fail_at > 5);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
