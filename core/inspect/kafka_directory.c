/* SPDX-License-Identifier: MIT */
#include "core/inspect/kafka_directory.h"

#include "core/format/segment_name.h"
#include "core/inspect/segment_file.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- partitions */

static void kafka_directory_drop(struct hw_kafka_partition *partition)
{
    const struct hw_allocator *allocator = partition->allocator;

    hw_text_free(allocator, partition->path);
    hw_text_free(allocator, partition->file);
    hw_text_free(allocator, partition->fault);
    hw_text_free(allocator, partition->topic);
}

/* Fill the texts of a partition. Returns false if there is no memory for one. */
static bool kafka_directory_fill(struct hw_kafka_partition *made, const char *path,
                                 size_t path_size, const char *file, const char *fault)
{
    const struct hw_allocator *allocator = made->allocator;
    size_t topic_size = 0;
    bool is_whole;

    made->path = hw_text_copy_size(allocator, path, path_size);
    made->file = file == NULL ? NULL : hw_text_copy(allocator, file);
    made->fault = fault == NULL ? NULL : hw_text_copy(allocator, fault);
    is_whole = made->path != NULL && (made->file != NULL) == (file != NULL) &&
               (made->fault != NULL) == (fault != NULL);
    if (is_whole && fault == NULL &&
        hw_kafka_partition_name_parse(hw_kafka_base_name(made->path), &topic_size, &made->partition,
                                      &made->state)) {
        made->topic = hw_text_copy_size(allocator, hw_kafka_base_name(made->path), topic_size);
        is_whole = made->topic != NULL;
    }
    return is_whole;
}

/* Add the partition whose directory is the first `path_size` characters of `path`, under the last
 * root. `file` and `fault` may be NULL. */
static enum hw_status kafka_directory_add(struct hw_kafka_directory *directory, const char *path,
                                          size_t path_size, const char *file, const char *fault,
                                          struct hw_error *error)
{
    struct hw_kafka_partition made = {.allocator = directory->allocator,
                                      .store = directory->store,
                                      .partition = -1,
                                      .root = directory->root_count - 1,
                                      .memo = directory->memo};
    enum hw_status status =
        hw_array_reserve(directory->allocator, (void **)&directory->partitions,
                         &directory->capacity, directory->count + 1, sizeof made, error);

    if (status != HW_OK) {
        return status;
    }
    if (!kafka_directory_fill(&made, path, path_size, file, fault)) {
        kafka_directory_drop(&made);
        return hw_error_no_memory(error, "a partition's path");
    }
    directory->partitions[directory->count++] = made;
    return HW_OK;
}

static int kafka_directory_compare_texts(const char *left, const char *right)
{
    return left == NULL || right == NULL ? (left != NULL) - (right != NULL) : strcmp(left, right);
}

static int kafka_directory_compare(const void *a, const void *b)
{
    const struct hw_kafka_partition *left = a;
    const struct hw_kafka_partition *right = b;
    int order = kafka_directory_compare_texts(left->topic, right->topic);

    if (order == 0) {
        order = (left->partition > right->partition) - (left->partition < right->partition);
    }
    if (order == 0) {
        order = strcmp(left->path, right->path);
    }
    return order != 0 ? order : kafka_directory_compare_texts(left->file, right->file);
}

/* Whether the second one, next in order, is the same or in the first one. */
static bool kafka_directory_covers(const struct hw_kafka_partition *one,
                                   const struct hw_kafka_partition *other)
{
    return strcmp(one->path, other->path) == 0 &&
           (one->file == NULL || (other->file != NULL && strcmp(one->file, other->file) == 0));
}

static void kafka_directory_sort(struct hw_kafka_directory *directory)
{
    size_t kept = 0;

    if (directory->count > 0) {
        qsort(directory->partitions, directory->count, sizeof *directory->partitions,
              kafka_directory_compare);
    }
    for (size_t i = 0; i < directory->count; i++) {
        if (kept > 0 &&
            kafka_directory_covers(&directory->partitions[kept - 1], &directory->partitions[i])) {
            kafka_directory_drop(&directory->partitions[i]);
        } else {
            directory->partitions[kept++] = directory->partitions[i];
        }
    }
    directory->count = kept;
}

/* --------------------------------------------------------------------------------------- paths */

static const struct {
    const char *suffix;
    const char *text;
} kafka_directory_kinds[] = {
    {".index", "an offset index: kafka_index() reads it"},
    {".timeindex", "a time index: kafka_timeindex() reads it"},
    {".txnindex", "a transaction index: kafka_aborted() reads it"},
    {".snapshot", "a producer snapshot: kafka_producers() reads it"},
};

/* Whether the bytes of a file without a segment's name have a batch among them. */
static enum hw_status kafka_directory_check_bytes(const struct hw_allocator *allocator,
                                                  struct hw_store *store, const char *path,
                                                  struct hw_error *error)
{
    struct hw_segment_file file;
    struct hw_segment_entry entry;
    bool found = false;
    enum hw_status status =
        hw_segment_file_open(&file, allocator, store, path, false, 0, HW_OFFSET_NONE, error);

    if (status == HW_OK) {
        status = hw_segment_file_next(&file, NULL, &entry, &found, error);
    }
    if (status == HW_OK && file.size_bytes > 0 &&
        (!found || (entry.fault == HW_FAULT_NO_BATCH && entry.is_last))) {
        status = hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST,
                                 "%.300s is no segment: there is no batch in it", path);
    }
    hw_segment_file_close(&file);
    return status;
}

/* Whether the file is a .log: by its name, or else by what is in it. */
static enum hw_status kafka_directory_check_file(const struct hw_allocator *allocator,
                                                 struct hw_store *store, const char *path,
                                                 struct hw_error *error)
{
    hw_offset_t base_offset;
    const char *suffix;

    if (!hw_segment_name_split(hw_kafka_base_name(path), &base_offset, &suffix)) {
        return kafka_directory_check_bytes(allocator, store, path, error);
    }
    for (size_t i = 0; i < sizeof kafka_directory_kinds / sizeof kafka_directory_kinds[0]; i++) {
        size_t size = strlen(kafka_directory_kinds[i].suffix);

        if (strncmp(suffix, kafka_directory_kinds[i].suffix, size) == 0 &&
            (suffix[size] == '\0' || suffix[size] == '.')) {
            return hw_error_refuse(error, HW_KAFKA_INVALID_REQUEST, "%.300s is %s", path,
                                   kafka_directory_kinds[i].text);
        }
    }
    return HW_OK;
}

/* Add the partitions of a log directory by its names, passing over what is no directory. One that
 * cannot be looked at, or leads out of the store's root, counts: who opens it says why. Source:
 * LogManager.loadLogs. */
static enum hw_status kafka_directory_take_log_directory(struct hw_kafka_directory *directory,
                                                         const char *path,
                                                         const struct hw_name_list *names,
                                                         bool only_live, struct hw_error *error)
{
    size_t size = hw_kafka_trimmed_size(path);
    enum hw_status status =
        hw_kafka_expect_log_directory(directory->allocator, directory->store, path, names, error);

    for (size_t i = 0; status == HW_OK && i < names->count; i++) {
        enum hw_kafka_partition_state state;
        struct hw_path_look look;
        struct hw_error ignored;
        char full[HW_PATH_MAX];
        size_t topic_size;
        int32_t partition;

        if (!hw_kafka_partition_name_parse(names->names[i], &topic_size, &partition, &state) ||
            (only_live && state != HW_KAFKA_LIVE)) {
            continue;
        }
        status = hw_path_format(full, error, "%.*s%s%s", (int)size, path,
                                path[size - 1] == '/' ? "" : "/", names->names[i]);
        if (status == HW_OK && (hw_store_look(directory->store, full, &look, &ignored) != HW_OK ||
                                look.is_directory || (!look.exists && !look.is_link))) {
            status = kafka_directory_add(directory, full, strlen(full), NULL, NULL, error);
        }
    }
    return status;
}

/* Add what is in the directory `path`. */
static enum hw_status kafka_directory_take_names(struct hw_kafka_directory *directory,
                                                 const char *path, const struct hw_name_list *names,
                                                 bool only_live, struct hw_error *error)
{
    struct hw_kafka_root *root = &directory->roots[directory->root_count - 1];

    root->kind = hw_kafka_any_name(names, hw_kafka_is_partition_file) ? HW_KAFKA_PARTITION
                                                                      : HW_KAFKA_LOG_DIRECTORY;
    return root->kind == HW_KAFKA_PARTITION
               ? kafka_directory_add(directory, path, hw_kafka_trimmed_size(path), NULL, NULL,
                                     error)
               : kafka_directory_take_log_directory(directory, path, names, only_live, error);
}

static enum hw_status kafka_directory_add_root(struct hw_kafka_directory *directory,
                                               const char *path, struct hw_error *error)
{
    enum hw_status status = hw_array_reserve(directory->allocator, (void **)&directory->roots,
                                             &directory->root_capacity, directory->root_count + 1,
                                             sizeof *directory->roots, error);
    struct hw_kafka_root root = {.path = NULL};

    if (status == HW_OK) {
        root.path = hw_text_copy(directory->allocator, path);
        status = root.path == NULL ? hw_error_no_memory(error, path) : HW_OK;
    }
    if (status == HW_OK) {
        directory->roots[directory->root_count++] = root;
    }
    return status;
}

static enum hw_status kafka_directory_take_path(struct hw_kafka_directory *directory,
                                                const char *path,
                                                const struct hw_kafka_directory_options *options,
                                                struct hw_error *error)
{
    struct hw_name_list names = {.allocator = directory->allocator};
    struct hw_error list_error;
    struct hw_file *file;
    enum hw_status status;

    if (path[0] == '\0') {
        return hw_error_set(error, HW_NOT_FOUND, "the path is empty");
    }
    status = hw_store_open(directory->store, path, HW_OPEN_READ, &file, error);
    if (status == HW_OK) {
        hw_file_close(file);
        if (options->wants_segments) {
            status =
                kafka_directory_check_file(directory->allocator, directory->store, path, error);
        }
        return status == HW_OK ? kafka_directory_add(directory, path, hw_kafka_parent_size(path),
                                                     path, NULL, error)
                               : status;
    }
    if (status != HW_IO) {
        return status;
    }
    /* A directory cannot be opened as a file; what is neither is told of as a file. */
    if (hw_store_list(directory->store, path, &names, &list_error) == HW_OK) {
        status = kafka_directory_take_names(directory, path, &names, options->only_live, error);
    } else if (list_error.status == HW_NO_MEMORY) {
        *error = list_error;
        status = HW_NO_MEMORY;
    }
    hw_name_list_release(&names);
    return status;
}

enum hw_status hw_kafka_directory_open(struct hw_kafka_directory *directory,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const struct hw_name_list *paths,
                                       const struct hw_kafka_directory_options *options,
                                       struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *directory = (struct hw_kafka_directory){.allocator = allocator, .store = store};
    directory->memo = hw_alloc_zeroed(allocator, sizeof *directory->memo);
    if (directory->memo == NULL) {
        return hw_error_no_memory(error, "a directory of Kafka");
    }
    directory->memo->allocator = allocator;
    for (size_t i = 0; status == HW_OK && i < paths->count; i++) {
        const char *path = paths->names[i];

        status = kafka_directory_add_root(directory, path, error);
        if (status == HW_OK) {
            status = kafka_directory_take_path(directory, path, options, error);
        }
        if (status != HW_OK && status != HW_NO_MEMORY && options->is_list) {
            char fault[HW_ERROR_MESSAGE_SIZE_BYTES];

            memcpy(fault, error->message, sizeof fault);
            directory->roots[directory->root_count - 1].has_fault = true;
            status = kafka_directory_add(directory, path, hw_kafka_trimmed_size(path), NULL, fault,
                                         error);
        }
    }
    kafka_directory_sort(directory);
    return status;
}

const char *hw_kafka_root_fault(const struct hw_kafka_directory *directory, size_t number)
{
    for (size_t i = 0; i < directory->count; i++) {
        if (directory->partitions[i].root == number && directory->partitions[i].fault != NULL) {
            return directory->partitions[i].fault;
        }
    }
    return NULL;
}

void hw_kafka_directory_cut(struct hw_kafka_directory *directory, size_t count)
{
    while (directory->count > count) {
        kafka_directory_drop(&directory->partitions[--directory->count]);
    }
}

void hw_kafka_directory_release(struct hw_kafka_directory *directory)
{
    hw_kafka_directory_cut(directory, 0);
    for (size_t i = 0; i < directory->root_count; i++) {
        hw_text_free(directory->allocator, directory->roots[i].path);
    }
    hw_free(directory->allocator, directory->roots,
            directory->root_capacity * sizeof *directory->roots);
    hw_free(directory->allocator, directory->partitions,
            directory->capacity * sizeof *directory->partitions);
    if (directory->memo != NULL) {
        hw_checkpoint_memo_release(directory->memo);
    }
    hw_free(directory->allocator, directory->memo, sizeof *directory->memo);
    *directory = (struct hw_kafka_directory){.allocator = directory->allocator};
}

/* ----------------------------------------------------------------------------------------- order
 */

/* Whether an offset index stands beside the file. */
static enum hw_status kafka_directory_has_index(struct hw_store *store, const char *file, bool *has,
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

static bool kafka_directory_is_index(const char *name)
{
    return hw_name_ends_with(name, ".index");
}

/* Whether any name in the directory is one of those. */
static enum hw_status kafka_directory_has_name(const struct hw_allocator *allocator,
                                               struct hw_store *store, const char *path,
                                               bool (*is_one)(const char *name), bool *has,
                                               struct hw_error *error)
{
    struct hw_name_list names = {.allocator = allocator};
    enum hw_status status = hw_store_list(store, path, &names, error);

    *has = status == HW_OK && hw_kafka_any_name(&names, is_one);
    hw_name_list_release(&names);
    return status;
}

enum hw_status hw_kafka_path_is_orderly(const struct hw_allocator *allocator,
                                        struct hw_store *store, const char *path, bool *is_orderly,
                                        struct hw_error *error)
{
    struct hw_kafka_directory_options options = {.only_live = true};
    struct hw_name_list paths = {.allocator = allocator};
    struct hw_kafka_directory directory;
    enum hw_kafka_path_kind kind = HW_KAFKA_FILE;
    enum hw_status status = hw_name_list_add(&paths, path, error);

    *is_orderly = false;
    directory = (struct hw_kafka_directory){.allocator = allocator};
    if (status == HW_OK) {
        status = hw_kafka_directory_open(&directory, allocator, store, &paths, &options, error);
    }
    if (status == HW_OK) {
        kind = directory.roots[0].kind;
    }
    if (status == HW_OK && kind == HW_KAFKA_FILE) {
        status = kafka_directory_has_index(store, path, is_orderly, error);
    } else if (status == HW_OK && kind == HW_KAFKA_LOG_DIRECTORY) {
        status = kafka_directory_has_name(allocator, store, path, hw_kafka_is_log_directory_file,
                                          is_orderly, error);
    }
    if (status == HW_OK && !*is_orderly && kind != HW_KAFKA_FILE) {
        *is_orderly = directory.count > 0;
        for (size_t i = 0; status == HW_OK && *is_orderly && i < directory.count; i++) {
            status = kafka_directory_has_name(allocator, store, directory.partitions[i].path,
                                              kafka_directory_is_index, is_orderly, error);
        }
    }
    hw_kafka_directory_release(&directory);
    hw_name_list_release(&paths);
    *is_orderly = *is_orderly && status == HW_OK;
    return status == HW_NO_MEMORY ? HW_NO_MEMORY : HW_OK;
}

/* ------------------------------------------------------------------------------------- listing */

bool hw_kafka_partition_is_metadata(const struct hw_kafka_partition *partition)
{
    return partition->topic != NULL && strcmp(partition->topic, "__cluster_metadata") == 0;
}

enum hw_status hw_kafka_partition_list(const struct hw_kafka_partition *partition,
                                       struct hw_name_list *names, struct hw_error *error)
{
    enum hw_status status;

    *names = (struct hw_name_list){.allocator = partition->allocator};
    status = hw_store_list(partition->store, partition->path, names, error);
    return status == HW_NOT_FOUND ? HW_OK : status;
}
