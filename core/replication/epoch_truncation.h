/* SPDX-License-Identifier: MIT */
/*
 * How a follower found its place before today's in-fetch check (Kafka 0.11 to 2.6): it asks, before
 * it fetches, where its latest leader epoch ends on the leader, and cuts its log there.
 *
 *     follower: phase Truncating                          leader
 *       OffsetsForLeaderEpoch(latest cached epoch) ---->  gate (R1.2), `answer`
 *       cut by R5.14, ask again or fetch           <----  (epoch, end offset), or an error
 *
 * One question is one poll: a follower that has to ask again does so at its next one (R2.22).
 * Source: AbstractFetcherThread.maybeTruncate of Kafka 0.11 to 2.6 (R5.11 to R5.15).
 */
#ifndef HW_REPLICATION_EPOCH_TRUNCATION_H
#define HW_REPLICATION_EPOCH_TRUNCATION_H

#include "core/replication/variant.h"

/* What a leader of an older variant, whose log has these epochs, makes of today's answer about
 * `epoch`. NULL: it is the same. */
typedef void hw_epoch_answer(const struct hw_epoch_cache *epochs, hw_epoch_t epoch,
                             struct hw_epoch_end *end);

/*
 * Reconcile `follower`, which is in phase Truncating and has a leader. The question
 * names no current leader epoch: that came with KIP-320. A log without epochs is cut to where the
 * follower starts, its high watermark, without asking (R5.12). A question that gets lost, or is
 * refused, leaves the follower as it is, delayed.
 *
 * Errors: HW_NO_MEMORY, HW_IO: as hw_replica_truncate_follower().
 */
enum hw_status hw_epoch_truncation(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_replica *follower, hw_epoch_answer *answer,
                                   struct hw_error *error);

/* For hw_variant.cut: where all those questions lead. */
hw_offset_t hw_epoch_truncation_cut(const struct hw_log_outline *follower,
                                    const struct hw_log_outline *leader, hw_epoch_answer *answer);

#endif /* HW_REPLICATION_EPOCH_TRUNCATION_H */
