/* SPDX-License-Identifier: MIT */
/* The header of a record batch: see the drawing in batch.h. */
#include "core/record/batch.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"
#include "core/base/crc32c.h"

#include <assert.h>

/* Where the fields of the header begin. */
enum {
    AT_BASE_OFFSET = 0,
    AT_BATCH_LENGTH = 8,
    AT_LEADER_EPOCH = 12,
    AT_LEGACY_CRC = 12,
    AT_MAGIC = 16,
    AT_CRC = 17,
    AT_ATTRIBUTES = 21,
    AT_LAST_OFFSET_DELTA = 23,
    AT_BASE_TIMESTAMP = 27,
    AT_MAX_TIMESTAMP = 35,
    AT_PRODUCER_ID = 43,
    AT_PRODUCER_EPOCH = 51,
    AT_BASE_SEQUENCE = 53,
    AT_RECORD_COUNT = 57,
    CHECKSUM_START = AT_ATTRIBUTES
};

static_assert(AT_RECORD_COUNT + 4 == HW_BATCH_HEADER_SIZE, "the header ends with its last field");
static_assert(AT_BATCH_LENGTH + 4 == HW_BATCH_OVERHEAD, "the length counts what is behind it");
static_assert(AT_MAGIC + 1 == HW_BATCH_PREFIX_SIZE, "all magics share the bytes up to the magic");

enum { LENGTH_MIN_MAGIC_1 = 22, LENGTH_MIN_MAGIC_2 = HW_BATCH_HEADER_SIZE - HW_BATCH_OVERHEAD };

size_t hw_batch_size_bytes(const struct hw_batch *batch)
{
    return (size_t)HW_BATCH_OVERHEAD + (size_t)batch->batch_length;
}

hw_offset_t hw_batch_last_offset(const struct hw_batch *batch)
{
    return batch->base_offset + batch->last_offset_delta;
}

hw_offset_t hw_batch_next_offset(const struct hw_batch *batch)
{
    return hw_batch_last_offset(batch) + 1;
}

int32_t hw_sequence_add(int32_t sequence, int32_t delta)
{
    HW_ASSERT(sequence >= 0 && delta >= 0);
    return (int32_t)(((uint32_t)sequence + (uint32_t)delta) & INT32_MAX);
}

/* The fields behind the magic, of a whole batch. */
static void decode_fields(const uint8_t *bytes, struct hw_batch *batch)
{
    batch->leader_epoch = hw_get_i32(bytes + AT_LEADER_EPOCH);
    batch->crc = hw_get_u32(bytes + AT_CRC);
    batch->attributes = hw_get_i16(bytes + AT_ATTRIBUTES);
    batch->last_offset_delta = hw_get_i32(bytes + AT_LAST_OFFSET_DELTA);
    batch->base_timestamp = hw_get_i64(bytes + AT_BASE_TIMESTAMP);
    batch->max_timestamp = hw_get_i64(bytes + AT_MAX_TIMESTAMP);
    batch->producer_id = hw_get_i64(bytes + AT_PRODUCER_ID);
    batch->producer_epoch = hw_get_i16(bytes + AT_PRODUCER_EPOCH);
    batch->base_sequence = hw_get_i32(bytes + AT_BASE_SEQUENCE);
    batch->record_count = hw_get_i32(bytes + AT_RECORD_COUNT);
}

/* Whether base_offset + delta + 1 is an offset. */
static bool offsets_fit(hw_offset_t base_offset, int32_t delta)
{
    return base_offset >= 0 && delta >= 0 && base_offset < INT64_MAX - delta;
}

enum hw_batch_result hw_batch_parse(const uint8_t *bytes, size_t available, struct hw_batch *batch)
{
    *batch = (struct hw_batch){0};
    if (available <= HW_BATCH_PREFIX_SIZE) {
        return HW_BATCH_TRUNCATED;
    }
    batch->base_offset = hw_get_i64(bytes + AT_BASE_OFFSET);
    batch->batch_length = hw_get_i32(bytes + AT_BATCH_LENGTH);
    batch->magic = (int8_t)bytes[AT_MAGIC];
    if (batch->batch_length < HW_BATCH_LENGTH_MIN) {
        return HW_BATCH_CORRUPT;
    }
    if (available - HW_BATCH_OVERHEAD < (size_t)batch->batch_length) {
        return HW_BATCH_TRUNCATED;
    }
    switch (batch->magic) {
    case 0:
    case 1:
        batch->crc = hw_get_u32(bytes + AT_LEGACY_CRC);
        return batch->magic == 1 && batch->batch_length < LENGTH_MIN_MAGIC_1 ? HW_BATCH_CORRUPT
               : offsets_fit(batch->base_offset, 0)                          ? HW_BATCH_LEGACY
                                                                             : HW_BATCH_CORRUPT;
    case 2:
        if (batch->batch_length < LENGTH_MIN_MAGIC_2) {
            return HW_BATCH_CORRUPT;
        }
        decode_fields(bytes, batch);
        return batch->record_count >= 0 && offsets_fit(batch->base_offset, batch->last_offset_delta)
                   ? HW_BATCH_OK
                   : HW_BATCH_CORRUPT;
    default:
        return HW_BATCH_CORRUPT;
    }
}

static uint32_t checksum(const uint8_t *bytes, size_t size_bytes)
{
    return hw_crc32c(bytes + CHECKSUM_START, size_bytes - CHECKSUM_START);
}

bool hw_batch_crc_ok(const uint8_t *bytes, const struct hw_batch *batch)
{
    return checksum(bytes, hw_batch_size_bytes(batch)) == batch->crc;
}

/* Behind a change of what the checksum covers. */
static void renew_checksum(uint8_t *bytes)
{
    int32_t length = hw_get_i32(bytes + AT_BATCH_LENGTH);

    HW_ASSERT(length >= LENGTH_MIN_MAGIC_2);
    hw_put_u32(bytes + AT_CRC, checksum(bytes, (size_t)HW_BATCH_OVERHEAD + (size_t)length));
}

void hw_batch_encode(uint8_t *bytes, const struct hw_batch *batch)
{
    hw_put_i64(bytes + AT_BASE_OFFSET, batch->base_offset);
    hw_put_i32(bytes + AT_BATCH_LENGTH, batch->batch_length);
    hw_put_i32(bytes + AT_LEADER_EPOCH, batch->leader_epoch);
    bytes[AT_MAGIC] = (uint8_t)batch->magic;
    hw_put_i16(bytes + AT_ATTRIBUTES, batch->attributes);
    hw_put_i32(bytes + AT_LAST_OFFSET_DELTA, batch->last_offset_delta);
    hw_put_i64(bytes + AT_BASE_TIMESTAMP, batch->base_timestamp);
    hw_put_i64(bytes + AT_MAX_TIMESTAMP, batch->max_timestamp);
    hw_put_i64(bytes + AT_PRODUCER_ID, batch->producer_id);
    hw_put_i16(bytes + AT_PRODUCER_EPOCH, batch->producer_epoch);
    hw_put_i32(bytes + AT_BASE_SEQUENCE, batch->base_sequence);
    hw_put_i32(bytes + AT_RECORD_COUNT, batch->record_count);
    renew_checksum(bytes);
}

void hw_batch_set_base_offset(uint8_t *bytes, hw_offset_t base_offset)
{
    HW_ASSERT(offsets_fit(base_offset, hw_get_i32(bytes + AT_LAST_OFFSET_DELTA)));
    hw_put_i64(bytes + AT_BASE_OFFSET, base_offset);
}

void hw_batch_set_leader_epoch(uint8_t *bytes, hw_epoch_t leader_epoch)
{
    hw_put_i32(bytes + AT_LEADER_EPOCH, leader_epoch);
}

void hw_batch_set_producer(uint8_t *bytes, int64_t producer_id, int16_t producer_epoch,
                           int32_t base_sequence, bool is_transactional)
{
    int attributes = hw_get_i16(bytes + AT_ATTRIBUTES) & ~HW_BATCH_TRANSACTIONAL;

    attributes |= is_transactional ? HW_BATCH_TRANSACTIONAL : 0;
    hw_put_i16(bytes + AT_ATTRIBUTES, (int16_t)attributes);
    hw_put_i64(bytes + AT_PRODUCER_ID, producer_id);
    hw_put_i16(bytes + AT_PRODUCER_EPOCH, producer_epoch);
    hw_put_i32(bytes + AT_BASE_SEQUENCE, base_sequence);
    renew_checksum(bytes);
}

static void set_max_timestamp(uint8_t *bytes, int timestamp_type, hw_time_ms_t max_timestamp)
{
    int attributes = hw_get_i16(bytes + AT_ATTRIBUTES) & HW_BATCH_ATTRIBUTES_KNOWN;

    attributes = (attributes & ~HW_BATCH_LOG_APPEND_TIME) | timestamp_type;
    hw_put_i16(bytes + AT_ATTRIBUTES, (int16_t)attributes);
    hw_put_i64(bytes + AT_MAX_TIMESTAMP, max_timestamp);
    renew_checksum(bytes);
}

void hw_batch_set_log_append_time(uint8_t *bytes, hw_time_ms_t now_ms)
{
    set_max_timestamp(bytes, HW_BATCH_LOG_APPEND_TIME, now_ms);
}

void hw_batch_set_create_time(uint8_t *bytes, hw_time_ms_t max_timestamp)
{
    set_max_timestamp(bytes, 0, max_timestamp);
}
