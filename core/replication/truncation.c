/* SPDX-License-Identifier: MIT */
/* Where does a follower cut its log so that it agrees with the leader's? R5.14, R5.15. */
#include "core/record/batch.h"
#include "core/replication/replica.h"

#include <inttypes.h>

hw_offset_t hw_truncation_offset(const struct hw_epoch_cache *epochs, hw_offset_t log_end,
                                 struct hw_epoch_end leader_end, hw_offset_t fallback,
                                 bool *is_complete)
{
    struct hw_epoch_end own;

    *is_complete = true;
    if (leader_end.end_offset == HW_OFFSET_NONE) {
        return fallback;
    }
    if (leader_end.epoch == HW_EPOCH_NONE) {
        return HW_MIN(leader_end.end_offset, log_end);
    }
    own = hw_epoch_cache_end_offset_for(epochs, leader_end.epoch, log_end);
    if (own.end_offset == HW_OFFSET_NONE) {
        return HW_MIN(leader_end.end_offset, log_end);
    }
    if (own.epoch != leader_end.epoch) {
        /* The leader named an epoch that was never here: cut to the largest smaller one of our own
         * and ask again with that (KIP-279). */
        *is_complete = false;
        return HW_MIN(own.end_offset, log_end);
    }
    return HW_MIN(HW_MIN(own.end_offset, leader_end.end_offset), log_end);
}

hw_offset_t hw_out_of_range_offset(hw_offset_t log_end, hw_offset_t leader_start,
                                   hw_offset_t leader_end)
{
    if (leader_end < log_end) {
        return leader_end;
    }
    return HW_MAX(leader_start, log_end);
}

enum hw_status hw_replica_truncate_follower(struct hw_replica *replica, hw_offset_t offset,
                                            bool is_complete, struct hw_error *error)
{
    hw_offset_t log_end = hw_log_end(replica->log);
    struct hw_fetch_state before = replica->fetch;
    enum hw_status status = hw_log_truncate_to(replica->log, offset, error);

    if (status != HW_OK) {
        if (status != HW_NO_MEMORY) {
            hw_replica_fail(replica, status, error); /* R5.17 */
        }
        return status;
    }
    if (offset < log_end) {
        struct hw_event event = hw_replica_event(replica, HW_EVENT_TRUNCATE);

        event.peer = replica->leader;
        event.offset = offset;
        event.end_offset = log_end;
        hw_journal_add_bare(replica->journal, &event);
    }
    replica->fetch.fetch_offset = offset;
    replica->fetch.last_fetched_epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(replica->log));
    replica->fetch.phase = is_complete ? HW_PHASE_FETCHING : HW_PHASE_TRUNCATING;
    /* A cut that changes nothing is no movement: whoever waits for rest does not wait for ever. */
    if (offset < log_end || replica->fetch.fetch_offset != before.fetch_offset ||
        replica->fetch.last_fetched_epoch != before.last_fetched_epoch ||
        replica->fetch.phase != before.phase) {
        replica->changes++;
    }
    return HW_OK;
}

enum hw_status hw_replica_batches_end(const struct hw_replica *replica, hw_offset_t *end,
                                      struct hw_error *error)
{
    hw_offset_t start = hw_log_start(replica->log);
    struct hw_buffer bytes;
    struct hw_batch batch;
    enum hw_status status;

    *end = hw_log_end(replica->log);
    hw_buffer_init(&bytes, replica->allocator);
    status = hw_log_read_before(replica->log, start, *end, 1, &bytes, error);
    if (status == HW_OK && bytes.size == 0) {
        *end = start;
    }
    for (size_t at = 0; status == HW_OK &&
                        hw_batch_parse(bytes.bytes + at, bytes.size - at, &batch) == HW_BATCH_OK;
         at += hw_batch_size_bytes(&batch)) {
        *end = batch.base_offset + batch.last_offset_delta + 1;
    }
    hw_buffer_release(&bytes);
    return status;
}

enum hw_status hw_replica_restart_log(struct hw_replica *replica, hw_offset_t offset,
                                      struct hw_error *error)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_TRUNCATE);
    enum hw_status status;

    event.peer = replica->leader;
    event.offset = offset;
    event.end_offset = hw_log_end(replica->log);
    status = hw_log_truncate_fully_and_start_at(replica->log, offset, HW_OFFSET_NONE, error);
    if (status != HW_OK) {
        return status;
    }
    hw_journal_add(replica->journal, event, "the whole log: the leader's begins at %" PRId64,
                   offset);
    hw_replica_note_log_start(replica);
    replica->changes++;
    return HW_OK;
}
