/* SPDX-License-Identifier: MIT */
#include "core/log/epoch_cache.h"

#include "core/base/assert.h"

#include <string.h>

void hw_epoch_cache_init(struct hw_epoch_cache *cache, const struct hw_allocator *allocator)
{
    *cache = (struct hw_epoch_cache){.allocator = allocator};
}

void hw_epoch_cache_release(struct hw_epoch_cache *cache)
{
    hw_free(cache->allocator, cache->entries, cache->capacity * sizeof *cache->entries);
    hw_epoch_cache_init(cache, cache->allocator);
}

enum hw_status hw_epoch_cache_copy(struct hw_epoch_cache *copy, const struct hw_epoch_cache *cache,
                                   struct hw_error *error)
{
    enum hw_status status;

    hw_epoch_cache_init(copy, cache->allocator);
    if (cache->count == 0) {
        return HW_OK;
    }
    status = hw_array_reserve(copy->allocator, (void **)&copy->entries, &copy->capacity,
                              cache->count, sizeof *copy->entries, error);
    if (status == HW_OK) {
        memcpy(copy->entries, cache->entries, cache->count * sizeof *copy->entries);
        copy->count = cache->count;
    }
    return status;
}

static const struct hw_epoch_entry *last_entry(const struct hw_epoch_cache *cache)
{
    return cache->count == 0 ? NULL : &cache->entries[cache->count - 1];
}

bool hw_epoch_cache_is_noted(const struct hw_epoch_cache *cache, hw_epoch_t epoch,
                             hw_offset_t start_offset)
{
    const struct hw_epoch_entry *last = last_entry(cache);

    return last != NULL && last->epoch == epoch && last->start_offset <= start_offset;
}

enum hw_status hw_epoch_cache_assign(struct hw_epoch_cache *cache, hw_epoch_t epoch,
                                     hw_offset_t start_offset, struct hw_error *error)
{
    size_t kept = cache->count;
    enum hw_status status;

    HW_ASSERT(epoch >= 0);
    HW_ASSERT(start_offset >= 0);

    if (hw_epoch_cache_is_noted(cache, epoch, start_offset)) {
        return HW_OK;
    }
    while (kept > 0 && (cache->entries[kept - 1].epoch >= epoch ||
                        cache->entries[kept - 1].start_offset >= start_offset)) {
        kept--;
    }
    status = hw_array_reserve(cache->allocator, (void **)&cache->entries, &cache->capacity,
                              kept + 1, sizeof *cache->entries, error);
    if (status == HW_OK) {
        cache->entries[kept] =
            (struct hw_epoch_entry){.epoch = epoch, .start_offset = start_offset};
        cache->count = kept + 1;
    }
    return status;
}

struct hw_epoch_end hw_epoch_cache_end_offset_for(const struct hw_epoch_cache *cache,
                                                  hw_epoch_t epoch, hw_offset_t log_end)
{
    const struct hw_epoch_end undefined = {.epoch = HW_EPOCH_NONE, .end_offset = HW_OFFSET_NONE};
    size_t above = 0;

    if (epoch == HW_EPOCH_NONE) {
        return undefined;
    }
    if (epoch == hw_epoch_cache_latest_epoch(cache)) {
        return (struct hw_epoch_end){.epoch = epoch, .end_offset = log_end};
    }
    while (above < cache->count && cache->entries[above].epoch <= epoch) {
        above++;
    }
    if (above == cache->count) {
        return undefined;
    }
    /* Below the first known epoch the asker's own epoch comes back: it has nothing in common with
     * this log but what lies in front of the first entry. */
    return (struct hw_epoch_end){.epoch = above == 0 ? epoch : cache->entries[above - 1].epoch,
                                 .end_offset = cache->entries[above].start_offset};
}

bool hw_epoch_cache_truncate_from_end(struct hw_epoch_cache *cache, hw_offset_t offset)
{
    size_t kept = cache->count;

    if (offset < 0) {
        return false;
    }
    while (kept > 0 && cache->entries[kept - 1].start_offset >= offset) {
        kept--;
    }
    if (kept == cache->count) {
        return false;
    }
    cache->count = kept;
    return true;
}

bool hw_epoch_cache_truncate_from_start(struct hw_epoch_cache *cache, hw_offset_t offset)
{
    size_t covered = 0;

    if (offset < 0) {
        return false;
    }
    while (covered < cache->count && cache->entries[covered].start_offset <= offset) {
        covered++;
    }
    if (covered == 0 || (covered == 1 && cache->entries[0].start_offset == offset)) {
        return false;
    }
    cache->entries[covered - 1].start_offset = offset;
    cache->count -= covered - 1;
    memmove(cache->entries, &cache->entries[covered - 1], cache->count * sizeof *cache->entries);
    return true;
}

void hw_epoch_cache_clear(struct hw_epoch_cache *cache)
{
    cache->count = 0;
}

hw_epoch_t hw_epoch_cache_epoch_for_offset(const struct hw_epoch_cache *cache, hw_offset_t offset)
{
    for (size_t i = cache->count; i > 0; i--) {
        if (cache->entries[i - 1].start_offset <= offset) {
            return cache->entries[i - 1].epoch;
        }
    }
    return HW_EPOCH_NONE;
}

hw_epoch_t hw_epoch_cache_run(const struct hw_epoch_cache *cache, size_t *next, hw_offset_t at,
                              hw_offset_t *end)
{
    while (*next < cache->count && cache->entries[*next].start_offset <= at) {
        (*next)++;
    }
    if (*next < cache->count && cache->entries[*next].start_offset < *end) {
        *end = cache->entries[*next].start_offset;
    }
    return *next == 0 ? HW_EPOCH_NONE : cache->entries[*next - 1].epoch;
}

hw_offset_t hw_epoch_cache_common_end(const struct hw_epoch_cache *a, hw_offset_t a_end,
                                      const struct hw_epoch_cache *b, hw_offset_t b_end,
                                      hw_offset_t start)
{
    hw_offset_t shorter = HW_MIN(a_end, b_end);
    size_t a_next = 0;
    size_t b_next = 0;

    while (start < shorter) {
        hw_offset_t end = shorter;

        if (hw_epoch_cache_run(a, &a_next, start, &end) !=
            hw_epoch_cache_run(b, &b_next, start, &end)) {
            break;
        }
        start = end;
    }
    return HW_MIN(start, shorter);
}

hw_epoch_t hw_epoch_cache_latest_epoch(const struct hw_epoch_cache *cache)
{
    const struct hw_epoch_entry *last = last_entry(cache);

    return last == NULL ? HW_EPOCH_NONE : last->epoch;
}

void hw_epoch_cache_check(const struct hw_epoch_cache *cache)
{
    HW_ASSERT(cache->count <= cache->capacity);
    for (size_t i = 0; i < cache->count; i++) {
        HW_ASSERT(cache->entries[i].epoch >= 0);
        HW_ASSERT(cache->entries[i].start_offset >= 0);
        HW_ASSERT(HW_IMPLIES(i > 0, cache->entries[i - 1].epoch < cache->entries[i].epoch));
        HW_ASSERT(
            HW_IMPLIES(i > 0, cache->entries[i - 1].start_offset < cache->entries[i].start_offset));
    }
}
