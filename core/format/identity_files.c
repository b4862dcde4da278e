/* SPDX-License-Identifier: MIT */
#include "core/format/identity_files.h"

#include "core/base/buffer.h"
#include "core/format/checkpoint_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    FILE_SIZE_MAX = 64 * 1024,
    META_CONTENT_SIZE = 64 + 4 * HW_META_VALUE_SIZE, /* Names and values, as they are written. */
    QUORUM_STATE_VERSION_MAX = 1
};

/* --------------------------------------------------------------------------- partition.metadata */

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
    status = hw_store_read_whole(store, path, FILE_SIZE_MAX, &content, error);
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

/* ------------------------------------------------------------------------------ meta.properties */

static struct hw_checkpoint_span trim(struct hw_checkpoint_span span)
{
    while (span.size > 0 && hw_checkpoint_is_space(span.text[0])) {
        span.text++;
        span.size--;
    }
    while (span.size > 0 && hw_checkpoint_is_space(span.text[span.size - 1])) {
        span.size--;
    }
    return span;
}

static bool equals(struct hw_checkpoint_span span, const char *text)
{
    return span.size == strlen(text) && memcmp(span.text, text, span.size) == 0;
}

static void set_value(char value[HW_META_VALUE_SIZE], struct hw_checkpoint_span span)
{
    size_t size = span.size < HW_META_VALUE_SIZE ? span.size : (size_t)HW_META_VALUE_SIZE - 1;

    memcpy(value, span.text, size);
    value[size] = '\0';
}

/* One line "key=value"; java.util.Properties takes ':' too. */
static void take_line(struct hw_meta_properties *properties, struct hw_checkpoint_span line)
{
    struct hw_checkpoint_span key = trim(line);
    struct hw_checkpoint_span value;
    size_t at = 0;

    if (key.size == 0 || key.text[0] == '#' || key.text[0] == '!') {
        return;
    }
    while (at < key.size && key.text[at] != '=' && key.text[at] != ':') {
        at++;
    }
    if (at == key.size) {
        return;
    }
    value = trim((struct hw_checkpoint_span){key.text + at + 1, key.size - at - 1});
    key = trim((struct hw_checkpoint_span){key.text, at});
    if (equals(key, "version")) {
        set_value(properties->version, value);
    } else if (equals(key, "cluster.id")) {
        set_value(properties->cluster_id, value);
    } else if (equals(key, "node.id") || equals(key, "broker.id")) {
        set_value(properties->node_id, value);
    } else if (equals(key, "directory.id")) {
        set_value(properties->directory_id, value);
    }
}

enum hw_status hw_meta_properties_read(struct hw_meta_properties *properties,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const char *directory, struct hw_error *error)
{
    struct hw_checkpoint_lines lines;
    struct hw_checkpoint_span line;
    struct hw_buffer content;
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, directory, "meta.properties", error);

    *properties = (struct hw_meta_properties){.is_there = false};
    hw_buffer_init(&content, allocator);
    if (status == HW_OK) {
        status = hw_store_read_whole(store, path, FILE_SIZE_MAX, &content, error);
    }
    properties->is_there = status == HW_OK || status == HW_CORRUPT;
    if (status == HW_OK && content.size > 0) {
        lines = hw_checkpoint_lines_of(content.bytes, content.size);
        while (hw_checkpoint_lines_next(&lines, &line)) {
            take_line(properties, line);
        }
    }
    hw_buffer_release(&content);
    return status == HW_NOT_FOUND || status == HW_CORRUPT ? HW_OK : status;
}

enum hw_status hw_meta_properties_write(const struct hw_meta_properties *properties,
                                        struct hw_store *store, const char *directory,
                                        struct hw_error *error)
{
    char text[META_CONTENT_SIZE];
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, directory, "meta.properties", error);
    int size = snprintf(text, sizeof text,
                        "#\n#highwater\ncluster.id=%s\ndirectory.id=%s\nnode.id=%s\nversion=%s\n",
                        properties->cluster_id, properties->directory_id, properties->node_id,
                        properties->version);

    return status == HW_OK ? hw_store_write_atomically(store, path, text, (size_t)size, error)
                           : status;
}

/* --------------------------------------------------------------------------------- quorum-state */

/* What follows the member's name and colon in the line, up to the next comma or brace. */
static struct hw_checkpoint_span quorum_state_member(struct hw_checkpoint_span line,
                                                     const char *name)
{
    size_t size = strlen(name);
    struct hw_checkpoint_span value = {.text = line.text + line.size};

    for (size_t at = 0; at + size <= line.size; at++) {
        if (memcmp(line.text + at, name, size) == 0) {
            value.text = line.text + at + size;
            value.size = line.size - at - size;
        }
    }
    while (value.size > 0 && (hw_checkpoint_is_space(*value.text) || *value.text == ':')) {
        value.text++;
        value.size--;
    }
    for (size = 0; size < value.size && strchr(",} ", value.text[size]) == NULL; size++) {}
    value.size = size;
    return value;
}

enum hw_status hw_quorum_state_check(struct hw_store *store, const char *path,
                                     const struct hw_allocator *allocator, struct hw_error *error)
{
    struct hw_checkpoint_lines lines;
    struct hw_checkpoint_span line;
    struct hw_buffer content;
    int64_t version;
    enum hw_status status;

    hw_buffer_init(&content, allocator);
    status = hw_store_read_whole(store, path, FILE_SIZE_MAX, &content, error);
    lines = hw_checkpoint_lines_of(content.bytes, content.size);
    if (status == HW_OK) {
        if (!hw_checkpoint_lines_next(&lines, &line) || line.size == 0 || line.text[0] != '{' ||
            line.text[line.size - 1] != '}' ||
            !hw_checkpoint_number(quorum_state_member(line, "\"data_version\""), INT64_MAX,
                                  &version)) {
            status =
                hw_error_set(error, HW_CORRUPT,
                             "%.300s: the first line is no JSON object with a data_version", path);
        } else if (version > QUORUM_STATE_VERSION_MAX) {
            status = hw_error_set(error, HW_CORRUPT,
                                  "%.300s: data_version %" PRId64 ": Kafka 4.4 knows 0 and 1", path,
                                  version);
        }
    }
    hw_buffer_release(&content);
    return status;
}
