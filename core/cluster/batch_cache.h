/* SPDX-License-Identifier: MIT */
/*
 * Batches that were read lately and whose checksum was right, so that look-ups of single records
 * read and check a batch once, and do not walk through all of it each time.
 *
 *     batch       [ 0 | 1 | 2 | 3 | ... ]
 *     positions     ^   ^   ^             where each record begins, as far as somebody has walked
 *
 * A batch is known by its log's content id (core/log/log.h), so one that was cut off is never found
 * again. At most HW_BATCH_CACHE_BYTES_MAX are kept: one that was not used lately goes first.
 *
 * Always: entries are in order of content id and base offset, and do not overlap.
 */
#ifndef HW_CLUSTER_BATCH_CACHE_H
#define HW_CLUSTER_BATCH_CACHE_H

#include "core/base/buffer.h"
#include "core/record/batch.h"

enum { HW_BATCH_CACHE_BYTES_MAX = 16 * 1024 * 1024 };

struct hw_cached_batch {
    uint64_t content_id;
    hw_offset_t base_offset;
    hw_offset_t next_offset;
    size_t memory_bytes; /* Of all of it. */
    bool is_used;        /* Since the hand last went past it. */
    struct hw_buffer bytes;
    struct hw_buffer plain; /* Its records, if it is compressed. */
    struct hw_record_iterator start;
    bool is_dense; /* By the header, every offset has a record. */
    /* Then, and as far as that is true: where the first `known_count` records begin, counted from
     * the first one, and where the last of them ends. They are in order. */
    uint32_t *positions;
    size_t position_capacity;
    int32_t known_count;
};

/* All fields are its own. */
struct hw_batch_cache {
    const struct hw_allocator *allocator;
    struct hw_cached_batch **entries;
    size_t count;
    size_t capacity;
    size_t hand; /* Index of the entry that goes next, if it was not used. */
    size_t memory_bytes;
    uint64_t next_content_id;
};

void hw_batch_cache_init(struct hw_batch_cache *cache, const struct hw_allocator *allocator);
void hw_batch_cache_release(struct hw_batch_cache *cache);

/* A content id that no log had before. */
uint64_t hw_batch_cache_new_content_id(struct hw_batch_cache *cache);

/* The batch that covers the offset, or NULL. Borrowed until the next call of hw_batch_cache_add().
 */
struct hw_cached_batch *hw_batch_cache_find(struct hw_batch_cache *cache, uint64_t content_id,
                                            hw_offset_t offset);

/*
 * Put a whole batch, whose checksum was checked, into the cache: `bytes` begin with it, are
 * copied, and empty afterwards. Errors: HW_NO_MEMORY; those of
 * hw_record_iterator_open() with at most `plain_size_max` bytes.
 */
enum hw_status hw_batch_cache_add(struct hw_batch_cache *cache, uint64_t content_id,
                                  struct hw_buffer *bytes, const struct hw_batch *batch,
                                  size_t plain_size_max, struct hw_cached_batch **added,
                                  struct hw_error *error);

/*
 * Append the encoded records whose offsets are in [low, high) to `out`, and start `iterator` at the
 * first of them; it has only those, and its bytes are in `out`. Errors: HW_NO_MEMORY; HW_CORRUPT
 * where records have no length and offset, or are not in order of offset. What is in them, the
 * iterator says.
 */
enum hw_status hw_cached_batch_copy(struct hw_cached_batch *batch, hw_offset_t low,
                                    hw_offset_t high, struct hw_buffer *out,
                                    struct hw_record_iterator *iterator, struct hw_error *error);

#endif /* HW_CLUSTER_BATCH_CACHE_H */
