/* SPDX-License-Identifier: MIT */
/* Random runs, for spaces that are too large; what breaks a promise is shortened before it is told. */
#include "core/explore/explore_internal.h"

#include <string.h>

struct walk {
    struct explore *explore;
    struct hw_arena *arena;
    struct hw_arena_image beginning;
    struct hw_random random;
    struct explore_action *run;
    size_t length;
    size_t capacity;
    struct explore_actions actions;
};

static bool walk_is_listed(const struct walk *walk, struct explore_action action)
{
    for (size_t i = 0; i < walk->actions.count; i++) {
        if (memcmp(&walk->actions.items[i], &action, sizeof action) == 0) {
            return true;
        }
    }
    return false;
}

/* Do the run without its action at place `left_out`; *breaks: a promise broke with its last action or
 * before, and *length is how many actions that took. */
static enum hw_status walk_again(struct walk *walk, size_t left_out, bool *breaks, size_t *length,
                                 struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *breaks = false;
    hw_arena_restore(walk->arena, &walk->beginning);
    for (size_t i = 0; i < walk->length && status == HW_OK && !*breaks; i++) {
        bool is_done = false;

        if (i == left_out) {
            continue;
        }
        explore_list_actions(walk->explore, &walk->actions);
        if (walk_is_listed(walk, walk->run[i])) {
            status = explore_try(walk->explore, walk->run[i], &is_done, error);
        }
        if (!is_done) {
            return status;
        }
        *breaks = walk->explore->cluster->promises.broken != 0;
        *length = i + 1;
    }
    return status;
}

/* Leave out one action after another, while the rest still breaks a promise. */
static enum hw_status walk_shorten(struct walk *walk, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    size_t at = walk->length;

    while (at-- > 0 && status == HW_OK) {
        bool breaks;
        size_t length = 0;

        status = walk_again(walk, at, &breaks, &length, error);
        if (status == HW_OK && breaks) {
            walk->length = length;
            if (at < length) {
                walk->length--;
                memmove(&walk->run[at], &walk->run[at + 1],
                        (walk->length - at) * sizeof *walk->run);
            }
            at = walk->length; /* What was needed before may not be any more. */
        }
    }
    return status;
}

static enum hw_status walk_tell(struct walk *walk, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    hw_arena_restore(walk->arena, &walk->beginning);
    for (size_t i = 0; i < walk->length && status == HW_OK; i++) {
        bool is_done;

        status = explore_say(walk->explore, walk->run[i], error);
        if (status == HW_OK) {
            status = explore_perform(walk->explore, walk->run[i], &is_done, error);
        }
    }
    if (status == HW_OK) {
        walk->explore->result->verdict = HW_EXPLORE_VIOLATED;
        walk->explore->result->broken = hw_promise_first(walk->explore->cluster->promises.broken);
    }
    return status;
}

/* One random action of those that can be done; *is_over: there is none. */
static enum hw_status walk_step(struct walk *walk, bool *is_over, struct hw_error *error)
{
    struct hw_exploration *result = walk->explore->result;
    bool is_done = false;
    struct explore_action action;
    enum hw_status status;

    explore_list_actions(walk->explore, &walk->actions);
    *is_over = walk->actions.count == 0;
    if (*is_over) {
        return HW_OK;
    }
    action = walk->actions.items[hw_random_below(&walk->random, walk->actions.count)];
    status = hw_array_reserve(result->allocator, (void **)&walk->run, &walk->capacity,
                              walk->length + 1, sizeof *walk->run, error);
    if (status == HW_OK) {
        status = explore_try(walk->explore, action, &is_done, error);
    }
    if (status == HW_OK && is_done) {
        walk->run[walk->length++] = action;
        result->happened[action.kind]++;
        result->transitions++;
    }
    *is_over = !is_done; /* Beyond a budget: the run ends here. */
    return status;
}

static enum hw_status walk_run(struct walk *walk, bool *breaks, struct hw_error *error)
{
    struct hw_exploration *result = walk->explore->result;
    enum hw_status status = explore_may_go_on(walk->explore, error);
    bool is_over = false;

    walk->length = 0;
    *breaks = false;
    hw_arena_restore(walk->arena, &walk->beginning);
    while (status == HW_OK && !is_over && !*breaks &&
           (int64_t)walk->length < walk->explore->options->depth) {
        status = walk_step(walk, &is_over, error);
        *breaks = walk->explore->cluster->promises.broken != 0;
        result->states++;
    }
    result->depth = (int64_t)walk->length > result->depth ? (int64_t)walk->length : result->depth;
    return status;
}

enum hw_status explore_walk(struct explore *explore, struct hw_error *error)
{
    const struct hw_explore_options *options = explore->options;
    struct hw_exploration *result = explore->result;
    struct walk walk = {.explore = explore, .arena = &explore->cluster->snapshots->arena};
    bool breaks = false;
    enum hw_status status = hw_arena_save(walk.arena, &walk.beginning, error);

    hw_random_init(&walk.random, options->seed);
    result->verdict = HW_EXPLORE_STOPPED;
    while (status == HW_OK && !breaks && result->stopped_by == NULL) {
        status = walk_run(&walk, &breaks, error);
        if (status == HW_OK && !breaks && result->states >= options->states) {
            result->stopped_by = "states";
        }
    }
    if (status == HW_OK && breaks) {
        status = walk_shorten(&walk, error);
    }
    if (result->stopped_by != NULL) {
        status = HW_OK; /* What was found is told as short as it is. */
    }
    if (status == HW_OK && breaks) {
        result->stopped_by = NULL;
        status = walk_tell(&walk, error);
    }
    hw_arena_image_release(walk.arena, &walk.beginning);
    hw_free(result->allocator, walk.run, walk.capacity * sizeof *walk.run);
    return status;
}
