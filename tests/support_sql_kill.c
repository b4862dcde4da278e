/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE

#include "tests/support_sql_kill.h"

#include "tests/support_sql.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

/* What the child does. It must not outlive a test that has failed. */
static void run(const char *path, const char *sql)
{
    sqlite3 *db = test_sql_open(path);

    (void)test_sql(db, sql);
    test_sql_close(db);
}

static bool was_killed(int status)
{
    assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status);
}

bool test_sql_kill_at(const char *path, const char *sql, long stop)
{
    pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0) {
            run(path, sql);
        }
        _exit(0);
    }
    for (long stops = 0; waitpid(child, &status, 0) == child && WIFSTOPPED(status); stops++) {
        if (stops == stop) {
            assert_int_equal(kill(child, SIGKILL), 0);
        } else {
            assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
        }
    }
    return was_killed(status);
}

/* The system call before which a child has stopped; number -1: it stands behind one. */
struct call {
    int64_t number;
    uint64_t argument; /* The first. */
};

/* Of Linux's struct ptrace_syscall_info, whose names differ between C libraries. */
enum {
    SYSCALL_INFO_ENTRY = 1,
    SYSCALL_INFO_SIZE = 88,
    SYSCALL_INFO_NUMBER_AT = 24,
    SYSCALL_INFO_ARGUMENT_AT = 32
};

static struct call find_call(pid_t child)
{
    const int request = 0x420e; /* PTRACE_GET_SYSCALL_INFO */
    uint8_t info[SYSCALL_INFO_SIZE] = {0};
    struct call call;

    /* NOLINTNEXTLINE(performance-no-int-to-ptr): that is how a size is given. */
    if (ptrace(request, child, (void *)sizeof info, info) <= 0) {
        fail_msg("PTRACE_GET_SYSCALL_INFO does not work");
    }
    memcpy(&call.number, info + SYSCALL_INFO_NUMBER_AT, sizeof call.number);
    memcpy(&call.argument, info + SYSCALL_INFO_ARGUMENT_AT, sizeof call.argument);
    call.number = info[0] == SYSCALL_INFO_ENTRY ? call.number : -1;
    return call;
}

static void tell_sync(pid_t child, const struct call *call, const struct test_sql_trace *trace)
{
    char link[64];
    char path[4200];
    ssize_t size;

    (void)snprintf(link, sizeof link, "/proc/%ld/fd/%llu", (long)child,
                   (unsigned long long)call->argument);
    size = readlink(link, path, sizeof path - 1);
    assert_true(size > 0);
    path[size] = '\0';
    trace->sync(trace->context, path);
}

static bool may_change_a_file(int64_t number)
{
    static const long numbers[] = {
        SYS_write,     SYS_pwrite64, SYS_pwritev, SYS_ftruncate, SYS_fallocate,
        SYS_openat,    SYS_unlinkat, SYS_mkdirat, SYS_renameat2,
#ifdef SYS_open
        SYS_open,      SYS_unlink,   SYS_mkdir,   SYS_rename,    SYS_renameat,
#endif
        SYS_exit_group};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (numbers[i] == number) {
            return true;
        }
    }
    return false;
}

void test_sql_trace(const char *path, const char *sql, const struct test_sql_trace *trace)
{
    pid_t child = fork();
    int status = 0;
    long visits = 0;

    assert_true(child >= 0);
    if (child == 0) {
        sqlite3 *db = test_sql_open(path);

        (void)test_sql(db, "SELECT count(*) FROM hw_topics");
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0) {
            (void)test_sql(db, sql);
            test_sql_close(db);
        }
        _exit(0);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        if (WSTOPSIG(status) == SIGSTOP) { /* Its own, with which it begins. */
            assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD), 0);
        } else {
            struct call call = find_call(child);

            if (may_change_a_file(call.number)) {
                trace->visit(trace->context, visits++);
            }
            if (trace->sync != NULL && (call.number == SYS_fsync || call.number == SYS_fdatasync)) {
                tell_sync(child, &call, trace);
            }
        }
        assert_int_equal(ptrace(PTRACE_SYSCALL, child, NULL, NULL), 0);
    }
    assert_false(was_killed(status));
}

bool test_sql_kill_after(const char *path, const char *sql, long microseconds)
{
    pid_t child = fork();
    int status = 0;

    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(60);
        run(path, sql);
        _exit(0);
    }
    (void)usleep((useconds_t)microseconds);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return was_killed(status);
}
