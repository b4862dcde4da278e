/* SPDX-License-Identifier: MIT */
/* Files of the operating system: the names. What happens on open files is in posix_files.c. */
#include "core/io/posix_system.h"

#include "core/io/posix_store.h"

#ifndef _WIN32

#include "core/base/assert.h"
#include "core/io/posix_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

enum { STAT_BLOCK_SIZE = 512 /* Of st_blocks, wherever. */ };

struct posix_store {
    struct hw_store base;
    const struct hw_allocator *allocator;
    struct hw_posix_files files;
};

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

static enum hw_status check_process(const struct hw_store *base, const char *path,
                                    struct hw_error *error)
{
    return hw_posix_files_check_process(&((const struct posix_store *)base)->files, path, error);
}

static enum hw_status posix_open(struct hw_store *base, const char *path, enum hw_open_mode mode,
                                 struct hw_file **opened, struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct hw_posix_file *file;
    struct stat found;
    enum hw_status status = check_process(base, path, error);

    if (status != HW_OK) {
        return status;
    }
    /* What is begun anew takes the place of a link, and leaves alone what that leads to. */
    if (mode == HW_OPEN_TRUNCATE && lstat(path, &found) == 0 && S_ISLNK(found.st_mode) &&
        unlink(path) != 0) {
        return hw_posix_error(error, errno, "remove", path);
    }
    status = hw_posix_files_open(&store->files, path, open_flags(mode), &file, error);
    if (status == HW_OK) {
        *opened = &file->base;
    }
    return status;
}

static enum hw_status posix_rename(struct hw_store *base, const char *from, const char *to,
                                   struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct hw_posix_file *moves = NULL;
    struct stat source;
    struct stat target;
    bool is_replacing;
    enum hw_status status = check_process(base, from, error);

    if (status != HW_OK) {
        return status;
    }
    if (lstat(from, &source) != 0) {
        return hw_posix_error(error, errno, "rename", from);
    }
    is_replacing = lstat(to, &target) == 0;
    if (is_replacing && source.st_dev == target.st_dev && source.st_ino == target.st_ino) {
        return HW_OK; /* Two names of one file: rename() does nothing then. */
    }
    status = hw_posix_files_prepare_move(&store->files, &source, from, to, &moves, error);
    if (status == HW_OK && is_replacing) {
        status = hw_posix_files_pin(&store->files, &target, error);
    }
    if (status == HW_OK && rename(from, to) != 0) {
        status = hw_posix_error(error, errno, "rename to", to);
        if (is_replacing) {
            hw_posix_files_unpin(&store->files, &target);
        }
    }
    hw_posix_files_end_move(moves, status == HW_OK);
    return status;
}

static enum hw_status posix_remove(struct hw_store *base, const char *path, struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct stat found;
    enum hw_status status = check_process(base, path, error);

    if (status != HW_OK) {
        return status;
    }
    if (lstat(path, &found) != 0) {
        return hw_posix_error(error, errno, "remove", path);
    }
    if (S_ISDIR(found.st_mode)) {
        return rmdir(path) == 0 ? HW_OK : hw_posix_error(error, errno, "remove", path);
    }
    status = hw_posix_files_pin(&store->files, &found, error);
    if (status == HW_OK && unlink(path) != 0) {
        status = hw_posix_error(error, errno, "remove", path);
        hw_posix_files_unpin(&store->files, &found);
    }
    return status;
}

static DIR *open_directory(struct hw_store *base, const char *path)
{
    DIR *directory;
    int descriptor = hw_posix_files_descriptor(&((struct posix_store *)base)->files, path,
                                               O_RDONLY | O_DIRECTORY);

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
    DIR *directory = open_directory(base, path);
    enum hw_status status = HW_OK;

    if (directory == NULL) {
        return hw_posix_error(error, errno, "list", path);
    }
    while (status == HW_OK) {
        const struct dirent *entry;

        errno = 0;
        entry = readdir(directory);
        if (entry == NULL) {
            status = errno == 0 ? HW_OK : hw_posix_error(error, errno, "list", path);
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
    mode_t mode = ((struct posix_store *)base)->files.mode;
    struct stat found;
    enum hw_status status = check_process(base, path, error);
    int number;

    if (status != HW_OK) {
        return status;
    }
    /* Who may read what is in it may enter it. */
    if (mkdir(path, mode | (mode & 0444) >> 2) == 0) {
        return HW_OK;
    }
    number = errno;
    if (number == EEXIST && stat(path, &found) == 0 && S_ISDIR(found.st_mode)) {
        return HW_OK;
    }
    return hw_posix_error(error, number, "make the directory", path);
}

static enum hw_status posix_sync_directory(struct hw_store *base, const char *path,
                                           struct hw_error *error)
{
    int descriptor = hw_posix_files_descriptor(&((struct posix_store *)base)->files, path,
                                               O_RDONLY | O_DIRECTORY);
    int number = 0;

    if (descriptor < 0) {
        return hw_posix_error(error, errno, "make durable", path);
    }
    while (fsync(descriptor) != 0 && number == 0) {
        number = errno == EINTR ? 0 : errno;
    }
    (void)close(descriptor);
    /* EINVAL: a file system that has nothing to sync for a directory. */
    if (number != 0 && number != EINVAL) {
        return hw_posix_error(error, number, "make durable", path);
    }
    return HW_OK;
}

static enum hw_status posix_look(struct hw_store *base, const char *path, struct hw_path_look *look,
                                 struct hw_error *error)
{
    struct stat found;
    int result = lstat(path, &found);
    bool is_link = result == 0 && S_ISLNK(found.st_mode);

    (void)base;
    *look = (struct hw_path_look){.is_link = is_link};
    if ((is_link ? stat(path, &found) : result) == 0) {
        look->exists = true;
        look->is_directory = S_ISDIR(found.st_mode);
        look->is_special = !look->is_directory && !S_ISREG(found.st_mode);
        look->size_bytes = look->is_directory ? 0 : (int64_t)found.st_size;
        look->allocated_bytes =
            look->is_directory ? -1 : (int64_t)found.st_blocks * STAT_BLOCK_SIZE;
    } else if (errno != ENOENT && errno != ENOTDIR) {
        return hw_posix_error(error, errno, "look for", path);
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
    return hw_error_set(error, HW_BUSY, "'%.300s' is locked by process %s%s", path,
                        digits > 0 ? text : "(not known yet)",
                        digits > 0 && kill((pid_t)atol(text), 0) != 0 && errno == ESRCH
                            ? ", which is not here: one that was forked from it may have the lock"
                            : "");
}

/* flock() belongs to the open file and not to the process, so it excludes this process too. Returns
 * errno. */
static int lock_try(int descriptor)
{
    while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return 0;
}

/*
 * The lock is on the directory, since a file in it can be deleted and made anew while its owner
 * lives. Where a file system has no locks for directories, that of the file has to do.
 */
static enum hw_status lock_take(struct hw_posix_file *file, struct hw_error *error)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%" PRId64 "\n", hw_posix_process());
    int number = lock_try(file->directory);
    size_t size;

    if (number != EWOULDBLOCK) {
        number = lock_try(file->descriptor);
    }
    if (number == EWOULDBLOCK) {
        return error_locked(file->descriptor, file->path, error);
    }
    if (number != 0) {
        return hw_posix_error(error, number, "lock", file->path);
    }
    HW_ASSERT(length > 0 && (size_t)length < sizeof text);
    size = (size_t)length;
    /* Over what is there: a file that is emptied first may get no space again on a full disk. */
    if (pwrite(file->descriptor, text, size, 0) != (ssize_t)size ||
        ftruncate(file->descriptor, length) != 0) {
        return hw_posix_error(error, errno, "write the process id to", file->path);
    }
    return HW_OK;
}

static enum hw_status posix_lock(struct hw_store *base, const char *path, struct hw_file **lock,
                                 struct hw_error *error)
{
    struct posix_store *store = (struct posix_store *)base;
    struct hw_posix_file *file;
    enum hw_status status = check_process(base, path, error);

    if (status == HW_OK) {
        status = hw_posix_files_open_lock(&store->files, path, &file, error);
    }
    if (status != HW_OK) {
        return status;
    }
    status = lock_take(file, error);
    if (status != HW_OK) {
        hw_file_close(&file->base);
        return status;
    }
    *lock = &file->base;
    return HW_OK;
}

/* The directory of `path`, or the file where a file system has no locks for directories: whether
 * somebody has locked it. What cannot be opened is locked by nobody. */
static bool probe_is_locked(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is_locked = false;

    if (descriptor >= 0) {
        is_locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        (void)close(descriptor);
    }
    return is_locked;
}

enum hw_status hw_posix_store_probe(const char *path, struct hw_error *error)
{
    char directory[HW_PATH_MAX];
    enum hw_status status;
    int descriptor;

    hw_path_parent(path, directory);
    if (!probe_is_locked(directory) && !probe_is_locked(path)) {
        return HW_OK;
    }
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    status = error_locked(descriptor, path, error);
    if (descriptor >= 0) {
        (void)close(descriptor);
    }
    return status;
}

/* The store */

static void posix_destroy(struct hw_store *base)
{
    struct posix_store *store = (struct posix_store *)base;

    HW_ASSERT(store->files.file_count == 0 && store->files.descriptors == 0);
    hw_free(store->allocator, store, sizeof *store);
}

static const struct hw_store_methods posix_store_methods = {
    .open = posix_open,
    .rename = posix_rename,
    .remove = posix_remove,
    .list = posix_list,
    .make_directory = posix_make_directory,
    .sync_directory = posix_sync_directory,
    .look = posix_look,
    .lock = posix_lock,
    .destroy = posix_destroy,
};

/* At most a half of what the process may have open: the rest is for others, SQLite among them. */
static size_t fair_share(size_t descriptors_max)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        limit.rlim_cur / 2 < descriptors_max) {
        return limit.rlim_cur < 2 ? 1 : (size_t)(limit.rlim_cur / 2);
    }
    return descriptors_max;
}

enum hw_status hw_posix_store_create(const struct hw_allocator *allocator, size_t descriptors_max,
                                     struct hw_store **store, struct hw_error *error)
{
    struct posix_store *created = hw_alloc_zeroed(allocator, sizeof *created);

    HW_ASSERT(descriptors_max >= 1);
    if (created == NULL) {
        return hw_error_no_memory(error, "a store of files");
    }
    hw_posix_files_init(&created->files, allocator, &hw_posix_file_methods,
                        fair_share(descriptors_max));
    created->base.methods = &posix_store_methods;
    created->allocator = allocator;
    *store = &created->base;
    return HW_OK;
}

void hw_posix_store_be_as_private_as(struct hw_store *base, const char *path)
{
    struct posix_store *store = (struct posix_store *)base;
    struct stat found;

    if (stat(path, &found) == 0) {
        store->files.mode &= found.st_mode | S_IRUSR | S_IWUSR;
    }
}

#endif
