/* SPDX-License-Identifier: MIT */
/* What the tables over real Kafka files share: kafka_log(path), kafka_batches(path), and so on. */
#ifndef EXT_KAFKA_TABLES_H
#define EXT_KAFKA_TABLES_H

#include "ext/ext_schema.h"

#include <sqlite3ext.h>
#include <stdbool.h>

/* Columns that these tables have. */
#define KAFKA_COLUMN_FILE                                                                          \
    {                                                                                              \
        "file", "TEXT", "the file in which it is"                                                  \
    }
#define KAFKA_COLUMN_ERROR                                                                         \
    {                                                                                              \
        "error", "TEXT", "what is wrong there, and at which byte; else NULL"                       \
    }
#define KAFKA_COLUMN_PATH                                                                          \
    {                                                                                              \
        "of_path", "HIDDEN", "the argument"                                                        \
    }
#define KAFKA_COLUMN_ROW_NUMBER                                                                    \
    {                                                                                              \
        "row_number", "INTEGER HIDDEN", "what tells rows of one place apart, from 0"               \
    }

/*
 * Whether the constraint is for a hidden column that is no argument, being behind the last of them:
 * SQLite hands a call with too many arguments on so. The table's message then says it, and the
 * caller returns SQLITE_ERROR.
 */
bool vtab_kafka_refuses(sqlite3_vtab *vtab, const struct ext_schema *schema,
                        const struct sqlite3_index_constraint *constraint, int first_no_argument);

#endif /* EXT_KAFKA_TABLES_H */
