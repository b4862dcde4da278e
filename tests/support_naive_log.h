/* SPDX-License-Identifier: MIT */
/*
 * What a log says of producers and transactions, worked out as plainly as it can be: from the
 * batches alone, every time anew, in arrays that are searched from one end to the other.
 */
#ifndef SUPPORT_NAIVE_LOG_H
#define SUPPORT_NAIVE_LOG_H

#include "core/log/log.h"

enum { NAIVE_BATCHES_MAX = 2048, NAIVE_PRODUCERS_MAX = 16 };

struct naive_batch {
    hw_offset_t offset; /* Each batch here has one record. */
    int64_t producer_id;
    int16_t epoch;
    int32_t sequence;
    bool is_transactional;
    bool is_control;
    int value;       /* The number that the record's value is; of a data batch. */
    size_t ended_by; /* Place of the marker of its transaction; 0: none. */
    struct hw_marker marker;
};

struct naive_producer {
    int64_t producer_id;
    int16_t epoch;
    int32_t last_sequence; /* -1: no batch since the last marker of a new epoch. */
    int32_t coordinator_epoch;
    hw_offset_t open_from; /* HW_OFFSET_NONE */
};

struct naive_log {
    struct naive_batch batches[NAIVE_BATCHES_MAX];
    size_t count;
    struct naive_producer producers[NAIVE_PRODUCERS_MAX];
    size_t producer_count;
};

/* Read the log from its start to its end. Fails the test where that cannot be done. */
void naive_log_read(struct naive_log *naive, struct hw_log *log);

/* The last stable offset, with this high watermark. */
hw_offset_t naive_log_last_stable(const struct naive_log *naive, hw_offset_t high_watermark);

/* Whether batch number `i` is a row of a reader of read_committed that ends there. */
bool naive_log_is_committed(const struct naive_log *naive, size_t i, hw_offset_t last_stable);

/* Fails the test unless that is what `log` knows of its producers. */
void naive_log_expect_producers(const struct naive_log *naive, const struct hw_log *log);

/*
 * Fails the test where batches contradict each other: a sequence follows the one before; the data of
 * a transaction has one epoch, with `raises_epochs` its marker the next one; coordinator epochs of a
 * producer's markers never fall; no two markers of one epoch have ended transactions differently
 * (kafka-transactions, section 16, 6 to 8).
 */
void naive_log_expect_order(const struct naive_log *naive, bool raises_epochs);

#endif /* SUPPORT_NAIVE_LOG_H */
