/* SPDX-License-Identifier: MIT */
#include "core/record/legacy.h"

#include "core/base/assert.h"
#include "core/base/bytes.h"

#include <inttypes.h>
#include <zlib.h>

/* Where the fields of an entry begin. */
enum {
    MESSAGE_AT_MAGIC = 16,
    MESSAGE_AT_ATTRIBUTES = 17,
    MESSAGE_AT_TIMESTAMP = 18,
    MESSAGE_AT_KEY_MAGIC_0 = 18,
    MESSAGE_AT_KEY_MAGIC_1 = 26,
    MESSAGE_CHECKSUM_START = MESSAGE_AT_MAGIC,
    SIZE_SIZE = 4
};

static enum hw_status corrupt(hw_offset_t offset, const char *fault, struct hw_error *error)
{
    return hw_error_corrupt(error, "the old message at offset %" PRId64 ": %s", offset, fault);
}

uint32_t hw_crc32_extend(uint32_t crc, const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc, bytes, size);
}

bool hw_legacy_crc_ok(const uint8_t *bytes, const struct hw_batch *entry)
{
    size_t size = hw_batch_size_bytes(entry) - MESSAGE_CHECKSUM_START;

    return hw_crc32_extend(0, bytes + MESSAGE_CHECKSUM_START, size) == entry->crc;
}

/* A size, negative for null, and that many bytes. Returns what is behind, or NULL if they pass
 * `end`. */
static const uint8_t *message_take_bytes(const uint8_t *at, const uint8_t *end,
                                         const uint8_t **bytes, int32_t *size)
{
    if (end - at < SIZE_SIZE) {
        return NULL;
    }
    *size = hw_get_i32(at);
    at += SIZE_SIZE;
    if (*size < 0) {
        *bytes = NULL;
        *size = -1;
        return at;
    }
    if (*size > end - at) {
        return NULL;
    }
    *bytes = at;
    return at + *size;
}

/*
 * Decode the entry at `bytes`, already parsed as HW_BATCH_LEGACY. Errors: HW_CORRUPT if key or
 * value pass its end. Bytes behind the value are ignored.
 */
static enum hw_status legacy_parse(const uint8_t *bytes, const struct hw_batch *entry,
                                   struct hw_legacy_message *message, struct hw_error *error)
{
    const uint8_t *end = bytes + hw_batch_size_bytes(entry);
    const uint8_t *at =
        bytes + (entry->magic == 0 ? MESSAGE_AT_KEY_MAGIC_0 : MESSAGE_AT_KEY_MAGIC_1);

    HW_ASSERT(entry->magic == 0 || entry->magic == 1);
    *message = (struct hw_legacy_message){
        .offset = entry->base_offset,
        .magic = entry->magic,
        .attributes = bytes[MESSAGE_AT_ATTRIBUTES],
        .timestamp =
            entry->magic == 0 ? HW_TIMESTAMP_NONE : hw_get_i64(bytes + MESSAGE_AT_TIMESTAMP)};
    at = message_take_bytes(at, end, &message->key, &message->key_size);
    if (at == NULL) {
        return corrupt(entry->base_offset, "its key passes its end", error);
    }
    at = message_take_bytes(at, end, &message->value, &message->value_size);
    if (at == NULL) {
        return corrupt(entry->base_offset, "its value passes its end", error);
    }
    return HW_OK;
}

/* Decompress the value of iterator->outer, and stand at the first entry inside. */
static enum hw_status open_wrapper(struct hw_legacy_iterator *iterator, size_t size_max,
                                   struct hw_buffer *scratch, struct hw_error *error)
{
    const struct hw_legacy_message *outer = &iterator->outer;
    struct hw_error cause;
    enum hw_status status;

    if (outer->value_size < 0) {
        return corrupt(outer->offset, "it is compressed and has no value", error);
    }
    scratch->size = 0;
    status =
        hw_codec_decompress(outer->attributes & HW_BATCH_CODEC_MASK, outer->magic, outer->value,
                            (size_t)outer->value_size, size_max, scratch, &cause);
    if (status != HW_OK) {
        return hw_error_set(error, status, "the old message at offset %" PRId64 ": %.400s",
                            outer->offset, cause.message);
    }
    iterator->is_wrapper = true;
    iterator->at = scratch->size > 0 ? scratch->bytes : outer->value;
    iterator->end = iterator->at + scratch->size;
    return HW_OK;
}

/* The offset of the last whole entry inside. Returns false if there is none, or a bad one. */
static bool find_last_offset(const struct hw_legacy_iterator *iterator, hw_offset_t *last)
{
    const uint8_t *at = iterator->at;
    struct hw_batch entry;
    enum hw_batch_result result;
    int64_t count = 0;

    for (;;) {
        result = hw_batch_parse(at, (size_t)(iterator->end - at), &entry);
        if (result != HW_BATCH_LEGACY) {
            break;
        }
        *last = entry.base_offset;
        at += hw_batch_size_bytes(&entry);
        count++;
    }
    return result == HW_BATCH_TRUNCATED && count > 0;
}

enum hw_status hw_legacy_iterator_init(struct hw_legacy_iterator *iterator, const uint8_t *bytes,
                                       const struct hw_batch *entry, size_t size_max,
                                       struct hw_buffer *scratch, struct hw_error *error)
{
    hw_offset_t last = 0;
    enum hw_status status;

    *iterator = (struct hw_legacy_iterator){.at = bytes, .end = bytes + hw_batch_size_bytes(entry)};
    status = legacy_parse(bytes, entry, &iterator->outer, error);
    if (status != HW_OK || (iterator->outer.attributes & HW_BATCH_CODEC_MASK) == HW_CODEC_NONE) {
        return status;
    }
    status = open_wrapper(iterator, size_max, scratch, error);
    if (status != HW_OK) {
        return status;
    }
    if (!find_last_offset(iterator, &last)) {
        return corrupt(entry->base_offset, "it is compressed and holds no entries or damaged ones",
                       error);
    }
    if (entry->magic == 1 && entry->base_offset != 0) {
        if (entry->base_offset < last) {
            return hw_error_corrupt(error,
                                    "the old message at offset %" PRId64
                                    ": the last one inside has the larger relative offset %" PRId64,
                                    entry->base_offset, last);
        }
        iterator->base_offset = entry->base_offset - last;
    }
    return HW_OK;
}

static hw_time_ms_t message_timestamp(const struct hw_legacy_iterator *iterator,
                                      const struct hw_legacy_message *message)
{
    bool is_log_append_time = iterator->is_wrapper && iterator->outer.magic == 1 &&
                              (iterator->outer.attributes & HW_BATCH_LOG_APPEND_TIME) != 0;

    return is_log_append_time && message->magic == 1 ? iterator->outer.timestamp
                                                     : message->timestamp;
}

/* What is wrong with an entry inside a wrapper, or NULL. */
static const char *inner_fault(const struct hw_legacy_iterator *iterator,
                               const struct hw_batch *entry,
                               const struct hw_legacy_message *message)
{
    if ((message->attributes & HW_BATCH_CODEC_MASK) != HW_CODEC_NONE) {
        return "one inside is compressed too";
    }
    if (!hw_legacy_crc_ok(iterator->at, entry)) {
        return "one inside has a wrong checksum";
    }
    if (message->offset >= INT64_MAX - iterator->base_offset) {
        return "one inside has too large an offset";
    }
    return NULL;
}

enum hw_status hw_legacy_iterator_next(struct hw_legacy_iterator *iterator,
                                       struct hw_record *record, bool *found,
                                       struct hw_error *error)
{
    struct hw_legacy_message message;
    struct hw_batch entry;
    const char *fault;
    enum hw_status status;

    *found = false;
    if (hw_batch_parse(iterator->at, (size_t)(iterator->end - iterator->at), &entry) !=
        HW_BATCH_LEGACY) {
        return HW_OK; /* The end: init has seen that nothing else comes. */
    }
    status = legacy_parse(iterator->at, &entry, &message, error);
    if (status == HW_OK && iterator->is_wrapper) {
        fault = inner_fault(iterator, &entry, &message);
        if (fault != NULL) {
            status = corrupt(iterator->outer.offset, fault, error);
        }
    }
    if (status != HW_OK) {
        iterator->at = iterator->end;
        return status;
    }
    iterator->at += hw_batch_size_bytes(&entry);
    *record = (struct hw_record){.offset = iterator->base_offset + message.offset,
                                 .timestamp = message_timestamp(iterator, &message),
                                 .key = message.key,
                                 .key_size = message.key_size,
                                 .value = message.value,
                                 .value_size = message.value_size};
    *found = true;
    return HW_OK;
}
