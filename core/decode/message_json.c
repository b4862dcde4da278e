/* SPDX-License-Identifier: MIT */
/* A message as JSON, and what is secret in it. */
#include "core/decode/message.h"

#include "core/base/json.h"
#include "core/base/uuid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------- texts */

/* Whether `word`, of small letters and dots, stands in the name. */
static bool message_name_has(const uint8_t *name, size_t size, const char *word)
{
    size_t length = strlen(word);

    for (size_t at = 0; at + length <= size; at++) {
        size_t i = 0;

        while (i < length && (name[at + i] == (uint8_t)word[i] ||
                              (word[i] != '.' && (name[at + i] ^ 0x20) == (uint8_t)word[i]))) {
            i++;
        }
        if (i == length) {
            return true;
        }
    }
    return false;
}

bool hw_config_is_secret(const uint8_t *name, size_t size)
{
    static const char *const words[] = {"password",
                                        "secret",
                                        "credential",
                                        "token",
                                        "jaas",
                                        "private",
                                        "apikey",
                                        "api.key",
                                        "master.key",
                                        "access.key",
                                        "ssl.keystore.key",
                                        "ssl.keystore.certificate.chain",
                                        "ssl.truststore.certificates"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (message_name_has(name, size, words[i])) {
            return true;
        }
    }
    return false;
}

/* Each of these writes behind `at`, where there is room, and returns the end of what it wrote. */

static uint8_t *message_put(uint8_t *at, const char *text)
{
    size_t size = strlen(text);

    memcpy(at, text, size);
    return at + size;
}

static uint8_t *message_put_base64(uint8_t *at, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    *at++ = '"';
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);

        *at++ = (uint8_t)digits[bits >> 18];
        *at++ = (uint8_t)digits[bits >> 12 & 63];
        *at++ = (uint8_t)(left > 1 ? digits[bits >> 6 & 63] : '=');
        *at++ = (uint8_t)(left > 2 ? digits[bits & 63] : '=');
    }
    *at++ = '"';
    return at;
}

static uint8_t *message_put_uuid(uint8_t *at, const uint8_t *bytes)
{
    struct hw_uuid uuid;

    memcpy(uuid.bytes, bytes, sizeof uuid.bytes);
    *at++ = '"';
    hw_uuid_format(&uuid, (char *)at);
    at += HW_UUID_TEXT_SIZE;
    at[-1] = '"'; /* Where the NUL was. */
    return at;
}

/* The shortest digits that are read as this number again, whatever the locale's decimal point is,
 * which may have several bytes. */
static uint8_t *message_put_real(uint8_t *at, double number)
{
    char text[40];
    char *end = text;
    int digits = 15;
    bool is_integer = true;

    if (isnan(number) || isinf(number)) {
        return message_put(at, isnan(number) ? "\"NaN\""
                               : number > 0  ? "\"Infinity\""
                                             : "\"-Infinity\"");
    }
    do {
        (void)snprintf(text, sizeof text, "%.*g", digits, number);
    } while (strtod(text, NULL) != number && ++digits <= 17);
    for (const char *digit = text; *digit != '\0'; digit++) {
        if (strchr("+-0123456789e", *digit) != NULL) {
            *end++ = *digit;
        } else if (end[-1] != '.') {
            *end++ = '.';
        }
        is_integer = is_integer && strchr(".e", end[-1]) == NULL;
    }
    *end = '\0';
    at = message_put(at, text);
    return is_integer ? message_put(at, ".0") : at;
}

/* -------------------------------------------------------------------------------------- values */

/* What a slot takes at the most, beside the bytes of a text: name, comma, and a number, a uuid, or
 * the brackets of what is in other slots. */
enum { MESSAGE_SLOT_MAX = HW_MESSAGE_NAME_MAX + 32 };

static uint8_t *message_put_struct(uint8_t *at, const struct hw_message_shape *shape,
                                   const struct hw_message_value *values, bool shows_secrets);

static uint8_t *message_put_single(uint8_t *at, const struct hw_message_field *field,
                                   const struct hw_message_value *value, bool shows_secrets)
{
    switch (field->type) {
    case HW_MESSAGE_STRUCT:
        return message_put_struct(at, &field->members, value + value->of.first, shows_secrets);
    case HW_MESSAGE_STRING:
        return hw_json_put_string(at, value->of.bytes, value->size);
    case HW_MESSAGE_BYTES:
        return message_put_base64(at, value->of.bytes, value->size);
    case HW_MESSAGE_UUID:
        return message_put_uuid(at, value->of.bytes);
    case HW_MESSAGE_FLOAT64:
        return message_put_real(at, value->of.real);
    case HW_MESSAGE_BOOL:
        return message_put(at, value->of.number != 0 ? "true" : "false");
    case HW_MESSAGE_INT8:
    case HW_MESSAGE_INT16:
    case HW_MESSAGE_UINT16:
    case HW_MESSAGE_INT32:
    case HW_MESSAGE_INT64:
        break;
    }
    return hw_json_put_integer(at, value->of.number);
}

static uint8_t *message_put_array(uint8_t *at, const struct hw_message_field *field,
                                  const struct hw_message_value *value, bool shows_secrets)
{
    const struct hw_message_value *elements = value + value->of.first;

    *at++ = '[';
    for (uint32_t i = 0; i < value->size; i++) {
        if (i > 0) {
            *at++ = ',';
        }
        at = message_put_single(at, field, &elements[i], shows_secrets);
    }
    *at++ = ']';
    return at;
}

/* Whether the field's value is a secret, by its own kind or by what its neighbour says. */
static bool message_is_secret(const struct hw_message_shape *shape,
                              const struct hw_message_value *values,
                              const struct hw_message_field *field)
{
    struct hw_message_text name;

    if (field->secret_by == NULL) {
        return field->is_secret;
    }
    name = hw_message_text((struct hw_message_struct){shape, values}, field->secret_by);
    return hw_config_is_secret(name.bytes, name.size);
}

static uint8_t *message_put_struct(uint8_t *at, const struct hw_message_shape *shape,
                                   const struct hw_message_value *values, bool shows_secrets)
{
    uint8_t *begin = at;

    for (int i = 0; i < shape->count; i++) {
        const struct hw_message_field *field = &shape->fields[i];
        const struct hw_message_value *value = &values[i];

        if (value->presence == HW_MESSAGE_ABSENT) {
            continue;
        }
        memcpy(at, field->json, sizeof field->json); /* In one step, however long it is. */
        at += field->json_size;
        if (value->presence == HW_MESSAGE_NULL) {
            at = message_put(at, "null");
        } else if (!shows_secrets && message_is_secret(shape, values, field)) {
            at = message_put(at, "\"" HW_MESSAGE_SECRET "\"");
        } else if (field->is_array) {
            at = message_put_array(at, field, value, shows_secrets);
        } else {
            at = message_put_single(at, field, value, shows_secrets);
        }
    }
    at = at > begin ? at : at + 1;
    *begin = '{'; /* Where the comma in front of the first name was. */
    *at++ = '}';
    return at;
}

enum hw_status hw_message_append_json(const struct hw_message *message, bool shows_secrets,
                                      struct hw_buffer *json, struct hw_error *error)
{
    size_t texts_max = HW_JSON_STRING_MAX(message->size_bytes);
    enum hw_status status =
        message->count > (SIZE_MAX / 2 - texts_max) / MESSAGE_SLOT_MAX
            ? hw_error_no_memory(error, "JSON")
            : hw_buffer_reserve(json, message->count * MESSAGE_SLOT_MAX + texts_max, error);

    if (status == HW_OK) {
        struct hw_message_struct root = hw_message_root(message);
        uint8_t *end =
            message_put_struct(json->bytes + json->size, root.shape, root.values, shows_secrets);

        json->size = (size_t)(end - json->bytes);
    }
    return status;
}
