/* SPDX-License-Identifier: MIT */
#include "core/replication/epoch_truncation.h"

#include "core/replication/exchange.h"

enum hw_status hw_epoch_truncation(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_replica *follower, hw_epoch_answer *answer,
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
    refused = hw_replica_offset_for_leader_epoch(leader, HW_EPOCH_NONE, epoch, &end);
    if (answer != NULL) {
        answer(hw_log_epochs(leader->log), epoch, &end);
    }
    return hw_replica_apply_epoch_end(follower, step->now_ms, partition->settings, refused,
                                      HW_EPOCH_NONE, end, error);
}

hw_offset_t hw_epoch_truncation_cut(const struct hw_log_outline *follower,
                                    const struct hw_log_outline *leader, hw_epoch_answer *answer)
{
    struct hw_epoch_cache epochs = follower->epochs; /* Of its entries only the count is changed. */
    hw_offset_t log_end = follower->end;
    bool is_complete = epochs.count == 0;

    if (is_complete) {
        log_end = follower->high_watermark;
    }
    while (!is_complete) {
        hw_epoch_t epoch = hw_epoch_cache_latest_epoch(&epochs);
        struct hw_epoch_end end =
            hw_epoch_cache_end_offset_for(&leader->epochs, epoch, leader->end);

        if (answer != NULL) {
            answer(&leader->epochs, epoch, &end);
        }
        log_end =
            hw_truncation_offset(&epochs, log_end, end, follower->high_watermark, &is_complete);
        (void)hw_epoch_cache_truncate_from_end(&epochs, log_end);
        is_complete = is_complete || epochs.count == 0;
    }
    return hw_out_of_range_offset(log_end, leader->start, leader->end);
}
