/* SPDX-License-Identifier: MIT */
#include "ext/kafka_tables.h"

#include "ext/vtab_kafka_scan.h"

SQLITE_EXTENSION_INIT3

int kafka_tables_register(sqlite3 *db)
{
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < kafka_scan_table_count; i++) {
        code = vtab_kafka_scan_register(db, &kafka_scan_tables[i]);
    }
    return code;
}

void kafka_tables_unregister(sqlite3 *db)
{
    for (size_t i = 0; i < kafka_scan_table_count; i++) {
        (void)sqlite3_create_module_v2(db, kafka_scan_tables[i].name, NULL, NULL, NULL);
    }
}
