/* SPDX-License-Identifier: MIT */
/* The lines of cluster.state are split and undone in place: their bytes are the reader's own. */
#include "core/durable/state_words.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/base/crc32c.h"
#include "core/base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

/* ------------------------------------------------------------------------------------------ lines */

void hw_state_malformed(struct hw_state_lines *lines, const char *what)
{
    lines->status = hw_error_set(lines->error, HW_CORRUPT, "%s: line %" PRId64 ": %s", lines->path,
                                 lines->line, what);
}

void hw_state_next_line(struct hw_state_lines *lines)
{
    char *newline;

    lines->word_count = 0;
    lines->line += lines->status == HW_OK;
    if (lines->status != HW_OK || lines->at == lines->end) {
        return;
    }
    newline = memchr(lines->at, '\n', (size_t)(lines->end - lines->at));
    HW_ASSERT(newline != NULL);
    *newline = '\0';
    for (char *word = lines->at + (lines->have_crcs ? HW_STATE_CRC_PREFIX : 0); word != NULL;
         lines->word_count++) {
        char *space = strchr(word, ' ');

        if (lines->word_count == HW_STATE_WORDS_MAX) {
            hw_state_malformed(lines, "too many words");
            return;
        }
        lines->words[lines->word_count] = word;
        if (space != NULL) {
            *space++ = '\0';
        }
        word = space;
    }
    lines->at = newline + 1;
}

bool hw_state_is_at(const struct hw_state_lines *lines, const char *keyword)
{
    return lines->status == HW_OK && lines->word_count > 0 && strcmp(lines->words[0], keyword) == 0;
}

bool hw_state_has(const struct hw_state_lines *lines, const char *keyword, bool is_there)
{
    return lines->out != NULL ? is_there : hw_state_is_at(lines, keyword);
}

static bool is_writing(const struct hw_state_lines *lines)
{
    return lines->out != NULL && lines->status == HW_OK;
}

static void words_put(struct hw_state_lines *lines, const char *text, size_t size)
{
    if (is_writing(lines)) {
        lines->status = hw_buffer_append(lines->out, text, size, lines->error);
    }
}

void hw_state_begin(struct hw_state_lines *lines, const char *keyword, size_t word_count)
{
    char what[60];

    lines->word = 1;
    if (lines->out != NULL) {
        lines->start = lines->out->size;
        words_put(lines, "00000000 ", lines->have_crcs ? HW_STATE_CRC_PREFIX : 0);
        words_put(lines, keyword, strlen(keyword));
    } else if (lines->status == HW_OK &&
               (!hw_state_is_at(lines, keyword) || lines->word_count != word_count + 1)) {
        (void)snprintf(what, sizeof what, "expected \"%s\" and %zu words", keyword, word_count);
        hw_state_malformed(lines, what);
    }
}

bool hw_state_insist(struct hw_state_lines *lines, bool is_so, const char *what)
{
    if (lines->status == HW_OK && (lines->is_wrong || !is_so)) {
        hw_state_malformed(lines, what);
    }
    return lines->status == HW_OK;
}

/* Put the checksum before the line, where room was left for it. */
static void put_crc(struct hw_state_lines *lines)
{
    uint8_t *line = lines->out->bytes + lines->start;
    uint32_t crc = hw_crc32c(line + HW_STATE_CRC_PREFIX,
                             lines->out->size - lines->start - HW_STATE_CRC_PREFIX);

    for (int i = HW_STATE_CRC_DIGITS - 1; i >= 0; i--) {
        line[i] = (uint8_t)hex_digits[crc & 15];
        crc >>= 4;
    }
}

void hw_state_end(struct hw_state_lines *lines)
{
    if (is_writing(lines)) {
        if (lines->have_crcs) {
            put_crc(lines);
        }
        words_put(lines, "\n", 1);
    } else if (lines->status == HW_OK) {
        hw_state_next_line(lines);
    }
}

void hw_state_format(struct hw_state_lines *lines, const char *keyword, int64_t newest)
{
    int64_t version = newest;

    hw_state_begin(lines, keyword, 1);
    hw_state_number(lines, &version, 1, INT64_MAX);
    if (hw_state_insist(lines, true, "that is no version of the format") && version > newest) {
        lines->status = hw_error_set(lines->error, HW_CORRUPT,
                                     "%s: a newer version of highwater wrote it, in format %" PRId64
                                     "; this one reads up to %" PRId64,
                                     lines->path, version, newest);
    }
    hw_state_end(lines);
}

/* The next word of the line that is read, unless one before it is wrong. */
static bool take_word(struct hw_state_lines *lines, char **word)
{
    bool takes = lines->out == NULL && lines->status == HW_OK && !lines->is_wrong;

    HW_ASSERT(!takes || lines->word < lines->word_count);
    *word = takes ? lines->words[lines->word++] : NULL;
    return takes;
}

bool hw_state_maybe(struct hw_state_lines *lines, const char *word, bool is_it)
{
    if (lines->out == NULL) {
        is_it = lines->status == HW_OK && !lines->is_wrong &&
                strcmp(lines->words[lines->word], word) == 0;
        lines->word += is_it;
    } else if (is_it) {
        hw_state_word(lines, &word);
    }
    return is_it;
}

/* ---------------------------------------------------------------------------------------- numbers */

static bool parse_number(const char *word, int64_t minimum, int64_t maximum, int64_t *number)
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
    if (value < minimum || value > maximum) {
        return false;
    }
    *number = value;
    return true;
}

void hw_state_number(struct hw_state_lines *lines, int64_t *number, int64_t minimum,
                     int64_t maximum)
{
    char *word;

    if (minimum == -1 && hw_state_maybe(lines, "-", *number == -1)) {
        *number = -1;
        return;
    }
    words_put(lines, " ", 1);
    if (is_writing(lines)) {
        lines->status = hw_json_append_integer(lines->out, *number, lines->error);
    } else if (take_word(lines, &word)) {
        lines->is_wrong = !parse_number(word, minimum, maximum, number);
    }
}

void hw_state_int32(struct hw_state_lines *lines, int32_t *number, int32_t minimum, int32_t maximum)
{
    int64_t wide = *number;

    hw_state_number(lines, &wide, minimum, maximum);
    *number = (int32_t)wide;
}

bool hw_state_parse_hex(const char *word, size_t size, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++) {
        const char *digit = word[i] == '\0' ? NULL : strchr(hex_digits, word[i]);

        if (digit == NULL) {
            return false;
        }
        value = value << 4 | (uint64_t)(digit - hex_digits);
    }
    *number = value;
    return word[size] == '\0';
}

void hw_state_hex(struct hw_state_lines *lines, uint64_t *number)
{
    char *word;

    if (is_writing(lines)) {
        lines->status = hw_buffer_append_format(lines->out, lines->error, " %016" PRIx64, *number);
    } else if (take_word(lines, &word)) {
        lines->is_wrong = !hw_state_parse_hex(word, 2 * sizeof *number, number);
    }
}

/* ------------------------------------------------------------------------------------------- text */

void hw_state_word(struct hw_state_lines *lines, const char **word)
{
    char *taken;

    words_put(lines, " ", 1);
    if (lines->out != NULL) {
        words_put(lines, *word, strlen(*word));
    } else if (take_word(lines, &taken)) {
        *word = taken;
    }
}

void hw_state_name(struct hw_state_lines *lines, size_t *index, const char *const *names,
                   size_t count)
{
    const char *word = lines->out != NULL ? names[*index] : "";

    hw_state_word(lines, &word);
    for (size_t i = 0; lines->out == NULL && i < count; i++) {
        if (strcmp(word, names[i]) == 0) {
            *index = i;
            return;
        }
    }
    lines->is_wrong |= lines->out == NULL;
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

/* Undo the escaping of a text in place. */
static bool unescape(char *word)
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

static void put_escaped(struct hw_state_lines *lines, const char *text)
{
    for (const char *at = text; is_writing(lines) && *at != '\0'; at++) {
        lines->status = is_plain(*at) ? hw_buffer_append(lines->out, at, 1, lines->error)
                                      : hw_buffer_append_format(lines->out, lines->error, "%%%02X",
                                                                (unsigned)(unsigned char)*at);
    }
}

void hw_state_escaped(struct hw_state_lines *lines, const char **text)
{
    char *word;

    words_put(lines, " ", 1);
    if (lines->out != NULL) {
        put_escaped(lines, *text);
    } else if (take_word(lines, &word)) {
        lines->is_wrong = !unescape(word);
        *text = word;
    }
}

void hw_state_text(struct hw_state_lines *lines, const char **text)
{
    char *word;

    if (hw_state_maybe(lines, "-", *text == NULL)) {
        *text = NULL;
    } else if (lines->out != NULL) {
        words_put(lines, " =", 2);
        put_escaped(lines, *text);
    } else if (take_word(lines, &word)) {
        lines->is_wrong = word[0] != '=' || !unescape(word + 1);
        *text = word + 1;
    }
}

void hw_state_uuid(struct hw_state_lines *lines, struct hw_uuid *uuid)
{
    char id[HW_UUID_TEXT_SIZE];
    const char *word = id;

    hw_uuid_format(uuid, id);
    hw_state_word(lines, &word);
    lines->is_wrong |= lines->out == NULL && !hw_uuid_parse(word, strlen(word), uuid);
}

/* ------------------------------------------------------------------------------------------ lists */

/*
 * The next number of a list like "[1,2]". *at is where the list has been read to, at first the
 * word, and is moved on. Returns false if there is no next number, or one above `maximum`;
 * is_list_end() then tells whether the list ends there as it should.
 */
static bool next_in_list(char **at, int64_t maximum, int64_t *number)
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
    found = parse_number(start, 0, maximum, number);
    *end = separator;
    if (found) {
        *at = end;
    }
    return found;
}

static bool is_list_end(const char *word, const char *at)
{
    return (strcmp(at, "]") == 0 && at > word) || strcmp(word, "[]") == 0;
}

void hw_state_brokers(struct hw_state_lines *lines, struct hw_broker_list *list)
{
    char text[HW_BROKER_LIST_TEXT_SIZE];
    char *word;
    char *at;
    int64_t id;

    if (is_writing(lines)) {
        lines->status = hw_buffer_append_format(lines->out, lines->error, " %s",
                                                hw_broker_list_format(list, text, sizeof text));
    } else if (take_word(lines, &word)) {
        at = word;
        list->count = 0;
        while (!lines->is_wrong && next_in_list(&at, INT32_MAX, &id)) {
            lines->is_wrong =
                list->count == HW_REPLICAS_MAX || hw_broker_list_contains(list, (hw_broker_id_t)id);
            if (!lines->is_wrong) {
                hw_broker_list_add(list, (hw_broker_id_t)id);
            }
        }
        lines->is_wrong |= !is_list_end(word, at);
    }
}

void hw_state_list(struct hw_state_lines *lines, size_t *numbers, int32_t count, int64_t maximum)
{
    char *word;
    char *at;
    int64_t number;
    int32_t read = 0;

    words_put(lines, " [", 2);
    for (int32_t i = 0; is_writing(lines) && i < count; i++) {
        words_put(lines, ",", i > 0);
        lines->status = hw_json_append_integer(lines->out, (int64_t)numbers[i], lines->error);
    }
    words_put(lines, "]", 1);
    if (take_word(lines, &word)) {
        at = word;
        while (read < count && next_in_list(&at, maximum, &number)) {
            numbers[read++] = (size_t)number;
        }
        lines->is_wrong = read < count || !is_list_end(word, at);
    }
}
