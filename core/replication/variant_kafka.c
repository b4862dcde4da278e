/* SPDX-License-Identifier: MIT */
/* Today's Kafka: R1 to R10. Divergence is found in the fetch, followers cut to the leader's epochs.
 */
#include "core/replication/variant_kafka.h"

#include <inttypes.h>

void hw_kafka_created(struct hw_partition *partition, const struct hw_step *step)
{
    (void)partition, (void)step; /* The high watermark starts at the log start: nothing to set. */
}

enum hw_status hw_kafka_may_append(struct hw_partition *partition, struct hw_replica *leader,
                                   int32_t acks, hw_epoch_t leader_epoch, struct hw_error *error)
{
    enum hw_kafka_error refused = hw_replica_check_epoch(leader, leader_epoch, false);

    if (refused != HW_KAFKA_NONE) {
        return hw_error_refuse(error, refused,
                               "the produce names leader epoch %" PRId32 ", %s is at %" PRId32,
                               leader_epoch, partition->name, leader->leader_epoch);
    }
    return hw_replica_may_append(leader, partition->settings, acks, error);
}

void hw_kafka_appended(struct hw_partition *partition, const struct hw_step *step,
                       struct hw_replica *leader)
{
    /* With nobody to wait for, the record is committed at once (R1.28). */
    (void)hw_replica_maybe_increment_high_watermark(leader, step->now_ms, partition->settings);
    hw_waiting_check(leader, step->now_ms, partition->settings);
}

enum hw_status hw_kafka_expire(struct hw_partition *partition, const struct hw_step *step,
                               struct hw_error *error)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_waiting_check(partition->replicas[i], step->now_ms, partition->settings);
    }
    return hw_fetch_round_expire(partition, step, error);
}

/* A log without epochs has nothing to compare with the leader's: cut to where the follower starts,
 * its high watermark (R5.12). */
static enum hw_status kafka_truncate(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_replica *follower, struct hw_error *error)
{
    (void)partition, (void)step;
    return hw_replica_truncate_follower(follower, follower->fetch.fetch_offset, true, error);
}

/* The follower fetches behind its last record, and cuts as often as the leader says that their logs
 * diverge (R5.10). */
static hw_offset_t kafka_cut(const struct hw_log_outline *follower,
                             const struct hw_log_outline *leader)
{
    struct hw_epoch_cache epochs = follower->epochs; /* Of its entries only the count is changed. */
    hw_offset_t log_end = epochs.count == 0 ? follower->high_watermark : follower->end;

    while (epochs.count > 0) {
        struct hw_epoch_end diverging = {.epoch = HW_EPOCH_NONE, .end_offset = HW_OFFSET_NONE};
        bool is_complete;

        if (hw_fetch_compare_epochs(&leader->epochs, leader->start, leader->end, log_end,
                                    hw_epoch_cache_latest_epoch(&epochs),
                                    &diverging) != HW_KAFKA_NONE ||
            diverging.end_offset == HW_OFFSET_NONE) {
            break;
        }
        log_end = hw_truncation_offset(&epochs, log_end, diverging, log_end, &is_complete);
        (void)hw_epoch_cache_truncate_from_end(&epochs, log_end);
    }
    return hw_out_of_range_offset(log_end, leader->start, leader->end);
}

hw_offset_t hw_kafka_high_watermark(const struct hw_partition *partition,
                                    const struct hw_replica *replica)
{
    (void)partition;
    return hw_log_high_watermark(replica->log);
}

bool hw_kafka_waits_for(const struct hw_partition *partition, const struct hw_replica *leader,
                        const struct hw_remote_replica *remote, hw_time_ms_t now_ms)
{
    return hw_replica_waits_for(leader, remote, now_ms, partition->settings);
}

const struct hw_variant hw_variant_kafka = {
    .name = "kafka",
    .sends_epochs = true,
    .starts_truncating = false,
    .truncates_when_told = false,
    .high_watermark_ignores_min_isr = false,
    .has_elr = true,
    .truncate = kafka_truncate,
    .cut = kafka_cut,
    HW_KAFKA_DECISIONS,
};
