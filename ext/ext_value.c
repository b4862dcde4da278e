/* SPDX-License-Identifier: MIT */
/* Conversions between SQL values, record bytes and JSON. */
#include "ext/ext_value.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

bool ext_value_integer(sqlite3_value *value, int64_t *number)
{
    double real;

    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER:
        *number = sqlite3_value_int64(value);
        return true;
    case SQLITE_FLOAT:
        real = sqlite3_value_double(value);
        if (real < -9223372036854775808.0 || real >= 9223372036854775808.0 ||
            (double)(int64_t)real != real) {
            return false;
        }
        *number = (int64_t)real;
        return true;
    default:
        return false;
    }
}

bool ext_value_is_word(sqlite3_value *value, const char *word)
{
    size_t size = strlen(word);
    const unsigned char *text =
        sqlite3_value_type(value) == SQLITE_TEXT ? sqlite3_value_text(value) : NULL;

    /* NULL also if there is no memory for its NUL. */
    return text != NULL && (size_t)sqlite3_value_bytes(value) == size &&
           memcmp(text, word, size) == 0;
}

const char *ext_value_describe(sqlite3_value *value, char text[EXT_VALUE_TEXT_SIZE])
{
    enum { SHOWN_MAX = 40 };
    const char *bytes;
    int size;

    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
        return "NULL";
    case SQLITE_BLOB:
        (void)snprintf(text, EXT_VALUE_TEXT_SIZE, "a blob of %d bytes", sqlite3_value_bytes(value));
        return text;
    case SQLITE_TEXT:
        bytes = (const char *)sqlite3_value_text(value);
        size = sqlite3_value_bytes(value);
        if (bytes == NULL) {
            return "a text";
        }
        if (size > SHOWN_MAX) {
            (void)snprintf(text, EXT_VALUE_TEXT_SIZE, "a text of %d bytes", size);
            return text;
        }
        (void)snprintf(text, EXT_VALUE_TEXT_SIZE, "'%s'", bytes);
        for (char *at = text; *at != '\0'; at++) {
            *at = iscntrl((unsigned char)*at) ? '?' : *at; /* Errors are one line. */
        }
        return text;
    default:
        bytes = (const char *)sqlite3_value_text(value);
        return bytes == NULL ? "a number" : bytes;
    }
}

enum hw_status ext_value_bytes(sqlite3_value *value, const char *what, const uint8_t **bytes,
                               int32_t *size, struct hw_error *error)
{
    int type = sqlite3_value_type(value);

    *bytes = NULL;
    *size = -1;
    if (type == SQLITE_NULL) {
        return HW_OK;
    }
    if (type == SQLITE_TEXT) {
        /* As a blob, since SQLite copies a text that has no NUL behind it to put one there. The
         * size first: that call converts the value to UTF-8. */
        *size = sqlite3_value_bytes(value);
        *bytes = *size > 0 ? sqlite3_value_blob(value) : NULL;
        if (*bytes != NULL) {
            return HW_OK;
        }
    }
    /* Text first, then its size: the call may convert the value. */
    *bytes = type == SQLITE_BLOB ? sqlite3_value_blob(value) : sqlite3_value_text(value);
    *size = sqlite3_value_bytes(value);
    if (*bytes == NULL) {
        if (*size != 0 || type != SQLITE_BLOB) {
            return hw_error_no_memory(error, what);
        }
        *bytes = (const uint8_t *)""; /* An empty blob has no address. */
    }
    return HW_OK;
}

bool ext_bytes_type_read(const char *word, enum ext_bytes_type *type)
{
    static const char *const words[] = {
        [EXT_BYTES_AUTO] = "auto", [EXT_BYTES_TEXT] = "text", [EXT_BYTES_BLOB] = "blob"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (sqlite3_stricmp(word, words[i]) == 0) {
            *type = (enum ext_bytes_type)i;
            return true;
        }
    }
    return false;
}

static const char *const isolation_words[] = {
    [HW_READ_UNCOMMITTED] = "read_uncommitted", [HW_READ_COMMITTED] = "read_committed"};

bool ext_isolation_read(const char *word, enum hw_read_mode *mode)
{
    bool is_committed = strcmp(word, isolation_words[HW_READ_COMMITTED]) == 0;

    *mode = is_committed ? HW_READ_COMMITTED : HW_READ_UNCOMMITTED;
    return is_committed || strcmp(word, isolation_words[HW_READ_UNCOMMITTED]) == 0;
}

const char *ext_isolation_word(enum hw_read_mode mode)
{
    return isolation_words[mode];
}

void ext_result_isolation(sqlite3_context *context, enum hw_read_mode mode)
{
    sqlite3_result_text(context, isolation_words[mode], -1, SQLITE_STATIC);
}

void ext_value_add_mended(sqlite3_str *text, const uint8_t *bytes, size_t size)
{
    size_t length;

    for (size_t at = 0; at < size; at += length) {
        length = hw_utf8_character_size(bytes + at, size - at);
        if (length == 0) {
            sqlite3_str_appendall(text, "\xef\xbf\xbd");
            length = 1;
        } else {
            sqlite3_str_append(text, (const char *)bytes + at, (int)length);
        }
    }
}

/* Bytes that are not all UTF-8, as text. */
static void result_mended(sqlite3_context *context, const uint8_t *bytes, size_t size)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_uint64 mended_size;
    char *mended;

    ext_value_add_mended(text, bytes, size);
    mended_size = (sqlite3_uint64)sqlite3_str_length(text);
    mended = sqlite3_str_finish(text);
    if (mended == NULL) {
        sqlite3_result_error_nomem(context);
    } else {
        sqlite3_result_text64(context, mended, mended_size, sqlite3_free, SQLITE_UTF8);
    }
}

/* Key or value of a record, whose headers are behind both of them, so that there is a byte after the
 * last one; without headers perhaps there is none. */
static void result_typed(sqlite3_context *context, const struct hw_record *record,
                         enum ext_bytes_type type, const uint8_t *bytes, int32_t size)
{
    const uint8_t *start = bytes == NULL ? (const uint8_t *)"" : bytes;

    /* Transient: SQLite keeps the pointer of a static result in min() and max() while the reader
     * that owns the bytes moves on. */
    if (size < 0) {
        sqlite3_result_null(context);
    } else if (type == EXT_BYTES_BLOB || !hw_utf8_is_text(start, (size_t)size)) {
        if (type == EXT_BYTES_TEXT) {
            result_mended(context, start, (size_t)size);
        } else {
            sqlite3_result_blob64(context, start, (sqlite3_uint64)size, SQLITE_TRANSIENT);
        }
    } else if (record->headers != NULL && start[size] == '\0') {
        /* As it is behind the value of a record without headers. SQLite then copies the NUL along,
         * and need not move the text to put one there. */
        sqlite3_result_text(context, (const char *)start, -1, SQLITE_TRANSIENT);
    } else {
        sqlite3_result_text64(context, (const char *)start, (sqlite3_uint64)size, SQLITE_TRANSIENT,
                              SQLITE_UTF8);
    }
}

void ext_result_key(sqlite3_context *context, const struct hw_record *record,
                    enum ext_bytes_type type)
{
    result_typed(context, record, type, record->key, record->key_size);
}

void ext_result_value(sqlite3_context *context, const struct hw_record *record,
                      enum ext_bytes_type type)
{
    result_typed(context, record, type, record->value, record->value_size);
}

void ext_result_text(sqlite3_context *context, const char *text, size_t size)
{
    if (hw_utf8_is_text((const uint8_t *)text, size)) {
        sqlite3_result_text64(context, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
        sqlite3_result_blob64(context, text, size, SQLITE_TRANSIENT);
    }
}

void ext_result_integer_unless(sqlite3_context *context, int64_t number, int64_t none)
{
    if (number == none) {
        sqlite3_result_null(context);
    } else {
        sqlite3_result_int64(context, number);
    }
}

/* As a string in quotes. Bytes that are not UTF-8 become U+FFFD. */
static void json_add_string(sqlite3_str *json, const uint8_t *bytes, size_t size)
{
    sqlite3_str_appendchar(json, 1, '"');
    while (size > 0) {
        char text[HW_JSON_CHARACTER_MAX];
        size_t length;
        size_t taken = hw_json_character(bytes, size, text, &length);

        sqlite3_str_append(json, text, (int)length);
        bytes += taken;
        size -= taken;
    }
    sqlite3_str_appendchar(json, 1, '"');
}

static void add_header_value(sqlite3_str *json, const struct hw_header *header)
{
    if (header->value_size < 0) {
        sqlite3_str_appendall(json, "null");
    } else if (hw_utf8_is_text(header->value, (size_t)header->value_size)) {
        json_add_string(json, header->value, (size_t)header->value_size);
    } else {
        sqlite3_str_appendall(json, "{\"hex\":\"");
        for (int32_t i = 0; i < header->value_size; i++) {
            sqlite3_str_appendf(json, "%02X", header->value[i]);
        }
        sqlite3_str_appendall(json, "\"}");
    }
}

/* The document as the result; ends `json`. */
static void result_json(sqlite3_context *context, sqlite3_str *json)
{
    int code = sqlite3_str_errcode(json);
    int length = sqlite3_str_length(json);
    char *text = sqlite3_str_finish(json);

    if (text == NULL) {
        sqlite3_result_error_code(context, code == SQLITE_TOOBIG ? SQLITE_TOOBIG : SQLITE_NOMEM);
        return;
    }
    sqlite3_result_text(context, text, length, sqlite3_free);
}

void ext_result_headers(sqlite3_context *context, const struct hw_record *record)
{
    const uint8_t *cursor = record->headers;
    int32_t left = record->header_count;
    struct hw_header header;
    sqlite3_str *json;
    char separator = '{';

    if (record->header_count == 0) {
        sqlite3_result_text(context, "{}", -1, SQLITE_STATIC);
        return;
    }
    json = sqlite3_str_new(NULL);
    while (hw_header_next(&cursor, &left, &header)) {
        sqlite3_str_appendchar(json, 1, separator);
        json_add_string(json, header.name, (size_t)header.name_size);
        sqlite3_str_appendchar(json, 1, ':');
        add_header_value(json, &header);
        separator = ',';
    }
    sqlite3_str_appendchar(json, 1, '}');
    result_json(context, json);
}
