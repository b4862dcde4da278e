/* SPDX-License-Identifier: MIT */
/* Names of files, by their text alone: store.h says what each function does. */
#include "core/io/store.h"

#include <stdio.h>
#include <string.h>

void hw_path_parent(const char *path, char parent[HW_PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL) {
        (void)snprintf(parent, HW_PATH_MAX, ".");
    } else {
        int length = slash == path ? 1 : (int)(slash - path);

        (void)snprintf(parent, HW_PATH_MAX, "%.*s", length, path);
    }
}

const char *hw_path_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    while (length > 0 && directory[length - 1] == '/') {
        length--;
    }
    if (strncmp(path, directory, length) != 0 || (path[length] != '\0' && path[length] != '/')) {
        return NULL;
    }
    return path + length;
}
