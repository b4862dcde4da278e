/* SPDX-License-Identifier: MIT */
#include "core/log/index.h"

#include "core/base/assert.h"
#include "core/base/search.h"
#include "core/format/segment_name.h"

void hw_index_init(struct hw_index *index, enum hw_index_kind kind,
                   const struct hw_allocator *allocator, struct hw_store *store,
                   const char *directory, hw_offset_t base_offset)
{
    *index = (struct hw_index){.store = store,
                               .directory = directory,
                               .base_offset = base_offset,
                               .kind = kind,
                               .is_loaded = true};
    hw_buffer_init(&index->bytes, allocator);
}

void hw_index_release(struct hw_index *index)
{
    hw_buffer_release(&index->bytes);
    index->count = 0;
}

static enum hw_status index_open_file(const struct hw_index *index, enum hw_open_mode mode,
                                      struct hw_file **file, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status =
        hw_segment_name_path(path, index->directory, index->base_offset,
                             index->kind == HW_INDEX_OFFSET ? ".index" : ".timeindex", error);

    return status == HW_OK ? hw_store_open(index->store, path, mode, file, error) : status;
}

/* Whether `entry` may follow `previous`. */
static bool may_follow(enum hw_index_kind kind, struct hw_index_entry previous,
                       struct hw_index_entry entry)
{
    return entry.key > previous.key &&
           (kind == HW_INDEX_OFFSET ? entry.value > previous.value : entry.value >= previous.value);
}

enum hw_status hw_index_open(struct hw_index *index, bool *usable, struct hw_error *error)
{
    size_t entry_size = hw_index_entry_size(index->kind);
    uint8_t last[HW_INDEX_ENTRY_SIZE_MAX];
    struct hw_file *file;
    int64_t size_bytes;
    size_t got = entry_size;
    enum hw_status status;

    HW_ASSERT(index->count == 0);

    *usable = false;
    status = index_open_file(index, HW_OPEN_READ, &file, error);
    if (status != HW_OK) {
        return status == HW_NOT_FOUND ? HW_OK : status;
    }
    status = hw_file_size(file, &size_bytes, error);
    if (status == HW_OK && size_bytes > 0 && size_bytes % (int64_t)entry_size == 0) {
        status =
            hw_file_read_at(file, size_bytes - (int64_t)entry_size, last, entry_size, &got, error);
    }
    hw_file_close(file);
    if (status != HW_OK || size_bytes % (int64_t)entry_size != 0 || got != entry_size) {
        return status;
    }
    index->count = (size_t)(size_bytes / (int64_t)entry_size);
    index->count_on_disk = index->count;
    index->is_loaded = index->count == 0;
    index->file_is_good = true;
    index->file_is_synced = true;
    if (index->count > 0) {
        index->last = hw_index_entry_decode(index->kind, last);
    }
    *usable = true;
    return HW_OK;
}

static bool entries_are_valid(enum hw_index_kind kind, const uint8_t *bytes, size_t count,
                              int64_t value_limit)
{
    struct hw_index_entry previous = {.key = -1, .value = -1};

    for (size_t i = 0; i < count; i++) {
        struct hw_index_entry entry =
            hw_index_entry_decode(kind, bytes + i * hw_index_entry_size(kind));

        if (!may_follow(kind, previous, entry) || entry.value < 0 || entry.value >= value_limit) {
            return false;
        }
        previous = entry;
    }
    return true;
}

enum hw_status hw_index_load(struct hw_index *index, int64_t value_limit, bool *usable,
                             struct hw_error *error)
{
    size_t entry_size = hw_index_entry_size(index->kind);
    size_t size = index->count * entry_size;
    struct hw_buffer bytes;
    struct hw_file *file;
    int64_t file_size = 0;
    size_t got = 0;
    enum hw_status status;

    *usable = true;
    if (index->is_loaded) {
        return HW_OK;
    }
    HW_ASSERT(size > 0);
    *usable = false;
    hw_buffer_init(&bytes, index->bytes.allocator);
    status = hw_buffer_reserve(&bytes, size, error);
    if (status != HW_OK) {
        return status;
    }
    status = index_open_file(index, HW_OPEN_READ, &file, error);
    if (status == HW_OK) {
        status = hw_file_size(file, &file_size, error);
        if (status == HW_OK) {
            status = hw_file_read_at(file, 0, bytes.bytes, size, &got, error);
        }
        hw_file_close(file);
    }
    if (status == HW_OK && got == size && file_size == (int64_t)size &&
        entries_are_valid(index->kind, bytes.bytes, index->count, value_limit)) {
        struct hw_index_entry last =
            hw_index_entry_decode(index->kind, bytes.bytes + size - entry_size);

        *usable = last.key == index->last.key && last.value == index->last.value;
    }
    if (*usable) {
        bytes.size = size;
        index->bytes = bytes;
        index->is_loaded = true;
    } else {
        hw_buffer_release(&bytes);
    }
    return status == HW_NOT_FOUND ? HW_OK : status;
}

enum hw_status hw_index_reserve(struct hw_index *index, size_t count, struct hw_error *error)
{
    HW_ASSERT(index->is_loaded);
    return hw_buffer_reserve(&index->bytes, count * hw_index_entry_size(index->kind), error);
}

void hw_index_add(struct hw_index *index, struct hw_index_entry entry)
{
    size_t entry_size = hw_index_entry_size(index->kind);

    HW_ASSERT(index->is_loaded);
    HW_ASSERT(index->bytes.capacity - index->bytes.size >= entry_size);
    HW_ASSERT(entry.value >= 0);
    HW_ASSERT(HW_IMPLIES(index->count > 0, may_follow(index->kind, index->last, entry)));

    hw_index_entry_encode(index->kind, entry, index->bytes.bytes + index->bytes.size);
    index->bytes.size += entry_size;
    index->count++;
    index->last = entry;
}

void hw_index_reset(struct hw_index *index)
{
    index->bytes.size = 0;
    index->count = 0;
    index->is_loaded = true;
    index->file_is_good = false;
    index->file_is_synced = false;
}

bool hw_index_is_full(const struct hw_index *index, size_t more, int32_t size_bytes_max)
{
    size_t entries_max = (size_t)size_bytes_max / hw_index_entry_size(index->kind);
    size_t reserved = index->kind == HW_INDEX_TIME ? 1 : 0;

    return index->count + more + reserved >= entries_max;
}

struct hw_index_entry hw_index_get(const struct hw_index *index, size_t number)
{
    HW_ASSERT(index->is_loaded);
    HW_ASSERT(number < index->count);
    return hw_index_entry_decode(index->kind,
                                 index->bytes.bytes + number * hw_index_entry_size(index->kind));
}

size_t hw_index_count_up_to_key(const struct hw_index *index, int64_t key)
{
    size_t at;

    HW_SEARCH(at, 0, index->count, hw_index_get(index, at).key <= key);
    return at;
}

size_t hw_index_count_up_to_value(const struct hw_index *index, int64_t value)
{
    size_t at;

    HW_SEARCH(at, 0, index->count, hw_index_get(index, at).value <= value);
    return at;
}

enum hw_status hw_index_cut(struct hw_index *index, size_t count, struct hw_error *error)
{
    HW_ASSERT(index->is_loaded);
    HW_ASSERT(count <= index->count);

    if (index->file_is_good && index->count_on_disk > count) {
        struct hw_file *file;
        enum hw_status status = index_open_file(index, HW_OPEN_EXISTING, &file, error);

        if (status == HW_OK) {
            index->file_is_good = false;
            status =
                hw_file_truncate(file, (int64_t)(count * hw_index_entry_size(index->kind)), error);
            hw_file_close(file);
        }
        if (status != HW_OK) {
            return status;
        }
        index->file_is_good = true;
        index->file_is_synced = false;
        index->count_on_disk = count;
    }
    index->count = count;
    index->bytes.size = count * hw_index_entry_size(index->kind);
    if (count > 0) {
        index->last = hw_index_get(index, count - 1);
    }
    return HW_OK;
}

enum hw_status hw_index_write(struct hw_index *index, bool sync, struct hw_error *error)
{
    size_t entry_size = hw_index_entry_size(index->kind);
    size_t written = index->file_is_good ? index->count_on_disk : 0;
    bool is_current = index->file_is_good && written == index->count;
    struct hw_file *file;
    enum hw_status status;

    if (is_current && (!sync || index->file_is_synced)) {
        return HW_OK;
    }
    HW_ASSERT(index->is_loaded || is_current);
    status = index_open_file(index, index->file_is_good ? HW_OPEN_EXISTING : HW_OPEN_TRUNCATE,
                             &file, error);
    if (status != HW_OK) {
        index->file_is_good = index->file_is_good && !index->is_loaded;
        return status;
    }
    if (written < index->count) {
        index->file_is_good = false;
        status = hw_file_write_at(file, (int64_t)(written * entry_size),
                                  index->bytes.bytes + written * entry_size,
                                  (index->count - written) * entry_size, error);
    }
    if (status == HW_OK) {
        index->file_is_good = true;
        index->count_on_disk = index->count;
        index->file_is_synced = index->file_is_synced && is_current;
        if (sync) {
            status = hw_file_sync(file, error);
            index->file_is_synced = status == HW_OK;
        }
    }
    hw_file_close(file);
    return status;
}

void hw_index_check(const struct hw_index *index)
{
    size_t entry_size = hw_index_entry_size(index->kind);

    HW_ASSERT(HW_IMPLIES(index->file_is_good, index->count_on_disk <= index->count));
    if (index->is_loaded) {
        HW_ASSERT(index->bytes.size == index->count * entry_size);
        HW_ASSERT(entries_are_valid(index->kind, index->bytes.bytes, index->count,
                                    (int64_t)INT32_MAX + 1));
    }
}
