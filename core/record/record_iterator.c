/* SPDX-License-Identifier: MIT */
/*
 * Reading the records of a batch.
 *
 *     | length | attributes | timestamp | offset | key | value | header | headers ...
 *     |        |     0      |   delta   | delta  |     |       | count  |
 *
 * length counts what is behind itself. All integers are varints (the timestamp delta a varlong),
 * and key, value and the parts of a header are a varint size, -1 for null, and that many bytes.
 *
 * Source: DefaultRecord.readFrom, DefaultRecord.readHeaders.
 */
#include "core/record/batch.h"

#include "core/base/varint.h"

#include <inttypes.h>

/* What is left of the bytes of one record, or of the record area. */
struct iterator_cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static inline size_t cursor_left(const struct iterator_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* Take a varint of one byte or two, as most of a record are, if another byte is behind it: no call
 * for those. What it takes is in zig-zag: 0, -1, 1, -2 are 0, 1, 2, 3. */
static inline bool take_short(struct iterator_cursor *cursor, uint32_t *zigzag)
{
    const uint8_t *at = cursor->at;

    if (cursor_left(cursor) < 2) {
        return false;
    }
    *zigzag = at[0];
    if (at[0] < 0x80) {
        cursor->at = at + 1;
        return true;
    }
    *zigzag = (at[0] & 0x7fU) | (uint32_t)at[1] << 7;
    if (at[1] < 0x80) {
        cursor->at = at + 2;
        return true;
    }
    return false;
}

static inline int32_t from_zigzag(uint32_t zigzag)
{
    return (int32_t)(zigzag >> 1) ^ -(int32_t)(zigzag & 1);
}

static inline bool take_varint(struct iterator_cursor *cursor, int32_t *value)
{
    uint32_t zigzag;
    size_t size;

    if (take_short(cursor, &zigzag)) {
        *value = from_zigzag(zigzag);
        return true;
    }
    size = hw_varint_get(cursor->at, cursor_left(cursor), value);
    cursor->at += size;
    return size > 0;
}

static inline bool take_varlong(struct iterator_cursor *cursor, int64_t *value)
{
    uint32_t zigzag;
    size_t size;

    if (take_short(cursor, &zigzag)) {
        *value = from_zigzag(zigzag);
        return true;
    }
    size = hw_varlong_get(cursor->at, cursor_left(cursor), value);
    cursor->at += size;
    return size > 0;
}

/* The same for a size, of which all that are negative are -1. */
static inline bool take_size(struct iterator_cursor *cursor, int32_t *value)
{
    if (!take_varint(cursor, value)) {
        return false;
    }
    *value = HW_MAX(*value, -1);
    return true;
}

/* A size and that many bytes; every negative size is null. */
static inline bool take_bytes(struct iterator_cursor *cursor, const uint8_t **bytes, int32_t *size)
{
    int32_t taken;

    if (!take_size(cursor, &taken)) {
        return false;
    }
    *bytes = NULL;
    *size = taken;
    if (taken >= 0) {
        if ((size_t)taken > cursor_left(cursor)) {
            return false;
        }
        *bytes = cursor->at;
        cursor->at += taken;
    }
    return true;
}

/* Step over record->header_count headers. */
static bool take_headers(struct iterator_cursor *cursor, struct hw_record *record)
{
    struct hw_header header;

    for (int32_t i = 0; i < record->header_count; i++) {
        if (!take_bytes(cursor, &header.name, &header.name_size) || header.name_size < 0 ||
            !take_bytes(cursor, &header.value, &header.value_size)) {
            return false;
        }
    }
    return true;
}

/* What is behind the value: the headers, and nothing else. Returns NULL, or what is wrong. */
static const char *iterator_take_rest(struct iterator_cursor *body, struct hw_record *record)
{
    if (cursor_left(body) == 1 && *body->at == 0) { /* Most records have no headers. */
        record->header_count = record->headers_size = 0;
        record->headers = body->end;
        return NULL;
    }
    if (!take_varint(body, &record->header_count) || record->header_count < 0 ||
        (size_t)record->header_count > cursor_left(body)) {
        return "it has no valid header count";
    }
    record->headers = body->at;
    if (!take_headers(body, record)) {
        return "its headers do not end within it or have a null name";
    }
    record->headers_size = (int32_t)(body->at - record->headers);
    return body->at == body->end ? NULL : "it is longer than its contents";
}

static hw_time_ms_t record_timestamp(const struct hw_batch *batch, int64_t delta)
{
    if ((batch->attributes & HW_BATCH_LOG_APPEND_TIME) != 0) {
        return batch->max_timestamp;
    }
    return (int64_t)((uint64_t)batch->base_timestamp + (uint64_t)delta); /* Wraps, as Kafka's. */
}

/* Whether base + delta is an offset with another one behind it. */
static bool offset_fits(hw_offset_t base_offset, int32_t delta)
{
    return delta < 0 ? base_offset >= -(int64_t)delta : base_offset < INT64_MAX - delta;
}

/* The front of a record, and its bytes behind that. Returns NULL, or what is wrong with it. In line
 * always: it is most of what reading a row costs. */
__attribute__((always_inline)) static inline const char *
take_front(struct iterator_cursor *area, const struct hw_batch *batch, struct iterator_cursor *body,
           int64_t *timestamp_delta, int32_t *offset_delta)
{
    int32_t length;

    if (!take_varint(area, &length) || length < 0 || (size_t)length > cursor_left(area)) {
        return "it does not end within the batch";
    }
    *body = (struct iterator_cursor){area->at, area->at + length};
    area->at = body->end;
    if (length == 0) {
        return "it is empty";
    }
    body->at++; /* The attributes of a record have no meaning yet. */
    if (!take_varlong(body, timestamp_delta) || !take_varint(body, offset_delta)) {
        return "its timestamp or offset is cut off or too long";
    }
    return offset_fits(batch->base_offset, *offset_delta) ? NULL
                                                          : "its offset is negative or too large";
}

/* Read one record. Returns NULL, or what is wrong with it. */
static inline const char *iterator_take_record(struct iterator_cursor *area,
                                               const struct hw_batch *batch,
                                               struct hw_record *record)
{
    int32_t offset_delta;
    int64_t timestamp_delta;
    struct iterator_cursor body;
    const char *fault = take_front(area, batch, &body, &timestamp_delta, &offset_delta);

    if (fault != NULL) {
        return fault;
    }
    if (!take_bytes(&body, &record->key, &record->key_size)) {
        return "its key does not end within it";
    }
    if (!take_bytes(&body, &record->value, &record->value_size)) {
        return "its value does not end within it";
    }
    record->offset = batch->base_offset + offset_delta;
    record->timestamp = record_timestamp(batch, timestamp_delta);
    return iterator_take_rest(&body, record);
}

enum hw_status hw_record_iterator_init(struct hw_record_iterator *iterator, const uint8_t *bytes,
                                       const struct hw_batch *batch, struct hw_error *error)
{
    int codec_id = batch->attributes & HW_BATCH_CODEC_MASK;

    if (codec_id != HW_CODEC_NONE) {
        return hw_error_corrupt(error,
                                "the batch at offset %" PRId64 " is compressed with codec %d",
                                batch->base_offset, codec_id);
    }
    *iterator = (struct hw_record_iterator){.batch = *batch,
                                            .at = bytes + HW_BATCH_HEADER_SIZE,
                                            .end = bytes + hw_batch_size_bytes(batch),
                                            .left = batch->record_count};
    return HW_OK;
}

static enum hw_status malformed(struct hw_record_iterator *iterator, const char *fault,
                                struct hw_error *error)
{
    int32_t number = iterator->batch.record_count - iterator->left;

    iterator->left = 0;
    return hw_error_corrupt(
        error, "record %" PRId32 " of %" PRId32 " in the batch at offset %" PRId64 ": %s",
        number + 1, iterator->batch.record_count, iterator->batch.base_offset, fault);
}

/* Go on behind a record that ends at `end`, if nothing is wrong with it. */
static inline enum hw_status step_behind(struct hw_record_iterator *iterator, const uint8_t *end,
                                         const char *fault, bool *found, struct hw_error *error)
{
    if (fault == NULL && iterator->left == 1 && end != iterator->end) {
        fault = "more bytes follow, though it is the last one";
    }
    if (fault != NULL) {
        return malformed(iterator, fault, error);
    }
    iterator->at = end;
    iterator->left--;
    *found = true;
    return HW_OK;
}

/* The most bytes of a short varint. */
enum { SHORT_SIZE = 3 };

/* Take a varint of one byte to three; that many are there. Returns false if it is longer. */
static inline bool read_short(const uint8_t **cursor, uint32_t *zigzag)
{
    const uint8_t *at = *cursor;

    *zigzag = at[0];
    *cursor = at + 1;
    if (at[0] < 0x80) {
        return true;
    }
    *zigzag += ((uint32_t)at[1] << 7) - 0x80;
    *cursor = at + 2;
    if (at[1] < 0x80) {
        return true;
    }
    *zigzag += ((uint32_t)at[2] << 14) - (0x80 << 7);
    *cursor = at + 3;
    return at[2] < 0x80;
}

/*
 * Read the next record if it is as most are: with short varints, without headers, not at the very
 * end of the batch. Returns false, and the iterator is as it was, if it is not, if anything is
 * wrong with it, or if its offset is not in (after, last]. This is most of what reading a row
 * costs, so it is in line always, keeps little at a time and checks only what it must.
 */
__attribute__((always_inline)) static inline bool take_usual(struct hw_record_iterator *iterator,
                                                             hw_offset_t after, hw_offset_t last,
                                                             struct hw_record *record)
{
    enum { FRONT = 1 + 4 * SHORT_SIZE };
    const struct hw_batch *batch = &iterator->batch;
    const uint8_t *at = iterator->at;
    const uint8_t *end;
    uint32_t zigzag;

    if (iterator->end - at < FRONT + SHORT_SIZE || !read_short(&at, &zigzag) || (zigzag & 1) != 0 ||
        zigzag >> 1 > (size_t)(iterator->end - at)) {
        return false;
    }
    end = at + (zigzag >> 1);
    at++; /* The attributes. */
    if (!read_short(&at, &zigzag)) {
        return false;
    }
    record->timestamp = record_timestamp(batch, from_zigzag(zigzag));
    if (!read_short(&at, &zigzag)) {
        return false;
    }
    record->offset = (int64_t)((uint64_t)batch->base_offset + (uint64_t)from_zigzag(zigzag));
    if (record->offset <= after || record->offset > last || !read_short(&at, &zigzag)) {
        return false;
    }
    record->key = NULL;
    record->key_size = -1;
    if ((zigzag & 1) == 0) {
        record->key = at;
        record->key_size = (int32_t)(zigzag >> 1);
        if (zigzag >> 1 > (size_t)(iterator->end - at) - SHORT_SIZE) {
            return false;
        }
        at += zigzag >> 1;
    }
    if (!read_short(&at, &zigzag)) {
        return false;
    }
    record->value = NULL;
    record->value_size = -1;
    if ((zigzag & 1) == 0) {
        record->value = at;
        record->value_size = (int32_t)(zigzag >> 1);
    }
    /* Behind the value there is the number of headers, which is 0. */
    if (end - at != HW_MAX(record->value_size, 0) + 1 || end[-1] != 0 ||
        (iterator->left == 1 && end != iterator->end)) {
        return false;
    }
    record->header_count = record->headers_size = 0;
    record->headers = end;
    iterator->at = end;
    iterator->left--;
    return true;
}

size_t hw_record_iterator_take(struct hw_record_iterator *iterator, hw_offset_t after,
                               hw_offset_t last, struct hw_record *records, size_t max)
{
    struct hw_record *record = records;

    for (; max > 0 && iterator->left > 0 && take_usual(iterator, after, last, record); max--) {
        after = record->offset;
        record++;
    }
    return (size_t)(record - records);
}

/* Read a record of any kind. */
__attribute__((noinline)) static enum hw_status next_of_any(struct hw_record_iterator *iterator,
                                                            struct hw_record *record, bool *found,
                                                            struct hw_error *error)
{
    struct iterator_cursor area = {iterator->at, iterator->end};
    const char *fault = iterator_take_record(&area, &iterator->batch, record);

    return step_behind(iterator, area.at, fault, found, error);
}

enum hw_status hw_record_iterator_next(struct hw_record_iterator *iterator,
                                       struct hw_record *record, bool *found,
                                       struct hw_error *error)
{
    *found = iterator->left > 0 && take_usual(iterator, -1, INT64_MAX - 1, record);
    return *found || iterator->left == 0 ? HW_OK : next_of_any(iterator, record, found, error);
}

enum hw_status hw_record_iterator_skip(struct hw_record_iterator *iterator, hw_offset_t *offset,
                                       bool *found, struct hw_error *error)
{
    struct iterator_cursor area = {iterator->at, iterator->end};
    struct iterator_cursor body;
    int64_t timestamp_delta;
    int32_t offset_delta = 0;
    const char *fault;

    *found = false;
    if (iterator->left == 0) {
        return HW_OK;
    }
    fault = take_front(&area, &iterator->batch, &body, &timestamp_delta, &offset_delta);
    *offset = iterator->batch.base_offset + (fault == NULL ? offset_delta : 0);
    return step_behind(iterator, area.at, fault, found, error);
}

/* Step over the next record if it has this offset delta and its front is as that of most. Returns
 * false, and the iterator is as it was, if not. */
static inline bool skip_usual(struct hw_record_iterator *iterator, uint32_t delta)
{
    const uint8_t *at = iterator->at;
    const uint8_t *end;
    uint32_t zigzag;

    if (iterator->end - at < 1 + 3 * SHORT_SIZE || !read_short(&at, &zigzag) || (zigzag & 1) != 0 ||
        zigzag >> 1 > (size_t)(iterator->end - at)) {
        return false;
    }
    end = at + (zigzag >> 1);
    at++; /* The attributes. */
    if (!read_short(&at, &zigzag) || !read_short(&at, &zigzag) || zigzag != 2 * delta || at > end ||
        (iterator->left == 1 && end != iterator->end)) {
        return false;
    }
    iterator->at = end;
    iterator->left--;
    return true;
}

size_t hw_record_iterator_skip_dense(struct hw_record_iterator *iterator, int32_t delta,
                                     const uint8_t *origin, uint32_t *ends, size_t max)
{
    size_t count = 0;

    while (count < max && iterator->left > 0 &&
           skip_usual(iterator, (uint32_t)delta + (uint32_t)count)) {
        ends[count++] = (uint32_t)(iterator->at - origin);
    }
    return count;
}

/* One part of a header whose bounds are known to be right. */
static const uint8_t *iterator_next_part(const uint8_t *at, const uint8_t **bytes, int32_t *size)
{
    struct iterator_cursor cursor = {at, at + HW_VARINT_SIZE_MAX};

    take_size(&cursor, size);
    if (*size < 0) {
        *bytes = NULL;
        return cursor.at;
    }
    *bytes = cursor.at;
    return cursor.at + *size;
}

bool hw_header_next(const uint8_t **cursor, int32_t *left, struct hw_header *header)
{
    if (*left == 0) {
        return false;
    }
    *cursor = iterator_next_part(*cursor, &header->name, &header->name_size);
    *cursor = iterator_next_part(*cursor, &header->value, &header->value_size);
    --*left;
    return true;
}
