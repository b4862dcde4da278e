/* SPDX-License-Identifier: MIT */
/* When does the high watermark move? On a leader only here; on a follower in follower.c. */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/replication/replica.h"

int32_t hw_replica_effective_min_isr(const struct hw_replica *replica)
{
    return hw_settings_effective_min_isr(replica->settings, replica->remote_count + 1);
}

/*
 * Does the high watermark wait for this replica? For members of the ISR, and for one that is about
 * to become a member; also for one that keeps up and could become one: otherwise, with the ISR
 * shrunk to the leader, the high watermark would run with the log end and a follower one batch
 * behind could never reach it (R3.5).
 */
bool hw_replica_waits_for(const struct hw_replica *replica, const struct hw_remote_replica *remote,
                          hw_time_ms_t now_ms)
{
    return hw_broker_list_contains(hw_replica_maximal_isr(replica), remote->broker) ||
           (now_ms < hw_remote_replica_lags_from(remote, hw_log_end(replica->log),
                                                 replica->settings->replica_lag_time_max_ms) &&
            hw_replica_is_isr_eligible(replica, remote));
}

bool hw_replica_maybe_increment_high_watermark(struct hw_replica *replica, hw_time_ms_t now_ms)
{
    hw_offset_t candidate = hw_log_end(replica->log);
    hw_offset_t before = hw_log_high_watermark(replica->log);
    struct hw_event event;

    HW_ASSERT(replica->role == HW_ROLE_LEADER);
    /* KIP-966: below the minimum nothing becomes visible, so that any member of the last full ISR
     * still has all that was (R3.3). */
    if (!replica->settings->high_watermark_ignores_min_isr &&
        replica->isr.count < hw_replica_effective_min_isr(replica)) {
        return false;
    }
    for (int32_t i = 0; i < replica->remote_count; i++) {
        const struct hw_remote_replica *remote = &replica->remotes[i];

        if (remote->log_end < candidate && hw_replica_waits_for(replica, remote, now_ms)) {
            candidate = remote->log_end;
        }
    }
    if (!hw_log_maybe_increment_high_watermark(replica->log, candidate)) {
        return false;
    }
    event = hw_replica_event(replica, HW_EVENT_HIGH_WATERMARK);
    event.offset = before;
    event.end_offset = hw_log_end(replica->log);
    hw_journal_add_bare(replica->journal, &event);
    replica->changes++;
    return true;
}
