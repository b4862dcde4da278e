/* SPDX-License-Identifier: MIT */
/* One driver for all read-only tables of tables.c. */
#ifndef EXT_VTAB_TABLE_H
#define EXT_VTAB_TABLE_H

#include "ext/ext_session.h"
#include "ext/tables/tables.h"

/* Register the table as an eponymous module. On success SQLite holds a reference to the session; on
 * an error nothing is registered. Returns a code of SQLite. */
int vtab_table_register(struct ext_session *session, const struct ext_table *definition);

#endif /* EXT_VTAB_TABLE_H */
