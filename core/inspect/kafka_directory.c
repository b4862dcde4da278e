/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_directory.h"

#include "core/format/segment_name.h"
#include "core/format/topic_name.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------- names */

static const struct {
    const char *suffix;
    enum hw_kafka_partition_state state;
} suffixes[] = {
    {"-delete", HW_KAFKA_DELETE}, {"-stray", HW_KAFKA_STRAY}, {"-future", HW_KAFKA_FUTURE}};

const char *hw_kafka_partition_state_name(enum hw_kafka_partition_state state)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        if (suffixes[i].state == state) {
            return suffixes[i].suffix + 1;
        }
    }
    return "live";
}

/* The last character `c` among the first `size`, or NULL. */
static const char *find_last(const char *text, size_t size, char c)
{
    while (size > 0) {
        if (text[--size] == c) {
            return text + size;
        }
    }
    return NULL;
}

/* Take "-delete" and what is before it, down to the last dot, away from *size. */
static enum hw_kafka_partition_state take_suffix(const char *name, size_t *size)
{
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        size_t suffix_size = strlen(suffixes[i].suffix);

        if (*size > suffix_size &&
            memcmp(name + *size - suffix_size, suffixes[i].suffix, suffix_size) == 0) {
            const char *dot = find_last(name, *size, '.');

            if (dot != NULL && dot > name) {
                *size = (size_t)(dot - name);
                return suffixes[i].state;
            }
        }
    }
    return HW_KAFKA_LIVE;
}

/* A decimal number as Kafka writes a partition: 0, or digits that do not begin with 0. */
static bool parse_partition(const char *text, size_t size, int32_t *partition)
{
    int32_t value = 0;

    if (size == 0 || (size > 1 && text[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        int digit = text[i] - '0';

        if (digit < 0 || digit > 9 || value > (INT32_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *partition = value;
    return true;
}

bool hw_kafka_partition_name_parse(const char *name, size_t *topic_size, int32_t *partition,
                                   enum hw_kafka_partition_state *state)
{
    size_t size = strlen(name);
    const char *dash;

    *state = take_suffix(name, &size);
    dash = find_last(name, size, '-');
    if (dash == NULL || !hw_is_topic_name(name, (size_t)(dash - name)) ||
        !parse_partition(dash + 1, (size_t)(name + size - dash - 1), partition)) {
        return false;
    }
    *topic_size = (size_t)(dash - name);
    return true;
}

/* Characters of the path without the slashes at its end. */
static size_t trimmed_size(const char *path)
{
    size_t size = strlen(path);

    while (size > 1 && path[size - 1] == '/') {
        size--;
    }
    return size;
}

size_t hw_kafka_parent_size(const char *path)
{
    const char *slash = find_last(path, trimmed_size(path), '/');

    return slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

const char *hw_kafka_base_name(const char *path)
{
    const char *slash = find_last(path, trimmed_size(path), '/');

    return slash == NULL ? path : slash + 1;
}

/* ---------------------------------------------------------------------------------- partitions */

/* The first `size` characters as a text of their own. */
static char *copy_part(const struct hw_allocator *allocator, const char *text, size_t size)
{
    char *copy = hw_alloc(allocator, size + 1);

    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

static void partition_release(const struct hw_allocator *allocator,
                              struct hw_kafka_partition *partition)
{
    hw_text_free(allocator, partition->path);
    hw_text_free(allocator, partition->topic);
}

/* Add the partition whose directory is the first `path_size` characters of `path`. */
static enum hw_status add_partition(struct hw_kafka_directory *directory, const char *path,
                                    size_t path_size, struct hw_error *error)
{
    struct hw_kafka_partition made = {.partition = -1};
    size_t topic_size = 0;
    enum hw_status status =
        hw_array_reserve(directory->allocator, (void **)&directory->partitions,
                         &directory->capacity, directory->count + 1, sizeof made, error);

    if (status != HW_OK) {
        return status;
    }
    made.path = copy_part(directory->allocator, path, path_size);
    if (made.path == NULL) {
        return hw_error_no_memory(error, "a partition's path");
    }
    if (hw_kafka_partition_name_parse(hw_kafka_base_name(made.path), &topic_size, &made.partition,
                                      &made.state)) {
        made.topic = copy_part(directory->allocator, hw_kafka_base_name(made.path), topic_size);
        if (made.topic == NULL) {
            partition_release(directory->allocator, &made);
            return hw_error_no_memory(error, "a topic's name");
        }
    }
    directory->partitions[directory->count++] = made;
    return HW_OK;
}

static int compare_partitions(const void *a, const void *b)
{
    const struct hw_kafka_partition *left = a;
    const struct hw_kafka_partition *right = b;
    int order = strcmp(left->topic, right->topic);

    if (order == 0) {
        order = (left->partition > right->partition) - (left->partition < right->partition);
    }
    return order != 0 ? order : strcmp(left->path, right->path);
}

/* Whether a file of this name is found in partition directories only. */
static bool is_partition_file(const char *name)
{
    hw_offset_t base_offset;
    const char *suffix;

    return strcmp(name, "partition.metadata") == 0 ||
           strcmp(name, "leader-epoch-checkpoint") == 0 ||
           hw_segment_name_split(name, &base_offset, &suffix);
}

/* Fill the list from the names in the directory `path`. */
static enum hw_status take_names(struct hw_kafka_directory *directory, const char *path,
                                 const struct hw_name_list *names, bool only_live,
                                 struct hw_error *error)
{
    size_t size = trimmed_size(path);
    enum hw_status status = HW_OK;

    directory->kind = HW_KAFKA_LOG_DIRECTORY;
    for (size_t i = 0; i < names->count; i++) {
        if (is_partition_file(names->names[i])) {
            directory->kind = HW_KAFKA_PARTITION;
            return add_partition(directory, path, size, error);
        }
    }
    for (size_t i = 0; status == HW_OK && i < names->count; i++) {
        enum hw_kafka_partition_state state;
        char full[HW_PATH_MAX];
        size_t topic_size;
        int32_t partition;

        if (hw_kafka_partition_name_parse(names->names[i], &topic_size, &partition, &state) &&
            (!only_live || state == HW_KAFKA_LIVE)) {
            status = hw_path_format(full, error, "%.*s%s%s", (int)size, path,
                                    path[size - 1] == '/' ? "" : "/", names->names[i]);
            if (status == HW_OK) {
                status = add_partition(directory, full, strlen(full), error);
            }
        }
    }
    if (status == HW_OK && directory->count > 0) {
        qsort(directory->partitions, directory->count, sizeof *directory->partitions,
              compare_partitions);
    }
    return status;
}

enum hw_status hw_kafka_directory_open(struct hw_kafka_directory *directory,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const char *path, bool only_live, struct hw_error *error)
{
    struct hw_name_list names = {.allocator = allocator};
    struct hw_error list_error;
    struct hw_file *file;
    enum hw_status status;

    *directory = (struct hw_kafka_directory){.allocator = allocator};
    if (path[0] == '\0') {
        return hw_error_set(error, HW_NOT_FOUND, "the path is empty");
    }
    status = hw_store_open(store, path, HW_OPEN_READ, &file, error);
    if (status == HW_OK) {
        hw_file_close(file);
        directory->kind = HW_KAFKA_FILE;
        return add_partition(directory, path, hw_kafka_parent_size(path), error);
    }
    if (status != HW_IO) {
        return status;
    }
    /* A directory cannot be opened as a file; what is neither is told of as a file. */
    if (hw_store_list(store, path, &names, &list_error) == HW_OK) {
        status = take_names(directory, path, &names, only_live, error);
    } else if (list_error.status == HW_NO_MEMORY) {
        *error = list_error;
        status = HW_NO_MEMORY;
    }
    hw_name_list_release(&names);
    return status;
}

void hw_kafka_directory_cut(struct hw_kafka_directory *directory, size_t count)
{
    while (directory->count > count) {
        partition_release(directory->allocator, &directory->partitions[--directory->count]);
    }
}

void hw_kafka_directory_release(struct hw_kafka_directory *directory)
{
    hw_kafka_directory_cut(directory, 0);
    hw_free(directory->allocator, directory->partitions,
            directory->capacity * sizeof *directory->partitions);
    *directory = (struct hw_kafka_directory){.allocator = directory->allocator};
}

/* Whether an offset index stands beside the file. */
static enum hw_status has_index(struct hw_store *store, const char *file, bool *has,
                                struct hw_error *error)
{
    char path[HW_PATH_MAX];
    hw_offset_t base_offset;
    const char *suffix;

    *has = false;
    if (strlen(file) >= sizeof path ||
        !hw_segment_name_split(hw_kafka_base_name(file), &base_offset, &suffix)) {
        return HW_OK;
    }
    if (hw_path_format(path, error, "%.*s.index", (int)(suffix - file), file) != HW_OK) {
        return HW_OK;
    }
    return hw_store_exists(store, path, has, error);
}

/* Whether any name in the directory ends with one of the two. */
static enum hw_status has_name(const struct hw_allocator *allocator, struct hw_store *store,
                               const char *path, const char *one, const char *other, bool *has,
                               struct hw_error *error)
{
    struct hw_name_list names = {.allocator = allocator};
    enum hw_status status = hw_store_list(store, path, &names, error);

    *has = false;
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        *has = *has || hw_name_ends_with(names.names[i], one) ||
               hw_name_ends_with(names.names[i], other);
    }
    hw_name_list_release(&names);
    return status;
}

enum hw_status hw_kafka_path_is_orderly(const struct hw_allocator *allocator,
                                        struct hw_store *store, const char *path, bool *is_orderly,
                                        struct hw_error *error)
{
    struct hw_kafka_directory directory;
    enum hw_status status =
        hw_kafka_directory_open(&directory, allocator, store, path, true, error);

    *is_orderly = false;
    if (status == HW_OK && directory.kind == HW_KAFKA_FILE) {
        status = has_index(store, path, is_orderly, error);
    } else if (status == HW_OK && directory.kind == HW_KAFKA_LOG_DIRECTORY) {
        status = has_name(allocator, store, path, "-offset-checkpoint", "meta.properties",
                          is_orderly, error);
    }
    if (status == HW_OK && !*is_orderly && directory.kind != HW_KAFKA_FILE) {
        *is_orderly = directory.count > 0;
        for (size_t i = 0; status == HW_OK && *is_orderly && i < directory.count; i++) {
            status = has_name(allocator, store, directory.partitions[i].path, ".index", ".index",
                              is_orderly, error);
        }
    }
    hw_kafka_directory_release(&directory);
    *is_orderly = *is_orderly && status == HW_OK;
    return status == HW_NO_MEMORY ? HW_NO_MEMORY : HW_OK;
}

bool hw_kafka_partition_is_file(const struct hw_kafka_partition *partition, struct hw_store *store)
{
    struct hw_file *file;
    struct hw_error ignored;

    if (hw_store_open(store, partition->path, HW_OPEN_READ, &file, &ignored) != HW_OK) {
        return false; /* A directory cannot be opened as a file. */
    }
    hw_file_close(file);
    return true;
}

enum hw_status hw_kafka_partition_list(const struct hw_kafka_partition *partition,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       struct hw_name_list *names, struct hw_error *error)
{
    enum hw_status status;

    *names = (struct hw_name_list){.allocator = allocator};
    status = hw_store_list(store, partition->path, names, error);
    return status == HW_NOT_FOUND ||
                   (status == HW_IO && hw_kafka_partition_is_file(partition, store))
               ? HW_OK
               : status;
}
