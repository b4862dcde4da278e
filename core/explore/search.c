/* SPDX-License-Identifier: MIT */
/*
 * Breadth first: states in the order in which they are found. Of each the fingerprint is kept, the
 * state it comes from and the action. A state is made again by going its path from the beginning; since
 * neighbours in the order share most of theirs, the states along the last path are kept, and only what
 * differs is gone anew.
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

/* ---------------------------------------------------------------------------------- the states */

static void search_release(struct search *search)
{
    for (size_t i = 0; i < search->path_capacity; i++) {
        hw_arena_image_release(search->arena, &search->path[i].image);
    }
    hw_free(search->allocator, search->path, search->path_capacity * sizeof *search->path);
    hw_free(search->allocator, search->nodes, search->capacity * sizeof *search->nodes);
    hw_free(search->allocator, search->slots, search->slot_count * sizeof *search->slots);
}

/* Where the fingerprint stands, or would. */
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

/* Keep the state that the cluster is in. */
static enum hw_status search_keep(struct search *search, uint32_t node, size_t depth,
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

/* Bring the cluster to the state `node`; search->path[search->depth] has it then. */
static enum hw_status search_go(struct search *search, uint32_t node, struct hw_error *error)
{
    enum hw_status status;

    search->depth = search_depth(search, node);
    status = search_go_from(search, node, search->depth, search_fork(search, node, search->depth),
                            error);
    return status == HW_OK && !search_is_kept(search, node, search->depth)
               ? search_keep(search, node, search->depth, error)
               : status;
}

/* ------------------------------------------------------------------------------------ verifying */

/*
 * Are states that are taken for one really one? After a search that was exhausted: whatever was
 * found again is gone on from too, and must lead to the same states as the one that was kept, and
 * break the same promises. Then nothing that tells states apart was left out of the encoding.
 */

static void verify_add(struct explore_fingerprint *found, size_t *count,
                       struct explore_fingerprint fingerprint)
{
    for (size_t i = 0; i < *count; i++) {
        if (found[i].high == fingerprint.high && found[i].low == fingerprint.low) {
            return;
        }
    }
    found[(*count)++] = fingerprint;
}

/* A number made of the set of other states that one call leads to from the one of `image`, which the
 * cluster is in. */
static enum hw_status verify_successors(struct search *search, const struct hw_arena_image *image,
                                        uint64_t *digest, struct hw_error *error)
{
    struct explore_fingerprint found[EXPLORE_ACTIONS_MAX + 1];
    struct explore_actions actions = {.count = 0};
    size_t count = 0;
    enum hw_status status = HW_OK;

    verify_add(found, &count, explore_encode(search->explore));
    explore_list_actions(search->explore, &actions);
    *digest = 0;
    for (size_t i = 0; i < actions.count && status == HW_OK; i++) {
        bool is_done;

        hw_arena_restore(search->arena, image);
        status = explore_try(search->explore, actions.items[i], &is_done, error);
        if (status == HW_OK && is_done && search->explore->cluster->promises.broken != 0) {
            *digest += search->explore->cluster->promises.broken;
        } else if (status == HW_OK && is_done) {
            verify_add(found, &count, explore_encode(search->explore));
        }
    }
    for (size_t i = 1; i < count; i++) {
        *digest += found[i].high ^ found[i].low;
    }
    return status;
}

/* Go on from each state that one call leads to from `node`, which the cluster is in. */
static enum hw_status verify_node(struct search *search, const uint64_t *digests,
                                  struct hw_arena_image *image, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    explore_list_actions(search->explore, &search->actions);
    for (size_t i = 0; i < search->actions.count && status == HW_OK; i++) {
        bool is_done;
        uint64_t digest;
        const struct search_slot *slot;

        hw_arena_restore(search->arena, &search->path[search->depth].image);
        status = explore_try(search->explore, search->actions.items[i], &is_done, error);
        if (status != HW_OK || !is_done) {
            continue;
        }
        slot = search_slot_of(search, explore_encode(search->explore));
        status = hw_arena_save(search->arena, image, error);
        if (status == HW_OK) {
            status = verify_successors(search, image, &digest, error);
        }
        if (status == HW_OK && (slot->node == 0 || digests[slot->node - 1] != digest)) {
            status = hw_error_set(error, HW_CORRUPT,
                                  "two states that are taken for one, %" PRIu32
                                  " and what %zu calls lead to, go on differently",
                                  slot->node, search->depth + 1);
        }
    }
    return status;
}

/* HW_CORRUPT where two states were taken for one that go on differently. */
static enum hw_status search_verify(struct search *search, struct hw_error *error)
{
    struct hw_arena_image image = {.size = 0};
    uint64_t *digests = hw_alloc_zeroed(search->allocator, search->count * sizeof *digests);
    enum hw_status status =
        digests == NULL ? hw_error_no_memory(error, "what states lead to") : HW_OK;

    for (size_t node = 0; node < search->count && status == HW_OK; node++) {
        status = search_go(search, (uint32_t)node, error);
        if (status == HW_OK) {
            status = verify_successors(search, &search->path[search->depth].image, &digests[node],
                                       error);
        }
    }
    for (size_t node = 0; node < search->count && status == HW_OK; node++) {
        status = search_go(search, (uint32_t)node, error);
        if (status == HW_OK) {
            status = verify_node(search, digests, &image, error);
        }
    }
    hw_arena_image_release(search->arena, &image);
    hw_free(search->allocator, digests, search->count * sizeof *digests);
    return status;
}

/* ---------------------------------------------------------------------------------- the answer */

/* Make the calls that lead to the state, and tell each before, by what is there then. */
static enum hw_status search_tell(struct search *search, uint32_t node, struct hw_error *error)
{
    struct explore_action action = search->nodes[node].action;
    bool is_done;
    enum hw_status status;

    if (node == 0) {
        hw_arena_restore(search->arena, &search->path[0].image);
        return HW_OK;
    }
    status = search_tell(search, search->nodes[node].parent, error);
    if (status == HW_OK) {
        status = explore_say(search->explore, action, error);
    }
    return status == HW_OK ? explore_perform(search->explore, action, &is_done, error) : status;
}

/* All that can be done at the state at hand; *found: one breaks a promise, and is told. */
static enum hw_status search_expand(struct search *search, uint32_t node, bool *found,
                                    struct hw_error *error)
{
    struct explore *explore = search->explore;
    enum hw_status status = HW_OK;

    explore_list_actions(explore, &search->actions);
    for (size_t i = 0; i < search->actions.count && status == HW_OK && !*found; i++) {
        struct explore_action action = search->actions.items[i];
        bool is_done;

        if (i > 0) {
            hw_arena_restore(search->arena, &search->path[search->depth].image);
        }
        status = explore_try(explore, action, &is_done, error);
        if (status != HW_OK || !is_done) {
            continue;
        }
        explore->result->transitions++;
        explore->result->happened[action.kind]++;
        if (explore->cluster->promises.broken != 0) {
            explore->result->verdict = HW_EXPLORE_VIOLATED;
            explore->result->broken = hw_promise_first(explore->cluster->promises.broken);
            *found = true;
            status = search_tell(search, node, error);
            return status == HW_OK ? explore_say(explore, action, error) : status;
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
}

static bool search_is_over(const struct search *search, size_t depth)
{
    const struct hw_explore_options *options = search->explore->options;
    struct hw_exploration *result = search->explore->result;

    search_measure(search);
    result->stopped_by = result->states > options->states               ? "states"
                         : result->memory_bytes > options->memory_bytes ? "memory"
                         : (int64_t)depth >= options->depth             ? "depth"
                                                                        : NULL;
    return result->stopped_by != NULL;
}

/* What the options allow and never came: then nothing was looked at. */
static enum hw_status search_check_witnesses(const struct explore *explore, struct hw_error *error)
{
    const struct hw_exploration *result = explore->result;
    bool may_produce = (explore->actions & 1U << HW_EXPLORE_PRODUCE) != 0 &&
                       (explore->actions & (1U << HW_EXPLORE_FETCH | 1U << HW_EXPLORE_ASK)) != 0 &&
                       explore->options->budgets[HW_EXPLORE_BUDGET_RECORDS] > 0;
    bool may_elect =
        (explore->actions & 1U << HW_EXPLORE_FENCE) != 0 &&
        (!explore->options->elections_apart || (explore->actions & 1U << HW_EXPLORE_ELECT) != 0) &&
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
                            .arena = &explore->cluster->snapshots->arena};
    struct explore_action nothing = {.kind = 0};
    bool found = false;
    size_t depth = 0;
    size_t level_end = 1;
    enum hw_status status = search_note(&search, 0, nothing, error);

    if (status == HW_OK) {
        status = search_keep(&search, 0, 0, error);
    }
    for (size_t node = 0; status == HW_OK && !found && node < search.count; node++) {
        if (node == level_end) {
            depth++;
            level_end = search.count;
        }
        if (search_is_over(&search, depth)) {
            break;
        }
        status = search_go(&search, (uint32_t)node, error);
        if (status == HW_OK) {
            status = search_expand(&search, (uint32_t)node, &found, error);
        }
    }
    search_measure(&search);
    explore->result->depth = (int64_t)depth;
    if (status == HW_OK && !found && explore->result->stopped_by == NULL) {
        status = search_check_witnesses(explore, error);
        if (status == HW_OK && explore->options->verifies) {
            status = search_verify(&search, error);
        }
    }
    search_release(&search);
    if (explore->result->stopped_by != NULL) {
        explore->result->verdict = HW_EXPLORE_STOPPED;
        return HW_OK;
    }
    return status;
}
