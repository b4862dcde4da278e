/* SPDX-License-Identifier: MIT */
/* One driver for all read-only tables of tables.c. */
#ifndef EXT_VTAB_TABLE_H
#define EXT_VTAB_TABLE_H

#include "ext/ext_session.h"
#include "ext/ext_vtab.h"

/* Its schemas are those of struct ext_table. */
extern const struct ext_driver vtab_table_driver;

#endif /* EXT_VTAB_TABLE_H */
