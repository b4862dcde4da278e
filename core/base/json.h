/* SPDX-License-Identifier: MIT */
/* How text stands in JSON. */
#ifndef HW_BASE_JSON_H
#define HW_BASE_JSON_H

#include "core/base/buffer.h"

#include <stdbool.h>

/* Bytes that one character takes at the most: \u00XX. */
enum { HW_JSON_CHARACTER_MAX = 8 };

/*
 * The character at the first of `size` > 0 bytes, as it stands between the quotes of a string: as
 * it is, escaped, or U+FFFD where the byte begins none of UTF-8. Its *length bytes go to `text`.
 * Returns the bytes that it took.
 */
size_t hw_json_character(const uint8_t *bytes, size_t size, char text[HW_JSON_CHARACTER_MAX],
                         size_t *length);

/* Bytes that a number takes at the most, and a string of so many bytes. */
enum { HW_JSON_INTEGER_MAX = 20 };
#define HW_JSON_STRING_MAX(size) (6 * (size) + 2)

/* Write a number, or a string with its quotes, where there is room for as many bytes as it may take;
 * what is behind it is undefined. Returns its end. */
uint8_t *hw_json_put_integer(uint8_t *at, int64_t number);
uint8_t *hw_json_put_string(uint8_t *at, const void *bytes, size_t size);

/* Append a string with its quotes. Errors: HW_NO_MEMORY. */
enum hw_status hw_json_append_string(struct hw_buffer *json, const void *bytes, size_t size,
                                     struct hw_error *error);

/* Append a number. Errors: HW_NO_MEMORY. */
enum hw_status hw_json_append_integer(struct hw_buffer *json, int64_t number,
                                      struct hw_error *error);

/* Append "name": with a comma in front, unless it is the first one of its object. The name is plain.
 * Errors: HW_NO_MEMORY. */
enum hw_status hw_json_append_name(struct hw_buffer *json, const char *name, bool is_first,
                                   struct hw_error *error);

/* Append bytes as a string of hex digits. Errors: HW_NO_MEMORY. */
enum hw_status hw_json_append_hex(struct hw_buffer *json, const uint8_t *bytes, size_t size,
                                  struct hw_error *error);

#endif /* HW_BASE_JSON_H */
