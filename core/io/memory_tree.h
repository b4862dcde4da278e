/* SPDX-License-Identifier: MIT */
/*
 * The names in a memory store: a tree of directories and files. For memory_store.c only.
 *
 * Nodes know their own name and their parent, so that a directory with all that is in it is renamed
 * by changing one node. They are found through one hash table over (parent, name), so that a
 * directory of 100,000 partitions costs no more than one of ten.
 */
#ifndef HW_IO_MEMORY_TREE_H
#define HW_IO_MEMORY_TREE_H

#include "core/base/buffer.h"
#include "core/base/memory.h"

#include <stdbool.h>

struct hw_memory_node {
    char *name;
    struct hw_memory_node *parent; /* NULL for the root, and once the node was removed. */
    struct hw_memory_node *first_child;
    struct hw_memory_node *next; /* Siblings, in no order. */
    struct hw_memory_node *previous;
    struct hw_memory_node *chain; /* Next one in the same bucket. */
    struct hw_buffer content;
    size_t handles; /* Open files; they keep a removed node alive. */
    bool is_directory;
    bool is_locked;
};

struct hw_memory_tree {
    const struct hw_allocator *allocator;
    struct hw_memory_node root;
    struct hw_memory_node **buckets;
    size_t bucket_count; /* A power of two. */
    size_t node_count;   /* In the table: all but the root and the removed ones. */
};

/* Where a path leads: a directory that exists, and a name in it which may be free. */
struct hw_memory_place {
    struct hw_memory_node *parent; /* NULL if the path is the root. */
    struct hw_memory_node *node;   /* NULL if nothing has the name. */
    const char *name;              /* `name_size` characters inside the path. */
    size_t name_size;
};

/* A tree with an empty root. Errors: HW_NO_MEMORY. */
enum hw_status hw_memory_tree_init(struct hw_memory_tree *tree,
                                   const struct hw_allocator *allocator, struct hw_error *error);

/* Release all nodes. No file is open. */
void hw_memory_tree_release(struct hw_memory_tree *tree);

/*
 * Find where `path` leads. Errors: HW_NOT_FOUND if a directory on the way to the last name does not
 * exist, HW_IO if one of them is a file.
 */
enum hw_status hw_memory_tree_find(struct hw_memory_tree *tree, const char *path,
                                   struct hw_memory_place *place, struct hw_error *error);

/* The same for a path that must exist: HW_NOT_FOUND if it does not. */
enum hw_status hw_memory_tree_find_existing(struct hw_memory_tree *tree, const char *path,
                                            struct hw_memory_place *place, struct hw_error *error);

/* Make what `place` names, which is free, and set place->node. Errors: HW_NO_MEMORY. */
enum hw_status hw_memory_tree_create(struct hw_memory_tree *tree, struct hw_memory_place *place,
                                     bool is_directory, struct hw_error *error);

/* Take a node without children out of the tree; its memory stays while a file has it open. */
void hw_memory_tree_remove(struct hw_memory_tree *tree, struct hw_memory_node *node);

/*
 * Give `node` the name and the directory of `place`, in the stead of the node that is there.
 * Errors: HW_NO_MEMORY.
 */
enum hw_status hw_memory_tree_move(struct hw_memory_tree *tree, struct hw_memory_node *node,
                                   const struct hw_memory_place *place, struct hw_error *error);

/* A file on `node` was closed: free the node if it was removed and this was the last one. */
void hw_memory_tree_unpin(struct hw_memory_tree *tree, struct hw_memory_node *node);

#endif /* HW_IO_MEMORY_TREE_H */
