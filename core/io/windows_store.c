/* SPDX-License-Identifier: MIT */
/*
 * Files of Windows, behind the interface of posix_store.h. Each open file keeps a handle: Windows
 * has no limit of them that a cluster meets.
 *
 * Windows gives the name of an open file to no other one, and moves no directory in which a file is
 * open. So a file that is open here and loses its name gets another one, under which it goes when it
 * is closed; and what is open below a directory that moves is closed meanwhile. Open files are
 * known by their paths, which must be spelled alike.
 */
#include "core/io/posix_store.h"

#ifdef _WIN32

#include "core/base/assert.h"
#include "core/io/windows_path.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Bytes that one call of the system moves at most. */
#define WINDOWS_PIECE_MAX ((DWORD)1 << 30)
/* The byte that is locked: behind what anybody reads, since nobody can read a locked one. */
enum { WINDOWS_LOCK_HIGH = 0x40000000, WINDOWS_SHARE = FILE_SHARE_READ | FILE_SHARE_WRITE };

struct windows_file {
    struct hw_file base;
    struct windows_store *store;
    struct windows_file *next;
    HANDLE handle; /* INVALID_HANDLE_VALUE after it could not be had again. */
    bool has_name; /* Else it was removed, or replaced; the path is then where it was put. */
    HANDLE eraser; /* The file goes when this is closed, also by the end of the process; or NULL. */
    char path[HW_PATH_MAX];
};

struct windows_store {
    struct hw_store base;
    const struct hw_allocator *allocator;
    struct windows_file *files;
    uint64_t nameless_count;
};

/* -------------------------------------------------------------------------------- open files */

static bool windows_is_link(const wchar_t *path)
{
    DWORD attributes = GetFileAttributesW(path);

    return attributes != INVALID_FILE_ATTRIBUTES &&
           (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0;
}

/* A handle, which closes itself if the path turns out to be a directory or a link. */
static enum hw_status windows_handle(const char *path, DWORD access, DWORD share, DWORD how,
                                     HANDLE *handle, struct hw_error *error)
{
    struct hw_windows_path wide;
    BY_HANDLE_FILE_INFORMATION found;
    /* Whoever can put a link into the directory chooses which file it means. */
    DWORD no_follow = (access & GENERIC_WRITE) != 0 ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
    enum hw_status status = hw_windows_path(path, &wide, error);

    if (status != HW_OK) {
        return status;
    }
    /* What is begun anew takes the place of a link, and leaves alone what that leads to. */
    if (how == CREATE_ALWAYS && windows_is_link(wide.text) && !DeleteFileW(wide.text)) {
        return hw_windows_error(error, GetLastError(), "remove", path);
    }
    *handle =
        CreateFileW(wide.text, access, share, NULL, how, FILE_ATTRIBUTE_NORMAL | no_follow, NULL);
    if (*handle == INVALID_HANDLE_VALUE) {
        return hw_windows_error(error, GetLastError(), "open", path);
    }
    if (no_follow != 0 && GetFileInformationByHandle(*handle, &found) &&
        (found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
        (void)CloseHandle(*handle);
        return hw_error_set(error, HW_IO,
                            "cannot open '%.300s': it is a symbolic link, and nothing is written "
                            "through one",
                            path);
    }
    return HW_OK;
}

/* Errors: HW_IO where the handle is gone. */
static enum hw_status windows_use(const struct windows_file *file, struct hw_error *error)
{
    return file->handle != INVALID_HANDLE_VALUE
               ? HW_OK
               : hw_error_set(error, HW_IO, "'%.300s' could not be opened again after it was moved",
                              file->path);
}

static OVERLAPPED windows_at(int64_t position)
{
    OVERLAPPED at = {0};

    at.Offset = (DWORD)((uint64_t)position & 0xffffffff);
    at.OffsetHigh = (DWORD)((uint64_t)position >> 32);
    return at;
}

static DWORD windows_piece(size_t size)
{
    return size > WINDOWS_PIECE_MAX ? WINDOWS_PIECE_MAX : (DWORD)size;
}

static enum hw_status windows_read_at(struct hw_file *base, int64_t position, void *bytes,
                                      size_t size, size_t *got, struct hw_error *error)
{
    struct windows_file *file = (struct windows_file *)base;
    enum hw_status status = windows_use(file, error);
    size_t done = 0;

    if (status != HW_OK) {
        return status;
    }
    while (done < size) {
        OVERLAPPED at = windows_at(position + (int64_t)done);
        DWORD count = 0;

        if (!ReadFile(file->handle, (char *)bytes + done, windows_piece(size - done), &count,
                      &at) &&
            GetLastError() != ERROR_HANDLE_EOF) {
            return hw_windows_error(error, GetLastError(), "read from", file->path);
        }
        if (count == 0) {
            break;
        }
        done += count;
    }
    *got = done;
    return HW_OK;
}

static enum hw_status windows_write_at(struct hw_file *base, int64_t position, const void *bytes,
                                       size_t size, struct hw_error *error)
{
    struct windows_file *file = (struct windows_file *)base;
    enum hw_status status = windows_use(file, error);
    size_t done = 0;

    while (status == HW_OK && done < size) {
        OVERLAPPED at = windows_at(position + (int64_t)done);
        DWORD count = 0;

        if (!WriteFile(file->handle, (const char *)bytes + done, windows_piece(size - done), &count,
                       &at) ||
            count == 0) {
            status = hw_windows_error(error, count == 0 ? GetLastError() : ERROR_DISK_FULL,
                                      "write to", file->path);
        }
        done += count;
    }
    return status;
}

static enum hw_status windows_size(struct hw_file *base, int64_t *size_bytes,
                                   struct hw_error *error)
{
    struct windows_file *file = (struct windows_file *)base;
    LARGE_INTEGER size = {.QuadPart = 0};
    enum hw_status status = windows_use(file, error);

    if (status == HW_OK && !GetFileSizeEx(file->handle, &size)) {
        status = hw_windows_error(error, GetLastError(), "get the size of", file->path);
    }
    *size_bytes = size.QuadPart;
    return status;
}

static enum hw_status windows_truncate(struct hw_file *base, int64_t size_bytes,
                                       struct hw_error *error)
{
    struct windows_file *file = (struct windows_file *)base;
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = size_bytes};
    enum hw_status status = windows_use(file, error);

    if (status == HW_OK &&
        !SetFileInformationByHandle(file->handle, FileEndOfFileInfo, &end, sizeof end)) {
        status = hw_windows_error(error, GetLastError(), "change the size of", file->path);
    }
    return status;
}

static enum hw_status windows_sync(struct hw_file *base, struct hw_error *error)
{
    struct windows_file *file = (struct windows_file *)base;
    enum hw_status status = windows_use(file, error);

    /* Who may only read has nothing to make durable, and may not ask for it. */
    if (status == HW_OK && file->base.is_writable && !FlushFileBuffers(file->handle)) {
        status = hw_windows_error(error, GetLastError(), "make durable", file->path);
    }
    return status;
}

static void windows_close(struct hw_file *base)
{
    struct windows_file *file = (struct windows_file *)base;
    struct windows_file **link = &file->store->files;

    while (*link != file) {
        link = &(*link)->next;
    }
    *link = file->next;
    if (file->handle != INVALID_HANDLE_VALUE) {
        (void)CloseHandle(file->handle);
    }
    if (file->eraser != NULL) {
        (void)CloseHandle(file->eraser);
    }
    hw_free(file->store->allocator, file, sizeof *file);
}

static const struct hw_file_methods windows_file_methods = {.read_at = windows_read_at,
                                                            .write_at = windows_write_at,
                                                            .size = windows_size,
                                                            .truncate = windows_truncate,
                                                            .sync = windows_sync,
                                                            .close = windows_close};

static enum hw_status windows_file_open(struct windows_store *store, const char *path, DWORD access,
                                        DWORD share, DWORD how, struct windows_file **opened,
                                        struct hw_error *error)
{
    struct windows_file *file = hw_alloc_zeroed(store->allocator, sizeof *file);
    enum hw_status status;

    if (file == NULL) {
        return hw_error_no_memory(error, "an open file");
    }
    status = hw_path_format(file->path, error, "%s", path);
    if (status == HW_OK) {
        status = windows_handle(path, access, share, how, &file->handle, error);
    }
    if (status != HW_OK) {
        hw_free(store->allocator, file, sizeof *file);
        return status;
    }
    file->base.methods = &windows_file_methods;
    file->store = store;
    file->base.is_writable = (access & GENERIC_WRITE) != 0;
    file->has_name = true;
    file->next = store->files;
    store->files = file;
    *opened = file;
    return HW_OK;
}

static enum hw_status windows_open(struct hw_store *base, const char *path, enum hw_open_mode mode,
                                   struct hw_file **opened, struct hw_error *error)
{
    static const DWORD how[] = {[HW_OPEN_READ] = OPEN_EXISTING,
                                [HW_OPEN_EXISTING] = OPEN_EXISTING,
                                [HW_OPEN_OR_CREATE] = OPEN_ALWAYS,
                                [HW_OPEN_TRUNCATE] = CREATE_ALWAYS};
    struct windows_file *file;
    enum hw_status status =
        windows_file_open((struct windows_store *)base, path,
                          mode == HW_OPEN_READ ? GENERIC_READ : GENERIC_READ | GENERIC_WRITE,
                          WINDOWS_SHARE | FILE_SHARE_DELETE, how[mode], &file, error);

    if (status == HW_OK) {
        *opened = &file->base;
    }
    return status;
}

/* -------------------------------------------------------------------------------------- names */

static const char windows_gone[] = ".gone";

static bool windows_is_gone(const char *name)
{
    size_t length = strlen(name);
    size_t size = sizeof windows_gone - 1;

    return length > size && strcmp(name + length - size, windows_gone) == 0;
}

/* Whether the file `path` is open here, by that name. */
static bool windows_is_open(const struct windows_store *store, const char *path)
{
    for (const struct windows_file *file = store->files; file != NULL; file = file->next) {
        if (file->has_name && strcmp(file->path, path) == 0) {
            return true;
        }
    }
    return false;
}

/* A file that is open here gives its name up: it is put where nobody is shown it, under *gone. */
static enum hw_status windows_put_aside(struct windows_store *store, const char *path,
                                        const wchar_t *wide, char gone[HW_PATH_MAX],
                                        struct hw_error *error)
{
    struct hw_windows_path target;
    enum hw_status status =
        hw_path_format(gone, error, "%s.%lx-%llx%s", path, (unsigned long)GetCurrentProcessId(),
                       (unsigned long long)++store->nameless_count, windows_gone);

    if (status == HW_OK) {
        status = hw_windows_path(gone, &target, error);
    }
    if (status == HW_OK && !MoveFileExW(wide, target.text, MOVEFILE_REPLACE_EXISTING)) {
        status = hw_windows_error(error, GetLastError(), "remove", path);
    }
    return status;
}

/* Those who have `path` open have `gone` open from now on, which goes with the first of them. */
static void windows_forget_name(struct windows_store *store, const char *path, const char *gone)
{
    struct hw_windows_path wide;
    struct hw_error error;
    HANDLE eraser = NULL;

    if (hw_windows_path(gone, &wide, &error) == HW_OK) {
        eraser = CreateFileW(wide.text, DELETE, WINDOWS_SHARE | FILE_SHARE_DELETE, NULL,
                             OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE, NULL);
        eraser = eraser == INVALID_HANDLE_VALUE ? NULL : eraser;
    }
    for (struct windows_file *file = store->files; file != NULL; file = file->next) {
        if (file->has_name && strcmp(file->path, path) == 0) {
            file->has_name = false;
            (void)hw_path_format(file->path, &error, "%s", gone);
            file->eraser = eraser;
            eraser = NULL;
        }
    }
}

/* Files without a name that stand in the way of removing a directory move up to its parent. */
static void windows_move_up(struct windows_store *store, const char *directory)
{
    const char *slash = strrchr(directory, '/');
    int parent = slash == NULL ? 0 : (int)(slash - directory);

    for (struct windows_file *file = store->files; file != NULL; file = file->next) {
        const char *rest = file->has_name ? NULL : hw_path_below(file->path, directory);
        struct hw_windows_path source;
        struct hw_windows_path target;
        char path[HW_PATH_MAX];
        struct hw_error error;

        if (rest == NULL || strrchr(rest, '/') != rest ||
            hw_path_format(path, &error, "%.*s%s", parent, directory, rest + (slash == NULL)) !=
                HW_OK ||
            hw_windows_path(file->path, &source, &error) != HW_OK ||
            hw_windows_path(path, &target, &error) != HW_OK) {
            continue;
        }
        /* Another one that has the same file open may have moved it already. */
        (void)MoveFileExW(source.text, target.text, 0);
        memcpy(file->path, path, sizeof path);
    }
}

/* Close what is open below a directory, or open it again: where it was, or below `to`. */
static void windows_suspend(struct windows_store *store, const char *directory)
{
    for (struct windows_file *file = store->files; file != NULL; file = file->next) {
        if (file->has_name && hw_path_below(file->path, directory) != NULL &&
            file->handle != INVALID_HANDLE_VALUE) {
            (void)CloseHandle(file->handle);
            file->handle = INVALID_HANDLE_VALUE;
        }
    }
}

static void windows_resume(struct windows_store *store, const char *from, const char *to)
{
    for (struct windows_file *file = store->files; file != NULL; file = file->next) {
        const char *rest = file->has_name ? hw_path_below(file->path, from) : NULL;
        char path[HW_PATH_MAX];
        struct hw_error error;

        if (rest == NULL || hw_path_format(path, &error, "%s%s", to, rest) != HW_OK) {
            continue;
        }
        memcpy(file->path, path, sizeof path);
        if (file->handle == INVALID_HANDLE_VALUE &&
            windows_handle(
                path, file->base.is_writable ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ,
                WINDOWS_SHARE | FILE_SHARE_DELETE, OPEN_EXISTING, &file->handle, &error) != HW_OK) {
            file->handle = INVALID_HANDLE_VALUE;
        }
    }
}

static enum hw_status windows_rename(struct hw_store *base, const char *from, const char *to,
                                     struct hw_error *error)
{
    struct windows_store *store = (struct windows_store *)base;
    struct hw_windows_path source;
    struct hw_windows_path target;
    struct hw_windows_path aside;
    char gone[HW_PATH_MAX];
    enum hw_status status = hw_windows_path(from, &source, error);
    DWORD attributes = status == HW_OK ? GetFileAttributesW(source.text) : 0;
    bool is_directory = (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    bool is_aside = false;
    bool is_done;

    if (status == HW_OK) {
        status = hw_windows_path(to, &target, error);
    }
    if (status == HW_OK && attributes == INVALID_FILE_ATTRIBUTES) {
        status = hw_windows_error(error, GetLastError(), "rename", from);
    }
    if (status != HW_OK || wcscmp(source.text, target.text) == 0) {
        return status;
    }
    if (is_directory) {
        windows_suspend(store, from);
        (void)RemoveDirectoryW(target.text); /* As POSIX does: only an empty one goes. */
    } else if (windows_is_open(store, to)) {
        status = windows_put_aside(store, to, target.text, gone, error);
        is_aside = status == HW_OK;
    }
    is_done = status == HW_OK &&
              MoveFileExW(source.text, target.text,
                          MOVEFILE_WRITE_THROUGH | (is_directory ? 0 : MOVEFILE_REPLACE_EXISTING));
    if (status == HW_OK && !is_done) {
        status = hw_windows_error(error, GetLastError(), "rename to", to);
    }
    if (is_aside && is_done) {
        windows_forget_name(store, to, gone);
    } else if (is_aside && hw_windows_path(gone, &aside, error) == HW_OK) {
        (void)MoveFileExW(aside.text, target.text, 0);
    }
    windows_resume(store, from, is_done ? to : from);
    return status;
}

static enum hw_status windows_remove(struct hw_store *base, const char *path,
                                     struct hw_error *error)
{
    struct windows_store *store = (struct windows_store *)base;
    struct hw_windows_path wide;
    char gone[HW_PATH_MAX];
    enum hw_status status = hw_windows_path(path, &wide, error);
    DWORD attributes = status == HW_OK ? GetFileAttributesW(wide.text) : 0;
    BOOL is_done;

    if (status != HW_OK) {
        return status;
    }
    if (attributes == INVALID_FILE_ATTRIBUTES) {
        return hw_windows_error(error, GetLastError(), "remove", path);
    }
    if (windows_is_open(store, path)) {
        status = windows_put_aside(store, path, wide.text, gone, error);
        if (status == HW_OK) {
            windows_forget_name(store, path, gone);
        }
        return status;
    }
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
        is_done = DeleteFileW(wide.text);
    } else {
        windows_move_up(store, path);
        is_done = RemoveDirectoryW(wide.text);
    }
    return is_done ? HW_OK : hw_windows_error(error, GetLastError(), "remove", path);
}

static enum hw_status windows_list(struct hw_store *base, const char *path,
                                   struct hw_name_list *names, struct hw_error *error)
{
    struct hw_windows_path wide;
    WIN32_FIND_DATAW found;
    HANDLE handle;
    enum hw_status status = hw_windows_path(path, &wide, error);
    size_t length = status == HW_OK ? wcslen(wide.text) : 0;

    (void)base;
    if (status != HW_OK || length + 3 > HW_WINDOWS_PATH_SIZE) {
        return status != HW_OK ? status
                               : hw_windows_error(error, ERROR_FILENAME_EXCED_RANGE, "list", path);
    }
    wmemcpy(wide.text + length, wide.text[length - 1] == L'\\' ? L"*" : L"\\*", 3);
    handle = FindFirstFileW(wide.text, &found);
    if (handle == INVALID_HANDLE_VALUE) {
        return hw_windows_error(error, GetLastError(), "list", path);
    }
    do {
        char name[HW_PATH_MAX];

        if (wcscmp(found.cFileName, L".") != 0 && wcscmp(found.cFileName, L"..") != 0 &&
            hw_windows_text(found.cFileName, name) && !windows_is_gone(name)) {
            status = hw_name_list_add(names, name, error);
        }
    } while (status == HW_OK && FindNextFileW(handle, &found));
    if (status == HW_OK && GetLastError() != ERROR_NO_MORE_FILES) {
        status = hw_windows_error(error, GetLastError(), "list", path);
    }
    (void)FindClose(handle);
    return status;
}

static enum hw_status windows_look(struct hw_store *base, const char *path,
                                   struct hw_path_look *look, struct hw_error *error)
{
    struct hw_windows_path wide;
    BY_HANDLE_FILE_INFORMATION found;
    enum hw_status status = hw_windows_path(path, &wide, error);
    HANDLE handle;

    (void)base;
    *look = (struct hw_path_look){.allocated_bytes = -1};
    if (status != HW_OK) {
        return status;
    }
    look->is_link = windows_is_link(wide.text);
    handle = CreateFileW(wide.text, FILE_READ_ATTRIBUTES, WINDOWS_SHARE | FILE_SHARE_DELETE, NULL,
                         OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        return hw_windows_is_missing(GetLastError())
                   ? HW_OK
                   : hw_windows_error(error, GetLastError(), "look for", path);
    }
    if (GetFileInformationByHandle(handle, &found)) {
        look->exists = true;
        look->is_directory = (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
        look->size_bytes =
            look->is_directory
                ? 0
                : (int64_t)((uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow);
    } else {
        status = hw_windows_error(error, GetLastError(), "look for", path);
    }
    (void)CloseHandle(handle);
    return status;
}

static enum hw_status windows_make_directory(struct hw_store *base, const char *path,
                                             struct hw_error *error)
{
    struct hw_windows_path wide;
    struct hw_path_look look;
    enum hw_status status = hw_windows_path(path, &wide, error);
    DWORD number;

    if (status != HW_OK || CreateDirectoryW(wide.text, NULL)) {
        return status;
    }
    number = GetLastError();
    if (number == ERROR_ALREADY_EXISTS && windows_look(base, path, &look, error) == HW_OK &&
        look.is_directory) {
        return HW_OK;
    }
    return hw_windows_error(error, number, "make the directory", path);
}

/* Names are written through; there is nothing else that Windows would sync for a directory. */
static enum hw_status windows_sync_directory(struct hw_store *base, const char *path,
                                             struct hw_error *error)
{
    struct hw_path_look look;
    enum hw_status status = windows_look(base, path, &look, error);

    if (status == HW_OK && !look.is_directory) {
        status = hw_windows_error(error, look.exists ? ERROR_DIRECTORY : ERROR_PATH_NOT_FOUND,
                                  "make durable", path);
    }
    return status;
}

/* --------------------------------------------------------------------------------- lock files */

/* Who has the lock, by what the owner wrote; it may be about to write it. */
static enum hw_status windows_error_locked(HANDLE handle, const char *path, struct hw_error *error)
{
    OVERLAPPED at = {0};
    char text[32];
    DWORD size = 0;

    (void)ReadFile(handle, text, sizeof text - 1, &size, &at);
    text[size] = '\0';
    text[strspn(text, "0123456789")] = '\0';
    return hw_error_set(error, HW_BUSY, "'%.300s' is locked by process %s", path,
                        text[0] != '\0' ? text : "(not known yet)");
}

static bool windows_lock_try(HANDLE handle, DWORD flags)
{
    OVERLAPPED at = {.OffsetHigh = WINDOWS_LOCK_HIGH};

    return LockFileEx(handle, flags | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at);
}

static bool windows_is_locked(DWORD number)
{
    return number == ERROR_LOCK_VIOLATION || number == ERROR_IO_PENDING;
}

int64_t hw_posix_process(void)
{
    return (int64_t)GetCurrentProcessId();
}

/* Who holds it shares it with nobody who would delete it. */
static enum hw_status windows_lock(struct hw_store *base, const char *path, struct hw_file **lock,
                                   struct hw_error *error)
{
    struct windows_file *file;
    char text[32];
    int length = snprintf(text, sizeof text, "%lu\n", (unsigned long)hw_posix_process());
    enum hw_status status =
        windows_file_open((struct windows_store *)base, path, GENERIC_READ | GENERIC_WRITE,
                          WINDOWS_SHARE, OPEN_ALWAYS, &file, error);

    if (status != HW_OK) {
        return status;
    }
    if (!windows_lock_try(file->handle, LOCKFILE_EXCLUSIVE_LOCK)) {
        status = windows_is_locked(GetLastError())
                     ? windows_error_locked(file->handle, path, error)
                     : hw_windows_error(error, GetLastError(), "lock", path);
    }
    if (status == HW_OK) {
        status = hw_file_write_at(&file->base, 0, text, (size_t)length, error);
    }
    if (status == HW_OK) {
        status = hw_file_truncate(&file->base, length, error);
    }
    if (status != HW_OK) {
        hw_file_close(&file->base);
        return status;
    }
    *lock = &file->base;
    return HW_OK;
}

enum hw_status hw_posix_store_probe(const char *path, struct hw_error *error)
{
    HANDLE handle;
    enum hw_status status;

    /* What cannot be opened is locked by nobody. */
    if (windows_handle(path, GENERIC_READ, WINDOWS_SHARE | FILE_SHARE_DELETE, OPEN_EXISTING,
                       &handle, error) != HW_OK) {
        return HW_OK;
    }
    status = !windows_lock_try(handle, 0) && windows_is_locked(GetLastError())
                 ? windows_error_locked(handle, path, error)
                 : HW_OK;
    (void)CloseHandle(handle);
    return status;
}

/* ---------------------------------------------------------------------------------- the store */

static void windows_destroy(struct hw_store *base)
{
    struct windows_store *store = (struct windows_store *)base;

    HW_ASSERT(store->files == NULL);
    hw_free(store->allocator, store, sizeof *store);
}

static const struct hw_store_methods windows_store_methods = {
    .open = windows_open,
    .rename = windows_rename,
    .remove = windows_remove,
    .list = windows_list,
    .make_directory = windows_make_directory,
    .sync_directory = windows_sync_directory,
    .look = windows_look,
    .lock = windows_lock,
    .destroy = windows_destroy,
};

enum hw_status hw_posix_store_create(const struct hw_allocator *allocator, size_t descriptors_max,
                                     struct hw_store **store, struct hw_error *error)
{
    struct windows_store *created = hw_alloc_zeroed(allocator, sizeof *created);

    HW_ASSERT(descriptors_max >= 1);
    if (created == NULL) {
        return hw_error_no_memory(error, "a store of files");
    }
    created->base.methods = &windows_store_methods;
    created->allocator = allocator;
    *store = &created->base;
    return HW_OK;
}

void hw_posix_store_be_as_private_as(struct hw_store *store, const char *path)
{
    (void)store, (void)path; /* What is made takes the access list of its directory. */
}

#endif
