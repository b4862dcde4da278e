/* SPDX-License-Identifier: MIT */
#include "core/format/segment_name.h"

#include "core/base/assert.h"

#include <string.h>

enum { SEGMENT_NAME_DIGITS = 20, SEGMENT_NAME_SUFFIX_SIZE_MAX = 20 };

bool hw_digits_parse(const char *text, size_t size, int64_t max, int64_t *number)
{
    int64_t value = 0;

    for (size_t i = 0; i < size; i++) {
        int digit = text[i] - '0';

        if (digit < 0 || digit > 9 || value > (max - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    if (size > 0) {
        *number = value;
    }
    return size > 0;
}

bool hw_segment_name_split(const char *name, hw_offset_t *base_offset, const char **suffix)
{
    hw_offset_t offset;

    if (!hw_digits_parse(name, SEGMENT_NAME_DIGITS, INT64_MAX - 1, &offset) ||
        name[SEGMENT_NAME_DIGITS] != '.') {
        return false;
    }
    *base_offset = offset;
    *suffix = name + SEGMENT_NAME_DIGITS;
    return true;
}

bool hw_segment_name_parse(const char *name, const char *suffix, hw_offset_t *base_offset)
{
    hw_offset_t offset;
    const char *rest;

    if (!hw_segment_name_split(name, &offset, &rest) || strcmp(rest, suffix) != 0) {
        return false;
    }
    *base_offset = offset;
    return true;
}

enum hw_status hw_segment_name_path(char path[HW_PATH_MAX], const char *directory,
                                    hw_offset_t offset, const char *suffix, struct hw_error *error)
{
    char name[SEGMENT_NAME_DIGITS + SEGMENT_NAME_SUFFIX_SIZE_MAX];
    size_t suffix_size = strlen(suffix) + 1;

    HW_ASSERT(offset >= 0 && suffix_size <= SEGMENT_NAME_SUFFIX_SIZE_MAX);
    for (int i = SEGMENT_NAME_DIGITS - 1; i >= 0; i--) {
        name[i] = (char)('0' + offset % 10);
        offset /= 10;
    }
    memcpy(name + SEGMENT_NAME_DIGITS, suffix, suffix_size);
    return hw_path_join(path, directory, name, error);
}

bool hw_name_ends_with(const char *name, const char *suffix)
{
    size_t size = strlen(name);
    size_t suffix_size = strlen(suffix);

    return size > suffix_size && strcmp(name + size - suffix_size, suffix) == 0;
}

bool hw_is_topic_name(const char *text, size_t size)
{
    bool is_dots = true;

    for (size_t i = 0; i < size && i <= HW_TOPIC_NAME_MAX; i++) {
        char c = text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '.' || c == '_' || c == '-')) {
            return false;
        }
        is_dots = is_dots && c == '.';
    }
    return size > 0 && size <= HW_TOPIC_NAME_MAX && !(is_dots && size <= 2);
}
