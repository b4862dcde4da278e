/* SPDX-License-Identifier: MIT */
/*
 * The leader epochs of one replica's log: epoch -> offset of its first record.
 *
 *     epochs   (0, 0) (2, 3) (5, 3)...      epoch 0 ends where epoch 2 starts
 *
 * Always: strictly increasing in epoch and in start offset. Only a leader that has not written yet
 * has an entry at its log end, without data. Pure memory: the log writes it to its checkpoint file.
 *
 * Source: LeaderEpochFileCache (R5.1 to R5.5).
 */
#ifndef HW_LOG_EPOCH_CACHE_H
#define HW_LOG_EPOCH_CACHE_H

#include "core/base/memory.h"
#include "core/base/types.h"

struct hw_epoch_entry {
    hw_epoch_t epoch;
    hw_offset_t start_offset;
};

/* The answer to "where does this epoch end?": (-1, -1) is undefined. */
struct hw_epoch_end {
    hw_epoch_t epoch;
    hw_offset_t end_offset;
};

struct hw_epoch_cache {
    const struct hw_allocator *allocator;
    struct hw_epoch_entry *entries;
    size_t count;
    size_t capacity;
};

void hw_epoch_cache_init(struct hw_epoch_cache *cache, const struct hw_allocator *allocator);
void hw_epoch_cache_release(struct hw_epoch_cache *cache);

/* Make *copy, which is not initialised, hold the same entries. Errors: HW_NO_MEMORY (*copy is then
 * empty). */
enum hw_status hw_epoch_cache_copy(struct hw_epoch_cache *copy, const struct hw_epoch_cache *cache,
                                   struct hw_error *error);

/* Whether hw_epoch_cache_assign() of these would change nothing. */
bool hw_epoch_cache_is_noted(const struct hw_epoch_cache *cache, hw_epoch_t epoch,
                             hw_offset_t start_offset);

/*
 * Note that records from `start_offset` on carry `epoch`. Both numbers are >= 0. Errors: HW_NO_MEMORY
 * (cache unchanged).
 * Source: LeaderEpochFileCache.assign (R5.1).
 */
enum hw_status hw_epoch_cache_assign(struct hw_epoch_cache *cache, hw_epoch_t epoch,
                                     hw_offset_t start_offset, struct hw_error *error);

/* The largest epoch <= `epoch` that this log knows, and its exclusive end (R5.3). */
struct hw_epoch_end hw_epoch_cache_end_offset_for(const struct hw_epoch_cache *cache,
                                                  hw_epoch_t epoch, hw_offset_t log_end);

/* Remove entries with start >= `offset`; a negative offset changes nothing. Returns whether any
 * went (R5.4). */
bool hw_epoch_cache_truncate_from_end(struct hw_epoch_cache *cache, hw_offset_t offset);

/* Collapse the entries with start <= `offset` into the last of them, moved to `offset` (R5.4).
 * Returns whether anything changed. */
bool hw_epoch_cache_truncate_from_start(struct hw_epoch_cache *cache, hw_offset_t offset);

void hw_epoch_cache_clear(struct hw_epoch_cache *cache);

/* The epoch of the records at `at`, which grows from call to call; *end is lowered to where they
 * end. *next, 0 at first, is the first entry that starts behind `at`. */
hw_epoch_t hw_epoch_cache_run(const struct hw_epoch_cache *cache, size_t *next, hw_offset_t at,
                              hw_offset_t *end);

/* Up to where two logs, which end at `a_end` and `b_end`, have the same epochs from `start` on: one
 * leader wrote all records of an epoch, so up to there they have the same records. */
hw_offset_t hw_epoch_cache_common_end(const struct hw_epoch_cache *a, hw_offset_t a_end,
                                      const struct hw_epoch_cache *b, hw_offset_t b_end,
                                      hw_offset_t start);

/* HW_EPOCH_NONE where there is none (R5.5). */
hw_epoch_t hw_epoch_cache_epoch_for_offset(const struct hw_epoch_cache *cache, hw_offset_t offset);
hw_epoch_t hw_epoch_cache_latest_epoch(const struct hw_epoch_cache *cache);

/* Assert the "Always" line above. */
void hw_epoch_cache_check(const struct hw_epoch_cache *cache);

#endif /* HW_LOG_EPOCH_CACHE_H */
