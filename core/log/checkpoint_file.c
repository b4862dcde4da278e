/* SPDX-License-Identifier: MIT */
#include "core/log/checkpoint_file.h"

#include "core/base/assert.h"
#include "core/base/buffer.h"
#include "core/base/uuid.h"
#include "core/log/checkpoint_line.h"

#include <inttypes.h>
#include <string.h>

enum {
    CHECKPOINT_SIZE_MAX = 256 * 1024 * 1024, /* More than any real file; bounds the memory. */
    METADATA_SIZE_MAX = 64 * 1024
};

/* The lines of a file, and its path for messages. */
struct line_reader {
    const char *path;
    struct hw_checkpoint_lines lines;
};

static enum hw_status malformed(const struct line_reader *reader, const char *what,
                                struct hw_error *error)
{
    return hw_error_set(error, HW_CORRUPT, "%s: line %" PRId64 ": %s", reader->path,
                        reader->lines.line, what);
}

/* Version and count. *count is 0 where the file is empty or has the version only. */
static enum hw_status read_head(struct line_reader *reader, int64_t *count, struct hw_error *error)
{
    struct hw_checkpoint_span line;
    int64_t version;

    *count = 0;
    if (!hw_checkpoint_lines_next(&reader->lines, &line)) {
        return HW_OK;
    }
    if (!hw_checkpoint_number(line, INT32_MAX, &version) || version != 0) {
        return malformed(reader, "the version is not 0", error);
    }
    if (hw_checkpoint_lines_next(&reader->lines, &line) &&
        !hw_checkpoint_number(line, INT32_MAX, count)) {
        return malformed(reader, "the number of entries is not a number", error);
    }
    return HW_OK;
}

/* Takes one entry's fields. Returns false if they are not valid. */
typedef bool take_entry(void *context, const struct hw_checkpoint_span *fields,
                        enum hw_status *status, struct hw_error *error);

static enum hw_status read_entries(struct line_reader *reader, size_t field_count, take_entry *take,
                                   void *context, struct hw_error *error)
{
    struct hw_checkpoint_span fields[HW_CHECKPOINT_FIELDS_MAX];
    struct hw_checkpoint_span line;
    int64_t expected;
    int64_t count = 0;
    enum hw_status status = read_head(reader, &expected, error);

    while (status == HW_OK && hw_checkpoint_lines_next(&reader->lines, &line)) {
        if (hw_checkpoint_split(line, fields) != field_count) {
            return malformed(reader, "wrong number of fields", error);
        }
        if (!take(context, fields, &status, error)) {
            return malformed(reader, "a field is out of range or out of order", error);
        }
        count++;
    }
    if (status == HW_OK && count != expected) {
        return hw_error_set(error, HW_CORRUPT, "%s: %" PRId64 " entries, but line 2 says %" PRId64,
                            reader->path, count, expected);
    }
    return status;
}

static enum hw_status read_file(struct hw_store *store, const char *path, size_t field_count,
                                const struct hw_allocator *allocator, take_entry *take,
                                void *context, struct hw_error *error)
{
    struct line_reader reader = {.path = path};
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, allocator);
    status = hw_store_read_whole(store, path, CHECKPOINT_SIZE_MAX, &content, error);
    if (status == HW_OK && content.size > 0) {
        reader.lines = hw_checkpoint_lines_of(content.bytes, content.size);
        status = read_entries(&reader, field_count, take, context, error);
    }
    hw_buffer_release(&content);
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

/* Index of the partition's entry, or where it belongs. Entries are sorted, so that filling a
 * checkpoint in order costs nothing but the copies. */
static size_t find_partition(const struct hw_offset_checkpoint *checkpoint, const char *topic,
                             int32_t partition, bool *found)
{
    size_t low = 0;
    size_t high = checkpoint->count;

    /* Behind the last one: the usual case when filling. */
    if (high > 0 && compare_partition(&checkpoint->entries[high - 1], topic, partition) < 0) {
        low = high;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_partition(&checkpoint->entries[middle], topic, partition) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *found = low < checkpoint->count &&
             compare_partition(&checkpoint->entries[low], topic, partition) == 0;
    return low;
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

hw_offset_t hw_offset_checkpoint_get(struct hw_offset_checkpoint *checkpoint, const char *topic,
                                     int32_t partition, hw_offset_t missing)
{
    size_t at = checkpoint->next;
    bool found = at < checkpoint->count &&
                 compare_partition(&checkpoint->entries[at], topic, partition) == 0;

    if (!found) {
        at = find_partition(checkpoint, topic, partition, &found);
    }
    checkpoint->next = found ? at + 1 : at;
    return found ? checkpoint->entries[at].offset : missing;
}

static bool take_offset(void *context, const struct hw_checkpoint_span *fields,
                        enum hw_status *status, struct hw_error *error)
{
    char topic[HW_TOPIC_NAME_MAX + 1];
    int64_t partition;
    int64_t offset;

    if (fields[0].size == 0 || fields[0].size > HW_TOPIC_NAME_MAX ||
        memchr(fields[0].text, '\0', fields[0].size) != NULL ||
        !hw_checkpoint_number(fields[1], INT32_MAX, &partition) ||
        !hw_checkpoint_number(fields[2], INT64_MAX, &offset)) {
        return false;
    }
    memcpy(topic, fields[0].text, fields[0].size);
    topic[fields[0].size] = '\0';
    *status = hw_offset_checkpoint_set(context, topic, (int32_t)partition, offset, error);
    return true;
}

enum hw_status hw_offset_checkpoint_read(struct hw_store *store, const char *path,
                                         struct hw_offset_checkpoint *checkpoint,
                                         struct hw_error *error)
{
    enum hw_status status;

    checkpoint->count = 0;
    status = read_file(store, path, 3, checkpoint->allocator, take_offset, checkpoint, error);
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

static bool take_epoch(void *context, const struct hw_checkpoint_span *fields,
                       enum hw_status *status, struct hw_error *error)
{
    struct hw_epoch_cache *cache = context;
    size_t count = cache->count;
    int64_t epoch;
    int64_t start_offset;
    bool changed;

    if (!hw_checkpoint_number(fields[0], INT32_MAX, &epoch) ||
        !hw_checkpoint_number(fields[1], INT64_MAX, &start_offset)) {
        return false;
    }
    *status = hw_epoch_cache_assign(cache, (hw_epoch_t)epoch, start_offset, &changed, error);
    /* An entry out of order would have replaced earlier ones, or have been ignored. */
    return *status != HW_OK || cache->count == count + 1;
}

enum hw_status hw_epoch_checkpoint_read(struct hw_store *store, const char *path,
                                        struct hw_epoch_cache *cache, struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT(cache->count == 0);

    status = read_file(store, path, 2, cache->allocator, take_epoch, cache, error);
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

/* The part of a "name: value" line behind the colon and the space, if it has that name. */
static bool value_of(struct hw_checkpoint_span line, const char *name,
                     struct hw_checkpoint_span *value)
{
    size_t at = strlen(name);

    if (line.size < at + 2 || memcmp(line.text, name, at) != 0 || line.text[at] != ':' ||
        !hw_checkpoint_is_space(line.text[at + 1])) {
        return false;
    }
    for (at += 1; at < line.size && hw_checkpoint_is_space(line.text[at]); at++) {}
    *value = (struct hw_checkpoint_span){.text = line.text + at, .size = line.size - at};
    return true;
}

static enum hw_status parse_metadata(struct line_reader *reader, struct hw_uuid *topic_id,
                                     struct hw_error *error)
{
    struct hw_uuid id;
    struct hw_checkpoint_span line;
    struct hw_checkpoint_span value;
    int64_t version;

    if (!hw_checkpoint_lines_next(&reader->lines, &line) || !value_of(line, "version", &value) ||
        !hw_checkpoint_number(value, INT32_MAX, &version)) {
        return malformed(reader, "expected \"version: 0\"", error);
    }
    if (!hw_checkpoint_lines_next(&reader->lines, &line) || !value_of(line, "topic_id", &value) ||
        !hw_uuid_parse(value.text, value.size, &id) || hw_uuid_is_zero(&id)) {
        return malformed(reader, "expected \"topic_id: \" and a topic id", error);
    }
    *topic_id = id;
    return HW_OK;
}

enum hw_status hw_partition_metadata_read(struct hw_store *store, const char *path,
                                          const struct hw_allocator *allocator,
                                          struct hw_uuid *topic_id, struct hw_error *error)
{
    struct line_reader reader = {.path = path};
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, allocator);
    status = hw_store_read_whole(store, path, METADATA_SIZE_MAX, &content, error);
    if (status == HW_OK) {
        reader.lines = hw_checkpoint_lines_of(content.bytes, content.size);
        status = parse_metadata(&reader, topic_id, error);
    }
    hw_buffer_release(&content);
    return status;
}

enum hw_status hw_partition_metadata_write(struct hw_store *store, const char *path,
                                           const struct hw_uuid *topic_id, struct hw_error *error)
{
    /* The size of the whole text with its NUL: the file has no final newline. */
    char text[sizeof "version: 0\ntopic_id: " + HW_UUID_TEXT_SIZE - 1];
    size_t size = sizeof "version: 0\ntopic_id: " - 1;

    memcpy(text, "version: 0\ntopic_id: ", size);
    hw_uuid_format(topic_id, text + size);
    return hw_store_replace(store, path, text, size + HW_UUID_TEXT_SIZE - 1, error);
}
