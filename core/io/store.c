/* SPDX-License-Identifier: MIT */
/* What all stores have in common: the calls through the tables, and what is made of several calls.
 */
#include "core/io/store.h"

#include "core/base/assert.h"
#include "core/base/buffer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hw_path_is_below(const char *path, const char *root)
{
    char real[HW_PATH_MAX];
    struct hw_error unused;
    size_t size = strlen(root);

    return hw_posix_real_path(path, real, &unused) == HW_OK && strncmp(real, root, size) == 0 &&
           (real[size] == '/' || real[size] == '\0' || size <= 1);
}

/* A link in a directory that may be read leads to nothing that may not. */
static enum hw_status store_check_root(const struct hw_store *store, const char *path,
                                       struct hw_error *error)
{
    return store->root == NULL || hw_path_is_below(path, store->root)
               ? HW_OK
               : hw_error_set(error, HW_IO, "'%.300s' is not below the folder that may be read",
                              path);
}

/* It stays interrupted: who takes the failure of one file for that of the file alone meets it
 * again. */
enum hw_status hw_store_ask(struct hw_store *store, struct hw_error *error)
{
    enum { ASK_AFTER = 32 };

    if (!store->is_interrupted && ++store->asked % ASK_AFTER == 0) {
        store->is_interrupted = hw_interrupt_check(&store->interrupt, error) != HW_OK;
    }
    return store->is_interrupted ? hw_error_set(error, HW_INTERRUPTED, "interrupted") : HW_OK;
}

enum hw_status hw_store_open(struct hw_store *store, const char *path, enum hw_open_mode mode,
                             struct hw_file **file, struct hw_error *error)
{
    enum hw_status status = hw_store_ask(store, error);

    status = status != HW_OK ? status : store_check_root(store, path, error);
    return status != HW_OK ? status : store->methods->open(store, path, mode, file, error);
}

enum hw_status hw_store_rename(struct hw_store *store, const char *from, const char *to,
                               struct hw_error *error)
{
    return store->methods->rename(store, from, to, error);
}

enum hw_status hw_store_remove(struct hw_store *store, const char *path, struct hw_error *error)
{
    return store->methods->remove(store, path, error);
}

static int name_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void name_list_sort(struct hw_name_list *names)
{
    if (names->count > 1) {
        qsort(names->names, names->count, sizeof *names->names, name_compare);
    }
}

bool hw_name_list_has(const struct hw_name_list *names, size_t count, const char *name)
{
    return count > 0 &&
           bsearch(&name, names->names, count, sizeof *names->names, name_compare) != NULL;
}

enum hw_status hw_store_list(struct hw_store *store, const char *path, struct hw_name_list *names,
                             struct hw_error *error)
{
    enum hw_status status;

    HW_ASSERT(names->count == 0);
    status = hw_store_ask(store, error);
    status = status != HW_OK ? status : store_check_root(store, path, error);
    status = status != HW_OK ? status : store->methods->list(store, path, names, error);
    if (status != HW_OK) {
        hw_name_list_release(names);
        return status;
    }
    name_list_sort(names);
    return HW_OK;
}

enum hw_status hw_store_make_directory(struct hw_store *store, const char *path,
                                       struct hw_error *error)
{
    return store->methods->make_directory(store, path, error);
}

enum hw_status hw_store_sync_directory(struct hw_store *store, const char *path,
                                       struct hw_error *error)
{
    return store->methods->sync_directory(store, path, error);
}

enum hw_status hw_store_look(struct hw_store *store, const char *path, struct hw_path_look *look,
                             struct hw_error *error)
{
    enum hw_status status = hw_store_ask(store, error);

    *look = (struct hw_path_look){.exists = false};
    return status != HW_OK || (store->root != NULL && !hw_path_is_below(path, store->root))
               ? status
               : store->methods->look(store, path, look, error);
}

enum hw_status hw_store_exists(struct hw_store *store, const char *path, bool *exists,
                               struct hw_error *error)
{
    struct hw_path_look look;
    enum hw_status status = hw_store_look(store, path, &look, error);

    *exists = status == HW_OK && look.exists;
    return status;
}

static enum hw_status store_is_file(struct hw_store *store, const char *directory, const char *name,
                                    bool *is_file, struct hw_error *error)
{
    struct hw_path_look look = {.exists = false};
    char path[HW_PATH_MAX];
    enum hw_status status = hw_path_join(path, directory, name, error);

    if (status == HW_OK) {
        status = hw_store_look(store, path, &look, error);
    }
    *is_file = status == HW_OK && look.exists && !look.is_directory && !look.is_special;
    return status == HW_IO ? HW_OK : status;
}

enum hw_status hw_store_keep_files(struct hw_store *store, const char *directory,
                                   struct hw_name_list *names, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    size_t kept = 0;

    for (size_t i = 0; i < names->count; i++) {
        char *name = names->names[i];
        bool is_file = true;

        if (status == HW_OK) {
            status = store_is_file(store, directory, name, &is_file, error);
        }
        if (is_file) {
            names->names[kept++] = name;
        } else {
            hw_free(names->allocator, name, strlen(name) + 1);
        }
    }
    names->count = kept;
    return status;
}

enum hw_status hw_store_add_file_size(struct hw_store *store, const char *path, int64_t *sum,
                                      struct hw_error *error)
{
    struct hw_path_look look;
    enum hw_status status = hw_store_look(store, path, &look, error);

    *sum += status == HW_OK ? look.size_bytes : 0;
    return status;
}

enum hw_status hw_store_lock(struct hw_store *store, const char *path, struct hw_file **lock,
                             struct hw_error *error)
{
    return store->methods->lock(store, path, lock, error);
}

void hw_store_destroy(struct hw_store *store)
{
    if (store != NULL) {
        store->methods->destroy(store);
    }
}

enum hw_status hw_file_read_at(struct hw_file *file, int64_t position, void *bytes, size_t size,
                               size_t *got, struct hw_error *error)
{
    HW_ASSERT(position >= 0);
    return file->methods->read_at(file, position, bytes, size, got, error);
}

static enum hw_status file_not_writable(struct hw_error *error)
{
    return hw_error_set(error, HW_MISUSE, "the file was opened for reading only");
}

enum hw_status hw_file_write_at(struct hw_file *file, int64_t position, const void *bytes,
                                size_t size, struct hw_error *error)
{
    HW_ASSERT(position >= 0);
    HW_ASSERT(size <= (uint64_t)(INT64_MAX - position));
    return !file->is_writable ? file_not_writable(error)
                              : file->methods->write_at(file, position, bytes, size, error);
}

enum hw_status hw_file_size(struct hw_file *file, int64_t *size_bytes, struct hw_error *error)
{
    return file->methods->size(file, size_bytes, error);
}

enum hw_status hw_file_truncate(struct hw_file *file, int64_t size_bytes, struct hw_error *error)
{
    HW_ASSERT(size_bytes >= 0);
    return !file->is_writable ? file_not_writable(error)
                              : file->methods->truncate(file, size_bytes, error);
}

enum hw_status hw_file_sync(struct hw_file *file, struct hw_error *error)
{
    return file->methods->sync == NULL ? HW_OK : file->methods->sync(file, error);
}

void hw_file_close(struct hw_file *file)
{
    if (file != NULL) {
        file->methods->close(file);
    }
}

/*
 * `path` holds the directory and has room for HW_PATH_MAX bytes; the names of what is in it are
 * written behind it and taken away again, so that depth costs no memory for paths.
 */
static enum hw_status remove_below(struct hw_store *store, const struct hw_allocator *allocator,
                                   char *path, struct hw_error *error)
{
    struct hw_name_list names = {.allocator = allocator};
    size_t length = strlen(path);
    struct hw_error list_error;
    enum hw_status list_status;
    enum hw_status status = hw_store_remove(store, path, error);

    if (status != HW_IO) {
        return status == HW_NOT_FOUND ? HW_OK : status;
    }
    /* The store cannot say "not empty", but only a directory can be listed. If it is something
     * else, the first error is the one that explains. */
    list_status = hw_store_list(store, path, &names, &list_error);
    if (list_status == HW_NO_MEMORY) {
        *error = list_error;
        return list_status;
    }
    if (list_status != HW_OK) {
        return status;
    }
    status = HW_OK;
    for (size_t i = 0; status == HW_OK && i < names.count; i++) {
        if (length + 1 + strlen(names.names[i]) >= HW_PATH_MAX) {
            status = hw_error_set(error, HW_MISUSE, "a path below '%.300s' has %d bytes or more",
                                  path, HW_PATH_MAX);
        } else {
            (void)snprintf(path + length, HW_PATH_MAX - length, "/%s", names.names[i]);
            status = remove_below(store, allocator, path, error);
            path[length] = '\0';
        }
    }
    hw_name_list_release(&names);
    if (status != HW_OK) {
        return status;
    }
    status = hw_store_remove(store, path, error);
    return status == HW_NOT_FOUND ? HW_OK : status;
}

enum hw_status hw_store_remove_tree(struct hw_store *store, const struct hw_allocator *allocator,
                                    const char *path, struct hw_error *error)
{
    char scratch[HW_PATH_MAX];
    enum hw_status status = hw_path_format(scratch, error, "%s", path);

    if (status != HW_OK) {
        return status;
    }
    return remove_below(store, allocator, scratch, error);
}

static enum hw_status write_file(struct hw_store *store, const char *path, enum hw_open_mode mode,
                                 const void *bytes, size_t size, bool sync, struct hw_error *error)
{
    struct hw_file *file;
    enum hw_status status = hw_store_open(store, path, mode, &file, error);

    if (status != HW_OK) {
        return status;
    }
    status = hw_file_write_at(file, 0, bytes, size, error);
    if (status == HW_OK && sync) {
        status = hw_file_sync(file, error);
    }
    hw_file_close(file);
    return status;
}

static enum hw_status replace_file(struct hw_store *store, const char *path, const void *bytes,
                                   size_t size, bool sync, struct hw_error *error)
{
    char temporary[HW_PATH_MAX];
    enum hw_status status = hw_path_format(temporary, error, "%s.tmp", path);

    if (status != HW_OK) {
        return status;
    }
    status = write_file(store, temporary, HW_OPEN_TRUNCATE, bytes, size, sync, error);
    if (status == HW_OK) {
        status = hw_store_rename(store, temporary, path, error);
    }
    if (status != HW_OK) {
        struct hw_error ignored;

        /* Only tidiness: the next attempt truncates whatever stays behind. */
        (void)hw_store_remove(store, temporary, &ignored);
    }
    return status;
}

enum hw_status hw_store_write_atomically(struct hw_store *store, const char *path,
                                         const void *bytes, size_t size, struct hw_error *error)
{
    char parent[HW_PATH_MAX];
    enum hw_status status = replace_file(store, path, bytes, size, true, error);

    if (status != HW_OK) {
        return status;
    }
    hw_path_parent(path, parent);
    return hw_store_sync_directory(store, parent, error);
}

enum hw_status hw_store_replace(struct hw_store *store, const char *path, const void *bytes,
                                size_t size, struct hw_error *error)
{
    return replace_file(store, path, bytes, size, false, error);
}

enum hw_status hw_store_sync_file(struct hw_store *store, const struct hw_allocator *allocator,
                                  const char *path, struct hw_error *error)
{
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, allocator);
    status = hw_store_read_whole(store, path, SIZE_MAX, &content, error);
    if (status == HW_OK) {
        status =
            write_file(store, path, HW_OPEN_EXISTING, content.bytes, content.size, true, error);
    }
    hw_buffer_release(&content);
    return status == HW_NOT_FOUND ? HW_OK : status;
}

static enum hw_status read_rest(struct hw_file *file, const char *path, size_t size_max,
                                struct hw_buffer *content, struct hw_error *error)
{
    int64_t size_bytes;
    size_t got;
    enum hw_status status = hw_file_size(file, &size_bytes, error);

    if (status != HW_OK) {
        return status;
    }
    if ((uint64_t)size_bytes > size_max) {
        return hw_error_set(error, HW_CORRUPT, "'%.300s' has %" PRId64 " bytes, at most %zu", path,
                            size_bytes, size_max);
    }
    status = hw_buffer_reserve(content, (size_t)size_bytes, error);
    if (status != HW_OK || size_bytes == 0) {
        return status;
    }
    status =
        hw_file_read_at(file, 0, content->bytes + content->size, (size_t)size_bytes, &got, error);
    if (status == HW_OK) {
        content->size += got;
    }
    return status;
}

enum hw_status hw_store_read_whole(struct hw_store *store, const char *path, size_t size_max,
                                   struct hw_buffer *content, struct hw_error *error)
{
    struct hw_file *file;
    enum hw_status status = hw_store_open(store, path, HW_OPEN_READ, &file, error);

    if (status != HW_OK) {
        return status;
    }
    status = read_rest(file, path, size_max, content, error);
    hw_file_close(file);
    return status;
}

enum hw_status hw_name_list_add(struct hw_name_list *names, const char *name,
                                struct hw_error *error)
{
    void *items = names->names;
    char *copy;
    enum hw_status status = hw_array_reserve(names->allocator, &items, &names->capacity,
                                             names->count + 1, sizeof *names->names, error);

    names->names = items;
    if (status != HW_OK) {
        return status;
    }
    copy = hw_text_copy(names->allocator, name);
    if (copy == NULL) {
        return hw_error_no_memory(error, "the name of a file");
    }
    names->names[names->count++] = copy;
    return HW_OK;
}

void hw_name_list_release(struct hw_name_list *names)
{
    for (size_t i = 0; i < names->count; i++) {
        hw_text_free(names->allocator, names->names[i]);
    }
    hw_free(names->allocator, names->names, names->capacity * sizeof *names->names);
    *names = (struct hw_name_list){.allocator = names->allocator};
}

enum hw_status hw_path_format(char path[HW_PATH_MAX], struct hw_error *error, const char *format,
                              ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(path, HW_PATH_MAX, format, args);
    va_end(args);
    HW_ASSERT(length >= 0);
    if (length >= HW_PATH_MAX) {
        return hw_error_set(error, HW_MISUSE, "the path '%.300s...' has %d bytes, at most %d", path,
                            length, HW_PATH_MAX - 1);
    }
    return HW_OK;
}

enum hw_status hw_path_join(char path[HW_PATH_MAX], const char *directory, const char *name,
                            struct hw_error *error)
{
    size_t directory_size = strlen(directory);
    size_t name_size = strlen(name);

    if (directory_size + 1 + name_size >= HW_PATH_MAX) {
        return hw_error_set(error, HW_MISUSE, "the path '%.300s/%.300s' has %zu bytes, at most %d",
                            directory, name, directory_size + 1 + name_size, HW_PATH_MAX - 1);
    }
    memcpy(path, directory, directory_size);
    path[directory_size] = '/';
    memcpy(path + directory_size + 1, name, name_size + 1);
    return HW_OK;
}

bool hw_path_is_absolute(const char *path)
{
#ifdef _WIN32
    if (path[0] == '\\' || (path[0] != '\0' && path[1] == ':')) {
        return true;
    }
#endif
    return path[0] == '/';
}
