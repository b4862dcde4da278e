/* SPDX-License-Identifier: MIT */
/* Files in memory: growing buffers under the names of a memory_tree. Nothing depends on addresses,
 * so that the same calls always give the same answers. */
#include "core/io/memory_store.h"

#include "core/io/memory_tree.h"

#include <inttypes.h>
#include <string.h>

struct memory_store {
    struct hw_store base;
    const struct hw_allocator *allocator;
    struct hw_memory_tree tree;
};

struct memory_file {
    struct hw_file base;
    struct memory_store *store;
    struct hw_memory_node *node;
    bool is_lock;
};

static enum hw_status memory_read_at(struct hw_file *base, int64_t position, void *bytes,
                                     size_t size, size_t *got, struct hw_error *error)
{
    const struct hw_buffer *content = &((struct memory_file *)base)->node->content;
    size_t there = 0;

    (void)error;
    if ((uint64_t)position < content->size) {
        there = content->size - (size_t)position;
        if (there > size) {
            there = size;
        }
        memcpy(bytes, content->bytes + position, there);
    }
    *got = there;
    return HW_OK;
}

/* Make the file `size` bytes long; what is added is zeros up to `zeros_end`, and unset beyond. */
static enum hw_status content_resize(struct memory_file *file, int64_t size, int64_t zeros_end,
                                     struct hw_error *error)
{
    struct hw_buffer *content = &file->node->content;
    size_t size_old = content->size;

    if ((uint64_t)size > SIZE_MAX / 2) {
        return hw_error_set(error, HW_NO_MEMORY, "'%.300s': out of memory for %" PRId64 " bytes",
                            file->node->name, size);
    }
    if ((size_t)size > size_old) {
        enum hw_status status = hw_buffer_reserve(content, (size_t)size - size_old, error);

        if (status != HW_OK) {
            return status;
        }
        if ((size_t)zeros_end > size_old) {
            memset(content->bytes + size_old, 0, (size_t)zeros_end - size_old);
        }
    }
    content->size = (size_t)size;
    return HW_OK;
}

static enum hw_status memory_write_at(struct hw_file *base, int64_t position, const void *bytes,
                                      size_t size, struct hw_error *error)
{
    struct memory_file *file = (struct memory_file *)base;
    int64_t end = position + (int64_t)size;
    enum hw_status status = HW_OK;

    if (size == 0) {
        return HW_OK;
    }
    if ((uint64_t)end > file->node->content.size) {
        status = content_resize(file, end, position, error);
        if (status != HW_OK) {
            return status;
        }
    }
    memcpy(file->node->content.bytes + position, bytes, size);
    return HW_OK;
}

static enum hw_status memory_size(struct hw_file *base, int64_t *size_bytes, struct hw_error *error)
{
    (void)error;
    *size_bytes = (int64_t)((struct memory_file *)base)->node->content.size;
    return HW_OK;
}

static enum hw_status memory_truncate(struct hw_file *base, int64_t size_bytes,
                                      struct hw_error *error)
{
    struct memory_file *file = (struct memory_file *)base;
    enum hw_status status = content_resize(file, size_bytes, size_bytes, error);

    if (status == HW_OK && size_bytes == 0) {
        hw_buffer_release(&file->node->content);
    }
    return status;
}

static void memory_close(struct hw_file *base)
{
    struct memory_file *file = (struct memory_file *)base;
    struct memory_store *store = file->store;

    if (file->is_lock) {
        file->node->is_locked = false;
    }
    hw_memory_tree_unpin(&store->tree, file->node);
    hw_free(store->allocator, file, sizeof *file);
}

static const struct hw_file_methods memory_file_methods = {.read_at = memory_read_at,
                                                           .write_at = memory_write_at,
                                                           .size = memory_size,
                                                           .truncate = memory_truncate,
                                                           .close = memory_close};

static enum hw_status memory_open(struct hw_store *base, const char *path, enum hw_open_mode mode,
                                  struct hw_file **opened, struct hw_error *error)
{
    struct memory_store *store = (struct memory_store *)base;
    bool may_create = mode == HW_OPEN_OR_CREATE || mode == HW_OPEN_TRUNCATE;
    struct hw_memory_place place;
    struct memory_file *file;
    enum hw_status status = may_create
                                ? hw_memory_tree_find(&store->tree, path, &place, error)
                                : hw_memory_tree_find_existing(&store->tree, path, &place, error);

    if (status != HW_OK) {
        return status;
    }
    if (place.node != NULL && place.node->is_directory) {
        return hw_error_set(error, HW_IO, "'%.300s' is a directory", path);
    }
    file = hw_alloc_zeroed(store->allocator, sizeof *file);
    if (file == NULL) {
        return hw_error_no_memory(error, "an open file in memory");
    }
    if (place.node == NULL) {
        status = hw_memory_tree_create(&store->tree, &place, false, error);
        if (status != HW_OK) {
            hw_free(store->allocator, file, sizeof *file);
            return status;
        }
    }
    file->base.methods = &memory_file_methods;
    file->store = store;
    file->node = place.node;
    file->base.is_writable = mode != HW_OPEN_READ;
    file->node->handles++;
    if (mode == HW_OPEN_TRUNCATE) {
        hw_buffer_release(&file->node->content);
    }
    *opened = &file->base;
    return HW_OK;
}

/* The rules of POSIX for what may take the place of what. */
static enum hw_status check_move(const struct hw_memory_place *from,
                                 const struct hw_memory_place *to, const char *to_path,
                                 struct hw_error *error)
{
    for (const struct hw_memory_node *up = to->parent; up != NULL; up = up->parent) {
        if (up == from->node) {
            return hw_error_set(error, HW_IO, "'%.300s' is inside the directory to be renamed",
                                to_path);
        }
    }
    if (from->parent == NULL || to->parent == NULL) {
        return hw_error_set(error, HW_IO, "the root cannot be renamed or replaced");
    }
    if (to->node == NULL) {
        return HW_OK;
    }
    if (to->node->is_directory != from->node->is_directory) {
        return hw_error_set(error, HW_IO, "'%.300s' is %s", to_path,
                            to->node->is_directory ? "a directory" : "not a directory");
    }
    if (to->node->first_child != NULL) {
        return hw_error_set(error, HW_IO, "the directory '%.300s' is not empty", to_path);
    }
    return HW_OK;
}

static enum hw_status memory_rename(struct hw_store *base, const char *from_path,
                                    const char *to_path, struct hw_error *error)
{
    struct memory_store *store = (struct memory_store *)base;
    struct hw_memory_place from;
    struct hw_memory_place to;
    enum hw_status status = hw_memory_tree_find_existing(&store->tree, from_path, &from, error);

    if (status == HW_OK) {
        status = hw_memory_tree_find(&store->tree, to_path, &to, error);
    }
    if (status != HW_OK || from.node == to.node) {
        return status;
    }
    status = check_move(&from, &to, to_path, error);
    if (status != HW_OK) {
        return status;
    }
    return hw_memory_tree_move(&store->tree, from.node, &to, error);
}

static enum hw_status memory_remove(struct hw_store *base, const char *path, struct hw_error *error)
{
    struct memory_store *store = (struct memory_store *)base;
    struct hw_memory_place place;
    enum hw_status status = hw_memory_tree_find_existing(&store->tree, path, &place, error);

    if (status != HW_OK) {
        return status;
    }
    if (place.parent == NULL) {
        return hw_error_set(error, HW_IO, "the root cannot be removed");
    }
    if (place.node->first_child != NULL) {
        return hw_error_set(error, HW_IO, "the directory '%.300s' is not empty", path);
    }
    hw_memory_tree_remove(&store->tree, place.node);
    return HW_OK;
}

static enum hw_status find_directory(struct memory_store *store, const char *path,
                                     struct hw_memory_place *place, struct hw_error *error)
{
    enum hw_status status = hw_memory_tree_find_existing(&store->tree, path, place, error);

    if (status == HW_OK && !place->node->is_directory) {
        return hw_error_set(error, HW_IO, "'%.300s' is not a directory", path);
    }
    return status;
}

static enum hw_status memory_list(struct hw_store *base, const char *path,
                                  struct hw_name_list *names, struct hw_error *error)
{
    struct hw_memory_place place;
    enum hw_status status = find_directory((struct memory_store *)base, path, &place, error);

    if (status != HW_OK) {
        return status;
    }
    for (const struct hw_memory_node *child = place.node->first_child;
         status == HW_OK && child != NULL; child = child->next) {
        status = hw_name_list_add(names, child->name, error);
    }
    return status;
}

static enum hw_status memory_make_directory(struct hw_store *base, const char *path,
                                            struct hw_error *error)
{
    struct memory_store *store = (struct memory_store *)base;
    struct hw_memory_place place;
    enum hw_status status = hw_memory_tree_find(&store->tree, path, &place, error);

    if (status != HW_OK) {
        return status;
    }
    if (place.node == NULL) {
        return hw_memory_tree_create(&store->tree, &place, true, error);
    }
    if (!place.node->is_directory) {
        return hw_error_set(error, HW_IO, "'%.300s' exists and is not a directory", path);
    }
    return HW_OK;
}

static enum hw_status memory_sync_directory(struct hw_store *base, const char *path,
                                            struct hw_error *error)
{
    struct hw_memory_place place;

    return find_directory((struct memory_store *)base, path, &place, error);
}

static enum hw_status memory_look(struct hw_store *base, const char *path,
                                  struct hw_path_look *look, struct hw_error *error)
{
    struct hw_memory_place place;

    *look = (struct hw_path_look){.exists = false};
    if (hw_memory_tree_find(&((struct memory_store *)base)->tree, path, &place, error) == HW_OK &&
        place.node != NULL) {
        *look = (struct hw_path_look){.exists = true,
                                      .is_directory = place.node->is_directory,
                                      .size_bytes = (int64_t)place.node->content.size,
                                      .allocated_bytes = -1};
    }
    return HW_OK;
}

static enum hw_status memory_lock(struct hw_store *base, const char *path, struct hw_file **lock,
                                  struct hw_error *error)
{
    struct hw_file *opened;
    struct memory_file *file;
    enum hw_status status = memory_open(base, path, HW_OPEN_OR_CREATE, &opened, error);

    if (status != HW_OK) {
        return status;
    }
    file = (struct memory_file *)opened;
    if (file->node->is_locked) {
        memory_close(opened);
        return hw_error_set(error, HW_BUSY, "'%.300s' is locked by this process", path);
    }
    file->node->is_locked = true;
    file->is_lock = true;
    *lock = opened;
    return HW_OK;
}

static void memory_destroy(struct hw_store *base)
{
    struct memory_store *store = (struct memory_store *)base;

    hw_memory_tree_release(&store->tree);
    hw_free(store->allocator, store, sizeof *store);
}

static const struct hw_store_methods memory_store_methods = {
    .open = memory_open,
    .rename = memory_rename,
    .remove = memory_remove,
    .list = memory_list,
    .make_directory = memory_make_directory,
    .sync_directory = memory_sync_directory,
    .look = memory_look,
    .lock = memory_lock,
    .destroy = memory_destroy,
};

enum hw_status hw_memory_store_create(const struct hw_allocator *allocator, struct hw_store **store,
                                      struct hw_error *error)
{
    struct memory_store *created = hw_alloc_zeroed(allocator, sizeof *created);
    enum hw_status status;

    if (created == NULL) {
        return hw_error_no_memory(error, "a memory store");
    }
    created->base.methods = &memory_store_methods;
    created->allocator = allocator;
    status = hw_memory_tree_init(&created->tree, allocator, error);
    if (status != HW_OK) {
        hw_free(allocator, created, sizeof *created);
        return status;
    }
    *store = &created->base;
    return HW_OK;
}
