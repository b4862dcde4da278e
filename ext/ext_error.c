/* SPDX-License-Identifier: MIT */
/* Codes and texts of errors, as SQLite wants them. */
#include "ext/ext_error.h"

#include "ext/ext_value.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

int ext_error_code(const struct hw_error *error)
{
    enum hw_kafka_error kafka;

    if (!hw_error_kafka(error, &kafka)) {
        return error->status == HW_NO_MEMORY ? SQLITE_NOMEM
               : error->status == HW_BUSY    ? SQLITE_BUSY
                                             : SQLITE_INTERRUPT;
    }
    /* Not SQLITE_IOERR for a file: it would make SQLite roll back the whole transaction. */
    return kafka > 0 ? SQLITE_ERROR | (EXT_ERROR_FIRST + (int)kafka) << 8 : SQLITE_ERROR;
}

/* The text, to be freed. What it quotes may be no UTF-8, or be cut within a character: hosts take
 * texts that are. NULL if there is no memory. */
static char *error_text(const struct hw_error *error)
{
    enum hw_kafka_error kafka;
    sqlite3_str *text = sqlite3_str_new(NULL);

    if (hw_error_kafka(error, &kafka)) {
        sqlite3_str_appendf(text, "%s: ", hw_kafka_error_name(kafka));
    }
    ext_value_add_mended(text, (const uint8_t *)error->message, strlen(error->message));
    return sqlite3_str_finish(text);
}

void ext_error_to_context(sqlite3_context *context, const struct hw_error *error)
{
    char *text = error->status == HW_NO_MEMORY ? NULL : error_text(error);

    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_error(context, text, -1);
    sqlite3_result_error_code(context, ext_error_code(error));
    sqlite3_free(text);
}

int ext_error_to_message(char **message, const struct hw_error *error)
{
    char *text = error->status == HW_NO_MEMORY ? NULL : error_text(error);

    if (text == NULL) {
        return SQLITE_NOMEM;
    }
    sqlite3_free(*message);
    *message = text;
    return ext_error_code(error);
}

int ext_error_to_vtab(sqlite3_vtab *vtab, const struct hw_error *error)
{
    return ext_error_to_message(&vtab->zErrMsg, error);
}

enum hw_status ext_error_from_sqlite(struct hw_error *error, sqlite3 *db, int code,
                                     const char *what)
{
    if ((code & 0xff) == SQLITE_NOMEM) {
        return hw_error_no_memory(error, what);
    }
    if (code == SQLITE_INTERRUPT) {
        return hw_error_set(error, HW_INTERRUPTED, "interrupted");
    }
    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) {
        return hw_error_set(error, HW_BUSY, "%s", sqlite3_errmsg(db));
    }
    return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST, "%s: %s", what, sqlite3_errmsg(db));
}

enum hw_status ext_error_invalid(struct hw_error *error, const char *format, ...)
{
    char text[HW_ERROR_MESSAGE_SIZE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST, "%s", text);
}

enum hw_status ext_error_topic_gone(struct hw_error *error, const char *topic)
{
    return hw_error_refuse(error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION,
                           "there is no topic \"%.249s\" any more: it was deleted, or the database "
                           "file was copied without its -highwater directory, or open_cluster() "
                           "chose another cluster",
                           topic);
}
