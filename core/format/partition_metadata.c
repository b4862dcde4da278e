/* SPDX-License-Identifier: MIT */
#include "core/format/partition_metadata.h"

#include "core/base/buffer.h"
#include "core/format/checkpoint_line.h"

#include <inttypes.h>
#include <string.h>

enum { PARTITION_METADATA_SIZE_MAX = 64 * 1024 };

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

/* Returns what is wrong, or NULL. */
static const char *parse_metadata(struct hw_checkpoint_lines *lines, struct hw_uuid *topic_id)
{
    struct hw_checkpoint_span line;
    struct hw_checkpoint_span value;
    struct hw_uuid id;
    int64_t version;

    if (!hw_checkpoint_lines_next(lines, &line) || !value_of(line, "version", &value) ||
        !hw_checkpoint_number(value, INT32_MAX, &version)) {
        return "expected \"version: 0\"";
    }
    if (!hw_checkpoint_lines_next(lines, &line) || !value_of(line, "topic_id", &value) ||
        !hw_uuid_parse(value.text, value.size, &id) || hw_uuid_is_zero(&id)) {
        return "expected \"topic_id: \" and a topic id";
    }
    *topic_id = id;
    return NULL;
}

enum hw_status hw_partition_metadata_read(struct hw_store *store, const char *path,
                                          const struct hw_allocator *allocator,
                                          struct hw_uuid *topic_id, struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, allocator);
    status = hw_store_read_whole(store, path, PARTITION_METADATA_SIZE_MAX, &content, error);
    if (status == HW_OK) {
        struct hw_checkpoint_lines lines = hw_checkpoint_lines_of(content.bytes, content.size);
        const char *fault = parse_metadata(&lines, topic_id);

        if (fault != NULL) {
            status = hw_error_set(error, HW_CORRUPT, "%s: line %" PRId64 ": %s", path, lines.line,
                                  fault);
        }
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
