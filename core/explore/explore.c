/* SPDX-License-Identifier: MIT */
#include "core/explore/explore.h"

#include "core/explore/explore_internal.h"
#include "core/io/memory_store.h"

/* What is explored: the caller's cluster, or a new one in memory of its own, which goes with it. */
struct explore_ground {
    struct explore explore;
    struct hw_snapshots snapshots;
    struct hw_store *store; /* NULL: the cluster is the caller's. */
};

static enum hw_status explore_make(struct explore_ground *ground, const struct hw_cluster *from,
                                   struct hw_error *error)
{
    struct explore *explore = &ground->explore;
    const struct hw_allocator *allocator = &ground->snapshots.arena.allocator;
    enum hw_status status = hw_memory_store_create(allocator, &ground->store, error);

    if (status == HW_OK) {
        status = hw_cluster_open(
            &(struct hw_cluster_options){.allocator = allocator,
                                         .snapshots = &ground->snapshots,
                                         .store = ground->store,
                                         .directory = ":memory:",
                                         .broker_count = explore->options->new_brokers,
                                         .clock = from->clock},
            &explore->cluster, error);
    }
    if (status == HW_OK) {
        hw_cluster_set_interrupt(explore->cluster, &from->interrupt);
        hw_journal_rest(&explore->cluster->journal); /* What was in it would be copied each time. */
        status = explore_begin_new(explore, from, error);
    }
    return status;
}

static void explore_ground_release(struct explore_ground *ground)
{
    if (ground == NULL) {
        return;
    }
    if (ground->explore.options->new_brokers > 0) {
        hw_cluster_abandon(ground->explore.cluster);
        hw_store_destroy(ground->store);
    }
    hw_snapshots_release(&ground->snapshots);
    hw_free(ground->explore.result->allocator, ground, sizeof *ground);
}

void hw_exploration_release(struct hw_exploration *exploration)
{
    explore_ground_release(exploration->ground);
    for (size_t i = 0; i < exploration->count; i++) {
        hw_text_free(exploration->allocator, exploration->calls[i]);
    }
    hw_free(exploration->allocator, exploration->calls,
            exploration->capacity * sizeof *exploration->calls);
    *exploration = (struct hw_exploration){.allocator = exploration->allocator};
}

enum hw_status hw_explore_begin(struct hw_cluster *cluster,
                                const struct hw_explore_options *options,
                                struct hw_exploration *exploration, struct hw_error *error)
{
    struct explore_ground *ground = hw_alloc(cluster->callers, sizeof *ground);
    enum hw_status status;

    if (ground == NULL) {
        return hw_error_no_memory(error, "an exploration");
    }
    *exploration = (struct hw_exploration){.allocator = cluster->callers, .ground = ground};
    *ground = (struct explore_ground){.explore = {.options = options, .result = exploration}};
    hw_snapshots_init(&ground->snapshots, cluster->callers);
    if (options->new_brokers > 0) {
        status = explore_make(ground, cluster, error);
    } else {
        ground->explore.cluster = cluster;
        status = hw_cluster_check_snapshots(cluster, error);
    }
    if (status != HW_OK) {
        hw_exploration_release(exploration);
    }
    return status;
}

enum hw_status hw_explore_run(struct hw_exploration *exploration, struct hw_error *error)
{
    struct explore *explore = &exploration->ground->explore;
    struct hw_arena *arena = &explore->cluster->snapshots->arena;
    struct hw_arena_image before = {.size = 0};
    enum hw_status status = hw_arena_save(arena, &before, error);

    explore->begun_ms = explore_now_ms(explore);
    if (status == HW_OK) {
        status = explore_prepare(explore, error);
        if (status == HW_OK) {
            status = explore->options->is_walk ? explore_walk(explore, error)
                                               : explore_search(explore, error);
        }
        hw_arena_copy_all(arena);
        hw_arena_restore(arena, &before);
    }
    hw_arena_image_release(arena, &before);
    if (status == HW_OK) {
        explore_ground_release(exploration->ground);
        exploration->ground = NULL;
    } else {
        hw_exploration_release(exploration);
    }
    return status;
}
