/* SPDX-License-Identifier: MIT */
/* What explorations of a cluster (core/explore) have come to, for people to look at. */
#ifndef HW_CLUSTER_EXPLORATIONS_H
#define HW_CLUSTER_EXPLORATIONS_H

#include "core/base/memory.h"
#include "core/base/types.h"

struct hw_cluster;
struct hw_position;

struct hw_exploration_row {
    int64_t id;          /* From 1 on; set by hw_cluster_note_exploration(). */
    char *options;       /* As they were given. */
    const char *verdict; /* violated, exhausted, stopped; static. */
    const char *broken;  /* The promise, or what it was stopped by; NULL: neither. Static. */
    int64_t states;
    int64_t transitions;
    int64_t depth;
    int64_t milliseconds;
    int64_t memory_bytes;
    char *actions; /* JSON: how often each happened, and what was witnessed. */
};

/* So many are kept, since each snapshot has them too; the oldest one goes for the next. */
enum { HW_EXPLORATIONS_KEPT = 32 };

struct hw_exploration_rows {
    struct hw_exploration_row *rows; /* By id. */
    size_t count;
    size_t capacity;
    int64_t noted; /* So many ever. */
};

/* Note one, with copies of these texts. Errors: HW_NO_MEMORY. */
enum hw_status hw_cluster_note_exploration(struct hw_cluster *cluster,
                                           const struct hw_exploration_row *row,
                                           const char *options, const char *actions,
                                           struct hw_error *error);
void hw_exploration_rows_release(struct hw_exploration_rows *rows,
                                 const struct hw_allocator *allocator);

/* The next one, borrowed; false behind the last. */
bool hw_cluster_next_exploration(const struct hw_cluster *cluster, struct hw_position *position,
                                 const struct hw_exploration_row **row);

#endif /* HW_CLUSTER_EXPLORATIONS_H */
