/* SPDX-License-Identifier: MIT */
/*
 * Breadth first: states in the order in which they are found, of each the fingerprint, the state it
 * comes from and the action. A state is made again by going its path from the beginning; since
 * neighbours in the order share most of theirs, the states along the last path are kept, and only
 * what differs is gone anew.
 */
#include "core/explore/explore_internal.h"

#include <inttypes.h>
#include <string.h>

struct search_node {
    uint32_t parent;
    struct explore_action action;
};

/* Where the fingerprint is, as an open hash table. */
struct search_slot {
    struct explore_fingerprint fingerprint;
    uint32_t node; /* One more than its place; 0: free. */
};

/* A state along the path that was gone last. */
struct search_step {
    uint32_t node;
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
    size_t path_count;
    size_t path_capacity;
    hw_time_ms_t begun_ms;
    struct explore_actions actions;
};

static void search_release(struct search *search)
{
    for (size_t i = 0; i < search->path_capacity; i++) {
        hw_arena_image_release(search->arena, &search->path[i].image);
    }
    hw_free(search->allocator, search->path, search->path_capacity * sizeof *search->path);
    hw_free(search->allocator, search->nodes, search->capacity * sizeof *search->nodes);
    hw_free(search->allocator, search->slots, search->slot_count * sizeof *search->slots);
}

static struct search_slot *search_slot_of(const struct search *search,
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

/* Note the state that the cluster is in, unless it is known. */
static enum hw_status search_note(struct search *search, uint32_t parent,
                                  struct explore_action action, struct hw_error *error)
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

static enum hw_status search_keep(struct search *search, uint32_t node, struct hw_error *error)
{
    size_t before = search->path_capacity;
    enum hw_status status =
        hw_array_reserve(search->allocator, (void **)&search->path, &search->path_capacity,
                         search->path_count + 1, sizeof *search->path, error);

    if (status != HW_OK) {
        return status;
    }
    memset(&search->path[before], 0, (search->path_capacity - before) * sizeof *search->path);
    status = hw_arena_save(search->arena, &search->path[search->path_count].image, error);
    if (status == HW_OK) {
        search->path[search->path_count++].node = node;
    }
    return status;
}

/* Bring the cluster to `node`, from the last state that it shares with the path gone last. Recursion
 * is as deep as what differs. */
static enum hw_status search_go(struct search *search, uint32_t node, size_t depth,
                                struct hw_error *error)
{
    bool is_done;
    enum hw_status status;

    if (depth < search->path_count && search->path[depth].node == node) {
        search->path_count = depth + 1;
        hw_arena_restore(search->arena, &search->path[depth].image);
        return HW_OK;
    }
    status = search_go(search, search->nodes[node].parent, depth - 1, error);
    if (status == HW_OK) {
        status = explore_perform(search->explore, search->nodes[node].action, &is_done, error);
    }
    return status == HW_OK ? search_keep(search, node, error) : status;
}

/* ---------------------------------------------------------------------------------- the answer */

/* The calls from the beginning to the state at the end of the path, and then `last`. Each is told
 * before it is done, by what is there then. */
static enum hw_status search_tell(struct search *search, struct explore_action last,
                                  struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 1; i <= search->path_count && status == HW_OK; i++) {
        hw_arena_restore(search->arena, &search->path[i - 1].image);
        status = explore_say(
            search->explore,
            i < search->path_count ? search->nodes[search->path[i].node].action : last, error);
    }
    return status;
}

/* All that can be done at the state at hand; *found: one breaks a promise, and is told. */
static enum hw_status search_expand(struct search *search, uint32_t node, bool *found,
                                    struct hw_error *error)
{
    struct explore *explore = search->explore;
    size_t depth = search->path_count - 1;
    enum hw_status status = HW_OK;

    explore_list_actions(explore, &search->actions);
    for (size_t i = 0; i < search->actions.count && status == HW_OK && !*found; i++) {
        struct explore_action action = search->actions.items[i];
        bool is_done;

        if (i > 0) {
            hw_arena_restore(search->arena, &search->path[depth].image);
        }
        status = explore_perform(explore, action, &is_done, error);
        if (status != HW_OK || !is_done) {
            continue;
        }
        explore->result->transitions++;
        explore->result->happened[action.kind]++;
        if (explore->cluster->promises.broken != 0) {
            explore->result->verdict = HW_EXPLORE_VIOLATED;
            explore->result->broken = hw_promise_first(explore->cluster->promises.broken);
            *found = true;
            return search_tell(search, action, error);
        }
        status = search_note(search, node, action, error);
    }
    return status;
}

static void search_measure(const struct search *search)
{
    struct hw_exploration *result = search->explore->result;

    result->states = (int64_t)search->count;
    result->memory_bytes = (int64_t)(search->capacity * sizeof *search->nodes +
                                     search->slot_count * sizeof *search->slots);
    result->milliseconds = explore_now_ms(search->explore) - search->begun_ms;
}

static bool search_is_over(const struct search *search, size_t depth)
{
    const struct hw_explore_options *options = search->explore->options;
    struct hw_exploration *result = search->explore->result;

    search_measure(search);
    result->stopped_by = result->stopped_by != NULL                       ? result->stopped_by
                         : result->states > options->states               ? "states"
                         : result->memory_bytes > options->memory_bytes   ? "memory"
                         : result->milliseconds > options->seconds * 1000 ? "seconds"
                         : (int64_t)depth >= options->depth               ? "depth"
                                                                          : NULL;
    return result->stopped_by != NULL;
}

/* What the options allow and never came: then nothing was looked at. */
static enum hw_status search_check_witnesses(const struct explore *explore, struct hw_error *error)
{
    const struct hw_exploration *result = explore->result;
    bool may_produce = (explore->actions & 1U << HW_EXPLORE_PRODUCE) != 0 &&
                       (explore->actions & 1U << HW_EXPLORE_FETCH) != 0 &&
                       explore->options->budgets[HW_EXPLORE_BUDGET_RECORDS] > 0;
    bool may_elect = (explore->actions & 1U << HW_EXPLORE_FENCE) != 0 &&
                     explore->options->budgets[HW_EXPLORE_BUDGET_ELECTIONS] > 0 &&
                     explore->options->budgets[HW_EXPLORE_BUDGET_EPOCHS] > 1 &&
                     explore->options->budgets[HW_EXPLORE_BUDGET_FENCES] > 0 &&
                     explore->cluster->broker_count > 1;

    if (may_produce && result->witnessed[HW_EXPLORE_WITNESS_ACKNOWLEDGED] == 0) {
        return hw_error_set(error, HW_MISUSE,
                            "nothing was acknowledged in any of %" PRId64
                            " states: the exploration would say nothing",
                            result->states);
    }
    if (may_elect && result->witnessed[HW_EXPLORE_WITNESS_ELECTED_WITHOUT] == 0) {
        return hw_error_set(error, HW_MISUSE,
                            "no leader was elected without the former one in any of %" PRId64
                            " states: the exploration would say nothing",
                            result->states);
    }
    return HW_OK;
}

enum hw_status explore_search(struct explore *explore, struct hw_error *error)
{
    struct search search = {.explore = explore,
                            .allocator = explore->cluster->callers,
                            .arena = &explore->cluster->snapshots->arena,
                            .begun_ms = explore_now_ms(explore)};
    struct explore_action nothing = {.kind = 0};
    bool found = false;
    size_t depth = 0;
    size_t level_end = 1;
    enum hw_status status = search_note(&search, 0, nothing, error);

    if (status == HW_OK) {
        status = search_keep(&search, 0, error);
    }
    for (size_t node = 0; status == HW_OK && !found && node < search.count; node++) {
        if (node == level_end) {
            depth++;
            level_end = search.count;
        }
        if ((node % 256 == 0 || (int64_t)depth >= explore->options->depth) &&
            search_is_over(&search, depth)) {
            break;
        }
        status = search_go(&search, (uint32_t)node, depth, error);
        if (status == HW_OK) {
            status = search_expand(&search, (uint32_t)node, &found, error);
        }
        if (status == HW_OK) {
            status = hw_cluster_check_interrupt(explore->cluster, error);
        }
    }
    search_measure(&search);
    explore->result->depth = (int64_t)depth;
    if (!found && explore->result->stopped_by != NULL) {
        explore->result->verdict = HW_EXPLORE_STOPPED;
    } else if (status == HW_OK && !found) {
        status = search_check_witnesses(explore, error);
    }
    search_release(&search);
    return status;
}
