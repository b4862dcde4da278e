/* SPDX-License-Identifier: MIT */
/*
 * What became of the rows of one COMMIT, from librdkafka's delivery reports: one comes for each
 * message that it took. Nothing else says that a record is in the log.
 */
#ifndef LIVE_TALLY_H
#define LIVE_TALLY_H

#include "core/highwater.h"

#include <librdkafka/rdkafka.h>

/* The rows of one partition that are in its log. */
struct live_part {
    char *topic;
    int32_t partition;
    int64_t first; /* Their offsets. */
    int64_t last;
    int64_t records;
};

struct live_tally {
    struct live_part *parts;
    size_t count;
    size_t capacity;
    size_t at;             /* The part of the last report: the next one is mostly of it too. */
    int64_t sent;          /* Messages that librdkafka took, */
    int64_t reported;      /* those whose report came, */
    int64_t written;       /* those that are in a log, */
    int64_t perhaps;       /* and those that may be, or may get there yet. */
    int64_t failed_row;    /* The first row that failed, from 1 on; 0: none. */
    bool is_out_of_memory; /* A part could not be added. */
    rd_kafka_resp_err_t failed_code;
    char failed_topic[250];
};

void live_tally_clear(struct live_tally *tally);

/* librdkafka's callback; its opaque is a struct live_handle, each message's the number of its row. */
void live_tally_on_report(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque);

#endif /* LIVE_TALLY_H */
