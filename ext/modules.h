/* SPDX-License-Identifier: MIT */
/* The modules that have methods of their own: those that are no read-only tables of tables.c, and
 * no tables over files (kafka_tables.h). */
#ifndef EXT_MODULES_H
#define EXT_MODULES_H

#include "ext/ext_schema.h"

#include <stddef.h>

struct ext_module {
    const struct ext_schema *schema;
    const sqlite3_module *module; /* Its client is the session. */
};

extern const struct ext_module ext_modules[];
extern const size_t ext_module_count;

#endif /* EXT_MODULES_H */
