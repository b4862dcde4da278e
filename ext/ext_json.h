/* SPDX-License-Identifier: MIT */
/*
 * JSON objects that come in as arguments, read by SQLite's own json_each() on the connection; but
 * for headers that are plain strings only, whose row would take twenty times as long. No statement
 * stays open behind a call: a program may end all that sqlite3_next_stmt() finds.
 */
#ifndef EXT_JSON_H
#define EXT_JSON_H

#include "core/highwater.h"

#include <sqlite3ext.h>

/* One member of an object. Everything is borrowed until the visitor returns. */
struct ext_json_member {
    const char *name;
    int name_size;
    const char *type; /* "object", "array", or one of the scalars: null, true, integer, text... */
    sqlite3_value *atom; /* A scalar's value; SQL NULL for null, objects and arrays. */
    const char *json;    /* An object or array as JSON; a scalar as text. NULL for null. */
};

/* A status other than HW_OK ends the walk and is returned by it. */
typedef enum hw_status ext_json_visit(void *context, const struct ext_json_member *member,
                                      struct hw_error *error);

/*
 * Visit the members of a JSON object in their order; names may repeat. `what` names the argument
 * in messages. Errors: HW_NO_MEMORY; HW_REFUSED with INVALID_REQUEST unless `object` is TEXT and a
 * JSON object; what the visitor returned.
 */
enum hw_status ext_json_walk(sqlite3 *db, sqlite3_value *object, const char *what,
                             ext_json_visit *visit, void *context, struct hw_error *error);

/* The same for the elements of a JSON array; their names are their places, from "0" on. */
enum hw_status ext_json_walk_array(sqlite3 *db, sqlite3_value *array, const char *what,
                                   ext_json_visit *visit, void *context, struct hw_error *error);

/* The same for an array, or an object, within an object. */
enum hw_status ext_json_walk_elements(sqlite3 *db, const struct ext_json_member *member,
                                      ext_json_visit *visit, void *context, struct hw_error *error);

/*
 * Encode the members as headers of a record, behind what `headers` holds, and count them. A value
 * is text, a number or a boolean (as its text), null, or {"hex":"FF00"} for bytes.
 */
enum hw_status ext_json_headers(sqlite3 *db, sqlite3_value *object, struct hw_buffer *headers,
                                int32_t *count, struct hw_error *error);

/* The same for an object within an object; null is no headers. */
enum hw_status ext_json_headers_of_member(sqlite3 *db, const struct ext_json_member *member,
                                          struct hw_buffer *headers, int32_t *count,
                                          struct hw_error *error);

/* Whether the member is an integer, and which. */
bool ext_json_integer(const struct ext_json_member *member, int64_t *number);

/* Whether the member is true or false, and which; else *flag stays. */
bool ext_json_boolean(const struct ext_json_member *member, bool *flag);

/* A JSON array of brokers' ids, [2,3], as many as a partition may have replicas. Errors: as
 * ext_json_walk(). */
enum hw_status ext_json_brokers(sqlite3 *db, sqlite3_value *array, const char *what,
                                struct hw_broker_list *brokers, struct hw_error *error);

/* A JSON array of such arrays, one for each partition of a topic, as struct hw_broker_list behind
 * each other in `lists`. Errors: as ext_json_walk(). */
enum hw_status ext_json_broker_lists(sqlite3 *db, sqlite3_value *array, const char *what,
                                     struct hw_buffer *lists, struct hw_error *error);

/* leader_epoch and broker, the options of all that a client sends; *is_known: it was one of them.
 * Errors: HW_REFUSED with INVALID_REQUEST. */
enum hw_status ext_json_client_option(struct hw_client_call *client,
                                      const struct ext_json_member *member, bool *is_known,
                                      struct hw_error *error);

#endif /* EXT_JSON_H */
