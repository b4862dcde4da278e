/* SPDX-License-Identifier: MIT */
/*
 * Values between SQL and the core.
 *
 *     SQL -> record bytes    TEXT as UTF-8, BLOB as it is, numbers as their text, NULL as null
 *     record bytes -> SQL    TEXT where they are valid UTF-8 without NUL, else BLOB; null as NULL
 */
#ifndef EXT_VALUE_H
#define EXT_VALUE_H

#include "core/highwater.h"

#include <sqlite3ext.h>

/* "integer" 5, 5.0 and '5' are the number 5, as an INTEGER column takes them; 5.5, 'x', blobs and
 * NULL are none. */
bool ext_value_integer(sqlite3_value *value, int64_t *number);

/* Whether the value is TEXT and just this word. */
bool ext_value_is_word(sqlite3_value *value, const char *word);

/* The value as a person would write it, cut to fit: NULL, 5, 'text', "a blob of 3 bytes". */
enum { EXT_VALUE_TEXT_SIZE = 64 };
const char *ext_value_describe(sqlite3_value *value, char text[EXT_VALUE_TEXT_SIZE]);

/*
 * Key or value of a record: *size is -1 for NULL. The bytes are borrowed from `value`. Errors:
 * HW_NO_MEMORY. `what` is for the message.
 */
enum hw_status ext_value_bytes(sqlite3_value *value, const char *what, const uint8_t **bytes,
                               int32_t *size, struct hw_error *error);

/* Which type keys or values of records have in SQL. */
enum ext_bytes_type {
    EXT_BYTES_AUTO, /* TEXT where they can be, else BLOB. */
    EXT_BYTES_TEXT, /* Always: what is no UTF-8 becomes U+FFFD, as with Kafka's StringDeserializer. */
    EXT_BYTES_BLOB
};

/* From the word auto, text or blob. */
bool ext_bytes_type_read(const char *word, enum ext_bytes_type *type);

/* From and to Kafka's words read_uncommitted and read_committed; HW_READ_LOG has none. */
bool ext_isolation_read(const char *word, enum hw_read_mode *mode);
const char *ext_isolation_word(enum hw_read_mode mode);
void ext_result_isolation(sqlite3_context *context, enum hw_read_mode mode);

/* The result of a column: key or value of a record. Copied. */
void ext_result_key(sqlite3_context *context, const struct hw_record *record,
                    enum ext_bytes_type type);
void ext_result_value(sqlite3_context *context, const struct hw_record *record,
                      enum ext_bytes_type type);

/* The same for headers: a JSON object in their order, {} if there are none. */
void ext_result_headers(sqlite3_context *context, const struct hw_record *record);

/* Add bytes to a text: each that is no UTF-8 becomes U+FFFD. */
void ext_value_add_mended(sqlite3_str *text, const uint8_t *bytes, size_t size);

/* Text that may come from outside: a BLOB where it is no UTF-8, which a host could not take. */
void ext_result_text(sqlite3_context *context, const char *text, size_t size);

/* An integer, or NULL where it is `none`. */
void ext_result_integer_unless(sqlite3_context *context, int64_t number, int64_t none);

#endif /* EXT_VALUE_H */
