/* SPDX-License-Identifier: MIT */
/* Why a record that is below the high watermark is no row of read_committed, for why(). */
#ifndef HW_LOOK_WHY_TRANSACTIONS_H
#define HW_LOOK_WHY_TRANSACTIONS_H

#include "core/look/reader.h"

struct hw_topic;
struct hw_partition;
struct hw_replica;

/*
 * Append that to `text`: its transaction, or an earlier one, is open or has its marker above the
 * high watermark; or it was aborted. `row` is the leader's, "above_lso", "aborted" or, with other
 * words, just these words. Errors: as hw_reader_next().
 */
enum hw_status hw_why_not_committed(struct hw_cluster *cluster, const struct hw_topic *topic,
                                    const struct hw_partition *partition,
                                    const struct hw_replica *leader, const struct hw_row *row,
                                    struct hw_buffer *text, struct hw_error *error);

#endif /* HW_LOOK_WHY_TRANSACTIONS_H */
