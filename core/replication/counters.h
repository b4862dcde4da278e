/* SPDX-License-Identifier: MIT */
/*
 * What a broker counts about one partition, as Kafka's meters do: from zero on each time that its
 * process begins. The numbers are those of kafka-time M.
 */
#ifndef HW_REPLICATION_COUNTERS_H
#define HW_REPLICATION_COUNTERS_H

#include "core/base/kafka_error.h"

#include <stdint.h>

struct hw_counters {
    /* As leader. */
    int64_t messages_in; /* M9: of batches that it appended or knew already. */
    int64_t bytes_in;
    int64_t bytes_rejected;   /* M18 */
    int64_t produce_requests; /* M15 */
    int64_t produce_failures; /* M16 */
    int64_t produce_expired;  /* M29 */
    int64_t fetch_requests;   /* M15: a request that waits is one. */
    int64_t fetch_expired;    /* M29 */
    int64_t fetch_answers;    /* M24: of whole requests, counted with their first partition. */
    int64_t fetch_wait_ms;    /* M25: of these, from their arrival on. */
    int64_t produce_wait_ms;  /* M25: of those with acks=all that were answered. */
    int64_t replication_bytes_out;
    int64_t reassignment_bytes_out; /* M14: of these, to replicas that are being added. */
    int64_t isr_shrinks;            /* M5: its own proposals, when they are answered. */
    int64_t isr_expands;
    int64_t isr_failures; /* M6 */
    /* As follower. */
    int64_t replication_bytes_in;
    int64_t reassignment_bytes_in; /* M14 */
    int64_t fetcher_requests;      /* M23: as fetch_answers, failed ones too. */
};

enum hw_answered { HW_ANSWERED_PRODUCE, HW_ANSWERED_FETCH, HW_ANSWERED_KINDS };

/* How many answers of a broker had which error (M26): by the error's number + 1. A fetch counts once
 * as a whole, and once for each partition that its answer names. */
struct hw_answer_counts {
    int64_t counts[HW_ANSWERED_KINDS][HW_KAFKA_TRANSACTION_ABORTABLE + 2];
};

/* NULL: an error of our own, which no broker answers. */
static inline int64_t *hw_answer_count(struct hw_answer_counts *answers, enum hw_answered kind,
                                       enum hw_kafka_error error)
{
    return error < HW_KAFKA_UNKNOWN_SERVER_ERROR || error > HW_KAFKA_TRANSACTION_ABORTABLE
               ? NULL
               : &answers->counts[kind][error + 1];
}

#endif /* HW_REPLICATION_COUNTERS_H */
