/* SPDX-License-Identifier: MIT */
/*
 * A cluster that is made from copies of real brokers' log directories, to try things on. These are
 * only read.
 *
 *     /logs/1   orders-0 orders-1     copied to broker-1      orders-0: replicas [1,2]
 *     /logs/2   orders-0              copied to broker-2      orders-1: replicas [1]
 *
 * Brokers start as after any unclean end, so that all rules of a start are theirs.
 */
#ifndef HW_CLUSTER_ADOPT_H
#define HW_CLUSTER_ADOPT_H

#include "core/base/types.h"
#include "core/io/store.h"

struct hw_adopted_broker {
    hw_broker_id_t id;
    char *directory; /* On `disk`. */
};

struct hw_adopted_leader {
    char *partition; /* "orders-0" */
    hw_broker_id_t broker;
};

/* Borrowed for the call: nothing of it is kept. */
struct hw_adoption {
    struct hw_store *disk;
    int64_t bytes_max; /* All copies together; more is refused before any is read. */
    struct hw_adopted_broker *brokers;
    size_t count;
    struct hw_adopted_leader *leaders;
    size_t leader_count;
    bool has_leaders; /* Else the records of a __cluster_metadata-0 in a directory say them. */
};

#endif /* HW_CLUSTER_ADOPT_H */
