/* SPDX-License-Identifier: MIT */
/*
 * Are the bytes of a batch exactly Kafka's? Each vector is decoded to the fields that its example
 * states, and built again from those to the same bytes. Source: DefaultRecordBatch,
 * MemoryRecordsBuilder.
 */
#include "core/base/bytes.h"
#include "support_batch.h"
#include "support_heap.h"

#include <string.h>

#include "tests/support_test.h"

#define TIME INT64_C(1700000000000)

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

static void expect_same_bytes(const struct hw_buffer *built, const char *name)
{
    struct hw_buffer vector;

    hw_buffer_init(&vector, &hw_allocator_libc);
    test_read_vector(&vector, name);
    assert_int_equal(built->size, vector.size);
    assert_memory_equal(built->bytes, vector.bytes, vector.size);
    hw_buffer_release(&vector);
}

/* The two records of example A; `headers` receives the first one's. */
static void records_of_a(struct hw_record records[2], struct hw_buffer *headers)
{
    test_add_header(headers, "h", "x");
    records[0] = test_record(100, TIME, NULL, "v0");
    records[0].header_count = 1;
    records[0].headers = headers->bytes;
    records[0].headers_size = (int32_t)headers->size;
    records[1] = test_record(101, TIME - 5, "k1", "hello");
}

/* Example A: two records at offset 100, the second older than the first. */
TEST(a_plain_batch_decodes_to_its_fields, struct hw_buffer *buffer)
{
    struct hw_buffer headers;
    struct hw_record records[2];
    struct hw_batch batch;
    struct hw_record_iterator iterator;
    struct hw_error error;

    hw_buffer_init(&headers, &hw_allocator_libc);
    records_of_a(records, &headers);
    test_read_vector(buffer, "A-two-records.bin");
    batch = test_parse(buffer->bytes, buffer->size);

    assert_int_equal(batch.base_offset, 100);
    assert_int_equal(batch.batch_length, 76);
    assert_int_equal(batch.leader_epoch, 3);
    assert_int_equal(batch.magic, 2);
    assert_int_equal(batch.crc, 0xf7aa9e5b);
    assert_int_equal(batch.attributes, 0);
    assert_int_equal(batch.last_offset_delta, 1);
    assert_int_equal(batch.base_timestamp, TIME);
    assert_int_equal(batch.max_timestamp, TIME);
    assert_int_equal(batch.producer_id, -1);
    assert_int_equal(batch.producer_epoch, -1);
    assert_int_equal(batch.base_sequence, -1);
    assert_int_equal(batch.record_count, 2);
    assert_int_equal(hw_batch_size_bytes(&batch), 88);
    assert_int_equal(hw_batch_last_offset(&batch), 101);
    assert_int_equal(hw_batch_next_offset(&batch), 102);

    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    expect_record(&iterator, records[0]);
    expect_record(&iterator, records[1]);
    expect_end(&iterator);
    hw_buffer_release(&headers);
}

/* Build example A at offset 0 as a producer does; then the leader gives offset and epoch. */
static void build_a(struct hw_buffer *buffer)
{
    struct hw_buffer headers;
    struct hw_record records[2];
    size_t start = buffer->size;

    hw_buffer_init(&headers, &hw_allocator_libc);
    records_of_a(records, &headers);
    records[0].offset = 0;
    records[1].offset = 1;
    test_build_batch(buffer, records, 2);
    hw_buffer_release(&headers);
    hw_batch_set_base_offset(buffer->bytes + start, 100);
    hw_batch_set_leader_epoch(buffer->bytes + start, 3);
}

TEST(the_built_batch_has_the_same_bytes_and_keeps_its_checksum_when_patched,
     struct hw_buffer *buffer)
{
    build_a(buffer);
    expect_same_bytes(buffer, "A-two-records.bin");
}

/* The batch goes behind what the buffer holds already. */
TEST(a_batch_is_built_behind_the_bytes_before_it, struct hw_buffer *buffer)
{
    struct hw_buffer alone;

    hw_buffer_init(&alone, &hw_allocator_libc);
    build_a(&alone);
    build_a(buffer);
    build_a(buffer);
    assert_int_equal(buffer->size, 2 * alone.size);
    assert_memory_equal(buffer->bytes, alone.bytes, alone.size);
    assert_memory_equal(buffer->bytes + alone.size, alone.bytes, alone.size);
    hw_buffer_release(&alone);
}

/* Case: E-04. Example A3: only the header changes; every record reads as the time of the append. */
TEST(log_append_time_overrides_the_timestamps_of_all_records, struct hw_buffer *buffer)
{
    struct hw_buffer headers;
    struct hw_record records[2];
    struct hw_batch batch;
    struct hw_record_iterator iterator;
    struct hw_error error;

    build_a(buffer);
    hw_batch_set_log_append_time(buffer->bytes, TIME + 1234);
    expect_same_bytes(buffer, "A3-logappendtime.bin");

    hw_buffer_init(&headers, &hw_allocator_libc);
    records_of_a(records, &headers);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(batch.crc, 0x731793a6);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    records[0].timestamp = records[1].timestamp = TIME + 1234;
    expect_record(&iterator, records[0]);
    expect_record(&iterator, records[1]);
    hw_buffer_release(&headers);
}

/* Case: E-04. Base timestamp 1000 or none, deltas 0 and 7, max timestamp 5000. */
TEST(the_timestamp_type_decides_whether_deltas_count, struct hw_buffer *buffer)
{
    static const struct {
        int16_t attributes;
        hw_time_ms_t base;
        hw_time_ms_t first;
        hw_time_ms_t second;
    } cases[] = {{0, 1000, 1000, 1007},
                 {HW_BATCH_LOG_APPEND_TIME, 1000, 5000, 5000},
                 {HW_BATCH_LOG_APPEND_TIME, -1, 5000, 5000}};
    struct hw_record records[2] = {test_record(0, 1000, "a", "1"), test_record(1, 1007, "b", "2")};
    struct hw_error error;

    test_build_batch(buffer, records, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hw_batch batch = test_parse(buffer->bytes, buffer->size);
        struct hw_record_iterator iterator;

        batch.attributes = cases[i].attributes;
        batch.base_timestamp = cases[i].base;
        batch.max_timestamp = 5000;
        hw_batch_encode(buffer->bytes, &batch);
        batch = test_parse(buffer->bytes, buffer->size);
        assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
        records[0].timestamp = cases[i].first;
        records[1].timestamp = cases[i].second;
        expect_record(&iterator, records[0]);
        expect_record(&iterator, records[1]);
    }
}

/* The leader writes the true maximum over a wrong one; bits without a meaning do not survive. */
TEST(create_time_can_be_given_back_with_another_maximum, struct hw_buffer *buffer)
{
    struct hw_batch batch;

    build_a(buffer);
    batch = test_parse(buffer->bytes, buffer->size);
    batch.attributes = 0x0100 | HW_BATCH_LOG_APPEND_TIME;
    batch.max_timestamp = 7;
    hw_batch_encode(buffer->bytes, &batch);
    hw_batch_set_create_time(buffer->bytes, TIME);
    expect_same_bytes(buffer, "A-two-records.bin");
}

/* Examples B and B2: end-transaction markers. */
TEST(a_transaction_marker_has_exactly_the_stated_bytes, struct hw_buffer *buffer)
{
    static const struct {
        uint8_t type;
        uint32_t crc;
        const char *name;
    } cases[] = {{1, 0xd3ed587d, "B-commit-marker.bin"}, {0, 0x27d38e35, "B2-abort-marker.bin"}};
    struct hw_error error;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t key[4] = {0, 0, 0, cases[i].type};
        uint8_t value[6] = {0, 0, 0, 0, 0, 7};
        struct hw_record record = test_record(102, TIME + 10, NULL, NULL);
        struct hw_batch_options options = hw_batch_options_plain();
        struct hw_batch_builder builder;
        struct hw_batch batch;

        record.key = key;
        record.key_size = sizeof key;
        record.value = value;
        record.value_size = sizeof value;
        options.base_offset = 102;
        options.leader_epoch = 3;
        options.attributes = HW_BATCH_TRANSACTIONAL | HW_BATCH_CONTROL;
        options.producer_id = 4000;
        options.producer_epoch = 2;
        buffer->size = 0;
        assert_int_equal(hw_batch_builder_begin(&builder, buffer, 102, &error), HW_OK);
        assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
        assert_true(hw_record_size_bytes_max(&record) >=
                    hw_batch_builder_size_bytes(&builder) - HW_BATCH_HEADER_SIZE);
        hw_batch_builder_finish(&builder, &options);
        expect_same_bytes(buffer, cases[i].name);

        batch = test_parse(buffer->bytes, buffer->size);
        assert_int_equal(batch.crc, cases[i].crc);
        assert_int_equal(batch.attributes, 0x30);
        assert_int_equal(batch.producer_id, 4000);
        assert_int_equal(batch.producer_epoch, 2);
        assert_int_equal(batch.base_sequence, -1);
    }
}

/*
 * Case: E-01. Example C: the cleaner took every record. The next offset is behind the range that
 * the batch had, and walking its records ends at once without an error.
 */
TEST(an_empty_batch_keeps_its_offset_range, struct hw_buffer *buffer)
{
    struct hw_batch batch;
    struct hw_record_iterator iterator;
    struct hw_error error;

    test_read_vector(buffer, "C-empty-batch.bin");
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(batch.batch_length, 49);
    assert_int_equal(batch.crc, 0x1c34c268);
    assert_int_equal(batch.attributes, HW_BATCH_TRANSACTIONAL);
    assert_int_equal(batch.base_timestamp, -1);
    assert_int_equal(batch.max_timestamp, TIME);
    assert_int_equal(batch.base_sequence, 0);
    assert_int_equal(batch.record_count, 0);
    assert_int_equal(hw_batch_next_offset(&batch), 102);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    expect_end(&iterator);

    memset(buffer->bytes, 0xff, buffer->size);
    hw_put_i32(buffer->bytes + 8, batch.batch_length);
    batch.crc = 0;
    hw_batch_encode(buffer->bytes, &batch);
    expect_same_bytes(buffer, "C-empty-batch.bin");
}

/* Case: E-02. Records at the end of a batch are gone: its range is still 8737 to 8747. */
TEST(records_compacted_away_at_the_end_leave_the_last_offset, struct hw_buffer *buffer)
{
    struct hw_record records[3] = {test_record(8737, TIME, "a", "1"),
                                   test_record(8738, TIME, "b", "2"),
                                   test_record(8739, TIME, "c", "3")};
    struct hw_record_iterator iterator;
    struct hw_batch batch;
    struct hw_error error;

    test_build_batch(buffer, records, 3);
    batch = test_parse(buffer->bytes, buffer->size);
    batch.last_offset_delta = 10;
    hw_batch_encode(buffer->bytes, &batch);
    batch = test_parse(buffer->bytes, buffer->size);
    assert_int_equal(hw_batch_next_offset(&batch), 8748);
    assert_int_equal(hw_record_iterator_init(&iterator, buffer->bytes, &batch, &error), HW_OK);
    for (int i = 0; i < 3; i++) {
        expect_record(&iterator, records[i]);
    }
    expect_end(&iterator);
}

/* Sequences wrap from 2^31-1 to 0: 2^31-1 plus n is n-1. Row: T111 */
TEST_ALONE(sequences_wrap_to_zero)
{
    assert_int_equal(hw_sequence_add(0, 0), 0);
    assert_int_equal(hw_sequence_add(5, 7), 12);
    assert_int_equal(hw_sequence_add(INT32_MAX, 0), INT32_MAX);
    assert_int_equal(hw_sequence_add(INT32_MAX, 1), 0);
    assert_int_equal(hw_sequence_add(INT32_MAX - 1, 3), 1);
    assert_int_equal(hw_sequence_add(INT32_MAX, INT32_MAX), INT32_MAX - 1);
    assert_int_equal(hw_sequence_add(0, INT32_MAX), INT32_MAX);
    assert_int_equal(hw_sequence_add(INT32_MAX, 100), 99);
    assert_int_equal(hw_sequence_add(99, INT32_MAX), 98);
}

/* What stands at the start of some bytes: sizes, magics and offsets at their bounds. */
TEST(a_header_is_whole_cut_off_legacy_or_corrupt, struct hw_buffer *buffer)
{
    static const struct {
        const char *what;
        int at; /* Offset of a field of `size` bytes in the header of example A ... */
        int size;
        int64_t value;
        size_t available;
        enum hw_batch_result result;
    } cases[] = {
        {"as it is", 16, 1, 2, 88, HW_BATCH_OK},
        {"one byte missing", 16, 1, 2, 87, HW_BATCH_TRUNCATED},
        {"18 bytes", 16, 1, 2, 18, HW_BATCH_TRUNCATED},
        {"17 bytes, though the size is bad", 8, 4, 0, 17, HW_BATCH_TRUNCATED},
        {"nothing", 16, 1, 2, 0, HW_BATCH_TRUNCATED},
        {"size 0, as in a zero tail", 8, 4, 0, 88, HW_BATCH_CORRUPT},
        {"size below any magic's", 8, 4, 13, 88, HW_BATCH_CORRUPT},
        {"size below that of magic 2", 8, 4, 48, 88, HW_BATCH_CORRUPT},
        {"negative size", 8, 4, -1, 88, HW_BATCH_CORRUPT},
        {"smallest size", 8, 4, 49, 88, HW_BATCH_OK},
        {"largest size", 8, 4, INT32_MAX, 88, HW_BATCH_TRUNCATED},
        {"magic 0", 16, 1, 0, 88, HW_BATCH_LEGACY},
        {"magic 1", 16, 1, 1, 88, HW_BATCH_LEGACY},
        {"magic 3", 16, 1, 3, 88, HW_BATCH_CORRUPT},
        {"magic -1", 16, 1, -1, 88, HW_BATCH_CORRUPT},
        {"magic 3, cut off", 16, 1, 3, 87, HW_BATCH_TRUNCATED},
        {"negative base offset", 0, 8, -1, 88, HW_BATCH_CORRUPT},
        {"next offset just fits", 0, 8, INT64_MAX - 2, 88, HW_BATCH_OK},
        {"next offset overflows", 0, 8, INT64_MAX - 1, 88, HW_BATCH_CORRUPT},
        {"negative last offset delta", 23, 4, -1, 88, HW_BATCH_CORRUPT},
        {"negative record count", 57, 4, -1, 88, HW_BATCH_CORRUPT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct hw_batch batch;
        enum hw_batch_result result;

        buffer->size = 0;
        test_read_vector(buffer, "A-two-records.bin");
        for (int b = 0; b < cases[i].size; b++) {
            buffer->bytes[cases[i].at + b] =
                (uint8_t)((uint64_t)cases[i].value >> (8 * (cases[i].size - 1 - b)));
        }
        result = hw_batch_parse(buffer->bytes, cases[i].available, &batch);
        if (result != cases[i].result) {
            fail_msg("%s: result %d, expected %d", cases[i].what, result, cases[i].result);
        }
    }
}

/* A legacy entry has its size and checksum elsewhere; magic 1 is at least 22 bytes long. */
TEST(legacy_entries_are_recognised, struct hw_buffer *buffer)
{
    struct hw_batch batch;

    test_read_vector(buffer, "I-magic0.bin");
    assert_int_equal(hw_batch_parse(buffer->bytes, buffer->size, &batch), HW_BATCH_LEGACY);
    assert_int_equal(batch.base_offset, 5);
    assert_int_equal(batch.batch_length, 15);
    assert_int_equal(batch.magic, 0);
    assert_int_equal(batch.crc, 0xd20cbff5);
    assert_int_equal(hw_batch_next_offset(&batch), 6);

    buffer->bytes[16] = 1;
    assert_int_equal(hw_batch_parse(buffer->bytes, buffer->size, &batch), HW_BATCH_CORRUPT);
    buffer->bytes[16] = 0;
    hw_put_i64(buffer->bytes, INT64_MAX);
    assert_int_equal(hw_batch_parse(buffer->bytes, buffer->size, &batch), HW_BATCH_CORRUPT);
}

TEST(a_changed_byte_behind_the_checksum_is_noticed_and_one_before_it_is_not,
     struct hw_buffer *buffer)
{
    struct hw_batch batch;

    test_read_vector(buffer, "A-two-records.bin");
    batch = test_parse(buffer->bytes, buffer->size);
    for (size_t i = 21; i < buffer->size; i++) {
        buffer->bytes[i] ^= 0x10;
        assert_false(hw_batch_crc_ok(buffer->bytes, &batch));
        buffer->bytes[i] ^= 0x10;
    }
    for (size_t i = 0; i < 17; i++) {
        buffer->bytes[i] ^= 0x10;
        assert_true(hw_batch_crc_ok(buffer->bytes, &batch));
        buffer->bytes[i] ^= 0x10;
    }
}

TEST(a_record_with_a_bad_timestamp_is_refused_and_leaves_the_batch, struct hw_buffer *buffer)
{
    struct hw_batch_builder builder;
    struct hw_record record = test_record(0, -2, "k", "v");
    struct hw_error error;
    size_t size;

    assert_int_equal(hw_batch_builder_begin(&builder, buffer, 0, &error), HW_OK);
    size = hw_batch_builder_size_bytes(&builder);
    assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_INVALID_TIMESTAMP);
    assert_non_null(strstr(error.message, "-2"));
    assert_int_equal(hw_batch_builder_size_bytes(&builder), size);

    record.timestamp = -1;
    assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
}

/* Sizes are checked before a byte is read: the value here is not really there. */
TEST(a_batch_never_passes_the_largest_size, struct hw_buffer *buffer)
{
    struct hw_batch_builder builder;
    struct hw_record record = test_record(0, 0, NULL, "");
    struct hw_buffer headers;
    struct hw_header header = {(const uint8_t *)"h", 1, (const uint8_t *)"", INT32_MAX - 5};
    struct hw_error error;

    assert_int_equal(hw_batch_builder_begin(&builder, buffer, 0, &error), HW_OK);
    record.value_size = INT32_MAX - 61;
    assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_MESSAGE_TOO_LARGE);

    hw_buffer_init(&headers, &hw_allocator_libc);
    assert_int_equal(hw_header_append(&headers, &header, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_MESSAGE_TOO_LARGE);
    assert_int_equal(headers.size, 0);
    hw_buffer_release(&headers);
}

/* 200 records with headers, so that the buffer grows many times. */
static enum hw_status build_story(const struct hw_allocator *allocator)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_buffer buffer;
    struct hw_buffer headers;
    struct hw_error error;
    enum hw_status status;

    hw_buffer_init(&buffer, allocator);
    hw_buffer_init(&headers, allocator);
    status = hw_batch_builder_begin(&builder, &buffer, 7, &error);
    for (int i = 0; status == HW_OK && i < 200; i++) {
        struct hw_header header = {(const uint8_t *)"name", 4, NULL, -1};
        struct hw_record record = test_record(7 + i, i, "key", "value");
        size_t size = buffer.size;

        status = hw_header_append(&headers, &header, &error);
        if (status == HW_OK) {
            record.header_count = i + 1;
            record.headers = headers.bytes;
            record.headers_size = (int32_t)headers.size;
            status = hw_batch_builder_add(&builder, &record, &error);
        }
        assert_true(status == HW_OK || buffer.size == size);
    }
    if (status == HW_OK) {
        hw_batch_builder_finish(&builder, &options);
        assert_int_equal(test_parse(buffer.bytes, buffer.size).record_count, 200);
    }
    hw_buffer_release(&headers);
    hw_buffer_release(&buffer);
    return status;
}

TEST_ALONE(every_allocation_of_a_builder_can_fail)
{
    struct test_heap heap;
    int fail_at = 0;

    do {
        enum hw_status status;

        test_heap_init(&heap, fail_at++);
        status = build_story(&heap.allocator);
        assert_int_equal(status, test_heap_has_failed(&heap) ? HW_NO_MEMORY : HW_OK);
        assert_int_equal(heap.bytes_in_use, 0);
    } while (test_heap_has_failed(&heap));
    assert_true(fail_at > 4);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
