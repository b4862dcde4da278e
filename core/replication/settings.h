/* SPDX-License-Identifier: MIT */
/* The configuration values that the protocol needs, by Kafka's names, resolved for one partition.
 */
#ifndef HW_REPLICATION_SETTINGS_H
#define HW_REPLICATION_SETTINGS_H

#include "core/base/types.h"

struct hw_settings {
    int64_t replica_lag_time_max_ms;
    int64_t replica_lag_max_messages; /* minikafka only. */
    int64_t replica_fetch_wait_max_ms;
    int64_t replica_fetch_backoff_ms;
    int32_t replica_fetch_max_bytes;
    int32_t replica_fetch_response_max_bytes;
    int32_t replica_fetch_min_bytes;
    int32_t min_insync_replicas;
    bool is_isr_proposed_by_hand;        /* replication=held: no leader proposes by itself. */
    bool high_watermark_ignores_min_isr; /* Of the protocol variant: before KIP-966. */
    bool unclean_leader_election_enable;
    bool deletable; /* cleanup.policy has "delete". */
};

/* How many in-sync replicas a partition of so many replicas needs: never more than it has (R0.1). */
static inline int32_t hw_settings_effective_min_isr(const struct hw_settings *settings,
                                                    int32_t replica_count)
{
    return HW_MIN(settings->min_insync_replicas, replica_count);
}

#endif /* HW_REPLICATION_SETTINGS_H */
