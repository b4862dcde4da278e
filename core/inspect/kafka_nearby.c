/* SPDX-License-Identifier: MIT */
/* Is a directory a log directory, and where are some if it is not? */
#include "core/inspect/kafka_directory.h"

#include <stdio.h>
#include <string.h>

enum {
    DEPTH_MAX = 3,     /* Levels below the path. */
    LISTINGS_MAX = 500 /* Directories that are listed in all: somebody waits for an error. */
};

/* The search for log directories below a path. */
struct nearby {
    const struct hw_allocator *allocator;
    struct hw_store *store;
    int listings;
    char found[256]; /* Their paths. */
    bool is_full;
};

/* List a directory. What is none, or cannot be listed, is empty. */
static enum hw_status nearby_list(struct nearby *nearby, const char *path,
                                  struct hw_name_list *names, struct hw_error *error)
{
    *names = (struct hw_name_list){.allocator = nearby->allocator};
    nearby->listings++;
    return hw_store_list(nearby->store, path, names, error) == HW_NO_MEMORY ? HW_NO_MEMORY : HW_OK;
}

/* Whether the directory `name` below `path` has a file of a partition in it. */
static enum hw_status nearby_is_partition(struct nearby *nearby, const char *path, const char *name,
                                          bool *is, struct hw_error *error)
{
    struct hw_name_list names;
    char full[HW_PATH_MAX];
    enum hw_status status;

    *is = false;
    if (hw_path_join(full, path, name, error) != HW_OK) {
        return HW_OK;
    }
    status = nearby_list(nearby, full, &names, error);
    *is = status == HW_OK && hw_kafka_any_name(&names, hw_kafka_is_partition_file);
    hw_name_list_release(&names);
    return status;
}

static enum hw_status nearby_is_log_directory(struct nearby *nearby, const char *path,
                                              const struct hw_name_list *names, bool *is,
                                              struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *is = hw_kafka_any_name(names, hw_kafka_is_log_directory_file);
    for (size_t i = 0; status == HW_OK && !*is && i < names->count; i++) {
        enum hw_kafka_partition_state state;
        size_t topic_size;
        int32_t partition;

        if (hw_kafka_partition_name_parse(names->names[i], &topic_size, &partition, &state) &&
            nearby->listings < LISTINGS_MAX) {
            status = nearby_is_partition(nearby, path, names->names[i], is, error);
        }
    }
    return status;
}

static void nearby_note(struct nearby *nearby, const char *path)
{
    size_t at = strlen(nearby->found);
    int size =
        snprintf(nearby->found + at, sizeof nearby->found - at, "%s%s", at == 0 ? "" : ", ", path);

    if (size < 0 || (size_t)size >= sizeof nearby->found - at) {
        nearby->found[at] = '\0';
        nearby->is_full = true;
    }
}

/* Look at the directories that are `depth` levels below the path. */
static enum hw_status nearby_search(struct nearby *nearby, const char *path, int depth,
                                    struct hw_error *error)
{
    struct hw_name_list names;
    bool is = false;
    enum hw_status status = nearby_list(nearby, path, &names, error);

    if (status == HW_OK && depth == 0) {
        status = nearby_is_log_directory(nearby, path, &names, &is, error);
        if (is) {
            nearby_note(nearby, path);
        }
    }
    for (size_t i = 0; status == HW_OK && depth > 0 && i < names.count && !nearby->is_full &&
                       nearby->listings < LISTINGS_MAX;
         i++) {
        char full[HW_PATH_MAX];

        if (hw_path_join(full, path, names.names[i], error) == HW_OK) {
            status = nearby_search(nearby, full, depth - 1, error);
        }
    }
    hw_name_list_release(&names);
    return status;
}

enum hw_status hw_kafka_expect_log_directory(const struct hw_allocator *allocator,
                                             struct hw_store *store, const char *path,
                                             const struct hw_name_list *names,
                                             struct hw_error *error)
{
    struct nearby nearby = {.allocator = allocator, .store = store};
    char root[HW_PATH_MAX];
    bool is = false;
    enum hw_status status =
        hw_path_format(root, error, "%.*s", (int)hw_kafka_trimmed_size(path), path);

    if (status == HW_OK) {
        status = nearby_is_log_directory(&nearby, root, names, &is, error);
    }
    for (int depth = 1; status == HW_OK && !is && depth <= DEPTH_MAX && nearby.found[0] == '\0';
         depth++) {
        status = nearby_search(&nearby, root, depth, error);
    }
    if (status != HW_OK || is) {
        return status;
    }
    return nearby.found[0] == '\0'
               ? hw_error_set(error, HW_NOT_FOUND,
                              "there is no partition in %.300s, and no log directory of Kafka "
                              "near below it",
                              root)
               : hw_error_set(error, HW_NOT_FOUND,
                              "there is no partition in %.300s; log directories below it: %s", root,
                              nearby.found);
}
