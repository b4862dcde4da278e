/* SPDX-License-Identifier: MIT */
/*
 * Kafka until 0.10.2: no leader epochs between brokers. A new follower cuts its log to its own high
 * watermark, which is late by one fetch: acknowledged records can be lost, and logs of equal length
 * can differ for ever (R5.19, scenarios S1 and S2).
 */
#include "core/replication/variant_kafka.h"

static enum hw_status hw_truncation_truncate(struct hw_partition *partition,
                                             const struct hw_step *step,
                                             struct hw_replica *follower, struct hw_error *error)
{
    (void)partition, (void)step;
    return hw_replica_truncate_follower(follower, hw_log_high_watermark(follower->log), true,
                                        error);
}

static hw_offset_t hw_truncation_cut(const struct hw_log_outline *follower,
                                     const struct hw_log_outline *leader)
{
    return hw_out_of_range_offset(follower->high_watermark, leader->start, leader->end);
}

const struct hw_variant hw_variant_hw_truncation = {
    .name = "hw-truncation",
    .sends_epochs = false,
    .starts_truncating = true,
    .truncates_when_told = true,
    .high_watermark_ignores_min_isr = true,
    .truncate = hw_truncation_truncate,
    .cut = hw_truncation_cut,
    HW_KAFKA_DECISIONS,
};
