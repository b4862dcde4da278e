/* SPDX-License-Identifier: MIT */
/* Invariants of everything. Only reads; for tests, and for users who set check.invariants. */
#include "core/base/assert.h"
#include "core/cluster/cluster_internal.h"

void hw_cluster_check(const struct hw_cluster *cluster)
{
    for (size_t i = 0; i < cluster->broker_count; i++) {
        HW_ASSERT(HW_IMPLIES(i > 0, cluster->brokers[i - 1]->id < cluster->brokers[i]->id));
    }
    hw_coordinator_check(&cluster->coordinator);
    for (size_t t = 0; t < cluster->topic_count; t++) {
        const struct hw_topic *topic = cluster->topics[t];

        for (int32_t p = 0; p < topic->partition_count; p++) {
            const struct hw_partition *partition = &topic->partitions[p];

            hw_partition_check(partition);
            HW_ASSERT(partition->variant == cluster->variant);
            HW_ASSERT(!partition->is_record_dirty);
        }
    }
}
