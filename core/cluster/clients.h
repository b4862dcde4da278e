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

#endif /* HW_CLUSTER_CLIENTS_H */
