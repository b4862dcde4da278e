/* SPDX-License-Identifier: MIT */
/*
 * A cluster as one database connection knows it: its properties, and librdkafka's handles.
 *
 *     struct live_cluster     what live_connect() or live_allow() named
 *     struct live_handle      a client of it, with threads and sockets of its own: consumers, one
 *                             for each isolation and each scan that runs at the same time; and one
 *                             producer. Made when first needed, kept until the end.
 *
 * Nothing here is shared between connections. After a fork() the child must not use the handles,
 * whose threads it does not have, nor destroy them.
 */
#ifndef LIVE_CLUSTER_H
#define LIVE_CLUSTER_H

#include "ext/config_list.h"
#include "ext/live/live_wait.h"

#include <librdkafka/rdkafka.h>

enum { LIVE_REASON_SIZE = 256, LIVE_TIMEOUT_MS_DEFAULT = 30000 };

struct live_handle {
    struct live_handle *next;
    struct live_cluster *cluster;
    rd_kafka_t *rk;
    enum hw_read_mode mode; /* Of a consumer. */
    bool is_producer;
    bool is_used;     /* By a scan. */
    bool is_fatal;    /* Of no more use. */
    bool is_prepared; /* A producer with a transactional.id: the id is its own. */
    /* What librdkafka said last that explains why nothing is heard; NO_ERROR: nothing. */
    rd_kafka_resp_err_t reason_code;
    char reason[LIVE_REASON_SIZE];
    struct live_wait wait;    /* For what it is used for now. */
    struct live_tally *tally; /* Of the COMMIT that a producer is in; gets its reports. */
};

struct live_cluster {
    struct live_cluster *next;
    sqlite3 *db;
    int forks;       /* That lay before it. */
    char *name;      /* Of live_connect(), or the servers of live_allow(). */
    bool is_allowed; /* By live_allow(): a table may name these servers. */
    struct ext_config_list properties;
    int timeout_ms;
    size_t message_max;     /* Bytes of a record. */
    enum hw_read_mode mode; /* Where a table does not say. */
    bool is_transactional;
    struct live_handle *consumers;
    struct live_handle *producer;
};

/*
 * A cluster with these properties, which it takes over, also where it fails. Nothing is dialled.
 * Errors: HW_NO_MEMORY; HW_REFUSED with INVALID_CONFIG, without any property's value.
 */
enum hw_status live_cluster_create(sqlite3 *db, const char *name,
                                   struct ext_config_list *properties,
                                   struct live_cluster **cluster, struct hw_error *error);

/* In a process that a fork() made the handles are left alone. */
void live_cluster_destroy(struct live_cluster *cluster);

/* Whether no fork() lies between: the handles' threads are there. */
bool live_cluster_is_ours(const struct live_cluster *cluster);

/* Errors: HW_REFUSED with INVALID_REQUEST where it is not ours. */
enum hw_status live_cluster_check_process(const struct live_cluster *cluster,
                                          struct hw_error *error);

/* Whether a scan uses one of its handles. */
bool live_cluster_is_used(const struct live_cluster *cluster);

/* A consumer that no scan uses, which is then used until live_cluster_give_back(), and waits for so
 * long. Errors: HW_REFUSED with what librdkafka says of the properties together. */
enum hw_status live_cluster_consumer(struct live_cluster *cluster, enum hw_read_mode mode,
                                     int timeout_ms, struct live_handle **handle,
                                     struct hw_error *error);
void live_cluster_give_back(struct live_handle *handle);

/* The producer, where need be a new one, with its transactional id where it has one. Errors: as
 * above; those of a time-out; HW_INTERRUPTED. */
enum hw_status live_cluster_producer(struct live_cluster *cluster, struct live_handle **handle,
                                     struct hw_error *error);

/* Start it, so that it connects while rows are staged; what is wrong is said by the above. */
void live_cluster_start_producer(struct live_cluster *cluster);

/* End the producer, so that the next one begins anew. */
void live_cluster_drop_producer(struct live_cluster *cluster);

/* Begin to wait for something else. */
static inline void live_handle_wait(struct live_handle *handle, int timeout_ms)
{
    live_wait_begin(&handle->wait, handle->cluster->db, timeout_ms);
}

/* The cluster answered: the time-out begins anew, and what was wrong is not any more. */
static inline void live_handle_heard(struct live_handle *handle)
{
    handle->reason_code = RD_KAFKA_RESP_ERR_NO_ERROR;
    live_wait_heard(&handle->wait);
}

/* Let the handle say what it has to: errors, delivery reports. */
static inline void live_handle_poll(struct live_handle *handle, int timeout_ms)
{
    (void)rd_kafka_poll(handle->rk, timeout_ms);
}

/*
 * After a call that got no answer: whether to ask again. Errors: HW_INTERRUPTED; HW_REFUSED where
 * the time-out is over, or where waiting longer is of no use, with the reason that is known. `what`
 * says what was being done, as in "orders: reading offsets".
 */
enum hw_status live_handle_retry(struct live_handle *handle, rd_kafka_resp_err_t code,
                                 const char *what, struct hw_error *error);

/* The same for a transactional call: takes and destroys the error. */
enum hw_status live_handle_retry_error(struct live_handle *handle, rd_kafka_error_t *taken,
                                       const char *what, struct hw_error *error);

#endif /* LIVE_CLUSTER_H */
