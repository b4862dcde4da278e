/* SPDX-License-Identifier: MIT */
/* The lines of cluster.state are split and undone in place: their bytes are the reader's own. */
#include "core/durable/state_words.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum hw_status hw_state_malformed(struct hw_state_reader *reader, const char *what)
{
    return hw_error_set(reader->error, HW_CORRUPT, "%s: line %" PRId64 ": %s", reader->path,
                        reader->line, what);
}

enum hw_status hw_state_next_line(struct hw_state_reader *reader)
{
    char *newline;

    reader->word_count = 0;
    reader->line++;
    if (reader->at == reader->end) {
        return HW_OK;
    }
    newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    HW_ASSERT(newline != NULL);
    *newline = '\0';
    for (char *word = reader->at; word != NULL; reader->word_count++) {
        char *space = strchr(word, ' ');

        if (reader->word_count == HW_STATE_WORDS_MAX) {
            return hw_state_malformed(reader, "too many words");
        }
        reader->words[reader->word_count] = word;
        if (space != NULL) {
            *space++ = '\0';
        }
        word = space;
    }
    reader->at = newline + 1;
    return HW_OK;
}

bool hw_state_is_at(const struct hw_state_reader *reader, const char *keyword)
{
    return reader->word_count > 0 && strcmp(reader->words[0], keyword) == 0;
}

enum hw_status hw_state_expect(struct hw_state_reader *reader, const char *keyword,
                               size_t word_count)
{
    char what[60];

    if (hw_state_is_at(reader, keyword) && reader->word_count == word_count) {
        return HW_OK;
    }
    (void)snprintf(what, sizeof what, "expected \"%s\" and %zu words", keyword, word_count - 1);
    return hw_state_malformed(reader, what);
}

enum hw_status hw_state_expect_format(struct hw_state_reader *reader, const char *keyword,
                                      int64_t newest)
{
    int64_t version = 0;
    enum hw_status status = hw_state_expect(reader, keyword, 2);

    if (status == HW_OK && !hw_state_parse_number(reader->words[1], 1, INT64_MAX, &version)) {
        return hw_state_malformed(reader, "that is no version of the format");
    }
    if (version > newest) {
        return hw_error_set(reader->error, HW_CORRUPT,
                            "%s: a newer version of highwater wrote it, in format %" PRId64
                            "; this one reads up to %" PRId64,
                            reader->path, version, newest);
    }
    return status;
}

bool hw_state_parse_number(const char *word, int64_t minimum, int64_t maximum, int64_t *number)
{
    int64_t value = 0;

    if (word[0] == '\0' || (word[0] == '0' && word[1] != '\0')) {
        return false;
    }
    for (; *word != '\0'; word++) {
        int digit = *word - '0';

        if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = value;
    return value >= minimum && value <= maximum;
}

bool hw_state_parse_int32(const char *word, int32_t minimum, int32_t maximum, int32_t *number)
{
    int64_t wide;

    if (!hw_state_parse_number(word, minimum, maximum, &wide)) {
        return false;
    }
    *number = (int32_t)wide;
    return true;
}

bool hw_state_parse_hex(const char *word, size_t size, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = word[i] == '\0' ? NULL : strchr(digits, word[i]);

        if (digit == NULL) {
            return false;
        }
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *number = value;
    return word[size] == '\0';
}

bool hw_state_parse_name(const char *word, const char *const *names, size_t count, size_t *number)
{
    for (*number = 0; *number < count; (*number)++) {
        if (strcmp(word, names[*number]) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a character of a text stands for itself. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._/", c) != NULL);
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool hw_state_unescape(char *word)
{
    char *out = word;

    for (char *at = word; *at != '\0'; at++) {
        if (is_plain(*at)) {
            *out++ = *at;
            continue;
        }
        if (*at != '%' || hex_value(at[1]) < 0 || hex_value(at[2]) < 0) {
            return false;
        }
        *out = (char)(hex_value(at[1]) << 4 | hex_value(at[2]));
        if (*out++ == '\0') {
            return false;
        }
        at += 2;
    }
    *out = '\0';
    return true;
}

bool hw_state_parse_text(char *word, char **text)
{
    *text = word[0] == '=' ? word + 1 : NULL;
    return *text == NULL ? strcmp(word, "-") == 0 : hw_state_unescape(*text);
}

bool hw_state_next_in_list(char **at, int64_t maximum, int64_t *number)
{
    char *start = *at + 1;
    char *end = start;
    char separator;
    bool found;

    if (**at != '[' && **at != ',') {
        return false;
    }
    while (*end != ',' && *end != ']' && *end != '\0') {
        end++;
    }
    separator = *end;
    *end = '\0';
    found = hw_state_parse_number(start, 0, maximum, number);
    *end = separator;
    if (found) {
        *at = end;
    }
    return found;
}

bool hw_state_is_list_end(const char *word, const char *at)
{
    return (strcmp(at, "]") == 0 && at > word) || strcmp(word, "[]") == 0;
}

bool hw_state_parse_brokers(char *word, struct hw_broker_list *list)
{
    char *at = word;
    int64_t id;

    list->count = 0;
    while (hw_state_next_in_list(&at, INT32_MAX, &id)) {
        if (list->count == HW_REPLICAS_MAX || hw_broker_list_contains(list, (hw_broker_id_t)id)) {
            return false;
        }
        hw_broker_list_add(list, (hw_broker_id_t)id);
    }
    return hw_state_is_list_end(word, at);
}

enum hw_status hw_state_append_escaped(struct hw_buffer *out, const char *text,
                                       struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (const char *at = text; status == HW_OK && *at != '\0'; at++) {
        status = is_plain(*at)
                     ? hw_buffer_append(out, at, 1, error)
                     : hw_buffer_append_format(out, error, "%%%02X", (unsigned)(unsigned char)*at);
    }
    return status;
}
