/* SPDX-License-Identifier: MIT */
#include "ext/ext_argument.h"

#include "ext/ext_error.h"

#include <ctype.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Copy [start, end) without the white space at both ends, and without SQL's quotes around it. NULL
 * if there is no memory. */
static char *copy_word(const char *start, const char *end)
{
    char *word;
    char *to;
    char quote;

    while (start < end && isspace((unsigned char)*start)) {
        start++;
    }
    while (end > start && isspace((unsigned char)end[-1])) {
        end--;
    }
    to = word = sqlite3_malloc64((sqlite3_uint64)(end - start) + 1);
    if (word == NULL) {
        return NULL;
    }
    quote = end - start >= 2 && strchr("'\"`[", *start) != NULL ? *start : '\0';
    quote = quote == '[' ? ']' : quote;
    if (quote != '\0' && end[-1] == quote) {
        start++;
        end--;
    } else {
        quote = '\0';
    }
    while (start < end) {
        /* A quote inside quotes is written twice. */
        start += *start == quote && quote != '\0' && end - start >= 2 && start[1] == quote;
        *to++ = *start++;
    }
    *to = '\0';
    return word;
}

bool ext_argument_is_blank(const char *text)
{
    return text[strspn(text, " \t\r\n\f\v")] == '\0';
}

enum hw_status ext_argument_split(const char *text, const char *allowed, char **name, char **value,
                                  struct hw_error *error)
{
    const char *equals = strchr(text, '=');

    if (equals == NULL) {
        return ext_error_invalid(error,
                                 "\"%.60s\" is not name=value (a value with commas needs quotes); "
                                 "%s",
                                 text, allowed);
    }
    *name = copy_word(text, equals);
    *value = copy_word(equals + 1, text + strlen(text));
    if (*name == NULL || *value == NULL) {
        sqlite3_free(*name);
        sqlite3_free(*value);
        *name = *value = NULL;
        return hw_error_no_memory(error, "an argument");
    }
    return HW_OK;
}
