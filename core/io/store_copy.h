/* SPDX-License-Identifier: MIT */
/* Copies a directory from one store into another. */
#ifndef HW_IO_STORE_COPY_H
#define HW_IO_STORE_COPY_H

#include "core/io/store.h"

/* Whether what has this name in the directory itself comes along; NULL where all does. */
typedef bool hw_store_copy_filter(const char *name);

/* How many bytes the files have together that a copy would have. Errors: HW_NOT_FOUND; HW_NO_MEMORY;
 * HW_MISUSE where directories lie too deep; HW_IO. */
enum hw_status hw_store_copy_size(struct hw_store *from, const char *from_path,
                                  hw_store_copy_filter *is_wanted,
                                  const struct hw_allocator *allocator, int64_t *size_bytes,
                                  struct hw_error *error);

/*
 * Copy the directory `from_path` with all that is below it to `to_path`, whose parent exists; lock
 * files and unfinished ones (.lock, *.tmp) stay behind. All sizes together are looked at first:
 * more than `bytes_max` is HW_MISUSE, and nothing is read. Files of `from` are only read. Errors:
 * HW_NOT_FOUND; HW_NO_MEMORY; HW_IO; `to` then has a part of it.
 */
enum hw_status hw_store_copy_directory(struct hw_store *from, const char *from_path,
                                       struct hw_store *to, const char *to_path,
                                       hw_store_copy_filter *is_wanted, int64_t bytes_max,
                                       const struct hw_allocator *allocator,
                                       struct hw_error *error);

#endif /* HW_IO_STORE_COPY_H */
