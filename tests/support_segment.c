/* SPDX-License-Identifier: MIT */
#include "tests/support_segment.h"

#include "core/base/bytes.h"
#include "core/io/memory_store.h"
#include "core/record/codec.h"
#include "tests/support_faulty_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "tests/support_test.h"

static void add_records(struct hw_batch_builder *builder, const struct test_batch *batch)
{
    static const uint8_t filler[1 << 16];
    struct hw_error error;

    for (int i = 0; i < (batch->count == 0 ? 1 : batch->count); i++) {
        char value[32];
        int size = snprintf(value, sizeof value, "v%" PRId64, batch->base_offset + i);
        struct hw_record record = {.offset = batch->base_offset + i,
                                   .timestamp = batch->timestamp + i,
                                   .key_size = -1,
                                   .value = (const uint8_t *)value,
                                   .value_size = size};

        if (batch->value_size > 0) {
            assert_true((size_t)batch->value_size <= sizeof filler);
            record.value = filler;
            record.value_size = batch->value_size;
        }
        assert_int_equal(hw_batch_builder_add(builder, &record, &error), HW_OK);
    }
}

void test_put_batch(struct hw_buffer *log, const struct test_batch *batch)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_batch header;
    struct hw_error error;
    size_t start = log->size;

    options.base_offset = batch->base_offset;
    options.leader_epoch = batch->epoch;
    options.attributes = (int16_t)batch->attributes;
    if (batch->producer_id > 0) {
        options.producer_id = batch->producer_id;
        options.producer_epoch = 0;
        options.base_sequence = 1;
    }
    assert_int_equal(hw_batch_builder_begin(&builder, log, batch->base_offset, &error), HW_OK);
    add_records(&builder, batch);
    hw_batch_builder_finish(&builder, &options);
    assert_int_equal(hw_batch_parse(log->bytes + start, log->size - start, &header), HW_BATCH_OK);
    if (batch->is_empty) {
        log->size = start + HW_BATCH_HEADER_SIZE;
        header.batch_length = HW_BATCH_HEADER_SIZE - HW_BATCH_OVERHEAD;
        header.record_count = 0;
        header.base_timestamp = HW_TIMESTAMP_NONE;
    }
    if (batch->last_delta > 0) {
        header.last_offset_delta = batch->last_delta;
    }
    if (batch->record_count > 0) {
        header.record_count = batch->record_count;
    } else if (batch->record_count < 0) {
        header.record_count = 0;
    }
    hw_batch_encode(log->bytes + start, &header);
}

void test_put_marker(struct hw_buffer *log, hw_offset_t offset, int64_t producer_id, bool commit)
{
    uint8_t key[4] = {0, 0, 0, commit ? 1 : 0};
    uint8_t value[6] = {0, 0, 0, 0, 0, 7};
    struct hw_record record = {.offset = offset,
                               .timestamp = 5000,
                               .key = key,
                               .key_size = sizeof key,
                               .value = value,
                               .value_size = sizeof value};
    struct hw_batch_options options = {.base_offset = offset,
                                       .leader_epoch = 0,
                                       .attributes = HW_BATCH_TRANSACTIONAL | HW_BATCH_CONTROL,
                                       .producer_id = producer_id,
                                       .producer_epoch = 0,
                                       .base_sequence = -1};
    struct hw_batch_builder builder;
    struct hw_error error;

    assert_int_equal(hw_batch_builder_begin(&builder, log, offset, &error), HW_OK);
    assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
    hw_batch_builder_finish(&builder, &options);
}

/* Append an entry of magic 0 or 1 with a null key. */
static void put_entry(struct hw_buffer *log, int magic, hw_offset_t offset, hw_time_ms_t timestamp,
                      int attributes, const uint8_t *value, size_t value_size)
{
    uint8_t head[34] = {0};
    size_t head_size = magic == 0 ? 26 : 34;
    size_t start = log->size;
    struct hw_error error;
    uint8_t *bytes;

    hw_put_i64(head, offset);
    hw_put_i32(head + 8, (int32_t)(head_size - 12 + value_size));
    head[16] = (uint8_t)magic;
    head[17] = (uint8_t)attributes;
    if (magic == 1) {
        hw_put_i64(head + 18, timestamp);
    }
    hw_put_i32(head + head_size - 8, -1);
    hw_put_i32(head + head_size - 4, (int32_t)value_size);
    assert_int_equal(hw_buffer_append(log, head, head_size, &error), HW_OK);
    assert_int_equal(hw_buffer_append(log, value, value_size, &error), HW_OK);
    bytes = log->bytes + start;
    hw_put_u32(bytes + 12, (uint32_t)crc32(0, bytes + 16, (uInt)(log->size - start - 16)));
}

void test_put_legacy(struct hw_buffer *log, int magic, hw_offset_t offset, hw_time_ms_t timestamp,
                     const char *value)
{
    put_entry(log, magic, offset, timestamp, 0, (const uint8_t *)value, strlen(value));
}

void test_put_wrapper(struct hw_buffer *log, int codec, hw_offset_t offset, hw_time_ms_t timestamp,
                      int attributes, const int *inner_offsets, int count)
{
    struct hw_buffer inner;
    struct hw_buffer packed;
    struct hw_error error;

    hw_buffer_init(&inner, &hw_allocator_libc);
    hw_buffer_init(&packed, &hw_allocator_libc);
    for (int i = 0; i < count; i++) {
        test_put_legacy(&inner, 1, inner_offsets[i], i + 1, "w");
    }
    assert_int_equal(
        hw_codec_compress((enum hw_codec)codec, inner.bytes, inner.size, &packed, &error), HW_OK);
    put_entry(log, 1, offset, timestamp, attributes | codec, packed.bytes, packed.size);
    hw_buffer_release(&inner);
    hw_buffer_release(&packed);
}

void test_put_bytes(struct hw_buffer *log, int byte, size_t size)
{
    struct hw_error error;

    assert_int_equal(hw_buffer_reserve(log, size, &error), HW_OK);
    memset(log->bytes + log->size, byte, size);
    log->size += size;
}

void test_put_file(struct hw_store *store, const char *path, const struct hw_buffer *content)
{
    struct hw_file *file;
    struct hw_error error;

    assert_int_equal(hw_store_open(store, path, HW_OPEN_TRUNCATE, &file, &error), HW_OK);
    if (content->size > 0) {
        assert_int_equal(hw_file_write_at(file, 0, content->bytes, content->size, &error), HW_OK);
    }
    hw_file_close(file);
}

int test_disk_setup(void **state)
{
    static struct test_disk disk;

    test_heap_init(&disk.heap, -1);
    hw_buffer_init(&disk.log, &hw_allocator_libc);
    *state = &disk;
    return hw_memory_store_create(&hw_allocator_libc, &disk.store, &disk.error) == HW_OK ? 0 : -1;
}

int test_disk_teardown(void **state)
{
    struct test_disk *disk = *state;

    hw_store_destroy(disk->store);
    hw_buffer_release(&disk->log);
    return disk->heap.bytes_in_use == 0 ? 0 : -1;
}

void test_disk_fail_allocations(struct test_disk *disk, test_disk_story *story, int least)
{
    struct test_heap heap;
    int fail_at = 0;

    do {
        enum hw_status status;

        test_heap_init(&heap, fail_at++);
        status = story(disk, disk->store, &heap.allocator);
        assert_int_equal(heap.bytes_in_use, 0);
        assert_int_equal(status, test_heap_has_failed(&heap) ? HW_NO_MEMORY : HW_OK);
    } while (test_heap_has_failed(&heap));
    assert_true(fail_at > least);
}

void test_disk_fail_calls(struct test_disk *disk, test_disk_story *story, int least)
{
    struct hw_faults faults = {.fail_at = -1};
    struct hw_store *faulty;
    enum hw_status status;

    assert_int_equal(
        hw_faulty_store_create(&hw_allocator_libc, disk->store, &faults, &faulty, &disk->error),
        HW_OK);
    do {
        faults.fail_at++;
        faults.calls = 0;
        status = story(disk, faulty, &disk->heap.allocator);
        assert_int_equal(disk->heap.bytes_in_use, 0);
        assert_true(status == HW_OK || status == HW_IO);
    } while (faults.calls > faults.fail_at);
    assert_int_equal(status, HW_OK);
    assert_true(faults.fail_at > least);
    hw_store_destroy(faulty);
}

void test_disk_save(struct test_disk *disk, const char *path)
{
    char directory[HW_PATH_MAX];

    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        (void)snprintf(directory, sizeof directory, "%.*s", (int)(slash - path), path);
        assert_int_equal(hw_store_make_directory(disk->store, directory, &disk->error), HW_OK);
    }
    test_put_file(disk->store, path, &disk->log);
    disk->log.size = 0;
}

static int entry_text(const struct hw_segment_entry *entry, char *text, size_t size)
{
    char last[24] = "?";

    if (entry->last_offset != HW_OFFSET_NONE) {
        (void)snprintf(last, sizeof last, "%" PRId64, entry->last_offset);
    }
    if (entry->fault == HW_FAULT_NONE && entry->first_offset == entry->last_offset) {
        return snprintf(text, size, "%s", last);
    }
    if (entry->fault == HW_FAULT_NONE) {
        return snprintf(text, size, "%" PRId64 "-%s", entry->first_offset, last);
    }
    return snprintf(text, size, "%c%" PRId64 "-%s@%" PRId64,
                    entry->fault == HW_FAULT_OFFSETS ? '~' : '!', entry->first_offset, last,
                    entry->position);
}

void test_entries_text(struct hw_segment_scan *scan, char *text, size_t size)
{
    struct hw_segment_entry entry;
    struct hw_error error;
    size_t at = 0;
    bool found = true;

    text[0] = '\0';
    for (;;) {
        assert_int_equal(hw_segment_scan_next(scan, &entry, &found, &error), HW_OK);
        if (!found) {
            return;
        }
        assert_true(size - at > 80);
        if (at > 0) {
            text[at++] = ' ';
        }
        at += (size_t)entry_text(&entry, text + at, size - at);
    }
}
