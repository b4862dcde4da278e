/* SPDX-License-Identifier: MIT */
/* Writing batches. Source: MemoryRecordsBuilder, DefaultRecord.writeTo. */
#include "core/record/batch.h"

#include "core/base/assert.h"
#include "core/base/varint.h"

#include <inttypes.h>
#include <string.h>

enum {
    /* Of a record, without its length: most fields are one byte, one or two are two. */
    RECORD_OVERHEAD_USUAL = 8,
    BATCH_SIZE_MAX = INT32_MAX
};

/* Most varints of a record have one byte or two: no call for those. */
static inline size_t varint_size(int64_t value)
{
    return value >= -64 && value < 64       ? 1
           : value >= -8192 && value < 8192 ? 2
                                            : hw_varlong_size(value);
}

/* Returns the end of what was written. As long as it fits, a varint is the varlong of its value. */
static inline uint8_t *put_varint(uint8_t *out, int64_t value)
{
    uint64_t zigzag = ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);

    if (zigzag < 0x80) {
        *out = (uint8_t)zigzag;
        return out + 1;
    }
    if (zigzag < 0x4000) {
        out[0] = (uint8_t)(zigzag | 0x80);
        out[1] = (uint8_t)(zigzag >> 7);
        return out + 2;
    }
    return out + hw_varlong_put(out, value);
}

/* A size, -1 for null, and that many bytes. Returns the end of what was written. */
static inline uint8_t *put_bytes(uint8_t *out, const uint8_t *bytes, int32_t size)
{
    out = put_varint(out, size);
    if (size > 0) {
        memcpy(out, bytes, (size_t)size);
        out += size;
    }
    return out;
}

/* Bytes that put_bytes() writes. */
static int64_t bytes_size(int32_t size)
{
    return (int64_t)varint_size(size) + HW_MAX(size, 0);
}

enum hw_status hw_header_append(struct hw_buffer *headers, const struct hw_header *header,
                                struct hw_error *error)
{
    int64_t size = bytes_size(header->name_size) + bytes_size(header->value_size);
    enum hw_status status;
    uint8_t *out;

    HW_ASSERT(header->name_size >= 0 && header->value_size >= -1);
    if (size > INT32_MAX || headers->size > (size_t)(INT32_MAX - size)) {
        return hw_error_refuse(error, HW_KAFKA_MESSAGE_TOO_LARGE,
                               "a header of %" PRId64 " bytes behind %zu others, limit %" PRId32,
                               size, headers->size, INT32_MAX);
    }
    status = hw_buffer_reserve(headers, (size_t)size, error);
    if (status != HW_OK) {
        return status;
    }
    out = put_bytes(headers->bytes + headers->size, header->name, header->name_size);
    out = put_bytes(out, header->value, header->value_size);
    headers->size = (size_t)(out - headers->bytes);
    return HW_OK;
}

struct hw_batch_options hw_batch_options_plain(void)
{
    return (struct hw_batch_options){.leader_epoch = HW_EPOCH_NONE,
                                     .producer_id = HW_PRODUCER_ID_NONE,
                                     .producer_epoch = -1,
                                     .base_sequence = -1};
}

enum hw_status hw_batch_builder_begin(struct hw_batch_builder *builder, struct hw_buffer *buffer,
                                      hw_offset_t base_offset, struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT(base_offset >= 0);
    status = hw_buffer_reserve(buffer, HW_BATCH_HEADER_SIZE, error);
    if (status != HW_OK) {
        return status;
    }
    *builder = (struct hw_batch_builder){.buffer = buffer,
                                         .start = buffer->size,
                                         .base_offset = base_offset,
                                         .base_timestamp = HW_TIMESTAMP_NONE,
                                         .max_timestamp = HW_TIMESTAMP_NONE,
                                         .last_offset_delta = -1};
    memset(buffer->bytes + buffer->size, 0, HW_BATCH_HEADER_SIZE);
    buffer->size += HW_BATCH_HEADER_SIZE;
    return HW_OK;
}

/* Write all of the record but its length. Returns the end of what was written. */
static inline uint8_t *put_body(uint8_t *out, const struct hw_record *record,
                                int64_t timestamp_delta, int64_t offset_delta)
{
    *out++ = 0; /* Attributes. */
    out = put_varint(out, timestamp_delta);
    out = put_varint(out, offset_delta);
    out = put_bytes(out, record->key, record->key_size);
    out = put_bytes(out, record->value, record->value_size);
    out = put_varint(out, record->header_count);
    if (record->headers_size > 0) {
        memcpy(out, record->headers, (size_t)record->headers_size);
        out += record->headers_size;
    }
    return out;
}

/* Encode the record behind the batch, which has room for it. Its length comes first, and is known
 * last: the room for it is guessed, and rarely wrong. */
static void builder_put_record(struct hw_buffer *buffer, const struct hw_record *record,
                               int64_t timestamp_delta, int64_t offset_delta)
{
    uint8_t *out = buffer->bytes + buffer->size;
    uint8_t *body =
        out + varint_size((int64_t)hw_record_content_size(record) + RECORD_OVERHEAD_USUAL);
    uint8_t *end = put_body(body, record, timestamp_delta, offset_delta);
    size_t length = (size_t)(end - body);
    uint8_t *moved = put_varint(out, (int64_t)length);

    if (moved != body) {
        /* What the length has overwritten is written again. */
        end = put_body(moved, record, timestamp_delta, offset_delta);
    }
    buffer->size = (size_t)(end - buffer->bytes);
}

void hw_batch_builder_put(struct hw_batch_builder *builder, const struct hw_record *record,
                          hw_offset_t offset, hw_time_ms_t timestamp)
{
    bool is_first = builder->record_count == 0;
    hw_time_ms_t base_timestamp = is_first ? timestamp : builder->base_timestamp;
    int64_t offset_delta = offset - builder->base_offset;
    /* Wraps, as Kafka's. */
    int64_t timestamp_delta = (int64_t)((uint64_t)timestamp - (uint64_t)base_timestamp);

    HW_ASSERT(offset_delta > builder->last_offset_delta && offset_delta <= INT32_MAX);
    HW_ASSERT(record->key_size >= -1 && record->value_size >= -1);
    HW_ASSERT(record->header_count >= 0 && record->headers_size >= record->header_count);
    builder_put_record(builder->buffer, record, timestamp_delta, offset_delta);
    builder->base_timestamp = base_timestamp;
    if (timestamp > builder->max_timestamp) {
        builder->max_timestamp = timestamp;
    }
    builder->last_offset_delta = (int32_t)offset_delta;
    builder->record_count++;
}

enum hw_status hw_batch_builder_add(struct hw_batch_builder *builder,
                                    const struct hw_record *record, struct hw_error *error)
{
    size_t size_max = hw_record_size_bytes_max(record);
    enum hw_status status;

    if (record->timestamp < HW_TIMESTAMP_NONE) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "timestamp %" PRId64 " is below 0 and is not -1 (none)",
                               record->timestamp);
    }
    if (hw_batch_builder_size_bytes(builder) + size_max > BATCH_SIZE_MAX) {
        return hw_error_refuse(error, HW_KAFKA_MESSAGE_TOO_LARGE,
                               "a record of %zu bytes in a batch of %zu, limit %" PRId32,
                               hw_record_content_size(record), hw_batch_builder_size_bytes(builder),
                               (int32_t)BATCH_SIZE_MAX);
    }
    status = hw_buffer_reserve(builder->buffer, size_max, error);
    if (status == HW_OK) {
        hw_batch_builder_put(builder, record, record->offset, record->timestamp);
    }
    return status;
}

void hw_batch_builder_finish(struct hw_batch_builder *builder,
                             const struct hw_batch_options *options)
{
    size_t size = hw_batch_builder_size_bytes(builder);
    struct hw_batch batch = {.base_offset = options->base_offset,
                             .batch_length = (int32_t)(size - HW_BATCH_OVERHEAD),
                             .leader_epoch = options->leader_epoch,
                             .magic = 2,
                             .attributes = options->attributes,
                             .last_offset_delta = builder->last_offset_delta,
                             .base_timestamp = builder->base_timestamp,
                             .max_timestamp = builder->max_timestamp,
                             .producer_id = options->producer_id,
                             .producer_epoch = options->producer_epoch,
                             .base_sequence = options->base_sequence,
                             .record_count = builder->record_count};

    HW_ASSERT(builder->record_count > 0);
    HW_ASSERT((options->attributes & (HW_BATCH_CODEC_MASK | HW_BATCH_DELETE_HORIZON)) == 0);
    HW_ASSERT(HW_IMPLIES(options->producer_id == HW_PRODUCER_ID_NONE,
                         (options->attributes & HW_BATCH_TRANSACTIONAL) == 0 &&
                             options->base_sequence == -1));
    HW_ASSERT(options->base_offset >= 0 &&
              options->base_offset < INT64_MAX - builder->last_offset_delta);
    hw_batch_encode(builder->buffer->bytes + builder->start, &batch);
}
