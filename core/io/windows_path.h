/* SPDX-License-Identifier: MIT */
/*
 * Paths and errors of Windows, for windows_store.c and windows_path.c only. What others call is
 * declared in store.h.
 */
#ifndef HW_IO_WINDOWS_PATH_H
#define HW_IO_WINDOWS_PATH_H

#include "core/io/store.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>
/* Its words from the days of segments are names elsewhere, where all is one file. */
#undef near
#undef far

/* A path as the system's wide functions take it, however long: absolute, with the prefix that says
 * so. HW_PATH_MAX bytes of UTF-8 are at most as many units, a working directory comes before. */
enum { HW_WINDOWS_PATH_SIZE = 2 * HW_PATH_MAX };

struct hw_windows_path {
    wchar_t text[HW_WINDOWS_PATH_SIZE];
};

/* Errors: HW_IO where it is no UTF-8, or too long. */
enum hw_status hw_windows_path(const char *path, struct hw_windows_path *wide,
                               struct hw_error *error);

/* As UTF-8, with '/' between names. Returns false where it does not fit. */
bool hw_windows_text(const wchar_t *wide, char text[HW_PATH_MAX]);

/*
 * Fill in `error` for the system's error `number`: "cannot <verb> '<path>': <reason>". Returns
 * HW_NOT_FOUND where there is no such path, HW_NO_MEMORY, else HW_IO.
 */
enum hw_status hw_windows_error(struct hw_error *error, DWORD number, const char *verb,
                                const char *path);

/* Whether the error says that nothing has the path. */
bool hw_windows_is_missing(DWORD number);

#endif /* HW_IO_WINDOWS_PATH_H */
