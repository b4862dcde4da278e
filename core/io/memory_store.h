/* SPDX-License-Identifier: MIT */
/*
 * Files in memory, for clusters of in-memory databases and for tests.
 *
 * One tree of directories, whose root always exists and is the current directory too: "a", "./a"
 * and
 * "/a" are one file; ".." is a name like any other. A lock excludes other locks in the same store,
 * and its file stays empty.
 */
#ifndef HW_IO_MEMORY_STORE_H
#define HW_IO_MEMORY_STORE_H

#include "core/io/store.h"

/* The caller owns *store: hw_store_destroy(). `allocator` must outlive it. Errors: HW_NO_MEMORY. */
enum hw_status hw_memory_store_create(const struct hw_allocator *allocator, struct hw_store **store,
                                      struct hw_error *error);

#endif /* HW_IO_MEMORY_STORE_H */
