/* SPDX-License-Identifier: MIT */
/* The list of tables over real files, but for those of tables_kafka_scan.c: columns, help, code. */
#include "ext/files/vtab_kafka_table.h"

#define COLUMN_ENTRY EXT_COLUMN("entry", "INTEGER", "the number of the entry, from 0")
#define COLUMN_OK    EXT_COLUMN("ok", "INTEGER", "1 if the log bears the entry out")

static const struct ext_column kafka_segments[] = {
    EXT_COLUMNS_OF_PARTITION,
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
    KAFKA_COLUMNS_OF_FILE,
    {"index_bytes", "INTEGER", "the size of its offset index; NULL: none that can be opened"},
    {"time_index_bytes", "INTEGER", "the size of its time index; NULL: none that can be opened"},
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column indexes[] = {
    EXT_COLUMNS_OF_PARTITION,
    COLUMN_ENTRY,
    {"offset", "INTEGER", "the offset that the entry says"},
    {"position", "INTEGER", "the byte of the .log file that the entry says"},
    {"batch_last_offset", "INTEGER", "the last offset of the batch that begins there"},
    COLUMN_OK,
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column time_indexes[] = {
    EXT_COLUMNS_OF_PARTITION,
    COLUMN_ENTRY,
    {"timestamp", "INTEGER", "the timestamp that the entry says"},
    {"offset", "INTEGER", "the offset that the entry says"},
    {"batch_max_timestamp", "INTEGER", "the largest timestamp of the batch that holds the offset"},
    {"batch_last_offset", "INTEGER", "the last offset of that batch"},
    COLUMN_OK,
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column aborted[] = {
    EXT_COLUMNS_OF_PARTITION,
    COLUMN_ENTRY,
    {"producer_id", "INTEGER", "whose transaction it was"},
    {"first_offset", "INTEGER", "the first offset of the transaction"},
    {"last_offset", "INTEGER", "the offset of its ABORT"},
    {"last_stable_offset", "INTEGER", "the last stable offset when it was aborted"},
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column kafka_epochs[] = {
    EXT_COLUMNS_OF_PARTITION,
    {"epoch", "INTEGER", "the leader epoch"},
    {"start_offset", "INTEGER", "its first offset"},
    {"end_offset", "INTEGER", "the first offset behind it; of the last one the log end"},
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column kafka_producers[] = {
    EXT_COLUMNS_OF_PARTITION,
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
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column kafka_checkpoints[] = {
    {"checkpoint", "TEXT", "the name of the file, as replication-offset-checkpoint"},
    EXT_COLUMNS_OF_PARTITION,
    {"offset", "INTEGER", "the offset that the line says"},
    {"line", "INTEGER", "the number of the line, from 1"},
    KAFKA_COLUMNS_OF_FILE,
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column dirs[] = {
    {"dir", "TEXT", "the partition's directory"},
    EXT_COLUMNS_OF_PARTITION,
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

static const struct ext_column diff[] = {
    EXT_COLUMNS_OF_PARTITION,
    {"verdict", "TEXT",
     "same; start, longer, gaps, diverged: how they differ; only_a, only_b; other_topic"},
    {"ahead", "TEXT", "a or b: has the later last epoch, or of that the longer log; NULL: neither"},
    {"first_offset", "INTEGER", "where they first differ, above both log starts; NULL: nowhere"},
    {"epoch_a", "INTEGER", "the leader epoch of what a has there; NULL: nothing"},
    {"file_a", "TEXT", "the .log file in which that is"},
    {"position_a", "INTEGER", "the byte at which its batch begins"},
    {"epoch_b", "INTEGER", "the same of b"},
    {"file_b", "TEXT", "the same of b"},
    {"position_b", "INTEGER", "the same of b"},
    {"only_a", "TEXT", "offsets of what a has and b lacks, a JSON array of [first,last]"},
    {"only_a_records", "INTEGER", "how many records that are"},
    {"only_a_bytes", "INTEGER", "how many bytes they have"},
    {"only_b", "TEXT", "offsets of what b has and a lacks"},
    {"only_b_records", "INTEGER", "how many records that are"},
    {"only_b_bytes", "INTEGER", "how many bytes they have"},
    {"log_start_a", "INTEGER", "the first offset of a's log"},
    {"log_end_a", "INTEGER", "the log end of a"},
    {"log_start_b", "INTEGER", "the first offset of b's log"},
    {"log_end_b", "INTEGER", "the log end of b"},
    {"epochs_end", "INTEGER", "up to where both have the same leader epochs"},
    {"cut_a", "TEXT",
     "where a's log is cut if b leads, a JSON object by protocol; null: it stays as it is"},
    {"cut_b", "TEXT", "where b's log is cut if a leads"},
    {"topic_id_a", "TEXT", "the topic's id in a's partition.metadata"},
    {"topic_id_b", "TEXT", "the topic's id in b's"},
    {"dir_a", "TEXT", "a's directory of the partition, or file"},
    {"dir_b", "TEXT", "the same of b"},
    {"damaged_a", "INTEGER", "damaged stretches of a's log"},
    {"damaged_b", "INTEGER", "damaged stretches of b's log"},
    KAFKA_COLUMN_ERROR,
    {"path_a", "HIDDEN", "the first argument"},
    {"path_b", "HIDDEN", "the second argument"},
    KAFKA_COLUMN_ROW_NUMBER,
    {"bytes_read", "INTEGER HIDDEN", "what was read of logs and indexes for the row"},
};

static const struct ext_column recovery[] = {
    EXT_COLUMNS_OF_PARTITION,
    {"file", "TEXT", "the file in question; NULL: none"},
    {"problem", "TEXT", "what is wrong with it; NULL: nothing"},
    {"action", "TEXT", "what a start of Kafka would do; nothing, or refused"},
    {"bytes_cut", "INTEGER", "bytes that the log would lose by it"},
    {"first_lost_offset", "INTEGER", "the first offset that would go; NULL: none"},
    {"records_lost", "INTEGER", "records of good batches that would go"},
    {"leo", "INTEGER", "the log end offset after the start; NULL: it is refused"},
    {"clean_shutdown", "INTEGER", "1 if the broker said that it stopped cleanly"},
    {"bytes_read", "INTEGER", "bytes of segments that the start would read whole"},
    {"dir", "TEXT", "the partition's directory"},
    {"error", "TEXT", "why the partition would be refused; else NULL"},
    KAFKA_TABLE_HIDDEN,
};

static const struct ext_column files[] = {
    EXT_COLUMNS_OF_PARTITION,
    {"kind", "TEXT", "segment, index, snapshot, swap, checkpoint, partition, ...; or unknown"},
    {"offset", "INTEGER", "the number that its name begins with; else NULL"},
    {"size_bytes", "INTEGER", "how long it is; NULL: a directory"},
    {"used_bytes", "INTEGER", "up to its last entry, of a .log its last whole batch"},
    {"allocated_bytes", "INTEGER", "what it takes on the disk"},
    {"at_start", "TEXT",
     "at the next start: loaded, recovered, rebuilt, renamed, deleted, kept, ignored, offline, "
     "refused"},
    {"reason", "TEXT", "why, where the kind does not say it"},
    KAFKA_COLUMN_FILE,
    {"error", "TEXT", "what keeps Kafka from using it; else NULL"},
    KAFKA_TABLE_HIDDEN,
};

#define TABLE(table, array, path, line, shown) KAFKA_TABLE(table, array, "", path, line, shown)
#define DIRECTORY                              KAFKA_EXAMPLE_DIRECTORY
#define PARTITION                              DIRECTORY "/orders-0"

const struct kafka_table kafka_tables[] = {
    {.schema =
         TABLE("kafka_segments", kafka_segments, DIRECTORY,
               "segment files in numbers: offsets, batches, records, damage, what trails behind",
               "base_offset, next_offset, trailing_bytes"),
     .item = KAFKA_EACH_SEGMENT,
     .wants_segments = true,
     .fill = fill_kafka_segments},
    {.schema = TABLE("kafka_index", indexes, DIRECTORY,
                     "what offset indexes say against what the log says", "file, entry, error"),
     .item = KAFKA_EACH_SEGMENT,
     .takes = KAFKA_TAKES_SEGMENTS,
     .fill = fill_kafka_index},
    {.schema = TABLE("kafka_timeindex", time_indexes, DIRECTORY,
                     "what time indexes say against what the log says", "file, entry, error"),
     .item = KAFKA_EACH_SEGMENT,
     .takes = KAFKA_TAKES_SEGMENTS,
     .fill = fill_kafka_timeindex},
    {.schema = TABLE("kafka_aborted", aborted, PARTITION, "aborted transactions, by the indexes",
                     "producer_id, first_offset, last_offset"),
     .item = KAFKA_EACH_SEGMENT,
     .takes = KAFKA_TAKES_SEGMENTS,
     .fill = fill_kafka_aborted},
    {.schema = TABLE("kafka_epochs", kafka_epochs, PARTITION, "the leader epochs of partitions",
                     "epoch, start_offset"),
     .item = KAFKA_EACH_PARTITION,
     .fill = fill_kafka_epochs},
    {.schema = TABLE("kafka_producers", kafka_producers, PARTITION,
                     "producer snapshots: sequences and open transactions",
                     "producer_id, txn_first_offset"),
     .item = KAFKA_EACH_PARTITION,
     .fill = fill_kafka_producers},
    {.schema = TABLE("kafka_checkpoint", kafka_checkpoints, DIRECTORY,
                     "offset checkpoints of a log directory, line by line",
                     "checkpoint, topic, \"partition\", \"offset\""),
     .item = KAFKA_EACH_PATH,
     .fill = fill_kafka_checkpoint},
    {.schema = TABLE("kafka_dirs", dirs, DIRECTORY, "the partitions in a log directory",
                     "dir, state, leo, hw"),
     .item = KAFKA_EACH_PATH,
     .takes = KAFKA_TAKES_DIRECTORIES,
     .fill = fill_kafka_dirs},
    {.schema = {.name = "kafka_diff",
                .driver = &vtab_kafka_table_driver,
                .signature = "kafka_diff(path_a, path_b)",
                .use = "kafka_diff('/data/kafka-logs', '/copy/kafka-logs')",
                .summary = "two copies of partitions: where they differ, what one lacks, what a "
                           "leader would cut",
                .example = "SELECT topic, \"partition\", verdict, first_offset FROM "
                           "kafka_diff('/data/kafka-logs', '/copy/kafka-logs') WHERE verdict "
                           "<> 'same';",
                EXT_COLUMNS(diff),
                .key = "path_a, path_b, row_number"},
     .item = KAFKA_ALL_PATHS,
     .wants_segments = true,
     .fill = fill_kafka_diff,
     .argument_count = 1,
     .has_bytes_read = true},
    {.schema =
         TABLE("kafka_recovery", recovery, DIRECTORY,
               "what a start of Kafka would cut, rebuild, delete or refuse; nothing is written",
               "topic, file, problem, action, records_lost"),
     .item = KAFKA_EACH_PARTITION,
     .takes = KAFKA_TAKES_DIRECTORIES,
     .fill = fill_kafka_recovery},
    {.schema = TABLE("kafka_files", files, DIRECTORY,
                     "each file that lies there, and what Kafka does with it at its next start",
                     "file, kind, at_start, reason"),
     .item = KAFKA_EACH_PATH,
     .fill = fill_kafka_files},
};

const size_t kafka_table_count = sizeof kafka_tables / sizeof kafka_tables[0];
