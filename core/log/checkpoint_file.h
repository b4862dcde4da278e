/* SPDX-License-Identifier: MIT */
/*
 * Kafka's small text files: a version line, a count line, then one entry a line.
 *
 *     leader-epoch-checkpoint            epoch start_offset           one a partition directory
 *     replication-offset-checkpoint      topic partition offset       one a broker, of the HW
 *     recovery-point-offset-checkpoint   topic partition offset       one a broker
 *     log-start-offset-checkpoint        topic partition offset       one a broker
 *
 * Always written whole: <file>.tmp, fsync, rename, fsync of the directory. An empty file has no
 * entries. Source: CheckpointFile, LeaderEpochCheckpointFile, OffsetCheckpointFile
 * (kafka formats, section 5).
 */
#ifndef HW_LOG_CHECKPOINT_FILE_H
#define HW_LOG_CHECKPOINT_FILE_H

#include "core/io/store.h"
#include "core/log/epoch_cache.h"

struct hw_offset_checkpoint_entry {
    char topic[HW_TOPIC_NAME_MAX + 1];
    int32_t partition;
    hw_offset_t offset;
};

struct hw_offset_checkpoint {
    const struct hw_allocator *allocator;
    struct hw_offset_checkpoint_entry *entries;
    size_t count;
    size_t capacity;
};

void hw_offset_checkpoint_init(struct hw_offset_checkpoint *checkpoint,
                               const struct hw_allocator *allocator);
void hw_offset_checkpoint_release(struct hw_offset_checkpoint *checkpoint);

/* Set the offset of a partition, replacing an earlier one. Errors: HW_NO_MEMORY. */
enum hw_status hw_offset_checkpoint_set(struct hw_offset_checkpoint *checkpoint, const char *topic,
                                        int32_t partition, hw_offset_t offset,
                                        struct hw_error *error);

/* Take the entry of a partition out, or with -1 those of all partitions of the topic. Returns
 * whether there was one. */
bool hw_offset_checkpoint_remove(struct hw_offset_checkpoint *checkpoint, const char *topic,
                                 int32_t partition);

/* The offset of a partition, or `missing`. */
hw_offset_t hw_offset_checkpoint_get(const struct hw_offset_checkpoint *checkpoint,
                                     const char *topic, int32_t partition, hw_offset_t missing);

/* Errors: HW_NO_MEMORY, HW_IO, HW_NOT_FOUND; HW_CORRUPT with path and line, *checkpoint then
 * empty. */
enum hw_status hw_offset_checkpoint_read(struct hw_store *store, const char *path,
                                         struct hw_offset_checkpoint *checkpoint,
                                         struct hw_error *error);
enum hw_status hw_offset_checkpoint_write(struct hw_store *store, const char *path,
                                          const struct hw_offset_checkpoint *checkpoint,
                                          struct hw_error *error);

/* The same for leader epochs; `cache` is initialised and empty before reading, and empty again
 * after an error. Entries out of order or negative: HW_CORRUPT. `sync`: durably, else as
 * hw_store_replace() has it. */
enum hw_status hw_epoch_checkpoint_read(struct hw_store *store, const char *path,
                                        struct hw_epoch_cache *cache, struct hw_error *error);
enum hw_status hw_epoch_checkpoint_write(struct hw_store *store, const char *path,
                                         const struct hw_epoch_cache *cache, bool sync,
                                         struct hw_error *error);

#endif /* HW_LOG_CHECKPOINT_FILE_H */
