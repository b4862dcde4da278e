/* SPDX-License-Identifier: MIT */
#include "ext/ext_memory.h"

#include <sqlite3ext.h>

SQLITE_EXTENSION_INIT3

static void *memory_resize(void *context, void *block, size_t size_old, size_t size_new)
{
    (void)context;
    (void)size_old;
    if (size_new == 0) {
        sqlite3_free(block);
        return NULL;
    }
    return sqlite3_realloc64(block, size_new);
}

const struct hw_allocator ext_allocator = {.context = NULL, .resize = memory_resize};
