/* SPDX-License-Identifier: MIT */
/*
 * A store over another one that is only read: what is written stays in memory.
 *
 *     read     from memory where something was written, else from below
 *     write    a file is copied into memory when it is written for the first time
 *     cut      it is noted how much of the file is seen; nothing is copied
 *     rename   it is noted what the file is called now; nothing is copied
 *     remove   the name is noted, and what has it below is not seen any more
 *
 * So a log can be recovered, and a broker be started, in a directory that may not be written.
 * Directories below cannot be renamed.
 */
#ifndef HW_IO_OVERLAY_STORE_H
#define HW_IO_OVERLAY_STORE_H

#include "core/io/store.h"

/* How to ask whether somebody writes the directory of `path`: HW_OK, or HW_BUSY. */
typedef enum hw_status hw_overlay_probe(const char *path, struct hw_error *error);

/* The caller owns *store: hw_store_destroy(), which destroys `lower` too. `lower` stays the caller's
 * after an error. hw_store_lock() asks `probe`, if there is one, and holds nothing below. Errors:
 * HW_NO_MEMORY. */
enum hw_status hw_overlay_store_create(const struct hw_allocator *allocator, struct hw_store *lower,
                                       hw_overlay_probe *probe, struct hw_store **store,
                                       struct hw_error *error);

#endif /* HW_IO_OVERLAY_STORE_H */
