/* SPDX-License-Identifier: MIT */
/*
 * What paths of real Kafka data are: files, directories of partitions, or log directories with many
 * of those.
 *
 *     /data/kafka-logs                                    log directory: all live partitions
 *     /data/kafka-logs/orders-0                           one partition
 *     /data/kafka-logs/orders-0/00000000000000000000.log  one file
 *
 * Nothing is written, locked or kept open. Where a broker is at work, things come and go while they
 * are listed: what is gone when its turn comes is left out.
 */
#ifndef HW_INSPECT_KAFKA_DIRECTORY_H
#define HW_INSPECT_KAFKA_DIRECTORY_H

#include "core/inspect/kafka_name.h"
#include "core/io/store.h"

enum hw_kafka_path_kind { HW_KAFKA_FILE, HW_KAFKA_PARTITION, HW_KAFKA_LOG_DIRECTORY };

struct hw_checkpoint_file;

/* The files as they were when they were first asked for. Use through the functions. */
struct hw_checkpoint_memo {
    const struct hw_allocator *allocator;
    struct hw_checkpoint_file *files;
    size_t count;
    size_t capacity;
};

struct hw_kafka_partition {
    const struct hw_allocator *allocator; /* Whose memory is for reading it, and from where. */
    struct hw_store *store;
    char *path;        /* Its directory. */
    char *file;        /* The one file of it that is meant; NULL: all of them. */
    char *fault;       /* Why nothing below the path can be read; NULL. */
    char *topic;       /* NULL: the name is no partition's. */
    int32_t partition; /* -1 with topic NULL. */
    enum hw_kafka_partition_state state;
    size_t root;                     /* The path that it was found by. */
    struct hw_checkpoint_memo *memo; /* Of its directory; NULL: none. */
};

/* One of the paths. */
struct hw_kafka_root {
    char *path;
    enum hw_kafka_path_kind kind;
    bool has_fault; /* It could not be read, or has no partition. */
};

struct hw_kafka_directory {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    struct hw_kafka_root *roots; /* In the order of the paths. */
    size_t root_count;
    size_t root_capacity;
    /* Sorted by topic and partition, those without a topic first; none is there twice. */
    struct hw_kafka_partition *partitions;
    size_t count;
    size_t capacity;
    struct hw_checkpoint_memo *memo; /* What is read of checkpoints, for all of them. */
};

struct hw_kafka_directory_options {
    bool only_live;      /* Of a log directory only the partitions whose names have no suffix. */
    bool wants_segments; /* A file that is no .log is an error. */
    bool is_list;        /* What is wrong with one path hides no other: it is a fault. */
};

/*
 * Find out what the paths are. Release in any case. Errors: HW_NO_MEMORY; unless it is a list,
 * HW_IO, HW_NOT_FOUND where there is nothing, or a directory without any partition: the message
 * names log directories below it; HW_REFUSED with INVALID_REQUEST.
 */
enum hw_status hw_kafka_directory_open(struct hw_kafka_directory *directory,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_name_list *paths,
                                       const struct hw_kafka_directory_options *options,
                                       struct hw_error *error);
void hw_kafka_directory_release(struct hw_kafka_directory *directory);

/* Why a path, by its number, could not be read; NULL: it could. */
const char *hw_kafka_root_fault(const struct hw_kafka_directory *directory, size_t number);

/*
 * Whether what the path names looks as a broker left it, so that offsets can be relied on to grow:
 * a log directory with its checkpoints or meta.properties, a partition or file with an offset
 * index. A file that somebody has put together may have its batches in any order. A path that is
 * none is not orderly. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_kafka_path_is_orderly(const struct hw_allocator *allocator,
                                        struct hw_store *store, const char *path, bool *is_orderly,
                                        struct hw_error *error);

/* Whether it is the log of the cluster's metadata, which has a loader of its own. */
bool hw_kafka_partition_is_metadata(const struct hw_kafka_partition *partition);

/* Forget all partitions but the first `count`. */
void hw_kafka_directory_cut(struct hw_kafka_directory *directory, size_t count);

/*
 * List what is in a partition's directory. *names is set to an empty list first; release it in any
 * case. A directory that is gone is empty. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_kafka_partition_list(const struct hw_kafka_partition *partition,
                                       struct hw_name_list *names, struct hw_error *error);

/*
 * kafka_nearby.c: expect `path`, a directory with these names in it, to be a log directory: it has
 * a broker's files or the directory of a partition. Errors: HW_NO_MEMORY; HW_NOT_FOUND if it is
 * none, with some of those below it in the message.
 */
enum hw_status hw_kafka_expect_log_directory(const struct hw_allocator *allocator,
                                             struct hw_store *store, const char *path,
                                             const struct hw_name_list *names,
                                             struct hw_error *error);

/* --------------------------------------------------------- checkpoints: partition_checkpoint.c */

/*
 * What the offset checkpoints of a log directory say of its partitions. Each has a line for every
 * partition, so who asks for many reads a file once:
 *
 *     hw_kafka_directory        its partitions share a memo
 *       memo                    the files read so far, by topic and partition
 */
void hw_checkpoint_memo_release(struct hw_checkpoint_memo *memo);

/*
 * The offset that a checkpoint of the log directory has for the partition, or `missing`: the last
 * one counts, as in Kafka. A file that is missing or damaged has none, unless the caller
 * `is_strict`, as a start is, which relies on the whole file. The partition's memo keeps what was
 * read; without one the file is read. Errors: HW_NO_MEMORY, HW_INTERRUPTED, HW_MISUSE; if strict
 * also HW_NOT_FOUND, HW_IO, HW_CORRUPT where any line of it is damaged.
 */
enum hw_status hw_partition_checkpoint(const struct hw_kafka_partition *partition,
                                       const char *checkpoint, bool is_strict, hw_offset_t missing,
                                       hw_offset_t *offset, struct hw_error *error);

#endif /* HW_INSPECT_KAFKA_DIRECTORY_H */
