/* SPDX-License-Identifier: MIT */
/*
 * The rows of a stage as batches that are nearly ready for the log: each row is encoded when it is
 * added.
 *
 *     chunk 0    orders-0  acks 1     | batch | batch | batch ..          about 256 KiB: one write
 *     chunk 1    orders-1  acks 1     | batch | batch                     to the log
 *     chunk 2    orders-0  acks 1     | batch | batch being built
 *
 * A chunk holds batches of one partition with the same acks, in memory or in
 * <directory>/stage-<n>.tmp; a partition is written on in its last chunk only. Base offsets are 0
 * and leader epochs missing: the log sets them. The last batch of a chunk has its header in the
 * builder, so that a chunk can be cut back to any row, wherever its bytes are. What is cut away in
 * front of others in the file is used again once nothing behind it is left.
 */
#ifndef HW_STAGE_STAGE_CHUNKS_H
#define HW_STAGE_STAGE_CHUNKS_H

#include "core/base/buffer.h"
#include "core/io/store.h"
#include "core/record/batch.h"

struct hw_stage_chunk {
    size_t partition; /* Index in the stage's list. */
    int32_t acks;
    size_t size;                     /* Of the batches, wherever they are. */
    struct hw_batch_builder builder; /* Of the last batch; its buffer is set when it is used. */
    struct hw_buffer bytes;          /* Without memory once they are in the file, */
    int64_t file_at;                 /* from there on; before that -1. */
    bool was_loaded;                 /* hw_stage_chunks_load() has lent its bytes, to be changed. */
};

/* A place in a chunk that can be cut back to. */
struct hw_stage_chunk_end {
    size_t chunk; /* Number + 1; 0: there is none. */
    size_t size;
    struct hw_batch_builder builder;
};

/* All fields are its own. */
struct hw_stage_chunks {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    const char *directory; /* Borrowed. */

    struct hw_stage_chunk *list; /* In the order in which they were begun. */
    size_t count;
    size_t capacity;
    size_t spilled_count; /* So many of the first are in the file. */
    int64_t memory;       /* Bytes of batches in memory. */

    /* Memory that no chunk uses now; there is room for that of all chunks in memory. */
    struct hw_buffer *buffers;
    size_t buffer_count;
    size_t buffer_capacity;
    int64_t buffer_bytes;
    int64_t used_max; /* The most that was in memory since the last clear. */

    struct hw_file *file; /* NULL: nothing was spilled. */
    char path[HW_PATH_MAX];
    int64_t file_size;
};

/* A row that was checked, who it is for, and how large its batch may become: at most 2^31-1. */
struct hw_stage_put {
    const struct hw_record *record;
    int64_t size_max; /* hw_record_size_bytes_max(). */
    size_t partition;
    int32_t acks;
    hw_time_ms_t timestamp; /* Instead of the record's own. */
    int64_t batch_size_max;
    int64_t memory_max;
};

/* No chunks; touches neither store nor memory. All arguments must outlive it. */
void hw_stage_chunks_init(struct hw_stage_chunks *chunks, const struct hw_allocator *allocator,
                          struct hw_store *store, const char *directory);

/* Drop all chunks and the file; some memory is kept for the next ones. */
void hw_stage_chunks_clear(struct hw_stage_chunks *chunks);

/* The same, and give the memory back. */
void hw_stage_chunks_release(struct hw_stage_chunks *chunks);

/*
 * Encode one row behind those of its partition, whose last chunk is *last (number + 1; 0: it has
 * none), which is changed if a new one is begun. A batch ends where another
 * row could pass put->batch_size_max, where the acks change, and where more than put->memory_max
 * bytes, but for one row, would be in memory: then the oldest chunks are spilled first. Source:
 * ProducerBatch.tryAppend, MemoryRecordsBuilder.hasRoomFor; RecordAccumulator.batchReady for
 * memory. Errors: HW_NO_MEMORY, HW_IO: no row is changed.
 */
enum hw_status hw_stage_chunks_put(struct hw_stage_chunks *chunks, const struct hw_stage_put *put,
                                   size_t *last, struct hw_error *error);

/* Where chunk `last` (number + 1; 0: none) ends now. */
struct hw_stage_chunk_end hw_stage_chunks_end(const struct hw_stage_chunks *chunks, size_t last);

/* Drop the chunks from number `count` on. */
void hw_stage_chunks_drop(struct hw_stage_chunks *chunks, size_t count);

/* Cut the chunk of *end back to it; it is there and was not cut below it since. */
void hw_stage_chunks_cut(struct hw_stage_chunks *chunks, const struct hw_stage_chunk_end *end);

/* Let the next chunks use the file's bytes behind all that are there. */
void hw_stage_chunks_trim_file(struct hw_stage_chunks *chunks);

/*
 * All batches of chunk number `index`, with header and checksum and base offset 0, to be given to
 * hw_log_append_built(): in *batches, borrowed until the next call. They are the chunk's own if
 * they are in memory and `copy` is not asked for, else in `scratch`. The chunk's own may be changed
 * where the checksum does not cover them; that is undone when they are loaded again. Errors:
 * HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_stage_chunks_load(struct hw_stage_chunks *chunks, size_t index, bool copy,
                                    struct hw_buffer *scratch, struct hw_buffer **batches,
                                    struct hw_error *error);

#endif /* HW_STAGE_STAGE_CHUNKS_H */
