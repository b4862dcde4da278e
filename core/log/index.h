/* SPDX-License-Identifier: MIT */
/*
 * The offset index or the time index of one segment: a sorted array of pairs (index_entry.h).
 *
 * In memory the entries stand as on disk, so that loading is one read and writing is one write. New
 * entries stay in memory until hw_index_write(): the file lags behind, but is a valid, trimmed
 * index at any time. What a crash takes is made again from the .log.
 *
 * Always: keys strictly increase; positions strictly increase, relative offsets never decrease.
 *
 * Source: AbstractIndex, OffsetIndex, TimeIndex (kafka formats 4.2 and 4.3).
 */
#ifndef HW_LOG_INDEX_H
#define HW_LOG_INDEX_H

#include "core/base/buffer.h"
#include "core/format/index_entry.h"
#include "core/io/store.h"

struct hw_index {
    struct hw_store *store; /* Its file is that of the segment there; both are borrowed. */
    const char *directory;
    hw_offset_t base_offset;
    struct hw_buffer bytes; /* The entries as on disk, once they are loaded. */
    size_t count;
    size_t count_on_disk;       /* The first so many are in the file... */
    struct hw_index_entry last; /* Valid if count > 0, loaded or not. */
    enum hw_index_kind kind;
    bool is_loaded;
    bool file_is_good; /* ...and nothing else is. */
    bool file_is_synced;
};

/* An empty index, of the segment at `base_offset`, without a file. */
void hw_index_init(struct hw_index *index, enum hw_index_kind kind,
                   const struct hw_allocator *allocator, struct hw_store *store,
                   const char *directory, hw_offset_t base_offset);
void hw_index_release(struct hw_index *index);

/*
 * Look at the file of an index that is still as after hw_index_init(): how many entries, and the
 * last one; nothing else is read. *usable is false, and the index empty, if the file is missing or
 * ends with part of an entry. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_index_open(struct hw_index *index, bool *usable, struct hw_error *error);

/*
 * Read the entries, if that was not done yet. *usable is false, and the index as it was, if the
 * file has another size or last entry, or if they do not keep the "Always" line, are negative, or a
 * value is not below `value_limit`. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_index_load(struct hw_index *index, int64_t value_limit, bool *usable,
                             struct hw_error *error);

/* Make room so that the next `count` calls of hw_index_add() cannot fail. The index is loaded.
 * Errors: HW_NO_MEMORY. */
enum hw_status hw_index_reserve(struct hw_index *index, size_t count, struct hw_error *error);

/* Add an entry behind the last one, in order. */
void hw_index_add(struct hw_index *index, struct hw_index_entry entry);

/* Forget all entries and take the file for worthless: it will be written anew. */
void hw_index_reset(struct hw_index *index);

/* Whether an index of at most `size_bytes_max` takes no more entries behind `more` new ones. The
 * time index keeps one for the end of the segment. */
bool hw_index_is_full(const struct hw_index *index, size_t more, int32_t size_bytes_max);

/* The entry with this number; the index is loaded. */
struct hw_index_entry hw_index_get(const struct hw_index *index, size_t number);

/* How many entries have a key (a value) of at most this. The index is loaded. */
size_t hw_index_count_up_to_key(const struct hw_index *index, int64_t key);
size_t hw_index_count_up_to_value(const struct hw_index *index, int64_t value);

/* Keep the first `count` entries, in the file first. Errors: HW_IO, HW_NO_MEMORY (index unchanged).
 */
enum hw_status hw_index_cut(struct hw_index *index, size_t count, struct hw_error *error);

/* Bring the file up to date, and make its bytes durable if `sync` says so. Makes the file if it is
 * missing. Errors: HW_IO, HW_NO_MEMORY (to be tried again). */
enum hw_status hw_index_write(struct hw_index *index, bool sync, struct hw_error *error);

/* Assert the "Always" line. */
void hw_index_check(const struct hw_index *index);

#endif /* HW_LOG_INDEX_H */
