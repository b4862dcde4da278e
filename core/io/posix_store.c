/* SPDX-License-Identifier: MIT */
/*
 * The only file of the core that talks to the operating system.
 *
 * A file that is open here need not have a descriptor. Those that have one hang in a list, the most
 * recently used first; whoever needs one more than the limit allows closes the last of the list.
 * Opening again goes by path, so the paths of open files follow every rename, and a file that
 * loses its name (removed, or replaced by a rename) has its descriptor pinned until it is closed.
 * Which open files a path means is found by device and inode, through a hash table.
 */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64

#include "core/io/posix_store.h"

#include "core/base/assert.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUCKETS_MIN = 64, DESCRIPTOR_MIN = 3, FILE_MODE = 0644, DIRECTORY_MODE = 0755 };

_Static_assert(sizeof(off_t) == sizeof(int64_t), "positions in files are 64 bits");

struct posix_file {
    struct hw_file base;
    struct posix_store *store;
    char *path;
    char *path_next; /* During a rename: the path if it succeeds. */
    int descriptor;  /* -1 while there is none. */
    int sync_errno;  /* Why bytes may have been lost: then no later sync may say HW_OK. */
    bool is_writable;
    bool is_pinned; /* Has no path any more: the descriptor cannot be had again. */
    bool is_lock;   /* Outside of the list and of the table. */
    dev_t device;
    ino_t inode;
    struct posix_file *newer; /* List of those that have a descriptor. */
    struct posix_file *older;
    struct posix_file *chain;     /* Next one in the same bucket. */
    struct posix_file *next_move; /* Next one that has a path_next. */
};

struct posix_store {
    struct hw_store base;
    const struct hw_allocator *allocator;
    struct posix_file *newest;
    struct posix_file *oldest;
    size_t descriptors_max;
    size_t descriptors;
    struct posix_file **buckets;
    size_t bucket_count; /* A power of two. */
    size_t file_count;   /* In the table. */
    size_t lock_count;
};

/* Errors of the system */

static enum hw_status error_from(struct hw_error *error, int number, const char *verb,
                                 const char *path)
{
    char reason[128];
    size_t length = strlen(path);
    /* Of a path that is too long for a message the end says more. */
    const char *shown = length > 300 ? path + length - 300 : path;

    if (number == ENOMEM) {
        return hw_error_no_memory(error, path);
    }
    if (strerror_r(number, reason, sizeof reason) != 0) {
        (void)snprintf(reason, sizeof reason, "error %d", number);
    }
    return hw_error_set(error, number == ENOENT ? HW_NOT_FOUND : HW_IO, "cannot %s '%s%s': %s",
                        verb, shown == path ? "" : "...", shown, reason);
}

/* The table of open files */

static struct posix_file **bucket_of(const struct posix_store *store, dev_t device, ino_t inode)
{
    uint64_t hash = ((uint64_t)inode ^ ((uint64_t)device << 40)) * UINT64_C(0x9e3779b97f4a7c15);

    return &store->buckets[(size_t)(hash >> 32) & (store->bucket_count - 1)];
}

static void table_put(struct posix_store *store, struct posix_file *file)
{
    struct posix_file **bucket = bucket_of(store, file->device, file->inode);

    file->chain = *bucket;
    *bucket = file;
}

static void table_remove(struct posix_store *store, struct posix_file *file)
{
    struct posix_file **link = bucket_of(store, file->device, file->inode);

    while (*link != file) {
        link = &(*link)->chain;
    }
    *link = file->chain;
    store->file_count--;
}

/* Room for one more file. */
static enum hw_status table_reserve(struct posix_store *store, struct hw_error *error)
{
    struct posix_file **old = store->buckets;
    size_t old_count = store->bucket_count;
    struct posix_file **grown;

    if (store->file_count < old_count) {
        return HW_OK;
    }
    grown = hw_alloc_zeroed(store->allocator, 2 * old_count * sizeof *grown);
    if (grown == NULL) {
        return hw_error_no_memory(error, "the table of open files");
    }
    store->buckets = grown;
    store->bucket_count = 2 * old_count;
    for (size_t i = 0; i < old_count; i++) {
        struct posix_file *file = old[i];

        while (file != NULL) {
            struct posix_file *chain = file->chain;

            table_put(store, file);
            file = chain;
        }
    }
    hw_free(store->allocator, old, old_count * sizeof *old);
    return HW_OK;
}

/* Descriptors */

static void list_unlink(struct posix_store *store, struct posix_file *file)
{
    *(file->newer == NULL ? &store->newest : &file->newer->older) = file->older;
    *(file->older == NULL ? &store->oldest : &file->older->newer) = file->newer;
}

static void list_push(struct posix_store *store, struct posix_file *file)
{
    file->newer = NULL;
    file->older = store->newest;
    *(file->older == NULL ? &store->oldest : &file->older->newer) = file;
    store->newest = file;
}

static void descriptor_close(struct posix_file *file)
{
    /* Network file systems report here that earlier writes were lost. */
    if (close(file->descriptor) != 0 && errno != EINTR && file->sync_errno == 0) {
        file->sync_errno = errno;
    }
    file->descriptor = -1;
    list_unlink(file->store, file);
    file->store->descriptors--;
}

/* Close the descriptor that was not used for longest. Returns false if all of them are pinned. */
static bool descriptor_evict(struct posix_store *store)
{
    struct posix_file *file = store->oldest;

    while (file != NULL && file->is_pinned) {
        file = file->newer;
    }
    if (file == NULL) {
        return false;
    }
    descriptor_close(file);
    return true;
}

/*
 * open() until it is not interrupted. Descriptors 0 to 2 are refused: where a program has closed
 * them, whatever it prints to stderr later would land in the file.
 */
static int open_once(const char *path, int flags)
{
    int descriptor;

    do {
        descriptor = open(path, flags | O_CLOEXEC, FILE_MODE);
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor >= 0 && descriptor < DESCRIPTOR_MIN) {
        int low = descriptor;
        int number;

        descriptor = fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
        number = errno;
        (void)close(low);
        errno = number;
    }
    return descriptor;
}

/* The same, giving up cached descriptors while the process or the system has too many. */
static int open_descriptor(struct posix_store *store, const char *path, int flags)
{
    int descriptor = open_once(path, flags);

    while (descriptor < 0 && (errno == EMFILE || errno == ENFILE) && descriptor_evict(store)) {
        descriptor = open_once(path, flags);
    }
    return descriptor;
}

/* Open `file`, note in `found` what it is, and put it at the head of the list. */
static enum hw_status file_attach(struct posix_file *file, int flags, struct stat *found,
                                  struct hw_error *error)
{
    struct posix_store *store = file->store;
    int number;

    while (store->descriptors >= store->descriptors_max && descriptor_evict(store)) {}
    file->descriptor = open_descriptor(store, file->path, flags);
    if (file->descriptor < 0) {
        return error_from(error, errno, "open", file->path);
    }
    number = fstat(file->descriptor, found) != 0 ? errno : 0;
    if (number == 0 && S_ISDIR(found->st_mode)) {
        number = EISDIR;
    }
    if (number != 0) {
        (void)close(file->descriptor);
        file->descriptor = -1;
        return error_from(error, number, "open", file->path);
    }
    list_push(store, file);
    store->descriptors++;
    return HW_OK;
}

/* Make sure that the file has a descriptor, and that it is the last one to be given up. */
static enum hw_status file_use(struct posix_file *file, struct hw_error *error)
{
    struct stat found;
    enum hw_status status;

    if (file->descriptor >= 0) {
        if (!file->is_lock && file->store->newest != file) {
            list_unlink(file->store, file);
            list_push(file->store, file);
        }
        return HW_OK;
    }
    status = file_attach(file, file->is_writable ? O_RDWR : O_RDONLY, &found, error);
    if (status == HW_OK && (found.st_dev != file->device || found.st_ino != file->inode)) {
        descriptor_close(file);
        return hw_error_set(error, HW_IO, "'%.300s' was replaced by somebody else while in use",
                            file->path);
    }
    return status;
}

/* Calls on files */

static enum hw_status posix_read_at(struct hw_file *base, int64_t position, void *bytes,
                                    size_t size, size_t *got, struct hw_error *error)
{
    struct posix_file *file = (struct posix_file *)base;
    enum hw_status status = file_use(file, error);
    size_t done = 0;

    if (status != HW_OK) {
        return status;
    }
    while (done < size) {
        ssize_t count = pread(file->descriptor, (char *)bytes + done, size - done,
                              (off_t)(position + (int64_t)done));

        if (count < 0 && errno != EINTR) {
            return error_from(error, errno, "read from", file->path);
        }
        if (count == 0) {
            break;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    *got = done;
    return HW_OK;
}

static enum hw_status writable_use(struct posix_file *file, struct hw_error *error)
{
    if (!file->is_writable) {
        return hw_error_set(error, HW_MISUSE, "'%.300s' was opened for reading only", file->path);
    }
    return file_use(file, error);
}

static enum hw_status posix_write_at(struct hw_file *base, int64_t position, const void *bytes,
                                     size_t size, struct hw_error *error)
{
    struct posix_file *file = (struct posix_file *)base;
    enum hw_status status = writable_use(file, error);
    size_t done = 0;

    if (status != HW_OK) {
        return status;
    }
    while (done < size) {
        ssize_t count = pwrite(file->descriptor, (const char *)bytes + done, size - done,
                               (off_t)(position + (int64_t)done));

        /* A write of nothing without a reason would be tried for ever. */
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return error_from(error, count == 0 ? ENOSPC : errno, "write to", file->path);
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return HW_OK;
}

static enum hw_status posix_size(struct hw_file *base, int64_t *size_bytes, struct hw_error *error)
{
    struct posix_file *file = (struct posix_file *)base;
    struct stat found;
    enum hw_status status = file_use(file, error);

    if (status != HW_OK) {
        return status;
    }
    if (fstat(file->descriptor, &found) != 0) {
        return error_from(error, errno, "get the size of", file->path);
    }
    *size_bytes = (int64_t)found.st_size;
    return HW_OK;
}

static enum hw_status posix_truncate(struct hw_file *base, int64_t size_bytes,
                                     struct hw_error *error)
{
    struct posix_file *file = (struct posix_file *)base;
    enum hw_status status = writable_use(file, error);

    if (status != HW_OK) {
        return status;
    }
    while (ftruncate(file->descriptor, (off_t)size_bytes) != 0) {
        if (errno != EINTR) {
            return error_from(error, errno, "change the size of", file->path);
        }
    }
    return HW_OK;
}

/*
 * After a failed sync the system may forget the bytes that it could not write and report success
 * the next time. So the failure stays with the open file.
 */
static enum hw_status posix_sync(struct hw_file *base, struct hw_error *error)
{
    struct posix_file *file = (struct posix_file *)base;
    enum hw_status status = file_use(file, error);

    if (status != HW_OK) {
        return status;
    }
    while (file->sync_errno == 0 && fdatasync(file->descriptor) != 0) {
        file->sync_errno = errno == EINTR ? 0 : errno;
    }
    if (file->sync_errno != 0) {
        return error_from(error, file->sync_errno, "make durable", file->path);
    }
    return HW_OK;
}

static void file_destroy(struct posix_file *file)
{
    hw_text_free(file->store->allocator, file->path);
    hw_free(file->store->allocator, file, sizeof *file);
}

static void posix_close(struct hw_file *base)
{
    struct posix_file *file = (struct posix_file *)base;

    if (file->is_lock) {
        (void)close(file->descriptor);
        file->store->lock_count--;
    } else {
        if (file->descriptor >= 0) {
            descriptor_close(file);
        }
        table_remove(file->store, file);
    }
    file_destroy(file);
}

static const struct hw_file_methods posix_file_methods = {.read_at = posix_read_at,
                                                          .write_at = posix_write_at,
                                                          .size = posix_size,
                                                          .truncate = posix_truncate,
                                                          .sync = posix_sync,
                                                          .close = posix_close};

/* Calls on names */

static struct posix_file *file_create(struct posix_store *store, const char *path, bool is_writable)
{
    struct posix_file *file = hw_alloc_zeroed(store->allocator, sizeof *file);

    if (file == NULL) {
        return NULL;
    }
    file->path = hw_text_copy(store->allocator, path);
    if (file->path == NULL) {
        hw_free(store->allocator, file, sizeof *file);
        return NULL;
    }
    file->base.methods = &posix_file_methods;
    file->store = store;
    file->descriptor = -1;
    file->is_writable = is_writable;
    return file;
}

static int open_flags(enum hw_open_mode mode)
{
    switch (mode) {
    case HW_OPEN_READ:
        return O_RDONLY;
    case HW_OPEN_EXISTING:
        return O_RDWR;
    case HW_OPEN_OR_CREATE:
        return O_RDWR | O_CREAT;
    case HW_OPEN_TRUNCATE:
        break;
    }
    return O_RDWR | O_CREAT | O_TRUNC;
}

static enum hw_status posix_open(struct hw_store *base, const char *path, enum hw_open_mode mode,
                                 struct hw_file **opened, struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct posix_file *file;
    struct stat found;
    enum hw_status status = table_reserve(store, error);

    if (status != HW_OK) {
        return status;
    }
    file = file_create(store, path, mode != HW_OPEN_READ);
    if (file == NULL) {
        return hw_error_no_memory(error, "an open file");
    }
    status = file_attach(file, open_flags(mode), &found, error);
    if (status != HW_OK) {
        file_destroy(file);
        return status;
    }
    file->device = found.st_dev;
    file->inode = found.st_ino;
    table_put(store, file);
    store->file_count++;
    *opened = &file->base;
    return HW_OK;
}

static bool is_file(const struct posix_file *file, const struct stat *what)
{
    return file->device == what->st_dev && file->inode == what->st_ino;
}

/* Take back what pin_files() did, for a name that is still there after all. */
static void unpin_files(struct posix_store *store, const struct stat *what)
{
    for (struct posix_file *file = *bucket_of(store, what->st_dev, what->st_ino); file != NULL;
         file = file->chain) {
        if (is_file(file, what)) {
            file->is_pinned = false;
        }
    }
}

/* Before a file loses its name: whoever has it open gets a descriptor to keep. */
static enum hw_status pin_files(struct posix_store *store, const struct stat *what,
                                struct hw_error *error)
{
    for (struct posix_file *file = *bucket_of(store, what->st_dev, what->st_ino); file != NULL;
         file = file->chain) {
        if (is_file(file, what)) {
            enum hw_status status = file_use(file, error);

            if (status != HW_OK) {
                unpin_files(store, what);
                return status;
            }
            file->is_pinned = true;
        }
    }
    return HW_OK;
}

/* End a rename: the files in `moves` take their new paths, or drop them. */
static void moves_settle(struct posix_file *moves, bool take)
{
    for (struct posix_file *file = moves; file != NULL; file = file->next_move) {
        hw_text_free(file->store->allocator, take ? file->path : file->path_next);
        file->path = take ? file->path_next : file->path;
        file->path_next = NULL;
    }
}

static enum hw_status moves_add(struct posix_file **moves, struct posix_file *file, const char *to,
                                const char *rest, struct hw_error *error)
{
    size_t size_to = strlen(to);
    size_t size_rest = strlen(rest) + 1;
    char *path = hw_alloc(file->store->allocator, size_to + size_rest);

    if (path == NULL) {
        return hw_error_no_memory(error, "the new path of an open file");
    }
    memcpy(path, to, size_to);
    memcpy(path + size_to, rest, size_rest);
    file->path_next = path;
    file->next_move = *moves;
    *moves = file;
    return HW_OK;
}

/* Find the open files whose path a rename of `from`, which is `what`, will change. */
static enum hw_status moves_find(struct posix_store *store, const struct stat *what,
                                 const char *from, const char *to, struct posix_file **moves,
                                 struct hw_error *error)
{
    struct posix_file **first = bucket_of(store, what->st_dev, what->st_ino);
    struct posix_file **last = first;
    enum hw_status status = HW_OK;

    if (S_ISDIR(what->st_mode)) {
        first = store->buckets;
        last = store->buckets + store->bucket_count - 1;
    }
    for (struct posix_file **bucket = first; bucket <= last; bucket++) {
        for (struct posix_file *file = *bucket; file != NULL; file = file->chain) {
            const char *rest = S_ISDIR(what->st_mode) ? hw_path_below(file->path, from)
                               : is_file(file, what)  ? ""
                                                      : NULL;

            if (rest != NULL && !file->is_pinned) {
                status = moves_add(moves, file, to, rest, error);
            }
            if (status != HW_OK) {
                return status;
            }
        }
    }
    return HW_OK;
}

static enum hw_status posix_rename(struct hw_store *base, const char *from, const char *to,
                                   struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct posix_file *moves = NULL;
    struct stat source;
    struct stat target;
    bool is_replacing;
    enum hw_status status;

    if (lstat(from, &source) != 0) {
        return error_from(error, errno, "rename", from);
    }
    is_replacing = lstat(to, &target) == 0;
    if (is_replacing && source.st_dev == target.st_dev && source.st_ino == target.st_ino) {
        return HW_OK; /* Two names of one file: rename() does nothing then. */
    }
    status = moves_find(store, &source, from, to, &moves, error);
    if (status == HW_OK && is_replacing) {
        status = pin_files(store, &target, error);
    }
    if (status == HW_OK && rename(from, to) != 0) {
        status = error_from(error, errno, "rename to", to);
        if (is_replacing) {
            unpin_files(store, &target);
        }
    }
    moves_settle(moves, status == HW_OK);
    return status;
}

static enum hw_status posix_remove(struct hw_store *base, const char *path, struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct stat found;
    enum hw_status status;

    if (lstat(path, &found) != 0) {
        return error_from(error, errno, "remove", path);
    }
    if (S_ISDIR(found.st_mode)) {
        return rmdir(path) == 0 ? HW_OK : error_from(error, errno, "remove", path);
    }
    status = pin_files(store, &found, error);
    if (status == HW_OK && unlink(path) != 0) {
        status = error_from(error, errno, "remove", path);
        unpin_files(store, &found);
    }
    return status;
}

static DIR *open_directory(struct posix_store *store, const char *path)
{
    DIR *directory;
    int descriptor = open_descriptor(store, path, O_RDONLY | O_DIRECTORY);

    if (descriptor < 0) {
        return NULL;
    }
    directory = fdopendir(descriptor);
    if (directory == NULL) {
        int number = errno;

        (void)close(descriptor);
        errno = number;
    }
    return directory;
}

static enum hw_status posix_list(struct hw_store *base, const char *path,
                                 struct hw_name_list *names, struct hw_error *error)
{
    DIR *directory = open_directory((struct posix_store *)base, path);
    enum hw_status status = HW_OK;

    if (directory == NULL) {
        return error_from(error, errno, "list", path);
    }
    while (status == HW_OK) {
        const struct dirent *entry;

        errno = 0;
        entry = readdir(directory);
        if (entry == NULL) {
            status = errno == 0 ? HW_OK : error_from(error, errno, "list", path);
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            status = hw_name_list_add(names, entry->d_name, error);
        }
    }
    (void)closedir(directory);
    return status;
}

static enum hw_status posix_make_directory(struct hw_store *base, const char *path,
                                           struct hw_error *error)
{
    struct stat found;
    int number;

    (void)base;
    if (mkdir(path, DIRECTORY_MODE) == 0) {
        return HW_OK;
    }
    number = errno;
    if (number == EEXIST && stat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        return HW_OK;
    }
    return error_from(error, number, "make the directory", path);
}

static enum hw_status posix_sync_directory(struct hw_store *base, const char *path,
                                           struct hw_error *error)
{
    int descriptor = open_descriptor((struct posix_store *)base, path, O_RDONLY | O_DIRECTORY);
    int number = 0;

    if (descriptor < 0) {
        return error_from(error, errno, "make durable", path);
    }
    while (fsync(descriptor) != 0 && number == 0) {
        number = errno == EINTR ? 0 : errno;
    }
    (void)close(descriptor);
    /* EINVAL: a file system that has nothing to sync for a directory. */
    if (number != 0 && number != EINVAL) {
        return error_from(error, number, "make durable", path);
    }
    return HW_OK;
}

static enum hw_status posix_exists(struct hw_store *base, const char *path, bool *exists,
                                   struct hw_error *error)
{
    struct stat found;

    (void)base;
    *exists = stat(path, &found) == 0;
    if (!*exists && errno != ENOENT && errno != ENOTDIR) {
        return error_from(error, errno, "look for", path);
    }
    return HW_OK;
}

/* Lock files */

/* Who has the lock, by what the owner wrote; it may be about to write it. */
static enum hw_status error_locked(int descriptor, const char *path, struct hw_error *error)
{
    char text[32];
    ssize_t size = pread(descriptor, text, sizeof text - 1, 0);
    size_t digits;

    text[size > 0 ? size : 0] = '\0';
    digits = strspn(text, "0123456789");
    text[digits] = '\0';
    return hw_error_set(error, HW_BUSY, "'%.300s' is locked by process %s", path,
                        digits > 0 ? text : "(not known yet)");
}

/* flock() belongs to the open file and not to the process, so it excludes this process too. */
static enum hw_status lock_take(struct posix_file *file, struct hw_error *error)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%jd\n", (intmax_t)getpid());
    size_t size;

    while (flock(file->descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return error_locked(file->descriptor, file->path, error);
        }
        if (errno != EINTR) {
            return error_from(error, errno, "lock", file->path);
        }
    }
    HW_ASSERT(length > 0 && (size_t)length < sizeof text);
    size = (size_t)length;
    if (ftruncate(file->descriptor, 0) != 0 ||
        pwrite(file->descriptor, text, size, 0) != (ssize_t)size) {
        return error_from(error, errno, "write the process id to", file->path);
    }
    return HW_OK;
}

static enum hw_status posix_lock(struct hw_store *base, const char *path, struct hw_file **lock,
                                 struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct posix_file *file = file_create(store, path, true);
    enum hw_status status;

    if (file == NULL) {
        return hw_error_no_memory(error, "a lock file");
    }
    file->is_lock = true;
    file->descriptor = open_descriptor(store, path, O_RDWR | O_CREAT);
    if (file->descriptor < 0) {
        status = error_from(error, errno, "open the lock file", path);
        file_destroy(file);
        return status;
    }
    store->lock_count++;
    status = lock_take(file, error);
    if (status != HW_OK) {
        posix_close(&file->base);
        return status;
    }
    *lock = &file->base;
    return HW_OK;
}

/* The store */

static void posix_destroy(struct hw_store *base)
{
    struct posix_store *store = (struct posix_store *)base;

    HW_ASSERT(store->file_count == 0 && store->lock_count == 0);
    HW_ASSERT(store->descriptors == 0);
    hw_free(store->allocator, store->buckets, store->bucket_count * sizeof *store->buckets);
    hw_free(store->allocator, store, sizeof *store);
}

static const struct hw_store_methods posix_store_methods = {
    .open = posix_open,
    .rename = posix_rename,
    .remove = posix_remove,
    .list = posix_list,
    .make_directory = posix_make_directory,
    .sync_directory = posix_sync_directory,
    .exists = posix_exists,
    .lock = posix_lock,
    .destroy = posix_destroy,
};

enum hw_status hw_posix_store_create(const struct hw_allocator *allocator, size_t descriptors_max,
                                     struct hw_store **store, struct hw_error *error)
{
    struct posix_store *created;

    HW_ASSERT(descriptors_max >= 1);
    created = hw_alloc_zeroed(allocator, sizeof *created);
    if (created == NULL) {
        return hw_error_no_memory(error, "a store of files");
    }
    created->buckets = hw_alloc_zeroed(allocator, BUCKETS_MIN * sizeof *created->buckets);
    if (created->buckets == NULL) {
        hw_free(allocator, created, sizeof *created);
        return hw_error_no_memory(error, "the table of open files");
    }
    created->base.methods = &posix_store_methods;
    created->allocator = allocator;
    created->descriptors_max = descriptors_max;
    created->bucket_count = BUCKETS_MIN;
    *store = &created->base;
    return HW_OK;
}
