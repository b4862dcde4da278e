/* SPDX-License-Identifier: MIT */
/* The names in a memory store. See memory_tree.h. */
#include "core/io/memory_tree.h"

#include "core/base/assert.h"

#include <string.h>

enum { BUCKETS_MIN = 64 };

static size_t tree_bucket_of(const struct hw_memory_tree *tree, const struct hw_memory_node *parent,
                             const char *name, size_t name_size)
{
    /* FNV-1a, begun with the parent's address. */
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)(uintptr_t)parent;

    for (size_t i = 0; i < name_size; i++) {
        hash = (hash ^ (uint8_t)name[i]) * UINT64_C(0x100000001b3);
    }
    return (size_t)(hash ^ (hash >> 32)) & (tree->bucket_count - 1);
}

static struct hw_memory_node *node_find(const struct hw_memory_tree *tree,
                                        const struct hw_memory_node *parent, const char *name,
                                        size_t name_size)
{
    struct hw_memory_node *node = tree->buckets[tree_bucket_of(tree, parent, name, name_size)];

    while (node != NULL && (node->parent != parent || strlen(node->name) != name_size ||
                            memcmp(node->name, name, name_size) != 0)) {
        node = node->chain;
    }
    return node;
}

static void bucket_put(struct hw_memory_tree *tree, struct hw_memory_node *node)
{
    size_t bucket = tree_bucket_of(tree, node->parent, node->name, strlen(node->name));

    node->chain = tree->buckets[bucket];
    tree->buckets[bucket] = node;
}

/* Room in the table for one more node. */
static enum hw_status table_reserve(struct hw_memory_tree *tree, struct hw_error *error)
{
    size_t old_count = tree->bucket_count;
    struct hw_memory_node **old = tree->buckets;
    struct hw_memory_node **grown;

    if (tree->node_count < old_count) {
        return HW_OK;
    }
    grown = hw_alloc_zeroed(tree->allocator, 2 * old_count * sizeof *grown);
    if (grown == NULL) {
        return hw_error_no_memory(error, "the table of files in memory");
    }
    tree->buckets = grown;
    tree->bucket_count = 2 * old_count;
    for (size_t i = 0; i < old_count; i++) {
        struct hw_memory_node *node = old[i];

        while (node != NULL) {
            struct hw_memory_node *chain = node->chain;

            bucket_put(tree, node);
            node = chain;
        }
    }
    hw_free(tree->allocator, old, old_count * sizeof *old);
    return HW_OK;
}

static void node_attach(struct hw_memory_tree *tree, struct hw_memory_node *node,
                        struct hw_memory_node *parent)
{
    node->parent = parent;
    bucket_put(tree, node);
    node->previous = NULL;
    node->next = parent->first_child;
    if (node->next != NULL) {
        node->next->previous = node;
    }
    parent->first_child = node;
    tree->node_count++;
}

static void node_detach(struct hw_memory_tree *tree, struct hw_memory_node *node)
{
    struct hw_memory_node **link =
        &tree->buckets[tree_bucket_of(tree, node->parent, node->name, strlen(node->name))];

    while (*link != node) {
        link = &(*link)->chain;
    }
    *link = node->chain;
    if (node->previous != NULL) {
        node->previous->next = node->next;
    } else {
        node->parent->first_child = node->next;
    }
    if (node->next != NULL) {
        node->next->previous = node->previous;
    }
    node->parent = NULL;
    tree->node_count--;
}

static void node_destroy(struct hw_memory_tree *tree, struct hw_memory_node *node)
{
    HW_ASSERT(node->handles == 0);
    hw_buffer_release(&node->content);
    hw_text_free(tree->allocator, node->name);
    hw_free(tree->allocator, node, sizeof *node);
}

static char *name_copy(const struct hw_memory_tree *tree, const struct hw_memory_place *place)
{
    char *name = hw_alloc(tree->allocator, place->name_size + 1);

    if (name != NULL) {
        memcpy(name, place->name, place->name_size);
        name[place->name_size] = '\0';
    }
    return name;
}

enum hw_status hw_memory_tree_init(struct hw_memory_tree *tree,
                                   const struct hw_allocator *allocator, struct hw_error *error)
{
    *tree = (struct hw_memory_tree){.allocator = allocator, .root = {.is_directory = true}};
    tree->buckets = hw_alloc_zeroed(allocator, BUCKETS_MIN * sizeof *tree->buckets);
    if (tree->buckets == NULL) {
        return hw_error_no_memory(error, "the table of files in memory");
    }
    tree->bucket_count = BUCKETS_MIN;
    return HW_OK;
}

void hw_memory_tree_release(struct hw_memory_tree *tree)
{
    for (size_t i = 0; i < tree->bucket_count; i++) {
        struct hw_memory_node *node = tree->buckets[i];

        while (node != NULL) {
            struct hw_memory_node *chain = node->chain;

            node_destroy(tree, node);
            node = chain;
        }
    }
    hw_free(tree->allocator, tree->buckets, tree->bucket_count * sizeof *tree->buckets);
}

/* The next name of a path from `at` on, without the empty and "." ones that say nothing. */
static const char *path_next_name(const char *at, size_t *name_size)
{
    for (;;) {
        at += strspn(at, "/");
        *name_size = strcspn(at, "/");
        if (*name_size != 1 || *at != '.') {
            return at;
        }
        at++;
    }
}

enum hw_status hw_memory_tree_find(struct hw_memory_tree *tree, const char *path,
                                   struct hw_memory_place *place, struct hw_error *error)
{
    size_t name_size;
    const char *name = path_next_name(path, &name_size);

    *place = (struct hw_memory_place){.node = &tree->root};
    while (name_size > 0) {
        if (place->node == NULL) {
            return hw_error_set(error, HW_NOT_FOUND, "'%.300s': there is no directory '%.*s'", path,
                                (int)place->name_size, place->name);
        }
        if (!place->node->is_directory) {
            return hw_error_set(error, HW_IO, "'%.300s': '%.*s' is not a directory", path,
                                (int)place->name_size, place->name);
        }
        place->parent = place->node;
        place->name = name;
        place->name_size = name_size;
        place->node = node_find(tree, place->parent, name, name_size);
        name = path_next_name(name + name_size, &name_size);
    }
    return HW_OK;
}

enum hw_status hw_memory_tree_find_existing(struct hw_memory_tree *tree, const char *path,
                                            struct hw_memory_place *place, struct hw_error *error)
{
    enum hw_status status = hw_memory_tree_find(tree, path, place, error);

    if (status == HW_OK && place->node == NULL) {
        return hw_error_set(error, HW_NOT_FOUND, "'%.300s' does not exist", path);
    }
    return status;
}

enum hw_status hw_memory_tree_create(struct hw_memory_tree *tree, struct hw_memory_place *place,
                                     bool is_directory, struct hw_error *error)
{
    struct hw_memory_node *node;
    enum hw_status status = table_reserve(tree, error);

    HW_ASSERT(place->node == NULL);
    if (status != HW_OK) {
        return status;
    }
    node = hw_alloc_zeroed(tree->allocator, sizeof *node);
    if (node == NULL) {
        return hw_error_no_memory(error, "a file in memory");
    }
    node->name = name_copy(tree, place);
    if (node->name == NULL) {
        hw_free(tree->allocator, node, sizeof *node);
        return hw_error_no_memory(error, "the name of a file in memory");
    }
    node->is_directory = is_directory;
    hw_buffer_init(&node->content, tree->allocator);
    node_attach(tree, node, place->parent);
    place->node = node;
    return HW_OK;
}

void hw_memory_tree_remove(struct hw_memory_tree *tree, struct hw_memory_node *node)
{
    HW_ASSERT(node->first_child == NULL);
    node_detach(tree, node);
    if (node->handles == 0) {
        node_destroy(tree, node);
    }
}

enum hw_status hw_memory_tree_move(struct hw_memory_tree *tree, struct hw_memory_node *node,
                                   const struct hw_memory_place *place, struct hw_error *error)
{
    char *name = name_copy(tree, place);

    if (name == NULL) {
        return hw_error_no_memory(error, "the name of a file in memory");
    }
    if (place->node != NULL) {
        hw_memory_tree_remove(tree, place->node);
    }
    node_detach(tree, node);
    hw_text_free(tree->allocator, node->name);
    node->name = name;
    node_attach(tree, node, place->parent);
    return HW_OK;
}

void hw_memory_tree_unpin(struct hw_memory_tree *tree, struct hw_memory_node *node)
{
    HW_ASSERT(node->handles > 0);
    node->handles--;
    if (node->handles == 0 && node->parent == NULL) {
        node_destroy(tree, node);
    }
}
