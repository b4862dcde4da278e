/* SPDX-License-Identifier: MIT */
#ifndef HW_IO_POSIX_PATH_H
#define HW_IO_POSIX_PATH_H

#include "core/base/status.h"
#include "core/base/types.h"

/*
 * The one name of a path: absolute, without links, "." and "..". Of a path that does not exist the
 * names that are missing stay at its end. Errors: HW_NOT_FOUND where "." or ".." comes behind a
 * name that is missing; HW_IO.
 */
enum hw_status hw_posix_real_path(const char *path, char real[HW_PATH_MAX], struct hw_error *error);

/* Whether a path, with all its links followed, is `root` or below it. `root` is a name that
 * hw_posix_real_path() gave. */
bool hw_path_is_below(const char *path, const char *root);

/* Whether this process may make files in the directory; true where there is none. */
bool hw_posix_may_write(const char *directory);

#endif /* HW_IO_POSIX_PATH_H */
