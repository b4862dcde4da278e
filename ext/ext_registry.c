/* SPDX-License-Identifier: MIT */
/* The list of open clusters, and each one's store, mutex and count of references. */
#include "ext/ext_registry.h"

#include <sqlite3ext.h>
#include <stdatomic.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* The directory of a cluster in a memory store. */
static const char memory_directory[] = ":memory:";

struct ext_cluster {
    struct ext_cluster *next;
    atomic_int references; /* Made from none, and taken to none, under the list's mutex only. */
    char *directory;
    int64_t process; /* Who opened it; another one was forked from that. */
    bool is_reader;
    sqlite3_mutex *mutex;          /* NULL where SQLite was built without threads. */
    struct hw_snapshots snapshots; /* Of one in memory, whose store and cluster live in it. */
    struct hw_store *store;
    struct hw_cluster *cluster;
};

static struct ext_cluster *clusters;

/* Found anew each time, rather than kept in a variable. */
static sqlite3_mutex *list_mutex(void)
{
    return sqlite3_threadsafe() == 0 ? NULL : sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
}

/* An SQLite without threads has no mutexes, and no functions for them. */
static void enter(sqlite3_mutex *mutex)
{
    if (mutex != NULL) {
        sqlite3_mutex_enter(mutex);
    }
}

static void leave(sqlite3_mutex *mutex)
{
    if (mutex != NULL) {
        sqlite3_mutex_leave(mutex);
    }
}

static void registry_entry_destroy(struct ext_cluster *entry)
{
    struct hw_error error;

    /* Nobody is left who could be told; what could not be written is recovered at the next open. */
    (void)hw_cluster_close(entry->cluster, &error);
    hw_store_destroy(entry->store);
    hw_snapshots_release(&entry->snapshots);
    if (entry->mutex != NULL) {
        sqlite3_mutex_free(entry->mutex);
    }
    hw_text_free(&ext_allocator, entry->directory);
    sqlite3_free(entry);
}

/* As SQLite's own datetime('now') has it. */
static hw_time_ms_t wall_now(void *context)
{
    const sqlite3_int64 unix_epoch_ms = 210866760000000; /* Since noon in 4714 BC. */
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    sqlite3_int64 now_ms = unix_epoch_ms;
    double days;

    (void)context;
    if (vfs != NULL && vfs->iVersion >= 2 && vfs->xCurrentTimeInt64 != NULL) {
        (void)vfs->xCurrentTimeInt64(vfs, &now_ms);
    } else if (vfs != NULL && vfs->xCurrentTime(vfs, &days) == SQLITE_OK) {
        now_ms = (sqlite3_int64)(days * 86400000.0);
    }
    return now_ms - unix_epoch_ms;
}

static enum hw_status entry_store(struct ext_cluster *entry, const struct hw_allocator *allocator,
                                  const struct ext_cluster_options *options, struct hw_error *error)
{
    struct hw_store *files = NULL;
    enum hw_status status;

    if (options->directory == NULL) {
        return hw_memory_store_create(allocator, &entry->store, error);
    }
    status =
        hw_posix_store_create(&ext_allocator, HW_POSIX_STORE_DESCRIPTORS_DEFAULT, &files, error);
    if (status == HW_OK && options->database != NULL) {
        hw_posix_store_be_as_private_as(files, options->database);
    }
    if (status != HW_OK || !options->is_reader) {
        entry->store = files;
        return status;
    }
    status =
        hw_overlay_store_create(&ext_allocator, files, hw_posix_store_probe, &entry->store, error);
    if (status != HW_OK) {
        hw_store_destroy(files);
    }
    return status;
}

bool ext_cluster_is_own(const struct ext_cluster *cluster)
{
    return cluster->process == hw_posix_process() ||
           strcmp(cluster->directory, memory_directory) == 0;
}

/* Directories are absolute paths, so that of a cluster in memory is never found. A reader takes also
 * one that is written. */
static struct ext_cluster *registry_find_open(const char *directory, bool is_reader)
{
    struct ext_cluster *entry = clusters;

    while (entry != NULL && (strcmp(entry->directory, directory) != 0 ||
                             (entry->is_reader && !is_reader) || !ext_cluster_is_own(entry))) {
        entry = entry->next;
    }
    return entry;
}

/* Copy a cluster on disk into the entry's memory; it is locked meanwhile. What this process has open
 * has the lock file already, and is copied between two steps: as if it were killed there. */
static enum hw_status entry_copy(const struct ext_cluster *entry,
                                 const struct ext_cluster_options *options, struct hw_error *error)
{
    struct hw_store *disk = NULL;
    struct hw_file *lock = NULL;
    struct ext_cluster *opened = NULL;
    char path[HW_PATH_MAX];
    char inner[HW_PATH_MAX];
    bool exists = false;
    enum hw_status status = hw_posix_real_path(options->copy_of, path, error);

    if (status == HW_OK) {
        status =
            hw_posix_store_create(&ext_allocator, HW_POSIX_STORE_DESCRIPTORS_DEFAULT, &disk, error);
    }
    if (status == HW_OK) {
        disk->interrupt = options->interrupt;
        status = hw_path_join(inner, path, "cluster.state", error);
    }
    if (status == HW_OK) {
        status = hw_store_exists(disk, inner, &exists, error);
    }
    if (status == HW_OK && !exists) {
        status = hw_error_set(error, HW_NOT_FOUND, "'%.300s' is no cluster's directory", path);
    }
    if (status == HW_OK) {
        status = hw_path_join(inner, path, ".lock", error);
    }
    if (status == HW_OK && (opened = registry_find_open(path, false)) != NULL) {
        (void)ext_cluster_lock(opened);
    } else if (status == HW_OK) {
        status = hw_store_lock(disk, inner, &lock, error);
    }
    if (status == HW_OK) {
        status = hw_store_copy_directory(disk, path, entry->store, entry->directory, NULL,
                                         options->copy_bytes_max, &ext_allocator, error);
    }
    if (opened != NULL) {
        ext_cluster_unlock(opened);
    }
    hw_file_close(lock);
    hw_store_destroy(disk);
    /* As below: waiting is no help. */
    return status == HW_BUSY ? hw_error_set(error, HW_IO, "%s", error->message) : status;
}

/* By chance, which no script decides: two databases that one script has made are two. */
static int64_t made_up_id(void)
{
    int64_t id;

    sqlite3_randomness(sizeof id, &id);
    return id & INT64_MAX;
}

/* Open the cluster, or make it: out of brokers' directories, for whose reading there is a store of
 * its own. */
static enum hw_status entry_open(struct ext_cluster *entry,
                                 const struct ext_cluster_options *options,
                                 const struct hw_allocator *allocator, struct hw_error *error)
{
    bool in_memory = options->directory == NULL;
    struct hw_adoption adoption;
    struct hw_cluster_options made = {.allocator = allocator,
                                      .snapshots = in_memory ? &entry->snapshots : NULL,
                                      .store = entry->store,
                                      .directory = entry->directory,
                                      .protocol = options->protocol,
                                      .seed = options->seed,
                                      .database_id = in_memory ? 0 : made_up_id(),
                                      .broker_count = options->broker_count,
                                      .clock = {.now_ms = wall_now},
                                      .interrupt = options->interrupt};
    enum hw_status status;

    if (options->adoption == NULL) {
        return hw_cluster_open(&made, &entry->cluster, error);
    }
    adoption = *options->adoption;
    adoption.bytes_max = options->copy_bytes_max;
    made.adoption = &adoption;
    status = hw_posix_store_create(&ext_allocator, HW_POSIX_STORE_DESCRIPTORS_DEFAULT,
                                   &adoption.disk, error);
    if (status == HW_OK) {
        adoption.disk->interrupt = options->interrupt;
        status = hw_cluster_open(&made, &entry->cluster, error);
        hw_store_destroy(adoption.disk);
    }
    return status;
}

static enum hw_status registry_entry_fill(struct ext_cluster *entry,
                                          const struct ext_cluster_options *options,
                                          struct hw_error *error)
{
    bool in_memory = options->directory == NULL;
    const struct hw_allocator *allocator =
        in_memory ? &entry->snapshots.arena.allocator : &ext_allocator;
    enum hw_status status;

    entry->directory =
        hw_text_copy(&ext_allocator, in_memory ? memory_directory : options->directory);
    entry->mutex = sqlite3_threadsafe() == 0 ? NULL : sqlite3_mutex_alloc(SQLITE_MUTEX_FAST);
    if (entry->directory == NULL || (entry->mutex == NULL && sqlite3_threadsafe() != 0)) {
        return hw_error_no_memory(error, "a cluster");
    }
    entry->is_reader = options->is_reader;
    status = entry_store(entry, allocator, options, error);
    if (status == HW_OK && options->copy_of != NULL) {
        status = entry_copy(entry, options, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = entry_open(entry, options, allocator, error);
    /* SQLITE_BUSY would promise that waiting helps; the other process may keep it for days. */
    return status == HW_BUSY ? hw_error_set(error, HW_IO, "%s", error->message) : status;
}

static enum hw_status entry_create(const struct ext_cluster_options *options,
                                   struct ext_cluster **entry, struct hw_error *error)
{
    struct ext_cluster *made = sqlite3_malloc64(sizeof *made);
    enum hw_status status;

    if (made == NULL) {
        return hw_error_no_memory(error, "a cluster");
    }
    *made = (struct ext_cluster){.references = 1, .process = hw_posix_process()};
    hw_snapshots_init(&made->snapshots, &ext_allocator);
    status = registry_entry_fill(made, options, error);
    if (status != HW_OK) {
        registry_entry_destroy(made);
        return status;
    }
    made->next = clusters;
    clusters = made;
    *entry = made;
    return HW_OK;
}

enum hw_status ext_registry_open(const struct ext_cluster_options *options,
                                 struct ext_cluster **cluster, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    struct ext_cluster *found;

    enter(list_mutex());
    found = options->directory == NULL ? NULL
                                       : registry_find_open(options->directory, options->is_reader);
    if (found == NULL) {
        status = entry_create(options, cluster, error);
    } else {
        ext_cluster_retain(found);
        *cluster = found;
    }
    leave(list_mutex());
    return status;
}

/* No mutex, since the caller's own reference is there: each scan and look-up counts one. */
void ext_cluster_retain(struct ext_cluster *cluster)
{
    (void)atomic_fetch_add(&cluster->references, 1);
}

/* Let go of a reference that is not the last one. */
static bool release_shared(struct ext_cluster *cluster)
{
    int references = atomic_load(&cluster->references);

    while (references > 1) {
        if (atomic_compare_exchange_weak(&cluster->references, &references, references - 1)) {
            return true;
        }
    }
    return false;
}

void ext_cluster_release(struct ext_cluster *cluster)
{
    struct ext_cluster **link = &clusters;

    if (cluster == NULL || release_shared(cluster)) {
        return;
    }
    enter(list_mutex());
    if (atomic_fetch_sub(&cluster->references, 1) == 1) {
        while (*link != cluster) {
            link = &(*link)->next;
        }
        *link = cluster->next;
        registry_entry_destroy(cluster);
    }
    leave(list_mutex());
}

struct hw_cluster *ext_cluster_lock(struct ext_cluster *cluster)
{
    enter(cluster->mutex);
    return cluster->cluster;
}

struct hw_cluster *ext_cluster_lock_now(struct ext_cluster *cluster)
{
    struct hw_error unused;

    (void)ext_cluster_lock(cluster);
    (void)hw_cluster_catch_up(cluster->cluster, &unused);
    return cluster->cluster;
}

bool ext_cluster_has_cursors(const struct ext_cluster *cluster)
{
    return strcmp(cluster->directory, memory_directory) == 0 &&
           atomic_load(&cluster->references) > 1;
}

struct hw_cluster *ext_cluster_locked(const struct ext_cluster *cluster)
{
    return cluster->cluster;
}

void ext_cluster_unlock(struct ext_cluster *cluster)
{
    leave(cluster->mutex);
}
