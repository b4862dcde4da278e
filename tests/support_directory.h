/* SPDX-License-Identifier: MIT */
/* A directory of its own for a test, below $TMPDIR or /tmp. */
#ifndef SUPPORT_DIRECTORY_H
#define SUPPORT_DIRECTORY_H

#include "core/base/types.h"

/* Make an empty directory and write its path to `path`. Stops the program if it cannot. */
void test_directory_make(char path[HW_PATH_MAX]);

/* Make it the current directory, for stores that are given relative paths. Returns 0. */
int test_directory_enter(const char *path);

/* Remove the directory and all that is in it. */
void test_directory_remove(const char *path);

#endif /* SUPPORT_DIRECTORY_H */
