/* SPDX-License-Identifier: MIT */
#include "core/cluster/snapshots.h"

#include "core/cluster/cluster_internal.h"

#include <string.h>

void hw_snapshots_init(struct hw_snapshots *snapshots, const struct hw_allocator *allocator)
{
    *snapshots = (struct hw_snapshots){.count = 0};
    hw_arena_init(&snapshots->arena, allocator);
}

static void snapshot_release(struct hw_snapshots *snapshots, struct hw_snapshot *snapshot)
{
    hw_text_free(snapshots->arena.backing, snapshot->name);
    hw_arena_image_release(&snapshots->arena, &snapshot->image);
}

void hw_snapshots_release(struct hw_snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->count; i++) {
        snapshot_release(snapshots, &snapshots->items[i]);
    }
    hw_free(snapshots->arena.backing, snapshots->items,
            snapshots->capacity * sizeof *snapshots->items);
    hw_arena_release(&snapshots->arena);
}

/* A transaction of the database that is under way would not go back with the cluster. */
static enum hw_status snapshot_refuse_stage(const struct hw_cluster *cluster,
                                            struct hw_error *error)
{
    for (size_t t = 0; t < cluster->topic_count; t++) {
        const struct hw_topic *topic = cluster->topics[t];
        bool is_written = topic->is_hidden || topic->decision == HW_TOPIC_STAGED;

        for (int32_t p = 0; p < topic->partition_count; p++) {
            is_written = is_written || topic->partitions[p].writer != NULL;
        }
        if (is_written) {
            return hw_error_set(error, HW_BUSY,
                                "an open transaction has written to topic '%s': COMMIT or "
                                "ROLLBACK it first",
                                topic->name);
        }
    }
    return HW_OK;
}

enum hw_status hw_cluster_check_snapshots(const struct hw_cluster *cluster, struct hw_error *error)
{
    if (cluster->snapshots == NULL) {
        return hw_error_set(error, HW_MISUSE,
                            "this cluster is in a directory, and only one in memory can go back: "
                            "open_cluster(':memory:', '{\"copy_of\":\"...\"}') takes a copy of it");
    }
    return snapshot_refuse_stage(cluster, error);
}

/* snapshots->count where there is none. */
static size_t snapshot_place(const struct hw_snapshots *snapshots, const char *name)
{
    size_t place = 0;

    while (place < snapshots->count && strcmp(snapshots->items[place].name, name) != 0) {
        place++;
    }
    return place;
}

static enum hw_status snapshot_find(const struct hw_cluster *cluster, const char *name,
                                    size_t *place, struct hw_error *error)
{
    *place = snapshot_place(cluster->snapshots, name);
    if (*place < cluster->snapshots->count) {
        return HW_OK;
    }
    return hw_error_set(error, HW_MISUSE,
                        "there is no snapshot '%.60s': snapshot() takes one, hw_snapshots lists "
                        "those there are",
                        name);
}

enum hw_status hw_cluster_snapshot(struct hw_cluster *cluster, const char *name,
                                   hw_time_ms_t *now_ms, struct hw_error *error)
{
    struct hw_snapshots *snapshots = cluster->snapshots;
    struct hw_snapshot taken = {.name = NULL};
    enum hw_status status = hw_cluster_check_snapshots(cluster, error);
    size_t place;

    if (status == HW_OK && name[0] == '\0') {
        status = hw_error_set(error, HW_MISUSE, "a snapshot needs a name");
    }
    if (status == HW_OK) {
        status = hw_array_reserve(snapshots->arena.backing, (void **)&snapshots->items,
                                  &snapshots->capacity, snapshots->count + 1,
                                  sizeof *snapshots->items, error);
    }
    if (status == HW_OK) {
        status = hw_arena_save(&snapshots->arena, &taken.image, error);
    }
    if (status != HW_OK) {
        return status;
    }
    taken.name = hw_text_copy(snapshots->arena.backing, name);
    if (taken.name == NULL) {
        hw_arena_image_release(&snapshots->arena, &taken.image);
        return hw_error_no_memory(error, "a snapshot");
    }
    taken.time_ms = cluster->now_ms;
    taken.taken_at_event = cluster->journal.next_seq - 1;
    place = snapshot_place(snapshots, name);
    if (place < snapshots->count) {
        snapshot_release(snapshots, &snapshots->items[place]);
    } else {
        snapshots->count++;
    }
    snapshots->items[place] = taken;
    *now_ms = taken.time_ms;
    return HW_OK;
}

enum hw_status hw_cluster_rewind(struct hw_cluster *cluster, const char *name, hw_time_ms_t *now_ms,
                                 struct hw_error *error)
{
    struct hw_interrupt interrupt = cluster->interrupt; /* Of the call, not of the cluster. */
    size_t place = 0;
    enum hw_status status = hw_cluster_check_snapshots(cluster, error);

    if (status == HW_OK) {
        status = snapshot_find(cluster, name, &place, error);
    }
    if (status == HW_OK) {
        hw_arena_restore(&cluster->snapshots->arena, &cluster->snapshots->items[place].image);
        cluster->interrupt = interrupt;
        *now_ms = cluster->now_ms;
        if (cluster->settings.checks_invariants) {
            hw_cluster_check(cluster);
        }
    }
    return status;
}

enum hw_status hw_cluster_forget(struct hw_cluster *cluster, const char *name, int64_t *left,
                                 struct hw_error *error)
{
    struct hw_snapshots *snapshots = cluster->snapshots;
    size_t place = 0;
    enum hw_status status = hw_cluster_check_snapshots(cluster, error);

    if (status == HW_OK) {
        status = snapshot_find(cluster, name, &place, error);
    }
    if (status == HW_OK) {
        snapshot_release(snapshots, &snapshots->items[place]);
        snapshots->count--;
        memmove(&snapshots->items[place], &snapshots->items[place + 1],
                (snapshots->count - place) * sizeof *snapshots->items);
        *left = (int64_t)snapshots->count;
    }
    return status;
}

bool hw_cluster_next_snapshot(const struct hw_cluster *cluster, struct hw_position *position,
                              struct hw_snapshot_view *view)
{
    const struct hw_snapshot *snapshot;

    if (cluster->snapshots == NULL || position->item >= cluster->snapshots->count) {
        return false;
    }
    snapshot = &cluster->snapshots->items[position->item++];
    *view = (struct hw_snapshot_view){.name = snapshot->name,
                                      .time_ms = snapshot->time_ms,
                                      .taken_at_event = snapshot->taken_at_event,
                                      .size_bytes = (int64_t)snapshot->image.size};
    return true;
}
