/* SPDX-License-Identifier: MIT */
/* Walks over JSON objects, and the headers of a record made from one. */
#include "ext/ext_json.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const char *skip_spaces(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') {
        at++;
    }
    return at;
}

/*
 * json_each() also takes arrays and lone values, and SQLite ends a text at an escaped NUL: both are
 * told apart here, by the text.
 */
static enum hw_status check_text(const char *text, char opener, const char *what,
                                 struct hw_error *error)
{
    if (*skip_spaces(text) != opener) {
        return ext_error_invalid(error, "%s must be a JSON %s", what,
                                 opener == '{' ? "object such as {\"name\":\"value\"}"
                                               : "array such as [1,2,3]");
    }
    if (strstr(text, "\\u0000") != NULL) {
        return ext_error_invalid(
            error, "%s: \\u0000 cannot be kept; give bytes as {\"hex\":\"00\"}", what);
    }
    return HW_OK;
}

/* One row of json_each(). */
static enum hw_status member_of_row(sqlite3_stmt *statement, const char *what,
                                    struct ext_json_member *member, struct hw_error *error)
{
    *member = (struct ext_json_member){.name = (const char *)sqlite3_column_text(statement, 0),
                                       .name_size = sqlite3_column_bytes(statement, 0),
                                       .type = (const char *)sqlite3_column_text(statement, 1),
                                       .atom = sqlite3_column_value(statement, 2),
                                       .json = (const char *)sqlite3_column_text(statement, 3)};
    if (member->name == NULL || member->type == NULL ||
        (member->json == NULL && strcmp(member->type, "null") != 0)) {
        return sqlite3_errcode(sqlite3_db_handle(statement)) == SQLITE_NOMEM
                   ? hw_error_no_memory(error, what)
                   : ext_error_invalid(error,
                                       "%s: json_each(), iif() or -> of this connection is not"
                                       " SQLite's own: does the program replace it?",
                                       what);
    }
    return HW_OK;
}

static enum hw_status walk_rows(sqlite3 *db, sqlite3_stmt *statement, const char *what,
                                ext_json_visit *visit, void *context, struct hw_error *error)
{
    struct ext_json_member member;
    enum hw_status status = HW_OK;
    int code = SQLITE_ROW;

    while (status == HW_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        status = member_of_row(statement, what, &member, error);
        if (status == HW_OK) {
            status = visit(context, &member, error);
        }
    }
    if (status == HW_OK && code != SQLITE_DONE) {
        status = ext_error_from_sqlite(error, db, code, what);
    }
    return status;
}

/* Some builds of SQLite, of which Debian's is one, read a number in JSON by the program's locale, in
 * which 1.5 may be 1; they never read one in SQL so. */
static const char each_member[] =
    "SELECT key, type, iif(is_misread, CAST(?1 -> fullkey AS REAL), atom),"
    " iif(is_misread, CAST(?1 -> fullkey AS REAL), value) "
    "FROM (SELECT *, type = 'real' AND '[0.5]' ->> 0 <> 0.5 AS is_misread FROM json_each(?1))";

static enum hw_status walk_text(sqlite3 *db, const char *text, char opener, const char *what,
                                ext_json_visit *visit, void *context, struct hw_error *error)
{
    sqlite3_stmt *statement = NULL;
    enum hw_status status = check_text(text, opener, what, error);
    int code;

    if (status != HW_OK) {
        return status;
    }
    code = sqlite3_prepare_v2(db, each_member, -1, &statement, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    }
    if (code == SQLITE_OK) {
        status = walk_rows(db, statement, what, visit, context, error);
    } else {
        status = ext_error_from_sqlite(error, db, code, what);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

/* The text of a JSON argument; *text is NULL where the value is none. */
static enum hw_status text_of_value(sqlite3_value *value, const char *what, const char **text,
                                    struct hw_error *error)
{
    *text = NULL;
    if (sqlite3_value_type(value) != SQLITE_TEXT) {
        return HW_OK;
    }
    *text = (const char *)sqlite3_value_text(value);
    if (*text == NULL) {
        return hw_error_no_memory(error, what);
    }
    return hw_utf8_is_text((const uint8_t *)*text, (size_t)sqlite3_value_bytes(value))
               ? HW_OK
               : ext_error_invalid(error, "%s: a text that is no UTF-8, or has a NUL", what);
}

static enum hw_status walk_value(sqlite3 *db, sqlite3_value *value, char opener, const char *what,
                                 ext_json_visit *visit, void *context, struct hw_error *error)
{
    char described[EXT_VALUE_TEXT_SIZE];
    const char *text;
    enum hw_status status = text_of_value(value, what, &text, error);

    if (status == HW_OK && text == NULL) {
        return ext_error_invalid(error, "%s must be a JSON %s, not %s", what,
                                 opener == '{' ? "object" : "array",
                                 ext_value_describe(value, described));
    }
    return status == HW_OK ? walk_text(db, text, opener, what, visit, context, error) : status;
}

enum hw_status ext_json_walk(sqlite3 *db, sqlite3_value *object, const char *what,
                             ext_json_visit *visit, void *context, struct hw_error *error)
{
    return walk_value(db, object, '{', what, visit, context, error);
}

enum hw_status ext_json_walk_array(sqlite3 *db, sqlite3_value *array, const char *what,
                                   ext_json_visit *visit, void *context, struct hw_error *error)
{
    return walk_value(db, array, '[', what, visit, context, error);
}

enum hw_status ext_json_walk_elements(sqlite3 *db, const struct ext_json_member *member,
                                      ext_json_visit *visit, void *context, struct hw_error *error)
{
    return walk_text(db, member->json, strcmp(member->type, "object") == 0 ? '{' : '[',
                     member->name, visit, context, error);
}

bool ext_json_integer(const struct ext_json_member *member, int64_t *number)
{
    return sqlite3_value_type(member->atom) == SQLITE_INTEGER &&
           strcmp(member->type, "integer") == 0 && ext_value_integer(member->atom, number);
}

bool ext_json_boolean(const struct ext_json_member *member, bool *flag)
{
    bool is_true = strcmp(member->type, "true") == 0;

    if (!is_true && strcmp(member->type, "false") != 0) {
        return false;
    }
    *flag = is_true;
    return true;
}

struct broker_ids {
    const char *what;
    struct hw_broker_list *brokers;
};

static enum hw_status visit_broker(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    const struct broker_ids *walk = context;
    struct hw_broker_list *brokers = walk->brokers;
    int64_t id = 0;

    if (!ext_json_integer(member, &id) || id < 0 || id > INT32_MAX) {
        return ext_error_invalid(error, "%s: element %s must be a broker's id", walk->what,
                                 member->name);
    }
    if (brokers->count == HW_REPLICAS_MAX) {
        return ext_error_invalid(error, "%s: more than %d", walk->what, (int)HW_REPLICAS_MAX);
    }
    brokers->ids[brokers->count++] = (hw_broker_id_t)id;
    return HW_OK;
}

enum hw_status ext_json_brokers(sqlite3 *db, sqlite3_value *array, const char *what,
                                struct hw_broker_list *brokers, struct hw_error *error)
{
    struct broker_ids walk = {.what = what, .brokers = brokers};

    brokers->count = 0;
    return ext_json_walk_array(db, array, what, visit_broker, &walk, error);
}

struct broker_lists {
    sqlite3 *db;
    const char *what;
    struct hw_buffer *lists;
};

static enum hw_status visit_broker_list(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    struct broker_lists *walk = context;
    struct hw_broker_list brokers = {.count = 0};
    struct broker_ids ids = {.what = walk->what, .brokers = &brokers};
    enum hw_status status;

    if (strcmp(member->type, "array") != 0) {
        return ext_error_invalid(error,
                                 "%s: element %s must be the array of a partition's replicas, as "
                                 "in [[1,2],[2,3]]",
                                 walk->what, member->name);
    }
    if (walk->lists->size / sizeof brokers == HW_PARTITIONS_MAX) {
        return ext_error_invalid(error, "%s: more than %d partitions", walk->what,
                                 (int)HW_PARTITIONS_MAX);
    }
    status = walk_text(walk->db, member->json, '[', walk->what, visit_broker, &ids, error);
    return status == HW_OK ? hw_buffer_append(walk->lists, &brokers, sizeof brokers, error)
                           : status;
}

enum hw_status ext_json_broker_lists(sqlite3 *db, sqlite3_value *array, const char *what,
                                     struct hw_buffer *lists, struct hw_error *error)
{
    struct broker_lists walk = {.db = db, .what = what, .lists = lists};

    return ext_json_walk_array(db, array, what, visit_broker_list, &walk, error);
}

enum hw_status ext_json_client_option(struct hw_client_call *client,
                                      const struct ext_json_member *member, bool *is_known,
                                      struct hw_error *error)
{
    bool is_epoch = strcmp(member->name, "leader_epoch") == 0;
    int64_t number = 0;

    *is_known = is_epoch || strcmp(member->name, "broker") == 0;
    if (!*is_known) {
        return HW_OK;
    }
    if (!ext_json_integer(member, &number) || (is_epoch && number < 0)) {
        return ext_error_invalid(error, is_epoch ? "leader_epoch must be an integer, 0 or more"
                                                 : "broker must be an integer, a broker's id");
    }
    if (is_epoch) {
        client->leader_epoch = number;
    } else {
        client->has_broker = true;
        client->broker = number;
    }
    return HW_OK;
}

struct header_walk {
    struct hw_buffer *headers;
    int32_t count;
};

static int hex_digit(char c)
{
    const char digits[] = "0123456789abcdef0123456789ABCDEF";
    const char *found = c == '\0' ? NULL : strchr(digits, c);

    return found == NULL ? -1 : (int)((found - digits) % 16);
}

/* Decode {"hex":"FF00"} in the form that json_each() gives it, without spaces, into `bytes`. */
static enum hw_status decode_hex(const struct ext_json_member *member, struct hw_buffer *bytes,
                                 struct hw_error *error)
{
    static const char prefix[] = "{\"hex\":\"";
    const char *at = member->json;

    if (strncmp(at, prefix, sizeof prefix - 1) == 0) {
        at += sizeof prefix - 1;
        while (hex_digit(at[0]) >= 0 && hex_digit(at[1]) >= 0) {
            uint8_t byte = (uint8_t)(hex_digit(at[0]) * 16 + hex_digit(at[1]));
            enum hw_status status = hw_buffer_append(bytes, &byte, 1, error);
            if (status != HW_OK) {
                return status;
            }
            at += 2;
        }
        if (strcmp(at, "\"}") == 0) {
            return HW_OK;
        }
    }
    return ext_error_invalid(error,
                             "header \"%s\" must be text, a number, true, false, null or "
                             "{\"hex\":\"FF00\"}, not %.60s",
                             member->name, member->json);
}

static enum hw_status visit_header(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    struct header_walk *walk = context;
    struct hw_header header = {
        .name = (const uint8_t *)member->name, .name_size = member->name_size, .value_size = -1};
    struct hw_buffer bytes;
    bool is_boolean = strcmp(member->type, "true") == 0 || strcmp(member->type, "false") == 0;
    enum hw_status status = HW_OK;

    hw_buffer_init(&bytes, walk->headers->allocator);
    if (strcmp(member->type, "object") == 0 || strcmp(member->type, "array") == 0) {
        status = decode_hex(member, &bytes, error);
        header.value = bytes.bytes == NULL ? (const uint8_t *)"" : bytes.bytes;
        header.value_size = (int32_t)bytes.size;
    } else if (strcmp(member->type, "null") != 0) {
        header.value = (const uint8_t *)(is_boolean ? member->type : member->json);
        header.value_size = (int32_t)strlen((const char *)header.value);
    }
    if (status == HW_OK) {
        status = hw_header_append(walk->headers, &header, error);
    }
    walk->count += status == HW_OK;
    hw_buffer_release(&bytes);
    return status;
}

/* ------------------------------------------------------------------------------- plain headers */

/* A string that stands for itself, without escapes. Returns what follows it and the spaces behind
 * it; NULL: there is none. */
static const char *plain_string(const char *at, const uint8_t **start, int32_t *size)
{
    const char *first = at + 1;

    if (*at != '"') {
        return NULL;
    }
    for (at = first; *at != '"'; at++) {
        if (*at == '\\' || (unsigned char)*at < ' ') {
            return NULL;
        }
    }
    *start = (const uint8_t *)first;
    *size = (int32_t)(at - first); /* SQLite has no longer texts. */
    return skip_spaces(at + 1);
}

/*
 * Headers that are nothing but plain strings, {"name":"value", ...}, as most are: with a statement
 * for json_each() the row takes twenty times as long. *is_plain is false for any other text, be it
 * JSON or not.
 */
static enum hw_status plain_headers(struct header_walk *walk, const char *text, bool *is_plain,
                                    struct hw_error *error)
{
    const char *at = skip_spaces(text);
    bool is_object = *at == '{';

    *is_plain = false;
    for (char before = '{'; *at == before; before = ',') {
        struct hw_header header;
        enum hw_status status;

        at = skip_spaces(at + 1);
        if (before == '{' && *at == '}') {
            break;
        }
        at = plain_string(at, &header.name, &header.name_size);
        if (at == NULL || *at != ':') {
            return HW_OK;
        }
        at = plain_string(skip_spaces(at + 1), &header.value, &header.value_size);
        if (at == NULL) {
            return HW_OK;
        }
        status = hw_header_append(walk->headers, &header, error);
        if (status != HW_OK) {
            return status;
        }
        walk->count++;
    }
    *is_plain = is_object && *at == '}' && *skip_spaces(at + 1) == '\0';
    return HW_OK;
}

enum hw_status ext_json_headers(sqlite3 *db, sqlite3_value *object, struct hw_buffer *headers,
                                int32_t *count, struct hw_error *error)
{
    struct header_walk walk = {.headers = headers, .count = 0};
    size_t size_before = headers->size;
    const char *text;
    bool is_plain = false;
    enum hw_status status = text_of_value(object, "headers", &text, error);

    if (status == HW_OK && text != NULL) {
        status = plain_headers(&walk, text, &is_plain, error);
    }
    if (status == HW_OK && !is_plain) {
        headers->size = size_before;
        walk.count = 0;
        status = ext_json_walk(db, object, "headers", visit_header, &walk, error);
    }
    *count = walk.count;
    return status;
}

enum hw_status ext_json_headers_of_member(sqlite3 *db, const struct ext_json_member *member,
                                          struct hw_buffer *headers, int32_t *count,
                                          struct hw_error *error)
{
    struct header_walk walk = {.headers = headers, .count = 0};
    enum hw_status status = HW_OK;

    if (strcmp(member->type, "null") != 0) {
        status = walk_text(db, member->json, '{', "headers", visit_header, &walk, error);
    }
    *count = walk.count;
    return status;
}
