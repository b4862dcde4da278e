/* SPDX-License-Identifier: MIT */
/* The list of tables over real files, but for those of tables_kafka_scan.c: columns, help, code. */
#include "ext/files/kafka_tables.h"
#include "ext/files/vtab_kafka_table.h"

#define COLUMN_ENTRY                                                                               \
    {                                                                                              \
        "entry", "INTEGER", "the number of the entry, from 0"                                      \
    }
#define COLUMN_OK                                                                                  \
    {                                                                                              \
        "ok", "INTEGER", "1 if the log bears the entry out"                                        \
    }

static const struct ext_column segments[] = {
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"base_offset", "INTEGER", "the offset that names it"},
    {"next_offset", "INTEGER", "the first offset behind its last good batch"},
    {"size_bytes", "INTEGER", "the size of its .log file"},
    {"index_entries", "INTEGER", "entries of its offset index; NULL: none that can be opened"},
    {"time_index_entries", "INTEGER", "entries of its time index; NULL: none that can be opened"},
    {"batches", "INTEGER", "how many good batches it holds"},
    {"records", "INTEGER", "how many records these hold"},
    {"max_timestamp", "INTEGER", "the largest timestamp of them; -1: none"},
    {"trailing_bytes", "INTEGER", "bytes behind the last good batch"},
    {"damaged", "INTEGER", "stretches that are no good batch"},
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    {"index_bytes", "INTEGER", "the size of its offset index; NULL: none that can be opened"},
    {"time_index_bytes", "INTEGER", "the size of its time index; NULL: none that can be opened"},
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column indexes[] = {
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    COLUMN_ENTRY,
    {"offset", "INTEGER", "the offset that the entry says"},
    {"position", "INTEGER", "the byte of the .log file that the entry says"},
    {"batch_last_offset", "INTEGER", "the last offset of the batch that begins there"},
    COLUMN_OK,
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column time_indexes[] = {
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    COLUMN_ENTRY,
    {"timestamp", "INTEGER", "the timestamp that the entry says"},
    {"offset", "INTEGER", "the offset that the entry says"},
    {"batch_max_timestamp", "INTEGER", "the largest timestamp of the batch that holds the offset"},
    {"batch_last_offset", "INTEGER", "the last offset of that batch"},
    COLUMN_OK,
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column aborted[] = {
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    COLUMN_ENTRY,
    {"producer_id", "INTEGER", "whose transaction it was"},
    {"first_offset", "INTEGER", "the first offset of the transaction"},
    {"last_offset", "INTEGER", "the offset of its ABORT"},
    {"last_stable_offset", "INTEGER", "the last stable offset when it was aborted"},
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column epochs[] = {
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"epoch", "INTEGER", "the leader epoch"},
    {"start_offset", "INTEGER", "its first offset"},
    {"end_offset", "INTEGER", "the first offset behind it; of the last one the log end"},
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column producers[] = {
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"snapshot_offset", "INTEGER", "the offset up to which the snapshot counts"},
    {"producer_id", "INTEGER", "the producer"},
    {"producer_epoch", "INTEGER", "its epoch"},
    {"last_sequence", "INTEGER", "the sequence number of its last record"},
    {"last_offset", "INTEGER", "the offset of its last record"},
    {"offset_delta", "INTEGER", "the length of its last batch, less 1"},
    {"timestamp", "INTEGER", "the timestamp of its last batch"},
    {"coordinator_epoch", "INTEGER", "the epoch of its transaction coordinator"},
    {"txn_first_offset", "INTEGER", "where its open transaction begins; NULL: none is open"},
    {"crc_ok", "INTEGER", "1 if the snapshot's checksum is right"},
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column checkpoints[] = {
    {"checkpoint", "TEXT", "the name of the file, as replication-offset-checkpoint"},
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"offset", "INTEGER", "the offset that the line says"},
    {"line", "INTEGER", "the number of the line, from 1"},
    KAFKA_COLUMN_FILE,
    KAFKA_COLUMN_ERROR,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column dirs[] = {
    {"dir", "TEXT", "the partition's directory"},
    EXT_COLUMN_TOPIC,
    EXT_COLUMN_PARTITION,
    {"state", "TEXT", "live, delete, stray or future, as its name says"},
    {"topic_id", "TEXT", "the topic's id, of partition.metadata"},
    {"segments", "INTEGER", "how many segments it has"},
    {"size_bytes", "INTEGER", "the size of their .log files"},
    {"log_start", "INTEGER", "the first offset of the log"},
    {"leo", "INTEGER", "the log end offset"},
    {"hw", "INTEGER", "the high watermark that the checkpoint says"},
    {"recovery_point", "INTEGER", "the recovery point that the checkpoint says"},
    {"node_id", "TEXT", "the broker's id, of meta.properties"},
    {"cluster_id", "TEXT", "the cluster's id, of meta.properties"},
    {"directory_id", "TEXT", "the log directory's id, of meta.properties"},
    {"clean_shutdown", "INTEGER", "1 if the broker said that it stopped cleanly"},
    {"error", "TEXT", "what is wrong with it; else NULL"},
    KAFKA_TABLE_HIDDEN,
};

#define TABLE(table, array, path, line, columns)                                                   \
    {                                                                                              \
        .name = (table), .driver = &vtab_kafka_table_driver, .signature = table "(path)",          \
        .use = table "('" path "')", .summary = (line),                                            \
        .example = "SELECT " columns " FROM " table "('" path "');", EXT_COLUMNS(array),           \
        .key = KAFKA_TABLE_KEY                                                                     \
    }

#define DIRECTORY "/data/kafka-logs"
#define PARTITION DIRECTORY "/orders-0"

const struct kafka_table kafka_tables[] = {
    {.schema =
         TABLE("kafka_segments", segments, DIRECTORY,
               "segment files in numbers: offsets, batches, records, damage, what trails behind",
               "base_offset, next_offset, trailing_bytes"),
     .item = KAFKA_EACH_SEGMENT,
     .wants_segments = true,
     .fill = fill_kafka_segments},
    {.schema = TABLE("kafka_index", indexes, DIRECTORY,
                     "what offset indexes say against what the log says", "file, entry, error"),
     .item = KAFKA_EACH_SEGMENT,
     .fill = fill_kafka_index},
    {.schema = TABLE("kafka_timeindex", time_indexes, DIRECTORY,
                     "what time indexes say against what the log says", "file, entry, error"),
     .item = KAFKA_EACH_SEGMENT,
     .fill = fill_kafka_timeindex},
    {.schema = TABLE("kafka_aborted", aborted, PARTITION, "aborted transactions, by the indexes",
                     "producer_id, first_offset, last_offset"),
     .item = KAFKA_EACH_SEGMENT,
     .fill = fill_kafka_aborted},
    {.schema = TABLE("kafka_epochs", epochs, PARTITION, "the leader epochs of partitions",
                     "epoch, start_offset"),
     .item = KAFKA_EACH_PARTITION,
     .fill = fill_kafka_epochs},
    {.schema = TABLE("kafka_producers", producers, PARTITION,
                     "producer snapshots: sequences and open transactions",
                     "producer_id, txn_first_offset"),
     .item = KAFKA_EACH_PARTITION,
     .fill = fill_kafka_producers},
    {.schema = TABLE("kafka_checkpoint", checkpoints, DIRECTORY,
                     "offset checkpoints of a log directory, line by line",
                     "checkpoint, topic, \"partition\", \"offset\""),
     .item = KAFKA_EACH_PATH,
     .fill = fill_kafka_checkpoint},
    {.schema = TABLE("kafka_dirs", dirs, DIRECTORY, "the partitions in a log directory",
                     "dir, state, leo, hw"),
     .item = KAFKA_EACH_PATH,
     .fill = fill_kafka_dirs},
};

const size_t kafka_table_count = sizeof kafka_tables / sizeof kafka_tables[0];
