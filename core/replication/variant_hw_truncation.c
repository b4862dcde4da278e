/* SPDX-License-Identifier: MIT */
/*
 * Kafka until 0.10.2: no leader epochs between brokers. A new follower cuts its log to its own high
 * watermark, which is late by one fetch: acknowledged records can be lost, and logs of equal length
 * can differ for ever (R5.19, scenarios S1 and S2).
 */
#include "core/replication/exchange.h"
#include "core/replication/fetch_round.h"
#include "core/replication/variant_kafka.h"

static enum hw_status hw_truncation_truncate(struct hw_partition *partition,
                                             const struct hw_step *step,
                                             struct hw_replica *follower, struct hw_error *error)
{
    (void)partition, (void)step;
    return hw_replica_truncate_follower(follower, hw_log_high_watermark(follower->log), true,
                                        error);
}

const struct hw_variant hw_variant_hw_truncation = {
    .name = "hw-truncation",
    .summary = "Kafka until 0.10: a new follower cuts its log to its own high watermark",
    .sends_epochs = false,
    .starts_truncating = true,
    .truncates_when_told = true,
    .high_watermark_ignores_min_isr = true,
    .has_controller = true,
    .has_timeouts = true,
    .default_acks = -1,
    .created = hw_kafka_created,
    .may_append = hw_kafka_may_append,
    .appended = hw_kafka_appended,
    .expire = hw_kafka_expire,
    .fetch_round = hw_fetch_round,
    .fetch = hw_exchange_fetch,
    .truncate = hw_truncation_truncate,
    .refresh_isr = hw_exchange_refresh_isr,
    .next_isr_change = hw_exchange_next_isr_change,
    .remove_from_isr = hw_exchange_remove_from_isr,
    .promote = hw_exchange_promote,
    .rejoin = hw_exchange_rejoin,
    .high_watermark = hw_kafka_high_watermark,
};
