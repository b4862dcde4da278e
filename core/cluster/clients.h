/* SPDX-License-Identifier: MIT */
/*
 * What the clients of producers remember, since a script has none: the epoch that they were told,
 * whether they are in a transaction, and the next sequence of each partition. It goes with the
 * process, as theirs does; a producer that is new here goes on where its leader says it was.
 *
 * Source: TransactionManager, TxnPartitionMap of Kafka's client (X11.1 to X11.4).
 */
#ifndef HW_CLUSTER_CLIENTS_H
#define HW_CLUSTER_CLIENTS_H

#include "core/base/memory.h"
#include "core/base/types.h"

struct hw_batch_options;
struct hw_cluster;
struct hw_produce_target;

struct hw_client_sequence {
    struct hw_uuid topic_id;
    int32_t partition;
    int32_t next;
};

struct hw_client {
    int64_t producer_id;
    int16_t epoch;
    int version; /* transaction.version that it speaks. */
    bool is_in_transaction;
    bool has_sent;     /* Something, in this transaction. */
    bool has_to_abort; /* Something of it was not delivered. */
    struct hw_client_sequence *sequences;
    size_t count;
    size_t capacity;
};

struct hw_clients {
    const struct hw_allocator *allocator;
    struct hw_client **clients; /* In no order. */
    size_t count;
    size_t capacity;
};

void hw_clients_init(struct hw_clients *clients, const struct hw_allocator *allocator);
void hw_clients_release(struct hw_clients *clients);

/* NULL: it is not known. */
struct hw_client *hw_clients_find(const struct hw_clients *clients, int64_t producer_id);

/* Have the client, a new one with this epoch and version. Errors: HW_NO_MEMORY. */
enum hw_status hw_clients_enter(struct hw_clients *clients, int64_t producer_id, int16_t epoch,
                                int version, struct hw_client **client, struct hw_error *error);

/* -1: it has sent nothing there. */
int32_t hw_client_next_sequence(const struct hw_client *client, const struct hw_uuid *topic_id,
                                int32_t partition);

/* Have a place for the partition's sequence, so that it cannot fail to be set. Errors:
 * HW_NO_MEMORY. */
enum hw_status hw_clients_reserve_sequence(const struct hw_clients *clients,
                                           struct hw_client *client, const struct hw_uuid *topic_id,
                                           int32_t partition, struct hw_error *error);
void hw_client_set_next_sequence(struct hw_client *client, const struct hw_uuid *topic_id,
                                 int32_t partition, int32_t next);

/* Begin anew as this producer, with sequence 0 everywhere. */
void hw_client_become(struct hw_client *client, int64_t producer_id, int16_t epoch);

/* -------------------------------------------------------------------------------- deliveries */

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

void hw_deliveries_release(struct hw_cluster *cluster);

/* Put the batch in cluster->scratch behind all. Errors: HW_NO_MEMORY. */
enum hw_status hw_deliveries_add(struct hw_cluster *cluster, const struct hw_produce_target *target,
                                 const struct hw_batch_options *options,
                                 struct hw_delivery **entered, struct hw_error *error);
void hw_deliveries_remove(struct hw_cluster *cluster, const struct hw_delivery *delivery);

/* NULL: there is none of this row of hw_acks. */
struct hw_delivery *hw_deliveries_find(const struct hw_cluster *cluster, int64_t ack_id);

/* Whether it may be sent now: nothing before it waits, and few are under way, of its own epoch. */
bool hw_deliveries_allow(const struct hw_deliveries *list, const struct hw_delivery *delivery);

/* Whether the client sends again what is refused so. */
bool hw_delivery_may_pass(enum hw_kafka_error refused);

/* Where it goes; NULL: the topic was deleted. */
struct hw_topic *hw_delivery_topic(const struct hw_cluster *cluster,
                                   const struct hw_delivery *delivery);

/* It fails for good, and with it what waits behind it. */
void hw_delivery_fail(struct hw_cluster *cluster, const struct hw_delivery *delivery,
                      enum hw_kafka_error failure);

/* Whether it is sent again after this answer. */
bool hw_delivery_waits_on(const struct hw_cluster *cluster, struct hw_delivery *delivery,
                          enum hw_kafka_error answer);

/* How many of the producer's batches are not acknowledged yet, and may have to be sent again. */
size_t hw_cluster_undelivered(const struct hw_cluster *cluster, int64_t producer_id);

/* The producer aborts: what it has not delivered is not sent any more. */
void hw_cluster_cancel_deliveries(struct hw_cluster *cluster, int64_t producer_id);

/* ---------------------------------------------------------------------------- retries.c: sending */

/* Send it, once; *offset where it is then. It may be done, and gone, when this returns HW_OK. */
enum hw_status hw_cluster_send(struct hw_cluster *cluster, struct hw_delivery *delivery,
                               hw_offset_t *offset, struct hw_error *error);

/* Send what waits, and fail what is late. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_cluster_send_again(struct hw_cluster *cluster, struct hw_error *error);

#endif /* HW_CLUSTER_CLIENTS_H */
