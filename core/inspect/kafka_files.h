/* SPDX-License-Identifier: MIT */
/*
 * The files of one directory of a broker, partition's or log directory: what each is, how large,
 * and what the next start would do with it.
 *
 *     a log directory          its files, and the directories that are no partition's
 *     a partition's directory  itself first, then its files
 */
#ifndef HW_INSPECT_KAFKA_FILES_H
#define HW_INSPECT_KAFKA_FILES_H

#include "core/inspect/file_kind.h"
#include "core/inspect/segment_list.h"

/* ------------------------------------------------------------------- a start: partition_start.c */

/*
 * What the next start of a broker would do with the files of one partition, by their names and as
 * little of their bytes as the start itself looks at before it recovers segments: which batches
 * that then cuts is not told here.
 *
 *     1  *.deleted and *.cleaned go, and a .swap at or above the smallest .cleaned
 *     2  what other .swap files were made from goes; they lose that ending
 *     3  indexes without a .log go; each .log is loaded
 *     4  without a clean shutdown segments are recovered from the recovery point on
 *     5  producer snapshots: those of segments stay, and one behind them all
 *
 * Source: LogLoader.load, LogManager.loadLog, ProducerStateManager.removeStraySnapshots and
 * truncateAndReload, KafkaMetadataLog.recoverSnapshots (kafka formats 7.2); tried with Kafka 4.4.
 */

/* All fields are its own. */
struct hw_partition_start {
    const struct hw_kafka_partition *partition;
    const struct hw_name_list *names;
    struct hw_segment_list segments;
    bool is_metadata;           /* Of the cluster: KRaft has a loader of its own. */
    hw_offset_t recovered_from; /* The base offset of the first segment that is; INT64_MAX: none. */
    hw_offset_t log_start;
    hw_offset_t log_end;           /* HW_OFFSET_NONE: there is no segment that can be read. */
    hw_offset_t metadata_snapshot; /* The end of the newest one; HW_OFFSET_NONE: there is none. */
    hw_offset_t replayed_from; /* The first segment that is recovered for any reason; INT64_MAX. */
    /* Of the producer snapshots without a segment the last one, and the one that is loaded. */
    hw_offset_t stray_snapshot;
    hw_offset_t loaded_snapshot;
};

/* Look at a partition whose directory has these names, sorted; all must outlive it. Close it in any
 * case. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_partition_start_open(struct hw_partition_start *start,
                                       const struct hw_kafka_partition *partition,
                                       const struct hw_name_list *names, struct hw_error *error);
void hw_partition_start_close(struct hw_partition_start *start);

/* What becomes of one of the names, a file of that kind. Errors: HW_NO_MEMORY, HW_IO,
 * HW_NOT_FOUND. */
enum hw_status hw_partition_start_tell(struct hw_partition_start *start, const char *name,
                                       enum hw_file_kind kind, struct hw_file_fate *fate,
                                       struct hw_error *error);

/* What becomes of the directory. */
void hw_partition_start_tell_directory(const struct hw_partition_start *start,
                                       struct hw_file_fate *fate);

/* ---------------------------------------------------------------------------------- the files */

struct hw_kafka_file {
    char path[HW_PATH_MAX];
    enum hw_file_kind kind;
    hw_offset_t offset; /* What its name begins with; HW_OFFSET_NONE: no number. */
    /* -1: it is a directory, or cannot be looked at. */
    int64_t size_bytes;
    int64_t used_bytes; /* Up to its last entry, or of a .log its last whole batch; as asked for. */
    int64_t allocated_bytes;
    struct hw_file_fate fate;
    char error[HW_ERROR_MESSAGE_SIZE_BYTES]; /* Why it cannot be read; empty if it can. */
};

/* All fields are its own. */
struct hw_kafka_files {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    const struct hw_kafka_partition *partition; /* NULL: a log directory. */
    const char *path;
    bool wants_used;
    struct hw_name_list names;
    struct hw_partition_start start;
    struct hw_error unread; /* Why a partition's directory cannot be read; its row says so. */
    bool is_begun;          /* The row of the directory has come. */
    size_t at;
};

/* List the directory `path`, that of `partition` unless it is NULL; all must outlive it. Close it
 * in any case. Errors: HW_NO_MEMORY; HW_IO, for a log directory. */
enum hw_status hw_kafka_files_open(struct hw_kafka_files *files,
                                   const struct hw_allocator *allocator, struct hw_store *store,
                                   const struct hw_kafka_partition *partition, const char *path,
                                   bool wants_used, struct hw_error *error);
void hw_kafka_files_close(struct hw_kafka_files *files);

/* The next one; *found is false at the end. What is gone since it was listed is left out, and what
 * cannot be read says so. Errors: HW_NO_MEMORY. */
enum hw_status hw_kafka_files_next(struct hw_kafka_files *files, struct hw_kafka_file *file,
                                   bool *found, struct hw_error *error);

#endif /* HW_INSPECT_KAFKA_FILES_H */
