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

enum hw_status hw_replica_may_append(const struct hw_replica *replica,
                                     const struct hw_settings *settings, int32_t acks,
                                     struct hw_error *error)
{
    int32_t needed;
    char isr[HW_BROKER_LIST_TEXT_SIZE];

    if (acks < -1 || acks > 1) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_REQUIRED_ACKS,
                               "acks is %" PRId32 ", allowed are 0, 1 and all", acks);
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

/* R1.16, R1.17: what the leader checks record by record. A bad timestamp wins over a missing key.
 */
static enum hw_status append_check_records(const struct hw_replica *replica, hw_time_ms_t now_ms,
                                           const struct hw_settings *settings, const uint8_t *bytes,
                                           const struct hw_batch *batch, struct hw_error *error)
{
    struct hw_record_iterator iterator;
    struct hw_record record;
    bool found;
    int32_t index = 0;
    int32_t keyless = -1;
    enum hw_status status = hw_record_iterator_init(&iterator, bytes, batch, error);

    for (; status == HW_OK; index++) {
        hw_time_ms_t age;

        status = hw_record_iterator_next(&iterator, &record, &found, error);
        if (status != HW_OK || !found) {
            break;
        }
        keyless = settings->compacted && record.key_size < 0 && keyless < 0 ? index : keyless;
        if (settings->log_append_time || record.timestamp == HW_TIMESTAMP_NONE) {
            continue;
        }
        /* Neither side can overflow: both are >= -1. */
        age = now_ms - record.timestamp;
        if (age > settings->message_timestamp_before_max_ms ||
            -age > settings->message_timestamp_after_max_ms) {
            return hw_error_refuse(
                error, HW_KAFKA_INVALID_TIMESTAMP,
                "record %" PRId32 " for %s has timestamp %" PRId64 ", allowed are %" PRId64
                " ms before to %" PRId64 " ms after %" PRId64,
                index, replica->name, record.timestamp, settings->message_timestamp_before_max_ms,
                settings->message_timestamp_after_max_ms, now_ms);
        }
    }
    if (status != HW_OK) {
        return status == HW_CORRUPT
                   ? hw_error_refuse(error, HW_KAFKA_INVALID_RECORD, "%s", error->message)
                   : status;
    }
    if (keyless >= 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "record %" PRId32 " has no key, and %s is compacted", keyless,
                               replica->name);
    }
    return HW_OK;
}

/* R1.15, R1.18: flags and sequences that a client may not send. */
static enum hw_status append_check_flags(const struct hw_batch *batch, struct hw_error *error)
{
    if ((batch->attributes & HW_BATCH_CONTROL) != 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "clients may not write control records");
    }
    if (batch->producer_id > HW_PRODUCER_ID_NONE && batch->base_sequence < 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_RECORD,
                               "sequence %" PRId32 " of producer %" PRId64 " is negative",
                               batch->base_sequence, batch->producer_id);
    }
    if ((batch->attributes & HW_BATCH_LOG_APPEND_TIME) != 0) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_TIMESTAMP,
                               "producers may not mark a batch LogAppendTime");
    }
    return HW_OK;
}

enum hw_status hw_replica_append(struct hw_replica *replica, hw_time_ms_t now_ms,
                                 const struct hw_settings *settings,
                                 const struct hw_append_request *request,
                                 struct hw_log_append_info *info, struct hw_error *error)
{
    struct hw_batch batch;
    enum hw_status status = hw_replica_may_append(replica, settings, request->acks, error);

    /* The log checks shape, size and checksum of the batch; what follows may rely on its header. */
    if (status == HW_OK &&
        hw_batch_parse(request->bytes, request->size_bytes, &batch) == HW_BATCH_OK) {
        status = append_check_flags(&batch, error);
        if (status == HW_OK && (batch.attributes & HW_BATCH_CODEC_MASK) == HW_CODEC_NONE) {
            status = append_check_records(replica, now_ms, settings, request->bytes, &batch, error);
        }
    }
    if (status == HW_OK) {
        status = hw_log_append_as_leader(replica->log, request->bytes, request->size_bytes,
                                         replica->leader_epoch, now_ms, info, error);
    }
    if (status == HW_OK) {
        replica->changes++;
    }
    return status;
}
