/* SPDX-License-Identifier: MIT */
#include "core/explore/explore.h"

#include "core/explore/explore_internal.h"
#include "core/io/memory_store.h"

static enum hw_status explore_run(struct explore *explore, struct hw_error *error)
{
    enum hw_status status = explore_prepare(explore, error);

    if (status != HW_OK) {
        return status;
    }
    return explore->options->is_walk ? explore_walk(explore, error)
                                     : explore_search(explore, error);
}

/* In memory of its own, which goes with it. */
static enum hw_status explore_new(struct explore *explore, struct hw_cluster *from,
                                  struct hw_error *error)
{
    struct hw_snapshots snapshots;
    struct hw_store *store = NULL;
    enum hw_status status;

    hw_snapshots_init(&snapshots, from->callers);
    explore->cluster = NULL;
    status = hw_memory_store_create(&snapshots.arena.allocator, &store, error);
    if (status == HW_OK) {
        status = hw_cluster_open(
            &(struct hw_cluster_options){.allocator = &snapshots.arena.allocator,
                                         .snapshots = &snapshots,
                                         .store = store,
                                         .directory = ":memory:",
                                         .broker_count = explore->options->new_brokers,
                                         .clock = from->clock},
            &explore->cluster, error);
    }
    if (status == HW_OK) {
        hw_cluster_set_interrupt(explore->cluster, &from->interrupt);
        status = explore_begin_new(explore, from, error);
    }
    if (status == HW_OK) {
        status = explore_run(explore, error);
    }
    hw_cluster_abandon(explore->cluster);
    hw_store_destroy(store);
    hw_snapshots_release(&snapshots);
    return status;
}

static enum hw_status explore_here(struct explore *explore, struct hw_error *error)
{
    struct hw_arena_image before = {.size = 0};
    struct hw_arena *arena;
    enum hw_status status = hw_cluster_check_snapshots(explore->cluster, error);

    if (status != HW_OK) {
        return status;
    }
    arena = &explore->cluster->snapshots->arena;
    status = hw_arena_save(arena, &before, error);
    if (status == HW_OK) {
        status = explore_run(explore, error);
        hw_arena_restore(arena, &before);
    }
    hw_arena_image_release(arena, &before);
    return status;
}

enum hw_status hw_explore(struct hw_cluster *cluster, const struct hw_explore_options *options,
                          struct hw_exploration *exploration, struct hw_error *error)
{
    struct explore explore = {.cluster = cluster, .options = options, .result = exploration};
    enum hw_status status;

    *exploration = (struct hw_exploration){.allocator = cluster->callers};
    status = options->new_brokers > 0 ? explore_new(&explore, cluster, error)
                                      : explore_here(&explore, error);
    if (status != HW_OK) {
        hw_exploration_release(exploration);
    }
    return status;
}
