/* SPDX-License-Identifier: MIT */
/* Two stores as one: the upper one, in memory, wins. */
#include "core/io/overlay_store.h"

#include "core/base/buffer.h"
#include "core/base/byte_map.h"
#include "core/base/memory.h"
#include "core/io/memory_store.h"
#include "core/io/overlay_links.h"

#include <string.h>

struct overlay_store {
    struct hw_store base; /* Must be first. */
    const struct hw_allocator *allocator;
    struct hw_store *lower;
    struct hw_store *upper;
    hw_overlay_probe *probe;
    struct hw_byte_map removed;    /* Paths whose files below are not seen. */
    struct hw_overlay_links links; /* Those are, whatever was removed. */
    uint64_t
        changes; /* Grows with each file that comes into the upper store, and with each link. */
};

struct overlay_file {
    struct hw_file base; /* Must be first. */
    struct overlay_store *store;
    struct hw_file *under; /* In the upper store, or the lower one, there for reading. */
    char *path;
    uint64_t seen; /* The store's changes when it was last looked whether it is in the upper one. */
    int64_t size_max; /* Of what is below, so much is seen. */
    bool is_upper;
};

/* --------------------------------------------------------------------------------------- names */

/* It, or a directory that it is in. */
static bool overlay_is_removed(const struct overlay_store *store, const char *path)
{
    const char *end = path + strlen(path);

    for (const char *at = path; at < end; at++) {
        if ((at[1] == '/' || at[1] == '\0') &&
            hw_byte_map_find(&store->removed, path, (size_t)(at + 1 - path)) != HW_BYTE_MAP_NONE) {
            return true;
        }
    }
    return false;
}

/* Let what is seen at `path`, which lies below, be seen at `to`, up to `size_max`. */
static enum hw_status overlay_link(struct overlay_store *store, const char *path, const char *to,
                                   int64_t size_max, struct hw_error *error)
{
    store->changes++;
    return hw_overlay_links_set(&store->links, path, to, size_max, error);
}

/* What the lower store still has under that name. */
static enum hw_status overlay_look_below(struct overlay_store *store, const char *path,
                                         struct hw_path_look *look, struct hw_error *error)
{
    const struct hw_overlay_link *link = hw_overlay_links_find(&store->links, path);
    enum hw_status status = HW_OK;

    *look = (struct hw_path_look){.exists = false};
    if (link != NULL || !overlay_is_removed(store, path)) {
        status = hw_store_look(store->lower, link == NULL ? path : link->from, look, error);
    }
    if (status == HW_OK && link != NULL && look->size_bytes > link->size_max) {
        look->size_bytes = link->size_max;
    }
    return status;
}

static enum hw_status overlay_look(struct hw_store *base, const char *path,
                                   struct hw_path_look *look, struct hw_error *error)
{
    struct overlay_store *store = (struct overlay_store *)base;
    enum hw_status status = hw_store_look(store->upper, path, look, error);

    return status == HW_OK && !look->exists ? overlay_look_below(store, path, look, error) : status;
}

/* Make the directories in the upper store that a new name there needs, and that there are. */
static enum hw_status overlay_make_parents(struct overlay_store *store, const char *path,
                                           struct hw_error *error)
{
    char directory[HW_PATH_MAX];
    struct hw_path_look look;
    enum hw_status status = hw_path_format(directory, error, "%s", path);

    for (char *at = directory; status == HW_OK && (at = strchr(at + 1, '/')) != NULL;) {
        *at = '\0';
        status = overlay_look(&store->base, directory, &look, error);
        if (status == HW_OK && !look.exists) {
            status = hw_error_set(error, HW_NOT_FOUND,
                                  "'%.300s' cannot be made: its directory does not exist", path);
        } else if (status == HW_OK) {
            status = hw_store_make_directory(store->upper, directory, error);
        }
        *at = '/';
    }
    return status;
}

static enum hw_status overlay_copy_up(struct overlay_store *store, const char *path,
                                      struct hw_error *error)
{
    const struct hw_overlay_link *link = hw_overlay_links_find(&store->links, path);
    struct hw_buffer content;
    enum hw_status status;

    hw_buffer_init(&content, store->allocator);
    status = hw_store_read_whole(store->lower, link == NULL ? path : link->from, SIZE_MAX, &content,
                                 error);
    if (status == HW_OK && link != NULL && content.size > (uint64_t)link->size_max) {
        content.size = (size_t)link->size_max;
    }
    if (status == HW_OK) {
        status = overlay_make_parents(store, path, error);
    }
    if (status == HW_OK) {
        status = hw_store_replace(store->upper, path, content.bytes, content.size, error);
    }
    hw_buffer_release(&content);
    store->changes++;
    return status;
}

/* --------------------------------------------------------------------------------------- files */

/* How much of a file is seen that is not in the upper store. */
static int64_t overlay_size_max(const struct overlay_store *store, const char *path)
{
    const struct hw_overlay_link *link = hw_overlay_links_find(&store->links, path);

    return link == NULL ? INT64_MAX : link->size_max;
}

/* Go on in the upper store, if the file has come there. */
static enum hw_status overlay_refresh(struct overlay_file *file, struct hw_error *error)
{
    struct overlay_store *store = file->store;
    struct hw_path_look look;
    struct hw_file *upper;
    enum hw_status status;

    if (file->is_upper || file->seen == store->changes) {
        return HW_OK;
    }
    status = hw_store_look(store->upper, file->path, &look, error);
    if (status == HW_OK && look.exists && !look.is_directory) {
        status = hw_store_open(store->upper, file->path, HW_OPEN_EXISTING, &upper, error);
        if (status == HW_OK) {
            hw_file_close(file->under);
            file->under = upper;
            file->is_upper = true;
        }
    }
    file->seen = store->changes;
    file->size_max = file->is_upper ? INT64_MAX : overlay_size_max(store, file->path);
    return status;
}

/* The same, where it is to be written. */
static enum hw_status overlay_prepare(struct overlay_file *file, struct hw_error *error)
{
    enum hw_status status = overlay_refresh(file, error);

    if (status == HW_OK && !file->is_upper) {
        status = overlay_copy_up(file->store, file->path, error);
        status = status == HW_OK ? overlay_refresh(file, error) : status;
    }
    return status;
}

static enum hw_status overlay_read_at(struct hw_file *base, int64_t position, void *bytes,
                                      size_t size, size_t *got, struct hw_error *error)
{
    struct overlay_file *file = (struct overlay_file *)base;
    enum hw_status status = overlay_refresh(file, error);
    int64_t left = file->size_max > position ? file->size_max - position : 0;

    return status == HW_OK
               ? hw_file_read_at(file->under, position, bytes,
                                 (uint64_t)left < size ? (size_t)left : size, got, error)
               : status;
}

static enum hw_status overlay_write_at(struct hw_file *base, int64_t position, const void *bytes,
                                       size_t size, struct hw_error *error)
{
    struct overlay_file *file = (struct overlay_file *)base;
    enum hw_status status = overlay_prepare(file, error);

    return status == HW_OK ? hw_file_write_at(file->under, position, bytes, size, error) : status;
}

static enum hw_status overlay_size(struct hw_file *base, int64_t *size_bytes,
                                   struct hw_error *error)
{
    struct overlay_file *file = (struct overlay_file *)base;
    enum hw_status status = overlay_refresh(file, error);

    if (status == HW_OK) {
        status = hw_file_size(file->under, size_bytes, error);
    }
    if (status == HW_OK && *size_bytes > file->size_max) {
        *size_bytes = file->size_max;
    }
    return status;
}

static enum hw_status overlay_truncate(struct hw_file *base, int64_t size_bytes,
                                       struct hw_error *error)
{
    struct overlay_file *file = (struct overlay_file *)base;
    int64_t now = -1;
    enum hw_status status = overlay_size(base, &now, error);

    /* A file that becomes shorter need not be copied. */
    if (status == HW_OK && !file->is_upper && size_bytes <= now) {
        return size_bytes == now
                   ? HW_OK
                   : overlay_link(file->store, file->path, file->path, size_bytes, error);
    }
    if (status == HW_OK) {
        status = overlay_prepare(file, error);
        status = status == HW_OK ? hw_file_truncate(file->under, size_bytes, error) : status;
    }
    return status;
}

static void overlay_close(struct hw_file *base)
{
    struct overlay_file *file = (struct overlay_file *)base;
    const struct hw_allocator *allocator = file->store->allocator;

    hw_file_close(file->under);
    hw_text_free(allocator, file->path);
    hw_free(allocator, file, sizeof *file);
}

static const struct hw_file_methods overlay_file_methods = {.read_at = overlay_read_at,
                                                            .write_at = overlay_write_at,
                                                            .size = overlay_size,
                                                            .truncate = overlay_truncate,
                                                            .close = overlay_close};

/* Open what is under the name, and say where that was. */
static enum hw_status overlay_open_under(struct overlay_store *store, const char *path,
                                         enum hw_open_mode mode, struct hw_file **under,
                                         bool *is_upper, struct hw_error *error)
{
    struct hw_path_look upper;
    struct hw_path_look lower = {.exists = false};
    enum hw_status status = hw_store_look(store->upper, path, &upper, error);

    if (status == HW_OK && !upper.exists) {
        status = overlay_look_below(store, path, &lower, error);
    }
    if (status != HW_OK) {
        return status;
    }
    /* What is no file gives its name to none, as below. */
    *is_upper =
        !lower.exists || (mode == HW_OPEN_TRUNCATE && !lower.is_directory && !lower.is_special);
    if (!*is_upper) {
        const struct hw_overlay_link *link = hw_overlay_links_find(&store->links, path);

        return hw_store_open(store->lower, link == NULL ? path : link->from, HW_OPEN_READ, under,
                             error);
    }
    if (!upper.exists && (mode == HW_OPEN_OR_CREATE || mode == HW_OPEN_TRUNCATE)) {
        status = overlay_make_parents(store, path, error);
        store->changes++;
    }
    return status == HW_OK ? hw_store_open(store->upper, path, mode, under, error) : status;
}

static enum hw_status overlay_open(struct hw_store *base, const char *path, enum hw_open_mode mode,
                                   struct hw_file **opened, struct hw_error *error)
{
    struct overlay_store *store = (struct overlay_store *)base;
    struct overlay_file *file = hw_alloc_zeroed(store->allocator, sizeof *file);
    enum hw_status status;

    if (file == NULL) {
        return hw_error_no_memory(error, "an open file");
    }
    file->base.methods = &overlay_file_methods;
    file->store = store;
    file->base.is_writable = mode != HW_OPEN_READ;
    file->path = hw_text_copy(store->allocator, path);
    status = file->path == NULL
                 ? hw_error_no_memory(error, "an open file")
                 : overlay_open_under(store, path, mode, &file->under, &file->is_upper, error);
    file->seen = store->changes;
    file->size_max = file->is_upper ? INT64_MAX : overlay_size_max(store, path);
    if (status != HW_OK) {
        overlay_close(&file->base);
        return status;
    }
    *opened = &file->base;
    return HW_OK;
}

/* ---------------------------------------------------------------------------------- directories */

/* What is below is not seen at `path` any more. */
static enum hw_status overlay_hide_below(struct overlay_store *store, const char *path,
                                         struct hw_error *error)
{
    size_t number;
    enum hw_status status = hw_byte_map_add(&store->removed, path, strlen(path), &number, error);

    if (status == HW_OK) {
        hw_overlay_links_drop(&store->links, path);
        store->changes++;
    }
    return status;
}

/* A file that lies below gets a name there is not, or one that is taken. */
static enum hw_status overlay_rename_below(struct overlay_store *store, const char *from,
                                           const char *to, struct hw_error *error)
{
    struct hw_path_look replaced;
    enum hw_status status = hw_store_look(store->upper, to, &replaced, error);

    if (status == HW_OK) {
        status = overlay_link(store, from, to, INT64_MAX, error);
    }
    if (status == HW_OK && replaced.exists) {
        status = hw_store_remove(store->upper, to, error);
    }
    return status == HW_OK ? overlay_hide_below(store, from, error) : status;
}

static enum hw_status overlay_rename(struct hw_store *base, const char *from, const char *to,
                                     struct hw_error *error)
{
    struct overlay_store *store = (struct overlay_store *)base;
    struct hw_path_look upper;
    struct hw_path_look lower;
    enum hw_status status = hw_store_look(store->upper, from, &upper, error);

    if (status == HW_OK) {
        status = overlay_look_below(store, from, &lower, error);
    }
    if (status == HW_OK && lower.exists && lower.is_directory) {
        return hw_error_set(error, HW_IO, "'%.300s' is in a directory that is only read", from);
    }
    if (status == HW_OK) {
        status = overlay_make_parents(store, to, error);
    }
    if (status == HW_OK && lower.exists && !upper.exists) {
        return overlay_rename_below(store, from, to, error);
    }
    if (status == HW_OK) {
        status = hw_store_rename(store->upper, from, to, error);
    }
    if (status == HW_OK) {
        hw_overlay_links_drop(&store->links, to);
        store->changes++;
    }
    return status == HW_OK && lower.exists ? overlay_hide_below(store, from, error) : status;
}

static enum hw_status overlay_remove(struct hw_store *base, const char *path,
                                     struct hw_error *error)
{
    struct overlay_store *store = (struct overlay_store *)base;
    struct hw_path_look upper;
    struct hw_path_look lower;
    enum hw_status status = hw_store_look(store->upper, path, &upper, error);

    if (status == HW_OK) {
        status = overlay_look_below(store, path, &lower, error);
    }
    if (status == HW_OK && (upper.exists || !lower.exists)) {
        status = hw_store_remove(store->upper, path, error);
    }
    return status == HW_OK && lower.exists ? overlay_hide_below(store, path, error) : status;
}

/* Add what the lower store has in the directory and is not in `names`, whose first `count` are
 * sorted. */
static enum hw_status overlay_list_below(struct overlay_store *store, const char *path,
                                         struct hw_name_list *names, struct hw_error *error)
{
    struct hw_name_list lower = {.allocator = store->allocator};
    size_t count = names->count;
    enum hw_status status = hw_store_list(store->lower, path, &lower, error);

    for (size_t i = 0; status == HW_OK && i < lower.count; i++) {
        char full[HW_PATH_MAX];

        status = hw_path_join(full, path, lower.names[i], error);
        if (status == HW_OK && !overlay_is_removed(store, full) &&
            !hw_name_list_has(names, count, lower.names[i])) {
            status = hw_name_list_add(names, lower.names[i], error);
        }
    }
    hw_name_list_release(&lower);
    return status;
}

static enum hw_status overlay_list(struct hw_store *base, const char *path,
                                   struct hw_name_list *names, struct hw_error *error)
{
    struct overlay_store *store = (struct overlay_store *)base;
    struct hw_path_look upper;
    struct hw_path_look lower;
    enum hw_status status = hw_store_look(store->upper, path, &upper, error);

    if (status == HW_OK) {
        status = overlay_look_below(store, path, &lower, error);
    }
    if (status == HW_OK && (upper.exists || !lower.exists)) {
        status = hw_store_list(store->upper, path, names, error);
    }
    if (status == HW_OK && lower.exists) {
        status = overlay_list_below(store, path, names, error);
    }
    return status == HW_OK ? hw_overlay_links_list(&store->links, path, names, error) : status;
}

static enum hw_status overlay_make_directory(struct hw_store *base, const char *path,
                                             struct hw_error *error)
{
    struct overlay_store *store = (struct overlay_store *)base;
    struct hw_path_look look;
    enum hw_status status = overlay_look(base, path, &look, error);

    if (status != HW_OK || (look.exists && look.is_directory)) {
        return status;
    }
    if (look.exists) {
        return hw_error_set(error, HW_IO, "'%.300s' exists and is not a directory", path);
    }
    status = overlay_make_parents(store, path, error);
    return status == HW_OK ? hw_store_make_directory(store->upper, path, error) : status;
}

static enum hw_status overlay_sync_directory(struct hw_store *base, const char *path,
                                             struct hw_error *error)
{
    struct hw_path_look look;
    enum hw_status status = overlay_look(base, path, &look, error);

    /* Nothing of it is to last. */
    if (status == HW_OK && !look.exists) {
        return hw_error_set(error, HW_NOT_FOUND, "'%.300s' does not exist", path);
    }
    return status == HW_OK && !look.is_directory
               ? hw_error_set(error, HW_IO, "'%.300s' is not a directory", path)
               : status;
}

static enum hw_status overlay_lock(struct hw_store *base, const char *path, struct hw_file **lock,
                                   struct hw_error *error)
{
    struct overlay_store *store = (struct overlay_store *)base;
    enum hw_status status = store->probe == NULL ? HW_OK : store->probe(path, error);

    if (status == HW_OK) {
        status = overlay_make_parents(store, path, error);
    }
    return status == HW_OK ? hw_store_lock(store->upper, path, lock, error) : status;
}

static void overlay_destroy(struct hw_store *base)
{
    struct overlay_store *store = (struct overlay_store *)base;

    hw_byte_map_release(&store->removed);
    hw_overlay_links_release(&store->links);
    hw_store_destroy(store->upper);
    hw_store_destroy(store->lower);
    hw_free(store->allocator, store, sizeof *store);
}

static const struct hw_store_methods overlay_store_methods = {
    .open = overlay_open,
    .rename = overlay_rename,
    .remove = overlay_remove,
    .list = overlay_list,
    .make_directory = overlay_make_directory,
    .sync_directory = overlay_sync_directory,
    .look = overlay_look,
    .lock = overlay_lock,
    .destroy = overlay_destroy,
};

enum hw_status hw_overlay_store_create(const struct hw_allocator *allocator, struct hw_store *lower,
                                       hw_overlay_probe *probe, struct hw_store **store,
                                       struct hw_error *error)
{
    struct overlay_store *made = hw_alloc_zeroed(allocator, sizeof *made);
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, "a store");
    }
    made->base.methods = &overlay_store_methods;
    made->base.interrupt = lower->interrupt;
    made->allocator = allocator;
    made->lower = lower;
    made->probe = probe;
    hw_byte_map_init(&made->removed, allocator);
    made->links.allocator = allocator;
    status = hw_memory_store_create(allocator, &made->upper, error);
    if (status != HW_OK) {
        hw_free(allocator, made, sizeof *made);
        return status;
    }
    *store = &made->base;
    return HW_OK;
}
