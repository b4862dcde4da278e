/* SPDX-License-Identifier: MIT */
/* Open files of the system and the descriptors that they share. See posix_files.h. */
#include "core/io/posix_system.h"

#ifndef _WIN32

#include "core/io/posix_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { DESCRIPTOR_MIN = 3, FILE_MODE = 0644 };

enum hw_status hw_posix_error(struct hw_error *error, int number, const char *verb,
                              const char *path)
{
    char text[128];
    const char *reason = text;
    size_t length = strlen(path);
    /* Of a path that is too long for a message the end says more. */
    const char *shown = length > 300 ? path + length - 300 : path;

    if (number == ENOMEM) {
        return hw_error_no_memory(error, path);
    }
    if (number == ELOOP) {
        reason = "it is a symbolic link, and nothing is written through one, nor read through a "
                 "circle of them";
    } else if (number == ENXIO) {
        reason = "it is a pipe, a device or a socket";
    } else if (strerror_r(number, text, sizeof text) != 0) {
        (void)snprintf(text, sizeof text, "error %d", number);
    }
    return hw_error_set(error, number == ENOENT ? HW_NOT_FOUND : HW_IO, "cannot %s '%s%s': %s",
                        verb, shown == path ? "" : "...", shown, reason);
}

int64_t hw_posix_process(void)
{
    return (int64_t)getpid();
}

enum hw_status hw_posix_files_check_process(const struct hw_posix_files *files, const char *path,
                                            struct hw_error *error)
{
    return files->process == hw_posix_process()
               ? HW_OK
               : hw_error_set(error, HW_IO,
                              "'%.300s' is open in process %" PRId64 ", from which this one was "
                              "forked: open the database by a connection of this process",
                              path, files->process);
}

/* The table of open files */

static struct hw_posix_file **bucket_of(struct hw_posix_files *files, dev_t device, ino_t inode)
{
    uint64_t hash = ((uint64_t)inode ^ ((uint64_t)device << 40)) * UINT64_C(0x9e3779b97f4a7c15);

    return &files->buckets[(size_t)(hash >> 32) & (HW_POSIX_BUCKETS - 1)];
}

static void table_put(struct hw_posix_files *files, struct hw_posix_file *file)
{
    struct hw_posix_file **bucket = bucket_of(files, file->device, file->inode);

    file->chain = *bucket;
    *bucket = file;
}

static void table_remove(struct hw_posix_files *files, struct hw_posix_file *file)
{
    struct hw_posix_file **link = bucket_of(files, file->device, file->inode);

    while (*link != file) {
        link = &(*link)->chain;
    }
    *link = file->chain;
}

/* Descriptors */

static void list_unlink(struct hw_posix_files *files, struct hw_posix_file *file)
{
    *(file->newer == NULL ? &files->newest : &file->newer->older) = file->older;
    *(file->older == NULL ? &files->oldest : &file->older->newer) = file->newer;
}

static void list_push(struct hw_posix_files *files, struct hw_posix_file *file)
{
    file->newer = NULL;
    file->older = files->newest;
    *(file->older == NULL ? &files->oldest : &file->older->newer) = file;
    files->newest = file;
}

static void descriptor_close(struct hw_posix_file *file)
{
    /* Network file systems report here that earlier writes were lost. */
    if (close(file->descriptor) != 0 && errno != EINTR && file->sync_errno == 0) {
        file->sync_errno = errno;
    }
    file->descriptor = -1;
    list_unlink(file->files, file);
    file->files->descriptors--;
}

/* Close the descriptor that was not used for longest. Returns false if all of them are pinned. */
static bool descriptor_evict(struct hw_posix_files *files)
{
    struct hw_posix_file *file = files->oldest;

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
static int open_once(const char *path, int flags, mode_t mode)
{
    int descriptor;

    do {
        descriptor = open(path, flags | O_CLOEXEC, mode);
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

int hw_posix_files_descriptor(struct hw_posix_files *files, const char *path, int flags)
{
    int descriptor = open_once(path, flags, files->mode);

    while (descriptor < 0 && (errno == EMFILE || errno == ENFILE) && descriptor_evict(files)) {
        descriptor = open_once(path, flags, files->mode);
    }
    return descriptor;
}

/* Open `file`, note in `found` what it is, and put it at the head of the list. */
static enum hw_status file_attach(struct hw_posix_file *file, int flags, struct stat *found,
                                  struct hw_error *error)
{
    struct hw_posix_files *files = file->files;
    /* Whoever can put a link into the directory chooses which file it means. */
    int no_follow = file->base.is_writable ? O_NOFOLLOW : 0;
    int number;

    while (files->descriptors >= files->descriptors_max && descriptor_evict(files)) {}
    /* Opening a pipe would wait for somebody at its other end. */
    file->descriptor = hw_posix_files_descriptor(files, file->path, flags | O_NONBLOCK | no_follow);
    if (file->descriptor < 0) {
        return hw_posix_error(error, errno, "open", file->path);
    }
    number = fstat(file->descriptor, found) != 0 ? errno : 0;
    if (number == 0 && !S_ISREG(found->st_mode)) {
        number = S_ISDIR(found->st_mode) ? EISDIR : ENXIO;
    }
    if (number != 0) {
        (void)close(file->descriptor);
        file->descriptor = -1;
        return hw_posix_error(error, number, "open", file->path);
    }
    list_push(files, file);
    files->descriptors++;
    return HW_OK;
}

enum hw_status hw_posix_files_use(struct hw_posix_file *file, struct hw_error *error)
{
    struct stat found;
    enum hw_status status = hw_posix_files_check_process(file->files, file->path, error);

    if (status != HW_OK) {
        return status;
    }
    if (file->descriptor >= 0) {
        if (!file->is_lock && file->files->newest != file) {
            list_unlink(file->files, file);
            list_push(file->files, file);
        }
        return HW_OK;
    }
    status = file_attach(file, file->base.is_writable ? O_RDWR : O_RDONLY, &found, error);
    if (status == HW_OK && (found.st_dev != file->device || found.st_ino != file->inode)) {
        descriptor_close(file);
        return hw_error_set(error, HW_IO, "'%.300s' was replaced by somebody else while in use",
                            file->path);
    }
    return status;
}

static void file_destroy(struct hw_posix_file *file)
{
    hw_text_free(file->files->allocator, file->path);
    hw_free(file->files->allocator, file, sizeof *file);
}

void hw_posix_files_close(struct hw_posix_file *file)
{
    if (file->is_lock) {
        /* A process that was forked has the lock as well: closing alone would leave it there. */
        if (file->files->process == hw_posix_process()) {
            (void)flock(file->directory, LOCK_UN);
            (void)flock(file->descriptor, LOCK_UN);
        }
        (void)close(file->directory);
        (void)close(file->descriptor);
    } else {
        if (file->descriptor >= 0) {
            descriptor_close(file);
        }
        table_remove(file->files, file);
    }
    file->files->file_count--;
    file_destroy(file);
}

/* Opening */

static struct hw_posix_file *file_create(struct hw_posix_files *files, const char *path,
                                         bool is_writable)
{
    struct hw_posix_file *file = hw_alloc_zeroed(files->allocator, sizeof *file);

    if (file == NULL) {
        return NULL;
    }
    file->path = hw_text_copy(files->allocator, path);
    if (file->path == NULL) {
        hw_free(files->allocator, file, sizeof *file);
        return NULL;
    }
    file->base.methods = files->methods;
    file->files = files;
    file->descriptor = -1;
    file->base.is_writable = is_writable;
    return file;
}

enum hw_status hw_posix_files_open(struct hw_posix_files *files, const char *path, int flags,
                                   struct hw_posix_file **opened, struct hw_error *error)
{
    struct hw_posix_file *file;
    struct stat found;
    enum hw_status status;

    file = file_create(files, path, (flags & O_ACCMODE) != O_RDONLY);
    if (file == NULL) {
        return hw_error_no_memory(error, "an open file");
    }
    status = file_attach(file, flags, &found, error);
    if (status != HW_OK) {
        file_destroy(file);
        return status;
    }
    file->device = found.st_dev;
    file->inode = found.st_ino;
    table_put(files, file);
    files->file_count++;
    *opened = file;
    return HW_OK;
}

/* The directory that `path` is in, open for reading. Returns -1 and sets errno. */
static int lock_open_directory(struct hw_posix_files *files, const char *path)
{
    char directory[HW_PATH_MAX];

    hw_path_parent(path, directory);
    return hw_posix_files_descriptor(files, directory, O_RDONLY | O_DIRECTORY);
}

enum hw_status hw_posix_files_open_lock(struct hw_posix_files *files, const char *path,
                                        struct hw_posix_file **opened, struct hw_error *error)
{
    struct hw_posix_file *file = file_create(files, path, true);
    int number;

    if (file == NULL) {
        return hw_error_no_memory(error, "a lock file");
    }
    file->is_lock = true;
    file->directory = lock_open_directory(files, path);
    if (file->directory >= 0) {
        file->descriptor =
            hw_posix_files_descriptor(files, path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOFOLLOW);
    }
    if (file->descriptor < 0) {
        number = errno;
        if (file->directory >= 0) {
            (void)close(file->directory);
        }
        file_destroy(file);
        return hw_posix_error(error, number, "open the lock file", path);
    }
    files->file_count++;
    *opened = file;
    return HW_OK;
}

/* Files that lose or change their names */

static bool is_file(const struct hw_posix_file *file, const struct stat *what)
{
    return file->device == what->st_dev && file->inode == what->st_ino;
}

void hw_posix_files_unpin(struct hw_posix_files *files, const struct stat *what)
{
    for (struct hw_posix_file *file = *bucket_of(files, what->st_dev, what->st_ino); file != NULL;
         file = file->chain) {
        if (is_file(file, what)) {
            file->is_pinned = false;
        }
    }
}

enum hw_status hw_posix_files_pin(struct hw_posix_files *files, const struct stat *what,
                                  struct hw_error *error)
{
    for (struct hw_posix_file *file = *bucket_of(files, what->st_dev, what->st_ino); file != NULL;
         file = file->chain) {
        if (is_file(file, what)) {
            enum hw_status status = hw_posix_files_use(file, error);

            if (status != HW_OK) {
                hw_posix_files_unpin(files, what);
                return status;
            }
            file->is_pinned = true;
        }
    }
    return HW_OK;
}

void hw_posix_files_end_move(struct hw_posix_file *moves, bool is_done)
{
    for (struct hw_posix_file *file = moves; file != NULL; file = file->next_move) {
        hw_text_free(file->files->allocator, is_done ? file->path : file->path_next);
        file->path = is_done ? file->path_next : file->path;
        file->path_next = NULL;
    }
}

static enum hw_status moves_add(struct hw_posix_file **moves, struct hw_posix_file *file,
                                const char *to, const char *rest, struct hw_error *error)
{
    size_t size_to = strlen(to);
    size_t size_rest = strlen(rest) + 1;
    char *path = hw_alloc(file->files->allocator, size_to + size_rest);

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

enum hw_status hw_posix_files_prepare_move(struct hw_posix_files *files, const struct stat *what,
                                           const char *from, const char *to,
                                           struct hw_posix_file **moves, struct hw_error *error)
{
    struct hw_posix_file **first = bucket_of(files, what->st_dev, what->st_ino);
    struct hw_posix_file **end = first + 1;
    bool is_directory = S_ISDIR(what->st_mode);
    enum hw_status status = HW_OK;

    if (is_directory) {
        first = files->buckets;
        end = files->buckets + HW_POSIX_BUCKETS;
    }
    for (struct hw_posix_file **bucket = first; bucket < end; bucket++) {
        for (struct hw_posix_file *file = *bucket; file != NULL; file = file->chain) {
            const char *rest = is_directory          ? hw_path_below(file->path, from)
                               : is_file(file, what) ? ""
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

void hw_posix_files_init(struct hw_posix_files *files, const struct hw_allocator *allocator,
                         const struct hw_file_methods *methods, size_t descriptors_max)
{
    files->allocator = allocator;
    files->methods = methods;
    files->descriptors_max = descriptors_max;
    files->process = hw_posix_process();
    files->mode = FILE_MODE;
}

#endif
