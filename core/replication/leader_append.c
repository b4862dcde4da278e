/* SPDX-License-Identifier: MIT */
/* A client's batch arrives at a replica: R1.2 to R1.29, in Kafka's order of checks. */
#include "core/base/broker_list.h"
#include "core/replication/replica.h"

#include <inttypes.h>

enum hw_kafka_error hw_replica_check_epoch(const struct hw_replica *replica,
                                           hw_epoch_t request_epoch, bool leader_required)
{
    if (request_epoch != HW_EPOCH_NONE && request_epoch < replica->leader_epoch) {
        return HW_KAFKA_FENCED_LEADER_EPOCH;
    }
    if (request_epoch != HW_EPOCH_NONE && request_epoch > replica->leader_epoch) {
        return HW_KAFKA_UNKNOWN_LEADER_EPOCH;
    }
    if (leader_required && replica->role != HW_ROLE_LEADER) {
        return HW_KAFKA_NOT_LEADER_OR_FOLLOWER;
    }
    return HW_KAFKA_NONE;
}

enum hw_status hw_replica_check_acks(int64_t acks, struct hw_error *error)
{
    return acks >= -1 && acks <= 1
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_INVALID_REQUIRED_ACKS,
                                 "acks must be 0, 1, -1 or 'all', not %" PRId64, acks);
}

enum hw_status hw_replica_may_append(const struct hw_replica *replica, int32_t acks,
                                     struct hw_error *error)
{
    int32_t needed;
    char isr[HW_BROKER_LIST_TEXT_SIZE];
    enum hw_status status = hw_replica_check_acks(acks, error);

    if (status != HW_OK) {
        return status;
    }
    if (replica->role != HW_ROLE_LEADER) {
        return hw_error_refuse(error, HW_KAFKA_NOT_LEADER_OR_FOLLOWER,
                               "broker %" PRId32 " does not lead %s", replica->broker,
                               replica->name);
    }
    needed = hw_replica_effective_min_isr(replica);
    if (acks == -1 && replica->isr.count < needed) {
        return hw_error_refuse(error, HW_KAFKA_NOT_ENOUGH_REPLICAS,
                               "%s has %" PRId32 " in-sync replica%s %s, min.insync.replicas is"
                               " %" PRId32,
                               replica->name, replica->isr.count,
                               replica->isr.count == 1 ? "" : "s",
                               hw_broker_list_format(&replica->isr, isr, sizeof isr), needed);
    }
    return HW_OK;
}

/* What was appended can be seen. */
static void append_note(struct hw_replica *replica, const struct hw_append_request *request,
                        const struct hw_log_append_info *info)
{
    static const char *const texts[2][3] = {
        {"acks=all", "acks=0", "acks=1"},
        {"acks=all, transactional", "acks=0, transactional", "acks=1, transactional"}};
    struct hw_event event = hw_replica_event(replica, HW_EVENT_PRODUCE);
    struct hw_batch batch;
    bool is_transactional;

    (void)hw_batch_parse(request->bytes, request->size_bytes, &batch); /* It was appended. */
    is_transactional = (batch.attributes & HW_BATCH_TRANSACTIONAL) != 0;
    event.offset = info->first_offset;
    event.end_offset = info->last_offset + 1;
    event.ack = request->ack_id;
    event.producer_id = batch.producer_id;
    hw_journal_add_numbers(replica->journal, &event,
                           texts[is_transactional ? 1 : 0][request->acks + 1], NULL);
    replica->changes++;
}

enum hw_status hw_replica_append(struct hw_replica *replica, hw_time_ms_t now_ms,
                                 const struct hw_append_request *request,
                                 struct hw_log_append_info *info, struct hw_error *error)
{
    enum hw_status status = hw_replica_may_append(replica, request->acks, error);

    if (status == HW_OK) {
        status = (request->is_built ? hw_log_append_built : hw_log_append_as_leader)(
            replica->log, request->bytes, request->size_bytes, replica->leader_epoch, now_ms, info,
            error);
    }
    if (status == HW_OK) {
        replica->counters.produce_requests++;
        replica->counters.messages_in += info->last_offset - info->first_offset + 1;
        replica->counters.bytes_in += (int64_t)request->size_bytes;
        if (request->acks == 1) {
            hw_replica_count_answer(replica, HW_ANSWERED_PRODUCE, HW_KAFKA_NONE);
        }
    }
    if (status == HW_REFUSED && error->kafka_error == HW_KAFKA_MESSAGE_TOO_LARGE) {
        replica->counters.bytes_rejected += (int64_t)request->size_bytes;
    }
    if (status == HW_OK && !info->is_duplicate) {
        append_note(replica, request, info);
    }
    return status;
}

enum hw_status hw_replica_append_marker(struct hw_replica *replica, hw_time_ms_t now_ms,
                                        const struct hw_marker *marker, int transaction_version,
                                        struct hw_log_append_info *info, struct hw_error *error)
{
    enum hw_status status = hw_replica_may_append(replica, -1, error);

    if (status == HW_OK) {
        status = hw_producer_state_check_marker(hw_log_producers(replica->log), marker,
                                                transaction_version, error);
    }
    if (status == HW_OK) {
        status =
            hw_log_append_marker(replica->log, marker, replica->leader_epoch, now_ms, info, error);
    }
    if (status == HW_OK) {
        struct hw_event event = hw_replica_event(replica, HW_EVENT_MARKER);

        event.offset = info->first_offset;
        event.end_offset = info->last_offset + 1;
        event.producer_id = marker->producer_id;
        hw_journal_add(replica->journal, event, "%s of producer %" PRId64 " epoch %d",
                       marker->type == HW_CONTROL_COMMIT ? "COMMIT" : "ABORT", marker->producer_id,
                       marker->producer_epoch);
        replica->changes++;
    }
    return status;
}
