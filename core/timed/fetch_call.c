/* SPDX-License-Identifier: MIT */
/*
 * What a fetcher has to ask before it can fetch: where an epoch ends (OffsetsForLeaderEpoch, R5.11 to
 * R5.15), or where the leader's log does (ListOffsets, R2.30). It asks about one partition, and waits for
 * the answer with all of them (kafka-time W3.1).
 */
#include "core/replication/variant.h"
#include "core/timed/timed_internal.h"

/* Bytes of a request and of an answer about one partition, with frame and header: W2.3. */
enum { CALL_REQUEST_BYTES = 61, CALL_ANSWER_BYTES = 43 };

static enum hw_timed_call_kind fetch_call_needed(const struct hw_partition *partition,
                                                 const struct hw_replica *follower)
{
    if (follower->fetch.is_out_of_range) {
        return HW_CALL_OFFSETS;
    }
    return follower->fetch.phase == HW_PHASE_TRUNCATING &&
                   partition->variant->answer_epoch != NULL &&
                   hw_epoch_cache_latest_epoch(hw_log_epochs(follower->log)) != HW_EPOCH_NONE
               ? HW_CALL_EPOCH
               : HW_CALL_NONE;
}

static enum hw_status fetch_call_begin(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                       size_t place, enum hw_timed_call_kind kind,
                                       const struct hw_replica *follower, struct hw_error *error)
{
    enum hw_status status =
        hw_array_reserve(timed->allocator, (void **)&fetcher->parts, &fetcher->part_capacity, 1,
                         sizeof *fetcher->parts, error);

    if (status != HW_OK) {
        return status;
    }
    fetcher->parts[0] = (struct hw_timed_part){
        .place = place,
        .request = {.replica_id = follower->broker, .fetch_offset = follower->fetch.fetch_offset}};
    fetcher->part_count = 1;
    fetcher->call =
        (struct hw_timed_call){.kind = kind,
                               .leader_epoch = follower->fetch.current_leader_epoch,
                               .epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(follower->log))};
    fetcher->size_bytes = CALL_REQUEST_BYTES;
    return HW_OK;
}

enum hw_status hw_timed_call_build(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, struct hw_error *error)
{
    bool may_call = false;

    fetcher->call.kind = HW_CALL_NONE;
    for (size_t i = 0; i < fetcher->member_count && fetcher->may_call; i++) {
        const struct hw_partition *partition = timed->partitions[fetcher->members[i]];
        const struct hw_replica *follower = hw_partition_find(partition, fetcher->follower);
        enum hw_timed_call_kind kind = HW_CALL_NONE;

        if (hw_timed_fetches(fetcher, follower)) {
            kind = fetch_call_needed(partition, follower);
        }
        if (kind != HW_CALL_NONE && follower->fetch.delay_until_ms <= step->now_ms) {
            return fetch_call_begin(timed, fetcher, fetcher->members[i], kind, follower, error);
        }
        may_call = may_call || kind != HW_CALL_NONE;
    }
    fetcher->may_call = may_call;
    return HW_OK;
}

enum hw_status hw_timed_call_answer(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                    struct hw_error *error)
{
    const struct hw_partition *partition = timed->partitions[fetcher->parts[0].place];
    const struct hw_replica *leader = hw_partition_find(partition, fetcher->leader);
    struct hw_timed_call *call = &fetcher->call;

    call->end = (struct hw_epoch_end){.epoch = HW_EPOCH_NONE, .end_offset = HW_OFFSET_NONE};
    if (leader == NULL) {
        call->refused = HW_KAFKA_NOT_LEADER_OR_FOLLOWER;
    } else if (call->kind == HW_CALL_EPOCH && partition->variant->answer_epoch == NULL) {
        call->refused = HW_KAFKA_UNSUPPORTED_VERSION; /* The protocol has changed since it asked. */
    } else if (call->kind == HW_CALL_EPOCH) {
        call->refused =
            partition->variant->answer_epoch(leader, HW_EPOCH_NONE, call->epoch, &call->end);
    } else {
        call->refused = hw_replica_check_epoch(
            leader, partition->variant->sends_epochs ? call->leader_epoch : HW_EPOCH_NONE, true);
        call->log_end = hw_log_end(leader->log);
        call->log_start = hw_log_start(leader->log);
    }
    fetcher->size_bytes = CALL_ANSWER_BYTES;
    return hw_timed_fetcher_send(timed, fetcher, HW_TIMED_ANSWER_ARRIVES, fetcher->size_bytes,
                                 error);
}

enum hw_status hw_timed_call_apply(struct hw_timed *timed, struct hw_timed_fetcher *fetcher,
                                   const struct hw_step *step, struct hw_error *error)
{
    size_t place = fetcher->parts[0].place;
    const struct hw_partition *partition = timed->partitions[place];
    struct hw_replica *follower = hw_partition_find(partition, fetcher->follower);
    const struct hw_timed_call *call = &fetcher->call;
    hw_epoch_t named = partition->variant->sends_epochs ? call->leader_epoch : HW_EPOCH_NONE;
    enum hw_status status;

    /* An answer to a question that is no longer asked is dropped. */
    if (!hw_timed_fetches(fetcher, follower) ||
        follower->fetch.current_leader_epoch != call->leader_epoch ||
        fetch_call_needed(partition, follower) != call->kind) {
        return HW_OK;
    }
    follower->fetch.is_out_of_range = false;
    status = call->kind == HW_CALL_EPOCH
                 ? hw_replica_apply_epoch_end(follower, step->now_ms, call->refused, HW_EPOCH_NONE,
                                              call->end, error)
                 : hw_replica_apply_out_of_range(follower, step->now_ms, call->refused, named,
                                                 call->log_end, call->log_start, error);
    /* What failed stands in the journal, and stops this partition only. */
    return status == HW_NO_MEMORY ? status : hw_timed_touch(timed, place, error);
}
