/* SPDX-License-Identifier: MIT */
/* What the files of why() share. */
#ifndef HW_LOOK_WHY_INTERNAL_H
#define HW_LOOK_WHY_INTERNAL_H

#include "core/cluster/cluster_internal.h"
#include "core/look/reader.h"

struct why {
    struct hw_cluster *cluster;
    struct hw_partition *partition;
    struct hw_replica *leader;
    hw_offset_t offset;
    struct hw_buffer *text;
    enum hw_status status; /* The first failure; nothing is said after it. */
    struct hw_error *error;
};

/* why_transactions.c: append words. */
void hw_why_say(struct why *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Why a record that is below the high watermark is no row of read_committed: its
 * transaction, or an earlier one, is open or has its marker above the high watermark; or it was
 * aborted. `row` is the leader's, "above_lso", "aborted" or, with other words, just these words.
 */
void hw_why_say_not_committed(struct why *why, const struct hw_row *row);

#endif /* HW_LOOK_WHY_INTERNAL_H */
