/* SPDX-License-Identifier: MIT */
#include "tests/live/nodes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support_test.h"

enum { LIFE_SECONDS = 900, READY_MS = 90000 };

static struct {
    pid_t process; /* 0: it does not run. */
    char ports[3][12];
} nodes[NODES_MAX];
static int node_count;
static char bootstrap[200];
static char guarded[40];

static const char *setting(const char *name)
{
    const char *value = getenv(name);

    if (value == NULL) {
        fprintf(stderr, "%s is not set: tests/live.sh runs this program\n", name);
        exit(2);
    }
    return value;
}

static pid_t run_node(const char *arguments)
{
    char command[4000];
    pid_t process;

    (void)snprintf(command, sizeof command, "exec %s %s >>'%s/nodes.log' 2>&1",
                   setting("HW_LIVE_NODE"), arguments, setting("HW_LIVE_DIR"));
    process = fork();
    if (process == 0) {
        (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    assert_true(process > 0);
    return process;
}

static void plan(int count)
{
    char text[600];
    FILE *file;
    int status = 0;
    pid_t process;

    (void)snprintf(text, sizeof text, "plan '%s' %d", setting("HW_LIVE_DIR"), count);
    process = run_node(text);
    assert_int_equal(waitpid(process, &status, 0), process);
    assert_int_equal(status, 0);
    (void)snprintf(text, sizeof text, "%s/ports", setting("HW_LIVE_DIR"));
    file = fopen(text, "r");
    assert_non_null(file);
    node_count = count;
    bootstrap[0] = '\0';
    for (int i = 0; i < count; i++) {
        assert_int_equal(
            fscanf(file, "%11s %11s %11s", nodes[i].ports[0], nodes[i].ports[1], nodes[i].ports[2]),
            3);
        (void)snprintf(bootstrap + strlen(bootstrap), sizeof bootstrap - strlen(bootstrap),
                       "%s127.0.0.1:%s", i == 0 ? "" : ",", nodes[i].ports[0]);
    }
    (void)fclose(file);
    (void)snprintf(guarded, sizeof guarded, "127.0.0.1:%s", nodes[0].ports[1]);
}

void node_start(int id)
{
    char text[600];

    assert_int_equal(nodes[id - 1].process, 0);
    (void)snprintf(text, sizeof text, "run '%s' %d %d", setting("HW_LIVE_DIR"), id, LIFE_SECONDS);
    nodes[id - 1].process = run_node(text);
}

void node_signal(int id, int signal)
{
    assert_true(nodes[id - 1].process > 0);
    assert_int_equal(kill(nodes[id - 1].process, signal), 0);
    if (signal == SIGKILL || signal == SIGTERM) {
        (void)waitpid(nodes[id - 1].process, NULL, 0);
        nodes[id - 1].process = 0;
    }
}

int node_process(int id)
{
    return nodes[id - 1].process;
}

int node_reap(void)
{
    for (int i = 0; i < node_count; i++) {
        if (nodes[i].process > 0 && waitpid(nodes[i].process, NULL, WNOHANG) > 0) {
            nodes[i].process = 0;
            return i + 1;
        }
    }
    return 0;
}

void nodes_await(int count)
{
    long long start = live_now_ms();
    sqlite3 *db = live_open_alone(":memory:");
    char text[100];

    nodes_connect(db, "k", ", \"live.timeout.ms\":2000");
    (void)snprintf(text, sizeof text, "%d", count);
    while (strcmp(test_sql(db, "SELECT count(*) FROM live_brokers('k')"), text) != 0) {
        if (live_now_ms() - start > READY_MS) {
            fprintf(stderr, "the nodes did not start: nodes.log says why\n");
            nodes_stop();
            exit(1);
        }
        sqlite3_sleep(100);
    }
    test_sql_close(db);
}

void nodes_start(int count)
{
    plan(count);
    for (int id = 1; id <= count; id++) {
        node_start(id);
    }
    nodes_await(count);
}

void nodes_stop(void)
{
    for (int i = 0; i < node_count; i++) {
        if (nodes[i].process > 0) {
            node_signal(i + 1, SIGKILL);
        }
    }
}

const char *nodes_bootstrap(void)
{
    return bootstrap;
}

const char *nodes_guarded(void)
{
    return guarded;
}

void nodes_connect(sqlite3 *db, const char *name, const char *more)
{
    char sql[1000];

    (void)snprintf(sql, sizeof sql, "SELECT live_connect('%s', '{\"bootstrap.servers\":\"%s\"%s}')",
                   name, bootstrap, more);
    expect_sql(db, sql, name);
}

sqlite3 *nodes_open(const char *path, const char *more)
{
    sqlite3 *db = live_open(path);

    nodes_connect(db, "k", more);
    return db;
}
