/* SPDX-License-Identifier: MIT */
/* A fetch arrives at a replica: R2.4 to R2.17. */
#include "core/base/broker_list.h"
#include "core/base/uuid.h"
#include "core/replication/replica.h"

/* R2.4 without the read: who may ask, and whether both mean the same leadership. */
static enum hw_kafka_error fetch_gate(const struct hw_replica *replica,
                                      const struct hw_fetch_request *request)
{
    enum hw_kafka_error refused;

    if (!hw_uuid_is_zero(&request->topic_id) &&
        !hw_uuid_equal(&request->topic_id, &replica->topic_id)) {
        return HW_KAFKA_INCONSISTENT_TOPIC_ID;
    }
    refused = hw_replica_check_epoch(replica, request->current_leader_epoch, true);
    if (refused != HW_KAFKA_NONE) {
        return refused;
    }
    /* Not assigned, as far as this leader knows: it may be behind the controller, so the error is
     * one that makes the follower ask again. */
    if (!hw_broker_list_contains(&replica->assignment, request->replica_id)) {
        return request->current_leader_epoch != HW_EPOCH_NONE ? HW_KAFKA_UNKNOWN_LEADER_EPOCH
                                                              : HW_KAFKA_NOT_LEADER_OR_FOLLOWER;
    }
    return HW_KAFKA_NONE;
}

/* R2.5 */
enum hw_kafka_error hw_fetch_compare_epochs(const struct hw_epoch_cache *epochs, hw_offset_t start,
                                            hw_offset_t end, hw_offset_t fetch_offset,
                                            hw_epoch_t last_fetched_epoch,
                                            struct hw_epoch_end *diverging)
{
    struct hw_epoch_end known;

    if (last_fetched_epoch == HW_EPOCH_NONE) {
        return HW_KAFKA_NONE;
    }
    known = hw_epoch_cache_end_offset_for(epochs, last_fetched_epoch, end);
    if (known.end_offset == HW_OFFSET_NONE || fetch_offset < start) {
        return HW_KAFKA_OFFSET_OUT_OF_RANGE;
    }
    if (known.epoch < last_fetched_epoch || known.end_offset < fetch_offset) {
        *diverging = known;
    }
    return HW_KAFKA_NONE;
}

static enum hw_kafka_error fetch_compare(const struct hw_replica *replica,
                                         const struct hw_fetch_request *request,
                                         struct hw_epoch_end *diverging)
{
    return hw_fetch_compare_epochs(hw_log_epochs(replica->log), hw_log_start(replica->log),
                                   hw_log_end(replica->log), request->fetch_offset,
                                   request->last_fetched_epoch, diverging);
}

/* R8.4: a follower that is not in sync gets no records while this leader sends too fast. Who is in
 * sync goes on, whatever it uses up. */
static bool fetch_is_throttled(const struct hw_replica *replica,
                               const struct hw_fetch_request *request, hw_time_ms_t now_ms)
{
    return replica->throttles_as_leader && replica->quotas != NULL &&
           !hw_broker_list_contains(&replica->isr, request->replica_id) &&
           hw_quota_is_exceeded(&replica->quotas->leader, now_ms);
}

void hw_fetch_response_release(struct hw_fetch_response *response)
{
    if (!response->records_are_borrowed) {
        hw_buffer_release(&response->records);
    }
}

/* R2.15: a limit that falls into a batch is used up by its part. */
static int64_t fetch_size_bytes(struct hw_log *log, hw_offset_t offset, hw_offset_t bound,
                                size_t limit, size_t read)
{
    int64_t following =
        read > 0 && read < limit ? hw_log_bytes_following(log, offset, bound, read) : 0;
    int64_t left = (int64_t)limit - (int64_t)read;

    return following <= 0 ? (int64_t)read : (int64_t)read + HW_MIN(following, left);
}

/* R2.14 to R2.16. Followers read to the log end. */
static enum hw_status fetch_read(struct hw_replica *replica, hw_time_ms_t now_ms,
                                 const struct hw_fetch_request *request,
                                 enum hw_fetch_attempt attempt, struct hw_fetch_response *response,
                                 struct hw_error *error)
{
    hw_offset_t bound = hw_log_end(replica->log);
    int32_t smaller = HW_MIN(request->partition_max_bytes, request->max_bytes);
    size_t limit = smaller < 0 ? 0 : (size_t)smaller;
    enum hw_status status;

    if (request->fetch_offset < response->log_start || request->fetch_offset > bound) {
        response->error = HW_KAFKA_OFFSET_OUT_OF_RANGE;
        return HW_OK;
    }
    if (attempt == HW_FETCH_RECEIVE || request->fetch_offset >= bound) {
        return HW_OK;
    }
    if (fetch_is_throttled(replica, request, now_ms)) {
        hw_replica_note_throttled(replica, request->replica_id, "as leader");
        return HW_OK;
    }
    response->records.bytes =
        hw_log_recent_append(replica->log, request->fetch_offset, limit, &response->records.size);
    if (response->records.bytes != NULL) {
        response->records_are_borrowed = true;
        response->size_bytes = (int64_t)response->records.size;
        return HW_OK;
    }
    status = hw_log_read(replica->log, request->fetch_offset, bound, limit, !request->has_data,
                         &response->records, error);
    if (status == HW_REFUSED) {
        response->error = error->kafka_error;
        return HW_OK;
    }
    response->size_bytes =
        fetch_size_bytes(replica->log, request->fetch_offset, bound, limit, response->records.size);
    return status;
}

/* R2.8. */
static enum hw_kafka_error fetch_update_remote(const struct hw_replica *replica,
                                               struct hw_remote_replica *remote,
                                               const struct hw_fetch_request *request,
                                               hw_time_ms_t now_ms)
{
    const struct hw_registration *registration =
        hw_metadata_find(replica->metadata, remote->broker);
    hw_offset_t leader_log_end = hw_log_end(replica->log);
    hw_time_ms_t caught_up_ms = HW_TIME_NEVER;

    /* KIP-903: a request from before the broker's restart. */
    if (request->replica_epoch != HW_BROKER_EPOCH_NONE && registration != NULL &&
        request->replica_epoch < registration->epoch) {
        return HW_KAFKA_NOT_LEADER_OR_FOLLOWER;
    }
    /* Caught up now; or it has reached the log end that the leader had at its previous fetch, so it
     * was caught up then: a follower that always trails a busy leader by one append is in sync. */
    if (request->fetch_offset >= leader_log_end) {
        caught_up_ms = now_ms;
    } else if (request->fetch_offset >= remote->last_fetch_leader_log_end) {
        caught_up_ms = remote->last_fetch_ms;
    }
    if (caught_up_ms > remote->last_caught_up_ms) {
        remote->last_caught_up_ms = caught_up_ms;
    }
    remote->last_fetch_ms = now_ms;
    remote->log_end = request->fetch_offset;
    remote->log_start = request->log_start;
    if (leader_log_end > remote->last_fetch_leader_log_end) {
        remote->last_fetch_leader_log_end = leader_log_end;
    }
    remote->broker_epoch = request->replica_epoch;
    remote->has_fetched_epoch = true;
    return HW_KAFKA_NONE;
}

/* R2.7 to R2.9: what the leader learns from an accepted fetch. */
static enum hw_kafka_error fetch_learn(struct hw_replica *replica, hw_time_ms_t now_ms,
                                       const struct hw_fetch_request *request)
{
    struct hw_remote_replica *remote = hw_replica_find_remote(replica, request->replica_id);
    hw_offset_t old_log_end;
    enum hw_kafka_error refused;

    if (remote == NULL) {
        return HW_KAFKA_UNKNOWN_LEADER_EPOCH;
    }
    old_log_end = remote->log_end;
    refused = fetch_update_remote(replica, remote, request, now_ms);
    if (refused != HW_KAFKA_NONE) {
        return refused;
    }
    if (!replica->settings->is_isr_proposed_by_hand) {
        (void)hw_replica_maybe_expand_isr(replica, remote);
    }
    if (remote->log_end != old_log_end) {
        replica->changes++;
        (void)hw_replica_maybe_increment_high_watermark(replica, now_ms);
    }
    return HW_KAFKA_NONE;
}

static void response_fail(struct hw_fetch_response *response, enum hw_kafka_error refused)
{
    response->error = refused;
    response->high_watermark = HW_OFFSET_NONE;
    response->last_stable = HW_OFFSET_NONE;
    response->log_start = HW_OFFSET_NONE;
    response->records.size = 0;
    response->size_bytes = 0;
}

/* Does nothing follow from this fetch, nor from the same one again until the leader changes? */
static bool fetch_is_idle(const struct hw_replica *replica, const struct hw_remote_replica *remote,
                          const struct hw_fetch_response *response)
{
    return response->error == HW_KAFKA_NONE &&
           response->diverging_epoch.end_offset == HW_OFFSET_NONE &&
           remote->log_end == hw_log_end(replica->log) &&
           remote->told_high_watermark == hw_log_high_watermark(replica->log) &&
           remote->told_log_start == hw_log_start(replica->log) &&
           hw_broker_list_contains(&replica->isr, remote->broker) &&
           replica->isr_change == HW_ISR_COMMITTED && !replica->throttles_as_leader &&
           replica->waiting_head == replica->waiting_count;
}

/* What the leader remembers of a fetch, for the next one. */
static void fetch_remember(struct hw_replica *replica, const struct hw_fetch_request *request,
                           enum hw_fetch_attempt attempt, const struct hw_fetch_response *response)
{
    struct hw_remote_replica *remote = hw_replica_find_remote(replica, request->replica_id);

    if (remote == NULL) {
        return;
    }
    if (attempt == HW_FETCH_RECEIVE) {
        remote->heard_changes =
            fetch_is_idle(replica, remote, response) ? replica->changes : UINT64_MAX;
    } else {
        remote->told_high_watermark = response->high_watermark;
        remote->told_log_start = response->log_start;
    }
}

bool hw_replica_hear_again(struct hw_replica *replica, hw_time_ms_t now_ms, hw_broker_id_t follower)
{
    struct hw_remote_replica *remote = hw_replica_find_remote(replica, follower);

    if (remote == NULL || remote->heard_changes != replica->changes) {
        return false;
    }
    replica->counters.fetch_requests++;
    remote->last_fetch_ms = now_ms;
    remote->last_caught_up_ms = now_ms;
    return true;
}

enum hw_status hw_replica_answer_fetch(struct hw_replica *replica, hw_time_ms_t now_ms,
                                       const struct hw_fetch_request *request,
                                       enum hw_fetch_attempt attempt,
                                       struct hw_fetch_response *response, struct hw_error *error)
{
    enum hw_kafka_error refused;

    *response = (struct hw_fetch_response){
        .high_watermark = hw_log_high_watermark(replica->log),
        .last_stable = hw_log_last_stable(replica->log),
        .log_start = hw_log_start(replica->log),
        .aborted = attempt == HW_FETCH_RECEIVE
                       ? 0 /* Nobody asks. */
                       : hw_log_count_aborted(replica->log, request->fetch_offset),
        .diverging_epoch = {.epoch = HW_EPOCH_NONE, .end_offset = HW_OFFSET_NONE},
        .leader_epoch = replica->leader_epoch};
    hw_buffer_init(&response->records, replica->allocator);

    replica->counters.fetch_requests += attempt == HW_FETCH_ANSWER ? 0 : 1;
    refused = fetch_gate(replica, request);
    if (refused == HW_KAFKA_NONE) {
        refused = fetch_compare(replica, request, &response->diverging_epoch);
    }
    if (refused == HW_KAFKA_NONE && response->diverging_epoch.end_offset == HW_OFFSET_NONE) {
        enum hw_status status = fetch_read(replica, now_ms, request, attempt, response, error);

        if (status != HW_OK) {
            return status;
        }
        refused = response->error;
        if (refused == HW_KAFKA_NONE && attempt != HW_FETCH_ANSWER) {
            refused = fetch_learn(replica, now_ms, request);
        }
    }
    if (refused != HW_KAFKA_NONE) {
        response_fail(response, refused);
    }
    /* R8.6: what followers in sync are given counts too. A message is about one partition, so this
     * one counts before the next one of the same round is asked about (R8.5). */
    replica->counters.replication_bytes_out += (int64_t)response->records.size;
    if (hw_broker_list_contains(&replica->adding, request->replica_id)) {
        replica->counters.reassignment_bytes_out += (int64_t)response->records.size;
    }
    if (attempt != HW_FETCH_RECEIVE && replica->throttles_as_leader && replica->quotas != NULL) {
        hw_quota_record(&replica->quotas->leader, response->size_bytes, now_ms);
    }
    fetch_remember(replica, request, attempt, response);
    return HW_OK;
}

bool hw_replica_is_fetch_ready(struct hw_replica *replica, hw_time_ms_t now_ms,
                               const struct hw_fetch_request *request, int64_t *bytes)
{
    struct hw_epoch_end diverging = {.end_offset = HW_OFFSET_NONE};
    hw_offset_t log_end = hw_log_end(replica->log);
    size_t active = hw_log_segment_count(replica->log) - 1;

    *bytes = 0;
    if (fetch_gate(replica, request) != HW_KAFKA_NONE ||
        fetch_compare(replica, request, &diverging) != HW_KAFKA_NONE ||
        diverging.end_offset != HW_OFFSET_NONE || request->fetch_offset > log_end) {
        return true;
    }
    if (request->fetch_offset == log_end || fetch_is_throttled(replica, request, now_ms)) {
        return false;
    }
    /* By far the usual case: looking for positions in the file can be spared. */
    if (request->min_bytes <= 1 ||
        request->fetch_offset < hw_log_segment_view(replica->log, active).base_offset) {
        return true;
    }
    *bytes = hw_log_bytes_between(replica->log, request->fetch_offset, log_end);
    if (*bytes > request->partition_max_bytes) {
        *bytes = request->partition_max_bytes;
    }
    return *bytes >= request->min_bytes;
}

enum hw_kafka_error hw_replica_offset_for_leader_epoch(const struct hw_replica *replica,
                                                       hw_epoch_t current_leader_epoch,
                                                       hw_epoch_t epoch, struct hw_epoch_end *end)
{
    enum hw_kafka_error refused = hw_replica_check_epoch(replica, current_leader_epoch, true);

    *end = (struct hw_epoch_end){.epoch = HW_EPOCH_NONE, .end_offset = HW_OFFSET_NONE};
    if (refused == HW_KAFKA_NONE) {
        *end = hw_log_end_offset_for_epoch(replica->log, epoch);
    }
    return refused;
}
