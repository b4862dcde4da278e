/* SPDX-License-Identifier: MIT */
/*
 * Does reading records take everything that is well-formed, and stop without harm at everything
 * that is not? Run under ASan: each batch is copied to a block of exactly its size. Source:
 * DefaultRecord.readFrom.
 */
#include "core/base/bytes.h"
#include "support_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

static int set_up(void **state)
{
    static struct hw_buffer buffer;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    *state = &buffer;
    return 0;
}

static int tear_down(void **state)
{
    hw_buffer_release(*state);
    return 0;
}

/* Append a batch of records whose encoding is `bytes` (with their lengths), well-formed or not. */
static struct hw_batch raw_batch(struct hw_buffer *buffer, const void *bytes, size_t size,
                                 int record_count)
{
    struct hw_batch batch = {.base_offset = 10,
                             .batch_length =
                                 (int32_t)(HW_BATCH_HEADER_SIZE - HW_BATCH_OVERHEAD + size),
                             .magic = 2,
                             .last_offset_delta = 1,
                             .base_timestamp = 1000,
                             .max_timestamp = 2000,
                             .producer_id = -1,
                             .producer_epoch = -1,
                             .base_sequence = -1,
                             .record_count = record_count};
    struct hw_error error;

    buffer->size = 0;
    assert_int_equal(hw_buffer_reserve(buffer, HW_BATCH_HEADER_SIZE, &error), HW_OK);
    buffer->size = HW_BATCH_HEADER_SIZE;
    assert_int_equal(hw_buffer_append(buffer, bytes, size, &error), HW_OK);
    hw_batch_encode(buffer->bytes, &batch);
    return test_parse(buffer->bytes, buffer->size);
}

/* The next record, which a copy of the iterator skips: it must come to the same place. */
static enum hw_status next_and_skip(struct hw_record_iterator *iterator, struct hw_record *record,
                                    bool *found, struct hw_error *error)
{
    struct hw_record_iterator skipper = *iterator;
    struct hw_error skip_error;
    hw_offset_t offset = -1;
    bool skipped = true;
    enum hw_status skip_status = hw_record_iterator_skip(&skipper, &offset, &skipped, &skip_error);
    enum hw_status status = hw_record_iterator_next(iterator, record, found, error);

    if (status == HW_OK) {
        assert_int_equal(skip_status, HW_OK);
        assert_int_equal(skipped, *found);
        assert_ptr_equal(skipper.at, iterator->at);
        assert_int_equal(skipper.left, iterator->left);
        assert_true(!skipped || offset == record->offset);
    } else if (skip_status != HW_OK) {
        assert_int_equal(skip_status, status);
        assert_int_equal(skipper.left, 0);
    }
    return status;
}

/*
 * Walk all records and headers of a copy of exactly `size` bytes, touching every byte that they
 * point to. Returns the records found; *status is how it ended.
 */
static int walk(const uint8_t *bytes, size_t size, enum hw_status *status)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_record record;
    struct hw_error error;
    volatile uint8_t sum = 0;
    bool found = false;
    int count = 0;

    assert_non_null(copy);
    memcpy(copy, bytes, size);
    *status = HW_CORRUPT;
    if (hw_batch_parse(copy, size, &batch) == HW_BATCH_OK) {
        (void)hw_batch_crc_ok(copy, &batch);
        *status = hw_record_iterator_init(&iterator, copy, &batch, &error);
        while (*status == HW_OK) {
            struct hw_header header;
            const uint8_t *cursor;
            int32_t left;

            *status = next_and_skip(&iterator, &record, &found, &error);
            if (*status != HW_OK || !found) {
                break;
            }
            count++;
            cursor = record.headers;
            left = record.header_count;
            for (int32_t i = 0; i < record.key_size; i++) {
                sum ^= record.key[i];
            }
            for (int32_t i = 0; i < record.value_size; i++) {
                sum ^= record.value[i];
            }
            while (hw_header_next(&cursor, &left, &header)) {
                sum ^= header.name_size > 0 ? header.name[header.name_size - 1] : 0;
                sum ^= header.value_size > 0 ? header.value[header.value_size - 1] : 0;
            }
            assert_ptr_equal(cursor, record.headers + record.headers_size);
            assert_true(record.offset >= 0 && record.offset < INT64_MAX);
        }
    }
    (void)sum;
    free(copy);
    return count;
}

/* Five records with headers, nulls, empty and long parts. */
static void build_rich_batch(struct hw_buffer *buffer)
{
    char long_text[301];
    struct hw_buffer headers;
    struct hw_record records[5];

    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    hw_buffer_init(&headers, &hw_allocator_libc);
    test_add_header(&headers, "name", "value");
    test_add_header(&headers, "name", NULL);
    test_add_header(&headers, "", "");
    records[0] = test_record(1000, 5000, NULL, NULL);
    records[1] = test_record(1001, 4000, "", "");
    records[2] = test_record(1002, 6000, "key", long_text);
    records[3] = test_record(1100, -1, long_text, "v");
    records[4] = test_record(1200, 1700000000000, "k", "last");
    for (int i = 1; i < 5; i += 2) {
        records[i].header_count = 3;
        records[i].headers = headers.bytes;
        records[i].headers_size = (int32_t)headers.size;
    }
    test_build_batch(buffer, records, 5);
    hw_buffer_release(&headers);
}

TEST(every_truncation_of_a_file_is_the_end_of_data, struct hw_buffer *buffer)
{
    struct hw_batch batch;
    enum hw_status status;

    build_rich_batch(buffer);
    assert_int_equal(walk(buffer->bytes, buffer->size, &status), 5);
    assert_int_equal(status, HW_OK);
    for (size_t size = 0; size < buffer->size; size++) {
        assert_int_equal(hw_batch_parse(buffer->bytes, size, &batch), HW_BATCH_TRUNCATED);
        assert_int_equal(walk(buffer->bytes, size, &status), 0);
    }
}

/* The header says that the batch ends earlier, with a right checksum: records run out. */
TEST(every_truncation_of_the_record_area_is_corrupt, struct hw_buffer *buffer)
{
    struct hw_batch batch;
    enum hw_status status;

    build_rich_batch(buffer);
    batch = test_parse(buffer->bytes, buffer->size);
    for (size_t size = HW_BATCH_HEADER_SIZE; size < buffer->size; size++) {
        batch.batch_length = (int32_t)(size - HW_BATCH_OVERHEAD);
        hw_batch_encode(buffer->bytes, &batch);
        assert_true(walk(buffer->bytes, size, &status) < 5);
        assert_int_equal(status, HW_CORRUPT);
    }
}

/* Any value of any byte: the walk ends, and reads nothing outside. */
TEST(every_change_of_one_byte_is_harmless, struct hw_buffer *buffer)
{
    enum hw_status status;
    const int step = getenv("HW_TEST_QUICK") != NULL ? 15 : 1;
    int corrupt = 0;

    build_rich_batch(buffer);
    for (size_t i = 0; i < buffer->size; i++) {
        uint8_t original = buffer->bytes[i];

        for (int value = 0; value < 256; value += step) {
            buffer->bytes[i] = (uint8_t)value;
            assert_true(walk(buffer->bytes, buffer->size, &status) <= 5);
            assert_true(status == HW_OK || status == HW_CORRUPT);
            corrupt += status == HW_CORRUPT;
        }
        buffer->bytes[i] = original;
    }
    assert_true(corrupt > 256);
}

/* One record's encoding at a time: what is wrong with it, or nothing. By itself, and with another
 * one behind it. */
TEST(each_rule_of_a_record_is_checked, struct hw_buffer *buffer)
{
    static const struct {
        const char *what;
        const char *bytes; /* As hex. */
        const char *message;
    } cases[] = {
        {"well-formed", "0c000000010100", NULL},
        {"overlong varints", "8e8000 00 8000 00 01 01 00", NULL},
        {"any negative size is null", "0c000000030500", NULL},
        {"empty", "00", "is empty"},
        {"negative length", "01 000000010100", "does not end within"},
        {"length never ends", "8080808080", "does not end within"},
        {"timestamp cut off", "0200", "timestamp or offset"},
        {"offset cut off", "040000", "timestamp or offset"},
        {"offset never ends", "0e0000 8080808080", "timestamp or offset"},
        {"timestamp too long", "1800 8080808080808080808000", "timestamp or offset"},
        {"offset below zero", "0c0000 15 010100", "offset is negative"},
        {"offset zero", "0c0000 13 010100", NULL},
        {"key past the end of the record", "0c000000 06 0100", "key"},
        {"no key", "06000000", "key"},
        {"value past the end of the record", "0c00000001 04 00", "value"},
        {"no value", "0800000001", "value"},
        {"no header count", "0a0000000101", "header count"},
        {"negative header count", "0c0000000101 01", "header count"},
        {"more headers than bytes", "0c0000000101 02", "header count"},
        {"header with a null name", "1000000001 01 02 01 01", "headers"},
        {"header with a null value", "1200000001 01 02 02 68 01", NULL},
        {"header name past the end", "1000000001 01 02 06 68", "headers"},
        {"header value past the end", "1200000001 01 02 02 68 04", "headers"},
        {"bytes behind the headers", "0e0000000101 00 00", "longer than its contents"},
        {"nothing", "", "does not end within"}, /* These are so at the end of a batch only. */
        {"length past the end", "0e000000010100", "does not end within"},
        {"bytes behind the last record", "0c000000010100 00", "more bytes follow"},
    };
    enum { COUNT = sizeof cases / sizeof *cases, FOLLOWED_COUNT = COUNT - 3 };
    static const uint8_t next[] = "\x2c\0\0\2\1\x20"
                                  "0123456789abcdef";

    for (int i = 0; i < COUNT + FOLLOWED_COUNT; i++) {
        bool is_followed = i >= COUNT;
        const char *what = cases[is_followed ? i - COUNT : i].what;
        const char *message = cases[is_followed ? i - COUNT : i].message;
        uint8_t bytes[64];
        size_t size = 0;
        struct hw_record_iterator iterator;
        struct hw_record record;
        struct hw_error error;
        enum hw_status status;
        struct hw_batch batch;
        bool found;
        char place[64];

        for (const char *at = cases[is_followed ? i - COUNT : i].bytes; *at != 0; at++) {
            if (*at != ' ') {
                char digits[3] = {at[0], at[1], 0};

                bytes[size++] = (uint8_t)strtoul(digits, NULL, 16);
                at++;
            }
        }
        if (is_followed) {
            memcpy(bytes + size, next, sizeof next);
            size += sizeof next;
        }
        batch = raw_batch(buffer, bytes, size, is_followed ? 2 : 1);
        assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
        status = hw_record_iterator_next(&iterator, &record, &found, &error);
        if (status != (message == NULL ? HW_OK : HW_CORRUPT)) {
            fail_msg("%s: %s", what, hw_status_name(status));
        }
        assert_int_equal(found, status == HW_OK);
        (void)snprintf(place, sizeof place, "record 1 of %d in the batch at offset 10",
                       is_followed ? 2 : 1);
        if (message != NULL &&
            (strstr(error.message, message) == NULL || strstr(error.message, place) == NULL)) {
            fail_msg("%s: %s", what, error.message);
        }
        if (message == NULL && is_followed) {
            expect_record(&iterator, test_record(11, 1000, NULL, "0123456789abcdef"));
        }
        expect_end(&iterator);
    }
}

/* Reading ahead stops in front of a record that is not as most are, of offsets that are not wanted
 * or not in order, and of damage; each of them is then read by itself, or not. */
TEST(reading_ahead_stops_where_it_has_to, struct hw_buffer *buffer)
{
    enum { COUNT = 7, ALL = 10 };
    struct hw_buffer headers;
    struct hw_record records[COUNT];
    struct hw_record read[ALL];
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;
    uint8_t *record;
    bool found;

    hw_buffer_init(&headers, &hw_allocator_libc);
    test_add_header(&headers, "name", "value");
    for (int i = 0; i < COUNT; i++) {
        records[i] = test_record(100 + 2 * i, 5000 + i, i % 2 == 0 ? NULL : "key", "some value");
    }
    records[3].header_count = 1;
    records[3].headers = headers.bytes;
    records[3].headers_size = (int32_t)headers.size;
    records[6].value_size = -1;
    test_build_batch(buffer, records, COUNT);
    hw_buffer_release(&headers);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);

    assert_int_equal(hw_record_iterator_take(&iterator, -1, INT64_MAX - 1, read, 0), 0);
    assert_int_equal(hw_record_iterator_take(&iterator, 100, INT64_MAX - 1, read, ALL), 0);
    assert_int_equal(hw_record_iterator_take(&iterator, -1, 99, read, ALL), 0);
    assert_int_equal(hw_record_iterator_take(&iterator, 99, 100, read, ALL), 1);
    assert_int_equal(hw_record_iterator_take(&iterator, 100, INT64_MAX - 1, read + 1, ALL), 2);
    for (int i = 0; i < 3; i++) {
        assert_true(test_record_equal(&read[i], &records[i]));
        assert_int_equal(read[i].key_size, records[i].key_size);
    }
    assert_int_equal(hw_record_iterator_next(&iterator, &read[0], &found, &error), HW_OK);
    assert_true(found && read[0].header_count == 1 && read[0].offset == 106);

    /* The offset that comes next is not above that of the one before it. */
    record = buffer->bytes + (iterator.at - buffer->bytes);
    assert_int_equal(record[3], 2 * 8);
    record[3] = 2 * 6;
    assert_int_equal(hw_record_iterator_take(&iterator, 106, INT64_MAX - 1, read, ALL), 0);
    record[3] = 2 * 8;
    /* The one behind it says that its value is longer. */
    assert_int_equal(hw_record_iterator_take(&iterator, 106, INT64_MAX - 1, read, 1), 1);
    assert_true(test_record_equal(&read[0], &records[4]));
    record = buffer->bytes + (iterator.at - buffer->bytes);
    assert_int_equal(record[8], 2 * 10);
    record[8] = 2 * 11;
    assert_int_equal(hw_record_iterator_take(&iterator, 108, INT64_MAX - 1, read, ALL), 0);
    assert_int_equal(hw_record_iterator_next(&iterator, &read[0], &found, &error), HW_CORRUPT);
    assert_int_equal(hw_record_iterator_take(&iterator, 108, INT64_MAX - 1, read, ALL), 0);
}

/* Records are stepped over together as long as no offset is missing, to the same places as one by
 * one, and not over one whose front is damaged or not as that of most. */
TEST(stepping_over_a_dense_batch_stops_where_it_has_to, struct hw_buffer *buffer)
{
    enum { COUNT = 40, LAST = 20 };
    static char value[3000];
    struct hw_record records[COUNT];
    uint32_t ends[COUNT];
    uint32_t ends_quick[COUNT];
    struct hw_record_iterator iterator;
    struct hw_record_iterator quick;
    struct hw_batch batch;
    struct hw_error error;
    hw_offset_t offset;
    uint8_t front[2];
    uint8_t *record;
    bool found;

    memset(value, 'v', sizeof value - 1);
    for (int i = 0; i < COUNT; i++) {
        records[i] = test_record(100 + i + (i > LAST), 5000 + i * i * 100, NULL,
                                 value + i * 70 % (int)sizeof value);
    }
    test_build_batch(buffer, records, COUNT);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    quick = iterator;
    for (int i = 0; i <= LAST; i++) {
        assert_int_equal(hw_record_iterator_skip(&iterator, &offset, &found, &error), HW_OK);
        ends[i] = (uint32_t)(iterator.at - buffer->bytes);
    }
    assert_int_equal(hw_record_iterator_skip_dense(&quick, 0, buffer->bytes, ends_quick, 0), 0);
    assert_int_equal(hw_record_iterator_skip_dense(&quick, 1, buffer->bytes, ends_quick, COUNT), 0);
    assert_int_equal(hw_record_iterator_skip_dense(&quick, 0, buffer->bytes, ends_quick, 7), 7);

    /* The next one ends before its offset does. */
    record = buffer->bytes + ends_quick[6];
    assert_true((record[0] & 0x80) != 0 && (record[1] & 0x80) == 0);
    memcpy(front, record, sizeof front);
    memcpy(record, "\x84", sizeof front); /* Two bytes, as a varint of two bytes. */
    assert_int_equal(hw_record_iterator_skip_dense(&quick, 7, buffer->bytes, ends_quick, COUNT), 0);
    memcpy(record, front, sizeof front);

    assert_int_equal(hw_record_iterator_skip_dense(&quick, 7, buffer->bytes, ends_quick + 7, COUNT),
                     LAST - 6);
    assert_memory_equal(ends, ends_quick, (LAST + 1) * sizeof *ends);
    assert_int_equal(quick.left, COUNT - LAST - 1);
    assert_ptr_equal(quick.at, iterator.at);
    assert_int_equal(
        hw_record_iterator_skip_dense(&quick, LAST + 2, buffer->bytes, ends_quick, COUNT),
        COUNT - LAST - 1);
    assert_int_equal(quick.left, 0);

    batch.record_count = 7; /* Then there are bytes behind the last one. */
    assert_int_equal(hw_record_iterator_init(&quick, buffer->bytes, &batch, &error), HW_OK);
    assert_int_equal(hw_record_iterator_skip_dense(&quick, 0, buffer->bytes, ends_quick, COUNT), 6);
    quick.left = 0;
    assert_int_equal(hw_record_iterator_skip_dense(&quick, 6, buffer->bytes, ends_quick, COUNT), 0);
}

/* Case: E-08. Null and empty, in key and in value, are four different things. */
TEST(null_and_empty_are_different, struct hw_buffer *buffer)
{
    const struct hw_record records[5] = {test_record(0, 0, NULL, "x"), test_record(1, 0, "", ""),
                                         test_record(2, 0, "a", NULL),
                                         test_record(3, 0, NULL, NULL), test_record(4, 0, "a", "")};
    struct hw_record_iterator iterator;
    struct hw_record record;
    struct hw_batch batch;
    struct hw_error error;
    bool found;

    test_build_batch(buffer, records, 5);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &error), HW_OK);
        assert_true(found);
        assert_int_equal(record.key_size, records[i].key_size);
        assert_int_equal(record.value_size, records[i].value_size);
        assert_int_equal(record.key == NULL, records[i].key_size == -1);
        assert_int_equal(record.value == NULL, records[i].value_size == -1);
        assert_int_equal(record.header_count, 0);
    }
    expect_end(&iterator);
}

/* Case: E-09. Bytes that are no text; names of headers repeat and may be empty. */
TEST(keys_values_and_headers_are_bytes_in_order, struct hw_buffer *buffer)
{
    static const uint8_t key[] = {0x00, 0x01, 0xff, 0xc3, 0x28};
    static const uint8_t value[] = {'a', 0x00, 'b'};
    static const uint8_t first[] = {0xc3, 0x28};
    static const struct hw_header expected[4] = {
        {(const uint8_t *)"h", 1, first, 2},
        {(const uint8_t *)"h", 1, (const uint8_t *)"second", 6},
        {(const uint8_t *)"n", 1, NULL, -1},
        {(const uint8_t *)"", 0, (const uint8_t *)"x", 1}};
    struct hw_buffer headers;
    struct hw_record record = test_record(0, 0, NULL, NULL);
    struct hw_record_iterator iterator;
    struct hw_header header;
    struct hw_batch batch;
    struct hw_error error;
    const uint8_t *cursor;
    int32_t left = 4;
    bool found;

    hw_buffer_init(&headers, &hw_allocator_libc);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(hw_header_append(&headers, &expected[i], &error), HW_OK);
    }
    record.key = key;
    record.key_size = sizeof key;
    record.value = value;
    record.value_size = sizeof value;
    record.header_count = 4;
    record.headers = headers.bytes;
    record.headers_size = (int32_t)headers.size;
    test_build_batch(buffer, &record, 1);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &error), HW_OK);
    assert_int_equal(record.key_size, 5);
    assert_memory_equal(record.key, key, 5);
    assert_int_equal(record.value_size, 3);
    assert_memory_equal(record.value, value, 3);
    cursor = record.headers;
    for (int i = 0; i < 4; i++) {
        assert_true(hw_header_next(&cursor, &left, &header));
        assert_int_equal(header.name_size, expected[i].name_size);
        assert_memory_equal(header.name, expected[i].name, (size_t)header.name_size);
        assert_int_equal(header.value_size, expected[i].value_size);
        assert_int_equal(header.value == NULL, expected[i].value == NULL);
        if (header.value_size > 0) {
            assert_memory_equal(header.value, expected[i].value, (size_t)header.value_size);
        }
    }
    assert_false(hw_header_next(&cursor, &left, &header));
    hw_buffer_release(&headers);
}

/* Offsets need not be 0, 1, 2, ..., nor the timestamps near each other. */
TEST(offsets_and_timestamps_reach_their_bounds, struct hw_buffer *buffer)
{
    const hw_offset_t base = INT64_MAX - 1 - INT32_MAX;
    struct hw_record records[3] = {test_record(base, INT64_MAX, "a", "b"),
                                   test_record(base + 1, -1, "c", "d"),
                                   test_record(INT64_MAX - 1, 0, "e", "f")};
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;

    for (int turn = 0; turn < 2; turn++) {
        buffer->size = 0;
        test_build_batch(buffer, records, 3);
        batch = test_parse(buffer->bytes, buffer->size);
        assert_true(hw_batch_next_offset(&batch) == INT64_MAX);
        assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
        for (int i = 0; i < 3; i++) {
            expect_record(&iterator, records[i]);
        }
        expect_end(&iterator);
        records[0].timestamp = -1; /* The difference of these does not fit. */
        records[1].timestamp = INT64_MAX;
    }
}

/* Sizes and deltas around each size of a varint are written as they are read. */
TEST(varints_of_every_size_go_both_ways, struct hw_buffer *buffer)
{
    static const int32_t bounds[] = {63, 64, 65, 8191, 8192, 8193, 1048575, 1048576};
    enum { COUNT = sizeof bounds / sizeof *bounds };
    uint8_t *bytes = calloc(1, (size_t)bounds[COUNT - 1]);
    struct hw_record records[2 * COUNT + 1];
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;

    assert_non_null(bytes);
    records[0] = test_record(0, 2000000, "first", NULL);
    for (int i = 0; i < COUNT; i++) {
        struct hw_record record = test_record(bounds[i], 2000000 + bounds[i], NULL, NULL);

        record.value = bytes;
        record.value_size = bounds[i];
        records[1 + i] = record;
        record.timestamp = 2000000 - bounds[i];
        record.offset = 2000000 + i;
        records[1 + COUNT + i] = record;
    }
    test_build_batch(buffer, records, 2 * COUNT + 1);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    for (int i = 0; i < 2 * COUNT + 1; i++) {
        expect_record(&iterator, records[i]);
    }
    expect_end(&iterator);
    free(bytes);
}

/* A record's delta is not bound by that of the header, but its offset stays an offset. */
TEST(an_offset_that_overflows_is_corrupt, struct hw_buffer *buffer)
{
    static const uint8_t bytes[] = {0x0c, 0, 0, 0x04, 0x01, 0x01, 0x00}; /* Delta 2. */
    struct hw_record_iterator iterator;
    struct hw_record record;
    struct hw_batch batch;
    struct hw_error error;
    bool found;

    batch = raw_batch(buffer, bytes, sizeof bytes, 1);
    hw_batch_set_base_offset(buffer->bytes, INT64_MAX - 2);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &error), HW_CORRUPT);
    assert_false(found);
}

TEST(a_compressed_batch_is_not_walked_as_it_is, struct hw_buffer *buffer)
{
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;

    test_read_vector(buffer, "H-gzip-batch.bin");
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_CORRUPT);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
