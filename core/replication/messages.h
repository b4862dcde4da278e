/* SPDX-License-Identifier: MIT */
/*
 * What brokers say to each other and to the controller, as values. The fields are those of Kafka's
 * requests that have an effect here (R2.1, R2.2, R4.6 to R4.9); one message is about one partition.
 */
#ifndef HW_REPLICATION_MESSAGES_H
#define HW_REPLICATION_MESSAGES_H

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "core/log/epoch_cache.h"

struct hw_fetch_request {
    hw_broker_id_t replica_id;       /* The follower. */
    hw_broker_epoch_t replica_epoch; /* HW_BROKER_EPOCH_NONE: not given. */
    struct hw_uuid topic_id;         /* Zero: not given. */
    hw_epoch_t current_leader_epoch; /* HW_EPOCH_NONE: not given. */
    hw_offset_t fetch_offset;
    hw_epoch_t
        last_fetched_epoch; /* Epoch of the follower's last record; HW_EPOCH_NONE: not given. */
    hw_offset_t log_start;  /* The follower's. */
    int32_t partition_max_bytes; /* Soft: the first batch of an answer may pass both. */
    int32_t max_bytes; /* Of the whole request; for a later partition of it, what is left. */
    bool has_data;     /* A partition before this one in the request has records already: a first
                        * batch that passes the limits has to wait (R2.14). */
    int32_t min_bytes;
    int64_t max_wait_ms;
    int64_t message; /* Its number where it travels, for the journal; 0: it does not. */
};

struct hw_fetch_response {
    enum hw_kafka_error error;
    hw_offset_t high_watermark; /* HW_OFFSET_NONE with an error, as the next two. */
    hw_offset_t last_stable;
    hw_offset_t log_start;
    size_t aborted; /* Transactions that a reader of what is stable from there on is told of. */
    struct hw_epoch_end diverging_epoch; /* (-1, -1): the logs do not diverge. */
    hw_epoch_t leader_epoch;
    struct hw_buffer records;  /* Whole batches; the response owns them, */
    bool records_are_borrowed; /* unless hw_log_recent_append() has lent them. */
    /* What limits and quotas count. A limit cuts where it falls: a part of one more batch comes
     * along, which the receiver drops (R2.15) and which is not in `records`. */
    int64_t size_bytes;
};

/* Proposal of a leader to change the ISR. */
struct hw_alter_partition_request {
    hw_broker_id_t sender;
    hw_broker_epoch_t sender_epoch;
    hw_epoch_t leader_epoch;
    int32_t partition_epoch;
    bool recovering;
    struct hw_broker_list isr;
    /* Epoch of each member's registration as the leader knows it; HW_BROKER_EPOCH_NONE if it never
     * fetched. */
    hw_broker_epoch_t broker_epochs[HW_REPLICAS_MAX];
    int64_t message; /* As that of a fetch. */
};

struct hw_alter_partition_response {
    enum hw_kafka_error error;
    hw_broker_id_t leader;
    hw_epoch_t leader_epoch;
    struct hw_broker_list isr;
    int32_t partition_epoch;
    bool recovering;
};

#endif /* HW_REPLICATION_MESSAGES_H */
