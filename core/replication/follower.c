/* SPDX-License-Identifier: MIT */
/* A follower asks its leader, and applies the answer: R2.3, R2.22 to R2.34. */
#include "core/base/broker_list.h"
#include "core/replication/replica.h"

#include <inttypes.h>

void hw_fetch_request_limit(struct hw_fetch_request *request, const struct hw_settings *settings)
{
    request->partition_max_bytes = settings->replica_fetch_max_bytes;
    request->max_bytes = HW_MIN(settings->replica_fetch_response_max_bytes, HW_FETCH_MAX_BYTES);
    request->min_bytes = HW_MIN(settings->replica_fetch_min_bytes, request->max_bytes);
}

bool hw_replica_build_fetch(const struct hw_replica *replica, hw_broker_epoch_t broker_epoch,
                            bool sends_epochs, struct hw_fetch_request *request)
{
    if (replica->role != HW_ROLE_FOLLOWER || replica->leader == HW_BROKER_ID_NONE ||
        replica->fetch.phase != HW_PHASE_FETCHING) {
        return false;
    }
    *request = (struct hw_fetch_request){
        .replica_id = replica->broker,
        .replica_epoch = broker_epoch,
        .topic_id = replica->topic_id,
        .current_leader_epoch = sends_epochs ? replica->fetch.current_leader_epoch : HW_EPOCH_NONE,
        .fetch_offset = replica->fetch.fetch_offset,
        .last_fetched_epoch = sends_epochs ? replica->fetch.last_fetched_epoch : HW_EPOCH_NONE,
        .log_start = hw_log_start(replica->log),
        .max_wait_ms = replica->settings->replica_fetch_wait_max_ms};
    hw_fetch_request_limit(request, replica->settings);
    return true;
}

/* A partition that is delayed already does not get a longer delay by a second error (R2.29). */
static void follower_delay(struct hw_replica *replica, hw_time_ms_t now_ms)
{
    if (replica->fetch.delay_until_ms == HW_TIME_NEVER || replica->fetch.delay_until_ms <= now_ms) {
        replica->fetch.delay_until_ms = now_ms + replica->settings->replica_fetch_backoff_ms;
    }
}

/* R2.27: the leader refused a request that named `leader_epoch`. */
static void follower_refused(struct hw_replica *replica, hw_time_ms_t now_ms,
                             enum hw_kafka_error refused, hw_epoch_t leader_epoch)
{
    if (refused == HW_KAFKA_FENCED_LEADER_EPOCH &&
        leader_epoch == replica->fetch.current_leader_epoch) {
        struct hw_error error;

        (void)hw_error_refuse(&error, refused,
                              "%s on broker %" PRId32 " follows in leader epoch %" PRId32
                              ", its leader is in a later one, of which the controller has not told"
                              " it",
                              replica->name, replica->broker, leader_epoch);
        hw_replica_fail(replica, HW_REFUSED, &error);
        return;
    }
    follower_delay(replica, now_ms);
}

void hw_replica_fetch_failed(struct hw_replica *replica, hw_time_ms_t now_ms)
{
    replica->fetch.is_request_waiting = false;
    follower_delay(replica, now_ms);
}

/* Bytes that were damaged on the way are asked for again (R2.27). Anything else that fails needs
 * somebody to look: the log says INVALID_RECORD of batches that are out of order (R2.31). */
static enum hw_status follower_append_failed(struct hw_replica *replica, hw_time_ms_t now_ms,
                                             enum hw_status status, const struct hw_error *error)
{
    if (status == HW_REFUSED && error->kafka_error == HW_KAFKA_CORRUPT_MESSAGE) {
        hw_journal_add(replica->journal, hw_replica_event(replica, HW_EVENT_APPEND), "%s: %s",
                       hw_kafka_error_name(error->kafka_error), error->message);
        follower_delay(replica, now_ms);
        return HW_OK;
    }
    if (status != HW_NO_MEMORY) {
        hw_replica_fail(replica, status, error);
    }
    return status == HW_REFUSED ? HW_OK : status;
}

void hw_replica_note_append(const struct hw_replica *replica, const struct hw_log_append_info *info)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_APPEND);

    event.peer = replica->leader;
    event.offset = info->first_offset;
    event.end_offset = info->last_offset + 1;
    hw_journal_add_bare(replica->journal, &event);
}

/* Down as well as up: the leader's word counts (R3.9). */
static void follower_take_high_watermark(struct hw_replica *replica, hw_offset_t high_watermark)
{
    hw_offset_t before = hw_log_high_watermark(replica->log);
    struct hw_event event;

    if (!hw_log_update_high_watermark(replica->log, high_watermark)) {
        return;
    }
    replica->changes++;
    event = hw_replica_event(replica, HW_EVENT_HIGH_WATERMARK);
    event.peer = replica->leader;
    event.offset = before;
    event.end_offset = hw_log_end(replica->log);
    hw_journal_add_bare(replica->journal, &event);
}

/* R2.25, R2.26: append, then the leader's high watermark, then its log start. */
static enum hw_status follower_take(struct hw_replica *replica, hw_time_ms_t now_ms,
                                    const struct hw_fetch_response *response, int64_t *records,
                                    struct hw_error *error)
{
    struct hw_log_append_info info;
    bool log_start_changed;
    enum hw_status status = HW_OK;
    bool lag_changes = replica->fetch.lag < 0;

    if (response->records.size > 0) {
        status = hw_log_append_as_follower(replica->log, response->records.bytes,
                                           response->records.size, now_ms, &info, error);
        if (status != HW_OK) {
            return follower_append_failed(replica, now_ms, status, error);
        }
        if (info.first_offset != HW_OFFSET_NONE) {
            *records = info.record_count;
            replica->fetch.fetch_offset = info.last_offset + 1;
            replica->fetch.last_fetched_epoch = info.last_epoch;
            replica->changes++;
            lag_changes = true;
            hw_replica_note_append(replica, &info);
        }
    }
    replica->counters.replication_bytes_in += (int64_t)response->records.size;
    if (hw_broker_list_contains(&replica->adding, replica->broker)) {
        replica->counters.reassignment_bytes_in += (int64_t)response->records.size;
    }
    follower_take_high_watermark(replica, response->high_watermark);
    status = hw_log_maybe_increment_log_start(replica->log, response->log_start, &log_start_changed,
                                              error);
    if (status != HW_OK) {
        return follower_append_failed(replica, now_ms, status, error);
    }
    if (log_start_changed) {
        replica->changes++;
        hw_replica_note_log_start(replica);
    }
    if (replica->throttles_as_follower && replica->quotas != NULL) {
        hw_quota_record(&replica->quotas->follower, response->size_bytes, now_ms);
    }
    if (lag_changes) {
        replica->fetch.lag = response->high_watermark > replica->fetch.fetch_offset
                                 ? response->high_watermark - replica->fetch.fetch_offset
                                 : 0;
    }
    return HW_OK;
}

/*
 * Does the leader make this follower cut at the same place as the last time, after it has copied
 * from there? A leader does not diverge from itself: its log says of its epochs something else than
 * its batches do, and the follower would cut and copy these records for ever.
 */
static bool follower_goes_round(struct hw_replica *replica, hw_offset_t offset,
                                struct hw_error *error)
{
    hw_offset_t cut_before = replica->fetch.cut_offset;

    replica->fetch.cut_offset = offset;
    if (offset != cut_before || offset == hw_log_end(replica->log)) {
        return false;
    }
    (void)hw_error_refuse(
        error, HW_KAFKA_INVALID_RECORD,
        "%s on broker %" PRId32 " would cut and copy the records %" PRId64 " to %" PRId64
        " again and again: the leader epochs in the log of broker %" PRId32
        " contradict its leader-epoch-checkpoint; promote() another replica",
        replica->name, replica->broker, offset, hw_log_end(replica->log) - 1, replica->leader);
    hw_replica_fail(replica, HW_REFUSED, error);
    return true;
}

enum hw_status hw_replica_apply_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                      const struct hw_fetch_request *request,
                                      const struct hw_fetch_response *response, int64_t *records,
                                      struct hw_error *error)
{
    struct hw_fetch_state *fetch = &replica->fetch;

    *records = 0;
    fetch->is_out_of_range = false;
    fetch->is_request_waiting = false;
    /* An answer to a question that is no longer asked is dropped (R2.23); also one that was asked in
     * another epoch, whose leader may make cut what has been committed since (KAFKA-18991). */
    if (replica->role != HW_ROLE_FOLLOWER || fetch->phase != HW_PHASE_FETCHING ||
        fetch->fetch_offset != request->fetch_offset ||
        (request->current_leader_epoch != HW_EPOCH_NONE &&
         request->current_leader_epoch != fetch->current_leader_epoch)) {
        return HW_OK;
    }
    if (response->error == HW_KAFKA_OFFSET_OUT_OF_RANGE) {
        fetch->is_out_of_range = true;
        return HW_OK;
    }
    if (response->error != HW_KAFKA_NONE) {
        follower_refused(replica, now_ms, response->error, request->current_leader_epoch);
        return HW_OK;
    }
    fetch->delay_until_ms = HW_TIME_NEVER;
    if (response->diverging_epoch.end_offset != HW_OFFSET_NONE) {
        bool is_complete;
        hw_offset_t offset =
            hw_truncation_offset(hw_log_epochs(replica->log), hw_log_end(replica->log),
                                 response->diverging_epoch, fetch->fetch_offset, &is_complete);

        if (follower_goes_round(replica, offset, error)) {
            return HW_OK;
        }
        /* Cut first and fetch again; the answer's high watermark is not for this log (R2.24). */
        return hw_replica_truncate_follower(replica, offset, true, error);
    }
    if (fetch->fetch_offset != hw_log_end(replica->log)) {
        (void)hw_error_refuse(
            error, HW_KAFKA_INVALID_RECORD,
            "%s on broker %" PRId32 " fetches at %" PRId64 ", its log ends at %" PRId64,
            replica->name, replica->broker, fetch->fetch_offset, hw_log_end(replica->log));
        hw_replica_fail(replica, HW_REFUSED, error);
        return HW_OK;
    }
    return follower_take(replica, now_ms, response, records, error);
}

enum hw_status hw_replica_apply_out_of_range(struct hw_replica *replica, hw_time_ms_t now_ms,
                                             enum hw_kafka_error refused, hw_epoch_t leader_epoch,
                                             hw_offset_t leader_log_end,
                                             hw_offset_t leader_log_start, struct hw_error *error)
{
    struct hw_fetch_state *fetch = &replica->fetch;
    hw_offset_t offset =
        hw_out_of_range_offset(hw_log_end(replica->log), leader_log_start, leader_log_end);
    enum hw_status status = HW_OK;

    if (refused != HW_KAFKA_NONE) {
        follower_refused(replica, now_ms, refused, leader_epoch);
        return HW_OK;
    }
    if (offset < hw_log_end(replica->log)) {
        status = hw_replica_truncate_follower(replica, offset, true, error);
    } else if (offset > hw_log_end(replica->log)) {
        status = hw_replica_restart_log(replica, offset, error);
    }
    if (status != HW_OK) {
        return status;
    }
    fetch->phase = HW_PHASE_FETCHING;
    fetch->fetch_offset = hw_log_end(replica->log);
    fetch->last_fetched_epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(replica->log));
    fetch->lag = leader_log_end - fetch->fetch_offset;
    replica->changes++;
    return HW_OK;
}

enum hw_status hw_replica_apply_epoch_end(struct hw_replica *replica, hw_time_ms_t now_ms,
                                          enum hw_kafka_error refused, hw_epoch_t leader_epoch,
                                          struct hw_epoch_end end, struct hw_error *error)
{
    struct hw_fetch_state *fetch = &replica->fetch;
    bool is_complete;
    hw_offset_t offset;

    if (replica->role != HW_ROLE_FOLLOWER || fetch->phase != HW_PHASE_TRUNCATING) {
        return HW_OK;
    }
    if (refused != HW_KAFKA_NONE) {
        follower_refused(replica, now_ms, refused, leader_epoch);
        return HW_OK;
    }
    fetch->delay_until_ms = HW_TIME_NEVER;
    offset = hw_truncation_offset(hw_log_epochs(replica->log), hw_log_end(replica->log), end,
                                  fetch->fetch_offset, &is_complete);
    return hw_replica_truncate_follower(replica, offset, is_complete, error);
}
