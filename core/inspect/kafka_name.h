/* SPDX-License-Identifier: MIT */
/*
 * Names of directories and files of a broker.
 *
 *     orders-0    orders-0.<id>-delete    orders-0.<id>-stray    orders-0.<id>-future
 *     00000000000000000100.log    .index    .timeindex    .txnindex    perhaps with .swap behind
 *
 * Source: LocalLog.parseTopicPartitionName, LogFileUtils (kafka formats 4.1, 5.4).
 */
#ifndef HW_INSPECT_KAFKA_NAME_H
#define HW_INSPECT_KAFKA_NAME_H

#include "core/io/store.h"

/* What a partition's directory is for, as its name says. */
enum hw_kafka_partition_state {
    HW_KAFKA_LIVE,
    HW_KAFKA_DELETE, /* orders-0.<id>-delete: waits for its files to be deleted. */
    HW_KAFKA_STRAY,  /* ...-stray: the controller knows nothing of it. */
    HW_KAFKA_FUTURE  /* ...-future: being copied from another disk. */
};

/*
 * Take a partition directory's name apart. Returns false if it is none. *topic_size characters of
 * the name are the topic; of a directory that is -delete or -stray they may be cut short.
 */
bool hw_kafka_partition_name_parse(const char *name, size_t *topic_size, int32_t *partition,
                                   enum hw_kafka_partition_state *state);

/* The directory in a log directory in which remote storage has its indexes. */
#define HW_KAFKA_REMOTE_INDEXES "remote-log-index-cache"

/* Whether a directory of that name in a log directory keeps a broker from starting. One that Kafka
 * takes for a partition's does not, even if it gives none such a name: "t-01", "a b-0". Source:
 * LogManager.loadLogs, LocalLog.parseTopicPartitionName. */
bool hw_kafka_is_intruder(const char *name);

/* "live", "delete", "stray" or "future". */
const char *hw_kafka_partition_state_name(enum hw_kafka_partition_state state);

/* Whether a file of this name is found in the directories of partitions only. */
bool hw_kafka_is_partition_file(const char *name);

/* Whether a file of this name is found in log directories only. */
bool hw_kafka_is_log_directory_file(const char *name);

/* Whether any of the names is one of those. */
bool hw_kafka_any_name(const struct hw_name_list *names, bool (*is_one)(const char *name));

/* What follows the last slash of a path, the size of what stands before it (0: nothing), and the
 * size of the path without the slashes at its end. */
const char *hw_kafka_base_name(const char *path);
size_t hw_kafka_parent_size(const char *path);
size_t hw_kafka_trimmed_size(const char *path);

/* The path of a file beside a partition's directory: of its log directory. Errors: HW_MISUSE. */
enum hw_status hw_kafka_path_beside(char beside[HW_PATH_MAX], const char *path, const char *name,
                                    struct hw_error *error);

/* A segment of a partition. */
struct hw_segment_item {
    hw_offset_t base_offset;
    bool is_swap; /* Its files still end with ".swap". */
};

/* The files of one segment. */
struct hw_segment_paths {
    bool is_named; /* The name tells the base offset; otherwise there is a log only. */
    hw_offset_t base_offset;
    char log[HW_PATH_MAX];
    char index[HW_PATH_MAX]; /* Empty: there is none, or it is not to be used; likewise time. */
    char time[HW_PATH_MAX];
    char transactions[HW_PATH_MAX];
};

/* The files of a segment in a directory. Errors: HW_MISUSE if a path is too long. */
enum hw_status hw_segment_paths_format(struct hw_segment_paths *paths, const char *directory,
                                       struct hw_segment_item item, struct hw_error *error);

/* The files of the segment that `file`, of any kind, belongs to, with the same ".deleted" and the
 * like. A file with another name is a log by itself. Errors: HW_MISUSE if a path is too long. */
enum hw_status hw_segment_paths_of_file(struct hw_segment_paths *paths, const char *file,
                                        struct hw_error *error);

/* --------------------------------------------------------------------- patterns: path_pattern.c */

/*
 * Paths with '*' and '?' in them, as a shell takes them.
 *
 *     /disks/?/kafka-logs/orders-*    every path there is that fits, sorted
 *     /data/odd*name                  itself, if there is such a path
 *
 * '*' stands for any characters but '/', '?' for one; neither for a dot that begins a name.
 */

/* Whether the text has a '*' or '?'. */
bool hw_path_is_pattern(const char *text);

/*
 * Add the paths that fit to `paths`, which the caller has set to {.allocator = ...} or filled. A
 * path that is no pattern is added as it is. Errors: HW_NO_MEMORY, HW_MISUSE if one is too long;
 * HW_NOT_FOUND if none fits.
 */
enum hw_status hw_path_expand(struct hw_store *store, const char *pattern,
                              struct hw_name_list *paths, struct hw_error *error);

#endif /* HW_INSPECT_KAFKA_NAME_H */
