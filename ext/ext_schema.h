/* SPDX-License-Identifier: MIT */
/*
 * What a table looks like: its columns and a line about each. A module is declared to SQLite from
 * it and hw_help shows it, so that neither can say something that the other does not.
 */
#ifndef EXT_SCHEMA_H
#define EXT_SCHEMA_H

#include <sqlite3ext.h>
#include <stdbool.h>

struct ext_column {
    const char *name;
    const char *type;    /* As SQLite is told: INTEGER, TEXT HIDDEN; "": each value has its own. */
    const char *summary; /* One line. */
};

struct ext_driver;

struct ext_schema {
    const char *name; /* Of the module. */
    const struct ext_driver *driver;
    bool is_module; /* It makes tables; it is none itself. */
    const char *signature;
    const char *use; /* As it stands behind FROM, for an example. */
    const char *summary;
    const char *example;
    const struct ext_column *columns;
    int column_count;
    /* Columns of a key, none of them ever NULL: the table has it instead of rowids. Or NULL. */
    const char *key;
};

/* The columns of a schema: an array. */
#define EXT_COLUMNS(array) .columns = (array), .column_count = sizeof(array) / sizeof((array)[0])

/* Declare the columns to SQLite, in xCreate or xConnect. Returns a code of SQLite; *message then says
 * which of its limits is too low. */
int ext_schema_declare(sqlite3 *db, const struct ext_schema *schema, char **message);

/* The constraint that the column of that name equals something, byte by byte if it is text; -1: there
 * is none that can be used. *waits becomes true where one cannot be used yet. */
int ext_schema_find_equality(const struct ext_schema *schema, const char *name,
                             sqlite3_index_info *info, bool *waits);

/* Columns that several tables have. */
#define EXT_COLUMN(column, type_of, line)                                                          \
    {                                                                                              \
        .name = (column), .type = (type_of), .summary = (line)                                     \
    }
#define EXT_COLUMN_TOPIC         EXT_COLUMN("topic", "TEXT", "the topic's name")
#define EXT_COLUMN_PARTITION     EXT_COLUMN("partition", "INTEGER", "the partition's number")
#define EXT_COLUMNS_OF_PARTITION EXT_COLUMN_TOPIC, EXT_COLUMN_PARTITION

/* The columns of a record in a log, whoever may see it: those that hw_log and kafka_log share. */
#define EXT_COLUMNS_OF_RECORD                                                                      \
    EXT_COLUMN_PARTITION, {"offset", "INTEGER", "the record's offset"},                            \
        {"leader_epoch", "INTEGER", "the epoch of the leader that took the record"},               \
        {"timestamp", "INTEGER", "milliseconds, of the producer or of the append; -1: none"},      \
        {"key", "", "TEXT where the bytes are UTF-8 without NUL, else BLOB; NULL: no key"},        \
        {"value", "", "as the key; NULL: a tombstone"},                                            \
        {"headers", "", "a JSON object in their order; {} if there are none"},                     \
        {"visibility", "TEXT",                                                                     \
         "why a consumer sees the record or not: visible, above_hw, above_lso, aborted, control, " \
         "below_log_start"},                                                                       \
        {"control", "TEXT", "what a control record says: COMMIT, ABORT, ...; else NULL"},          \
        {"producer_id", "INTEGER", "of an idempotent producer; else NULL"},                        \
        {"producer_epoch", "INTEGER", "the epoch of that producer id"},                            \
        {"sequence", "INTEGER", "the record's number among its producer's"},                       \
    {                                                                                              \
        "batch_base_offset", "INTEGER", "the first offset of the batch that holds it"              \
    }

/* The columns of a batch: those that hw_batches and kafka_batches share. */
#define EXT_COLUMNS_OF_BATCH                                                                       \
    {"base_offset", "INTEGER", "the offset of its first record"},                                  \
        {"last_offset", "INTEGER", "the offset of its last record"},                               \
        {"records", "INTEGER", "how many records it holds"},                                       \
        {"leader_epoch", "INTEGER", "the epoch of the leader that took the batch"},                \
        {"position", "INTEGER", "the byte of the segment file at which it begins"},                \
        {"size_bytes", "INTEGER", "its size in the file"},                                         \
        {"crc", "INTEGER", "the checksum that it carries"},                                        \
        {"crc_ok", "INTEGER", "1 if the checksum, computed anew, is right; 0: damage"},            \
        {"codec", "TEXT", "none, gzip, snappy, lz4 or zstd"},                                      \
        {"timestamp_type", "TEXT", "CreateTime or LogAppendTime"},                                 \
        {"base_timestamp", "INTEGER", "the timestamp that its records' count from"},               \
        {"max_timestamp", "INTEGER", "the largest timestamp of its records"},                      \
        {"producer_id", "INTEGER", "of an idempotent producer; else NULL"},                        \
        {"producer_epoch", "INTEGER", "the epoch of that producer id"},                            \
        {"base_sequence", "INTEGER", "the sequence number of its first record"},                   \
        {"is_transactional", "INTEGER", "1: part of a producer's transaction"},                    \
    {                                                                                              \
        "is_control", "INTEGER", "1: holds a COMMIT or ABORT instead of records"                   \
    }
enum { EXT_BATCH_COLUMN_COUNT = 17 };

#define EXT_COLUMN_BYTES_OF_BATCH                                                                  \
    EXT_COLUMN("bytes", "BLOB HIDDEN", "the batch as it lies in the file, for produce_batch()")

#endif /* EXT_SCHEMA_H */
