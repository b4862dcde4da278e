/* SPDX-License-Identifier: MIT */
/* The tables over real Kafka files, all of them: kafka_log(path), kafka_batches(path), and so on.
 */
#ifndef EXT_KAFKA_TABLES_H
#define EXT_KAFKA_TABLES_H

#include <sqlite3ext.h>

/* Returns a code of SQLite; after an error some of them may be registered. */
int kafka_tables_register(sqlite3 *db);
void kafka_tables_unregister(sqlite3 *db);

#endif /* EXT_KAFKA_TABLES_H */
