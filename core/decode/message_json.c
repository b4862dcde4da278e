/* SPDX-License-Identifier: MIT */
#include "core/decode/message_json.h"

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

static enum hw_status message_append_base64(struct hw_buffer *json, const uint8_t *bytes,
                                            size_t size, struct hw_error *error)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum hw_status status = hw_buffer_append(json, "\"", 1, error);

    for (size_t i = 0; i < size && status == HW_OK; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                        (left > 2 ? bytes[i + 2] : 0);
        char group[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                         left > 1 ? digits[bits >> 6 & 63] : '=',
                         left > 2 ? digits[bits & 63] : '='};

        status = hw_buffer_append(json, group, sizeof group, error);
    }
    return status == HW_OK ? hw_buffer_append(json, "\"", 1, error) : status;
}

/* The shortest digits that are read as this number again, whatever the locale's decimal point is. */
static enum hw_status message_append_real(struct hw_buffer *json, double number,
                                          struct hw_error *error)
{
    char text[40];
    int digits = 15;
    bool is_integer = true;

    if (isnan(number) || isinf(number)) {
        return hw_buffer_append_format(json, error, "\"%s\"",
                                       isnan(number) ? "NaN"
                                       : number > 0  ? "Infinity"
                                                     : "-Infinity");
    }
    do {
        (void)snprintf(text, sizeof text, "%.*g", digits, number);
    } while (strtod(text, NULL) != number && ++digits <= 17);
    for (char *at = text; *at != '\0'; at++) {
        if (strchr("+-0123456789e", *at) == NULL) {
            *at = '.';
        }
        is_integer = is_integer && strchr(".e", *at) == NULL;
    }
    return hw_buffer_append_format(json, error, "%s%s", text, is_integer ? ".0" : "");
}

/* -------------------------------------------------------------------------------------- values */

static enum hw_status message_append_struct(const struct hw_message *message,
                                            struct hw_message_shape shape, size_t first,
                                            bool shows_secrets, struct hw_buffer *json,
                                            struct hw_error *error);

static enum hw_status message_append_single(const struct hw_message *message,
                                            const struct hw_message_field *field,
                                            const struct hw_message_value *value,
                                            bool shows_secrets, struct hw_buffer *json,
                                            struct hw_error *error)
{
    char uuid[1 + HW_UUID_TEXT_SIZE];
    struct hw_uuid bytes;

    switch (field->type) {
    case HW_MESSAGE_STRUCT:
        return message_append_struct(message,
                                     (struct hw_message_shape){field->members, field->member_count},
                                     value->of.first, shows_secrets, json, error);
    case HW_MESSAGE_STRING:
        return hw_json_append_string(json, value->of.bytes, value->size, error);
    case HW_MESSAGE_BYTES:
        return message_append_base64(json, value->of.bytes, value->size, error);
    case HW_MESSAGE_UUID:
        memcpy(bytes.bytes, value->of.bytes, sizeof bytes.bytes);
        uuid[0] = '"';
        hw_uuid_format(&bytes, uuid + 1);
        uuid[HW_UUID_TEXT_SIZE] = '"';
        return hw_buffer_append(json, uuid, sizeof uuid, error);
    case HW_MESSAGE_FLOAT64:
        return message_append_real(json, value->of.real, error);
    case HW_MESSAGE_BOOL:
        return value->of.number != 0 ? hw_buffer_append(json, "true", 4, error)
                                     : hw_buffer_append(json, "false", 5, error);
    case HW_MESSAGE_INT8:
    case HW_MESSAGE_INT16:
    case HW_MESSAGE_UINT16:
    case HW_MESSAGE_INT32:
    case HW_MESSAGE_INT64:
        break;
    }
    return hw_json_append_integer(json, value->of.number, error);
}

static enum hw_status message_append_value(const struct hw_message *message,
                                           const struct hw_message_field *field,
                                           const struct hw_message_value *value, bool shows_secrets,
                                           struct hw_buffer *json, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (value->presence == HW_MESSAGE_NULL) {
        return hw_buffer_append(json, "null", 4, error);
    }
    if (!field->is_array) {
        return message_append_single(message, field, value, shows_secrets, json, error);
    }
    for (size_t i = 0; i < value->size && status == HW_OK; i++) {
        status = hw_buffer_append(json, i == 0 ? "[" : ",", 1, error);
        if (status == HW_OK) {
            status = message_append_single(message, field, &message->values[value->of.first + i],
                                           shows_secrets, json, error);
        }
    }
    if (status != HW_OK) {
        return status;
    }
    return value->size == 0 ? hw_buffer_append(json, "[]", 2, error)
                            : hw_buffer_append(json, "]", 1, error);
}

/* Whether the field's value is a secret, by its own kind or by what its neighbour says. */
static bool message_is_secret(const struct hw_message *message, struct hw_message_shape shape,
                              size_t first, const struct hw_message_field *field)
{
    struct hw_message_text name;

    if (field->secret_by == NULL) {
        return field->is_secret;
    }
    name = hw_message_text(
        (struct hw_message_struct){.message = message, .shape = shape, .first = first},
        field->secret_by);
    return hw_config_is_secret(name.bytes, name.size);
}

static enum hw_status message_append_struct(const struct hw_message *message,
                                            struct hw_message_shape shape, size_t first,
                                            bool shows_secrets, struct hw_buffer *json,
                                            struct hw_error *error)
{
    enum hw_status status = hw_buffer_append(json, "{", 1, error);
    bool is_first = true;

    for (int i = 0; i < shape.count && status == HW_OK; i++) {
        const struct hw_message_field *field = &shape.fields[i];
        const struct hw_message_value *value = &message->values[first + (size_t)i];

        if (value->presence == HW_MESSAGE_ABSENT) {
            continue;
        }
        status = hw_json_append_name(json, field->name, is_first, error);
        is_first = false;
        if (status == HW_OK && value->presence == HW_MESSAGE_PRESENT && !shows_secrets &&
            message_is_secret(message, shape, first, field)) {
            status = hw_buffer_append_format(json, error, "\"%s\"", HW_MESSAGE_SECRET);
        } else if (status == HW_OK) {
            status = message_append_value(message, field, value, shows_secrets, json, error);
        }
    }
    return status == HW_OK ? hw_buffer_append(json, "}", 1, error) : status;
}

enum hw_status hw_message_append_json(const struct hw_message *message, bool shows_secrets,
                                      struct hw_buffer *json, struct hw_error *error)
{
    struct hw_message_struct root = hw_message_root(message);

    return message_append_struct(message, root.shape, root.first, shows_secrets, json, error);
}
