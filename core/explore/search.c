/* SPDX-License-Identifier: MIT */
/* Breadth first: states in the order in which they are found. */
#include "core/explore/search_internal.h"

#include <inttypes.h>

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
