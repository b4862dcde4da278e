/* SPDX-License-Identifier: MIT */
/* A sorted array of batches, and a hand that goes round and drops what was not used. */
#include "core/cluster/batch_cache.h"

#include "core/base/assert.h"
#include "core/base/search.h"
#include "core/record/codec.h"

#include <inttypes.h>
#include <string.h>

void hw_batch_cache_init(struct hw_batch_cache *cache, const struct hw_allocator *allocator)
{
    *cache = (struct hw_batch_cache){.allocator = allocator, .next_content_id = 1};
}

static void entry_destroy(const struct hw_allocator *allocator, struct hw_cached_batch *entry)
{
    hw_buffer_release(&entry->bytes);
    hw_buffer_release(&entry->plain);
    hw_free(allocator, entry->positions, entry->position_capacity * sizeof *entry->positions);
    hw_free(allocator, entry, sizeof *entry);
}

void hw_batch_cache_release(struct hw_batch_cache *cache)
{
    for (size_t i = 0; i < cache->count; i++) {
        entry_destroy(cache->allocator, cache->entries[i]);
    }
    hw_free(cache->allocator, cache->entries, cache->capacity * sizeof(struct hw_cached_batch *));
    hw_batch_cache_init(cache, cache->allocator);
}

uint64_t hw_batch_cache_new_content_id(struct hw_batch_cache *cache)
{
    return cache->next_content_id++;
}

/* How many entries come before this place. */
static size_t count_before(const struct hw_batch_cache *cache, uint64_t content_id,
                           hw_offset_t offset)
{
    size_t at;

    HW_SEARCH(at, 0, cache->count,
              cache->entries[at]->content_id < content_id ||
                  (cache->entries[at]->content_id == content_id &&
                   cache->entries[at]->base_offset <= offset));
    return at;
}

struct hw_cached_batch *hw_batch_cache_find(struct hw_batch_cache *cache, uint64_t content_id,
                                            hw_offset_t offset)
{
    size_t before = count_before(cache, content_id, offset);
    struct hw_cached_batch *entry = before == 0 ? NULL : cache->entries[before - 1];

    if (entry == NULL || entry->content_id != content_id || entry->next_offset <= offset) {
        return NULL;
    }
    entry->is_used = true;
    return entry;
}

static void remove_at(struct hw_batch_cache *cache, size_t index)
{
    struct hw_cached_batch *entry = cache->entries[index];

    cache->memory_bytes -= entry->memory_bytes;
    cache->count--;
    memmove(cache->entries + index, cache->entries + index + 1,
            (cache->count - index) * sizeof(struct hw_cached_batch *));
    entry_destroy(cache->allocator, entry);
}

/* Drop entries until there is room for so many bytes; what is larger than all of it has it alone.
 */
static void make_room(struct hw_batch_cache *cache, size_t memory_bytes)
{
    while (cache->count > 0 && cache->memory_bytes + memory_bytes > HW_BATCH_CACHE_BYTES_MAX) {
        cache->hand = cache->hand < cache->count ? cache->hand : 0;
        if (cache->entries[cache->hand]->is_used) {
            cache->entries[cache->hand++]->is_used = false;
        } else {
            remove_at(cache, cache->hand);
        }
    }
}

static enum hw_status entry_fill(struct hw_cached_batch *entry,
                                 const struct hw_allocator *allocator, struct hw_buffer *bytes,
                                 const struct hw_batch *batch, size_t plain_size_max,
                                 struct hw_error *error)
{
    enum hw_status status;

    hw_buffer_init(&entry->bytes, allocator);
    hw_buffer_init(&entry->plain, allocator);
    entry->base_offset = batch->base_offset;
    entry->next_offset = hw_batch_next_offset(batch);
    status = hw_buffer_append(&entry->bytes, bytes->bytes, hw_batch_size_bytes(batch), error);
    hw_buffer_release(bytes);
    if (status == HW_OK) {
        status = hw_record_iterator_open(&entry->start, entry->bytes.bytes, batch, plain_size_max,
                                         &entry->plain, error);
    }
    /* A count that cannot be true is not believed: each record takes some bytes. */
    entry->is_dense = status == HW_OK && entry->start.left - 1 == batch->last_offset_delta &&
                      entry->start.left <= entry->start.end - entry->start.at;
    if (entry->is_dense) {
        status = hw_array_reserve(allocator, (void **)&entry->positions, &entry->position_capacity,
                                  (size_t)entry->start.left + 1, sizeof *entry->positions, error);
    }
    if (status == HW_OK && entry->is_dense) {
        entry->positions[0] = 0;
    }
    entry->memory_bytes = sizeof *entry + entry->bytes.capacity + entry->plain.capacity +
                          entry->position_capacity * sizeof *entry->positions;
    return status;
}

enum hw_status hw_batch_cache_add(struct hw_batch_cache *cache, uint64_t content_id,
                                  struct hw_buffer *bytes, const struct hw_batch *batch,
                                  size_t plain_size_max, struct hw_cached_batch **added,
                                  struct hw_error *error)
{
    struct hw_cached_batch *entry;
    size_t index;
    enum hw_status status =
        hw_array_reserve(cache->allocator, (void **)&cache->entries, &cache->capacity,
                         cache->count + 1, sizeof(struct hw_cached_batch *), error);

    if (status != HW_OK) {
        return status;
    }
    entry = hw_alloc_zeroed(cache->allocator, sizeof *entry);
    if (entry == NULL) {
        return hw_error_no_memory(error, "a batch that is looked at");
    }
    entry->content_id = content_id;
    status = entry_fill(entry, cache->allocator, bytes, batch, plain_size_max, error);
    if (status != HW_OK) {
        entry_destroy(cache->allocator, entry);
        return status;
    }
    make_room(cache, entry->memory_bytes);
    index = count_before(cache, content_id, entry->base_offset);
    HW_ASSERT(
        HW_IMPLIES(index > 0, cache->entries[index - 1]->content_id < content_id ||
                                  cache->entries[index - 1]->next_offset <= entry->base_offset));
    memmove(cache->entries + index + 1, cache->entries + index,
            (cache->count - index) * sizeof(struct hw_cached_batch *));
    cache->entries[index] = entry;
    cache->count++;
    cache->memory_bytes += entry->memory_bytes;
    *added = entry;
    return HW_OK;
}

/* --------------------------------------------------------------------------- records of a batch */

/* The next record's offset, which must be above *previous and takes its place. */
static enum hw_status cache_step(const struct hw_cached_batch *entry,
                                 struct hw_record_iterator *iterator, hw_offset_t *previous,
                                 bool *found, struct hw_error *error)
{
    hw_offset_t offset;
    enum hw_status status = hw_record_iterator_skip(iterator, &offset, found, error);

    if (status != HW_OK || !*found) {
        return status;
    }
    if (offset <= *previous || offset >= entry->next_offset) {
        return hw_error_corrupt(error,
                                "a record in the batch [%" PRId64 ", %" PRId64
                                "] has offset %" PRId64 ", the one before it %" PRId64,
                                entry->base_offset, entry->next_offset - 1, offset, *previous);
    }
    *previous = offset;
    return HW_OK;
}

/* Walk on until the first `count` records are known; *dense is false where an offset is missing. */
static enum hw_status know(struct hw_cached_batch *entry, int32_t count, bool *dense,
                           struct hw_error *error)
{
    const uint8_t *area = entry->start.at;
    struct hw_record_iterator walk = entry->start;
    bool found = true;

    walk.at = area + entry->positions[entry->known_count];
    walk.left = entry->start.left - entry->known_count;
    *dense = true;
    while (entry->known_count < count) {
        int32_t known = entry->known_count;
        size_t stepped = hw_record_iterator_skip_dense(
            &walk, known, area, &entry->positions[known + 1], (size_t)(count - known));
        hw_offset_t previous = entry->base_offset + known - 1;
        enum hw_status status;

        if (stepped > 0) {
            entry->known_count += (int32_t)stepped;
            continue;
        }
        status = cache_step(entry, &walk, &previous, &found, error);
        if (status != HW_OK) {
            return status;
        }
        if (!found || previous != entry->base_offset + known) {
            *dense = false;
            return HW_OK;
        }
        entry->positions[++entry->known_count] = (uint32_t)(walk.at - area);
    }
    return HW_OK;
}

/* The records in [low, high), where offsets are missing: from `*first` up to `*end`. */
static enum hw_status walk_to(const struct hw_cached_batch *entry, hw_offset_t low,
                              hw_offset_t high, const uint8_t **first, const uint8_t **end,
                              int32_t *count, struct hw_error *error)
{
    struct hw_record_iterator walk = entry->start;
    hw_offset_t previous = entry->base_offset - 1;
    bool found = true;

    *first = *end = walk.at;
    *count = 0;
    /* Also the record behind the last one, whose offset has to be in order. */
    while (found && previous < high) {
        const uint8_t *at = walk.at;
        enum hw_status status = cache_step(entry, &walk, &previous, &found, error);

        if (status != HW_OK) {
            return status;
        }
        if (found && previous >= low && previous < high) {
            *first = (*count)++ == 0 ? at : *first;
            *end = walk.at;
        }
    }
    return HW_OK;
}

enum hw_status hw_cached_batch_copy(struct hw_cached_batch *batch, hw_offset_t low,
                                    hw_offset_t high, struct hw_buffer *out,
                                    struct hw_record_iterator *iterator, struct hw_error *error)
{
    int32_t first_number = (int32_t)(low - batch->base_offset);
    int32_t count = (int32_t)(high - low);
    int32_t behind = first_number + count;
    const uint8_t *first = NULL;
    const uint8_t *end = NULL;
    size_t start = out->size;
    bool dense = batch->is_dense;
    enum hw_status status = HW_OK;

    HW_ASSERT(low >= batch->base_offset && low < high && high <= batch->next_offset);
    if (dense) {
        /* Also the record behind the last one, whose offset has to be in order. */
        status = know(batch, behind < batch->start.left ? behind + 1 : behind, &dense, error);
    }
    if (status == HW_OK && dense) {
        first = batch->start.at + batch->positions[first_number];
        end = batch->start.at + batch->positions[behind];
    }
    if (status == HW_OK && !dense) {
        status = walk_to(batch, low, high, &first, &end, &count, error);
    }
    if (status == HW_OK) {
        status = hw_buffer_append(out, first, (size_t)(end - first), error);
    }
    if (status != HW_OK) {
        return status;
    }
    *iterator = batch->start;
    iterator->left = count;
    if (count > 0) { /* Otherwise the buffer may have no address. */
        iterator->at = out->bytes + start;
        iterator->end = out->bytes + out->size;
    }
    return HW_OK;
}
