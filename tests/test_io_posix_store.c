/* SPDX-License-Identifier: MIT */
/*
 * What is particular to files of the system: descriptors that are shared, calls that are
 * interrupted or do half of the work, and locks between processes.
 *
 * pread(), pwrite() and fdatasync() of this program are the ones below, which misbehave as a kernel
 * may.
 */
#define _XOPEN_SOURCE     700
#define _FILE_OFFSET_BITS 64

#include "core/io/posix_store.h"

#include "tests/support_directory.h"
#include "tests/support_heap.h"
#include "tests/support_store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

/* Misbehaving calls */

static struct {
    bool is_choppy; /* Every other call is interrupted, the rest does 3 bytes at most. */
    bool is_stuck;  /* pwrite() does nothing and says so. */
    int calls;
    int syncs;
    int sync_errno; /* The next fdatasync() fails with it, once. */
} kernel;

/* Returns how many bytes a call may do, or -1 if it is interrupted. */
static ssize_t kernel_size(size_t size)
{
    if (!kernel.is_choppy) {
        return (ssize_t)size;
    }
    if (kernel.calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return (ssize_t)(size < 3 ? size : 3);
}

ssize_t pread(int descriptor, void *bytes, size_t size, off_t position)
{
    ssize_t allowed = kernel_size(size);

    if (allowed < 0 || lseek(descriptor, position, SEEK_SET) < 0) {
        return -1;
    }
    return read(descriptor, bytes, (size_t)allowed);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t position)
{
    ssize_t allowed = kernel.is_stuck ? 0 : kernel_size(size);

    if (allowed < 0 || lseek(descriptor, position, SEEK_SET) < 0) {
        return -1;
    }
    return write(descriptor, bytes, (size_t)allowed);
}

int fdatasync(int descriptor)
{
    (void)descriptor;
    kernel.syncs++;
    if (kernel.sync_errno != 0) {
        errno = kernel.sync_errno;
        kernel.sync_errno = 0;
        return -1;
    }
    return 0;
}

/* Fixture: the current directory is an empty one, the store has two descriptors. */

struct test_posix {
    struct test_heap heap;
    struct hw_store *store;
    char directory[HW_PATH_MAX];
};

static struct hw_file *open_file(struct test_posix *t, const char *path)
{
    struct hw_file *file = NULL;
    struct hw_error error;

    assert_ok(hw_store_open(t->store, path, HW_OPEN_OR_CREATE, &file, &error));
    return file;
}

static void put(struct hw_file *file, const char *text)
{
    struct hw_error error;

    assert_ok(hw_file_write_at(file, 0, text, strlen(text), &error));
}

static enum hw_status read_byte(struct hw_file *file, char expected, struct hw_error *error)
{
    char byte = '\0';
    size_t got;
    enum hw_status status = hw_file_read_at(file, 0, &byte, 1, &got, error);

    if (status == HW_OK) {
        assert_int_equal(byte, expected);
    }
    return status;
}

static int count_descriptors(void)
{
    int count = 0;

    for (int descriptor = 0; descriptor < 256; descriptor++) {
        count += fcntl(descriptor, F_GETFD) >= 0;
    }
    return count;
}

/* What is no file */

TEST(a_pipe_is_refused_and_not_waited_for, struct test_posix *t)
{
    struct hw_file *file;
    struct hw_error error;

    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_status(hw_store_open(t->store, "pipe", HW_OPEN_READ, &file, &error), HW_IO);
}

/* Descriptors */

TEST(no_more_descriptors_are_open_than_allowed, struct test_posix *t)
{
    enum { COUNT = 20 };
    struct hw_file *files[COUNT];
    struct hw_error error;
    int before = count_descriptors();

    for (int i = 0; i < COUNT; i++) {
        char path[3] = {'f', (char)('a' + i), '\0'};

        files[i] = open_file(t, path);
        put(files[i], path + 1);
        assert_true(count_descriptors() <= before + 2);
    }
    for (int i = 0; i < COUNT; i++) {
        assert_ok(read_byte(files[i], (char)('a' + i), &error));
        assert_int_equal(count_descriptors(), before + 2);
    }
    for (int i = 0; i < COUNT; i++) {
        hw_file_close(files[i]);
    }
    assert_int_equal(count_descriptors(), before);
}

/* A file whose name vanishes behind the store's back can be read only while it has a descriptor. */
TEST(the_least_recently_used_descriptor_is_given_up, struct test_posix *t)
{
    struct hw_file *a = open_file(t, "a");
    struct hw_file *b = open_file(t, "b");
    struct hw_file *c;
    struct hw_error error;

    put(a, "a");
    put(b, "b");
    assert_ok(read_byte(a, 'a', &error));
    c = open_file(t, "c");
    assert_int_equal(unlink("a"), 0);
    assert_int_equal(unlink("b"), 0);
    assert_ok(read_byte(a, 'a', &error));
    assert_status(read_byte(b, 'b', &error), HW_NOT_FOUND);
    hw_file_close(a);
    hw_file_close(b);
    hw_file_close(c);
}

TEST(a_file_replaced_by_somebody_else_is_not_taken_for_the_old_one, struct test_posix *t)
{
    struct hw_file *a = open_file(t, "a");
    struct hw_file *b;
    struct hw_file *c;
    struct hw_error error;

    put(a, "a");
    b = open_file(t, "b");
    c = open_file(t, "c");
    write_text(t->store, "impostor", "A");
    assert_int_equal(rename("impostor", "a"), 0);
    assert_status(read_byte(a, 'a', &error), HW_IO);
    assert_non_null(strstr(error.message, "replaced by somebody else"));
    assert_status(hw_file_write_at(a, 0, "x", 1, &error), HW_IO);
    hw_file_close(a);
    hw_file_close(b);
    hw_file_close(c);
    expect_text(t->store, "a", "A");
}

/* Files without a name keep their descriptors even beyond the limit. */
TEST(removed_files_keep_their_descriptors, struct test_posix *t)
{
    struct hw_file *files[4];
    struct hw_error error;

    for (int i = 0; i < 4; i++) {
        char path[2] = {(char)('a' + i), '\0'};

        files[i] = open_file(t, path);
        put(files[i], path);
    }
    for (int i = 0; i < 4; i++) {
        char path[2] = {(char)('a' + i), '\0'};

        assert_ok(hw_store_remove(t->store, path, &error));
    }
    write_text(t->store, "other", "");
    for (int i = 0; i < 4; i++) {
        assert_ok(read_byte(files[i], (char)('a' + i), &error));
        hw_file_close(files[i]);
    }
}

TEST(a_rename_that_fails_leaves_the_descriptors_to_be_shared, struct test_posix *t)
{
    struct hw_file *files[4];
    struct hw_error error;
    int before = count_descriptors();

    assert_ok(hw_store_make_directory(t->store, "directory", &error));
    for (int i = 0; i < 4; i++) {
        char path[2] = {(char)('a' + i), '\0'};

        files[i] = open_file(t, path);
        assert_status(hw_store_rename(t->store, "directory", path, &error), HW_IO);
    }
    assert_int_equal(count_descriptors(), before + 2);
    for (int i = 0; i < 4; i++) {
        hw_file_close(files[i]);
    }
}

/* "d/" names the directory too, and open files below must follow it. */
TEST(a_directory_can_be_renamed_with_a_slash_behind_it, struct test_posix *t)
{
    struct hw_file *file;
    struct hw_file *others[2];
    struct hw_error error;

    assert_ok(hw_store_make_directory(t->store, "d", &error));
    file = open_file(t, "d/a");
    put(file, "a");
    assert_ok(hw_store_rename(t->store, "d/", "e/", &error));
    others[0] = open_file(t, "1");
    others[1] = open_file(t, "2");
    assert_ok(read_byte(file, 'a', &error));
    hw_file_close(others[0]);
    hw_file_close(others[1]);
    hw_file_close(file);
}

TEST(a_process_that_runs_out_of_descriptors_gives_up_cached_ones, struct test_posix *t)
{
    enum { COUNT = 40 };
    struct hw_store *store = NULL;
    struct hw_file *files[COUNT];
    struct hw_name_list names = {.allocator = &t->heap.allocator};
    struct hw_error error;
    struct rlimit before;
    struct rlimit few;

    assert_ok(hw_posix_store_create(&t->heap.allocator, 500, &store, &error));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 24;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < COUNT; i++) {
        char path[32];

        (void)snprintf(path, sizeof path, "file-%02d", i);
        assert_ok(hw_store_open(store, path, HW_OPEN_OR_CREATE, &files[i], &error));
    }
    assert_ok(hw_store_list(store, ".", &names, &error));
    assert_int_equal(names.count, COUNT);
    assert_ok(hw_store_sync_directory(store, ".", &error));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int i = 0; i < COUNT; i++) {
        hw_file_close(files[i]);
    }
    hw_name_list_release(&names);
    hw_store_destroy(store);
}

TEST(descriptors_are_not_inherited_by_other_programs, struct test_posix *t)
{
    bool was_open[256];
    struct hw_file *file;
    struct hw_file *lock = NULL;
    struct hw_error error;
    int opened = 0;

    for (int i = 0; i < 256; i++) {
        was_open[i] = fcntl(i, F_GETFD) >= 0;
    }
    file = open_file(t, "a");
    assert_ok(hw_store_lock(t->store, ".lock", &lock, &error));
    for (int i = 0; i < 256; i++) {
        int flags = fcntl(i, F_GETFD);

        if (flags >= 0 && !was_open[i]) {
            assert_true((flags & FD_CLOEXEC) != 0);
            opened++;
        }
    }
    assert_int_equal(opened, 3); /* The lock's directory is the third. */
    hw_file_close(file);
    hw_file_close(lock);
}

/* In a program without stdin a file must not become descriptor 0. In a child, which exits with the
 * answer. */
TEST(the_standard_descriptors_are_never_used, struct test_posix *t)
{
    int outcome = 0;
    pid_t child = fork();

    if (child == 0) {
        struct hw_store *own = NULL;
        struct hw_file *file = NULL;
        struct hw_error error;
        enum hw_status status = hw_posix_store_create(&t->heap.allocator, 2, &own, &error);
        bool is_free;
        bool is_closed_on_exec;
        int next = fcntl(STDOUT_FILENO, F_DUPFD, STDERR_FILENO + 1); /* The first that is free. */

        (void)close(next);
        (void)close(STDIN_FILENO);
        status =
            status == HW_OK ? hw_store_open(own, "a", HW_OPEN_OR_CREATE, &file, &error) : status;
        is_free = fcntl(STDIN_FILENO, F_GETFD) < 0;
        is_closed_on_exec = fcntl(next, F_GETFD) == FD_CLOEXEC;
        if (status == HW_OK) {
            status = hw_file_write_at(file, 0, "x", 1, &error);
            hw_file_close(file);
        }
        hw_store_destroy(own);
        _exit(status == HW_OK && is_free && is_closed_on_exec ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_true(WIFEXITED(outcome));
    assert_int_equal(WEXITSTATUS(outcome), 7);
    expect_text(t->store, "a", "x");
}

/* Calls that misbehave */

TEST(interrupted_and_short_calls_are_continued, struct test_posix *t)
{
    struct hw_file *file = open_file(t, "a");
    struct hw_error error;
    char bytes[32] = "";
    size_t got = 0;

    kernel.is_choppy = true;
    put(file, "0123456789");
    assert_ok(hw_file_read_at(file, 1, bytes, sizeof bytes, &got, &error));
    assert_int_equal(got, 9);
    assert_string_equal(bytes, "123456789");
    assert_true(kernel.calls > 12);
    hw_file_close(file);
}

TEST(a_write_that_writes_nothing_is_an_error, struct test_posix *t)
{
    struct hw_file *file = open_file(t, "a");
    struct hw_error error;

    kernel.is_stuck = true;
    assert_status(hw_file_write_at(file, 0, "x", 1, &error), HW_IO);
    assert_non_null(strstr(error.message, strerror(ENOSPC)));
    hw_file_close(file);
}

TEST(an_interrupted_sync_is_repeated, struct test_posix *t)
{
    struct hw_file *file = open_file(t, "a");
    struct hw_error error;

    kernel.sync_errno = EINTR;
    assert_ok(hw_file_sync(file, &error));
    assert_int_equal(kernel.syncs, 2);
    hw_file_close(file);
}

/* The system reports once that it lost bytes; whoever asks later must not hear that all is well. */
TEST(a_failed_sync_stays_failed, struct test_posix *t)
{
    struct hw_file *file = open_file(t, "a");
    struct hw_file *others[2];
    struct hw_error error;

    put(file, "a");
    kernel.sync_errno = EIO;
    assert_status(hw_file_sync(file, &error), HW_IO);
    assert_non_null(strstr(error.message, "'a'"));
    assert_non_null(strstr(error.message, strerror(EIO)));
    others[0] = open_file(t, "b");
    others[1] = open_file(t, "c");
    assert_status(hw_file_sync(file, &error), HW_IO);
    assert_int_equal(kernel.syncs, 1);
    assert_ok(hw_file_sync(others[0], &error));
    hw_file_close(others[0]);
    hw_file_close(others[1]);
    hw_file_close(file);
    file = open_file(t, "a");
    assert_ok(hw_file_sync(file, &error));
    hw_file_close(file);
}

TEST(a_full_disk_is_reported_with_the_path, struct test_posix *t)
{
    struct hw_file *file = open_file(t, "a");
    struct hw_error error;
    struct rlimit before;
    struct rlimit small;
    int64_t size_bytes = 0;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 5;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_ok(hw_file_write_at(file, 0, "12345", 5, &error));
    assert_status(hw_file_write_at(file, 3, "4567", 4, &error), HW_IO);
    assert_non_null(strstr(error.message, "cannot write to 'a': "));
    assert_status(hw_file_truncate(file, 6, &error), HW_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_ok(hw_file_size(file, &size_bytes, &error));
    assert_int_equal(size_bytes, 5);
    hw_file_close(file);
}

TEST(a_long_path_does_not_hide_the_reason, struct test_posix *t)
{
    struct hw_file *file = NULL;
    struct hw_error error;
    char path[801];

    for (size_t i = 0; i < 800; i++) {
        path[i] = i % 8 == 7 ? '/' : 'p';
    }
    memcpy(path + 797, "end", 4);
    assert_status(hw_store_open(t->store, path, HW_OPEN_READ, &file, &error), HW_NOT_FOUND);
    assert_non_null(strstr(error.message, "end': "));
    assert_non_null(strstr(error.message, strerror(ENOENT)));
}

/* Locks */

/* A child process that takes the lock, says so, and waits to be ended. */
static pid_t start_lock_owner(struct test_posix *t)
{
    int ends[2];
    char answer = 'n';
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        struct hw_store *own = NULL;
        struct hw_file *lock = NULL;
        struct hw_error error;

        (void)alarm(60); /* Should the test fail, nobody ends this process. */
        answer = hw_posix_store_create(&t->heap.allocator, 2, &own, &error) == HW_OK &&
                         hw_store_lock(own, ".lock", &lock, &error) == HW_OK
                     ? 'y'
                     : 'n';
        (void)!write(ends[1], &answer, 1);
        for (;;) {
            (void)pause();
        }
    }
    (void)close(ends[1]);
    assert_int_equal(read(ends[0], &answer, 1), 1);
    (void)close(ends[0]);
    assert_int_equal(answer, 'y');
    return child;
}

TEST(a_lock_names_its_owner_and_ends_with_it, struct test_posix *t)
{
    pid_t child = start_lock_owner(t);
    struct hw_file *lock = NULL;
    struct hw_error error;
    char expected[64];
    int outcome;

    assert_status(hw_store_lock(t->store, ".lock", &lock, &error), HW_BUSY);
    (void)snprintf(expected, sizeof expected, "'.lock' is locked by process %d", (int)child);
    assert_string_equal(error.message, expected);
    (void)snprintf(expected, sizeof expected, "%d\n", (int)child);
    expect_text(t->store, ".lock", expected);

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_ok(hw_store_lock(t->store, ".lock", &lock, &error));
    (void)snprintf(expected, sizeof expected, "%d\n", (int)getpid());
    expect_text(t->store, ".lock", expected);
    hw_file_close(lock);
}

/* What the owner has forked has the lock, too, and outlives it. */
TEST(a_lock_that_a_dead_owner_left_to_its_child_says_so, struct test_posix *t)
{
    struct hw_file *lock = NULL;
    struct hw_error error;
    char expected[128];
    int outcome;
    pid_t owner;
    int ends[2];
    char answer;

    assert_int_equal(pipe(ends), 0);
    owner = fork();
    if (owner == 0) {
        struct hw_store *own = NULL;

        if (hw_posix_store_create(&t->heap.allocator, 2, &own, &error) == HW_OK &&
            hw_store_lock(own, ".lock", &lock, &error) == HW_OK && fork() == 0) {
            (void)alarm(60);
            (void)!read(ends[0], &answer, 1);
        }
        _exit(0);
    }
    assert_int_equal(waitpid(owner, &outcome, 0), owner);
    assert_status(hw_store_lock(t->store, ".lock", &lock, &error), HW_BUSY);
    (void)snprintf(
        expected, sizeof expected,
        "'.lock' is locked by process %d, which is not here: one that was forked from it "
        "may have the lock",
        (int)owner);
    assert_string_equal(error.message, expected);
    assert_int_equal(write(ends[1], "e", 1), 1);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

TEST(a_lock_of_an_owner_that_wrote_nothing_yet_is_busy, struct test_posix *t)
{
    struct hw_file *lock = NULL;
    struct hw_file *second = NULL;
    struct hw_error error;

    assert_ok(hw_store_lock(t->store, ".lock", &lock, &error));
    write_text(t->store, ".lock", "not a number");
    assert_status(hw_store_lock(t->store, ".lock", &second, &error), HW_BUSY);
    assert_string_equal(error.message, "'.lock' is locked by process (not known yet)");
    hw_file_close(lock);
}

/* A longer process id of an earlier owner must not shine through. */
TEST(a_stale_lock_file_is_overwritten, struct test_posix *t)
{
    struct hw_file *lock = NULL;
    struct hw_error error;
    char expected[32];

    write_text(t->store, ".lock", "99999999999999\n");
    assert_ok(hw_store_lock(t->store, ".lock", &lock, &error));
    (void)snprintf(expected, sizeof expected, "%d\n", (int)getpid());
    expect_text(t->store, ".lock", expected);
    hw_file_close(lock);
}

/* Case: F-29. Whoever deletes the file, and whatever is made in its place. */
TEST(a_lock_outlives_its_file, struct test_posix *t)
{
    pid_t child = start_lock_owner(t);
    struct hw_file *lock = NULL;
    struct hw_error error;
    int outcome;

    assert_int_equal(unlink(".lock"), 0);
    assert_status(hw_store_lock(t->store, ".lock", &lock, &error), HW_BUSY);
    write_text(t->store, ".lock", "1");
    assert_status(hw_store_lock(t->store, ".lock", &lock, &error), HW_BUSY);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_ok(hw_store_lock(t->store, ".lock", &lock, &error));
    hw_file_close(lock);
}

/* What a process that was forked from the owner gets; 0: all as it should be. */
static int use_inherited(const struct test_posix *t, struct hw_file *file)
{
    struct hw_file *other = NULL;
    struct hw_error error;
    char byte;
    size_t got;

    return hw_file_write_at(file, 0, "theirs", 6, &error) != HW_IO                              ? 1
           : strstr(error.message, "from which this one was forked: open the database") == NULL ? 2
           : hw_file_read_at(file, 0, &byte, 1, &got, &error) != HW_IO                          ? 3
           : hw_file_truncate(file, 0, &error) != HW_IO                                         ? 4
           : hw_store_open(t->store, "a", HW_OPEN_TRUNCATE, &other, &error) != HW_IO            ? 5
           : hw_store_rename(t->store, "a", "b", &error) != HW_IO                               ? 6
           : hw_store_remove(t->store, "a", &error) != HW_IO                                    ? 7
           : hw_store_make_directory(t->store, "d", &error) != HW_IO                            ? 8
           : hw_store_lock(t->store, ".lock", &other, &error) != HW_IO                          ? 9
                                                                                                : 0;
}

/* Case: F-29. What a process knows of its files is no use to one that is forked from it. */
TEST(a_forked_process_has_no_part_in_the_files, struct test_posix *t)
{
    struct hw_store *second = NULL;
    struct hw_file *lock = NULL;
    struct hw_file *again = NULL;
    struct hw_file *file = NULL;
    struct hw_error error;
    int ends[2];
    int outcome;
    char byte;
    pid_t child;

    assert_ok(hw_store_lock(t->store, ".lock", &lock, &error));
    write_text(t->store, "a", "ours");
    assert_ok(hw_store_open(t->store, "a", HW_OPEN_EXISTING, &file, &error));
    child = fork();
    if (child == 0) {
        outcome = use_inherited(t, file);
        hw_file_close(file);
        hw_file_close(lock);
        hw_store_destroy(t->store);
        _exit(outcome);
    }
    assert_int_equal(waitpid(child, &outcome, 0), child);
    assert_int_equal(WEXITSTATUS(outcome), 0);
    hw_file_close(file);
    expect_text(t->store, "a", "ours");

    /* The lock is still there, and goes with its owner though another process has it open. */
    assert_ok(hw_posix_store_create(&t->heap.allocator, 2, &second, &error));
    assert_status(hw_store_lock(second, ".lock", &again, &error), HW_BUSY);
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        (void)close(ends[1]);
        _exit((int)read(ends[0], &byte, 1));
    }
    hw_file_close(lock);
    assert_ok(hw_store_lock(second, ".lock", &again, &error));
    hw_file_close(again);
    hw_store_destroy(second);
    (void)close(ends[1]);
    assert_int_equal(waitpid(child, &outcome, 0), child);
    (void)close(ends[0]);
}

/* Case: F-27. What a link leads to is neither written nor emptied. */
TEST(nothing_is_written_through_a_link, struct test_posix *t)
{
    struct hw_file *file = NULL;
    struct hw_error error;

    write_text(t->store, "foreign", "theirs");
    assert_int_equal(symlink("foreign", "a"), 0);
    assert_status(hw_store_open(t->store, "a", HW_OPEN_EXISTING, &file, &error), HW_IO);
    assert_string_equal(error.message, "cannot open 'a': it is a symbolic link, and nothing is "
                                       "written through one, nor read through a circle of them");
    assert_status(hw_store_open(t->store, "a", HW_OPEN_OR_CREATE, &file, &error), HW_IO);
    assert_status(hw_store_lock(t->store, "a", &file, &error), HW_IO);
    assert_int_equal(symlink("foreign", "b.tmp"), 0);
    assert_ok(hw_store_write_atomically(t->store, "b", "ours", 4, &error));
    expect_text(t->store, "b", "ours");
    assert_int_equal(symlink("nothing", "c"), 0);
    assert_ok(hw_store_open(t->store, "c", HW_OPEN_TRUNCATE, &file, &error));
    put(file, "c");
    hw_file_close(file);
    assert_status(hw_store_open(t->store, "nothing", HW_OPEN_READ, &file, &error), HW_NOT_FOUND);
    assert_ok(hw_store_write_atomically(t->store, "a", "ours", 4, &error));
    expect_text(t->store, "a", "ours");
    expect_text(t->store, "foreign", "theirs");
}

static int set_up(void **state)
{
    static struct test_posix t;
    struct hw_error error;

    memset(&kernel, 0, sizeof kernel);
    test_heap_init(&t.heap, -1);
    test_directory_make(t.directory);
    *state = &t;
    return test_directory_enter(t.directory) != 0 ||
                   hw_posix_store_create(&t.heap.allocator, 2, &t.store, &error) != HW_OK
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    struct test_posix *t = *state;

    hw_store_destroy(t->store);
    test_directory_remove(t->directory);
    return t->heap.bytes_in_use == 0 ? 0 : -1;
}

int main(void)
{
    return test_run(set_up, tear_down);
}
