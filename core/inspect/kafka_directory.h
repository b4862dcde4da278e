/* SPDX-License-Identifier: MIT */
/*
 * What a path of real Kafka data is: one file, the directory of a partition, or a log directory
 * with many of those.
 *
 *     /data/kafka-logs                                    log directory: all live partitions
 *     /data/kafka-logs/orders-0                           one partition
 *     /data/kafka-logs/orders-0/00000000000000000000.log  one file
 *
 * Names are all that counts; nothing is written, locked or kept open. Where a broker is at work,
 * things come and go while they are listed: what is gone when its turn comes is left out.
 *
 * Source: LocalLog.parseTopicPartitionName, LogFileUtils (kafka formats 4.1, 5.4).
 */
#ifndef HW_INSPECT_KAFKA_DIRECTORY_H
#define HW_INSPECT_KAFKA_DIRECTORY_H

#include "core/io/store.h"

enum hw_kafka_path_kind { HW_KAFKA_FILE, HW_KAFKA_PARTITION, HW_KAFKA_LOG_DIRECTORY };

/* What a partition's directory is for, as its name says. */
enum hw_kafka_partition_state {
    HW_KAFKA_LIVE,
    HW_KAFKA_DELETE, /* orders-0.<id>-delete: waits for its files to be deleted. */
    HW_KAFKA_STRAY,  /* ...-stray: the controller knows nothing of it. */
    HW_KAFKA_FUTURE  /* ...-future: being copied from another disk. */
};

struct hw_kafka_partition {
    char *path;
    char *topic;       /* NULL: the name is no partition's. */
    int32_t partition; /* -1 with topic NULL. */
    enum hw_kafka_partition_state state;
};

struct hw_kafka_directory {
    const struct hw_allocator *allocator;
    enum hw_kafka_path_kind kind;
    /* Sorted by topic and partition. One, if the path is no log directory; for a file, the
     * directory that it is in. */
    struct hw_kafka_partition *partitions;
    size_t count;
    size_t capacity;
};

/*
 * Find out what `path` is. With `only_live` a log directory has only the partitions whose names
 * have no suffix. Release in any case. Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND.
 */
enum hw_status hw_kafka_directory_open(struct hw_kafka_directory *directory,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const char *path, bool only_live, struct hw_error *error);
void hw_kafka_directory_release(struct hw_kafka_directory *directory);

/*
 * Whether what the path names looks as a broker left it, so that offsets can be relied on to grow:
 * a log directory with its checkpoints or meta.properties, a partition or file with an offset
 * index. A file that somebody has put together may have its batches in any order. A path that is
 * none is not orderly. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_kafka_path_is_orderly(const struct hw_allocator *allocator,
                                        struct hw_store *store, const char *path, bool *is_orderly,
                                        struct hw_error *error);

/* Forget all partitions but the first `count`. */
void hw_kafka_directory_cut(struct hw_kafka_directory *directory, size_t count);

/*
 * Take a partition directory's name apart. Returns false if it is none. *topic_size characters of
 * the name are the topic; of a directory that is -delete or -stray they may be cut short.
 */
bool hw_kafka_partition_name_parse(const char *name, size_t *topic_size, int32_t *partition,
                                   enum hw_kafka_partition_state *state);

/* "live", "delete", "stray" or "future". */
const char *hw_kafka_partition_state_name(enum hw_kafka_partition_state state);

/*
 * List what is in a partition's directory. *names is set to an empty list first; release it in any
 * case. A directory that is gone, or is a file, is empty. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_kafka_partition_list(const struct hw_kafka_partition *partition,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       struct hw_name_list *names, struct hw_error *error);

/* Whether what has a partition directory's name is a file. */
bool hw_kafka_partition_is_file(const struct hw_kafka_partition *partition, struct hw_store *store);

/* What follows the last slash of a path, and the size of what stands before it (0: nothing). */
const char *hw_kafka_base_name(const char *path);
size_t hw_kafka_parent_size(const char *path);

#endif /* HW_INSPECT_KAFKA_DIRECTORY_H */
