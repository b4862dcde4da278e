/* SPDX-License-Identifier: MIT */
/* A replica becomes leader or follower: R4.11 to R4.14. */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/replication/replica.h"

static void roles_note(const struct hw_replica *replica)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_ROLE);

    event.peer = replica->leader;
    event.end_offset = hw_log_end(replica->log);
    hw_journal_add_numbers(replica->journal, &event,
                           replica->role == HW_ROLE_LEADER        ? "leader"
                           : replica->leader == HW_BROKER_ID_NONE ? "follower without a leader"
                                                                  : "follower",
                           NULL);
}

static struct hw_remote_replica remote_unknown(hw_broker_id_t broker)
{
    return (struct hw_remote_replica){.broker = broker,
                                      .log_end = HW_OFFSET_NONE,
                                      .log_start = HW_OFFSET_NONE,
                                      .last_fetch_leader_log_end = 0,
                                      .last_fetch_ms = HW_TIME_NEVER,
                                      .last_caught_up_ms = HW_TIME_NEVER,
                                      .broker_epoch = HW_BROKER_EPOCH_NONE,
                                      .told_high_watermark = HW_OFFSET_NONE,
                                      .told_log_start = HW_OFFSET_NONE,
                                      .heard_changes = UINT64_MAX};
}

/* What a leader forgets of a follower when its epoch begins (R4.13). A re-elected leader keeps what
 * the follower told it. */
static void remote_reset(struct hw_remote_replica *remote, bool was_leader, bool is_in_isr,
                         hw_offset_t leader_log_end, hw_time_ms_t now_ms)
{
    hw_time_ms_t in_sync_since = is_in_isr ? now_ms : HW_TIME_NEVER;

    if (!was_leader) {
        *remote = remote_unknown(remote->broker);
        remote->last_fetch_leader_log_end = HW_OFFSET_NONE;
    } else {
        remote->last_fetch_leader_log_end = leader_log_end;
        remote->last_fetch_ms = in_sync_since;
    }
    remote->last_caught_up_ms = in_sync_since;
}

/* Take over the replica list, keeping what is known of those that stay. */
static void roles_assign_remotes(struct hw_replica *replica, const struct hw_broker_list *list)
{
    struct hw_remote_replica remotes[HW_REPLICAS_MAX];
    int32_t count = 0;

    for (int32_t i = 0; i < list->count; i++) {
        const struct hw_remote_replica *known;

        if (list->ids[i] == replica->broker) {
            continue;
        }
        known = hw_replica_find_remote(replica, list->ids[i]);
        remotes[count++] = known == NULL ? remote_unknown(list->ids[i]) : *known;
    }
    for (int32_t i = 0; i < count; i++) {
        replica->remotes[i] = remotes[i];
    }
    replica->remote_count = count;
    replica->assignment = *list;
}

enum hw_status hw_replica_become_leader(struct hw_replica *replica, hw_time_ms_t now_ms,
                                        const struct hw_partition_record *record, bool *became,
                                        struct hw_error *error)
{
    bool was_leader = replica->role == HW_ROLE_LEADER;
    hw_offset_t log_end = hw_log_end(replica->log);
    enum hw_status status;

    HW_ASSERT(record->leader == replica->broker);
    *became = false;
    if (record->partition_epoch < replica->partition_epoch) {
        return HW_OK;
    }
    status =
        hw_array_reserve(replica->allocator, (void **)&replica->remotes, &replica->remote_capacity,
                         (size_t)record->replicas.count, sizeof *replica->remotes, error);
    if (status == HW_OK && record->leader_epoch > replica->leader_epoch) {
        status = hw_log_assign_epoch(replica->log, record->leader_epoch, error);
    }
    if (status != HW_OK) {
        return status;
    }
    replica->role = HW_ROLE_LEADER;
    replica->leader = replica->broker;
    replica->isr = record->isr;
    replica->isr_change = HW_ISR_COMMITTED;
    replica->is_proposal_unsent = false;
    replica->fetch.is_request_waiting = false;
    roles_assign_remotes(replica, &record->replicas);
    replica->adding = record->adding;
    if (record->leader_epoch > replica->leader_epoch) {
        replica->leader_epoch = record->leader_epoch;
        replica->epoch_start = log_end;
        roles_note(replica);
        for (int32_t i = 0; i < replica->remote_count; i++) {
            remote_reset(&replica->remotes[i], was_leader,
                         hw_broker_list_contains(&record->isr, replica->remotes[i].broker), log_end,
                         now_ms);
        }
    }
    replica->partition_epoch = record->partition_epoch;
    replica->changes++;
    *became = !was_leader;
    return HW_OK;
}

void hw_replica_start_fetching(struct hw_replica *replica, bool starts_truncating)
{
    const struct hw_epoch_cache *epochs = hw_log_epochs(replica->log);
    bool fetches_first = epochs->count > 0 && !starts_truncating;

    replica->failure[0] = '\0';
    replica->fetch =
        (struct hw_fetch_state){.phase = fetches_first ? HW_PHASE_FETCHING : HW_PHASE_TRUNCATING,
                                .fetch_offset = fetches_first ? hw_log_end(replica->log)
                                                              : hw_log_high_watermark(replica->log),
                                .current_leader_epoch = replica->leader_epoch,
                                .last_fetched_epoch = hw_epoch_cache_latest_epoch(epochs),
                                .cut_offset = HW_OFFSET_NONE,
                                .lag = -1,
                                .delay_until_ms = HW_TIME_NEVER};
}

bool hw_replica_become_follower(struct hw_replica *replica,
                                const struct hw_partition_record *record, bool starts_truncating)
{
    bool epoch_rises = record->leader_epoch > replica->leader_epoch;

    HW_ASSERT(record->leader != replica->broker);
    if (record->partition_epoch < replica->partition_epoch) {
        return false;
    }
    replica->role = HW_ROLE_FOLLOWER;
    replica->leader = record->leader;
    replica->leader_epoch = record->leader_epoch;
    replica->partition_epoch = record->partition_epoch;
    replica->epoch_start = HW_OFFSET_NONE;
    replica->remote_count = 0;
    replica->isr.count = 0;
    replica->isr_change = HW_ISR_COMMITTED;
    replica->is_proposal_unsent = false;
    replica->assignment = record->replicas;
    replica->adding = record->adding;
    if (epoch_rises) {
        roles_note(replica);
        hw_replica_start_fetching(replica, starts_truncating);
        hw_waiting_fail_all(replica, HW_KAFKA_NOT_LEADER_OR_FOLLOWER);
    }
    replica->changes++;
    return epoch_rises;
}
