/* SPDX-License-Identifier: MIT */
/*
 * Kafka 0.11 to 1.1 (KIP-101): a new follower asks where its latest leader epoch ends, instead of
 * trusting its own high watermark. The answer is only an offset, so that a follower whose latest
 * epoch the leader never had cannot know how far they agree: after fast changes of the leader logs
 * can still differ (R5.19, scenario S3).
 */
#include "core/replication/epoch_truncation.h"
#include "core/replication/variant_kafka.h"

/* The log end for the leader's latest epoch, else where the first larger one starts; nothing for
 * an epoch above all or below all that it knows. Source: LeaderEpochFileCache.endOffsetFor of 0.11.
 */
static void kip_101_answer(const struct hw_epoch_cache *epochs, hw_epoch_t epoch,
                           struct hw_epoch_end *end)
{
    end->epoch = HW_EPOCH_NONE;
    if (epochs->count > 0 && epoch < epochs->entries[0].epoch) {
        end->end_offset = HW_OFFSET_NONE;
    }
}

static enum hw_kafka_error kip_101_answer_epoch(const struct hw_replica *leader,
                                                hw_epoch_t current_leader_epoch, hw_epoch_t epoch,
                                                struct hw_epoch_end *end)
{
    enum hw_kafka_error refused =
        hw_replica_offset_for_leader_epoch(leader, current_leader_epoch, epoch, end);

    kip_101_answer(hw_log_epochs(leader->log), epoch, end);
    return refused;
}

static enum hw_status kip_101_truncate(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_replica *follower, struct hw_error *error)
{
    return hw_epoch_truncation(partition, step, follower, kip_101_answer, error);
}

static hw_offset_t kip_101_cut(const struct hw_log_outline *follower,
                               const struct hw_log_outline *leader)
{
    return hw_epoch_truncation_cut(follower, leader, kip_101_answer);
}

const struct hw_variant hw_variant_kip_101 = {
    .name = "kip-101",
    .sends_epochs = false,
    .starts_truncating = true,
    .truncates_when_told = false,
    .high_watermark_ignores_min_isr = true,
    .truncate = kip_101_truncate,
    .cut = kip_101_cut,
    .answer_epoch = kip_101_answer_epoch,
    HW_KAFKA_DECISIONS,
};
