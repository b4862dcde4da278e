/* SPDX-License-Identifier: MIT */
/*
 * Lines of words, as cluster.state and losses have them. One function says which words a line has,
 * for writing and for reading:
 *
 *     hw_state_begin(lines, "disk", 3);                                disk
 *     hw_state_int32(lines, &disk->broker, 0, INT32_MAX);              disk 2
 *     hw_state_number(lines, &disk->append_us, 0, HW_WIRE_US_MAX);     disk 2 5000
 *     hw_state_number(lines, &disk->bytes_per_s, 0, INT64_MAX);        disk 2 5000 0
 *     hw_state_insist(lines, true, "there is no such disk");
 *     hw_state_end(lines);
 *
 * Writing takes what the variables hold. Reading sets them, and what is not as it would be written
 * is HW_CORRUPT, whatever the bytes are. Nothing here knows what the words mean. After the first
 * failure nothing is done, and variables keep what they have.
 */
#ifndef HW_DURABLE_STATE_WORDS_H
#define HW_DURABLE_STATE_WORDS_H

#include "core/base/buffer.h"
#include "core/base/status.h"
#include "core/base/types.h"
#include "core/base/uuid.h"

enum {
    HW_STATE_WORDS_MAX = 14,
    HW_STATE_CRC_DIGITS = 8,
    HW_STATE_CRC_PREFIX = HW_STATE_CRC_DIGITS + 1 /* With the space behind it. */
};

struct hw_state_lines {
    struct hw_buffer *out; /* Written to its end; NULL: read. */
    enum hw_status status; /* The first failure. */
    struct hw_error *error;
    bool have_crcs; /* Each line begins with the CRC-32C of what follows the first space. */
    size_t start;   /* Where the line that is written begins. */

    /* Only where lines are read. They hold no NUL, and end with a newline unless there are none;
     * their CRCs are right. They are changed by reading. */
    const char *path; /* For messages. */
    char *at;         /* The line after the current one. */
    char *end;
    int64_t line;                    /* Number of the current line, from 1. */
    char *words[HW_STATE_WORDS_MAX]; /* Of the current line; borrowed from the bytes. */
    size_t word_count;               /* 0 behind the last line. */
    size_t word;                     /* The next one. */
    bool is_wrong;                   /* One of the words before it is not as it would be written. */
};

/* Report what is wrong with the current line that is read: HW_CORRUPT. */
void hw_state_malformed(struct hw_state_lines *lines, const char *what);

/* Go on to the first line, or the next one. Errors: HW_CORRUPT if it has too many words. */
void hw_state_next_line(struct hw_state_lines *lines);

/* Whether the current line, which is read, begins with `keyword`. */
bool hw_state_is_at(const struct hw_state_lines *lines, const char *keyword);

/* Whether there is such a line, which may be left out: `is_there`, or that it is read. */
bool hw_state_has(const struct hw_state_lines *lines, const char *keyword, bool is_there);

/* A line: its keyword, and so many words behind it. HW_CORRUPT where another one is read. */
void hw_state_begin(struct hw_state_lines *lines, const char *keyword, size_t word_count);

/* Where a word that was read is wrong, or something else is not so: HW_CORRUPT, with these words.
 * Returns whether nothing has failed. */
bool hw_state_insist(struct hw_state_lines *lines, bool is_so, const char *what);

/* The end of the line. */
void hw_state_end(struct hw_state_lines *lines);

/* A whole line: `keyword` and the version of the format, which is read from 1 to `newest`. */
void hw_state_format(struct hw_state_lines *lines, const char *keyword, int64_t newest);

/* ------------------------------------------------------------------------------------------ words */

/* Just this word, if `is_it`, or if it is read; then true. Else another field stands there. */
bool hw_state_maybe(struct hw_state_lines *lines, const char *word, bool is_it);

/* A decimal number, which is read within bounds, without a sign or leading zeros. With a minimum of
 * -1 that is "-". */
void hw_state_number(struct hw_state_lines *lines, int64_t *number, int64_t minimum,
                     int64_t maximum);
void hw_state_int32(struct hw_state_lines *lines, int32_t *number, int32_t minimum,
                    int32_t maximum);

/* 16 lower-case hexadecimal digits. */
void hw_state_hex(struct hw_state_lines *lines, uint64_t *number);

/* One of `count` names, by its index. */
void hw_state_name(struct hw_state_lines *lines, size_t *index, const char *const *names,
                   size_t count);

/* A word as it is; a text with what is not plain as %XX; such a text with "=" before it, or NULL,
 * which is "-". Those that are read are borrowed from the bytes. */
void hw_state_word(struct hw_state_lines *lines, const char **word);
void hw_state_escaped(struct hw_state_lines *lines, const char **text);
void hw_state_text(struct hw_state_lines *lines, const char **text);

void hw_state_uuid(struct hw_state_lines *lines, struct hw_uuid *uuid);

/* A list like [1,2]: different brokers; `count` numbers up to `maximum`. */
void hw_state_brokers(struct hw_state_lines *lines, struct hw_broker_list *list);
void hw_state_list(struct hw_state_lines *lines, size_t *numbers, int32_t count, int64_t maximum);

/* Exactly `size` <= 16 lower-case hexadecimal digits. */
bool hw_state_parse_hex(const char *word, size_t size, uint64_t *number);

#endif /* HW_DURABLE_STATE_WORDS_H */
