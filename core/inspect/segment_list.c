/* SPDX-License-Identifier: MIT */
#include "core/inspect/segment_list.h"

#include "core/format/segment_name.h"

#include <inttypes.h>
#include <string.h>

enum hw_status hw_segment_list_open(struct hw_segment_list *list,
                                    const struct hw_allocator *allocator, struct hw_store *store,
                                    const struct hw_kafka_partition *partition,
                                    struct hw_error *error)
{
    struct hw_name_list names;
    enum hw_status status;

    *list = (struct hw_segment_list){.allocator = allocator};
    status = hw_kafka_partition_list(partition, allocator, store, &names, error);
    /* The names are sorted, and with 20 digits that is by offset. */
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        hw_offset_t base_offset;

        if (!hw_segment_name_parse(names.names[i], ".log", &base_offset)) {
            continue;
        }
        status = hw_array_reserve(allocator, (void **)&list->bases, &list->capacity,
                                  list->count + 1, sizeof *list->bases, error);
        if (status == HW_OK) {
            list->bases[list->count++] = base_offset;
        }
    }
    hw_name_list_release(&names);
    return status;
}

void hw_segment_list_release(struct hw_segment_list *list)
{
    hw_free(list->allocator, list->bases, list->capacity * sizeof *list->bases);
    *list = (struct hw_segment_list){.allocator = list->allocator};
}

/* "<stem>.log<tail>" and so on; the stem is `stem_size` characters of a path and the digits. */
static enum hw_status format_paths(struct hw_segment_paths *paths, int stem_size, const char *stem,
                                   const char *tail, struct hw_error *error)
{
    const char *slash = stem_size == 0 || stem[stem_size - 1] == '/' ? "" : "/";
    enum hw_status status = hw_path_format(paths->log, error, "%.*s%s%020" PRId64 ".log%s",
                                           stem_size, stem, slash, paths->base_offset, tail);

    if (status == HW_OK) {
        status = hw_path_format(paths->index, error, "%.*s%s%020" PRId64 ".index%s", stem_size,
                                stem, slash, paths->base_offset, tail);
    }
    if (status == HW_OK) {
        status = hw_path_format(paths->time, error, "%.*s%s%020" PRId64 ".timeindex%s", stem_size,
                                stem, slash, paths->base_offset, tail);
    }
    if (status == HW_OK) {
        status = hw_path_format(paths->transactions, error, "%.*s%s%020" PRId64 ".txnindex%s",
                                stem_size, stem, slash, paths->base_offset, tail);
    }
    return status;
}

enum hw_status hw_segment_paths_format(struct hw_segment_paths *paths, const char *directory,
                                       hw_offset_t base_offset, struct hw_error *error)
{
    *paths = (struct hw_segment_paths){.is_named = true, .base_offset = base_offset};
    return format_paths(paths, (int)strlen(directory), directory, "", error);
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
    return format_paths(paths, (int)hw_kafka_parent_size(file), file, tail == NULL ? "" : tail,
                        error);
}
