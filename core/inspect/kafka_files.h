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

#include "core/inspect/partition_start.h"

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

/* List the directory `path`, that of `partition` unless it is NULL; all must outlive it. Close it in
 * any case. Errors: HW_NO_MEMORY; HW_IO, for a log directory. */
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
