/* SPDX-License-Identifier: MIT */
/*
 * Kafka 2.0 (KIP-279): the answer to a new follower's question names the epoch that it is about, so
 * that the follower goes back, question by question, to the last epoch that both logs have (R5.14,
 * R5.19).
 *
 * Requests do not carry the current leader epoch, since Kafka's did so only from 2.1 on (KIP-320):
 * a follower that has missed elections can still take a leader of a later epoch for its own
 * (scenario S4).
 */
#include "core/replication/epoch_truncation.h"
#include "core/replication/variant_kafka.h"

static enum hw_status kip_279_truncate(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_replica *follower, struct hw_error *error)
{
    return hw_epoch_truncation(partition, step, follower, NULL, error);
}

static hw_offset_t kip_279_cut(const struct hw_log_outline *follower,
                               const struct hw_log_outline *leader)
{
    return hw_epoch_truncation_cut(follower, leader, NULL);
}

const struct hw_variant hw_variant_kip_279 = {
    .name = "kip-279",
    .sends_epochs = false,
    .starts_truncating = true,
    .truncates_when_told = false,
    .high_watermark_ignores_min_isr = true,
    .truncate = kip_279_truncate,
    .cut = kip_279_cut,
    .answer_epoch = hw_replica_offset_for_leader_epoch,
    HW_KAFKA_DECISIONS,
};
