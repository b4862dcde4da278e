/* SPDX-License-Identifier: MIT */
#include "core/format/checkpoint_scan.h"

#include "core/base/types.h"
#include "core/format/segment_name.h"

#include <inttypes.h>
#include <stdio.h>

enum { CHECKPOINT_SIZE_MAX = 1 << 28, FIELDS_MAX = 3 };

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

/* Split a line at white space: at its end it is dropped, at its beginning it makes an empty first
 * field. Returns the number of fields, one more than fit if there are more. */
static size_t split(struct hw_checkpoint_span line, struct hw_checkpoint_span fields[FIELDS_MAX])
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
        if (count == FIELDS_MAX) {
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

    if (!hw_digits_parse(text.text + i, text.size - i, max, &value) || (negative && value != 0)) {
        return false;
    }
    *number = value;
    return true;
}

void hw_checkpoint_scan_init(struct hw_checkpoint_scan *scan, const struct hw_allocator *allocator)
{
    *scan = (struct hw_checkpoint_scan){.is_at_end = true};
    hw_buffer_init(&scan->content, allocator);
}

void hw_checkpoint_scan_release(struct hw_checkpoint_scan *scan)
{
    const struct hw_allocator *allocator = scan->content.allocator;

    hw_buffer_release(&scan->content);
    hw_checkpoint_scan_init(scan, allocator);
}

enum hw_status hw_checkpoint_scan_open(struct hw_checkpoint_scan *scan, struct hw_store *store,
                                       const char *path, enum hw_checkpoint_kind kind,
                                       struct hw_error *error)
{
    struct hw_buffer content = scan->content;
    enum hw_status status;

    content.size = 0;
    *scan = (struct hw_checkpoint_scan){.kind = kind, .content = content, .expected = -1};
    status = hw_store_read_whole(store, path, CHECKPOINT_SIZE_MAX, &scan->content, error);
    if (status != HW_OK || scan->content.size == 0) {
        scan->is_at_end = true;
        return status;
    }
    scan->lines = hw_checkpoint_lines_of(scan->content.bytes, scan->content.size);
    return HW_OK;
}

static void checkpoint_set_fault(struct hw_checkpoint_row *row, const char *text)
{
    (void)snprintf(row->fault, sizeof row->fault, "line %" PRId64 ": %s", row->line, text);
}

/* One of the two lines before the entries. Returns whether it is worth a row. */
static bool take_head(struct hw_checkpoint_scan *scan, struct hw_checkpoint_span line,
                      struct hw_checkpoint_row *row)
{
    int64_t number;

    if (!hw_checkpoint_number(line, INT32_MAX, &number)) {
        checkpoint_set_fault(row, row->line == 1 ? "the version is no number"
                                                 : "the number of entries is no number");
        return true;
    }
    if (row->line == 1 && number != 0) {
        checkpoint_set_fault(row, "the version is not 0");
        return true;
    }
    if (row->line == 2) {
        scan->expected = number;
    }
    return false;
}

static void take_entry(struct hw_checkpoint_scan *scan, struct hw_checkpoint_span line,
                       struct hw_checkpoint_row *row)
{
    struct hw_checkpoint_span fields[FIELDS_MAX];
    size_t expected = scan->kind == HW_CHECKPOINT_EPOCHS ? 2 : 3;
    size_t count = split(line, fields);
    int64_t number;

    scan->count++;
    if (count != expected) {
        checkpoint_set_fault(row, count == 1 && fields[0].size == 0 ? "it is empty"
                                                                    : "wrong number of fields");
        return;
    }
    row->topic = fields[0];
    if (expected == 3 && !hw_is_topic_name(fields[0].text, fields[0].size)) {
        checkpoint_set_fault(row, "the topic is no topic's name");
    } else if (!hw_checkpoint_number(fields[count - 2], INT32_MAX, &number)) {
        checkpoint_set_fault(row, expected == 3 ? "the partition is no number from 0 to 2147483647"
                                                : "the epoch is no number from 0 to 2147483647");
    } else if (!hw_checkpoint_number(fields[count - 1], INT64_MAX, &row->offset)) {
        checkpoint_set_fault(row, "the offset is no number, 0 or more");
    } else {
        row->number = (int32_t)number;
    }
}

bool hw_checkpoint_scan_next(struct hw_checkpoint_scan *scan, struct hw_checkpoint_row *row)
{
    struct hw_checkpoint_span line;

    *row = (struct hw_checkpoint_row){.offset = HW_OFFSET_NONE};
    while (!scan->is_at_end && hw_checkpoint_lines_next(&scan->lines, &line)) {
        row->line = scan->lines.line;
        if (row->line > 2) {
            take_entry(scan, line, row);
            return true;
        }
        if (take_head(scan, line, row)) {
            return true;
        }
    }
    if (scan->is_at_end) {
        return false;
    }
    scan->is_at_end = true;
    row->line = scan->lines.line + 1;
    if (scan->expected >= 0 && scan->expected != scan->count) {
        (void)snprintf(row->fault, sizeof row->fault,
                       "%" PRId64 " entries, but line 2 says %" PRId64, scan->count,
                       scan->expected);
        return true;
    }
    return false;
}
