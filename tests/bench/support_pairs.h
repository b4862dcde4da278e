/* SPDX-License-Identifier: MIT */
/*
 * Two sides of a benchmark, measured in turn: ours, peer, ours, peer, ... after one warm-up of
 * each. What is printed is the ratio of each pair, since the machine's speed changes between
 * minutes:
 *
 *     insert loop, 100 B      2.04x  (1.93 - 2.11)  goal 1.70   ours 231 ns/row, peer 470 ns/row
 *
 * The ratio says how many times faster we are, by the time that the process kept a processor busy;
 * "wall" behind it is the same by the clock, which on a busy machine or a slow disk says little.
 * HW_BENCH_PAIRS (9) and HW_BENCH_PERCENT (100, of the rows) make a run longer or shorter;
 * HW_BENCH_ONLY runs what has this text in its name.
 */
#ifndef BENCH_SUPPORT_PAIRS_H
#define BENCH_SUPPORT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

struct bench_side {
    void (*prepare)(void *context); /* Before each run, not measured. NULL: nothing. */
    void (*run)(void *context);
    void *context;
};

/* `units` are what one run of each side does, called `unit` in print. `goal` 0: there is none. */
void bench_compare(const char *name, double goal, int64_t units, const char *unit,
                   struct bench_side ours, struct bench_side peer);

/* A fact that was counted, not measured: "fsyncs a commit: 1, goal 1". `goal` 0: there is none.
 */
void bench_count(const char *name, double count, double goal);

/* `rows` by HW_BENCH_PERCENT; at least 1. */
int64_t bench_scaled(int64_t rows);

/* Whether HW_BENCH_ONLY lets something of that name run. */
bool bench_is_wanted(const char *name);

/* Stop the program, in words, unless `condition` holds. */
void bench_require(bool condition, const char *what, const char *detail);

#endif /* BENCH_SUPPORT_PAIRS_H */
