/* SPDX-License-Identifier: MIT */
/* Reading, writing and syncing an open file of the system. */
#include "core/io/posix_system.h"

#ifndef _WIN32

#include "core/io/posix_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == sizeof(int64_t), "positions in files are 64 bits");

static enum hw_status posix_file_read_at(struct hw_file *base, int64_t position, void *bytes,
                                         size_t size, size_t *got, struct hw_error *error)
{
    struct hw_posix_file *file = (struct hw_posix_file *)base;
    enum hw_status status = hw_posix_files_use(file, error);
    size_t done = 0;

    if (status != HW_OK) {
        return status;
    }
    while (done < size) {
        ssize_t count = pread(file->descriptor, (char *)bytes + done, size - done,
                              (off_t)(position + (int64_t)done));

        if (count < 0 && errno != EINTR) {
            return hw_posix_error(error, errno, "read from", file->path);
        }
        if (count == 0) {
            break;
        }
        done += count > 0 ? (size_t)count : 0;
    }
    *got = done;
    return HW_OK;
}

static enum hw_status posix_file_write_at(struct hw_file *base, int64_t position, const void *bytes,
                                          size_t size, struct hw_error *error)
{
    struct hw_posix_file *file = (struct hw_posix_file *)base;
    enum hw_status status = hw_posix_files_use(file, error);
    size_t done = 0;

    if (status != HW_OK) {
        return status;
    }
    while (done < size) {
        ssize_t count = pwrite(file->descriptor, (const char *)bytes + done, size - done,
                               (off_t)(position + (int64_t)done));

        /* A write of nothing without a reason would be tried for ever. */
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return hw_posix_error(error, count == 0 ? ENOSPC : errno, "write to", file->path);
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return HW_OK;
}

static enum hw_status posix_file_size(struct hw_file *base, int64_t *size_bytes,
                                      struct hw_error *error)
{
    struct hw_posix_file *file = (struct hw_posix_file *)base;
    struct stat found;
    enum hw_status status = hw_posix_files_use(file, error);

    if (status != HW_OK) {
        return status;
    }
    if (fstat(file->descriptor, &found) != 0) {
        return hw_posix_error(error, errno, "get the size of", file->path);
    }
    *size_bytes = (int64_t)found.st_size;
    return HW_OK;
}

static enum hw_status posix_file_truncate(struct hw_file *base, int64_t size_bytes,
                                          struct hw_error *error)
{
    struct hw_posix_file *file = (struct hw_posix_file *)base;
    enum hw_status status = hw_posix_files_use(file, error);

    if (status != HW_OK) {
        return status;
    }
    while (ftruncate(file->descriptor, (off_t)size_bytes) != 0) {
        if (errno != EINTR) {
            return hw_posix_error(error, errno, "change the size of", file->path);
        }
    }
    return HW_OK;
}

/* fsync() of macOS leaves the bytes in the disk's own memory; F_FULLFSYNC does not, and is not
 * known to network file systems. */
static int posix_file_make_durable(int descriptor)
{
#ifdef __APPLE__
    return fcntl(descriptor, F_FULLFSYNC) == 0 ? 0 : fsync(descriptor);
#else
    return fdatasync(descriptor);
#endif
}

/*
 * After a failed sync the system may forget the bytes that it could not write and report success
 * the next time. So the failure stays with the open file.
 */
static enum hw_status posix_file_sync(struct hw_file *base, struct hw_error *error)
{
    struct hw_posix_file *file = (struct hw_posix_file *)base;
    enum hw_status status = hw_posix_files_use(file, error);

    if (status != HW_OK) {
        return status;
    }
    while (file->sync_errno == 0 && posix_file_make_durable(file->descriptor) != 0) {
        file->sync_errno = errno == EINTR ? 0 : errno;
    }
    if (file->sync_errno != 0) {
        return hw_posix_error(error, file->sync_errno, "make durable", file->path);
    }
    return HW_OK;
}

static void posix_file_close(struct hw_file *base)
{
    hw_posix_files_close((struct hw_posix_file *)base);
}

const struct hw_file_methods hw_posix_file_methods = {.read_at = posix_file_read_at,
                                                      .write_at = posix_file_write_at,
                                                      .size = posix_file_size,
                                                      .truncate = posix_file_truncate,
                                                      .sync = posix_file_sync,
                                                      .close = posix_file_close};

#endif
