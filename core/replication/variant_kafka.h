/* SPDX-License-Identifier: MIT */
/* The decisions of today's Kafka, as far as its earlier variants share them. */
#ifndef HW_REPLICATION_VARIANT_KAFKA_H
#define HW_REPLICATION_VARIANT_KAFKA_H

#include "core/replication/exchange.h"
#include "core/replication/fetch_round.h"
#include "core/replication/variant.h"

void hw_kafka_created(struct hw_partition *partition, const struct hw_step *step);
enum hw_status hw_kafka_may_append(struct hw_partition *partition, struct hw_replica *leader,
                                   int32_t acks, hw_epoch_t leader_epoch, struct hw_error *error);
enum hw_status hw_kafka_entered(struct hw_partition *partition, const struct hw_step *step,
                                struct hw_error *error);
void hw_kafka_appended(struct hw_partition *partition, const struct hw_step *step,
                       struct hw_replica *leader);
enum hw_status hw_kafka_expire(struct hw_partition *partition, const struct hw_step *step,
                               struct hw_error *error);
hw_offset_t hw_kafka_high_watermark(const struct hw_partition *partition,
                                    const struct hw_replica *replica);
bool hw_kafka_waits_for(const struct hw_partition *partition, const struct hw_replica *leader,
                        const struct hw_remote_replica *remote, hw_time_ms_t now_ms);

/* What every variant of Kafka's decides alike; the rest stands in its own table. */
#define HW_KAFKA_DECISIONS                                                                         \
    .has_controller = true, .has_transactions = true, .has_timeouts = true, .default_acks = -1,    \
    .created = hw_kafka_created, .entered = hw_kafka_entered, .may_append = hw_kafka_may_append,   \
    .appended = hw_kafka_appended, .expire = hw_kafka_expire, .fetch_round = hw_fetch_round,       \
    .fetch = hw_exchange_fetch, .refresh_isr = hw_exchange_refresh_isr,                            \
    .next_isr_change = hw_exchange_next_isr_change,                                                \
    .remove_from_isr = hw_exchange_remove_from_isr, .promote = hw_exchange_promote,                \
    .rejoin = hw_exchange_rejoin, .high_watermark = hw_kafka_high_watermark,                       \
    .waits_for = hw_kafka_waits_for

#endif /* HW_REPLICATION_VARIANT_KAFKA_H */
