/* SPDX-License-Identifier: MIT */
/* SQLite's allocator, as the core takes one. */
#ifndef EXT_MEMORY_H
#define EXT_MEMORY_H

#include "core/highwater.h"

extern const struct hw_allocator ext_allocator;

#endif /* EXT_MEMORY_H */
