/* SPDX-License-Identifier: MIT */
#include "core/look/page.h"

#include "core/base/json.h"
#include "core/base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE_JSON_INTEGER_MAX INT64_C(9007199254740991)

enum { PAGE_JSON_VALUE_MAX = 64 };

static void page_json_bytes(struct hw_page_json *json, const void *bytes, size_t size)
{
    if (json->status == HW_OK) {
        json->status = hw_buffer_append(json->text, bytes, size, json->error);
    }
}

void hw_page_json_raw(struct hw_page_json *json, const char *text)
{
    page_json_bytes(json, text, strlen(text));
}

void hw_page_json_number(struct hw_page_json *json, int64_t number)
{
    bool is_exact = number <= PAGE_JSON_INTEGER_MAX && number >= -PAGE_JSON_INTEGER_MAX;

    hw_page_json_raw(json, is_exact ? "" : "\"");
    if (json->status == HW_OK) {
        json->status = hw_json_append_integer(json->text, number, json->error);
    }
    hw_page_json_raw(json, is_exact ? "" : "\"");
}

void hw_page_json_numbers(struct hw_page_json *json, const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hw_page_json_raw(json, i == 0 ? "" : ",");
        hw_page_json_number(json, numbers[i]);
    }
}

/* The code point of a well-formed character. */
static uint32_t page_json_code_point(const uint8_t *bytes, size_t size)
{
    static const uint8_t first_bits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = bytes[0] & first_bits[size];

    for (size_t i = 1; i < size; i++) {
        code = code << 6 | (bytes[i] & 0x3FU);
    }
    return code;
}

static void page_json_escape(struct hw_page_json *json, uint32_t code)
{
    char escape[16];

    if (code > 0xFFFF) {
        code -= 0x10000;
        (void)snprintf(escape, sizeof escape, "\\u%04" PRIX32 "\\u%04" PRIX32,
                       0xD800 + (code >> 10), 0xDC00 + (code & 0x3FF));
    } else {
        (void)snprintf(escape, sizeof escape, "\\u%04" PRIX32, code);
    }
    hw_page_json_raw(json, escape);
}

static bool page_json_is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x7F && strchr("\"\\<>&", c) == NULL;
}

void hw_page_json_string(struct hw_page_json *json, const uint8_t *bytes, size_t size)
{
    size_t at = 0;

    hw_page_json_raw(json, "\"");
    while (at < size) {
        size_t plain = at;
        size_t character;

        while (plain < size && page_json_is_plain(bytes[plain])) {
            plain++;
        }
        page_json_bytes(json, bytes + at, plain - at);
        at = plain;
        if (at == size) {
            break;
        }
        character = hw_utf8_character_size(bytes + at, size - at);
        page_json_escape(json,
                         character == 0 ? 0xFFFD : page_json_code_point(bytes + at, character));
        at += character == 0 ? 1 : character;
    }
    hw_page_json_raw(json, "\"");
}

void hw_page_json_value(struct hw_page_json *json, const uint8_t *bytes, int32_t size)
{
    size_t shown = size < PAGE_JSON_VALUE_MAX ? (size_t)size : PAGE_JSON_VALUE_MAX;

    if (size < 0) {
        hw_page_json_raw(json, "null");
        return;
    }
    if (!hw_utf8_is_text(bytes, (size_t)size)) {
        hw_page_json_raw(json, "{\"hex\":");
        if (json->status == HW_OK) {
            json->status = hw_json_append_hex(json->text, bytes, shown, json->error);
        }
        hw_page_json_raw(json, ",\"of\":");
    } else if (shown == (size_t)size) {
        hw_page_json_string(json, bytes, shown);
        return;
    } else {
        while ((bytes[shown] & 0xC0) == 0x80) {
            shown--; /* Never within a character. */
        }
        hw_page_json_raw(json, "{\"text\":");
        hw_page_json_string(json, bytes, shown);
        hw_page_json_raw(json, ",\"of\":");
    }
    hw_page_json_number(json, size);
    hw_page_json_raw(json, "}");
}
