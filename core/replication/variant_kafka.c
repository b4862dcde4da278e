/* SPDX-License-Identifier: MIT */
/*
 * Kafka, as it is today and as it was: the variants differ in how a follower finds the place where
 * its log and its leader's part (R5.10 to R5.19), and decide all else alike.
 */
#include "core/base/broker_list.h"
#include "core/replication/exchange.h"
#include "core/replication/fetch_round.h"

#include <inttypes.h>

/* ----------------------------------------------------------------------- what all decide alike */

static void kafka_created(struct hw_partition *partition, const struct hw_step *step)
{
    (void)partition, (void)step; /* The high watermark starts at the log start: nothing to set. */
}

static enum hw_status kafka_may_append(struct hw_partition *partition, struct hw_replica *leader,
                                       int32_t acks, hw_epoch_t leader_epoch,
                                       struct hw_error *error)
{
    enum hw_kafka_error refused = hw_replica_check_epoch(leader, leader_epoch, false);

    if (refused != HW_KAFKA_NONE) {
        return hw_error_refuse(error, refused,
                               "the produce names leader epoch %" PRId32 ", %s is at %" PRId32,
                               leader_epoch, partition->name, leader->leader_epoch);
    }
    return hw_replica_may_append(leader, acks, error);
}

static void kafka_appended(struct hw_partition *partition, const struct hw_step *step,
                           struct hw_replica *leader)
{
    (void)partition;
    /* With nobody to wait for, the record is committed at once (R1.28). */
    (void)hw_replica_maybe_increment_high_watermark(leader, step->now_ms);
    hw_waiting_check(leader, step->now_ms);
}

static enum hw_status kafka_expire(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_error *error)
{
    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_waiting_check(partition->replicas[i], step->now_ms);
    }
    return hw_fetch_round_expire(partition, step, error);
}

static hw_offset_t kafka_high_watermark(const struct hw_partition *partition,
                                        const struct hw_replica *replica)
{
    (void)partition;
    return hw_log_high_watermark(replica->log);
}

static bool kafka_waits_for(const struct hw_partition *partition, const struct hw_replica *leader,
                            const struct hw_remote_replica *remote, hw_time_ms_t now_ms)
{
    (void)partition;
    return hw_replica_waits_for(leader, remote, now_ms);
}

static enum hw_status kafka_refresh_isr(struct hw_partition *partition, const struct hw_step *step,
                                        struct hw_error *error)
{
    enum hw_status status = hw_exchange_tell_all(partition, step, error);

    /* Every replica that takes itself for the leader checks, a deposed one that has not heard of it
     * too. */
    for (int32_t i = 0; status == HW_OK && i < partition->replica_count; i++) {
        struct hw_replica *leader = partition->replicas[i];

        if (leader->role == HW_ROLE_LEADER) {
            (void)hw_replica_maybe_shrink_isr(leader, step->now_ms);
            status = hw_exchange_proposals(partition, step, leader, error);
        }
    }
    return status;
}

static hw_time_ms_t kafka_next_isr_change(const struct hw_partition *partition)
{
    hw_time_ms_t earliest = INT64_MAX;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_time_ms_t due = hw_replica_next_shrink(partition->replicas[i]);

        earliest = HW_MIN(due, earliest);
    }
    return earliest;
}

static enum hw_status kafka_remove_from_isr(struct hw_partition *partition,
                                            const struct hw_step *step, hw_broker_id_t id,
                                            struct hw_error *error)
{
    if (!hw_controller_remove_from_isr(step->controller, partition->settings, id,
                                       &partition->record)) {
        return HW_OK;
    }
    partition->is_record_dirty = true;
    return hw_exchange_tell_all(partition, step, error);
}

/* Brokers of the replica list that do not run. */
static struct hw_broker_list kafka_dead_brokers(const struct hw_partition *partition)
{
    struct hw_broker_list dead = {0};

    for (int32_t i = 0; i < partition->record.replicas.count; i++) {
        if (hw_partition_find(partition, partition->record.replicas.ids[i]) == NULL) {
            hw_broker_list_add(&dead, partition->record.replicas.ids[i]);
        }
    }
    return dead;
}

static enum hw_status kafka_promote(struct hw_partition *partition, const struct hw_step *step,
                                    hw_broker_id_t id, bool unclean, struct hw_error *error)
{
    struct hw_broker_list dead = kafka_dead_brokers(partition);
    enum hw_status status =
        hw_controller_promote(step->controller, partition->settings, partition->name, id, &dead,
                              unclean, &partition->record, error);

    if (status != HW_OK) {
        return status;
    }
    partition->is_record_dirty = true;
    return hw_exchange_tell_all(partition, step, error);
}

static enum hw_status kafka_rejoin(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_replica *follower, struct hw_error *error)
{
    enum hw_status status = hw_exchange_tell_all(partition, step, error);
    int64_t records;
    hw_offset_t before;
    hw_epoch_t epoch;

    /* Also one that had given up asks again. */
    if (follower->fetch.phase == HW_PHASE_FAILED) {
        hw_replica_start_fetching(follower, partition->variant->starts_truncating);
    }
    /* Fetch until an answer cuts nothing: each cut lowers the latest epoch, so this ends. */
    do {
        before = hw_log_end(follower->log);
        epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(follower->log));
        if (status == HW_OK) {
            status = hw_exchange_fetch(partition, step, follower, &records, error);
        }
    } while (status == HW_OK &&
             (hw_log_end(follower->log) < before ||
              hw_epoch_cache_latest_epoch(hw_log_epochs(follower->log)) < epoch));
    return status;
}

/* The running members of the ISR without those whose log ends below the leader's high watermark:
 * the rule that let them in, or cut their log, is not in force any more. */
static struct hw_broker_list kafka_isr_of_today(const struct hw_partition *partition)
{
    const struct hw_replica *leader = hw_partition_leader(partition);
    struct hw_broker_list isr = partition->record.isr;

    for (int32_t i = 0; leader != NULL && i < partition->replica_count; i++) {
        const struct hw_replica *replica = partition->replicas[i];

        if (replica->leader_epoch == leader->leader_epoch &&
            hw_log_end(replica->log) < hw_log_high_watermark(leader->log)) {
            (void)hw_broker_list_remove(&isr, replica->broker);
        }
    }
    return isr;
}

static enum hw_status kafka_entered(struct hw_partition *partition, const struct hw_step *step,
                                    struct hw_error *error)
{
    enum hw_status status = hw_variant_align(partition, error);
    struct hw_broker_list isr = kafka_isr_of_today(partition);
    struct hw_error later;
    enum hw_status told;

    partition->model = (struct hw_model){0}; /* If that comes back it begins anew. */
    if (!hw_controller_protocol_changed(step->controller, partition->settings, &isr,
                                        &partition->record)) {
        return status;
    }
    partition->is_record_dirty = true;
    told = hw_exchange_tell_all(partition, step, status == HW_OK ? error : &later);
    return status == HW_OK ? told : status;
}

/* The rest stands in the table of each. */
#define KAFKA_DECISIONS                                                                            \
    .has_controller = true, .has_transactions = true, .has_timeouts = true, .default_acks = -1,    \
    .created = kafka_created, .entered = kafka_entered, .may_append = kafka_may_append,            \
    .appended = kafka_appended, .expire = kafka_expire, .fetch_round = hw_fetch_round,             \
    .fetch = hw_exchange_fetch, .refresh_isr = kafka_refresh_isr,                                  \
    .next_isr_change = kafka_next_isr_change, .remove_from_isr = kafka_remove_from_isr,            \
    .promote = kafka_promote, .rejoin = kafka_rejoin, .high_watermark = kafka_high_watermark,      \
    .waits_for = kafka_waits_for

/* -------------------------------------------------------------------------------- kafka: today */

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

const struct hw_variant hw_variant_kafka = {
    .name = "kafka",
    .sends_epochs = true,
    .has_elr = true,
    .truncate = kafka_truncate,
    .cut = kafka_cut,
    KAFKA_DECISIONS,
};

/* -------------------------------------------------------------------- hw-truncation: until 0.10.2
 *
 * No leader epochs between brokers. A new follower cuts its log to its own high watermark, which is
 * late by one fetch: acknowledged records can be lost, and logs of equal length can differ for ever
 * (R5.19, scenarios S1 and S2).
 */

static enum hw_status before_epochs_truncate(struct hw_partition *partition,
                                             const struct hw_step *step,
                                             struct hw_replica *follower, struct hw_error *error)
{
    (void)partition, (void)step;
    return hw_replica_truncate_follower(follower, hw_log_high_watermark(follower->log), true,
                                        error);
}

static hw_offset_t before_epochs_cut(const struct hw_log_outline *follower,
                                     const struct hw_log_outline *leader)
{
    return hw_out_of_range_offset(follower->high_watermark, leader->start, leader->end);
}

const struct hw_variant hw_variant_hw_truncation = {
    .name = "hw-truncation",
    .starts_truncating = true,
    .truncates_when_told = true,
    .high_watermark_ignores_min_isr = true,
    .truncate = before_epochs_truncate,
    .cut = before_epochs_cut,
    KAFKA_DECISIONS,
};

/* --------------------------------------------------------------- kip-101, kip-279: 0.11 to 2.6
 *
 * A follower asks, before it fetches, where its latest leader epoch ends on the leader, and cuts its
 * log there.
 *
 *     follower: phase Truncating                          leader
 *       OffsetsForLeaderEpoch(latest cached epoch) ---->  gate (R1.2), answer_epoch()
 *       cut by R5.14, ask again or fetch           <----  (epoch, end offset), or an error
 *
 * One question is one poll: a follower that has to ask again does so at its next one (R2.22). The
 * question names no current leader epoch: that came with KIP-320. A log without epochs is cut to
 * where the follower starts, its high watermark, without asking (R5.12). A question that gets lost,
 * or is refused, leaves the follower as it is, delayed.
 * Source: AbstractFetcherThread.maybeTruncate of Kafka 0.11 to 2.6 (R5.11 to R5.15).
 */

static enum hw_status epochs_truncate(struct hw_partition *partition, const struct hw_step *step,
                                      struct hw_replica *follower, struct hw_error *error)
{
    const struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    hw_epoch_t epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(follower->log));
    struct hw_epoch_end end;
    enum hw_kafka_error refused;

    if (epoch == HW_EPOCH_NONE) {
        return hw_replica_truncate_follower(follower, follower->fetch.fetch_offset, true, error);
    }
    if (leader == NULL) {
        hw_replica_fetch_failed(follower, step->now_ms);
        return HW_OK;
    }
    refused = partition->variant->answer_epoch(leader, HW_EPOCH_NONE, epoch, &end);
    return hw_replica_apply_epoch_end(follower, step->now_ms, refused, HW_EPOCH_NONE, end, error);
}

/* What a leader of an older variant, whose log has these epochs, makes of today's answer about
 * `epoch`. NULL: it is the same. */
typedef void epochs_answer(const struct hw_epoch_cache *epochs, hw_epoch_t epoch,
                           struct hw_epoch_end *end);

/* Where all those questions lead. */
static hw_offset_t epochs_cut(const struct hw_log_outline *follower,
                              const struct hw_log_outline *leader, epochs_answer *answer)
{
    struct hw_epoch_cache epochs = follower->epochs; /* Of its entries only the count is changed. */
    bool is_complete = epochs.count == 0;
    hw_offset_t log_end = is_complete ? follower->high_watermark : follower->end;

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

/*
 * Kafka 0.11 to 1.1 (KIP-101): the answer is only an offset, so that a follower whose latest epoch
 * the leader never had cannot know how far they agree: after fast changes of the leader logs can
 * still differ (R5.19, scenario S3).
 *
 * It is the log end for the leader's latest epoch, else where the first larger one starts; nothing
 * for an epoch above all or below all that it knows. Source: LeaderEpochFileCache.endOffsetFor of
 * 0.11.
 */
static void kip_101_answer(const struct hw_epoch_cache *epochs, hw_epoch_t epoch,
                           struct hw_epoch_end *end)
{
    end->epoch = HW_EPOCH_NONE;
    if (epochs->count > 0 && epoch < epochs->entries[0].epoch) {
        end->end_offset = HW_OFFSET_NONE;
    }
}

static enum hw_kafka_error kip_101_answer_epoch(const struct hw_replica *leader,
                                                hw_epoch_t current_leader_epoch, hw_epoch_t epoch,
                                                struct hw_epoch_end *end)
{
    enum hw_kafka_error refused =
        hw_replica_offset_for_leader_epoch(leader, current_leader_epoch, epoch, end);

    kip_101_answer(hw_log_epochs(leader->log), epoch, end);
    return refused;
}

static hw_offset_t kip_101_cut(const struct hw_log_outline *follower,
                               const struct hw_log_outline *leader)
{
    return epochs_cut(follower, leader, kip_101_answer);
}

const struct hw_variant hw_variant_kip_101 = {
    .name = "kip-101",
    .starts_truncating = true,
    .high_watermark_ignores_min_isr = true,
    .truncate = epochs_truncate,
    .cut = kip_101_cut,
    .answer_epoch = kip_101_answer_epoch,
    KAFKA_DECISIONS,
};

/*
 * Kafka 2.0 (KIP-279): the answer names the epoch that it is about, so that the follower goes back,
 * question by question, to the last epoch that both logs have.
 *
 * Requests do not carry the current leader epoch, since Kafka's did so only from 2.1 on (KIP-320):
 * a follower that has missed elections can still take a leader of a later epoch for its own
 * (scenario S4).
 */
static hw_offset_t kip_279_cut(const struct hw_log_outline *follower,
                               const struct hw_log_outline *leader)
{
    return epochs_cut(follower, leader, NULL);
}

const struct hw_variant hw_variant_kip_279 = {
    .name = "kip-279",
    .starts_truncating = true,
    .high_watermark_ignores_min_isr = true,
    .truncate = epochs_truncate,
    .cut = kip_279_cut,
    .answer_epoch = hw_replica_offset_for_leader_epoch,
    KAFKA_DECISIONS,
};
