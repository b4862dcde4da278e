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

enum hw_status hw_json_append_string(struct hw_buffer *json, const void *bytes, size_t size,
                                     struct hw_error *error)
{
    const uint8_t *at = bytes;
    enum hw_status status = hw_buffer_append(json, "\"", 1, error);

    while (status == HW_OK && size > 0) {
        char text[HW_JSON_CHARACTER_MAX];
        size_t length;
        size_t taken = hw_json_character(at, size, text, &length);

        status = hw_buffer_append(json, text, length, error);
        at += taken;
        size -= taken;
    }
    return status == HW_OK ? hw_buffer_append(json, "\"", 1, error) : status;
}

enum hw_status hw_json_append_hex(struct hw_buffer *json, const uint8_t *bytes, size_t size,
                                  struct hw_error *error)
{
    static const char digits[] = "0123456789ABCDEF";
    enum hw_status status = hw_buffer_append(json, "\"", 1, error);

    for (size_t i = 0; i < size && status == HW_OK; i++) {
        char pair[2] = {digits[bytes[i] >> 4], digits[bytes[i] & 15]};

        status = hw_buffer_append(json, pair, sizeof pair, error);
    }
    return status == HW_OK ? hw_buffer_append(json, "\"", 1, error) : status;
}
