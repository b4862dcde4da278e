/* SPDX-License-Identifier: MIT */
#include "core/log/checkpoint_file.h"

#include "core/base/assert.h"
#include "core/base/buffer.h"
#include "core/base/search.h"
#include "core/format/checkpoint_scan.h"

#include <inttypes.h>
#include <string.h>

/* Takes one entry. *is_in_order is false if it may not stand behind those before. */
typedef enum hw_status checkpoint_take_entry(void *context, const struct hw_checkpoint_row *row,
                                             bool *is_in_order, struct hw_error *error);

/* Read a file that has to be relied on: the first fault is the end. */
static enum hw_status read_file(struct hw_store *store, const char *path,
                                enum hw_checkpoint_kind kind, const struct hw_allocator *allocator,
                                checkpoint_take_entry *take, void *context, struct hw_error *error)
{
    struct hw_checkpoint_scan scan;
    struct hw_checkpoint_row row;
    enum hw_status status;

    hw_checkpoint_scan_init(&scan, allocator);
    status = hw_checkpoint_scan_open(&scan, store, path, kind, error);
    while (status == HW_OK && hw_checkpoint_scan_next(&scan, &row)) {
        bool is_in_order = true;

        if (row.fault[0] == '\0') {
            status = take(context, &row, &is_in_order, error);
        }
        if (status == HW_OK && (row.fault[0] != '\0' || !is_in_order)) {
            status = is_in_order ? hw_error_set(error, HW_CORRUPT, "%s: %s", path, row.fault)
                                 : hw_error_set(error, HW_CORRUPT,
                                                "%s: line %" PRId64 ": the entry is out of order",
                                                path, row.line);
        }
    }
    hw_checkpoint_scan_release(&scan);
    return status;
}

void hw_offset_checkpoint_init(struct hw_offset_checkpoint *checkpoint,
                               const struct hw_allocator *allocator)
{
    *checkpoint = (struct hw_offset_checkpoint){.allocator = allocator};
}

void hw_offset_checkpoint_release(struct hw_offset_checkpoint *checkpoint)
{
    hw_free(checkpoint->allocator, checkpoint->entries,
            checkpoint->capacity * sizeof *checkpoint->entries);
    hw_offset_checkpoint_init(checkpoint, checkpoint->allocator);
}

static int compare_partition(const struct hw_offset_checkpoint_entry *entry, const char *topic,
                             int32_t partition)
{
    int order = strcmp(entry->topic, topic);

    if (order != 0) {
        return order;
    }
    return (entry->partition > partition) - (entry->partition < partition);
}

/* Index of the partition's entry, or where it belongs: entries are sorted. */
static size_t find_partition(const struct hw_offset_checkpoint *checkpoint, const char *topic,
                             int32_t partition, bool *found)
{
    size_t at;

    HW_SEARCH(at, 0, checkpoint->count,
              compare_partition(&checkpoint->entries[at], topic, partition) < 0);
    *found = at < checkpoint->count &&
             compare_partition(&checkpoint->entries[at], topic, partition) == 0;
    return at;
}

enum hw_status hw_offset_checkpoint_set(struct hw_offset_checkpoint *checkpoint, const char *topic,
                                        int32_t partition, hw_offset_t offset,
                                        struct hw_error *error)
{
    size_t topic_size = strlen(topic) + 1;
    struct hw_offset_checkpoint_entry *entry;
    enum hw_status status;
    bool found;
    size_t at;

    HW_ASSERT(topic_size <= sizeof entry->topic);
    HW_ASSERT(partition >= 0);
    HW_ASSERT(offset >= 0);

    at = find_partition(checkpoint, topic, partition, &found);
    if (found) {
        checkpoint->entries[at].offset = offset;
        return HW_OK;
    }
    status = hw_array_reserve(checkpoint->allocator, (void **)&checkpoint->entries,
                              &checkpoint->capacity, checkpoint->count + 1,
                              sizeof *checkpoint->entries, error);
    if (status != HW_OK) {
        return status;
    }
    entry = &checkpoint->entries[at];
    memmove(entry + 1, entry, (checkpoint->count - at) * sizeof *entry);
    memcpy(entry->topic, topic, topic_size);
    entry->partition = partition;
    entry->offset = offset;
    checkpoint->count++;
    return HW_OK;
}

bool hw_offset_checkpoint_remove(struct hw_offset_checkpoint *checkpoint, const char *topic,
                                 int32_t partition)
{
    size_t kept = 0;
    size_t count = checkpoint->count;

    for (size_t i = 0; i < count; i++) {
        const struct hw_offset_checkpoint_entry *entry = &checkpoint->entries[i];

        if (strcmp(entry->topic, topic) != 0 || (partition >= 0 && entry->partition != partition)) {
            checkpoint->entries[kept++] = *entry;
        }
    }
    checkpoint->count = kept;
    return kept < count;
}

hw_offset_t hw_offset_checkpoint_get(const struct hw_offset_checkpoint *checkpoint,
                                     const char *topic, int32_t partition, hw_offset_t missing)
{
    bool found;
    size_t at = find_partition(checkpoint, topic, partition, &found);

    return found ? checkpoint->entries[at].offset : missing;
}

static enum hw_status take_offset(void *context, const struct hw_checkpoint_row *row,
                                  bool *is_in_order, struct hw_error *error)
{
    char topic[HW_TOPIC_NAME_MAX + 1];

    (void)is_in_order;
    memcpy(topic, row->topic.text, row->topic.size);
    topic[row->topic.size] = '\0';
    return hw_offset_checkpoint_set(context, topic, row->number, row->offset, error);
}

enum hw_status hw_offset_checkpoint_read(struct hw_store *store, const char *path,
                                         struct hw_offset_checkpoint *checkpoint,
                                         struct hw_error *error)
{
    enum hw_status status;

    checkpoint->count = 0;
    status = read_file(store, path, HW_CHECKPOINT_OFFSETS, checkpoint->allocator, take_offset,
                       checkpoint, error);
    if (status != HW_OK) {
        checkpoint->count = 0;
    }
    return status;
}

enum hw_status hw_offset_checkpoint_write(struct hw_store *store, const char *path,
                                          const struct hw_offset_checkpoint *checkpoint,
                                          struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, checkpoint->allocator);
    status = hw_buffer_append_format(&content, error, "0\n%zu\n", checkpoint->count);
    for (size_t i = 0; status == HW_OK && i < checkpoint->count; i++) {
        const struct hw_offset_checkpoint_entry *entry = &checkpoint->entries[i];

        status = hw_buffer_append_format(&content, error, "%s %" PRId32 " %" PRId64 "\n",
                                         entry->topic, entry->partition, entry->offset);
    }
    if (status == HW_OK) {
        status = hw_store_write_atomically(store, path, content.bytes, content.size, error);
    }
    hw_buffer_release(&content);
    return status;
}

static enum hw_status take_epoch(void *context, const struct hw_checkpoint_row *row,
                                 bool *is_in_order, struct hw_error *error)
{
    struct hw_epoch_cache *cache = context;
    size_t count = cache->count;
    enum hw_status status = hw_epoch_cache_assign(cache, row->number, row->offset, error);

    /* An entry out of order would have replaced earlier ones, or have been ignored. */
    *is_in_order = status != HW_OK || cache->count == count + 1;
    return status;
}

enum hw_status hw_epoch_checkpoint_read(struct hw_store *store, const char *path,
                                        struct hw_epoch_cache *cache, struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT(cache->count == 0);

    status =
        read_file(store, path, HW_CHECKPOINT_EPOCHS, cache->allocator, take_epoch, cache, error);
    if (status != HW_OK) {
        hw_epoch_cache_clear(cache);
    }
    return status;
}

enum hw_status hw_epoch_checkpoint_write(struct hw_store *store, const char *path,
                                         const struct hw_epoch_cache *cache, bool sync,
                                         struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, cache->allocator);
    status = hw_buffer_append_format(&content, error, "0\n%zu\n", cache->count);
    for (size_t i = 0; status == HW_OK && i < cache->count; i++) {
        status = hw_buffer_append_format(&content, error, "%" PRId32 " %" PRId64 "\n",
                                         cache->entries[i].epoch, cache->entries[i].start_offset);
    }
    if (status == HW_OK) {
        status = sync ? hw_store_write_atomically(store, path, content.bytes, content.size, error)
                      : hw_store_replace(store, path, content.bytes, content.size, error);
    }
    hw_buffer_release(&content);
    return status;
}
