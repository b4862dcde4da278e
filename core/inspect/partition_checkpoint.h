/* SPDX-License-Identifier: MIT */
/*
 * What the offset checkpoints of a log directory say of its partitions. Each has a line for every
 * partition, so who asks for many reads a file once:
 *
 *     hw_kafka_directory        its partitions share a memo
 *       memo                    the files read so far, sorted by topic and partition
 */
#ifndef HW_INSPECT_PARTITION_CHECKPOINT_H
#define HW_INSPECT_PARTITION_CHECKPOINT_H

#include "core/inspect/kafka_directory.h"

struct hw_checkpoint_file;

/* The files as they were when they were first asked for. Use through the functions. */
struct hw_checkpoint_memo {
    const struct hw_allocator *allocator;
    struct hw_checkpoint_file *files;
    size_t count;
    size_t capacity;
};

void hw_checkpoint_memo_release(struct hw_checkpoint_memo *memo);

/* The offset that a checkpoint of the log directory has for the partition, or `missing`: the last one
 * counts, as in Kafka. A file that is missing or damaged has none. The partition's memo keeps what
 * was read; without one the file is read. Errors: HW_NO_MEMORY, HW_INTERRUPTED, HW_MISUSE. */
enum hw_status hw_partition_checkpoint(const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_kafka_partition *partition,
                                       const char *checkpoint, hw_offset_t missing,
                                       hw_offset_t *offset, struct hw_error *error);

/* The same for a start, which relies on the whole file. Errors also: HW_NOT_FOUND, HW_IO, HW_CORRUPT
 * where any line of it is damaged. */
enum hw_status hw_partition_checkpoint_strictly(const struct hw_allocator *allocator,
                                                struct hw_store *store,
                                                const struct hw_kafka_partition *partition,
                                                const char *checkpoint, hw_offset_t missing,
                                                hw_offset_t *offset, struct hw_error *error);

#endif /* HW_INSPECT_PARTITION_CHECKPOINT_H */
