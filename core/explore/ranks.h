/* SPDX-License-Identifier: MIT */
/* Numbers of which only the order counts: partition and broker epochs. */
#ifndef HW_EXPLORE_RANKS_H
#define HW_EXPLORE_RANKS_H

#include "core/explore/explore_internal.h"

enum { RANKS_MAX = 64 };

struct ranks {
    int64_t values[RANKS_MAX];
    size_t count;
};

uint64_t ranks_of(const struct ranks *ranks, int64_t value);

/* The partition epochs that somebody goes by, and of each broker (by its place) the epochs in which
 * somebody believes it to be. */
void ranks_gather_partition_epochs(const struct explore *explore, struct ranks *ranks);
void ranks_gather_broker_epochs(const struct explore *explore, struct ranks *ranks);

#endif /* HW_EXPLORE_RANKS_H */
