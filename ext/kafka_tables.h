/* SPDX-License-Identifier: MIT */
/* The tables over real Kafka files: kafka_log(path), kafka_batches(path), and so on. */
#ifndef EXT_KAFKA_TABLES_H
#define EXT_KAFKA_TABLES_H

#include <sqlite3ext.h>
#include <stdint.h>

/* Returns a code of SQLite; after an error some of them may be registered. */
int kafka_tables_register(sqlite3 *db);
void kafka_tables_unregister(sqlite3 *db);

/* Declare the columns and the hidden ones behind them, for a table that only statements of the user
 * may read. Returns a code of SQLite. */
int vtab_kafka_declare(sqlite3 *db, const char *columns, const char *hidden);

/* Hashes of rows, for their rowids: two are as unlikely to be equal as any of 64 bits. */
uint64_t vtab_kafka_hash(uint64_t hash, uint64_t more);
uint64_t vtab_kafka_hash_text(const char *text);

#endif /* EXT_KAFKA_TABLES_H */
