/* SPDX-License-Identifier: MIT */
#include "core/replication/exchange.h"

#include "core/base/broker_list.h"

#include <inttypes.h>

/* ------------------------------------------------------------------- controller and brokers */

enum hw_status hw_exchange_deliver(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_replica *replica,
                                   const struct hw_partition_record *record, struct hw_error *error)
{
    bool changed;

    /* What it knows already is no news: a leader would forget its proposal in flight (R4.12). */
    if (replica->partition_epoch >= record->partition_epoch) {
        return HW_OK;
    }
    if (!hw_broker_list_contains(&record->replicas, replica->broker)) {
        replica->partition_epoch = record->partition_epoch;
        replica->is_dropped = true;
        return HW_OK;
    }
    if (record->leader == replica->broker) {
        enum hw_status status =
            hw_replica_become_leader(replica, step->now_ms, record, &changed, error);

        if (status == HW_OK) {
            partition->variant->appended(partition, step, replica);
        }
        return status;
    }
    changed = hw_replica_become_follower(replica, record, partition->variant->starts_truncating);
    if (!changed || !partition->variant->truncates_when_told ||
        replica->leader == HW_BROKER_ID_NONE) {
        return HW_OK;
    }
    return partition->variant->truncate(partition, step, replica, error);
}

enum hw_status hw_exchange_tell(struct hw_partition *partition, const struct hw_step *step,
                                struct hw_replica *replica, struct hw_error *error)
{
    if (replica->partition_epoch == partition->record.partition_epoch ||
        !hw_links_connected(step->links, HW_CONTROLLER, replica->broker)) {
        return HW_OK;
    }
    if (step->notices != NULL) {
        return hw_notices_tell(step->notices, partition, &partition->topic_id, replica->broker,
                               &partition->record, error);
    }
    return hw_exchange_deliver(partition, step, replica, &partition->record, error);
}

enum hw_status hw_exchange_tell_all(struct hw_partition *partition, const struct hw_step *step,
                                    struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (int32_t i = 0; status == HW_OK && i < partition->replica_count; i++) {
        status = hw_exchange_tell(partition, step, partition->replicas[i], error);
    }
    return status;
}

enum hw_status hw_exchange_proposals(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_replica *leader, struct hw_error *error)
{
    struct hw_alter_partition_request request;
    struct hw_alter_partition_response response;
    bool changed = false;

    /* Once: an answer that makes the leader send the same again would be the same again. Where
     * notices travel, proposals do so too. */
    if (step->notices == NULL && hw_links_connected(step->links, HW_CONTROLLER, leader->broker) &&
        hw_replica_take_proposal(leader, 0, &request)) {
        changed = hw_controller_alter_partition(step->controller, partition->settings, &request,
                                                &partition->record, &response);
        (void)hw_replica_apply_proposal_answer(leader, step->now_ms, &request, &response);
    }
    if (leader->role == HW_ROLE_LEADER) {
        hw_waiting_check(leader, step->now_ms);
    }
    if (!changed) {
        return HW_OK;
    }
    partition->is_record_dirty = true;
    return hw_exchange_tell_all(partition, step, error);
}

/* ------------------------------------------------------------------- follower and leader */

struct hw_replica *hw_exchange_reach_leader(const struct hw_partition *partition,
                                            const struct hw_step *step,
                                            const struct hw_replica *follower)
{
    struct hw_replica *leader = follower->leader == HW_BROKER_ID_NONE
                                    ? NULL
                                    : hw_partition_find(partition, follower->leader);

    if (leader == NULL || !hw_links_connected(step->links, follower->broker, leader->broker)) {
        return NULL;
    }
    return leader;
}

/* Is this follower left out of the next request, since it takes too fast? Not one that is known to
 * be where the leader's high watermark is. Source: RemoteLeaderEndPoint.shouldFollowerThrottle
 * (R8.7). */
static bool exchange_is_throttled(const struct hw_replica *replica, hw_time_ms_t now_ms)
{
    return replica->throttles_as_follower && replica->quotas != NULL && replica->fetch.lag != 0 &&
           hw_quota_is_exceeded(&replica->quotas->follower, now_ms);
}

enum hw_status hw_exchange_prepare(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_replica *follower, struct hw_fetch_request *request,
                                   bool *ready, struct hw_error *error)
{
    const struct hw_registration *own = hw_metadata_find(follower->metadata, follower->broker);
    enum hw_status status = HW_OK;

    *ready = false;
    if (follower->role == HW_ROLE_FOLLOWER && follower->fetch.phase == HW_PHASE_TRUNCATING &&
        follower->leader != HW_BROKER_ID_NONE) {
        status = partition->variant->truncate(partition, step, follower, error);
    }
    if (status == HW_OK) {
        /* In this order: the first question begins the quota's first sample (R8.2). */
        *ready = hw_replica_build_fetch(follower, own == NULL ? HW_BROKER_EPOCH_NONE : own->epoch,
                                        partition->variant->sends_epochs, request);
        if (*ready && exchange_is_throttled(follower, step->now_ms)) {
            hw_replica_note_throttled(follower, follower->leader, "as follower");
            *ready = false;
        }
    }
    return status;
}

/* R2.30: the follower asks for the leader's latest and earliest offset. */
static enum hw_status exchange_out_of_range(struct hw_partition *partition,
                                            const struct hw_step *step, struct hw_replica *follower,
                                            struct hw_error *error)
{
    struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    hw_epoch_t epoch =
        partition->variant->sends_epochs ? follower->fetch.current_leader_epoch : HW_EPOCH_NONE;

    follower->fetch.is_out_of_range = false;
    if (leader == NULL) {
        hw_replica_fetch_failed(follower, step->now_ms);
        return HW_OK;
    }
    return hw_replica_apply_out_of_range(follower, step->now_ms,
                                         hw_replica_check_epoch(leader, epoch, true), epoch,
                                         hw_log_end(leader->log), hw_log_start(leader->log), error);
}

void hw_exchange_note_request(const struct hw_replica *follower,
                              const struct hw_fetch_request *request)
{
    struct hw_event event = hw_replica_event(follower, HW_EVENT_FETCH_REQUEST);

    event.peer = follower->leader;
    event.offset = request->fetch_offset;
    event.request = request->message;
    hw_journal_add_numbers(
        follower->journal, &event,
        "last fetched epoch #, log start #; max # bytes of a partition, min # bytes, max # ms",
        (const int64_t[]){request->last_fetched_epoch, request->log_start,
                          request->partition_max_bytes, request->min_bytes, request->max_wait_ms});
}

void hw_exchange_note_response(const struct hw_replica *follower,
                               const struct hw_fetch_request *request,
                               const struct hw_fetch_response *response)
{
    struct hw_event event = hw_replica_event(follower, HW_EVENT_FETCH_RESPONSE);

    event.peer = follower->leader;
    event.leader_epoch = response->leader_epoch;
    event.offset = request->fetch_offset;
    event.high_watermark = response->high_watermark;
    event.last_stable = response->last_stable;
    event.request = request->message;
    if (response->error != HW_KAFKA_NONE) {
        hw_journal_add(follower->journal, event, "%s", hw_kafka_error_name(response->error));
    } else if (response->diverging_epoch.end_offset != HW_OFFSET_NONE) {
        hw_journal_add(follower->journal, event, "diverging epoch %" PRId32 " ends at %" PRId64,
                       response->diverging_epoch.epoch, response->diverging_epoch.end_offset);
    } else {
        hw_journal_add_numbers(
            follower->journal, &event,
            response->aborted == 0 ? "# bytes, log start #, lso #"
                                   : "# bytes, log start #, lso #, aborted transactions #",
            (const int64_t[]){(int64_t)response->records.size, response->log_start,
                              response->last_stable, (int64_t)response->aborted});
    }
}

enum hw_status hw_exchange_apply(struct hw_partition *partition, const struct hw_step *step,
                                 struct hw_replica *follower,
                                 const struct hw_fetch_request *request,
                                 const struct hw_fetch_response *response, int64_t *records,
                                 struct hw_error *error)
{
    enum hw_status status =
        hw_replica_apply_fetch(follower, step->now_ms, request, response, records, error);

    return status == HW_OK && follower->fetch.is_out_of_range
               ? exchange_out_of_range(partition, step, follower, error)
               : status;
}

enum hw_status hw_exchange_ask(struct hw_partition *partition, const struct hw_step *step,
                               struct hw_replica *follower, const struct hw_fetch_request *request,
                               enum hw_fetch_attempt attempt, int64_t *size_bytes, int64_t *records,
                               struct hw_error *error)
{
    struct hw_replica *leader = hw_exchange_reach_leader(partition, step, follower);
    struct hw_fetch_response response;
    int64_t appended = 0;
    enum hw_status status;

    *size_bytes = 0;
    if (attempt != HW_FETCH_ANSWER) {
        hw_exchange_note_request(follower, request);
    }
    follower->counters.fetcher_requests += attempt == HW_FETCH_RECEIVE ? 0 : 1;
    if (leader == NULL) {
        hw_replica_fetch_failed(follower, step->now_ms);
        return HW_OK;
    }
    leader->counters.fetch_answers += attempt == HW_FETCH_RECEIVE ? 0 : 1;
    status = hw_replica_answer_fetch(leader, step->now_ms, request, attempt, &response, error);
    if (status == HW_OK && attempt == HW_FETCH_RECEIVE) {
        follower->fetch.request = *request;
        follower->fetch.is_request_waiting = true;
        follower->fetch.wait_until_ms = step->now_ms + request->max_wait_ms;
    } else if (status == HW_OK) {
        hw_replica_count_answer(leader, HW_ANSWERED_FETCH, HW_KAFKA_NONE);
        hw_replica_count_answer(leader, HW_ANSWERED_FETCH, response.error);
        hw_exchange_note_response(follower, request, &response);
        status = hw_exchange_apply(partition, step, follower, request, &response, &appended, error);
        *size_bytes = response.size_bytes;
        *records += appended;
    }
    hw_fetch_response_release(&response);
    return status == HW_OK ? hw_exchange_proposals(partition, step, leader, error) : status;
}

enum hw_status hw_exchange_poll(struct hw_partition *partition, const struct hw_step *step,
                                struct hw_replica *follower, enum hw_fetch_attempt attempt,
                                int64_t *records, struct hw_error *error)
{
    struct hw_fetch_request request;
    bool ready;
    int64_t size_bytes;
    enum hw_status status = hw_exchange_prepare(partition, step, follower, &request, &ready, error);

    return status == HW_OK && ready ? hw_exchange_ask(partition, step, follower, &request, attempt,
                                                      &size_bytes, records, error)
                                    : status;
}

enum hw_status hw_exchange_fetch(struct hw_partition *partition, const struct hw_step *step,
                                 struct hw_replica *follower, int64_t *records,
                                 struct hw_error *error)
{
    enum hw_status status = hw_exchange_tell_all(partition, step, error);

    *records = 0;
    return status == HW_OK
               ? hw_exchange_poll(partition, step, follower, HW_FETCH_AT_ONCE, records, error)
               : status;
}
