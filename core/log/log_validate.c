/* SPDX-License-Identifier: MIT */
/* What a leader checks before it appends a producer's batch (R1.5, R1.11 to R1.20).
 */
#include "core/log/log_internal.h"

#include "core/base/assert.h"
#include "core/record/codec.h"

#include <inttypes.h>
#include <string.h>

/* Exactly one batch of magic 2, whatever it says otherwise. */
static enum hw_status check_frame(const uint8_t *bytes, size_t size_bytes, struct hw_batch *batch,
                                  bool *is_sane, struct hw_error *error)
{
    enum hw_batch_result result = hw_batch_parse(bytes, size_bytes, batch);

    *is_sane = result == HW_BATCH_OK;
    if (result == HW_BATCH_CORRUPT &&
        (batch->magic != 2 || batch->batch_length < HW_BATCH_HEADER_SIZE - HW_BATCH_OVERHEAD)) {
        return hw_error_refuse(error, HW_KAFKA_CORRUPT_MESSAGE,
                               "%zu bytes that do not begin with a batch header", size_bytes);
    }
    if (result == HW_BATCH_LEGACY || result == HW_BATCH_TRUNCATED ||
        hw_batch_size_bytes(batch) != size_bytes) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "%zu bytes are not exactly one batch of magic 2", size_bytes);
    }
    return HW_OK;
}

static enum hw_status check_base_offset(const struct hw_batch *batch, struct hw_error *error)
{
    if (batch->base_offset != 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "base offset of the batch is %" PRId64 ", must be 0",
                               batch->base_offset);
    }
    return HW_OK;
}

enum hw_status hw_log_check_batch_size(const struct hw_log *log, const struct hw_batch *batch,
                                       struct hw_error *error)
{
    size_t size_bytes = hw_batch_size_bytes(batch);

    if ((int64_t)size_bytes > log->owner.config.max_message_bytes) {
        return hw_error_refuse(error, HW_KAFKA_MESSAGE_TOO_LARGE,
                               "batch has %zu bytes, max.message.bytes is %" PRId32, size_bytes,
                               log->owner.config.max_message_bytes);
    }
    return HW_OK;
}

enum hw_status hw_log_check_segment_size(const struct hw_log *log, const struct hw_batch *batch,
                                         struct hw_error *error)
{
    int32_t segment_bytes = log->owner.config.segment_bytes;

    if ((int64_t)hw_batch_size_bytes(batch) > segment_bytes) {
        return hw_error_refuse(error, HW_KAFKA_RECORD_LIST_TOO_LARGE,
                               "batch has %zu bytes, segment.bytes is %" PRId32,
                               hw_batch_size_bytes(batch), segment_bytes);
    }
    return HW_OK;
}

/* What the header announces. Source: LogValidator.validateBatch. */
static enum hw_status check_header(hw_offset_t offset, const struct hw_batch *batch, bool is_sane,
                                   struct hw_error *error)
{
    bool is_control = (batch->attributes & HW_BATCH_CONTROL) != 0;

    if (is_control || !is_sane || batch->record_count < 1 ||
        batch->last_offset_delta != batch->record_count - 1) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "a %s batch of %" PRId32 " records with last offset delta %" PRId32,
                               is_control ? "control" : "data", batch->record_count,
                               batch->last_offset_delta);
    }
    if (batch->producer_id >= 0 && batch->base_sequence < 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "producer %" PRId64 " sent a batch with base sequence %" PRId32,
                               batch->producer_id, batch->base_sequence);
    }
    if ((batch->attributes & HW_BATCH_LOG_APPEND_TIME) != 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "the producer marked the batch as LogAppendTime");
    }
    if (offset > INT64_MAX - 1 - batch->last_offset_delta) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "no offsets are left behind %" PRId64, offset);
    }
    return HW_OK;
}

/* Neither difference can overflow as unsigned, and a bound that is passed is a time. */
static enum hw_status check_timestamp(const struct hw_log_config *config, const char *name,
                                      hw_time_ms_t now_ms, hw_time_ms_t timestamp,
                                      struct hw_error *error)
{
    uint64_t before_ms = timestamp < now_ms ? (uint64_t)now_ms - (uint64_t)timestamp : 0;
    uint64_t after_ms = timestamp > now_ms ? (uint64_t)timestamp - (uint64_t)now_ms : 0;

    if (config->log_append_time || timestamp == HW_TIMESTAMP_NONE) {
        return HW_OK;
    }
    if (before_ms > (uint64_t)config->message_timestamp_before_max_ms) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "timestamp %" PRId64 " for %s is too early: it is %" PRId64
                               ", and with message.timestamp.before.max.ms of %" PRId64
                               " the earliest is %" PRId64,
                               timestamp, name, now_ms, config->message_timestamp_before_max_ms,
                               now_ms - config->message_timestamp_before_max_ms);
    }
    if (after_ms > (uint64_t)config->message_timestamp_after_max_ms) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "timestamp %" PRId64 " for %s is too late: it is %" PRId64
                               ", and with message.timestamp.after.max.ms of %" PRId64
                               " the latest is %" PRId64,
                               timestamp, name, now_ms, config->message_timestamp_after_max_ms,
                               now_ms + config->message_timestamp_after_max_ms);
    }
    return HW_OK;
}

enum hw_status hw_log_config_check_record(const struct hw_log_config *config, const char *name,
                                          hw_time_ms_t now_ms, hw_time_ms_t timestamp, bool has_key,
                                          struct hw_error *error)
{
    enum hw_status status = check_timestamp(config, name, now_ms, timestamp, error);

    if (status != HW_OK) {
        return status;
    }
    if (config->compacted && !has_key) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "a record has no key, and %s is compacted", name);
    }
    return HW_OK;
}

/* Walk the records: such as the topic takes, one an offset, as many as the header announces. A bad
 * timestamp wins over a missing key, wherever it is. */
static enum hw_status walk_records(const struct hw_log *log, const uint8_t *bytes,
                                   const struct hw_batch *batch, hw_time_ms_t now_ms,
                                   struct hw_buffer *scratch, hw_time_ms_t *max_timestamp,
                                   struct hw_error *error)
{
    const struct hw_log_config *config = &log->owner.config;
    const char *slash = strrchr(log->owner.directory, '/');
    const char *name = slash == NULL ? log->owner.directory : slash + 1;
    struct hw_record_iterator iterator;
    struct hw_record record;
    hw_offset_t next_offset = batch->base_offset;
    bool is_consecutive = true;
    bool have_keys = true;
    bool found = true;
    enum hw_status status =
        hw_record_iterator_open(&iterator, bytes, batch, HW_BATCH_PLAIN_SIZE_MAX, scratch, error);

    *max_timestamp = HW_TIMESTAMP_NONE;
    while (status == HW_OK && found) {
        status = hw_record_iterator_next(&iterator, &record, &found, error);
        if (status == HW_OK && found) {
            status =
                hw_log_config_check_record(config, name, now_ms, record.timestamp, true, error);
            have_keys = have_keys && record.key_size >= 0;
            is_consecutive = is_consecutive && record.offset == next_offset++;
            *max_timestamp = HW_MAX(record.timestamp, *max_timestamp);
        }
    }
    if (status == HW_OK) {
        status =
            hw_log_config_check_record(config, name, now_ms, HW_TIMESTAMP_NONE, have_keys, error);
    }
    return status == HW_OK && !is_consecutive
               ? hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                                 "the offset deltas of the batch's records are not 0, 1, 2, ...")
               : status;
}

/*
 * Check that the batch holds the records that its header announces, and find their largest
 * timestamp. Source: LogValidator.validateBatch, validateRecord (R1.15 to R1.17). Stricter in one point:
 * where the offsets in a compressed batch are not consecutive, Kafka writes it anew.
 */
static enum hw_status check_records(const struct hw_log *log, const uint8_t *bytes,
                                    const struct hw_batch *batch, hw_time_ms_t now_ms,
                                    hw_time_ms_t *max_timestamp, struct hw_error *error)
{
    struct hw_buffer scratch;
    enum hw_status status;

    hw_buffer_init(&scratch, log->owner.allocator);
    status = walk_records(log, bytes, batch, now_ms, &scratch, max_timestamp, error);
    hw_buffer_release(&scratch);
    if (status == HW_CORRUPT) {
        char reason[HW_ERROR_MESSAGE_SIZE_BYTES];

        memcpy(reason, error->message, sizeof reason);
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD, "%s", reason);
    }
    return status;
}

enum hw_status hw_log_check_produced_batch(const struct hw_log *log, const uint8_t *bytes,
                                           size_t size_bytes, hw_time_ms_t now_ms,
                                           struct hw_batch *batch, hw_time_ms_t *max_timestamp,
                                           struct hw_error *error)
{
    bool is_sane;
    enum hw_status status = check_frame(bytes, size_bytes, batch, &is_sane, error);

    if (status == HW_OK) {
        status = check_base_offset(batch, error);
    }
    if (status == HW_OK) {
        status = hw_log_check_batch_size(log, batch, error);
    }
    if (status == HW_OK && !hw_batch_crc_ok(bytes, batch)) {
        return hw_error_refuse(error, HW_KAFKA_CORRUPT_MESSAGE,
                               "the checksum of the batch is wrong");
    }
    if (status == HW_OK) {
        status = check_header(hw_log_end(log), batch, is_sane, error);
    }
    return status == HW_OK ? check_records(log, bytes, batch, now_ms, max_timestamp, error)
                           : status;
}

enum hw_status hw_log_check_built_batch(const struct hw_log *log, const uint8_t *bytes,
                                        size_t available, hw_offset_t offset,
                                        struct hw_batch *batch, struct hw_error *error)
{
    enum hw_batch_result result = hw_batch_parse(bytes, available, batch);
    enum hw_status status;

    HW_ASSERT(result == HW_BATCH_OK);
    status = check_base_offset(batch, error);
    if (status == HW_OK) {
        status = hw_log_check_batch_size(log, batch, error);
    }
    return status == HW_OK ? check_header(offset, batch, true, error) : status;
}
