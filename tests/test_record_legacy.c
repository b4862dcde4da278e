/* SPDX-License-Identifier: MIT */
/*
 * Are messages of magic 0 and 1 read as Kafka reads them, plain and in wrappers? Source:
 * AbstractLegacyRecordBatch.DeepRecordsIterator, LegacyRecord.
 */
#include "core/base/bytes.h"
#include "core/record/legacy.h"
#include "support_batch.h"
#include "support_heap.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"
#include <zlib.h>

#define TIME INT64_C(1700000000000)

enum { LIMIT = 1 << 20 };

struct fixture {
    struct hw_buffer inner;
    struct hw_buffer entry;
    struct hw_buffer scratch;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    hw_buffer_init(&fixture.inner, &hw_allocator_libc);
    hw_buffer_init(&fixture.entry, &hw_allocator_libc);
    hw_buffer_init(&fixture.scratch, &hw_allocator_libc);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    hw_buffer_release(&fixture->inner);
    hw_buffer_release(&fixture->entry);
    hw_buffer_release(&fixture->scratch);
    return 0;
}

/* A size, -1 for null, and that many bytes. Returns the end. */
static uint8_t *put_bytes(uint8_t *out, const uint8_t *bytes, int32_t size)
{
    hw_put_i32(out, size);
    if (size > 0) {
        memcpy(out + 4, bytes, (size_t)size);
    }
    return out + 4 + (size > 0 ? size : 0);
}

/* Append an entry with a right checksum. */
static void append_entry(struct hw_buffer *buffer, const struct hw_legacy_message *message)
{
    size_t room = 34 + (size_t)(message->key_size > 0 ? message->key_size : 0) +
                  (size_t)(message->value_size > 0 ? message->value_size : 0);
    struct hw_error error;
    uint8_t *bytes;
    uint8_t *out;

    assert_int_equal(hw_buffer_reserve(buffer, room, &error), HW_OK);
    bytes = buffer->bytes + buffer->size;
    hw_put_i64(bytes, message->offset);
    bytes[16] = (uint8_t)message->magic;
    bytes[17] = message->attributes;
    out = bytes + 18;
    if (message->magic == 1) {
        hw_put_i64(out, message->timestamp);
        out += 8;
    }
    out = put_bytes(out, message->key, message->key_size);
    out = put_bytes(out, message->value, message->value_size);
    hw_put_i32(bytes + 8, (int32_t)(out - bytes) - 12);
    hw_put_u32(bytes + 12, (uint32_t)crc32(0, bytes + 16, (uInt)(out - bytes - 16)));
    buffer->size = (size_t)(out - buffer->bytes);
}

/* A message with no key and one byte of value. */
static struct hw_legacy_message message_of(int8_t magic, hw_offset_t offset, hw_time_ms_t timestamp)
{
    return (struct hw_legacy_message){.offset = offset,
                                      .magic = magic,
                                      .timestamp = timestamp,
                                      .key_size = -1,
                                      .value = (const uint8_t *)"v",
                                      .value_size = 1};
}

/* Wrap what fixture->inner holds into fixture->entry, in place of what that held. */
static void wrap(struct fixture *fixture, enum hw_codec codec, struct hw_legacy_message outer)
{
    struct hw_error error;

    fixture->scratch.size = 0;
    assert_int_equal(hw_codec_compress(codec, fixture->inner.bytes, fixture->inner.size,
                                       &fixture->scratch, &error),
                     HW_OK);
    outer.attributes |= (uint8_t)codec;
    outer.value = fixture->scratch.bytes;
    outer.value_size = (int32_t)fixture->scratch.size;
    fixture->entry.size = 0;
    append_entry(&fixture->entry, &outer);
}

/* Start to walk fixture->entry. */
static enum hw_status open_entry(struct fixture *fixture, struct hw_legacy_iterator *iterator,
                                 struct hw_error *error)
{
    struct hw_batch entry;

    assert_int_equal(hw_batch_parse(fixture->entry.bytes, fixture->entry.size, &entry),
                     HW_BATCH_LEGACY);
    assert_int_equal(hw_batch_size_bytes(&entry), fixture->entry.size);
    assert_true(hw_legacy_crc_ok(fixture->entry.bytes, &entry));
    return hw_legacy_iterator_init(iterator, fixture->entry.bytes, &entry, LIMIT, &fixture->scratch,
                                   error);
}

#define expect_next(iterator, record) expect_next_at(iterator, record, __FILE__, __LINE__)
static void expect_next_at(struct hw_legacy_iterator *iterator, struct hw_record expected,
                           const char *file, int line)
{
    struct hw_record record;
    struct hw_error error;
    bool found;

    if (hw_legacy_iterator_next(iterator, &record, &found, &error) != HW_OK) {
        print_error("%s\n", error.message);
        _fail(file, line);
    }
    if (!found || !test_record_equal(&record, &expected)) {
        print_error("%s at offset %lld, expected offset %lld\n", found ? "a record" : "the end",
                    found ? (long long)record.offset : -1LL, (long long)expected.offset);
        _fail(file, line);
    }
}

#define expect_no_more(iterator) expect_no_more_at(iterator, __FILE__, __LINE__)
static void expect_no_more_at(struct hw_legacy_iterator *iterator, const char *file, int line)
{
    struct hw_record record;
    struct hw_error error;
    bool found;

    if (hw_legacy_iterator_next(iterator, &record, &found, &error) != HW_OK || found) {
        _fail(file, line);
    }
}

/* fixture->entry cannot be opened, with this in the message. */
static void expect_refused(struct fixture *fixture, const char *part)
{
    struct hw_legacy_iterator iterator;
    struct hw_error error;
    enum hw_status status = open_entry(fixture, &iterator, &error);

    if (status != HW_CORRUPT || strstr(error.message, part) == NULL) {
        fail_msg("%s: %s", hw_status_name(status), status == HW_OK ? "" : error.message);
    }
}

TEST(plain_entries_of_both_magics_are_one_record, struct fixture *fixture)
{
    struct hw_legacy_iterator iterator;
    struct hw_error error;

    test_read_vector(&fixture->entry, "I-magic0.bin");
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    expect_next(&iterator, test_record(5, -1, NULL, "v"));
    expect_no_more(&iterator);

    fixture->entry.size = 0;
    test_read_vector(&fixture->entry, "I-magic1.bin");
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    expect_next(&iterator, test_record(5, TIME, "k", "v"));
    expect_no_more(&iterator);
    expect_no_more(&iterator);
}

TEST(the_wrapper_vector_gives_absolute_offsets, struct fixture *fixture)
{
    struct hw_legacy_iterator iterator;
    struct hw_error error;

    test_read_vector(&fixture->entry, "I-magic1-gzip-wrapper.bin");
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    assert_int_equal(iterator.outer.timestamp, TIME + 1);
    expect_next(&iterator, test_record(7, TIME, NULL, "a"));
    expect_next(&iterator, test_record(8, TIME + 1, NULL, "b"));
    expect_no_more(&iterator);
}

TEST(a_changed_byte_behind_the_checksum_is_noticed, struct fixture *fixture)
{
    struct hw_batch entry;

    test_read_vector(&fixture->entry, "I-magic1.bin");
    assert_int_equal(hw_batch_parse(fixture->entry.bytes, fixture->entry.size, &entry),
                     HW_BATCH_LEGACY);
    assert_int_equal(entry.crc, 0x39268c33);
    for (size_t i = 16; i < fixture->entry.size; i++) {
        fixture->entry.bytes[i] ^= 0x10;
        assert_false(hw_legacy_crc_ok(fixture->entry.bytes, &entry));
        fixture->entry.bytes[i] ^= 0x10;
    }
}

/* Case: E-03. First the offsets inside, then those that come out, for a wrapper of this offset. */
TEST(inner_offsets_are_relative_to_the_last_one, struct fixture *fixture)
{
    static const struct {
        hw_offset_t wrapper;
        int count;
        hw_offset_t inner[10];
        hw_offset_t absolute[10];
    } cases[] = {
        {772043,
         10,
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9},
         {772034, 772035, 772036, 772037, 772038, 772039, 772040, 772041, 772042, 772043}},
        {100, 3, {0, 3, 4}, {96, 99, 100}},
        {0, 5, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}},
        {9, 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct hw_legacy_iterator iterator;
        struct hw_error error;

        fixture->inner.size = 0;
        for (int i = 0; i < cases[c].count; i++) {
            struct hw_legacy_message inner = message_of(1, cases[c].inner[i], i);

            append_entry(&fixture->inner, &inner);
        }
        wrap(fixture, HW_CODEC_GZIP, message_of(1, cases[c].wrapper, 9));
        assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
        for (int i = 0; i < cases[c].count; i++) {
            expect_next(&iterator, test_record(cases[c].absolute[i], i, NULL, "v"));
        }
        expect_no_more(&iterator);
    }
}

/* Case: E-03. The fourth: there is no room for ten records up to offset 3. */
TEST(a_wrapper_below_its_last_inner_offset_is_corrupt, struct fixture *fixture)
{
    for (int i = 0; i < 10; i++) {
        struct hw_legacy_message inner = message_of(1, i, 0);

        append_entry(&fixture->inner, &inner);
    }
    wrap(fixture, HW_CODEC_GZIP, message_of(1, 3, 0));
    expect_refused(fixture, "the old message at offset 3: the last one inside has the larger "
                            "relative offset 9");
}

/* In magic 0 offsets inside are absolute, whatever the wrapper's is. */
TEST(offsets_of_magic_0_are_absolute, struct fixture *fixture)
{
    struct hw_legacy_message first = message_of(0, 40, 0);
    struct hw_legacy_message second = message_of(0, 42, 0);
    struct hw_legacy_iterator iterator;
    struct hw_error error;

    append_entry(&fixture->inner, &first);
    append_entry(&fixture->inner, &second);
    wrap(fixture, HW_CODEC_SNAPPY, message_of(0, 50, 0));
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    expect_next(&iterator, test_record(40, -1, NULL, "v"));
    expect_next(&iterator, test_record(42, -1, NULL, "v"));
    expect_no_more(&iterator);
}

/* Case: E-04. LogAppendTime of the wrapper, 9000, over 1 and 2 inside; not over magic 0. */
TEST(log_append_time_of_a_wrapper_overrides_the_timestamps_inside, struct fixture *fixture)
{
    struct hw_legacy_message outer = message_of(1, 52, 9000);
    struct hw_legacy_message inner[3] = {message_of(1, 0, 1), message_of(1, 1, 2),
                                         message_of(0, 2, 0)};
    struct hw_legacy_iterator iterator;
    struct hw_error error;

    for (int i = 0; i < 3; i++) {
        append_entry(&fixture->inner, &inner[i]);
    }
    outer.attributes = HW_BATCH_LOG_APPEND_TIME;
    wrap(fixture, HW_CODEC_GZIP, outer);
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    expect_next(&iterator, test_record(50, 9000, NULL, "v"));
    expect_next(&iterator, test_record(51, 9000, NULL, "v"));
    expect_next(&iterator, test_record(52, -1, NULL, "v"));

    /* The bit of an inner entry has no say: the wrapper's has. */
    inner[0].attributes = HW_BATCH_LOG_APPEND_TIME;
    outer.attributes = 0;
    fixture->inner.size = 0;
    append_entry(&fixture->inner, &inner[0]);
    wrap(fixture, HW_CODEC_GZIP, outer);
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    expect_next(&iterator, test_record(52, 1, NULL, "v"));

    /* A wrapper of magic 0 has neither a type nor a time. */
    fixture->inner.size = 0;
    append_entry(&fixture->inner, &inner[1]);
    outer.magic = 0;
    outer.attributes = HW_BATCH_LOG_APPEND_TIME;
    wrap(fixture, HW_CODEC_GZIP, outer);
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    expect_next(&iterator, test_record(1, 2, NULL, "v"));
}

/* Case: E-10. */
TEST(lz4_with_the_old_header_checksum_is_read, struct fixture *fixture)
{
    struct hw_legacy_iterator iterator;
    struct hw_error error;

    for (int8_t magic = 0; magic <= 1; magic++) {
        struct hw_legacy_message inner = message_of(magic, 0, -1);
        struct hw_legacy_message outer = message_of(magic, 0, -1);
        struct hw_buffer packed;

        fixture->inner.size = fixture->entry.size = 0;
        append_entry(&fixture->inner, &inner);
        hw_buffer_init(&packed, &hw_allocator_libc);
        assert_int_equal(hw_codec_compress(HW_CODEC_LZ4, fixture->inner.bytes, fixture->inner.size,
                                           &packed, &error),
                         HW_OK);
        packed.bytes[6] = 0x1a;
        outer.attributes = HW_CODEC_LZ4;
        outer.value = packed.bytes;
        outer.value_size = (int32_t)packed.size;
        append_entry(&fixture->entry, &outer);
        hw_buffer_release(&packed);
        assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
        expect_next(&iterator, test_record(0, -1, NULL, "v"));
        expect_no_more(&iterator);
    }
}

/* Case: E-10. */
TEST(zstd_and_unknown_codecs_are_refused_by_name, struct fixture *fixture)
{
    struct hw_legacy_message inner = message_of(1, 0, 0);
    struct hw_legacy_message outer = message_of(1, 4, 0);

    append_entry(&fixture->inner, &inner);
    wrap(fixture, HW_CODEC_ZSTD, outer);
    expect_refused(fixture, "the old message at offset 4: zstd: not allowed with magic 1");

    outer.attributes = 5;
    wrap(fixture, HW_CODEC_NONE, outer);
    expect_refused(fixture, "the old message at offset 4: there is no codec with id 5");
}

TEST(a_wrapper_needs_entries_inside, struct fixture *fixture)
{
    struct hw_legacy_message outer = message_of(1, 4, 0);

    outer.attributes = HW_CODEC_GZIP;
    outer.value_size = -1;
    append_entry(&fixture->entry, &outer);
    expect_refused(fixture, "it is compressed and has no value");

    wrap(fixture, HW_CODEC_GZIP, message_of(1, 4, 0));
    expect_refused(fixture, "holds no entries");

    /* A size of 0 is no entry, even behind one, and neither is a batch of magic 2. */
    for (int i = 0; i < 2; i++) {
        struct hw_legacy_message inner = message_of(1, 0, 0);
        uint8_t zeros[30] = {0};
        struct hw_error error;

        fixture->inner.size = 0;
        if (i == 1) {
            append_entry(&fixture->inner, &inner);
        }
        assert_int_equal(hw_buffer_append(&fixture->inner, zeros, sizeof zeros, &error), HW_OK);
        wrap(fixture, HW_CODEC_GZIP, message_of(1, 4, 0));
        expect_refused(fixture, "damaged");
    }
    fixture->inner.size = 0;
    test_read_vector(&fixture->inner, "A-two-records.bin");
    wrap(fixture, HW_CODEC_GZIP, message_of(1, 4, 0));
    expect_refused(fixture, "damaged");
}

/* An entry cut off at the end of a wrapper is no record and no error. */
TEST(a_cut_entry_at_the_end_of_a_wrapper_does_not_count, struct fixture *fixture)
{
    struct hw_legacy_message first = message_of(1, 0, 1);
    struct hw_legacy_message second = message_of(1, 1, 2);
    struct hw_legacy_iterator iterator;
    struct hw_error error;

    append_entry(&fixture->inner, &first);
    append_entry(&fixture->inner, &second);
    fixture->inner.size--;
    wrap(fixture, HW_CODEC_GZIP, message_of(1, 10, 2));
    assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
    expect_next(&iterator, test_record(10, 1, NULL, "v"));
    expect_no_more(&iterator);
}

/* Faults of the second entry inside: the first is still given, then an error, then the end. */
TEST(a_damaged_entry_inside_ends_the_walk, struct fixture *fixture)
{
    static const struct {
        int at; /* Byte of the second entry that becomes `value`. */
        int value;
        bool has_right_checksum;
        const char *message;
    } cases[] = {
        {34, 'w', false, "wrong checksum"},         {17, HW_CODEC_GZIP, true, "compressed too"},
        {26, 0x7f, true, "its key passes its end"}, {33, 0x02, true, "its value passes its end"},
        {0, 0x7f, true, "too large an offset"},
    };

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct hw_legacy_message inner[3] = {message_of(1, 0, 1), message_of(1, 0, 2),
                                             message_of(1, 2, 3)};
        struct hw_legacy_iterator iterator;
        struct hw_record record;
        struct hw_error error;
        bool found;
        uint8_t *second;

        inner[1].offset = 0x00fffffffffffffe; /* Only the last one's counts for the others. */
        fixture->inner.size = 0;
        for (int i = 0; i < 3; i++) {
            append_entry(&fixture->inner, &inner[i]);
        }
        second = fixture->inner.bytes + 35;
        second[cases[c].at] = (uint8_t)cases[c].value;
        if (cases[c].has_right_checksum) {
            hw_put_u32(second + 12, (uint32_t)crc32(0, second + 16, 35 - 16));
        }
        wrap(fixture, HW_CODEC_GZIP, message_of(1, 10, 2));
        assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
        expect_next(&iterator, test_record(8, 1, NULL, "v"));
        assert_int_equal(hw_legacy_iterator_next(&iterator, &record, &found, &error), HW_CORRUPT);
        assert_false(found);
        assert_non_null(strstr(error.message, cases[c].message));
        expect_no_more(&iterator);
    }
}

/* Case: E-08. */
TEST(null_and_empty_are_different, struct fixture *fixture)
{
    static const char *const parts[][2] = {
        {NULL, "x"}, {"", ""}, {"a", NULL}, {NULL, NULL}, {"a", ""}};

    for (int i = 0; i < 5; i++) {
        struct hw_record expected = test_record(7, 1, parts[i][0], parts[i][1]);
        struct hw_legacy_message message = {.offset = 7,
                                            .magic = 1,
                                            .timestamp = 1,
                                            .key = expected.key,
                                            .key_size = expected.key_size,
                                            .value = expected.value,
                                            .value_size = expected.value_size};
        struct hw_legacy_iterator iterator;
        struct hw_error error;

        fixture->entry.size = 0;
        append_entry(&fixture->entry, &message);
        assert_int_equal(open_entry(fixture, &iterator, &error), HW_OK);
        expect_next(&iterator, expected);
        expect_no_more(&iterator);
    }
}

/* Every value of every byte of both kinds of entries, in a block of exactly their size. */
TEST(every_change_of_one_byte_is_harmless, struct fixture *fixture)
{
    static const char *const names[] = {"I-magic0.bin", "I-magic1.bin",
                                        "I-magic1-gzip-wrapper.bin"};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        fixture->entry.size = 0;
        test_read_vector(&fixture->entry, names[n]);
        for (size_t i = 0; i < fixture->entry.size * 256; i++) {
            size_t size = fixture->entry.size;
            uint8_t *copy = malloc(size);
            struct hw_legacy_iterator iterator;
            struct hw_record record;
            struct hw_batch entry;
            struct hw_error error;
            bool found = true;
            int count = 0;

            assert_non_null(copy);
            memcpy(copy, fixture->entry.bytes, size);
            copy[i / 256] = (uint8_t)i;
            if (hw_batch_parse(copy, size, &entry) == HW_BATCH_LEGACY) {
                (void)hw_legacy_crc_ok(copy, &entry);
                if (hw_legacy_iterator_init(&iterator, copy, &entry, 4096, &fixture->scratch,
                                            &error) == HW_OK) {
                    while (found &&
                           hw_legacy_iterator_next(&iterator, &record, &found, &error) == HW_OK) {
                        count += found;
                    }
                }
            }
            assert_true(count <= 2);
            free(copy);
        }
    }
}

TEST(a_wrapper_without_memory_says_so, struct fixture *fixture)
{
    struct test_heap heap;
    int fail_at = 0;

    test_read_vector(&fixture->entry, "I-magic1-gzip-wrapper.bin");
    do {
        struct hw_legacy_iterator iterator;
        struct hw_buffer scratch;
        struct hw_batch entry;
        struct hw_error error;
        enum hw_status status;

        test_heap_init(&heap, fail_at++);
        hw_buffer_init(&scratch, &heap.allocator);
        assert_int_equal(hw_batch_parse(fixture->entry.bytes, fixture->entry.size, &entry),
                         HW_BATCH_LEGACY);
        status = hw_legacy_iterator_init(&iterator, fixture->entry.bytes, &entry, LIMIT, &scratch,
                                         &error);
        assert_int_equal(status, test_heap_has_failed(&heap) ? HW_NO_MEMORY : HW_OK);
        hw_buffer_release(&scratch);
        assert_int_equal(heap.bytes_in_use, 0);
    } while (test_heap_has_failed(&heap));
    assert_true(fail_at > 1);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
