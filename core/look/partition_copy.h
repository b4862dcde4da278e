/* SPDX-License-Identifier: MIT */
/*
 * One of two copies of a partition that lie on disks, by its epochs and its end alone: what files,
 * which inspect/ reads, are to the rules of replication/.
 *
 *     leader-epoch-checkpoint        its epochs...
 *     the last batches               ...those that began later, and the log end
 *     replication-offset-checkpoint  the high watermark, as of the broker's last word
 */
#ifndef HW_LOOK_PARTITION_COPY_H
#define HW_LOOK_PARTITION_COPY_H

#include "core/inspect/partition_diff.h"
#include "core/inspect/partition_summary.h"
#include "core/replication/variant.h"

struct hw_partition_copy {
    const struct hw_kafka_partition *partition; /* NULL: there is none; the rest is zeros. */
    bool has_topic_id;
    struct hw_uuid topic_id;
    struct hw_log_outline outline;
    int64_t bytes_read;                      /* Of logs and indexes. */
    char error[HW_ERROR_MESSAGE_SIZE_BYTES]; /* About a damaged file beside them; "". */
};

/*
 * Read it; release it in any case. Without a checkpoint of epochs all batches tell them, by their
 * headers, and `interrupt` is asked meanwhile. Of one file the others beside it are not looked at.
 * Errors: HW_NO_MEMORY, HW_INTERRUPTED; HW_IO, HW_NOT_FOUND where it cannot be read.
 */
enum hw_status hw_partition_copy_read(struct hw_partition_copy *copy,
                                      const struct hw_allocator *allocator,
                                      const struct hw_kafka_partition *partition,
                                      const struct hw_interrupt *interrupt, struct hw_error *error);
void hw_partition_copy_release(struct hw_partition_copy *copy);

/* Which of the two would be elected, if it were asked for the longest log of the latest epoch: -1 the
 * first, 1 the second, 0: they are equal, or one is not there. */
int hw_partition_copy_ahead(const struct hw_partition_copy *a, const struct hw_partition_copy *b);

/* Up to where both, which are there, have the same leader epochs. */
hw_offset_t hw_partition_copy_epochs_end(const struct hw_partition_copy *a,
                                         const struct hw_partition_copy *b);

/* Where the variant, which has a `cut`, would cut the copy once it follows `leader`, which has just
 * been elected: see struct hw_variant. Errors: HW_NO_MEMORY. */
enum hw_status hw_partition_copy_cut(const struct hw_partition_copy *copy,
                                     const struct hw_partition_copy *leader,
                                     const struct hw_variant *variant, hw_offset_t *offset,
                                     struct hw_error *error);

/* What the two are to each other, in a word: same, start, longer, gaps, diverged; only_a, only_b;
 * other_topic, where their topic ids differ. */
const char *hw_partition_copy_verdict(const struct hw_partition_copy *a,
                                      const struct hw_partition_copy *b,
                                      enum hw_diff_verdict verdict);

#endif /* HW_LOOK_PARTITION_COPY_H */
