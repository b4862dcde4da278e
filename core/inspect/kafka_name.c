/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_name.h"

#include "core/format/segment_name.h"

#include <inttypes.h>
#include <string.h>

static const struct {
    const char *suffix;
    enum hw_kafka_partition_state state;
} kafka_name_suffixes[] = {
    {"-delete", HW_KAFKA_DELETE}, {"-stray", HW_KAFKA_STRAY}, {"-future", HW_KAFKA_FUTURE}};

const char *hw_kafka_partition_state_name(enum hw_kafka_partition_state state)
{
    for (size_t i = 0; i < sizeof kafka_name_suffixes / sizeof kafka_name_suffixes[0]; i++) {
        if (kafka_name_suffixes[i].state == state) {
            return kafka_name_suffixes[i].suffix + 1;
        }
    }
    return "live";
}

/* The last character `c` among the first `size`, or NULL. */
static const char *kafka_name_find_last(const char *text, size_t size, char c)
{
    while (size > 0) {
        if (text[--size] == c) {
            return text + size;
        }
    }
    return NULL;
}

/* Take "-delete" and what is before it, down to the last dot, away from *size. */
static enum hw_kafka_partition_state kafka_name_take_suffix(const char *name, size_t *size)
{
    for (size_t i = 0; i < sizeof kafka_name_suffixes / sizeof kafka_name_suffixes[0]; i++) {
        size_t suffix_size = strlen(kafka_name_suffixes[i].suffix);

        if (*size > suffix_size &&
            memcmp(name + *size - suffix_size, kafka_name_suffixes[i].suffix, suffix_size) == 0) {
            const char *dot = kafka_name_find_last(name, *size, '.');

            if (dot != NULL && dot > name) {
                *size = (size_t)(dot - name);
                return kafka_name_suffixes[i].state;
            }
        }
    }
    return HW_KAFKA_LIVE;
}

/* A decimal number as Kafka writes a partition: 0, or digits that do not begin with 0. */
static bool kafka_name_parse_number(const char *text, size_t size, int32_t *partition)
{
    int64_t value;
    bool is_number =
        (size == 1 || text[0] != '0') && hw_digits_parse(text, size, INT32_MAX, &value);

    if (is_number) {
        *partition = (int32_t)value;
    }
    return is_number;
}

bool hw_kafka_partition_name_parse(const char *name, size_t *topic_size, int32_t *partition,
                                   enum hw_kafka_partition_state *state)
{
    size_t size = strlen(name);
    const char *dash;

    *state = kafka_name_take_suffix(name, &size);
    dash = kafka_name_find_last(name, size, '-');
    if (dash == NULL || !hw_is_topic_name(name, (size_t)(dash - name)) ||
        !kafka_name_parse_number(dash + 1, (size_t)(name + size - dash - 1), partition)) {
        return false;
    }
    *topic_size = (size_t)(dash - name);
    return true;
}

bool hw_kafka_is_intruder(const char *name)
{
    const char *dash = strrchr(name, '-');
    enum hw_kafka_partition_state state;
    size_t topic_size;
    int32_t partition;
    bool is_like_partition = dash != NULL && dash != name && dash[1] != '\0' &&
                             strspn(dash + 1, "0123456789") == strlen(dash + 1);

    return !is_like_partition && strcmp(name, HW_KAFKA_REMOTE_INDEXES) != 0 &&
           !hw_kafka_partition_name_parse(name, &topic_size, &partition, &state);
}

size_t hw_kafka_trimmed_size(const char *path)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/') {
        size--;
    }
    return size;
}

size_t hw_kafka_parent_size(const char *path)
{
    const char *slash = kafka_name_find_last(path, hw_kafka_trimmed_size(path), '/');

    return slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

const char *hw_kafka_base_name(const char *path)
{
    const char *slash = kafka_name_find_last(path, hw_kafka_trimmed_size(path), '/');

    return slash == NULL ? path : slash + 1;
}

enum hw_status hw_kafka_path_beside(char beside[HW_PATH_MAX], const char *path, const char *name,
                                    struct hw_error *error)
{
    size_t size = hw_kafka_parent_size(path);

    return hw_path_format(beside, error, "%.*s%s%s", (int)size, path,
                          size == 0 || path[size - 1] == '/' ? "" : "/", name);
}

bool hw_kafka_is_partition_file(const char *name)
{
    hw_offset_t base_offset;
    const char *suffix;

    return strcmp(name, "partition.metadata") == 0 ||
           strcmp(name, "leader-epoch-checkpoint") == 0 ||
           hw_segment_name_split(name, &base_offset, &suffix);
}

bool hw_kafka_any_name(const struct hw_name_list *names, bool (*is_one)(const char *name))
{
    size_t i = 0;

    while (i < names->count && !is_one(names->names[i])) {
        i++;
    }
    return i < names->count;
}

bool hw_kafka_is_log_directory_file(const char *name)
{
    return strcmp(name, "meta.properties") == 0 || hw_name_ends_with(name, "-offset-checkpoint");
}

/* ------------------------------------------------------------------------------------ segments */

/* "<stem>.log<tail>" and so on; the stem is `stem_size` characters of a path and the digits. */
static enum hw_status segment_paths_fill(struct hw_segment_paths *paths, int stem_size,
                                         const char *stem, const char *tail, struct hw_error *error)
{
    const char *slash = stem_size == 0 || stem[stem_size - 1] == '/' ? "" : "/";
    const struct {
        char *path;
        const char *suffix;
    } files[] = {{paths->log, ".log"},
                 {paths->index, ".index"},
                 {paths->time, ".timeindex"},
                 {paths->transactions, ".txnindex"}};
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < sizeof files / sizeof files[0]; i++) {
        status = hw_path_format(files[i].path, error, "%.*s%s%020" PRId64 "%s%s", stem_size, stem,
                                slash, paths->base_offset, files[i].suffix, tail);
    }
    return status;
}

enum hw_status hw_segment_paths_format(struct hw_segment_paths *paths, const char *directory,
                                       struct hw_segment_item item, struct hw_error *error)
{
    *paths = (struct hw_segment_paths){.is_named = true, .base_offset = item.base_offset};
    return segment_paths_fill(paths, (int)strlen(directory), directory, item.is_swap ? ".swap" : "",
                              error);
}

enum hw_status hw_segment_paths_of_file(struct hw_segment_paths *paths, const char *file,
                                        struct hw_error *error)
{
    const char *suffix;
    const char *tail;

    *paths = (struct hw_segment_paths){.is_named = false};
    if (strlen(file) >= HW_PATH_MAX ||
        !hw_segment_name_split(hw_kafka_base_name(file), &paths->base_offset, &suffix)) {
        return hw_path_format(paths->log, error, "%s", file);
    }
    paths->is_named = true;
    tail = strchr(suffix + 1, '.');
    return segment_paths_fill(paths, (int)hw_kafka_parent_size(file), file,
                              tail == NULL ? "" : tail, error);
}
