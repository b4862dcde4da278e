/* SPDX-License-Identifier: MIT */
/* A live table: what its schema says, and the cluster that is meant. */
#ifndef LIVE_TOPIC_H
#define LIVE_TOPIC_H

#include "ext/ext_vtab.h"
#include "ext/live/live_arguments.h"
#include "ext/live/live_session.h"

struct live_topic {
    struct ext_vtab vtab;            /* Must be first. */
    struct live_arguments arguments; /* The topic's name is filled in. */
    int32_t partitions;              /* Of the topic when it was last looked at; 0: never. */
    uint64_t joined;                 /* The transaction that it writes to; 0: none yet. */
    uint32_t number;                 /* Of the topic in the stage of that transaction. */
};

/* The cluster that the table names, and how long to wait for it. Errors: those of
 * live_session_find(). */
enum hw_status live_topic_cluster(const struct live_topic *table, struct live_cluster **cluster,
                                  int *timeout_ms, struct hw_error *error);

#endif /* LIVE_TOPIC_H */
