/* SPDX-License-Identifier: MIT */
/* A search under way: search.c, states.c, verify.c. */
#ifndef HW_EXPLORE_SEARCH_INTERNAL_H
#define HW_EXPLORE_SEARCH_INTERNAL_H

#include "core/explore/explore_internal.h"

struct search_node {
    uint32_t parent;
    struct explore_action action;
};

/* Where the fingerprint is, as an open hash table. */
struct search_slot {
    struct explore_fingerprint fingerprint;
    uint32_t node; /* One more than its place; 0: free. */
};

/* A state on the way to the one that was gone to last, or before. */
struct search_step {
    uint32_t node; /* 0, but at the beginning: none is kept. */
    struct hw_arena_image image;
};

struct search {
    struct explore *explore;
    const struct hw_allocator *allocator;
    struct hw_arena *arena;
    struct search_node *nodes;
    size_t count;
    size_t capacity;
    struct search_slot *slots;
    size_t slot_count;        /* A power of two. */
    struct search_step *path; /* By depth; path[0] is the beginning. */
    size_t path_capacity;
    size_t depth; /* Of the state that was gone to last, which is kept. */
    struct explore_actions actions;
};

/* Where the fingerprint stands, or would. */
struct search_slot *search_slot_of(const struct search *search,
                                   struct explore_fingerprint fingerprint);

/* Note the state that the cluster is in, unless it is known. Errors: HW_NO_MEMORY. */
enum hw_status search_note(struct search *search, uint32_t parent, struct explore_action action,
                           struct hw_error *error);

/* Keep the state that the cluster is in. Errors: HW_NO_MEMORY. */
enum hw_status search_keep(struct search *search, uint32_t node, size_t depth,
                           struct hw_error *error);

void search_release(struct search *search);

/* Bring the cluster to the state `node`; search->path[search->depth] has it then. Errors: HW_NO_MEMORY,
 * HW_INTERRUPTED, those of a step. */
enum hw_status search_go(struct search *search, uint32_t node, struct hw_error *error);

/* After a search that was exhausted: HW_CORRUPT where two states were taken for one that go on
 * differently. */
enum hw_status search_verify(struct search *search, struct hw_error *error);

#endif /* HW_EXPLORE_SEARCH_INTERNAL_H */
