/* SPDX-License-Identifier: MIT */
/*
 * Can the bytes of a log break whoever reads them? The input is walked as a file is: entry by
 * entry, of any magic and codec, checksums or not. What could be read is then written again as a
 * plain batch and in another codec, and must read the same.
 */
#include "core/base/assert.h"
#include "core/record/codec.h"
#include "core/record/legacy.h"

#include <string.h>

enum { PLAIN_SIZE_MAX = 1 << 20 };

/* Buffers that live as long as one input. */
struct fuzz {
    struct hw_buffer scratch;
    struct hw_buffer written;
    struct hw_buffer packed;
    struct hw_batch_builder builder;
    hw_offset_t last_offset; /* Of what was written, -1 before. */
    bool is_writable;        /* No record so far that the builder does not take. */
};

static bool same_bytes(const uint8_t *a, int32_t a_size, const uint8_t *b, int32_t b_size)
{
    return a_size == b_size && (a_size <= 0 || memcmp(a, b, (size_t)a_size) == 0);
}

/* All that the record points to is there, and its headers are the bytes that it says. */
static void touch(const struct hw_record *record)
{
    const uint8_t *cursor = record->headers;
    int32_t left = record->header_count;
    struct hw_header header;

    HW_ASSERT(record->offset >= 0 && record->offset < INT64_MAX);
    HW_ASSERT((record->key == NULL) == (record->key_size == -1));
    HW_ASSERT((record->value == NULL) == (record->value_size == -1));
    (void)same_bytes(record->key, record->key_size, record->key, record->key_size);
    (void)same_bytes(record->value, record->value_size, record->value, record->value_size);
    while (hw_header_next(&cursor, &left, &header)) {
        HW_ASSERT(header.name_size >= 0 && header.value_size >= -1);
    }
    HW_ASSERT(record->header_count == 0 || cursor == record->headers + record->headers_size);
}

static void write_begin(struct fuzz *fuzz, hw_offset_t base_offset)
{
    struct hw_error error;

    fuzz->written.size = 0;
    fuzz->last_offset = base_offset - 1;
    fuzz->is_writable =
        hw_batch_builder_begin(&fuzz->builder, &fuzz->written, base_offset, &error) == HW_OK;
}

/* Put the record into the batch, unless it or one before is none that a producer could write. */
static void write_record(struct fuzz *fuzz, const struct hw_record *record)
{
    struct hw_error error;

    fuzz->is_writable = fuzz->is_writable && record->offset > fuzz->last_offset &&
                        record->offset - fuzz->builder.base_offset <= INT32_MAX &&
                        hw_batch_builder_add(&fuzz->builder, record, &error) == HW_OK;
    fuzz->last_offset = record->offset;
}

/* The records of two batches are the same. */
static void compare(struct hw_record_iterator *a, struct hw_record_iterator *b)
{
    struct hw_record left;
    struct hw_record right;
    struct hw_error error;
    bool found;

    do {
        HW_ASSERT(hw_record_iterator_next(a, &left, &found, &error) == HW_OK);
        HW_ASSERT(hw_record_iterator_next(b, &right, &found, &error) == HW_OK);
        HW_ASSERT(!found ||
                  (left.offset == right.offset && left.timestamp == right.timestamp &&
                   same_bytes(left.key, left.key_size, right.key, right.key_size) &&
                   same_bytes(left.value, left.value_size, right.value, right.value_size) &&
                   left.header_count == right.header_count &&
                   same_bytes(left.headers, left.headers_size, right.headers, right.headers_size)));
    } while (found);
}

/* Finish the batch; it reads the same when compressed. `seed` chooses the codec. */
static void write_end(struct fuzz *fuzz, size_t seed)
{
    struct hw_batch_options options = hw_batch_options_plain();
    enum hw_codec codec = (enum hw_codec)(seed % (HW_CODEC_ZSTD + 1));
    struct hw_record_iterator plain;
    struct hw_record_iterator packed;
    struct hw_batch batch;
    struct hw_batch packed_batch;
    struct hw_error error;

    if (!fuzz->is_writable || fuzz->builder.record_count == 0) {
        return;
    }
    options.base_offset = fuzz->builder.base_offset;
    hw_batch_builder_finish(&fuzz->builder, &options);
    HW_ASSERT(hw_batch_parse(fuzz->written.bytes, fuzz->written.size, &batch) == HW_BATCH_OK);
    HW_ASSERT(hw_batch_crc_ok(fuzz->written.bytes, &batch));
    fuzz->packed.size = 0;
    HW_ASSERT(hw_batch_recompress(fuzz->written.bytes, &batch, codec, SIZE_MAX, &fuzz->packed,
                                  &error) == HW_OK);
    HW_ASSERT(hw_batch_parse(fuzz->packed.bytes, fuzz->packed.size, &packed_batch) == HW_BATCH_OK);
    HW_ASSERT(hw_record_iterator_init(&plain, fuzz->written.bytes, &batch, &error) == HW_OK);
    HW_ASSERT(hw_record_iterator_open(&packed, fuzz->packed.bytes, &packed_batch, SIZE_MAX,
                                      &fuzz->scratch, &error) == HW_OK);
    compare(&plain, &packed);
}

/* To read and to step over records, together or one by one, comes to the same places. */
static void compare_steps(const struct hw_record_iterator *start)
{
    struct hw_record_iterator one = *start;
    struct hw_record_iterator dense = *start;
    struct hw_record_iterator ahead = *start;
    struct hw_record record;
    struct hw_error error;
    hw_offset_t offset;
    uint32_t end;
    bool found;
    enum hw_status status;

    while ((status = hw_record_iterator_skip(&one, &offset, &found, &error)) == HW_OK && found) {
        int64_t delta = offset - start->batch.base_offset;

        if (delta < 0 || delta > start->batch.last_offset_delta ||
            hw_record_iterator_skip_dense(&dense, (int32_t)delta, start->at, &end, 1) == 0) {
            dense = one;
        }
        HW_ASSERT(dense.at == one.at && dense.left == one.left);
        if (hw_record_iterator_take(&ahead, -1, INT64_MAX - 1, &record, 1) == 0) {
            ahead = one;
        } else {
            HW_ASSERT(record.offset == offset);
            touch(&record);
        }
        HW_ASSERT(ahead.at == one.at && ahead.left == one.left);
    }
    HW_ASSERT(status == HW_OK ||
              hw_record_iterator_take(&ahead, -1, INT64_MAX - 1, &record, 1) == 0);
}

static void read_batch(struct fuzz *fuzz, const uint8_t *bytes, const struct hw_batch *batch)
{
    struct hw_record_iterator iterator;
    struct hw_record record;
    struct hw_error error;
    bool found = true;

    (void)hw_batch_crc_ok(bytes, batch);
    HW_ASSERT(hw_batch_next_offset(batch) > 0);
    if (hw_record_iterator_open(&iterator, bytes, batch, PLAIN_SIZE_MAX, &fuzz->scratch, &error) !=
        HW_OK) {
        return;
    }
    compare_steps(&iterator);
    write_begin(fuzz, batch->base_offset);
    while (hw_record_iterator_next(&iterator, &record, &found, &error) == HW_OK && found) {
        touch(&record);
        write_record(fuzz, &record);
    }
    write_end(fuzz, (size_t)batch->batch_length);
}

static void read_legacy(struct fuzz *fuzz, const uint8_t *bytes, const struct hw_batch *entry)
{
    struct hw_legacy_iterator iterator;
    struct hw_record record;
    struct hw_error error;
    bool found = true;

    (void)hw_legacy_crc_ok(bytes, entry);
    if (hw_legacy_iterator_init(&iterator, bytes, entry, PLAIN_SIZE_MAX, &fuzz->scratch, &error) !=
        HW_OK) {
        return;
    }
    write_begin(fuzz, iterator.base_offset);
    while (hw_legacy_iterator_next(&iterator, &record, &found, &error) == HW_OK && found) {
        touch(&record);
        write_record(fuzz, &record);
    }
    write_end(fuzz, (size_t)entry->batch_length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz fuzz = {.is_writable = false};
    struct hw_batch batch;

    hw_buffer_init(&fuzz.scratch, &hw_allocator_libc);
    hw_buffer_init(&fuzz.written, &hw_allocator_libc);
    hw_buffer_init(&fuzz.packed, &hw_allocator_libc);
    for (;;) {
        enum hw_batch_result result = hw_batch_parse(data, size, &batch);

        if (result == HW_BATCH_OK) {
            read_batch(&fuzz, data, &batch);
        } else if (result == HW_BATCH_LEGACY) {
            read_legacy(&fuzz, data, &batch);
        } else {
            break;
        }
        data += hw_batch_size_bytes(&batch);
        size -= hw_batch_size_bytes(&batch);
    }
    hw_buffer_release(&fuzz.scratch);
    hw_buffer_release(&fuzz.written);
    hw_buffer_release(&fuzz.packed);
    return 0;
}
