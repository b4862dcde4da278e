/* SPDX-License-Identifier: MIT */
#include "core/base/json.h"

#include "core/base/utf8.h"

#include <stdio.h>
#include <string.h>

size_t hw_json_character(const uint8_t *bytes, size_t size, char text[HW_JSON_CHARACTER_MAX],
                         size_t *length)
{
    size_t taken = hw_utf8_character_size(bytes, size);

    if (taken == 0) {
        memcpy(text, "\xef\xbf\xbd", 3);
        *length = 3;
        return 1;
    }
    if (bytes[0] == '"' || bytes[0] == '\\') {
        text[0] = '\\';
        text[1] = (char)bytes[0];
        *length = 2;
    } else if (bytes[0] < 0x20) {
        *length = (size_t)snprintf(text, HW_JSON_CHARACTER_MAX, "\\u%04x", (unsigned)bytes[0]);
    } else {
        memcpy(text, bytes, taken);
        *length = taken;
    }
    return taken;
}

/* How many of the bytes stand in JSON as they are, up to the first that may not. */
static size_t json_plain(const uint8_t *bytes, size_t size)
{
    size_t plain = 0;

    while (plain < size && bytes[plain] >= 0x20 && bytes[plain] < 0x80 && bytes[plain] != '"' &&
           bytes[plain] != '\\') {
        plain++;
    }
    return plain;
}

uint8_t *hw_json_put_string(uint8_t *at, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;

    *at++ = '"';
    while (size > 0) {
        size_t taken = json_plain(from, size);
        size_t length = taken;

        if (taken > 0) {
            memcpy(at, from, taken);
        } else {
            char text[HW_JSON_CHARACTER_MAX];

            taken = hw_json_character(from, size, text, &length);
            memcpy(at, text, length);
        }
        at += length;
        from += taken;
        size -= taken;
    }
    *at++ = '"';
    return at;
}

enum hw_status hw_json_append_string(struct hw_buffer *json, const void *bytes, size_t size,
                                     struct hw_error *error)
{
    enum hw_status status = size > SIZE_MAX / 8
                                ? hw_error_no_memory(error, "a string")
                                : hw_buffer_reserve(json, HW_JSON_STRING_MAX(size), error);

    if (status == HW_OK) {
        json->size =
            (size_t)(hw_json_put_string(json->bytes + json->size, bytes, size) - json->bytes);
    }
    return status;
}

uint8_t *hw_json_put_integer(uint8_t *at, int64_t number)
{
    uint64_t rest = number < 0 ? ~(uint64_t)number + 1 : (uint64_t)number;
    uint8_t *end;

    if (number < 0) {
        *at++ = '-';
    }
    end = at + 1;
    for (uint64_t more = rest; more >= 10; more /= 10) {
        end++;
    }
    at = end;
    do {
        *--at = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    return end;
}

enum hw_status hw_json_append_integer(struct hw_buffer *json, int64_t number,
                                      struct hw_error *error)
{
    enum hw_status status = hw_buffer_reserve(json, HW_JSON_INTEGER_MAX, error);

    if (status == HW_OK) {
        json->size = (size_t)(hw_json_put_integer(json->bytes + json->size, number) - json->bytes);
    }
    return status;
}

enum hw_status hw_json_append_name(struct hw_buffer *json, const char *name, bool is_first,
                                   struct hw_error *error)
{
    size_t size = strlen(name);
    enum hw_status status = hw_buffer_reserve(json, size + 4, error);

    if (status == HW_OK && !is_first) {
        json->bytes[json->size++] = ',';
    }
    if (status == HW_OK) {
        json->bytes[json->size++] = '"';
        memcpy(json->bytes + json->size, name, size);
        json->size += size;
        memcpy(json->bytes + json->size, "\":", 2);
        json->size += 2;
    }
    return status;
}

enum hw_status hw_json_append_hex(struct hw_buffer *json, const uint8_t *bytes, size_t size,
                                  struct hw_error *error)
{
    static const char digits[] = "0123456789ABCDEF";
    enum hw_status status = hw_buffer_append(json, "\"", 1, error);

    if (status == HW_OK && size <= SIZE_MAX / 2) {
        status = hw_buffer_reserve(json, 2 * size, error);
    }
    for (size_t i = 0; i < size && status == HW_OK; i++) {
        json->bytes[json->size++] = (uint8_t)digits[bytes[i] >> 4];
        json->bytes[json->size++] = (uint8_t)digits[bytes[i] & 15];
    }
    return status == HW_OK ? hw_buffer_append(json, "\"", 1, error) : status;
}
