/* SPDX-License-Identifier: MIT */
/* Pairs of runs, their ratios, and the median of those. */
#define _POSIX_C_SOURCE 200809L

#include "tests/bench/support_pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAIRS_DEFAULT = 9, PAIRS_MAX = 99 };

struct cost {
    double busy_s; /* Of this process. */
    double wall_s;
};

struct series {
    double values[PAIRS_MAX];
    int count;
};

void bench_require(bool condition, const char *what, const char *detail)
{
    if (!condition) {
        fprintf(stderr, "%s: %s\n", what, detail);
        exit(1);
    }
}

static int64_t number_from(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL || atoll(text) < 1 ? otherwise : atoll(text);
}

int64_t bench_scaled(int64_t rows)
{
    int64_t scaled = rows * number_from("HW_BENCH_PERCENT", 100) / 100;

    return scaled < 1 ? 1 : scaled;
}

bool bench_is_wanted(const char *name)
{
    const char *only = getenv("HW_BENCH_ONLY");

    return only == NULL || strstr(name, only) != NULL;
}

static double seconds(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static struct cost measure(const struct bench_side *side)
{
    struct cost cost;

    if (side->prepare != NULL) {
        side->prepare(side->context);
    }
    cost.busy_s = -seconds(CLOCK_PROCESS_CPUTIME_ID);
    cost.wall_s = -seconds(CLOCK_MONOTONIC);
    side->run(side->context);
    cost.busy_s += seconds(CLOCK_PROCESS_CPUTIME_ID);
    cost.wall_s += seconds(CLOCK_MONOTONIC);
    return cost;
}

static int compare_numbers(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;

    return (left > right) - (left < right);
}

static void add(struct series *series, double value)
{
    series->values[series->count++] = value;
}

static double median(struct series *series)
{
    qsort(series->values, (size_t)series->count, sizeof series->values[0], compare_numbers);
    return series->values[series->count / 2];
}

void bench_compare(const char *name, double goal, int64_t units, const char *unit,
                   struct bench_side ours, struct bench_side peer)
{
    static struct series busy, wall, ours_ns, peer_ns;
    int64_t pairs = number_from("HW_BENCH_PAIRS", PAIRS_DEFAULT);
    double ratio;

    if (!bench_is_wanted(name)) {
        return;
    }
    busy.count = wall.count = ours_ns.count = peer_ns.count = 0;
    (void)measure(&ours);
    (void)measure(&peer);
    for (int64_t i = 0; i < pairs && i < PAIRS_MAX; i++) {
        struct cost a = measure(&ours);
        struct cost b = measure(&peer);

        add(&busy, b.busy_s / a.busy_s);
        add(&wall, b.wall_s / a.wall_s);
        add(&ours_ns, a.busy_s * 1e9 / (double)units);
        add(&peer_ns, b.busy_s * 1e9 / (double)units);
    }
    ratio = median(&busy);
    printf("%-46s %6.2fx  (%.2f - %.2f)", name, ratio, busy.values[0], busy.values[busy.count - 1]);
    if (goal > 0) {
        printf("  goal %.2f%s", goal, ratio < goal ? " MISSED" : "");
    }
    printf("   ours %.0f ns/%s, peer %.0f   wall %.2fx\n", median(&ours_ns), unit, median(&peer_ns),
           median(&wall));
    (void)fflush(stdout);
}

void bench_count(const char *name, double count, double goal)
{
    if (bench_is_wanted(name)) {
        printf("%-46s %6.3g", name, count);
        if (goal > 0) {
            printf("   goal %.3g%s", goal, count > goal ? " MISSED" : "");
        }
        printf("\n");
    }
}
