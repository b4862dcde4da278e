/* SPDX-License-Identifier: MIT */
#include "ext/files/kafka_paths.h"

#include "ext/ext_error.h"
#include "ext/ext_json.h"

#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

bool kafka_paths_are_many(const char *text)
{
    return text[0] == '[' || text[0] == '~' || hw_path_is_pattern(text);
}

/* Add the paths that one text stands for. */
static enum hw_status kafka_paths_add(struct kafka_paths *paths, const char *text,
                                      struct hw_error *error)
{
    const char *home =
        text[0] == '~' && (text[1] == '/' || text[1] == '\0') ? getenv("HOME") : NULL;
    char path[HW_PATH_MAX];

    if (home != NULL) {
        enum hw_status status = hw_path_format(path, error, "%s%s", home, text + 1);

        if (status != HW_OK) {
            return status;
        }
        text = path;
    }
    paths->is_list = paths->is_list || hw_path_is_pattern(text);
    return hw_path_expand(paths->store, text, &paths->names, error);
}

static enum hw_status kafka_paths_visit(void *context, const struct ext_json_member *member,
                                        struct hw_error *error)
{
    if (strcmp(member->type, "text") != 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                               "a list of paths has texts, as in [\"/disks/a\",\"/disks/b\"]");
    }
    return kafka_paths_add(context, (const char *)sqlite3_value_text(member->atom), error);
}

enum hw_status kafka_paths_open(struct kafka_paths *paths, struct ext_session *session,
                                struct hw_store *store, sqlite3_value *value,
                                struct hw_error *error)
{
    /* Asked first: a blob that was read as text says that it is one. */
    bool is_text = sqlite3_value_type(value) == SQLITE_TEXT;
    const char *text = (const char *)sqlite3_value_text(value);
    bool exists = true;
    enum hw_status status = HW_OK;

    *paths = (struct kafka_paths){.names = {.allocator = &ext_allocator}, .store = store};
    if (text == NULL) {
        return hw_error_no_memory(error, "a path");
    }
    if (is_text && !hw_utf8_is_text((const uint8_t *)text, (size_t)sqlite3_value_bytes(value))) {
        return ext_error_invalid(error, "the path is a text that is no UTF-8, or has a NUL: give "
                                        "such a name as a blob");
    }
    if (text[0] == '[') {
        status = hw_store_exists(store, text, &exists, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (exists) {
        status = kafka_paths_add(paths, text, error);
    } else {
        paths->is_list = true;
        status = ext_json_walk_array(session->db, value, "the list of paths", kafka_paths_visit,
                                     paths, error);
    }
    for (size_t i = 0; i < paths->names.count && status == HW_OK; i++) {
        status = ext_session_check_readable(session, paths->names.names[i], error);
    }
    return status;
}

void kafka_paths_release(struct kafka_paths *paths)
{
    hw_name_list_release(&paths->names);
}
