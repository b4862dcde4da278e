/* SPDX-License-Identifier: MIT */
/*
 * The clusters that this process has open. Connections to one database file, in whatever threads,
 * get one and the same cluster; it is closed when the last of them lets go. A cluster in memory has
 * one owner.
 *
 *     connection 1 --+
 *                    +--> cluster of exp.db-highwater     one mutex for each cluster
 *     connection 2 --+
 *     connection 3 -----> cluster in memory
 *
 * The list is the only state of the extension that is not reached from a connection. A static mutex
 * of SQLite guards it, also while a cluster is opened or closed. Order of locks: the list's first,
 * then a cluster's.
 */
#ifndef EXT_REGISTRY_H
#define EXT_REGISTRY_H

#include "ext/ext_memory.h"

struct ext_cluster;

struct ext_cluster_options {
    const char *directory; /* NULL: in memory. */
    const char *database;  /* Beside which it lies: it is as private as that one. NULL: none. */
    const char *protocol;  /* Of a new cluster; NULL: the default. */
    uint64_t seed;
    int32_t broker_count; /* Of a new cluster; 0: the default. */
    bool is_reader; /* Nothing is written to the directory: it is read as it is at this moment. */
    const char *copy_of; /* In memory: the directory that is copied into it; NULL: none. */
    const struct hw_adoption *adoption; /* In memory: brokers' directories that are; NULL: none. */
    int64_t copy_bytes_max;
    struct hw_interrupt interrupt; /* Asked while it is opened or copied. */
};

/*
 * The cluster in a directory, opened unless it is open already. The caller holds one reference:
 * ext_cluster_release(). Errors: those of hw_cluster_open(); a directory that another process has
 * is HW_IO.
 */
enum hw_status ext_registry_open(const struct ext_cluster_options *options,
                                 struct ext_cluster **cluster, struct hw_error *error);

/* False in a process that was forked from the one that opened it, but for a cluster in memory, of
 * which each has its own. */
bool ext_cluster_is_own(const struct ext_cluster *cluster);

void ext_cluster_retain(struct ext_cluster *cluster);

/* Not while holding the cluster's mutex. NULL is allowed. */
void ext_cluster_release(struct ext_cluster *cluster);

/* Take the mutex and get at the cluster. Never twice in one thread. */
struct hw_cluster *ext_cluster_lock(struct ext_cluster *cluster);

/* The same for a call that may have effects: with clock=wall what has fallen due runs first. What
 * fails there falls due again, and tick() tells of it. */
struct hw_cluster *ext_cluster_lock_now(struct ext_cluster *cluster);
void ext_cluster_unlock(struct ext_cluster *cluster);

/* Whether a cursor is open in a cluster in memory, beside the one connection that has it. */
bool ext_cluster_has_cursors(const struct ext_cluster *cluster);

/* The cluster, for who has the mutex. */
struct hw_cluster *ext_cluster_locked(const struct ext_cluster *cluster);

#endif /* EXT_REGISTRY_H */
