/* SPDX-License-Identifier: MIT */
#include "core/format/meta_properties.h"

#include "core/base/buffer.h"
#include "core/format/checkpoint_line.h"

#include <stdio.h>
#include <string.h>

enum {
    FILE_SIZE_MAX = 64 * 1024,
    CONTENT_SIZE = 64 + 4 * HW_META_VALUE_SIZE /* Names and values, as they are written. */
};

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
    char text[CONTENT_SIZE];
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, directory, "meta.properties", error);
    int size = snprintf(text, sizeof text,
                        "#\n#highwater\ncluster.id=%s\ndirectory.id=%s\nnode.id=%s\nversion=%s\n",
                        properties->cluster_id, properties->directory_id, properties->node_id,
                        properties->version);

    return status == HW_OK ? hw_store_write_atomically(store, path, text, (size_t)size, error)
                           : status;
}
