/* SPDX-License-Identifier: MIT */
#include "support_batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

void test_read_vector(struct hw_buffer *buffer, const char *name)
{
    char path[256];
    uint8_t bytes[4096];
    size_t size;
    struct hw_error error;
    FILE *file;

    snprintf(path, sizeof path, "tests/data/format-vectors/%s", name);
    file = fopen(path, "rb");
    if (file == NULL) {
        fail_msg("%s cannot be opened: tests run in the root of the repository", path);
        return;
    }
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 0 && size < sizeof bytes);
    assert_int_equal(hw_buffer_append(buffer, bytes, size, &error), HW_OK);
}

static const uint8_t *text_bytes(const char *text)
{
    return (const uint8_t *)text;
}

static int32_t text_size(const char *text)
{
    return text == NULL ? -1 : (int32_t)strlen(text);
}

struct hw_record test_record(hw_offset_t offset, hw_time_ms_t timestamp, const char *key,
                             const char *value)
{
    return (struct hw_record){.offset = offset,
                              .timestamp = timestamp,
                              .key = text_bytes(key),
                              .key_size = text_size(key),
                              .value = text_bytes(value),
                              .value_size = text_size(value)};
}

void test_add_header(struct hw_buffer *headers, const char *name, const char *value)
{
    struct hw_header header = {text_bytes(name), text_size(name), text_bytes(value),
                               text_size(value)};
    struct hw_error error;

    assert_int_equal(hw_header_append(headers, &header, &error), HW_OK);
}

void test_build_batch(struct hw_buffer *buffer, const struct hw_record *records, int count)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_error error;

    options.base_offset = records[0].offset;
    assert_int_equal(hw_batch_builder_begin(&builder, buffer, records[0].offset, &error), HW_OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(hw_batch_builder_add(&builder, &records[i], &error), HW_OK);
    }
    hw_batch_builder_finish(&builder, &options);
}

struct hw_batch test_parse(const uint8_t *bytes, size_t size)
{
    struct hw_batch batch;

    assert_int_equal(hw_batch_parse(bytes, size, &batch), HW_BATCH_OK);
    assert_true(hw_batch_crc_ok(bytes, &batch));
    return batch;
}

static bool bytes_equal(const uint8_t *a, int32_t a_size, const uint8_t *b, int32_t b_size)
{
    return a_size == b_size && (a_size <= 0 || memcmp(a, b, (size_t)a_size) == 0);
}

bool test_record_equal(const struct hw_record *a, const struct hw_record *b)
{
    return a->offset == b->offset && a->timestamp == b->timestamp &&
           bytes_equal(a->key, a->key_size, b->key, b->key_size) &&
           bytes_equal(a->value, a->value_size, b->value, b->value_size) &&
           a->header_count == b->header_count &&
           bytes_equal(a->headers, a->headers_size, b->headers, b->headers_size);
}

static void print_record(const char *title, const struct hw_record *record)
{
    print_error("%s: offset %" PRId64 ", timestamp %" PRId64 ", key %" PRId32 ":%.*s, value "
                "%" PRId32 ":%.*s, %" PRId32 " headers in %" PRId32 " bytes\n",
                title, record->offset, record->timestamp, record->key_size,
                record->key_size > 0 ? record->key_size : 0, (const char *)record->key,
                record->value_size, record->value_size > 0 ? record->value_size : 0,
                (const char *)record->value, record->header_count, record->headers_size);
}

void test_expect_record(struct hw_record_iterator *iterator, struct hw_record expected,
                        const char *file, int line)
{
    struct hw_record record;
    struct hw_error error;
    bool found;

    if (hw_record_iterator_next(iterator, &record, &found, &error) != HW_OK) {
        print_error("%s\n", error.message);
        _fail(file, line);
    }
    if (!found) {
        print_record("no record, expected", &expected);
        _fail(file, line);
    }
    if (!test_record_equal(&record, &expected)) {
        print_record("record  ", &record);
        print_record("expected", &expected);
        _fail(file, line);
    }
}

void test_expect_end(struct hw_record_iterator *iterator, const char *file, int line)
{
    struct hw_record record;
    struct hw_error error;
    bool found;

    if (hw_record_iterator_next(iterator, &record, &found, &error) != HW_OK) {
        print_error("%s\n", error.message);
        _fail(file, line);
    }
    if (found) {
        print_record("expected the end, got", &record);
        _fail(file, line);
    }
}
