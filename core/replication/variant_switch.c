/* SPDX-License-Identifier: MIT */
/*
 * A partition that has gone by one protocol goes by another from now on. What the old one left
 * behind has to be good for the new one: a place in the leader's log, a request that waits, or a
 * tail that another rule would have found later means something only to the rule that made it. So a
 * change of protocol is what it is in a data centre, a stop of all brokers: requests are gone,
 * followers have what their leader has and nothing else, and who lacks committed records is not in
 * sync.
 */
#include "core/replication/exchange.h"

hw_offset_t hw_variant_common_end(const struct hw_replica *a, const struct hw_replica *b)
{
    hw_offset_t a_start = hw_log_start(a->log);
    hw_offset_t b_start = hw_log_start(b->log);

    return hw_epoch_cache_common_end(hw_log_epochs(a->log), hw_log_end(a->log),
                                     hw_log_epochs(b->log), hw_log_end(b->log),
                                     HW_MAX(a_start, b_start));
}

/* One follower: its log is cut to what it and `leader` both have, and the leader does not take it
 * for longer. Errors: as `entered`. */
static enum hw_status switch_align(struct hw_replica *leader, struct hw_replica *follower,
                                   struct hw_error *error)
{
    struct hw_remote_replica *remote = hw_replica_find_remote(leader, follower->broker);
    hw_offset_t common_end = hw_variant_common_end(leader, follower);
    hw_offset_t batches_end;
    enum hw_status status = hw_replica_batches_end(follower, &batches_end, error);

    if (status == HW_OK && batches_end < common_end) {
        common_end = batches_end;
    }
    if (status == HW_OK && common_end < hw_log_end(follower->log)) {
        status = hw_replica_truncate_follower(follower, common_end, true, error);
    }
    if (remote != NULL && remote->log_end > hw_log_end(follower->log)) {
        remote->log_end = hw_log_end(follower->log);
    }
    if (status == HW_OK) {
        hw_replica_start_fetching(follower, false);
    }
    return status;
}

enum hw_status hw_variant_align(struct hw_partition *partition, struct hw_error *error)
{
    struct hw_replica *leader = hw_partition_leader(partition);
    enum hw_status first = HW_OK;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        struct hw_replica *replica = partition->replicas[i];
        struct hw_error later;
        enum hw_status status = HW_OK;

        replica->fetch.is_request_waiting = false;
        if (replica->role != HW_ROLE_FOLLOWER) {
            continue;
        }
        if (leader != NULL && replica->leader_epoch == leader->leader_epoch) {
            status = switch_align(leader, replica, first == HW_OK ? error : &later);
        } else {
            hw_replica_start_fetching(replica, partition->variant->starts_truncating);
        }
        first = first == HW_OK ? status : first;
    }
    return first;
}

/* In every running replica epochs grow from batch to batch, and the list of them says so; what was
 * mended differs from all other logs. Then the leader has a newer epoch than any. */
static enum hw_status switch_mend_epochs(struct hw_partition *partition, const struct hw_step *step,
                                         struct hw_error *error)
{
    enum hw_status first = HW_OK;
    hw_epoch_t next = partition->record.leader_epoch;

    for (int32_t i = 0; i < partition->replica_count; i++) {
        hw_epoch_t latest = hw_epoch_cache_latest_epoch(hw_log_epochs(partition->replicas[i]->log));

        next = HW_MAX(latest, next);
    }
    for (int32_t i = 0; i < partition->replica_count && next < INT32_MAX; i++) {
        struct hw_error later;
        bool has_raised;
        enum hw_status status = hw_log_mend_epochs(partition->replicas[i]->log, next + 1,
                                                   &has_raised, first == HW_OK ? error : &later);

        next += has_raised ? 1 : 0;
        first = first == HW_OK ? status : first;
    }
    if (first == HW_OK && hw_partition_raise_epoch(partition)) {
        first = hw_exchange_tell_all(partition, step, error);
    }
    return first;
}

enum hw_status hw_variant_switch(struct hw_partition *partition, const struct hw_step *step,
                                 const struct hw_variant *before, struct hw_error *error)
{
    enum hw_status first =
        before->sends_epochs ? HW_OK : switch_mend_epochs(partition, step, error);
    struct hw_error later;
    enum hw_status status =
        partition->variant->entered(partition, step, first == HW_OK ? error : &later);

    return first == HW_OK ? status : first;
}
