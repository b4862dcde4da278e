/* SPDX-License-Identifier: MIT */
/* All tables of the extension. They are registered, and hw_help tells of them, in this order. */
#ifndef EXT_MODULES_H
#define EXT_MODULES_H

#include "ext/ext_schema.h"

#include <stddef.h>

/* The schema of that number, from 0 on; NULL behind the last one. */
const struct ext_schema *ext_module_at(size_t number);

#endif /* EXT_MODULES_H */
