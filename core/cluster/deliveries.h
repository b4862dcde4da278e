/* SPDX-License-Identifier: MIT */
/*
 * Batches that the clients of producers still have to deliver, with the config `retries`: each is
 * sent again, as it was, until it is answered for good, its attempts are used up, or
 * delivery.timeout.ms is over.
 *
 *     produce() --sent--> under way --answered--> done
 *        |                  |   ^
 *        | no leader,       |   | the next tick() or round; in order for each producer and
 *        | or behind one    v   | partition, HW_PRODUCER_BATCHES at most under way
 *        +--------------> waiting
 *
 * What is behind a batch that fails for good fails with it. An idempotent producer then begins anew
 * with the next epoch; a transactional one has to abort (X11.8, X11.9).
 *
 * They go with the process, as their clients do.
 *
 * Source: Sender, RecordAccumulator, TransactionManager of Kafka's client (X11.1, X11.5 to X11.9).
 */
#ifndef HW_CLUSTER_DELIVERIES_H
#define HW_CLUSTER_DELIVERIES_H

#include "core/base/memory.h"
#include "core/base/types.h"

struct hw_delivery {
    int64_t ack_id; /* Its row in hw_acks, pending as long as it is here. */
    struct hw_uuid topic_id;
    int32_t partition;
    int32_t acks;
    int64_t producer_id;
    int16_t producer_epoch;
    bool is_transactional;
    bool is_waiting; /* Else it is under way. */
    int64_t attempts_left;
    hw_time_ms_t deadline_ms;
    uint8_t *bytes; /* The batch as the client has built it. */
    size_t size_bytes;
};

struct hw_deliveries {
    struct hw_delivery **items; /* By ack_id: in the order in which they came. */
    size_t count;
    size_t capacity;
};

struct hw_cluster;
struct hw_produce;
struct hw_produced;
struct hw_produce_target;

void hw_deliveries_release(struct hw_cluster *cluster);

/* Whether this produce is delivered: its producer says by itself who it is, it is to be answered,
 * and `retries` is set. */
bool hw_cluster_delivers(const struct hw_cluster *cluster, const struct hw_produce *produce);

/*
 * hw_cluster_produce() for these, behind hw_cluster_resolve_produce(), which has returned
 * `resolved`. produced->answered is false where the record is not in a log yet: its row in hw_acks
 * is pending. Errors: as there, but for those that pass; HW_NO_MEMORY.
 */
enum hw_status hw_cluster_send_delivery(struct hw_cluster *cluster,
                                        const struct hw_produce *produce,
                                        struct hw_produce_target *target, enum hw_status resolved,
                                        struct hw_produced *produced, struct hw_error *error);

/* A produce was answered: whether that is not the end of it, since it will be sent again. */
bool hw_cluster_delivery_goes_on(struct hw_cluster *cluster, int64_t ack_id,
                                 enum hw_kafka_error answer);

/* Send what waits, and fail what is late. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_cluster_send_again(struct hw_cluster *cluster, struct hw_error *error);

/* How many of the producer's batches are not in a log yet, as far as their client knows. */
size_t hw_cluster_undelivered(const struct hw_cluster *cluster, int64_t producer_id);

/* The producer aborts: what it has not delivered is not sent any more. */
void hw_cluster_cancel_deliveries(struct hw_cluster *cluster, int64_t producer_id);

#endif /* HW_CLUSTER_DELIVERIES_H */
