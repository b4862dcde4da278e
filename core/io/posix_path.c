/* SPDX-License-Identifier: MIT */
#include "core/io/posix_system.h"

#include "core/io/store.h"

#ifndef _WIN32

#include "core/io/posix_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POSIX_PATH_SIZE = PATH_MAX > HW_PATH_MAX ? PATH_MAX : HW_PATH_MAX };

/* The length of the path without its last name and the slashes round it; 0: there is one name only.
 * *name: where the last name begins. */
static size_t posix_path_parent(const char *path, size_t length, size_t *name, size_t *name_size)
{
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    *name = length;
    while (*name > 0 && path[*name - 1] != '/') {
        --*name;
    }
    *name_size = length - *name;
    return *name;
}

static bool posix_path_is_dots(const char *name, size_t size)
{
    return (size == 1 && name[0] == '.') || (size == 2 && name[0] == '.' && name[1] == '.');
}

/* Append "/" and the names of `missing` to the real path of what there is. */
static enum hw_status posix_path_join(const char *path, const char *existing, const char *missing,
                                      char real[HW_PATH_MAX], struct hw_error *error)
{
    size_t length = strcmp(existing, "/") == 0 ? 0 : strlen(existing);

    if (length + strlen(missing) + 2 > HW_PATH_MAX) {
        return hw_posix_error(error, ENAMETOOLONG, "use", path);
    }
    memcpy(real, existing, length);
    while (*missing != '\0') {
        size_t size = strcspn(missing, "/");

        if (size > 0) {
            real[length++] = '/';
            memcpy(real + length, missing, size);
            length += size;
        }
        missing += size;
        missing += *missing == '/';
    }
    if (length == 0) {
        real[length++] = '/';
    }
    real[length] = '\0';
    return HW_OK;
}

enum hw_status hw_posix_real_path(const char *path, char real[HW_PATH_MAX], struct hw_error *error)
{
    char existing[POSIX_PATH_SIZE];
    char prefix[HW_PATH_MAX];
    size_t length = strlen(path);

    if (length >= sizeof prefix) {
        return hw_posix_error(error, ENAMETOOLONG, "use", path);
    }
    memcpy(prefix, path, length + 1);
    while (realpath(prefix[0] == '\0' ? "." : prefix, existing) == NULL) {
        size_t name;
        size_t name_size;

        if (errno != ENOENT || length == 0) {
            return hw_posix_error(error, errno, "use", path);
        }
        length = posix_path_parent(prefix, length, &name, &name_size);
        if (posix_path_is_dots(prefix + name, name_size)) {
            return hw_posix_error(error, ENOENT, "use", path);
        }
        prefix[length] = '\0';
    }
    return posix_path_join(path, existing, path + length, real, error);
}

bool hw_posix_may_write(const char *directory)
{
    return faccessat(AT_FDCWD, directory, W_OK, AT_EACCESS) == 0 ||
           (errno != EACCES && errno != EROFS && errno != EPERM);
}

#endif
