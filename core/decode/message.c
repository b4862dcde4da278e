/* SPDX-License-Identifier: MIT */
#include "core/decode/message.h"

#include "core/base/bytes.h"
#include "core/base/varint.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct hw_message_layout *hw_message_layout_find(enum hw_message_set set, int type)
{
    for (size_t i = 0; i < hw_message_layout_count; i++) {
        if (hw_message_layouts[i].set == set && hw_message_layouts[i].type == type) {
            return &hw_message_layouts[i];
        }
    }
    return NULL;
}

void hw_message_init(struct hw_message *message, const struct hw_allocator *allocator)
{
    *message = (struct hw_message){.allocator = allocator};
}

void hw_message_release(struct hw_message *message)
{
    hw_free(message->allocator, message->values, message->capacity * sizeof *message->values);
    hw_message_init(message, message->allocator);
}

/* --------------------------------------------------------------------------------------- bytes */

/* Where reading stands. Each step returns false once something is wrong. */
struct message_walk {
    struct hw_message *message;
    const uint8_t *start;
    const uint8_t *at;
    const uint8_t *end; /* Of the message, or of a tagged field. */
    int version;
    bool is_flexible;
    const char *field; /* That is being read. */
    enum hw_status status;
    struct hw_error *error;
};

__attribute__((format(printf, 2, 3))) static bool message_fail(struct message_walk *walk,
                                                               const char *format, ...)
{
    char *fault = walk->message->fault;
    int size = snprintf(fault, HW_MESSAGE_FAULT_SIZE, "%s at byte %td: ", walk->field,
                        walk->at - walk->start);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(fault + size, HW_MESSAGE_FAULT_SIZE - (size_t)size, format, args);
    va_end(args);
    return false;
}

static inline size_t message_left(const struct message_walk *walk)
{
    return (size_t)(walk->end - walk->at);
}

/* The next `size` bytes. */
static inline bool message_take(struct message_walk *walk, size_t size, const uint8_t **bytes)
{
    if (size > message_left(walk)) {
        (void)message_fail(walk, "%zu bytes, of which %zu are there", size, message_left(walk));
        return false; /* So that a compiler knows. */
    }
    *bytes = walk->at;
    walk->at += size;
    return true;
}

static inline bool message_take_varint(struct message_walk *walk, uint32_t *value)
{
    size_t size = hw_unsigned_varint_get(walk->at, message_left(walk), value);

    walk->at += size;
    return size > 0 || message_fail(walk, "a varint that does not end");
}

/* A length or count; -1: null. `wide` is its size where it is not compact. */
static inline bool message_take_count(struct message_walk *walk, size_t wide, int64_t *count)
{
    const uint8_t *bytes = NULL;
    uint32_t compact;

    if (walk->is_flexible) {
        if (!message_take_varint(walk, &compact)) {
            return false;
        }
        *count = (int64_t)compact - 1;
    } else {
        if (!message_take(walk, wide, &bytes)) {
            return false;
        }
        *count = wide == 2 ? hw_get_i16(bytes) : hw_get_i32(bytes);
    }
    return *count >= -1 || message_fail(walk, "a count of %lld", (long long)*count);
}

/* Add slots that are absent. */
static bool message_add(struct message_walk *walk, size_t count)
{
    struct hw_message *message = walk->message;

    if (count > message->capacity - message->count) {
        walk->status =
            hw_array_reserve(message->allocator, (void **)&message->values, &message->capacity,
                             message->count + count, sizeof *message->values, walk->error);
        if (walk->status != HW_OK) {
            return false;
        }
    }
    memset(&message->values[message->count], 0, count * sizeof *message->values);
    message->count += count;
    return true;
}

/* -------------------------------------------------------------------------------------- fields */

static bool message_read_struct(struct message_walk *walk, const struct hw_message_shape *shape,
                                size_t *first);

/* Bytes that a value of the type takes at least, none of them being null. */
static size_t message_size_min(enum hw_message_type type, bool is_flexible)
{
    static const uint8_t sizes[] = {
        [HW_MESSAGE_BOOL] = 1,    [HW_MESSAGE_INT8] = 1,  [HW_MESSAGE_INT16] = 2,
        [HW_MESSAGE_UINT16] = 2,  [HW_MESSAGE_INT32] = 4, [HW_MESSAGE_INT64] = 8,
        [HW_MESSAGE_FLOAT64] = 8, [HW_MESSAGE_UUID] = 16, [HW_MESSAGE_STRING] = 2,
        [HW_MESSAGE_BYTES] = 4,   [HW_MESSAGE_STRUCT] = 1};

    return is_flexible && (type == HW_MESSAGE_STRING || type == HW_MESSAGE_BYTES) ? 1 : sizes[type];
}

/* A number or a uuid: most fields are such, and none of them is null. */
static bool message_read_number(struct message_walk *walk, enum hw_message_type type,
                                struct hw_message_value *value)
{
    const uint8_t *bytes = NULL;
    uint64_t bits;

    if (!message_take(walk, message_size_min(type, false), &bytes)) {
        return false;
    }
    value->presence = HW_MESSAGE_PRESENT;
    switch ((int)type) {
    case HW_MESSAGE_BOOL:
        value->of.number = bytes[0] != 0;
        break;
    case HW_MESSAGE_INT8:
        value->of.number = (int8_t)bytes[0];
        break;
    case HW_MESSAGE_INT16:
        value->of.number = hw_get_i16(bytes);
        break;
    case HW_MESSAGE_UINT16:
        value->of.number = hw_get_u16(bytes);
        break;
    case HW_MESSAGE_INT32:
        value->of.number = hw_get_i32(bytes);
        break;
    case HW_MESSAGE_INT64:
        value->of.number = hw_get_i64(bytes);
        break;
    case HW_MESSAGE_FLOAT64:
        bits = hw_get_u64(bytes);
        memcpy(&value->of.real, &bits, sizeof bits);
        break;
    case HW_MESSAGE_UUID:
        value->of.bytes = bytes;
        break;
    }
    return true;
}

static bool message_read_text(struct message_walk *walk, enum hw_message_type type,
                              struct hw_message_value *value)
{
    int64_t size = 0;

    if (!message_take_count(walk, type == HW_MESSAGE_STRING ? 2 : 4, &size)) {
        return false;
    }
    value->presence = size < 0 ? HW_MESSAGE_NULL : HW_MESSAGE_PRESENT;
    value->size = size < 0 ? 0 : (uint32_t)size;
    return size < 0 || message_take(walk, (size_t)size, &value->of.bytes);
}

static bool message_read_members(struct message_walk *walk, const struct hw_message_field *field,
                                 size_t slot)
{
    struct hw_message_value *value;
    size_t first;

    if (!message_read_struct(walk, &field->members, &first)) {
        return false;
    }
    value = &walk->message->values[slot];
    value->presence = HW_MESSAGE_PRESENT;
    value->of.first = first - slot;
    return true;
}

/* One value, or one element of an array. */
static inline bool message_read_single(struct message_walk *walk,
                                       const struct hw_message_field *field, size_t slot)
{
    return field->type <= HW_MESSAGE_UUID
               ? message_read_number(walk, field->type, &walk->message->values[slot])
           : field->type == HW_MESSAGE_STRUCT
               ? message_read_members(walk, field, slot)
               : message_read_text(walk, field->type, &walk->message->values[slot]);
}

static bool message_read_array(struct message_walk *walk, const struct hw_message_field *field,
                               size_t slot)
{
    struct hw_message_value *value = &walk->message->values[slot];
    size_t size_min = message_size_min(field->type, walk->is_flexible);
    size_t first;
    int64_t count = 0;

    if (!message_take_count(walk, 4, &count)) {
        return false;
    }
    if (count > 0 && (uint64_t)count * size_min > message_left(walk)) {
        return message_fail(walk, "%lld elements in %zu bytes", (long long)count,
                            message_left(walk));
    }
    value->presence = count < 0 ? HW_MESSAGE_NULL : HW_MESSAGE_PRESENT;
    value->size = count < 0 ? 0 : (uint32_t)count;
    first = walk->message->count;
    value->of.first = first - slot;
    if (count <= 0) {
        return true;
    }
    if (!message_add(walk, (size_t)count)) {
        return false;
    }
    for (size_t i = first; i < first + (size_t)count; i++) {
        if (!message_read_single(walk, field, i)) {
            return false;
        }
        if (walk->message->values[i].presence == HW_MESSAGE_NULL) {
            return message_fail(walk, "an element that is null");
        }
    }
    return true;
}

/* A struct that may be null has a mark in front: one byte, or a varint where it is tagged. */
static bool message_read_nullable(struct message_walk *walk, const struct hw_message_field *field,
                                  size_t slot)
{
    const uint8_t *bytes = NULL;
    uint32_t mark = 0;

    if (field->tag >= 0 ? !message_take_varint(walk, &mark) : !message_take(walk, 1, &bytes)) {
        return false;
    }
    if (field->tag >= 0 ? mark == 0 : (int8_t)bytes[0] < 0) {
        walk->message->values[slot].presence = HW_MESSAGE_NULL;
        return true;
    }
    return message_read_members(walk, field, slot);
}

/* What takes more slots moves its own, so that is looked up again. */
static inline bool message_read_field(struct message_walk *walk,
                                      const struct hw_message_field *field, size_t slot)
{
    bool is_read;

    walk->field = field->name;
    is_read = field->is_array ? message_read_array(walk, field, slot)
              : field->type == HW_MESSAGE_STRUCT && field->is_nullable
                  ? message_read_nullable(walk, field, slot)
                  : message_read_single(walk, field, slot);
    return is_read && (walk->message->values[slot].presence != HW_MESSAGE_NULL ||
                       field->is_nullable || message_fail(walk, "null, which it cannot be"));
}

/* ---------------------------------------------------------------------------------------- tags */

static bool message_has(const struct message_walk *walk, const struct hw_message_field *field)
{
    return walk->version >= field->first_version && walk->version <= field->last_version;
}

/* Whether a value is what one that is not there stands for. */
static bool message_is_default(const struct hw_message_field *field,
                               const struct hw_message_value *value)
{
    static const uint8_t zero[16];

    if (value->presence != HW_MESSAGE_PRESENT || field->default_is_null) {
        return value->presence == HW_MESSAGE_ABSENT ||
               (value->presence == HW_MESSAGE_NULL && field->default_is_null);
    }
    if (field->is_array || field->type == HW_MESSAGE_STRING || field->type == HW_MESSAGE_BYTES) {
        return value->size == 0;
    }
    if (field->type == HW_MESSAGE_UUID) {
        return memcmp(value->of.bytes, zero, sizeof zero) == 0;
    }
    if (field->type == HW_MESSAGE_FLOAT64) {
        return value->of.real == 0;
    }
    if (field->type != HW_MESSAGE_STRUCT) {
        return value->of.number == field->default_number;
    }
    for (int i = 0; i < field->members.count; i++) {
        if (!message_is_default(&field->members.fields[i], value + value->of.first + i)) {
            return false;
        }
    }
    return true;
}

/* The field of a tag, whose bytes end where the walk does. */
static bool message_read_tagged(struct message_walk *walk, const struct hw_message_field *field,
                                size_t slot)
{
    struct hw_message_value *value;

    if (!message_read_field(walk, field, slot)) {
        return false;
    }
    if (walk->at < walk->end) {
        walk->field = field->name;
        return message_fail(walk, "%zu bytes behind it belong to its tag", message_left(walk));
    }
    value = &walk->message->values[slot];
    if (message_is_default(field, value)) {
        value->presence = HW_MESSAGE_ABSENT;
    }
    return true;
}

/* The field with the tag; that of the last tag is `*at`, and mostly the next one has it. NULL: the
 * table lacks it. */
static const struct hw_message_field *message_find_tag(const struct hw_message_shape *shape,
                                                       uint32_t tag, int *at)
{
    for (int i = 0; i < shape->count; i++) {
        *at = *at + 1 < shape->count ? *at + 1 : 0;
        if (shape->fields[*at].tag >= 0 && (uint32_t)shape->fields[*at].tag == tag) {
            return &shape->fields[*at];
        }
    }
    return NULL;
}

static bool message_read_tag(struct message_walk *walk, const struct hw_message_shape *shape,
                             size_t first, int *at)
{
    const struct hw_message_field *field;
    const uint8_t *end = walk->end;
    const uint8_t *bytes = NULL;
    uint32_t tag = 0;
    uint32_t size = 0;

    walk->field = "the tags";
    if (!message_take_varint(walk, &tag) || !message_take_varint(walk, &size) ||
        !message_take(walk, size, &bytes)) {
        return false;
    }
    field = message_find_tag(shape, tag, at);
    if (field == NULL) {
        return true;
    }
    if (!message_has(walk, field)) {
        (void)snprintf(walk->message->fault, HW_MESSAGE_FAULT_SIZE,
                       "tag %u, %s, is none of version %d: left out", (unsigned)tag, field->name,
                       walk->version);
        return true;
    }
    walk->at = bytes;
    walk->end = bytes + size;
    if (!message_read_tagged(walk, field, first + (size_t)*at)) {
        return false;
    }
    walk->end = end;
    return true;
}

static bool message_read_tags(struct message_walk *walk, const struct hw_message_shape *shape,
                              size_t first)
{
    uint32_t tags = 0;
    int at = shape->plain_end - 1;

    walk->field = "the tags";
    if (!message_take_varint(walk, &tags)) {
        return false;
    }
    /* Each of them takes bytes, so there are no more rounds than those. */
    for (uint32_t i = 0; i < tags; i++) {
        if (!message_read_tag(walk, shape, first, &at)) {
            return false;
        }
    }
    return true;
}

/* Structs nest as deep as the table says, so this calls itself no deeper. */
static bool message_read_struct(struct message_walk *walk, const struct hw_message_shape *shape,
                                size_t *first)
{
    *first = walk->message->count;
    if (shape->count > 0 && !message_add(walk, (size_t)shape->count)) {
        return false;
    }
    for (int i = 0; i < shape->plain_end; i++) {
        const struct hw_message_field *field = &shape->fields[i];

        if (field->tag < 0 && message_has(walk, field) &&
            !message_read_field(walk, field, *first + (size_t)i)) {
            return false;
        }
    }
    return !walk->is_flexible || message_read_tags(walk, shape, *first);
}

enum hw_status hw_message_read(struct hw_message *message, const struct hw_message_shape *shape,
                               int version, bool is_flexible, const uint8_t *bytes, size_t size,
                               struct hw_error *error)
{
    struct message_walk walk = {.message = message,
                                .start = bytes,
                                .at = bytes,
                                .end = bytes + size,
                                .version = version,
                                .is_flexible = is_flexible,
                                .field = "the message",
                                .status = HW_OK,
                                .error = error};
    size_t first;

    message->shape = shape;
    message->count = 0;
    message->fault[0] = '\0';
    message->size_bytes = 0;
    if (size > HW_MESSAGE_SIZE_MAX) {
        message->is_good = message_fail(&walk, "%zu bytes are more than it may have", size);
        return HW_OK;
    }
    message->is_good = message_read_struct(&walk, shape, &first);
    message->size_bytes = message->is_good ? (size_t)(walk.at - bytes) : 0;
    return walk.status;
}
