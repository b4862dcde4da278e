/* SPDX-License-Identifier: MIT */
#include "core/replication/epoch_truncation.h"

#include "core/replication/exchange.h"

enum hw_status hw_epoch_truncation(
    struct hw_partition *partition, const struct hw_step *step, struct hw_replica *follower,
    enum hw_kafka_error (*answer)(const struct hw_replica *leader, hw_epoch_t current_leader_epoch,
                                  hw_epoch_t epoch, struct hw_epoch_end *end),
    struct hw_error *error)
{
    const struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    hw_epoch_t epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(follower->log));
    struct hw_epoch_end end;
    enum hw_kafka_error refused;

    if (epoch == HW_EPOCH_NONE) {
        return hw_replica_truncate_follower(follower, follower->fetch.fetch_offset, true, error);
    }
    if (leader == NULL) {
        hw_replica_fetch_failed(follower, step->now_ms, partition->settings);
        return HW_OK;
    }
    refused = answer(leader, HW_EPOCH_NONE, epoch, &end);
    return hw_replica_apply_epoch_end(follower, step->now_ms, partition->settings, refused,
                                      HW_EPOCH_NONE, end, error);
}
