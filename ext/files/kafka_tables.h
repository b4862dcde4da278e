/* SPDX-License-Identifier: MIT */
/* The tables over real Kafka files: kafka_log(path), kafka_batches(path), and so on. */
#ifndef EXT_KAFKA_TABLES_H
#define EXT_KAFKA_TABLES_H

#include "ext/ext_schema.h"

#include <sqlite3ext.h>
#include <stdint.h>

/* Returns a code of SQLite; after an error some of them may be registered. */
int kafka_tables_register(sqlite3 *db);
void kafka_tables_unregister(sqlite3 *db);

/* Declare the columns of a table that only statements of the user may read. Returns a code of
 * SQLite. */
int vtab_kafka_declare(sqlite3 *db, const struct ext_schema *schema);

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
        "path", "HIDDEN", "the argument"                                                           \
    }

/* Hashes of rows, for their rowids: two are as unlikely to be equal as any of 64 bits. */
uint64_t vtab_kafka_hash(uint64_t hash, uint64_t more);
uint64_t vtab_kafka_hash_text(const char *text);

#endif /* EXT_KAFKA_TABLES_H */
