/* SPDX-License-Identifier: MIT */
/* The decisions of today's Kafka, as far as its earlier variants share them. */
#ifndef HW_REPLICATION_VARIANT_KAFKA_H
#define HW_REPLICATION_VARIANT_KAFKA_H

#include "core/replication/variant.h"

void hw_kafka_created(struct hw_partition *partition, const struct hw_step *step);
enum hw_status hw_kafka_may_append(struct hw_partition *partition, struct hw_replica *leader,
                                   int32_t acks, hw_epoch_t leader_epoch, struct hw_error *error);
void hw_kafka_appended(struct hw_partition *partition, const struct hw_step *step,
                       struct hw_replica *leader);
enum hw_status hw_kafka_expire(struct hw_partition *partition, const struct hw_step *step,
                               struct hw_error *error);
hw_offset_t hw_kafka_high_watermark(const struct hw_partition *partition,
                                    const struct hw_replica *replica);

#endif /* HW_REPLICATION_VARIANT_KAFKA_H */
