/* SPDX-License-Identifier: MIT */
/*
 * The lines, fields and numbers of Kafka's small text files, as Java's BufferedReader,
 * split("\\s+") and parseLong take them. Source: CheckpointFile.CheckpointReadBuffer (kafka
 * formats 5.1).
 */
#ifndef HW_FORMAT_CHECKPOINT_LINE_H
#define HW_FORMAT_CHECKPOINT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_CHECKPOINT_FIELDS_MAX = 3 };

/* Some characters of the file. */
struct hw_checkpoint_span {
    const char *text;
    size_t size;
};

/* The lines of a file, one after the other. */
struct hw_checkpoint_lines {
    const char *at;
    const char *end;
    int64_t line; /* Number of the line last returned, from 1. */
};

/* The lines of these bytes, which must stay. */
struct hw_checkpoint_lines hw_checkpoint_lines_of(const uint8_t *bytes, size_t size);

/* The next line without its end, which may be \n, \r\n or \r. */
bool hw_checkpoint_lines_next(struct hw_checkpoint_lines *lines, struct hw_checkpoint_span *line);

/* Split a line at white space: at its end it is dropped, at its beginning it makes an empty first
 * field. Returns the number of fields, one more than fit if there are more. */
size_t hw_checkpoint_split(struct hw_checkpoint_span line,
                           struct hw_checkpoint_span fields[HW_CHECKPOINT_FIELDS_MAX]);

/* A decimal number from 0 to `max`; a sign is accepted. */
bool hw_checkpoint_number(struct hw_checkpoint_span text, int64_t max, int64_t *number);

/* What Java's \s matches. */
bool hw_checkpoint_is_space(char c);

#endif /* HW_FORMAT_CHECKPOINT_LINE_H */
