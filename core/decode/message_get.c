/* SPDX-License-Identifier: MIT */
/* The fields of a message that was read, by their names. */
#include "core/decode/message.h"

#include "core/base/assert.h"

#include <string.h>

struct hw_message_struct hw_message_root(const struct hw_message *message)
{
    HW_ASSERT(message->is_good);
    return (struct hw_message_struct){.shape = message->shape, .values = message->values};
}

static const struct hw_message_field *message_field(struct hw_message_struct of, const char *name,
                                                    const struct hw_message_value **value)
{
    const struct hw_message_shape *shape = of.shape;
    int i = 0;

    /* A linker keeps equal texts once, mostly. */
    while (i < shape->count && shape->fields[i].name != name) {
        i++;
    }
    if (i == shape->count) {
        for (i = 0; i < shape->count && strcmp(shape->fields[i].name, name) != 0; i++) {}
    }
    HW_ASSERT(i < shape->count);
    *value = &of.values[i];
    return &shape->fields[i];
}

int64_t hw_message_integer(struct hw_message_struct of, const char *name)
{
    const struct hw_message_value *value;
    const struct hw_message_field *field = message_field(of, name, &value);

    HW_ASSERT(field->type <= HW_MESSAGE_INT64 && !field->is_array);
    return value->presence == HW_MESSAGE_PRESENT ? value->of.number : field->default_number;
}

struct hw_message_text hw_message_text(struct hw_message_struct of, const char *name)
{
    const struct hw_message_value *value;
    const struct hw_message_field *field = message_field(of, name, &value);

    HW_ASSERT(field->type == HW_MESSAGE_STRING || field->type == HW_MESSAGE_BYTES);
    if (value->presence == HW_MESSAGE_PRESENT) {
        return (struct hw_message_text){.bytes = value->of.bytes, .size = value->size};
    }
    return (struct hw_message_text){.bytes =
                                        value->presence == HW_MESSAGE_NULL || field->default_is_null
                                            ? NULL
                                            : (const uint8_t *)""};
}

static struct hw_uuid message_uuid_of(const struct hw_message_value *value)
{
    struct hw_uuid uuid = {{0}};

    if (value->presence == HW_MESSAGE_PRESENT) {
        memcpy(uuid.bytes, value->of.bytes, sizeof uuid.bytes);
    }
    return uuid;
}

struct hw_uuid hw_message_uuid(struct hw_message_struct of, const char *name)
{
    const struct hw_message_value *value;
    const struct hw_message_field *field = message_field(of, name, &value);

    HW_ASSERT(field->type == HW_MESSAGE_UUID && !field->is_array);
    return message_uuid_of(value);
}

int32_t hw_message_count(struct hw_message_struct of, const char *name)
{
    const struct hw_message_value *value;
    const struct hw_message_field *field = message_field(of, name, &value);

    HW_ASSERT(field->is_array);
    if (value->presence == HW_MESSAGE_ABSENT) {
        return field->default_is_null ? -1 : 0;
    }
    return value->presence == HW_MESSAGE_NULL ? -1 : (int32_t)value->size;
}

/* The slot of an element. */
static const struct hw_message_value *message_element(struct hw_message_struct of, const char *name,
                                                      int32_t at,
                                                      const struct hw_message_field **field)
{
    const struct hw_message_value *value;

    *field = message_field(of, name, &value);
    HW_ASSERT((*field)->is_array && at >= 0 && (uint32_t)at < value->size);
    return value + value->of.first + at;
}

struct hw_message_struct hw_message_element(struct hw_message_struct of, const char *name,
                                            int32_t at)
{
    const struct hw_message_field *field;
    const struct hw_message_value *value = message_element(of, name, at, &field);

    HW_ASSERT(field->type == HW_MESSAGE_STRUCT);
    return (struct hw_message_struct){.shape = &field->members, .values = value + value->of.first};
}

int32_t hw_message_int32_element(struct hw_message_struct of, const char *name, int32_t at)
{
    const struct hw_message_field *field;
    const struct hw_message_value *value = message_element(of, name, at, &field);

    HW_ASSERT(field->type == HW_MESSAGE_INT32);
    return (int32_t)value->of.number;
}

struct hw_uuid hw_message_uuid_element(struct hw_message_struct of, const char *name, int32_t at)
{
    const struct hw_message_field *field;
    const struct hw_message_value *value = message_element(of, name, at, &field);

    HW_ASSERT(field->type == HW_MESSAGE_UUID);
    return message_uuid_of(value);
}

struct hw_message_struct hw_message_member(struct hw_message_struct of, const char *name)
{
    const struct hw_message_value *value;
    const struct hw_message_field *field = message_field(of, name, &value);

    HW_ASSERT(field->type == HW_MESSAGE_STRUCT && !field->is_array &&
              value->presence == HW_MESSAGE_PRESENT);
    return (struct hw_message_struct){.shape = &field->members, .values = value + value->of.first};
}
