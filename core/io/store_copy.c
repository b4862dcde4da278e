/* SPDX-License-Identifier: MIT */
#include "core/io/store_copy.h"

#include <inttypes.h>
#include <string.h>

enum { COPY_DEPTH_MAX = 8, COPY_PIECE = 65536 };

struct copy {
    struct hw_store *from;
    struct hw_store *to; /* NULL: only count. */
    hw_store_copy_filter *is_wanted;
    const struct hw_allocator *allocator;
    int64_t bytes;
    uint8_t *piece;
};

static enum hw_status copy_bytes(const struct copy *copy, struct hw_file *from, struct hw_file *to,
                                 struct hw_error *error)
{
    int64_t position = 0;
    size_t got = COPY_PIECE;
    enum hw_status status = HW_OK;

    while (status == HW_OK && got == COPY_PIECE) {
        status = hw_file_read_at(from, position, copy->piece, COPY_PIECE, &got, error);
        if (status == HW_OK) {
            status = hw_file_write_at(to, position, copy->piece, got, error);
        }
        position += (int64_t)got;
    }
    return status;
}

static enum hw_status copy_file(struct copy *copy, const char *from_path, const char *to_path,
                                struct hw_error *error)
{
    struct hw_file *from;
    struct hw_file *to;
    enum hw_status status;

    if (copy->to == NULL) {
        return hw_store_add_file_size(copy->from, from_path, &copy->bytes, error);
    }
    status = hw_store_open(copy->from, from_path, HW_OPEN_READ, &from, error);
    if (status != HW_OK) {
        return status;
    }
    status = hw_store_open(copy->to, to_path, HW_OPEN_TRUNCATE, &to, error);
    if (status == HW_OK) {
        status = copy_bytes(copy, from, to, error);
        hw_file_close(to);
    }
    hw_file_close(from);
    return status;
}

static bool copy_stays(const char *name)
{
    size_t size = strlen(name);

    return strcmp(name, ".lock") == 0 || (size > 4 && strcmp(name + size - 4, ".tmp") == 0);
}

static enum hw_status copy_directory(struct copy *copy, const char *from_path, const char *to_path,
                                     int depth, struct hw_error *error)
{
    struct hw_name_list names = {.allocator = copy->allocator};
    enum hw_status status = hw_store_list(copy->from, from_path, &names, error);

    if (status == HW_OK && depth > COPY_DEPTH_MAX) {
        status = hw_error_set(error, HW_MISUSE, "'%.200s' lies too deep to be copied", from_path);
    }
    if (status == HW_OK && copy->to != NULL) {
        status = hw_store_make_directory(copy->to, to_path, error);
    }
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        char from[HW_PATH_MAX];
        char to[HW_PATH_MAX];
        struct hw_path_look look;

        if (depth == 0 && copy->is_wanted != NULL && !copy->is_wanted(names.names[i])) {
            continue;
        }
        status = hw_path_join(from, from_path, names.names[i], error);
        if (status == HW_OK) {
            status = hw_path_join(to, to_path, names.names[i], error);
        }
        if (status == HW_OK) {
            status = hw_store_look(copy->from, from, &look, error);
        }
        if (status == HW_OK && look.is_directory) {
            status = copy_directory(copy, from, to, depth + 1, error);
        } else if (status == HW_OK && look.exists && !copy_stays(names.names[i])) {
            status = copy_file(copy, from, to, error);
        }
    }
    hw_name_list_release(&names);
    return status;
}

enum hw_status hw_store_copy_size(struct hw_store *from, const char *from_path,
                                  hw_store_copy_filter *is_wanted,
                                  const struct hw_allocator *allocator, int64_t *size_bytes,
                                  struct hw_error *error)
{
    struct copy copy = {.from = from, .is_wanted = is_wanted, .allocator = allocator};
    enum hw_status status = copy_directory(&copy, from_path, from_path, 0, error);

    *size_bytes = copy.bytes;
    return status;
}

enum hw_status hw_store_copy_directory(struct hw_store *from, const char *from_path,
                                       struct hw_store *to, const char *to_path,
                                       hw_store_copy_filter *is_wanted, int64_t bytes_max,
                                       const struct hw_allocator *allocator, struct hw_error *error)
{
    struct copy copy = {.from = from, .to = to, .is_wanted = is_wanted, .allocator = allocator};
    enum hw_status status =
        hw_store_copy_size(from, from_path, is_wanted, allocator, &copy.bytes, error);

    if (status == HW_OK && copy.bytes > bytes_max) {
        status = hw_error_set(error, HW_MISUSE,
                              "'%.200s' has %" PRId64 " bytes, and a copy may have %" PRId64
                              ": the option memory says more",
                              from_path, copy.bytes, bytes_max);
    }
    if (status != HW_OK) {
        return status;
    }
    copy.piece = hw_alloc(allocator, COPY_PIECE);
    if (copy.piece == NULL) {
        return hw_error_no_memory(error, "a copy");
    }
    status = copy_directory(&copy, from_path, to_path, 0, error);
    hw_free(allocator, copy.piece, COPY_PIECE);
    return status;
}
