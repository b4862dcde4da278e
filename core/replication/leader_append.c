/* SPDX-License-Identifier: MIT */
/* A client's batch arrives at a replica: R1.2 to R1.29, in Kafka's order of checks. */
#include "core/base/broker_list.h"
#include "core/record/codec.h"
#include "core/record/compressed_batch.h"
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

enum hw_status hw_replica_may_append(const struct hw_replica *replica,
                                     const struct hw_settings *settings, int32_t acks,
                                     struct hw_error *error)
{
    int32_t needed;
    char isr[HW_BROKER_LIST_TEXT_SIZE];

    if (acks < -1 || acks > 1) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUIRED_ACKS,
                               "acks must be 0, 1, -1 or 'all', not %" PRId32, acks);
    }
    if (replica->role != HW_ROLE_LEADER) {
        return hw_error_refuse(error, HW_KAFKA_NOT_LEADER_OR_FOLLOWER,
                               "broker %" PRId32 " does not lead %s", replica->broker,
                               replica->name);
    }
    needed = hw_replica_effective_min_isr(replica, settings);
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

/* Neither difference can overflow as unsigned. */
bool hw_settings_take_timestamp(const struct hw_settings *settings, hw_time_ms_t now_ms,
                                hw_time_ms_t timestamp)
{
    uint64_t before_ms = timestamp < now_ms ? (uint64_t)now_ms - (uint64_t)timestamp : 0;
    uint64_t after_ms = timestamp > now_ms ? (uint64_t)timestamp - (uint64_t)now_ms : 0;

    return settings->log_append_time || timestamp == HW_TIMESTAMP_NONE ||
           (before_ms <= (uint64_t)settings->message_timestamp_before_max_ms &&
            after_ms <= (uint64_t)settings->message_timestamp_after_max_ms);
}

/* R1.16, R1.17 for the records of a batch. A bad timestamp wins over a missing key, wherever it is.
 * Errors besides: HW_CORRUPT. */
static enum hw_status append_walk_records(const struct hw_replica *replica, hw_time_ms_t now_ms,
                                          const struct hw_settings *settings,
                                          struct hw_record_iterator *iterator,
                                          struct hw_error *error)
{
    struct hw_record record;
    bool found = true;
    int32_t keyless = -1;

    for (int32_t index = 0; found; index++) {
        enum hw_status status = hw_record_iterator_next(iterator, &record, &found, error);

        if (status != HW_OK) {
            return status;
        }
        if (!found) {
            break;
        }
        keyless = settings->compacted && record.key_size < 0 && keyless < 0 ? index : keyless;
        if (!hw_settings_take_timestamp(settings, now_ms, record.timestamp)) {
            return hw_error_refuse(
                error, HW_KAFKA_INVALID_TIMESTAMP,
                "record %" PRId32 " for %s has timestamp %" PRId64 ", allowed are %" PRId64
                " ms before to %" PRId64 " ms after %" PRId64,
                index, replica->name, record.timestamp, settings->message_timestamp_before_max_ms,
                settings->message_timestamp_after_max_ms, now_ms);
        }
    }
    if (keyless >= 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "record %" PRId32 " has no key, and %s is compacted", keyless,
                               replica->name);
    }
    return HW_OK;
}

/* Whether any record could be refused for its key or its timestamp. */
static bool append_has_limits(const struct hw_settings *settings)
{
    return settings->compacted ||
           (!settings->log_append_time && (settings->message_timestamp_before_max_ms < INT64_MAX ||
                                           settings->message_timestamp_after_max_ms < INT64_MAX));
}

/* Whether the log refuses the batch before anybody looks at its records. */
static bool append_is_refused_anyway(const struct hw_replica *replica,
                                     const struct hw_append_request *request,
                                     struct hw_batch *batch)
{
    return hw_batch_parse(request->bytes, request->size_bytes, batch) != HW_BATCH_OK ||
           hw_batch_size_bytes(batch) != request->size_bytes || batch->base_offset != 0 ||
           !hw_log_takes_size(replica->log, request->size_bytes) ||
           !hw_batch_crc_ok(request->bytes, batch) ||
           (batch->attributes & (HW_BATCH_CONTROL | HW_BATCH_LOG_APPEND_TIME)) != 0 ||
           batch->last_offset_delta != batch->record_count - 1 ||
           (batch->producer_id >= 0 && batch->base_sequence < 0);
}

/*
 * Check the records of a batch one by one. Comes after the checks of the header and of the checksum
 * in Kafka's order, which are the log's: a batch that fails one of those is left for the log to
 * refuse.
 */
static enum hw_status append_check_records(const struct hw_replica *replica, hw_time_ms_t now_ms,
                                           const struct hw_settings *settings,
                                           const struct hw_append_request *request,
                                           struct hw_error *error)
{
    struct hw_record_iterator iterator;
    struct hw_buffer scratch;
    struct hw_batch batch;
    enum hw_status status;

    if (append_is_refused_anyway(replica, request, &batch)) {
        return HW_OK;
    }
    hw_buffer_init(&scratch, replica->allocator);
    status = hw_record_iterator_open(&iterator, request->bytes, &batch, HW_BATCH_PLAIN_SIZE_MAX,
                                     &scratch, error);
    if (status == HW_OK) {
        status = append_walk_records(replica, now_ms, settings, &iterator, error);
    }
    hw_buffer_release(&scratch);
    return status == HW_CORRUPT ? HW_OK : status;
}

/* What was appended can be seen. */
static void append_note(struct hw_replica *replica, int32_t acks,
                        const struct hw_log_append_info *info)
{
    struct hw_event event = hw_replica_event(replica, HW_EVENT_PRODUCE);

    event.offset = info->first_offset;
    event.end_offset = info->last_offset + 1;
    hw_journal_add_numbers(replica->journal, &event,
                           acks == -1  ? "acks=all"
                           : acks == 0 ? "acks=0"
                                       : "acks=1",
                           NULL);
    replica->changes++;
}

enum hw_status hw_replica_append_built(struct hw_replica *replica, hw_time_ms_t now_ms,
                                       const struct hw_settings *settings,
                                       const struct hw_append_request *request,
                                       struct hw_log_append_info *info, struct hw_error *error)
{
    enum hw_status status = hw_replica_may_append(replica, settings, request->acks, error);

    if (status == HW_OK) {
        status = hw_log_append_built(replica->log, request->bytes, request->size_bytes,
                                     replica->leader_epoch, now_ms, info, error);
    }
    if (status == HW_OK) {
        append_note(replica, request->acks, info);
    }
    return status;
}

enum hw_status hw_replica_append(struct hw_replica *replica, hw_time_ms_t now_ms,
                                 const struct hw_settings *settings,
                                 const struct hw_append_request *request,
                                 struct hw_log_append_info *info, struct hw_error *error)
{
    enum hw_status status = hw_replica_may_append(replica, settings, request->acks, error);

    if (status == HW_OK && append_has_limits(settings)) {
        status = append_check_records(replica, now_ms, settings, request, error);
    }
    if (status == HW_OK) {
        status = hw_log_append_as_leader(replica->log, request->bytes, request->size_bytes,
                                         replica->leader_epoch, now_ms, info, error);
    }
    if (status == HW_OK && !info->is_duplicate) {
        append_note(replica, request->acks, info);
    }
    return status;
}

enum hw_status hw_replica_append_marker(struct hw_replica *replica, hw_time_ms_t now_ms,
                                        const struct hw_settings *settings,
                                        const struct hw_marker *marker, int transaction_version,
                                        struct hw_log_append_info *info, struct hw_error *error)
{
    enum hw_status status = hw_replica_may_append(replica, settings, -1, error);

    if (status == HW_OK) {
        status = hw_log_check_marker(replica->log, marker, transaction_version, error);
    }
    if (status == HW_OK) {
        status =
            hw_log_append_marker(replica->log, marker, replica->leader_epoch, now_ms, info, error);
    }
    if (status == HW_OK) {
        struct hw_event event = hw_replica_event(replica, HW_EVENT_MARKER);

        event.offset = info->first_offset;
        event.end_offset = info->last_offset + 1;
        hw_journal_add(replica->journal, event, "%s of producer %" PRId64 " epoch %d",
                       marker->type == HW_CONTROL_COMMIT ? "COMMIT" : "ABORT", marker->producer_id,
                       marker->producer_epoch);
        replica->changes++;
    }
    return status;
}
