/* SPDX-License-Identifier: MIT */
#include "core/decode/internal_record.h"

#include "core/base/bytes.h"
#include "core/base/json.h"
#include "core/base/varint.h"
#include "core/record/control_record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- topics */

static const char *const internal_topics[] = {[HW_MESSAGES_OFFSETS] = "__consumer_offsets",
                                              [HW_MESSAGES_TRANSACTIONS] = "__transaction_state",
                                              [HW_MESSAGES_SHARE] = "__share_group_state",
                                              [HW_MESSAGES_METADATA] = "__cluster_metadata",
                                              [HW_MESSAGES_REMOTE] = "__remote_log_metadata"};

bool hw_internal_topic_find(const char *topic, size_t size, enum hw_message_set *set)
{
    for (size_t i = 0; i < sizeof internal_topics / sizeof internal_topics[0]; i++) {
        if (strlen(internal_topics[i]) == size && memcmp(internal_topics[i], topic, size) == 0) {
            *set = (enum hw_message_set)i;
            return true;
        }
    }
    return false;
}

bool hw_internal_record_is_control(enum hw_message_set set, const uint8_t *key, int32_t key_size)
{
    return set != HW_MESSAGES_TRANSACTIONS && key_size == 4 && hw_get_i16(key) == 0;
}

void hw_internal_note(char *fault, size_t size, hw_offset_t offset, const char *error)
{
    enum { PLACE_SIZE_MAX = 40 };

    if (fault[0] == '\0') {
        (void)snprintf(fault, size, "offset %" PRId64 ": %.*s", offset, (int)size - PLACE_SIZE_MAX,
                       error);
    }
}

/* ------------------------------------------------------------------------------------- reading */

void hw_internal_record_init(struct hw_internal_record *internal,
                             const struct hw_allocator *allocator)
{
    *internal = (struct hw_internal_record){.type = -1};
    hw_message_init(&internal->key, allocator);
    hw_message_init(&internal->value, allocator);
}

void hw_internal_record_release(struct hw_internal_record *internal)
{
    hw_message_release(&internal->key);
    hw_message_release(&internal->value);
}

/* Note what is wrong, unless something was before. That is no error of the call: returns HW_OK. */
__attribute__((format(printf, 2, 3))) static enum hw_status
internal_note(struct hw_internal_record *internal, const char *format, ...)
{
    va_list args;

    if (internal->error[0] == '\0') {
        va_start(args, format);
        (void)vsnprintf(internal->error, sizeof internal->error, format, args);
        va_end(args);
    }
    return HW_OK;
}

/* Note the type and find its layout: mostly that of the record before. Returns whether it is
 * known. */
static bool internal_find_layout(struct hw_internal_record *internal, int type)
{
    const struct hw_message_layout *last = internal->last;

    internal->type = type;
    internal->layout = last != NULL && last->type == type && last->set == internal->set
                           ? last
                           : hw_message_layout_find(internal->set, type);
    internal->last = internal->layout;
    return internal->layout != NULL;
}

/* The fields of a value behind its version. */
static enum hw_status internal_read_fields(struct hw_internal_record *internal,
                                           const uint8_t *bytes, size_t size,
                                           struct hw_error *error)
{
    const struct hw_message_layout *layout = internal->layout;
    struct hw_message *value = &internal->value;
    int version = internal->version;
    bool is_newer = version > layout->last_version;
    enum hw_status status;

    if (version < layout->first_version) {
        return internal_note(internal, "version %d of %s is unknown", version, layout->name);
    }
    version = is_newer ? layout->last_version : version;
    status = hw_message_read(value, &layout->value, version, version >= layout->flexible_version,
                             bytes, size, error);
    if (status != HW_OK) {
        return status;
    }
    internal->has_value = value->is_good && (!is_newer || value->size_bytes == size);
    if (is_newer) {
        (void)internal_note(internal, "version %d of %s is unknown%s", internal->version,
                            layout->name,
                            internal->has_value ? ": read as the newest that is known" : "");
    }
    if (value->fault[0] != '\0') {
        (void)internal_note(internal, "value: %s", value->fault);
    }
    internal->trailing = bytes + value->size_bytes;
    internal->trailing_size = value->is_good ? size - value->size_bytes : 0;
    if (internal->trailing_size > 0) {
        (void)internal_note(internal, "value: %zu bytes behind its last field",
                            internal->trailing_size);
    }
    return HW_OK;
}

/* The type and the fields of a key of a coordinator's topic. */
static enum hw_status internal_read_key(struct hw_internal_record *internal, struct hw_error *error)
{
    const struct hw_record *record = internal->record;
    size_t size = record->key_size < 0 ? 0 : (size_t)record->key_size;
    enum hw_status status;

    if (size < 2) {
        return internal_note(internal,
                             record->key_size < 0 ? "a null key" : "key: it ends in its type");
    }
    if (!internal_find_layout(internal, hw_get_i16(record->key))) {
        return internal_note(internal, "type %d is unknown", internal->type);
    }
    status = hw_message_read(&internal->key, &internal->layout->key, 0, false, record->key + 2,
                             size - 2, error);
    if (status != HW_OK) {
        return status;
    }
    internal->has_key = internal->key.is_good;
    if (!internal->has_key) {
        (void)internal_note(internal, "key: %s", internal->key.fault);
    } else if (internal->key.size_bytes < size - 2) {
        (void)internal_note(internal, "key: %zu bytes behind its last field",
                            size - 2 - internal->key.size_bytes);
    }
    return HW_OK;
}

static enum hw_status internal_read_keyed(struct hw_internal_record *internal,
                                          struct hw_error *error)
{
    const struct hw_record *record = internal->record;
    enum hw_status status = internal_read_key(internal, error);

    internal->is_tombstone = record->value_size < 0;
    if (status != HW_OK || internal->layout == NULL || internal->is_tombstone) {
        return status;
    }
    if (record->value_size < 2) {
        return internal_note(internal, "value: it ends in its version");
    }
    internal->version = hw_get_i16(record->value);
    return internal_read_fields(internal, record->value + 2, (size_t)record->value_size - 2, error);
}

/* A varint of a frame; false where it is none. */
static inline bool internal_take(const uint8_t **at, size_t *left, int *number)
{
    uint32_t value = 0;
    size_t size = hw_unsigned_varint_get(*at, *left, &value);

    if (size == 0 || value > INT16_MAX) {
        return false;
    }
    *at += size;
    *left -= size;
    *number = (int)value;
    return true;
}

static enum hw_status internal_read_framed(struct hw_internal_record *internal,
                                           struct hw_error *error)
{
    const struct hw_record *record = internal->record;
    const uint8_t *at = record->value;
    size_t left = record->value_size < 0 ? 0 : (size_t)record->value_size;
    int frame = 0;
    int type = 0;

    if (record->value_size < 0) {
        internal->is_tombstone = true;
        return internal_note(internal, "a null value");
    }
    if (!internal_take(&at, &left, &frame)) {
        return internal_note(internal, "value: no frame version");
    }
    if (frame != 1) {
        return internal_note(internal,
                             frame == 0 ? "frame version 0: written by the preview in Kafka 2.8"
                                        : "frame version %d is unknown",
                             frame);
    }
    if (!internal_take(&at, &left, &type)) {
        return internal_note(internal, "value: no type");
    }
    if (!internal_find_layout(internal, type)) {
        return internal_note(internal, "type %d is unknown", type);
    }
    if (!internal_take(&at, &left, &internal->version)) {
        return internal_note(internal, "value: no version");
    }
    return internal_read_fields(internal, at, left, error);
}

/* Of a control batch. The version is a field of KRaft's records, and stands before those of a
 * marker. */
static enum hw_status internal_read_control(struct hw_internal_record *internal,
                                            struct hw_error *error)
{
    const struct hw_record *record = internal->record;
    bool is_marker;
    int16_t type;

    if (!hw_control_record_key(record, &type)) {
        return internal_note(internal, "the key of a control record is none");
    }
    if (!internal_find_layout(internal, type)) {
        return internal_note(internal, "control type %d is unknown", type);
    }
    if (record->value_size < 2) {
        internal->is_tombstone = record->value_size < 0;
        return internal_note(internal, "value: it ends in its version");
    }
    is_marker = internal->layout->flexible_version == INT16_MAX;
    internal->version = hw_get_i16(record->value);
    return internal_read_fields(internal, record->value + (is_marker ? 2 : 0),
                                (size_t)record->value_size - (is_marker ? 2 : 0), error);
}

enum hw_status hw_internal_record_read(struct hw_internal_record *internal, enum hw_message_set set,
                                       bool is_control, const struct hw_record *record,
                                       struct hw_error *error)
{
    internal->set = is_control ? HW_MESSAGES_CONTROL : set;
    internal->type = internal->version = -1;
    internal->layout = NULL;
    internal->has_key = internal->has_value = internal->is_tombstone = false;
    internal->trailing_size = 0;
    internal->record = record;
    internal->error[0] = '\0';
    if (is_control) {
        return internal_read_control(internal, error);
    }
    return set == HW_MESSAGES_METADATA || set == HW_MESSAGES_REMOTE
               ? internal_read_framed(internal, error)
               : internal_read_keyed(internal, error);
}

/* ---------------------------------------------------------------------------------------- JSON */

/* Whether bytes of the value that are no fields may be a secret: those of a type that has some. */
static bool internal_hides(const struct hw_internal_record *internal)
{
    const struct hw_message_layout *layout = internal->layout;

    for (int i = 0; layout != NULL && i < layout->value.count; i++) {
        if (layout->value.fields[i].is_secret || layout->value.fields[i].secret_by != NULL) {
            return true;
        }
    }
    return false;
}

static enum hw_status internal_append_hex(struct hw_buffer *json, const uint8_t *bytes, size_t size,
                                          bool is_hidden, struct hw_error *error)
{
    return is_hidden ? hw_buffer_append_format(json, error, "\"%s\"", HW_MESSAGE_SECRET)
                     : hw_json_append_hex(json, bytes, size, error);
}

/* {"hex":"00FF"} for a key or value whose fields could not be read. */
static enum hw_status internal_append_bytes(struct hw_buffer *json, const uint8_t *bytes,
                                            int32_t size, bool is_hidden, struct hw_error *error)
{
    enum hw_status status;

    if (size < 0) {
        return hw_buffer_append(json, "null", 4, error);
    }
    status = hw_buffer_append(json, "{\"hex\":", 7, error);
    if (status == HW_OK) {
        status = internal_append_hex(json, bytes, (size_t)size, is_hidden, error);
    }
    return status == HW_OK ? hw_buffer_append(json, "}", 1, error) : status;
}

enum hw_status hw_internal_record_append_value(const struct hw_internal_record *internal,
                                               bool shows_secrets, struct hw_buffer *json,
                                               struct hw_error *error)
{
    return internal->has_value
               ? hw_message_append_json(&internal->value, shows_secrets, json, error)
               : internal_append_bytes(json, internal->record->value, internal->record->value_size,
                                       !shows_secrets && internal_hides(internal), error);
}

static enum hw_status internal_append_key(const struct hw_internal_record *internal,
                                          struct hw_buffer *json, struct hw_error *error)
{
    return internal->has_key ? hw_message_append_json(&internal->key, true, json, error)
                             : internal_append_bytes(json, internal->record->key,
                                                     internal->record->key_size, false, error);
}

static enum hw_status internal_append_head(const struct hw_internal_record *internal,
                                           struct hw_buffer *json, struct hw_error *error)
{
    enum hw_status status =
        internal->type < 0 ? hw_buffer_append_format(json, error, "{\"type\":null")
                           : hw_buffer_append_format(json, error, "{\"type\":%d", internal->type);

    if (status == HW_OK && internal->layout != NULL) {
        status = hw_buffer_append_format(json, error, ",\"name\":\"%s\"", internal->layout->name);
    }
    if (status == HW_OK && internal->version >= 0) {
        status = hw_buffer_append_format(json, error, ",\"version\":%d", internal->version);
    }
    if (status == HW_OK && internal->record->key_size >= 0 &&
        internal->set != HW_MESSAGES_CONTROL) {
        status = hw_buffer_append_format(json, error, ",\"key\":");
        status = status == HW_OK ? internal_append_key(internal, json, error) : status;
    }
    return status == HW_OK ? hw_buffer_append_format(json, error, ",\"value\":") : status;
}

static enum hw_status internal_append_tail(const struct hw_internal_record *internal,
                                           bool shows_secrets, struct hw_buffer *json,
                                           struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (internal->has_value && internal->trailing_size > 0) {
        status = hw_json_append_name(json, "trailing", false, error);
        if (status == HW_OK) {
            status = internal_append_hex(json, internal->trailing, internal->trailing_size,
                                         !shows_secrets && internal_hides(internal), error);
        }
    }
    if (status == HW_OK && internal->error[0] != '\0') {
        status = hw_json_append_name(json, "error", false, error);
        if (status == HW_OK) {
            status = hw_json_append_string(json, internal->error, strlen(internal->error), error);
        }
    }
    return status == HW_OK ? hw_buffer_append(json, "}", 1, error) : status;
}

enum hw_status hw_internal_record_append(const struct hw_internal_record *internal,
                                         bool shows_secrets, struct hw_buffer *json,
                                         struct hw_error *error)
{
    enum hw_status status = internal_append_head(internal, json, error);

    if (status == HW_OK) {
        status = hw_internal_record_append_value(internal, shows_secrets, json, error);
    }
    return status == HW_OK ? internal_append_tail(internal, shows_secrets, json, error) : status;
}
