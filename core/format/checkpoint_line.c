/* SPDX-License-Identifier: MIT */
#include "core/format/checkpoint_line.h"

struct hw_checkpoint_lines hw_checkpoint_lines_of(const uint8_t *bytes, size_t size)
{
    const char *text = (const char *)bytes;

    return (struct hw_checkpoint_lines){.at = text, .end = size == 0 ? text : text + size};
}

bool hw_checkpoint_lines_next(struct hw_checkpoint_lines *lines, struct hw_checkpoint_span *line)
{
    const char *at = lines->at;

    if (at == lines->end) {
        return false;
    }
    while (at < lines->end && *at != '\n' && *at != '\r') {
        at++;
    }
    *line = (struct hw_checkpoint_span){.text = lines->at, .size = (size_t)(at - lines->at)};
    if (at < lines->end) {
        at += at + 1 < lines->end && at[0] == '\r' && at[1] == '\n' ? 2 : 1;
    }
    lines->at = at;
    lines->line++;
    return true;
}

bool hw_checkpoint_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

size_t hw_checkpoint_split(struct hw_checkpoint_span line,
                           struct hw_checkpoint_span fields[HW_CHECKPOINT_FIELDS_MAX])
{
    const char *at = line.text;
    const char *end = line.text + line.size;
    size_t count = 0;

    while (end > at && hw_checkpoint_is_space(end[-1])) {
        end--;
    }
    for (;;) {
        const char *start = at;

        while (at < end && !hw_checkpoint_is_space(*at)) {
            at++;
        }
        if (count == HW_CHECKPOINT_FIELDS_MAX) {
            return count + 1;
        }
        fields[count++] = (struct hw_checkpoint_span){.text = start, .size = (size_t)(at - start)};
        if (at == end) {
            return count;
        }
        while (at < end && hw_checkpoint_is_space(*at)) {
            at++;
        }
    }
}

bool hw_checkpoint_number(struct hw_checkpoint_span text, int64_t max, int64_t *number)
{
    bool negative = text.size > 0 && text.text[0] == '-';
    size_t i = text.size > 0 && (negative || text.text[0] == '+') ? 1 : 0;
    int64_t value = 0;

    if (i == text.size) {
        return false;
    }
    for (; i < text.size; i++) {
        int digit = text.text[i] - '0';

        if (digit < 0 || digit > 9 || value > (max - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    if (negative && value != 0) {
        return false;
    }
    *number = value;
    return true;
}
