/* SPDX-License-Identifier: MIT */
/*
 * The states that were found: of each the fingerprint, the state it comes from and the action. A
 * state is made again by going its path from the beginning; since neighbours in the order share most
 * of theirs, the states along the last path are kept, and only what differs is gone anew.
 */
#include "core/explore/search_internal.h"

#include <string.h>

void search_release(struct search *search)
{
    for (size_t i = 0; i < search->path_capacity; i++) {
        hw_arena_image_release(search->arena, &search->path[i].image);
    }
    hw_free(search->allocator, search->path, search->path_capacity * sizeof *search->path);
    hw_free(search->allocator, search->nodes, search->capacity * sizeof *search->nodes);
    hw_free(search->allocator, search->slots, search->slot_count * sizeof *search->slots);
}

struct search_slot *search_slot_of(const struct search *search,
                                   struct explore_fingerprint fingerprint)
{
    size_t at = (size_t)fingerprint.low & (search->slot_count - 1);

    while (search->slots[at].node != 0 && (search->slots[at].fingerprint.high != fingerprint.high ||
                                           search->slots[at].fingerprint.low != fingerprint.low)) {
        at = (at + 1) & (search->slot_count - 1);
    }
    return &search->slots[at];
}

static enum hw_status search_grow(struct search *search, struct hw_error *error)
{
    struct search grown = *search;

    if (search->count * 2 < search->slot_count) {
        return HW_OK;
    }
    grown.slot_count = search->slot_count == 0 ? 1024 : search->slot_count * 2;
    if (grown.slot_count > SIZE_MAX / sizeof *grown.slots) {
        return hw_error_no_memory(error, "states");
    }
    grown.slots = hw_alloc_zeroed(search->allocator, grown.slot_count * sizeof *grown.slots);
    if (grown.slots == NULL) {
        return hw_error_no_memory(error, "states");
    }
    for (size_t i = 0; i < search->slot_count; i++) {
        if (search->slots[i].node != 0) {
            *search_slot_of(&grown, search->slots[i].fingerprint) = search->slots[i];
        }
    }
    hw_free(search->allocator, search->slots, search->slot_count * sizeof *search->slots);
    search->slots = grown.slots;
    search->slot_count = grown.slot_count;
    return HW_OK;
}

enum hw_status search_note(struct search *search, uint32_t parent, struct explore_action action,
                           struct hw_error *error)
{
    struct explore_fingerprint fingerprint = explore_encode(search->explore);
    enum hw_status status = search_grow(search, error);
    struct search_slot *slot;

    if (status == HW_OK) {
        status = hw_array_reserve(search->allocator, (void **)&search->nodes, &search->capacity,
                                  search->count + 1, sizeof *search->nodes, error);
    }
    if (status != HW_OK) {
        return status;
    }
    slot = search_slot_of(search, fingerprint);
    if (slot->node == 0) {
        search->nodes[search->count++] = (struct search_node){.parent = parent, .action = action};
        *slot = (struct search_slot){.fingerprint = fingerprint, .node = (uint32_t)search->count};
    }
    return HW_OK;
}

/* ------------------------------------------------------------------------------- going a path */

enum hw_status search_keep(struct search *search, uint32_t node, size_t depth,
                           struct hw_error *error)
{
    size_t before = search->path_capacity;
    enum hw_status status =
        hw_array_reserve(search->allocator, (void **)&search->path, &search->path_capacity,
                         depth + 1, sizeof *search->path, error);

    if (status != HW_OK) {
        return status;
    }
    memset(&search->path[before], 0, (search->path_capacity - before) * sizeof *search->path);
    status = hw_arena_save(search->arena, &search->path[depth].image, error);
    search->path[depth].node = status == HW_OK ? node : 0;
    return status;
}

static size_t search_depth(const struct search *search, uint32_t node)
{
    size_t depth = 0;

    for (; node != 0; node = search->nodes[node].parent) {
        depth++;
    }
    return depth;
}

/* The depth at which the paths to this state and to the next one part. */
static size_t search_fork(const struct search *search, uint32_t node, size_t depth)
{
    uint32_t next = node + 1 < search->count ? node + 1 : node;

    if (search_depth(search, next) > depth) {
        next = search->nodes[next].parent;
    }
    for (; node != next; depth--) {
        node = search->nodes[node].parent;
        next = search->nodes[next].parent;
    }
    return depth;
}

static bool search_is_kept(const struct search *search, uint32_t node, size_t depth)
{
    return depth < search->path_capacity && search->path[depth].node == node;
}

/* Bring the cluster to `node`, from the last state on its way that is kept; keep what the next one
 * shares. Recursion is as deep as what differs. */
static enum hw_status search_go_from(struct search *search, uint32_t node, size_t depth,
                                     size_t fork, struct hw_error *error)
{
    struct hw_promises *promises = &search->explore->cluster->promises;
    uint32_t checked = promises->checked;
    bool is_done;
    enum hw_status status;

    if (search_is_kept(search, node, depth)) {
        hw_arena_restore(search->arena, &search->path[depth].image);
        return HW_OK;
    }
    status = search_go_from(search, search->nodes[node].parent, depth - 1, fork, error);
    if (status == HW_OK) { /* What broke nothing then breaks nothing now: one promise is enough. */
        promises->checked = checked & (~checked + 1);
        status = explore_try(search->explore, search->nodes[node].action, &is_done, error);
        promises->checked = checked;
    }
    return status == HW_OK && depth <= fork ? search_keep(search, node, depth, error) : status;
}

enum hw_status search_go(struct search *search, uint32_t node, struct hw_error *error)
{
    enum hw_status status;

    search->depth = search_depth(search, node);
    status = search_go_from(search, node, search->depth, search_fork(search, node, search->depth),
                            error);
    return status == HW_OK && !search_is_kept(search, node, search->depth)
               ? search_keep(search, node, search->depth, error)
               : status;
}
