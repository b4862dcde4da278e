/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_name.h"

#include <string.h>

bool hw_path_is_pattern(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

/* Whether the name fits the first `size` characters of the pattern. A '*' is tried short first, and
 * longer where what follows did not fit: only the last one needs to be tried again. */
static bool path_pattern_fits(const char *pattern, size_t size, const char *name)
{
    const char *end = pattern + size;
    const char *star = NULL;
    const char *again = NULL;

    if (name[0] == '.' && pattern[0] != '.') {
        return false;
    }
    while (*name != '\0') {
        if (pattern < end && *pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*') {
        pattern++;
    }
    return pattern == end;
}

/* Add what fits `rest`, which is behind the path `base`. */
static enum hw_status path_pattern_walk(struct hw_store *store, const char *base, const char *rest,
                                        struct hw_name_list *paths, struct hw_error *error)
{
    struct hw_name_list names = {.allocator = paths->allocator};
    size_t slashes = strspn(rest, "/");
    size_t size = strcspn(rest + slashes, "/");
    const char *part = rest + slashes;
    struct hw_error list_error;
    char path[HW_PATH_MAX];
    enum hw_status status = HW_OK;

    if (size == 0) {
        return hw_name_list_add(paths, base, error);
    }
    if (memchr(part, '*', size) == NULL && memchr(part, '?', size) == NULL) {
        struct hw_path_look look;

        status = hw_path_format(path, error, "%s%.*s", base, (int)(slashes + size), rest);
        if (status == HW_OK) {
            status = hw_store_look(store, path, &look, error);
        }
        return status == HW_OK && look.exists
                   ? path_pattern_walk(store, path, part + size, paths, error)
               : status == HW_NO_MEMORY ? status
                                        : HW_OK;
    }
    status = hw_path_format(path, error, "%s%.*s", base, (int)slashes, rest);
    if (status == HW_OK &&
        hw_store_list(store, path[0] == '\0' ? "." : path, &names, &list_error) == HW_NO_MEMORY) {
        *error = list_error;
        status = HW_NO_MEMORY;
    }
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        if (path_pattern_fits(part, size, names.names[i])) {
            char full[HW_PATH_MAX];

            status = hw_path_format(full, error, "%s%s", path, names.names[i]);
            if (status == HW_OK) {
                status = path_pattern_walk(store, full, part + size, paths, error);
            }
        }
    }
    hw_name_list_release(&names);
    return status;
}

enum hw_status hw_path_expand(struct hw_store *store, const char *pattern,
                              struct hw_name_list *paths, struct hw_error *error)
{
    size_t before = paths->count;
    bool exists = !hw_path_is_pattern(pattern);
    enum hw_status status = HW_OK;

    if (!exists && hw_store_exists(store, pattern, &exists, error) == HW_NO_MEMORY) {
        return HW_NO_MEMORY;
    }
    status = exists ? hw_name_list_add(paths, pattern, error)
                    : path_pattern_walk(store, "", pattern, paths, error);
    if (status == HW_OK && paths->count == before) {
        status = hw_error_set(error, HW_NOT_FOUND, "no path fits %.400s", pattern);
    }
    return status;
}
