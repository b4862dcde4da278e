/* SPDX-License-Identifier: MIT */
#include "ext/files/kafka_tables.h"

#include "ext/files/vtab_kafka_scan.h"
#include "ext/files/vtab_kafka_table.h"

SQLITE_EXTENSION_INIT3

int kafka_tables_register(sqlite3 *db)
{
    int code = SQLITE_OK;

    for (size_t i = 0; code == SQLITE_OK && i < kafka_scan_table_count; i++) {
        code = vtab_kafka_scan_register(db, &kafka_scan_tables[i]);
    }
    for (size_t i = 0; code == SQLITE_OK && i < kafka_table_count; i++) {
        code = vtab_kafka_table_register(db, &kafka_tables[i]);
    }
    return code;
}

void kafka_tables_unregister(sqlite3 *db)
{
    for (size_t i = 0; i < kafka_scan_table_count; i++) {
        (void)sqlite3_create_module_v2(db, kafka_scan_tables[i].schema.name, NULL, NULL, NULL);
    }
    for (size_t i = 0; i < kafka_table_count; i++) {
        (void)sqlite3_create_module_v2(db, kafka_tables[i].schema.name, NULL, NULL, NULL);
    }
}

int vtab_kafka_declare(sqlite3 *db, const struct ext_schema *schema)
{
    int code = ext_schema_declare(db, schema);

    /* A schema that somebody else made must not read files. */
    return code == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) : code;
}

uint64_t vtab_kafka_hash(uint64_t hash, uint64_t more)
{
    /* SplitMix64's finisher. */
    uint64_t x = hash + more;

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t vtab_kafka_hash_text(const char *text)
{
    uint64_t hash = 0;

    for (const char *at = text; *at != '\0'; at++) {
        hash = vtab_kafka_hash(hash, (uint8_t)*at);
    }
    return hash;
}
