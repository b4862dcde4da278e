/* SPDX-License-Identifier: MIT */
/* A directory of its own for a test. */
#define _XOPEN_SOURCE 700

#include "tests/support_directory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void test_directory_make(char path[HW_PATH_MAX])
{
    const char *parent = getenv("TMPDIR");

    (void)snprintf(path, HW_PATH_MAX, "%s/highwater-test-XXXXXX", parent == NULL ? "/tmp" : parent);
    if (mkdtemp(path) == NULL) {
        perror(path);
        abort();
    }
}

int test_directory_enter(const char *path)
{
    return chdir(path);
}

static int remove_one(const char *path, const struct stat *what, int kind, struct FTW *where)
{
    (void)what;
    (void)kind;
    (void)where;
    return remove(path);
}

void test_directory_remove(const char *path)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        perror(path);
        abort();
    }
}
