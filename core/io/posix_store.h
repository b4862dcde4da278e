/* SPDX-License-Identifier: MIT */
/*
 * Files of the operating system: of POSIX, through pread and pwrite, or, in windows_store.c, of
 * Windows.
 *
 * File descriptors of POSIX are a cache: a file is opened again when it is used and its descriptor
 * was given to another one meanwhile (least recently used first). So thousands of files work under a small
 * limit of descriptors, and a steady set of files costs no open and no close. A store never takes
 * more than half of what the process may have open.
 *
 * A store belongs to the process that made it. In one that was forked from that, what would read or
 * change a file is HW_IO; closing files and destroying the store works.
 */
#ifndef HW_IO_POSIX_STORE_H
#define HW_IO_POSIX_STORE_H

#include "core/io/store.h"

enum { HW_POSIX_STORE_DESCRIPTORS_DEFAULT = 8192 };

/*
 * Create a store that keeps at most `descriptors_max` >= 1 descriptors open (lock files come on
 * top; Windows has no such limit). The caller owns *store: hw_store_destroy(). `allocator` must
 * outlive it. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_posix_store_create(const struct hw_allocator *allocator, size_t descriptors_max,
                                     struct hw_store **store, struct hw_error *error);

/* Who may not read the file at `path` does not read what the store makes from now on, whatever the
 * umask allows. A file that is not there forbids nothing. On Windows nothing changes. */
void hw_posix_store_be_as_private_as(struct hw_store *store, const char *path);

/* Whether somebody has the lock of the directory that `path`, its lock file, is in: HW_BUSY as
 * hw_store_lock() says it, else HW_OK. Nothing is written, and nothing held afterwards. */
enum hw_status hw_posix_store_probe(const char *path, struct hw_error *error);

#endif /* HW_IO_POSIX_STORE_H */
