/* SPDX-License-Identifier: MIT */
/*
 * Real Kafka nodes on the loopback interface, children of this program: they are started, stopped in
 * mid-air and killed by it, and halt by themselves when it has gone.
 *
 * tests/live.sh says how: HW_LIVE_NODE is the command of tests/interop/java/Node.java, HW_LIVE_DIR an
 * empty directory.
 */
#ifndef LIVE_NODES_H
#define LIVE_NODES_H

#include "tests/support_live.h"

enum { NODES_MAX = 3 };

/* Start so many and wait until all of them answer. Stops the program if they do not within a minute. */
void nodes_start(int count);
void nodes_stop(void);

/* Start a node that was killed; wait for it with nodes_await(). */
void node_start(int id);
/* SIGKILL and SIGTERM end it; SIGSTOP and SIGCONT. */
void node_signal(int id, int signal);

int node_process(int id);
/* Which node somebody else has killed; 0: none. */
int node_reap(void);

/* Until so many brokers are there. */
void nodes_await(int count);

/* "127.0.0.1:port,..."; and the listener of the first node that takes a password. */
const char *nodes_bootstrap(void);
const char *nodes_guarded(void);

/* A database with both libraries and live_connect('k', ...) with more properties. */
sqlite3 *nodes_open(const char *path, const char *more);
void nodes_connect(sqlite3 *db, const char *name, const char *more);

#endif /* LIVE_NODES_H */
