/* SPDX-License-Identifier: MIT */
/*
 * Where bytes live. One interface, three implementations: files of the system (posix_store.h),
 * memory (memory_store.h), and the one over the other (overlay_store.h).
 *
 *     a store   open, rename, remove, list, make_directory, sync_directory, look, lock
 *     a file    read_at, write_at, size, truncate, sync, close
 *
 * Paths are NUL-terminated, '/' separates, and a store resolves them by itself: that of files
 * hands them to the operating system, the memory store has a tree of its own. All calls are
 * synchronous. Nothing is durable before sync() (data of a file) and sync_directory() (its name)
 * have returned.
 *
 * Errors of every call, unless its comment says less: HW_NO_MEMORY; HW_IO with the path and the
 * system's reason in the message; HW_NOT_FOUND where the path does not exist; HW_INTERRUPTED of open,
 * list and look where the caller has set `interrupt`.
 */
#ifndef HW_IO_STORE_H
#define HW_IO_STORE_H

#include "core/base/memory.h"
#include "core/base/status.h"
#include "core/base/types.h"

struct hw_buffer;
struct hw_file;
struct hw_store;

enum hw_open_mode {
    HW_OPEN_READ,      /* Must exist; never written. */
    HW_OPEN_EXISTING,  /* Must exist; read and written. */
    HW_OPEN_OR_CREATE, /* Made empty if it is not there; read and written. */
    HW_OPEN_TRUNCATE   /* Made empty in any case; read and written. */
};

/*
 * A file is never written through a symbolic link: opening one for that is HW_IO, and
 * HW_OPEN_TRUNCATE makes a new file in its place.
 */

/* Names in one directory, sorted by their bytes. Release with hw_name_list_release(). */
struct hw_name_list {
    const struct hw_allocator *allocator;
    char **names; /* Names only, no path; files and directories alike, without "." and "..". */
    size_t count;
    size_t capacity;
};

/* What a path is at the moment. */
struct hw_path_look {
    bool exists;  /* Else the others say nothing, but for is_link. */
    bool is_link; /* A symbolic link; the rest is said of what it leads to, if that is anything. */
    bool is_directory;
    bool is_special;    /* Neither a file nor a directory: a pipe, a device or a socket. */
    int64_t size_bytes; /* Of a file; 0 of a directory. */
    /* What the file takes on the disk: less than its size where it has holes, more where space is set
     * aside. -1: the store cannot tell, or it is a directory. */
    int64_t allocated_bytes;
};

struct hw_store_methods {
    enum hw_status (*open)(struct hw_store *store, const char *path, enum hw_open_mode mode,
                           struct hw_file **file, struct hw_error *error);
    enum hw_status (*rename)(struct hw_store *store, const char *from, const char *to,
                             struct hw_error *error);
    enum hw_status (*remove)(struct hw_store *store, const char *path, struct hw_error *error);
    enum hw_status (*list)(struct hw_store *store, const char *path, struct hw_name_list *names,
                           struct hw_error *error);
    enum hw_status (*make_directory)(struct hw_store *store, const char *path,
                                     struct hw_error *error);
    enum hw_status (*sync_directory)(struct hw_store *store, const char *path,
                                     struct hw_error *error);
    enum hw_status (*look)(struct hw_store *store, const char *path, struct hw_path_look *look,
                           struct hw_error *error);
    enum hw_status (*lock)(struct hw_store *store, const char *path, struct hw_file **lock,
                           struct hw_error *error);
    void (*destroy)(struct hw_store *store);
};

struct hw_file_methods {
    enum hw_status (*read_at)(struct hw_file *file, int64_t position, void *bytes, size_t size,
                              size_t *got, struct hw_error *error);
    enum hw_status (*write_at)(struct hw_file *file, int64_t position, const void *bytes,
                               size_t size, struct hw_error *error);
    enum hw_status (*size)(struct hw_file *file, int64_t *size_bytes, struct hw_error *error);
    enum hw_status (*truncate)(struct hw_file *file, int64_t size_bytes, struct hw_error *error);
    /* NULL: nothing of it is to last. */
    enum hw_status (*sync)(struct hw_file *file, struct hw_error *error);
    void (*close)(struct hw_file *file);
};

/* An implementation embeds these as the first member of its own struct. */
struct hw_store {
    const struct hw_store_methods *methods;
    const char *root; /* NULL: any path; else as hw_path_is_below() wants it. Borrowed. */
    /* Asked every so often by hw_store_ask(). */
    struct hw_interrupt interrupt;
    unsigned asked;
    bool is_interrupted;
};

struct hw_file {
    const struct hw_file_methods *methods;
    bool is_writable;
};

/* Whether the caller wants a call that takes many files, or large ones, to stop. What opens, lists
 * and looks asks by itself; who reads a whole file calls this. Errors: HW_INTERRUPTED, from then on
 * each time. */
enum hw_status hw_store_ask(struct hw_store *store, struct hw_error *error);

/* Open a file. On HW_OK the caller owns *file and ends it with hw_file_close(). The directory of
 * `path` must exist. */
enum hw_status hw_store_open(struct hw_store *store, const char *path, enum hw_open_mode mode,
                             struct hw_file **file, struct hw_error *error);

/* Give `from` the name `to`, replacing what has that name. Files or directories; open files stay
 * usable, under the new name. Atomic for a reader of the name `to`. */
enum hw_status hw_store_rename(struct hw_store *store, const char *from, const char *to,
                               struct hw_error *error);

/* Remove a file or an empty directory. Open files stay readable until they are closed. */
enum hw_status hw_store_remove(struct hw_store *store, const char *path, struct hw_error *error);

/* Remove a directory and all that is in it. A path that does not exist is fine. */
enum hw_status hw_store_remove_tree(struct hw_store *store, const struct hw_allocator *allocator,
                                    const char *path, struct hw_error *error);

/* Fill `names`, which the caller has set to {.allocator = ...}. */
enum hw_status hw_store_list(struct hw_store *store, const char *path, struct hw_name_list *names,
                             struct hw_error *error);

/* Make a directory; its parent must exist. That it exists already is fine. */
enum hw_status hw_store_make_directory(struct hw_store *store, const char *path,
                                       struct hw_error *error);

/* Make the names in a directory durable (fsync of the directory). */
enum hw_status hw_store_sync_directory(struct hw_store *store, const char *path,
                                       struct hw_error *error);

/* That nothing has the path is no error, and neither is a file on the way to it. */
enum hw_status hw_store_look(struct hw_store *store, const char *path, struct hw_path_look *look,
                             struct hw_error *error);

enum hw_status hw_store_exists(struct hw_store *store, const char *path, bool *exists,
                               struct hw_error *error);

/* Take out of `names`, those of a directory, what is no file, or cannot be looked at: Kafka passes over
 * that where it looks for segments (File.isFile). Errors: HW_INTERRUPTED, HW_MISUSE (a path too long). */
enum hw_status hw_store_keep_files(struct hw_store *store, const char *directory,
                                   struct hw_name_list *names, struct hw_error *error);

/* Add the size of a file to *sum; one that is missing adds nothing. */
enum hw_status hw_store_add_file_size(struct hw_store *store, const char *path, int64_t *sum,
                                      struct hw_error *error);

/*
 * Take the lock file `path` (made if missing) for this process and write the process id into it.
 * *lock holds it until hw_file_close(), also where the file is deleted meanwhile. A directory has
 * one lock. Errors: HW_BUSY if another process, or another lock of this
 * process, has it; the message names the path and the owner's process id.
 */
enum hw_status hw_store_lock(struct hw_store *store, const char *path, struct hw_file **lock,
                             struct hw_error *error);

/* Release the store. All its files are closed before. NULL is allowed. */
void hw_store_destroy(struct hw_store *store);

/* Read up to `size` bytes; *got is less only at the end of the file. `position` is >= 0 here
 * and below, and position + size fits int64. */
enum hw_status hw_file_read_at(struct hw_file *file, int64_t position, void *bytes, size_t size,
                               size_t *got, struct hw_error *error);

/* Write all `size` bytes. A hole before `position` reads as zeros. After an error any part of the
 * bytes may have been written. HW_MISUSE if the file was opened with HW_OPEN_READ. */
enum hw_status hw_file_write_at(struct hw_file *file, int64_t position, const void *bytes,
                                size_t size, struct hw_error *error);

enum hw_status hw_file_size(struct hw_file *file, int64_t *size_bytes, struct hw_error *error);

/* Cut the file, or fill it up with zeros, to exactly `size_bytes`. HW_MISUSE as for writing. */
enum hw_status hw_file_truncate(struct hw_file *file, int64_t size_bytes, struct hw_error *error);

/* Make the file's bytes and length durable (fdatasync). */
enum hw_status hw_file_sync(struct hw_file *file, struct hw_error *error);

/* NULL is allowed. */
void hw_file_close(struct hw_file *file);

/*
 * Replace the file `path` by `size` bytes so that a reader, and a crash at any moment, sees the old
 * or the new content whole: write `path`.tmp, sync it, rename it over `path`, sync the directory.
 * Source: CheckpointFile.write. After an error the old file stands, except that the new one may be
 * there if only the last step failed.
 */
enum hw_status hw_store_write_atomically(struct hw_store *store, const char *path,
                                         const void *bytes, size_t size, struct hw_error *error);

/*
 * The same without the syncs: the end of the process at any moment leaves the old or the new
 * content, a power loss may leave anything. hw_store_sync_file() makes the content durable, but not
 * the name; a file that is not there is fine. Its bytes are written again first: after a sync that
 * failed the system may take them for durable.
 */
enum hw_status hw_store_replace(struct hw_store *store, const char *path, const void *bytes,
                                size_t size, struct hw_error *error);
enum hw_status hw_store_sync_file(struct hw_store *store, const struct hw_allocator *allocator,
                                  const char *path, struct hw_error *error);

/* Append the whole content of the file to `content`, at most `size_max` bytes (more: HW_CORRUPT).
 */
enum hw_status hw_store_read_whole(struct hw_store *store, const char *path, size_t size_max,
                                   struct hw_buffer *content, struct hw_error *error);

void hw_name_list_release(struct hw_name_list *names);

/* Whether the first `count` names, which are sorted, have this one among them. */
bool hw_name_list_has(const struct hw_name_list *names, size_t count, const char *name);

/* For implementations of a store: append a copy of `name`. Errors: HW_NO_MEMORY (list unchanged).
 */
enum hw_status hw_name_list_add(struct hw_name_list *names, const char *name,
                                struct hw_error *error);

/*
 * Join text into a path: hw_path_format(path, error, "%s/%s-%d", directory, topic, partition).
 * Errors: HW_MISUSE if it does not fit HW_PATH_MAX bytes with its NUL.
 */
enum hw_status hw_path_format(char path[HW_PATH_MAX], struct hw_error *error, const char *format,
                              ...) __attribute__((format(printf, 3, 4)));

/* The directory that holds `path`, which is shorter than HW_PATH_MAX; "." if the path is one name. */
void hw_path_parent(const char *path, char parent[HW_PATH_MAX]);

/* hw_path_format() for "directory/name", which is not `path`. */
enum hw_status hw_path_join(char path[HW_PATH_MAX], const char *directory, const char *name,
                            struct hw_error *error);

/* Whether a path counts from no other one: from '/', on Windows from a drive too. */
bool hw_path_is_absolute(const char *path);

/*
 * What follows `directory` in `path`: "/b" for "a/b" in "a", "" for "a" in "a", NULL for "ab" in
 * "a". Slashes at the end of `directory` do not matter; else compared as text.
 */
const char *hw_path_below(const char *path, const char *directory);

/*
 * The one name of a path: absolute, without links, "." and "..". Of a path that does not exist the
 * names that are missing stay at its end. Errors: HW_NOT_FOUND where "." or ".." comes behind a
 * name that is missing; HW_IO. posix_path.c, windows_path.c.
 */
enum hw_status hw_posix_real_path(const char *path, char real[HW_PATH_MAX], struct hw_error *error);

/* Whether a path, with all its links followed, is `root` or below it. `root` is a name that
 * hw_posix_real_path() gave. */
bool hw_path_is_below(const char *path, const char *root);

/* Whether this process may make files in the directory; true where there is none. */
bool hw_posix_may_write(const char *directory);

/* The number of this process: posix_files.c, windows_store.c. */
int64_t hw_posix_process(void);

#endif /* HW_IO_STORE_H */
