/* SPDX-License-Identifier: MIT */
/*
 * The open files of a POSIX store and the descriptors that they share. For posix_store.c and
 * posix_file.c only.
 *
 * A file that is open here need not have a descriptor. Those that have one hang in a list, the most
 * recently used first; whoever needs one more than the limit allows closes the last of the list.
 * Opening again goes by path, so the paths of open files must follow every rename, and a file that
 * loses its name (removed, or replaced by a rename) has its descriptor pinned until it is closed.
 * Which open files a path means is found by device and inode, through a hash table.
 *
 * Included after the feature macros of <unistd.h> were set: it needs ino_t and dev_t.
 */
#ifndef HW_IO_POSIX_FILES_H
#define HW_IO_POSIX_FILES_H

#include "core/io/store.h"

#include <sys/stat.h>
#include <sys/types.h>

struct hw_posix_file {
    struct hw_file base;
    struct hw_posix_files *files;
    char *path;
    char *path_next; /* During a rename: the path if it succeeds. */
    int descriptor;  /* -1 while there is none. */
    int sync_errno;  /* Why bytes may have been lost: then no later sync may say HW_OK. */
    bool is_pinned;  /* Has no path any more: the descriptor cannot be had again. */
    bool is_lock;    /* Outside of the list and of the table. */
    int directory;   /* Of a lock: the descriptor of its directory, which is locked as well. */
    dev_t device;
    ino_t inode;
    struct hw_posix_file *newer; /* List of those that have a descriptor. */
    struct hw_posix_file *older;
    struct hw_posix_file *chain;     /* Next one in the same bucket. */
    struct hw_posix_file *next_move; /* Next one that has a path_next. */
};

/* Chains stay short for tens of thousands of files. A power of two. */
enum { HW_POSIX_BUCKETS = 4096 };

struct hw_posix_files {
    const struct hw_allocator *allocator;
    const struct hw_file_methods *methods; /* Of each file. */
    struct hw_posix_file *newest;
    struct hw_posix_file *oldest;
    size_t descriptors_max;
    size_t descriptors;
    struct hw_posix_file *buckets[HW_POSIX_BUCKETS];
    size_t file_count; /* Locks among them. */
    int64_t process;   /* Whose files they are: one that is forked from it has no part in them. */
    mode_t mode;       /* Of those that are made. */
};

/* `files`, which is all zero, gets ready. */
void hw_posix_files_init(struct hw_posix_files *files, const struct hw_allocator *allocator,
                         const struct hw_file_methods *methods, size_t descriptors_max);

/*
 * Fill in `error` for the system's error `number`: "cannot <verb> '<path>': <reason>". Returns
 * HW_NOT_FOUND for ENOENT, HW_NO_MEMORY for ENOMEM, else HW_IO.
 */
enum hw_status hw_posix_error(struct hw_error *error, int number, const char *verb,
                              const char *path);

/* HW_IO in a process that was forked from the one whose files they are: what it knows of them ends
 * with the fork, and the other one has the lock. */
enum hw_status hw_posix_files_check_process(const struct hw_posix_files *files, const char *path,
                                            struct hw_error *error);

/*
 * open(), not interrupted, closed on exec, never one of the descriptors 0 to 2. While the process
 * or the system has too many, cached descriptors are given up. Returns -1 and sets errno.
 */
int hw_posix_files_descriptor(struct hw_posix_files *files, const char *path, int flags);

/* Open a file with the flags of open(); one to be written is not opened through a link. Errors:
 * HW_IO, HW_NOT_FOUND, HW_NO_MEMORY. */
enum hw_status hw_posix_files_open(struct hw_posix_files *files, const char *path, int flags,
                                   struct hw_posix_file **file, struct hw_error *error);

/* Close a file or a lock. */
void hw_posix_files_close(struct hw_posix_file *file);

/*
 * Make sure that the file has a descriptor, and that it is the last one to be given up. Errors:
 * those of opening; HW_IO if the path means another file by now, or in a process that was forked.
 */
enum hw_status hw_posix_files_use(struct hw_posix_file *file, struct hw_error *error);

/* The calls on a file: posix_file.c. */
extern const struct hw_file_methods hw_posix_file_methods;

/* The same for a lock file: made if missing, with descriptors of its own for it and for the
 * directory that it is in, until it is closed. */
enum hw_status hw_posix_files_open_lock(struct hw_posix_files *files, const char *path,
                                        struct hw_posix_file **file, struct hw_error *error);

/*
 * Before the file `what` loses its name: whoever has it open gets a descriptor to keep. Errors,
 * with nothing pinned: those of opening.
 */
enum hw_status hw_posix_files_pin(struct hw_posix_files *files, const struct stat *what,
                                  struct hw_error *error);

/* Take back hw_posix_files_pin(), for a name that is still there after all. */
void hw_posix_files_unpin(struct hw_posix_files *files, const struct stat *what);

/*
 * Before a rename: find the open files whose paths it will change, `what` being what `from` is, and
 * make their new paths. *moves is a list for hw_posix_files_end_move(), also after an error.
 * Errors: HW_NO_MEMORY.
 */
enum hw_status hw_posix_files_prepare_move(struct hw_posix_files *files, const struct stat *what,
                                           const char *from, const char *to,
                                           struct hw_posix_file **moves, struct hw_error *error);

/* After it: the files in `moves` take their new paths, or drop them. */
void hw_posix_files_end_move(struct hw_posix_file *moves, bool is_done);

#endif /* HW_IO_POSIX_FILES_H */
