/* SPDX-License-Identifier: MIT */
/*
 * cluster.state as lines of words (state_file.h). Nothing here knows what they mean; every function
 * takes any bytes, and returns false or HW_CORRUPT for what is not as it would be written.
 */
#ifndef HW_DURABLE_STATE_WORDS_H
#define HW_DURABLE_STATE_WORDS_H

#include "core/base/buffer.h"
#include "core/base/status.h"
#include "core/base/types.h"

enum { HW_STATE_WORDS_MAX = 14 };

/* The lines, one after the other. The bytes hold no NUL, and end with a newline unless they are
 * empty. They are changed by reading. */
struct hw_state_reader {
    const char *path; /* For messages. */
    char *at;         /* The line after the current one. */
    char *end;
    int64_t line;                    /* Number of the current line, from 1. */
    char *words[HW_STATE_WORDS_MAX]; /* Of the current line; borrowed from the bytes. */
    size_t word_count;               /* 0 behind the last line. */
    struct hw_error *error;
};

/* Report what is wrong with the current line. Always returns HW_CORRUPT. */
enum hw_status hw_state_malformed(struct hw_state_reader *reader, const char *what);

/* Go on to the next line. Errors: HW_CORRUPT if it has too many words. */
enum hw_status hw_state_next_line(struct hw_state_reader *reader);

/* Whether the current line begins with `keyword`. */
bool hw_state_is_at(const struct hw_state_reader *reader, const char *keyword);

/* The current line has to begin with `keyword` and have that many words, or it is HW_CORRUPT. */
enum hw_status hw_state_expect(struct hw_state_reader *reader, const char *keyword,
                               size_t word_count);

/* The current line has to be `keyword` and the version of the format, from 1 to `newest`, or it is
 * HW_CORRUPT. */
enum hw_status hw_state_expect_format(struct hw_state_reader *reader, const char *keyword,
                                      int64_t newest);

/* A decimal number within bounds, without a sign or leading zeros. */
bool hw_state_parse_number(const char *word, int64_t minimum, int64_t maximum, int64_t *number);
bool hw_state_parse_int32(const char *word, int32_t minimum, int32_t maximum, int32_t *number);

/* Exactly `size` <= 16 lower-case hexadecimal digits. */
bool hw_state_parse_hex(const char *word, size_t size, uint64_t *number);

/* One of `count` names; its number is its index. */
bool hw_state_parse_name(const char *word, const char *const *names, size_t count, size_t *number);

/* Undo the escaping of a text in place. */
bool hw_state_unescape(char *word);

/* A text with "=" before it, or "-": *text is then NULL. */
bool hw_state_parse_text(char *word, char **text);

/*
 * The next number of a list like "[1,2]". *at is where the list has been read to, at first the
 * word, and is moved on. Returns false if there is no next number, or one above `maximum`;
 * hw_state_is_list_end() then tells whether the list ends there as it should.
 */
bool hw_state_next_in_list(char **at, int64_t maximum, int64_t *number);
bool hw_state_is_list_end(const char *word, const char *at);

/* A whole list of different brokers. */
bool hw_state_parse_brokers(char *word, struct hw_broker_list *list);

/* Append text with what is not plain as %XX. Errors: HW_NO_MEMORY. */
enum hw_status hw_state_append_escaped(struct hw_buffer *out, const char *text,
                                       struct hw_error *error);

#endif /* HW_DURABLE_STATE_WORDS_H */
