/* SPDX-License-Identifier: MIT */
/*
 * Named copies of a cluster in memory, to which it goes back exactly: logs, roles, messages under
 * way, clock, chance, journal. They belong to the caller that opens the cluster, as does the memory
 * that cluster and store live in:
 *
 *     hw_snapshots_init(&snapshots, &allocator);
 *     hw_memory_store_create(&snapshots.arena.allocator, &store, error);
 *     options.allocator = &snapshots.arena.allocator; options.snapshots = &snapshots;
 *     hw_cluster_open() ... hw_cluster_snapshot(), hw_cluster_rewind() ... hw_cluster_close()
 *     hw_store_destroy(store);
 *     hw_snapshots_release(&snapshots);
 */
#ifndef HW_CLUSTER_SNAPSHOTS_H
#define HW_CLUSTER_SNAPSHOTS_H

#include "core/base/arena.h"
#include "core/base/types.h"

struct hw_cluster;
struct hw_position;

struct hw_snapshot {
    char *name;
    hw_time_ms_t time_ms;   /* Of the cluster's clock. */
    int64_t taken_at_event; /* The journal's last one. */
    struct hw_arena_image image;
};

struct hw_snapshots {
    struct hw_arena arena;
    struct hw_snapshot *items; /* In the order in which they were first taken. */
    size_t count;
    size_t capacity;
};

/* Must not move afterwards. */
void hw_snapshots_init(struct hw_snapshots *snapshots, const struct hw_allocator *allocator);
void hw_snapshots_release(struct hw_snapshots *snapshots);

/* Whether the cluster can be copied now: it is in memory, and no transaction has written. Errors:
 * HW_MISUSE, HW_BUSY. */
enum hw_status hw_cluster_check_snapshots(const struct hw_cluster *cluster, struct hw_error *error);

/* Copy the cluster; a snapshot of that name is replaced. *now_ms is its clock. Errors, which leave
 * everything as it was: HW_MISUSE where the cluster is in a directory, or the name empty; HW_BUSY
 * where a transaction has written; HW_NO_MEMORY. */
enum hw_status hw_cluster_snapshot(struct hw_cluster *cluster, const char *name,
                                   hw_time_ms_t *now_ms, struct hw_error *error);

/*
 * Put the copy back. Readers and views of the cluster are no longer good: the caller has none.
 * Errors, which leave everything as it was: HW_MISUSE where the cluster is in a directory, or there
 * is no snapshot of that name (with those that there are); HW_BUSY where a transaction has written.
 */
enum hw_status hw_cluster_rewind(struct hw_cluster *cluster, const char *name, hw_time_ms_t *now_ms,
                                 struct hw_error *error);

/* Drop one; *left is how many remain. Errors: HW_MISUSE. */
enum hw_status hw_cluster_forget(struct hw_cluster *cluster, const char *name, int64_t *left,
                                 struct hw_error *error);

struct hw_snapshot_view {
    const char *name;
    hw_time_ms_t time_ms;
    int64_t taken_at_event;
    int64_t size_bytes;
};
bool hw_cluster_next_snapshot(const struct hw_cluster *cluster, struct hw_position *position,
                              struct hw_snapshot_view *view);

#endif /* HW_CLUSTER_SNAPSHOTS_H */
